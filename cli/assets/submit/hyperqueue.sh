#!/bin/sh
#HQ --name={name}
#HQ --array=1-{shards}
#HQ --cpus={cores}
#HQ --stdout={output}
#HQ --stderr={errors}
{options}exec {run} --shard task/{shards}
