"""@NAME@: additive increase, multiplicative decrease. A controller to begin with; change what you like.

    slow start:   window += acked                  below the threshold
    afterwards:   window += INCREASE acked / window
    loss:         window = threshold = max(DECREASE window, 2)

`python3 @NAME@.py` runs @NAME@.toml, with @NAME@ beside cubic and newreno. What every field means: help(ps.Ack).
"""

import math
from pathlib import Path

import packetscale as ps

#: Packets more per round trip.
INCREASE = 1
#: What a loss leaves of the window.
DECREASE = 0.5


@ps.controller("@NAME@")
class Controller:
    # Each flow has an instance. Keep nothing outside it: flows are many, and runs go on at the same time.
    # Use no clock and no random numbers but those of random.Random(start.seed): the same seed makes the same run.

    def __init__(self, start: ps.Start) -> None:
        self.window = float(start.initial_window_packets)
        self.threshold = math.inf

    def on_ack(self, ack: ps.Ack) -> None:
        """An acknowledgment arrived. Times are whole nanoseconds: ack.rtt_ns is None where it is not known."""
        # A window that does not limit the flow says nothing about the path (RFC 7661).
        if ack.in_recovery or not ack.window_limited:
            return
        if self.window < self.threshold:
            self.window = min(self.window + ack.cumulative_packets, self.threshold)
        else:
            self.window += INCREASE * ack.cumulative_packets / self.window

    def on_loss(self, lost: ps.Lost) -> None:
        """Packets were lost. One answer for each episode: the host reduces what is in flight towards it."""
        if lost.enters_recovery:
            self.window = self.threshold = max(DECREASE * self.window, 2.0)

    def on_timeout(self, expired: ps.Expired) -> None:
        """Nothing has come back for a long time. `first`: not again for the same data."""
        if expired.first:
            self.threshold = max(DECREASE * self.window, 2.0)
        self.window = 1.0

    # Where there is one, packets say ECT(0), and may be marked where the scenario has `ecn = true`:
    # def on_mark(self, marks: ps.Marks) -> None: ...
    # The last reduction was needless:
    # def on_undo(self, undone: ps.Undone) -> None: ...
    # A packet has left. One more call for each packet:
    # def on_sent(self, left: ps.Left) -> None: ...

    def decision(self) -> tuple[float, float | None]:
        """Packets in flight at most, and the time in ns before which the next does not leave; None: at once."""
        return self.window, None


if __name__ == "__main__":
    scenario = ps.Scenario.load(Path(__file__).with_suffix(".toml"))
    print(ps.run(scenario, progress=True))
