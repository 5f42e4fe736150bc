#!/usr/bin/env python3
"""What the choice costs: seconds of `spry solve A` without options over those of the best named configuration.

bench/choice.py SPRY [--device D] [--threads N] [--wall] [--set fit|unseen] [-o TABLE.tsv] [MATRIX...]

MATRIX is a file, or the name of a generated one (below). Without any: all generated ones, and those of SPRY_MATRICES. Every other
matrix by name is of the set "fit", which rules may be mended with; the rest is "unseen" and only looked at in the end.

Seconds are those of the processor, user and system, of a whole process with an empty SPRY_CACHE, reading included; with --wall those of
the clock, for quiet machines and devices. `best` is the least of the configurations of bench/runs.py, each stopped at the best so far;
runs below 0.2 s are made three times, and the median counts. b is random: all ones are an eigenvector of many a matrix. `again` is a second solve that finds what the first one has remembered.
`plan` says whether `spry plan` named what the solve came out with, `same` whether five solves chose the same. Lines that are in TABLE.tsv
already are not made again. Needs no more than Python.
"""
import argparse, csv, json, os, random, statistics, subprocess, sys, tempfile, time
from runs import ANY, FACTOR, HERMITIAN, SHORT, SLACK, run_limited

COLUMNS = ["matrix", "rows", "nnz", "auto", "best", "regret", "again", "plan", "same", "chosen", "winner", "tried"]
GENERATED = {f"{name}-{size}": [kind, "--size", str(size), *more] for name, kind, sizes, more in [
    ("poisson2d", "poisson2d", (60, 200, 500), ()),
    ("poisson2d-9", "poisson2d", (150,), ("--points", "9")),
    ("poisson3d", "poisson3d", (20, 40, 64), ()),
    ("poisson3d-27", "poisson3d", (25, 40), ("--points", "27")),
    ("anisotropic", "anisotropic", (150, 300), ("--angle", "30")),
    ("anisotropic-3d", "anisotropic", (32,), ("--nz", "32")),
    ("flow", "convection-diffusion", (100, 300), ("--peclet", "1000")),
    ("flow-3d", "convection-diffusion", (32,), ("--nz", "32", "--peclet", "1000")),
    ("central-3d", "convection-diffusion", (24,), ("--nz", "24", "--peclet", "1000", "--scheme", "central")),
    ("elasticity", "elasticity", (8, 16, 28), ()),
    ("elasticity-49", "elasticity", (16, 24), ("--nu", "0.49")),
    ("helmholtz", "helmholtz", (16, 32, 44), ()),
    ("random", "random", (5000, 50000), ()),
    ("random-weak", "random", (20000,), ("--dominance", "0.6")),
    ("rmat", "rmat", (16384,), ()),
    ("circuit", "circuit", (10000, 60000), ()),
    ("tridiagonal", "tridiagonal", (100000,), ())] for size in sizes}


def solve(given, path, config, limit, cache="", more=()):
    """(seconds, record): no record where it took longer than the limit, or did not converge."""
    command = [given.spry, "solve", path, path + ".mtx", "-o", os.devnull, "--json", "--quiet", *given.options, *more]
    if config != "auto":
        method, precon = (config.split() + [""])[:2]
        command += ["--method", method] + (["--precon", precon] if precon else [])
    begin = time.monotonic()
    _, text, _, seconds = run_limited(command, limit, cache)
    seconds = time.monotonic() - begin if given.wall else seconds
    try:
        record = json.loads(text)
    except ValueError:
        return seconds, None
    return seconds, record


def steady(given, path, config, limit):
    """The median of three runs where one is short and may count."""
    seconds, record = solve(given, path, config, limit)
    if record and record["converged"] and seconds < SHORT:
        seconds = statistics.median([seconds] + [solve(given, path, config, limit)[0] for _ in range(2)])
    return seconds, record


def name_of(record):
    return " ".join(record[key].split(":")[0] for key in ("method", "precon")) if record else "-"


def write_right_hand_side(path, rows):
    numbers = random.Random(rows)
    with open(path, "w") as file:
        print("%%MatrixMarket matrix array real general\n", rows, 1, file=file)
        file.writelines(f"{numbers.gauss(0, 1)}\n" for _ in range(rows))


