"""Grids: fields as NumPy's arrays, difference operators, obstacle problems. docs/grid.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from . import _arrays, _on_device, _result
from ._context import current
from ._errors import UsageError
from ._halo import Differences, Halo
from ._library import ffi, grid_lib, lib, sized, text
from ._operator import Operator
from ._result import Result
from ._solver import perform

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import SolveOptions


def words(options: dict[str, Any]) -> str:
    """Options as the library reads them: box=((0, 1), (0, 2)) is "box=0:1,0:2"."""
    return " ".join(f"{name.replace('_', '-')}={word(value)}" for name, value in options.items() if value is not None)


def word(value: Any) -> str:
    """The value of an option."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return f"[{words(value)}]"
    if isinstance(value, (tuple, list, np.ndarray)):
        nested = any(isinstance(part, (tuple, list, np.ndarray)) for part in value)
        return ("," if nested else ":").join(word(part) for part in value)
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


class Calls:
    """A Python function that the library calls; its first exception is raised when that returns."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call, self.error = call, None
        self.handle = ffi.new_handle(self)


def note(_kind: Any, error: BaseException, traceback: Any) -> None:
    """Keeps the exception of a callback."""
    calls = ffi.from_handle(traceback.tb_frame.f_locals["data"])
    calls.error = calls.error or error


@ffi.callback("spry_boundary_fn", onerror=note)
def _boundary(data: Any, axis: int, place: Any, value: Any) -> None:
    number = complex(ffi.from_handle(data).call(axis, *place[0:3]))
    value.re, value.im = number.real, number.imag


def char_of(values: Any) -> str:
    """The character of the type that an array's numbers are computed in, wherever it is."""
    return _arrays.kind(np.dtype(str(values.dtype).rsplit(".", 1)[-1]).char)


class Vectors:
    """Arrays as the library's vectors, in place: of NumPy, or on a CUDA device."""

    def __init__(self, context: Any, like: Any = None) -> None:
        self.context, self.like, self.held = context, like, []
        self.device = like is not None and _arrays.on_device(like)

    def given(self, values: Any, char: str, size: int, name: str) -> Any:
        """A vector over an array, or over a copy of the type that is needed."""
        if self.device:
            plain = _on_device.plain(values).reshape(-1)
            _on_device.settle(plain)
            made, _, found = _arrays.device_vector(self.context, plain)
            if found != char or plain.shape[0] != size:
                raise UsageError(f"{name} is {np.dtype(found)} of {plain.shape[0]} numbers; {size} of "
                                 f"{np.dtype(char)} are needed")
            self.held.append(plain)
            return made
        array = _arrays.ready(_arrays.array(values, name), char).reshape(-1)
        if array.size not in (1, size):
            raise UsageError(f"{name} has {array.size} numbers, {size} are needed")
        self.held.append(array)
        return _arrays.vector(self.context, array)

    def fresh(self, shape: Sequence[int], char: str, like: Any = None) -> tuple[Any, Any]:
        """An array of zeros where the others are, or a copy of one, and a vector over it."""
        if self.device:
            made = _on_device.copied(like, like)
            return made, self.given(made, char, made.reshape(-1).shape[0], "x")
        made = np.zeros(shape, char) if like is None else np.array(_arrays.array(like, "x"), char, order="C")
        return made, _arrays.vector(self.context, made.reshape(-1))

    def back(self, made: Any) -> Any:
        """A result of `fresh` in the kind of array given."""
        return made if self.device else _arrays.like(self.like, made)


