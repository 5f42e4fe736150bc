"""What is wrong gets Python's own kind of exception with a text that helps, and never a crash."""

import gc
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import spry
from conftest import small_enough

DROP_INS = [spry.cg, spry.cgs, spry.bicg, spry.bicgstab, spry.gmres, spry.lgmres, spry.gcrotmk,
            spry.minres, spry.qmr, spry.tfqmr]


@pytest.mark.parametrize("solver", DROP_INS)
def test_shapes(laplace, right, solver):
    with pytest.raises(ValueError, match="shape"):
        solver(laplace, right[:-1])
    with pytest.raises(ValueError, match="square"):
        solver(laplace[:, :-1], right)
    with pytest.raises(ValueError, match="shape"):
        solver(laplace, right, x0=right[:5])
    with pytest.raises(ValueError, match="shape"):
        solver(laplace, np.ones((400, 2)))
    if solver is not spry.qmr:
        with pytest.raises(ValueError, match="shape"):
            solver(laplace, right, M=np.eye(3))


@pytest.mark.parametrize("solver", [*DROP_INS, spry.lsqr, spry.lsmr, spry.spsolve, spry.solve])
def test_matrix_and_vector_exchanged(laplace, right, solver):
    for A in (laplace, laplace.toarray(), spry.Matrix(laplace)):
        with pytest.raises(spry.UsageError, match="the matrix comes first"):
            solver(right, A)
    with pytest.raises(spry.UsageError, match="the matrix comes first"):
        solver([1.0, 2.0], [[2.0, 1.0], [1.0, 3.0]])
    if solver is spry.minres:
        with pytest.raises(spry.UsageError, match="the matrix comes first"):
            solver(right, laplace, shift=1.0)


@pytest.mark.parametrize("use", [lambda M, A: M @ A, lambda M, A: A @ M, lambda M, A: M @ M, lambda M, A: A.tocoo() @ M,
                                 lambda M, A: M.rmatvec(A), lambda M, A: np.asarray(M), lambda M, A: spry.solve(A, M),
                                 lambda M, A: sp.csr_matrix(M), lambda M, A: sp.csr_array(M)])
def test_what_scipy_cannot_do_with_a_matrix(laplace, use):
    with pytest.raises(ValueError) as refused:
        use(spry.Matrix(laplace), laplace)
    assert any("to_scipy()" in str(error) for error in (refused.value, refused.value.__cause__))  # SciPy names the cause


def test_shapes_of_solve(laplace, right):
    for b in (right[:-1], np.ones((399, 2)), np.ones((20, 20, 1)), 1.0):
        with pytest.raises(ValueError, match="shape"):
            spry.solve(laplace, b)
    with pytest.raises(ValueError, match="x0"):
        spry.solve(laplace, right, right[:-1])
    with pytest.raises(ValueError, match="dimension"):
        spry.Matrix(np.ones(4))
    with pytest.raises(ValueError, match="400 x 400"):
        spry.Matrix(laplace) @ np.ones(3)
    with pytest.raises(ValueError, match="preconditioner"):
        spry.solve(laplace, right, method="cg", precon=np.eye(3))


def test_nan_and_infinity(laplace, right):
    for bad in (np.nan, np.inf):
        A = laplace.copy()
        A.data[7] = bad
        with pytest.raises(ValueError, match="row"):
            spry.solve(A, right)
        b = right.copy()
        b[3] = bad
        with pytest.raises(ValueError, match="right-hand side is not finite at row 3"):
            spry.solve(laplace, b, method="cg", precon="none")


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint32, np.float16, np.longdouble])
def test_other_types_are_converted(dtype):
    A = sp.identity(5, format="csr").astype(dtype) if dtype is not np.float16 else np.eye(5, dtype=dtype)
    x = spry.solve(A, np.arange(5, dtype=dtype if dtype is not bool else int)).x
    assert x.dtype == float and np.allclose(x, np.arange(5))
    x, info = spry.cg(A, np.arange(5))
    assert info == 0 and np.allclose(x, np.arange(5))


def test_objects_and_texts_are_not():
    for A in (np.array([["a", "b"], ["c", "d"]]), np.array([[None, 1], [2, 3]]), object(), "A.mtx"):
        with pytest.raises((ValueError, TypeError)):
            spry.solve(A, [1.0, 2.0])
    with pytest.raises(ValueError):
        spry.solve(np.eye(2), ["a", "b"])
    with pytest.raises(ValueError):
        spry.solve(np.eye(2), [[1.0], [2.0, 3.0]])


