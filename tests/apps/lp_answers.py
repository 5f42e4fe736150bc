#!/usr/bin/env python3
"""What spry lp finds: small problems whose answers are known, random ones beside SciPy's HiGHS, and the
problems of a folder of MPS files with an OPTIMA.tsv of name and objective (SPRY_LP; --all takes those that
take more than a second, too).

    lp_answers.py SPRY-LP [--all]"""

import csv
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

PROGRAM = sys.argv[1]
ROOM = tempfile.mkdtemp()
FAILED = []


def solve(path, *options):
    run = subprocess.run([PROGRAM, path, "--json", "-q", *options], capture_output=True, text=True)
    if run.returncode not in (0, 1) or not run.stdout:
        return {"verdict": f"exit {run.returncode}: {run.stderr.strip()}", "objective": None}
    return json.loads(run.stdout)


def check(what, good, found):
    if not good:
        FAILED.append(what)
        print(f"{what}: {found}")


def certified(r, size=1e-7):
    """What is printed as true holds to the tolerance, over the terms."""
    return max(r["primal_error_relative"], r["dual_error_relative"], r["gap"]) <= size


def mps(path, c, A, lower, upper, low, high, maximise=False):
    """Any problem: rows as N, L, G, E and RANGES, columns with bounds of every kind."""
    m, n = A.shape
    kinds, right, ranges = [], [], []
    for i in range(m):
        l, u = lower[i], upper[i]
        kinds.append("E" if l == u else "N" if np.isinf(l) and np.isinf(u) else "L" if np.isinf(l) else "G")
        right.append(u if kinds[i] == "L" else 0 if kinds[i] == "N" else l)
        if not np.isinf(l) and not np.isinf(u) and l != u:
            ranges.append((i, u - l))
    with open(path, "w") as f:
        print("NAME random\nOBJSENSE\n   ", "MAX" if maximise else "MIN", file=f)
        print("ROWS\n N cost", *[f"\n {kinds[i]} r{i}" for i in range(m)], file=f)
        print("COLUMNS", file=f)
        for j in range(n):
            print(f" x{j} cost {c[j]:.17g}", file=f)
            for i in np.flatnonzero(A[:, j]):
                print(f" x{j} r{i} {A[i, j]:.17g}", file=f)
        print("RHS", *[f"\n rhs r{i} {right[i]:.17g}" for i in range(m) if kinds[i] != "N"], file=f)
        print("RANGES", *[f"\n rng r{i} {by:.17g}" for i, by in ranges], file=f)
        print("BOUNDS", file=f)
        for j in range(n):
            l, u = low[j], high[j]
            if l == u:
                print(f" FX b x{j} {l:.17g}", file=f)
            elif np.isinf(l) and np.isinf(u):
                print(f" FR b x{j}", file=f)
            else:
                print(f" MI b x{j}" if np.isinf(l) else f" LO b x{j} {l:.17g}", file=f)
                if not np.isinf(u):
                    print(f" UP b x{j} {u:.17g}", file=f)
        print("ENDATA", file=f)


