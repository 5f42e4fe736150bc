"""Solver: a method and a preconditioner with their set-up for a matrix; solve: all in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence, overload

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator

from . import _arrays, _interrupt, _on_device, _result
from ._context import current
from ._errors import ReleasedError, UsageError, failure
from ._inverse import Explicit, as_precon, functions
from ._library import ffi, lib, sized
from ._library import text as string
from ._matrix import Matrix
from ._method import Listener, Method, on_iterate, on_residual
from ._once import solve_once
from ._operator import Function, Linear, Operator, as_inverse, dense, from_python, is_operator, type_of
from ._options import Options, Settings, SolveOptions, named
from ._result import Plan, Result, Results, Text, warn

if TYPE_CHECKING:
    from typing_extensions import Unpack

    Column = np.ndarray[tuple[int], Any] | Sequence[complex]
    Columns = np.ndarray[tuple[int, int], Any] | Sequence[Sequence[complex]]


SMALL = 2000  # rows of systems whose factors take no longer than Ctrl-C may
_BLOCK, _BLOCK_SIZE = ffi.typeof("spry_dense *"), ffi.sizeof("spry_dense")


class Solver(Linear):
    """Solves with one matrix repeatedly and keeps its set-up.

    It is a SciPy LinearOperator that stands for the inverse of A: ``solver @ b`` is x, and it can be
    the `OPinv` of eigsh, the `M` of lobpcg, and the preconditioner of any solver.

    Parameters
    ----------
    A : Matrix, sparse array or matrix, ndarray, tensor, LinearOperator
        The matrix, or what has `shape`, `dtype` and `matvec`.
    method : str or Method, optional
        Of `spry.choices("methods")`, with options after a colon: ``"gmres:restart=50"``.
    precon : str, Preconditioner, Factors, matrix, LinearOperator, callable or None, optional
        Of `spry.choices("precons")`, ``"ilu:level=1"``; or whatever can be applied: an approximate
        inverse to multiply by, factors with `solve`, a solver of pyamg. None: no preconditioner.
    tol : float, optional
        Relative residual |b - A x| / |b| to reach (default: 1e-8).
    atol : float, optional
        Absolute residual that is good enough, too (default: 0).
    maxiter : int, optional
        Iterations at most (default: 10000).
    restart : int, optional
        Length of a cycle of gmres and its like; 0: the method's own.
    format : str, optional
        Storage format of A: of `spry.choices("formats")`, or "auto".
    device : str, optional
        "auto", "cpu", "cuda", "cuda:1", "opencl".
    near_null : array_like, optional
        See `Matrix.set_near_null`.
    null_space : array_like, optional
        Null vectors of a singular matrix as columns.
    dtype : dtype, optional
        To compute in; by default that of A.
    rtol, max_iter : optional
        The same as tol and maxiter.
    method_file, reorder, reformat, fuse, stall, divergence, keep : optional
        As in `spry solve --help`.
    report_start, nullspace, memory : optional
        Likewise.

    Attributes
    ----------
    shape : tuple of int
        Of the inverse: columns and rows of A.
    dtype : numpy.dtype
        Of x.

    See Also
    --------
    solve : all in one call.

    Notes
    -----
    As a LinearOperator it raises `NotConverged` where a solve has not converged: the tolerance decides
    how good an inverse it is. The adjoint, ``solver.H @ b``, solves with A^H, by a solver of its own
    that is made when it is first needed.

    Examples
    --------
    >>> import spry, numpy as np
    >>> A = spry.generate("poisson2d", size=30)
    >>> solver = spry.Solver(A, method="cg", precon="amg", tol=1e-10)
    >>> first = solver.solve(np.ones(900))
    >>> again = solver.solve(np.arange(900.0))
    >>> first.converged and again.converged
    True
    >>> bool(np.allclose(A @ (solver @ np.ones(900)), 1))
    True
    """

    @named(Options)
    def __init__(self, A: Any, **options: Unpack[Options]) -> None:
        self._context = current()
        self._function: Function | None = None
        self._matrix: Matrix | None = None
        self._precon: Any = None
        self._on_device: _on_device.Operator | None = None
        self._native: Operator | None = None
        self._given: Any = None  # a matrix of PyTorch's whose gradient is wanted
        self._mirrored: Solver | None = None
        self._brief = False  # whether factors of a small system solve it at once
        made = ffi.new("spry_solver **")
        context = self._context
        wishes: dict[str, Any] = dict(options)
        near_null, null_space, dtype = (wishes.pop(name, None) for name in ("near_null", "null_space", "dtype"))
        self._wishes = {"method": "auto", "precon": "auto", **wishes}
        method, precon = (wishes.pop(name, "auto") for name in ("method", "precon"))
        self._wanted_device = wishes.get("device")
        with context.lock:
            context.check(lib.spry_solver_new(context.pointer, made))
            self._pointer: Any = context.owned(made[0], lib.spry_solver_free)
            if wishes:
                self._set(wishes)
            if method != "auto":  # which it is
                self._set_method(method)
            char = None if dtype is None else _arrays.wanted(dtype)
            if _on_device.is_on_device(A) and near_null is None and _needs_no_matrix(precon):
                self._set_on_device(A, char)
            else:
                self._set_system(A, char, near_null)
            self._blocks = [ffi.new(_BLOCK, {"size": _BLOCK_SIZE, "rows": rows, "cols": 1,
                                             "ld": max(rows, 1)}) for rows in self._sides]
            if not isinstance(precon, str) or precon != "auto":
                self._set_precon(precon)
            if null_space is not None:
                self._set_null_space(null_space)
        super().__init__(self.dtype, self._sides[::-1])
        if not issparse(A) and getattr(A, "requires_grad", False):
            self._given = A

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

    def set(self, **options: Unpack[Settings]) -> None:
        """Sets options: `solver.set(tol=1e-10, max_iter=500)`. Set-up is kept unless an
        option affects it."""
        with self._context.lock:
            self._set(dict(options))
        self._mirrored = None
        self._wishes.update(options)

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
            self._set({"method": method})

    def _set_system(self, A: Any, char: str | None, near_null: Any) -> None:
        if isinstance(A, Operator) and char in (None, A.dtype.char):
            self._native = A
            self._sides, self.dtype = A.shape, A.dtype
            status = lib.spry_solver_set_operator(self.pointer, A.pointer)
        elif is_operator(A):
            self._function = from_python(self._context, A, char or _arrays.kind(type_of(A)))
            self._sides, self.dtype = self._function.shape, self._function.dtype
            status = lib.spry_solver_set_operator(self.pointer, self._function.pointer)
        else:
            if not isinstance(A, Matrix) or char and A.dtype.char != char:
                A = Matrix(A, dtype=char)
            self._matrix = A
            self._sides, self.dtype = A.shape, A.dtype
            if near_null is not None:
                A.set_near_null(near_null)
            status = lib.spry_solver_set_matrix(self.pointer, A.pointer)
        self._context.check(status)

    def _set_on_device(self, A: Any, char: str | None) -> None:
        """Sets a matrix on a CUDA device, without a copy on the host."""
        self._on_device = _on_device.Operator(self._context, A, char)
        self._sides, self.dtype = self._on_device.shape, self._on_device.dtype
        self._context.check(lib.spry_solver_set_operator(self.pointer, self._on_device.pointer))

    def _set_precon(self, M: Any) -> None:
        if M is None or isinstance(M, str):
            self._set({"precon": M or "none"})
            return
        operator = as_precon(self._context, M, self._sides, self.dtype.char)
        self._precon = M, operator
        self._context.check(lib.spry_solver_set_precon(self.pointer, operator.pointer))

    def _set_null_space(self, vectors: Any) -> None:
        block = np.atleast_2d(_arrays.array(vectors, "null_space").T).T
        if block.ndim != 2 or block.shape[0] != self._sides[1]:
            raise UsageError(f"null_space has shape {block.shape}, the matrix {self._sides[1]} columns")
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
        self._mirrored = None
        context = self._context
        with context.lock:
            context.patiently(lib.spry_solver_update, self.pointer)

    def explain(self) -> str:
        """What the solver does: notation, options, traffic of an iteration."""
        explained = ffi.new("char **")
        context = self._context
        with context.lock:
            context.check(lib.spry_solver_explain(self.pointer, explained))
            return Text(context.given(explained[0]))

    def plan(self, systems: int = 1) -> Plan:
        """What `solve` will do, and the memory and time that takes, before it is done; what was
        made to find that out the solve goes on from. Members as `spry plan --json` has them; a
        notebook shows a table.

        Parameters
        ----------
        systems : int, optional
            Right-hand sides that will be solved for.

        Returns
        -------
        plan : dict
            Among others `method`, `precon`, `format`, `iterations`, `setup_seconds`,
            `solve_seconds`, `peak_bytes`.

        Examples
        --------
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
                return Plan(found)
            finally:
                lib.spry_plan_clear(context.pointer, record)

    # Solving

    @overload
    def solve(self, b: Column, x0: Any = None, *,
              callback: Callable[[int, float, np.ndarray], Any] | None = None,
              watch: Callable[[int, float], Any] | None = None) -> Result: ...

    @overload
    def solve(self, b: Columns, x0: Any = None, *,
              callback: Callable[[int, float, np.ndarray], Any] | None = None,
              watch: Callable[[int, float], Any] | None = None) -> Results: ...

    @overload
    def solve(self, b: Any, x0: Any = None, *,
              callback: Callable[[int, float, np.ndarray], Any] | None = None,
              watch: Callable[[int, float], Any] | None = None) -> Result: ...

    def solve(self, b: Any, x0: Any = None, *,
              callback: Callable[[int, float, np.ndarray], Any] | None = None,
              watch: Callable[[int, float], Any] | None = None) -> Result | Results:
        """Solves A x = b.

        Parameters
        ----------
        b : array_like, tensor, sparse array or matrix
            Right-hand side, or several as columns.
        x0 : array_like, optional
            First guess; by default 0.
        callback : callable, optional
            ``callback(iteration, residual, x)`` sees each iteration. What it returns counts: False
            stops the solve, and "accept" takes this x as good enough.
        watch : callable, optional
            ``watch(iteration, residual)`` hears of it without x, which is cheaper on devices.

        Returns
        -------
        result : Result or Results
            With x in `.x`, an array of the kind of b. For two or more columns a list of results, whose
            `x` has the solutions as columns.

        Warns
        -----
        SolverWarning
            For each of `Result.warnings`.

        Notes
        -----
        Tensors of PyTorch that require gradients have them through x: backward() solves with A^H.

        Examples
        --------
        >>> import spry, numpy as np
        >>> solver = spry.Solver(spry.generate("poisson2d", size=5))
        >>> solver.solve(np.ones(25)).converged
        True
        >>> [result.converged for result in solver.solve(np.eye(25)[:, :2])]
        [True, True]
        """
        parts = [part for part in (self._matrix or self._native, self._precon and self._precon[1])
                 if isinstance(part, (Matrix, Explicit, Operator))]
        for part in parts:  # each under the lock of its own context, before ours
            part.check()
        context = self._context
        try:
            with context.lock:
                held = [self._function, self._precon, *parts, *[part.lent() for part in parts]]
                result = self._solve(held, b, x0, callback, watch)
        finally:
            context.sweep()
        if self._given is not None or (type(b) is not np.ndarray and getattr(b, "requires_grad", False)):
            from . import _torch

            _torch.attach(self, b, result)
        warn(result, self._wanted_device)
        return result

    def _solve(self, _held: Any, b: Any, x0: Any, callback: Any, watch: Any) -> Any:
        """The same; its objects stay alive meanwhile, even if a callback closes them."""
        if _arrays.on_device(b):
            return self._solve_on_device(b, x0, callback, watch)
        given = _arrays.array(b, "b")
        if given.ndim == 2 and given.shape[1] != 1:
            return self._solve_columns(b, given, x0, callback, watch)
        if given.ndim not in (1, 2) or given.shape[0] != self._sides[0]:
            raise UsageError(f"the matrix is {self._sides[0]} x {self._sides[1]}, b has shape {given.shape}")
        column = given if given.ndim == 1 else given.reshape(-1)
        right = _arrays.ready(column, self._char(given))
        x = self._guess(x0)
        record = _result.record()
        blocks = self._blocks  # records that every solve of a vector uses: the library copies them
        blocks[0].data, blocks[1].data = held = _arrays.pointer(right), _arrays.pointer(x)
        self.run(callback, watch, lib.spry_solve_dense, *blocks, record)
        if self._sides[0] <= SMALL:  # see run()
            self._brief = ffi.string(record.method) == b"direct"
        shaped = x if given.ndim == 1 else x.reshape((-1, *given.shape[1:]))
        return Result(self._context, record, _arrays.like(b, shaped))

    def _char(self, b: np.ndarray) -> str:
        if b.dtype.kind == "c" and self.dtype.kind == "f" and np.any(b.imag):
            raise UsageError("b is complex and the matrix is real: give Solver dtype=complex")
        return self.dtype.char

    def _guess(self, x0: Any, columns: int | None = None) -> np.ndarray:
        shape = (self._sides[1],) if columns is None else (self._sides[1], columns)
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
        if b.ndim != 2 or b.shape[0] != self._sides[0]:
            raise UsageError(f"the matrix is {self._sides[0]} x {self._sides[1]}, b has shape {b.shape}")
        if not count:
            return Results([], np.zeros((self._sides[1], 0), self.dtype))
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
        if b.shape[0] != self._sides[0]:
            raise UsageError(f"the matrix is {self._sides[0]} x {self._sides[1]}, b has shape {tuple(b.shape)}")
        x = _on_device.zeros(b) if x0 is None else _on_device.copied(x0, b)
        _on_device.settle(b)
        record = _result.record()
        context = self._context
        with context.lock:
            right, device, char = _arrays.device_vector(context, b)
            if char != self.dtype.char:
                raise UsageError(f"b is {np.dtype(char)}, the matrix {self.dtype}")
            self._set({"device": device})
            left = _arrays.device_vector(context, x)[0]
            self.run(callback, watch, lib.spry_solve, right, left, record)
            return Result(context, record, x)

    # As a LinearOperator

    def mirrored(self) -> "Solver":
        """A solver for A^H with the same options, kept for the next time."""
        if self._mirrored is None:
            A, options = self.mirror()
            self._mirrored = Solver(A, **options)
        return self._mirrored

    def mirror(self) -> tuple[Any, dict[str, Any]]:
        """A^H, and the options of a solver for it."""
        options = dict(self._wishes)
        M = options["precon"]
        if M is not None and not isinstance(M, str):
            M = as_inverse(M, self._sides, self.dtype.char)
            options["precon"] = M.H if hasattr(M, "H") else np.conj(M.T) if hasattr(M, "T") else None
            if options["precon"] is None:
                raise UsageError("the preconditioner has no transpose: solve with A^H by a Solver of its own")
        if self._matrix is not None:
            return self._matrix.H, options
        if self._native is not None:
            return self._native.H, options
        if self._function is not None and self._function.rmatvec is not None:
            f = self._function
            return LinearOperator(self._sides[::-1], matvec=f.rmatvec, rmatvec=f.matvec, dtype=f.dtype), options
        raise UsageError("A^H is not known: the operator has no rmatvec")

    def _matvec(self, x: Any) -> Any:
        x = np.asarray(x)
        if x.dtype.kind == "c" and self.dtype.kind == "f":
            return self._matvec(x.real.copy()) + 1j * self._matvec(x.imag.copy())
        return self.solve(x.reshape(-1)).check().x

    def _matmat(self, X: Any) -> Any:
        X = np.asarray(X)
        if X.dtype.kind == "c" and self.dtype.kind == "f":
            return self._matmat(X.real.copy()) + 1j * self._matmat(X.imag.copy())
        return self.solve(X).check().x

    def _adjoint(self) -> LinearOperator:
        return self.mirrored()

    def _rmatvec(self, x: Any) -> Any:
        return self.mirrored()._matvec(x)

    def _rmatmat(self, X: Any) -> Any:
        return self.mirrored()._matmat(X)

    def run(self, callback: Any, watch: Any, call: Callable[..., int], *arguments: Any) -> None:
        """A solve with its listeners; exceptions of Python functions within it are raised again."""
        pointer = self.pointer
        sources: list[Any] = []
        if self._function is not None or self._precon is not None:
            sources = functions([self._function, self._precon and self._precon[1]])
        if callback is not None:
            sources.append(Listener(callback, pointer))
            lib.spry_solver_set_monitor(pointer, on_iterate, sources[-1].handle)
        if watch is not None:
            sources.append(Listener(watch, pointer))
            lib.spry_solver_set_watch(pointer, on_residual, sources[-1].handle)
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
        self._matrix = self._function = self._precon = self._on_device = self._mirrored = self._native = None
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
                f"for {self._sides[0]} x {self._sides[1]}, {self.dtype}>")


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


