#!/usr/bin/env python3
"""The classes of large systems: does `spry solve A` solve each alone, and what would the best pinned configuration take?

bench/large.py SPRY [--rows N]... [--limit SECONDS] [--auto] [CLASS...]

A line per class and size: class, `spry gen` options, rows, verdict and processor seconds of auto on one thread, failed attempts, what it
chose, iterations, and the best pinned configuration with its seconds. b is random (A times a random vector where A is singular); residuals are computed here,
as in bench/every.py. A pinned run may take as long as the best so far. CLASS: part of a name.
"""
import argparse, json, os, subprocess, sys, tempfile
import numpy as np, scipy.sparse as sp

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import every

DEFINITE = ["cg jacobi", "cg ic", "cg amg", "direct"]
EDGES = ["cg jacobi", "cg ic", "cg edges", "direct"]
SADDLE = ["fgmres kkt", "fgmres kkt:sub=ic,schur=ic", "fgmres kkt:sub=amg,schur=jacobi", "fgmres kkt:sub=amg,schur=amg",
          "fgmres ildl:definite=no", "minres ildl", "direct"]
GENERAL = ["bicgstabl ilu", "gmres:restart=50 ilutp", "bicgstabl amg", "bicgstabl amg-classical:aggressive=40", "fgmres mlilu", "direct"]
WAVES = ["cocg ilu", "cocg jacobi", "gmres:restart=50 ilut", "bicgstabl ilu", "direct"]
# name, kind and options, dimensions, rows per point, configurations; the size follows from the rows
CLASSES = [
    ("diffusion 2-D, jumps 10^6", "diffusion --jump 6", 2, 1, DEFINITE),
    ("diffusion 3-D, jumps 10^6", "diffusion --jump 6 --nz {n}", 3, 1, DEFINITE),
    ("anisotropy 10^4 at 30 degrees", "anisotropic --epsilon 1e-4 --angle 30", 2, 1, DEFINITE),
    ("anisotropy 10^4 at 30 degrees, 3-D", "anisotropic --epsilon 1e-4 --angle 30 --nz {n}", 3, 1, DEFINITE),
    ("elasticity nu 0.3", "elasticity", 3, 3, DEFINITE),
    ("elasticity nu 0.49", "elasticity --nu 0.49", 3, 3, DEFINITE),
    ("elasticity nu 0.4999", "elasticity --nu 0.4999", 3, 3, DEFINITE),
    ("Stokes Q2-Q1 2-D", "stokes", 2, 9, SADDLE),
    ("Stokes Q2-Q1 3-D", "stokes --nz {n}", 3, 25, SADDLE),
    ("Stokes Q1-Q1 2-D", "stokes --elements q1q1", 2, 3, SADDLE),
    ("Stokes Q1-Q1 3-D", "stokes --elements q1q1 --nz {n}", 3, 4, SADDLE),
    ("Stokes Q2-Q1 2-D, viscosity 10^4", "stokes --jump 4", 2, 9, SADDLE),
    ("Darcy 2-D, jumps 10^4", "darcy --jump 4", 2, 3, SADDLE),
    ("Darcy 3-D, jumps 10^4", "darcy --jump 4 --nz {n}", 3, 4, SADDLE),
    ("Maxwell", "maxwell", 3, 3, EDGES),
    ("Maxwell without mass", "maxwell --sigma 0", 3, 3, EDGES[:3]),
    ("Maxwell, mass jumps 10^4", "maxwell --jump 4", 3, 3, EDGES),
    ("Maxwell, complex", "maxwell --sigma 100 --type z", 3, 3, ["fgmres edges", *WAVES]),
    ("convection 2-D, Peclet 10^6", "convection-diffusion --peclet 1e6", 2, 1, GENERAL),
    ("convection 3-D, Peclet 10^6", "convection-diffusion --peclet 1e6 --nz {n}", 3, 1, GENERAL),
    ("Helmholtz", "helmholtz", 3, 1, WAVES),
    ("circuit", "circuit", 1, 1, GENERAL),
    ("power grid", "power-flow", 1, 2, GENERAL),
    ("graph, geometric", "graph", 1, 1, DEFINITE),
    ("graph, preferential", "graph --model preferential", 1, 1, DEFINITE),
    ("graph, singular", "graph --model preferential --ground 0", 1, 1, DEFINITE[:3]),
    ("interior point", "interior-point", 1, 1, SADDLE),
]
SINGULAR = ("Maxwell without mass", "graph, singular")


