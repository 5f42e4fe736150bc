"""spry: solves large sparse linear systems at the speed of memory.

>>> import spry, numpy as np
>>> A = spry.generate("poisson2d", size=50)
>>> b = np.ones(2500)
>>> result = spry.solve(A, b)
>>> bool(np.linalg.norm(b - A @ result.x) <= 1e-8 * np.linalg.norm(b))
True

`solve` finds by itself what suits a matrix; `Solver` keeps what was built for the next solve; `cg`,
`gmres` and the others are those of scipy.sparse.linalg, signature by signature. docs/python.md has
more.
"""

from ._about import Diagnosis, TuneReport, choices, doctor, explain, info, tune
from ._context import set_threads, threads
from ._errors import (ChangedError, DeviceError, Error, FileError, InputError, MemoryShortage,
                      NotConverged, ReleasedError, Unsupported, UsageError)
from ._files import generate, read, write
from ._library import ffi, lib, version as __version__
from ._matrix import Matrix
from ._operator import Preconditioner
from ._ranks import Ranks
from ._result import Result, Results
from ._solver import Method, Solver, solve
from .scipy_like import (bicg, bicgstab, cg, cgs, gcrotmk, gmres, lgmres, lsmr, lsqr, minres, qmr,
                         tfqmr)

__all__ = [
    "ChangedError", "DeviceError", "Diagnosis", "Error", "FileError", "InputError", "Matrix",
    "MemoryShortage", "Method", "NotConverged", "Preconditioner", "Ranks", "ReleasedError", "Result",
    "Results", "Solver", "TuneReport", "Unsupported", "UsageError", "bicg", "bicgstab", "cg", "cgs",
    "choices", "doctor", "explain", "ffi", "gcrotmk", "generate", "gmres", "info", "lgmres", "lib",
    "lsmr", "lsqr", "minres", "qmr", "read", "set_threads", "solve", "tfqmr", "threads", "tune",
    "write", "__version__",
]