def test_unsorted_duplicate_and_64_bit_indices(laplace, right):
    rng = np.random.default_rng(0)
    A = laplace.copy()
    for row in range(400):
        part = slice(A.indptr[row], A.indptr[row + 1])
        order = rng.permutation(part.stop - part.start)
        A.indices[part], A.data[part] = A.indices[part][order], A.data[part][order]
    A.has_sorted_indices = False
    assert small_enough(laplace, spry.solve(A, right).x, right, 1e-8)
    wide = sp.csr_matrix((400, 400))
    wide.data, wide.indices, wide.indptr = laplace.data, laplace.indices.astype(np.int64), laplace.indptr.astype(np.int64)
    assert small_enough(laplace, spry.solve(wide, right).x, right, 1e-8)
    coo = laplace.tocoo()
    twice = sp.coo_matrix((np.r_[coo.data / 2, coo.data / 2], (np.r_[coo.row, coo.row], np.r_[coo.col, coo.col])))
    assert small_enough(laplace, spry.solve(twice, right).x, right, 1e-8)


def test_indices_out_of_range(laplace, right):
    for part, value in (("indices", 400), ("indices", -1), ("indptr", 10**6)):
        A = laplace.copy()
        getattr(A, part)[-1 if part == "indptr" else 3] = value
        with pytest.raises(ValueError):
            spry.solve(A, right)
        with pytest.raises(ValueError):
            spry.cg(A, right)
    A = laplace.copy()
    A.indptr[5], A.indptr[6] = A.indptr[6], A.indptr[5]
    with pytest.raises(ValueError, match="row"):
        spry.solve(A, right)
    A = laplace.copy()
    A.indices = A.indices[:-4]
    with pytest.raises(ValueError):
        spry.solve(A, right)


def test_arrays_with_steps_and_of_other_byte_order(laplace, right):
    spread = np.zeros(800)
    spread[::2] = right
    assert small_enough(laplace, spry.solve(laplace, spread[::2], spread[::2]).x, right, 1e-8)
    assert small_enough(laplace, spry.cg(laplace, spread[::2], x0=spread[1::2])[0], right, 1e-5)
    assert small_enough(laplace, spry.solve(laplace, right[::-1][::-1].astype(">f8")).x, right, 1e-8)
    dense = np.asfortranarray(laplace.toarray())
    assert small_enough(laplace, spry.solve(dense[::1, ::1], right).x, right, 1e-8)
    frozen = right.copy()
    frozen.flags.writeable = False
    assert small_enough(laplace, spry.solve(laplace, frozen, frozen).x, right, 1e-8)
    B = np.random.default_rng(0).standard_normal((4, 400)).T
    assert spry.solve(laplace, B[:, ::2]).converged


def test_arrays_outlive_their_owner(laplace, right):
    A = laplace.copy()
    solver = spry.Solver(A, method="cg", precon="none")
    expected = solver.solve(right).x
    del A
    gc.collect()
    churn = [np.full(2000, 7.0) for _ in range(50)]
    assert np.array_equal(solver.solve(right).x, expected) and len(churn) == 50


def test_matrix_changed_behind_our_back(laplace, right):
    for change in ("data", "indices", "resize"):
        A = laplace.copy()
        A.data = A.data.copy()  # its own memory
        solver = spry.Solver(A, method="cg", precon="jacobi")
        solver.solve(right)
        if change == "data":
            A.data[3] += 1e-3
        elif change == "indices":
            A.indices[3] = 10**9
        else:
            A.data.resize(10**6, refcheck=False)
        with pytest.raises(spry.ChangedError, match="update"):
            solver.solve(right)
        with pytest.raises(ValueError):
            solver._matrix @ right
    A = laplace.copy()
    held = spry.Matrix(A, copy=True)
    A.indices[:] = 10**9
    assert small_enough(laplace, spry.solve(held, right).x, right, 1e-8)


def test_update_with_another_pattern(laplace, right):
    solver = spry.Solver(laplace, method="cg", precon="jacobi")
    with pytest.raises(ValueError, match="other places"):
        solver.update(sp.csr_matrix(sp.diags([np.ones(400), np.ones(397)], [0, 3])))
    with pytest.raises(ValueError, match="values are needed"):
        solver.update(np.ones(3))
    with pytest.raises(ValueError, match="operator"):
        spry.Solver(sla.aslinearoperator(laplace), method="cg", precon=None).update(np.ones(3))


def test_use_after_close(laplace, right):
    A = spry.Matrix(laplace)
    solver = spry.Solver(A)
    M = spry.Preconditioner(A, "jacobi")
    for thing in (solver, M, A):
        thing.close()
        thing.close()
        assert "closed" in repr(thing)
    for use in (lambda: solver.solve(right), lambda: M @ right, lambda: A @ right, lambda: A.nnz,
                lambda: spry.solve(A, right), lambda: spry.cg(A, right), lambda: solver.set(tol=1.0)):
        with pytest.raises(spry.ReleasedError, match="closed"):
            use()


