#!/usr/bin/env python3
"""What each mechanism of Rapid's default law earns: the law without it, compared with the whole law, on the same seeds.

    ablate.py --packetscale target/release/packetscale [--quick] [MECHANISM...]

The mechanisms are those of law/include/rapid/mechanisms.h. Each is compiled out in turn (controller.c), and runs over the paths in
paths/ and over paths drawn from RANGES. A difference counts if its mean exceeds two standard errors and the floor in METRICS. A
mechanism pays if the law is worse without it somewhere, or if the header names the claim or test, in brackets, that fails without it.
Exit code 1: some mechanism does not pay; 2: it cannot be judged.
"""

import argparse
import concurrent.futures
import csv
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

#: Column of runs.csv: factor to the unit, unit, smallest difference that counts, and whether more is better.
METRICS = {
    "available_share": (100, "%", 0.7, True),
    "steady_loss_ratio": (100, "%", 0.05, False),
    "queue_delay_p50_s": (1000, "ms", 0.5, False),
    "queue_delay_p99_s": (1000, "ms", 2, False),
    "fairness_jain": (1, "", 0.02, True),
    "convergence_rtts": (1, "RTT", 1, False),
    "slowdown_p50": (1, "", 0.1, False),
    "slowdown_p99": (1, "", 0.4, False),
}

#: What random paths are drawn from: log-uniform between bounds, or one of a list.
RANGES = {
    "rate_mbps": (1.0, 300.0),
    "rtt_ms": (4.0, 200.0),
    "buffer_bdp": (0.2, 4.0),
    "flows": [1, 1, 2, 4, 10],
    "loss": [0, 0, 0, 0.001, 0.01],
    "traffic": ["none", "none", "cbr", "on-off"],
    "traffic_share": [0.3, 0.5, 0.8, 1.2],
    "burst_ms": (5.0, 200.0),
}
#: A buffer has at least two packets, in bytes.
BUFFER_LEAST = 3000
#: Random paths share no seed with a path of paths/ or of scenarios/.
RANDOM_SEED = 20_000_003
FULL = {"seeds": 5, "random": 40}
QUICK = {"seeds": 2, "random": 4, "paths": ["frames", "longer", "outage", "pulses", "ten", "tiny20"]}


class Fault(Exception):
    """A table that cannot be made."""


def mechanisms(include: Path) -> dict[str, str]:
    """Names in the enum, but for RAPID_NOTHING, and what is in brackets behind each."""
    text = (include / "rapid/mechanisms.h").read_text()
    body = re.search(r"enum rapid_mechanism \{(.*?)\};", text, re.S)
    if not body:
        raise Fault(f"{include}/rapid/mechanisms.h: no enum rapid_mechanism")
    found = re.findall(r"^\tRAPID_(\w+),(?:.*\[(.+)\])?", body[1], re.M)
    return dict(found[1:])


