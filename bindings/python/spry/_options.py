"""The named options of `solve` and `Solver`, once for signatures, help and type checks."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Callable, TypedDict, TypeVar

if TYPE_CHECKING:
    import numpy as np

    from ._method import Method

_Call = TypeVar("_Call", bound=Callable[..., Any])


class Settings(TypedDict, total=False):
    """What can be changed later, too: `Solver.set`."""

    method: str | Method
    precon: Any
    tol: float | None
    atol: float | None
    maxiter: int | None
    restart: int | None
    format: str | None
    device: str | None
    rtol: float | None
    max_iter: int | None
    method_file: str | None
    reorder: str | None
    reformat: bool | None
    fuse: bool | None
    stall: int | None
    divergence: float | None
    keep: str | None
    report_start: bool | None
    nullspace: str | None
    memory: bool | None


class Options(Settings, total=False):
    """Those of `Solver`."""

    near_null: Any
    null_space: Any
    dtype: Any


class SolveOptions(Options, total=False):
    """Those of `solve`."""

    callback: Callable[[int, float, np.ndarray], Any] | None
    watch: Callable[[int, float], Any] | None


def named(options: Any) -> Callable[[_Call], _Call]:
    """Has help() and editors show the options by name, for a function that takes them as ``**options``."""

    def show(call: _Call) -> _Call:
        own = inspect.signature(call)
        kept = [part for part in own.parameters.values()
                if part.kind is part.POSITIONAL_OR_KEYWORD and part.name not in options.__annotations__]
        auto = ("method", "precon")
        more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default="auto" if name in auto else None)
                for name in options.__annotations__]
        call.__signature__ = own.replace(parameters=kept + more)  # type: ignore[attr-defined]
        return call

    return show
