"""splu, spilu, spsolve and factorized beyond what SciPy's own tests ask (tests/scipy_drop_in.py)."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import spry
from conftest import small_enough

KINDS = {"poisson2d": {"size": 12}, "convection-diffusion": {"size": 12}, "helmholtz": {"size": 6}}


def permuted(A, lu):
    """Pr A Pc as SciPy's documentation has it."""
    n = A.shape[0]
    places = np.arange(n)
    Pr = sp.csr_matrix((np.ones(n), (lu.perm_r, places)))
    Pc = sp.csr_matrix((np.ones(n), (places, lu.perm_c)))
    return (Pr @ A @ Pc).toarray()


def of_type(kind, char):
    A = spry.generate(kind, **KINDS[kind]).to_scipy()
    return (A + 1j * sp.eye(A.shape[0]) if char in "FD" else A.real).tocsr().astype(char)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("char", "fdFD")
@pytest.mark.parametrize("make", [spry.splu, lambda A: spry.splu(A, permc_spec="NATURAL"),
                                  lambda A: spry.spilu(A, drop_tol=0, fill_factor=1e6)])
def test_factors_are_those_of_the_permuted_matrix(kind, char, make):
    A = of_type(kind, char)
    lu = make(A)
    L, U = lu.L, lu.U
    assert L.format == U.format == "csc" and L.dtype == U.dtype == A.dtype == lu.dtype
    assert (L.diagonal() == 1).all() and sp.triu(L, 1).nnz == sp.tril(U, -1).nnz == 0
    assert lu.nnz == L.nnz + U.nnz
    # An entry of L U is a sum of at most n products, each rounded: n eps |L| |U|.
    bound = A.shape[0] * np.finfo(char).eps * (abs(L) @ abs(U)).toarray()
    assert (abs(permuted(A, lu) - (L @ U).toarray()) <= bound + np.finfo(char).tiny).all()


def test_rows_are_exchanged():
    A = sp.csc_matrix(np.array([[0.0, 1, 0], [0, 0, 2], [3, 0, 1e-30]]))
    lu = spry.splu(A)
    assert np.allclose(permuted(A, lu), (lu.L @ lu.U).toarray())
    assert np.allclose(lu.solve(A @ np.arange(3.0)), np.arange(3.0))


@pytest.mark.parametrize("char", "fdFD")
@pytest.mark.parametrize("spec", [None, "NATURAL"])
@pytest.mark.parametrize("kind", ["poisson2d", "convection-diffusion"])
def test_incomplete_factors_are_near_the_permuted_matrix(kind, char, spec):
    A, tau = of_type(kind, char), 1e-2
    ilu = spry.spilu(A, drop_tol=tau, fill_factor=100, permc_spec=spec)
    L, U = ilu.L, ilu.U
    assert (L.diagonal() == 1).all() and sp.triu(L, 1).nnz == sp.tril(U, -1).nnz == 0
    assert ilu.nnz < (spry.splu(A, permc_spec=spec) if spec else spry.spilu(A, drop_tol=0, fill_factor=1e6)).nnz
    # Rows have equal sizes here. What is dropped at a place is at most tau of L times a pivot, or tau of a
    # pivot itself: tau max |U_kk|, and rounding.
    rounding = A.shape[0] * np.finfo(char).eps * (abs(L) @ abs(U)).toarray()
    error = abs(permuted(A, ilu) - (L @ U).toarray())
    assert (error <= tau * abs(U.diagonal()).max() + rounding).all() and error.max() > rounding.max()
    # solve() applies these very factors
    x = ilu.solve(np.ones(A.shape[0], char))
    y = sla.spsolve_triangular(L.tocsr(), np.ones(A.shape[0], char)[np.argsort(ilu.perm_r)], unit_diagonal=True)
    z = sla.spsolve_triangular(U.tocsr(), y, lower=False)
    assert np.allclose(x, z[ilu.perm_c], rtol=0, atol=1e3 * np.finfo(char).eps * abs(x).max())


