#!/usr/bin/env python3
"""usage: bench/compare.py OLD_PROGRAM NEW_PROGRAM [--device cuda] [--rounds 7] [--quick]

Two builds of spry side by side: products, methods, preconditioners and whole solves, in turns in one run, so that a change that should not
cost anything can be seen not to. Prints new / old of the medians; a row above 1.03 is marked. Files that programs keep between runs are in a
folder of each program's own. Records of 0.2 have no choose_seconds: attempts that fail and what is found out after a run count as set-up in the
newer ones, as iterations in those. Between the two, the row "whole" is to be compared.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("old")
parser.add_argument("new")
parser.add_argument("--device", default="cpu")
parser.add_argument("--threads", default="0")
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--quick", action="store_true", help="small matrices, a few rows")
parser.add_argument("--only", default="", help="rows whose name has this word")
parser.add_argument("--solves", action="store_true", help="no products by themselves")
args = parser.parse_args()
work = tempfile.mkdtemp()
scale = 0.4 if args.quick else 1.0


def size(n):
    return max(8, int(n * scale))


MATRICES = {
    "p7": ["poisson3d", "--size", str(size(128))],
    "p27": ["poisson3d", "--size", str(size(80)), "--points", "27"],
    "el": ["elasticity", "--size", str(size(40))],
    "he": ["helmholtz", "--size", str(size(64))],
    "cd": ["convection-diffusion", "--size", str(size(300))],
    "rm": ["rmat", "--size", str(size(200000))],
    "small": ["poisson3d", "--size", "20"],
}
FORMATS = ["csr", "sell", "sell16", "ellr-t", "sym", "bsr", "csr16", "merge"]
SOLVES = [  # name, matrix, options
    ("cg jacobi", "p7", ["--method", "cg", "--precon", "jacobi", "--max-iter", "200", "--tol", "1e-14", "--quiet"]),
    ("pipecg jacobi", "p7", ["--method", "pipecg", "--precon", "jacobi", "--max-iter", "200", "--tol", "1e-14", "--quiet"]),
    ("cg amg", "p7", ["--method", "cg", "--precon", "amg"]),
    ("cg ic", "p27", ["--method", "cg", "--precon", "ic"]),
    ("cg fsai", "p27", ["--method", "cg", "--precon", "fsai"]),
    ("cg amg el", "el", ["--method", "cg", "--precon", "amg"]),
    ("bicgstab jacobi", "cd", ["--method", "bicgstab", "--precon", "jacobi", "--max-iter", "200", "--tol", "1e-14", "--quiet"]),
    ("gmres ilu", "cd", ["--method", "gmres", "--precon", "ilu"]),
    ("idr jacobi", "cd", ["--method", "idr", "--precon", "jacobi", "--max-iter", "200", "--tol", "1e-14", "--quiet"]),
    ("cocg jacobi z", "he", ["--method", "cocg", "--precon", "jacobi", "--max-iter", "200", "--tol", "1e-14", "--quiet"]),
    ("direct", "cd", ["--method", "direct"]),
    ("auto p7", "p7", []),
    ("auto el", "el", []),
    ("auto cd", "cd", []),
    ("auto he", "he", []),
    ("small cg jacobi", "small", ["--method", "cg", "--precon", "jacobi"]),
]


def run(program, words):
    which = 0 if program == args.old else 1
    environment = dict(os.environ, SPRY_CACHE=os.path.join(work, f"cache{which}"))
    out = os.path.join(work, "out.json")
    if os.path.exists(out):
        os.remove(out)
    done = subprocess.run([program, *words, "--json", out], capture_output=True, text=True, env=environment, timeout=300)
    if done.returncode not in (0, 1) or not os.path.exists(out):
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()[:200]}")
    with open(out) as file:
        return json.load(file)


def threads():
    return [] if args.threads == "0" else ["--threads", args.threads]


def product(program, matrix, name):
    found = run(program, ["bench", "spmv", os.path.join(work, matrix + ".spry"), "--format", name, "--device", args.device, "--repeat", "100", *threads()])
    rows = found["results"] if isinstance(found, dict) and "results" in found else found
    rows = rows if isinstance(rows, list) else next(v for v in rows.values() if isinstance(v, list))
    if rows[-1]["seconds"] is None:
        raise RuntimeError("the format does not suit the matrix")
    return {"seconds": rows[-1]["seconds"]}


def solve(program, matrix, options):
    found = run(program, ["solve", os.path.join(work, matrix + ".spry"), *options, "--device", args.device, *threads()])
    turns = max(found["iterations"], 1)
    return {"set-up": found["setup_seconds"] + found.get("choose_seconds", 0), "iteration": found["solve_seconds"] / turns,
            "whole": found.get("choose_seconds", 0) + found["setup_seconds"] + found["solve_seconds"], "count": turns}


def compare(label, call):
    figures = {args.old: [], args.new: []}
    try:
        for program in (args.old, args.new):
            call(program)  # compilers and files
        for turn in range(args.rounds):
            for program in (args.old, args.new) if turn % 2 else (args.new, args.old):
                figures[program].append(call(program))
    except (RuntimeError, subprocess.TimeoutExpired, KeyError) as error:
        print(f"{label:28} {error}")
        return []
    ratios = []
    for part in figures[args.old][0]:
        old, new = (statistics.median(row[part] for row in figures[p]) for p in (args.old, args.new))
        if part == "count":
            if old != new:
                print(f"{label:28} {'iterations':10} {old:10.0f} {new:10.0f}  differ")
            continue
        best_old, best_new = (min(row[part] for row in figures[p]) for p in (args.old, args.new))
        ratio = new / old if old > 0 else 1
        mark = "  slower" if ratio > 1.03 and best_new > 1.03 * best_old and new - old > 2e-6 else ""
        print(f"{label:28} {part:10} {1e6 * old:10.1f} {1e6 * new:10.1f} us  {ratio:5.3f}  least {best_new / best_old if best_old > 0 else 1:5.3f}{mark}", flush=True)
        ratios.append(ratio)
    return ratios


for name, words in MATRICES.items():
    subprocess.run([args.new, "gen", *words, "-o", os.path.join(work, name + ".spry"), "-q"], check=True)
print(f"{'what':28} {'part':10} {'old':>10} {'new':>10}     new/old, medians and least of {args.rounds}")
everything = []
for matrix in ("p7", "p27", "el", "rm"):
    for name in () if args.solves else FORMATS:
        if args.only in f"spmv {matrix} {name}":
            everything += compare(f"spmv {matrix} {name}", lambda p: product(p, matrix, name))
for name, matrix, options in SOLVES:
    if args.only in name:
        everything += compare(name, lambda p: solve(p, matrix, options))
if everything:
    print(f"geometric mean of {len(everything)} rows: {statistics.geometric_mean(everything):.3f}")
sys.exit(0)
