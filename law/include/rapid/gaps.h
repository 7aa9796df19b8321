/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A probe stream read gap by gap, as Rapid's dissertation does: normalisation,
 * Buffering-Aware Spike Smoothing, and the search for the highest rate that does
 * not congest. (Q. Yin, "TCP RAPID: from theory to practice": Algorithm 6,
 * Figure 5.5 and Algorithm 5, Algorithm 1.)
 *
 * Gap i lies between packets i and i + 1 of one stream, and has the level of
 * packet i. Gaps are kept in 1/1024 ns, so that 30 ns are not 3 % coarse.
 *
 * Readings, where print and sense differ:
 *  1. Normalisation keeps within a stream. The gap that began in the stream
 *     before would divide two gaps' worth of receive time by one send gap.
 *  2. SPIKE_UP and SPIKE_DOWN (20/10, 5/4, 2/1 us) and GAP_NS_EPSILON (100 ns)
 *     were made for 9000 B at 10 Gbit/s. Here they are the same multiples of the
 *     mean send gap of the stream (25/9, 25/18, ...), and equal to the print there.
 *  3. BASS averages complete buffering events: from a spike to the next one, with
 *     a dip in between. What comes before the first spike stays as it is, and
 *     so does an event open at the end of the stream; where that is at most a third of
 *     the stream, it is dropped. The text drops incomplete events, the
 *     pseudo-code averages them: with coalesced interrupts that spreads one
 *     event over the levels and hides their rates, and the estimate stays R_avg
 *     for ever.
 *  4. "While spike exists" ends after eight passes.
 *  5. Algorithm 1 prints receive gaps against receive gaps; the sense is receive
 *     against send. A run of L = 4 congested gaps gives all packets since the
 *     last run the rate just below it; one that starts the stream, the lowest
 *     rate; packets after the last run get the highest.
 *  6. AVG_WINDOW slides over send and receive gaps alike, centred, so that it
 *     does not compare one level's send gap with the next one's receive gap.
 */
#ifndef RAPID_GAPS_H
#define RAPID_GAPS_H

#include "frame.h"
#include "thesis_state.h"

/* L: this many congested gaps in a row are congestion (Algorithm 1). */
#define RAPID_RUN 4
/* Reading 4. */
#define RAPID_PASSES 8
/* Where the event that is open at the end is at most 1/3 of the stream, it is dropped: reading 3. */
#define RAPID_OPEN_EVENT_PART 3

/* The mean send gap for which thresholds are printed: 9000 B at 10 Gbit/s (reading 2). */
#define RAPID_PRINTED_GAP_NS 7200
/* SPIKE_UP and SPIKE_DOWN in 1/36 of the mean send gap, which is 200 ns as printed. */
#define RAPID_SPIKE_PARTS 36
#define RAPID_COARSE_UP 100  /* 20 us */
#define RAPID_COARSE_DOWN 50 /* 10 us */
#define RAPID_FINER_UP 25    /*  5 us */
#define RAPID_FINER_DOWN 20  /*  4 us */
#define RAPID_FINE_UP 10     /*  2 us */
#define RAPID_FINE_DOWN 5    /*  1 us */

/* A gap is at most this, 18 minutes, so that its 1/1024 ns, a hundredfold, stay within 62 bits. */
#define RAPID_GAP_MAX_NS (1LL << 40)

/* Algorithm 6, one packet: closes the gap since the last stamped packet and shares it out. */
struct rapid_normalising {
	const struct rapid_memory *memory;
	u64 first;
	u64 sent, arrival; /* of the last stamped packet, */
	u32 number;        /* which is this one of its stream */
	u32 begun;
	u64 send_gap, receive_gap;
};

static inline long rapid_share_gap(u32 turn, void *context)
{
	struct rapid_normalising *c = (struct rapid_normalising *)context;
	struct rapid_gaps *g = c->memory->gaps;

	(void)turn;
	if (g->count >= RAPID_STREAM_MAX)
		return 1;
	g->send[g->count] = c->send_gap;
	g->receive[g->count] = c->receive_gap;
	g->count++;
	return 0;
}

static inline long rapid_normalise_packet(u32 turn, void *context)
{
	struct rapid_normalising *c = (struct rapid_normalising *)context;
	const struct rapid_record *r = RAPID_RECORD(c->memory, c->first + turn);

	if (!r || r->state != RAPID_STAMPED)
		return 0;
	if (c->begun) {
		u32 covered = turn - c->number;
		u64 sent = (u64)rapid_sclamp(rapid_difference(r->sent_ns, c->sent), 0, RAPID_GAP_MAX_NS);
		u64 received = (u64)rapid_sclamp(rapid_difference(r->arrival_ns, c->arrival), 0, RAPID_GAP_MAX_NS);

		c->send_gap = (sent << RAPID_Q10_BITS) / covered;
		c->receive_gap = (received << RAPID_Q10_BITS) / covered;
		RAPID_LOOP(covered, rapid_share_gap, c);
	} else {
		c->memory->gaps->offset = turn;
		c->begun = 1;
	}
	c->number = turn;
	c->sent = r->sent_ns;
	c->arrival = r->arrival_ns;
	return 0;
}

