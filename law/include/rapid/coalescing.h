/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Receivers that coalesce interrupts hand packets over in batches, and those that acknowledge many packets at once
 * tell when only some of them arrived.
 *
 * A packet that arrives within an eighth of its send gap belongs to a batch. The
 * gaps between batches give their period. What the law reads from delays must
 * last longer than that, or tolerate as much.
 *
 * Some links make batches, too. Wi-Fi sends what waits as one frame of n packets, and
 * these wait while it is sent. In
 *
 *     time of a frame = overhead + n x time of a packet,   n = rate x time of a frame
 *
 * n grows with the rate, and with it the delay, long before the path is full. But then
 * batches come as much further apart. So what the pause before a batch is longer than the
 * shortest, and than a gap more, is taken for no queue: three quarters of it come off the
 * delay of its packets, up to 1/8 of a round trip or 1 ms, whichever is less, and no more than
 * what lies above the base delay. (The pauses of a card with a fixed timer differ by a gap; one
 * whose timer varies much gets a queue of up to 1 ms.) A flow that has had batches, but
 * sends so little that frames hold one packet, waits for the packet before it where two
 * would share a frame: where it has the path for itself, the gap before a packet excuses as much.
 *
 * Packets without a stamp, eight or more in a row, are a hole. A level must be longer than the holes in it; its length
 * is made for the hole that packets are in on average, where packets outside of holes count as in one of none.
 */
#ifndef RAPID_COALESCING_H
#define RAPID_COALESCING_H

#include "frame.h"
#include "state.h"

/* A packet belongs to a batch if it arrives within 1/8 of its send gap. */
#define RAPID_BATCH_GAP_PART 8
/* A receive gap of more than the send gaps of two packets separates two batches, and measures their period. */
#define RAPID_BATCH_PAUSE_GAPS 2
/* A longer pause counts as this: coalescing timers are far shorter, so something else paused. */
#define RAPID_BATCH_PAUSE_MAX_NS 10000000
/* No pause is as long. */
#define RAPID_NO_PAUSE (~0U)
/* Weight of one packet in the average of how often packets are batched: it takes about a hundred. */
#define RAPID_BATCHED_WEIGHT_Q16 RAPID_Q16(10)
/* Weight of one pause in the period: it takes about twenty. */
#define RAPID_BATCH_PERIOD_WEIGHT_Q16 RAPID_Q16(50)
/* A receiver coalesces if more than a quarter of its packets came in a batch; fewer do by chance. */
#define RAPID_BATCHED_MIN_Q16 (RAPID_ONE / 4)

/* What a link or card does with more than 5/8 of the packets in batches may be frames. */
#define RAPID_FRAMED_MIN_Q16 (RAPID_ONE * 5 / 8)
/* Frames have grown if they take half as long again as the shortest: a card's timer varies less. */
#define RAPID_FRAME_GROWN(least) ((least) * 3 / 2)
/* A flow has the path for itself if it has 7/8 of the capacity that its slopes show. */
#define RAPID_SOLE_Q16 (RAPID_ONE * 7 / 8)
/*
 * What of a longer pause is excused: a quarter stays, so that a queue that grows is seen. Flows of unequal round trips share a link of
 * frames only if they excuse the same: so the bound is 1 ms from round trips of 8 ms on.
 */
#define RAPID_FRAME_EXCUSED(longer) ((longer) * 3 / 4)
#define RAPID_FRAME_EXCUSED_ROUND_PART 8
#define RAPID_FRAME_EXCUSED_MAX_NS 1000000

/* Half of a usual level (measure.h): it keeps a stamp where fewer are missing in a row. */
#define RAPID_HOLE_LEAST 8
/* A longer hole counts as this. */
#define RAPID_HOLE_MOST (1 << 15)
/* Weight of one packet in the average hole: it takes about five hundred. */
#define RAPID_HOLE_WEIGHT_Q16 RAPID_Q16(2)

