"""Writes spry/_ffi.py: the library's declarations for cffi, made from its public headers.

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


def preprocess(include: str, compiler: str) -> str:
    """The declarations of <spry/spry.h>, as cffi's parser takes them."""
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stdbool.h", "stddef.h", "stdint.h"):
            open(os.path.join(empty, name), "w").close()
        command = [compiler, "-E", "-P", "-nostdinc", "-U__GNUC__", "-I", empty, "-I", include]
        text = subprocess.run(
            [*command, os.path.join(include, "spry", "spry.h")],
            check=True, stdout=subprocess.PIPE, universal_newlines=True,
        ).stdout
    return re.sub(r"\n\s*\n+", "\n", text)


def main() -> None:
    import cffi

    include, output = sys.argv[1:3]
    compiler = sys.argv[3] if len(sys.argv) > 3 else os.environ.get("CC", "cc")
    ffi = cffi.FFI()
    ffi.set_source("spry._ffi", None)
    ffi.cdef(preprocess(include, compiler))
    ffi.emit_python_code(output)


if __name__ == "__main__":
    main()
