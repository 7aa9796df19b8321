"""Probe streams to learn from: drawn, sent through the simulator, each with its true available bandwidth.

    from packetscale.training import streams

    streams("streams.csv", runs=10, seed=1, settings={"cross": "poisson"})

The learnt estimator of packetscale comes from such streams (`training/` in the repository).
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from packetscale import _native

_Path = str | os.PathLike[str]


def streams(
    file: _Path,
    *,
    runs: int,
    seed: int,
    trace: _Path | None = None,
    gaps: _Path | None = None,
    settings: Mapping[str, str] | None = None,
) -> None:
    """Writes a table of probe streams, CSV, one row per stream.

    A run is one path, one piece of cross traffic, a sending and a receiving host, all drawn from the seed and the run's
    number; the streams of a run cross it one after the other. Split streams by run, never by stream: those of a run share
    their traffic. Columns: the condition of the run; the stream's mean, lowest and highest rate; `truth_bps`, the bandwidth
    available from its first packet to its last; estimates of three hand-made methods; `f0` to `f58`, the features of a
    learnt estimator, empty for a stream that cannot be read.

    trace: a capture (pcap, pcapng), for cross traffic of the kind "trace", which one run in ten or more draws.
    gaps: a second file, for the streams themselves, as `packetscale.estimate` reads them.
    settings: values that are not drawn, as text: cross, load, copies, cross-packet, shaper; capacity, packet, packets,
        levels, range, aim, centre, pause, access, acknowledge, streams; receiver, time, frames; gaps, noise.

    The same seed gives the same files with any number of cores. The interpreter's lock is released; Ctrl-C raises
    KeyboardInterrupt, and there is no file then. Raises InputError, OSError.
    """
    fixed = dict(settings or {})
    if trace is not None:
        fixed["trace"] = os.fspath(trace)
    _native.streams(file, gaps, runs, seed, fixed)
