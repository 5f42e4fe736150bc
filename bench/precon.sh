#!/bin/bash
# Time to solution, set-up and solve to a true residual of 1e-8, compared with PETSc's and hypre's preconditioners:
#   bench/precon.sh BUILD_FOLDER [generated] [files] [sai] [scaling]      all four when none is named
# generated  poisson3d 128^3, anisotropic diffusion 96^3 (strong lines, strong planes), elasticity 48^3 (rigid body modes are given
#            to those who take them), convection-diffusion 96^3; b is ones
# files      the square matrices of tiers medium and large in the folder SPRY_MATRICES, less those that its INDEX.tsv lists as
#            singular or plain graphs; b is A times ones
# sai        sparse approximate inverses with the same pattern: ParaSails without factors, and sai
# scaling    iterations of multigrid, poisson3d 64^3 to 192^3
# Prints a TSV with a row for each problem, library and configuration, and tables; the rows go to OUT too when it is set. Threads of
# spry are processes of the others, which then have rows of their own each. Every configuration runs once; those that came within
# twice the best of theirs (spry, or the others) run again, ROUNDS in all, in turn, and the round with the median time counts.
# A configuration that takes more than LIMIT seconds or ends with a larger residual has failed; one that this build does not know
# is unavailable. AMGCL and Ginkgo, which Debian does not have, have no program yet.
#   THREADS 2, ROUNDS 3, LIMIT 60, LIBRARIES "spry petsc hypre", PROBLEMS: matrices in place of the parts' own, MATRICES: names of files,
#   CONFIGS: a regular expression of those to run, of PROBLEM LIBRARY NAME, "spry cg[+]ic"; NEAR 2: what runs again, times the best;
#   PEERS: the folder of the others' programs, MPIRUN: what starts them; BUDGET: seconds that a part has: problems share them, and
#   further rounds stop when the share is spent
# BENCH_CLOCK=processor takes the processor's seconds for the clock's, which other work on the machine hardly changes: with THREADS=1,
# since it sums up those of threads, but not of processes.
set -eu
build=${1:?usage: precon.sh BUILD_FOLDER [PART...]}/bench
shift
parts=${*:-generated files sai scaling}
threads=${THREADS:-2} rounds=${ROUNDS:-3} limit=${LIMIT:-60} libraries=${LIBRARIES:-spry petsc hypre}
out=${OUT:-/dev/null} peers=${PEERS:-$build} mpirun=${MPIRUN:-mpirun --bind-to none} near=${NEAR:-2} budget=${BUDGET:-1000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Debian's Open MPI refuses root, whom containers often have.
# Threads of OpenBLAS, which spry and the others link, are awake for seconds after the start and take a core from those that count.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OPENBLAS_NUM_THREADS=1

# --- the configurations: name and options; a name is METHOD+PRECONDITIONER ------------------------------------------------------

# What each library has for a kind of matrix: positive, symmetric (indefinite), general, elastic.
spry_list() {
    echo "auto	"
    case $1 in
    positive | elastic)
        cat <<-END
		cg+jacobi	method=cg precon=jacobi
		cg+l1	method=cg precon=l1
		cg+ssor	method=cg precon=ssor
		cg+block-jacobi	method=cg precon=block-jacobi
		cg+poly	method=cg precon=poly
		cg+ic	method=cg precon=ic
		cg+ic1	method=cg precon=ic:level=1
		cg+ic2	method=cg precon=ic:level=2
		cg+ic-single	method=cg precon=ic:precision=single
		cg+ic-modified	method=cg precon=ic:modified=0.95
		cg+ict	method=cg precon=ict
		cg+fsai	method=cg precon=fsai
		cg+schwarz	method=cg precon=schwarz:kind=as,sub=ic
		cg+amg	method=cg precon=amg
		cg+amg-single	method=cg precon=amg:precision=single
		cg+amg-classical	method=cg precon=amg-classical
		END
        ;;
    symmetric)
        echo "minres+none	method=minres precon=none"
        ;;
    esac
    case $1 in
    symmetric | general)
        cat <<-END
		bicgstab+none	method=bicgstab precon=none
		bicgstab+jacobi	method=bicgstab precon=jacobi
		bicgstab+ssor	method=bicgstab precon=ssor
		bicgstab+block-jacobi	method=bicgstab precon=block-jacobi
		bicgstab+ilu	method=bicgstab precon=ilu
		bicgstab+ilu1	method=bicgstab precon=ilu:level=1
		bicgstab+ilu2	method=bicgstab precon=ilu:level=2
		gmres+ilu	method=gmres precon=ilu
		gmres+ilu2	method=gmres precon=ilu:level=2
		bicgstab+ilut	method=bicgstab precon=ilut
		bicgstab+ilut-.01	method=bicgstab precon=ilut:tau=0.01
		gmres+ilut	method=gmres precon=ilut
		gmres+ilutp	method=gmres precon=ilutp
		gmres+mlilu	method=gmres precon=mlilu
		bicgstab+sai	method=bicgstab precon=sai
		bicgstab+spai	method=bicgstab precon=spai
		bicgstab+schwarz	method=bicgstab precon=schwarz
		bicgstab+amg	method=bicgstab precon=amg
		bicgstab+amg-single	method=bicgstab precon=amg:precision=single
		gmres+amg	method=gmres precon=amg
		gmres+amg-classical	method=gmres precon=amg-classical
		gmres+direct	method=gmres precon=direct
		END
        ;;
    esac
}

