/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The learnt estimator: boosted trees over what features.h sees of a stream.
 *
 *     value = base + the sum of one leaf of every tree
 *
 * Three forests. The value is the available bandwidth over the mean rate of a
 * stream of several rates; the spread is by how much, in parts of it, it will be
 * off; the verdict is the log-odds that a stream of one rate was too fast. Trees
 * and what they were trained on are in learnt_model.h, which training/ writes.
 *
 * A node is one word: threshold << 16 | feature << 8 | child. The walk goes to
 * node `child` of the tree if the feature is at most the threshold, else to the
 * node after that one. A leaf has the feature behind the last, which is below
 * every threshold, leads to itself, and has its value, in 1/2^18, for a threshold.
 * So all walks of a forest take as many steps, and none asks whether it is there:
 * RAPID_LANES trees are walked side by side, and wait for memory together. That
 * pays only with the walks in registers, which takes unrolled loops.
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

#define RAPID_VALUE_ONE (1 << 18)
#define RAPID_LANES 8

_Static_assert(RAPID_VALUE_TREES % RAPID_LANES == 0 && RAPID_SPREAD_TREES % RAPID_LANES == 0 &&
		       RAPID_VERDICT_TREES % RAPID_LANES == 0,
	       "forests are walked in whole groups of trees");

/* From the roots of a group of trees to their leaves. */
struct rapid_walk {
	const struct rapid_gaps *gaps;
	u32 root[RAPID_LANES];
	u32 node[RAPID_LANES];
};

RAPID_FN u32 rapid_node(u32 place) { return rapid_learnt_nodes[RAPID_INDEX(place, RAPID_LEARNT_NODES)]; }

static inline long rapid_walk_down(u32 turn, void *context)
{
	struct rapid_walk *w = (struct rapid_walk *)context;

	(void)turn;
#pragma GCC unroll 8
	for (u32 k = 0; k < RAPID_LANES; k++) {
		u32 node = w->node[k], feature = RAPID_INDEX(node >> 8 & 255, RAPID_FEATURES + 1);
		u32 more = w->gaps->feature[feature] > (s16)(node >> 16);

		w->node[k] = rapid_node(w->root[k] + (node & 255) + more);
	}
	return 0;
}

struct rapid_sum {
	const struct rapid_gaps *gaps;
	u32 first;
	u32 depth;
	s32 sum;
};

static inline long rapid_add_trees(u32 turn, void *context)
{
	struct rapid_sum *c = (struct rapid_sum *)context;
	struct rapid_walk w = {.gaps = c->gaps};

#pragma GCC unroll 8
	for (u32 k = 0; k < RAPID_LANES; k++) {
		w.root[k] = rapid_learnt_roots[RAPID_INDEX(c->first + turn * RAPID_LANES + k, RAPID_LEARNT_TREES)];
		w.node[k] = rapid_node(w.root[k]);
	}
	RAPID_LOOP(c->depth, rapid_walk_down, &w);
#pragma GCC unroll 8
	for (u32 k = 0; k < RAPID_LANES; k++)
		c->sum += (s16)(w.node[k] >> 16);
	return 0;
}

/* The sum over one forest, in 1/2^18. */
RAPID_FN s32 rapid_forest(const struct rapid_gaps *gaps, u32 first, u32 trees, u32 depth, s32 base)
{
	struct rapid_sum c = {.gaps = gaps, .first = first, .depth = depth, .sum = base};

	RAPID_LOOP(trees / RAPID_LANES, rapid_add_trees, &c);
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