def make(spry, options, folder, singular):
    """The file, the matrix, b, and the file of b."""
    path, npz, rhs = (os.path.join(folder, name) for name in ("A.spry", "A.npz", "b.npy"))
    subprocess.run([spry, "gen", *options, "-o", path, "--quiet"], check=True)
    subprocess.run([spry, "convert", path, npz], check=True, capture_output=True)
    A = sp.csr_matrix(sp.load_npz(npz))
    b = np.random.default_rng(0).uniform(-1, 1, A.shape[0]).astype(A.dtype)
    b = A @ b if singular else b
    np.save(rhs, b)
    return path, A, b, rhs


def run(spry, path, A, b, rhs, config, limit, folder):
    x_file = os.path.join(folder, "x.npy")
    if os.path.exists(x_file):
        os.remove(x_file)
    command = [spry, "solve", path, rhs, "-o", x_file, "--json", "--quiet", "--threads", "1", "--no-memory"]
    if config != "auto":
        method, precon = (config.split() + [""])[:2]
        command += ["--method", method] + (["--precon", precon] if precon else [])
    code, text, errors, seconds = every.run_limited(command, limit)
    found = {"seconds": seconds, "verdict": "time" if code is None else f"exit {code}", "solved": False, "tried": [], "iterations": 0}
    if code is None or not text:
        return found
    found.update(json.loads(text))
    found["verdict"] = found["reason"]
    if os.path.exists(x_file):
        x = np.load(x_file).ravel()
        residual = np.linalg.norm(b - A @ x) / np.linalg.norm(b)
        found["solved"] = found["converged"] and residual <= 1.0001e-8
        found["verdict"] = "solved" if found["solved"] else f"{found['reason']}, {residual:.1e}"
    return found


def best_of(spry, system, configs, limit, folder):
    best = ("-", float("nan"))
    for config in configs:
        most = min(limit, best[1]) if best[0] != "-" else limit
        found = run(spry, *system, config, most, folder)
        if found["solved"]:
            best = (f"{config} ({found['iterations']})", found["seconds"])
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spry")
    parser.add_argument("classes", nargs="*")
    parser.add_argument("--rows", type=float, action="append", help="about so many rows (1e4)")
    parser.add_argument("--limit", type=float, default=60, help="processor seconds for a run")
    parser.add_argument("--auto", action="store_true", help="nothing but auto")
    given = parser.parse_intermixed_args()
    print("| class | options | rows | auto | seconds | tried | chosen | iterations | best pinned | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for name, text, dimensions, unknowns, configs in CLASSES:
        if given.classes and not any(part in name for part in given.classes):
            continue
        for rows in given.rows or [1e4]:
            n = round((rows / unknowns) ** (1 / dimensions))
            options = text.format(n=n).split() + ["--size", str(n)]
            with tempfile.TemporaryDirectory() as folder:
                system = make(given.spry, options, folder, name in SINGULAR)
                auto = run(given.spry, *system, "auto", given.limit, folder)
                chosen = f"{auto.get('method', '-')} {auto.get('precon', '')}".strip()
                best = ("-", float("nan")) if given.auto else best_of(given.spry, system, configs, given.limit, folder)
                print(f"| {name} | `{' '.join(options)}` | {system[1].shape[0]:,} | {auto['verdict']} | {auto['seconds']:.2f} | "
                      f"{len(auto['tried'])} | {chosen} | {auto['iterations']} | {best[0]} | {best[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