def test_options_that_do_not_exist(laplace, right):
    with pytest.raises(spry.UsageError, match="tol"):
        spry.solve(laplace, right, tool=1)
    with pytest.raises(ValueError, match="cg"):
        spry.solve(laplace, right, method="cgg")
    with pytest.raises(ValueError):
        spry.solve(laplace, right, tol=-1.0)
    with pytest.raises(ValueError):
        spry.solve(laplace, right, tol="small")
    with pytest.raises(ValueError):
        spry.Preconditioner(laplace, "nonsense")
    with pytest.raises(OSError, match="nowhere"):
        spry.read("/nowhere/at/all.mtx")
    with pytest.raises(ValueError, match="symmetry"):
        spry.Matrix(laplace, symmetry="round")


def test_memory_that_is_not_there():
    before = spry._context.use(spry._context.Context("threads=1 memory_limit=500000"))
    try:
        A = spry.generate("poisson2d", size=50)
        with pytest.raises(MemoryError):
            spry.solve(A, np.ones(2500), method="gmres:restart=200", precon="none")
        assert spry.solve(A, np.ones(2500), method="cg", precon="none").converged
    finally:
        spry._context.use(before)


class Wrong(Exception):
    pass


def test_exceptions_in_callbacks(laplace, right):
    def fail(*_):
        raise Wrong("in the callback")

    for solver in DROP_INS:
        extra = {"callback_type": "pr_norm"} if solver is spry.gmres else {}
        with pytest.raises(Wrong, match="in the callback"):
            solver(laplace, right, callback=fail, **extra)
    for name in ("callback", "watch"):
        with pytest.raises(Wrong):
            spry.solve(laplace, right, method="cg", precon="none", **{name: fail})
    A = sla.LinearOperator(laplace.shape, matvec=fail, dtype=float)
    with pytest.raises(Wrong):
        spry.cg(A, right)
    M = sla.LinearOperator(laplace.shape, matvec=fail, rmatvec=fail, dtype=float)
    with pytest.raises(Wrong):
        spry.solve(laplace, right, method="cg", precon=M)
    assert spry.solve(laplace, right).converged


def test_operators_that_answer_nonsense(laplace, right):
    for answer, text in ((lambda v: v[:-1], "399 numbers"), (lambda v: 1j * v, "complex"),
                         (lambda v: None, "1 numbers|NoneType")):
        A = type("Odd", (), {"shape": (400, 400), "dtype": np.dtype(float), "matvec": staticmethod(answer)})()
        with pytest.raises((ValueError, TypeError), match=text):
            spry.solve(A, right, method="cg", precon="none")


def test_solving_within_a_callback(laplace, right):
    inner = []

    def callback(k, residual, x):
        if k == 2:
            inner.append(spry.solve(laplace, x).converged)

    assert spry.solve(laplace, right, method="cg", precon="none", callback=callback).converged
    assert inner == [True]
    solver = spry.Solver(laplace, method="cg", precon="none")
    with pytest.raises(spry.UsageError):
        solver.solve(right, callback=lambda k, residual, x: solver.solve(right))


def test_empty_systems():
    A = sp.csr_matrix((0, 0))
    x, info = spry.cg(A, np.zeros(0))
    assert x.shape == (0,) and info == 0
    assert spry.Matrix(A).shape == (0, 0)


def test_masked_numbers(laplace, right):
    for masked in (np.ma.masked_array(right, mask=right > 0), np.ma.masked_array(np.eye(3), mask=np.eye(3))):
        A, b = (laplace, masked) if masked.ndim == 1 else (masked, np.ones(3))
        for solver in (spry.solve, spry.cg, lambda A, b: spry.solve(A, b, np.zeros(b.shape))):
            with pytest.raises(ValueError, match="masked"):
                solver(A, b)
    assert spry.solve(laplace, np.ma.masked_array(right, mask=False)).converged


def test_types_asked_for(laplace, right):
    assert spry.Matrix(laplace, dtype=int).dtype == float
    assert spry.solve(laplace, right, dtype=np.float16).x.dtype == float
    with pytest.raises(ValueError):
        spry.Matrix(laplace, dtype="S5")
    with pytest.raises(ValueError):
        spry.Matrix(laplace, dtype="nonsense")
    with pytest.raises(ValueError, match="complex"):
        spry.Matrix(np.eye(3) * (1 + 2j), dtype=float)


