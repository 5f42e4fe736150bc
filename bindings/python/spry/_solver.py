"""Solver: a method and a preconditioner with their set-up for a matrix; solve: all in one call."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _arrays, _interrupt, _on_device, _result
from ._context import current
from ._errors import ReleasedError, UsageError, failure
from ._library import ffi, lib, sized
from ._library import text as string
from ._matrix import Matrix
from ._operator import (Function, Preconditioner, dense, from_python, is_operator, note_error,
                        type_of)
from ._result import Result, Results


SMALL = 2000  # rows of systems whose factors take no longer than Ctrl-C may
_BLOCK, _BLOCK_SIZE = ffi.typeof("spry_dense *"), ffi.sizeof("spry_dense")


class Method:
    """A method of your own in the library's notation (docs/notation.md), for `method=`.

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
def _monitor(data: Any, iteration: int, residual: float, x: Any) -> bool:
    return ffi.from_handle(data).hear(iteration, residual, x)


@ffi.callback("spry_watch_fn", error=False, onerror=note_error)
def _watch(data: Any, iteration: int, residual: float) -> bool:
    return ffi.from_handle(data).hear(iteration, residual, None)


class Solver:
    """Solves with one matrix repeatedly and keeps its set-up.

    `A` is a `Matrix`, whatever that takes, or an operator (a SciPy LinearOperator, anything with
    `shape`, `dtype` and `matvec`). `method` and `precon` are what the command line takes, a
    `Method`, a `Preconditioner`, an operator, or None for no preconditioner. `near_null` goes to
    `Matrix.set_near_null`; `null_space` has null vectors of a singular matrix as columns. Other
    options are the library's own: tol, atol, max_iter, restart, format, device, stall, keep, ...

    >>> import spry, numpy as np
    >>> A = spry.generate("poisson2d", size=30)
    >>> solver = spry.Solver(A, method="cg", precon="amg", tol=1e-10)
    >>> first = solver.solve(np.ones(900))
    >>> again = solver.solve(np.arange(900.0))
    >>> first.converged and again.converged
    True
    """

    def __init__(self, A: Any, *, method: str | Method = "auto", precon: Any = "auto",
                 near_null: Any = None, null_space: Any = None, maxiter: int | None = None,
                 dtype: Any = None, **options: Any) -> None:
        self._context = current()
        self._function: Function | None = None
        self._matrix: Matrix | None = None
        self._precon: Any = None
        self._on_device: _on_device.Operator | None = None
        self._brief = False  # whether factors of a small system solve it at once
        made = ffi.new("spry_solver **")
        context = self._context
        with context.lock:
            context.check(lib.spry_solver_new(context.pointer, made))
            self._pointer: Any = context.owned(made[0], lib.spry_solver_free)
            if maxiter is not None:
                options["max_iter"] = maxiter
            self._set(options)
            if method != "auto":  # which it is
                self._set_method(method)
            char = None if dtype is None else _arrays.wanted(dtype)
            if _on_device.is_on_device(A) and near_null is None and _needs_no_matrix(precon):
                self._set_on_device(A, char)
            else:
                self._set_system(A, char, near_null)
            self._blocks = [ffi.new(_BLOCK, {"size": _BLOCK_SIZE, "rows": rows, "cols": 1,
                                             "ld": max(rows, 1)}) for rows in self.shape]
            if not isinstance(precon, str) or precon != "auto":
                self._set_precon(precon)
            if null_space is not None:
                self._set_null_space(null_space)

    def __reduce__(self) -> Any:
        raise TypeError("a Solver cannot be copied or sent to another process: send the matrix and the "
                        "options, and make it there")

    # Setting it up

    @property
    def pointer(self) -> Any:
        """The C object."""
        if self._pointer is None:
            raise ReleasedError("the solver was closed")
        return self._pointer

    def set(self, **options: Any) -> None:
        """Sets options: `solver.set(tol=1e-10, max_iter=500)`. Set-up is kept unless an
        option affects it."""
        with self._context.lock:
            self._set(options)

    def _set(self, options: dict[str, Any]) -> None:
        for name, value in options.items():
            word = {"maxiter": "max-iter", "rtol": "tol"}.get(name, name).encode()
            if isinstance(value, (bool, np.bool_)):
                value = "yes" if value else "no"
            if isinstance(value, (float, np.floating)):
                status = lib.spry_solver_set_real(self.pointer, word, float(value))
            elif value is None:
                continue
            else:
                status = lib.spry_solver_set_text(self.pointer, word, str(value).encode())
            self._context.check(status)

    def get(self, name: str) -> str:
        """An option as text; "method:restart" is an option of the method as it is in effect."""
        room = ffi.new("char[]", lib.SPRY_OPTION_TEXT_SIZE)
        context = self._context
        with context.lock:
            context.check(lib.spry_solver_get_text(self.pointer, name.encode(), room, len(room)))
        return ffi.string(room).decode()

    def _set_method(self, method: str | Method) -> None:
        if isinstance(method, Method):
            self._context.check(
                lib.spry_solver_set_method_text(self.pointer, method.text.encode()))
        else:
            self.set(method=method)

    def _set_system(self, A: Any, char: str | None, near_null: Any) -> None:
        if is_operator(A):
            self._function = from_python(self._context, A, char or _arrays.kind(type_of(A)))
            self.shape, self.dtype = self._function.shape, self._function.dtype
            status = lib.spry_solver_set_operator(self.pointer, self._function.pointer)
        else:
            if not isinstance(A, Matrix) or char and A.dtype.char != char:
                A = Matrix(A, dtype=char)
            self._matrix = A
            self.shape, self.dtype = A.shape, A.dtype
            if near_null is not None:
                A.set_near_null(near_null)
            status = lib.spry_solver_set_matrix(self.pointer, A.pointer)
        self._context.check(status)

    def _set_on_device(self, A: Any, char: str | None) -> None:
        """Sets a matrix on a CUDA device, without a copy on the host."""
        self._on_device = _on_device.Operator(self._context, A, char)
        self.shape, self.dtype = self._on_device.shape, self._on_device.dtype
        self._context.check(lib.spry_solver_set_operator(self.pointer, self._on_device.pointer))

    def _set_precon(self, M: Any) -> None:
        if M is None or isinstance(M, str):
            self.set(precon=M or "none")
            return
        operator = as_precon(self._context, M, self.shape, self.dtype.char)
        self._precon = M, operator
        self._context.check(lib.spry_solver_set_precon(self.pointer, operator.pointer))

    def _set_null_space(self, vectors: Any) -> None:
        block = np.atleast_2d(_arrays.array(vectors, "null_space").T).T
        if block.ndim != 2 or block.shape[0] != self.shape[1]:
            raise UsageError(f"null_space has shape {block.shape}, the matrix {self.shape[1]} columns")
        columns = [_arrays.ready(column, self.dtype.char) for column in block.T]
        held = ffi.new("spry_vector *[]", [_arrays.vector(self._context, c) for c in columns])
        self._context.check(
            lib.spry_solver_set_null_space(self.pointer, len(columns), held, ffi.NULL))

    def update(self, values: Any) -> None:
        """New values for the matrix, see `Matrix.update`. The pattern, and the set-up that depends
        on it alone, are kept."""
        matrix = self.pointer and self._matrix
        if matrix is None:
            raise UsageError("an operator has no values: each product calls it")
        matrix.update(values)
        context = self._context
        with context.lock:
            context.patiently(lib.spry_solver_update, self.pointer)

    def explain(self) -> str:
        """What the solver does: notation, options, traffic of an iteration."""
        explained = ffi.new("char **")
        context = self._context
        with context.lock:
            context.check(lib.spry_solver_explain(self.pointer, explained))
            return context.given(explained[0])

    def plan(self, systems: int = 1) -> dict[str, Any]:
        """What `solve` will do, and the memory and time that takes, before it is done; what was
        made to find that out the solve goes on from. Members as `spry plan --json` has them.

        >>> import spry
        >>> plan = spry.Solver(spry.generate("poisson2d", size=20)).plan()
        >>> plan["precon"].split(":")[0], plan["iterations"]
        ('direct', 1)
        """
        record = sized("spry_plan")
        context = self._context
        with context.lock:
            context.patiently(lib.spry_solver_plan, self.pointer, int(systems), record)
            try:
                found = {name: getattr(record, name) for name, _ in ffi.typeof("spry_plan").fields}
                found.pop("size")
                for name in ("method", "precon", "format", "ordering", "device"):
                    found[name] = string(found[name])
                for name in ("next", "refused"):
                    found[name] = string(found[name]).splitlines()
                found["type"] = string(lib.spry_type_name(found["type"]))
                return found
            finally:
                lib.spry_plan_clear(context.pointer, record)

    # Solving

    def solve(self, b: Any, x0: Any = None, *,
              callback: Callable[[int, float, np.ndarray], Any] | None = None,
              watch: Callable[[int, float], Any] | None = None) -> Result | Results:
        """Solves A x = b. For a two-dimensional b, one system per column, it gives a list
        of results, whose `x` has the solutions as columns.

        `callback(iteration, residual, x)` sees each iteration, and `watch(iteration, residual)`
        hears of it without x, which is cheaper on devices. What they return counts: False stops
        the solve, and "accept" takes this x as good enough.
        """
        parts = [part for part in (self._matrix, self._precon and self._precon[1])
                 if isinstance(part, (Matrix, Explicit, Preconditioner))]
        for part in parts:  # each under the lock of its own context, before ours
            part.check()
        context = self._context
        try:
            with context.lock:
                held = [self._function, self._precon, *parts, *[part.lent() for part in parts]]
                return self._solve(held, b, x0, callback, watch)
        finally:
            context.sweep()

    def _solve(self, _held: Any, b: Any, x0: Any, callback: Any, watch: Any) -> Any:
        """The same; its objects stay alive meanwhile, even if a callback closes them."""
        if _arrays.on_device(b):
            return self._solve_on_device(b, x0, callback, watch)
        given = _arrays.array(b, "b")
        if given.ndim == 2 and given.shape[1] != 1:
            return self._solve_columns(b, given, x0, callback, watch)
        if given.ndim not in (1, 2) or given.shape[0] != self.shape[0]:
            raise UsageError(f"the matrix is {self.shape[0]} x {self.shape[1]}, b has shape {given.shape}")
        column = given if given.ndim == 1 else given.reshape(-1)
        right = _arrays.ready(column, self._char(given))
        x = self._guess(x0)
        record = _result.record()
        blocks = self._blocks  # records that every solve of a vector uses: the library copies them
        blocks[0].data, blocks[1].data = held = _arrays.pointer(right), _arrays.pointer(x)
        self.run(callback, watch, lib.spry_solve_dense, *blocks, record)
        if self.shape[0] <= SMALL:  # see run()
            self._brief = ffi.string(record.method) == b"direct"
        shaped = x if given.ndim == 1 else x.reshape((-1, *given.shape[1:]))
        return Result(self._context, record, _arrays.like(b, shaped))

    def _char(self, b: np.ndarray) -> str:
        if b.dtype.kind == "c" and self.dtype.kind == "f" and np.any(b.imag):
            raise UsageError("b is complex and the matrix is real: give Solver dtype=complex")
        return self.dtype.char

    def _guess(self, x0: Any, columns: int | None = None) -> np.ndarray:
        shape = (self.shape[1],) if columns is None else (self.shape[1], columns)
        if x0 is None:
            return np.zeros(shape, self.dtype, order="F")
        guess = _arrays.array(x0, "x0")
        if guess.size != int(np.prod(shape)) or guess.shape[0] != shape[0]:
            raise UsageError(f"x0 has shape {guess.shape}, {shape} is needed")
        if guess.dtype.kind == "c" and self.dtype.kind == "f":
            if np.any(guess.imag):
                raise UsageError("x0 is complex and the matrix is real: give Solver dtype=complex")
            guess = guess.real
        return np.array(guess.reshape(shape), self.dtype, order="F")

    def _solve_columns(self, given: Any, b: np.ndarray, x0: Any, callback: Any,
                       watch: Any) -> Results:
        count = b.shape[1]
        if b.ndim != 2 or b.shape[0] != self.shape[0]:
            raise UsageError(f"the matrix is {self.shape[0]} x {self.shape[1]}, b has shape {b.shape}")
        if not count:
            return Results([], np.zeros((self.shape[1], 0), self.dtype))
        right = np.asfortranarray(b, dtype=self._char(b))
        x = self._guess(x0, count)
        records = ffi.new("spry_result[]", count)
        for k in range(count):
            records[k].size = ffi.sizeof("spry_result")
        context = self._context
        with context.lock:
            blocks = dense(right), dense(x)
            self.run(callback, watch, lib.spry_solve_dense, blocks[0], blocks[1], records)
            done = [Result(context, records + k, _arrays.like(given, x[:, k]), records) for k in range(count)]
            return Results(done, _arrays.like(given, x))

    def _solve_on_device(self, b: Any, x0: Any, callback: Any, watch: Any) -> Any:
        """b and x on a CUDA device: only the record leaves it."""
        b = _on_device.plain(b)
        if len(b.shape) == 2 and b.shape[1] != 1:
            columns = [self._solve_on_device(_on_device.column(b, k),
                                             None if x0 is None else _on_device.column(x0, k),
                                             callback, watch)
                       for k in range(b.shape[1])]
            return Results(columns, _on_device.stacked([one.x for one in columns]))
        if b.shape[0] != self.shape[0]:
            raise UsageError(f"the matrix is {self.shape[0]} x {self.shape[1]}, b has shape {tuple(b.shape)}")
        x = _on_device.zeros(b) if x0 is None else _on_device.copied(x0, b)
        _on_device.settle(b)
        record = _result.record()
        context = self._context
        with context.lock:
            right, device, char = _arrays.device_vector(context, b)
            if char != self.dtype.char:
                raise UsageError(f"b is {np.dtype(char)}, the matrix {self.dtype}")
            self.set(device=device)
            left = _arrays.device_vector(context, x)[0]
            self.run(callback, watch, lib.spry_solve, right, left, record)
            return Result(context, record, x)

    def run(self, callback: Any, watch: Any, call: Callable[..., int], *arguments: Any) -> None:
        """A solve with its listeners; exceptions of Python functions within it are raised again."""
        pointer = self.pointer
        sources: list[Any] = []
        if self._function is not None or self._precon is not None:
            sources = functions([self._function, self._precon and self._precon[1]])
        if callback is not None:
            sources.append(Listener(callback, pointer))
            lib.spry_solver_set_monitor(pointer, _monitor, sources[-1].handle)
        if watch is not None:
            sources.append(Listener(watch, pointer))
            lib.spry_solver_set_watch(pointer, _watch, sources[-1].handle)
        try:
            perform(self._context, sources, call, pointer, *arguments,
                    short=self._brief and not sources)
        finally:
            if callback is not None:
                lib.spry_solver_set_monitor(pointer, ffi.NULL, ffi.NULL)
            if watch is not None:
                lib.spry_solver_set_watch(pointer, ffi.NULL, ffi.NULL)

    def close(self) -> None:
        """Frees it now rather than when Python drops it."""
        dead, self._pointer = self._pointer, None
        self._matrix = self._function = self._precon = self._on_device = None
        if dead is not None:
            ffi.release(dead)

    def __enter__(self) -> "Solver":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._pointer is None:
            return "<spry.Solver, closed>"
        return (f"<spry.Solver {self.get('method')} with {self.get('precon')} "
                f"for {self.shape[0]} x {self.shape[1]}, {self.dtype}>")


