#!/bin/sh
# Builds, tests and measures on a machine where nothing can be installed: machine.sh BUILD_FOLDER [PREFIX]
# PREFIX may hold cmocka and zlib for the build. Ends with the tables of the benchmarks.
set -eu
build=${1:?usage: machine.sh BUILD_FOLDER [PREFIX]}
prefix=${2:-}
[ -z "$prefix" ] || prefix=$(cd "$prefix" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
jobs=$(nproc)
cmake -S "$here" -B "$build" -DCMAKE_BUILD_TYPE=Release -DSPRY_BUILD_BENCH=ON -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_BUILD_RPATH="$prefix/lib" >"$build.configure.log" 2>&1 || { cat "$build.configure.log"; exit 1; }
cmake --build "$build" -j "$jobs" 2>&1 | grep -E 'warning|error|\*\*\*' || true
(cd "$build" && OMP_WAIT_POLICY=passive OMP_NUM_THREADS=4 ctest -j 4 --timeout 120 --output-on-failure) >"$build.tests.log" 2>&1 || tail -n 80 "$build.tests.log"
tail -n 12 "$build.tests.log"
"$build/spry" devices
for isa in base avx2 avx512; do
    "$build/spry" bench spmv --isa "$isa" poisson3d:size=160,points=27 elasticity:size=80 poisson3d:size=200 || true
done
