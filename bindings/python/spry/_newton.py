"""Nonlinear problems by Newton's method over a solver. docs/grid.md."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _arrays, _result
from ._context import current
from ._errors import Unsupported, UsageError
from ._grid import Calls, Vectors, char_of, note, words
from ._library import ffi, grid_lib, lib
from ._matrix import Matrix
from ._operator import Operator, from_python, is_operator
from ._result import Result
from ._solver import perform


class _Problem(Calls):
    """F and its Jacobian, for a u of a shape."""

    def __init__(self, F: Callable[[Any], Any], jacobian: Any, context: Any, u: np.ndarray) -> None:
        super().__init__(F)
        self.jacobian, self.context, self.shape, self.dtype = jacobian, context, u.shape, u.dtype
        self.part: Any = None

    def array(self, place: Any) -> np.ndarray:
        """Numbers of the library's, in place."""
        return _arrays.view(place, int(np.prod(self.shape)), self.dtype).reshape(self.shape)

    def given(self, vector: Any) -> np.ndarray:
        """A vector that is not to be changed."""
        found = self.array(lib.spry_vector_data_const(vector))
        found.flags.writeable = False
        return found

    def operator(self, u: Any) -> Any:
        """The Jacobian at u, held until the next one."""
        part = self.jacobian(self.given(u))
        if not isinstance(part, (Operator, Matrix)):
            part = from_python(self.context, part, self.dtype.char) if is_operator(part) else Matrix(part)
        self.part = part
        return part.operator() if isinstance(part, Matrix) else part.pointer


@ffi.callback("spry_residual_fn", error=lib.SPRY_STATUS_BAD_INPUT, onerror=note)
def _residual(data: Any, u: Any, f: Any) -> int:
    problem = ffi.from_handle(data)
    problem.array(lib.spry_vector_data(f))[...] = problem.call(problem.given(u))
    return 0


@ffi.callback("spry_jacobian_fn", error=lib.SPRY_STATUS_BAD_INPUT, onerror=note)
def _jacobian(data: Any, u: Any, made: Any) -> int:
    made[0] = ffi.from_handle(data).operator(u)
    return 0


def newton(F: Callable[[Any], Any], u: Any, jacobian: Callable[[Any], Any] | None = None, **options: Any) -> Result:
    """Solves F(u) = 0 by Newton's method with inexact linear solves.

    Parameters
    ----------
    F : callable
        ``F(u)`` gives an array of the shape of u.
    u : array_like
        First guess.
    jacobian : callable, optional
        ``jacobian(u)`` gives F'(u): a Stencil, LinearOperator or sparse matrix. Without it products with
        F'(u) are differences of F.
    **options
        ``tol``, ``atol``, ``max_iter``, ``forcing``, ``solver={"method": "cg", "precon": "gmg"}``:
        docs/grid.md.

    Returns
    -------
    result : Result
        With x of the shape of u. Residuals are \\|F(u)\\| relative to that of the first guess.

    Examples
    --------
    >>> import spry, numpy as np
    >>> grid = spry.Grid((64, 64))
    >>> A = grid.stencil("-laplace")
    >>> bratu = spry.newton(lambda u: A.apply(u) - 6 * np.exp(u), np.zeros(grid.shape),
    ...                     lambda u: A.add_diagonal(-6 * np.exp(u)), solver={"method": "cg"})
    >>> bratu.converged, bratu.precon, round(float(bratu.x.max()), 2)
    (True, 'gmg', 0.8)
    """
    context = current()
    if _arrays.on_device(u):
        raise Unsupported("functions of Python take u on the host")
    u = np.asarray(u)
    if u.size == 0:
        raise UsageError("u has no elements")
    char = char_of(u) if u.dtype.kind in "fc" else "d"
    x = np.array(u, np.dtype(char), order="C")
    record, problem = _result.record(), _Problem(F, jacobian, context, x)
    with context.lock:
        place = Vectors(context).given(x, char, x.size, "u")
        perform(context, [problem], grid_lib.spry_newton, _residual, _jacobian if jacobian else ffi.NULL,
                problem.handle, place, words(options).encode(), record)
    return Result(context, record, x)
