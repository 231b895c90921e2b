#!/bin/sh
# join.sh OUT FILE - joins the shards in OUT, when all tasks of the array have ended. If shards are missing, its messages
# name them as an array: sbatch --array=3,7 shard.sh OUT COMMAND... makes them alone.
#SBATCH --job-name=lapilli-join
exec "${LAPILLI:-lapilli}" join "$1" -o "$2"
