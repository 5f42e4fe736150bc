#!/usr/bin/env python3
"""What `spry solve A` does as the flow grows stronger: the convection family, compared with the best of a list of configurations.

bench/convection.py SPRY [-o TABLE.tsv] [NAME...]
bench/convection.py SPRY -o TABLE.tsv --tell

Convection and diffusion in two dimensions (200 x 200 points) and in three (72 x 72 x 72) with Peclet numbers from 1 to 10^6, central
differences, a constant flow along the diagonal with little diffusion, a triangular matrix (the same flow without diffusion), the flow of
72^3 points with a Peclet number of 1,000 in a random order, and a circuit. Runs and columns are those of bench/every.py; the best is the least time of all configurations that converged.
"""
import argparse, os, subprocess, sys, tempfile
import numpy as np, scipy.sparse as sp

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import every

CONFIGS = ["direct", "bicgstabl none", "bicgstabl jacobi", "bicgstabl ilu", "gmres:restart=50 ilu", "bicgstabl amg",
           "bicgstabl amg-classical:theta=0.5,aggressive=40", "bicgstabl amg-classical:aggressive=40", "idr ilu", "gmres:restart=50 ilut",
           "gmres:restart=50 ilutp"]


def flow(size, diffusion):
    """-d Laplace u + u_x + u_y with upwind differences and the step 1."""
    one = sp.eye(size)
    second = sp.diags([-1, 2, -1], [-1, 0, 1], (size, size))
    first = sp.diags([-1, 1], [-1, 0], (size, size))
    step = diffusion * second + first
    return sp.csr_matrix(sp.kron(step, one) + sp.kron(one, step))


def cases():
    for k in range(7):
        yield f"2-D, Peclet 10^{k}", ["convection-diffusion", "--size", "200", "--peclet", str(10**k)]
    for k in range(7):
        yield f"3-D, Peclet 10^{k}", ["convection-diffusion", "--size", "72", "--nz", "72", "--peclet", str(10**k)]
    yield "2-D central, Peclet 10^3", ["convection-diffusion", "--size", "200", "--scheme", "central", "--peclet", "1000"]
    yield "constant flow, diffusion 10^-4", flow(200, 1e-4)
    yield "triangular", flow(200, 0)
    yield "3-D, Peclet 10^3, shuffled", ["convection-diffusion", "--size", "72", "--nz", "72", "--peclet", "1000"]
    yield "circuit 100000", ["circuit", "--size", "100000"]


def shuffle(matrix):
    order = np.random.default_rng(0).permutation(matrix.shape[0])
    return sp.csr_matrix(matrix[order][:, order])


def make(spry, what, folder, shuffled=False):
    npz, path = os.path.join(folder, "A.npz"), os.path.join(folder, "A.spry")
    if shuffled:
        what = shuffle(make(spry, what, folder)[1])
    if isinstance(what, list):
        subprocess.run([spry, "gen", *what, "-o", path, "--quiet"], check=True)
        subprocess.run([spry, "convert", path, npz], check=True, capture_output=True)
    else:
        sp.save_npz(npz, what)
        subprocess.run([spry, "convert", npz, path], check=True, capture_output=True)
    return path, sp.csr_matrix(sp.load_npz(npz)).astype(np.float64)


def print_table(path):
    """The table as Markdown."""
    print("| | rows | chosen | tried before | iterations | seconds | best of all | its seconds |\n|---|---|---|---|---|---|---|---|")
    for name, runs in every.read_table(path).items():
        auto = runs["auto"]
        done = [(found["seconds"], config) for config, found in runs.items() if every.solved(found)]
        best = min(done) if done else (float("nan"), "-")
        chosen = auto["method"] if auto["method"] == auto["precon"] else f"{auto['method']}, {auto['precon']}"
        print(f"| {name} | {auto['rows']} | {chosen} | {len([t for t in auto['tried'].split('; ') if t])} | {auto['iterations']} | "
              f"{auto['seconds']:.2g} | {best[1]} | {best[0]:.2g} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spry")
    parser.add_argument("names", nargs="*", help="cases whose names contain one of these")
    parser.add_argument("-o", "--output", default="/dev/stdout")
    parser.add_argument("--auto", action="store_true", help="nothing but auto")
    parser.add_argument("--tell", action="store_true", help="no runs: TABLE.tsv as Markdown")
    given = parser.parse_intermixed_args()
    if given.tell:
        print_table(given.output)
        return
    empty = not os.path.isfile(given.output) or os.path.getsize(given.output) == 0
    with tempfile.TemporaryDirectory() as folder, open(given.output, "a") as out:
        if empty:
            print(*every.COLUMNS, sep="\t", file=out)
        for name, what in cases():
            if given.names and not any(part in name for part in given.names):
                continue
            path, matrix = make(given.spry, what, folder, name.endswith("shuffled"))
            best = float("inf")
            for config in ["auto"] + ([] if given.auto else CONFIGS):
                limit = 60 if best == float("inf") else every.FACTOR * best + every.SLACK
                found = every.run_steadily(given.spry, path, matrix, config, limit, (), every.SHORT)
                best = min(best, found["seconds"]) if every.solved(found) else best
                print(every.line(name, matrix, config, found), file=out, flush=True)


if __name__ == "__main__":
    main()
