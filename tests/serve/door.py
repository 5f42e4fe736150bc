"""Who is let in by `spry serve`: door.py SPRY"""

import json
import os
import re
import socket
import subprocess
import sys
import time

from client import Server, environment, place, run

SPRY = sys.argv[1]


def heads_are_strict(heads):
    policy = heads["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy, policy
    assert "unsafe" not in policy, policy
    assert heads["X-Content-Type-Options"] == "nosniff"
    assert heads["Cache-Control"] == "no-store"
    assert heads["Referrer-Policy"] in ("no-referrer", "same-origin")


def cookies_and_tokens(server):
    status, heads, page = server.ask("GET", "/")
    assert status == 401 and b"spry serve" in page
    heads_are_strict(heads)
    for path in ("/page.js", "/api/files", "/api/jobs", "/api/nothing"):
        assert server.ask("GET", path)[0] == 401, path
    token = server.token()
    server.sign_in()
    heads = server.ask("GET", "/")[1]
    heads_are_strict(heads)
    assert "'self'" in heads["Content-Security-Policy"]
    assert server.ask("GET", "/page.js")[0] == 200
    assert server.get("/api/files")["folder"] == "here"
    # a token is good once, the next is another
    assert server.token() != token
    assert server.ask("GET", "/?token=" + token, Cookie=None)[0] == 401
    assert server.ask("GET", "/?token=" + token)[0] == 303  # opened once more in the same browser
    # by the form
    count = len(server.urls)
    assert server.ask("POST", "/login", b"token=" + server.token().encode(), Cookie=None)[0] == 303
    server.wait_for(lambda: len(server.urls) > count, "new address")


def cookies_are_kept_from_scripts(server):
    cookie = server.ask("GET", "/?token=" + server.token())[1]["Set-Cookie"]
    assert cookie.startswith(f"spry-{server.port}=")
    assert all(word in cookie for word in ("HttpOnly", "SameSite=Strict", "Path=/"))


def wrong_guesses_wait(server):
    """Each wrong guess waits longer than the one before; the good cookie does not."""
    seconds = []
    for guess in range(2):
        begin = time.monotonic()
        assert server.ask("GET", f"/?token={guess:032x}", Cookie=None)[0] == 401
        seconds.append(time.monotonic() - begin)
    # at least 0.1, 0.2, 0.4 s ... after the failures before: the waits are lower bounds, not measurements
    assert all(waited >= 0.1 * 2 ** k for k, waited in enumerate(seconds)), seconds
    name = server.cookie.split("=")[0]
    assert server.ask("GET", "/api/files", Cookie=f"{name}={'0' * 32}")[0] == 401
    assert server.ask("GET", "/api/files", Cookie=f"{name}={server.cookie.split('=')[1]}0")[0] == 401
    assert server.ask("GET", "/api/files")[0] == 200


def other_hosts_and_origins(server):
    own = f"127.0.0.1:{server.port}"
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", "127.0.0.1:1", f"{own}.evil.example", ""):
        assert server.ask("GET", "/api/files", Host=host)[0] in (400, 421), host
    for host in (own, f"localhost:{server.port}", f"LOCALHOST:{server.port}"):
        assert server.ask("GET", "/api/files", Host=host)[0] == 200, host
    cookie = server.cookie.encode()
    rest = b"Connection: close\r\nCookie: " + cookie + b"\r\n\r\n"
    assert server.raw(b"GET /api/files HTTP/1.1\r\n" + rest).startswith(b"HTTP/1.1 400")
    two = f"Host: {own}\r\nHost: evil.example\r\n".encode()
    assert server.raw(b"GET /api/files HTTP/1.1\r\n" + two + rest).startswith(b"HTTP/1.1 4")
    for origin in ("http://evil.example", "null", f"https://{own}", f"http://{own}.evil.example", "http://127.0.0.1"):
        assert server.ask("GET", "/api/files", Origin=origin)[0] == 403, origin
        assert server.ask("POST", "/api/jobs", {}, Origin=origin)[0] == 403, origin
    # something that changes the folder says where it comes from
    assert server.ask("POST", "/api/jobs", {}, X_Spry=None)[0] == 403
    assert server.ask("POST", "/api/jobs", {}, X_Spry="2")[0] == 403
    assert server.ask("DELETE", "/api/jobs/1", X_Spry=None)[0] == 403
    assert server.ask("POST", "/api/jobs", {}, X_Spry=None, Origin=f"http://{own}")[0] == 400
    for method in ("PUT", "HEAD", "OPTIONS", "PATCH", "TRACE"):
        assert server.ask(method, "/")[0] in (405, 501), method


def requests_have_one_end(server):
    """Where a request ends is said once and plainly, else what others pass on as a body could be another request here."""
    body = b'{"method":"cg"}'
    length, chunked = b"Content-Length: 15", b"Transfer-Encoding: chunked"
    own = f"Host: 127.0.0.1:{server.port}\r\nCookie: {server.cookie}\r\n".encode()
    second = b"GET /api/nothing HTTP/1.1\r\nConnection: close\r\n" + own + b"\r\n"

    def statuses(method, *heads):
        path = {b"POST": b"/api/explain", b"GET": b"/api/files", b"DELETE": b"/api/jobs/1"}[method]
        sent = b"f\r\n" + body + b"\r\n0\r\n\r\n" if b"chunked" in b"".join(heads) else body
        head = b" ".join((method, path, b"HTTP/1.1\r\n")) + own + b"X-Spry: 1\r\n" + b"".join(h + b"\r\n" for h in heads)
        return re.findall(rb"HTTP/1.1 (\d+)", server.raw(head + b"\r\n" + sent + second))

    for heads in ((length,), (chunked,), (length.upper(),)):
        assert statuses(b"POST", *heads) == [b"200", b"404"], heads
    for heads in ((length, length), (length, b"Content-Length: 5"), (b"Content-Length: 0", length), (length, chunked), (chunked, length),
                  (chunked, chunked), (b"Transfer-Encoding: identity",), (b"Transfer-Encoding: gzip, chunked",), (length + b", 15",),
                  (b"Content-Length: +15",), (b"Content-Length: 0xf",), (b"Content-Length: -1",), (b"Content-Length: 1 5",),
                  (b"Content-Length: ",), (b"Content-Length : 15",), (b"Content-Length\t: 15",),
                  (b"Transfer-Encoding : chunked", length), (b"X-A: b\n" + length, length)):
        for method in (b"POST", b"GET", b"DELETE"):
            found = statuses(method, *heads)
            # nothing behind it is taken as a request that is answered well
            assert found[0] == b"400" and not {b"200", b"404"} & set(found), (method, heads, found)
    assert statuses(b"POST", b"Content-Length: 99999999999999999999")[0] in (b"400", b"413")


def with_a_server():
    with place() as folder, Server(SPRY, folder, sign_in=False) as server:
        for test in (cookies_and_tokens, cookies_are_kept_from_scripts, wrong_guesses_wait, other_hosts_and_origins,
                     requests_have_one_end):
            test(server)


def refuses(folder, *options):
    done = subprocess.run([SPRY, "serve", os.path.join(folder, "here"), "--port", "0", *options], capture_output=True,
                          text=True, env=environment(folder), timeout=60, check=False)
    assert done.returncode == 2, done
    return done.stderr


def has_six():
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
            return True
    except OSError:
        return False


def the_other_loopback():
    with place() as folder, Server(SPRY, folder, "--listen", "::1") as server:
        assert server.urls[0].startswith("http://[::1]:") and server.get("/api/files")["folder"] == "here"
        assert server.ask("GET", "/api/files", Host=f"127.0.0.1:{server.port}")[0] == 421


def asks_for_a_key(server):
    """A person sees a page with a form, and whether the key was wrong; a program is told so in JSON."""
    own = f"http://127.0.0.1:{server.port}"
    first = server.ask("GET", "/")
    wrong = server.ask("POST", "/login", b"token=wrong", X_Spry=None, Origin=own)
    gone = server.ask("GET", "/", Cookie=f"spry-{server.port}={'0' * 32}")
    for (status, heads, page), said in ((first, None), (wrong, b"not the key"), (gone, b"has ended since")):
        assert status == 401 and heads["Content-Type"].startswith("text/html"), (status, heads)
        heads_are_strict(heads)
        assert b'<form method="post" action="/login">' in page and b"/page.css" in page, page
        assert (b'role="alert"' in page) == bool(said) and (said or b"Key") in page, page
    # how it looks is no secret; what the page does, and what is in the folder, is
    for path, status in (("/page.css", 200), ("/icon.svg", 200), ("/page.js", 401), ("/index.html", 401)):
        assert server.ask("GET", path)[0] == status, path
    for method, path, body in (("GET", "/api/files", None), ("POST", "/api/jobs", {}), ("POST", "/login", b"token=wrong")):
        status, heads, answer = server.ask(method, path, body)
        assert status == 401 and heads["Content-Type"] == "application/json" and "key" in json.loads(answer)["error"], (path, answer)


def other_addresses_need_a_key():
    with place() as folder:
        assert "--key" in refuses(folder, "--listen", "0.0.0.0")
        assert "address of numbers" in refuses(folder, "--listen", "example.org")
        key = os.path.join(folder, "key")
        with open(key, "w", encoding="ascii") as f:
            f.write("short\n")
        assert "chmod 600" in refuses(folder, "--key", key)
        os.chmod(key, 0o600)
        assert "22 letters" in refuses(folder, "--key", key)
        with open(key, "w", encoding="ascii") as f:
            f.write("a-key-of-Letters_and-Digits-1\n")
        with Server(SPRY, folder, "--key", key, sign_in=False) as server:
            assert "token" not in server.urls[0]
            asks_for_a_key(server)
            assert server.ask("POST", "/login", b"token=wrong")[0] == 401
            for _ in range(2):  # as often as one likes
                status, heads, _ = server.ask("POST", "/login", b"token=a-key-of-Letters_and-Digits-1")
                assert status == 303
            server.cookie = heads["Set-Cookie"].split(";")[0]
            assert server.get("/api/files")["folder"] == "here"
            # one server a folder
            assert "another spry serve" in refuses(folder)


run([with_a_server, other_addresses_need_a_key] + [the_other_loopback] * has_six())
