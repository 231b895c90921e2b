#!/bin/sh
# submit.sh N OUT FILE COMMAND... - submits N shards of `lapilli COMMAND...` and the job that joins them to FILE.
# SBATCH_OPTIONS are sbatch's for the array, such as "--gres=gpu:1 --partition=gpu".
set -eu
here=$(CDPATH="" cd -- "$(dirname -- "$0")" && pwd)
shards=$1 out=$2 file=$3
shift 3
mkdir -p "$out/log"
# shellcheck disable=SC2086 # several options
array=$(sbatch --parsable --array="0-$((shards - 1))" --output="$out/log/%a" ${SBATCH_OPTIONS---gres=gpu:1} \
  "$here/shard.sh" "$out" "$@")
join=$(sbatch --parsable --dependency="afterany:${array%%;*}" --output="$out/log/join" "$here/join.sh" "$out" "$file")
echo "array ${array%%;*}, then join ${join%%;*}; messages are in $out/log"
