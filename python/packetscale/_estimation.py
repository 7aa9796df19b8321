"""Available bandwidth from probe streams."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple, overload

from packetscale import _native

#: The columns of a recording, in which gaps are handed over. docs/estimation.md defines them.
_HEADER = "stream_id,pkt,send_gap_ns,recv_gap_ns,size_bytes"


class Estimate(NamedTuple):
    """A method's estimate from one stream."""

    #: Name or number of the stream.
    stream_id: str
    #: Available bandwidth, bit/s; None where there is no estimate.
    estimate_bps: int | None
    #: Low end of the interval, bit/s.
    low_bps: int | None
    #: High end, bit/s; None where no rate of the stream was too high.
    high_bps: int | None
    #: Why there is no estimate.
    abstain: str | None


@overload
def estimate(gaps: str | os.PathLike[str], *, method: str | None = None) -> list[Estimate]: ...
@overload
def estimate(gaps: Iterable[tuple[float, float, int]], *, method: str | None = None) -> Estimate: ...
def estimate(
    gaps: str | os.PathLike[str] | Iterable[tuple[float, float, int]], *, method: str | None = None
) -> list[Estimate] | Estimate:
    """Estimates the available bandwidth, as `packetscale estimate` does.

    gaps: a recording (a CSV file), which gives one Estimate per stream; or the gaps of one stream, one
        (send_gap_ns, recv_gap_ns, size_bytes) for each packet but the first, in the order of sending.
    method: as `packetscale list methods` names them; by default that of the command.
    """
    if isinstance(gaps, (str, os.PathLike)):
        return [Estimate(*read) for read in _native.estimates(gaps, None, method)]
    rows = [f"0,{number},{send},{receive},{size}" for number, (send, receive, size) in enumerate(gaps, start=1)]
    # The first packet has no gap.
    size = rows[0].rsplit(",", 1)[1] if rows else "1"
    text = "\n".join([_HEADER, f"0,0,,,{size}", *rows]) + "\n"
    (read,) = _native.estimates("gaps", text, method)
    return Estimate(*read)