def measure(given, name, path):
    """A line of the table."""
    info = json.loads(subprocess.run([given.spry, "info", path, "--json"], capture_output=True, text=True).stdout)
    write_right_hand_side(path + ".mtx", info["rows"])
    auto, record = steady(given, path, "auto", given.limit)
    if not record or not record["converged"]:
        return None
    best, winner = auto, "auto"
    for config in ["direct"] + (HERMITIAN if info["hermitian"] else ["bicgstabl amg"]) + ANY:
        seconds, other = steady(given, path, config, min(given.limit, FACTOR * best + SLACK))
        if other and other["converged"] and seconds < best:
            best, winner = seconds, config
    with tempfile.TemporaryDirectory() as cache:
        solve(given, path, "auto", given.limit, cache)
        again = statistics.median(solve(given, path, "auto", given.limit, cache)[0] for _ in range(3 if auto < SHORT else 1))
    plan = subprocess.run([given.spry, "plan", path, path + ".mtx", "--json", *given.options], capture_output=True, text=True,
                          env={**os.environ, "SPRY_CACHE": ""}).stdout
    plan = json.loads(plan) if plan else None
    same = all(name_of(solve(given, path, "auto", given.limit)[1]) == name_of(record) for _ in range(given.repeat - 1))
    return {"matrix": name, "rows": record["rows"], "nnz": record["nnz"], "auto": f"{auto:.4f}", "best": f"{best:.4f}",
            "regret": f"{auto / best:.2f}", "again": f"{again / best:.2f}", "plan": "yes" if name_of(plan) == name_of(record) else name_of(plan),
            "same": "yes" if same else "no", "chosen": name_of(record), "winner": winner,
            "tried": "; ".join(record["tried"]).replace("\t", " ").replace("\n", " ")}


def sources(given, folder):
    """(name, path) of what is asked for, made or converted when its turn comes."""
    names, files = list(GENERATED), {}
    real = os.environ.get("SPRY_MATRICES")
    if real:
        with open(os.path.join(real, "INDEX.tsv")) as index:
            for row in csv.DictReader(index, delimiter="\t"):
                if row["rows"] == row["cols"] and given.least <= int(row["rows"]) <= given.rows:
                    files[row["name"]] = os.path.join(real, row["file"])
        names += files
    names.sort()
    if given.set:
        names = names[given.set == "unseen"::2]
    if given.matrices:
        names = given.matrices
    for name in names:
        path = os.path.join(folder, os.path.basename(name) + ".spry")
        made = ([given.spry, "gen", *GENERATED[name], "-o", path] if name in GENERATED
                else [given.spry, "convert", files.get(name, name), path])
        subprocess.run(made, check=True, capture_output=True)
        yield name, path
        for used in (path, path + ".mtx"):
            os.remove(used)


def report(rows):
    regrets = [float(row["regret"]) for row in rows]
    if regrets:
        print(f"{len(rows)} matrices: regret up to 1.3 of {sum(r <= 1.3 for r in regrets) / len(rows):.0%}, up to 2 of "
              f"{sum(r <= 2 for r in regrets) / len(rows):.0%}, at most {max(regrets)}; the plan is the solve of "
              f"{sum(row['plan'] == 'yes' for row in rows) / len(rows):.0%}, runs are equal of "
              f"{sum(row['same'] == 'yes' for row in rows) / len(rows):.0%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spry")
    parser.add_argument("matrices", nargs="*")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--wall", action="store_true", help="seconds of the clock")
    parser.add_argument("--set", choices=["fit", "unseen"])
    parser.add_argument("--limit", type=float, default=60, help="seconds for a run")
    parser.add_argument("--repeat", type=int, default=5, help="solves that are to choose the same")
    parser.add_argument("--least", type=int, default=2000, help="rows at least, of SPRY_MATRICES")
    parser.add_argument("--rows", type=int, default=10**9, help="rows at most, likewise")
    parser.add_argument("-o", "--output")
    given = parser.parse_intermixed_args()
    given.options = ["--device", given.device, "--threads", given.threads]
    rows = []
    if given.output and os.path.exists(given.output):
        with open(given.output) as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    known = {row["matrix"] for row in rows}
    with tempfile.TemporaryDirectory() as folder, open(given.output or os.devnull, "a") as out:
        for file in (out, sys.stdout):
            if file is sys.stdout or not rows:
                print(*COLUMNS, sep="\t", file=file)
        for name, path in sources(given, folder):
            row = None if name in known else measure(given, name, path)
            if row:
                rows.append(row)
                for file in (out, sys.stdout):
                    print(*(row[column] for column in COLUMNS), sep="\t", file=file, flush=True)
    report(rows)


if __name__ == "__main__":
    main()
