"""Where the tests find the repository and the command."""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: Two controllers, two buffers, two replications; every table without its own keys has rows.
SMALL = """
[run]
duration = "3 s"
warmup = "1 s"
seed = 7
replications = 2

[path]
rate = "20 Mbit/s"
delay = "5 ms"
buffer = "40 packets"

[[flow]]
controller = "cubic"

[[traffic]]
kind = "poisson"
rate = "4 Mbit/s"

[compare]
controllers = ["cubic", "newreno"]

[sweep]
"path.buffer" = ["20 packets", "60 packets"]
"""


@pytest.fixture
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A scenario of eight short runs."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    return file


@pytest.fixture
def command() -> str:
    """The command: PACKETSCALE where it is set, for one that cargo has built; else that of the wheel."""
    found = os.environ.get("PACKETSCALE") or shutil.which("packetscale")
    assert found, "no command packetscale: install the wheel, or name one in PACKETSCALE"
    return found
