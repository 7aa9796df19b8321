"""A sample that mypy --strict must accept as it is. It is not run."""

import concurrent.futures
from pathlib import Path

import packetscale as ps

scenario: ps.Scenario = ps.Scenario.load(Path("a.toml")).set({"run.duration": "20 s"})
results = ps.run(scenario, jobs=2, progress=lambda done, planned: print(done / planned))
rows: int = len(results.runs)
frame = results.series.to_polars()
height: int = frame.height
swept = ps.sweep(scenario, {"path.buffer": ["5 packets", "50 packets"]}, replications=5).run("out", 2)
with concurrent.futures.ProcessPoolExecutor() as executor:
    elsewhere = ps.Sweep(scenario).run("out", executor=executor, shards=8)


@ps.controller("constant")
class Constant:
    def __init__(self, start: ps.Start) -> None:
        self.window: int = start.initial_window_packets

    def on_ack(self, ack: ps.Ack) -> None:
        rtt_ns: int | None = ack.rtt_ns

    def on_loss(self, lost: ps.Lost) -> None: ...

    def on_timeout(self, expired: ps.Expired) -> None: ...

    def decision(self) -> tuple[int, int | None]:
        return self.window, None


mine: type[Constant] = Constant
loss = ps.theory.multiplexing(flows=1000, utilisation=0.95)["loss_ratio"]
one: ps.Estimate = ps.estimate([(1e5, 1.1e5, 1500)], method="combined")
several: list[ps.Estimate] = ps.estimate("gaps.csv")
try:
    ps.report(["out"], "page.html")
except ps.InputError as error:
    line: int | None = error.line