class Grid:
    """A grid of one to three dimensions, whose fields are NumPy's arrays.

    Parameters
    ----------
    intervals : int, tuple of int or str
        Along x, y and z; or the library's text, ``"64x64 boundary=neumann"``.
    **options
        As docs/grid.md has them: ``box=((0, 1), (0, 2))``, ``boundary="dirichlet"``,
        ``x="robin(2):neumann"``, ``layer=20``, ``stretch="y:cosine"``; within `Ranks` ``ranks=(2, 1)`` or "none".

    Attributes
    ----------
    shape : tuple of int
        Of fields: the unknowns along z, y and x, which runs fastest.
    points_shape : tuple of int
        Of coefficients: all points.
    spacing, low, high : tuple of float
        Along x, y and z.

    See Also
    --------
    Stencil : an operator on it, by `stencil` and `helmholtz`.
    Stepper : steps in time.
    Wave : waves in open space.

    Examples
    --------
    >>> import spry, numpy as np
    >>> grid = spry.Grid((64, 32), box=((0, 2), (0, 1)))
    >>> grid.shape
    (31, 63)
    >>> A = grid.stencil("-laplace", order=4)
    >>> f = grid.field(lambda x, y: 2 * np.sin(x) * np.sin(y))
    >>> b = A.rhs(f, lambda axis, x, y, z: np.sin(x) * np.sin(y))
    >>> u = A.solve(b, precon="gmg", method="bicgstab").check().x
    >>> bool(abs(u - grid.field(lambda x, y: np.sin(x) * np.sin(y))).max() < 1e-7)
    True
    """

    def __init__(self, intervals: Any, **options: Any) -> None:
        made = ffi.new("spry_grid **")
        sides = (intervals,) if isinstance(intervals, (int, np.integer)) else intervals
        start = sides if isinstance(sides, str) else "x".join(str(int(side)) for side in sides)
        if isinstance(options.get("ranks"), (tuple, list)):
            options["ranks"] = "x".join(map(str, options["ranks"]))
        context = self._context = current()
        with context.lock:
            context.check(grid_lib.spry_grid_new(context.pointer, f"{start} {words(options)}".encode(), made))
            self._pointer = context.owned(made[0], grid_lib.spry_grid_free)
            self._describe()

    def _describe(self) -> None:
        info = self._info = sized("spry_grid_info")
        self._context.check(grid_lib.spry_grid_describe(self._pointer, info))
        axes = range(info.dimensions)
        partitioned = any(info.ranks[axis] > 1 for axis in axes)
        sides = [info.end[axis] - info.begin[axis] if partitioned else info.axis_unknowns[axis] for axis in axes]
        self.shape = tuple(int(side) for side in reversed(sides))
        self.points_shape = self._block_of_points() if partitioned else \
            tuple(int(info.axis_points[axis]) for axis in reversed(axes))
        self.spacing, self.low, self.high = (tuple(float(part[axis]) for axis in axes)
                                             for part in (info.spacing, info.low, info.high))

    def _block_of_points(self) -> tuple[int, ...]:
        """How many points this rank has along z, y and x: as long as one follows another."""
        place, sides, step = ffi.new("double[3]"), [], 1
        for axis in range(self.dimensions):
            count, last = 0, -np.inf
            while not grid_lib.spry_grid_place(self._pointer, True, count * step, place) and place[axis] > last:
                count, last = count + 1, place[axis]
            sides.append(count)
            step *= count
        return tuple(reversed(sides))

    @property
    def pointer(self) -> Any:
        """The C object."""
        return self._pointer

    @property
    def unknowns(self) -> int:
        """Points with unknown values, here and on all other ranks."""
        return int(self._info.unknowns)

    @property
    def dimensions(self) -> int:
        """1 to 3."""
        return int(self._info.dimensions)

    def __repr__(self) -> str:
        sides = " x ".join(str(self._info.axis_unknowns[axis]) for axis in range(self.dimensions))
        return f"<spry.Grid of {sides} unknowns>"

    def set_points(self, axis: int, points: Any) -> None:
        """Gives an axis points of its own, one more than intervals, for all that is made afterwards."""
        places = np.require(points, np.float64, ["C", "A"])
        with self._context.lock:
            self._context.check(grid_lib.spry_grid_set_points(self._pointer, axis, places.size,
                                                              _arrays.pointer(places)))
            self._describe()

    def coordinates(self, all_points: bool = False) -> tuple[np.ndarray, ...]:
        """The coordinates of unknowns, or of all points: x, y and z as arrays that broadcast to
        the shape of a field.

        >>> import spry
        >>> [part.shape for part in spry.Grid((4, 3)).coordinates()]
        [(1, 3), (2, 1)]
        """
        shape = self.points_shape if all_points else self.shape
        place, found, step = ffi.new("double[3]"), [], 1
        with self._context.lock:
            for axis in range(self.dimensions):
                count = shape[-1 - axis]
                along = np.empty(count)
                for k in range(count):
                    self._context.check(grid_lib.spry_grid_place(self._pointer, all_points, k * step, place))
                    along[k] = place[axis]
                step *= count
                found.append(along.reshape([-1 if side == axis else 1 for side in reversed(range(self.dimensions))]))
        return tuple(found)

    def field(self, values: Any = 0, *, dtype: Any = None, all_points: bool = False) -> np.ndarray:
        """A field.

        Parameters
        ----------
        values : callable, array_like or number, optional
            A function of the coordinates, as arrays; or what broadcasts to the field's shape.
        dtype : dtype, optional
            float64 or complex128 by the values, or another one.
        all_points : bool, optional
            A coefficient has a number for each point, also where values are known.

        Returns
        -------
        field : ndarray
            Of `shape`, or `points_shape`.
        """
        found = np.asarray(values(*self.coordinates(all_points)) if callable(values) else values)
        char = np.dtype(dtype).char if dtype is not None else _arrays.kind(found.dtype.char)
        shape = self.points_shape if all_points else self.shape
        try:
            return np.array(np.broadcast_to(found, shape), dtype=char, order="C")
        except ValueError:
            raise UsageError(f"a field has shape {shape}, these values {found.shape}") from None

    def _made_field(self, vector: Any, all_points: bool) -> np.ndarray:
        """A vector of the library's as an array of one's own."""
        kept = self._context.owned(vector, lib.spry_vector_free)
        size, dtype = int(lib.spry_vector_size(vector)), _arrays.DTYPES[lib.spry_vector_type(vector)]
        field = _arrays.view(lib.spry_vector_data_const(vector), size, dtype).copy()
        ffi.release(kept)
        return field.reshape(self.points_shape if all_points else self.shape)

    def absorb(self, dtype: Any = complex, **options: Any) -> np.ndarray:
        """The coefficient of layers that absorb: ``kind="pml", axis="x"``; a field of all points."""
        made, char = ffi.new("spry_vector **"), np.dtype(dtype).char
        with self._context.lock:
            self._context.check(grid_lib.spry_field_absorb(self._pointer, _arrays.TYPES[char],
                                                           words(options).encode(), made))
            return self._made_field(made[0], True)

    def incoming(self, dtype: Any = complex, *, all_points: bool = False, **options: Any) -> np.ndarray:
        """A wave or a source: ``kind="plane"``, "beam" or "point", ``k=9.9, direction=(0, 0, 1)``."""
        made, char = ffi.new("spry_vector **"), np.dtype(dtype).char
        with self._context.lock:
            self._context.check(grid_lib.spry_field_wave(self._pointer, _arrays.TYPES[char], all_points,
                                                         words(options).encode(), made))
            return self._made_field(made[0], all_points)

    def write(self, path: Any, field: Any, **options: Any) -> None:
        """Writes a field by the ending of the path: .vti, .vtr, .png, .npy, .h5."""
        values = _arrays.array(field, "field")
        values = _arrays.ready(values, _arrays.kind(values.dtype.char))
        with self._context.lock:
            vector = _arrays.vector(self._context, values.reshape(-1))
            self._context.check(grid_lib.spry_field_write(self._pointer, vector, str(path).encode(),
                                                          words(options).encode()))

    def stencil(self, operator: str | Sequence[Sequence[str | None]], *, order: int | None = None, dtype: Any = None,
                device: str | None = None, coefficients: dict[str, Any] | None = None, domain: Any = None,
                **more: Any) -> "Stencil":
        """A difference operator from a text.

        Parameters
        ----------
        operator : str, or a square matrix of them
            ``"-div(k*grad) + 3*dx + c"``. A matrix, ``[["-laplace + a", "-b"], ["c", "-laplace"]]``, is for
            as many unknowns per point, whose fields have one axis before those of the grid; None is 0.
        order : int, optional
            2, 4, 6 or 8 (default: 2).
        dtype : dtype, optional
            By default complex where a coefficient is.
        device : str, optional
            Where it is to live.
        coefficients : dict, optional
            Numbers, fields of all points or functions of the place, by name. Keywords are taken for
            coefficients, too.
        domain : array_like or callable, optional
            Negative where to solve, as a signed distance: u is known where it is 0 (`Stencil.rhs`).

        Returns
        -------
        A : Stencil

        Examples
        --------
        >>> import spry
        >>> A = spry.Grid(8).stencil("-dx^2 + c", c=2.0)
        >>> round(A.to_matrix().diagonal()[0])
        130
        >>> A = spry.Grid((64, 64)).stencil([["-laplace", "-50"], ["50", "-0.1*laplace"]])
        >>> result = A.solve(np.ones(A.field_shape), method="bicgstab", precon="gmg")
        >>> result.converged, result.x.shape
        (True, (2, 63, 63))
        """
        if not isinstance(operator, str):
            return self._blocks([[None if part is None else self.stencil(
                part, order=order, dtype=dtype, device=device, coefficients=coefficients, domain=domain, **more)
                for part in row] for row in operator])
        given = {**(coefficients or {}), **more, **({} if domain is None else {"domain": domain})}
        fields = {name: values if np.ndim(values) == 0 and not callable(values)
                  else self.field(values, all_points=True) for name, values in given.items()}
        char = np.dtype(dtype).char if dtype is not None else \
            _arrays.common("d", *[_arrays.kind(np.asarray(field).dtype.char) for field in fields.values()])
        options = words({"order": order, "device": device, "domain": None if domain is None else "domain",
                         "type": text(lib.spry_type_name(_arrays.TYPES[char]))})
        made, context = ffi.new("spry_operator **"), self._context
        names = [ffi.new("char[]", name.encode()) for name in fields]
        with context.lock:
            vectors = Vectors(context)
            held = [vectors.given(field, _arrays.kind(np.asarray(field).dtype.char), int(np.prod(self.points_shape)),
                                  name) for name, field in fields.items()]
            context.check(grid_lib.spry_operator_stencil(
                self._pointer, operator.encode(), options.encode(), len(held), ffi.new("char *[]", names),
                ffi.new("spry_vector *[]", held), made))
            return Stencil(self, made[0])

    def _blocks(self, parts: list[list[Any]]) -> "Stencil":
        """The operator of several unknowns per point."""
        m = len(parts)
        if m == 0 or any(len(row) != m for row in parts):
            raise UsageError(f"a matrix of operators has rows of {[len(row) for row in parts]} parts; "
                             f"{m} are needed in each")
        held = [part for row in parts for part in row]
        places = ffi.new("spry_operator *[]", [ffi.NULL if part is None else part.pointer for part in held])
        made, context = ffi.new("spry_operator **"), self._context
        with context.lock:
            context.check(grid_lib.spry_operator_blocks(context.pointer, m, places, made))
            A = Stencil(self, made[0])
        A.field_shape, A._held_parts = (m, *self.shape), held
        return A

    def helmholtz(self, k2: Any, **options: Any) -> "Stencil":
        """The operator laplace + k2 of waves exp(-i omega t), with layers before absorbing faces.

        Parameters
        ----------
        k2 : number, array_like or callable
            The square of the wave number, at all points.
        **options
            ``scheme="optimal"``, ``layer="pml"``, ``type="z"``, ``device``.

        Returns
        -------
        A : Stencil
            Whose right-hand sides go through `Stencil.rhs`; `forecast` has the errors of its waves.
        """
        values = np.asarray(k2) if np.ndim(k2) == 0 and not callable(k2) else self.field(k2, all_points=True)
        made, info, context = ffi.new("spry_operator **"), sized("spry_helmholtz_info"), self._context
        with context.lock:
            vector = Vectors(context).given(values, _arrays.kind(values.dtype.char), int(np.prod(self.points_shape)), "k2")
            context.check(grid_lib.spry_operator_helmholtz(self._pointer, vector, words(options).encode(), made, info))
            A = Stencil(self, made[0])
        A.forecast = _result.members("spry_helmholtz_info", info)
        return A

    def halo(self, width: Any, dtype: Any = float) -> Halo:
        """The exchange of the numbers around this rank's block of a field, for differences of your own.

        Parameters
        ----------
        width : int or tuple of int
            Points added at both ends along z, y and x, where the grid is partitioned.
        dtype : dtype, optional

        Examples
        --------
        >>> import spry
        >>> halo = spry.Grid((8, 8)).halo(1)  # which is of use within `with spry.Ranks(...)`
        >>> halo.exchange(spry.Grid((8, 8)).field(1.0)).shape
        (7, 7)
        """
        return Halo(self, width, dtype)

    def operator(self, product: Callable[[Any], Any], dtype: Any = float) -> Differences:
        """A function that takes a field to a field, as an operator of all ranks, which call it together.

        Parameters
        ----------
        product : callable
            ``product(u)`` of this rank's block; `Halo.exchange` brings what is around it.
        dtype : dtype, optional

        Examples
        --------
        >>> import spry
        >>> grid = spry.Grid(8)
        >>> A = grid.operator(lambda u: 2 * u)
        >>> spry.solve(A, grid.field(4.0), method="cg", precon=None).x.round(3)
        array([2., 2., 2., 2., 2., 2., 2.])
        """
        return Differences(self, product, dtype)

    def fourier(self, **options: Any) -> Operator:
        """The unitary discrete Fourier transform of fields; its adjoint is its inverse."""
        made = ffi.new("spry_operator **")
        with self._context.lock:
            self._context.check(grid_lib.spry_operator_fourier(self._pointer, words(options).encode(), made))
        return Operator(self._context, made[0])


