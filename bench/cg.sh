#!/bin/sh
# Conjugate gradients, seconds per iteration, compared with the same unfused, by hand over OpenBLAS, and PETSc's:
# bench/cg.sh BUILD_FOLDER. All threads, then one. LD_LIBRARY_PATH can bring in another build of OpenBLAS: the one with
# OpenMP's threads is faster together with OpenMP than the one with threads of its own.
set -eu
program=${1:?build folder}/bench/bench_cg
echo "== all threads"
"$program"
echo "== one thread"
"$program" --threads 1 --rounds 3 poisson3d:size=128,points=7
