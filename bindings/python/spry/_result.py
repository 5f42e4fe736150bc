"""Result: the outcome of a solve, which prints itself and plots its convergence."""

from __future__ import annotations

import html
import sys
import warnings
from typing import Any, Iterator, SupportsIndex, overload

import numpy as np

from . import _arrays
from ._context import Context
from ._errors import NotConverged, SolverWarning
from ._library import ffi, lib, text


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.2g} us"


class Result:
    """The outcome of a solve, which prints itself and is a table in a notebook.

    Attributes
    ----------
    x : array
        The solution, or the best iterate; of the kind of b.
    converged : bool
        Whether the true residual of this x is within the tolerance.
    reason, detail : str
        "converged", "iterations", "breakdown", "stagnated", "diverged", "nan", "interrupted",
        "singular" or "accepted", and more about it.
    iterations : int
    true_residual : float
        |b - A x| / |b| of this x.
    residual, initial_residual, tolerance : float
        As the method's recurrence has it, that of the first guess, and what it was to fall to.
    history : ndarray
        Relative residuals of iteration 0, 1, ...
    method, precon, format, device : str
    shape, nnz, dtype
        Of A.
    choose_seconds, setup_seconds, solve_seconds : float
    memory_bytes, bytes_per_iteration : int
    warnings, tried : list of str
        Reservations, and what was tried before.
    nullity : int
        Of A as its factors show it: where it is not 0, x is one of many.
    energy_error : float
        |x - A^-1 b|_A / |x|_A as cg and its kin estimate it, otherwise 0.

    Examples
    --------
    >>> import spry, numpy as np
    >>> A = spry.generate("poisson2d", size=10)
    >>> result = spry.solve(A, np.ones(100), method="cg", precon="none")
    >>> result.converged, result.reason, result.method
    (True, 'converged', 'cg')
    >>> bool(result.true_residual <= 1e-8)
    True
    >>> len(result.history) == result.iterations + 1
    True
    """

    x: Any
    converged: bool
    reason: str
    detail: str
    iterations: int
    residual: float
    true_residual: float
    tolerance: float
    initial_residual: float
    history: np.ndarray
    method: str
    precon: str
    format: str
    device: str
    shape: tuple[int, int]
    nnz: int
    dtype: np.dtype
    choose_seconds: float
    setup_seconds: float
    solve_seconds: float
    memory_bytes: int
    bytes_per_iteration: int
    warnings: list[str]
    tried: list[str]
    nullity: int
    energy_error: float

    def __init__(self, context: Context, record: Any, x: Any, owner: Any = None) -> None:
        """Takes over what the library has allocated for the record, which is one of `owner`'s."""
        self.x = x
        found: dict[str, Any] = {"history": b"", "owner": owner}
        pointer = context.pointer
        if record.history_size:
            found["history"] = bytes(ffi.buffer(record.history, record.history_size * 8))
            lib.spry_free(pointer, record.history)
            record.history = ffi.NULL
        for name in ("warnings", "tried"):
            lines = getattr(record, name)
            found[name] = text(lines).splitlines() if lines else []
            if lines:
                lib.spry_free(pointer, lines)
                setattr(record, name, ffi.NULL)
        self._record, self._found = record, found

    def __getattr__(self, name: str) -> Any:
        """Reads the record when the first of its members is asked for: that takes as long as a small
        solve."""
        if name.startswith("_") or "_record" not in self.__dict__:
            raise AttributeError(name)
        self._read()
        return object.__getattribute__(self, name)

    def _read(self) -> None:
        record, found = self._record, self._found
        del self._record, self._found
        self.converged = record.converged
        self.reason = text(lib.spry_reason_name(record.reason))
        for name in ("detail", "method", "precon", "format", "device"):
            setattr(self, name, text(getattr(record, name)))
        for name in ("tolerance", "iterations", "residual", "true_residual", "initial_residual", "nnz",
                     "choose_seconds", "setup_seconds", "solve_seconds", "memory_bytes", "bytes_per_iteration",
                     "nullity", "energy_error"):
            setattr(self, name, getattr(record, name))
        self.dtype = _arrays.DTYPES[record.type]
        self.shape = (record.rows, record.cols)
        self.history = np.frombuffer(found["history"], "d").copy()
        self.warnings, self.tried = found["warnings"], found["tried"]

    def __getstate__(self) -> dict[str, Any]:
        if "_record" in self.__dict__:
            self._read()
        return self.__dict__

    def check(self) -> "Result":
        """Returns itself if the solve has converged, else raises `NotConverged`:
        `x = spry.solve(A, b).check().x`."""
        if not self.converged:
            raise NotConverged(self)
        return self

    def headline(self) -> str:
        """The outcome in one line."""
        steps = f"{self.iterations} iteration{'' if self.iterations == 1 else 's'}"
        if self.tried:
            steps += f" of attempt {len(self.tried) + 1}" if self.converged else f" of the best of {len(self.tried)} attempts"
        arrived = f"converged after {steps}" if self.converged else f"not converged ({self.reason}) after {steps}"
        line = f"{arrived}: |b - A x| / |b| = {self.true_residual:.3g}"
        if not self.converged and self.detail:
            line += f"; {self.detail}"
        return line

    def _rows(self) -> list[tuple[str, str]]:
        rows = [
            ("method", self.method),
            ("preconditioner", self.precon),
            ("matrix", f"{self.shape[0]} x {self.shape[1]}, {self.nnz} entries, {self.dtype}, {self.format}"),
            ("device", self.device),
            ("time", f"{_time(self.choose_seconds)} choosing, {_time(self.setup_seconds)} set-up, {_time(self.solve_seconds)} solve"),
        ]
        if self.nullity > 0:
            rows.append(("unique", f"no: A has rank {self.shape[1] - self.nullity} of {self.shape[1]}, as its factors show, and x is one of many"))
        rows += [("warning", line) for line in self.warnings]
        rows += [("tried", line) for line in self.tried]
        return rows

    def __str__(self) -> str:
        lines = [f"  {name:<15}{value}" for name, value in self._rows()]
        return "\n".join([self.headline(), *lines])

    def __repr__(self) -> str:
        return f"<spry.Result: {self.headline()}, {self.method} with {self.precon}>"

    def _repr_html_(self) -> str:
        colour = "#1a7f37" if self.converged else "#b35900"
        rows = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
                       f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
                       for name, value in self._rows())
        return (f"<div><b style='color:{colour}'>{html.escape(self.headline())}</b>"
                f"<table>{rows}</table></div>")

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draws the residuals over the iterations with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            By default those of a new figure.
        **style
            Of the line.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        import matplotlib.pyplot as plt

        if ax is None:
            ax = plt.subplots(figsize=(6, 3.5))[1]
        style.setdefault("label", self.method if self.precon == "none" else f"{self.method} + {self.precon}")
        ax.semilogy(np.arange(self.history.size), np.maximum(self.history, 1e-300), **style)
        if self.tolerance > 0 and not any(line.get_gid() == "tol" for line in ax.lines):
            ax.axhline(self.tolerance, color="0.6", linewidth=0.8, linestyle="--", gid="tol")
        ax.set_xlabel("iteration")
        ax.set_ylabel("relative residual")
        ax.legend()
        return ax


