/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What a learnt estimator sees of a stream: whole numbers without units.
 *
 * The delay of a packet is the sum of receive less send gaps up to it. Delays
 * and times are counted in 1/16384 of the time T that the stream took to send,
 * rates in 1/4096 of its mean rate, so that a stream looks the same at 100
 * Mbit/s and at 100 Gbit/s.
 *
 * A receiver that coalesces interrupts hands packets over in batches. Two
 * packets of each say something: the last, which waited least, and the first,
 * which started the timer and so waited always the same. Last packets make the
 * lower envelope of the delays, first packets the upper one; where nothing
 * coalesces every packet is both. Seen are:
 *
 *   - both envelopes, eighth by eighth of the stream, above their own minimum;
 *   - their slopes by least squares: whole stream, second half, last quarter;
 *   - onset: when an envelope was last within d of its minimum, d from 1/4 of a
 *     gap to 4 gaps;
 *   - batches: how many, how long, when the first and the last begin, and how
 *     much longer the last few first packets took than the last of them;
 *   - rates of the quarters, sent; of what lies between first packets, sent and
 *     arrived; the noise of the gaps;
 *   - the first packet of all, which opens a batch unless one was open: how much
 *     later than it the first packet of the next batch is, and the slopes from it
 *     to that, from it to the last first packet, and between these two. With two
 *     batches in a stream nothing else is exact.
 *
 * The lower envelope is the default law's (envelope.h), onset is what Algorithm
 * 1 (gaps.h) looks for. Chapter 6 of the dissertation gives a learner Fourier
 * transforms of the gaps: those need floating point, change with the rate of
 * the stream, and explain less (training/compare.py).
 */
#ifndef RAPID_FEATURES_H
#define RAPID_FEATURES_H

#include "gaps.h"

#define RAPID_UNIT 16384
#define RAPID_BATCH 4 /* a receive gap of at least 1/4 of the mean send gap begins a batch */
#define RAPID_FEATURE_MAX 32767

/* Places in rapid_gaps.feature. */
enum rapid_feature {
	RAPID_F_COUNT,     /* gaps */
	RAPID_F_BATCHES,   /* batches, in 1/4096 of the gaps */
	RAPID_F_LONGEST,   /* longest batch, the same */
	RAPID_F_FIRST,     /* when the first batch begins, */
	RAPID_F_LAST,      /* and the last */
	RAPID_F_END,       /* delay of the last packet */
	RAPID_F_BETWEEN,   /* minimum of the upper above minimum of the lower envelope */
	RAPID_F_HEIGHT,    /* highest above lowest delay */
	RAPID_F_NOISE,     /* mean change of delay from packet to packet, in 1/256 gaps */
	RAPID_F_SENT,      /* rate between first packets, sent, */
	RAPID_F_ARRIVED,   /* and arrived */
	RAPID_F_QUARTER,   /* rates of the quarters, sent */
	RAPID_F_LOW = RAPID_F_QUARTER + 4,
	RAPID_F_HIGH = RAPID_F_LOW + RAPID_PARTS,
	RAPID_F_SLOPE = RAPID_F_HIGH + RAPID_PARTS, /* lower, then upper */
	RAPID_F_ONSET = RAPID_F_SLOPE + 6,          /* lower, then upper */
	RAPID_F_RECENT = RAPID_F_ONSET + 2 * RAPID_ONSETS, /* time before, and delay less than, the last first packet */
	RAPID_F_OPENING = RAPID_F_RECENT + 2 * RAPID_RECENT, /* delay, then three slopes in 1/4096 */
	RAPID_F_LIST_END = RAPID_F_OPENING + 4
};

_Static_assert(RAPID_F_LIST_END == RAPID_FEATURES, "rapid_gaps.feature holds every feature");

RAPID_FN void rapid_fit_add(struct rapid_fit *f, s64 t, s64 x)
{
	f->n++;
	f->t += t;
	f->x += x;
	f->tx += t * x;
	f->tt += t * t;
}

/* Slope, in 1/4096. At most 2^10 points, times up to 2^14, delays below 2^15: nothing leaves 62 bits. */
RAPID_FN s64 rapid_fit_slope(const struct rapid_fit *f)
{
	s64 run = f->n * f->tt - f->t * f->t;

	return run > 0 ? rapid_divide((f->n * f->tx - f->t * f->x) * 4096, (u64)run) : 0;
}

/* In units of T. */
RAPID_FN s32 rapid_units(s64 x, u64 whole)
{
	x = rapid_divide(rapid_sclamp(x, -(1LL << 48), 1LL << 48) * RAPID_UNIT, whole);
	return (s32)rapid_sclamp(x, -RAPID_FEATURE_MAX, RAPID_FEATURE_MAX);
}

