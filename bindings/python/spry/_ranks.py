"""Ranks: one system solved by several processes, over a communicator of mpi4py."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np

from . import _arrays, _context
from ._errors import Unsupported, UsageError, failure
from ._library import ffi, lib
from ._matrix import Matrix


def _load() -> Any:
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.environ.get("SPRY_MPI_LIBRARY") or os.path.join(here, "libspry_mpi.so"), "libspry_mpi.so.2"]
    failures = []
    for place in places:
        try:
            return ctypes.CDLL(place)
        except OSError as cause:
            failures.append(str(cause))
    raise Unsupported("libspry_mpi was not found, which is built where MPI is installed; name it in "
                      "SPRY_MPI_LIBRARY:\n  " + "\n  ".join(failures))


class Ranks(_context.Context):
    """The ranks of a communicator of mpi4py. Within `with`, objects made by this thread belong to all ranks.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
    options : str, optional
        Of the context: ``"threads=2"``.

    Notes
    -----
    ::

        from mpi4py import MPI
        with spry.Ranks(MPI.COMM_WORLD) as ranks:
            A = ranks.matrix(rows)      # this rank's rows, with columns counted over all ranks
            result = spry.solve(A, b)   # b and result.x: the elements of these rows

    Making it, matrices and solves are *collective*: every rank calls them, in the same order. What fails on
    one rank raises the same exception on all.
    """

    def __init__(self, comm: Any, options: str | None = None) -> None:
        if not hasattr(comm, "py2f"):
            raise UsageError(f"a communicator of mpi4py is needed, not {type(comm).__name__}")
        from mpi4py import MPI

        over = _load().spry_mpi_team_new
        over.argtypes, over.restype = [ctypes.c_void_p], ctypes.c_void_p
        team = over(MPI._addressof(comm))
        if not team:
            raise Unsupported("MPI gave no copy of the communicator")
        made = ffi.new("spry_context **")
        text = options if options is not None else f"threads={_context.wanted_threads()}"
        status = lib.spry_context_new_ranked(ffi.cast("spry_team *", team), text.encode(), made)
        self._adopt(made[0])
        if status:
            raise failure(status, self.pointer)
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self._before: list[Any] = []

    def __enter__(self) -> "Ranks":
        self._before.append(_context.use(self))
        return self

    def __exit__(self, *_: object) -> None:
        _context.use(self._before.pop())

    def matrix(self, rows: Any, columns: int | None = None) -> Matrix:
        """A matrix from the rows that each rank gives, rank 0's first.

        Parameters
        ----------
        rows : sparse array or matrix
            With columns counted over all ranks.
        columns : int, optional
            Elements of x on this rank; by default the number of rows.
        """
        if getattr(rows, "format", None) != "csr":
            rows = rows.tocsr()
        values = _arrays.ready(rows.data, _arrays.kind(rows.dtype.char))
        offsets = np.require(rows.indptr, np.int64, ["C", "A"])
        indices = np.require(rows.indices, np.int64, ["C", "A"])
        made = ffi.new("spry_matrix **")
        with self.lock:
            self.check(lib.spry_matrix_new_ranked(
                self.pointer, _arrays.TYPES[values.dtype.char], rows.shape[0], -1 if columns is None else columns,
                _arrays.pointer(offsets), _arrays.pointer(indices), _arrays.pointer(values), made))
        return Matrix._from(self, made[0])
