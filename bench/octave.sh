#!/bin/sh
# The tables 5.2 and 5.3 of MAT-ELLRT, 100 products and 100 iterations of conjugate gradients, compared with Octave's own:
# bench/octave.sh BUILD_FOLDER [MATRIX FILE...]. The folder is one of a build with SPRY_BUILD_TESTS=ON.
set -eu
build=${1:?build folder}
shift
here=$(cd "$(dirname "$0")/.." && pwd)
files=
for file in "$@"; do files="$files${files:+, }'$file'"; done
exec octave-cli --norc --no-history --eval \
    "addpath $here/bindings/octave/inst $build/octave $here/bench/octave; warning off all; tables($files)"