# --- by hand ------------------------------------------------------------------------------------------------------
INF = np.inf
HAND = [
    # couturier2013, chapter 10: max x1 + 4 x2
    ("a corner", [1, 4], [[1, 1], [1, 3], [1, 0]], [-INF] * 3, [4, 6, 3], [0, 0], [INF, INF], True, 8),
    ("nothing to do", [0], [[1]], [-INF], [1], [0], [INF], False, 0),
    ("no rows that bind", [1, -1], [[0, 0]], [-1], [1], [-2, -3], [5, 7], False, -9),
    ("free variables", [1, 1], [[1, -1], [1, 1]], [1, 3], [1, 3], [-INF, -INF], [INF, INF], False, 3),
    ("a fixed variable", [1, 1], [[1, 1]], [4], [INF], [3, 0], [3, INF], False, 4),
    ("infeasible rows", [1], [[1], [1]], [2, -INF], [INF, 1], [0], [INF], False, "infeasible"),
    ("an infeasible empty row", [1], [[0]], [1], [1], [0], [INF], False, "infeasible"),
    ("infeasible together", [0, 0], [[1, 1], [1, -1], [1, 0]], [4, 0, -INF], [4, 0, 1.5], [-INF] * 2, [INF] * 2,
     False, "infeasible"),
    ("unbounded", [-1, 0], [[1, -1]], [-INF], [1], [0, 0], [INF, INF], False, "unbounded"),
    ("an unbounded column", [-1], [[0]], [-1], [1], [0], [INF], False, "unbounded"),
    # E. M. L. Beale, Naval Res. Logist. Quart. 2 (1955): cycles by the rule of the largest reduced cost
    ("Beale's cycle", [-0.75, 150, -0.02, 6], [[0.25, -60, -0.04, 9], [0.5, -90, -0.02, 3], [0, 0, 1, 0]],
     [-INF] * 3, [0, 0, 1], [0] * 4, [INF] * 4, False, -0.05),
    # V. Klee, G. J. Minty, 1972, in three dimensions
    ("Klee and Minty", [100, 10, 1], [[1, 0, 0], [20, 1, 0], [200, 20, 1]], [-INF] * 3, [1, 100, 10000], [0] * 3,
     [INF] * 3, True, 10000),
]


def by_hand():
    path = os.path.join(ROOM, "hand.mps")
    for what, c, A, lower, upper, low, high, most, wanted in HAND:
        mps(path, np.array(c, float), np.array(A, float), lower, upper, low, high, most)
        for options in ((), ("--no-scale",)):
            r = solve(path, *options)
            if isinstance(wanted, str):
                good = r["verdict"] == wanted and r["proof"] > 0
            else:
                good = r["verdict"] == "optimal" and abs(r["objective"] - wanted) <= 1e-9 * (1 + abs(wanted))
            check(what, good, r)


BOUNDS = [  # of an integer column x <= 10 whose value is maximised: a bound that was set stays
    ("no bounds", "", 1), ("UP 1", " UP b x 1\n", 1), ("UP 1, LO 0", " UP b x 1\n LO b x 0\n", 1),
    ("LO 0, UP 1", " LO b x 0\n UP b x 1\n", 1), ("LO 0", " LO b x 0\n", 10), ("BV, LI 0", " BV b x\n LI b x 0\n", 1),
    ("UP 1, MI", " UP b x 1\n MI b x\n", 1), ("PL", " PL b x\n", 10), ("UP 20", " UP b x 20\n", 10),
    ("crossed", " LO b x 5\n UP b x 3\n", "infeasible"),
]


def of_bounds():
    path = os.path.join(ROOM, "bounds.mps")
    for what, text, wanted in BOUNDS:
        with open(path, "w") as f:
            f.write("NAME b\nOBJSENSE MAX\nROWS\n N z\n L r\nCOLUMNS\n m 'MARKER' 'INTORG'\n x z 1 r 1\n m 'MARKER' 'INTEND'\n"
                    "RHS\n s r 10\n" + ("BOUNDS\n" + text if text else "") + "ENDATA\n")
        r = solve(path)
        check(what, r["verdict"] == wanted and r["proof"] > 0 if wanted == "infeasible" else r["objective"] == wanted, r)


def of_small_costs():
    path = os.path.join(ROOM, "small.mps")
    for upper, wanted in ((INF, "unbounded"), (1e12, -100)):
        mps(path, np.array([-1e-10]), np.array([[1.0]]), [-INF], [INF], [0], [upper])
        r = solve(path)
        good = r["verdict"] == wanted if isinstance(wanted, str) else abs((r["objective"] or 0) - wanted) < 1e-6
        check(f"a cost of -1e-10, {wanted}", good, r)


