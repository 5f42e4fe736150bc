"""A server of spry for tests, and a client of it; Python's standard library alone."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time

POISSON = "poisson.mtx"


def environment(folder, threads="1"):
    """Of processes under test: reports of sanitizers end them with 99, one thread each unless said (None: as they like)."""
    return dict(
        os.environ,
        **({"OMP_NUM_THREADS": threads} if threads else {}),
        SPRY_CACHE=os.path.join(folder, "cache"),
        OCL_ICD_VENDORS="/nowhere",  # looking for devices takes longer than all else
        ASAN_OPTIONS="exitcode=99:detect_leaks=0:quarantine_size_mb=8",
        UBSAN_OPTIONS="exitcode=99",
    )


@contextlib.contextmanager
def place():
    """A folder with a folder `here` of two small files, and things around it that must not be reached."""
    with tempfile.TemporaryDirectory(prefix="spry-serve.") as folder:
        here = os.path.join(folder, "here")
        os.mkdir(here)
        with open(os.path.join(folder, "secret.mtx"), "w", encoding="ascii") as f:
            f.write("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 42\n")
        write_poisson(os.path.join(here, POISSON), 12)
        with open(os.path.join(here, "b.mtx"), "w", encoding="ascii") as f:
            f.write("%%MatrixMarket matrix array real general\n144 1\n" + "1\n" * 144)
        yield folder


def write_poisson(path, n):
    """The five-point matrix of an n x n grid."""
    entries = []
    for i in range(n):
        for k in range(n):
            row = i * n + k + 1
            entries.append((row, row, 4))
            if k > 0:
                entries.append((row, row - 1, -1))
            if i > 0:
                entries.append((row, row - n, -1))
    with open(path, "w", encoding="ascii") as f:
        f.write(f"%%MatrixMarket matrix coordinate real symmetric\n{n * n} {n * n} {len(entries)}\n")
        f.writelines(f"{i} {j} {v}\n" for i, j, v in entries)


class Server:
    """`spry serve` of a folder's `here`, signed in unless said."""

    def __init__(self, spry, folder, *options, sign_in=True, threads="1"):
        self.folder = os.path.join(folder, "here")
        self.process = subprocess.Popen(
            [spry, "serve", self.folder, "--port", "0", "--quiet", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(folder, threads))
        self.urls = []
        self.complaints = []
        self.news = threading.Condition()
        for stream, lines in ((self.process.stdout, self.urls), (self.process.stderr, self.complaints)):
            threading.Thread(target=self.listen, args=(stream, lines), daemon=True).start()
        self.wait_for(lambda: self.urls, "an address")
        match = re.fullmatch(r"http://(?:127\.0\.0\.1|\[::1\]):(\d+)/(?:\?token=([0-9a-f]{32}))?", self.urls[0])
        assert match, self.urls
        self.host = "::1" if "[" in self.urls[0] else "127.0.0.1"
        self.port = int(match[1])
        self.cookie = None
        if sign_in:
            self.sign_in()

    def listen(self, stream, lines):
        for line in stream:
            with self.news:
                lines.append(line.rstrip("\n"))
                self.news.notify_all()

    def wait_for(self, holds, what, seconds=60):
        end = time.monotonic() + seconds
        with self.news:
            while not holds():
                assert self.process.poll() is None, ("the server ended", self.complaints)
                assert time.monotonic() < end, f"no {what}"
                self.news.wait(0.05)

    def token(self):
        return self.urls[-1].split("token=")[1]

    def sign_in(self):
        count = len(self.urls)
        status, head, _ = self.ask("GET", "/?token=" + self.token())
        assert status == 303 and head["Location"] == "/", (status, head)
        self.cookie = head["Set-Cookie"].split(";")[0]
        self.wait_for(lambda: len(self.urls) > count, "new address")

    def ask(self, method, path, body=None, **heads):
        """A request; heads X_Spry="1" stand for X-Spry: 1, None leaves one out."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        all_heads = {"Cookie": self.cookie, "X-Spry": None if method == "GET" else "1"}
        all_heads.update({name.replace("_", "-"): value for name, value in heads.items()})
        connection.putrequest(method, path, skip_host="Host" in all_heads, skip_accept_encoding=True)
        for name, value in all_heads.items():
            if value is not None:
                connection.putheader(name, value)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.headers, content

    def get(self, path):
        """The JSON of an answer that is well."""
        status, _, content = self.ask("GET", path)
        assert status == 200, (path, status, content)
        return json.loads(content)

    def post(self, path, body):
        status, _, content = self.ask("POST", path, body)
        assert status in (200, 201), (path, status, content)
        return json.loads(content)

    def raw(self, data, seconds=10, half=False):
        """What comes back for bytes as they are; half: no more will come, the server knows."""
        with socket.create_connection((self.host, self.port), timeout=seconds) as s:
            s.sendall(data)
            answer = b""
            with contextlib.suppress(OSError):
                if half:
                    s.shutdown(socket.SHUT_WR)
                while part := s.recv(65536):
                    answer += part
            return answer

    def job(self, **asked):
        asked.setdefault("kind", "solve")
        asked.setdefault("file", POISSON)
        return self.post("/api/jobs", asked)["id"]

    def wait_job(self, job, *states, seconds=120):
        states = states or ("done", "failed", "cancelled")
        end = time.monotonic() + seconds
        while True:
            record = self.get(f"/api/jobs/{job}")
            if record["state"] in states:
                return record
            assert time.monotonic() < end and record["state"] in ("queued", "running"), record
            time.sleep(0.03)

    def events(self, job, last=None):
        """All events of a job that is over, or will be: (event, id, data)."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        heads = {"Cookie": self.cookie}
        if last is not None:
            heads["Last-Event-ID"] = last
        connection.request("GET", f"/api/jobs/{job}/events", headers=heads)
        answer = connection.getresponse()
        assert answer.status == 200 and answer.headers["Content-Type"] == "text/event-stream"
        found = []
        for block in answer.read().decode().split("\n\n"):
            fields = [line.partition(": ") for line in block.splitlines()]
            data = "\n".join(value for name, _, value in fields if name == "data")
            if data:
                names = {name: value for name, _, value in fields}
                found.append((names["event"], names.get("id"), json.loads(data)))
        connection.close()
        return found

    def stop(self):
        """Asks it to end; what it complained of."""
        self.process.send_signal(signal.SIGTERM)  # Ctrl-C is ignored in the background
        assert self.process.wait(60) == 0, (self.process.returncode, self.complaints)
        return self.complaints

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            if kind is None:
                self.stop()
            else:
                self.process.kill()
                print("the server said:", self.complaints)
        self.process.wait(60)
        self.process.stdout.close()
        self.process.stderr.close()


def run(tests):
    """Runs functions one after the other and returns their seconds, of processors those of all processes that were waited for."""
    for test in tests:
        begin, before = time.monotonic(), os.times()
        test()
        used = sum(os.times()[:4]) - sum(before[:4])
        print(f"{test.__name__}: {time.monotonic() - begin:.1f} s, {used:.1f} s of processors", flush=True)
