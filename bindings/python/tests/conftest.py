"""What the tests share: small systems, and the package's examples."""

import numpy as np
import pytest
import scipy.sparse as sp

import spry


@pytest.fixture
def laplace():
    """A 2D Laplacian of 400 rows, SciPy's CSR with indices of 32 bits."""
    one = sp.diags([-np.ones(19), 2 * np.ones(20), -np.ones(19)], [-1, 0, 1])
    return sp.csr_matrix(sp.kronsum(one, one))


@pytest.fixture
def right():
    """A right-hand side for it."""
    return np.random.default_rng(3).standard_normal(400)


def small_enough(A, x, b, tol):
    """|b - A x| <= tol |b|, with the rounding errors of this check itself allowed for."""
    dtype = np.result_type(A.dtype, np.asarray(x).dtype, "f")
    eps = np.finfo(dtype).eps
    slack = 50 * eps * (np.linalg.norm(abs(A) @ abs(np.asarray(x))) + np.linalg.norm(b))
    return np.linalg.norm(b - A @ x) <= tol * np.linalg.norm(b) + slack


def what_comes_back(kind, A, b):
    """The arrays that functions give for arrays of a kind: vectors of 400 numbers, then fields of 20 x 20."""
    v, u, lu, M = kind(b), kind(b.reshape(20, 20)), spry.splu(A), spry.Preconditioner(A, "jacobi")
    grid = spry.Grid((21, 21))
    S, wave = grid.stencil("-laplace"), spry.Wave(grid, 9.0)
    one = spry.parareal(lambda: (spry.Stepper(grid.stencil("laplace"), dt=1e-4),) * 2, u, 0, 1e-3)
    return [lu.solve(v), spry.factorized(A)(v), spry.spsolve(A, v), spry.Solver(A, precon="direct") @ v, M @ v, M.dot(v),
            spry.Matrix(A) @ v, spry.lsqr(A, v, calc_var=True)[-1], spry.cg(A, v)[0],
            spry.cg(A, kind(0 * b))[0], spry.gmres(A, kind(0 * b))[0],
            S.apply(u), S.rhs(u), S.solve(u, method="cg", precon="none").x, S.solve(u, u, method="cg", precon="none").x,
            spry.bounded(S, u, kind(np.full((20, 20), -1.0))).x, spry.Stepper(S, dt=1e-4).run(u, 0, 1e-3)[0],
            spry.Stepper(lambda t, w: -w, dt=1e-2).run(u, 0, 0.1)[0], one.x, wave.solve(u).x, wave.solve([u, u]).x]


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """A test that changes the number of threads leaves it to the next one as it was."""
    before = spry.threads()
    yield
    if spry.threads() != before:
        spry.set_threads(0)
