"""Differences of your own on grids, whole or partitioned over ranks. docs/grid.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator

from . import _arrays
from ._errors import UsageError
from ._library import ffi, grid_lib, lib
from ._operator import Function

if TYPE_CHECKING:
    from ._grid import Grid


class Halo:
    """The numbers around a rank's block of a field, made by `Grid.halo`.

    Where the grid is not partitioned the box is the block itself.

    Attributes
    ----------
    shape : tuple of int
        Of the box, along z, y and x.
    begin, end : tuple of int
        Its first unknowns, and the first behind them; below 0 and beyond the last one on periodic axes.
    inner : tuple of slice
        Where the block is in the box: ``box[halo.inner]``.
    """

    def __init__(self, grid: Grid, width: Any, dtype: Any) -> None:
        sides, context = grid.dimensions, grid._context
        widths = [width] * sides if np.ndim(width) == 0 else list(width)
        if len(widths) != sides:
            raise UsageError(f"a halo has a width for each of {sides} axes, not {len(widths)}")
        self.grid, self.dtype = grid, np.dtype(dtype)
        made, box = ffi.new("spry_halo **"), ffi.new("int64_t[2][3]")
        widths = [int(part) for part in reversed(widths)] + [0] * (3 - sides)
        with context.lock:
            context.check(grid_lib.spry_halo_new(grid.pointer, _arrays.TYPES[self.dtype.char], widths, made))
            self._pointer = context.owned(made[0], grid_lib.spry_halo_free)
            context.check(grid_lib.spry_halo_box(made[0], box[0], box[1]))
        axes = list(reversed(range(sides)))
        self.begin, self.end = (tuple(int(part[axis]) for axis in axes) for part in box)
        self.shape = tuple(b - a for a, b in zip(self.begin, self.end))
        starts = [int(grid._info.begin[axis]) - box[0][axis] for axis in axes]
        self.inner = tuple(slice(start, start + count) for start, count in zip(starts, grid.shape))

    def exchange(self, field: Any, out: np.ndarray | None = None) -> np.ndarray:
        """The box of a field: its block with the numbers around it. Collective.

        Parameters
        ----------
        field : array_like
            This rank's.
        out : ndarray, optional
            An array of `shape` to fill in place of a new one.
        """
        context = self.grid._context
        given = _arrays.ready(_arrays.array(field, "field"), self.dtype.char).reshape(-1)
        box = np.zeros(self.shape, self.dtype) if out is None else out
        if box.shape != self.shape or box.dtype != self.dtype or not box.flags.c_contiguous:
            raise UsageError(f"out is {box.dtype} of shape {box.shape}; {self.dtype} of {self.shape} is needed, "
                             "contiguous")
        with context.lock:
            context.check(grid_lib.spry_halo_exchange(self._pointer, _arrays.vector(context, given),
                                                      _arrays.vector(context, box.reshape(-1))))
        return box

    def __repr__(self) -> str:
        return f"<spry.Halo of {' x '.join(map(str, reversed(self.shape)))}, {self.dtype}>"


class Differences(LinearOperator):
    """A function of fields as an operator of all ranks, made by `Grid.operator`."""

    def __init__(self, grid: Grid, product: Callable[[Any], Any], dtype: Any) -> None:
        context, char, count = grid._context, np.dtype(dtype).char, int(np.prod(grid.shape))
        made = ffi.new("spry_vector **")
        super().__init__(np.dtype(dtype), (count, count))
        with context.lock:
            context.check(grid_lib.spry_field_new(grid.pointer, _arrays.TYPES[char], False, ffi.NULL, ffi.NULL, made))
            try:
                self._function = Function(context, self.shape, self.dtype,
                                          lambda u: np.asarray(product(u.reshape(grid.shape))).reshape(-1), None)
                context.check(lib.spry_operator_set_ranked(self._function.pointer, made[0]))
            finally:
                lib.spry_vector_free(made[0])

    def _matvec(self, x: Any) -> Any:
        return self._function.matvec(np.asarray(x, self.dtype).reshape(-1))
