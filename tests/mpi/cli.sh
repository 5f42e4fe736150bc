#!/bin/sh
# usage: cli.sh SPRY MPIEXEC NUMPROC_FLAG
# `mpirun -n P spry solve` is the serial command: it prints once, with the same numbers, and ends alike.
set -eu
spry=$1 run=$2 flag=$3
# shellcheck source=tests/mpi/term.sh
. "$(dirname "$0")/term.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$spry" gen poisson2d --size 60 -o A.mtx --rhs b.mtx -q
options="--method cg --precon jacobi --format csr --repeat strict"

# shellcheck disable=SC2086 # words are meant
"$spry" solve A.mtx b.mtx $options -o x1.mtx --json one.json -q
counts="2 3"
[ -z "${SPRY_TEST_SHORT:-}" ] || counts=2
for ranks in $counts; do
    # shellcheck disable=SC2086
    "$run" "$flag" $ranks "$spry" solve A.mtx b.mtx $options -o x.mtx --json >r.json
    cmp x1.mtx x.mtx # bit by bit
    for key in iterations residual rows nnz; do
        grep "\"$key\":" one.json | head -1 >expected
        grep "\"$key\":" r.json | head -1 >found
        cmp expected found
    done
    [ "$(grep -c '"halo\|"received"' r.json)" = "$ranks" ]
done

# For people, once.
"$run" "$flag" 2 "$spry" solve A.mtx --precon ilu >said_solve
[ "$(grep -c '^converged' said_solve)" = 1 ]
grep -q '^precon *block-jacobi:inner=ilu' said_solve
grep -q '^ranks *2, imbalance' said_solve

# A plan is of all ranks, and refuses what the solve does.
"$run" "$flag" 2 "$spry" plan A.mtx --precon ilu >said
[ "$(grep -c '^memory .* at most on one of 2 ranks, .* on all of ' said)" = 1 ]
grep -q '^of it .* A (.* on all), .* vectors (' said
grep -q '^time .* to set up and .* to solve, from' said
status=0
"$run" "$flag" 2 "$spry" plan A.mtx --method direct 2>complaint || status=$?
[ $status = 2 ]
[ "$(grep -c '^spry: method direct works on one rank' complaint)" = 1 ]
# For programs it has a list of what each has, once; the most of a part is the plan's.
"$run" "$flag" 2 "$spry" plan A.mtx --precon ilu --json >plan.json
[ "$(grep -c '"memory_bytes":' plan.json)" = 3 ]
[ "$(grep '"memory_bytes":' plan.json | tail -2 | tr -dc '0-9\n' | sort -n | tail -1)" = \
    "$(grep '"memory_bytes":' plan.json | head -1 | tr -dc '0-9')" ]
# With the solve that it is of: both once, and the same numbers as without.
"$run" "$flag" 2 "$spry" solve A.mtx --precon ilu --plan >planned
[ "$(grep -c '^plan ' planned)" = 1 ]
[ "$(grep '^converged' planned)" = "$(grep '^converged' said_solve)" ]
# What cannot fit is refused by all, reported once, and nothing is written.
for words in "plan A.mtx" "solve A.mtx --plan -o never.mtx"; do
    status=0
    # shellcheck disable=SC2086 # words are meant
    "$run" "$flag" 2 "$spry" $words --precon direct --memory-limit 900k >said 2>complaint || status=$?
    [ $status = 3 ]
    [ "$(grep -c '^spry: .* forecast.*--memory-limit [0-9]' complaint)" = 1 ]
    [ ! -e never.mtx ]
done

# A word that is wrong is reported once.
status=0
"$run" "$flag" 2 "$spry" solve A.mtx --metod cg 2>complaint || status=$?
[ $status = 2 ]
[ "$(grep -c '^spry: unknown option --metod' complaint)" = 1 ]

[ -z "${SPRY_TEST_SHORT:-}" ] || exit 0

# Ranks with different arguments do not begin: they would wait for each other. Processes that are to be alone are.
status=0
"$run" "$flag" 1 "$spry" solve A.mtx --method cg --threads 2 : "$flag" 1 "$spry" solve A.mtx --method gmres 2>complaint || status=$?
[ $status = 2 ]
[ "$(grep -c '^spry: rank 1 was started with other words than rank 0' complaint)" = 1 ]
"$run" "$flag" 2 "$spry" solve A.mtx --no-mpi --precon jacobi --method cg >said
[ "$(grep -c '^converged' said)" = 2 ]

# Files that are not cut: dense ones, and streams, which are read once.
printf '%%%%MatrixMarket matrix array real general\n2 2\n2\n1\n1\n3\n' >dense.mtx
"$spry" convert dense.mtx dense.spry
"$spry" gen poisson2d --size 60 -o B.mtx --rhs b.npy -q
for dense in dense.mtx dense.spry; do
    "$run" "$flag" 2 "$spry" solve $dense --method gmres --precon none -q
done
# shellcheck disable=SC2086
"$run" "$flag" 2 "$spry" solve A.mtx - $options -o x.mtx -q <b.npy
cmp x1.mtx x.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n2 1 1\n1 1 2\n' >tall.mtx
status=0
"$run" "$flag" 2 "$spry" solve - 2>complaint <tall.mtx || status=$?
[ $status = 2 ]
grep -q '^spry: -: on ranks the standard input can be a square matrix' complaint

# Shares of the work as they are said; a device that is not there is done without, unless it is named.
"$run" "$flag" 2 "$spry" solve A.mtx --method cg --precon none --device auto,cpu --shares 3,1 --json >r.json 2>/dev/null
[ "$(grep -c '"share": 0.75\|"share": 0.25' r.json)" = 2 ]
grep -q '"device": "cpu"' r.json
status=0
"$run" "$flag" 2 "$spry" solve A.mtx --device cuda:77,cpu 2>complaint || status=$?
[ $status = 2 ]
grep -q '^spry: .*cuda' complaint
status=0
"$run" "$flag" 2 "$spry" solve A.mtx --shares 3,much 2>complaint || status=$?
[ $status = 2 ]
grep -q 'shares=3,much: equal, auto, or numbers' complaint

# Rows distributed by METIS, and a checkpoint that another number of ranks goes on from, until it is damaged.
"$run" "$flag" 3 "$spry" solve A.mtx b.mtx --precon amg --method cg --partition graph --max-iter 3 --checkpoint c.mtx -q || true
grep -q '^% spry checkpoint 1 iterations 3 ' c.mtx
"$spry" solve A.mtx b.mtx --precon amg --method cg --resume c.mtx -o x1.mtx -q
"$run" "$flag" 2 "$spry" solve A.mtx b.mtx --precon schwarz:kind=as,sub=ic --method cg --resume c.mtx -o x.mtx -q
status=0
"$run" "$flag" 2 "$spry" solve A.mtx --resume c.mtx 2>complaint || status=$?
[ $status = 2 ]
grep -q '^spry: c.mtx: the checkpoint is of another right-hand side' complaint
sed '9s/[0-9]/7/' c.mtx >d.mtx
status=0
"$run" "$flag" 2 "$spry" solve A.mtx b.mtx --resume d.mtx 2>complaint || status=$?
[ $status = 2 ]
grep -q '^spry: d.mtx: the checkpoint is damaged' complaint

# Also of a system that ranks read whole: a complex right-hand side. One that is not square has x alone, from any iteration.
{
    echo '%%MatrixMarket matrix array complex general'
    echo '3600 1'
    yes '1 -1' | head -n 3600
} >bz.mtx
"$run" "$flag" 2 "$spry" solve A.mtx bz.mtx --precon jacobi --method cg --max-iter 3 --checkpoint cz.mtx -q || true
"$run" "$flag" 3 "$spry" solve A.mtx bz.mtx --precon jacobi --method cg --resume cz.mtx -o x.mtx -q
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n60 30 120"
    for (i = 0; i < 60; i++) print i + 1, i % 30 + 1, 1 + i % 7 "\n" i + 1, (i + 7 + i % 11) % 30 + 1, 1 }' >least.mtx
