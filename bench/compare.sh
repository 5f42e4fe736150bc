#!/bin/bash
# Two versions of spry on one machine: bench/compare.sh OLD_SOURCE [FOLDER]; builds both with compiler, cmake and zlib alone (tools/device-kit has
# what else a machine may lack) and runs bench/compare.py on the host, with all threads, and on CUDA where there is a card.
# ROUNDS (5), HOST=no, DEVICES="cuda", OPTIONS of compare.py say how much.
set -u
cd "$(dirname "$0")/.." || exit 1
old=${1:?usage: bench/compare.sh OLD_SOURCE [FOLDER]}
build=${2:-build/compare}
# shellcheck source=tools/device-kit
. tools/device-kit "$build"
unset SPRY_CACHE
for side in old new; do
    source=.
    [ $side = new ] || source=$old
    { cmake -S "$source" -B "$build/$side" -DCMAKE_BUILD_TYPE=Release -DSPRY_BUILD_TESTS=OFF -DSPRY_MPI=OFF "${kit_options[@]}" &&
        cmake --build "$build/$side" -j "$(nproc)" --target spry; } > "$build/$side.log" 2>&1 || { tail -20 "$build/$side.log"; exit 1; }
    echo "$side: built after $SECONDS s"
done
compare() {
    # shellcheck disable=SC2086 # words are meant
    python3 bench/compare.py "$build/old/spry" "$build/new/spry" --rounds "${ROUNDS:-5}" ${OPTIONS:-} "$@"
}
for device in ${DEVICES:-cuda}; do
    "$build/new/spry" devices | grep -q "^$device:" || continue
    echo "== $device"
    compare --device "$device"
done
if [ "${HOST:-yes}" = yes ]; then
    echo "== host, $(nproc) threads"
    compare
fi