def compile_without(include: Path, mechanism: str, out: Path) -> Path:
    """The law without a mechanism, as a controller file."""
    file = out / f"without-{mechanism.lower()}.so"
    command = ["cc", "-shared", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{include}", f"-I{ROOT}/controller/include",
               f"-DRAPID_WITHOUT=RAPID_{mechanism}", str(HERE / "controller.c"), "-o", str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Fault(f"{mechanism}: {done.stderr}")
    return file


def draw(number: int) -> str:
    """Random path `number`, as a scenario."""
    rng = random.Random(RANDOM_SEED + number)
    x = {k: rng.choice(v) if isinstance(v, list) else math.exp(rng.uniform(*map(math.log, v))) for k, v in RANGES.items()}
    seconds = min(20.0, max(5.0, 0.2 * x["rtt_ms"]))
    buffer = max(BUFFER_LEAST, x["buffer_bdp"] * x["rate_mbps"] * x["rtt_ms"] * 125)
    text = (f'[run]\nduration = "{seconds:.3f} s"\nwarmup = "{seconds / 2.5:.3f} s"\nseed = {RANDOM_SEED + number}\n'
            f'[path]\nrate = "{x["rate_mbps"]:.3f} Mbit/s"\ndelay = "{x["rtt_ms"] / 2:.3f} ms"\nbuffer = "{buffer:.0f} B"\n'
            f'loss = {x["loss"]}\n[[flow]]\ncontroller = "rapid"\ncount = {x["flows"]}\nstart = {{ uniform = ["0 s", "0.5 s"] }}\n')
    rate = f'rate = "{x["rate_mbps"] * x["traffic_share"]:.3f} Mbit/s"'
    if x["traffic"] == "on-off":
        text += f'[[traffic]]\nkind = "on-off"\n{rate}\non = "{x["burst_ms"]:.3f} ms"\noff = "{3 * x["burst_ms"]:.3f} ms"\n'
    elif x["traffic"] == "cbr" and x["traffic_share"] < 1:
        text += f'[[traffic]]\nkind = "cbr"\n{rate}\n'
    return text + "[record]\nstreams = 0\n"


def run(packetscale: str, scenario: Path, laws: list[Path], seeds: int, out: Path) -> list[list[dict]]:
    """Rows of runs.csv, by law and seed. Every flow of Rapid is replaced."""
    flows = tomllib.loads(scenario.read_text())["flow"]
    ours = ", ".join(f"flow.{i}.controller" for i, flow in enumerate(flows) if flow["controller"] == "rapid")
    values = ", ".join(f'{{ kind = "c", file = "{law}", label = "{law.stem}" }}' for law in laws)
    command = [packetscale, "run", str(scenario), "--out", str(out), "--jobs", "1", "--no-page",
               "--set", f"run.replications={seeds}", "--set", f'sweep."{ours}"=[{values}]']
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Fault(f"{scenario.name}: {done.stderr[-2000:]}")
    with open(out / "runs.csv", newline="") as table:
        rows = list(csv.DictReader(table))
    if len(rows) != seeds * len(laws):
        raise Fault(f"{scenario.name}: {len(rows)} runs, expected {seeds * len(laws)}")
    return [rows[k * seeds:(k + 1) * seeds] for k in range(len(laws))]


def value(row: dict, metric: str) -> float | None:
    """In the metric's unit. More than what is available was taken from traffic that does not respond, and earns nothing."""
    if not row.get(metric):
        return None
    x = float(row[metric]) * METRICS[metric][0]
    return min(x, 100.0) if metric == "available_share" else x


def differences(whole: list[dict], without: list[dict]) -> dict[str, tuple[float, float, float, float]]:
    """By metric: mean with, mean without, and the mean and the standard error of the paired difference."""
    found = {}
    for name in METRICS:
        both = [(value(a, name), value(b, name)) for a, b in zip(whole, without)]
        pairs = [(a, b) for a, b in both if a is not None and b is not None]
        if len(pairs) < 2:
            continue
        d = [b - a for a, b in pairs]
        mean = sum(d) / len(d)
        error = math.sqrt(sum((x - mean) ** 2 for x in d) / (len(d) - 1) / len(d))
        found[name] = (sum(a for a, _ in pairs) / len(pairs), sum(b for _, b in pairs) / len(pairs), mean, error)
    return found


def verdict(metric: str, mean: float, error: float) -> str:
    """Whether the mechanism earns or costs this difference; empty where it does not count."""
    _, _, floor, more = METRICS[metric]
    if abs(mean) < floor or abs(mean) <= 2 * error:
        return ""
    return "earns" if (mean < 0) == more else "costs"


def table(packetscale: str, include: Path, names: list[str], seeds: int, draws: int, paths: list[Path],
          jobs_at_once: int) -> list[dict]:
    """A row for each mechanism, path and metric."""
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs_at_once) as pool:
        out = Path(folder)
        laws = list(pool.map(lambda name: compile_without(include, name, out), ["NOTHING", *names]))
        jobs = [(path.stem, path, seeds) for path in paths]
        for k in range(draws):
            file = out / f"draw-{k}.toml"
            file.write_text(draw(k))
            jobs.append(("random", file, 1))
        rows: dict[str, list[list[dict]]] = {}
        results = pool.map(lambda job: run(packetscale, job[1], laws, job[2], out / f"{job[1].stem}-out"), jobs)
        for (row, _, _), result in zip(jobs, results):
            kept = rows.setdefault(row, [[] for _ in laws])
            for all_of_law, of_job in zip(kept, result):
                all_of_law.extend(of_job)
    return [
        {"mechanism": name, "path": path, "metric": metric, "with": a, "without": b, "difference": mean, "error": error,
         "verdict": verdict(metric, mean, error)}
        for k, name in enumerate(names, 1)
        for path, by_law in rows.items()
        for metric, (a, b, mean, error) in differences(by_law[0], by_law[k]).items()
    ]


def report(rows: list[dict], names: dict[str, str]) -> int:
    """Prints what counts. Returns the exit code."""
    idle = []
    for name, elsewhere in names.items():
        own = [r for r in rows if r["mechanism"] == name]
        if not any(r["difference"] for r in own):
            print(f"{name}: no run changes")
        for r in sorted((r for r in own if r["verdict"]), key=lambda r: r["verdict"], reverse=True):
            unit = METRICS[r["metric"]][1]
            print(f'{name:16} {r["verdict"]} {r["path"]:10} {r["metric"]:18} {r["with"]:9.3f} -> {r["without"]:.3f} {unit}'
                  f' ({r["difference"]:+.3f} ± {r["error"]:.3f})')
        if elsewhere:
            print(f"{name}: pays in {elsewhere}")
        elif not any(r["verdict"] == "earns" for r in own):
            idle.append(name)
    if idle:
        print(f"no path on which it pays: {', '.join(idle)}", file=sys.stderr)
    return 1 if idle else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mechanisms", nargs="*", metavar="MECHANISM", help="only these")
    parser.add_argument("--packetscale", default="packetscale", help="the command to run")
    parser.add_argument("--quick", action="store_true", help="few paths and seeds")
    parser.add_argument("--include", type=Path, default=ROOT / "law/include", help="other headers of the law")
    parser.add_argument("--paths", help="only these files of paths/, without .toml, with commas between")
    parser.add_argument("--draws", type=int, help="number of random paths")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("--csv", type=Path, help="write every row here")
    asked = parser.parse_args()
    size = QUICK if asked.quick else FULL
    known = sorted(path.stem for path in (HERE / "paths").glob("*.toml"))
    chosen = asked.paths.split(",") if asked.paths else size.get("paths", known)
    draws = size["random"] if asked.draws is None else asked.draws
    try:
        names = mechanisms(asked.include)
        for word, among in [(w, names) for w in asked.mechanisms] + [(w, known) for w in chosen]:
            if word not in among:
                raise Fault(f"unknown: {word}; expected one of {', '.join(among)}")
        names = {name: names[name] for name in asked.mechanisms or names}
        paths = [HERE / "paths" / f"{name}.toml" for name in chosen]
        rows = table(asked.packetscale, asked.include.resolve(), list(names), size["seeds"], draws, paths, asked.jobs)
    except (Fault, OSError) as fault:
        print(f"ablate.py: {fault}", file=sys.stderr)
        return 2
    if asked.csv:
        with open(asked.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return report(rows, names)


if __name__ == "__main__":
    sys.exit(main())
