"""Arrays that the library has borrowed: whatever happens to them, there is an answer or an error."""

import gc
import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import spry
from conftest import small_enough

FAR = 2**31 - 5  # an index far outside


def _kept(A):
    return spry.Solver(A, method="cg", precon="none", format="csr")


@pytest.mark.parametrize("change", [
    lambda data: np.negative(data, out=data),  # an even number of entries: sums of bits stay
    lambda data: np.multiply(data, 2, out=data),
    lambda data: data.__setitem__(slice(0, 2), data[[1, 0]]),
])
def test_every_change_of_values_is_seen(change):
    A = sp.csr_matrix((np.arange(1.0, 4097), (np.arange(4096), np.arange(4096))))
    solver = _kept(A)
    change(A.data)
    with pytest.raises(spry.ChangedError):
        solver.solve(np.ones(4096))


def test_indices_of_converted_values(laplace, right):
    A = laplace.astype(int)
    solver = _kept(A)
    A.indices[3] = FAR
    with pytest.raises(spry.ChangedError):
        solver.solve(right)


def test_update_does_not_hide_other_places(laplace, right):
    A = laplace.copy()
    solver = _kept(A)
    A.indices[3] = FAR
    with pytest.raises(spry.ChangedError, match="places"):
        solver.update(A.data)
    with pytest.raises(spry.ChangedError):
        solver.solve(right)


@pytest.mark.parametrize("spec", ["poly", "amg", "ilu", "jacobi"])
def test_preconditioners(spec):
    A = sp.csr_matrix(spry.generate("poisson2d", size=60).to_scipy())
    b = np.ones(3600)
    M = spry.Preconditioner(A, spec)
    expected = M @ b
    back = pickle.loads(pickle.dumps(M))
    assert np.allclose(back @ b, expected)
    A.indices[3] = FAR
    if spec in ("poly", "amg"):
        with pytest.raises(spry.ChangedError):
            M @ b
    else:
        assert np.array_equal(M @ b, expected)


def test_matrix_as_preconditioner(laplace, right):
    M = sp.csr_matrix(sp.identity(400))
    held = spry.Matrix(M)
    solver = spry.Solver(laplace, method="cg", precon=held)
    M.indices[3] = FAR
    with pytest.raises(spry.ChangedError):
        solver.solve(right)
    with pytest.raises(spry.ChangedError):
        spry.cg(laplace, right, M=held)


def test_closed_matrix(laplace, right):
    A = spry.Matrix(laplace.copy())
    M = spry.Preconditioner(A, "ilu")
    solver = _kept(A)
    A.close()
    gc.collect()
    for use in (lambda: solver.solve(right), lambda: M @ right, lambda: solver.update(laplace.data),
                lambda: spry.cg(laplace, right, M=M)):
        with pytest.raises(spry.ReleasedError):
            use()


def test_closed_solver_says_so_at_update(laplace):
    solver = _kept(laplace)
    solver.close()
    with pytest.raises(spry.ReleasedError):
        solver.update(laplace.data)


@pytest.mark.parametrize("what", ["matrix", "solver"])
def test_closed_in_a_callback(laplace, right, what):
    A = spry.Matrix(laplace.copy())
    solver = _kept(A if what == "matrix" else laplace.copy())

    def close(_iteration, _residual, _x):
        (A if what == "matrix" else solver).close()
        gc.collect()

    assert small_enough(laplace, solver.solve(right, callback=close).x, right, 1e-8)
    with pytest.raises(spry.ReleasedError):
        solver.solve(right)


def test_closed_by_another_thread(laplace, right):
    wrong = []

    def work(solver):
        try:
            solver.solve(right)
        except spry.ReleasedError:
            pass
        except Exception as error:  # noqa: BLE001
            wrong.append(error)

    for _ in range(20):
        solver = spry.Solver(laplace.copy(), method="cg", precon="none", tol=0.0, stall=0, max_iter=200)
        worker = threading.Thread(target=work, args=(solver,))
        worker.start()
        solver.close()
        worker.join()
    assert not wrong


def test_updates_and_solves_of_several_threads(laplace, right):
    solver = spry.Solver(laplace.copy(), method="cg", precon="jacobi")
    wrong = []

    def work(call):
        try:
            for k in range(20):
                call(k)
        except Exception as error:  # noqa: BLE001
            wrong.append(error)

    calls = [lambda k: solver.update(laplace.data * (1 + k % 3)), lambda k: solver.solve(right),
             lambda k: solver.set(max_iter=1000 + k)]
    workers = [threading.Thread(target=work, args=(call,)) for call in calls]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_vectors_made_from_lists_live_as_long_as_needed(laplace):
    b = [float("nan")] + [1] * 399
    assert any(found["severity"] == "error" for found in spry.doctor(laplace, b))
