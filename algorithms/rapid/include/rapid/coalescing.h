/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Receivers that coalesce interrupts hand packets over in batches, and those that acknowledge many packets at once
 * tell when only some of them arrived.
 *
 * A packet that arrives within an eighth of its send gap belongs to a batch. The
 * gaps between batches give their period. What the law reads from delays must
 * last longer than that, or tolerate as much.
 *
 * Packets without a stamp, eight or more in a row, are a hole. A level must be longer than the holes in it; its length
 * is made for the hole that packets are in on average, where packets outside of holes count as in one of none.
 */
#ifndef RAPID_COALESCING_H
#define RAPID_COALESCING_H

#include "frame.h"

/* A packet belongs to a batch if it arrives within 1/8 of its send gap. */
#define RAPID_BATCH_GAP_PART 8
/* A receive gap of more than the send gaps of two packets separates two batches, and measures their period. */
#define RAPID_BATCH_PAUSE_GAPS 2
/* A longer pause counts as this: coalescing timers are far shorter, so something else paused. */
#define RAPID_BATCH_PAUSE_MAX_NS 10000000
/* Weight of one packet in the average of how often packets are batched: it takes about a hundred. */
#define RAPID_BATCHED_WEIGHT_Q16 RAPID_Q16(10)
/* Weight of one pause in the period: it takes about twenty. */
#define RAPID_BATCH_PERIOD_WEIGHT_Q16 RAPID_Q16(50)
/* A receiver coalesces if more than a quarter of its packets came in a batch; fewer do by chance. */
#define RAPID_BATCHED_MIN_Q16 (RAPID_ONE / 4)

/* Half of a usual level (envelope.h): it keeps a stamp where fewer are missing in a row. */
#define RAPID_HOLE_LEAST 8
/* A longer hole counts as this. */
#define RAPID_HOLE_MOST (1 << 15)
/* Weight of one packet in the average hole: it takes about five hundred. */
#define RAPID_HOLE_WEIGHT_Q16 RAPID_Q16(2)

/* A packet has a stamp; those since the last that had one and have arrived, too, are a hole. */
RAPID_FN void rapid_note_hole(struct rapid_envelope *e)
{
	u64 hole = e->untold >= RAPID_HOLE_LEAST ? rapid_min(e->untold, RAPID_HOLE_MOST) : 0;

	e->hole_q16 = (u32)rapid_average(e->hole_q16, (s64)(hole << 16),
					 rapid_min(rapid_max(hole, 1) * RAPID_HOLE_WEIGHT_Q16, RAPID_ONE));
}

RAPID_FN void rapid_note_batch(struct rapid_envelope *e, u64 sent, u64 arrival)
{
	s64 sent_gap = rapid_difference(sent, e->last_sent_ns);
	s64 gap = rapid_difference(arrival, e->last_arrival_ns);
	u64 step = (u64)e->untold + 1;

	rapid_note_hole(e);
	e->untold = 0;
	e->last_sent_ns = sent;
	e->last_arrival_ns = arrival;
	if (sent_gap <= 0 || gap < 0)
		return;
	if (gap < sent_gap / RAPID_BATCH_GAP_PART) {
		e->batched = (u32)rapid_average(e->batched, RAPID_ONE, RAPID_BATCHED_WEIGHT_Q16);
		return;
	}
	e->batched = (u32)rapid_average(e->batched, 0, RAPID_BATCHED_WEIGHT_Q16);
	if (step > 1) /* else a division for nothing, once per packet */
		sent_gap = rapid_divide(sent_gap, step);
	if (gap > RAPID_BATCH_PAUSE_GAPS * sent_gap)
		e->batch_ns = (u64)rapid_average((s64)e->batch_ns, rapid_smin(gap, RAPID_BATCH_PAUSE_MAX_NS),
						 RAPID_BATCH_PERIOD_WEIGHT_Q16);
}

/* The period of the receiver's batches; 0 where it does not coalesce. */
RAPID_FN u64 rapid_batch(const struct rapid_envelope *e)
{
	return e->batched > RAPID_BATCHED_MIN_Q16 ? e->batch_ns : 0;
}

#endif
