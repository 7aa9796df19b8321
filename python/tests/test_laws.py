"""Laws that every controller obeys, for controllers in Python. Those of the registry and of files: conformance/tests/laws.rs."""

import csv
import io
from typing import Any

import packetscale as ps
import pytest
import test_controller

#: Registered by that import.
BROUGHT = ["python-aimd", "python-newreno"]
assert test_controller.Aimd

ALONE = """
run = {{ duration = "{seconds} s", warmup = "{warmup} s" }}
path = {{ rate = "{rate}", delay = "{delay}", buffer = "{buffer}", {more} }}
flow = [{{ controller = "{controller}", packet = "1000 B", {flow} }}]
"""


def ran(controller: str, **changes: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first row of runs and of flows."""
    path = {"seconds": 60, "warmup": 0, "rate": "20 Mbit/s", "delay": "10 ms", "buffer": "50 packets", "more": "", "flow": ""}
    results = ps.run(ps.Scenario.from_text(ALONE.format(controller=controller, **{**path, **changes})))
    run, flow = (next(csv.DictReader(io.StringIO(table.to_csv()))) for table in (results.runs, results.flows))
    assert run["controller"] == controller
    return run, flow


@pytest.mark.parametrize("controller", BROUGHT)
@pytest.mark.parametrize(("mbps", "rtt_ms"), [(10, 10), (10, 100), (100, 10), (100, 40)])
def test_uses_idle_path(controller: str, mbps: int, rtt_ms: int) -> None:
    """Time for additive increase from zero to the BDP; a buffer of one BDP."""
    packets = mbps * rtt_ms * 1000 // 8000
    grown = max(rtt_ms * packets // 1000, 30)
    idle = {"rate": f"{mbps} Mbit/s", "delay": f"{rtt_ms / 2} ms", "buffer": f"{max(packets, 10)} packets"}
    run, _ = ran(controller, seconds=grown + 30, warmup=grown, **idle)
    assert float(run["utilisation"]) > 0.8


@pytest.mark.parametrize("controller", BROUGHT)
def test_recovers_after_outage(controller: str) -> None:
    """It backs off while the wire loses everything; ten seconds later it has the path again."""
    outage = {"more": 'outages = [["30 s", "40 s"]]'}
    within, after = ran(controller, seconds=40, warmup=31, **outage), ran(controller, seconds=80, warmup=50, **outage)
    idle = ran(controller, seconds=60, warmup=20)
    assert float(within[0]["throughput_bps"] or 0) < 0.05 * 20e6
    assert float(after[0]["throughput_bps"]) > 0.8 * float(idle[0]["throughput_bps"])


@pytest.mark.parametrize("controller", BROUGHT)
def test_survives_heavy_loss(controller: str) -> None:
    _, flow = ran(controller, seconds=600, more="loss = 0.3", flow='size = "200 kB"')
    assert float(flow["lost_packets"]) / float(flow["sent_packets"]) == pytest.approx(0.3, abs=0.1)
    assert flow["completion_s"], "not done after 600 s"


@pytest.mark.parametrize("controller", BROUGHT)
@pytest.mark.parametrize("size", [1, 999, 1000, 1001, 500_123])
def test_transfer_sends_needed_packets(controller: str, size: int) -> None:
    run, flow = ran(controller, seconds=20, buffer="unlimited", flow=f'size = "{size} B"')
    assert flow["completion_s"] and int(flow["sent_packets"]) == -(-size // 1000) == int(run["packets_delivered"])


@pytest.mark.parametrize("controller", BROUGHT)
def test_same_seed_gives_same_bytes(controller: str) -> None:
    text = test_controller.SHARED.format(queue="", ecn="false").replace('"newreno"', f'"{controller}"')
    tables = [
        {name: results.table(name).to_csv() for name in results.tables if name != "timing"}
        for results in (ps.run(ps.Scenario.from_text(text).set({"run.seed": seed}), jobs=2) for seed in (5, 5, 6))
    ]
    assert tables[0] == tables[1] != tables[2]
