"""Trains the learnt estimator and writes it to where the law's C code and the tests read it.

    uv run train.py            # a few minutes on one core; the same seed gives the same trees

There are three forests. The value estimates the available bandwidth of multi-rate streams, in mean rates. The spread
estimates the value's error; it learns from errors on runs that the value was not trained on. The verdict judges
single-rate streams: above zero, they are too fast.
"""

import lightgbm
import numpy as np

import forest
import streams
from streams import FEATURES, HEAD, ROOT, TESTS, folds, line, load, row

SEED = 1
VALUE = {"objective": "l2", "num_leaves": 31, "learning_rate": 0.1, "trees": 144, "max_depth": 8}
SPREAD = {"objective": "l2", "num_leaves": 15, "learning_rate": 0.16, "trees": 40, "max_depth": 6}
VERDICT = {"objective": "binary", "num_leaves": 31, "learning_rate": 0.1, "trees": 96, "max_depth": 8}
# Weight of a stream whose truth lies outside of its rates: the model only has to distinguish it from the others.
OUTSIDE = 0.25
# Scale of the log-odds: leaves are kept in 1/2^18 of 16.
ODDS = 16

MODEL = ROOT / "law/include/rapid/learnt_model.h"
VECTORS = ROOT / "models/tests/estimation/learnt/vectors.csv"
RESULTS = ROOT / "training/results.csv"


def fit(settings, rows, target, weight=None):
    """Returns a LightGBM model, the same every time."""
    settings = dict(settings, seed=SEED, deterministic=True, force_row_wise=True, num_threads=1, verbose=-1)
    settings |= {"min_data_in_leaf": 50, "feature_fraction": 0.6, "bagging_fraction": 0.5, "bagging_freq": 1}
    trees = settings.pop("trees")
    settings["boost_from_average"] = False
    return lightgbm.train(settings, lightgbm.Dataset(rows[FEATURES].to_numpy(), target, weight=weight), trees)


def fit_value(rows):
    """Returns a model of the value. It starts from 1, the mean rate."""
    return fit(VALUE, rows, rows.y - 1, np.where(rows.inside, 1.0, OUTSIDE))


def out_of_fold(rows):
    """Estimates each stream with a model that was trained without the stream's run."""
    estimate, fold = np.zeros(len(rows)), folds(rows)
    for k in range(5):
        model = fit_value(rows[fold != k])
        estimate[fold == k] = 1 + model.predict(rows[fold == k][FEATURES].to_numpy())
    return estimate


def walks(trees, rows):
    return trees.walk(rows[FEATURES].astype(int).to_numpy()) / forest.VALUE


def main():
    rows, _ = load("train")
    found = out_of_fold(rows)
    error = np.abs(found / rows.y - 1).clip(0, 0.5)
    value, spread = fit_value(rows), fit(SPREAD, rows, error - error.mean(), np.where(rows.inside, 1.0, OUTSIDE))
    single, _ = load("single")
    too_fast = single.truth_bps < single.rate_bps
    fold = folds(single)
    held = fit(VERDICT, single[fold != 0], too_fast[fold != 0])
    verdict = fit(VERDICT, single, too_fast)
    for tree in range(VERDICT["trees"]):
        for leaf in range(verdict.dump_model()["tree_info"][tree]["num_leaves"]):
            verdict.set_leaf_output(tree, leaf, verdict.get_leaf_output(tree, leaf) / ODDS)
    forests = {
        "VALUE": forest.Forest(value, 1),
        "SPREAD": forest.Forest(spread, error.mean()),
        "VERDICT": forest.Forest(verdict, 0),
    }
    report = [HEAD]
    report += results(rows, found, forests)
    report += ["", line("single-rate streams", "decision error", "within 10 % of the truth", "further off")]
    wrong = (held.predict(single[fold == 0][FEATURES].to_numpy()) > 0.5) != too_fast[fold == 0]
    report += [decisions("held-out runs, all lengths", single[fold == 0], wrong)]
    for name in ["single-64", "single-48", "single-32"]:
        test, _ = load(name)
        wrong = (walks(forests["VERDICT"], test) > 0) != (test.truth_bps < test.rate_bps)
        report += [decisions(name, test, wrong)]
    report += ["", *confidence(rows, found, error)]
    words = sum(len(trees.nodes) for trees in forests.values())
    about = (
        "Written by training/train.py; not to be edited. See learnt.h.\n\n"
        f"Trained on {len(rows)} multi-rate streams of {rows.run.nunique()} runs and {len(single)} single-rate streams of\n"
        f"{single.run.nunique()} runs, probe scenarios of the simulator (python/src/streams), seeds 1 and 2:\n"
        "100 Mbit/s to 100 Gbit/s, 1500 and 9000 B, streams of 16, 32, 48 and 64 packets in four rates over 30 or 50 %,\n"
        "loads of 0.1 to 0.7 of even, Poisson, Pareto and exponential on-off traffic, trains, and a recorded web trace;\n"
        "receivers without coalescing, with a timer (to 300 us, with and without a frame limit), spacing, and adaptive (2 to\n"
        "20 frames); senders of every gap model; every packet acknowledged, or every other.\n"
        f"{4 * words + 2 * sum(len(f.roots) for f in forests.values())} bytes."
    )
    MODEL.write_text(forest.header(forests, about))
    RESULTS.write_text("\n".join(report) + "\n")
    vectors(forests, value, spread, verdict)
    print("\n".join(report))


