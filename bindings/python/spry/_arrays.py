"""Arrays of NumPy, PyTorch and CuPy for the library: types, devices, pointers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from ._context import Context
from ._errors import Unsupported, UsageError
from ._library import ffi, lib

TYPES = {
    "f": lib.SPRY_TYPE_S, "d": lib.SPRY_TYPE_D, "F": lib.SPRY_TYPE_C, "D": lib.SPRY_TYPE_Z,
}
DTYPES = {value: np.dtype(char) for char, value in TYPES.items()}
_POINTERS = {"f": "float[]", "d": "double[]", "F": "float[]", "D": "double[]",
             "i": "int32_t[]", "l": "int64_t[]", "q": "int64_t[]"}


def kind(char: str) -> str:
    """The type that numbers of any NumPy type are computed in: one of f, d, F, D."""
    if char in TYPES:
        return char
    if char == "G":
        return "D"
    if char in "?bBhHiIlLqQeg":
        return "d"
    raise UsageError(f"numbers of type {np.dtype(char)} cannot be solved with: "
                     "real, complex, integer or bool is needed")


def common(*chars: str) -> str:
    """The common type, as SciPy's solvers choose it."""
    if len(chars) == 2 and chars[0] == chars[1] and chars[0] in TYPES:
        return chars[0]
    kinds = {kind(char) for char in chars}
    single = kinds <= {"f", "F"}
    if kinds & {"F", "D"}:
        return "F" if single else "D"
    return "f" if single else "d"


def wanted(dtype: Any) -> str:
    """A requested type, as its character."""
    try:
        return kind(np.dtype(dtype).char)
    except TypeError as cause:
        raise UsageError(f"dtype={dtype!r}: {cause}") from None


def array(values: Any, name: str) -> np.ndarray:
    """Any array on the host as one of NumPy."""
    if isinstance(values, np.ndarray):
        if type(values) is np.ndarray:
            return values
        if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
            raise UsageError(f"{name} has masked numbers: fill them, as by .filled(0)")
        return np.asarray(values)
    if issparse(values):
        return values.toarray()
    if hasattr(values, "detach") and hasattr(values, "__dlpack__"):  # PyTorch
        values = values.detach()
        if values.device.type != "cpu":
            values = values.cpu()
        return values.resolve_conj().resolve_neg().numpy()
    if hasattr(values, "__cuda_array_interface__") and hasattr(values, "get"):  # CuPy
        return values.get()
    try:
        made = np.asarray(values)
    except ValueError as cause:
        raise UsageError(f"{name} is not an array of numbers: {cause}") from None
    if made.dtype.char == "O":
        if hasattr(values, "__dlpack__"):
            return np.from_dlpack(values)
        raise UsageError(f"{name} is not an array of numbers but {type(values).__name__}")
    return made


def refuse_swapped(A: Any, b: Any) -> None:
    """Says so where a vector is in the place of the matrix, and a matrix of as many rows in that of b."""
    sides = A.shape if hasattr(A, "shape") else array(A, "the matrix").shape
    if len(sides) != 1:
        return
    others = b.shape if hasattr(b, "shape") else array(b, "b").shape
    if len(others) == 2 and others[0] == sides[0]:
        raise UsageError(f"the matrix comes first: A has shape {tuple(sides)}, b {tuple(others)}")


def ready(values: np.ndarray, char: str, copy: bool = False) -> np.ndarray:
    """An array for the library: of the type, contiguous, aligned, native; a copy only if needed."""
    dtype = values.dtype
    if dtype.char == char and dtype.isnative and not copy:
        flags = values.flags
        if flags.c_contiguous and flags.aligned:
            return values
    if char in "fd" and values.dtype.char in "FDG":
        if np.any(values.imag):
            raise UsageError("complex numbers where real ones are needed")
        values = values.real
    if copy:
        return np.array(values, dtype=char, order="C")
    return np.require(values, dtype=char, requirements=["C", "A"])


def pointer(values: np.ndarray) -> Any:
    """Where the numbers are; the pointer keeps the array alive."""
    return ffi.from_buffer(_POINTERS[values.dtype.char], values)


def vector(context: Context, values: np.ndarray) -> Any:
    """The library's vector over the numbers of an array, in place."""
    made = ffi.new("spry_vector **")
    data = pointer(values)
    context.check(lib.spry_vector_new(context.pointer, TYPES[values.dtype.char], values.size, data,
                                      lib.SPRY_OWN_BORROW, made))
    return context.owned(made[0], lib.spry_vector_free, data)


def view(place: Any, size: int, dtype: np.dtype) -> np.ndarray:
    """The library's numbers as an array, in place: valid during a call."""
    return np.frombuffer(ffi.buffer(place, size * dtype.itemsize), dtype=dtype)


def on_device(values: Any) -> bool:
    """Whether an array is in a CUDA device's memory."""
    if type(values) is np.ndarray:
        return False
    if hasattr(values, "detach") and hasattr(values, "is_cuda"):  # PyTorch asks for detach() first
        return bool(values.is_cuda) and str(values.layout) == "torch.strided"
    return getattr(values, "__cuda_array_interface__", None) is not None


def device_name(values: Any) -> str:
    """The library's name of the device that an array is on."""
    device = getattr(values, "device", None)
    number = getattr(device, "id", getattr(device, "index", None))
    return f"cuda:{number or 0}"


def device_vector(context: Context, values: Any) -> tuple[Any, Any, str]:
    """A vector over an array on a CUDA device, its device's name, its type's character."""
    facts = values.__cuda_array_interface__
    shape, strides = facts["shape"], facts.get("strides")
    long = [side for side in shape if side != 1]
    if len(long) > 1 or strides is not None and len(shape) > 1:
        raise Unsupported("an array on a device must have one dimension, or columns of its own")
    name = device_name(values)
    device = ffi.new("spry_device **")
    context.check(lib.spry_device_open(context.pointer, name.encode(), device))
    record = ffi.new("spry_array_interface *")
    record.size = ffi.sizeof("spry_array_interface")
    record.shape = int(np.prod(shape))
    record.strides = strides[0] if strides is not None else 0
    record.typestr = facts["typestr"].encode()
    record.data = ffi.cast("void *", facts["data"][0])
    record.read_only = facts["data"][1]
    record.version = 3
    record.stream = facts.get("stream") or 0
    made = ffi.new("spry_vector **")
    context.check(lib.spry_vector_from_array_interface(device[0], record, made))
    char = np.dtype(facts["typestr"]).char
    return context.owned(made[0], lib.spry_vector_free), name, char


def like(values: Any, made: np.ndarray) -> Any:
    """A result in the kind of array given: PyTorch for PyTorch, CuPy for CuPy, and any other of the
    array API's."""
    if isinstance(values, np.ndarray) or issparse(values):
        return made
    if hasattr(values, "detach") and hasattr(values, "new_tensor"):
        import torch

        return torch.from_numpy(made).to(values.device)
    if on_device(values) and hasattr(values, "get"):
        import cupy

        return cupy.asarray(made)
    if hasattr(values, "__array_namespace__") and not isinstance(values, np.generic):
        return values.__array_namespace__().asarray(made)
    return made
