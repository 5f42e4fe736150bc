# %% [markdown]
# # Poisson's equation, and what a preconditioner is worth
#
# A membrane over the unit square, fixed at its edge and at a disc in the middle, under an even load:
# -laplace(u) = 1. The five-point star gives a symmetric positive definite matrix. Conjugate gradients
# solve it with no preconditioner, with an incomplete Cholesky factorization, and with multigrid.

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import spry

side = 200
h = 1 / (side + 1)
line = sp.diags([-np.ones(side - 1), 2 * np.ones(side), -np.ones(side - 1)], [-1, 0, 1])
A = sp.csr_matrix(sp.kronsum(line, line))
b = np.full(side * side, h * h)

# %% [markdown]
# Points within the disc are fixed: their rows and columns go.

# %%
y, x = np.mgrid[1:side + 1, 1:side + 1] * h
free = np.flatnonzero(((x - 0.4) ** 2 + (y - 0.6) ** 2 > 0.15**2).ravel())
A, b = A[free][:, free], b[free]

# %% [markdown]
# Three solves to the same tolerance. `A` is used where it is, without a copy.

# %%
results = [spry.solve(A, b, method="cg", precon=precon, tol=1e-8) for precon in ("none", "ic", "amg")]
for result in results:
    print(result, end="\n\n")

# %%
u = np.full(side * side, np.nan)
u[free] = results[-1].x
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
shown = left.imshow(u.reshape(side, side), extent=(0, 1, 0, 1), origin="lower", cmap="viridis")
figure.colorbar(shown, ax=left, label="u")
left.set_title("the membrane")
for result in results:
    result.plot(right)
right.set_title(f"{free.size} unknowns")
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1] + "/python-poisson.png", dpi=80)
assert all(result.converged for result in results)