/* A packet has a stamp; those since the last that had one and have arrived, too, are a hole. */
RAPID_FN void rapid_note_hole(struct rapid_envelope *e)
{
	u64 hole = e->untold >= RAPID_HOLE_LEAST && RAPID_HAS(HOLES) ? rapid_min(e->untold, RAPID_HOLE_MOST) : 0;

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
	e->paused &= sent_gap > 0 && gap >= 0;
	if (sent_gap <= 0 || gap < 0)
		return;
	if (gap < sent_gap / RAPID_BATCH_GAP_PART) {
		e->batched = (u32)rapid_average(e->batched, RAPID_ONE, RAPID_BATCHED_WEIGHT_Q16);
		return;
	}
	e->batched = (u32)rapid_average(e->batched, 0, RAPID_BATCHED_WEIGHT_Q16);
	if (step > 1) /* else a division for nothing, once per packet */
		sent_gap = rapid_divide(sent_gap, step);
	e->paused = gap > RAPID_BATCH_PAUSE_GAPS * sent_gap;
	gap = rapid_smin(gap, RAPID_BATCH_PAUSE_MAX_NS);
	e->pause_ns = (u32)(e->paused ? rapid_smax(gap - sent_gap, 0) : gap);
	if (!e->paused)
		return;
	e->batch_ns = (u32)rapid_average(e->batch_ns, gap, RAPID_BATCH_PERIOD_WEIGHT_Q16);
	if (e->batched > RAPID_BATCHED_MIN_Q16)
		e->least_pause_ns = (u32)rapid_min(e->least_pause_ns, (u64)gap);
}

/* The period of the receiver's batches; 0 where it does not coalesce. */
RAPID_FN u64 rapid_batch(const struct rapid_envelope *e)
{
	return e->batched > RAPID_BATCHED_MIN_Q16 && RAPID_HAS(BATCHES) ? e->batch_ns : 0;
}

/* The shortest pause between batches in 30-60 s; else RAPID_NO_PAUSE. */
RAPID_FN u32 rapid_least_pause(const struct rapid_envelope *e)
{
	return (u32)rapid_min(e->least_pause_ns, e->least_pause_before_ns);
}

RAPID_FN void rapid_turn_pauses(struct rapid_envelope *e)
{
	e->least_pause_before_ns = e->least_pause_ns;
	e->least_pause_ns = RAPID_NO_PAUSE;
}

/* By how much a pause is longer than the shortest, where a link makes frames. */
RAPID_FN u64 rapid_frame_growth(const struct rapid_envelope *e, u64 pause)
{
	u64 least = rapid_least_pause(e);

	return RAPID_HAS(FRAMES) && e->batched > RAPID_FRAMED_MIN_Q16 && pause > RAPID_FRAME_GROWN(least) ? pause - least : 0;
}

/* The delay of a packet of `s` that has just been noted, without what its frame excuses. */
RAPID_STAGE s64 rapid_less_frame(const struct rapid *law, struct rapid_stream *s, s64 delay)
{
	const struct rapid_envelope *e;
	u64 longer, most;

	if (!law || !s)
		return delay;
	e = &law->envelope;
	longer = e->paused ? rapid_frame_growth(e, e->pause_ns) : 0;
	if (RAPID_HAS(FRAMES) && e->batched <= RAPID_FRAMED_MIN_Q16 && e->sole && rapid_least_pause(e) != RAPID_NO_PAUSE)
		longer = e->pause_ns;
	if (!longer)
		return delay;
	most = (u64)rapid_difference((u64)delay, (u64)rapid_smin(delay, rapid_minimum_of(&e->delay)));
	most = rapid_min(most, rapid_min(law->flow.rtt_ns / RAPID_FRAME_EXCUSED_ROUND_PART, RAPID_FRAME_EXCUSED_MAX_NS));
	most = rapid_min(most, RAPID_FRAME_EXCUSED(longer));
	s->excused_ns = (u32)rapid_max(s->excused_ns, most);
	return delay - (s64)most;
}

#endif
