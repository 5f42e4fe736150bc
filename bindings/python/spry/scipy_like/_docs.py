"""The parts that the docstrings of SciPy's iterative solvers share."""

from __future__ import annotations

import inspect
from typing import Any, Callable, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_PARAMETERS = {
    "A": ("sparse array or matrix, ndarray, tensor, Matrix, LinearOperator",
          "The matrix, or what has `shape`, `dtype` and `matvec` (and `rmatvec`, for bicg and qmr)."),
    "b": ("array_like", "Right-hand side, of shape (n,) or (n, 1); on the host, or on a CUDA device."),
    "x0": ("array_like or 'Mb', optional", "First guess; by default 0."),
    "rtol": ("float, optional", "Relative tolerance: the solve ends when |b - A x| <= max(rtol |b|, atol)."),
    "atol": ("float, optional", "Absolute tolerance."),
    "maxiter": ("int, optional", "Iterations at most."),
    "M": ("matrix, LinearOperator, callable, Factors, optional",
          "Preconditioner: an approximate inverse of A, `spry.Preconditioner(A, 'ic')` or what SciPy takes; factors with\n"
          "`solve` and solvers of pyamg, too."),
    "M1": ("matrix, LinearOperator or callable, optional", "Left preconditioner."),
    "M2": ("matrix, LinearOperator or callable, optional", "Right preconditioner."),
    "callback": ("callable, optional", "``callback(xk)`` sees x after each iteration."),
    "show": ("bool, optional", "Prints what became of the solve."),
    "damp": ("float, optional", "Damping: |A x - b|^2 + damp^2 |x - x0|^2 is minimised."),
    "conlim": ("float, optional", "The solve ends when the estimate of cond(A) exceeds it."),
    "iter_lim": ("int, optional", "Iterations at most."),
}
_RETURNS = """x : ndarray
    The solution, or the last iterate; of the kind of b.
info : int
    0: |b - A x|, computed from this x, is within the tolerance. Above 0: it is not, after so many
    iterations. Below 0: the method broke down."""


def documented(notes: str = "", example: str = "", returns: str = _RETURNS,
               **own: tuple[str, str]) -> Callable[[Function], Function]:
    """Completes a docstring of a line or two by sections as numpydoc has them: the parameters of the
    signature, of which `own` has those that mean something else, and the rest."""

    def complete(function: Function) -> Function:
        name = function.__name__
        described = {**_PARAMETERS, **own}
        lines = [inspect.cleandoc(function.__doc__ or ""), "", "Parameters", "----------"]
        for parameter in inspect.signature(function).parameters:
            kind, text = described[parameter]
            lines += [f"{parameter} : {kind}", *["    " + line for line in text.splitlines()]]
        lines += ["", "Returns", "-------", returns, "", "See Also", "--------", "solve : chooses the method.",
                  "", "Notes", "-----", notes or f"The signature is that of `scipy.sparse.linalg.{name}` (1.14 and later)."]
        lines += ["", "Examples", "--------", inspect.cleandoc(example or _EXAMPLE.format(name=name)), ""]
        function.__doc__ = "\n".join(lines)
        return function

    return complete


_EXAMPLE = """
    >>> import spry, numpy as np
    >>> A = spry.generate("poisson2d", size=10).to_scipy()
    >>> x, info = spry.{name}(A, np.ones(100), rtol=1e-8)
    >>> info, bool(np.linalg.norm(1 - A @ x) <= 1e-7)
    (0, True)
"""
