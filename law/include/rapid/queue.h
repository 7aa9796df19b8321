/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The queue on the path: how long it is, how fast it grows, and what it and loss
 * take from the target of the default law (envelope.h).
 *
 * The queue is the smallest delay of a stream above the base, the smallest delay
 * of the last 30-60 s (envelope.h, choices 3 and 4). Corrections only lower the
 * target:
 *
 *     drain      a standing queue lowers it by at most `drain_cap`
 *     overload   a queue that still grows caps it at the rate received
 *     loss       counts where a queue confirms it, or alone above 8 %
 *
 * and a stream that lost 30 % cuts the rate at once.
 */
#ifndef RAPID_QUEUE_H
#define RAPID_QUEUE_H

#include "coalescing.h"

/* The base delay is the smallest of the present bucket and the one before, so of 30-60 s: envelope.h, choice 3. */
#define RAPID_BASE_BUCKET_NS (30 * RAPID_NS_PER_S)
/* The growth of the queue is averaged over 1/4 of a round trip, as the rate is (envelope.h). */
#define RAPID_GROWTH_PER_ROUND 4
/* A stream is quiet if its half-levels waited within 1/32 of a round trip of each other. */
#define RAPID_QUIET_PART 32
/*
 * Loss is averaged over a round trip, and over as many packets as can tell 3 % from none where a stream lasts longer than a round
 * trip: below 16 packets per round trip. A flow at its floor can do with no less: there a stream counts as it is. A stream that lost
 * all its packets does not count: it tells of an outage.
 */
#define RAPID_LOSS_PER_ROUND 1
#define RAPID_LOSS_PACKETS 32
#define RAPID_LOSS_FEW_PACKETS 16
/*
 * Where a flow loses more than 12 %, and lost some of its last stream, the floor of its rate falls with what is lost, to one packet per
 * round trip: below that a flow hears too seldom that a crowd, or a burst, has gone. (CUBIC has two packets per round trip where 15 %
 * is lost at random.)
 */
#define RAPID_FLOOR_PACKETS_LEAST 1
#define RAPID_FLOOR_LOSS_Q16 RAPID_Q16(120)

/*
 * The queue that streams and stamps make by themselves: two packets, 1 us, and 1/10 of a batch's period. Two packets of a slow flow
 * are a third of its round trip: while a flow above its floor loses more than a queue may, they are no excuse.
 */
#define RAPID_TOLERATED_PACKETS 2
#define RAPID_TOLERATED_NS 1000
#define RAPID_TOLERATED_BATCH_PART 10

/* A queue grows if its delay rises by more than 2 % of the time that passes. */
#define RAPID_GROWING_Q16 RAPID_Q16(20)
/*
 * The drain lowers the target by 2/3 of the queue's part of a round trip: 2/3 of it would go in one. With the cap of 7 %
 * one flow drains 0.124 s of queue per second, n = 4 0.053 (docs/theory.md, `packetscale theory rapid`).
 */
#define RAPID_DRAIN_TIMES 2
#define RAPID_DRAIN_PART 3
/* Loss that a queue confirms counts above 0.5 %; any loss, which may be the line's own, above 8 %. */
#define RAPID_LOSS_QUEUED_Q16 RAPID_Q16(5)
#define RAPID_LOSS_ALONE_Q16 RAPID_Q16(80)
/* Heavy loss: two packets (one may be chance) and 30 % of a stream. The rate keeps at least a quarter. */
#define RAPID_HEAVY_LOSS_PACKETS 2
#define RAPID_HEAVY_LOSS_Q16 RAPID_Q16(300)
#define RAPID_HEAVY_LOSS_KEEPS_Q16 (RAPID_ONE / 4)
/* Of streams that the application cut short, so many packets are judged together: two of three lost would be chance. */
#define RAPID_CUT_PACKETS 16

/* A queue that stands still although the path seems to have room for 3 % more, for eight round trips and streams. */
#define RAPID_DOUBT_ROOM_Q16 RAPID_Q16(1030)
#define RAPID_DOUBT_STREAMS 9
#define RAPID_DOUBT_ROUNDS 8
/*
 * It is none if it does not move either while the flow sends three quarters. That must take more than two packets out of the queue
 * also where others have most of the path: for four round trips, and longer where it has few packets. Not tried are: below eight
 * packets per round trip, where a queue hides behind two of them; from 64 on, where a stream sees its own queue; and a queue of more than
 * half a round trip, since the flow's window is that of the shorter path.
 */
#define RAPID_DOUBT_KEEPS_Q16 (RAPID_ONE * 3 / 4)
#define RAPID_DOUBT_TEST_ROUNDS 4
#define RAPID_DOUBT_TEST_PACKETS 256
#define RAPID_DOUBT_PACKETS 8
#define RAPID_DOUBT_PACKETS_MANY 64
#define RAPID_DOUBT_TEST_PART 2

