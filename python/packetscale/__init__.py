"""Congestion control at the scale of single packets.

    import packetscale as ps

    scenario = ps.Scenario.load("bursty-10g.toml").set({"run.duration": "5 s"})
    results = ps.run(scenario)
    results.runs.to_polars()

Runs are made by the simulator, with the same bytes for the same seed, version and commit, on any machine. Names end in
their unit (`throughput_bps`, `queue_delay_p99_s`); quantities that go in are text with a unit (`"30 ms"`).
"""

from __future__ import annotations

from packetscale import _native, theory
from packetscale._controller import controller
from packetscale._errors import InputError, MachineError
from packetscale._estimation import Estimate, estimate
from packetscale._judging import evaluate, matrix
from packetscale._native import (
    Ack,
    Expired,
    Left,
    Lost,
    Marks,
    Picture,
    Results,
    Scenario,
    Start,
    Table,
    Undone,
    read,
)
from packetscale._progress import Progress
from packetscale._run import report, reproduce, run
from packetscale._sweep import Sweep, sweep

__version__: str = _native.VERSION
#: The commit that the module was built from, where that is known.
__commit__: str | None = _native.COMMIT

__all__ = [
    "Ack",
    "Estimate",
    "Expired",
    "InputError",
    "Left",
    "Lost",
    "MachineError",
    "Marks",
    "Picture",
    "Progress",
    "Results",
    "Scenario",
    "Start",
    "Sweep",
    "Table",
    "Undone",
    "controller",
    "estimate",
    "evaluate",
    "matrix",
    "read",
    "report",
    "reproduce",
    "run",
    "sweep",
    "theory",
]
