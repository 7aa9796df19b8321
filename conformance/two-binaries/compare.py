#!/usr/bin/env python3
"""Runs a fixed list of experiments with two builds of packetscale and compares every table, byte by byte.

    conformance/two-binaries/compare.py --old BINARY --old-tree DIR --new BINARY [--new-tree DIR] [--only WORD] [--out DIR]

Each build reads the scenarios of its own tree: a key that was renamed is renamed there. Compared are standard output
(without processor time) and every data file. Not compared: manifests, timing and pages, which name the machine and the
build, and Parquet, which holds the same tables as the CSV files.

`differences.toml` names the differences that are meant, each with its reason. Exit code 0: no other difference was found.
Exit code 1: a difference that nobody named. Exit code 2: a build failed or the list is too short.
"""

import argparse
import csv
import fnmatch
import io
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parent.parent
LEAST = 65
MACHINE = {"manifest.json", "timing.csv", "report.html", "page.html"}
"""Files that say which machine and build made them."""
UNSTABLE = {"cpu_s", "version", "commit"}
"""Keys of the printed JSON that may differ from run to run, or from build to build."""

NOT_SIMULATED = {"scenarios/kernel/thousand.toml"}
"""Written for real Linux TCP: a path without any delay. In virtual time its thousand flows fill 24 GB of memory."""

REPRODUCTIONS = [
    "burstiness-2011/figure-6", "burstiness-2011/figure-9b", "multiplexing-2007/figure-5", "multiplexing-2007/figure-10",
    "multiplexing-2007/figure-13", "qlbp/figure-7", "qlbp/table-2", "rapid-2017/figure-5.6", "rapid-2017/figure-6.3",
    "rapid-2017/table-8.1", "rapid-2017/table-8.3", "rapid-2017/table-9.1", "tdqm-newark/independence",
]
THEORY = [
    ["burstiness", "--capacity", "1 Gbit/s", "--average", "100 Mbit/s", "--on", "50 ms", "--off", "150 ms",
     "--increase", "50 ms", "--decrease", "50 ms", "--rtt", "20 ms", "--filter", "exponential"],
    ["multiplexing", "--flows", "1000", "--utilisation", "0.95", "--arrivals", "uniform"],
    ["multiplexing", "--flows", "100", "--utilisation", "0.9", "--arrivals", "exponential", "--seed", "3"],
    ["qlbp", "--mu-min", "2 Mbit/s", "--mu-max", "10 Mbit/s", "--q-max", "10 packets"],
    ["tdqm", "--load", "0.8"],
]


def experiments(tree):
    """Names and arguments, in a fixed order. Arguments that name files are relative to the tree."""
    found = []
    for folder in ["scenarios", "scenarios/kernel", "conformance/claims", "conformance/regressions"]:
        for file in sorted((tree / folder).glob("*.toml")):
            path = f"{folder}/{file.name}"
            if path in NOT_SIMULATED:
                continue
            name = path.replace("claims/attack-", "regressions/")
            if "[probe]" in file.read_text():
                found.append((name, ["estimate", "--from-simulator", path, "--json", "--out"]))
            else:
                found.append((name, ["run", path, "--json", "--no-page", "--out"]))
    for figure in REPRODUCTIONS:
        found.append((f"reproduce {figure}", ["reproduce", figure, "--quick", "--json", "--out"]))
    for question in THEORY:
        found.append((f"theory {' '.join(question[:3])}", ["theory", *question, "--json"]))
    found.append(("evaluate veno 5.1.1", ["judge", "evaluate", "veno", "--quick", "--only", "5.1.1", "--json", "--out"]))
    gaps = HERE / "gaps.csv"
    found.append(("estimate gaps.csv", ["estimate", str(gaps), "--method", "combined", "--json"]))
    found.append(("estimate gaps.csv bass", ["estimate", str(gaps), "--method", "bass+multi-rate", "--json"]))
    return found


def make(binary, tree, arguments, folder):
    """Runs one experiment. Returns its tables by name."""
    command = [str(binary), *arguments]
    if arguments[-1] == "--out":
        command.append(str(folder))
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    if done.returncode not in (0, 1):  # 1: an expectation was missed; the tables are there
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}: {done.stderr.strip()}")
    tables = {"standard output": printed(done.stdout)}
    if folder.is_dir():
        for file in sorted(folder.rglob("*")):
            if file.is_file() and file.name not in MACHINE and file.suffix not in (".html", ".parquet"):
                text = file.read_text()
                tables[str(file.relative_to(folder))] = printed(text) if file.suffix == ".json" else text
    return tables


