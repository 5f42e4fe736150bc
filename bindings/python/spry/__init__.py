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
                      NotConverged, ReleasedError, SingularError, SolverWarning, Unsupported, UsageError)
from ._files import generate, read, write
from ._grid import Grid, Stencil, bounded
from ._halo import Halo
from ._library import ffi, lib, version as __version__
from ._matrix import Matrix
from ._method import Method
from ._newton import newton
from ._operator import Operator, Preconditioner
from ._ranks import Ranks
from ._result import Result, Results
from ._solver import Solver, solve
from ._time import Stepper, parareal
from ._wave import Wave
from .scipy_like import (Factors, bicg, bicgstab, cg, cgs, factorized, gcrotmk, gmres, lgmres, lsmr,
                         lsqr, minres, qmr, spilu, splu, spsolve, tfqmr)

__all__ = [
    "ChangedError", "DeviceError", "Diagnosis", "Error", "Factors", "FileError", "Grid", "Halo",
    "InputError", "Matrix", "MemoryShortage", "Method", "NotConverged", "Operator",
    "Preconditioner", "Ranks", "ReleasedError", "Result", "Results", "SingularError", "Solver",
    "SolverWarning", "Stencil", "Stepper", "TuneReport", "Unsupported", "UsageError", "Wave",
    "bicg", "bicgstab", "bounded", "cg", "cgs", "choices", "doctor", "explain", "factorized",
    "ffi", "gcrotmk", "generate", "gmres", "info", "lgmres", "lib", "lsmr", "lsqr", "minres", "newton",
    "parareal", "qmr", "read", "set_threads", "solve", "spilu", "splu", "spsolve", "tfqmr", "threads", "tune",
    "write", "__version__",
]
