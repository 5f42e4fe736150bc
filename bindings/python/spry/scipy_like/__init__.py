"""The solvers of scipy.sparse.linalg, solved by spry: change the import, nothing else.

Signatures, defaults, what is returned, what `info` and callbacks mean are SciPy's (1.14 and later).
What differs: `info == 0` says that the true residual |b - A x|, computed from the x that is
returned, is at or below the tolerance. What `splu` and `spilu` give is `Factors` in place of SuperLU.
"""

from ._direct import Factors, factorized, spilu, splu, spsolve
from ._least import lsmr, lsqr
from ._restarted import gcrotmk, gmres, lgmres
from ._square import bicg, bicgstab, cg, cgs, minres, qmr, tfqmr

__all__ = ["bicg", "bicgstab", "cg", "cgs", "factorized", "gcrotmk", "gmres", "lgmres", "lsmr",
           "lsqr", "minres", "qmr", "spilu", "splu", "spsolve", "tfqmr"]
