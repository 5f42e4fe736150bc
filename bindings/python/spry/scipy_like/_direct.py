"""spsolve, splu, spilu and factorized with SciPy's signatures."""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy as np
from scipy.sparse import issparse

from .. import _arrays
from .._errors import InputError, SingularError
from .._library import ffi, lib
from .._matrix import Matrix
from .._operator import Preconditioner, product

_TRANSPOSES = {"N": lib.SPRY_TRANSPOSE_NO, "T": lib.SPRY_TRANSPOSE_YES, "H": lib.SPRY_TRANSPOSE_CONJUGATE}


_SPECS = (None, "NATURAL", "MMD_ATA", "MMD_AT_PLUS_A", "COLAMD")
_KEPT = "order=none,defer=no"  # the rows as they are


class Factors:
    """The factors of a matrix, made by `splu` and `spilu`; SciPy's `SuperLU` objects.

    Attributes
    ----------
    shape : tuple of int
        Of the matrix.
    dtype : numpy.dtype
        Of the factors: float32, float64, complex64 or complex128.
    L, U : scipy.sparse.csc_array
        Triangular factors; those of L's diagonal are 1.
    perm_r, perm_c : ndarray of int32
        The permutations of rows and columns: with ``Pr[perm_r[i], i] = 1`` and
        ``Pc[i, perm_c[i]] = 1`` it is ``Pr @ A @ Pc = L @ U``.
    nnz : int
        Entries of L and U together.

    Notes
    -----
    Rows and columns are matched and scaled before they are eliminated; the scaling is taken out of L
    and U again, so that their product is the permuted matrix itself, as SciPy's is.

    L, U, the permutations and ``nnz`` are made when the first of them is asked for. Those of `splu`
    need a factorization of their own with exchanges of rows, as `solve` uses factors that are symmetric
    where the matrix is; incomplete factors, and those with ``permc_spec="NATURAL"``, are the ones that
    `solve` uses. Of incomplete ones ``L @ U`` is near the permuted matrix.

    Examples
    --------
    >>> import spry, numpy as np
    >>> A = spry.generate("convection-diffusion", size=8).to_scipy()
    >>> lu = spry.splu(A)
    >>> bool(np.allclose(A @ lu.solve(np.ones(64)), 1))
    True
    >>> Pr, Pc = np.zeros((64, 64)), np.zeros((64, 64))
    >>> Pr[lu.perm_r, np.arange(64)] = Pc[np.arange(64), lu.perm_c] = 1
    >>> bool(np.allclose(Pr @ A.toarray() @ Pc, (lu.L @ lu.U).toarray()))
    True
    """

    def __init__(self, A: Any, spec: str, permc_spec: str | None = None) -> None:
        if permc_spec not in _SPECS:
            raise ValueError(f"permc_spec must be one of {', '.join(map(str, _SPECS[1:]))}, not {permc_spec!r}")
        matrix = _square(A)
        self.shape, self.dtype = matrix.shape, matrix.dtype
        self._matrix = matrix
        self._parts: tuple[Any, ...] | None = None
        # ilutp eliminates rows in their order and exchanges columns: of A^T it keeps the columns of A
        self._turned = permc_spec == "NATURAL"
        try:
            self._operator = Preconditioner(matrix.T if self._turned else matrix, spec)
        except InputError as cause:
            if "singular" in str(cause) or "zero" in str(cause):
                raise SingularError(f"Factor is exactly singular: {cause}") from None
            raise

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        """Solves with the factors.

        Parameters
        ----------
        rhs : array_like
            Right-hand side, or several as columns.
        trans : {'N', 'T', 'H'}, optional
            The system: ``A x = rhs``, ``A^T x = rhs`` or ``A^H x = rhs``.

        Returns
        -------
        x : array
            Of the kind and shape of `rhs` and the type of the factors.

        Examples
        --------
        >>> import spry, numpy as np
        >>> spry.splu(np.array([[2.0, 1.0], [0.0, 1.0]])).solve(np.array([3.0, 1.0]), "T")
        array([ 1.5, -0.5])
        """
        if trans not in _TRANSPOSES:
            raise ValueError(f"trans must be N, T, or H, not {trans!r}")
        given = _arrays.array(rhs, "rhs")
        if not np.can_cast(given.dtype, self.dtype, "safe"):
            raise TypeError(f"Cannot cast array data from {given.dtype!r} to {self.dtype!r} "
                            "according to the rule 'safe'")
        if given.ndim > 2:
            raise ValueError("object too deep for desired array")
        if given.ndim == 0 or given.shape[0] != self.shape[0]:
            raise ValueError(f"rhs of shape {given.shape} is of incompatible size: {self.shape[0]} "
                             "rows are needed")
        return _arrays.like(rhs, self._solve(given, _TRANSPOSES[trans]))

    def aspreconditioner(self) -> Any:
        """The factors as a LinearOperator, which solvers of spry use without a return to Python unless
        permc_spec is "NATURAL"."""
        return self._operator.T if self._turned else self._operator

    def _solve(self, rhs: np.ndarray, transpose: int = lib.SPRY_TRANSPOSE_NO) -> np.ndarray:
        if self._turned:  # the operator is A^-T
            if transpose == lib.SPRY_TRANSPOSE_CONJUGATE:
                return self._apply(rhs.conj(), lib.SPRY_TRANSPOSE_NO).conj()
            transpose = lib.SPRY_TRANSPOSE_YES if transpose == lib.SPRY_TRANSPOSE_NO else lib.SPRY_TRANSPOSE_NO
        return self._apply(rhs, transpose)

    def _apply(self, rhs: np.ndarray, transpose: int) -> np.ndarray:
        context = self._operator._context
        with context.lock:
            return product(context, self._operator.pointer, self.shape, self.dtype, rhs, transpose)

    def _made(self) -> tuple[Any, ...]:
        if self._parts is None:
            n, context = self.shape[0], self._matrix._context
            triangles = ffi.new("spry_matrix *[2]")
            rows, columns = (np.empty(n, np.int32) for _ in "rc")
            with context.lock:
                own = self._operator.name == "ilutp"
                context.patiently(lib.spry_precon_factors if own else lib.spry_matrix_factors,
                                  self._operator.pointer if own else self._matrix.pointer, triangles,
                                  triangles + 1, _arrays.pointer(rows), _arrays.pointer(columns))
                L, U = (Matrix._from(context, one).to_scipy().tocsc() for one in triangles)
            if self._turned:
                rows, columns = columns, rows
                L, U = _transposed(L, U)
            for part in (L, U):
                part.sort_indices()
            perms = np.empty((2, n), np.int32)
            perms[0][rows] = perms[1][columns] = np.arange(n, dtype=np.int32)
            self._parts = L, U, perms[0], perms[1]
        return self._parts

    @property
    def L(self) -> Any:
        """The lower factor, with a diagonal of ones."""
        return self._made()[0]

    @property
    def U(self) -> Any:
        """The upper factor."""
        return self._made()[1]

    @property
    def perm_r(self) -> np.ndarray:
        """Where each row of the matrix went."""
        return self._made()[2]

    @property
    def perm_c(self) -> np.ndarray:
        """Where each column of the matrix went."""
        return self._made()[3]

    @property
    def nnz(self) -> int:
        """Entries of L and U."""
        L, U = self._made()[:2]
        return int(L.nnz + U.nnz)

    def __repr__(self) -> str:
        return f"<spry.Factors of {self.shape[0]} x {self.shape[1]}, {self.dtype}, {self._operator.name}>"