"$run" "$flag" 2 "$spry" solve least.mtx --method lsqr --precon none --tol 0 --max-iter 40 --delays reduction=0.005 --checkpoint c.spry \
    --checkpoint-every 0.01 -o x.spry 2>complaint || true
cmp c.spry x.spry
grep -q warning complaint && exit 1

# SIGTERM, as batch systems send it before a job's time is over, though to one rank alone: all stop together and write the
# checkpoint, which another number of ranks goes on from. Sums are slow, so that it comes in time: after the first checkpoint.
cat >rank.sh <<'end'
echo $$ >pid
exec "$@" --delays reduction=0.01 --checkpoint t.mtx --checkpoint-every 0.05
end
"$run" "$flag" 3 sh rank.sh "$spry" solve A.mtx b.mtx --precon jacobi --method cg >said 2>complaint &
term_after t.mtx $!
grep -q '^not converged after .*asked to stop' said
iterations=$(sed -n 's/^not converged after \([0-9]*\) .*/\1/p' said)
grep -q "^% spry checkpoint 1 iterations $iterations " t.mtx
"$run" "$flag" 2 "$spry" solve A.mtx b.mtx --precon jacobi --method cg --resume t.mtx --json >r.json
[ "$(sed -n 's/^  "iterations": \([0-9]*\),.*/\1/p' r.json)" -lt 112 ] # of a solve from zero

