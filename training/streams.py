"""Probe streams from the simulator, with the true available bandwidth of each.

`packetscale.training.streams` (in `python/src/streams`) draws scenarios with a table `[probe]` from a seed, sends their streams
as `packetscale estimate --from-simulator` does, and writes one line per stream: what was available, what the hand-made
estimators say, and the whole numbers that the law's C (`rapid/features.h`) makes of it. A run is one path with one piece of traffic; splits
are by run.
"""

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import packetscale.training

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(__file__).resolve().parent / "data"
TRACE = ROOT / "scenarios/traces/web-namespaces.pcap"
FEATURES = [f"f{i}" for i in range(59)]

# The dissertation's testbed: web traffic of a quarter of 10 Gbit/s, 9000 B, dummy packets, and rates around the mean
# available bandwidth.
TESTBED = ["capacity=10 Gbit/s", "packet=9000", "range=0.5", "gaps=noise", "noise=0.4 us", "access=1", "pause=2.5",
           "streams=60", "runs=100", "acknowledge=1"]
WEB = TESTBED + ["cross=trace", "copies=9", "load=0.251", "aim=0"]
# Figures 6.5 to 6.11: the same with mean rates of 5 to 9 Gbit/s.
FIGURE = WEB + ["centre=0.896", "aim=0.294"]
TRAINS = TESTBED + ["cross=trains", "load=0.3", "aim=0.15"]
COALESCING = ["receiver=timer", "time=120 us"]
SINGLE = WEB + COALESCING + ["levels=1", "aim=0.3"]

SETS = {
    "train": ["runs=4000", "seed=1"],
    "single": ["runs=3000", "seed=2", "levels=1"],
    "web-64": WEB + COALESCING + ["seed=11", "packets=64"],
    "web-48": WEB + COALESCING + ["seed=12", "packets=48"],
    "web-32": WEB + COALESCING + ["seed=13", "packets=32"],
    "web-16": WEB + COALESCING + ["seed=19", "packets=16"],
    "web-16-plain": WEB + ["receiver=none", "seed=14", "packets=16"],
    "web-64-plain": WEB + ["receiver=none", "seed=15", "packets=64"],
    "web-64-spacing": WEB + ["receiver=spacing", "time=120 us", "seed=16", "packets=64"],
    "web-64-adaptive": WEB + ["receiver=adaptive", "frames=6", "seed=17", "packets=64"],
    "web-64-delayed": WEB + COALESCING + ["seed=18", "packets=64", "acknowledge=2"],
    "figure-64": FIGURE + COALESCING + ["seed=61", "packets=64"],
    "figure-48": FIGURE + COALESCING + ["seed=62", "packets=48"],
    "figure-32": FIGURE + COALESCING + ["seed=63", "packets=32"],
    "trains-64": TRAINS + COALESCING + ["seed=21", "packets=64"],
    "trains-32": TRAINS + COALESCING + ["seed=22", "packets=32"],
    "trains-16-plain": TRAINS + ["receiver=none", "seed=23", "packets=16"],
    "single-64": SINGLE + ["seed=31", "packets=64"],
    "single-48": SINGLE + ["seed=33", "packets=48"],
    "single-32": SINGLE + ["seed=32", "packets=32"],
    "fourier": ["runs=300", "seed=41", "packets=64"],
}
TESTS = [name for name in SETS if name.startswith(("web", "figure", "trains"))]


def generate(name, gaps=False):
    """Writes a set unless it exists."""
    out = DATA / f"{name}.csv"
    if out.exists():
        return
    DATA.mkdir(exist_ok=True)
    keys = dict(setting.split("=", 1) for setting in SETS[name])
    runs, seed = int(keys.pop("runs")), int(keys.pop("seed"))
    recording = DATA / f"{name}-gaps.csv" if gaps else None
    packetscale.training.streams(out, runs=runs, seed=seed, trace=TRACE, gaps=recording, settings=keys)


def load(name):
    """Returns the streams that the learnt estimator reads, and their share of all streams.

    `y` is what is learnt: the available bandwidth in mean rates of the stream. Above its highest rate a stream sees
    nothing, so that rate stands for all that is above it.
    """
    generate(name)
    streams = pd.read_csv(DATA / f"{name}.csv")
    readable = streams.f0.notna()
    streams, part = streams[readable].reset_index(drop=True), readable.mean()
    streams["truth"] = streams.truth_bps / streams.rate_bps
    streams["y"] = streams.truth.clip(0.6, streams.high_bps / streams.rate_bps)
    streams["inside"] = (streams.truth_bps >= streams.low_bps) & (streams.truth_bps <= streams.high_bps)
    streams["bass"] = (streams.bass_bps / streams.rate_bps).where(streams.bass_bps > 0)
    streams["thesis"] = (streams.thesis_bps / streams.rate_bps).where(streams.thesis_bps > 0)
    return streams, part


def folds(streams, count=5):
    """Returns the fold of each stream. A run is never split."""
    runs = streams.run.unique()
    of_run = dict(zip(runs, np.random.default_rng(5).permutation(len(runs)) % count))
    return streams.run.map(of_run).to_numpy()


def score(estimate, truth):
    """Returns relative errors and explained variance, for streams whose truth lies in their range."""
    error = estimate / truth - 1
    return {
        "n": len(truth),
        "within10": 100 * np.mean(np.abs(error) < 0.10),
        "within15": 100 * np.mean(np.abs(error) < 0.15),
        "r2": 1 - np.sum((estimate - truth) ** 2) / np.sum((truth - np.mean(truth)) ** 2),
        "bias": 100 * np.mean(error),
        "p5": 100 * np.quantile(error, 0.05),
        "p95": 100 * np.quantile(error, 0.95),
    }


def line(*cells):
    """Returns a row of a table, as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()


HEAD = line("streams", "estimator", "read", "within 10 %", "within 15 %", "R2", "bias", "5-95 %")


def row(name, who, estimate, truth):
    """Returns a row of scores. Streams without an estimate are left out and counted."""
    read = np.isfinite(estimate)
    if read.sum() < 20:
        return line(name, who, f"{100 * read.mean():.0f} %", *"-----")
    s = score(estimate[read], truth[read])
    percent = [f"{100 * read.mean():.0f} %", f"{s['within10']:.1f} %", f"{s['within15']:.1f} %"]
    return line(name, who, *percent, f"{s['r2']:.2f}", f"{s['bias']:+.1f} %", f"{s['p5']:+.1f} to {s['p95']:+.1f} %")
