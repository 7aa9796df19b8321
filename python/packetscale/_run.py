"""Runs and their results."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from packetscale import _native
from packetscale._native import Results, Scenario
from packetscale._progress import Progress, shown


def run(
    scenario: Scenario,
    *,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    replace: bool = False,
    progress: Progress = False,
) -> Results:
    """Makes the runs of a scenario in the simulator, and returns the results.

    jobs: runs at the same time, by default one per core. Results do not depend on it.
    out: folder for the files of the command, except the page. Finished runs of an interrupted call are reused.
    replace: whether to overwrite results of another scenario in `out`.
    progress: True for a line on standard error, or a function of (runs done, runs planned); runs in progress count
        as fractions.

    The interpreter's lock is released. Ctrl-C raises KeyboardInterrupt; finished runs stay in `out`.
    Raises InputError, MachineError, OSError.
    """
    with shown(progress) as report:
        return _native.run(scenario, jobs, out, replace, report)


def reproduce(
    what: str,
    *,
    quick: bool = False,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    replace: bool = False,
    progress: Progress = False,
) -> list[dict[str, Any]]:
    """Reproduces a paper or a figure ("multiplexing-2007/figure-5"), as `packetscale reproduce` names them.

    Returns the papers as `packetscale reproduce --json` has them: figures, each with values (published, ours, unit,
    verdict) and statements. quick: fewer and shorter runs. out: folder for data and pages.
    """
    with shown(progress) as report:
        return _native.reproduce(what, quick, jobs, out, replace, report)


def report(
    folders: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str] = "report.html"
) -> None:
    """Writes a page of the results in these folders; several are compared."""
    _native.report(list(folders), out)
