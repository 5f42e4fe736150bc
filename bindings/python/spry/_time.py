"""Steps in time: u' = F(t, u), and M u' = A u + f(t); slices of time in parallel. docs/time.md."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Callable

import numpy as np

from . import _arrays, _result
from ._context import Context, current, use
from ._errors import Unsupported, UsageError
from ._grid import Calls, Vectors, char_of, note, words
from ._library import ffi, grid_lib, lib, sized
from ._matrix import Matrix
from ._operator import Operator, from_python, is_operator
from ._result import Plan, Result
from ._solver import perform


class _Seen(Calls):
    """A function of t and u, with the shape that u has for it."""

    def __init__(self, call: Callable[..., Any], shape: tuple[int, ...]) -> None:
        super().__init__(call)
        self.shape = shape

    def array(self, vector: Any, given: bool = True) -> np.ndarray:
        """A vector of the library's, in place."""
        place = lib.spry_vector_data_const(vector) if given else lib.spry_vector_data(vector)
        dtype = _arrays.DTYPES[lib.spry_vector_type(vector)]
        found = _arrays.view(place, int(lib.spry_vector_size(vector)), dtype).reshape(self.shape)
        if given:
            found.flags.writeable = False
        return found


@ffi.callback("spry_rate_fn", error=lib.SPRY_STATUS_BAD_INPUT, onerror=note)
def _rate(data: Any, t: float, u: Any, rate: Any) -> int:
    seen = ffi.from_handle(data)
    seen.array(rate, False)[...] = seen.call(t, seen.array(u))
    return 0


@ffi.callback("spry_source_fn", error=lib.SPRY_STATUS_BAD_INPUT, onerror=note)
def _source(data: Any, t: float, source: Any) -> int:
    seen = ffi.from_handle(data)
    seen.array(source, False)[...] = seen.call(t)
    return 0


@ffi.callback("spry_step_fn", error=False, onerror=note)
def _step(data: Any, step: int, t: float, u: Any) -> bool:
    seen = ffi.from_handle(data)
    answer = seen.call(step, t, seen.array(u))
    return not (isinstance(answer, (bool, np.bool_)) and not answer)


