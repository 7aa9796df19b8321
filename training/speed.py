"""Steps per second of 256 environments, in wall and in processor time: `python3 speed.py` where the module is installed.

On the paths that training/ppo.py trains on, each with actions that are drawn. Building the environments does not count, new
episodes do.
"""

import resource
import sys
import time
from pathlib import Path

import numpy as np
import packetscale as ps
import packetscale.gym

ENVIRONMENTS, STEPS = 256, 400


def processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    file = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "paths" / "trained.toml"
    scenario = ps.Scenario.load(file)
    for scheme in ("aurora", "orca"):
        vec = ps.gym.CongestionVectorEnv(scenario, ENVIRONMENTS, scheme, threads=2)
        vec.reset(seed=1)
        high = vec.single_action_space.high[0]
        random = np.random.default_rng(1)
        # Down and up by equal parts: rates stay about where they began.
        actions = random.uniform(-high / 10, high / 10, (STEPS, ENVIRONMENTS, 1)).astype(np.float32)
        began, used = time.perf_counter(), processor_s()
        for row in actions:
            vec.step(row)
        wall, processor = time.perf_counter() - began, processor_s() - used
        done = ENVIRONMENTS * STEPS
        print(f"{scheme}: {done / wall:.0f} steps a second, {done / processor:.0f} per second of processor time")


if __name__ == "__main__":
    main()
