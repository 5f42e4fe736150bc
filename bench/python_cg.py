"""What Python costs, and spry.cg compared with SciPy's:  PYTHONPATH=build/release/python python3 bench/python_cg.py [SIDE]

The smallest times of several runs, the two sides in turn.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import scipy.sparse.linalg as sla

import spry
import spry._solver as inside
import spry.scipy_like._system as system


def operators(repeats: int = 300) -> None:
    """cg over a LinearOperator of 100 rows, which calls Python in every iteration: processor time, in turn."""
    A, b = spry.generate("tridiagonal", size=100).to_scipy(), np.ones(100)
    operator = sla.LinearOperator(A.shape, matvec=lambda v: A @ v, dtype=float)
    spent = {spry.cg: [], sla.cg: []}
    for _ in range(repeats):
        for cg, times in spent.items():
            begin = time.process_time()
            cg(operator, b)
            times.append(time.process_time() - begin)
    ours, theirs = (sorted(times)[repeats // 2] * 1e6 for times in spent.values())
    print(f"LinearOperator, n = 100: spry.cg {ours:.0f} us, SciPy's {theirs:.0f} us, {theirs / ours:.2f} x")


def overhead(repeats: int = 2000) -> None:
    """The time of spry.cg that is not spent within the library's calls."""
    A, b = spry.generate("tridiagonal", size=100).to_scipy(), np.ones(100)
    spent = [0.0]

    def timed(call):
        def wrapped(*arguments):
            begin = time.perf_counter()
            try:
                return call(*arguments)
            finally:
                spent[0] += time.perf_counter() - begin
        return wrapped

    class Timed:
        def __getattr__(self, name):
            value = getattr(spry.lib, name)
            made = timed(value) if callable(value) and name.startswith("spry_") else value
            setattr(self, name, made)
            return made

    places = [inside, system, spry._arrays, spry._matrix, spry._context, spry._interrupt, spry._result]
    def run():
        begin = time.perf_counter()
        spry.cg(A, b)
        return time.perf_counter() - begin

    whole = sorted(run() for _ in range(repeats))
    clock = Timed()
    for place in places:
        place.lib = clock
    library = []
    for _ in range(repeats):
        spent[0] = 0.0
        spry.cg(A, b)
        library.append(spent[0])
    for place in places:
        place.lib = spry.lib
    library.sort()
    low = repeats // 10  # others may use the machine: the tenth part that was disturbed least
    print(f"spry.cg, n = 100: {1e6 * whole[low]:.0f} us, of it in the library "
          f"{1e6 * library[low]:.0f} us (lowest tenths), overhead {1e6 * (whole[low] - library[low]):.0f} us")
    theirs = []
    for _ in range(repeats // 10):
        begin = time.perf_counter()
        sla.cg(A, b)
        theirs.append(time.perf_counter() - begin)
    print(f"scipy cg, n = 100: {1e6 * sorted(theirs)[len(theirs) // 10]:.0f} us")


def large(side: int, repeats: int = 3) -> None:
    """cg on a 3D Laplacian, to the same tolerance."""
    A = spry.generate("poisson3d", size=side).to_scipy()
    b = np.ones(side**3)
    best = {}
    for _ in range(repeats):
        for name, cg in (("spry", spry.cg), ("scipy", sla.cg)):
            begin = time.perf_counter()
            x, info = cg(A, b, rtol=1e-6)
            took = time.perf_counter() - begin
            best[name] = min(best.get(name, took), took)
            assert info == 0
    print(f"poisson3d {side}^3, rtol 1e-6: spry {best['spry']:.2f} s, scipy {best['scipy']:.2f} s, "
          f"ratio {best['scipy'] / best['spry']:.2f}")


if __name__ == "__main__":
    overhead()
    operators()
    large(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