class Stencil(Operator):
    """A difference operator, made by `Grid.stencil` or `Grid.helmholtz`.

    It is a LinearOperator of vectors; `apply` takes and gives fields. `spry.Solver` and `solve` take it
    as A, with ``precon="gmg"`` or "jacobi", without a matrix and without a return to Python.

    Attributes
    ----------
    grid : Grid
    field_shape : tuple of int
        Of the fields that it takes and gives.
    shape : tuple of int
    dtype : numpy.dtype
    forecast : dict
        Of `helmholtz`: points per wavelength, and the errors of the wave number and of the phase.
    """

    def __init__(self, grid: Grid, pointer: Any) -> None:
        super().__init__(grid._context, pointer)
        self.grid = grid
        self.field_shape: tuple[int, ...] = grid.shape
        self.forecast: dict[str, Any] = {}

    def apply(self, u: Any) -> Any:
        """A u of a field, as a field; on the device where u is."""
        context = self._context
        with context.lock:
            vectors = Vectors(context, u)
            x = vectors.given(u, self.dtype.char, self.shape[1], "u")
            made, y = vectors.fresh(self.field_shape, self.dtype.char, u if vectors.device else None)
            context.check(lib.spry_operator_apply(self.pointer, x, y))
        return vectors.back(made)

    def add_diagonal(self, d: Any) -> "Stencil":
        """The operator A + diag(d), with its multigrid; d is a field."""
        context, made = self._context, ffi.new("spry_operator **")
        with context.lock:
            place = Vectors(context, d).given(d, char_of(np.asarray(d)), self.shape[0], "d")
            context.check(grid_lib.spry_operator_add_diagonal(self.pointer, place, made))
            return Stencil(self.grid, made[0])

    def rhs(self, f: Any = None, boundary: Callable[..., Any] | None = None) -> Any:
        """The right-hand side of A u = f with boundary values.

        Parameters
        ----------
        f : array_like, optional
            A field; by default 0.
        boundary : callable, optional
            ``boundary(axis, x, y, z)``: the value, where axis is -1; else the derivative along the outward
            normal of a face of that axis, or a u + b du/dn on one with ``robin(a,b)``. By default 0.

        Returns
        -------
        b : array
            A field, of the kind of f.
        """
        context, calls = self._context, Calls(boundary) if boundary is not None else None
        b = np.zeros(self.grid.shape, self.dtype)
        with context.lock:
            source = ffi.NULL if f is None else Vectors(context).given(f, self.dtype.char, self.shape[0], "f")
            perform(context, [calls] if calls else [], grid_lib.spry_stencil_rhs, self.pointer, source,
                    _boundary if calls else ffi.NULL, calls.handle if calls else ffi.NULL,
                    _arrays.vector(context, b.reshape(-1)))
        return _arrays.like(f, b)

    def solve(self, b: Any, x0: Any = None, **options: Unpack[SolveOptions]) -> Result:
        """`spry.solve`, with fields: x has the shape of the grid."""
        from ._solver import solve

        right, guess = (part if part is None or hasattr(part, "reshape") else _arrays.array(part, name)
                        for part, name in ((b, "b"), (x0, "x0")))
        result = solve(self, right.reshape(-1), None if guess is None else guess.reshape(-1), **options)
        result.x = result.x.reshape(self.field_shape)
        if right is not b:
            result.x = _arrays.like(b, result.x)
        return result


