#!/usr/bin/env python3
"""Block CG compared with cg, 16 right-hand sides: bench/block.py BUILD [DEVICE] [MATRIX...]

MATRIX is a generator with its size, as poisson3d:100; without any poisson3d:100 and elasticity:32, those of the table in
docs/figures.md. Each method runs once unseen, so that programs and choices are there, and ROUNDS times (3) after that, methods
taking turns. Printed are medians: seconds of the whole command, its processor seconds, those of the solve alone (beyond a command
that stops at 0.5, for which FORMAT has to be named, as what is chosen depends on that), iterations, and how many times faster than the
first method by seconds (on a device) or by processor seconds (on the processor, which may be shared). METHODS, PRECON and TOL in the environment say what runs: METHODS="cg block-cg block-cg:width=8".
"""
import array
import json
import os
import random
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time

COLUMNS = 16
METHODS = os.environ.get("METHODS", "cg block-cg block-cg:width=8 block-cg:width=4").split()
ROUNDS = int(os.environ.get("ROUNDS", "3"))


def write_right_hand_sides(path, rows):
    """Random numbers, column by column, as a file of NumPy's."""
    random.seed(1)
    head = "{'descr': '<f8', 'fortran_order': True, 'shape': (%d, %d), }" % (rows, COLUMNS)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    numbers = array.array("d", (random.random() - 0.5 for _ in range(rows * COLUMNS)))
    if sys.byteorder == "big":
        numbers.byteswap()
    with open(path, "wb") as to:
        to.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        numbers.tofile(to)


def run(command):
    """Seconds, processor seconds, and the results of one run."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        sys.exit("%s\n%s" % (" ".join(command), done.stderr))
    systems = json.loads(done.stdout)["systems"]
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "used": used, "systems": systems}


def measure(program, device, matrix, folder):
    kind, size = matrix.split(":")
    A, B = os.path.join(folder, "A.spry"), os.path.join(folder, "B.npy")
    subprocess.run([program, "gen", kind, "--size", size, "-o", A, "--quiet"], check=True)
    info = subprocess.run([program, "info", A, "--json"], stdout=subprocess.PIPE, text=True, check=True)
    write_right_hand_sides(B, json.loads(info.stdout)["rows"])
    runs = {method: [] for method in METHODS}
    for turn in range(ROUNDS + 1):
        for method in METHODS:
            command = [program, "solve", A, B, "--method", method, "--precon", os.environ.get("PRECON", "none"),
                       "--tol", os.environ.get("TOL", "1e-8"), "--device", device, "--json"]
            if "FORMAT" in os.environ:
                command += ["--format", os.environ["FORMAT"]]
            result = run(command)
            if "FORMAT" in os.environ:
                result["solve"] = result["seconds"] - run(command + ["--tol", "0.5"])["seconds"]
            if turn > 0:
                runs[method].append(result)
    first = None
    for method in METHODS:
        of = runs[method]
        seconds = statistics.median(r["seconds"] for r in of)
        used = statistics.median(r["used"] for r in of)
        solve = statistics.median(r.get("solve", float("nan")) for r in of)
        counts = [s["iterations"] for s in of[0]["systems"]]
        judged = used if device == "cpu" else seconds
        first = first or judged
        arrived = all(s["converged"] for r in of for s in r["systems"])
        print("%-16s %-18s %9.3f %9.3f %9.4f %5d to %-5d %6.2f%s" %
              (matrix, method, seconds, used, solve, min(counts), max(counts), first / judged,
               "" if arrived else "  not all converged"), flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    device = sys.argv[2] if len(sys.argv) > 2 else "cuda"
    print("%-16s %-18s %9s %9s %9s %-14s %6s" % ("matrix", "method", "seconds", "used", "solve", "iterations", "faster"))
    for matrix in sys.argv[3:] or ["poisson3d:100", "elasticity:32"]:
        with tempfile.TemporaryDirectory() as folder:
            measure(os.path.join(sys.argv[1], "spry"), device, matrix, folder)


if __name__ == "__main__":
    main()