/* A packet of an envelope: number `i` of the stream. */
RAPID_FN void rapid_see_packet(struct rapid_envelope_seen *e, const struct rapid_gaps *g, u32 i)
{
	const struct rapid_seeing *c = &g->seen;
	u32 part = RAPID_INDEX(i * RAPID_PARTS / (g->count + 1), RAPID_PARTS);

	e->part[part] = (s32)rapid_smin(e->part[part], c->x);
	e->lowest = (s32)rapid_smin(e->lowest, c->x);
	rapid_fit_add(&e->fit[0], c->t, c->x);
	if (c->t >= RAPID_UNIT / 2)
		rapid_fit_add(&e->fit[1], c->t, c->x);
	if (c->t >= RAPID_UNIT / 4 * 3)
		rapid_fit_add(&e->fit[2], c->t, c->x);
}

/* The first packet of a batch, after gap `i`. */
RAPID_FN void rapid_see_first(struct rapid_gaps *g, u32 i)
{
	struct rapid_seeing *c = &g->seen;

	rapid_see_packet(&c->high, g, i + 1);
	if (!c->batches) {
		c->first = i;
		c->first_t = c->t;
		c->first_x = c->x;
	}
	for (u32 k = RAPID_RECENT; k > 0; k--) {
		c->recent_t[k] = c->recent_t[k - 1];
		c->recent_x[k] = c->recent_x[k - 1];
	}
	c->recent_t[0] = c->t;
	c->recent_x[0] = c->x;
	c->last = i;
	c->batches++;
	c->length = 0;
}

RAPID_FN u32 rapid_begins_batch(const struct rapid_gaps *g, u32 i)
{
	return g->receive[i] * RAPID_BATCH * g->count >= g->seen.whole;
}

static inline long rapid_see_gap(u32 i, void *context)
{
	struct rapid_gaps *g = (struct rapid_gaps *)context;
	struct rapid_seeing *c = &g->seen;
	u32 begins;
	s32 before = c->x;

	if (i >= RAPID_STREAM_MAX)
		return 1;
	begins = rapid_begins_batch(g, i);
	if (begins)
		rapid_see_packet(&c->low, g, i);
	c->time += g->send[i];
	c->delay += (s64)g->receive[i] - (s64)g->send[i];
	c->t = rapid_units((s64)c->time, c->whole);
	c->x = rapid_units(c->delay, c->whole);
	g->smooth_send[i] = (u64)c->t;
	g->smooth_receive[i] = (u64)c->x;
	c->highest = (s32)rapid_smax(c->highest, c->x);
	c->lowest = (s32)rapid_smin(c->lowest, c->x);
	c->noise += (u64)rapid_smax(c->x - before, before - c->x);
	c->length++;
	c->longest = (u32)rapid_max(c->longest, c->length);
	if (begins)
		rapid_see_first(g, i);
	return 0;
}

RAPID_FN void rapid_see_onset(struct rapid_envelope_seen *e, s32 gap, s32 t, s32 x)
{
	for (u32 k = 0; k < RAPID_ONSETS; k++)
		if (x <= e->lowest + ((gap << k) >> 2))
			e->onset[k] = t;
}

/* Second pass, when the minima are known. */
static inline long rapid_see_onsets(u32 i, void *context)
{
	struct rapid_gaps *g = (struct rapid_gaps *)context;
	struct rapid_seeing *c = &g->seen;
	s32 gap = (s32)(RAPID_UNIT / g->count);

	if (i >= RAPID_STREAM_MAX)
		return 1;
	if (rapid_begins_batch(g, i)) {
		rapid_see_onset(&c->low, gap, c->t, c->x);
		rapid_see_onset(&c->high, gap, (s32)g->smooth_send[i], (s32)g->smooth_receive[i]);
	}
	c->t = (s32)g->smooth_send[i];
	c->x = (s32)g->smooth_receive[i];
	return 0;
}

/* Rate of `packets` of `count` in `time` of RAPID_UNIT, in 1/4096 of the mean. */
RAPID_FN s64 rapid_relative_rate(u32 packets, u32 count, s64 time)
{
	return (s64)((u64)packets * RAPID_UNIT * 4096 / count / (u64)rapid_smax(time, 1));
}

RAPID_FN void rapid_feature_set(struct rapid_gaps *g, u32 place, s64 x)
{
	g->feature[RAPID_INDEX(place, RAPID_FEATURES)] = (s16)rapid_sclamp(x, -RAPID_FEATURE_MAX, RAPID_FEATURE_MAX);
}

RAPID_FN void rapid_envelope_features(struct rapid_gaps *g, struct rapid_envelope_seen *e, u32 parts, u32 upper)
{
	/* Where no packet of the envelope lies, the next one counts; after the last, that. */
	for (u32 k = RAPID_PARTS - 1; k > 0; k--)
		if (e->part[k - 1] == 2 * RAPID_FEATURE_MAX)
			e->part[k - 1] = e->part[k];
	for (u32 k = 1; k < RAPID_PARTS; k++)
		if (e->part[k] == 2 * RAPID_FEATURE_MAX)
			e->part[k] = e->part[k - 1];
	for (u32 k = 0; k < RAPID_PARTS; k++)
		rapid_feature_set(g, parts + k, e->part[k] - e->lowest);
	for (u32 k = 0; k < 3; k++)
		rapid_feature_set(g, RAPID_F_SLOPE + 3 * upper + k, rapid_fit_slope(&e->fit[k]));
	for (u32 k = 0; k < RAPID_ONSETS; k++)
		rapid_feature_set(g, RAPID_F_ONSET + RAPID_ONSETS * upper + k, e->onset[k]);
}

