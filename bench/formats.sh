#!/bin/sh
# Storage formats: bench/formats.sh BUILD_FOLDER [SCALE [THREADS [PART...]]], where parts are spmv, spmm, tune, all (formats); every one
# without any. SCALE: see set.sh. Real matrices come from the folder SPRY_MATRICES.
set -eu
build=${1:?usage: formats.sh BUILD_FOLDER [SCALE [THREADS [PART...]]]}
scale=${2:-1}
threads=${3:-$(nproc)}
if [ $# -gt 3 ]; then shift 3; else set -- spmv spmm tune all; fi
here=$(dirname "$0")
OMP_PROC_BIND=${OMP_PROC_BIND:-true}
export OMP_PROC_BIND
SPRY_CACHE=$(mktemp -d)
export SPRY_CACHE
trap 'rm -rf "$SPRY_CACHE"' EXIT
for part in "$@"; do
    echo "== $part, $threads threads"
    # shellcheck disable=SC2046 # lists of matrices
    case $part in
    spmv)
        "$build/bench/bench_spmv" --threads "$threads" --types d $(sh "$here/set.sh" "$scale" d)
        "$build/bench/bench_spmv" --threads "$threads" --types z --formats "auto crf" $(sh "$here/set.sh" "$scale" z)
        ;;
    spmm) "$build/bench/bench_spmm" --threads "$threads" ;;
    tune) "$build/bench/bench_tune" --threads "$threads" --seconds 40 $(sh "$here/set.sh" "$scale" d) ;;
    all)
        for matrix in $(sh "$here/set.sh" "$scale" d | head -n 10); do
            "$build/spry" bench spmv --threads "$threads" --format all "$matrix"
        done
        ;;
    *) echo "formats.sh: no part $part" >&2; exit 2 ;;
    esac
done
