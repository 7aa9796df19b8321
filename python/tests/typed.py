"""A sample that mypy --strict must accept as it is. It is not run."""

from pathlib import Path

import packetscale as ps

scenario: ps.Scenario = ps.Scenario.load(Path("a.toml")).set({"run.duration": "20 s"})
results = ps.run(scenario, jobs=2, progress=lambda done, planned: print(done / planned))
rows: int = len(results.runs)
frame = results.series.to_polars()
height: int = frame.height
swept = ps.sweep(scenario, {"path.buffer": ["5 packets", "50 packets"]}, replications=5).run("out", 2)
loss = ps.theory.multiplexing(flows=1000, utilisation=0.95)["loss_ratio"]
one: ps.Estimate = ps.estimate([(1e5, 1.1e5, 1500)], method="combined")
several: list[ps.Estimate] = ps.estimate("gaps.csv")
try:
    ps.report(["out"], "page.html")
except ps.InputError as error:
    line: int | None = error.line
