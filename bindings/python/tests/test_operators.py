"""Solvers and preconditioners as LinearOperators, matrices in arithmetic, arrays of other libraries."""

import logging
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import spry
from conftest import small_enough, what_comes_back


def test_solver_is_the_inverse(right):
    A = spry.generate("convection-diffusion", size=20).to_scipy()
    solver = spry.Solver(A, tol=1e-12)
    assert isinstance(solver, sla.LinearOperator) and solver.shape == A.shape
    for x, matrix in ((solver @ right, A), (solver.T @ right, A.T), (solver.H @ right, A.T),
                      (solver.rmatvec(right), A.T), (solver.matvec(right[:, None])[:, 0], A)):
        assert small_enough(matrix, x, right, 1e-12)
    z = right + 1j * right[::-1]
    assert small_enough(A, solver @ z, z, 1e-12)
    block = np.stack([right, right[::-1]], axis=1)
    assert np.allclose(A @ (solver @ block), block)
    assert np.allclose(A.T @ (solver.H @ block), block)
    solver.update(2 * A)
    assert small_enough(2 * A.T, solver.H @ right, right, 1e-12)


def test_solver_of_a_rectangular_matrix():
    A = np.array([[1.0, 0], [0, 1], [1, 1]])
    solver = spry.Solver(A)
    assert solver.shape == (2, 3)
    assert np.allclose(solver.solve(A @ [1.0, 2.0]).x, [1, 2])


def test_inverse_that_is_none_raises(laplace, right):
    solver = spry.Solver(laplace, method="cg", precon="none", maxiter=2)
    with pytest.raises(spry.NotConverged):
        solver @ right
    forward = sla.LinearOperator(laplace.shape, matvec=lambda v: laplace @ v, dtype=float)
    with pytest.raises(ValueError, match="rmatvec"):
        spry.Solver(forward, method="cg", precon="none").H


def test_eigenvalues(laplace):
    exact = np.linalg.eigvalsh(laplace.toarray())
    inverse = spry.Solver(laplace - 0.7 * sp.eye(400, format="csr"), tol=1e-12)
    found = sla.eigsh(laplace, k=4, sigma=0.7, OPinv=inverse, return_eigenvectors=False)
    assert np.allclose(np.sort(found), np.sort(exact[np.argsort(abs(exact - 0.7))[:4]]))
    X = np.random.default_rng(0).standard_normal((400, 3))
    for M in (spry.Preconditioner(laplace, "amg"), spry.Solver(laplace, tol=1e-2)):
        found = sla.lobpcg(laplace, X, M=M, largest=False, tol=1e-7, maxiter=60)[0]
        assert np.allclose(np.sort(found), exact[:3])


def test_preconditioner_of_blocks(laplace):
    M = spry.Preconditioner(laplace, "ilu")
    X = np.random.default_rng(0).standard_normal((400, 5))
    assert (M @ X == np.stack([M @ x for x in X.T], axis=1)).all()
    assert np.allclose(M.H @ X, np.stack([M.rmatvec(x) for x in X.T], axis=1))


def test_arithmetic():
    rng = np.random.default_rng(2)
    S, R = (sp.random(6, 4, 0.6, "csr", random_state=k) for k in (1, 2))
    M, x, X = spry.Matrix(S), rng.standard_normal(6), rng.standard_normal((3, 6))
    for found, wanted in ((M.T, S.T), (M + spry.Matrix(R), S + R), (M + R, S + R), (S - M, 0 * S), (M - 2 * M, -S),
                          (M / 4, S / 4), (np.float32(2) * M, 2 * S), (-M, -S), ((2j * M).H, (2j * S).conj().T)):
        assert isinstance(found, spry.Matrix) and np.allclose(found.toarray(), wanted.toarray())
    assert np.allclose(x @ M, S.T @ x) and np.allclose(X @ M, X @ S.toarray())
    assert M.tocsr().format == "csr" and M.tocsc().format == "csc" and M.tocoo().format == "coo"
    assert np.allclose(spry.Matrix(S[:4]).diagonal(), S[:4].diagonal())
    with pytest.raises(ValueError, match="added"):
        M + R.T
    for wrong in (lambda: M + 3, lambda: M * np.ones(4)):
        with pytest.raises(TypeError):
            wrong()


