#!/bin/sh
# Solves the systems of README.md in every language that is here, and on the command line, and compares:
# compare.sh SPRY C_PROGRAM [NAME COMMAND]... ; a command gets the folder and the name as two more arguments.
set -eu
spry=$1
rm -f -- *.x *.txt *.npy *.json # of the last run
"$2" . c
shift 2
failures=0
for kind in real complex; do
    case $kind in
    real) options="--method bicgstab --precon ilu" ;;
    *) options="--method gmres:restart=20 --precon jacobi" ;;
    esac
    # shellcheck disable=SC2086 # words are meant
    "$spry" solve A-$kind.mtx b-$kind.mtx $options --format csr --tol 1e-10 -o x.npy --json result.json -q
    tail -c "$(wc -c <c-$kind.x)" x.npy >command-line-$kind.x
    echo "$kind $(sed -n 's/.*"reason": *"\([a-z-]*\)".*/\1/p' result.json | head -n 1) $(sed -n 's/.*"iterations": *\([0-9]*\).*/\1/p' result.json | head -n 1)"
done >command-line.txt
names=command-line
while [ $# -gt 1 ]; do
    sh -c "$2 . $1"
    names="$names $1"
    shift 2
done
for name in $names; do
    for what in .txt -real.x -complex.x; do
        cmp "c$what" "$name$what" || failures=$((failures + 1))
    done
done
grep -q '^real converged' c.txt && grep -q '^complex converged' c.txt
cat c.txt
echo "the same in c $names: $failures differences"
[ $failures = 0 ]
