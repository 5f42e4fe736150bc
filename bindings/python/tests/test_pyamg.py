"""pyamg's hierarchies as preconditioners here, and ours there, where pyamg is installed."""

import pytest

import spry
from conftest import small_enough

pyamg = pytest.importorskip("pyamg")


def test_their_preconditioner_for_our_solvers(laplace, right):
    M = pyamg.ruge_stuben_solver(laplace).aspreconditioner()
    plain = spry.solve(laplace, right, method="cg", precon="none")
    result = spry.solve(laplace, right, method="cg", precon=M)
    assert result.converged and result.iterations < plain.iterations / 2
    x, info = spry.gmres(laplace, right, M=M, rtol=1e-8)
    assert info == 0 and small_enough(laplace, x, right, 1e-8)


def test_our_preconditioner_for_their_solvers(laplace, right):
    x, info = pyamg.krylov.cg(laplace, right, M=spry.Preconditioner(laplace, "amg"), tol=1e-8)
    assert info == 0 and small_enough(laplace, x, right, 1e-7)
