/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The learnt estimator: boosted trees over what features.h sees of a stream.
 *
 *     value = base + the sum of one leaf of every tree
 *
 * Three forests. The value is the available bandwidth over the mean rate of a
 * stream of several rates; the spread is by how much, in parts of it, it will be
 * off; the verdict is the log-odds that a stream of one rate was too fast. Trees
 * and what they were trained on are in learnt_model.h, which python/ writes.
 *
 * A node is one word: threshold << 16 | feature << 8 | child. The walk goes to
 * node `child` of the tree if the feature is at most the threshold, else to the
 * node after that one. Feature 255 is a leaf, and its threshold the value, in
 * 1/2^18.
 *
 * Source: Q. Yin, "TCP RAPID: from theory to practice", chapter 6, which trains
 * such models and has no way to run them in a kernel. Deviations: other features
 * (features.h); one model for all lengths, rates and receivers; trees of whole
 * numbers; the spread; a stream whose every rate fitted is given its highest.
 */
#ifndef RAPID_LEARNT_H
#define RAPID_LEARNT_H

#include "features.h"
#include "learnt_model.h"

#define RAPID_LEAF 255
#define RAPID_VALUE_ONE (1 << 18)

/* From the root of a tree to a leaf. */
struct rapid_walk {
	const struct rapid_gaps *gaps;
	u32 root;
	u32 node;
};

RAPID_FN u32 rapid_node(u32 place)
{
	return place < RAPID_LEARNT_NODES ? rapid_learnt_nodes[RAPID_INDEX(place, RAPID_LEARNT_NODES)] :
					    (u32)RAPID_LEAF << 8;
}

static inline long rapid_walk_down(u32 turn, void *context)
{
	struct rapid_walk *w = (struct rapid_walk *)context;
	u32 feature = w->node >> 8 & 255;
	u32 more;

	(void)turn;
	if (feature >= RAPID_FEATURES)
		return 1;
	more = w->gaps->feature[RAPID_INDEX(feature, RAPID_FEATURES)] > (s16)(w->node >> 16);
	w->node = rapid_node(w->root + (w->node & 255) + more);
	return 0;
}

struct rapid_sum {
	const struct rapid_gaps *gaps;
	u32 first;
	u32 depth;
	s32 sum;
};

static inline long rapid_add_tree(u32 turn, void *context)
{
	struct rapid_sum *c = (struct rapid_sum *)context;
	struct rapid_walk w = {.gaps = c->gaps};
	u32 tree = c->first + turn;

	if (tree >= RAPID_LEARNT_TREES)
		return 1;
	w.root = rapid_learnt_roots[RAPID_INDEX(tree, RAPID_LEARNT_TREES)];
	w.node = rapid_node(w.root);
	RAPID_LOOP(c->depth, rapid_walk_down, &w);
	c->sum += (s16)(w.node >> 16);
	return 0;
}

/* The sum over one forest, in 1/2^18. */
RAPID_FN s32 rapid_forest(const struct rapid_gaps *gaps, u32 first, u32 trees, u32 depth, s32 base)
{
	struct rapid_sum c = {.gaps = gaps, .first = first, .depth = depth, .sum = base};

	RAPID_LOOP(trees, rapid_add_tree, &c);
	return c.sum;
}

#define RAPID_FOREST(gaps, name)                                                                              \
	rapid_forest(gaps, RAPID_##name##_FIRST, RAPID_##name##_TREES, RAPID_##name##_DEPTH, RAPID_##name##_BASE)

/* What the trees say of a stream of several rates; its features must have been taken. */
RAPID_FN s32 rapid_learnt_value(const struct rapid_gaps *gaps) { return RAPID_FOREST(gaps, VALUE); }
RAPID_FN s32 rapid_learnt_spread(const struct rapid_gaps *gaps) { return RAPID_FOREST(gaps, SPREAD); }
/* And of a stream of one rate: above zero, it was too fast. */
RAPID_FN s32 rapid_learnt_verdict(const struct rapid_gaps *gaps) { return RAPID_FOREST(gaps, VERDICT); }

/* The available bandwidth that a stream of several rates shows; 0 for one that cannot be read. */
RAPID_STAGE u64 rapid_learnt_rate(struct rapid_gaps *gaps, u32 packet)
{
	struct rapid_part all = {.gaps = gaps};
	u64 mean;

	if (!gaps || !rapid_features(gaps))
		return 0;
	RAPID_LOOP(gaps->count, rapid_sum_gap, &all);
	mean = rapid_bound(rapid_rate_of((u64)packet * gaps->count * 16, all.send / 64));
	return (mean / 16 * (u64)rapid_smax(rapid_learnt_value(gaps), 0)) >> 14;
}

#endif
