#!/bin/sh
# usage: slurm.sh SPRY MPIEXEC NUMPROC_FLAG EXAMPLES
# The batch scripts of examples/slurm, with words of Slurm's that do what they are for here: srun starts ranks, and the one
# with checkpoints is asked to stop as Slurm asks, is put into the queue again, and comes to the end.
set -eu
spry=$1 run=$2 flag=$3 examples=$4
# shellcheck source=tests/mpi/term.sh
. "$(dirname "$0")/term.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir bin
cat >bin/srun <<end
#!/bin/sh
while case \$1 in -*) true ;; *) false ;; esac; do shift; done
exec "$run" "$flag" 2 sh -c 'echo \$\$ >pid; unset OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_RANK; exec "\$@" \$MORE' sh "\$@"
end
cat >bin/scontrol <<'end'
#!/bin/sh
echo "$*" >queue
end
ln -s "$spry" bin/spry
chmod +x bin/*
PATH=$folder/bin:$PATH
# Of how many a process is one, srun's report by this alone where they are started through PMIx.
export PATH SLURM_CPUS_PER_TASK=1 SLURM_JOB_ID=7 SLURM_STEP_NUM_TASKS=2
"$spry" gen poisson2d --size 40 -o A.mtx --rhs b.mtx -q

MORE='' sh "$examples/cpu.sh" A.mtx b.mtx >said
grep -q '^converged' said
grep -q '^ranks *2,' said
# A card that is named has to be there; with auto a rank without one works on its cores.
sed 's/--device [^ ]*/--device auto/' "$examples/hybrid.sh" >hybrid.sh
MORE='' sh hybrid.sh A.mtx b.mtx >said
grep -q '^converged' said

# Slow sums: the signal comes after the first checkpoint and before the end.
MORE="--delays reduction=0.01 --checkpoint-every 0.05"
export MORE
sh "$examples/checkpoint.sh" A.mtx b.mtx >said 2>complaint &
term_after state.mtx $!
grep -qx 'requeue 7' queue
rm queue
MORE='' sh "$examples/checkpoint.sh" A.mtx b.mtx >said
grep -q '^converged' said
[ ! -e queue ]
