"""A sweep by Dask, or any other executor, each shard a task: with_dask.py FILE SHARDS DIR (PyPI: distributed)."""

import subprocess
import sys

from distributed import Client, LocalCluster


def shard(number, shards, file, folder):
    run = ["packetscale", "run", file, "--shard", f"{number}/{shards}", "--out", folder, "--jobs", "1"]
    subprocess.run(run, check=True, capture_output=True)


if __name__ == "__main__":
    file, shards, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        # concurrent.futures, submitit and Parsl have the same two calls.
        executor = client.get_executor(pure=False)
        tasks = [executor.submit(shard, number, shards, file, folder) for number in range(1, shards + 1)]
        for task in tasks:
            task.result()
    sys.exit(subprocess.run(["packetscale", "sweep", "merge", folder]).returncode)
