"""Sweeps: a scenario, and keys with several values."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from packetscale._native import Results, Scenario
from packetscale._progress import Progress
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
    ) -> Results:
        """Makes the runs that are missing in `out`, and returns the results of all. See `packetscale.run`."""
        return run(self.scenario, jobs=jobs, out=out, replace=replace, progress=progress)

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
