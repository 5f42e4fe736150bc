"""How a solve on ranks scales:  python3 bench/scaling.py SPRY [SIDE] [MOST_RANKS]

Measures conjugate gradients without a preconditioner on poisson3d of SIDE^3 points (96) with 1 to MOST_RANKS (4) ranks of
one thread, the quickest of REPEATS (3) runs, and fits nothing to these times: the model has three numbers of other runs. What a rank reads a second comes of the
run with one rank, what several read together of one process with as many threads, and what messages and sums take of a
system so small (8^3) that they are all there is. Then it says what the model gives for clusters, with the numbers of the
machine it assumes. docs/scaling.md has the formulas and what came out. Last, it holds the model against the times that a book
gives for a cluster of GPUs (Designing Scientific Applications on GPUs, chapter 13, tables 13.2 and 13.4).
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

REPEATS = int(os.environ.get("REPEATS", "3"))


def solve(spry: str, file: str, ranks: int, threads: int, iterations: int, repeats: int = REPEATS) -> dict:
    """The quickest of some solves of `iterations` iterations; seconds per iteration under "step"."""
    best: dict = {}
    for _ in range(repeats):
        command = [spry, "solve", file, "--method", "cg", "--precon", "none", "--format", "csr", "--threads", str(threads),
                   "--tol", "1e-30", "--stall", "0", "--max-iter", str(iterations), "--no-memory", "--json"]
        if ranks > 0:
            command = ["mpirun", "-n", str(ranks)] + command + ["--mpi"]
        run = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False, timeout=100)
        if not run.stdout:
            sys.exit(f"{' '.join(command)}: {run.returncode}\n{run.stderr}")
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


# rows of 25 million rows: millions of entries, columns between the first and the last entry of a row, and milliseconds per iteration
# of cg with 24 cores and with 12 GPUs (seconds and iterations of the tables)
BOOK = {
    "ecology2": (124.9, 2_002, 1e3 * .103 * 8.27 / 15, 1e3 * .103 / 15),
    "shallow_water2": (100.2, 62_806, 1e3 * .055 * 7.23 / 7, 1e3 * .055 / 7),
    "finan512": (278.2, 123_900, 1e3 * .354 * 3.42 / 14, 1e3 * .354 / 14),
    "2cubes_sphere": (413.7, 198_836, 1e3 * .401 * 4.05 / 14, 1e3 * .401 / 14),
    "G3_circuit": (125.3, 1_891_887, 1e3 * .263 * 5.12 / 17, 1e3 * .263 / 17),
    "thermal2": (175.3, 2_421_285, 1e3 * .244 * 5.78 / 16, 1e3 * .244 / 16),
}


def book() -> None:
    """Two numbers a machine: its rate of reading from ecology2, that of its messages from G3_circuit; the rest is predicted."""
    def work(name: str) -> float:
        return BOOK[name][0] * 1e6 * 12 + 25e6 * 80

    print("\nA book's cluster: ms per iteration of cg, 25 million rows, given and by the model")
    print("| matrix | halo, MB | 24 cores | model | model / given | 12 GPUs | model | model / given |")
    print("|---|---|---|---|---|---|---|---|")
    for name in BOOK:
        line = f"| {name} | {8e-6 * BOOK[name][1]:.2f} |"
        for machine in (2, 3):
            read = work("ecology2") / BOOK["ecology2"][machine]
            wire = BOOK["G3_circuit"][1] / (BOOK["G3_circuit"][machine] - work("G3_circuit") / read)
            model = work(name) / read + BOOK[name][1] / wire
            fitted = name in ("ecology2", "G3_circuit")
            line += f" {BOOK[name][machine]:.1f} | {model:.1f} | {'fitted' if fitted else f'{model / BOOK[name][machine]:.2f}'} |"
        print(line)


def main() -> None:
    spry = sys.argv[1]
    side = int(sys.argv[2]) if len(sys.argv) > 2 else 96
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 4
    cores = len(os.sched_getaffinity(0))
    counts = [n for n in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64) if n <= most]
    with tempfile.TemporaryDirectory() as folder:
        large, small = os.path.join(folder, "large.spry"), os.path.join(folder, "small.spry")
        for name, size in ((large, side), (small, 8)):
            subprocess.run([spry, "gen", "poisson3d", "--size", str(size), "-o", name, "--quiet"], check=True)
        threads = {n: solve(spry, large, 0, n, 100)["step"] for n in counts if n <= cores}
        alone = solve(spry, large, 1, 1, 100)["step"]
        print(f"poisson3d {side}^3, {cores} cores; one process: " +
              ", ".join(f"{n} threads {1e3 * step:.2f} ms" for n, step in threads.items()))
        print("| ranks | measured, ms | model | model / measured | of it messages and sums | halo, elements |")
        print("|---|---|---|---|---|---|")
        for ranks in counts:
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
    book()


if __name__ == "__main__":
    main()