RAPID_APART void rapid_normalise(const struct rapid_memory *memory, const struct rapid_stream *s)
{
	struct rapid_normalising c = {.memory = memory, .first = s->first, .begun = RAPID_UNTOLD_ZERO(memory->gaps)};

	memory->gaps->count = 0;
	memory->gaps->offset = 0;
	memory->gaps->stream = s->number;
	RAPID_LOOP(rapid_min(s->sent, RAPID_STREAM_MAX), rapid_normalise_packet, &c);
}

/* Sums and fills over a part of the stream. */
struct rapid_part {
	struct rapid_gaps *gaps;
	u32 begin;
	u64 send, receive;
};

static inline long rapid_sum_gap(u32 turn, void *context)
{
	struct rapid_part *c = (struct rapid_part *)context;
	u32 i = c->begin + turn;

	if (i >= RAPID_STREAM_MAX)
		return 1;
	c->send += c->gaps->send[i];
	c->receive += c->gaps->receive[i];
	return 0;
}

static inline long rapid_fill_gap(u32 turn, void *context)
{
	struct rapid_part *c = (struct rapid_part *)context;
	u32 i = c->begin + turn;

	if (i >= RAPID_STREAM_MAX)
		return 1;
	c->gaps->send[i] = c->send;
	c->gaps->receive[i] = c->receive;
	return 0;
}

RAPID_FN void rapid_average_part(struct rapid_gaps *gaps, u32 begin, u32 end)
{
	struct rapid_part c = {.gaps = gaps, .begin = begin};
	u32 count = end - begin;

	if (end <= begin + 1)
		return;
	RAPID_LOOP(count, rapid_sum_gap, &c);
	c.send /= count;
	c.receive /= count;
	RAPID_LOOP(count, rapid_fill_gap, &c);
}

enum rapid_spike { RAPID_NO_SPIKE, RAPID_SPIKE_PENDING, RAPID_SPIKE_VALID };

/* Figure 5.5: one pass over the stream. */
struct rapid_smoothing {
	struct rapid_gaps *gaps;
	u64 up, down; /* SPIKE_UP, SPIKE_DOWN */
	u64 highest;
	u32 begin;
	u32 state;
	u32 found;
};

static inline long rapid_smooth_gap(u32 i, void *context)
{
	struct rapid_smoothing *c = (struct rapid_smoothing *)context;
	u64 gap, next;
	u32 last = i + 1 >= c->gaps->count;

	if (i >= RAPID_STREAM_MAX - 1)
		return 1;
	gap = c->gaps->receive[i];
	next = c->gaps->receive[i + 1];
	if (c->state == RAPID_SPIKE_PENDING) {
		c->highest = rapid_max(c->highest, gap);
		if (gap + c->down < c->highest)
			c->state = RAPID_SPIKE_VALID;
	}
	if (last) {
		if (c->state != RAPID_NO_SPIKE &&
		    RAPID_OPEN_EVENT_PART * (c->gaps->count - c->begin) <= c->gaps->count)
			c->gaps->count = c->begin;
		return 1;
	}
	if (c->state == RAPID_SPIKE_PENDING || gap + c->up >= next)
		return 0;
	if (c->state == RAPID_SPIKE_VALID)
		rapid_average_part(c->gaps, c->begin, i + 1);
	c->state = RAPID_SPIKE_PENDING;
	c->found = 1;
	c->begin = i + 1;
	c->highest = next;
	return 0;
}

/* One pass. Returns whether there was a spike. */
RAPID_FN u32 rapid_smooth(struct rapid_gaps *gaps, u64 up, u64 down)
{
	struct rapid_smoothing c = {.gaps = gaps, .up = up, .down = down};

	if (gaps->count < 2)
		return 0;
	c.state = RAPID_NO_SPIKE + RAPID_UNTOLD_ZERO(gaps);
	c.begin = c.found = RAPID_UNTOLD_ZERO(gaps);
	if (gaps->receive[0] > gaps->receive[1] + down) {
		c.state = RAPID_SPIKE_VALID;
		c.highest = gaps->receive[0];
	}
	RAPID_LOOP(gaps->count, rapid_smooth_gap, &c);
	return c.found;
}

/* Algorithm 5: coarse, finer, then fine until nothing is left. */
struct rapid_passes {
	struct rapid_gaps *gaps;
	u64 gap; /* mean send gap */
};

RAPID_FN u32 rapid_smooth_by(const struct rapid_passes *c, u32 up, u32 down)
{
	return rapid_smooth(c->gaps, c->gap * up / RAPID_SPIKE_PARTS, c->gap * down / RAPID_SPIKE_PARTS);
}

