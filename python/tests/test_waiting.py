"""The lock of the interpreter, Ctrl-C, and progress."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import packetscale as ps
import pytest


PROGRAM = """
import signal, sys
import packetscale as ps
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
scenario = ps.Scenario.load(sys.argv[1]).set({"run.duration": "10000 s", "path.rate": "1 Gbit/s"})
print("ready", flush=True)
try:
    ps.run(scenario, out=sys.argv[2])
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_long_run(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(small), str(out)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.5)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    said = process.stdout.readline()
    passed = time.monotonic() - began
    assert process.wait(timeout=60) == 0
    assert said == "interrupted\n"
    # 0.03 to 0.14 s were measured; a busy machine may take longer.
    assert passed < 30, f"it took {passed:.2f} s"
    assert not out.exists(), f"left behind: {[file.name for file in out.iterdir()]}"


def test_interrupted_plan_keeps_finished_runs(small: Path, tmp_path: Path) -> None:
    scenario, out = ps.Scenario.load(small), tmp_path / "out"
    reported: list[tuple[float, int]] = []

    def stop(done: float, planned: int) -> None:
        reported.append((done, planned))
        if done >= 1:
            raise RuntimeError("enough")

    # Each run takes longer than the time between two polls of finished runs.
    longer = scenario.set({"run.duration": "2000 s"})
    with pytest.raises(RuntimeError, match="enough"):
        ps.run(longer, jobs=1, out=out, progress=stop)
    assert sorted(file.name for file in out.iterdir()) == ["unfinished.ndjson"]
    kept = len((out / "unfinished.ndjson").read_text().splitlines())
    assert kept >= 1 and reported[-1][1] == 8

    seen: list[float] = []
    again = ps.run(longer, out=out, progress=lambda done, planned: seen.append(done))
    assert again.runs.to_csv() == ps.run(longer).runs.to_csv()
    assert not (out / "unfinished.ndjson").exists()
    assert not seen or seen[0] >= kept


def test_other_threads_run_meanwhile(small: Path) -> None:
    counted, ended = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not ended.is_set():
            counted += 1
            time.sleep(0.005)

    other = threading.Thread(target=count)
    other.start()
    began = time.monotonic()
    ps.run(ps.Scenario.load(small).set({"run.duration": "2000 s"}))
    passed = time.monotonic() - began
    during = counted
    ended.set()
    other.join()
    # A thread without the lock would count none. On a busy machine it counts fewer than one in 5 ms.
    assert during > 5, f"{during} in {passed:.1f} s"


def test_command_ends_at_ctrl_c(small: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "packetscale", "run", str(small), "--out", str(tmp_path / "out")]
    words += ["--set", "run.duration=10000 s", "--set", "path.rate=1 Gbit/s"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "out" / "unfinished.ndjson").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted: 0 of 8 runs" in said
    assert os.listdir(tmp_path / "out") == ["unfinished.ndjson"]