# --- at random ----------------------------------------------------------------------------------------------------
def random_problem(rng):
    m, n = rng.integers(1, 40, 2)
    A = rng.integers(-4, 5, (m, n)) * (rng.random((m, n)) < rng.choice([0.1, 0.3, 1]))
    A = A * 10.0 ** rng.integers(-2, 3, (m, 1)) if rng.random() < 0.3 else A.astype(float)
    x = rng.integers(-3, 4, n).astype(float)
    low = np.where(rng.random(n) < 0.7, x - rng.integers(0, 3, n), -INF)
    high = np.where(rng.random(n) < 0.5, x + rng.integers(0, 3, n), INF)
    r = A @ x
    if rng.random() < 0.3:  # mostly infeasible
        r = r + rng.integers(-2, 3, m)
    lower = np.where(rng.random(m) < 0.6, r - (rng.random(m) < 0.5) * rng.integers(0, 3, m), -INF)
    upper = np.where(rng.random(m) < 0.6, r + (rng.random(m) < 0.5) * rng.integers(0, 3, m), INF)
    return rng.integers(-3, 4, n).astype(float), A, lower, upper, low, high


def by_highs(c, A, lower, upper, low, high, most):
    from scipy.optimize import linprog
    rows, right, same, equal = [], [], [], []
    for i in range(len(A)):
        if lower[i] == upper[i]:
            same.append(A[i])
            equal.append(lower[i])
            continue
        if not np.isinf(upper[i]):
            rows.append(A[i])
            right.append(upper[i])
        if not np.isinf(lower[i]):
            rows.append(-A[i])
            right.append(-lower[i])
    r = linprog(-c if most else c, A_ub=np.array(rows) if rows else None, b_ub=right or None,
                A_eq=np.array(same) if same else None, b_eq=equal or None, bounds=list(zip(low, high)),
                method="highs", options={"presolve": False})
    return ({0: "optimal", 2: "infeasible", 3: "unbounded"}.get(r.status, "?"), -r.fun if most and r.fun is not None else r.fun)


def at_random(count, seed):
    try:
        import scipy.optimize  # noqa: F401
    except ImportError:
        print("random problems: no SciPy")
        return
    rng = np.random.default_rng(seed)
    path, seen = os.path.join(ROOM, "random.mps"), {}
    for k in range(count):
        problem, most = random_problem(rng), bool(rng.random() < 0.5)
        mps(path, *problem, most)
        verdict, objective = by_highs(*problem, most)
        r = solve(path)
        seen[verdict] = seen.get(verdict, 0) + 1
        if verdict == "optimal":
            good = r["verdict"] == "optimal" and abs(r["objective"] - objective) <= 1e-7 * (1 + abs(objective))
            good = good and certified(r)
        else:  # a problem may be both
            good = r["verdict"] in ("infeasible", "unbounded") and r["proof"] > 0
        check(f"random problem {k} of seed {seed}, {verdict} {objective}", good, r)
    print("random problems:", ", ".join(f"{n} {v}" for v, n in sorted(seen.items())))


# --- files --------------------------------------------------------------------------------------------------------
def of_folder(folder, every):
    with open(os.path.join(folder, "OPTIMA.tsv")) as f:
        table = [r for r in csv.DictReader(f, delimiter="\t") if every or float(r["seconds_highs"]) < 0.05]
    good = 0
    for r in table:
        found, wanted = solve(os.path.join(folder, r["name"] + ".mps.gz")), float(r["objective"])
        equal = found["verdict"] == "optimal" and abs(found["objective"] - wanted) <= 1e-9 * (1 + abs(wanted))
        check(r["name"], equal and certified(found), found)
        good += equal
    print(f"{good} of {len(table)} problems of the folder")


by_hand()
of_bounds()
of_small_costs()
at_random(300, 1)
if os.environ.get("SPRY_LP"):
    of_folder(os.environ["SPRY_LP"], "--all" in sys.argv)
print(f"{len(FAILED)} failed")
sys.exit(len(FAILED) > 0)
