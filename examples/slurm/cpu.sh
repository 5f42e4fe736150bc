#!/bin/sh
# usage: sbatch cpu.sh A.mtx b.mtx
# Processors alone: a rank per socket, with a thread per core. More ranks make smaller blocks of preconditioners that are made
# of blocks; fewer have longer sums of threads.
#SBATCH --job-name=spry
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=32
#SBATCH --time=01:00:00
set -eu
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind=cores \
    spry solve "$1" "$2" --threads "$SLURM_CPUS_PER_TASK" --method cg --precon amg -o x.mtx --json result.json
