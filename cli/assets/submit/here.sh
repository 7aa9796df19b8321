#!/bin/sh
set -e
task=1
while [ "$task" -le {shards} ]; do
    {run} --shard "$task/{shards}"
    task=$((task + 1))
done
exec {merge}