class Results(list["Result"]):
    """The results of several right-hand sides: a list of `Result`, with x of all as columns.

    Examples
    --------
    >>> import spry, numpy as np
    >>> A = spry.generate("poisson2d", size=5)
    >>> results = spry.solve(A, np.eye(25)[:, :3])
    >>> len(results), results.converged, results.x.shape
    (3, True, (25, 3))
    >>> results[:2].x.shape, results[0].reason
    ((25, 2), 'converged')
    """

    def __init__(self, results: list[Result], x: Any, columns: bool = True) -> None:
        super().__init__(results)
        self.x, self._columns = x, columns

    @property
    def converged(self) -> bool:
        """Whether all have converged."""
        return all(result.converged for result in self)

    def check(self) -> "Results":
        """Returns itself, or raises `NotConverged` for the first that has not converged."""
        for result in self:
            result.check()
        return self

    @overload
    def __getitem__(self, index: SupportsIndex) -> Result: ...

    @overload
    def __getitem__(self, index: slice) -> "Results": ...

    def __getitem__(self, index: Any) -> Any:
        picked = super().__getitem__(index)
        if not isinstance(index, slice):
            return picked
        return Results(picked, self.x[:, index] if self._columns else self.x[index], self._columns)

    def __str__(self) -> str:
        return "\n".join(f"{k}: {result.headline()}" for k, result in enumerate(self))

    def _repr_html_(self) -> str:
        names = ("converged", "reason", "iterations", "true_residual", "method", "precon")
        return table(names, ([getattr(result, name) for name in names] for result in self))


class Plan(dict[str, Any]):
    """What a solve will do: a dictionary that prints, and shows in a notebook, as a table."""

    def __str__(self) -> str:
        width = max((len(name) for name in self), default=0) + 2
        return "\n".join(f"{name:<{width}}{_said(value)}" for name, value in self.items())

    def _repr_html_(self) -> str:
        return table(None, self.items())


class Text(str):
    """A text that a notebook shows as it is."""

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self)}</pre>"


def _said(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "; ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def table(names: Any, rows: Any) -> str:
    """Rows as a table for notebooks; without names the first column has them."""
    cell = "<{0} style='text-align:left'>{1}</{0}>"

    def line(values: Any, kinds: Iterator[str]) -> str:
        cells = (cell.format(kind, html.escape(_said(value))) for kind, value in zip(kinds, values))
        return f"<tr>{''.join(cells)}</tr>"

    def kinds(first: str, rest: str) -> Iterator[str]:
        yield first
        while True:
            yield rest

    head = line(names, kinds("th", "th")) if names else ""
    body = (line(row, kinds("td" if names else "th", "td")) for row in rows)
    return f"<table>{head}{''.join(body)}</table>"


def warn(result: Any, device: str | None) -> None:
    """Warnings of a result, or of several, as Python's, at the line outside of the package that has
    asked for it."""
    for one in result if isinstance(result, list) else (result,):
        found = one.__dict__.get("_found")  # of a record that was not read yet: most have none
        lines = found["warnings"] if found is not None else one.warnings
        if not lines and device not in (None, "auto", "cpu") and one.device.startswith("cpu"):
            lines = [f"device={device!r} was asked for, and the solve ran on {one.device!r}"]
        if lines:
            level, frame = 1, sys._getframe()
            while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "spry":
                level, frame = level + 1, frame.f_back
            for line in lines:
                warnings.warn(line, SolverWarning, stacklevel=level)


def members(struct: str, record: Any) -> dict[str, Any]:
    """What a struct of the library's has, but for its size."""
    found = {}
    for name, field in ffi.typeof(struct).fields:
        if name != "size":
            value = getattr(record, name)
            found[name] = list(value) if field.type.kind == "array" else value
    return found


def record() -> Any:
    """A cleared record for the library to fill."""
    made = ffi.new(_RECORD)
    made.size = _SIZE
    return made


_RECORD, _SIZE = ffi.typeof("spry_result *"), ffi.sizeof("spry_result")
