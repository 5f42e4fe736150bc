#!/usr/bin/env python3
"""`spry solve A` on every square matrix of a folder: alone, by configurations that are named, and compared with SuperLU.

bench/every.py SPRY FOLDER [-c CONFIG]... [--all] [--beside OPTIONS] [-o TABLE.tsv] [NAME...]

FOLDER is what SPRY_MATRICES names: Matrix Market files and INDEX.tsv. Each run is a process of its own on one thread, with b = ones;
seconds are those of the processor, which other processes on the machine hardly change. The matrix is given as a .spry file, which loads
without parsing. What converged means is not taken from the program: the residual is computed here, from the x that was written, in
extended precision. A line per run: matrix, rows, entries, configuration, verdict, method, preconditioner, iterations, residual reported,
residual computed, seconds, attempts made before. SciPy's splu with one step of refinement is the configuration "splu".

--all looks for the best there is: auto, splu and the whole list of configurations, each for about the seconds of the best so far; runs below 0.2 s that may be the best are made three times, and the median counts. Lines that are in TABLE.tsv already are not made
again, so that a run that was stopped goes on; nor is splu run where FOLDER/LU.tsv says that it takes long or fails. bench/every_page.py makes a page of it.

--rotate makes complex matrices: A + i B with B of A's pattern and random numbers of A's size (seeded by the name).
--beside='--device opencl' runs each configuration once more with these options, and reports at the end which verdicts differ.
"""
import argparse, csv, gzip, json, multiprocessing, os, queue, statistics, subprocess, sys, tempfile, time, zlib
import numpy as np, scipy.io, scipy.sparse as sp, scipy.sparse.linalg as sla
from runs import ANY, FACTOR, HERMITIAN, SHORT, SLACK, run_limited

COLUMNS = ["matrix", "rows", "nnz", "config", "verdict", "method", "precon", "iterations", "told", "residual", "seconds", "tried"]


def is_hermitian(matrix):
    difference = abs(matrix - matrix.conj().T)
    return difference.nnz == 0 or difference.max() <= 1e-14 * abs(matrix).max()


def residual(matrix, x):
    """|1 - A x| / |1| with products and sums in long double."""
    coo = matrix.tocoo()
    wide = np.clongdouble if np.iscomplexobj(coo.data) or np.iscomplexobj(x) else np.longdouble
    r = np.ones(matrix.shape[0], wide)
    np.subtract.at(r, coo.row, coo.data.astype(wide) * x.astype(wide)[coo.col])
    return float(np.sqrt(np.sum(np.abs(r) ** 2) / matrix.shape[0]))


def splu(matrix, answer):
    begin = time.process_time()
    verdict, rel, seconds = "solved", float("nan"), None
    try:
        lu = sla.splu(matrix.tocsc())
        b = np.ones(matrix.shape[0])
        x = lu.solve(b.astype(matrix.dtype))
        x = x + lu.solve(b - matrix @ x)
        seconds = time.process_time() - begin
        rel = residual(matrix, x)
        verdict = "solved" if rel <= 1e-8 else "not"
    except Exception as error:
        verdict = "singular" if "singular" in str(error) else "failed"
    answer.put({"verdict": verdict, "method": "splu", "iterations": 1, "residual": rel,
                "seconds": time.process_time() - begin if seconds is None else seconds})


def run_splu(matrix, limit):
    """In a process of its own, as it cannot be stopped otherwise."""
    answer = multiprocessing.Queue()
    process = multiprocessing.Process(target=splu, args=(matrix, answer))
    process.start()
    try:
        return answer.get(timeout=limit)
    except queue.Empty:
        return {"verdict": "time", "method": "splu", "seconds": limit}
    finally:
        process.kill()
        process.join()


def run_spry(spry, path, matrix, config, limit, extra=()):
    """One solve; the residual is computed where the program says that it has converged, and for auto."""
    with tempfile.TemporaryDirectory() as folder:
        x_file = os.path.join(folder, "x.npy")
        command = [spry, "solve", path, "-o", x_file, "--json", "--quiet", "--threads", "1", *extra]
        if config != "auto":
            method, precon = (config.split() + [""])[:2]
            command += ["--method", method] + (["--precon", precon] if precon else [])
        code, text, errors, seconds = run_limited(command, limit)
        if code is None:
            return {"verdict": "time", "seconds": limit}
        try:
            result = json.loads(text)
        except ValueError:
            return {"verdict": f"exit {code}", "told": errors.strip()[:120].replace("\t", " ").replace("\n", " "), "seconds": seconds}
        looks = os.path.exists(x_file) and (result["converged"] or config == "auto")
        return {"verdict": result["reason"], "method": result["method"], "precon": result["precon"], "iterations": result["iterations"],
                "told": result["true_residual"], "residual": residual(matrix, np.load(x_file).ravel()) if looks else float("nan"),
                "seconds": seconds, "tried": "; ".join(result["tried"])}


def solved(found):
    return found["verdict"] in ("converged", "solved") and found["residual"] <= 1.0001e-8


def run_steadily(spry, path, matrix, config, limit, extra, most):
    """The median of three runs where one is short and not above most."""
    found = run_spry(spry, path, matrix, config, limit, extra)
    if found["seconds"] < SHORT and found["seconds"] <= most and found["verdict"] != "time":
        more = [run_spry(spry, path, matrix, config, limit, extra)["seconds"] for _ in range(2)]
        found["seconds"] = statistics.median(more + [found["seconds"]])
    return found


