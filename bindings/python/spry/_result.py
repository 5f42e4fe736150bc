"""Result: the outcome of a solve, which prints itself and plots its convergence."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from . import _arrays
from ._context import Context
from ._errors import NotConverged
from ._library import ffi, lib, text


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.2g} us"


class Result:
    """The outcome of a solve. `x` is the solution; residuals are 2-norms relative to b.

    >>> import spry, numpy as np
    >>> A = spry.generate("poisson2d", size=10)
    >>> result = spry.solve(A, np.ones(100), method="cg", precon="none")
    >>> result.converged, result.reason, result.method
    (True, 'converged', 'cg')
    >>> bool(result.true_residual <= 1e-8)
    True
    >>> len(result.history) == result.iterations + 1
    True

    Attributes: `converged`, `reason` (a word: "converged", "iterations", "breakdown", "stagnated",
    "diverged", "nan", "interrupted", "singular", "accepted"), `detail` (more about it), `iterations`,
    `residual` (as the method's recurrence has it), `true_residual` (|b - A x| / |b| of this x),
    `tolerance` (what it was to fall to), `initial_residual`, `history` (residuals of iteration 0, 1, ...), `method`, `precon`, `format`,
    `device`, `shape`, `nnz`, `dtype`, `choose_seconds`, `setup_seconds`, `solve_seconds`, `memory_bytes`,
    `bytes_per_iteration`, `warnings` and `tried` (lists of lines), `nullity` (of A as its factors
    show: where it is not 0, x is one of many).
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
                     "nullity"):
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
        """Draws the residuals over the iterations with matplotlib, and returns the axes."""
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


class Results(list):
    """The results of several right-hand sides: a list of `Result`, with x of all as columns."""

    def __init__(self, results: list[Result], x: Any) -> None:
        super().__init__(results)
        self.x = x

    @property
    def converged(self) -> bool:
        """Whether all have converged."""
        return all(result.converged for result in self)

    def check(self) -> "Results":
        """Returns itself, or raises `NotConverged` for the first that has not converged."""
        for result in self:
            result.check()
        return self

    def __str__(self) -> str:
        return "\n".join(f"{k}: {result.headline()}" for k, result in enumerate(self))


def record() -> Any:
    """A cleared record for the library to fill."""
    made = ffi.new(_RECORD)
    made.size = _SIZE
    return made


_RECORD, _SIZE = ffi.typeof("spry_result *"), ffi.sizeof("spry_result")
