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


def _places() -> list[str]:
    here = os.path.dirname(os.path.abspath(__file__))
    named = os.environ.get("SPRY_LIBRARY")
    return [named] if named else [os.path.join(here, "libspry.so"), "libspry.so.2"]


def _load() -> Any:
    failures = []
    for place in _places():
        try:
            return ffi.dlopen(place)
        except OSError as failure:
            failures.append(str(failure))
    raise ImportError("the library of spry was not found:\n  " + "\n  ".join(failures))


lib = _load()


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