@pytest.mark.parametrize("solver", [s for s in DROP_INS if s is not spry.qmr])
def test_kinds_of_preconditioners(laplace, right, solver):
    for M in (lambda v: v / 4, (np.eye(400) / 4).tolist(), spry.Matrix(sp.identity(400, format="csr"))):
        assert small_enough(laplace, solver(laplace, right, M=M)[0], right, 1e-5)
    with pytest.raises(ValueError, match="Preconditioner"):
        solver(laplace, right, M="ilu")
    with pytest.raises(ValueError, match="shape"):
        solver(laplace, right, M=3)


def test_limits_of_iterations_without_bounds(laplace, right):
    for solver in DROP_INS:
        assert small_enough(laplace, solver(laplace, right, maxiter=10**19)[0], right, 1e-5)
    assert spry.lsqr(laplace, right, iter_lim=10**19)[1] in (1, 2)
    assert spry.gcrotmk(laplace, right, m=10**9)[1] == 0
    for call in (lambda: spry.gmres(laplace, right, restart=-1), lambda: spry.gcrotmk(laplace, right, m=0)):
        with pytest.raises(ValueError, match="at least 1"):
            call()


def test_least_squares(laplace, right):
    assert spry.lsqr(laplace, right, np.float64(0.1), np.float64(1e-9), np.float32(1e-6))[1] in (1, 2)
    bad = laplace.copy()
    bad.data[3] = np.nan
    for solver in (spry.lsqr, spry.lsmr):
        with pytest.raises(ValueError, match="finite|nan"):
            solver(bad, right)
        with pytest.raises(ValueError, match="not finite at row 2"):
            solver(laplace, np.where(np.arange(400) == 2, np.inf, right))
        with pytest.raises(ValueError, match="damp"):
            solver(laplace, right, damp=np.nan)


def test_tolerances(laplace, right):
    for atol in (np.nan, -1.0, "small", None):
        with pytest.raises(ValueError, match="atol"):
            spry.cg(laplace, right, atol=atol)


def test_callbacks_may_answer_as_numpy_does(laplace, right):
    result = spry.solve(laplace, right, method="cg", precon="none", callback=lambda k, r, x: np.bool_(k < 3))
    assert result.reason == "interrupted" and result.iterations == 3


def test_what_is_sent_to_other_processes(laplace, right):
    with pytest.raises(spry.NotConverged) as caught:
        spry.solve(laplace, right, method="cg", precon="none", max_iter=2).check()
    back = pickle.loads(pickle.dumps(caught.value))
    assert str(back) == str(caught.value) and back.result.iterations == 2
    with pytest.raises(TypeError, match="Solver"):
        pickle.dumps(spry.Solver(laplace))


def test_vectors_beside_the_matrix(laplace, right):
    for name in ("near_null", "null_space"):
        for vectors in (np.ones(3), np.ones((3, 1)), np.ones((400, 2, 2))):
            with pytest.raises(ValueError, match=name):
                spry.solve(laplace, right, method="cg", precon="none", **{name: vectors})


def test_texts_name_what_is_wrong(laplace, tmp_path):
    for b in (None, [object()], (k for k in "ab")):
        with pytest.raises(ValueError, match="^b is not"):
            spry.solve(laplace, b)
    with pytest.raises(ValueError, match="shape"):
        spry.write(tmp_path / "x.mtx", np.ones((2, 3, 4)))
    with pytest.raises(ValueError, match="truth"):
        spry.Matrix(laplace).declare("definite", "maybe")
    flat = type("Flat", (), {"shape": (4,), "dtype": np.dtype(float), "matvec": staticmethod(lambda v: v)})()
    with pytest.raises(ValueError, match="dimensions"):
        spry.solve(flat, np.ones(4), method="cg", precon=None)
    run = subprocess.run([sys.executable, "-c", "import spry"], env=dict(os.environ, SPRY_THREADS="two"),
                         stderr=subprocess.PIPE, universal_newlines=True)
    assert run.returncode != 0 and "SPRY_THREADS=two" in run.stderr


class There:
    """An array that says that it is on a device, of an unknown library."""

    def __init__(self, size, typestr="<f8"):
        self.shape, self.dtype = (size,), np.dtype(typestr)
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": typestr, "data": (4096, False),
                                         "strides": None, "version": 3}


def test_arrays_on_devices_of_unknown_kinds(laplace):
    for call in (lambda b: spry.solve(laplace, b), lambda b: spry.solve(laplace, b, np.zeros(400)),
                 lambda b: spry.cg(laplace, b), lambda b: spry.gmres(laplace, b)):
        with pytest.raises(spry.Unsupported, match="CuPy's or PyTorch's"):
            call(There(400))
    for call in (lambda b: spry.lsqr(laplace, b), lambda b: spry.lgmres(laplace, b), lambda b: spry.Matrix(laplace) @ b):
        with pytest.raises(ValueError, match="not an array"):
            call(There(400))
