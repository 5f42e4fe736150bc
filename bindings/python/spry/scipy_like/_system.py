"""A system as SciPy's solvers take it: what A, M, x0 and b may be, and one run of the library."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator

from .. import _arrays, _on_device, _result
from .._context import current
from .._inverse import as_precon, functions
from .._library import ffi, lib
from .._matrix import Matrix, _made, arrays_of
from .._method import Listener, on_iterate, on_residual
from .._operator import Preconditioner, as_inverse, from_python, is_operator, type_of
from .._solver import Solver, perform

# Nothing is chosen by itself that SciPy does not choose, and nothing gives up before maxiter.
_PLAIN = "precon=none device=cpu keep=last stall=0 divergence=1e300"


def norm(values: np.ndarray) -> float:
    """The 2-norm, without overflow."""
    square = float(np.vdot(values, values).real)
    if 1e-200 < square < 1e200:
        return math.sqrt(square)
    return float(np.linalg.norm(values))


def tolerance(name: str, size: float, atol: Any, rtol: float) -> float:
    """|b - A x| / |b| to reach, from SciPy's two tolerances."""
    if atol == "legacy" or atol is None or isinstance(atol, str) or not atol >= 0:
        raise ValueError(f"'scipy.sparse.linalg.{name}' called with invalid `atol`={atol!r}; "
                         "if set, `atol` must be a real, non-negative number.")
    bound = max(float(atol), float(rtol) * size)
    return min(bound / size, 1.0) if size > 0 else 0.0


class Outcome:
    """How a run ended."""

    __slots__ = ("converged", "reason", "iterations", "true_residual", "detail")

    def __init__(self, record: Any) -> None:
        self.converged = bool(record.converged)
        self.reason = int(record.reason)
        self.iterations = int(record.iterations)
        self.true_residual = float(record.true_residual)
        self.detail = "" if self.converged else ffi.string(record.detail).decode()

    def info(self, maxiter: int) -> int:
        """SciPy's word for it: 0, the limit of iterations, or a negative number for a breakdown."""
        if self.converged:
            return 0
        if self.reason in (lib.SPRY_REASON_BREAKDOWN, lib.SPRY_REASON_SINGULAR):
            return -10
        return max(maxiter, 1)


def _shaped(M: Any, shape: Any, char: str) -> Any:
    """A preconditioner that has a shape, and that of the matrix; functions and lists get one."""
    if M is None:
        return None
    if isinstance(M, str):
        raise ValueError(f"M is a matrix, an operator or a function; for one of spry's by name, "
                         f"M=spry.Preconditioner(A, {M!r})")
    M = as_inverse(M, shape, char)
    if not hasattr(M, "shape"):
        M = LinearOperator(shape, matvec=M, rmatvec=M, dtype=char) if callable(M) else np.asarray(M)
    if tuple(M.shape) != tuple(shape):
        raise ValueError(f"matrix and preconditioner have different shapes: {tuple(shape)} and "
                         f"{tuple(M.shape)}")
    return M


def whole(limit: Any) -> int:
    """A limit of iterations, as large as the library counts."""
    return min(int(limit), 10**18)


