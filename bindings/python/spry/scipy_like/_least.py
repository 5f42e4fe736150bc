"""lsqr and lsmr with SciPy's signatures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _arrays
from .._library import ffi, lib
from .._matrix import Matrix
from .._operator import is_operator
from ._docs import documented
from ._system import System, norm, whole

_STOPS = ("the exact solution is x = 0, or x0 where it was given",
          "A x - b is small enough, given atol and btol",
          "the least-squares solution is good enough, given atol",
          "the estimate of cond(A) has exceeded conlim",
          "A x - b is small enough for this machine",
          "the least-squares solution is good enough for this machine",
          "cond(A) seems to be too large for this machine",
          "the iteration limit has been reached")
# What the rules of the methods' texts say when they accept an x.
_RULES = (("least-squares", 2), ("x is a solution", 1), ("condition", 3), ("first guess", 0))


class _Least:
    """One solve, and the norms that SciPy reports of it: r and A^H r of the x that is returned, the
    norm and the condition number of A as the method has estimated them."""

    def __init__(self, method: str, A: Any, b: Any, damp: float, atol: float, btol: float,
                 conlim: float, limit: int | None, x0: Any, show: bool,
                 variances: bool = False) -> None:
        _arrays.refuse_swapped(A, b)
        A = A if hasattr(A, "shape") else np.asarray(A)
        right = np.atleast_1d(np.atleast_1d(_arrays.array(b, "b")).squeeze())
        x0 = None if x0 is None else np.atleast_1d(x0)
        if limit is None:
            limit = 2 * A.shape[1] if method == "lsqr" else min(A.shape)
        limit = whole(limit)
        damp, atol, btol, conlim = float(damp), float(atol), float(btol), float(conlim)
        if not math.isfinite(damp):
            raise ValueError(f"damp={damp} is not a finite number")
        self.damp, self.itn, self.istop = damp, 0, 0
        self.anorm = self.acond = 0.0
        self.variances = variances
        system = System(A, None, x0, right, square=False)
        with system.context.lock, system:
            self.start = system.x.copy()
            self.var = np.zeros_like(system.x)
            gradient = self._gradient(system, system.residual())
            if norm(gradient) != 0 and system.size != 0 and limit > 0:  # the run reports a NaN
                rules = f"damp={self.damp!r},atol={atol!r},btol={btol!r},conlim={conlim!r}"
                rules += ",variances=1" if variances else ""
                self._run(system, f"{method}:{rules}", limit)
            elif system.size == 0:
                system.x[:] = 0
            self.x = system.x
            r = system.residual()
            self.r1norm = norm(r)
            self.r2norm = float(np.hypot(self.r1norm, self.damp * norm(self.x - self.start)))
            self.arnorm = norm(self._gradient(system, r))
        self.xnorm = norm(self.x)
        if self.istop in (2, 4, 5) and self.r2norm <= btol * norm(right) + atol * self.anorm * self.xnorm:
            self.istop = 1  # both hold: SciPy names this one
        if show:
            print(f"{method}: {_STOPS[self.istop]}\n  itn {self.itn}, |r| {self.r2norm:.3e}, "
                  f"|A^H r| {self.arnorm:.3e}, |x| {self.xnorm:.3e}")

    def _run(self, system: System, text: str, limit: int) -> None:
        system.prepare(text)
        outcome = system.run(0.0, limit)
        self.itn = outcome.iterations
        if outcome.reason == lib.SPRY_REASON_ITERATIONS:
            self.istop = 7
        elif outcome.reason == lib.SPRY_REASON_ACCEPTED:
            self.istop = next((stop for word, stop in _RULES if word in outcome.detail), 2)
        else:  # as far as this arithmetic goes
            self.istop = 4 if outcome.true_residual < 1e-8 else 5
        self.anorm = self._scalar(system, b"method:fnorm")
        self.acond = self._scalar(system, b"method:acond")
        if self.variances:
            place = ffi.new("spry_vector *[]", [system._vector(self.var)])
            system.context.check(lib.spry_solver_get_space(system.solver, b"var", 1, place))

    @staticmethod
    def _scalar(system: System, name: bytes) -> float:
        value = ffi.new("double *")
        status = lib.spry_solver_get_real(system.solver, name, value)
        return float("nan") if status else float(value[0])

    def _gradient(self, system: System, r: np.ndarray) -> np.ndarray:
        """A^H r - damp^2 (x - x0)"""
        A = system.A
        if is_operator(A) or isinstance(A, Matrix):
            back = A.rmatvec(r)
        else:
            back = A.conj().T @ r
        return np.asarray(back).reshape(-1) - self.damp**2 * (system.x - self.start)


_STOP = ("x : ndarray\nistop : int\n    Why it ended: 0: x is exact; 1: A x = b is solved; 2: it is, in the sense of least squares;\n"
         "    3: cond(A) exceeds `conlim`; 4 to 6: the same, as far as this arithmetic goes; 7: the limit of\n"
         "    iterations.\nitn : int\n    Iterations.\n")
_EXAMPLE = """
    >>> import spry, numpy as np
    >>> x, istop, itn, norm = spry.{name}(np.array([[1.0, 0], [1, 0], [0, 1]]), [1.0, 3.0, 5.0])[:4]
    >>> x.round(6), round(float(norm), 6)
    (array([2., 5.]), 1.414214)
"""
_TOLERANCES = ("float, optional", "Stopping tolerance: the relative error of A (atol) or b (btol) that is taken for granted.")


@documented(atol=_TOLERANCES, btol=_TOLERANCES, calc_var=("bool, optional", "Whether `var` is computed."),
            returns=_STOP + "r1norm, r2norm, anorm, acond, arnorm, xnorm : float\n    |b - A x|, the same with the damping, norm"
            " and condition of A, |A^H r|, |x|.\nvar : ndarray\n    Estimate of the diagonal of (A^H A + damp^2 I)^-1.",
            example=_EXAMPLE.format(name="lsqr"))
def lsqr(A: Any, b: Any, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6,
         conlim: float = 1e8, iter_lim: int | None = None, show: bool = False,
         calc_var: bool = False, x0: Any = None) -> tuple[Any, ...]:
    """The least-squares solution of A x = b by bidiagonalisation, for A of any shape."""
    made = _Least("lsqr", A, b, damp, atol, btol, conlim, iter_lim, x0, show, calc_var)
    return (_arrays.like(b, made.x), made.istop, made.itn, made.r1norm, made.r2norm, made.anorm, made.acond,
            made.arnorm, made.xnorm, _arrays.like(b, made.var))


@documented(atol=_TOLERANCES, btol=_TOLERANCES,
            returns=_STOP + "normr, normar, norma, conda, normx : float\n    |b - A x|, |A^H r|, norm and condition of A, |x|.",
            example=_EXAMPLE.format(name="lsmr"))
def lsmr(A: Any, b: Any, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6,
         conlim: float = 1e8, maxiter: int | None = None, show: bool = False,
         x0: Any = None) -> tuple[Any, ...]:
    """The least-squares solution of A x = b by minimal residuals of the normal equations, for A of any shape."""
    made = _Least("lsmr", A, b, damp, atol, btol, conlim, maxiter, x0, show)
    return (_arrays.like(b, made.x), made.istop, made.itn, made.r2norm, made.arnorm, made.anorm, made.acond, made.xnorm)
