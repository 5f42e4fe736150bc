"""The two systems of README.md in Python: problem.py FOLDER NAME"""
import sys

import numpy as np
import scipy.sparse as sp

import spry

SIDE = 24
KINDS = {"real": (4.0, -1.375, -0.625, dict(method="bicgstab", precon="ilu")),
         "complex": (3.5 + 0.625j, -1 + 0j, -1 + 0j, dict(method="gmres:restart=20", precon="jacobi"))}


def system(diagonal, before, after):
    one = np.ones(SIDE - 1)
    line = sp.diags([before * one, diagonal * np.ones(SIDE), after * one], [-1, 0, 1])
    neighbours = sp.diags([-one, -one], [-1, 1])
    return sp.csr_matrix(sp.kron(sp.identity(SIDE), line) + sp.kron(neighbours, sp.identity(SIDE)))


def main(folder, name):
    with open(f"{folder}/{name}.txt", "w", encoding="ascii") as report:
        for kind, (diagonal, before, after, options) in KINDS.items():
            A = system(diagonal, before, after)
            b = (1 + np.arange(SIDE * SIDE) % 7 / 8).astype(A.dtype)
            result = spry.solve(A, b, format="csr", tol=1e-10, **options)
            report.write(f"{kind} {result.reason} {result.iterations}\n")
            result.x.tofile(f"{folder}/{name}-{kind}.x")


main(*sys.argv[1:])
