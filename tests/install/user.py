"""A program that has the wheel alone: tools/wheels."""

import os
import sys

import numpy as np

import spry

A, b = spry.generate("convection-diffusion", size=20).to_scipy(), np.ones(400)
assert spry.solve(A, b).check().converged
lu = spry.splu(A)
assert np.allclose(A @ lu.solve(b), b) and lu.nnz > A.nnz
grid = spry.Grid((16, 16))
assert grid.stencil("-laplace").solve(grid.field(1.0), method="cg", precon="gmg").converged
folder = os.path.dirname(spry.__file__)
with open("/proc/self/maps") as maps:
    assert len({line.split()[-1] for line in maps if "libspry" in line and "grid" not in line}) == 1
assert "site-packages" in folder and os.path.exists(os.path.join(folder, "py.typed"))
print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}: spry {spry.__version__} solves")
