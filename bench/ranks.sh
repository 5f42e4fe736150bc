#!/bin/bash
# Ranks compared with threads, PETSc and hypre:  bench/ranks.sh BUILD_FOLDER [cg] [multigrid]      both when none is named
# cg         poisson3d of SIDE^3 (192) points, conjugate gradients without a preconditioner: ms per iteration of one process with one
#            thread, of one rank, of RANKS (2) threads, of as many ranks, and of PETSc's with as many
# multigrid  poisson3d 128^3 and elasticity 48^3 (POISSON, ELASTICITY) to 1e-8, set-up and solve: RANKS threads, ranks, PETSc's GAMG and
#            hypre's BoomerAMG with the options that did best in bench/precon.sh
# Everything runs in turn, ROUNDS (3) times; medians. BUILD_FOLDER is a Release build with -DSPRY_BUILD_BENCH=ON.
set -eu
build=${1:?usage: ranks.sh BUILD_FOLDER [PART...]}
shift
parts=${*:-cg multigrid}
ranks=${RANKS:-2} rounds=${ROUNDS:-3} side=${SIDE:-192} iterations=${ITERATIONS:-100}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OPENBLAS_NUM_THREADS=1
mpi="env OMP_NUM_THREADS=1 mpirun --oversubscribe --bind-to none -n"

# What a record of `spry solve --json` has: the sum of the fields that are named.
field() { python3 -c 'import json, sys; r = json.load(sys.stdin); print(*[r[k] for k in sys.argv[1:]])' "$@"; }

median() { sort -g "$1" | awk '{ v[NR] = $0 } END { print v[int((NR + 1) / 2)] }'; }

spry_step() { # words before spry, threads: ms per iteration
    # shellcheck disable=SC2086 # words are meant
    $1 "$build/spry" solve "$work/p.spry" --method cg --precon none --format csr --threads "$2" --tol 1e-30 --stall 0 \
        --max-iter "$iterations" --no-memory --json $3 2>/dev/null | field solve_seconds iterations | awk '{ print 1e3 * $1 / $2 }'
}

cg() {
    "$build/spry" gen poisson3d --size "$side" -o "$work/p.spry" --quiet
    for _ in $(seq "$rounds"); do
        spry_step "" 1 "" >>"$work/serial" || true
        spry_step "$mpi 1" 1 --mpi >>"$work/rank" || true
        spry_step "" "$ranks" "" >>"$work/threads" || true
        spry_step "$mpi $ranks" 1 --mpi >>"$work/ranks" || true
        # its answer: seconds per iteration of a few runs; see peer.h
        [ ! -x "$build/bench/bench_peer_petsc" ] ||
            $mpi "$ranks" "$build/bench/bench_peer_petsc" "poisson3d:size=$side" natural none "$ranks" "$iterations" 2>/dev/null |
            tee "$work/petsc.raw" | awk 'NR == 1 { print 1e3 * $1 }' >>"$work/petsc"
    done
    echo "poisson3d $side^3, cg: ms per iteration"
    echo "| 1 thread | 1 rank | over it | $ranks threads | $ranks ranks | threads / ranks | PETSc, $ranks ranks | PETSc / ranks |"
    echo "|---|---|---|---|---|---|---|---|"
    echo "$(median "$work/serial") $(median "$work/rank") $(median "$work/threads") $(median "$work/ranks") $(median "$work/petsc" || echo 0)" |
        awk '{ printf "| %.2f | %.2f | %+.1f%% | %.2f | %.2f | %.2f | %.2f | %.2f |\n", $1, $2, 100 * ($2 / $1 - 1), $3, $4, $3 / $4, $5, $5 / $4 }'
}

# set-up, solve, iterations of one way to solve, a line a round
spry_solve() { # words, threads, words after
    # shellcheck disable=SC2086 # words are meant
    $1 "$build/spry" solve "$work/a.spry" --method cg --precon amg --threads "$2" --tol 1e-8 --no-memory --json $3 2>/dev/null |
        field setup_seconds solve_seconds iterations | awk '{ print $1 + $2, $1, $2, $3 }'
}

peer() { # program matrix options
    [ -x "$build/bench/$1" ] || return 0
    $mpi "$ranks" "$build/bench/$1" "$2" "$ranks" "$3" 2>/dev/null | awk 'NR == 1 { print $1 + $2, $1, $2, $3 }'
}

multigrid() { # matrix for the peers, words of spry gen, PETSc's options, hypre's
    # shellcheck disable=SC2086 # words are meant
    "$build/spry" gen $2 -o "$work/a.spry" --quiet
    rm -f "$work"/mg-*
    for _ in $(seq "$rounds"); do
        spry_solve "" "$ranks" "" >>"$work/mg-spry, $ranks threads" || true
        spry_solve "$mpi $ranks" 1 --mpi >>"$work/mg-spry, $ranks ranks" || true
        peer bench_precon_petsc "$1" "$3" >>"$work/mg-PETSc GAMG, $ranks ranks" || true
        peer bench_precon_hypre "$1" "$4" >>"$work/mg-hypre BoomerAMG, $ranks ranks" || true
    done
    echo "$2: cg with multigrid to 1e-8"
    echo "| | set-up, s | solve, s | in all | iterations |"
    echo "|---|---|---|---|---|"
    for file in "$work"/mg-*; do
        median "$file" | awk -v name="${file#"$work"/mg-}" '{ printf "| %s | %.2f | %.2f | %.2f | %d |\n", name, $2, $3, $1, $4 }'
    done
}

for part in $parts; do
    case $part in
    cg) cg ;;
    multigrid)
        cg="-ksp_type cg -ksp_norm_type unpreconditioned"
        multigrid "poisson3d:size=${POISSON:-128}" "poisson3d --size ${POISSON:-128}" "$cg -pc_type gamg" \
            "solver=cg precon=amg aggressive=1 relax=6"
        multigrid "elasticity:size=${ELASTICITY:-48}" "elasticity --size ${ELASTICITY:-48}" "$cg -pc_type gamg -rigid" \
            "solver=cg precon=amg functions=3 strong=0.5 relax=6"
        ;;
    *)
        echo "ranks.sh: no part $part" >&2
        exit 2
        ;;
    esac
done
