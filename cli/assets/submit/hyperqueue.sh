#!/bin/sh
#HQ --name={name}
#HQ --array=1-{shards}
#HQ --cpus={cores}
#HQ --stdout={logs}/%{TASK_ID}.log
#HQ --stderr={logs}/%{TASK_ID}.err
{options}exec {run} --shard task/{shards}