def _transposed(L: Any, U: Any) -> tuple[Any, Any]:
    """The factors of (L U)^T, with a diagonal of ones in the first one."""
    d = U.diagonal()
    lower, upper = U.T.tocsc(), L.T.tocsr()
    lower.data /= np.repeat(d, np.diff(lower.indptr))
    lower.setdiag(1)  # of complex numbers rounding makes it nearly that
    upper.data *= np.repeat(d, np.diff(upper.indptr))
    return lower, upper.tocsc()


def _square(A: Any) -> Matrix:
    """A copy of A, which its factors outlive no less than SciPy's do."""
    if len(getattr(A, "shape", ())) == 2 and A.shape[0] != A.shape[1]:
        raise ValueError("can only factor square matrices")
    matrix = Matrix(A, copy=True)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError("can only factor square matrices")
    if matrix.nnz == 0:
        raise SingularError("Factor is exactly singular: the matrix has no entries")
    return matrix


def splu(A: Any, permc_spec: str | None = None, diag_pivot_thresh: float | None = None,
         relax: int | None = None, panel_size: int | None = None,
         options: dict[str, Any] | None = None) -> Factors:
    """Factors a sparse square matrix, as `scipy.sparse.linalg.splu` does.

    Parameters
    ----------
    A : sparse array or matrix, ndarray, tensor, Matrix
        What is to be factored. CSR and CSC are taken alike. Integers become doubles.
    permc_spec : {'COLAMD', 'MMD_AT_PLUS_A', 'MMD_ATA', 'NATURAL'}, optional
        "NATURAL" keeps the columns in their order: ``perm_c`` is 0, 1, ..., n - 1, and each pivot is the
        largest number of its column. All others, and the default, are the library's own ordering:
        minimum degree or nested dissection of A + A^T, whichever needs less work.
    diag_pivot_thresh, relax, panel_size, options : optional
        SuperLU's own; accepted, and not used.

    Returns
    -------
    lu : Factors
        With ``solve(rhs, trans)``, ``L``, ``U``, ``perm_r``, ``perm_c``, ``shape`` and ``nnz``.

    Raises
    ------
    RuntimeError
        (`spry.SingularError`) The matrix is singular, exactly or as far as its rounding errors show.
    ValueError
        It is not square, or an entry is not finite.

    See Also
    --------
    Solver : keeps factors for a sequence of matrices, and checks the residual of each solve.
    spilu : incomplete factors.

    Notes
    -----
    The factors are multifrontal, Cholesky or L D L^T where A is symmetric (docs/preconditioners.md);
    those of "NATURAL" are made row by row, which takes longer, and in one thread.
    A singular matrix is found by its rank; SuperLU, which looks for pivots that are exactly zero, often
    divides by rounding errors instead. For those, ``spry.Preconditioner(A, "direct:regular=yes")`` is
    a generalized inverse.

    Examples
    --------
    >>> import spry, numpy as np
    >>> A = spry.generate("poisson2d", size=30).to_scipy()
    >>> lu = spry.splu(A)
    >>> x = lu.solve(np.ones((900, 2)))
    >>> bool(abs(A @ x - 1).max() < 1e-10)
    True
    """
    exact = f"ilutp:tau=0,fill=1e6,pivot=1,tries=0,{_KEPT}"
    return Factors(A, exact if permc_spec == "NATURAL" else "direct:kind=auto", permc_spec)


