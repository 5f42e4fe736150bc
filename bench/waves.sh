#!/bin/bash
# Iterations of every solver against the size in wavelengths:  bench/waves.sh BUILD_FOLDER
# The tables of docs/waves.md: a point in the middle of a box, 8 points per wavelength, layers of one, to 1e-6. Squares of 2 to MOST2=16
# wavelengths between layers, cubes of 2 to MOST3=4. MEDIUM=1: the same where k varies by 20%, and jumps. Iterations do not depend on what else
# the machine does; cubes of 4 without preconditioner take minutes each. -1: not converged within 20,000.
set -u
build=${1:?usage: waves.sh BUILD_FOLDER}
bench=$build/bench/bench_waves
[ -x "$bench" ] || { echo "$bench is missing: cmake -DSPRY_BUILD_BENCH=ON, make bench_waves" >&2; exit 2; }
what=iterations
[ -z "${MEDIUM:-}" ] || what=medium

# table DIMENSIONS MOST: one table for each preconditioner
table() {
    local methods=() method
    echo "none:"
    "$bench" $what "$1" "$2" bicg bicgstab cocg cocr "gmres restart=50" idr
    # bicg needs M^H, which these have not; cocg and cocr need a symmetric M, which only multigrid is
    for method in bicgstab cocg cocr "gmres restart=50" idr; do
        methods+=("$method precon=gmg:shift=0.3")
    done
    for method in bicgstab "gmres restart=50" idr; do
        methods+=("$method precon=strips:parts=4")
    done
    for method in bicgstab fgmres:restart=50 idr; do
        methods+=("$method precon=born")
    done
    echo "preconditioned:"
    "$bench" $what "$1" "$2" "${methods[@]}"
    echo "the series' operator by itself:"
    "$bench" $what "$1" "$2" wave=bicgstab wave=cocg wave=cocr "wave=[gmres:restart=50]" wave=idr wave=born
}

echo "two dimensions"
table 2 "${MOST2:-16}"
echo "three dimensions"
table 3 "${MOST3:-4}"
