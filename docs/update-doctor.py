#!/usr/bin/env python3
"""Puts the table of illnesses into docs/doctor.md: docs/update-doctor.py SPRY [--check]

Matrices are made to have one illness each, the doctor is asked, and its next command is run. --check changes nothing and fails where an
illness is not found, something is found in a healthy matrix, a kind of finding has no row, or the page says something else.
"""
import json, os, random, subprocess, sys, tempfile

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "doctor.md")
BEGIN, END = "<!-- illnesses -->", "<!-- end of illnesses -->"
SIDE = 8
N = SIDE * SIDE


def grid(shift=0.0, west=-1.0, east=-1.0):
    """Five points on a square: {(row, column): number}, from 0."""
    a = {}
    for i in range(N):
        neighbours = {i - SIDE: west, i - 1: west if i % SIDE else None, i + 1: east if (i + 1) % SIDE else None, i + SIDE: east}
        a[i, i] = 4.5 + shift
        a.update({(i, j): number for j, number in neighbours.items() if number is not None and 0 <= j < N})
    return a


def write(path, a, rows=N, cols=N, twice=()):
    with open(path, "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate real general\n{rows} {cols} {len(a) + len(twice)}\n")
        for (i, j), number in list(a.items()) + list(twice):
            file.write(f"{i + 1} {j + 1} {number!r}\n")


def write_vector(path, b):
    with open(path, "w") as file:
        file.write(f"%%MatrixMarket matrix array real general\n{len(b)} 1\n" + "".join(f"{number!r}\n" for number in b))


def changed(a, changes):
    a.update(changes)
    return {place: number for place, number in a.items() if number is not None}


def neumann():
    """The Laplacian of the grid's graph: rows sum to 0."""
    a = {place: number for place, number in grid().items() if place[0] != place[1]}
    for i in range(N):
        a[i, i] = -sum(number for (row, _), number in a.items() if row == i)
    return a


def dependent(off=0.0):
    """The last row is the sum of rows 3 and 20, but for `off`."""
    a = {place: number for place, number in grid(0.5).items() if place[0] != N - 1}
    for (i, j), number in list(a.items()):
        if i in (3, 20):
            a[N - 1, j] = a.get((N - 1, j), 0.0) + number
    a[N - 1, N - 1] = a.get((N - 1, N - 1), 0.0) + off
    return changed(a, {(N - 1, N - 1): None} if off == 0 else {})


def permuted():
    """Rows of a matrix that is not symmetric, in another order: nothing is left on the diagonal."""
    return {((i + 31) % N, j): number for (i, j), number in grid(0, -1.0, -0.4).items()}


def moved():
    """Indices from 0 that were taken to count from 1 after one was added: the first row and column are empty."""
    return {(i + 1, j + 1): number for (i, j), number in grid().items()}


def jordan():
    return {place: number for i in range(N) for place, number in (((i, i), 1.0), ((i, i + 1), 1.0)) if place[1] < N}


def tall():
    random.seed(3)
    return {(i, j): random.uniform(-1, 1) + 4 * (i == j) for i in range(N + 9) for j in (i % N, (3 * i + 1) % N, (7 * i + 5) % N)}


