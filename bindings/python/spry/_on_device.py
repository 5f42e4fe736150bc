"""Arrays on CUDA devices: CuPy's and PyTorch's matrices and vectors, used where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from . import _arrays
from ._context import Context
from ._errors import UsageError, Unsupported
from ._library import ffi, lib, sized


def _is_torch(values: Any) -> bool:
    return hasattr(values, "detach") and hasattr(values, "new_zeros")


def _cupy(values: Any) -> Any:
    """CuPy, of whose kind an array on a device is when it is not PyTorch's."""
    if type(values).__module__.split(".")[0] != "cupy":
        raise Unsupported(f"arrays on a device are CuPy's or PyTorch's, not {type(values).__name__}: "
                          "make one over it with cupy.asarray()")
    import cupy

    return cupy


def plain(values: Any) -> Any:
    """Without what PyTorch keeps with the numbers: gradients, conjugation, a sign."""
    return values.detach().resolve_conj().resolve_neg() if _is_torch(values) else values


def zeros(values: Any) -> Any:
    """Zeros in the memory of an array, of its shape and kind."""
    if _is_torch(values):
        return values.new_zeros(values.shape)
    return _cupy(values).zeros_like(values)


def copied(values: Any, like: Any) -> Any:
    """A copy of any array's numbers as one of the kind, place and type of another."""
    if _is_torch(like):
        import torch

        made = plain(torch.as_tensor(values, dtype=like.dtype, device=like.device)).clone()
    else:
        made = _cupy(like).array(values, dtype=like.dtype)
    if tuple(made.shape) not in (tuple(like.shape), (*like.shape, 1), tuple(like.shape[:1])):
        raise UsageError(f"x0 has shape {tuple(made.shape)}, {tuple(like.shape)} is needed")
    return made.reshape(like.shape)


def column(block: Any, k: int) -> Any:
    """A column of a two-dimensional array, one number after the other."""
    picked = block[:, k]
    return picked.contiguous() if _is_torch(picked) else picked.copy()


def stacked(columns: list[Any]) -> Any:
    """Vectors side by side."""
    if _is_torch(columns[0]):
        import torch

        return torch.stack(columns, dim=1)
    return _cupy(columns[0]).stack(columns, axis=1)


def settle(values: Any) -> None:
    """Waits for what its own library has asked of the device."""
    if _is_torch(values):
        import torch

        torch.cuda.current_stream(values.device).synchronize()
    else:
        _cupy(values).cuda.get_current_stream().synchronize()


def _parts(A: Any) -> tuple[Any, Any, Any] | None:
    """Offsets, columns and values of CSR on a device; None: it is not that."""
    if issparse(A):  # SciPy's, which take long to say that they lack an attribute
        return None
    if hasattr(A, "crow_indices"):  # PyTorch
        if str(getattr(A, "layout", "")) != "torch.sparse_csr" or not A.is_cuda:
            return None
        A = A.detach()
        return A.crow_indices(), A.col_indices(), plain(A.values())
    if getattr(A, "format", None) is not None and hasattr(A, "tocsr") \
            and _arrays.on_device(getattr(A, "data", None)):  # CuPy
        A = A.tocsr()
        return A.indptr, A.indices, A.data
    return None


def is_on_device(A: Any) -> bool:
    """Whether a matrix is CSR in a device's memory."""
    return _parts(A) is not None


def brought(A: Any) -> Any:
    """A matrix of CuPy's as SciPy's, on the host."""
    return A.get() if not issparse(A) and hasattr(A, "get") and _arrays.on_device(getattr(A, "data", None)) else A


class Operator:
    """The library's product with CSR that is on a device, copied there."""

    def __init__(self, context: Context, A: Any, char: str | None = None, format: str = "auto") -> None:
        parts = _parts(A)
        if parts is None:
            raise UsageError("a matrix in CSR on a CUDA device is needed")
        offsets, columns, values = parts
        facts = [part.__cuda_array_interface__ for part in parts]
        self.dtype = np.dtype(facts[2]["typestr"])
        if self.dtype.char not in _arrays.TYPES or char not in (None, self.dtype.char):
            raise UsageError(f"the matrix on the device is {self.dtype}: b must be of the same type, "
                             "and of 32 or 64 bits a real number")
        self.shape = (int(A.shape[0]), int(A.shape[1]))
        self.device = _arrays.device_name(values)
        settle(values)
        record = sized("spry_arrays")
        record.type = _arrays.TYPES[self.dtype.char]
        record.format = lib.SPRY_FORMAT_CSR
        record.symmetry = lib.SPRY_SYMMETRY_GENERAL
        record.rows, record.cols = self.shape
        record.nnz = int(np.prod(facts[2]["shape"]))
        record.offset_bits, record.index_bits = (8 * np.dtype(fact["typestr"]).itemsize for fact in facts[:2])
        record.offsets, record.col_index, record.values = (
            ffi.cast("void *", fact["data"][0] or 0) for fact in facts)
        place, made = ffi.new("spry_device **"), ffi.new("spry_operator **")
        context.check(lib.spry_device_open(context.pointer, self.device.encode(), place))
        context.check(lib.spry_operator_from_arrays(record, place[0], format.encode(), made))
        self.pointer = context.owned(made[0], lib.spry_operator_free)
