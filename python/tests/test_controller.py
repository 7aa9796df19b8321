"""Controllers written in Python."""

import csv
import importlib.util
import io
import math
import os
import subprocess
import sys
import traceback
from itertools import count
from pathlib import Path

import packetscale as ps
import pytest


@ps.controller("python-aimd")
class Aimd:
    """One packet more per round trip, half after a loss: the law that Mathis et al. (1997) have a formula for."""

    def __init__(self, start: ps.Start) -> None:
        self.window = float(start.initial_window_packets)

    def on_ack(self, ack: ps.Ack) -> None:
        if ack.window_limited and not ack.in_recovery:
            self.window += ack.cumulative_packets / self.window

    def on_loss(self, lost: ps.Lost) -> None:
        if lost.enters_recovery:
            self.window = max(self.window / 2, 2.0)

    def on_timeout(self, expired: ps.Expired) -> None:
        if expired.first:
            self.window = max(self.window / 2, 2.0)

    def decision(self) -> tuple[float, None]:
        return self.window, None


@ps.controller("python-newreno")
class NewReno:
    """RFC 5681, RFC 6582 and RFC 3465, in whole packets: the law of the built-in `newreno`."""

    def __init__(self, start: ps.Start) -> None:
        self.window, self.threshold, self.credit = start.initial_window_packets, math.inf, 0
        self.recovering = self.after_timeout = False
        self.prior: tuple[int, float] | None = None
        # The packet whose acknowledgment ends the round trip after a mark: 0 from the mark until its acknowledgment.
        self.answered_until: int | None = None

    def on_ack(self, ack: ps.Ack) -> None:
        if not ack.in_recovery:
            self.recovering = self.after_timeout = False
        if self.answered_until == 0:
            self.answered_until = ack.next_unsent
        elif self.answered_until is not None and (ack.next_unacked > self.answered_until or ack.in_flight_packets == 0):
            self.answered_until = None
        if self.answered_until is not None or self.recovering or not ack.window_limited:
            return
        left = ack.cumulative_packets
        if self.window < self.threshold:
            grown = min(left, 1 if self.after_timeout else 2, self.threshold - self.window)
            self.window += int(grown)
            # Slow start uses up the acknowledgment, but where the threshold is reached within its limit.
            left = min(left, 1 if self.after_timeout else 2) - int(grown)
        if left > 0:
            # RFC 3465: one packet for each window that was acknowledged.
            per = self.window
            if self.credit >= per:
                self.credit, self.window = 0, self.window + 1
            self.credit += left
            self.window += self.credit // per
            self.credit %= per

    def reduce(self) -> None:
        self.prior = (self.window, self.threshold)
        self.threshold, self.credit = max(self.window // 2, 2), 0

    def on_loss(self, lost: ps.Lost) -> None:
        if lost.enters_recovery:
            if self.answered_until is None:
                self.reduce()
                self.window = int(self.threshold)
            self.answered_until, self.recovering = None, True

    def on_mark(self, marks: ps.Marks) -> None:
        if marks.answer:
            self.reduce()
            self.window, self.prior, self.answered_until = int(self.threshold), None, 0

    def on_timeout(self, expired: ps.Expired) -> None:
        if expired.first:
            self.reduce()
        self.window, self.credit, self.recovering, self.after_timeout = 1, 0, False, True
        self.answered_until = None

    def on_undo(self, undone: ps.Undone) -> None:
        if self.prior is not None:
            self.window, self.threshold = max(self.window, self.prior[0]), self.prior[1]
            self.prior = None
        self.recovering = self.after_timeout = False

    def decision(self) -> tuple[int, None]:
        return self.window, None


def rows(table: ps.Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.to_csv())))


LOSSY = """
[run]
duration = "{seconds} s"
warmup = "20 s"
replications = 4

[path]
rate = "1 Gbit/s"
delay = "50 ms"
buffer = "10000 packets"
loss = {loss}

[receiver]
delayed_ack = 1

[[flow]]
controller = "python-aimd"
"""


@pytest.mark.parametrize(("loss", "seconds"), [(0.001, 1200), (0.003, 600), (0.01, 300)])
def test_aimd_follows_square_root_law(loss: float, seconds: int) -> None:
    results = ps.run(ps.Scenario.from_text(LOSSY.format(loss=loss, seconds=seconds)))
    rates = [float(row["throughput_bps"]) for row in rows(results.runs)]
    # The path is far from full, so the round trip is twice the delay.
    constant = sum(rates) / len(rates) / (1500 * 8) * 0.1 * math.sqrt(loss)
    # Mathis, Semke, Mahdavi and Ott 1997: sqrt(3 / 2) where losses are evenly spaced.
    assert constant == pytest.approx(math.sqrt(3 / 2), rel=0.1)


def of(controller: str, text: str) -> ps.Results:
    return ps.run(ps.Scenario.from_text(text).set({"flow.0.controller": controller}))


SHARED = """
[run]
duration = "40 s"
warmup = "1 s"
replications = 2

[path]
rate = "20 Mbit/s"
delay = "5 ms"
buffer = "40 packets"
loss = 0.002
{queue}

[[flow]]
count = 2
controller = "newreno"
ecn = {ecn}

[[traffic]]
kind = "poisson"
rate = "4 Mbit/s"
"""


