"""Matrix: the library's sparse matrix over arrays of SciPy, NumPy or PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from . import _arrays, _on_device
from ._context import Context, current
from ._errors import ChangedError, ReleasedError, UsageError
from ._library import ffi, lib, sized, taken, text

_SYMMETRIES = taken("spry_symmetry")
_FACTS = {name.replace("_", "-"): value for name, value in taken("spry_fact").items()
          if name != "count"}


from_buffer, fingerprint = ffi.from_buffer, lib.spry_fingerprint


class Arrays:
    """The arrays of a matrix that the library borrows: format, shape and references."""

    __slots__ = ("format", "shape", "offsets", "rows", "cols", "values", "borrowed")

    def __init__(self, form: str, shape: tuple[int, int], offsets: Any, rows: Any, cols: Any,
                 values: np.ndarray, borrowed: bool) -> None:
        self.format, self.shape, self.borrowed = form, shape, borrowed
        self.offsets, self.rows, self.cols, self.values = offsets, rows, cols, values

    def mark(self) -> list[Any]:
        """Places and fingerprints of the arrays; those of the values are the last."""
        mark: list[Any] = []
        for part in (self.offsets, self.rows, self.cols, self.values):
            if part is not None:
                place = from_buffer(part)
                mark += place, fingerprint(place, part.nbytes, 0)
        return mark


def _index(part: Any) -> np.ndarray:
    """Indices of 32 or 64 bits, in place if they already are."""
    part = np.asarray(part)
    if part.dtype.char == "i" and part.dtype.isnative and part.flags.c_contiguous \
            and part.flags.aligned:
        return part  # np.int32, by the quickest question
    if part.dtype.kind not in "iu":
        raise UsageError(f"indices must be integers, not {part.dtype}")
    return np.require(part, dtype=np.int32 if part.dtype.itemsize <= 4 and part.dtype.kind == "i"
                      else np.int64, requirements=["C", "A"])


def arrays_of(A: Any, char: str | None = None) -> Arrays:
    """The arrays of any matrix on the host; without a copy where the library can use them."""
    if not issparse(A) and hasattr(A, "crow_indices") and hasattr(A, "layout"):  # PyTorch
        return _torch_arrays(A, char)
    A = _on_device.brought(A)
    form = getattr(A, "format", None)
    if form is None or not hasattr(A, "nnz"):
        return _dense_arrays(A, char)
    if not hasattr(A, "dtype") or getattr(A, "ndim", 2) != 2:
        raise UsageError("a matrix has two dimensions")
    if form not in ("csr", "csc", "coo"):
        A, form = A.tocsr(), "csr"
    values = _arrays.ready(A.data, char or _arrays.kind(A.dtype.char))
    shape = (int(A.shape[0]), int(A.shape[1]))
    if form == "coo":
        rows, cols = _index(A.row), _index(A.col)
        borrowed = values is A.data or rows is A.row or cols is A.col
        return Arrays(form, shape, None, rows, cols, values, borrowed)
    offsets, indices = _index(A.indptr), _index(A.indices)
    borrowed = values is A.data or offsets is A.indptr or indices is A.indices
    stored = offsets.item(-1) if offsets.size else 0
    if 0 <= stored < min(values.size, indices.size):  # SciPy allows arrays that are too long
        values, indices = values[:stored], indices[:stored]
    return _compressed(form, shape, offsets, indices, values, borrowed)


def _compressed(form: str, shape: tuple[int, int], offsets: np.ndarray, indices: np.ndarray,
                values: np.ndarray, borrowed: bool) -> Arrays:
    """CSR or CSC, of arrays whose lengths the library cannot see."""
    if indices.size != values.size:
        raise UsageError(f"{indices.size} indices, but {values.size} values")
    major = shape[0] if form == "csr" else shape[1]
    if offsets.size != major + 1:
        raise UsageError(f"{offsets.size} offsets, but {major} {'rows' if form == 'csr' else 'columns'}")
    return Arrays(form, shape, offsets, indices if form == "csc" else None,
                  indices if form == "csr" else None, values, borrowed)


def _dense_arrays(A: Any, char: str | None) -> Arrays:
    dense = _arrays.array(A, "the matrix")
    if dense.ndim != 2:
        raise UsageError(f"a matrix has two dimensions, this array has {dense.ndim}")
    char = char or _arrays.kind(dense.dtype.char)
    stored = dense != 0
    cols = np.nonzero(stored)[1].astype(np.int32)
    offsets = np.zeros(dense.shape[0] + 1, np.int64)
    np.cumsum(stored.sum(axis=1), out=offsets[1:])
    return Arrays("csr", dense.shape, offsets, None, cols, _arrays.ready(dense[stored], char), False)


def _torch_arrays(A: Any, char: str | None) -> Arrays:
    if len(A.shape) != 2:
        raise UsageError(f"a matrix has two dimensions, this tensor has {len(A.shape)}")
    A = A.detach().cpu()
    if str(A.layout) != "torch.sparse_csr":
        A = A.to_sparse_csr()
    values = A.values().numpy()
    made = _arrays.ready(values, char or _arrays.kind(values.dtype.char))
    return _compressed("csr", (int(A.shape[0]), int(A.shape[1])), _index(A.crow_indices().numpy()),
                       _index(A.col_indices().numpy()), made, True)


class Matrix:
    """A sparse matrix for spry, over the arrays of another where that is possible.

    Parameters
    ----------
    A : sparse array or matrix, ndarray, tensor, Matrix
        CSR with indices of 32 bits is used in place.
    dtype : dtype, optional
        By default that of A; integers become doubles.
    symmetry : {'general', 'symmetric', 'hermitian', 'skew'}, optional
        What entries stand for: all but 'general' where A holds the lower triangle alone.
    copy : bool, optional
        Makes the matrix independent of A's arrays.
    near_null : array_like, optional
        See `set_near_null`.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    nnz : int
    T, H : Matrix
        A^T and A^H.

    Notes
    -----
    Change the numbers of borrowed arrays only with `update`: every solve compares a fingerprint of the
    arrays with that of before, and raises `ChangedError` where they differ.

    Examples
    --------
    >>> import spry, numpy as np, scipy.sparse as sp
    >>> A = spry.Matrix(sp.csr_matrix([[4.0, 1.0], [1.0, 3.0]]))
    >>> A
    <spry.Matrix 2 x 2, 4 entries, float64, csr>
    >>> A @ np.array([1.0, 2.0])
    array([6., 7.])
    >>> (A + 2 * A.T).toarray()
    array([[12.,  3.],
           [ 3.,  9.]])
    """

    _arrays: Arrays | None
    _mark: Any

    def __init__(self, A: Any, *, dtype: Any = None, symmetry: str = "general", copy: bool = False,
                 near_null: Any = None) -> None:
        context = current()
        if isinstance(A, Matrix):
            A = A.to_scipy()
        arrays = arrays_of(A, _arrays.wanted(dtype) if dtype is not None else None)
        if symmetry not in _SYMMETRIES:
            raise UsageError(f"symmetry is one of {', '.join(_SYMMETRIES)}, not {symmetry!r}")
        self._adopt(context, _made(context, arrays, _SYMMETRIES[symmetry], copy), arrays)
        if not copy:
            self._arrays = arrays
            if arrays.borrowed:
                self._mark = arrays.mark()
        if near_null is not None:
            self.set_near_null(near_null)

    def _adopt(self, context: Context, pointer: Any, lent: Any = None) -> None:
        self._context = context
        self._pointer: Any = context.owned(pointer, lib.spry_matrix_free, lent)
        self._operator: Any = None
        self._arrays = self._mark = None
        self.shape = (int(lib.spry_matrix_rows(pointer)), int(lib.spry_matrix_cols(pointer)))
        self.dtype = _arrays.DTYPES[lib.spry_matrix_type(pointer)]

    @classmethod
    def _from(cls, context: Context, pointer: Any) -> "Matrix":
        made = cls.__new__(cls)
        made._adopt(context, pointer)
        return made

    # What it is

    ndim = 2

    @property
    def nnz(self) -> int:
        """Stored entries."""
        return int(lib.spry_matrix_nnz(self.pointer))

    @property
    def format(self) -> str:
        """The format of its arrays: "csr", "csc" or "coo"."""
        return text(lib.spry_format_name(lib.spry_matrix_format(self.pointer)))

    @property
    def symmetry(self) -> str:
        """What entries represent: "general", "symmetric", ..."""
        return text(lib.spry_symmetry_name(lib.spry_matrix_symmetry(self.pointer)))

    @property
    def pointer(self) -> Any:
        """The C object, for calls through `spry.lib`."""
        self.lent()
        return self._pointer

    def __repr__(self) -> str:
        if self._pointer is None:
            return "<spry.Matrix, closed>"
        kind = "" if self.symmetry == "general" else f" {self.symmetry}"
        return (f"<spry.Matrix {self.shape[0]} x {self.shape[1]}, {self.nnz} entries, "
                f"{self.dtype}, {self.format}{kind}>")

    def check(self) -> None:
        """Raises `ChangedError` if borrowed arrays have changed, and `ReleasedError` if the matrix
        is closed."""
        context = self._context
        context.sweep()
        with context.lock:
            lent = self.lent()
            if lent is not None and self._mark is not None and self._mark != lent.mark():
                raise ChangedError("the arrays of the matrix were changed: give the new values to "
                                   "update(), or make the matrix with copy=True")

    def lent(self) -> Arrays | None:
        """The arrays that the library uses, to be held during a call; `ReleasedError` once closed."""
        if self._pointer is None:
            raise ReleasedError("the matrix was closed")
        return self._arrays

    def fact(self, name: str, find: bool = True) -> bool | None:
        """Whether something holds of it: "symmetric", "hermitian", "definite", "finite", ...

        None: not known, also after looking. `find=False` looks at nothing.

        >>> import spry
        >>> spry.generate("poisson2d", size=5).fact("symmetric")
        True
        """
        if name not in _FACTS:
            raise UsageError(f"facts are {', '.join(_FACTS)}, not {name!r}")
        if not find:
            truth = lib.spry_matrix_fact(self.pointer, _FACTS[name])
        else:
            found = ffi.new("spry_truth *")
            with self._context.lock:
                self._context.check(lib.spry_matrix_find_fact(self.pointer, _FACTS[name], found))
            truth = found[0]
        return {lib.SPRY_TRUTH_YES: True, lib.SPRY_TRUTH_NO: False}.get(truth)

    def declare(self, name: str, truth: bool | None = True) -> None:
        """States what you know, so that the library need not compute it: `A.declare("definite")`."""
        if name not in _FACTS:
            raise UsageError(f"facts are {', '.join(_FACTS)}, not {name!r}")
        value = {True: lib.SPRY_TRUTH_YES, False: lib.SPRY_TRUTH_NO, None: lib.SPRY_TRUTH_UNKNOWN}
        if truth not in (True, False, None):
            raise UsageError(f"a truth is True, False or None, not {truth!r}")
        with self._context.lock:
            self._context.check(lib.spry_matrix_set_fact(self.pointer, _FACTS[name], value[truth]))

    def stats(self) -> dict[str, Any]:
        """Statistics: row lengths, bandwidth, symmetry, norms.

        >>> import spry
        >>> spry.generate("poisson2d", size=5).stats()["row_max"]
        5
        """
        record = sized("spry_stats")
        with self._context.lock:
            self._context.check(lib.spry_matrix_stats(self.pointer, record))
        from ._result import members

        return members("spry_stats", record)

    # What it holds

    def update(self, values: Any) -> None:
        """New values for the entries it has: an array in the order of its entries, or a matrix
        with the same pattern. Solvers made from it take them at their next solve."""
        if hasattr(values, "nnz") or isinstance(values, Matrix):
            values = self._values_of(values)
        fresh = _arrays.array(values, "values")
        if fresh.shape != (self.nnz,):
            raise UsageError(f"{self.nnz} values are needed, in the order of the matrix's entries; "
                             f"these have shape {fresh.shape}")
        made = _arrays.ready(fresh, self.dtype.char)
        borrow = self._arrays is not None
        own = lib.SPRY_OWN_BORROW if borrow else lib.SPRY_OWN_COPY
        with self._context.lock:
            lent = self.lent()
            if lent is not None and self._mark is not None and lent.mark()[:-2] != self._mark[:-2]:
                raise ChangedError("the places of the entries were changed: make a new Matrix")
            self._context.check(
                lib.spry_matrix_set_values(self.pointer, _arrays.pointer(made), own))
            if lent is not None:
                lent.values = made
                if self._mark is not None or made is fresh:
                    self._mark = lent.mark()

    def _values_of(self, other: Any) -> np.ndarray:
        if isinstance(other, Matrix):
            other = other.to_scipy()
        if other.format != self.format:
            other = other.asformat(self.format)
        theirs, mine = arrays_of(other, self.dtype.char), self.arrays()
        for name in ("offsets", "rows", "cols"):
            a, b = getattr(theirs, name), getattr(mine, name)
            if a is not None and not np.array_equal(a, b):
                raise UsageError("the new matrix has entries at other places: make a new Matrix")
        return theirs.values

    def arrays(self) -> Arrays:
        """The library's arrays, in place. Do not change them; they are valid while the matrix is."""
        record = sized("spry_arrays")
        with self._context.lock:
            self._context.check(lib.spry_matrix_arrays(self.pointer, record))
        count = record.nnz
        major = {"csr": record.rows, "csc": record.cols}.get(self.format, 0)

        def part(place: Any, size: int, dtype: Any) -> Any:
            if place == ffi.NULL:
                return None
            return _arrays.view(place, size, np.dtype(dtype)) if size else np.empty(0, dtype)

        return Arrays(self.format, self.shape, part(record.offsets, major + 1, np.int64),
                      part(record.row_index, count, np.int32),
                      part(record.col_index, count, np.int32),
                      part(record.values, count, self.dtype), False)

    def to_scipy(self) -> Any:
        """A SciPy array with copies of its entries, the implied triangle written out.

        >>> import spry
        >>> spry.generate("tridiagonal", size=3).to_scipy().toarray()
        array([[ 2., -1.,  0.],
               [-1.,  2., -1.],
               [ 0., -1.,  2.]])
        """
        import scipy.sparse

        if self.symmetry != "general":
            full = ffi.new("spry_matrix **")
            with self._context.lock:
                self._context.check(lib.spry_matrix_expand(self.pointer, full))
            return Matrix._from(self._context, full[0]).to_scipy()
        held = self.arrays()
        values = held.values.copy()
        if self.format == "coo":
            return scipy.sparse.coo_array((values, (held.rows.copy(), held.cols.copy())), self.shape)
        kind = scipy.sparse.csr_array if self.format == "csr" else scipy.sparse.csc_array
        small = held.offsets[-1] <= np.iinfo(np.int32).max
        offsets = held.offsets.astype(np.int32 if small else np.int64)
        indices = (held.cols if self.format == "csr" else held.rows).astype(offsets.dtype)
        return kind((values, indices, offsets), self.shape)

    def tocsr(self) -> Any:
        """`to_scipy`, in CSR."""
        return self.to_scipy().tocsr()

    def tocsc(self) -> Any:
        """`to_scipy`, in CSC."""
        return self.to_scipy().tocsc()

    def tocoo(self) -> Any:
        """`to_scipy`, in COO."""
        return self.to_scipy().tocoo()

    def toarray(self) -> np.ndarray:
        """All its numbers, zeros too."""
        return self.to_scipy().toarray()

    def diagonal(self) -> np.ndarray:
        """Its diagonal."""
        return self.to_scipy().diagonal()

    def set_near_null(self, vectors: Any) -> None:
        """Vectors that it makes nearly zero, as columns: multigrid represents them on coarse levels.
        For elasticity these are the rigid body modes."""
        block = np.atleast_2d(_arrays.array(vectors, "near_null").T).T
        if block.ndim != 2 or block.shape[0] != self.shape[1]:
            raise UsageError(f"near_null has shape {block.shape}, the matrix {self.shape[1]} columns")
        columns = [_arrays.ready(block[:, i], self.dtype.char) for i in range(block.shape[1])]
        with self._context.lock:
            held = [_arrays.vector(self._context, column) for column in columns]
            self._context.check(
                lib.spry_matrix_set_near_null(self.pointer, len(held), ffi.new("spry_vector *[]", held)))

    # What it does

    def operator(self) -> Any:
        """The library's product with it."""
        if self._operator is None:
            made = ffi.new("spry_operator **")
            self._context.check(lib.spry_operator_from_matrix(self.pointer, ffi.NULL, ffi.NULL, made))
            self._operator = self._context.owned(made[0], lib.spry_operator_free)
        return self._operator

    def __matmul__(self, x: Any) -> Any:
        self.check()
        from ._operator import product

        with self._context.lock:
            return product(self._context, self.operator(), self.shape, self.dtype, x,
                           lib.SPRY_TRANSPOSE_NO)

    def rmatvec(self, x: Any) -> Any:
        """A^H x."""
        self.check()
        from ._operator import product

        with self._context.lock:
            return product(self._context, self.operator(), self.shape[::-1], self.dtype, x,
                           lib.SPRY_TRANSPOSE_CONJUGATE)

    matvec = __matmul__
    dot = __matmul__
    matmat = __matmul__

    def __rmatmul__(self, x: Any) -> Any:
        """x @ A, for a vector or for rows."""
        self.check()
        from ._operator import product

        rows = x if issparse(x) else _arrays.array(x, "x")
        with self._context.lock:
            made = product(self._context, self.operator(), self.shape[::-1], self.dtype, rows.T,
                           lib.SPRY_TRANSPOSE_YES)
        return _arrays.like(x, made.T)

    # Arithmetic

    __array_ufunc__ = None  # NumPy's arrays leave products with them to __rmatmul__

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise UsageError("NumPy and SciPy do not read a spry.Matrix: to_scipy() makes a sparse array of it, "
                         "toarray() a dense one")

    def _combined(self, alpha: Any, beta: Any = 0, other: Any = None) -> "Matrix":
        """alpha A + beta B"""
        char = _arrays.common(self.dtype.char, *[np.asarray(factor).dtype.char for factor in (alpha, beta)
                                                 if isinstance(factor, (complex, np.complexfloating))])
        if other is not None:
            other = other if isinstance(other, Matrix) else Matrix(other)
            char = _arrays.common(char, other.dtype.char)
            if other.shape != self.shape:
                raise UsageError(f"a {self.shape[0]} x {self.shape[1]} matrix and one of shape {other.shape} "
                                 "cannot be added")
        parts = [part if part.dtype.char == char else Matrix(part, dtype=char)
                 for part in (self, self if other is None else other)]
        for part in parts:
            part.check()
        factors = [ffi.new("spry_scalar *", (complex(f).real, complex(f).imag))[0] for f in (alpha, beta)]
        made = ffi.new("spry_matrix **")
        with self._context.lock:
            self._context.check(lib.spry_matrix_add(factors[0], parts[0].pointer, factors[1],
                                                    parts[1].pointer, made))
        return Matrix._from(self._context, made[0])

    def __add__(self, other: Any) -> "Matrix":
        return NotImplemented if np.ndim(other) != 2 else self._combined(1, 1, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Matrix":
        return NotImplemented if np.ndim(other) != 2 else self._combined(1, -1, other)

    def __rsub__(self, other: Any) -> "Matrix":
        return NotImplemented if np.ndim(other) != 2 else self._combined(-1, 1, other)

    def __mul__(self, factor: Any) -> "Matrix":
        return self._combined(factor) if np.isscalar(factor) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, factor: Any) -> "Matrix":
        return self._combined(1 / factor) if np.isscalar(factor) else NotImplemented

    def __neg__(self) -> "Matrix":
        return self._combined(-1)

    def transpose(self, conjugate: bool = False) -> "Matrix":
        """A^T, or A^H: a matrix of its own."""
        self.check()
        made = ffi.new("spry_matrix **")
        with self._context.lock:
            self._context.check(lib.spry_matrix_transpose(self.pointer, conjugate, made))
        return Matrix._from(self._context, made[0])

    @property
    def T(self) -> "Matrix":
        """A^T"""
        return self.transpose()

    @property
    def H(self) -> "Matrix":
        """A^H"""
        return self.transpose(True)

    def close(self) -> None:
        """Frees it now rather than when Python drops it."""
        dead = self._operator, self._pointer
        self._pointer = self._operator = self._arrays = self._mark = None
        for pointer in dead:
            if pointer is not None:
                ffi.release(pointer)

    def __enter__(self) -> "Matrix":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return Matrix, (self.to_scipy(),)