petsc_list() {
    local cg="-ksp_type cg -ksp_norm_type unpreconditioned" right="-ksp_norm_type unpreconditioned -ksp_pc_side right"
    local shift="-sub_pc_factor_shift_type"
    local bicgstab="-ksp_type bcgs $right" gmres="-ksp_type gmres $right"
    case $1 in
    positive | elastic)
        cat <<-END
		cg+jacobi	$cg -pc_type jacobi
		cg+ssor	$cg -pc_type sor -pc_sor_local_symmetric
		cg+icc0	$cg -pc_type bjacobi -sub_pc_type icc $shift positive_definite
		cg+icc1	$cg -pc_type bjacobi -sub_pc_type icc -sub_pc_factor_levels 1 $shift positive_definite
		cg+icc2	$cg -pc_type bjacobi -sub_pc_type icc -sub_pc_factor_levels 2 $shift positive_definite
		cg+asm-icc0	$cg -pc_type asm -pc_asm_type basic -sub_pc_type icc $shift positive_definite
		cg+gamg	$cg -pc_type gamg
		cg+gamg-t.02	$cg -pc_type gamg -pc_gamg_threshold 0.02
		cg+gamg-sor	$cg -pc_type gamg -mg_levels_pc_type sor
		END
        ;;
    esac
    case $1 in
    elastic)
        cat <<-END
		cg+pbjacobi	$cg -pc_type pbjacobi
		cg+gamg-rigid	$cg -pc_type gamg -rigid
		cg+gamg-rigid-t.02	$cg -pc_type gamg -rigid -pc_gamg_threshold 0.02
		cg+gamg-rigid-sor	$cg -pc_type gamg -rigid -mg_levels_pc_type sor
		END
        ;;
    symmetric)
        cat <<-END
		minres+none	-ksp_type minres -pc_type none
		minres+jacobi	-ksp_type minres -pc_type jacobi -pc_jacobi_abs -ksp_rtol 1e-10
		END
        ;;
    esac
    case $1 in
    symmetric | general)
        cat <<-END
		bicgstab+none	$bicgstab -pc_type none
		bicgstab+jacobi	$bicgstab -pc_type jacobi
		bicgstab+sor	$bicgstab -pc_type sor
		bicgstab+ilu0	$bicgstab -pc_type bjacobi -sub_pc_type ilu $shift nonzero
		gmres+ilu0	$gmres -pc_type bjacobi -sub_pc_type ilu $shift nonzero
		bicgstab+ilu2	$bicgstab -pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_levels 2 $shift nonzero
		gmres+ilu2	$gmres -pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_levels 2 $shift nonzero
		gmres+asm-ilu1	$gmres -pc_type asm -sub_pc_type ilu -sub_pc_factor_levels 1 $shift nonzero
		gmres+ilu2-diagonal	$gmres -pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_levels 2 -sub_pc_factor_nonzeros_along_diagonal
		gmres+mumps	$gmres -pc_type lu -pc_factor_mat_solver_type mumps
		gmres+gamg	$gmres -pc_type gamg -pc_gamg_agg_nsmooths 0 -mg_levels_ksp_type richardson -mg_levels_pc_type sor
		END
        ;;
    esac
}

