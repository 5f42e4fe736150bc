"""Methods of your own, and functions that see a solve's iterations."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _arrays
from ._context import current
from ._library import ffi, lib
from ._operator import note_error


class Method:
    """A method of your own in the library's notation (docs/notation.md), for `method=`.

    Parameters
    ----------
    text : str
        Faults are a ValueError with line and column.

    Attributes
    ----------
    name : str
    explanation : str
        What an iteration does and costs.

    Examples
    --------
    >>> import spry, numpy as np
    >>> descent = spry.Method('''
    ... method descent "steepest descent"
    ... start:
    ...     r = b - A x
    ...     residual |r|
    ... loop:
    ...     q = A r
    ...     alpha = (r, r) / (r, q)
    ...     x = x + alpha r
    ...     r = r - alpha q
    ...     residual |r|
    ... ''')
    >>> A = spry.generate("poisson2d", size=5)
    >>> spry.solve(A, np.ones(25), method=descent, precon="none").converged
    True
    """

    def __init__(self, text: str) -> None:
        self.text = text
        solver = ffi.new("spry_solver **")
        context = current()
        with context.lock:
            context.check(lib.spry_solver_new(context.pointer, solver))
            try:
                explained = ffi.new("char **")
                context.check(lib.spry_solver_set_method_text(solver[0], text.encode()))
                context.check(lib.spry_solver_explain(solver[0], explained))
                self.explanation = context.given(explained[0])
            finally:
                lib.spry_solver_free(solver[0])

    @property
    def name(self) -> str:
        """The word after `method`."""
        words = self.text.split("method", 1)[-1].split()
        return words[0] if words else ""

    def __repr__(self) -> str:
        return f"<spry.Method {self.name}>"


class Listener:
    """Calls the callback while a solve runs, and keeps its first exception."""

    def __init__(self, callback: Callable[..., Any] | None, solver: Any = None) -> None:
        self.callback, self.solver = callback, solver
        self.error: BaseException | None = None
        self.handle = ffi.new_handle(self)

    def hear(self, iteration: int, residual: float, x: Any) -> bool:
        """Whether to go on."""
        if x is None:
            answer = self.callback(iteration, residual)  # type: ignore[misc]
        else:
            seen = np.empty(lib.spry_vector_size(x), _arrays.DTYPES[lib.spry_vector_type(x)])
            if lib.spry_vector_device(x) == ffi.NULL:
                seen[:] = _arrays.view(lib.spry_vector_data_const(x), seen.size, seen.dtype)
            else:
                context = current()
                context.check(lib.spry_vector_copy(x, _arrays.vector(context, seen)))
            answer = self.callback(iteration, residual, seen)  # type: ignore[misc]
        if isinstance(answer, str) and answer == "accept":
            lib.spry_solver_accept(self.solver)
        return not (isinstance(answer, (bool, np.bool_)) and not answer)


@ffi.callback("spry_monitor_fn", error=False, onerror=note_error)
def on_iterate(data: Any, iteration: int, residual: float, x: Any) -> bool:
    """For a Listener with x."""
    return ffi.from_handle(data).hear(iteration, residual, x)


@ffi.callback("spry_watch_fn", error=False, onerror=note_error)
def on_residual(data: Any, iteration: int, residual: float) -> bool:
    """For one without."""
    return ffi.from_handle(data).hear(iteration, residual, None)
