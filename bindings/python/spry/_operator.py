"""Python's operators for the library, and the library's preconditioners for Python."""

from __future__ import annotations

import weakref
from typing import Any, Callable

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator

from . import _arrays
from ._context import Context
from ._errors import ReleasedError, UsageError
from ._library import ffi, lib, text
from ._matrix import Matrix


def product(context: Context, operator: Any, shape: tuple[int, int], dtype: np.dtype, x: Any,
            transpose: int) -> Any:
    """op(A) x for a vector, or for the columns of a two-dimensional array."""
    if issparse(x) or isinstance(x, Matrix):
        raise UsageError("products of two sparse matrices are SciPy's: multiply what to_scipy() gives")
    given = _arrays.array(x, "x")
    if given.ndim not in (1, 2) or given.shape[0] != shape[1]:
        raise UsageError(f"a {shape[0]} x {shape[1]} matrix cannot be multiplied by an array "
                         f"of shape {given.shape}")
    if given.dtype.char in "FDG" and dtype.char in "fd":
        real = product(context, operator, shape, dtype, np.ascontiguousarray(given.real), transpose)
        return real + 1j * product(context, operator, shape, dtype,
                                   np.ascontiguousarray(given.imag), transpose)
    ready = _arrays.ready(given, dtype.char)
    y = np.zeros((shape[0], *given.shape[1:]), dtype)
    one, zero = ffi.new("spry_scalar *", (1.0, 0.0))[0], ffi.new("spry_scalar *")[0]
    if given.ndim == 1:
        status = lib.spry_operator_multiply(operator, transpose, one, _arrays.vector(context, ready),
                                            zero, _arrays.vector(context, y))
    else:
        status = lib.spry_operator_multiply_dense(operator, transpose, one, dense(ready), zero,
                                                  dense(y))
    context.check(status)
    return _arrays.like(x, y)


def dense(block: np.ndarray) -> Any:
    """A two-dimensional array, contiguous by rows or by columns, as the library's record of one."""
    record = ffi.new("spry_dense *")
    record.size = ffi.sizeof("spry_dense")
    record.rows, record.cols = block.shape
    record.by_rows = block.flags.c_contiguous
    record.ld = max(block.shape[1 if record.by_rows else 0], 1)
    place = _arrays.pointer(block if record.by_rows else block.T)
    record.data = place
    _held[record] = place
    return record


_held: Any = weakref.WeakKeyDictionary()


_PLAIN, _from_handle = lib.SPRY_TRANSPOSE_NO, ffi.from_handle


class Function:
    """A Python function as the library's operator. Its first exception ends the solve and is
    raised again by it."""

    def __init__(self, context: Context, shape: tuple[int, int], dtype: np.dtype,
                 matvec: Callable[[np.ndarray], Any],
                 rmatvec: Callable[[np.ndarray], Any] | None) -> None:
        self.context, self.shape, self.dtype = context, shape, dtype
        self.matvec, self.rmatvec = matvec, rmatvec
        self.error: BaseException | None = None
        self._views: dict[int, dict[Any, np.ndarray]] = {size: {} for size in shape}
        self._handle = ffi.new_handle(self)
        made = ffi.new("spry_operator **")
        context.check(lib.spry_operator_from_function(
            context.pointer, _arrays.TYPES[dtype.char], shape[0], shape[1], rmatvec is not None,
            _apply, self._handle, made))
        self.pointer = context.owned(made[0], lib.spry_operator_free)

    def view(self, place: Any, size: int) -> np.ndarray:
        """The library's numbers as an array. It hands over the same few vectors time after time, and
        looking an array up takes a third of making it."""
        views = self._views[size]
        found = views.get(place)
        if found is None:
            if len(views) > 100:
                views.clear()
            found = views[place] = _arrays.view(place, size, self.dtype)
        return found

    def run(self, op: int, x: Any, y: Any) -> None:
        """y = op(A) x"""
        rows, cols = self.shape if op == _PLAIN else self.shape[::-1]
        given = self.view(x, cols).copy()  # whoever keeps it may do so
        if op == _PLAIN:
            answer = self.matvec(given)
        elif self.rmatvec is None:
            raise UsageError("the operator has no product with its transpose")
        elif op == lib.SPRY_TRANSPOSE_CONJUGATE:
            answer = self.rmatvec(given)
        else:
            answer = np.conj(self.rmatvec(np.conj(given)))
        if type(answer) is not np.ndarray or answer.dtype is not self.dtype or answer.size != rows:
            answer = np.asarray(answer)
            if answer.size != rows:
                raise UsageError(f"the operator gave {answer.size} numbers where {rows} are needed")
            if self.dtype.kind == "f" and answer.dtype.kind == "c":
                raise UsageError("the operator gave complex numbers; say so by its dtype")
        self.view(y, rows)[:] = answer if answer.ndim == 1 else answer.reshape(rows)