hypre_list() {
    case $1 in
    positive | elastic)
        cat <<-END
		cg+jacobi	solver=cg precon=jacobi
		cg+ilu0	solver=cg precon=ilu
		cg+euclid1	solver=cg precon=euclid level=1
		cg+fsai	solver=cg precon=fsai
		cg+parasails	solver=cg precon=parasails symmetric=1 threshold=0.1 levels=1 filter=0.05
		END
        ;;
    esac
    case $1 in
    positive)
        cat <<-END
		cg+amg	solver=cg precon=amg
		cg+amg-.5	solver=cg precon=amg strong=0.5
		cg+amg-pmis	solver=cg precon=amg coarsen=8 strong=0.5
		cg+amg-aggressive	solver=cg precon=amg aggressive=1
		cg+amg-aggressive-.5	solver=cg precon=amg aggressive=1 strong=0.5
		cg+amg-aggressive-sgs	solver=cg precon=amg aggressive=1 relax=6
		cg+amg-aggressive-pmis	solver=cg precon=amg aggressive=1 coarsen=8 relax=6
		cg+amg-l1-jacobi	solver=cg precon=amg aggressive=1 relax=18
		END
        ;;
    elastic)
        cat <<-END
		cg+amg-.5	solver=cg precon=amg strong=0.5
		cg+amg-unknowns	solver=cg precon=amg functions=3 strong=0.5
		cg+amg-unknowns-sgs	solver=cg precon=amg functions=3 strong=0.5 relax=6
		cg+amg-unknowns-aggressive	solver=cg precon=amg functions=3 strong=0.5 relax=6 aggressive=1
		cg+amg-nodes	solver=cg precon=amg functions=3 strong=0.5 nodal=4 nodaldiag=1 relax=6
		cg+amg-nodes-rigid	solver=cg precon=amg functions=3 strong=0.5 nodal=4 nodaldiag=1 relax=6 rigid=2
		END
        ;;
    *)
        cat <<-END
		bicgstab+jacobi	solver=bicgstab precon=jacobi
		bicgstab+ilu0	solver=bicgstab precon=ilu
		gmres+ilu0	solver=gmres precon=ilu
		bicgstab+ilu1	solver=bicgstab precon=ilu level=1
		gmres+ilut	solver=gmres precon=ilu type=1 drop=1e-3 most=30
		bicgstab+euclid1	solver=bicgstab precon=euclid level=1
		bicgstab+parasails	solver=bicgstab precon=parasails threshold=0.1 levels=1 filter=0.05
		bicgstab+amg	solver=bicgstab precon=amg
		gmres+amg-sgs	solver=gmres precon=amg relax=6
		END
        ;;
    esac
}

# --- running them ---------------------------------------------------------------------------------------------------------------

# The program of a library for a kind of matrix, and what starts it; empty when it was not built.
program_of() { # library kind
    case $1,$2 in
    spry,*) echo "$build/bench_precon" ;;
    petsc,complex-*) echo "$peers/bench_precon_petsc_complex" ;;
    *) echo "$peers/bench_precon_$1" ;;
    esac
}

# Appends to the file of results: problem, library, name, set-up, solve, total, iterations, residual, verdict.
run() { # problem kind library name options
    local program line="" status=0 start=""
    program=$(program_of "$3" "$2")
    [ "$3" = spry ] || start="env OMP_NUM_THREADS=1 $mpirun -n $threads"
    if [ -x "$program" ]; then
        # Generating the matrix takes a few more seconds.
        # shellcheck disable=SC2086 # words are meant
        timeout -k 5 "$((limit + 5))" $start "$program" "$1" "$threads" "$5" </dev/null >"$work/answer" 2>"$work/errors" || status=$?
        line=$(head -n 1 "$work/answer")
        [ "$status" -ne 124 ] || line="over $limit s"
        [ -n "$line" ] || line=$(sed -n 's/.*PETSC ERROR: \([A-Z].*\)/\1/p' "$work/errors" | grep -v 'Error Message' | head -n 1)
    else
        line="unavailable: its program was not built"
    fi
    echo "$line" | awk -F '\t' -v OFS='\t' -v problem="$(short "$1")" -v library="$3" -v name="$4" -v limit="$limit" '
        NF == 4 && $1 + 0 == $1 {
            verdict = $4 <= 1e-8 ? "" : "failed: the residual"
            if ($1 + $2 > limit) verdict = "failed: over " limit " s"
            print problem, library, name, $1, $2, $1 + $2, $3, $4, verdict
            exit
        }
        { print problem, library, name, "", "", "", "", "", /^unavailable/ ? $0 : "failed: " ($0 == "" ? "it died" : $0) }
    ' >>"$work/rounds"
}

