"""What is given as a preconditioner, as the library's operator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import UsageError
from ._library import ffi, lib
from ._matrix import Matrix
from ._operator import Function, Operator, as_inverse, from_python, is_operator


def as_precon(context: Any, M: Any, shape: tuple[int, int], char: str) -> Any:
    """A preconditioner of any kind, as an object with a `pointer` to the library's operator."""
    M = as_inverse(M, (shape[1], shape[0]), char)
    if isinstance(M, InTwoParts):
        operator: Any = M.made(context, shape, char)
    elif isinstance(M, Operator) and M.dtype.char == char:
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