def note_error(_kind: Any, error: BaseException, traceback: Any) -> None:
    """Keeps the exception of a callback until the library has returned; KeyboardInterrupt may
    come before the callback's first line."""
    source = ffi.from_handle(traceback.tb_frame.f_locals["data"])
    if source.error is None:
        source.error = error


@ffi.callback("spry_apply_fn", error=lib.SPRY_STATUS_BAD_INPUT, onerror=note_error)
def _apply(data: Any, op: int, x: Any, y: Any) -> int:
    _from_handle(data).run(op, x, y)
    return 0  # SPRY_STATUS_OK


def is_operator(A: Any) -> bool:
    """Whether only the products of an object are known."""
    if issparse(A):  # these take long to say that they lack an attribute
        return False
    return isinstance(A, LinearOperator) or (
        hasattr(A, "shape") and hasattr(A, "matvec") and not hasattr(A, "nnz")
        and not isinstance(A, (np.ndarray, Matrix)))


def type_of(A: Any, name: str = "the matrix") -> str:
    """The character of the type of a matrix's or operator's numbers."""
    dtype = getattr(A, "dtype", None)
    if dtype is None:
        if is_operator(A):
            return np.asarray(A.matvec(np.zeros(A.shape[1]))).dtype.char
        return _arrays.array(A, name).dtype.char
    if not isinstance(dtype, np.dtype):
        try:
            dtype = np.dtype(str(dtype).rsplit(".", 1)[-1])
        except TypeError:
            raise UsageError(f"numbers of type {dtype} cannot be solved with: real, complex, integer "
                             "or bool is needed") from None
    return dtype.char


def _can_transpose(A: Any) -> bool:
    """SciPy's LinearOperator always has rmatvec; one without a transpose raises an exception."""
    if isinstance(A, LinearOperator):
        inner = getattr(A, "_CustomLinearOperator__rmatvec_impl", False)
        if inner is not False:
            return inner is not None
        return type(A)._rmatvec is not LinearOperator._rmatvec or type(A)._adjoint is not LinearOperator._adjoint
    return hasattr(A, "rmatvec")


def from_python(context: Context, A: Any, char: str) -> Function:
    """An operator from a LinearOperator or whatever has shape and matvec."""
    ready = getattr(A, "_function", None)  # of a grid's operator
    if isinstance(ready, Function) and ready.context is context and ready.dtype.char == char:
        return ready
    rmatvec = A.rmatvec if _can_transpose(A) else None
    if len(A.shape) != 2:
        raise UsageError(f"an operator has two dimensions, this one has shape {tuple(A.shape)}")
    shape = (int(A.shape[0]), int(A.shape[1]))
    # What a LinearOperator is made of: matvec() is that, with checks that are made here anyway.
    matvec = A._matvec if isinstance(A, LinearOperator) else A.matvec
    return Function(context, shape, np.dtype(char), matvec, rmatvec)


def as_inverse(M: Any, shape: tuple[int, int], char: str) -> Any:
    """A preconditioner as something to multiply by: pyamg's solvers by what they are as one, factors
    of SciPy and others, which have `solve`, by that."""
    if M is None or isinstance(M, (LinearOperator, Matrix, np.ndarray, str)) or issparse(M):
        return M
    if hasattr(M, "aspreconditioner"):
        return M.aspreconditioner()
    if hasattr(M, "solve") and not hasattr(M, "matvec"):
        adjoint = (lambda r: M.solve(r, "H")) if hasattr(M, "perm_c") else None  # SuperLU
        return LinearOperator(tuple(getattr(M, "shape", shape)), matvec=M.solve, rmatvec=adjoint,
                              dtype=np.dtype(char))
    return M


class Linear(LinearOperator):
    """SciPy's LinearOperator, whose products with `@` are of the kind of array they are given."""

    def dot(self, x: Any) -> Any:
        """A x; of an operator or a number, the operator that is the product."""
        if np.isscalar(x) or issparse(x) or isinstance(x, LinearOperator):
            return super().dot(x)
        return _arrays.like(x, super().dot(_arrays.array(x, "x")))