short() { basename "${1#file:}" .mtx.gz; }

side() { [ "$1" = spry ] && echo spry || echo others; }

# Whether a configuration is worth another round: within NEAR times the best of its side.
is_near() { # library name
    awk -F '\t' -v side="$(side "$1")" -v library="$1" -v name="$2" -v near="$near" '
        $9 == "" && (side == "spry") == ($2 == "spry") {
            if (!best || $6 < best) best = $6
            if ($2 == library && $3 == name && (!mine || $6 < mine)) mine = $6
        }
        END { exit !(mine && mine <= near * best) }
    ' "$work/rounds"
}

# One row for each configuration: the round with the median total time.
settle() {
    sort -t "$(printf '\t')" -k2,2 -k3,3 -k6,6g "$work/rounds" | awk -F '\t' '
        { key = $2 FS $3; if (key != last) { emit(); count = 0; last = key } rows[++count] = $0 }
        function emit() { if (count) print rows[int((count + 1) / 2)] }
        END { emit() }
    ' | sort -t "$(printf '\t')" -k2,2 -k6,6g
}

# Whether a configuration's turn comes in a round, with the seconds that are left.
is_due() { # problem round library name
    [[ "$(short "$1") $3 $4" =~ ${CONFIGS:-} ]] || return 1
    [ "$2" -eq 1 ] || is_near "$3" "$4" || return 1
    [ "$SECONDS" -lt "$([ "$2" -eq 1 ] && echo "$end" || echo "$share")" ] && return
    short "$1" >>"$work/cut"
    return 1
}

run_list() { # problem kind list
    local round library name options
    for round in $(seq "$rounds"); do
        for library in $libraries; do
            while IFS=$'\t' read -r name options; do
                is_due "$1" "$round" "$library" "$name" || continue
                echo "$(short "$1"): $library $name, round $round" >&2
                run "$1" "$2" "$library" "$name" "$options"
            done <<<"$("${library}_list" "$3")"
        done
    done
}

measure() { # problem list
    local kind rows entries
    IFS=$'\t' read -r kind rows entries <<<"$("$build/bench_precon" "$1" "$threads" kind | head -n 1)"
    : >"$work/rounds"
    run_list "$1" "$kind" "${2:-${kind#complex-}}"
    # A positive diagonal promises nothing: what conjugate gradients cannot solve at all is indefinite.
    if [ "${kind#complex-}" = positive ] && ! awk -F '\t' '$9 == "" { found = 1 } END { exit !found }' "$work/rounds"; then
        run_list "$1" "$kind" symmetric
    fi
    settle | tee -a "$work/all" "$out"
    echo "$(short "$1")	$kind	$rows	$entries" >>"$work/problems"
}

# --- tables -----------------------------------------------------------------------------------------------------------------------

summary() {
    [ -s "$work/problems" ] || return 0
    awk -F '\t' '
        FILENAME ~ /problems$/ { order[++count] = $1; what[$1] = $2 ", " $3 " rows, " $4 " entries"; next }
        $9 != "" { next }
        { side = $2 == "spry" ? "spry" : "others" }
        !((side, $1) in best) || $6 < best[side, $1] {
            best[side, $1] = $6
            who[side, $1] = sprintf("%s%s: %.3f + %.3f s, %d", side == "spry" ? "" : $2 " ", $3, $4, $5, $7)
        }
        END {
            print "\n| problem | best of the others: set-up + solve, iterations | best of spry | spry over it |"
            print "|---|---|---|---|"
            for (k = 1; k <= count; k++) {
                p = order[k]
                here = ("spry", p) in best; there = ("others", p) in best
                ratio = here && there ? best["spry", p] / best["others", p] : 0
                printf "| %s (%s) | %s | %s | %s |\n", p, what[p], there ? who["others", p] : "none solves it",
                    here ? who["spry", p] : "none solves it", ratio ? sprintf("%.2f", ratio) : "-"
                cases += here || there
                faster += (ratio && ratio < 1) || (here && !there)
                if (there && !here) unsolved++
                if (ratio > worst) { worst = ratio; where = p }
            }
            printf "\nspry is faster in %d of %d; worst ratio %.2f (%s); %d that others solve and spry does not\n", faster, cases,
                worst, where, unsolved
        }
    ' "$work/problems" "$work/all"
    [ ! -e "$work/cut" ] || echo "Fewer runs than wanted, for want of time: $(sort -u "$work/cut" | paste -sd ' ')"
}

