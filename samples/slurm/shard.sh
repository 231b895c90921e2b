#!/bin/sh
# shard.sh OUT COMMAND... - one shard of a run, as a task of an array: `lapilli COMMAND... --shard auto -o OUT`.
# Started by submit.sh. A task that is preempted, or gets SIGTERM, writes what is done and goes on when it is started again.
#SBATCH --job-name=lapilli
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60
set -u
out=$1
shift
task=
# A signal to the batch script alone does not reach the program.
trap '[ -z "$task" ] || kill -TERM "$task" 2>/dev/null' TERM
"${LAPILLI:-lapilli}" "$@" --shard auto -o "$out" &
task=$!
code=143
while kill -0 "$task" 2>/dev/null; do
  wait "$task"
  code=$?
done
# After a preemption Slurm requeues the task itself; after another SIGTERM (scancel --full --signal=TERM, the end of its
# time) nobody does.
if [ "$code" -eq 143 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 20 ]; then
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" 2>/dev/null || true
fi
exit "$code"
