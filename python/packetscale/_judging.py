"""Controllers under the questions of RFC 9743, and beside each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from packetscale import _native
from packetscale._progress import Progress, shown


def evaluate(
    controller: str,
    *,
    only: str | None = None,
    quick: bool = False,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    replace: bool = False,
    progress: Progress = False,
) -> dict[str, Any]:
    """Asks a controller the questions of RFC 9743, beside cubic and bbr, as `packetscale judge evaluate` does.

    controller: a name of the registry, one of `packetscale.controller`, a file ("mine.so"), or a table as a scenario has
        it. only: sections of the RFC whose number begins with this, as in "5.1". quick: fewer and shorter runs.
    out: folder for the page and its data. jobs, replace, progress: as `packetscale.run` has them.

    Returns what the command prints with `--json` under `evaluation`; names of figures end in their unit.
    """
    with shown(progress) as told:
        return _native.evaluate(controller, only, quick, jobs, out, replace, told)


def matrix(
    controllers: Sequence[str] = (),
    *,
    only: str | Sequence[str] | None = None,
    quick: bool = False,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    replace: bool = False,
    progress: Progress = False,
) -> dict[str, Any]:
    """Runs every controller beside every other, as `packetscale judge matrix` does; without any, all of the registry.

    Controllers and the other parameters are those of `packetscale.evaluate`; only: the name of a setting, or several.
    Returns what the command prints with `--json` under `matrix`.
    """
    settings = [only] if isinstance(only, str) else list(only or ())
    with shown(progress) as told:
        return _native.matrix(list(controllers), settings, quick, jobs, out, replace, told)
