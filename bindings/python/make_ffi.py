"""Writes spry/_ffi.py: the declarations of libspry and libspry_grid for cffi, made from their public headers.

    python3 make_ffi.py INCLUDE_FOLDER OUTPUT_FILE [COMPILER]

The headers go through the C preprocessor without the system's own, so that nothing but our
declarations is left. The file that comes out is plain Python data (cffi, out of line, ABI mode):
whoever installs a wheel needs no compiler.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile


PRIVATE = ("spry_matrix_factors", "spry_precon_factors")  # of include/private/programs.h


def preprocess(include: str, compiler: str) -> str:
    """The declarations of <spry/spry.h> and of the grids, as cffi's parser takes them."""
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stdbool.h", "stddef.h", "stdint.h"):
            open(os.path.join(empty, name), "w").close()
        command = [compiler, "-E", "-P", "-nostdinc", "-U__GNUC__", "-I", empty, "-I", include]
        both = os.path.join(empty, "both.h")
        with open(both, "w") as source:
            source.write("#include <spry/spry.h>\n#include <spry/grid.h>\n")
        text = subprocess.run(
            [*command, both], check=True, stdout=subprocess.PIPE, universal_newlines=True,
        ).stdout
    return re.sub(r"\n\s*\n+", "\n", text)


def private(include: str) -> str:
    """The declarations of PRIVATE."""
    with open(os.path.join(include, "private", "programs.h")) as header:
        text = header.read()
    return "\n".join(re.search(rf"SPRY_API ([a-z_ ]+ {name}\([^;]*;)", text).group(1) for name in PRIVATE)


def main() -> None:
    import cffi

    include, output = sys.argv[1:3]
    compiler = sys.argv[3] if len(sys.argv) > 3 else os.environ.get("CC", "cc")
    ffi = cffi.FFI()
    ffi.set_source("spry._ffi", None)
    ffi.cdef(preprocess(include, compiler))
    ffi.cdef(private(include))
    ffi.emit_python_code(output)


if __name__ == "__main__":
    main()