def two_parts():
    a = grid()
    return {(i, j): number for (i, j), number in a.items() if (i < N // 2) == (j < N // 2)}


def tiny_row(power):
    return {(i, j): number * 2.0**power if i == 7 else number for (i, j), number in grid().items()}


# What was made; the finding that must be there; A; then how the doctor is asked, for those that are not of A alone.
ILLNESSES = [
    ("a grid, all as it should be", None, grid(), {}),
    ("the same, not symmetric", None, grid(0, -1.0, -0.4), {}),
    ("an entry is NaN", "nonfinite", changed(grid(), {(5, 5): float("nan")}), {}),
    ("a row of zeros", "zero-rows", {p: v for p, v in grid().items() if p[0] != 5}, {}),
    ("a column of zeros", "zero-columns", {p: v for p, v in grid().items() if p[1] != 5}, {}),
    ("all indices one too high", "index-base", moved(), {"rows": N + 1, "cols": N + 1}),
    ("three rows with entries in two columns", "structurally-singular",
     {p: v for p, v in changed(grid(), {(i, j): 1.0 + i * j for i in (2, 5, 7) for j in (1, 4)}).items() if p[0] not in (2, 5, 7) or p[1] in (1, 4)}, {}),
    ("the last row is the sum of two others", "singular", dependent(), {}),
    ("that, and a b for which this does not hold", "not-in-range", dependent(), {"b": [1.0 + i % 3 for i in range(N)]}),
    ("the last row is nearly the sum of two others", "ill-conditioned", dependent(2.0**-40), {}),
    ("the Laplacian of a graph", "null-space", neumann(), {}),
    ("a row is 2^-40 times as large", "scaling", tiny_row(-40), {}),
    ("one entry differs from its mirror image by 1e-9", "broken-symmetry", changed(grid(), {(3, 4): -1.0 - 1e-9}), {}),
    ("a shift beyond eigenvalues", "indefinite", grid(-3.0), {}),
    ("rows in another order", "zero-diagonal", permuted(), {}),
    ("an entry is given twice", "duplicates", grid(), {"twice": [((3, 4), -1.0)]}),
    ("two parts without a coupling", "disconnected", two_parts(), {}),
    ("a Jordan block", "non-normal", jordan(), {}),
    ("more rows than columns", "rectangular", tall(), {"rows": N + 9}),
    ("cg asked for, and A is not symmetric", "unsuited", grid(0, -1.0, -0.4), {"options": ["--method", "cg"]}),
    ("a row is 2^-80 times as large, b is not", "rounding", tiny_row(-80), {"b": [1.0] * N}),
    ("a solve of one iteration", "unexplained", grid(), {"solve": ["--method", "gmres", "--precon", "none", "--max-iter", "1"]}),
    ("no time", "unchecked", grid(), {"options": ["--seconds", "0"]}),
]
ELSEWHERE = {"drift"}  # of a result that no small matrix gives on every machine: tests/reference/doctor.c makes one


def run(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, shell=isinstance(command, str),
                          env={**os.environ, "SPRY_CACHE": ""})


def ask(spry, folder, a, how):
    write(os.path.join(folder, "A.mtx"), a, how.get("rows", N), how.get("cols", N), how.get("twice", ()))
    files = ["A.mtx"]
    if "b" in how:
        write_vector(os.path.join(folder, "b.mtx"), how["b"])
        files.append("b.mtx")
    command = [spry, "solve" if "solve" in how else "doctor", *files, "--json", *how.get("solve", how.get("options", []))]
    ended = run(command, folder)
    if not ended.stdout:
        sys.exit(f"{' '.join(command)}: {ended.stderr}")
    return json.loads(ended.stdout)["findings"]


def outcome(spry, folder, command):
    """What comes of the next command, by its exit status."""
    if not command.startswith("spry "):
        return ""
    status = run("'" + spry + "'" + command[4:], folder).returncode
    said = {"solve": {0: "converged", 1: "not converged"}, "doctor": {0: "no error", 1: "errors"}}.get(command.split()[1], {0: "done"})
    return said.get(status, f"exit {status}")


def table(spry, complaints):
    yield "| what was made | finding | found | next command | and what comes of it |"
    yield "|---|---|---|---|---|"
    for what, code, a, how in ILLNESSES:
        with tempfile.TemporaryDirectory() as folder:
            findings = ask(spry, folder, a, how)
            found = [finding for finding in findings if finding["code"] == code]
            if code is None:
                healthy = not [finding for finding in findings if finding["severity"] != "note"]
                complaints += [] if healthy else [f"{what}: {findings[0]['code']} is found"]
                yield f"| {what} | none | {'none' if healthy else findings[0]['code']} | | |"
                continue
            complaints += [] if found else [f"{what}: {code} is not found"]
            command = found[0]["next"] if found else ""
            shown = f"`{command}`" if command.startswith("spry ") else command
            yield f"| {what} | [{code}](#{code}) | {'yes' if found else 'no'} | {shown} | {outcome(spry, folder, command)} |"


def main():
    spry, check = os.path.abspath(sys.argv[1]), "--check" in sys.argv
    complaints = []
    lines = list(table(spry, complaints))
    known = {finding["name"] for finding in json.loads(run([spry, "explain", "--json"], ".").stdout)["findings"]}
    complaints += [f"no illness is made for {code}" for code in sorted(known - {row[1] for row in ILLNESSES} - ELSEWHERE)]
    with open(PAGE) as file:
        page = file.read()
    head, rest = page.split(BEGIN)
    new = head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + rest.split(END)[1]
    if check and new != page:
        complaints.append("docs/doctor.md is not what the doctor says: run docs/update-doctor.py SPRY")
    if not check:
        with open(PAGE, "w") as file:
            file.write(new)
    for line in complaints:
        print(line)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