class System:
    """A x = b with a first guess and a preconditioner; the arrays are checked as SciPy does."""

    def __init__(self, A: Any, M: Any, x0: Any, b: Any, square: bool = True) -> None:
        _arrays.refuse_swapped(A, b)
        self.context = current()
        self.given, b = b, _arrays.array(b, "b")
        self.operator = is_operator(A)
        if not self.operator and not hasattr(A, "shape"):
            A = np.asarray(A)
        elif hasattr(A, "crow_indices"):  # PyTorch's tensors do not multiply NumPy's arrays
            A = Matrix(A)
        shape = A.shape
        if len(shape) > 2:
            raise ValueError(f"{len(shape)}-dimensional `A` is unsupported, expected 2-D.")
        if square and (len(shape) != 2 or shape[0] != shape[1]):
            raise ValueError(f"expected square matrix, but got shape={shape}")
        n = shape[0]
        if b.shape != (n,) and b.shape != (n, 1):
            raise ValueError(f"shapes of A {shape} and b {b.shape} are incompatible")
        self.shape, self.A, self.M = (int(n), int(shape[1])), A, M
        self.char = _arrays.common(type_of(A), b.dtype.char)
        self.b = _arrays.ready(b.reshape(-1), self.char)
        if M is None and not issparse(A) and hasattr(A, "psolve"):
            back = getattr(A, "rpsolve", None)
            self.M = LinearOperator(shape, matvec=A.psolve, rmatvec=back, dtype=self.char)
        self.M = _shaped(self.M, shape, self.char)
        for part in (A, self.M):
            if isinstance(part, (Matrix, Preconditioner)):
                part.check()
        self.size = norm(self.b)
        self.x = self._guess(x0)
        self.held: list[Any] = []
        self.solver: Any = None
        self._made: list[Any] = []
        self.work: float = math.inf  # numbers that an iteration reads, about
        self._pair: Any = None

    def _guess(self, x0: Any) -> np.ndarray:
        if x0 is None:
            return np.zeros(self.shape[1], self.char)
        if isinstance(x0, str):
            if x0 != "Mb":
                raise ValueError(f"x0 is an array, None or 'Mb', not {x0!r}")
            if self.M is None:
                return self.b.copy()
            return np.array(self.M @ self.b, dtype=self.char).reshape(-1)
        guess = np.array(_arrays.array(x0, "x0"))
        if guess.shape not in ((self.shape[1],), (self.shape[1], 1)):
            raise ValueError(f"shapes of A {self.shape} and x0 {guess.shape} are incompatible")
        if guess.dtype.kind == "c" and self.char in "fd":
            guess = guess.real
        return guess.reshape(-1).astype(self.char)

    # The library's objects live from __enter__ to __exit__: freed in order, without finalizers.

    def __enter__(self) -> "System":
        return self

    def __exit__(self, *_: object) -> None:
        while self._made:
            free, pointer = self._made.pop()
            free(pointer)
        self.held.clear()

    def _matrix(self) -> Any:
        A = self.A
        if isinstance(A, Matrix):
            if A.dtype.char == self.char:
                return A.pointer
            A = A.to_scipy()
        arrays = arrays_of(A, self.char)
        self.work = arrays.values.size + 10 * self.shape[0]
        self.held.append(arrays)
        made = _made(self.context, arrays, lib.SPRY_SYMMETRY_GENERAL, False)
        self._made.append((lib.spry_matrix_free, made))
        return made

    def prepare(self, method: str, options: str = "") -> None:
        """A solver with the matrix or operator, the method, and the preconditioner."""
        context, made = self.context, ffi.new("spry_solver **")
        pointer = None if self.operator else self._matrix()
        context.check(lib.spry_solver_new(context.pointer, made))
        self.solver = solver = made[0]
        self._made.append((lib.spry_solver_free, solver))
        text = f"{_PLAIN} method={method} {options}"
        context.check(lib.spry_solver_set(solver, text.encode()))
        if pointer is None:
            function = from_python(context, self.A, self.char)
            self.held.append(function)
            context.check(lib.spry_solver_set_operator(solver, function.pointer))
        else:
            context.check(lib.spry_solver_set_matrix(solver, pointer))
        if self.M is not None:
            precon = as_precon(context, self.M, self.shape, self.char)
            self.held.append(precon)
            context.check(lib.spry_solver_set_precon(solver, precon.pointer))

    def _vector(self, values: np.ndarray) -> Any:
        made = ffi.new("spry_vector **")
        place = _arrays.pointer(values)
        self.context.check(lib.spry_vector_new(self.context.pointer, _arrays.TYPES[self.char],
                                               values.size, place, lib.SPRY_OWN_BORROW, made))
        self._made.append((lib.spry_vector_free, made[0]))
        return made[0]

    def run(self, tol: float, limit: int, monitor: Callable[..., Any] | None = None,
            watch: Callable[..., Any] | None = None) -> Outcome:
        """Goes on from x, in place."""
        context, solver = self.context, self.solver
        context.check(lib.spry_solver_set_real(solver, b"tol", tol))
        context.check(lib.spry_solver_set_real(solver, b"max-iter", limit))
        sources: list[Any] = functions(self.held)
        if monitor is not None:
            listener = Listener(monitor)
            lib.spry_solver_set_monitor(solver, on_iterate, listener.handle)
            sources.append(listener)
        if watch is not None:
            hearing = Listener(watch)
            lib.spry_solver_set_watch(solver, on_residual, hearing.handle)
            sources.append(hearing)
        if self._pair is None:
            self._pair = self._vector(self.b), self._vector(self.x)
        record = _result.record()
        short = not sources and self.work * limit < 1e8  # a tenth of a second: Ctrl-C can wait
        perform(context, sources, lib.spry_solve, solver, *self._pair, record, short=short)
        outcome = Outcome(record)
        lib.spry_result_clear(context.pointer, record)
        return outcome

    def answer(self) -> Any:
        """x, of the kind of b."""
        return _arrays.like(self.given, self.x)

    def nothing(self) -> Any:
        """The x of b = 0."""
        return _arrays.like(self.given, np.zeros_like(self.b))

    def residual(self) -> np.ndarray:
        """b - A x, by one product unless x is 0."""
        if not self.x.any():
            return self.b.copy()
        return self.b - np.asarray(self.A @ self.x).reshape(-1)


def solve(method: str, name: str, A: Any, b: Any, x0: Any, rtol: float, atol: Any,
          maxiter: int | None, M: Any, callback: Any, options: str = "") -> tuple[np.ndarray, int]:
    """What cg, bicg and the like have in common."""
    if _arrays.on_device(b):
        return solve_on_device(method, A, b, x0, rtol, atol, maxiter, M, callback, options)
    system = System(A, M, x0, b)
    tol = tolerance(name, system.size, atol, rtol)
    if system.size == 0:
        return system.nothing(), 0
    limit = 10 * system.shape[0] if maxiter is None else whole(maxiter)
    if limit <= 0:
        return system.answer(), limit
    with system.context.lock, system:
        system.prepare(method, options)
        outcome = system.run(tol, limit, as_monitor(callback))
    return system.answer(), outcome.info(limit)


def solve_on_device(method: str, A: Any, b: Any, x0: Any, rtol: float, atol: Any,
                    maxiter: int | None, M: Any, callback: Any, options: str = "") -> tuple[Any, int]:
    """The same for arrays of CuPy and PyTorch: x is of their kind, and in the memory of b."""
    _arrays.refuse_swapped(A, b)
    limit = 10 * b.shape[0] if maxiter is None else whole(maxiter)
    if limit <= 0:
        return (_on_device.zeros(b) if x0 is None else _on_device.copied(x0, b)), limit
    more: Any = dict(option.split("=", 1) for option in options.split())
    with Solver(A, method=method, precon=M, tol=float(rtol), atol=float(atol), maxiter=limit,
                keep="last", stall=0, divergence=1e300, **more) as solver:
        result = solver.solve(b, x0, callback=as_monitor(
            callback and (lambda x: callback(_arrays.like(b, x)))))
    return result.x, 0 if result.converged else limit


def as_monitor(callback: Any) -> Any:
    """SciPy's callback(xk) as a monitor."""
    if callback is None:
        return None

    def monitor(_iteration: int, _residual: float, x: np.ndarray) -> None:
        callback(x)

    return monitor