# The matrices of the folder, as its index has them.
files() {
    [ -n "${SPRY_MATRICES:-}" ] || { echo "files: skipped, SPRY_MATRICES names no folder" >&2; return; }
    awk -F '\t' -v wanted=" ${MATRICES:-} " -v folder="$SPRY_MATRICES" '
        NR == 1 { for (k = 1; k <= NF; k++) at[$k] = k; next }
        wanted != "  " { if (index(wanted, " " $at["name"] " ")) print "file:" folder "/" $at["file"]; next }
        $at["tier"] ~ /medium|large/ && $at["rows"] == $at["cols"] && $at["note"] !~ /rank |singular|undirected/ {
            print "file:" folder "/" $at["file"]
        }
    ' "$SPRY_MATRICES/INDEX.tsv"
}

# Set-up of approximate inverses with the patterns of A and of A squared, nothing dropped.
inverses() {
    local problem level
    echo
    echo "| sparse approximate inverse, $threads threads | pattern | ParaSails: set-up s, iterations | sai: set-up s, iterations | times as fast |"
    echo "|---|---|---|---|---|"
    for problem in ${PROBLEMS:-convection-diffusion:size=64,nz=64 poisson3d:size=64 $(MATRICES="${MATRICES:-epb3 cage11}" files)}; do
        for level in 0 1; do
            : >"$work/rounds"
            for _ in $(seq "$rounds"); do
                run "$problem" general hypre parasails "solver=bicgstab precon=parasails levels=$level"
                run "$problem" general spry sai "method=bicgstab precon=sai:power=$((level + 1))"
            done
            settle | sed "s/^[^	]*/& A^$((level + 1))/" | tee -a "$out" >>"$work/inverses"
            settle | awk -F '\t' -v problem="$(short "$problem")" -v power="$((level + 1))" '
                { setup[$2] = $4; cell[$2] = $4 == "" ? $9 : sprintf("%.3f, %d", $4, $7) ($9 == "" ? "" : " (" $9 ")") }
                END { printf "| %s | A^%d | %s | %s | %s |\n", problem, power, cell["hypre"], cell["spry"],
                      setup["spry"] ? sprintf("%.1f", setup["hypre"] / setup["spry"]) : "-" }'
        done
    done
}

# Iterations as the grid grows.
scaling() {
    local size library name options
    echo
    echo "| multigrid, poisson3d | set-up s | solve s | iterations |"
    echo "|---|---|---|---|"
    while IFS=$'\t' read -r library name options; do
        for size in ${SIZES:-64 96 128 160 192}; do
            : >"$work/rounds"
            run "poisson3d:size=$size" positive "$library" "$name" "$options"
            awk -F '\t' -v size="$size" '{ printf "| %s %s %d^3 | %s | %s | %s |\n", $2, $3, size, $4, $5, $7 ($9 == "" ? "" : " " $9) }' \
                "$work/rounds"
        done
    done <<-END
		spry	cg+amg	method=cg precon=amg
		spry	cg+amg-classical	method=cg precon=amg-classical
		hypre	cg+amg	solver=cg precon=amg
		petsc	cg+gamg	-ksp_type cg -ksp_norm_type unpreconditioned -pc_type gamg
	END
}

elastic_or_own() { case $1 in elasticity:*) echo elastic ;; esac; }

: >"$work/all"
: >"$work/problems"
printf 'problem\tlibrary\tconfiguration\tset-up s\tsolve s\ttotal s\titerations\ttrue residual\tverdict\n' | tee "$out"
echo "amgcl, ginkgo: skipped, no program for them" >&2
for part in $parts; do
    case $part in
    generated) problems=${PROBLEMS:-poisson3d:size=128 anisotropic:size=96,nz=96,epsilon=0.001 anisotropic:size=96,nz=96,epsilon=1000
        elasticity:size=48 convection-diffusion:size=96,nz=96} ;;
    files) problems=$(files) ;;
    *) problems="" ;;
    esac
    left=$(wc -w <<<"$problems") end=$((SECONDS + budget))
    for problem in $problems; do
        share=$((SECONDS + (end - SECONDS) / left))
        left=$((left - 1))
        measure "$problem" "$(elastic_or_own "$problem")"
    done
done
summary
for part in $parts; do
    case $part in
    sai) inverses ;;
    scaling) scaling ;;
    esac
done
