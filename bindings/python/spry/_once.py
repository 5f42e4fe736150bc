"""One solution of one system, by the shortest way: no object is made in Python but the result."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from . import _arrays, _result
from ._context import current
from ._library import ffi, lib
from ._matrix import arrays_of, is_common

_MATRIX, _VECTOR = ffi.typeof("spry_matrix **"), ffi.typeof("spry_vector **")


def solve_once(A: Any, b: Any) -> _result.Result | None:
    """Solves A x = b for a matrix of SciPy's in CSR and a vector of NumPy's; None: they are
    something else."""
    if type(b) is not np.ndarray or b.ndim != 1 or not issparse(A) or A.format != "csr" \
            or A.shape[0] != b.size or A.dtype.char not in _arrays.TYPES:
        return None
    char = _arrays.common(A.dtype.char, b.dtype.char)
    arrays = arrays_of(A, char)
    if not is_common(arrays, lib.SPRY_SYMMETRY_GENERAL):
        return None
    right, x = _arrays.ready(b, char), np.zeros(arrays.shape[1], char)
    context, kind, record = current(), _arrays.TYPES[char], _result.record()
    pointer, check = context.pointer, context.check
    made, vectors = ffi.new(_MATRIX), (ffi.new(_VECTOR), ffi.new(_VECTOR))
    held = [_arrays.pointer(part) for part in (arrays.offsets, arrays.cols, arrays.values, right, x)]
    with context.lock:
        try:
            check(lib.spry_matrix_from_csr32(pointer, kind, *arrays.shape, *held[:3],
                                             lib.SPRY_OWN_BORROW, made))
            for place, data, array in zip(vectors, held[3:], (right, x)):
                check(lib.spry_vector_new(pointer, kind, array.size, data, lib.SPRY_OWN_BORROW, place))
            context.patiently(lib.spry_quick_solve, pointer, made[0], vectors[0][0], vectors[1][0],
                              b"", record)
        finally:
            lib.spry_vector_free(vectors[1][0])
            lib.spry_vector_free(vectors[0][0])
            lib.spry_matrix_free(made[0])
        return _result.Result(context, record, x)
