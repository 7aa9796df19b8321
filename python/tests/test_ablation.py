"""The table of what each mechanism of Rapid's law earns."""

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def ablate(root: Path, command: str, *arguments: str) -> subprocess.CompletedProcess:
    """Runs the tool over one path, and two drawn ones."""
    tool = [sys.executable, str(root / "conformance/ablation/ablate.py"), "--packetscale", command, "--quick"]
    return subprocess.run([*tool, "--paths", "longer", "--draws", "2", *arguments], capture_output=True, text=True)


def test_a_mechanism_that_pays_passes(root: Path, command: str) -> None:
    done = ablate(root, command, "LATE_READ")
    assert done.returncode == 0, done.stderr
    assert "LATE_READ        earns longer     available_share" in done.stdout


def test_a_mechanism_whose_test_is_named_passes(root: Path, command: str) -> None:
    done = ablate(root, command, "SPELLS")
    assert done.returncode == 0, done.stderr
    assert "SPELLS: pays in models/tests/rapid/kept.rs" in done.stdout


def test_a_mechanism_that_is_off_changes_runs(root: Path, command: str, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    ablate(root, command, "LATE_READ", "--csv", str(table))
    rows = [r for r in csv.DictReader(table.open()) if r["path"] == "longer" and r["metric"] == "available_share"]
    assert [float(r["difference"]) < -50 for r in rows] == [True]


def test_a_mechanism_that_does_nothing_is_refused(root: Path, command: str, tmp_path: Path) -> None:
    headers = tmp_path / "include"
    shutil.copytree(root / "law/include", headers)
    listed = headers / "rapid/mechanisms.h"
    listed.write_text(listed.read_text().replace("\tRAPID_NOTHING,\n", "\tRAPID_NOTHING,\n\tRAPID_IDLE,\n"))
    done = ablate(root, command, "IDLE", "--include", str(headers))
    assert done.returncode == 1
    assert "IDLE: no run changes" in done.stdout
    assert "no path on which it pays: IDLE" in done.stderr


def test_an_unknown_mechanism_is_named(root: Path, command: str) -> None:
    done = ablate(root, command, "NOISE")
    assert done.returncode == 2
    assert "unknown: NOISE; expected one of SHARE_GAIN" in done.stderr


@pytest.mark.parametrize("path", ["longer", "outage"])
def test_the_controller_file_is_the_built_in_law(root: Path, command: str, tmp_path: Path, path: str) -> None:
    file = tmp_path / "whole.so"
    include = [f"-I{root}/law/include", f"-I{root}/controller/include"]
    subprocess.run(["cc", "-shared", "-O2", "-fPIC", *include, str(root / "conformance/ablation/controller.c"), "-o", str(file)],
                   check=True)
    out = tmp_path / "out"
    both = f'sweep."flow.0.controller"=["rapid", {{ kind = "c", file = "{file}" }}]'
    subprocess.run([command, "run", str(root / f"conformance/ablation/paths/{path}.toml"), "--out", str(out), "--no-page",
                    "--set", "run.replications=1", "--set", both], check=True, capture_output=True)
    built_in, loaded = csv.DictReader((out / "runs.csv").open())
    # `events` counts the engine's work, not what the law does.
    named = {"run", "controller", "flow.0.controller", "events"}
    assert {k: v for k, v in built_in.items() if k not in named} == {k: v for k, v in loaded.items() if k not in named}