@pytest.mark.parametrize(("queue", "ecn"), [("", "false"), ('queue = "codel"', "true")])
def test_python_newreno_matches_builtin_runs(queue: str, ecn: str) -> None:
    text = SHARED.format(queue=queue, ecn=ecn)
    ours, theirs = of("python-newreno", text), of("newreno", text)
    for table in ["runs", "flows", "links", "traffic"]:
        assert ours.table(table).to_csv().replace("python-newreno", "newreno") == theirs.table(table).to_csv(), table
    series = [[line for line in one.series.to_csv().splitlines() if "threshold" not in line] for one in (ours, theirs)]
    assert len(series[0]) > 100
    assert [line.replace("python-newreno", "newreno") for line in series[0]] == series[1]


def test_jobs_do_not_change_runs_or_share_instances(small: Path) -> None:
    changes = {"compare.controllers": ["python-aimd", "newreno"], "flow.0.count": 3}
    scenario = ps.Scenario.load(small).set(changes)
    one, four = ps.run(scenario, jobs=1), ps.run(scenario, jobs=4)
    assert len(one) == 8
    for name in one.tables:
        if name != "timing":
            assert one.table(name).to_csv() == four.table(name).to_csv(), name


def failing(name: str, where: str, after: int) -> None:
    """Registers a class that raises in `where` after a number of calls."""

    def fail(self: Aimd, event: object) -> None:
        if next(calls) >= after:
            raise RuntimeError(f"no more of {name}")

    calls = count()
    ps.controller(name)(type("Failing", (Aimd,), {where: fail}))


def test_exception_ends_runs_with_traceback(small: Path, tmp_path: Path) -> None:
    for where, after in [("on_ack", 2), ("on_loss", 2), ("__init__", 0)]:
        failing("failing", where, after)
        scenario = ps.Scenario.load(small).set({"compare.controllers": ["failing", "newreno"]})
        with pytest.raises(RuntimeError, match="no more of failing") as raised:
            ps.run(scenario, out=tmp_path / "out", jobs=2, replace=True)
        assert "fail" in [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]


@pytest.mark.parametrize("wrong", [5, (1, 2, 3), ("a", None), None, (math.nan, None)])
def test_invalid_decision_error_names_found_value(small: Path, wrong: object) -> None:
    ps.controller("wrong")(type("Wrong", (Aimd,), {"decision": lambda self: wrong}))
    with pytest.raises((TypeError, ValueError), match="decision: found"):
        ps.run(ps.Scenario.load(small).set({"compare.controllers": ["wrong"]}))


def test_refuses_incomplete_class_or_taken_name(small: Path) -> None:
    class Half:
        def on_ack(self, ack: ps.Ack) -> None: ...

    with pytest.raises(ps.InputError, match="on_loss") as raised:
        ps.controller("half")(Half)
    assert raised.value.key == "on_loss"
    for name in ["cubic", "c", "My Own", ""]:
        with pytest.raises(ps.InputError, match="expected a name") as raised:
            ps.controller(name)(Aimd)
        assert raised.value.key == "name"
    with pytest.raises(ps.InputError, match="unknown controller"):
        ps.Scenario.load(small).set({"flow.0.controller": "nobody"})


def test_departures_delay_packets(small: Path) -> None:
    class Paced(Aimd):
        """One packet in 10 ms."""

        def __init__(self, start: ps.Start) -> None:
            super().__init__(start)
            self.next_ns = start.now_ns

        def on_sent(self, left: ps.Left) -> None:
            self.next_ns = left.now_ns + 10_000_000

        def decision(self) -> tuple[float, int]:  # type: ignore[override]
            return 100, self.next_ns

    ps.controller("paced")(Paced)
    results = ps.run(ps.Scenario.load(small).set({"compare.controllers": ["paced"]}))
    # 1500 B in 10 ms are 1.2 Mbit/s; the window would allow 20.
    assert all(float(row["throughput_bps"]) == pytest.approx(1.2e6, rel=0.02) for row in rows(results.runs))


MODULE = """
import packetscale as ps
from test_controller import Aimd

@ps.controller("of-a-file")
class OfAFile(Aimd):
    kept = {kept}

    def on_loss(self, lost):
        self.window = max(self.window * self.kept, 2.0)
"""


def test_run_ids_depend_on_class_source(small: Path, tmp_path: Path) -> None:
    def load(number: int, kept: float) -> ps.Scenario:
        # A new file each time, like an edited file for a new process.
        file = tmp_path / f"mine{number}.py"
        file.write_text(MODULE.format(kept=kept))
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = module
        spec.loader.exec_module(module)
        return ps.Scenario.load(small).set({"compare.controllers": ["of-a-file"], "run.duration": "800 s"})

    def stop(done: float, planned: int) -> None:
        if done >= 1:
            raise KeyboardInterrupt

    first, out = load(1, 0.5), tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        ps.run(first, jobs=1, out=out, progress=stop)
    with pytest.raises(ps.InputError, match="expected an empty folder"):
        ps.run(load(2, 0.9), out=out)
    reported: list[float] = []
    same = ps.run(load(3, 0.5), jobs=1, out=out, progress=lambda done, planned: reported.append(done))
    assert reported[0] >= 1, "finished runs of the same source were made again"
    # A scenario keeps the class with which it was read.
    assert ps.run(first).runs.to_csv() == same.runs.to_csv() != ps.run(load(4, 0.9)).runs.to_csv()


def test_new_controller_runs(command: str, tmp_path: Path) -> None:
    subprocess.run([command, "new", "controller", "mine", "--language", "python"], cwd=tmp_path, check=True)
    done = subprocess.run([sys.executable, "mine/mine.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert all(name in done.stdout for name in ["mine", "cubic", "newreno"]), done.stdout
    words = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", os.devnull, "mine.py"]
    checked = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path / "mine")
    assert checked.returncode == 0, checked.stdout + checked.stderr
