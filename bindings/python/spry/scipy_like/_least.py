"""lsqr and lsmr with SciPy's signatures."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .. import _arrays
from .._library import lib
from .._matrix import Matrix
from .._operator import is_operator
from ._system import System, norm

_STOPS = ("the exact solution is x = 0, or x0 where it was given",
          "A x - b is small enough, given atol and btol",
          "the least-squares solution is good enough, given atol",
          "the estimate of cond(A) has exceeded conlim",
          "A x - b is small enough for this machine",
          "the least-squares solution is good enough for this machine",
          "cond(A) seems to be too large for this machine",
          "the iteration limit has been reached")


class _Least:
    """One solve, and the norms that SciPy tells of it; r and A^H r are those of the x returned."""

    def __init__(self, method: str, A: Any, b: Any, damp: float, atol: float, btol: float,
                 limit: int | None, x0: Any, show: bool) -> None:
        A, b = (A if hasattr(A, "shape") else np.asarray(A)), np.atleast_1d(np.asarray(b))
        b = b.squeeze() if b.ndim > 1 else b
        b = np.atleast_1d(b)
        rows, self.cols = A.shape
        limit = limit if limit is not None else (2 * self.cols if method == "lsqr" else min(A.shape))
        if damp:
            system = System(*_damped(A, b, damp, x0), square=False)
        else:
            system = System(A, None, x0, b, square=False)
        self.A, self.b, self.damp, self.x0 = A, system.b[:rows], damp, system.x.copy()
        self.itn, self.istop = 0, 0
        if norm(self._back(system, system.residual())) > 0 and limit > 0:
            with system:
                system.prepare(method)
                tol = min(max(min(atol, btol), 0.0), 1.0)
                outcome = system.run(tol, limit)
            self.itn = outcome.iterations
            at_limit = outcome.reason == lib.SPRY_REASON_ITERATIONS
            small = outcome.true_residual <= max(btol, atol)
            self.istop = 7 if at_limit else 1 if small else 2
        self.x = system.x
        r = system.residual()
        self.r2norm, self.arnorm = norm(r), norm(self._back(system, r))
        self.r1norm = norm(r[:rows])
        self.xnorm = norm(self.x)
        self.anorm, self.acond = _sizes(A, damp)
        if show:
            print(f"{method}: {_STOPS[self.istop]}\n"
                  f"  itn {self.itn}, |r| {self.r2norm:.3e}, |A^H r| {self.arnorm:.3e}, |x| {self.xnorm:.3e}")

    @staticmethod
    def _back(system: System, r: np.ndarray) -> np.ndarray:
        A = system.A
        if is_operator(A):
            return np.asarray(A.rmatvec(r)).reshape(-1)
        if isinstance(A, Matrix):
            return A.rmatvec(r)
        return np.asarray(A.conj().T @ r).reshape(-1)


def _damped(A: Any, b: np.ndarray, damp: float, x0: Any) -> tuple[Any, None, Any, np.ndarray]:
    """[A; damp I] x = [b; damp x0]."""
    rows, cols = A.shape
    dtype = np.result_type(A.dtype, b.dtype, "f")

    def matvec(v: np.ndarray) -> np.ndarray:
        return np.concatenate([np.asarray(A @ v).reshape(-1), damp * v.reshape(-1)])

    def rmatvec(u: np.ndarray) -> np.ndarray:
        top = u[:rows]
        back = A.rmatvec(top) if hasattr(A, "rmatvec") else A.conj().T @ top
        return np.asarray(back).reshape(-1) + damp * u[rows:]

    below = np.zeros(cols, dtype) if x0 is None else damp * np.asarray(x0).reshape(-1)
    tall = LinearOperator((rows + cols, cols), matvec=matvec, rmatvec=rmatvec, dtype=dtype)
    return tall, None, x0, np.concatenate([b, below])


def _sizes(A: Any, damp: float) -> tuple[float, float]:
    """The Frobenius norm of [A; damp I] and the condition number, where they are cheap."""
    if is_operator(A):
        return float("nan"), float("nan")
    if isinstance(A, Matrix):
        size = A.stats()["norm_frobenius"]
    else:
        values = A.data if hasattr(A, "nnz") and hasattr(A, "data") else np.asarray(A)
        size = norm(_arrays.ready(np.asarray(values).reshape(-1), _arrays.kind(values.dtype.char)))
    return float(np.hypot(size, damp * np.sqrt(A.shape[1]))), float("nan")


def lsqr(A: Any, b: Any, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6,
         conlim: float = 1e8, iter_lim: int | None = None, show: bool = False,
         calc_var: bool = False, x0: Any = None) -> tuple[Any, ...]:
    """The least-squares solution of A x = b, as `scipy.sparse.linalg.lsqr` gives it: x, istop, itn,
    r1norm, r2norm, anorm, acond, arnorm, xnorm, var.

    >>> import spry, numpy as np
    >>> x, istop, itn, r1norm = spry.lsqr(np.array([[1.0], [1.0]]), [1.0, 3.0])[:4]
    >>> x.round(6), istop, round(float(r1norm), 6)
    (array([2.]), 2, 1.414214)
    """
    if calc_var:
        raise NotImplementedError("spry.lsqr does not estimate variances (calc_var)")
    made = _Least("lsqr", A, b, damp, atol, btol, iter_lim, x0, show)
    return (made.x, made.istop, made.itn, made.r1norm, made.r2norm, made.anorm, made.acond,
            made.arnorm, made.xnorm, np.zeros(made.cols))


def lsmr(A: Any, b: Any, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6,
         conlim: float = 1e8, maxiter: int | None = None, show: bool = False,
         x0: Any = None) -> tuple[Any, ...]:
    """The least-squares solution of A x = b, as `scipy.sparse.linalg.lsmr` gives it: x, istop, itn,
    normr, normar, norma, conda, normx."""
    made = _Least("lsmr", A, b, damp, atol, btol, maxiter, x0, show)
    return (made.x, made.istop, made.itn, made.r2norm, made.arnorm, made.anorm, made.acond, made.xnorm)