def perform(context: Any, sources: list[Any], call: Callable[..., int], *arguments: Any,
            short: bool = False) -> None:
    """A solve that Ctrl-C ends, unless it is over at once anyway; the first exception of the
    sources is raised again."""
    listening = False if short else _interrupt.begin(context.pointer)
    try:
        status = call(*arguments)
    finally:
        if listening:
            _interrupt.end()
    for source in sources:
        if source.error is not None:
            error, source.error = source.error, None
            raise error
    if status:
        raise failure(status, context.pointer)


def _needs_no_matrix(M: Any) -> bool:
    """Whether a preconditioner can do without the entries of A."""
    return M is None or M == "none" if isinstance(M, str) or M is None else True


def as_precon(context: Any, M: Any, shape: tuple[int, int], char: str) -> Any:
    """A preconditioner of any kind, as an object with a `pointer` to the library's operator."""
    if isinstance(M, InTwoParts):
        operator: Any = M.made(context, shape, char)
    elif isinstance(M, Preconditioner) and M.dtype.char == char:
        operator = M
    elif callable(M) and not hasattr(M, "shape"):
        return Function(context, (shape[1], shape[0]), np.dtype(char), M, M)
    elif is_operator(M):
        operator = from_python(context, M, char)
    else:
        operator = Explicit(M if isinstance(M, Matrix) and M.dtype.char == char
                            else Matrix(M, dtype=char))
    if tuple(M.shape) != (shape[1], shape[0]):
        raise UsageError(f"the preconditioner is {M.shape[0]} x {M.shape[1]}, the matrix "
                         f"{shape[0]} x {shape[1]}")
    return operator


