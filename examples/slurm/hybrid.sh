#!/bin/sh
# usage: sbatch hybrid.sh A.mtx b.mtx
# On each node four ranks with a GPU each, and one with the cores that these leave over: what each gets of the rows is measured
# (--shares auto). The list names a place for each of a node's ranks, and is the same for all nodes.
#SBATCH --job-name=spry-hybrid
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=5
#SBATCH --cpus-per-task=8
#SBATCH --gpus-per-node=4
#SBATCH --time=01:00:00
set -eu
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" --distribution=block \
    spry solve "$1" "$2" --device cuda:0,cuda:1,cuda:2,cuda:3,cpu --shares auto --method cg --precon jacobi -o x.mtx --json result.json