/* The standing queue: the delay says how long; the round trip bounds what drifting clocks invent. */
RAPID_FN u64 rapid_standing_queue(const struct rapid *law, const struct rapid_stream *s)
{
	const struct rapid_envelope *e = &law->envelope;
	s64 by_delay, by_rtt;

	if (s->delay == RAPID_UNSEEN || s->rtt_ns == ~0ULL)
		return e->queue_ns;
	by_delay = rapid_difference((u64)s->delay, (u64)rapid_minimum_of(&e->delay));
	by_rtt = rapid_difference(s->rtt_ns, (u64)rapid_minimum_of(&law->flow.rtt));
	return (u64)rapid_sclamp(rapid_smin(by_delay, by_rtt), 0, (s64)RAPID_RTT_CEILING_NS);
}

/*
 * Whether the packets of a stream waited for nearly the same time: the half-levels above, which must all have a stamp, and the least of
 * all, without what frames excuse. A crowd's queue is not that quiet, also where a flow has never seen it empty.
 */
RAPID_FN int rapid_is_quiet(const struct rapid *law, const struct rapid_stream *s)
{
	s64 high = s->delay;
	u32 told = 1;

	for (u32 k = 0; k < RAPID_EDGES; k++) {
		told &= s->low[k] != RAPID_UNSEEN;
		high = rapid_smax(high, s->low[k]);
	}
	return told && rapid_difference((u64)high, (u64)s->delay) + s->excused_ns < (s64)(law->flow.rtt_ns / RAPID_QUIET_PART);
}

/* How fast the lowest delay rises from stream to stream, Q16. */
RAPID_FN void rapid_note_growth(struct rapid *law, const struct rapid_stream *s, u64 duration)
{
	struct rapid_envelope *e = &law->envelope;
	u64 centre = s->start_ns + duration / 2;

	if (s->delay == RAPID_UNSEEN)
		return;
	if (e->stream_centre_ns && centre > e->stream_centre_ns) {
		s64 slope = rapid_slope(rapid_difference((u64)s->delay, (u64)e->stream_delay), centre - e->stream_centre_ns);

		e->growth = rapid_average(e->growth, slope, rapid_weight(RAPID_GROWTH_PER_ROUND, duration, law->flow.rtt_ns));
	}
	if (centre >= e->stream_centre_ns) {
		e->stream_centre_ns = centre;
		e->stream_delay = s->delay;
	}
}

/* Whether a flow has no more packets per round trip than its floor. */
RAPID_FN int rapid_is_at_floor(const struct rapid *law)
{
	return rapid_window_packets(&law->flow) <= RAPID_FLOOR_PACKETS;
}

RAPID_FN void rapid_note_loss(struct rapid *law, const struct rapid_stream *s, u64 duration)
{
	struct rapid_envelope *e = &law->envelope;
	u64 weight = rapid_weight(RAPID_LOSS_PER_ROUND, duration, law->flow.rtt_ns);

	if (s->lost >= s->sent)
		return;
	if (!rapid_is_at_floor(law) && rapid_window_packets(&law->flow) < RAPID_LOSS_FEW_PACKETS)
		weight = rapid_min(weight, ((u64)s->sent << 16) / RAPID_LOSS_PACKETS);
	e->loss = rapid_average(e->loss, rapid_fraction(s->lost, s->sent), weight);
	e->losing = s->lost > 0;
}

/* Whether a pace of the receiver's clock was found (skew.h) while a stream was under way: its delays are then of two clocks. */
RAPID_FN int rapid_is_of_two_clocks(const struct rapid *law, const struct rapid_stream *s)
{
	return law->skew.pace && s->start_ns < law->skew.found_ns;
}

/* What every stream says, whatever its kind: the queue, its growth, and loss. */
RAPID_STAGE int rapid_note_queue(struct rapid *law, const struct rapid_stream *s, u64 now, u64 duration)
{
	struct rapid_envelope *e;

	if (!law || !s)
		return 0;
	e = &law->envelope;
	if (now - e->bucket_ns >= RAPID_BASE_BUCKET_NS && law->contest_stage < RAPID_CONTENDS) {
		rapid_minimum_turn(&e->delay);
		rapid_minimum_turn(&law->flow.rtt);
		rapid_turn_pauses(e);
		e->bucket_ns = now;
	}
	if (s->delay != RAPID_UNSEEN && !rapid_is_of_two_clocks(law, s))
		rapid_minimum_take(&e->delay, s->delay);
	e->queue_ns = rapid_standing_queue(law, s);
	if (s->kind != RAPID_CHIRP && s->delay != RAPID_UNSEEN)
		law->quiet_rtt_ns = rapid_is_quiet(law, s) ? rapid_above(s->rtt_ns, e->queue_ns) : 0;
	rapid_note_growth(law, s, duration);
	rapid_note_loss(law, s, duration);
	return 1;
}

/* The queue that stamps make by themselves, */
RAPID_FN u64 rapid_stamped_queue(const struct rapid *law)
{
	return RAPID_TOLERATED_NS + rapid_batch(&law->envelope) / RAPID_TOLERATED_BATCH_PART;
}

/* and with streams. */
RAPID_FN u64 rapid_tolerated_queue(const struct rapid *law, u64 rate)
{
	return rapid_gap_ns(RAPID_TOLERATED_PACKETS * law->flow.packet, rate) + rapid_stamped_queue(law);
}

