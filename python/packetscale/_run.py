"""Runs, and what is made of many of them."""

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
    out: folder for the files that the command writes, but the page. Runs that lie there unfinished are not made again.
    replace: whether what lies in `out` of another scenario may be lost.
    progress: True for a line on standard error, or a function of (runs done, runs planned); runs under way count by their
        part.

    The interpreter's lock is released. Ctrl-C raises KeyboardInterrupt; finished runs are kept in `out`.
    Raises InputError, MachineError, OSError.
    """
    with shown(progress) as told:
        return _native.run(scenario, jobs, out, replace, told)


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
    with shown(progress) as told:
        return _native.reproduce(what, quick, jobs, out, replace, told)


def report(
    folders: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str] = "report.html"
) -> None:
    """Writes one page of the results in these folders: of one, or of several over each other."""
    _native.report(list(folders), out)
