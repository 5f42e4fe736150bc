#!/bin/bash
# Sparse factors and a solution, compared with SuperLU (SciPy's splu), CHOLMOD and UMFPACK:
#   bench/direct.sh BUILD_FOLDER [MATRIX...]
# reads matrices of the folder SPRY_MATRICES by name; without names ten of them that need different pivots and orderings. CHOLMOD and
# UMFPACK are measured where the build has them (-DSPRY_WITH_GPL=ON). b is ones. Prints a TSV: matrix, rows, entries, and for each
# solver seconds (analysis, factors and solution, without reading; the least of ROUNDS, in turn), true residual. All of them with one
# thread; spry with THREADS as well.
#   ROUNDS 3, THREADS 2, LIMIT 300 seconds, PYTHON python3 (with SciPy)
# SWEEP=1 goes through all square matrices that LU.tsv of that folder lists as solved instead, with spry alone, one round.
set -eu
spry=${1:?usage: direct.sh BUILD_FOLDER [MATRIX...]}/spry
shift
: "${SPRY_MATRICES:?names the folder of matrices}"
rounds=${ROUNDS:-3} threads=${THREADS:-2} limit=${LIMIT:-300} python=${PYTHON:-python3}
export OPENBLAS_NUM_THREADS=1
names=${*:-gemat12 west0497 bcsstk16 gun_M cvxbqp1 kkt_CONT-201 memplus cs4 wing_nodal epb3}

# Seconds and true residual of a solve by spry: threads and the method's options.
by_spry() {
    timeout "$limit" "$spry" solve "$SPRY_MATRICES/$1.mtx.gz" --method "direct$3" --threads "$2" --format csr --tol 1e-8 --json 2>/dev/null |
        $python -c 'import json, sys
r = json.load(sys.stdin)
print("%.4f %.1e" % (r["setup_seconds"] + r["solve_seconds"], r["true_residual"]))' 2>/dev/null || echo "- -"
}
by_superlu() {
    timeout "$limit" $python - "$SPRY_MATRICES/$1.mtx.gz" <<'END' 2>/dev/null || echo "- -"
import sys, time, numpy, scipy.io, scipy.sparse, scipy.sparse.linalg
A = scipy.sparse.csc_matrix(scipy.io.mmread(sys.argv[1]))
A = A if A.dtype.kind == "c" else A.astype(float)
b = numpy.ones(A.shape[0], A.dtype)
begin = time.perf_counter()
lu = scipy.sparse.linalg.splu(A)
x = lu.solve(b)
x += lu.solve(b - A @ x)
seconds = time.perf_counter() - begin
print("%.4f %.1e" % (seconds, numpy.linalg.norm(b - A @ x) / numpy.linalg.norm(b)))
END
}

if [ "${SWEEP:-0}" = 1 ]; then
    awk -F'\t' 'NR > 1 && $4 == "solved" {print $1, $6}' "$SPRY_MATRICES/LU.tsv" | while read -r name seconds; do
        printf '%s\t%s\t%s\n' "$name" "$seconds" "$(by_spry "$name" "$threads" "" | tr ' ' '\t')"
    done
    exit 0
fi

# The better of two pairs of seconds and residual.
better() {
    if [ "${1%% *}" = "-" ] || { [ "${2%% *}" != "-" ] && awk "BEGIN {exit !(${2%% *} < ${1%% *})}"; }; then echo "$2"; else echo "$1"; fi
}
printf 'matrix\tspry, 1 thread\tresidual\tspry, %s threads\tresidual\tSuperLU\tresidual\tCHOLMOD or UMFPACK\tresidual\n' "$threads"
for name in $names; do
    one="- -" all="- -" other="- -" gpl="- -"
    for _ in $(seq "$rounds"); do
        one=$(better "$one" "$(by_spry "$name" 1 "")")
        all=$(better "$all" "$(by_spry "$name" "$threads" "")")
        other=$(better "$other" "$(by_superlu "$name")")
        gpl=$(better "$gpl" "$(by_spry "$name" 1 :kind=suitesparse,regular=no)")
    done
    echo "$name $one $all $other $gpl" | tr ' ' '\t'
done
