"""Controllers judged by RFC 9743, and in pairs."""

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
    """Evaluates a controller by RFC 9743, compared with cubic and bbr, as `packetscale judge evaluate` does.

    controller: a name of the registry, one of `packetscale.controller`, a file ("mine.so"), or a table as in a
        scenario. only: sections of the RFC whose number begins with this, as in "5.1". quick: fewer and shorter runs.
    out: folder for the page and its data. jobs, replace, progress: as in `packetscale.run`.

    Returns the object `evaluation` of the command's `--json`; names of figures end in their unit.
    """
    with shown(progress) as report:
        return _native.evaluate(controller, only, quick, jobs, out, replace, report)


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
    """Runs every pair of controllers, as `packetscale judge matrix` does; without any, all of the registry.

    Controllers and the other parameters are those of `packetscale.evaluate`; only: the name of a setting, or several.
    Returns the object `matrix` of the command's `--json`.
    """
    settings = [only] if isinstance(only, str) else list(only or ())
    with shown(progress) as report:
        return _native.matrix(list(controllers), settings, quick, jobs, out, replace, report)
