"""Files, and generated test matrices."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _arrays
from ._about import _word
from ._context import current
from ._errors import UsageError
from ._library import ffi, lib
from ._matrix import Matrix


def _text(options: dict[str, Any]) -> bytes:
    return " ".join(f"{name.replace('_', '-')}={_word(value)}"
                    for name, value in options.items() if value is not None).encode()


def read(path: str | os.PathLike[str], *, vector: bool = False, **options: Any) -> Any:
    """Reads a matrix or vectors from a file.

    Parameters
    ----------
    path : path_like
        .mtx, .mtx.gz, .rb, .npz, .npy, .spry and all else of `spry.choices("files")`.
    vector : bool, optional
        Whether it has a dense array of one column or several.
    **options
        duplicates, nonfinite, type, expand: as in `spry convert`.

    Returns
    -------
    what : Matrix or ndarray

    Examples
    --------
    >>> import spry, tempfile, os
    >>> name = os.path.join(tempfile.mkdtemp(), "A.mtx")
    >>> spry.write(name, spry.generate("tridiagonal", size=3))
    >>> spry.read(name).shape
    (3, 3)
    """
    name = os.fsencode(path)
    context = current()
    with context.lock:
        if not vector:
            made = ffi.new("spry_matrix **")
            context.patiently(lib.spry_matrix_read, context.pointer, name, _text(options), made)
            return Matrix._from(context, made[0])
        held, cols = ffi.new("spry_vector **"), ffi.new("int64_t *")
        context.patiently(lib.spry_columns_read, context.pointer, name, _text(options), held, cols)
        try:
            size = lib.spry_vector_size(held[0])
            dtype = _arrays.DTYPES[lib.spry_vector_type(held[0])]
            numbers = np.zeros(0, dtype)
            if size:
                numbers = _arrays.view(lib.spry_vector_data(held[0]), size, dtype).copy()
        finally:
            lib.spry_vector_free(held[0])
    return numbers if cols[0] == 1 else numbers.reshape((-1, cols[0]), order="F")


def write(path: str | os.PathLike[str], what: Any) -> None:
    """Writes a matrix, or a dense array as a vector or several; the format follows from the name.

    Parameters
    ----------
    path : path_like
        Complete or absent afterwards.
    what : Matrix, sparse array or matrix, array_like

    Examples
    --------
    >>> import spry, numpy as np, tempfile, os
    >>> name = os.path.join(tempfile.mkdtemp(), "b.mtx")
    >>> spry.write(name, np.array([1.0, 2.0]))
    >>> spry.read(name, vector=True)
    array([1., 2.])
    """
    name = os.fsencode(path)
    if isinstance(what, Matrix) or hasattr(what, "nnz") or hasattr(what, "crow_indices"):
        matrix = what if isinstance(what, Matrix) else Matrix(what)
        context = matrix._context
        with context.lock:
            context.patiently(lib.spry_matrix_write, matrix.pointer, name)
        return
    block = _arrays.array(what, "the array")
    if block.ndim > 2:
        raise UsageError(f"one column or several can be written, not an array of shape {block.shape}")
    columns = block.shape[1] if block.ndim == 2 else 1
    flat = _arrays.ready(block.ravel(order="F"), _arrays.kind(block.dtype.char))
    context = current()
    with context.lock:
        held = _arrays.vector(context, flat)
        context.patiently(lib.spry_columns_write, held, columns, name)


def generate(kind: str, **options: Any) -> Matrix:
    """A generated test matrix.

    Parameters
    ----------
    kind : str
        Of `spry.choices("generators")`.
    **options
        ``size=100``; `spry.explain("poisson3d")` lists those of a kind.

    Returns
    -------
    A : Matrix

    Examples
    --------
    >>> import spry
    >>> spry.generate("poisson2d", size=3)
    <spry.Matrix 9 x 9, 33 entries, float64, csr>
    """
    made = ffi.new("spry_matrix **")
    context = current()
    with context.lock:
        context.patiently(lib.spry_generate, context.pointer, kind.encode(), _text(options), made)
    return Matrix._from(context, made[0])
