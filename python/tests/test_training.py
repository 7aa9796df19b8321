"""Probe streams to learn from."""

import csv
from pathlib import Path

import packetscale as ps
import pytest
from packetscale.training import streams

FEW = {"streams": "5", "cross": "poisson"}


def rows(file: Path) -> list[dict[str, str]]:
    with file.open() as text:
        return list(csv.DictReader(text))


def test_same_seed_draws_same_streams(tmp_path: Path) -> None:
    texts = []
    for number, seed in enumerate((3, 3, 4)):
        streams(tmp_path / f"{number}.csv", runs=6, seed=seed, settings=FEW)
        texts.append((tmp_path / f"{number}.csv").read_bytes())
    assert texts[0] == texts[1] != texts[2]
    assert not list(tmp_path.glob("*.part"))


def test_stream_has_truth_and_features(tmp_path: Path) -> None:
    file = tmp_path / "streams.csv"
    streams(file, runs=6, seed=1, settings={**FEW, "load": "0.5", "capacity": "1 Gbit/s"})
    found = rows(file)
    assert [row["run"] for row in found] == [f"1-{run}" for run in range(6) for _ in range(5)]
    # Half of the link is taken, on average.
    truths = [float(row["truth_bps"]) for row in found]
    assert sum(truths) / len(truths) == pytest.approx(0.5e9, rel=0.1)
    read = [row for row in found if row["f0"]]
    assert len(read) > 15 and all(row["f58"] for row in read)


def test_gaps_are_recording(tmp_path: Path) -> None:
    streams(tmp_path / "rows.csv", gaps=tmp_path / "gaps.csv", runs=2, seed=1, settings=FEW)
    found = ps.estimate(tmp_path / "gaps.csv", method="bass+multi-rate")
    assert len(found) == sum(row["f0"] != "" for row in rows(tmp_path / "rows.csv")) > 3


def test_requires_name_of_capture(root: Path, tmp_path: Path) -> None:
    traced = {"cross": "trace", "streams": "2"}
    with pytest.raises(ps.InputError, match="trace: found nothing"):
        streams(tmp_path / "rows.csv", gaps=tmp_path / "gaps.csv", runs=1, seed=1, settings=traced)
    assert not list(tmp_path.iterdir())
    trace = root / "scenarios/traces/web-namespaces.pcap"
    streams(tmp_path / "rows.csv", runs=1, seed=1, trace=trace, settings=traced)
    assert [row["cross"] for row in rows(tmp_path / "rows.csv")] == ["trace"] * 2


def test_error_names_wrong_setting(tmp_path: Path) -> None:
    for settings, message in [({"speed": "1"}, '"speed" is not one of'), ({"load": "half"}, 'load: found "half"')]:
        with pytest.raises(ps.InputError, match=message):
            streams(tmp_path / "rows.csv", runs=1, seed=1, settings=settings)
    with pytest.raises(OSError, match="cannot be written"):
        streams(tmp_path / "no" / "rows.csv", runs=1, seed=1, settings=FEW)
    assert not list(tmp_path.iterdir())
