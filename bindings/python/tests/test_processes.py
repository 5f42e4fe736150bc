"""Threads, processes, Ctrl-C."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import spry

SANITIZED = bool(os.environ.get("SPRY_TEST_SANITIZED"))


def _solve(size):
    A = spry.generate("poisson2d", size=size)
    return bool(spry.solve(A, np.ones(size * size), method="cg", precon="jacobi").converged)


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_processes(start):
    if SANITIZED and start == "spawn":
        pytest.skip("a spawned interpreter starts under the sanitizer, which takes long")
    assert _solve(60)  # threads are there before the fork
    with multiprocessing.get_context(start).Pool(2) as pool:
        assert pool.map(_solve, [20, 30, 60, 61]) == [True] * 4


def test_threads_with_objects_of_their_own():
    done = []

    def work(k):
        for _ in range(5):
            done.append(_solve(20 + k))

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert done == [True] * 20


def test_threads_that_share_a_solver_take_turns():
    A = spry.generate("poisson2d", size=30)
    solver = spry.Solver(A, method="cg", precon="jacobi")
    expected = solver.solve(np.ones(900)).x
    wrong = []

    def work():
        for _ in range(10):
            if not np.array_equal(solver.solve(np.ones(900)).x, expected):
                wrong.append(1)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_other_threads_run_during_a_solve():
    A = spry.generate("poisson3d", size=30)
    counted = [0]
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    worker = threading.Thread(target=count)
    worker.start()
    before = counted[0]
    spry.solve(A, np.ones(27000), method="cg", precon="none", tol=0.0, max_iter=300, stall=0)
    seen = counted[0] - before
    stop.set()
    worker.join()
    assert seen > 10


_LONG = """
import spry, numpy as np, sys
A = spry.generate("poisson3d", size=100)
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    B = spry.generate("poisson2d", size=20)
    print(spry.solve(B, np.ones(400), method="cg", precon="jacobi").converged, flush=True)
"""


@pytest.mark.parametrize("call", [
    'spry.solve(A, np.ones(10**6), method="cg", precon="none", tol=0.0, max_iter=10**9, stall=0)',
    'spry.cg(A.to_scipy(), np.ones(10**6), rtol=0.0, maxiter=10**8)',
    'spry.solve(A, np.ones(10**6), method="cg", precon="none", tol=0.0, max_iter=10**9, stall=0, '
    'callback=lambda k, r, x: None)',
])
def test_ctrl_c(call):
    child = subprocess.Popen([sys.executable, "-c", _LONG.format(call=call)], stdout=subprocess.PIPE,
                             universal_newlines=True)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(1.0)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=120)
    finally:
        child.kill()
    assert out == "interrupted\nTrue\n" and child.returncode == 0


def test_objects_freed_by_other_threads(laplace):
    solvers = [spry.Solver(laplace, method="cg", precon="jacobi") for _ in range(20)]

    def drop():
        while solvers:
            solvers.pop()

    worker = threading.Thread(target=drop)
    worker.start()
    for _ in range(20):
        assert spry.solve(laplace, np.ones(400)).converged
    worker.join()


def test_fork_in_a_callback(laplace):
    ends = []

    def fork(iteration, _residual, _x):
        if iteration == 2:
            ends.append(os.fork())

    result = spry.solve(laplace, np.ones(400), method="cg", precon="none", callback=fork)
    if ends == [0]:  # the child: it goes on with the solve, and solves again
        os._exit(0 if result.converged and spry.solve(laplace, np.ones(400)).converged else 1)
    assert result.converged and os.waitpid(ends[0], 0)[1] == 0


def test_second_ctrl_c_at_the_end_of_a_call():
    """It strikes in `end` before the wake-up descriptor is put back: ours must not follow ours."""
    from spry import _interrupt

    context = spry._context.current().pointer
    assert _interrupt.begin(context)
    _interrupt._running.clear()
    assert _interrupt.begin(context)
    assert _interrupt._previous != _interrupt._pipe[1]
    _interrupt.end()
    assert signal.set_wakeup_fd(-1) == -1


def test_ctrl_c_between_calls_does_not_end_the_next():
    """As when it struck in `begin` or `end`: the listener asks a context that no call is inside of."""
    from spry import _interrupt

    context = spry._context.current().pointer
    spry.lib.spry_context_interrupt(context)
    _interrupt._asked.append(context)
    assert _solve(40)


@pytest.mark.skipif(SANITIZED, reason="what it strikes in a finalizer is lost, as Python says")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_exceptions_of_signals_at_any_moment(laplace):
    """Wherever the handler's exception strikes, no lock stays closed and nothing that was dropped is kept."""
    solver = spry.Solver(laplace, method="cg", precon="jacobi")
    b, struck = np.ones(400), 0
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for k in range(600):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + k * 1e-6)
                for _ in range(20):
                    solver.solve(b)
                    spry.cg(laplace, b, maxiter=2)
            except KeyboardInterrupt:
                struck += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert struck > 0
    assert not solver._context.lock._is_owned()
    answers = []
    worker = threading.Thread(target=lambda: answers.append(solver.solve(b).converged))
    worker.start()
    worker.join()
    assert answers == [True] and not solver._context._dropped
