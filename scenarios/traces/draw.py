"""Draws the traces of link rates in this folder: python3 draw.py writes cellular.mahi and wifi.csv, the same each time.

cellular.mahi: the model of a cellular link behind Sprout (Winstein, Sivaraman, Balakrishnan, NSDI 2013, section 3.1).
Packets of 1500 B are delivered as a Poisson process. Its rate, from 0 to 1000 packets/s, is a Brownian motion with a
standard deviation of 200 packets/s after a second; at 0 there is an outage, which ends at a rate of 1 per second. Steps
are 20 ms, as there. It begins in the middle, at 500 packets/s.

wifi.csv: the channel of Gilbert and Elliott (Bell System Technical Journal, 1960 and 1963), as the rate of a station that
walks in and out of the way: 60 Mbit/s for 2 s in the mean, then 12 Mbit/s for 0.5 s, both exponential. The rates and times
are ours.
"""

import random

LENGTH_S = 30
TICK_S = 0.02
SIGMA = 200.0
MOST = 1000.0
OUTAGE_ENDS = 1.0


def cellular():
    draw = random.Random(1)
    rate, times_ms = MOST / 2, []
    for tick in range(int(LENGTH_S / TICK_S)):
        if rate > 0 or draw.random() < OUTAGE_ENDS * TICK_S:
            rate = min(MOST, max(0.0, rate + draw.gauss(0, SIGMA * TICK_S**0.5)))
        at = draw.expovariate(rate) if rate > 0 else TICK_S
        while at < TICK_S:
            times_ms.append(int(1000 * (tick * TICK_S + at)))
            at += draw.expovariate(rate)
    return times_ms


def wifi():
    draw = random.Random(2)
    at, good, steps = 0.0, True, []
    while at < LENGTH_S:
        steps.append((at, 60_000_000 if good else 12_000_000))
        at += draw.expovariate(1 / 2.0 if good else 1 / 0.5)
        good = not good
    return steps + [(float(LENGTH_S), 0)]


with open("cellular.mahi", "w") as out:
    out.writelines(f"{ms}\n" for ms in cellular())
with open("wifi.csv", "w") as out:
    out.write("time_s,rate_bps\n")
    out.writelines(f"{at:.3f},{bps}\n" for at, bps in wifi())
