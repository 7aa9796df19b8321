#!/bin/sh
#SBATCH --job-name={name}
#SBATCH --array=1-{shards}
#SBATCH --cpus-per-task={cores}
#SBATCH --output={logs}/%a.log
{options}exec {run} --shard task/{shards}
