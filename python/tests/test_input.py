"""Scenarios, changes, and errors."""

from pathlib import Path

import packetscale as ps
import pytest


def test_error_names_file_line_and_key(small: Path) -> None:
    text = small.read_text().replace('delay = "5 ms"', 'delay = "5 furlongs"')
    small.write_text(text)
    line = 1 + text.splitlines().index('delay = "5 furlongs"')
    with pytest.raises(ps.InputError) as raised:
        ps.Scenario.load(small)
    error = raised.value
    assert (error.file, error.line, error.key) == (str(small), line, "path.delay")
    assert error.message == str(error) and f"small.toml:{line}: path.delay" in error.message
    assert isinstance(error, ValueError)


def test_error_of_change_names_key(small: Path) -> None:
    with pytest.raises(ps.InputError) as raised:
        ps.Scenario.load(small).set({"path.rate": "fast"})
    assert (raised.value.key, raised.value.line) == ("path.rate", None)
    with pytest.raises(TypeError, match="found a value of type object"):
        ps.Scenario.load(small).set({"path.rate": object()})


def test_missing_file_is_an_error() -> None:
    with pytest.raises(ps.InputError) as raised:
        ps.Scenario.load("nowhere.toml")
    assert raised.value.file == "nowhere.toml"


def test_set_changes_copy(small: Path) -> None:
    scenario = ps.Scenario.load(small)
    changed = scenario.set({"run.duration": "2 s", "flow.0.count": 3, "path.delay": "7 ms"}).set({"run.seed": 9})
    assert 'duration = "2 s"' in changed.to_toml() and "count = 3" in changed.to_toml()
    assert 'delay = "7 ms"' in changed.to_toml()
    assert changed.seeds != scenario.seeds and 'duration = "3 s"' in scenario.to_toml()
    assert scenario.name == "small" and scenario.planned == 8


def test_text_is_scenario(small: Path) -> None:
    text = small.read_text()
    assert ps.Scenario.from_text(text, small).to_toml() == ps.Scenario.load(small).to_toml()
    assert ps.Scenario.from_text(text).name == "scenario"


def test_sweep_matches_file(small: Path) -> None:
    text = small.read_text()
    plain = ps.Scenario.from_text(text[: text.index("[sweep]")], small)
    swept = ps.sweep(plain, {"path.buffer": ["20 packets", "60 packets"]}, replications=1)
    assert len(swept) == 4
    written = ps.run(ps.Scenario.load(small).set({"run.replications": 1}))
    assert swept.run().runs.to_csv() == written.runs.to_csv()


def test_does_not_replace_folder_of_other_scenario(small: Path, tmp_path: Path) -> None:
    short = {"run.duration": "2 s", "run.replications": 1}
    ps.run(ps.Scenario.load(small).set(short), out=tmp_path / "out")
    other = small.with_name("other.toml")
    other.write_text(small.read_text())
    with pytest.raises(ps.InputError, match="replace=True"):
        ps.run(ps.Scenario.load(other).set(short), out=tmp_path / "out")
    assert ps.read(tmp_path / "out").manifest["scenario_name"] == "small.toml"
    ps.run(ps.Scenario.load(other).set(short), out=tmp_path / "out", replace=True)
    assert ps.read(tmp_path / "out").manifest["scenario_name"] == "other.toml"


def test_probe_streams_are_refused(root: Path) -> None:
    scenario = ps.Scenario.load(root / "scenarios" / "probe-streams.toml")
    with pytest.raises(ps.InputError) as raised:
        ps.run(scenario)
    assert raised.value.key == "probe" and raised.value.line is not None


def test_jobs_are_counted_from_one(small: Path) -> None:
    with pytest.raises((ValueError, OverflowError)):
        ps.run(ps.Scenario.load(small), jobs=0)
