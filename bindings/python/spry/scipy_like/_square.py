"""cg, cgs, bicg, bicgstab, qmr, tfqmr, minres with SciPy's signatures."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .. import _arrays
from .._inverse import InTwoParts
from .._library import lib
from .._matrix import Matrix
from .._operator import is_operator
from ._docs import documented
from ._system import System, as_monitor, solve, solve_on_device, tolerance, whole


@documented()
def cg(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
       maxiter: int | None = None, M: Any = None, callback: Any = None) -> tuple[np.ndarray, int]:
    """Solves A x = b by conjugate gradients, for a symmetric or hermitian positive definite A."""
    return solve("cg", "cg", A, b, x0, rtol, atol, maxiter, M, callback)


@documented()
def cgs(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
        maxiter: int | None = None, M: Any = None, callback: Any = None) -> tuple[np.ndarray, int]:
    """Solves A x = b by conjugate gradients squared."""
    return solve("cgs", "cgs", A, b, x0, rtol, atol, maxiter, M, callback)


@documented()
def bicg(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
         maxiter: int | None = None, M: Any = None, callback: Any = None) -> tuple[np.ndarray, int]:
    """Solves A x = b by biconjugate gradients, with products with A^H."""
    return solve("bicg", "bicg", A, b, x0, rtol, atol, maxiter, M, callback)


@documented()
def bicgstab(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
             maxiter: int | None = None, M: Any = None,
             callback: Any = None) -> tuple[np.ndarray, int]:
    """Solves A x = b by stabilised biconjugate gradients."""
    return solve("bicgstab", "bicgstab", A, b, x0, rtol, atol, maxiter, M, callback)


@documented()
def qmr(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
        maxiter: int | None = None, M1: Any = None, M2: Any = None,
        callback: Any = None) -> tuple[np.ndarray, int]:
    """Solves A x = b by quasi-minimal residuals, with products with A^H."""
    M, side = _two_sided(A, M1, M2)
    return solve(f"qmr:side={side}", "qmr", A, b, x0, rtol, atol, maxiter, M, callback)


def _two_sided(A: Any, M1: Any, M2: Any) -> tuple[Any, str]:
    """M1 alone is a left preconditioner, M2 alone a right one; both together make a right one."""
    if M1 is None and M2 is None and hasattr(A, "psolve"):
        def along(part: str) -> LinearOperator:
            return LinearOperator(A.shape, matvec=lambda v: A.psolve(v, part),
                                  rmatvec=lambda v: A.rpsolve(v, part))

        M1, M2 = along("left"), along("right")
    if M1 is None or M2 is None:
        return (M2, "right") if M1 is None else (M1, "left")
    if tuple(M1.shape) != tuple(A.shape) or tuple(M2.shape) != tuple(A.shape):
        raise ValueError("matrix and preconditioner have different shapes")
    return InTwoParts(M1, M2), "right"


@documented()
def tfqmr(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
          maxiter: int | None = None, M: Any = None, callback: Any = None,
          show: bool = False) -> tuple[np.ndarray, int]:
    """Solves A x = b by transpose-free quasi-minimal residuals."""
    if maxiter is None:
        maxiter = min(10000, 10 * np.shape(A)[0])
    steps = [0]

    def counted(x: np.ndarray) -> None:
        steps[0] += 1
        if callback is not None:
            callback(x)

    x, info = solve("tfqmr", "tfqmr", A, b, x0, rtol, atol, maxiter, M,
                    counted if show or callback is not None else None)
    if show and info == 0:
        print(f"TFQMR: Linear solve converged due to reach TOL iterations {steps[0]}")
    elif show and info > 0:
        print(f"TFQMR: Linear solve not converged due to reach MAXIT iterations {steps[0]}")
    return x, -1 if info < 0 else info


@documented(shift=("float, optional", "(A - shift I) x = b is solved."),
            check=("bool, optional", "Looks whether A and M are symmetric; ValueError where they are not."),
            notes="As in SciPy, `info` is 0 for everything but the limit of iterations: a singular system has a solution of\n"
                  "least squares.")
def minres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, shift: float = 0.0,
           maxiter: int | None = None, M: Any = None, callback: Any = None, show: bool = False,
           check: bool = False) -> tuple[np.ndarray, int]:
    """Solves A x = b, or (A - shift I) x = b, by minimal residuals, for a symmetric or hermitian A."""
    if _arrays.on_device(b) and not shift and not check:
        return solve_on_device("minres", A, b, x0, rtol, 0.0,
                               5 * b.shape[0] if maxiter is None else maxiter, M, callback)
    if shift:
        _arrays.refuse_swapped(A, b)  # before A is a matrix
        A = _shifted(A, shift)
    system = System(A, M, x0, b)
    if system.size == 0:
        return system.nothing(), 0
    if check:
        _check_symmetry(system)
    limit = 5 * system.shape[0] if maxiter is None else whole(maxiter)
    if limit <= 0:
        return system.answer(), limit
    with system.context.lock, system:
        system.prepare("minres")
        outcome = system.run(tolerance("minres", system.size, 0.0, rtol), limit, as_monitor(callback))
    if outcome.reason == lib.SPRY_REASON_BREAKDOWN and "preconditioner" in outcome.detail:
        raise ValueError("indefinite preconditioner")
    if show:
        print(f"minres: {outcome.iterations} iterations, |b - A x| / |b| = {outcome.true_residual:.3e}")
    # As in SciPy, everything but the limit of iterations is a solution, of least squares at worst.
    return system.answer(), limit if outcome.reason == lib.SPRY_REASON_ITERATIONS else 0


def _shifted(A: Any, shift: float) -> Any:
    if is_operator(A):
        return LinearOperator(A.shape, matvec=lambda v: A.matvec(v) - shift * v,
                              rmatvec=lambda v: A.rmatvec(v) - shift * v,
                              dtype=np.result_type(A.dtype, "f"))
    if isinstance(A, Matrix):
        A = A.to_scipy()
    if isinstance(A, np.ndarray) or not hasattr(A, "nnz"):
        return np.asarray(A) - shift * np.eye(np.asarray(A).shape[0])
    import scipy.sparse

    return (A.tocsr() - shift * scipy.sparse.identity(A.shape[0], format="csr")).tocsr()


def _check_symmetry(system: System) -> None:
    """(A y, A y) = (y, A A y), and the same for M: the test of SciPy's check=True."""
    def symmetric(apply: Any, y: np.ndarray) -> bool:
        w = apply(y)
        s, t = np.vdot(w, w), np.vdot(y, apply(w))
        eps = np.finfo(system.char).eps
        return bool(abs(s - t) <= (abs(s) + eps) * eps ** (1 / 3))

    r = system.residual()
    y = r if system.M is None else np.asarray(system.M @ r).reshape(-1)
    if not symmetric(lambda v: np.asarray(system.A @ v).reshape(-1), y):
        raise ValueError("non-symmetric matrix")
    if system.M is not None and not symmetric(lambda v: np.asarray(system.M @ v).reshape(-1), r):
        raise ValueError("non-symmetric preconditioner")
