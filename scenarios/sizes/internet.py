#!/usr/bin/env python3
"""Writes `internet.csv`: a mix of sizes as on the Internet, from a published law, the same bytes each time.

    scenarios/sizes/internet.py > scenarios/sizes/internet.csv

The law is that of files in SURGE (P. Barford, M. Crovella, SIGMETRICS 1998, tables 1 and 2): lognormal (mu 9.357, sigma
1.318) below 133 kB, 93 % of the files; above it Pareto with index 1.1, here bounded at 100 MB. A file of `d` bytes is
`ceil(d / 1460)` packets with 40 B of headers each on the wire.
"""

import math
from statistics import NormalDist

MU, SIGMA, BODY, CUT, INDEX, MOST = 9.357, 1.318, 0.93, 133_000, 1.1, 100_000_000
NORMAL = NormalDist(MU, SIGMA)


def size(share):
    """The size that this share of the files does not exceed."""
    if share <= BODY:
        return math.exp(NORMAL.inv_cdf(share / BODY * NORMAL.cdf(math.log(CUT))))
    left, least, most = (1 - share) / (1 - BODY), CUT**-INDEX, MOST**-INDEX
    return (most + (least - most) * left) ** (-1 / INDEX)


def wire(data):
    return round(data) + 40 * math.ceil(data / 1460)


SHARES = [0.01, 0.02, 0.05, *(n / 10 for n in range(1, 10)), 0.93, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 1]

print("# Flow sizes of an Internet mix: a recipe, not a measurement. Written by internet.py, which says from what.")
print("size_bytes,share")
for share in SHARES:
    print(f"{wire(size(share))},{share:g}")