class Operator(Linear):
    """An operator of the library's: a stencil, a transform, a preconditioner.

    It is a LinearOperator, which solvers of spry use without a return to Python.
    """

    def __init__(self, context: Context, pointer: Any, keep: Any = None) -> None:
        self._context, self._pointer = context, context.owned(pointer, lib.spry_operator_free, keep)
        super().__init__(_arrays.DTYPES[lib.spry_operator_type(pointer)],
                         (int(lib.spry_operator_rows(pointer)), int(lib.spry_operator_cols(pointer))))

    @property
    def pointer(self) -> Any:
        """The C object."""
        if self._pointer is None:
            raise ReleasedError("the operator was closed")
        return self._pointer

    @property
    def name(self) -> str:
        """The kind in use: "stencil", "amg", "ilu"."""
        return text(lib.spry_operator_name(self.pointer))

    def check(self) -> None:
        """Raises `ChangedError` if it uses borrowed arrays that have changed."""
        self._context.sweep()

    def lent(self) -> Any:
        """See `Matrix.lent`."""
        return self._pointer

    def to_matrix(self) -> Matrix:
        """Its entries, where the library knows them."""
        made = ffi.new("spry_matrix **")
        with self._context.lock:
            self._context.check(lib.spry_operator_to_matrix(self.pointer, made))
        return Matrix._from(self._context, made[0])

    def _product(self, x: Any, transpose: int) -> Any:
        self.check()
        context = self._context
        with context.lock:
            sides = self.shape if transpose == lib.SPRY_TRANSPOSE_NO else self.shape[::-1]
            return product(context, self.pointer, sides, self.dtype, x, transpose)

    def _matvec(self, x: Any) -> Any:
        return self._product(np.asarray(x).reshape(-1), lib.SPRY_TRANSPOSE_NO)

    def _matmat(self, X: Any) -> Any:
        return self._product(np.asarray(X), lib.SPRY_TRANSPOSE_NO)

    def _rmatvec(self, x: Any) -> Any:
        return self._product(np.asarray(x).reshape(-1), lib.SPRY_TRANSPOSE_CONJUGATE)

    def _rmatmat(self, X: Any) -> Any:
        return self._product(np.asarray(X), lib.SPRY_TRANSPOSE_CONJUGATE)

    def __repr__(self) -> str:
        what = type(self).__name__
        if self._pointer is None:
            return f"<spry.{what}, closed>"
        return f"<spry.{what} {self.name} for {self.shape[0]} x {self.shape[1]}, {self.dtype}>"

    def close(self) -> None:
        """Frees it now."""
        dead, self._pointer = self._pointer, None
        if dead is not None:
            ffi.release(dead)


class Preconditioner(Operator):
    """A preconditioner of spry's: M approximates the inverse of A.

    It is a LinearOperator that every solver takes as `M`: SciPy's, pyamg's, your own. Those of spry do
    not come back to Python for it.

    Parameters
    ----------
    A : Matrix, sparse array or matrix, ndarray, tensor
    spec : str, optional
        Name and options, of `spry.choices("precons")`: what the command line takes as --precon.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype

    See Also
    --------
    spilu : SciPy's incomplete factors.

    Examples
    --------
    >>> import spry, numpy as np, scipy.sparse.linalg as sla
    >>> A = spry.generate("poisson2d", size=20).to_scipy()
    >>> M = spry.Preconditioner(A, "ilu:level=1")
    >>> x, info = sla.cg(A, np.ones(400), M=M)
    >>> info
    0
    """

    def __init__(self, A: Any, spec: str = "auto") -> None:
        matrix = A if isinstance(A, Matrix) else Matrix(A)
        context = matrix._context
        made = ffi.new("spry_operator **")
        with context.lock:
            context.patiently(lib.spry_precon_new, matrix.pointer, ffi.NULL, spec.encode(), made)
        if made[0] == ffi.NULL:
            raise UsageError(f"{spec!r} is no preconditioner")
        super().__init__(context, made[0])
        self._matrix, self.spec = matrix, spec
        # these multiply by the matrix where it is; all others have what they need of their own
        self._uses_matrix = any(word in self.name + spec for word in ("poly", "amg"))

    def __reduce__(self) -> tuple[Any, ...]:
        return Preconditioner, (self._matrix, self.spec)

    def check(self) -> None:
        """Raises `ChangedError` if it uses borrowed arrays that have changed, and `ReleasedError` if
        the matrix is closed."""
        self._context.sweep()
        if self._uses_matrix:
            self._matrix.check()
        else:
            self._matrix.lent()

    def lent(self) -> Any:
        """See `Matrix.lent`."""
        return self._matrix.lent()

    def update(self, values: Any = None) -> None:
        """Takes new values of the matrix (`Matrix.update`), without a new set-up."""
        if values is not None:
            self._matrix.update(values)
        with self._context.lock:
            self._context.patiently(lib.spry_operator_update, self.pointer, self._matrix.pointer)
