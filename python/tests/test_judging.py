"""`evaluate` and `matrix`: as the command answers, and for controllers in Python like any other."""

import json
import subprocess
from pathlib import Path
from typing import Any

import packetscale as ps
import pytest
import test_controller

assert test_controller.Aimd


def output(command: str, folder: Path, *words: str) -> Any:
    done = subprocess.run([command, *words, "--json"], check=True, capture_output=True, text=True, cwd=folder)
    return json.loads(done.stdout)


def test_evaluate_matches_command(command: str, tmp_path: Path) -> None:
    theirs = output(command, tmp_path, "judge", "evaluate", "veno", "--quick", "--only", "7.4")["evaluation"]
    assert ps.evaluate("veno", quick=True, only="7.4") == theirs


def test_evaluates_python_class(tmp_path: Path) -> None:
    """Three packets in ten are lost: as many are sent again, by whomever."""
    found = ps.evaluate("python-aimd", quick=True, only="5.1.1", out=tmp_path)
    assert [contender[0] for contender in found["contenders"]] == ["python-aimd", "cubic", "bbr"]
    question = found["sections"][0]["questions"][0]
    assert question["figures"][1] == "sent_again"
    for row in question["rows"]:
        assert row["cells"][1]["mean"] == pytest.approx(0.3, abs=0.06)
    assert "python-aimd" in (tmp_path / "report.html").read_text()


def test_python_newreno_matches_builtin_evaluation() -> None:
    ours, theirs = (ps.evaluate(name, quick=True, only="7.4") for name in ("python-newreno", "newreno"))
    assert ours["sections"][0]["questions"][0]["rows"] == theirs["sections"][0]["questions"][0]["rows"]


def test_matrix_accepts_python_class(tmp_path: Path) -> None:
    found = ps.matrix(["python-newreno", "newreno"], quick=True, only="shallow-100mbps", out=tmp_path)
    assert [name for name, _ in found["controllers"]] == ["python-newreno", "newreno"]
    assert len(found["settings"]) == 1 and (tmp_path / "report.html").is_file()


def test_refuses_unknown_controller() -> None:
    with pytest.raises(ps.InputError, match="rapit"):
        ps.evaluate("rapit", quick=True)
    with pytest.raises(ps.InputError, match="expected one of 5.1.1"):
        ps.evaluate("rapid", only="9")
    with pytest.raises(ps.InputError, match="cubic twice"):
        ps.matrix(["cubic", "cubic"])