def spilu(A: Any, drop_tol: float | None = None, fill_factor: float | None = None,
          drop_rule: Any = None, permc_spec: str | None = None,
          diag_pivot_thresh: float | None = None, relax: int | None = None,
          panel_size: int | None = None, options: dict[str, Any] | None = None) -> Factors:
    """Incomplete factors of a sparse square matrix, as `scipy.sparse.linalg.spilu` makes them.

    Parameters
    ----------
    A : sparse array or matrix, ndarray, tensor, Matrix
        What is to be factored.
    drop_tol : float, optional
        Entries are dropped below it, relative to the growth of inverses (default: 1e-4).
    fill_factor : float, optional
        Entries of the factors over those of A, at most (default: 10).
    diag_pivot_thresh : float, optional
        The diagonal entry is the pivot unless it is smaller than this times the largest one of its
        row (default: 0.1).
    permc_spec : {'COLAMD', 'MMD_AT_PLUS_A', 'MMD_ATA', 'NATURAL'}, optional
        "NATURAL" keeps the columns in their order. All others, and the default, are minimum degree of
        A + A^T; rows without a good pivot go to the end.
    drop_rule, relax, panel_size, options : optional
        SuperLU's own; accepted, and not used.

    Returns
    -------
    ilu : Factors
        Whose ``solve(rhs, trans)`` approximates a solve with A, and ``L @ U`` the permuted matrix.

    Raises
    ------
    RuntimeError
        (`spry.SingularError`) A has no entries, or no factors can be made.

    See Also
    --------
    Preconditioner : the same, and all other kinds, as a LinearOperator for any solver.

    Notes
    -----
    These are the factors of the preconditioner ``ilutp``, with exchanges of columns (of rows where
    permc_spec is "NATURAL"), of a matrix that is equilibrated; the scaling is taken out of L and U.

    Examples
    --------
    >>> import spry, numpy as np
    >>> A = spry.generate("convection-diffusion", size=30).to_scipy()
    >>> ilu = spry.spilu(A, drop_tol=1e-3)
    >>> x, info = spry.gmres(A, np.ones(900), M=ilu)
    >>> info
    0
    """
    spec = f"ilutp:tau={1e-4 if drop_tol is None else float(drop_tol)!r}"
    spec += f",fill={10.0 if fill_factor is None else float(fill_factor)!r}"
    if diag_pivot_thresh is not None:
        spec += f",pivot={float(diag_pivot_thresh)!r}"
    return Factors(A, f"{spec},{_KEPT}" if permc_spec == "NATURAL" else spec, permc_spec)