RAPID_FN void rapid_quarter_features(struct rapid_gaps *g, u64 whole)
{
	for (u32 k = 0; k < 4; k++) {
		u32 from = k * g->count / 4, to = (k + 1) * g->count / 4;
		struct rapid_part part = {.gaps = g, .begin = from};

		RAPID_LOOP(to - from, rapid_sum_gap, &part);
		rapid_feature_set(g, RAPID_F_QUARTER + k,
				  rapid_relative_rate(to - from, g->count, rapid_units((s64)part.send, whole)));
	}
}

RAPID_FN void rapid_batch_features(struct rapid_gaps *g, const struct rapid_seeing *c)
{
	s64 sent = c->recent_t[0] - c->first_t, arrived = sent + c->recent_x[0] - c->first_x;
	u32 packets = c->last - c->first;

	rapid_feature_set(g, RAPID_F_COUNT, g->count);
	rapid_feature_set(g, RAPID_F_BATCHES, c->batches * 4096 / g->count);
	rapid_feature_set(g, RAPID_F_LONGEST, c->longest * 4096 / g->count);
	rapid_feature_set(g, RAPID_F_FIRST, c->first_t);
	rapid_feature_set(g, RAPID_F_LAST, c->recent_t[0]);
	rapid_feature_set(g, RAPID_F_END, c->x);
	rapid_feature_set(g, RAPID_F_BETWEEN, c->high.lowest - c->low.lowest);
	rapid_feature_set(g, RAPID_F_HEIGHT, c->highest - c->lowest);
	rapid_feature_set(g, RAPID_F_NOISE, (s64)rapid_min(c->noise / 64, RAPID_FEATURE_MAX));
	rapid_feature_set(g, RAPID_F_SENT, rapid_relative_rate(packets, g->count, sent));
	rapid_feature_set(g, RAPID_F_ARRIVED, rapid_relative_rate(packets, g->count, arrived));
	for (u32 k = 0; k < RAPID_RECENT; k++) {
		u32 known = k + 1 < c->batches;

		rapid_feature_set(g, RAPID_F_RECENT + k, known ? c->recent_t[0] - c->recent_t[k + 1] : 0);
		rapid_feature_set(g, RAPID_F_RECENT + RAPID_RECENT + k, known ? c->recent_x[0] - c->recent_x[k + 1] : 0);
	}
}

/* Of a line through two packets, in 1/4096. */
RAPID_FN s64 rapid_line(s64 t, s64 x) { return t > 0 ? rapid_divide(x * 4096, (u64)t) : 0; }

RAPID_FN void rapid_opening_features(struct rapid_gaps *g, const struct rapid_seeing *c)
{
	s32 last_t = c->recent_t[0], last_x = c->recent_x[0];

	rapid_feature_set(g, RAPID_F_OPENING, c->first_x);
	rapid_feature_set(g, RAPID_F_OPENING + 1, rapid_line(c->first_t, c->first_x));
	rapid_feature_set(g, RAPID_F_OPENING + 2, rapid_line(last_t, last_x));
	rapid_feature_set(g, RAPID_F_OPENING + 3, rapid_line(last_t - c->first_t, last_x - c->first_x));
}

/*
 * Fills `feature` from the gaps of a stream. Gives the number of batches that
 * begin in it, or 0 for a stream that cannot be read: fewer than eight gaps, no
 * time to send or more than 4 s, no batch that begins.
 */
RAPID_STAGE u32 rapid_features(struct rapid_gaps *gaps)
{
	struct rapid_part all = {.gaps = gaps};
	struct rapid_seeing *c;

	if (!gaps || gaps->count < 8 || gaps->count > RAPID_STREAM_MAX)
		return 0;
	RAPID_LOOP(gaps->count, rapid_sum_gap, &all);
	if (!all.send || all.send >> 42 || all.receive >> 48)
		return 0;
	c = &gaps->seen;
	*c = (struct rapid_seeing){0};
	c->whole = all.send;
	c->low.lowest = c->high.lowest = 2 * RAPID_FEATURE_MAX;
	for (u32 k = 0; k < RAPID_PARTS; k++)
		c->low.part[k] = c->high.part[k] = 2 * RAPID_FEATURE_MAX;
	RAPID_LOOP(gaps->count, rapid_see_gap, gaps);
	if (!c->batches)
		return 0;
	rapid_batch_features(gaps, c);
	c->t = c->x = 0;
	RAPID_LOOP(gaps->count, rapid_see_onsets, gaps);
	rapid_envelope_features(gaps, &c->low, RAPID_F_LOW, 0);
	rapid_envelope_features(gaps, &c->high, RAPID_F_HIGH, 1);
	rapid_quarter_features(gaps, c->whole);
	rapid_opening_features(gaps, c);
	gaps->feature[RAPID_FEATURES] = -RAPID_FEATURE_MAX - 1;
	return c->batches;
}

#endif