def results(rows, found, forests):
    inside = rows.inside
    yield row("held-out runs, all", "learnt", found[inside], rows.truth[inside])
    for who, estimate in [("BASS, best reading", rows.bass), ("dissertation", rows.thesis), ("R_avg", 1 + 0 * rows.y)]:
        yield row("", who, estimate[inside].to_numpy(), rows.truth[inside].to_numpy())
    for name in TESTS:
        test, part = load(name)
        test = test[test.inside]
        if len(test) == 0:
            yield line(name, "-", "none can be read", *"-----")
            continue
        truth = test.truth.to_numpy()
        yield row(name, "learnt", walks(forests["VALUE"], test), truth)
        yield row("", "BASS, best reading", test.bass.to_numpy(), truth)
        yield row("", "dissertation", test.thesis.to_numpy(), truth)
        yield row("", "R_avg, no measurement", np.ones(len(test)), truth)
        middle = (np.sqrt(test.low_bps / test.rate_bps * test.high_bps / test.rate_bps)).to_numpy()
        yield row("", "middle of the range", middle, truth)


def decisions(name, rows, wrong):
    near = np.abs(rows.truth - 1) < 0.1
    return line(name, *(f"{100 * part.mean():.1f} %" for part in (wrong, wrong[near], wrong[~near])))


def confidence(rows, found, error):
    """Scores the spreads of streams from runs on which neither model was trained."""
    fold, sure = folds(rows), np.zeros(len(rows))
    for k in range(5):
        train = rows[fold != k]
        model = fit(SPREAD, train, error[fold != k] - error.mean(), np.where(train.inside, 1.0, OUTSIDE))
        sure[fold == k] = model.predict(rows[fold == k][FEATURES].to_numpy()) + error.mean()
    yield line("most confident streams", "spread at most", "within 10 %", "within 10 %, truth in range")
    off = np.abs(found / rows.y - 1)
    for part in [0.2, 0.5, 0.8, 1.0]:
        limit = np.quantile(sure, part)
        kept = sure <= limit
        within = [100 * np.mean(off[kept] < 0.1), 100 * np.mean(off[kept & rows.inside] < 0.1)]
        yield line(f"{100 * part:.0f} %", f"{limit:.3f}", *(f"{x:.1f} %" for x in within))
    yield ""
    yield line("spreads", "share of truths within")
    for k in (1, 2, 2.5, 3):
        yield line(k, f"{100 * np.mean(off <= k * sure):.1f} %")


def vectors(forests, value, spread, verdict):
    """Writes streams for the tests: the gaps, and the features and floating-point results that Python finds."""
    VECTORS.parent.mkdir(parents=True, exist_ok=True)
    streams.SETS["vectors"] = ["runs=60", "streams=1", "seed=51"]
    streams.generate("vectors", gaps=True)
    rows = streams.pd.read_csv(streams.DATA / "vectors.csv")
    gaps = streams.pd.read_csv(streams.DATA / "vectors-gaps.csv")
    gaps = {run: stream for run, stream in gaps.groupby("stream_id")}
    with VECTORS.open("w") as out:
        out.write("value,spread,verdict,size,features,send_ps,receive_ps\n")
        for _, stream in rows[rows.f0.notna()].iterrows():
            one = gaps[f"{stream.run}-0"].iloc[1:]
            features = stream[FEATURES].astype(int).tolist()
            said = [m.predict([features], raw_score=True)[0] for m in (value, spread, verdict)]
            said[0], said[1] = said[0] + 1, said[1] + forests["SPREAD"].base / forest.VALUE
            lists = [features, *((1000 * gap).round() for gap in (one.send_gap_ns, one.recv_gap_ns))]
            lists = [" ".join(str(int(x)) for x in xs) for xs in lists]
            out.write(",".join([*(f"{x:.9f}" for x in said), str(int(one.size_bytes.iloc[0])), *lists]) + "\n")


if __name__ == "__main__":
    main()
