"""How a solve on ranks scales:  python3 bench/scaling.py SPRY [SIDE] [MOST_RANKS]

Measures conjugate gradients without a preconditioner on poisson3d of SIDE^3 points (96) with 1 to MOST_RANKS (4) ranks of
one thread, and fits nothing to these times: the model has three numbers of other runs. What a rank reads a second comes of the
run with one rank, what several read together of one process with as many threads, and what messages and sums take of a
system so small (8^3) that they are all there is. Then it says what the model gives for clusters, with the numbers of the
machine it assumes. docs/scaling.md has the formulas and what came out.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none")


def solve(spry: str, file: str, ranks: int, threads: int, iterations: int, repeats: int = 3) -> dict:
    """The quickest of some solves of so many iterations; seconds per iteration under "step"."""
    best: dict = {}
    for _ in range(repeats):
        command = [spry, "solve", file, "--method", "cg", "--precon", "none", "--format", "csr", "--threads", str(threads),
                   "--tol", "1e-30", "--stall", "0", "--max-iter", str(iterations), "--no-memory", "--json"]
        if ranks > 0:
            command = ["mpirun", "-n", str(ranks)] + command + ["--mpi"]
        run = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
        record = json.loads(run.stdout)
        record["step"] = record["solve_seconds"] / record["iterations"]
        if not best or record["step"] < best["step"]:
            best = record
    return best


def cluster(rows: float, nodes: int, read: float, latency: float, wire: float) -> float:
    """Seconds of an iteration: 7 points, matrix (12 bytes an entry) and ten vectors read, one halo, two sums."""
    own = rows / nodes
    side = own ** (1 / 3)
    work = own * (7 * 12 + 10 * 8) / read
    halo = 0.0 if nodes == 1 else 6 * latency + 6 * side * side * 8 / wire
    interior = work * max(0.0, 1 - 6 / side)
    sums = 0.0 if nodes == 1 else 2 * 2 * math.ceil(math.log2(nodes)) * latency
    return work + max(0.0, halo - interior) + sums


def main() -> None:
    spry = sys.argv[1]
    side = int(sys.argv[2]) if len(sys.argv) > 2 else 96
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 4
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        large, small = os.path.join(folder, "large.spry"), os.path.join(folder, "small.spry")
        for name, size in ((large, side), (small, 8)):
            subprocess.run([spry, "gen", "poisson3d", "--size", str(size), "-o", name, "--quiet"], check=True)
        threads = {n: solve(spry, large, 0, n, 100)["step"] for n in range(1, min(cores, most) + 1)}
        alone = solve(spry, large, 1, 1, 100)["step"]
        print(f"poisson3d {side}^3, {cores} cores; one process: " +
              ", ".join(f"{n} threads {1e3 * step:.2f} ms" for n, step in threads.items()))
        print("| ranks | measured, ms | model | model / measured | of it messages and sums | halo, elements |")
        print("|---|---|---|---|---|---|")
        for ranks in range(1, most + 1):
            run = solve(spry, large, ranks, 1, 100)
            talk = solve(spry, small, ranks, 1, 300)["step"] if ranks > 1 else 0.0
            model = alone * threads[min(ranks, max(threads))] / threads[1] + talk
            halo = max(rank["received"] for rank in run["ranks"]) if "ranks" in run else 0
            print(f"| {ranks} | {1e3 * run['step']:.2f} | {1e3 * model:.2f} | {model / run['step']:.2f} | {1e3 * talk:.3f} | {halo:,} |",
                  flush=True)
    print("\nClusters by the model: 200 GB/s a node, 2 us a message, 12.5 GB/s a wire; ms per iteration and efficiency")
    print("| nodes | 512^3 in all | efficiency | 256^3 a node | efficiency |")
    print("|---|---|---|---|---|")
    machine = dict(read=200e9, latency=2e-6, wire=12.5e9)
    one_strong, one_weak = cluster(512.0**3, 1, **machine), cluster(256.0**3, 1, **machine)
    for nodes in (1, 4, 16, 64, 256, 1024):
        strong, weak = cluster(512.0**3, nodes, **machine), cluster(256.0**3 * nodes, nodes, **machine)
        print(f"| {nodes} | {1e3 * strong:.3f} | {one_strong / strong / nodes:.2f} | {1e3 * weak:.3f} | {one_weak / weak:.2f} |")


if __name__ == "__main__":
    main()