def is_common(arrays: Arrays, symmetry: int) -> bool:
    """SciPy's CSR with 32 bits; its last offset is what the library takes for the number of entries."""
    return (arrays.format == "csr" and symmetry == lib.SPRY_SYMMETRY_GENERAL
            and arrays.offsets.dtype.char == "i" and arrays.cols.dtype.char == "i"
            and arrays.offsets.item(-1) == arrays.values.size)


def _made(context: Context, arrays: Arrays, symmetry: int, copy: bool) -> Any:
    """The library's matrix from arrays."""
    if is_common(arrays, symmetry):  # the shortest way
        made = ffi.new("spry_matrix **")
        held = [_arrays.pointer(part) for part in (arrays.offsets, arrays.cols, arrays.values)]
        with context.lock:
            context.check(lib.spry_matrix_from_csr32(
                context.pointer, _arrays.TYPES[arrays.values.dtype.char], *arrays.shape, *held,
                lib.SPRY_OWN_COPY if copy else lib.SPRY_OWN_BORROW, made))
        return made[0]
    record = sized("spry_arrays")
    record.type = _arrays.TYPES[arrays.values.dtype.char]
    record.format = getattr(lib, "SPRY_FORMAT_" + arrays.format.upper())
    record.symmetry = symmetry
    record.rows, record.cols = arrays.shape
    record.nnz = arrays.values.size
    held = []
    for name, part in (("offsets", arrays.offsets), ("row_index", arrays.rows),
                       ("col_index", arrays.cols), ("values", arrays.values)):
        if part is not None:
            place = _arrays.pointer(part)
            held.append(place)
            setattr(record, name, place)
    if arrays.offsets is not None:
        record.offset_bits = 8 * arrays.offsets.itemsize
    index = arrays.cols if arrays.cols is not None else arrays.rows
    if arrays.format == "coo" and arrays.rows.dtype != arrays.cols.dtype:
        raise UsageError("row and column indices must be of one type")
    record.index_bits = 8 * index.itemsize
    made = ffi.new("spry_matrix **")
    own = lib.SPRY_OWN_COPY if copy else lib.SPRY_OWN_BORROW
    with context.lock:
        context.check(lib.spry_matrix_new(context.pointer, record, own, made))
    return made[0]
