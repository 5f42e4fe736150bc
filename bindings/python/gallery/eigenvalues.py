# %% [markdown]
# # Eigenvalues
#
# SciPy's eigsh and lobpcg with solvers of spry's: shift-invert by factors that are kept, and multigrid
# as the preconditioner. Each is timed beside SciPy alone,
# in seconds of a processor.

# %%
import sys
import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import spry

size = int(sys.argv[1]) if len(sys.argv) > 1 else 60
A = spry.generate("poisson2d", size=size).to_scipy().tocsc()
n = A.shape[0]
i = np.arange(1, size + 1)
one = 4 * np.sin(i * np.pi / (2 * (size + 1))) ** 2
exact = np.sort((one[:, None] + one).ravel())  # of the 5-point Laplacian


def timed(name, run, wanted):
    begin = time.process_time()
    found = np.sort(run())
    print(f"{name:<44}{time.process_time() - begin:8.3f} s, largest error {abs(found - wanted).max():.1e}")


# %% [markdown]
# ## Near a shift
#
# eigsh applies (A - sigma)^-1 again and again. A spry.Solver is a LinearOperator: it keeps its factors,
# and checks the residual of each solve.

# %%
sigma = 1.0
nearest = np.sort(exact[np.argsort(abs(exact - sigma))[:6]])
shifted = A - sigma * sp.identity(n, format="csc")


def by_spry():
    inverse = spry.Solver(shifted.tocsr(), precon="direct", tol=1e-10)
    return sla.eigsh(A, 6, sigma=sigma, OPinv=inverse, return_eigenvectors=False)


timed("eigsh, shift-invert, SciPy's splu", lambda: sla.eigsh(A, 6, sigma=sigma, return_eigenvectors=False), nearest)
timed("eigsh, shift-invert, spry.Solver", by_spry, nearest)
timed("eigsh, shift-invert, spry.splu", lambda: sla.eigsh(
    A, 6, sigma=sigma, OPinv=spry.splu(shifted).aspreconditioner(), return_eigenvectors=False), nearest)

# %% [markdown]
# ## The smallest, without factors
#
# lobpcg needs an approximate inverse: multigrid.

# %%
X = np.random.default_rng(0).standard_normal((n, 4))
few = {"largest": False, "tol": 1e-6, "maxiter": 200}
csr = A.tocsr()
jacobi = sp.diags(1 / A.diagonal())
timed("lobpcg, the diagonal as M", lambda: sla.lobpcg(csr, X, M=jacobi, **few)[0], exact[:4])
timed("lobpcg, M=spry.Preconditioner(A, 'amg')", lambda: sla.lobpcg(csr, X, M=spry.Preconditioner(csr, "amg"), **few)[0],
      exact[:4])
timed("lobpcg, M=spry.Preconditioner(A, 'ic')", lambda: sla.lobpcg(csr, X, M=spry.Preconditioner(csr, "ic"), **few)[0],
      exact[:4])

# %% [markdown]
# ## The largest
#
# eigsh needs products alone: spry.Matrix is an operator, too. With a copy of its own it need not look
# whether the arrays have changed, which takes as long as a product.

# %%
largest = exact[-3:]
timed("eigsh, the largest, SciPy's product", lambda: sla.eigsh(csr, 3, return_eigenvectors=False), largest)
M = spry.Matrix(csr, copy=True)
product = sla.LinearOperator(M.shape, matvec=M.matvec, dtype=M.dtype)
timed("eigsh, the largest, spry.Matrix", lambda: sla.eigsh(product, 3, return_eigenvectors=False), largest)
