#!/bin/bash
# Multigrid on a GPU: bench/cycle.sh [FOLDER]; time of an iteration of cg with amg by sizes, time to solution, and what the kernels of
# one solve take where Nsight Compute can be used. FOLDER (build-bench) is built in; see tools/device-kit.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build-bench}
# shellcheck source=tools/device-kit
. tools/device-kit "$build"
{ cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DSPRY_BUILD_BENCH=ON -DSPRY_BUILD_TESTS=OFF "${kit_options[@]}" &&
    cmake --build "$build" -j "$(nproc)" --target spry bench_repeat bench_device_precon; } > "$build.log" 2>&1 || { tail -20 "$build.log"; exit 1; }
echo "built after $SECONDS s"
export SPRY_CACHE=$PWD/$build/cache
repeat=$build/bench/bench_repeat
timeout 200 "$repeat" --device cuda --formats sell --sizes 40+64+100+128+200 --precon amg --counts yes
for size in 64 128 256; do
    timeout 100 "$build/bench/bench_device_precon" cuda poisson3d:size=$size amg amg:precision=single
done
command -v ncu > /dev/null || exit 0
"$build/spry" gen poisson3d --size 64 -o "$build/p64.spry" > /dev/null
timeout 200 ncu --clock-control none --graph-profiling node --metrics gpu__time_duration.sum --csv --page raw --log-file "${OUT:-/tmp}/ncu.csv" \
    "$build/spry" solve "$build/p64.spry" --method cg --precon amg --format sell --device cuda > "${OUT:-/tmp}/ncu.log" 2>&1
tail -3 "${OUT:-/tmp}/ncu.log"