def run_all(spry, path, matrix, limit, extra, known, slow_splu):
    """(config, found) for everything that is worth a run; known are those of a run before, slow_splu what splu is known to do."""
    best = float("inf")
    for config in ["auto", "splu", "direct"] + (HERMITIAN if is_hermitian(matrix) else ["bicgstabl amg"]) + ANY:
        hopeless = best == float("inf") and config not in ("auto", "splu", "direct")
        if config in known:
            found = known[config]
        elif config == "splu":
            yield config, slow_splu or run_splu(matrix, limit)
            continue
        elif hopeless and known.get("auto", {}).get("verdict") == "singular":
            return
        else:
            most = limit if best == float("inf") and not hopeless else min(limit, 1 if hopeless else FACTOR * best + SLACK)
            found = run_steadily(spry, path, matrix, config, most, extra, 1.5 * best if config != "auto" else SHORT)
            yield config, found
        known[config] = found
        if config != "splu" and solved(found):
            best = min(best, found["seconds"])


def load(spry, path, name, rotate, folder):
    """The matrix, and a file of it that loads at once."""
    with (gzip.open if path.endswith(".gz") else open)(path) as file:
        matrix = sp.csr_matrix(scipy.io.mmread(file))
    matrix = matrix.astype(np.complex128 if np.iscomplexobj(matrix.data) else np.float64)
    target = os.path.join(folder, name + ".spry")
    if rotate:
        random = np.random.default_rng(zlib.crc32(name.encode()))
        other = matrix.copy()
        other.data = other.data * random.uniform(-1, 1, other.nnz)
        matrix = sp.csr_matrix(matrix + 1j * other)
        path = os.path.join(folder, name + ".npz")
        sp.save_npz(path, matrix)
    subprocess.run([spry, "convert", path, target], check=True, capture_output=True)
    return target, matrix


def line(name, matrix, config, found):
    values = {"matrix": name, "rows": matrix.shape[0], "nnz": matrix.nnz, "config": config, **found}
    values["residual"] = f"{found.get('residual', float('nan')):.3g}"
    values["seconds"] = f"{found['seconds']:.4f}"
    return "\t".join(str(values.get(column, "")).replace("\n", " ") for column in COLUMNS)


def read_table(path):
    """{matrix: {config: found}} of a table that was written before."""
    known = {}
    if os.path.exists(path):
        with open(path) as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                row["seconds"], row["residual"] = float(row["seconds"]), float(row["residual"])
                known.setdefault(row["matrix"], {})[row["config"]] = row
    return known


def read_slow(path):
    """What LU.tsv, where the folder has one, says of splu where that takes long or does not solve: not to be run again."""
    slow, names = {}, {"residual": "not", "timeout": "time"}
    if os.path.exists(path):
        with open(path) as file:
            for row in csv.DictReader(file, delimiter="\t"):
                number = {key: float(row[key]) if row[key] not in ("-", "") else float("nan") for key in ("seconds", "residual")}
                if row["splu"] != "solved" or number["seconds"] > 3:
                    slow[row["name"]] = {"verdict": names.get(row["splu"], row["splu"]), "method": "splu", **number}
    return slow


def run_beside(spry, path, matrix, config, limit, extra, beside, pairs):
    """A run, and another with the options of beside; verdicts of both go to pairs."""
    both = [(config, run_spry(spry, path, matrix, config, limit, extra)),
            (f"{config} {beside}", run_spry(spry, path, matrix, config, limit, [*extra, *beside.split()]))]
    pairs.append((os.path.basename(path), config, *(found["verdict"] for _, found in both)))
    return both


def compare(pairs):
    different = [pair for pair in pairs if pair[2] != pair[3]]
    for name, config, first, second in different:
        print(f"{name}, {config}: {first}, compared with {second}", file=sys.stderr)
    print(f"{len(pairs) - len(different)} of {len(pairs)} verdicts are equal", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spry")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("-c", "--config", action="append", default=[], help='"auto", "splu" or "METHOD PRECON"')
    parser.add_argument("--all", action="store_true", help="the whole list")
    parser.add_argument("-o", "--output", default="/dev/stdout")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a run")
    parser.add_argument("--rows", type=int, default=10**9, help="rows at most")
    parser.add_argument("--least", type=int, default=0, help="rows at least")
    parser.add_argument("--rotate", action="store_true")
    parser.add_argument("--extra", default="", help="more options for spry solve")
    parser.add_argument("--beside", default="", help="options for a second run of each")
    given = parser.parse_intermixed_args()
    extra, pairs = given.extra.split(), []
    slow = read_slow(os.path.join(given.folder, "LU.tsv"))
    known = read_table(given.output) if os.path.isfile(given.output) else {}
    out = open(given.output, "a")
    if not known:
        print(*COLUMNS, sep="\t", file=out)
    with open(os.path.join(given.folder, "INDEX.tsv")) as index, tempfile.TemporaryDirectory() as folder:
        for row in csv.DictReader(index, delimiter="\t"):
            name, rows = row["name"], int(row["rows"])
            if row["rows"] != row["cols"] or not given.least <= rows <= given.rows or (given.names and name not in given.names):
                continue
            path, matrix = load(given.spry, os.path.join(given.folder, row["file"]), name, given.rotate, folder)
            before = known.get(name, {})
            if given.all:
                runs = run_all(given.spry, path, matrix, given.limit, extra, before, slow.get(name))
            elif given.beside:
                runs = (run for config in given.config or ["auto"] if config not in before
                        for run in run_beside(given.spry, path, matrix, config, given.limit, extra, given.beside, pairs))
            else:
                runs = ((config, run_splu(matrix, given.limit) if config == "splu" else
                         run_steadily(given.spry, path, matrix, config, given.limit, extra, SHORT))
                        for config in given.config or ["auto"] if config not in before)
            for config, found in runs:
                print(line(name, matrix, config, found), file=out, flush=True)
            os.remove(path)
    if given.beside:
        compare(pairs)


if __name__ == "__main__":
    main()
