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


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """A test that changes the number of threads leaves it to the next one as it was."""
    before = spry.threads()
    yield
    if spry.threads() != before:
        spry.set_threads(0)
