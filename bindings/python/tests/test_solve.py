"""solve, Solver, Matrix, Preconditioner, Result: that they do what they say."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import spry
from conftest import small_enough

TYPES = ["f", "d", "F", "D"]


@pytest.mark.parametrize("char", TYPES)
@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array", "csc_array", "coo_array", "lil_array",
                                  "dia_array", "bsr_array", "dok_array", "dense", "Matrix"])
def test_every_form_of_a_matrix(laplace, right, char, kind):
    A = laplace.astype(char)
    form = A.toarray() if kind == "dense" else spry.Matrix(A) if kind == "Matrix" else getattr(sp, kind)(A)
    b = right.astype(char)
    tol = 1e-3 if char in "fF" else 1e-9
    result = spry.solve(form, b, tol=tol)
    assert result.converged and result.x.dtype == char
    assert small_enough(A, result.x, b, tol)


def test_solver_keeps_its_set_up_and_takes_new_values(laplace, right):
    A = laplace.copy()
    solver = spry.Solver(A, method="cg", precon="ic", tol=1e-10)
    assert small_enough(A, solver.solve(right).x, right, 1e-10)
    B = A.copy()
    B.data *= 1 + 0.1 * np.random.default_rng(0).random()
    B.setdiag(B.diagonal() + 1)
    solver.update(B)
    assert small_enough(B, solver.solve(right).x, right, 1e-10)
    solver.update(A.data)
    assert small_enough(A, solver.solve(right).x, right, 1e-10)


def test_update_in_place(laplace, right):
    solver = spry.Solver(laplace, method="cg", precon="jacobi")
    solver.solve(right)
    laplace.data *= 2
    solver.update(laplace.data)
    assert small_enough(laplace, solver.solve(right).x, right, 1e-8)


def test_several_right_hand_sides(laplace):
    B = np.random.default_rng(1).standard_normal((400, 5))
    results = spry.solve(laplace, B, method="cg", precon="jacobi", tol=1e-9)
    assert len(results) == 5 and results.converged and results.x.shape == (400, 5)
    for k in range(5):
        assert small_enough(laplace, results.x[:, k], B[:, k], 1e-9)
        assert np.array_equal(results[k].x, results.x[:, k])
    assert spry.solve(laplace, B[:, :1]).x.shape == (400, 1)
    assert len(spry.solve(laplace, B[:, :0])) == 0


def test_first_guess_is_used_and_not_changed(laplace, right):
    x = spry.solve(laplace, right, tol=1e-12).x
    guess = x.copy()
    result = spry.solve(laplace, right, guess, method="cg", precon="none")
    assert result.iterations == 0 and np.array_equal(guess, x)


def test_operators_of_python(laplace, right):
    calls = []

    def matvec(v):
        calls.append(1)
        return laplace @ v

    A = sla.LinearOperator(laplace.shape, matvec=matvec, dtype=float)
    result = spry.solve(A, right, method="cg", precon="none")
    assert result.converged and len(calls) >= result.iterations
    diagonal = laplace.diagonal()
    for M in (lambda r: r / diagonal, sp.diags(1 / diagonal).tocsr(), np.diag(1 / diagonal),
              spry.Preconditioner(laplace, "jacobi")):
        assert spry.solve(laplace, right, method="cg", precon=M).iterations == spry.solve(
            laplace, right, method="cg", precon="jacobi").iterations


def test_operator_with_transpose(laplace, right):
    A = sla.aslinearoperator(laplace)
    assert spry.solve(A, right, method="bicg", precon="none").converged
    one_way = sla.LinearOperator(laplace.shape, matvec=lambda v: laplace @ v, dtype=float)
    with pytest.raises(spry.Error, match="transpose|A\\^H"):
        spry.solve(one_way, right, method="bicg", precon="none")


def test_complex_right_hand_side_of_a_real_matrix(laplace, right):
    b = right + 1j * right[::-1]
    result = spry.solve(laplace, b)
    assert result.x.dtype == complex and small_enough(laplace, result.x, b, 1e-8)
    with pytest.raises(ValueError, match="dtype=complex"):
        spry.Solver(laplace).solve(b)


@pytest.mark.parametrize("solver", [sla.cg, sla.gmres, sla.bicgstab])
def test_preconditioner_for_scipy(laplace, right, solver):
    M = spry.Preconditioner(laplace, "amg")
    try:
        x, info = solver(laplace, right, M=M, rtol=1e-8)
    except TypeError:  # SciPy before 1.12
        x, info = solver(laplace, right, M=M, tol=1e-8)
    assert info == 0 and small_enough(laplace, x, right, 1e-7)
    block = M @ np.eye(400)[:, :3]
    assert np.allclose(block[:, 1], M @ np.eye(400)[1])
    assert np.allclose(M.H @ right, M.rmatvec(right))


def test_matrix_products(laplace):
    A = spry.Matrix(laplace)
    X = np.random.default_rng(5).standard_normal((400, 3))
    assert np.allclose(A @ X[:, 0], laplace @ X[:, 0])
    assert np.allclose(A @ X, laplace @ X)
    assert np.allclose(A @ (1j * X[:, 0]), laplace @ (1j * X[:, 0]))
    assert np.allclose(A.rmatvec(X[:, 1]), laplace.T @ X[:, 1])
    assert (A.to_scipy() != laplace).nnz == 0
    assert (pickle.loads(pickle.dumps(A)).to_scipy() != laplace).nnz == 0


def test_no_copy_of_csr_with_32_bits(laplace):
    A = spry.Matrix(laplace)
    assert laplace.indices.dtype == np.int32
    held = A.arrays()
    assert held.values.ctypes.data == laplace.data.ctypes.data
    assert held.cols.ctypes.data == laplace.indices.ctypes.data


def test_triangle_stored(laplace, right):
    A = spry.Matrix(sp.tril(laplace).tocsr(), symmetry="symmetric")
    assert A.symmetry == "symmetric" and (A.to_scipy() != laplace).nnz == 0
    assert small_enough(laplace, spry.solve(A, right).x, right, 1e-8)


def test_facts(laplace):
    A = spry.Matrix(laplace)
    assert A.fact("symmetric") is True and A.fact("definite", find=False) is None
    A.declare("definite")
    assert A.fact("definite") is True
    assert A.stats()["row_max"] == 5


def test_a_method_of_ones_own(laplace, right):
    text = """
    method richardson2 "a fixed step"
    option step = 0.2 0.01..1 "length"
    start:
        r = b - A x
        residual |r|
    loop:
        x = x + step r
        r = b - A x
        residual |r|
    """
    method = spry.Method(text)
    assert method.name == "richardson2" and "step" in method.explanation
    result = spry.solve(laplace, right, method=method, precon="none", tol=1e-2, max_iter=20000)
    assert result.converged and result.method == "richardson2"
    with pytest.raises(spry.Error, match="line"):
        spry.Method("method broken\nstart:\n    x = = 2")


def test_null_space():
    n = 50
    A = sp.diags([np.r_[1, 2 * np.ones(n - 2), 1], -np.ones(n - 1), -np.ones(n - 1)], [0, 1, -1]).tocsr()
    b = np.random.default_rng(2).standard_normal(n)
    x = spry.solve(A, b - b.mean(), method="cg", precon="none", null_space=np.ones(n)).check().x
    assert abs(x.mean()) < 1e-8 and small_enough(A, x, b - b.mean(), 1e-8)


def test_result_prints_and_plots(laplace, right):
    result = spry.solve(laplace, right, method="cg", precon="jacobi")
    assert str(result).startswith(f"converged after {result.iterations} iterations")
    assert "<table>" in result._repr_html_() and "cg" in repr(result)
    plt = pytest.importorskip("matplotlib.pyplot")
    ax = result.plot()
    line = ax.lines[0].get_ydata()
    assert len(line) == result.iterations + 1
    plt.close("all")


def test_callback_and_watch(laplace, right):
    seen, heard = [], []
    result = spry.solve(laplace, right, method="cg", precon="none",
                        callback=lambda k, residual, x: seen.append((k, residual, x)),
                        watch=lambda k, residual: heard.append(k))
    assert len(seen) == result.iterations and heard == list(range(1, result.iterations + 1))
    k, residual, x = seen[-1]
    assert np.isclose(np.linalg.norm(right - laplace @ x) / np.linalg.norm(right), residual, rtol=1e-3)
    stopped = spry.solve(laplace, right, method="cg", precon="none",
                         callback=lambda k, residual, x: k < 5)
    assert stopped.reason == "interrupted" and stopped.iterations == 5
    taken = spry.solve(laplace, right, method="gmres", precon="none",
                       callback=lambda k, residual, x: "accept" if k == 7 else None)
    assert taken.reason == "accepted" and taken.iterations == 7 and not taken.converged


def test_absolute_tolerance(laplace, right):
    result = spry.solve(laplace, right, method="cg", precon="none", atol=1e-3)
    assert result.converged and np.isclose(result.tolerance, 1e-3 / np.linalg.norm(right))
    assert np.linalg.norm(right - laplace @ result.x) <= 1e-3 * (1 + 1e-9)


def test_not_converged_says_so(laplace, right):
    result = spry.solve(laplace, right, method="cg", precon="none", max_iter=3)
    assert not result.converged and result.reason == "iterations"
    with pytest.raises(spry.NotConverged, match="after 3 iterations") as caught:
        result.check()
    assert caught.value.result is result


def test_options_by_name(laplace):
    solver = spry.Solver(laplace, method="gmres:restart=7", precon="none", maxiter=12, tol=1e-3)
    assert solver.get("max-iter") == "12" and solver.get("method:restart") == "7"
    solver.set(tol=1e-4)
    assert float(solver.get("tol")) == 1e-4
    assert "gmres" in solver.explain()


def test_files(tmp_path, laplace):
    for name in ("A.mtx", "A.mtx.gz", "A.npz", "A.spry"):
        spry.write(tmp_path / name, laplace)
        assert (spry.read(tmp_path / name).to_scipy() != laplace).nnz == 0
    block = np.arange(6.0).reshape(3, 2)
    spry.write(tmp_path / "B.npy", block)
    assert np.array_equal(spry.read(tmp_path / "B.npy", vector=True), block)
    assert np.array_equal(np.load(tmp_path / "B.npy"), block)


def test_about(laplace):
    assert "amg" in spry.choices("precons")
    assert spry.info(laplace)["rows"] == 400 and "threads" in str(spry.info())
    assert "Hestenes" in spry.explain("cg") and "smoother" in spry.explain("amg")
    assert "methods" in spry.explain()
    report = spry.tune(laplace, products=1000, always=True, remember=False)
    assert report.format in str(report) and report.rows[0]["format"] == "csr"
    with pytest.raises(ValueError, match="nothing called"):
        spry.explain("nonsense")


@pytest.mark.parametrize("char", ["d", "D"])
@pytest.mark.parametrize("damp", [0.0, 0.5])
def test_lsqr_sums_up_variances(char, damp):
    A = sp.random(30, 12, 0.4, random_state=3, format="csr").astype(char) + sp.eye(30, 12, format="csr")
    if char == "D":
        A = A + 1j * sp.random(30, 12, 0.4, random_state=5, format="csr")
    b = np.random.default_rng(0).standard_normal(30)
    # the same recurrence in as many steps, while rounding has not yet grown: to half the digits
    ours = spry.lsqr(A, b, damp=damp, iter_lim=8, atol=0, btol=0, calc_var=True)
    theirs = sla.lsqr(A, b, damp=damp, iter_lim=8, atol=0, btol=0, calc_var=True)
    assert ours[2] == theirs[2] == 8
    assert np.allclose(ours[9], theirs[9], rtol=1e-8, atol=1e-8 * abs(theirs[9]).max())
    assert not spry.lsqr(A, b)[9].any()


@pytest.mark.parametrize("discard", [False, True])
def test_gcrotmk_hands_its_space_on(discard):
    A = spry.generate("convection-diffusion", size=20).to_scipy()
    n = A.shape[0]
    counts = {True: [], False: []}
    for hand_on, steps in counts.items():
        CU = [] if hand_on else None
        for k in range(4):
            b = 1 + 0.1 * k * np.sin(0.01 * (k + 1) * np.arange(n))
            products = []
            op = sla.LinearOperator(A.shape, matvec=lambda v: products.append(1) or A @ v, dtype=A.dtype)
            x, info = spry.gcrotmk(op, b, rtol=1e-8, m=10, k=10, CU=CU, discard_C=discard)
            assert info == 0 and small_enough(A, x, b, 1e-8)
            steps.append(len(products))
            if hand_on:
                assert 0 < len(CU) <= 11 and all((c is None) == discard for c, _ in CU[:-1])
    assert sum(counts[True][1:]) < sum(counts[False][1:])
    # b again: x is in the span
    assert spry.gcrotmk(op, b, rtol=1e-8, m=10, k=10, CU=CU, discard_C=discard)[1] == 0


def test_a_space_of_the_callers_own(laplace, right):
    exact = sla.spsolve(laplace.tocsc(), right)
    CU = [(None, exact), (None, exact), (None, np.ones(400))]  # twice the same does no harm
    x, info = spry.gcrotmk(laplace, right, rtol=1e-10, CU=CU)
    assert info == 0 and small_enough(laplace, x, right, 1e-10)
    with pytest.raises(Exception):
        spry.gcrotmk(laplace, right, CU=[(None, np.ones(3))])


def test_results_are_read_when_they_are_asked_for(laplace, right):
    solver = spry.Solver(laplace, method="cg", precon="none")
    first, second = solver.solve(right), solver.solve(2 * right)
    many = solver.solve(np.column_stack([right, 2 * right]))
    solver.close()
    copy = pickle.loads(pickle.dumps(first))  # nothing of it was asked for
    for result in (first, second, copy, *many):
        assert result.converged is True and result.reason == "converged" and result.method == "cg"
        assert result.history.size == result.iterations + 1 and result.shape == (400, 400)
        assert result.history[-1] == result.residual and result.warnings == [] == result.tried
    assert np.array_equal(copy.history, first.history) and np.array_equal(copy.x, first.x)
    with pytest.raises(AttributeError):
        first.nothing


def test_small_systems_by_factors_again_and_again(laplace, right):
    solver = spry.Solver(laplace)
    for k in range(3):
        b = right * (k + 1)
        result = solver.solve(b)
        assert result.method == "direct" and small_enough(laplace, result.x, b, 1e-8)
    seen = []
    solver.solve(right, callback=lambda count, residual, x: seen.append(count))
    assert seen  # also where Ctrl-C can wait
    assert solver.solve(right[:, None]).x.shape == (400, 1)


def test_energy_error(laplace, right):
    result = spry.solve(laplace, right, method="cg", precon="jacobi", tol=1e-10)
    x = spry.solve(laplace, right, method="direct").x
    error = result.x - x
    truth = np.sqrt((error @ (laplace @ error)) / (x @ (laplace @ x)))
    assert truth / 5 < result.energy_error < 1e-8
    assert spry.solve(laplace, right, method="direct").energy_error == 0


def test_nullity():
    """A singular system with solutions says that x is one of many."""
    A = sp.csr_matrix([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    result = spry.solve(A, np.ones(3))
    assert result.converged and result.nullity == 1 and "rank 2 of 3" in str(result)
    regular = spry.solve(A + sp.eye(3), np.ones(3))
    assert regular.converged and regular.nullity == 0 and "rank" not in str(regular)
