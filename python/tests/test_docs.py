"""What docs/python.md shows works: its blocks of Python, one after the other; and its types."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


def run_blocks(page: Path, names: dict[str, object]) -> int:
    """Runs the page's own blocks of Python, one after the other, and returns how many there are."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M)
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)
    return len(blocks)


def test_documentation_page_runs(root: Path, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # As on the page.
    subprocess.run([command, "new", "scenario", "small"], check=True)
    assert run_blocks(root / "docs" / "python.md", {}) >= 3
    assert (tmp_path / "page.html").exists()


def test_gym_page_runs(root: Path, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    assert run_blocks(root / "docs" / "gym.md", names) >= 2
    assert len(names["beside"].runs) == 8  # type: ignore[attr-defined]


def test_documented_install_commands_find_wheel(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels = Path.cwd() / "wheels"
    if not list(wheels.glob("*.whl")):
        pytest.skip(f"no wheel in {wheels}")
    (tmp_path / "target" / "python").mkdir(parents=True)
    (tmp_path / "target" / "python" / "wheels").symlink_to(wheels)
    monkeypatch.chdir(tmp_path)
    pages = [root / "docs" / "gym.md", root / "docs" / "python.md", *(root / "python" / "notebooks").glob("*.ipynb")]
    commands = [
        command.replace('\\"', '"')
        for page in pages
        for command in re.findall(r"(?:^    |`)(pip install [^`\n]*packetscale[^`\n]*)", page.read_text(), re.M)
    ]
    assert len(commands) >= 3, commands
    alone = {**os.environ, "PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_DRY_RUN": "1"}
    for command in commands:
        done = subprocess.run(command, shell=True, capture_output=True, text=True, env=alone)
        assert done.returncode == 0, command + done.stdout + done.stderr


def test_types_match_stubs(root: Path) -> None:
    sample = root / "python" / "tests" / "typed.py"
    words = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", os.devnull, str(sample)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=root / "python" / "tests")
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_match_module(root: Path) -> None:
    words = [sys.executable, "-m", "mypy.stubtest", "packetscale", "--ignore-missing-stub"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=root / "python" / "tests")
    assert done.returncode == 0, done.stdout + done.stderr
