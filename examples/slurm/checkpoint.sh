#!/bin/sh
# usage: sbatch checkpoint.sh A.mtx b.mtx
# A solve that is longer than a job may be. A minute before the time is over Slurm sends SIGTERM to all ranks: they stop
# together and write the checkpoint. The job is put into the queue again, and goes on from there, with any number of ranks.
#SBATCH --job-name=spry-long
#SBATCH --ntasks=64
#SBATCH --time=08:00:00
#SBATCH --signal=TERM@60
#SBATCH --requeue
#SBATCH --open-mode=append
set -eu
resume=
[ ! -s state.mtx ] || resume="--resume state.mtx"
status=0
# shellcheck disable=SC2086 # words are meant, or none
srun spry solve "$1" "$2" --method cg --precon jacobi --checkpoint state.mtx --checkpoint-every 1800 $resume -o x.mtx --json result.json ||
    status=$?
# 1: it stopped before it had converged.
if [ $status = 1 ] && grep -q '"reason": "interrupted"' result.json; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit $status
