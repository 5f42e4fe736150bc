"""Requests that are broken in all ways, for some seconds: hammer.py SPRY [SECONDS [SEED]]

Bytes of good requests are changed, cut, doubled and mixed. The server must live, answer a good request behind each few,
start no more than it may, and touch nothing outside its folder. 600 seconds are run by hand.
"""

import collections
import contextlib
import os
import random
import socket
import sys
import time

from client import POISSON, Server, place

SPRY = sys.argv[1]
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 3
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
OPEN = 30


def requests(server):
    heads = (f"Host: 127.0.0.1:{server.port}\r\nCookie: {server.cookie}\r\nX-Spry: 1\r\n"
             f"Origin: http://127.0.0.1:{server.port}\r\n")
    gets = ("/", "/?token=0", "/page.js", "/api/files", "/api/jobs", "/api/jobs/1", "/api/jobs/1/log", "/api/jobs/1/x",
            "/api/jobs/1/events", f"/api/info?file={POISSON}", "/api/compare?ids=1,2", "/api/spy?file=b.mtx&size=16")
    for path in gets:
        yield f"GET {path} HTTP/1.1\r\n{heads}\r\n".encode()
    yield f"GET /api/jobs/1/events HTTP/1.1\r\n{heads}Last-Event-ID: 100\r\n\r\n".encode()
    yield f"DELETE /api/jobs/1?forget=1 HTTP/1.1\r\n{heads}\r\n".encode()
    bodies = (("/api/jobs", '{"kind":"solve","file":"poisson.mtx","rhs":"b.mtx","method":"cg","precon":"jacobi","tol":1e-8}'),
              ("/api/jobs", '{"kind":"doctor","file":"poisson.mtx"}'), ("/api/explain", '{"method":"cg"}'),
              ("/api/explain", '{"text":"method m \\"x\\"\\nloop: x = x"}'), ("/login", "token=0123"),
              ("/api/files?name=sent.mtx&replace=1", "%%MatrixMarket matrix array real general\n1 1\n1\n"))
    for path, body in bodies:
        yield f"POST {path} HTTP/1.1\r\n{heads}Content-Length: {len(body)}\r\n\r\n{body}".encode()
        yield (f"POST {path} HTTP/1.1\r\n{heads}Transfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n{body}\r\n"
               "0\r\n\r\n").encode()


PIECES = (b"\r\n", b"\r\n\r\n", b"\0", b"%00", b"%", b"../", b"%2e%2e%2f", b"/", b"?", b"&", b"=", b"\xff", b"{", b"}", b"[",
          b'"', b"\\u0000", b"-1", b"99999999999999999999", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n",
          b"Host: x\r\n", b"GET ", b"HTTP/1.0", b"HTTP/9.9", b";", b" ", b"\t", b"\n", b"x" * 5000, b"Expect: 100-continue\r\n")


def mutate(rng, data, others):
    data = bytearray(data)
    for _ in range(rng.choice((0, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0 and at < len(data):
            data[at] = rng.randrange(256)
        elif kind == 1:
            data[at:at] = rng.choice(PIECES)
        elif kind == 2:
            del data[at:at + rng.choice((1, 2, 10, 100))]
        elif kind == 3:
            del data[at:]
        elif kind == 4:
            data[at:at] = data[at:at + rng.randrange(1, 200)]
        else:
            data += rng.choice(others)
    return bytes(data)


class Crowd:
    """Connections that were sent something; the oldest is heard and closed when there are many."""

    def __init__(self, server):
        self.server = server
        self.open = collections.deque()
        self.sent = self.answered = 0

    def send(self, data):
        with contextlib.suppress(OSError):
            s = socket.create_connection((self.server.host, self.server.port), timeout=2)
            s.sendall(data)
            s.setblocking(False)
            self.open.append((s, data))
        self.sent += 1
        if len(self.open) > OPEN:
            self.close()

    def close(self):
        s, data = self.open.popleft()
        with contextlib.suppress(OSError):
            answer = s.recv(65536)
            self.answered += answer.startswith(b"HTTP/1.1 ")
            assert not answer.startswith(b"HTTP/1.1 500"), data
        s.close()


def main():
    rng = random.Random(SEED)
    slowest = 0.0
    with place() as folder, Server(SPRY, folder, "--waiting", "2", "--upload-bytes", "10000", "--seconds", "10") as server:
        server.wait_job(server.job())
        around = sorted(os.listdir(folder))
        good = list(requests(server))
        crowd = Crowd(server)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for _ in range(20):
                crowd.send(mutate(rng, rng.choice(good), good))
            begin = time.monotonic()
            assert server.get("/api/files")["folder"] == "here"
            slowest = max(slowest, time.monotonic() - begin)
        while crowd.open:
            crowd.close()
        assert sorted(os.listdir(folder)) in (around, sorted(around + ["cache"]))
        complaints = server.stop()
    assert not [line for line in complaints if "Sanitizer" in line or "runtime error" in line], complaints
    print(f"{crowd.sent} requests, {crowd.answered} answered in time; a good one between took {1000 * slowest:.0f} ms at most")


main()
