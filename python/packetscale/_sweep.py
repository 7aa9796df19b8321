"""Sweeps: a scenario, and keys with several values."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from typing import Any

from packetscale import _native
from packetscale._errors import InputError
from packetscale._native import Results, Scenario
from packetscale._progress import Progress, shown
from packetscale._run import run


class Sweep:
    """A scenario over a grid. `scenario` is the one with its `[sweep]`; `set` and `to_toml` work on it as on any."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario

    def run(
        self,
        out: str | os.PathLike[str] | None = None,
        jobs: int | None = None,
        *,
        replace: bool = False,
        progress: Progress = False,
        executor: Executor | None = None,
        shards: int | None = None,
    ) -> Results:
        """Makes the runs missing in `out`, and returns all results. See `packetscale.run`.

        executor: any executor of `concurrent.futures`, or one like it (Dask's `client.get_executor()`). It
            gets a task for each shard; each makes its runs one at a time, and writes them to `out`, a shared folder.
            Files have the same bytes as without, except for the cost of runs.
        shards: number of tasks, by default one per core of this machine.
        """
        if executor is None:
            if shards is not None:
                raise InputError("shards: found a number without an executor; expected both", key="shards")
            return run(self.scenario, jobs=jobs, out=out, replace=replace, progress=progress)
        if out is None:
            raise InputError("out: found none; expected a folder that all tasks of the executor see", key="out")
        if jobs is not None:
            raise InputError("jobs: found a number; expected none: the executor has workers", key="jobs")
        return self._by(executor, shards or os.cpu_count() or 1, os.path.abspath(out), replace, progress)

    def _by(self, executor: Executor, shards: int, out: str, replace: bool, progress: Progress) -> Results:
        shards = min(shards, len(self))
        tasks = [
            executor.submit(_native.shard, self.scenario, number, shards, out, replace)
            for number in range(1, shards + 1)
        ]
        try:
            with shown(progress) as report:
                done = 0
                for task in tasks:
                    done += task.result()
                    if report:
                        report(done, len(self))
        except BaseException:
            for task in tasks:
                task.cancel()
            raise
        return _native.merge(self.scenario, out, replace)

    def __len__(self) -> int:
        return self.scenario.planned

    def __repr__(self) -> str:
        return f"<packetscale.Sweep of {self.scenario.name}: {len(self)} runs>"


def sweep(
    scenario: Scenario,
    grid: Mapping[str, Iterable[Any]],
    replications: int | None = None,
) -> Sweep:
    """Returns the scenario over every combination of these values, as `[sweep]` in the file has them.

    sweep(s, {"path.buffer": ["5 packets", "50 packets"], "path.delay": ["5 ms", "50 ms"]}, replications=5)

    The last key varies fastest. A key takes values of one kind, with their units. `replications` is `run.replications`.
    """
    changes: dict[str, Any] = {f"sweep.{key}": list(values) for key, values in grid.items()}
    if replications is not None:
        changes["run.replications"] = replications
    return Sweep(scenario.set(changes))
