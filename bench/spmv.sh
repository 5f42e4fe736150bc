#!/bin/sh
# SpMV as a share of the read bandwidth of the same run, compared with the libraries found when it was built:
# bench/spmv.sh BUILD_FOLDER. All matrices in double, then one in every type, then on one thread.
set -eu
program=${1:?build folder}/bench/bench_spmv
echo "== double, all threads"
"$program"
echo "== all types, all threads"
"$program" --types scz poisson3d:size=112,points=27 elasticity:size=48
echo "== one thread"
"$program" --threads 1 --types sdcz poisson3d:size=96,points=27
