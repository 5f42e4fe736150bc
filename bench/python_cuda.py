"""spry.cg on CuPy's arrays compared with cupyx's:  PYTHONPATH=BUILD/python python3 bench/python_cuda.py [SIDE...]

Poisson's equation with 7 points, to the same tolerance; the smallest of several whole calls, the two in turn,
and the first call of each.
"""

from __future__ import annotations

import inspect
import sys
import time

import cupy
import cupyx.scipy.sparse as sparse
import cupyx.scipy.sparse.linalg as theirs

import spry


def laplace(side: int):
    one = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(side, side), format="csr")
    eye = sparse.identity(side, format="csr")
    A = sparse.kron(sparse.kron(one, eye), eye) + sparse.kron(sparse.kron(eye, one), eye) \
        + sparse.kron(sparse.kron(eye, eye), one)
    A = A.tocsr()
    A.sort_indices()
    return A


def timed(call) -> tuple[float, object]:
    cupy.cuda.Device().synchronize()
    begin = time.perf_counter()
    result = call()
    cupy.cuda.Device().synchronize()
    return time.perf_counter() - begin, result


def main() -> None:
    word = "rtol" if "rtol" in inspect.signature(theirs.cg).parameters else "tol"
    for side in [int(word) for word in sys.argv[1:]] or [40, 100, 256]:
        A, b = laplace(side), cupy.ones(side**3)
        runs: dict[str, list[float]] = {"spry": [], "cupyx": []}
        for _ in range(5):
            for name, call in (("spry", lambda: spry.cg(A, b, rtol=1e-6)),
                               ("cupyx", lambda: theirs.cg(A, b, **{word: 1e-6}))):
                took, (x, info) = timed(call)
                assert info == 0, (name, info)
                left = float(cupy.linalg.norm(b - A @ x) / cupy.linalg.norm(b))
                assert left < 1.01e-6, (name, left)
                runs[name].append(took)
        with spry.Solver(A, method="cg", precon=None, tol=1e-6) as solver:
            kept = min(timed(lambda: solver.solve(b))[0] for _ in range(4))
            steps = solver.solve(b).iterations
        ours, other = min(runs["spry"]), min(runs["cupyx"])
        print(f"{side}^3, {steps} iterations: spry {1e3 * ours:.2f} ms (first {1e3 * runs['spry'][0]:.0f}), "
              f"cupyx {1e3 * other:.2f} ms (first {1e3 * runs['cupyx'][0]:.0f}), ratio {other / ours:.2f}; "
              f"with a solver that is kept {1e3 * kept:.2f} ms, ratio {other / kept:.2f}", flush=True)


if __name__ == "__main__":
    main()