class Stepper:
    """A method with a length of step, and a problem.

    Parameters
    ----------
    A : Stencil, LinearOperator, sparse matrix or callable
        u' = A u; or a function ``A(t, u)`` that gives u', for explicit methods.
    M : Stencil, LinearOperator or sparse matrix, optional
        M u' = A u + f(t); by default the identity.
    source : callable, optional
        ``source(t)`` gives f, of the shape of u.
    F : callable, optional
        ``F(t, u)`` is added: M u' = A u + f(t) + F(t, u). With ``method="ark3"`` and "ark4" A is taken
        implicitly and F explicitly.
    **options
        ``method="rk4"``, "euler", "heun", "implicit-euler", "crank-nicolson", "bs3", "dp5", "ark3" or "ark4";
        ``dt``; ``tol`` and ``atol``, by which the last four choose the lengths of steps; ``check``;
        ``solver={"precon": "gmg", "tol": 1e-10}``: docs/time.md.

    Examples
    --------
    >>> import spry, numpy as np
    >>> grid = spry.Grid(64)
    >>> heat = spry.Stepper(grid.stencil("laplace"), method="crank-nicolson", dt=1e-3)
    >>> u, run = heat.run(grid.field(lambda x: np.sin(np.pi * x)), 0, 0.1)
    >>> bool(abs(u.max() - np.exp(-np.pi**2 * 0.1)) < 1e-3), run["steps"]
    (True, 100)
    >>> u, run = spry.Stepper(lambda t, u: -u, dt=0.1).run(np.ones(3), 0, 1)
    >>> bool(abs(u - np.exp(-1)).max() < 1e-6)
    True
    >>> front = spry.Stepper(grid.stencil("0.01*laplace"), F=lambda t, u: u - u**3, method="ark4", tol=1e-6)
    >>> u, run = front.run(grid.field(lambda x: np.sin(np.pi * x)), 0, 1)
    >>> run["steps"] < 100, bool(u.max() < 1)
    (True, True)
    """

    def __init__(self, A: Any, M: Any = None, source: Callable[[float], Any] | None = None,
                 F: Callable[[float, Any], Any] | None = None, **options: Any) -> None:
        context = self._context = A._context if isinstance(A, Operator) else current()
        self._call = A if callable(A) and not hasattr(A, "shape") else None
        if self._call is not None and any(part is not None for part in (M, source, F)):
            raise UsageError("a function of t and u has its source, and its inverse of M, within")
        self._source, self._added, made = source, F, ffi.new("spry_stepper **")
        self._parts = [self._operator(part) for part in (None if self._call else A, M)]
        with context.lock:
            context.check(grid_lib.spry_stepper_new(context.pointer, words(options).encode(), made))
            self._pointer = context.owned(made[0], grid_lib.spry_stepper_free, self._parts)

    def _operator(self, part: Any) -> Any:
        """What is given as the library's operator, held in place."""
        if part is None or isinstance(part, Operator):
            return part
        if is_operator(part):
            return from_python(self._context, part, _arrays.kind(np.dtype(part.dtype).char))
        return Matrix(part) if not isinstance(part, Matrix) else part

    @staticmethod
    def _place(part: Any) -> Any:
        if part is None:
            return ffi.NULL
        return part.operator() if isinstance(part, Matrix) else part.pointer

    def set(self, **options: Any) -> None:
        """Sets options: `stepper.set(dt=1e-4)`. Set-up that they do not affect is kept."""
        with self._context.lock:
            self._context.check(grid_lib.spry_stepper_set(self._pointer, words(options).encode()))

    def set_table(self, a: Any, b: Any, c: Any = None) -> None:
        """A Runge-Kutta method of your own, by Butcher's table, in place of `method`."""
        parts = [None if part is None else np.require(part, np.float64, ["C", "A"]) for part in (a, b, c)]
        places = [ffi.NULL if part is None else _arrays.pointer(part) for part in parts]
        with self._context.lock:
            self._context.check(grid_lib.spry_stepper_set_table(self._pointer, parts[1].size, *places))

    def _problem(self, shape: tuple[int, ...]) -> list[Any]:
        """Sets the problem for a u of that shape; the functions that it calls."""
        sources = [part for part in self._parts if hasattr(part, "error")]
        if self._call is not None:
            calls = _Seen(self._call, shape)
            self._context.check(grid_lib.spry_stepper_set_function(self._pointer, _rate, calls.handle))
            return [calls]
        calls = None if self._source is None else _Seen(self._source, shape)
        self._context.check(grid_lib.spry_stepper_set_operator(
            self._pointer, *[self._place(part) for part in self._parts], _source if calls else ffi.NULL,
            calls.handle if calls else ffi.NULL))
        if calls:
            sources.append(calls)
        if self._added is not None:
            sources.append(_Seen(self._added, shape))
            self._context.check(grid_lib.spry_stepper_add_function(self._pointer, _rate, sources[-1].handle))
        return sources

    def _char(self, u: Any) -> str:
        part = self._parts[0]
        return part.dtype.char if part is not None else char_of(u)

    def limit(self, u: Any) -> float:
        """The largest stable step for an operator; inf: there is no limit, 0: no step is stable."""
        found, context = ffi.new("double *"), self._context
        u = u if hasattr(u, "dtype") else np.asarray(u)
        with context.lock:
            sources, vectors = self._problem(tuple(u.shape)), Vectors(context, u)
            size = int(np.prod(u.shape))
            perform(context, sources, grid_lib.spry_stepper_limit, self._pointer,
                    vectors.given(u, self._char(u), size, "u"), found)
        return float(found[0])

    def run(self, u: Any, t: float, end: float, *, watch: Callable[[int, float, Any], Any] | None = None,
            inplace: bool = False) -> tuple[Any, Plan]:
        """Takes steps from t to `end`, the last one perhaps shorter.

        Parameters
        ----------
        u : array_like
            At t. On a CUDA device for an operator that lives on it.
        t, end : float
        watch : callable, optional
            ``watch(step, t, u)`` sees each step; u is the array in use, not to be kept. False stops.
        inplace : bool, optional
            u itself, of the right type and contiguous, becomes that at the end.

        Returns
        -------
        u : array
            At ``run["t"]``.
        run : dict
            steps, rejected, t, dt, limit, evaluations, solves, iterations, seconds, stopped.
        """
        context, stats = self._context, sized("spry_step_stats")
        u = u if hasattr(u, "dtype") else np.asarray(u, float)
        char, shape = self._char(u), tuple(u.shape)
        with context.lock:
            vectors = Vectors(context, u)
            if vectors.device and (self._call or self._source or self._added or watch):
                raise Unsupported("functions of Python take u on the host; on a device the problem is an operator's, "
                                  "without source and watch")
            if inplace:
                made, place = u, vectors.given(u, char, int(np.prod(shape)), "u")
                if not vectors.device and not np.shares_memory(vectors.held[-1], u):
                    raise UsageError(f"u cannot be used in place: a contiguous array of {np.dtype(char)} is needed")
            else:
                made, place = vectors.fresh(shape, char, u)
            sources, seen = self._problem(shape), None
            if watch is not None:
                seen = _Seen(watch, shape)
                sources.append(seen)
                grid_lib.spry_stepper_set_watch(self._pointer, _step, seen.handle)
            try:
                perform(context, sources, grid_lib.spry_stepper_run, self._pointer, t, end, place, stats)
            finally:
                grid_lib.spry_stepper_set_watch(self._pointer, ffi.NULL, ffi.NULL)
        return made if inplace else vectors.back(made), Plan(_result.members("spry_step_stats", stats))


