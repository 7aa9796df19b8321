"""Figures 6.6, 6.8, 6.10 and 6.11 of the dissertation: models learnt from one set of streams and tested on another.

    uv run sets.py             # some minutes on one core; writes papers/rapid-2017/recorded/figure-6.*.toml

Streams are those of the figures' own scenarios: 48 packets of 9000 B in four rates over 50 %, mean rates of 5 to 9 Gbit/s,
10 Gbit/s. A training set has 84 runs of 60 streams for each of its conditions (5040; the dissertation has 5000), a test
40 runs with other seeds. Trees, settings and features are the exported model's; the models themselves are not kept.
"""

import numpy as np

import streams
from streams import FEATURES, FIGURE, ROOT, SETS, load, score
from train import SEED, fit_value

RECORDED = ROOT / "papers/rapid-2017/recorded"
TRAFFIC = {
    "BCT": ["cross=trace", "copies=9", "load=0.251"],
    "SCT": ["cross=trace", "copies=9", "load=0.249", "shaper=330 Mbit/s"],
    "CBR": ["cross=cbr", "copies=9", "load=0.247", "cross-packet=1500"],
}
TIMES = ["2 us", "10 us", "50 us", "100 us", "120 us", "200 us", "300 us"]
FRAMES = ["2", "5", "10", "15", "20"]
# An adaptive card obeys times up to 12 us, like any timer.
NIC1 = {time: ["receiver=timer", f"time={time}"] for time in TIMES}
NIC2 = {frames: ["receiver=adaptive", f"frames={frames}"] for frames in FRAMES}
DEFAULT = {"NIC1": "120 us", "NIC2": "10"}
CARDS = {"NIC1": NIC1, "NIC2": NIC2}
THREE = {"NIC1": ["2 us", "120 us", "300 us"], "NIC2": ["2", "10", "20"]}


def conditions():
    """Returns the sets of streams by name. The position in this list gives the seed."""
    for traffic, settings in TRAFFIC.items():
        yield traffic, settings + NIC1["120 us"]
    for card, all_settings in CARDS.items():
        for setting, settings in all_settings.items():
            yield f"{card} {setting}", TRAFFIC["BCT"] + settings


def declare():
    for place, (name, settings) in enumerate(conditions()):
        for part, seed, runs in [("train", 100, 84), ("test", 200, 40)]:
            SETS[f"{part} {name}".replace(" ", "-")] = FIGURE + settings + [f"seed={seed + place}", f"runs={runs}", "packets=48"]


def streams_of(part, name):
    return load(f"{part} {name}".replace(" ", "-"))[0]


def learnt(names):
    return fit_value(streams.pd.concat([streams_of("train", name) for name in names]))


def point(keys, estimate, test):
    """Returns a point of a figure: scores, and half of the 95 % interval of a share over the runs in the test."""
    read = np.isfinite(estimate)
    truth, runs = test.truth.to_numpy(), test.run.to_numpy()
    s = score(estimate[read], truth[read])
    error = estimate / truth - 1
    shares = [np.mean(np.abs(error[read & (runs == run)]) < 0.1) for run in np.unique(runs[read])]
    figures = {name: s[key] / 100 for name, key in [("within_10", "within10"), ("within_15", "within15"), ("bias", "bias")]}
    figures |= {"p05": s["p5"] / 100, "p95": s["p95"] / 100, "r2": s["r2"], "refused": 1 - read.mean()}
    figures |= {f"p{at}": np.quantile(error[read], at / 100) for at in (10, 90)}
    figures["within_10_half_width"] = 1.96 * np.std(shares, ddof=1) / np.sqrt(len(shares))
    lines = ["[[point]]", *(f'{key} = "{value}"' for key, value in keys.items())]
    return "\n".join(lines + [f"{key} = {value:.4f}" for key, value in figures.items()]) + "\n"


def points(models, tests):
    """Returns the points of every model on every test, with BASS beside them."""
    for keys, name in tests:
        test = streams_of("test", name)
        test = test[test.inside]
        if np.isfinite(test.bass).sum() >= 20:
            yield point({"trained": "BASS", **keys}, test.bass.to_numpy(), test)
        for trained, model in models.items():
            yield point({"trained": trained, **keys}, 1 + model.predict(test[FEATURES].to_numpy()), test)


def write(figure, about, texts):
    RECORDED.mkdir(exist_ok=True)
    recipe = f"cd training && uv run sets.py    # LightGBM, seed {SEED}; streams of python/src/streams\\n{about}"
    text = f'# Written by training/sets.py; not to be edited.\nrecipe = "{recipe}"\n\n' + "\n".join(texts)
    (RECORDED / f"{figure}.toml").write_text(text)
    print(figure, flush=True)


def main():
    declare()
    by_traffic = {traffic: learnt([traffic]) for traffic in TRAFFIC}
    texts = points(by_traffic, [({"tested": traffic}, traffic) for traffic in TRAFFIC])
    write("figure-6.6", "Trained on 5040 streams beside one kind of traffic, tested on 2400 beside each.", texts)
    sets = {}
    for card, settings in CARDS.items():
        named = {"default": [DEFAULT[card]], "3 sets": THREE[card], "all": list(settings)}
        sets[card] = {what: learnt([f"{card} {setting}" for setting in part]) for what, part in named.items()}
    for card, figure in [("NIC1", "figure-6.8"), ("NIC2", "figure-6.10")]:
        tests = [({"setting": setting}, f"{card} {setting}") for setting in CARDS[card]]
        about = f"Trained on 5040 streams for each setting of a set ({DEFAULT[card]}; {', '.join(THREE[card])}; all)."
        write(figure, about, points(sets[card], tests))
    crossed = {card: sets[card]["3 sets"] for card in CARDS}
    tests = [({"tested": card, "setting": setting}, f"{card} {setting}") for card in CARDS for setting in CARDS[card]]
    write("figure-6.11", "Trained on the three settings of one card, tested on all of both.", points(crossed, tests))


if __name__ == "__main__":
    main()
