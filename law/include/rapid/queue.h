/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What a queue on the path and loss (measure.h) take from the target of the default
 * law (envelope.h). These corrections only lower it:
 *
 *     drain      a standing queue lowers it by at most `drain_cap`
 *     overload   a queue that still grows caps it at the rate received
 *     loss       counts where a queue confirms it, or alone above 8 %
 *
 * and a stream that lost 30 % cuts the rate at once.
 */
#ifndef RAPID_QUEUE_H
#define RAPID_QUEUE_H

#include "measure.h"

/*
 * Where a flow loses more than 12 %, and lost some of its last stream, the floor of its rate falls with what is lost, to one packet per
 * round trip: below that a flow hears too seldom that a crowd, or a burst, has gone. (CUBIC has two packets per round trip where 15 %
 * is lost at random.)
 */
#define RAPID_FLOOR_PACKETS_LEAST 1
#define RAPID_FLOOR_LOSS_Q16 RAPID_Q16(120)

/* A queue grows if its delay rises by more than 2 % of the time that passes. */
#define RAPID_GROWING_Q16 RAPID_Q16(20)
/*
 * The drain lowers the target by 2/3 of the queue's part of a round trip: 2/3 of it would go in one. With the cap of 7 %
 * one flow drains 0.124 s of queue per second, n = 4 0.053 (docs/theory.md, `packetscale theory rapid`).
 */
#define RAPID_DRAIN_TIMES 2
#define RAPID_DRAIN_PART 3
/* Loss without a queue, which may be the line's own, counts above 8 %. */
#define RAPID_LOSS_ALONE_Q16 RAPID_Q16(80)
/* Heavy loss: two packets (one may be chance) and 30 % of a stream. The rate keeps at least a quarter. */
#define RAPID_HEAVY_LOSS_PACKETS 2
#define RAPID_HEAVY_LOSS_Q16 RAPID_Q16(300)
#define RAPID_HEAVY_LOSS_KEEPS_Q16 (RAPID_ONE / 4)

/* A queue that stands still although the path seems to have room for 3 % more, for eight round trips and streams. */
#define RAPID_DOUBT_ROOM_Q16 RAPID_Q16(1030)
#define RAPID_DOUBT_STREAMS 9
#define RAPID_DOUBT_ROUNDS 8
/*
 * It is none if it does not move either while the flow sends three quarters. That must take more than two packets out of the queue
 * also where others have most of the path: for four round trips, and longer where it has few packets. Not tried are: below eight
 * packets per round trip, where a queue hides behind two of them; from 64 on with 5/8 of the capacity, where a stream sees its own queue
 * (the least share that a congested stream reads is 3 % / (x3 - x2) = 0.31, whatever the true one is: 5/8 is twice that); and a queue of
 * more than half a round trip, since the flow's window is that of the shorter path.
 */
#define RAPID_DOUBT_KEEPS_Q16 (RAPID_ONE * 3 / 4)
#define RAPID_DOUBT_TEST_ROUNDS 4
#define RAPID_DOUBT_TEST_PACKETS 256
#define RAPID_DOUBT_PACKETS 8
#define RAPID_DOUBT_PACKETS_MANY 64
#define RAPID_DOUBT_SHARE_Q16 (RAPID_ONE * 5 / 8)
#define RAPID_DOUBT_TEST_PART 2

/* What of it is no reason to hold back. */
RAPID_FN u64 rapid_excused_queue(const struct rapid *law, const struct rapid_sight *sight)
{
	u64 packets = rapid_gap_ns(RAPID_TOLERATED_PACKETS * law->flow.packet, sight->rate);
	int lossy = RAPID_HAS(LOSSY_EXCUSE) && sight->loss > RAPID_LOSS_QUEUED_Q16 && !rapid_is_at_floor(law);

	return rapid_above(rapid_tolerated_queue(law, sight->rate), lossy ? packets : 0);
}

/* The rate that a flow keeps whatever happens. */
RAPID_FN u64 rapid_floor(const struct rapid *law)
{
	const struct rapid_envelope *e = &law->envelope;
	u64 floor = rapid_flow_floor(&law->flow);
	u64 least = floor * RAPID_FLOOR_PACKETS_LEAST / RAPID_FLOOR_PACKETS;

	if (!e->losing || e->loss <= RAPID_FLOOR_LOSS_Q16 || !RAPID_HAS(CROWD_FLOOR))
		return floor;
	return rapid_max(least, floor * RAPID_FLOOR_LOSS_Q16 / (u64)e->loss);
}

RAPID_FN void rapid_set_rate(struct rapid *law, u64 rate)
{
	rapid_flow_set_rate(&law->flow, rapid_max(rate, rapid_floor(law)));
}

/* Drain, overload and loss: what may only lower the target. Returns the target that is left. */
RAPID_STAGE u64 rapid_hold_back(const struct rapid *law, const struct rapid_sight *sight, u64 target)
{
	u64 kept, queue, delivered;

	if (!law || !sight)
		return 0;
	kept = rapid_scale(sight->rate, RAPID_ONE - law->tuning.margin);
	queue = rapid_above(sight->queue_ns, rapid_excused_queue(law, sight));
	delivered = (u64)rapid_sclamp(RAPID_ONE - sight->loss, 0, RAPID_ONE);
	if (queue && sight->growth > RAPID_GROWING_Q16 && RAPID_HAS(OVERLOAD_CAP))
		target = rapid_min(target, kept * RAPID_ONE / (u64)(RAPID_ONE + sight->growth));
	if (queue && RAPID_HAS(DRAIN)) {
		u64 share = RAPID_DRAIN_TIMES * RAPID_ONE * rapid_min(queue, law->flow.rtt_ns);
		u64 drain = share / (RAPID_DRAIN_PART * law->flow.rtt_ns);

		target = rapid_scale(target, RAPID_ONE - rapid_min(law->tuning.drain_cap, drain));
	}
	if (queue && sight->loss > RAPID_LOSS_QUEUED_Q16 && RAPID_HAS(LOSS_QUEUED))
		target = rapid_min(target, rapid_scale(kept, delivered));
	if (sight->loss > RAPID_LOSS_ALONE_Q16 && RAPID_HAS(LOSS_ALONE))
		target = rapid_min(target, rapid_scale(sight->rate, delivered));
	return target;
}

