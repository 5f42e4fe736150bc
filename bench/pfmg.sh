#!/bin/bash
# Geometric multigrid compared with hypre's for structured grids (PFMG, SMG):  bench/pfmg.sh BUILD_FOLDER [INTERVALS...]     64 128 192 when none is named
# Poisson's equation on a cube to 1e-8, set-up included: in one process with one thread, and on RANKS (2) ranks of which each has one. Programs run in turn,
# ROUNDS (5) times; medians of seconds, and of those of the processor, which are what counts where others use the machine.
# BUILD_FOLDER is a Release build with -DSPRY_BUILD_BENCH=ON; hypre is libhypre-dev's.
set -eu
build=${1:?usage: pfmg.sh BUILD_FOLDER [INTERVALS...]}
shift
sizes=${*:-64 128 192}
ranks=${RANKS:-2} rounds=${ROUNDS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
mpi="mpirun --oversubscribe --bind-to none -n"
full="method=richardson precon=gmg:cycle=full,symmetric=no tol=1e-8"
cg="method=cg precon=gmg tol=1e-8"

# Seconds, those of the processor, iterations: from a line of either program.
take() { sed -nE 's/.* ([0-9.]+) s \(set-up [0-9.]+\), ([0-9.]+) .*processor[^,]*, +([0-9]+) iterations.*/\1 \2 \3/p'; }

step() { # file, program and its words
    file=$1
    shift
    [ ! -x "$build/bench/$1" ] || "$build/bench/$1" "${@:2}" 2>/dev/null | take >>"$file" || true
}

ranked() { # the same on ranks
    file=$1
    shift
    # shellcheck disable=SC2086 # words are meant
    [ ! -x "$build/bench/$1" ] || $mpi "$ranks" "$build/bench/$1" "${@:2}" 2>/dev/null | take >>"$file" || true
}

echo "| intervals | where | | seconds | of the processor, per rank | iterations |"
echo "|---|---|---|---|---|---|"
for n in $sizes; do
    rm -f "$work"/*
    for _ in $(seq "$rounds"); do
        step "$work/1 gmg full" bench_poisson "$n" cpu "$full"
        step "$work/1 gmg cg" bench_poisson "$n" cpu "$cg"
        step "$work/1 pfmg" bench_poisson_hypre "$n" pfmg
        step "$work/1 pfmg cg" bench_poisson_hypre "$n" cg-pfmg
        step "$work/1 smg" bench_poisson_hypre "$n" smg
        ranked "$work/$ranks gmg full" bench_poisson_ranks "$n" "$full"
        ranked "$work/$ranks gmg cg" bench_poisson_ranks "$n" "$cg"
        ranked "$work/$ranks pfmg" bench_poisson_hypre "$n" pfmg
        ranked "$work/$ranks pfmg cg" bench_poisson_hypre "$n" cg-pfmg
    done
    for file in "$work"/*; do
        name=$(basename "$file")
        for k in 1 2 3; do
            cut -d ' ' -f $k "$file" | sort -g | awk '{ v[NR] = $0 } END { print v[int((NR + 1) / 2)] }'
        done | paste -s -d ' ' | awk -v n="$n" -v r="${name%% *}" -v w="${name#* }" '{ print "| " n " | " r " rank" (r > 1 ? "s" : "") " | " w " | " $1 " | " $2 " | " $3 " |" }'
    done
done
