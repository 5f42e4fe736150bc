#!/bin/bash
# Sparse factors by cuDSS compared with those of the host, for solves on a CUDA device:
#   bench/cudss.sh BUILD_FOLDER
# SPRY_CUDSS_LIBRARY names libcudss.so.0 or .1 where the system does not find it (libcublas and, for .1, libnvrtc have to be on
# LD_LIBRARY_PATH); CUDSS_THREADING_LIB its libcudss_mtlayer_gomp.so, with which several threads find orderings. Prints a TSV:
# matrix, rows, and for cuDSS and the host seconds of the factorisation, seconds to solve with them, iterations, true residual. The
# least of ROUNDS (3) after one that is not counted; b is ones. SCALE=10 makes grids ten times coarser, to try it out.
set -eu
spry=${1:?usage: cudss.sh BUILD_FOLDER}/spry
rounds=${ROUNDS:-3} device=${DEVICE:-cuda} scale=${SCALE:-1}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A number of a report in JSON.
field() {
    sed -n 's/.*"'"$1"'": *\([-+.0-9e]*\).*/\1/p' "$folder/report" | head -1
}
# Seconds of set-up and solve, iterations, true residual: of factors of a kind.
measure() {
    local best="- - - -" least=1e30 total
    for round in $(seq 0 "$rounds"); do
        "$spry" solve "$1" --device "$device" --method "direct:kind=$2" --json > "$folder/report" 2> "$folder/errors" || {
            cat "$folder/errors" >&2
            break
        }
        [ "$round" = 0 ] && continue
        total=$(echo "$(field setup_seconds) $(field solve_seconds)" | awk '{print $1 + $2}')
        awk "BEGIN {exit !($total < $least)}" || continue
        least=$total
        best="$(field setup_seconds) $(field solve_seconds) $(field iterations) $(field true_residual)"
    done
    echo "$best"
}

printf 'matrix\trows\tcuDSS set-up\tsolve\titerations\tresidual\thost set-up\tsolve\titerations\tresidual\n'
while read -r name kind size options; do
    # shellcheck disable=SC2086 # options are words
    "$spry" gen "$kind" --size $((size / scale)) $options -q -o "$folder/A.spry"
    rows=$("$spry" info "$folder/A.spry" --json | sed -n 's/.*"rows": *\([0-9]*\).*/\1/p' | head -1)
    echo "$name $rows $(measure "$folder/A.spry" cudss) $(measure "$folder/A.spry" sparse)" | tr ' ' '\t'
done << 'END'
poisson2d-700 poisson2d 700
poisson3d-48 poisson3d 48
convection-500 convection-diffusion 500 --peclet 100
elasticity-20 elasticity 20
END