def test_sparse_right_hand_sides(laplace, right):
    b = sp.csr_matrix(right).T
    assert small_enough(laplace, spry.solve(laplace, b).x[:, 0], right, 1e-8)
    assert spry.solve(laplace, sp.hstack([b, b])).x.shape == (400, 2)


def test_arrays_of_the_array_api(laplace, right):
    class Namespace:
        @staticmethod
        def asarray(values):
            return Array(values)

    class Array:  # which NumPy reads by from_dlpack() alone
        def __init__(self, values):
            self.values, self.dtype, self.shape, self.ndim = values, values.dtype, values.shape, values.ndim

        def __dlpack__(self, **how):
            return self.values.__dlpack__(**how)

        def __dlpack_device__(self):
            return self.values.__dlpack_device__()

        def __array_namespace__(self, api_version=None):
            return Namespace

    class Readable(Array):
        def __array__(self, dtype=None, copy=None):
            return self.values

    class Named(Readable):  # as array_api_strict has it: a type that NumPy does not know
        def __init__(self, values):
            super().__init__(values)
            self.dtype = type("DType", (), {"__str__": lambda _: "others.float64"})()

    for kind in (Array, Readable, Named):
        for x in (spry.solve(laplace, kind(right)).x, spry.solve(laplace, kind(right), method="cg").x,
                  spry.spsolve(laplace, kind(right)), spry.cg(laplace, kind(right), rtol=1e-9)[0],
                  spry.minres(laplace, kind(right), rtol=1e-12)[0], spry.gmres(laplace, kind(right), rtol=1e-9)[0],
                  spry.lgmres(laplace, kind(right), rtol=1e-9)[0], spry.lsqr(laplace, kind(right), atol=0, btol=1e-9)[0]):
            assert isinstance(x, Array) and small_enough(laplace, x.values, right, 1e-8)
        for x, y in zip(what_comes_back(kind, laplace, right), what_comes_back(np.array, laplace, right)):
            assert isinstance(x, Array) and type(y) is np.ndarray and np.allclose(x.values, y)


def test_results_are_a_list(laplace):
    results = spry.solve(laplace, np.eye(400)[:, :4])
    assert isinstance(results[1:3], spry.Results) and results[1:3].x.shape == (400, 2)
    assert (results[-1].x == results.x[:, 3]).all() and [one.converged for one in results] == [True] * 4


def test_tables_of_a_notebook(laplace):
    solver = spry.Solver(laplace)
    for thing in (solver.plan(), spry.doctor(laplace), spry.doctor(np.zeros((2, 2))), spry.tune(laplace), spry.info(laplace),
                  spry.solve(laplace, np.ones((400, 2))), spry.explain("cg"), spry.explain(), solver.explain()):
        shown = thing._repr_html_()
        assert isinstance(shown, str) and shown.count("<table") == shown.count("</table")
    assert "<td" in solver.plan()._repr_html_() and "method" in str(solver.plan())
    assert "&lt;" in spry._result.table(None, [("a", "<b>")])


def test_fallbacks_warn(laplace, right):
    if not any(name.startswith("cuda") and "not usable" not in str(what) for name, what in spry.info().items()):
        try:  # either it is refused, or it says that it was the processor
            with pytest.warns(spry.SolverWarning, match="(?i)cuda") as heard:
                spry.solve(laplace, right, device="cuda")
            assert heard[0].filename == __file__
        except spry.Error as refused:
            assert "cuda" in str(refused).lower()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spry.solve(laplace, right)


def test_log():
    code = ("import logging, sys; logging.basicConfig(level={0}, stream=sys.stdout)\n"
            "import spry, numpy as np; spry.solve(spry.generate('poisson2d', size=5), np.ones(25), precon='ilu')")
    said = [subprocess.run([sys.executable, "-c", code.format(level)], capture_output=True, text=True, check=True).stdout
            for level in (logging.INFO, logging.WARNING)]
    assert "INFO:spry:precon ilu" in said[0] and said[1] == ""
