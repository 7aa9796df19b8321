"""Figures 6.2 and 6.4 of the dissertation: four learners that decide whether one rate is too high, by Fourier transforms.

    uv run single.py packetscale    # the command; ten minutes on one core; writes papers/rapid-2017/recorded/figure-6.2.toml

Streams are those of figure 6.3's own scenario: one rate, 5 to 9 Gbit/s, bursty traffic, 120 us. As in section 6.1 a learner
sees the Fourier transform of the send gaps and the receive gaps, is trained on some 5000 streams, and is tuned by
cross-validation in five folds. ElasticNet is a regression; from a half on it says "too high". Streams of one run meet the
same traffic, so tests have runs of their own.
"""

import csv
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import numpy as np
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import ElasticNetCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

ROOT = Path(__file__).resolve().parent.parent
PAPER = ROOT / "papers/rapid-2017"
LENGTHS = [64, 48, 32]
TRAIN, TEST = 101, 201
STREAMS = 186    # in each of three runs at each of nine rates: 5022
BASS = {"BASS, strict": "bass+receive-rate(tolerance=0)", "BASS, 2 %": "bass+receive-rate"}


def sent(command, packets, seed):
    """Sends streams; returns their gaps in microseconds, their rates, whether those are too high, and BASS's scores."""
    figure = tomllib.loads((PAPER / "figure-6.3.toml").read_text())
    scenario = figure["probe"][0]["scenario"].replace("../../scenarios", str(ROOT / "scenarios"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "single.toml"
        file.write_text(scenario)
        sets = [f"run.seed={seed}", f"probe.streams={STREAMS}", f"probe.packets=[{packets}]"]
        words = [command, "estimate", "--from-simulator", file, "--out", folder, "--json"]
        words += [word for name, method in BASS.items() for word in ("--method", f"{name}: {method}")]
        words += [word for setting in sets for word in ("--set", setting)]
        said = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        with open(Path(folder) / "streams.csv", newline="") as lines:
            rows = list(csv.DictReader(lines))
    gaps = [(float(row["send_gap_ns"]) / 1000, float(row["recv_gap_ns"]) / 1000) for row in rows if row["pkt"] != "0"]
    gaps = np.array(gaps).reshape(-1, packets - 1, 2)
    first = [row for row in rows if row["pkt"] == "0"]
    rate = np.array([float(row["mean_bps"]) for row in first])
    above = np.array([float(row["truth_bps"]) < float(row["mean_bps"]) for row in first])
    return gaps, rate, above, said["methods"]


def features(gaps):
    both = np.hstack([gaps[:, :, 0], gaps[:, :, 1]])
    transformed = np.fft.rfft(both)
    return np.hstack([transformed.real, transformed.imag])


def tuned(model, grid):
    return GridSearchCV(model, grid, cv=5, n_jobs=1)


def learners():
    stump = DecisionTreeClassifier(random_state=1)
    return {
        "ElasticNet": make_pipeline(StandardScaler(), ElasticNetCV(l1_ratio=[0.1, 0.5, 0.9], cv=5, random_state=1)),
        "AdaBoost": tuned(AdaBoostClassifier(stump, n_estimators=50, random_state=1), {"estimator__max_depth": [1, 3, 6]}),
        "GradientBoost": tuned(
            GradientBoostingClassifier(max_features=0.3, random_state=1), {"n_estimators": [100, 200], "max_depth": [3, 5]}
        ),
        "RandomForest": tuned(
            RandomForestClassifier(max_features=0.3, random_state=1), {"n_estimators": [100], "min_samples_leaf": [1, 5]}
        ),
    }


def points(learner, packets, wrong_by_rate, wrong):
    """Returns the points of one learner: each rate, the worst of them, and all streams."""
    shares = {**wrong_by_rate, "worst": max(wrong_by_rate.values()), "all": wrong}
    for rate, share in shares.items():
        yield f'[[point]]\nlearner = "{learner}"\npackets = "{packets}"\nrate = "{rate}"\nwrong = {share:.4f}\n'


def main():
    command, texts = sys.argv[1], []
    for packets in LENGTHS:
        gaps, _, above, _ = sent(command, packets, TRAIN)
        test_gaps, rate, test_above, bass = sent(command, packets, TEST)
        for name in BASS:
            scored = [one for one in bass if one["point"]["method"] == name]
            by_rate = {one["point"]["probe.rate"].split()[0]: one["score"]["wrong"] for one in scored}
            weights = [one["score"]["scored"] for one in scored]
            texts += points(name, packets, by_rate, np.average(list(by_rate.values()), weights=weights))
        for learner, model in learners().items():
            said = model.fit(features(gaps), above).predict(features(test_gaps)) > 0.5
            wrong = said != test_above
            by_rate = {f"{at / 1e9:g}": wrong[rate == at].mean() for at in np.unique(rate)}
            texts += points(learner, packets, by_rate, wrong.mean())
            print(packets, learner, len(above), getattr(model, "best_params_", ""), f"{wrong.mean():.4f}", by_rate, flush=True)
    recipe = "cd training && uv run single.py packetscale    # scikit-learn; streams of figure 6.3's scenario, seeds 101 and 201"
    head = f'# Written by training/single.py; not to be edited.\nrecipe = "{recipe}"\n\n'
    (PAPER / "recorded/figure-6.2.toml").write_text(head + "\n".join(texts))


if __name__ == "__main__":
    main()
