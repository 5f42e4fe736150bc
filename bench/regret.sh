#!/bin/bash
# What the tuner's choice costs on a GPU: bench/regret.sh BUILD [PATTERN...]
# Builds bench_device_regret in the folder BUILD (with NVIDIA's toolkit; for packages that the machine lacks see tools/device-kit)
# and runs it with a fresh memory of choices; its head explains the table and the patterns.
# SECONDS_ALL (330) ends it, RUNS (10) is how often each is tuned.
set -eu
build=${1:?usage: bench/regret.sh BUILD [PATTERN...]}
shift
cd "$(dirname "$0")/.."
# shellcheck source=tools/device-kit
. tools/device-kit "$build"
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DSPRY_BUILD_BENCH=ON -DSPRY_BUILD_TESTS=OFF "${kit_options[@]}" > "$build/regret.log" 2>&1 &&
    cmake --build "$build" -j "$(nproc)" --target bench_device_regret >> "$build/regret.log" 2>&1 || {
    tail -n 30 "$build/regret.log"
    exit 1
}
rm -rf "$build/regret-cache"
SPRY_CACHE=$build/regret-cache "$build/bench/bench_device_regret" --device "${DEVICE:-cuda:0}" --runs "${RUNS:-10}" --seconds "${SECONDS_ALL:-330}" "$@"
