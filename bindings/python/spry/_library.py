"""The C library: finds it, loads it, and gives `ffi` and `lib` to the other modules."""

from __future__ import annotations

import os
from typing import Any

try:
    from ._ffi import ffi
except ImportError as cause:  # a checkout that was not built
    raise ImportError(
        "spry/_ffi.py is missing: install the package (pip install .), or build it with CMake "
        "(target spry_python) and put BUILD/python on PYTHONPATH"
    ) from cause


def _load(name: str, installed: str, variable: str) -> Any:
    """A library: the one that is named by the variable, that of the package, that of the system."""
    here = os.path.dirname(os.path.abspath(__file__))
    named = os.environ.get(variable)
    failures = []
    for place in [named] if named else [os.path.join(here, name), installed]:
        try:
            return ffi.dlopen(place)
        except OSError as failure:
            failures.append(str(failure))
    raise ImportError(f"{name} was not found:\n  " + "\n  ".join(failures))


lib = _load("libspry.so", "libspry.so.2", "SPRY_LIBRARY")


class _Grid:
    """libspry_grid, which is loaded when the first of its functions is called."""

    _loaded: Any = None

    def __getattr__(self, name: str) -> Any:
        if _Grid._loaded is None:
            _Grid._loaded = _load("libspry_grid.so", "libspry_grid.so.0", "SPRY_GRID_LIBRARY")
        return getattr(_Grid._loaded, name)


grid_lib: Any = _Grid()


def text(pointer: Any) -> str:
    """A C string; "" for NULL."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else ""


def sized(struct: str) -> Any:
    """A cleared struct of the library's with its size set, as SPRY_..._INIT does."""
    made = ffi.new(struct + " *")
    made.size = ffi.sizeof(struct)
    return made


def taken(names: str) -> dict[str, int]:
    """The values of an enumeration by their names in lower case: taken("spry_reason")."""
    prefix = names.upper() + "_"
    values = ffi.typeof("enum " + names).elements
    return {name[len(prefix):].lower(): value for value, name in values.items()}


version: str = text(lib.spry_version())
