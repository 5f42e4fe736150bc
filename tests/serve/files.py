"""Files of the folder, and none else, through `spry serve`: files.py SPRY"""

import os
import socket
import sys

from client import POISSON, Server, place, run

SPRY = sys.argv[1]
MOST = 100000


def names(server):
    return [f["name"] for f in server.get("/api/files")["files"]]


def listing(folder, server):
    here = server.folder
    os.symlink(os.path.join(folder, "secret.mtx"), os.path.join(here, "link.mtx"))
    os.symlink(folder, os.path.join(here, "up"))
    os.mkfifo(os.path.join(here, "pipe.mtx"))
    with open(os.path.join(here, ".hidden.mtx"), "w", encoding="ascii") as f:
        f.write("x")
    with open(os.path.join(here.encode(), b"\xff.mtx"), "wb") as f:  # no UTF-8
        f.write(b"x")
    with open(os.path.join(here, "notes.txt"), "w", encoding="ascii") as f:
        f.write("x")
    found = {f["name"]: f["kind"] for f in server.get("/api/files")["files"]}
    assert found == {POISSON: "matrix", "b.mtx": "vector", "notes.txt": "other"}, found


def nothing_beyond(server):
    outside = ("../secret.mtx", "..%2fsecret.mtx", "%2e%2e/secret.mtx", "link.mtx", "up/secret.mtx", "up", "pipe.mtx",
               ".hidden.mtx", ".spry-serve", ".", "..", "", "/etc/passwd", "b.mtx%00", "b.mtx/", "no.mtx", "%ff.mtx")
    for name in outside:
        for what in ("spy", "info"):
            assert server.ask("GET", f"/api/{what}?file={name}")[0] == 404, (what, name)
    for name in ("../secret.mtx", "link.mtx", "up/secret.mtx", ".hidden.mtx", "pipe.mtx", "", "b.mtx\0", "a\nb"):
        for key in ("file", "rhs"):
            asked = {"kind": "solve", "file": POISSON, key: name}
            status, _, _ = server.ask("POST", "/api/jobs", asked)
            assert status in (400, 404) or (key == "rhs" and name == ""), (key, name, status)
    for path in ("/../secret.mtx", "/..%2f..%2fetc/passwd", "/api/jobs/../files", "/api/jobs/1/../../x", "//etc/passwd"):
        assert server.ask("GET", path)[0] == 404, path


def pictures(server):
    status, heads, svg = server.ask("GET", f"/api/spy?file={POISSON}&size=64&of=1")
    assert status == 200 and heads["Content-Type"] == "image/svg+xml" and svg.startswith(b"<svg"), svg[:80]
    assert "sandbox" in heads["Content-Security-Policy"]
    info = server.get(f"/api/info?file={POISSON}")
    assert info["rows"] == 144 and info["symmetric"] is True
    status, _, content = server.ask("GET", "/api/info?file=notes.txt")
    assert status == 422 and b"error" in content


def uploads(server):
    matrix = b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n"

    def send(name, body=matrix, more=""):
        return server.ask("POST", f"/api/files?name={name}{more}", body)[0]

    assert send("new.mtx") == 201 and send("new.mtx") == 409
    assert send("new.mtx", matrix + b"% more\n", "&replace=1") == 201
    with open(os.path.join(server.folder, "new.mtx"), "rb") as f:
        assert f.read() == matrix + b"% more\n"
    assert send("empty.mtx", b"") == 201
    for name in ("../x.mtx", "..", ".x", "", "a%2fb", "a%0ab", "x" * 256, "%ff", "a%00b"):
        assert send(name) == 400, name
    # names that are no harm
    for name in ("-o", "--json=x.json", "a%20b%27%22;$(x).mtx", "%3Cimg%20src=x%3E.mtx", "%E8%A1%8C.mtx"):
        assert send(name) == 201, name
    assert {"-o", "--json=x.json", "a b'\";$(x).mtx", "<img src=x>.mtx", "行.mtx"} < set(names(server))
    # links are replaced, not followed, and only where that is asked for
    assert send("link.mtx") == 409 and send("up", matrix, "&replace=1") == 201
    assert not os.path.islink(os.path.join(server.folder, "up"))


def limits(server):
    before = names(server)
    big = b"x" * (MOST + 1)
    assert server.ask("POST", "/api/files?name=big", big[:-1])[0] == 201
    answer = server.raw(head(server, "big2", f"Content-Length: {MOST + 1}"))
    assert answer.startswith(b"HTTP/1.1 413"), answer[:60]
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (big[:60000], big[60000:]))
    answer = server.raw(head(server, "big3", "Transfer-Encoding: chunked") + chunks + b"0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413"), answer[:60]
    answer = server.raw(head(server, "parts", "Transfer-Encoding: chunked") + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 201"), answer[:60]
    # one that goes away on the way leaves nothing
    with socket.create_connection((server.host, server.port)) as s:
        s.sendall(head(server, "half", "Content-Length: 1000") + b"x" * 500)
    with socket.create_connection((server.host, server.port)) as s:
        s.sendall(head(server, "half", "Transfer-Encoding: chunked") + b"ffff\r\nabc")
    assert sorted(names(server)) == sorted(before + ["big", "parts"])
    state = os.path.join(server.folder, ".spry-serve")
    server.wait_for(lambda: not [f for f in os.listdir(state) if f.startswith("upload")], "clean folder")
    # heads and bodies that are too large
    assert b"HTTP/1.1 4" in server.raw(head(server, "x", "X-Long: " + "x" * 100000))[:12]
    assert server.ask("POST", "/api/jobs", b" " * (300 << 10))[0] == 413
    for body in (b"", b"{", b"[]", b"null", b"{}", b'{"kind":"rm","file":"b.mtx"}', b"\xff", b"[" * 1000):
        assert server.ask("POST", "/api/jobs", body)[0] == 400, body


def head(server, name, more):
    return (f"POST /api/files?name={name} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nCookie: {server.cookie}\r\n"
            f"X-Spry: 1\r\nConnection: close\r\n{more}\r\n\r\n").encode()


def all_of_it():
    with place() as folder, Server(SPRY, folder, "--upload-bytes", str(MOST)) as server:
        listing(folder, server)
        for test in (nothing_beyond, pictures, uploads, limits):
            test(server)
        # a file that was named as an option is one
        record = server.wait_job(server.job(kind="doctor", file="-o"))
        assert record["state"] == "done" and record["command"] == "spry doctor ./-o", record
        assert sorted(os.listdir(folder)) == ["cache", "here", "secret.mtx"] or \
            sorted(os.listdir(folder)) == ["here", "secret.mtx"]
        assert server.stop() == []


run([all_of_it])
