#!/bin/bash
# What the tuner's choice costs on a GPU: bench/regret.sh BUILD [PATTERN...]
# OTHERS=1: patterns that formats were not ordered by; FORMATS="csr+merge": these are timed, with a line each.
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
if [ -n "${OTHERS:-}" ] && [ $# -eq 0 ]; then
    set -- mixed:1000000 rmat:size=4194304 shuffled:1,rmat:size=2097152 hubs:shuffled:1,rmat:size=2097152 power:2000000,16,2.3 \
        random:size=2000000 circuit:size=5000000 poisson2d:size=4000,points=5 blocks:1000000,5,5 near:1000000,12,20,6000 \
        shuffled:1,poisson3d:size=128,points=7
fi
[ -z "${FORMATS:-}" ] || set -- --formats "$FORMATS" "$@"
rm -rf "$build/regret-cache"
SPRY_CACHE=$build/regret-cache "$build/bench/bench_device_regret" --device "${DEVICE:-cuda:0}" --runs "${RUNS:-10}" --seconds "${SECONDS_ALL:-330}" "$@"
