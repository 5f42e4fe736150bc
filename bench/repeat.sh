#!/bin/bash
# Repeated solves on the host and on every available device: bench/repeat.sh [FOLDER]; prints tables.
# FOLDER (build-bench) is built in, with compiler, cmake and zlib alone; for packages that the machine lacks see tools/device-kit.
# OLD=1: without the counts that versions before 0.2 do not log.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build-bench}
# shellcheck source=tools/device-kit
. tools/device-kit "$build"
{ cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DSPRY_BUILD_BENCH=ON -DSPRY_BUILD_TESTS=OFF "${kit_options[@]}" &&
    cmake --build "$build" -j "$(nproc)" --target spry bench_repeat; } > "$build.log" 2>&1 || { tail -20 "$build.log"; exit 1; }
echo "built after $SECONDS s"
program=$build/bench/bench_repeat
counts=yes
[ -z "${OLD:-}" ] || counts=no
"$build/spry" devices
echo "== host, one thread, then all"
timeout 100 "$program" --sizes 10+40 --threads 1
timeout 100 "$program" --formats sell
for device in cuda opencl; do
    "$build/spry" devices | grep -q "^$device:" || continue
    echo "== $device, vectors on the device"
    timeout 100 "$program" --device "$device" --formats sell --counts $counts
    echo "== $device, vectors on the host"
    timeout 100 "$program" --device "$device" --formats sell --vectors host
done