/* What of it is no reason to hold back. */
RAPID_FN u64 rapid_excused_queue(const struct rapid *law, u64 rate)
{
	u64 packets = rapid_gap_ns(RAPID_TOLERATED_PACKETS * law->flow.packet, rate);
	int lossy = law->envelope.loss > RAPID_LOSS_QUEUED_Q16 && !rapid_is_at_floor(law);

	return rapid_above(rapid_tolerated_queue(law, rate), lossy ? packets : 0);
}

/* The rate that a flow keeps whatever happens. */
RAPID_FN u64 rapid_floor(const struct rapid *law)
{
	const struct rapid_envelope *e = &law->envelope;
	u64 floor = rapid_flow_floor(&law->flow);
	u64 least = floor * RAPID_FLOOR_PACKETS_LEAST / RAPID_FLOOR_PACKETS;

	if (!e->losing || e->loss <= RAPID_FLOOR_LOSS_Q16)
		return floor;
	return rapid_max(least, floor * RAPID_FLOOR_LOSS_Q16 / (u64)e->loss);
}

RAPID_FN void rapid_set_rate(struct rapid *law, u64 rate)
{
	rapid_flow_set_rate(&law->flow, rapid_max(rate, rapid_floor(law)));
}

/* Drain, overload and loss: what may only lower the target. Returns the target that is left. */
RAPID_STAGE u64 rapid_hold_back(const struct rapid *law, u64 target, u64 rate)
{
	const struct rapid_envelope *e;
	u64 kept, queue, delivered;

	if (!law)
		return 0;
	e = &law->envelope;
	kept = RAPID_ONE - law->tuning.margin;
	queue = rapid_above(e->queue_ns, rapid_excused_queue(law, rate));
	delivered = (u64)rapid_sclamp(RAPID_ONE - e->loss, 0, RAPID_ONE);
	if (queue && e->growth > RAPID_GROWING_Q16)
		target = rapid_min(target, rapid_scale(rate, kept) * RAPID_ONE / (u64)(RAPID_ONE + e->growth));
	if (queue) {
		u64 share = RAPID_DRAIN_TIMES * RAPID_ONE * rapid_min(queue, law->flow.rtt_ns);
		u64 drain = share / (RAPID_DRAIN_PART * law->flow.rtt_ns);

		target = rapid_scale(target, RAPID_ONE - rapid_min(law->tuning.drain_cap, drain));
	}
	if (queue && e->loss > RAPID_LOSS_QUEUED_Q16)
		target = rapid_min(target, rapid_scale(rapid_scale(rate, kept), delivered));
	if (e->loss > RAPID_LOSS_ALONE_Q16)
		target = rapid_min(target, rapid_scale(rate, delivered));
	return target;
}

/* What losses are a part of. A stream that was cut short counts as one of 16 packets at least, as most are. */
RAPID_FN u32 rapid_sent_of(const struct rapid_stream *s)
{
	return s->app_limited ? (u32)rapid_max(s->sent, RAPID_CUT_PACKETS) : s->sent;
}

/*
 * A stream that lost 30 % cuts the rate at once, even without an estimate. Those that were cut short count together until they
 * are 16 packets.
 */
RAPID_FN void rapid_heed_heavy_loss(struct rapid *law, const struct rapid_stream *s, u64 rate)
{
	u32 sent = s->sent, packets = s->lost;
	u64 kept;
	s64 lost;

	if (s->app_limited) {
		sent += law->cut_sent;
		packets += law->cut_lost;
		law->cut_sent = sent < RAPID_CUT_PACKETS ? (u16)sent : 0;
		law->cut_lost = sent < RAPID_CUT_PACKETS ? (u16)packets : 0;
		if (sent < RAPID_CUT_PACKETS)
			return;
	}
	lost = rapid_fraction(packets, sent);
	kept = rapid_max(RAPID_HEAVY_LOSS_KEEPS_Q16, (u64)(RAPID_ONE - lost));
	if (packets >= RAPID_HEAVY_LOSS_PACKETS && lost >= RAPID_HEAVY_LOSS_Q16)
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

/*
 * A queue that does not move by two packets in eight round trips and nine streams, while the path seems to have room for 3 % more,
 * may be none: the path may have become longer. Then the law takes it as it is; but a flow of 8 to 64 packets per round trip, W with
 * the queue, first sends three quarters of its rate for 4 + 256 / W of the round trips without it. If the queue moves, it was one, and
 * the rate is again what it was. Returns the target that is left.
 *
 * Why: a flow with a small part of the capacity and few packets sees room where there is none (envelope.h, RAPID_CONGESTED_Q16). Alone
 * beside constant traffic of 80 % of 50 Mbit/s it took its own queue for a longer path every few seconds, up to 77 ms in two minutes.
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
		if (e->doubts < RAPID_DOUBT_STREAMS || since < RAPID_DOUBT_ROUNDS * law->flow.rtt_ns)
			return target;
		longer = e->queue_ns > law->flow.rtt_ns / RAPID_DOUBT_TEST_PART || window < RAPID_DOUBT_PACKETS ||
			 window >= RAPID_DOUBT_PACKETS_MANY;
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
