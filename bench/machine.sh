#!/bin/sh
# Builds, tests and measures on a machine where nothing can be installed: machine.sh BUILD_FOLDER [PREFIX]
# PREFIX may hold cmocka for the build. Matrices are larger than in spmv.sh, for last-level caches of hundreds of MB.
set -eu
build=${1:?usage: machine.sh BUILD_FOLDER [PREFIX]}
prefix=${2:-}
[ -z "$prefix" ] || prefix=$(cd "$prefix" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
jobs=$(nproc)
cmake -S "$here" -B "$build" -DCMAKE_BUILD_TYPE=Release -DSPRY_BUILD_BENCH=ON -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_BUILD_RPATH="$prefix/lib" >"$build.configure.log" 2>&1 || { cat "$build.configure.log"; exit 1; }
cmake --build "$build" -j "$jobs" 2>&1 | grep -E 'warning|error|\*\*\*' || true
(cd "$build" && OMP_WAIT_POLICY=passive OMP_NUM_THREADS=4 ctest -j 4 --timeout 120 --output-on-failure) \
    >"$build.tests.log" 2>&1 || tail -n 100 "$build.tests.log"
tail -n 12 "$build.tests.log"
"$build/spry" devices
large="poisson3d:size=200,points=27 elasticity:size=96 poisson3d:size=256"
for threads in "$jobs" 2; do
    for isa in $("$build/spry" devices --json | sed -n 's/.*"isa_list": "\(.*\)".*/\1/p'); do
        echo "== $isa, $threads threads"
        # shellcheck disable=SC2086 # words are meant
        "$build/spry" bench spmv --isa "$isa" --threads "$threads" $large || true
    done
done
echo "== compared with other libraries, $jobs threads"
# shellcheck disable=SC2086
"$build/bench/bench_spmv" $large || true
for threads in "$jobs" 2; do
    echo "== conjugate gradients compared with other libraries, $threads threads"
    "$build/bench/bench_cg" --threads "$threads" --rounds 5 poisson3d:size=128,points=7 poisson3d:size=192,points=7 \
        poisson3d:size=256,points=7 || true
done
if [ -n "${SPRY_MATRICES:-}" ]; then
    echo "== methods"
    "$here/bench/methods.sh" "$build" "$build.methods.tsv" || true
fi
echo "== reading"
"$here/bench/read.sh" "$build" || true