/* A stream that lost 30 % cuts the rate at once, even without an estimate. */
RAPID_FN void rapid_heed_heavy_loss(struct rapid *law, const struct rapid_stream *s, u64 rate)
{
	s64 lost = rapid_fraction(s->lost, s->sent);
	u64 kept = rapid_max(RAPID_HEAVY_LOSS_KEEPS_Q16, (u64)(RAPID_ONE - lost));

	if (s->lost >= RAPID_HEAVY_LOSS_PACKETS && lost >= RAPID_HEAVY_LOSS_Q16 && RAPID_HAS(HEAVY_LOSS))
		rapid_set_rate(law, rapid_min(law->flow.rate, rapid_scale(rate, kept)));
}

/* The path is as long as this stream's delay says, and has no queue. */
RAPID_FN void rapid_rebase(struct rapid *law, const struct rapid_stream *s)
{
	struct rapid_envelope *e = &law->envelope;

	e->delay = (struct rapid_minimum){s->delay, RAPID_UNSEEN};
	law->flow.rtt = (struct rapid_minimum){(s64)s->rtt_ns, RAPID_UNSEEN};
	law->flow.rtt_ns = rapid_max(s->rtt_ns, law->flow.rtt_floor_ns);
	e->queue_ns = 0;
}

/* The trial is over: the rate is what it was. */
RAPID_FN void rapid_end_trial(struct rapid *law)
{
	if (law->doubt_rate)
		rapid_set_rate(law, rapid_max(law->flow.rate, law->doubt_rate * RAPID_ONE / RAPID_DOUBT_KEEPS_Q16));
	law->doubt_rate = 0;
	law->envelope.doubts = 0;
}

/* Whether a stream of the flow shows its own queue: it has many packets and most of the capacity. */
RAPID_FN int rapid_sees_itself(const struct rapid *law, u64 window)
{
	u64 least = rapid_scale(RAPID_INVERSE_ONE / rapid_max(law->flow.rate, 1), RAPID_DOUBT_SHARE_Q16);

	return window >= RAPID_DOUBT_PACKETS_MANY && law->envelope.inverse >= least;
}

/*
 * A queue that does not move by two packets in eight round trips and nine streams, while the path seems to have room for 3 % more,
 * may be none: the path may have become longer. Then the law takes it as it is; but a flow that is not sure to see its own queue first
 * sends three quarters of its rate for 4 + 256 / W of the round trips without it, W with the queue. If the queue moves, it was one, and
 * the rate is again what it was. Returns the target that is left.
 *
 * Why: a flow with a small part of the capacity sees room where there is none (measure.h, RAPID_CONGESTED_Q16). Alone beside constant
 * traffic of 80 % of 50 Mbit/s it took its own queue for a longer path every few seconds, up to 77 ms in two minutes.
 */
RAPID_FN u64 rapid_doubt_base(struct rapid *law, const struct rapid_stream *s, u64 now, s64 alpha, u64 tolerated, u64 target)
{
	struct rapid_envelope *e = &law->envelope;
	s64 moved = rapid_difference((u64)s->delay, (u64)e->doubt_delay);
	u64 window = rapid_bytes_in(law->flow.rate, law->flow.rtt_ns + e->queue_ns) / law->flow.packet, since;
	u32 longer;

	if (e->queue_ns <= tolerated || (!law->doubt_rate && alpha < RAPID_DOUBT_ROOM_Q16) || moved > (s64)tolerated ||
	    moved < -(s64)tolerated) {
		e->doubt_since_ns = now;
		e->doubt_delay = s->delay;
		rapid_end_trial(law);
		return target;
	}
	since = now - e->doubt_since_ns;
	e->doubts = (u8)rapid_min(e->doubts + 1, RAPID_DOUBT_STREAMS);
	if (law->doubt_rate) {
		u64 rounds = RAPID_DOUBT_TEST_ROUNDS + RAPID_DOUBT_TEST_PACKETS / rapid_max(window, RAPID_DOUBT_PACKETS);

		longer = since >= rounds * law->flow.rtt_ns;
	} else {
		if (!RAPID_HAS(LONGER) || e->doubts < RAPID_DOUBT_STREAMS || since < RAPID_DOUBT_ROUNDS * law->flow.rtt_ns)
			return target;
		longer = e->queue_ns > law->flow.rtt_ns / RAPID_DOUBT_TEST_PART || window < RAPID_DOUBT_PACKETS ||
			 rapid_sees_itself(law, window) || !RAPID_HAS(STILL_TRIAL);
		e->doubt_since_ns = now;
		law->doubt_rate = rapid_scale(law->flow.rate, RAPID_DOUBT_KEEPS_Q16);
	}
	if (longer) {
		rapid_rebase(law, s);
		rapid_end_trial(law);
		return target;
	}
	return law->doubt_rate;
}

#endif
