"""Compares learners and features, and tests how a model performs under conditions that it was not trained on.

    uv run compare.py          # about ten minutes on one core; prints tables, writes compared.csv

Learners are compared on streams of 64 packets, in five folds that do not split a run, with two sets of features. The first
is the Fourier transform of send and receive gaps, as in the dissertation (section 6.1.1); here gaps are divided by the
mean send gap, because otherwise no learner could read two rates at once. The second is the whole numbers of
`rapid/features.h`.
"""

import time

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import ElasticNet, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import streams
import train
from streams import DATA, FEATURES, HEAD, ROOT, SETS, TESTS, folds, line, load, row

STREAMS = 3000
SETS["fourier-single"] = ["runs=300", "seed=42", "packets=64", "levels=1"]
GRADIENT = {"n_estimators": 100, "max_depth": 5, "subsample": 0.5, "max_features": 0.3, "random_state": 1}
FOREST = {"n_estimators": 100, "min_samples_leaf": 5, "max_features": 0.3, "n_jobs": 1, "random_state": 1}
BOOSTED = {"n_estimators": 100, "learning_rate": 0.1, "num_leaves": 31, "min_child_samples": 20, "verbose": -1, "n_jobs": 1}
REGRESSORS = {
    "ElasticNet": lambda: make_pipeline(StandardScaler(), ElasticNet(alpha=0.001, max_iter=2000)),
    "RandomForest": lambda: RandomForestRegressor(**FOREST),
    "AdaBoost": lambda: AdaBoostRegressor(DecisionTreeRegressor(max_depth=8), n_estimators=20, random_state=1),
    "GradientBoosting": lambda: GradientBoostingRegressor(**GRADIENT),
    "LightGBM": lambda: LGBMRegressor(**BOOSTED),
}
CLASSIFIERS = {
    "ElasticNet": lambda: make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", penalty="elasticnet", random_state=1)),
    "RandomForest": lambda: RandomForestClassifier(**FOREST),
    "AdaBoost": lambda: AdaBoostClassifier(DecisionTreeClassifier(max_depth=4), n_estimators=40, random_state=1),
    "GradientBoosting": lambda: GradientBoostingClassifier(**GRADIENT),
    "LightGBM": lambda: LGBMClassifier(**BOOSTED),
}


def both_features(name):
    """Returns the streams of a set whose gaps were kept, with both sets of features."""
    streams.generate(name, gaps=True)
    rows = pd.read_csv(DATA / f"{name}.csv")
    rows["id"] = rows.run + "-" + rows.groupby("run").cumcount().astype(str)
    rows = rows[rows.f0.notna() & (rows.acknowledge == 1)]
    gaps = pd.read_csv(DATA / f"{name}-gaps.csv").dropna()
    counts = gaps.groupby("stream_id").size()
    rows = rows[rows.id.isin(counts[counts == 63].index)].set_index("id", drop=False)
    rows = rows.sample(min(STREAMS, len(rows)), random_state=1)
    wide = [gaps.pivot(index="stream_id", columns="pkt", values=v).loc[rows.id].to_numpy() for v in ("send_gap_ns", "recv_gap_ns")]
    fourier = np.fft.rfft(np.hstack(wide) / wide[0].mean(axis=1, keepdims=True))
    return rows, {"Fourier": np.hstack([fourier.real, fourier.imag]), "features.h": rows[FEATURES].to_numpy()}


def learners():
    """Scores each learner on each set of features in five folds, on multi-rate streams."""
    rows, sets = both_features("fourier")
    truth = (rows.truth_bps / rows.rate_bps).to_numpy()
    target = truth.clip(0.6, rows.high_bps / rows.rate_bps)
    inside = ((rows.truth_bps >= rows.low_bps) & (rows.truth_bps <= rows.high_bps)).to_numpy()
    fold = folds(rows)
    yield HEAD
    for kind, x in sets.items():
        for name, make in REGRESSORS.items():
            begin, found = time.process_time(), np.zeros(len(rows))
            for k in range(5):
                found[fold == k] = make().fit(x[fold != k], target[fold != k]).predict(x[fold == k])
            yield row(f"{kind}, {time.process_time() - begin:.0f} s", name, found[inside], truth[inside])
    yield row("", "R_avg, no measurement", np.ones(inside.sum()), truth[inside])


def classifiers():
    """Scores each classifier in the same way, on single-rate streams."""
    rows, sets = both_features("fourier-single")
    above, fold = (rows.truth_bps < rows.rate_bps).to_numpy(), folds(rows)
    yield line("features", "learner", "decision error")
    for kind, x in sets.items():
        for name, make in CLASSIFIERS.items():
            wrong = np.zeros(len(rows), bool)
            for k in range(5):
                wrong[fold == k] = make().fit(x[fold != k], above[fold != k]).predict(x[fold == k]) != above[fold == k]
            yield line(kind, name, f"{100 * wrong.mean():.1f} %")
    yield line("", "always the more frequent", f"{100 * min(above.mean(), 1 - above.mean()):.1f} %")


def unseen():
    """Trains with the exported model's settings without one condition, and scores the result on that condition."""
    rows, _ = load("train")
    near_120 = rows.receiver.isin(["timer", "timer-frames"]) & rows.time_ns.between(60_000, 240_000)
    leave = {
        "web traffic": (rows.cross == "trace", ["web-64", "web-32"]),
        "trains": (rows.cross == "trains", ["trains-64"]),
        "timers of 60 to 240 us": (near_120, ["web-64", "trains-64"]),
        "spaced interrupts": (rows.receiver == "spacing", ["web-64-spacing"]),
        "adaptive cards": (rows.receiver == "adaptive", ["web-64-adaptive"]),
        "N = 48": (rows.packets == 48, ["web-48"]),
        "10 Gbit/s": (rows.capacity_bps == 1e10, ["web-64", "trains-64"]),
    }
    yield HEAD
    for what, (left_out, tests) in leave.items():
        model = train.fit_value(rows[~left_out])
        for name in tests:
            assert name in TESTS
            test, _ = load(name)
            test = test[test.inside]
            yield row(name, f"without {what}", 1 + model.predict(test[FEATURES].to_numpy()), test.truth.to_numpy())


def main():
    tables = []
    for part in (learners, classifiers, unseen):
        for text in part():
            print(text, flush=True)
            tables.append(text)
        tables.append("")
    (ROOT / "training/compared.csv").write_text("\n".join(tables))


if __name__ == "__main__":
    main()