def bounded(A: Stencil, b: Any, lower: Any, x0: Any = None, **options: Any) -> Result:
    """Solves x >= lower, A x >= b, with an equality in one of them at each point: an obstacle problem.

    Parameters
    ----------
    A : Stencil
        Real, of order 2, with neighbours along the axes alone.
    b, lower : array_like
        Fields; below -1e37 there is no bound.
    x0 : array_like, optional
        First guess.
    **options
        ``method="multigrid"``, "redblack" or "richardson", ``tol``, ``max_iter``: docs/obstacle.md.

    Returns
    -------
    result : Result
        With x as a field, and the numbers `contacts`, `untruncated` and `levels`. Residuals are the
        largest ``|min(A x - b, x - lower)|``.

    Examples
    --------
    >>> import spry
    >>> grid = spry.Grid((32, 32))
    >>> membrane = spry.bounded(grid.stencil("-laplace"), grid.field(-10.0), grid.field(-0.2))
    >>> membrane.converged, bool(membrane.x.min() == -0.2)
    (True, True)
    """
    if not isinstance(A, Stencil):
        raise UsageError(f"A is a Stencil, as Grid.stencil() makes it, not {type(A).__name__}")
    context, char = A._context, A.dtype.char
    made, record, stats = ffi.new("spry_bounded **"), _result.record(), sized("spry_bounded_stats")
    with context.lock:
        vectors = Vectors(context, b)
        right, low = (vectors.given(np.broadcast_to(part, A.grid.shape) if np.ndim(part) == 0 else part, char,
                                    A.shape[0], name) for part, name in ((b, "b"), (lower, "lower")))
        x, place = vectors.fresh(A.grid.shape, char, lower if vectors.device and x0 is None else x0)
        context.check(grid_lib.spry_bounded_new(A.pointer, words(options).encode(), made))
        try:
            perform(context, [], grid_lib.spry_bounded_solve, made[0], right, low, place, record, stats)
        finally:
            grid_lib.spry_bounded_free(made[0])
        result = Result(context, record, vectors.back(x))
    for name, value in _result.members("spry_bounded_stats", stats).items():
        setattr(result, name, value)
    return result