class InTwoParts:
    """A preconditioner of a left part and a right one: z = M2 (M1 r)."""

    def __init__(self, M1: Any, M2: Any) -> None:
        self.M1, self.M2, self.shape = M1, M2, tuple(M1.shape)
        self.parts: list[Any] = []

    def made(self, context: Any, shape: tuple[int, int], char: str) -> "InTwoParts":
        """With the library's operator for it."""
        self.parts = [as_precon(context, M, shape, char) for M in (self.M1, self.M2)]
        pointer = ffi.new("spry_operator **")
        context.check(lib.spry_operator_compose(self.parts[1].pointer, self.parts[0].pointer, pointer))
        self.pointer = context.owned(pointer[0], lib.spry_operator_free)
        return self

    def __matmul__(self, r: Any) -> Any:
        return self.M2 @ (self.M1 @ r)


def functions(parts: list[Any]) -> list[Any]:
    """The Python functions among operators, which may hold exceptions."""
    found = []
    for part in parts:
        if isinstance(part, Function):
            found.append(part)
        elif isinstance(part, InTwoParts):
            found += functions(part.parts)
    return found


class Explicit:
    """A matrix whose product is the preconditioner."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        with matrix._context.lock:
            self.pointer = matrix.operator()
        self.check, self.lent = matrix.check, matrix.lent


def solve(A: Any, b: Any, x0: Any = None, *, callback: Any = None, watch: Any = None,
          **options: Any) -> Result | Results:
    """Solves A x = b; without `method` and `precon` it chooses both.

    The arguments are those of `Solver` and `Solver.solve`. The `Result` has x in `.x`; for a
    two-dimensional b there is a list of results, one per column, with all x in its `.x`.

    >>> import spry, numpy as np, scipy.sparse as sp
    >>> A = sp.csr_matrix([[4.0, 1.0], [1.0, 3.0]])
    >>> spry.solve(A, [1.0, 2.0]).x.round(4)
    array([0.0909, 0.6364])
    """
    if "dtype" not in options and not _arrays.on_device(b):
        own = type_of(A)
        char = _arrays.common(own, type_of(b, "b"))
        if char != own:
            options["dtype"] = char
    with Solver(A, **options) as solver:
        return solver.solve(b, x0, callback=callback, watch=watch)
