"""A sweep by HyperQueue, each shard a task: with_hyperqueue.py FILE SHARDS DIR (PyPI: hyperqueue)."""

import subprocess
import sys

from hyperqueue import Job, LocalCluster

file, shards, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]

# On a cluster, Client() finds the server that `hq server start` began.
with LocalCluster() as cluster:
    cluster.start_worker()
    client = cluster.client()
    job = Job()
    for number in range(1, shards + 1):
        run = ["packetscale", "run", file, "--shard", f"{number}/{shards}", "--out", folder, "--jobs", "1"]
        job.program(run, stdout=None, stderr=None)
    client.wait_for_jobs([client.submit(job)])

sys.exit(subprocess.run(["packetscale", "sweep", "merge", folder]).returncode)