def test_natural_keeps_the_columns():
    A = sp.random(60, 60, 0.1, random_state=3, format="csc") + sp.diags(np.linspace(-1e-3, 1e-3, 60))
    b = np.arange(60.0)
    for make in (spry.splu, spry.spilu):
        lu = make(A, permc_spec="NATURAL")
        assert (lu.perm_c == np.arange(60)).all()
        for trans, matrix in (("N", A), ("T", A.T)) if make is spry.splu else ():
            assert small_enough(matrix, lu.solve(b, trans), b, 1e-9)
    assert spry.gmres(A, b, M=lu, rtol=1e-8)[1] == 0
    moved = (sp.identity(60) + 0.1 * A).tocsr()[::-1].tocsc()  # a single choice of pivots
    lu, other = spry.splu(moved, permc_spec="NATURAL"), sla.splu(moved, permc_spec="NATURAL")
    assert (lu.perm_r == other.perm_r).all() and (lu.perm_r == np.arange(60)[::-1]).all()
    assert abs(lu.L - other.L).max() < 1e-9 and abs(lu.U - other.U).max() < 1e-9
    for spec in ("MMD_ATA", "MMD_AT_PLUS_A", "COLAMD"):
        assert small_enough(A, spry.splu(A, permc_spec=spec).solve(b), b, 1e-9)
        assert small_enough(A, spry.spsolve(A, b, permc_spec=spec), b, 1e-9)
    assert small_enough(A, spry.spsolve(A, b, permc_spec="NATURAL"), b, 1e-9)
    with pytest.raises(ValueError, match="permc_spec"):
        spry.splu(A, permc_spec="AMD")
    singular = A.tolil()
    singular[:, 3] = singular[:, 9]
    with pytest.raises(RuntimeError, match="singular"):
        spry.splu(singular.tocsc(), permc_spec="NATURAL")


@pytest.mark.parametrize("spec", [None, "NATURAL"])
def test_transposes_and_columns(spec):
    A = spry.generate("helmholtz", size=6).to_scipy()
    lu, B = spry.splu(A, permc_spec=spec), np.random.default_rng(1).standard_normal((A.shape[0], 3))
    for trans, matrix in (("N", A), ("T", A.T), ("H", A.conj().T)):
        X = lu.solve(B, trans)
        for k in range(3):
            assert small_enough(matrix, X[:, k], B[:, k], 1e-13)
            assert (lu.solve(B[:, k], trans) == X[:, k]).all()
    with pytest.raises(ValueError, match="trans"):
        lu.solve(B, "X")


def test_factors_outlive_the_matrix(laplace, right):
    A = laplace.copy()
    lu = spry.splu(A)
    A.data[:] = 0
    assert small_enough(laplace, lu.solve(right), right, 1e-12)
    assert np.allclose(permuted(laplace, lu), (lu.L @ lu.U).toarray())


def test_singular_matrices(laplace):
    singular = laplace.tolil()
    singular[:, 3] = 0
    for make in (spry.splu, spry.factorized):
        with pytest.raises(RuntimeError, match="singular"):
            make(singular.tocsc())
    with pytest.warns(sla.MatrixRankWarning):
        assert np.isnan(spry.spsolve(singular.tocsr(), np.ones(400))).all()
    broken = laplace.copy()
    broken.data[5] = np.nan
    with pytest.raises(ValueError, match="nan"):
        spry.splu(broken)


@pytest.mark.parametrize("char", "fdFD")
def test_spsolve_has_the_common_type(laplace, right, char):
    for other in "fdFD":
        x = spry.spsolve(laplace.astype(char), right.astype(other))
        assert x.dtype == np.promote_types(char, other)
        assert small_enough(laplace, x, right.astype(other), 1e-3 if x.dtype.char in "fF" else 1e-12)


def test_spsolve_takes_whatever_scipy_does(laplace, right):
    B = sp.csc_matrix(np.stack([right, np.ones(400)], axis=1))
    X = spry.spsolve(laplace, B)
    assert sp.issparse(X) and X.shape == (400, 2)
    assert spry.spsolve(laplace, B[:, :1]).shape == spry.spsolve(laplace, right[:, None]).shape == (400,)
    assert spry.spsolve(laplace.toarray(), B.toarray()).shape == (400, 2)
    for A, b in ((laplace[:, :5], right), (laplace, right[:4])):
        with pytest.raises(ValueError):
            spry.spsolve(A, b)


def test_incomplete_factors(laplace, right):
    ilu = spry.spilu(laplace, drop_tol=1e-2, fill_factor=3)
    rough = np.linalg.norm(laplace @ ilu.solve(right) - right) / np.linalg.norm(right)
    assert 1e-8 < rough < 1
    plain = spry.solve(laplace, right, method="cg", precon="none").iterations
    for M in (ilu, spry.splu(laplace)):
        assert spry.solve(laplace, right, method="gmres", precon=M).iterations < plain / 2
        assert spry.gmres(laplace, right, M=M, rtol=1e-8)[1] == 0


def test_factors_of_others_are_preconditioners(laplace, right):
    for M in (sla.splu(laplace.tocsc()), sla.spilu(laplace.tocsc(), drop_tol=1e-8)):
        assert spry.solve(laplace, right, method="cg", precon=M).iterations <= 2
        assert spry.bicg(laplace, right, M=M, rtol=1e-8)[1] == 0  # which needs its adjoint

    class Solves:
        def solve(self, r):
            return r / 4

    assert spry.solve(laplace, right, method="cg", precon=Solves()).converged
