#!/usr/bin/env python3
"""How long answers of `spry serve` take while a solve has all cores: bench/serve.py SPRY [SIZE]

Asks for the page, its script, files and jobs in turn, first with nothing else to do, then while Jacobi's method works on a
Poisson matrix of SIZE^3 unknowns (100 unless said) with a thread for each core.
"""

import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "serve"))
import client  # noqa: E402

SPRY = sys.argv[1]
SIZE = sys.argv[2] if len(sys.argv) > 2 else "100"
PATHS = ("/", "/page.js", "/api/files", "/api/jobs", "/api/jobs/1")


def measure(server, what, count):
    seconds = []
    for _ in range(count):
        for path in PATHS:
            begin = time.monotonic()
            status = server.ask("GET", path)[0]
            seconds.append(time.monotonic() - begin)
            assert status == 200, path
            time.sleep(0.01)
    seconds.sort()
    late = sum(s > 0.05 for s in seconds)
    print(f"{what}: median {1000 * statistics.median(seconds):.1f} ms, 95% below {1000 * seconds[len(seconds) * 95 // 100]:.1f} ms, "
          f"the slowest {1000 * seconds[-1]:.1f} ms, {late} of {len(seconds)} above 50 ms")


def main():
    with client.place() as folder:
        subprocess.run([SPRY, "gen", "poisson3d", "--size", SIZE, "-o", os.path.join(folder, "here", "big.spry"), "-q"], check=True)
        with client.Server(SPRY, folder, threads=None) as server:
            server.wait_job(server.job())
            measure(server, "idle", 40)
            job = server.job(file="big.spry", method="jacobi", precon="jacobi", tol=1e-14, max_iter=10**9)
            server.wait_job(job, "running")
            time.sleep(3)  # files are read, the iteration has begun
            measure(server, "while solving", 200)
            with open(os.path.join(server.folder, ".spry-serve", "jobs", job, "pid"), encoding="ascii") as f:
                pid = f.read()
            with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                used = [int(word) for word in f.read().rpartition(")")[2].split()[11:13]]
            record = server.get(f"/api/jobs/{job}")
            assert record["state"] == "running", record
            with open("/proc/loadavg", encoding="ascii") as f:
                load = f.read().split()[0]
            print(f"the solve had {sum(used) / os.sysconf('SC_CLK_TCK') / record['seconds']:.1f} of {os.cpu_count()} cores; "
                  f"load of the machine {load}")
            server.ask("DELETE", f"/api/jobs/{job}")


main()
