"""Sweeps by executors: the same bytes as one run."""

import multiprocessing
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import packetscale as ps
import pytest
from test_controller import Aimd

#: What runs cost is in them.
OWN = {"timing.csv", "timing.parquet", "runs.ndjson"}


def assert_same_files(one: Path, other: Path) -> None:
    names = {file.name for file in one.iterdir() if file.is_file()}
    assert names == {file.name for file in other.iterdir() if file.is_file()} and len(names - OWN) > 10
    for name in names - OWN:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def processes(method: str) -> Executor:
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method))


@pytest.mark.parametrize("method", ["spawn", "threads"])
def test_executor_shards_match_single_run_bytes(small: Path, tmp_path: Path, method: str) -> None:
    scenario = ps.Scenario.load(small).set({"compare.controllers": ["python-aimd", "newreno"]})
    sweep = ps.sweep(scenario, {"path.delay": ["5 ms", "10 ms"]})
    sweep.run(tmp_path / "one")
    reported: list[float] = []
    with ThreadPoolExecutor(2) if method == "threads" else processes(method) as executor:
        results = sweep.run(
            tmp_path / "shards", executor=executor, shards=3, progress=lambda done, planned: reported.append(done)
        )
    assert len(results) == len(sweep) == 16 == reported[-1] and len(reported) == 3
    assert len(list((tmp_path / "shards" / "shards").iterdir())) == 3
    assert_same_files(tmp_path / "one", tmp_path / "shards")


def test_dask_shards_match_single_run_bytes(small: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    scenario = ps.Scenario.load(small).set({"compare.controllers": ["python-aimd", "newreno"]})
    sweep = ps.sweep(scenario, {"path.delay": ["5 ms", "10 ms"]})
    sweep.run(tmp_path / "one")
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        sweep.run(tmp_path / "shards", executor=client.get_executor(), shards=3)
    assert_same_files(tmp_path / "one", tmp_path / "shards")


def test_existing_shards_are_reused_but_not_mixed(small: Path, tmp_path: Path) -> None:
    sweep, out = ps.Sweep(ps.Scenario.load(small)), tmp_path / "out"
    with ThreadPoolExecutor(1) as executor:
        first = sweep.run(out, executor=executor, shards=3)
        lines = [file.read_bytes() for file in sorted((out / "shards").iterdir())]
        (out / "shards" / "2.ndjson").unlink()
        again = sweep.run(out, executor=executor, shards=3)
        # Each line has its run's cost: a repeated run would have another.
        kept = [file.read_bytes() for file in sorted((out / "shards").iterdir())]
        assert (kept[0], kept[2]) == (lines[0], lines[2]) and kept[1] != lines[1]
        assert again.runs.to_csv() == first.runs.to_csv()
        with pytest.raises(ps.InputError, match="shard 1/3"):
            sweep.run(out, executor=executor, shards=2)


class Failing(Aimd):
    def on_loss(self, lost: ps.Lost) -> None:
        raise RuntimeError("no more")


def test_task_exceptions_propagate(small: Path, tmp_path: Path) -> None:
    ps.controller("failing-elsewhere")(Failing)
    scenario = ps.Scenario.load(small).set({"compare.controllers": ["failing-elsewhere"]})
    with processes("spawn") as executor, pytest.raises(RuntimeError, match="no more"):
        ps.Sweep(scenario).run(tmp_path / "out", executor=executor, shards=2)


def test_refuses_arguments_unfit_for_executor(small: Path, tmp_path: Path) -> None:
    sweep = ps.Sweep(ps.Scenario.load(small))
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(ps.InputError, match="a folder that all tasks"):
            sweep.run(executor=executor)
        with pytest.raises(ps.InputError, match="the executor has workers"):
            sweep.run(tmp_path / "out", 2, executor=executor)
    with pytest.raises(ps.InputError, match="without an executor"):
        sweep.run(tmp_path / "out", shards=2)
