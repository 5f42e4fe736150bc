#!/bin/bash
# Slices of time side by side, the table of docs/time.md:  bench/parareal.sh BUILD_FOLDER
# `spry heat parareal` with SIZE (64) intervals along each axis, by threads and by ranks: measurements next to the cost model. Each case is run ROUNDS (10)
# times, cases in turn; medians, with the least and the largest. WORKERS (2) are as many as cores that are free: more than those measure nothing.
# BUILD_FOLDER is a Release build; ranks are left out where there is no mpirun.
set -eu
build=${1:?usage: parareal.sh BUILD_FOLDER}
size=${SIZE:-64} rounds=${ROUNDS:-10} workers=${WORKERS:-2}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpi="env OMP_NUM_THREADS=1 mpirun --oversubscribe --bind-to none -n $workers"

run() { # file, slices, change, words before spry, workers
    # shellcheck disable=SC2086 # words are meant
    $4 "$build/spry" heat parareal --size "$size" --threads 1 --slices "$2" --change "$3" $5 -q >"$work/printed" 2>/dev/null || return 0
    awk '/^iterations/ { sub(",", "", $2); k = $2 } /^difference/ { d = $2 } /^a slice/ { r = $NF } /^speed-up/ { sub(",", "", $2); s = $2; m = $NF }
        END { if (s != "") print k, d, r, m, s }' "$work/printed" >>"$1"
}

column() { cut -d ' ' -f "$2" "$1" | sort -g | awk '{ v[NR] = $0 } END { print v[int((NR + 1) / 2)], v[1], v[NR] }'; }

cases="2:1 2:0 4:1e-2 8:1e-6 8:0"
for _ in $(seq "$rounds"); do
    for c in $cases; do
        slices=${c%:*} change=${c#*:}
        run "$work/$c one" "$slices" "$change" "" "--workers 1"
        run "$work/$c $workers threads" "$slices" "$change" "" "--workers $workers"
        ! command -v mpirun >/dev/null || run "$work/$c $workers ranks" "$slices" "$change" "$mpi" ""
    done
done
echo "| slices | \`--change\` | iterations | difference | workers | f / c | model | measured |"
echo "|---|---|---|---|---|---|---|---|"
for c in $cases; do
    for who in one "$workers threads" "$workers ranks"; do
        file="$work/$c $who"
        [ -s "$file" ] || continue
        measured=$(column "$file" 5 | awk '{ printf "%s (%s to %s)", $1, $2, $3 }')
        first() { column "$file" "$1" | cut -d ' ' -f 1; }
        echo "| ${c%:*} | ${c#*:} | $(first 1) | $(first 2) | $who | $(first 3) | $(first 4) | $measured |"
    done
done