static inline long rapid_smooth_pass(u32 turn, void *context)
{
	struct rapid_passes *c = (struct rapid_passes *)context;

	if (turn == 0)
		rapid_smooth_by(c, RAPID_COARSE_UP, RAPID_COARSE_DOWN);
	else if (turn == 1)
		rapid_smooth_by(c, RAPID_FINER_UP, RAPID_FINER_DOWN);
	else
		return !rapid_smooth_by(c, RAPID_FINE_UP, RAPID_FINE_DOWN);
	return 0;
}

/* AVG_WINDOW: a window that slides over what is left. */
struct rapid_window_sum {
	struct rapid_gaps *gaps;
	u32 window;
};

static inline long rapid_window_gap(u32 i, void *context)
{
	struct rapid_window_sum *c = (struct rapid_window_sum *)context;
	struct rapid_gaps *g = c->gaps;
	u32 before = c->window / 2, from = i > before ? i - before : 0;
	u32 count = (u32)rapid_min(i + c->window - before, g->count) - from;
	struct rapid_part part = {.gaps = g, .begin = from};

	if (i >= RAPID_STREAM_MAX || !count)
		return 1;
	RAPID_LOOP(count, rapid_sum_gap, &part);
	g->smooth_send[i] = part.send / count;
	g->smooth_receive[i] = part.receive / count;
	return 0;
}

static inline long rapid_keep_smooth(u32 i, void *context)
{
	struct rapid_gaps *g = ((struct rapid_window_sum *)context)->gaps;

	if (i >= RAPID_STREAM_MAX)
		return 1;
	g->send[i] = g->smooth_send[i];
	g->receive[i] = g->smooth_receive[i];
	return 0;
}

RAPID_STAGE int rapid_denoise(struct rapid_gaps *gaps, u32 window, u32 bass)
{
	struct rapid_part all = {.gaps = gaps};
	struct rapid_passes passes = {.gaps = gaps};
	struct rapid_window_sum sliding = {.gaps = gaps, .window = window};

	if (!gaps || !gaps->count)
		return 0;
	RAPID_LOOP(gaps->count, rapid_sum_gap, &all);
	passes.gap = all.send / gaps->count;
	if (bass)
		RAPID_LOOP(RAPID_PASSES, rapid_smooth_pass, &passes);
	if (window < 2)
		return 0;
	RAPID_LOOP(gaps->count, rapid_window_gap, &sliding);
	RAPID_LOOP(gaps->count, rapid_keep_smooth, &sliding);
	return 1;
}

/* Algorithm 1 as a sum over gaps. */
struct rapid_search {
	const struct rapid_gaps *gaps;
	u64 packet;
	u64 epsilon;
	u64 sum;    /* of the rates given to gaps so far */
	u64 below;  /* rate just below the present run */
	u64 highest;
	u32 settled; /* gaps that have their rate */
	u32 run;
	u32 least; /* a run of at least this many gaps is congestion: L */
};

/* Ends a run: if it is long enough, all gaps since the last get the rate below it. */
RAPID_FN void rapid_settle(struct rapid_search *c, u32 end)
{
	if (c->run >= c->least) {
		c->sum += c->below * (end - c->settled);
		c->settled = end;
	}
	c->run = 0;
}

static inline long rapid_search_gap(u32 i, void *context)
{
	struct rapid_search *c = (struct rapid_search *)context;
	u64 rate;

	if (i >= RAPID_STREAM_MAX)
		return 1;
	rate = rapid_bound(rapid_rate_of(c->packet << RAPID_Q10_BITS, c->gaps->send[i]));
	c->highest = rapid_max(c->highest, rate);
	if (c->gaps->receive[i] > c->gaps->send[i] + c->epsilon) {
		c->run++;
		return 0;
	}
	rapid_settle(c, i);
	c->below = rate;
	return 0;
}

/* Returns the available bandwidth that a denoised stream shows, with runs of at least `least`; 0: too few gaps. */
RAPID_STAGE u64 rapid_search_runs(const struct rapid_gaps *gaps, u32 packet, u32 epsilon_ns, u32 least)
{
	struct rapid_search c = {.gaps = gaps, .packet = packet, .least = least};
	struct rapid_part all = {.gaps = (struct rapid_gaps *)gaps};

	if (!gaps || !least || gaps->count < 2 * least)
		return 0;
	RAPID_LOOP(gaps->count, rapid_sum_gap, &all);
	c.below = rapid_bound(rapid_rate_of((u64)packet << RAPID_Q10_BITS, gaps->send[0]));
	c.run = c.settled = RAPID_UNTOLD_ZERO(gaps);
	c.epsilon = all.send / gaps->count * epsilon_ns / RAPID_PRINTED_GAP_NS;
	RAPID_LOOP(gaps->count, rapid_search_gap, &c);
	rapid_settle(&c, gaps->count);
	if (c.settled < gaps->count)
		c.sum += c.highest * (gaps->count - c.settled);
	return c.sum / gaps->count;
}

RAPID_FN u64 rapid_search_rate(const struct rapid_gaps *gaps, u32 packet, u32 epsilon_ns)
{
	return rapid_search_runs(gaps, packet, epsilon_ns, RAPID_RUN);
}

#endif