def printed(text):
    """Standard output without what may differ from run to run, one value a line."""
    try:
        return "\n".join(sorted_lines("", json.loads(text)))
    except json.JSONDecodeError:
        return text


def sorted_lines(path, value):
    if isinstance(value, dict):
        for key in sorted(set(value) - UNSTABLE):
            yield from sorted_lines(f"{path}.{key}", value[key])
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from sorted_lines(f"{path}[{index}]", item)
    else:
        yield f"{path} = {json.dumps(value)}"


def cells(name, text):
    """A table as cells by place and column, so that a difference can name its column."""
    if name.endswith(".csv"):
        rows = list(csv.reader(io.StringIO(text)))
        head = rows[0] if rows else []
        return {(f"row {n}", column): value for n, row in enumerate(rows[1:]) for column, value in zip(head, row)}
    if name.endswith(".ndjson"):
        lines = [json.loads(line) for line in text.splitlines()]
        return {(path.rsplit(".", 1)[0], path.rsplit(".", 1)[-1].split("[")[0]): value
                for n, line in enumerate(lines)
                for path, value in (entry.split(" = ", 1) for entry in sorted_lines(f"row {n}", line))}
    found = {}
    for line in text.splitlines():
        path, _, value = line.partition(" = ")
        found[(path, path.rsplit(".", 1)[-1].split("[")[0])] = value
    return found


def differences(old, new):
    """Every cell that differs: (table, column, place, old, new)."""
    for table in sorted(set(old) | set(new)):
        if table not in old or table not in new:
            yield (table, "", "", "there" if table in old else "missing", "there" if table in new else "missing")
            continue
        if old[table] == new[table]:
            continue
        before, after = cells(table, old[table]), cells(table, new[table])
        if before == after:
            yield (table, "", "order of columns or rows", "", "")
        for key in sorted(set(before) | set(after)):
            if before.get(key) != after.get(key):
                yield (table, key[1], key[0], before.get(key), after.get(key))


def explained(named, experiment, difference):
    """The name of the entry that covers this difference, or None."""
    table, column, place, old, new = difference

    def fits(value, patterns):
        return any(fnmatch.fnmatchcase(str(value), pattern) for pattern in patterns)

    for entry in named:
        asked = [(experiment, "experiment"), (table, "table"), (column, "column"), (place, "place"), (old, "old"), (new, "new")]
        if all(fits(value, entry.get(key, ["*"])) for value, key in asked):
            return entry["name"]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=Path, required=True)
    parser.add_argument("--old-tree", type=Path, required=True)
    parser.add_argument("--new", type=Path, required=True)
    parser.add_argument("--new-tree", type=Path, default=TREE)
    parser.add_argument("--only", default="", help="only experiments whose name holds this")
    parser.add_argument("--out", type=Path, help="keep the tables of both builds here")
    given = parser.parse_args()
    named = tomllib.loads((HERE / "differences.toml").read_text()).get("difference", [])
    old_list, new_list = experiments(given.old_tree), experiments(given.new_tree)
    before, after = dict(old_list), dict(new_list)
    both = [name for name in before if name in after and given.only in name]
    if not given.only and len(both) < LEAST:
        sys.exit(f"only {len(both)} experiments are in both trees; expected {LEAST}")
    kept = given.out or Path(tempfile.mkdtemp(prefix="two-binaries-"))
    unnamed, named_count, same = 0, {}, 0
    for number, name in enumerate(both):
        old = make(given.old.resolve(), given.old_tree, before[name], kept / "old" / str(number))
        new = make(given.new.resolve(), given.new_tree, after[name], kept / "new" / str(number))
        found = list(differences(old, new))
        same += not found
        strange = []
        for difference in found:
            why = explained(named, name, difference)
            if why is None:
                strange.append(difference)
            else:
                named_count[why] = named_count.get(why, 0) + 1
        verdict = "same" if not found else f"{len(found)} cells differ, {len(strange)} of them unnamed"
        print(f"{name}: {len(old)} tables: {verdict}", flush=True)
        for table, column, place, was, is_now in strange[:5]:
            print(f"    {table}: {place} {column}: {was} -> {is_now}")
        unnamed += len(strange)
    for name in sorted(set(before) ^ set(after)):
        print(f"only in the {'old' if name in before else 'new'} tree: {name}")
    for why, count in sorted(named_count.items()):
        print(f"named: {why}: {count} cells")
    print(f"{len(both)} experiments: {same} the same, {len(both) - same} differ; {unnamed} cells without a name")
    sys.exit(1 if unnamed else 0)


if __name__ == "__main__":
    main()