# What is wrong is reported once, and all end alike.
status=0
"$run" "$flag" 2 "$spry" solve no.mtx >said 2>complaint || status=$?
[ $status = 2 ]
[ "$(grep -c '^spry: no.mtx' complaint)" = 1 ]
status=0
"$run" "$flag" 2 "$spry" solve A.mtx --max-iter 3 --method cg --precon none >said || status=$?
[ $status = 1 ]
[ "$(grep -c '^not converged' said)" = 1 ]

# An application: multigrid on ranks and relaxations with and without waiting find the contact set that one process finds.
"$spry" obstacle --size 12 --tol 1e-9 --json one.json >said
grep '"contacts"' one.json >one
for mode in sync async; do
    "$run" "$flag" 3 "$spry" obstacle --size 12 --tol 1e-9 --method redblack --mode $mode --json ranks.json >said
    grep '"contacts"' ranks.json | cmp - one
done
# The bits of one process, too.
for problem in source ball "steady --force 300*x-90 --lower -0.2 --upper 0.3"; do
    "$spry" obstacle $problem --size 12 -o one.npy --json one.json >said
    "$run" "$flag" 3 "$spry" obstacle $problem --size 12 -o ranks.npy --json ranks.json >said
    cmp ranks.npy one.npy
    for word in '"contacts"' '"residual"' '"iterations"' '"levels"' '"error"'; do
        grep "$word" one.json >one
        grep "$word" ranks.json | cmp - one
    done
done
status=0
"$run" "$flag" 2 "$spry" obstacle --size 12 --method redblack --type s 2>complaint || status=$?
[ $status = 2 ]
[ "$(grep -c 'relaxations on ranks work on processors, in double' complaint)" = 1 ]

# Another: without sums in its iterations a run on ranks has the bits of one process, and goes on from a checkpoint of ranks.
printf '4e-3 1e-3\n1e-3 2e-3\n-2e-3 1e-3\n' >hill.txt
cat >basin.txt <<'end'
wave = linear
wavelength = 0.573462 m
height = 1 cm
depth = 16 cm
length = 0.9 m
width = 0.7 m
nx = 8
ny = 8
nz = 2
order = 2
bottom = ramp
shore = 12 cm
ramp_from = 0.2 m
ramp_to = 0.6 m
surface = hill.txt
generation = 0.2 m
direction = 0.96007
filter = 1
solver = richardson
tol = 1e-3
gauges = 0.25:0.1
end
"$spry" ocean basin.txt --end 0.1 --sides periodic --series one.csv -o one.npy -q >said
"$run" "$flag" 2 "$spry" ocean basin.txt --end 0.05 --sides periodic --checkpoint c.bin -q >said
"$run" "$flag" 3 "$spry" ocean basin.txt --end 0.1 --sides periodic --checkpoint c.bin --resume -o ranks.npy -q >said
"$spry" ocean basin.txt --end 0.05 --sides periodic --checkpoint one.bin -q >said
"$spry" ocean basin.txt --end 0.1 --sides periodic --checkpoint one.bin --resume -o resumed.npy -q >said
cmp ranks.npy resumed.npy
"$run" "$flag" 3 "$spry" ocean basin.txt --end 0.1 --sides periodic --series ranks.csv -o ranks.npy -q >said
[ "$(grep -c '^ranks *3' said)" = 1 ]
cmp ranks.npy one.npy
cmp ranks.csv one.csv
status=0
"$run" "$flag" 2 "$spry" ocean basin.txt --end 0.1 --ny 0 --width 0 -q 2>complaint || status=$?
[ $status = 2 ]
[ "$(grep -c 'ranks have lines of a basin along x and y' complaint)" = 1 ]

# Without the library.
status=0
OMPI_COMM_WORLD_SIZE=2 SPRY_MPI_LIBRARY=./none.so "$spry" solve A.mtx 2>complaint || status=$?
[ $status = 2 ]
grep -q "ranks need libspry_mpi" complaint
