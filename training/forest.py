"""Trees as whole numbers, in the form that the law's C code walks (`rapid/learnt.h`).

A node is one 32-bit word: threshold << 16 | feature << 8 | child. The walk goes to `root + child` if the feature is at most
the threshold, else to the node after that one. A leaf has the feature number after the last feature, leads to itself, and
has its value, in 1/2^18, as its threshold.
"""

import numpy as np

from streams import FEATURES

LEAF = len(FEATURES)
VALUE = 1 << 18
# Trees that the law walks side by side.
LANES = 8


class Forest:
    """The nodes and roots of a LightGBM model, and the base to which the trees' values are added."""

    def __init__(self, booster, base):
        self.nodes, self.roots, self.base, self.depth = [], [], round(base * VALUE), 0
        for tree in booster.dump_model()["tree_info"]:
            self.roots.append(len(self.nodes))
            self._lay(tree["tree_structure"])
        assert len(self.roots) % LANES == 0, f"{len(self.roots)} trees are not whole groups of {LANES}"

    def _lay(self, root):
        """Lays a tree out breadth first, so that the two children of a node are neighbours."""
        begin, waiting = len(self.nodes), [(root, 0)]
        self.nodes.append(None)
        place = begin
        while waiting:
            node, depth = waiting.pop(0)
            self.depth = max(self.depth, depth)
            if "leaf_value" in node:
                value = round(node["leaf_value"] * VALUE)
                assert -32768 <= value <= 32767, f"a leaf of {node['leaf_value']} does not fit"
                self.nodes[place] = (value, LEAF, place - begin)
            else:
                assert node["decision_type"] == "<="
                child = len(self.nodes) - begin
                assert child < 256
                self.nodes[place] = (int(np.floor(node["threshold"])), node["split_feature"], child)
                self.nodes += [None, None]
                waiting += [(node["left_child"], depth + 1), (node["right_child"], depth + 1)]
            place += 1

    def walk(self, rows):
        """Returns the forest's value for each stream, in 1/2^18. `rows` has a row of features for each stream."""
        threshold, feature, child = np.array(self.nodes).T
        rows = np.hstack([rows, np.full((len(rows), 1), -32768)])
        streams, total = np.arange(len(rows)), np.full(len(rows), self.base)
        for root in self.roots:
            node = np.full(len(rows), root)
            for _ in range(self.depth):
                node = root + child[node] + (rows[streams, feature[node]] > threshold[node])
            total += threshold[node]
        return total


def words(forests):
    """Returns all nodes of all forests as words, one list per tree."""
    for forest in forests:
        for begin, end in zip(forest.roots, forest.roots[1:] + [len(forest.nodes)]):
            yield [(t & 0xFFFF) << 16 | f << 8 | c for t, f, c in forest.nodes[begin:end]]


def header(forests, about):
    """Returns the C header. `forests` are by name; `about` says on what they were trained."""
    trees = list(words(forests.values()))
    roots = np.cumsum([0] + [len(tree) for tree in trees])
    text = ["/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */", "/*"]
    text += [f" * {said}" if said else " *" for said in about.splitlines()] + [" */"]
    text += ["#ifndef RAPID_LEARNT_MODEL_H", "#define RAPID_LEARNT_MODEL_H", "", '#include "types.h"', ""]
    tree = 0
    for name, forest in forests.items():
        text += [f"#define RAPID_{name}_FIRST {tree}", f"#define RAPID_{name}_TREES {len(forest.roots)}"]
        text += [f"#define RAPID_{name}_BASE {forest.base}", f"#define RAPID_{name}_DEPTH {forest.depth}"]
        tree += len(forest.roots)
    text += [f"#define RAPID_LEARNT_TREES {tree}", f"#define RAPID_LEARNT_NODES {roots[-1]}", ""]
    text += ["static const u16 rapid_learnt_roots[RAPID_LEARNT_TREES] = {"]
    text += ["\t" + " ".join(f"{root}," for root in roots[at : at + 20]) for at in range(0, tree, 20)]
    text[-1] = "\t" + " ".join(f"{root}," for root in roots[(tree - 1) // 20 * 20 : tree])
    text += ["};", "", "/* A tree per line. */", "static const u32 rapid_learnt_nodes[RAPID_LEARNT_NODES] = {"]
    text += ["\t" + " ".join(f"0x{word:x}," for word in tree) for tree in trees]
    return "\n".join(text + ["};", "", "#endif", ""])