def factorized(A: Any) -> Callable[[Any], Any]:
    """A function that solves ``A x = b``, as `scipy.sparse.linalg.factorized` gives it.

    Parameters
    ----------
    A : sparse array or matrix, ndarray, tensor, Matrix
        Square and regular.

    Returns
    -------
    solve : callable
        ``x = solve(b)``, for a vector or for columns.

    Examples
    --------
    >>> import spry, numpy as np
    >>> solve = spry.factorized(np.array([[3.0, 2.0], [1.0, -1.0]]))
    >>> solve(np.array([5.0, 0.0]))
    array([1., 1.])
    """
    return splu(A).solve


def spsolve(A: Any, b: Any, permc_spec: str | None = None, use_umfpack: bool = True) -> Any:
    """Solves ``A x = b`` by factors, as `scipy.sparse.linalg.spsolve` does.

    Parameters
    ----------
    A : sparse array or matrix, ndarray, tensor, Matrix
        Square.
    b : ndarray or sparse array or matrix
        Right-hand side, or several as columns.
    permc_spec : {'COLAMD', 'MMD_AT_PLUS_A', 'MMD_ATA', 'NATURAL'}, optional
        See `splu`; x is the same but for rounding.
    use_umfpack : optional
        SciPy's; accepted, and not used.

    Returns
    -------
    x : ndarray or sparse array or matrix
        A vector if b is one, or has a single column; sparse if b is sparse with several.

    Warns
    -----
    scipy.sparse.linalg.MatrixRankWarning
        A is singular; x is NaN then.

    See Also
    --------
    solve : checks the residual, chooses between factors and iterations.
    splu : keeps the factors.

    Examples
    --------
    >>> import spry, numpy as np, scipy.sparse as sp
    >>> spry.spsolve(sp.csc_array([[3.0, 2.0, 0], [1, -1, 0], [0, 5, 1]]), np.array([5.0, 0, 6]))
    array([1., 1., 1.])
    """
    _arrays.refuse_swapped(A, b)
    sparse = issparse(b)
    right = b if sparse else _arrays.array(b, "b")
    rows = _rows(A)
    if right.ndim not in (1, 2) or right.shape[0] != rows:
        raise ValueError(f"matrix - rhs dimension mismatch: A has {rows} rows, b has shape {right.shape}")
    is_vector = right.ndim == 1 or right.shape[1] == 1
    dense = right.toarray() if sparse else right
    try:
        x = _solved(A, dense, permc_spec)
    except SingularError as cause:
        from scipy.sparse.linalg import MatrixRankWarning

        warnings.warn(f"Matrix is exactly singular ({cause})", MatrixRankWarning, stacklevel=2)
        x = np.full(dense.shape, np.nan, np.result_type(dense.dtype, "f"))
    if is_vector:
        return _arrays.like(b, x.reshape(-1))
    return b.__class__(x) if sparse else _arrays.like(b, x)


def _rows(A: Any) -> int:
    shape = A.shape if hasattr(A, "shape") else np.shape(A)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"matrix must be square (has shape {tuple(shape)})")
    return int(shape[0])


def _solved(A: Any, b: np.ndarray, permc_spec: str | None) -> np.ndarray:
    """In the common type of both; complex right-hand sides of real matrices as two real ones."""
    from .._operator import type_of

    char = _arrays.common(type_of(A), b.dtype.char)
    own = _arrays.kind(type_of(A))
    real = char.lower() if own in "fd" else char
    return splu(A if own == real else Matrix(A, dtype=real), permc_spec)._solve(b)
