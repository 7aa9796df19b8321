#!/bin/sh
#SBATCH --job-name={name}
#SBATCH --array=1-{shards}
#SBATCH --cpus-per-task={cores}
#SBATCH --output={output}
{options}exec {run} --shard task/{shards}
