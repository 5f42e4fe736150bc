#!/usr/bin/env python3
"""`spry solve A` on every square matrix of a folder: alone, by configurations that are named, and beside SuperLU.

bench/every.py SPRY FOLDER [-c CONFIG]... [--all] [-o TABLE.tsv] [NAME...]

FOLDER is what SPRY_MATRICES names: Matrix Market files and INDEX.tsv. Each run is a process of its own on one thread, with b = ones;
seconds are those of the processor, which other processes on the machine hardly change. What converged means is not taken from the
program: the residual is computed here, from the x that was written, in extended precision. --all runs the whole list of CONFIGS, for the
best there is. A line per run: matrix, rows, entries, configuration, verdict, method, preconditioner, iterations, residual told,
residual computed, seconds. SciPy's splu with one step of refinement is the configuration "splu". --rotate makes complex matrices:
A + i B with B of A's pattern and random numbers of A's size (seeded by the name).
"""
import argparse, csv, gzip, json, multiprocessing, os, queue, resource, subprocess, sys, tempfile, time, zlib
import numpy as np, scipy.io, scipy.sparse as sp, scipy.sparse.linalg as sla

SYMMETRIC = ["cg none", "cg jacobi", "cg ic", "cg amg", "minres none", "minres jacobi"]
ANY = ["bicgstabl none", "bicgstabl jacobi", "bicgstabl ilu", "bicgstabl ilut", "gmres:restart=50 ilu",
       "gmres:restart=50 ilut", "idr ilu", "refine direct"]


def configs(matrix, given, everything):
    if not everything:
        return given or ["auto"]
    difference = abs(matrix - matrix.conj().T)
    hermitian = difference.nnz == 0 or difference.max() <= 1e-14 * abs(matrix).max()
    return ["auto", "splu"] + (SYMMETRIC if hermitian else ["bicgstabl amg"]) + ANY


def residual(matrix, x):
    """|1 - A x| / |1| with products and sums in long double."""
    coo = matrix.tocoo()
    wide = np.clongdouble if np.iscomplexobj(coo.data) or np.iscomplexobj(x) else np.longdouble
    r = np.ones(matrix.shape[0], wide)
    np.subtract.at(r, coo.row, coo.data.astype(wide) * x.astype(wide)[coo.col])
    return float(np.sqrt(np.sum(np.abs(r) ** 2) / matrix.shape[0]))


def splu(matrix, answer):
    begin = time.process_time()
    verdict, rel = "solved", float("nan")
    try:
        lu = sla.splu(matrix.tocsc())
        b = np.ones(matrix.shape[0])
        x = lu.solve(b.astype(matrix.dtype))
        x = x + lu.solve(b - matrix @ x)
        rel = residual(matrix, x)
        verdict = "solved" if rel <= 1e-8 else "not"
    except Exception as error:
        verdict = "singular" if "singular" in str(error) else "failed"
    answer.put([verdict, "splu", "", 1, "", rel, time.process_time() - begin])


def run_splu(matrix, limit):
    """In a process of its own, as it cannot be stopped otherwise."""
    answer = multiprocessing.Queue()
    process = multiprocessing.Process(target=splu, args=(matrix, answer))
    process.start()
    try:
        return answer.get(timeout=limit)
    except queue.Empty:
        return ["time", "splu", "", "", "", float("nan"), limit]
    finally:
        process.kill()
        process.join()


def run_spry(spry, path, matrix, config, limit, extra):
    with tempfile.TemporaryDirectory() as folder:
        x_file = os.path.join(folder, "x.npy")
        command = [spry, "solve", path, "-o", x_file, "--json", "--quiet", "--threads", "1"] + extra
        if config != "auto":
            method, precon = config.split()
            command += ["--method", method, "--precon", precon]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return ["time", "", "", "", "", float("nan"), limit]
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        try:
            told = json.loads(done.stdout)
        except ValueError:
            return [f"exit {done.returncode}", "", "", "", done.stderr.strip()[:120].replace("\t", " "), float("nan"), seconds]
        rel = residual(matrix, np.load(x_file).ravel()) if os.path.exists(x_file) else float("nan")
        return [told["reason"], told["method"], told["precon"], told["iterations"], told["true_residual"], rel, seconds]


def load(path, name, rotate, folder):
    with (gzip.open if path.endswith(".gz") else open)(path) as file:
        matrix = sp.csr_matrix(scipy.io.mmread(file))
    matrix = matrix.astype(np.complex128 if np.iscomplexobj(matrix.data) else np.float64)
    if not rotate:
        return path, matrix
    random = np.random.default_rng(zlib.crc32(name.encode()))
    other = matrix.copy()
    other.data = other.data * random.uniform(-1, 1, other.nnz)
    matrix = sp.csr_matrix(matrix + 1j * other)
    path = os.path.join(folder, name + ".mtx")
    scipy.io.mmwrite(path, matrix, symmetry="general")
    return path, matrix


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spry")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("-c", "--config", action="append", default=[], help='"auto", "splu" or "METHOD PRECON"')
    parser.add_argument("--all", action="store_true", help="the whole list")
    parser.add_argument("-o", "--output", default="-")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a run")
    parser.add_argument("--rows", type=int, default=10**9, help="rows at most")
    parser.add_argument("--least", type=int, default=0, help="rows at least")
    parser.add_argument("--rotate", action="store_true")
    parser.add_argument("--extra", default="", help="more options for spry solve")
    given = parser.parse_intermixed_args()
    out = sys.stdout if given.output == "-" else open(given.output, "w")
    print("matrix\trows\tnnz\tconfig\tverdict\tmethod\tprecon\titerations\ttold\tresidual\tseconds", file=out)
    with open(os.path.join(given.folder, "INDEX.tsv")) as index, tempfile.TemporaryDirectory() as folder:
        for row in csv.DictReader(index, delimiter="\t"):
            name, rows = row["name"], int(row["rows"])
            if row["rows"] != row["cols"] or not given.least <= rows <= given.rows or (given.names and name not in given.names):
                continue
            path, matrix = load(os.path.join(given.folder, row["file"]), name, given.rotate, folder)
            for config in configs(matrix, given.config, given.all):
                found = run_splu(matrix, given.limit) if config == "splu" else run_spry(given.spry, path, matrix, config, given.limit,
                                                                           given.extra.split())
                print(name, rows, matrix.nnz, config, *found[:5], f"{found[5]:.3g}", f"{found[6]:.4f}", sep="\t", file=out, flush=True)


if __name__ == "__main__":
    main()
