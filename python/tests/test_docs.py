"""What docs/python.md shows works: its blocks of Python, one after the other; and its types."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


def test_the_page_runs(root: Path, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (root / "docs" / "python.md").read_text(), re.S | re.M)
    assert len(blocks) >= 3
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)  # the page's own text
    assert (tmp_path / "page.html").exists()


def test_types_are_those_of_the_stubs(root: Path) -> None:
    sample = root / "python" / "tests" / "typed.py"
    words = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", os.devnull, str(sample)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=root / "python" / "tests")
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_have_what_the_module_has(root: Path) -> None:
    words = [sys.executable, "-m", "mypy.stubtest", "packetscale", "--ignore-missing-stub"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=root / "python" / "tests")
    assert done.returncode == 0, done.stdout + done.stderr
