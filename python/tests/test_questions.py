"""Theory, estimation and papers, compared with the command."""

import csv
import io
import json
import subprocess
from pathlib import Path

import packetscale as ps
import pytest

BURSTINESS = {
    "capacity": "100 Mbit/s",
    "average": "20 Mbit/s",
    "on": "100 ms",
    "off": "300 ms",
    "increase": "200 ms",
    "decrease": "100 ms",
}
QLBP = {"mu_max": "10 Mbit/s", "q_max": "100 packets"}


def answered(command: str, name: str, parameters: dict[str, object]) -> object:
    words = [word for key, value in parameters.items() for word in (f"--{key.replace('_', '-')}", str(value))]
    done = subprocess.run([command, "theory", name, *words, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_theories_match_command(command: str) -> None:
    few: dict[str, object] = {"flows": 50, "utilisation": 0.9, "arrivals": "phases", "runs": 20}
    assert ps.theory.multiplexing(**few) == answered(command, "multiplexing", few)  # type: ignore[arg-type]
    assert ps.theory.tdqm(load=0.5) == answered(command, "tdqm", {"load": 0.5})
    assert ps.theory.burstiness(**BURSTINESS) == answered(command, "burstiness", dict(BURSTINESS))
    assert ps.theory.rapid(flows=4) == answered(command, "rapid", {"flows": 4})
    assert ps.theory.qlbp(**QLBP) == answered(command, "qlbp", dict(QLBP))


def test_functions_have_parameters_of_command(command: str) -> None:
    for name in ["burstiness", "multiplexing", "qlbp", "rapid", "tdqm"]:
        help = subprocess.run([command, "theory", name, "--help"], check=True, capture_output=True, text=True).stdout
        options = {line.split()[0][2:].replace("-", "_") for line in help.splitlines() if line.startswith("      --")}
        parameters = set(getattr(ps.theory, name).__kwdefaults__ or {}) | set(
            getattr(ps.theory, name).__annotations__
        )
        assert options - {"json"} == parameters - {"return"}, name


def test_error_names_wrong_parameter() -> None:
    with pytest.raises(ps.InputError) as raised:
        ps.theory.multiplexing(flows=10, arrivals="bursty")
    assert raised.value.key == "arrivals"
    with pytest.raises(ps.InputError, match="load"):
        ps.theory.tdqm(load=1.5)


def gaps() -> list[tuple[float, float, int]]:
    """Four rising rates of 16 packets; above 100 Mbit/s the path spreads them."""
    sent = [1500 * 8e3 / rate for rate in (60, 80, 120, 150) for _ in range(16)]
    return [(gap, max(gap, 1500 * 8e3 / 100), 1500) for gap in sent]


def test_estimation_of_gaps_matches_command(command: str, tmp_path: Path) -> None:
    recording = tmp_path / "gaps.csv"
    rows = ["stream_id,pkt,send_gap_ns,recv_gap_ns,size_bytes", "0,0,,,1500"]
    rows += [f"0,{at},{send},{receive},{size}" for at, (send, receive, size) in enumerate(gaps(), start=1)]
    recording.write_text("\n".join(rows) + "\n")
    for method in [None, "combined", "receive-rate"]:
        words = [command, "estimate", str(recording), *(["--method", method] if method else [])]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        (line,) = csv.DictReader(io.StringIO(done.stdout))
        one = ps.estimate(gaps(), method=method)
        assert [one] == ps.estimate(recording, method=method)
        assert {key: "" if value is None else str(value) for key, value in one._asdict().items()} == line
    found = ps.estimate(gaps()).estimate_bps
    # The path's own arithmetic: 80 Mbit/s pass as they were sent, and 120 do not.
    assert found is not None and 80e6 <= found <= 120e6


def test_error_of_recording_names_position(tmp_path: Path) -> None:
    recording = tmp_path / "gaps.csv"
    recording.write_text("stream_id,pkt,send_gap_ns,recv_gap_ns,size_bytes\n0,0,,,1500\n0,1,5,-5,1500\n")
    with pytest.raises(ps.InputError) as raised:
        ps.estimate(recording)
    assert (raised.value.file, raised.value.line, raised.value.key) == (str(recording), 3, "recv_gap_ns")
    with pytest.raises(OSError, match="cannot be read"):
        ps.estimate(tmp_path / "nowhere.csv")
    with pytest.raises(ps.InputError) as raised:
        ps.estimate(gaps(), method="guess")
    assert raised.value.key == "method"


def test_figure_matches_command(command: str, tmp_path: Path) -> None:
    words = [command, "reproduce", "tdqm-newark", "--quick", "--json", "--out", str(tmp_path / "out")]
    # It ends with 1 where a value is not as expected; what it prints is the same.
    done = subprocess.run(words, capture_output=True, text=True)
    assert ps.reproduce("tdqm-newark", quick=True) == json.loads(done.stdout)["papers"]
    with pytest.raises(ps.InputError, match="nowhere"):
        ps.reproduce("nowhere")