@overload
def solve(A: Any, b: Column, x0: Any = None, **options: Unpack[SolveOptions]) -> Result: ...


@overload
def solve(A: Any, b: Columns, x0: Any = None, **options: Unpack[SolveOptions]) -> Results: ...


@overload
def solve(A: Any, b: Any, x0: Any = None, **options: Unpack[SolveOptions]) -> Result: ...


@named(SolveOptions)
def solve(A: Any, b: Any, x0: Any = None, *, callback: Callable[..., Any] | None = None,
          watch: Callable[..., Any] | None = None, **options: Unpack[Options]) -> Result | Results:
    """Solves A x = b; without `method` and `precon` it chooses both.

    Parameters
    ----------
    A : Matrix, sparse array or matrix, ndarray, tensor, LinearOperator
        The matrix; rectangular ones are solved in the sense of least squares.
    b : array_like, tensor, sparse array or matrix
        Right-hand side, or several as columns.
    x0 : array_like, optional
        First guess; by default 0.
    method, precon, tol, atol, maxiter, restart, format, device : optional
        See `Solver`.
    near_null, null_space, dtype : optional
        See `Solver`.
    callback, watch : callable, optional
        See `Solver.solve`.
    rtol, max_iter, method_file, reorder, reformat, fuse, stall, divergence, keep : optional
        See `Solver`.
    report_start, nullspace, memory : optional
        See `Solver`.

    Returns
    -------
    result : Result or Results
        With x in `.x`, an array of the kind of b. For two or more columns a list of results, whose `x`
        has the solutions as columns.

    Raises
    ------
    ValueError
        (`spry.UsageError`, `spry.InputError`) An argument is wrong, or a number is not finite.

    See Also
    --------
    Solver : keeps the set-up for the next system.
    spsolve : by factors, with SciPy's signature.

    Notes
    -----
    `result.converged` means that |b - A x| <= tol |b| holds of this x, computed anew; a solve that has
    not converged raises nothing, but `result.check()` does.

    Examples
    --------
    >>> import spry, numpy as np, scipy.sparse as sp
    >>> A = sp.csr_matrix([[4.0, 1.0], [1.0, 3.0]])
    >>> spry.solve(A, [1.0, 2.0]).x.round(4)
    array([0.0909, 0.6364])
    >>> spry.solve(A, np.eye(2)).x.round(4)
    array([[ 0.2727, -0.0909],
           [-0.0909,  0.3636]])
    """
    if x0 is None and callback is None and watch is None and not options:
        result = solve_once(A, b)
        if result is not None:
            warn(result, None)
            return result
    _arrays.refuse_swapped(A, b)
    if issparse(A) and A.format == "csc":  # converted once and not in each of its stages
        A = A.tocsr()
    if options.get("dtype") is None and not _arrays.on_device(b):
        own = type_of(A)
        char = _arrays.common(own, type_of(b, "b"))
        if char != own:
            options["dtype"] = char
    with Solver(A, **options) as solver:
        return solver.solve(b, x0, callback=callback, watch=watch)
