#!/bin/bash
# First, second and later runs of whole solves on a device: bench/cold.sh BUILD [DEVICE]; prints a table of seconds.
# cold: nothing on disk (kernels, choices); warm: the same again. compiled: programs, and the seconds of the compiler.
set -u
build=$1 device=${2:-cuda}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SPRY_CACHE=$work/cache CUDA_CACHE_DISABLE=1
since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'; }
run() { # NAME MATRIX OPTIONS...
    local name=$1 matrix=$2 cold warm log=$work/log
    shift 2
    rm -rf "$SPRY_CACHE"
    local start=$EPOCHREALTIME
    "$build/spry" solve "$matrix" --device "$device" "$@" --log debug > "$work/out" 2> "$log" || { echo "$name: failed"; tail -3 "$log"; return; }
    cold=$(since "$start")
    start=$EPOCHREALTIME
    "$build/spry" solve "$matrix" --device "$device" "$@" > /dev/null 2>&1
    warm=$(since "$start")
    awk -v name="$name" -v cold="$cold" -v warm="$warm" '/characters compiled in/ { n++; s += $(NF - 1); if ($(NF - 1) > most) most = $(NF - 1) }
        END { printf "%-34s cold %6.2f  warm %6.2f  compiled %3d in %6.2f s, the longest %5.2f s\n", name, cold, warm, n, s, most }' "$log"
}
for size in 64 128; do
    "$build/spry" gen poisson3d --size $size -o "$work/p$size.spry" > /dev/null
done
"$build/spry" gen convection-diffusion --size 400 -o "$work/c.spry" > /dev/null
run "auto, poisson3d 64^3" "$work/p64.spry"
run "cg jacobi, 64^3" "$work/p64.spry" --method cg --precon jacobi
run "cg amg, 64^3" "$work/p64.spry" --method cg --precon amg
run "cg amg, 128^3" "$work/p128.spry" --method cg --precon amg
run "minres none, 64^3" "$work/p64.spry" --method minres --precon none
run "gmres jacobi, 64^3" "$work/p64.spry" --method gmres --precon jacobi
run "bicgstabl ilu, 400^2" "$work/c.spry" --method bicgstabl --precon ilu
run "auto, convection 400^2" "$work/c.spry"
