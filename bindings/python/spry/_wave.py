"""Waves in open space by the convergent Born series. docs/born.md."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _arrays, _result
from ._errors import UsageError
from ._grid import Grid, Vectors, char_of, words
from ._library import ffi, grid_lib, lib, sized
from ._result import Plan, Result, Results
from ._solver import perform


class Wave:
    """Solves (laplace + k2) u = f on the unknowns of a grid, with waves that leave through its faces.

    Parameters
    ----------
    grid : Grid
    k2 : number, array_like or callable
        The square of the wave number: a field of unknowns or of all points.
    **options
        ``tol=1e-6``, ``method="born"``, ``layer``, ``type="c"``, ``device="cuda"``: docs/born.md.

    Attributes
    ----------
    dtype : numpy.dtype
        complex128, or complex64 with ``type="c"``.
    info : dict
        The padded grid, layers, points per wavelength, memory.

    Examples
    --------
    >>> import spry, numpy as np
    >>> grid = spry.Grid((60, 60), box=((0, 6), (0, 6)), boundary="neumann")
    >>> wave = spry.Wave(grid, lambda x, y: 9 + 3 * np.exp(-((x - 3) ** 2 + (y - 3) ** 2)), tol=1e-4)
    >>> result = wave.solve(grid.incoming(kind="point", at=(1, 3)))
    >>> result.converged, result.x.shape
    (True, (61, 61))
    """

    def __init__(self, grid: Grid, k2: Any, **options: Any) -> None:
        self.grid, context = grid, grid._context
        self._context, made = context, ffi.new("spry_wave **")
        self.dtype = np.dtype("F" if options.get("type") == "c" else "D")
        with context.lock:
            context.check(grid_lib.spry_wave_new(grid.pointer, self._medium(k2), words(options).encode(), made))
            self._pointer = context.owned(made[0], grid_lib.spry_wave_free)

    def _medium(self, k2: Any) -> Any:
        if callable(k2):
            k2 = self.grid.field(k2)
        vectors, size = Vectors(self._context, k2), int(np.prod(self.grid.shape))
        if vectors.device:
            return vectors.given(k2, char_of(k2), size, "k2")
        values = _arrays.array(k2, "k2")
        if values.shape not in ((), self.grid.shape, self.grid.points_shape):
            raise UsageError(f"k2 has shape {values.shape}, the grid {self.grid.shape}")
        return vectors.given(values, _arrays.kind(values.dtype.char), values.size, "k2")

    def set_medium(self, k2: Any) -> None:
        """Another medium on the same grid; transforms and their memory are kept."""
        with self._context.lock:
            self._context.check(grid_lib.spry_wave_set_medium(self._pointer, self._medium(k2)))

    @property
    def info(self) -> Plan:
        """What the solver is."""
        record = sized("spry_wave_info")
        self._context.check(grid_lib.spry_wave_describe(self._pointer, record))
        return Plan(_result.members("spry_wave_info", record))

    def solve(self, f: Any, *, adjoint: bool = False) -> Result | Results:
        """Solves for a source, or for several.

        Parameters
        ----------
        f : array_like or list of these
            A field, on the host or on the solver's device.
        adjoint : bool, optional
            The adjoint problem: ``(u, g) = (f, v)`` for u of f, and v of g by it.

        Returns
        -------
        result : Result or Results
            With u in `.x`; for a list, a list, whose `x` has the fields along its first axis.
        """
        several = isinstance(f, (list, tuple))
        sources = list(f) if several else [f]
        context, size, count = self._context, int(np.prod(self.grid.shape)), len(sources)
        records = ffi.new("spry_result[]", max(count, 1))
        for k in range(count):
            records[k].size = ffi.sizeof("spry_result")
        with context.lock:
            vectors = Vectors(context, sources[0] if sources else None)
            given = [vectors.given(one, self.dtype.char, size, "f") for one in sources]
            made = [vectors.fresh(self.grid.shape, self.dtype.char, one if vectors.device else None) for one in sources]
            kind = lib.SPRY_TRANSPOSE_CONJUGATE if adjoint else lib.SPRY_TRANSPOSE_NO
            if count:
                perform(context, [], grid_lib.spry_wave_solve_many, self._pointer, kind, count,
                        ffi.new("spry_vector *[]", given), ffi.new("spry_vector *[]", [v for _, v in made]), records)
            fields = [field for field, _ in made]
            results = [Result(context, records + k, vectors.back(fields[k]), records) for k in range(count)]
        if not several:
            return results[0]
        return Results(results, fields if vectors.device else vectors.back(np.array(fields)), columns=False)