def _made_within(context: Any, make: Callable[[], Any]) -> tuple[Stepper, Stepper]:
    """The two steppers of a worker, made in its context."""
    before = use(context)
    try:
        coarse, fine = make()
    finally:
        use(before)
    if any(stepper._context is not context for stepper in (coarse, fine)):
        raise UsageError("each worker has steppers, and operators, of its own: make them when the function is called")
    return coarse, fine


def parareal(make: Callable[[], tuple[Stepper, Stepper]], u: Any, t: float, end: float, *, workers: int = 1,
             **options: Any) -> Result:
    """Runs from t to `end` by slices of time in parallel.

    Parameters
    ----------
    make : callable
        ``make()`` gives a coarse and a fine `Stepper`, with operators made in that call. It is called for
        each worker, a thread with a context of its own.
    u : array_like
        At t.
    t, end : float
    workers : int, optional
        Threads, of each rank within `Ranks`; there every rank has the whole problem (a grid with
        ``ranks="none"``).
    **options
        ``slices`` (default: one for each worker of all ranks), ``tol``, ``max_iter``, ``compare=True``:
        docs/time.md.

    Returns
    -------
    result : Result
        With u at `end` in `.x`, and the numbers `slices`, `workers`, `coarse_seconds`, `fine_seconds`, `ratio`,
        `model_speedup`, with compare `serial_seconds`, `speedup` and `difference`. Residuals are the relative
        changes of the ends of slices; after as many iterations as slices u is that of the fine run.

    Examples
    --------
    >>> import spry, numpy as np
    >>> grid = spry.Grid(32)
    >>> def make():
    ...     A = spry.Grid(32).stencil("laplace")
    ...     return (spry.Stepper(A, method="implicit-euler", dt=0.025),
    ...             spry.Stepper(A, method="crank-nicolson", dt=0.001))
    >>> result = spry.parareal(make, grid.field(lambda x: np.sin(np.pi * x)), 0, 0.1, workers=2, slices=4)
    >>> result.converged, result.slices, bool(abs(result.x.max() - np.exp(-np.pi**2 * 0.1)) < 1e-3)
    (True, 4, True)
    """
    if workers < 1:
        raise UsageError(f"{workers} workers: 1 or more are needed")
    contexts = [current(), *(Context("threads=1") for _ in range(workers - 1))]
    pairs = [_made_within(context, make) for context in contexts]
    record, stats = _result.record(), sized("spry_parareal_stats")
    u = u if hasattr(u, "dtype") else np.asarray(u, float)
    with ExitStack() as stack:
        for context in contexts:
            stack.enter_context(context.lock)
        sources = [source for pair in pairs for stepper in pair for source in stepper._problem(tuple(u.shape))]
        vectors = Vectors(contexts[0], u)
        made, place = vectors.fresh(tuple(u.shape), pairs[0][0]._char(u), u)
        coarse, fine = (ffi.new("spry_stepper *[]", [stepper._pointer for stepper in part]) for part in zip(*pairs))
        perform(contexts[0], sources, grid_lib.spry_parareal, workers, coarse, fine, t, end, place,
                words(options).encode(), record, stats)
        result = Result(contexts[0], record, vectors.back(made))
    for name, value in _result.members("spry_parareal_stats", stats).items():
        setattr(result, name, value)
    return result
