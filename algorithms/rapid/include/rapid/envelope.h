/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The default law: lower envelopes of delay, a proportional margin.
 *
 * A stream rises through four levels r_0..r_3 around the mean rate R. Of each
 * half-level only the smallest delay d = arrival - departure is kept. It ignores
 * coalesced interrupts, holes and delayed acknowledgments, costs a comparison
 * per packet, and needs no array. Where a level of rate r loads the path beyond
 * what is available, A, of a capacity C, d rises with slope (r - A) / C:
 *
 *     slope2 = (d(3, first half)  - d(2, first half)) / duration of level 2
 *     slope3 = (d(3, second half) - d(3, first half)) / half the duration of level 3
 *
 * Two slopes give C (the line through them) and A (where it meets zero), hence
 * the share s = R / C of this flow. The rate then moves towards a target that is
 * built from one stream alone, its own mean rate R_s and what it saw:
 *
 *     X = R_s (1 + G ((1 - m) A / R_s - 1)),   G = min(0.7, s + 0.15)
 *     R = R + min(1, 4 dt / T) (X - R)
 *
 * Because X is absolute, the many streams of one round trip do not compound. In
 * the fluid limit (1 - m) A alone makes equal shares the only equilibrium, with
 * an empty queue: R_i = h (1 - m) / m with the same spare capacity h for all.
 *
 * Then three corrections, all on X: a standing queue q lowers it by at most 7 %
 * (the drain); a queue that still grows caps it at the rate received; loss
 * counts where it rises with the probing rate, or when a queue confirms it, or
 * above 8 %. A stream that lost 30 % cuts the rate at once.
 *
 * Choices beyond the above:
 *  1. The mean rate of a stream is what was sent over how long it took, as
 *     recorded. A host that cannot keep up therefore does not run away with R.
 *  2. A stream during which the application had nothing to send, or which took
 *     over 9/8 of its plan, does not have the levels that its slopes need: it
 *     gives no estimate. Such a stream of a sender that is late (not idle) still
 *     pulls R towards the top level of what was really sent. R otherwise stays.
 *  3. The base delay is the smallest of 30-60 s. With 5-10 s, ten flows that enter
 *     a second apart never see an empty queue together: the early ones forget
 *     the base, the late ones take the queue for it and starve the early ones
 *     (Jain 0.45 and 20 ms of queue instead of 0.97 and 0.3 ms). Clocks that drift
 *     by 50 ppm invent 3 ms in a minute, which the round trip bounds. No
 *     periodic deeper drain is made.
 *  4. A path that becomes longer would look like a queue for that minute. A
 *     queue that stays within two packets for eight round trips although there is
 *     room to drain it is taken for the new base.
 *  5. Windows below 16 packets make streams longer than a round trip: 4 levels of
 *     4 packets, weight one per stream. The floor is two packets per round trip as
 *     it now is: on a path shorter than a packet's own time (two hosts in one
 *     machine) two packets per smallest round trip can be many times the capacity.
 *
 * Not reached, measured with the exact bottleneck of tests/ (three seeds where
 * flows share):
 *  - at 400 Gbit/s with 1500 B, 99 % of packets wait less than 22 packet times,
 *    not 16: a level must last 5 us for stamps of 100 ns, and is 170 packets.
 *  - ten flows of 100 ms round trip are still converging five seconds after the
 *    last has entered (Jain 0.78 to 0.97 by seed and spacing of entries; 0.95 to
 *    0.99 after fifteen), and ten flows keep a cycle of 0 to 5 ms of queue: their gains sum to 2.5.
 *  - after others take 30 % of a path, the rate stays at 0.87 of what is left while
 *    the queue that the step made drains, about eight round trips.
 * Not measured here: against traffic that fills deep buffers the law must yield,
 * since what it drains they take; clocks that drift; several bottlenecks.
 */
#ifndef RAPID_ENVELOPE_H
#define RAPID_ENVELOPE_H

#include "frame.h"

#define RAPID_Q16(thousandths) ((thousandths) * 65536LL / 1000)

RAPID_FN const struct rapid_ladder *rapid_ladder_of(const struct rapid *law, u32 wide)
{
	return wide ? &law->wide : &law->narrow;
}

/*
 * Coalescing: a packet that arrives within an eighth of its send gap belongs to
 * a batch; the gaps between batches give their period.
 */
RAPID_FN void rapid_note_batch(struct rapid_envelope *e, u64 sent, u64 arrival)
{
	s64 sent_gap = rapid_difference(sent, e->last_sent_ns);
	s64 gap = rapid_difference(arrival, e->last_arrival_ns);

	e->last_sent_ns = sent;
	e->last_arrival_ns = arrival;
	if (sent_gap <= 0 || gap < 0)
		return;
	if (gap < sent_gap / 8) {
		e->batched = (u32)rapid_average(e->batched, RAPID_ONE, RAPID_Q16(10));
	} else {
		e->batched = (u32)rapid_average(e->batched, 0, RAPID_Q16(10));
		if (gap > 2 * sent_gap)
			e->batch_ns = (u64)rapid_average((s64)e->batch_ns, rapid_smin(gap, 10000000), RAPID_Q16(50));
	}
}

RAPID_FN u64 rapid_batch(const struct rapid_envelope *e) { return e->batched > RAPID_ONE / 4 ? e->batch_ns : 0; }

/*
 * Packets per level: 16, up to 64 in large windows, down to 4 in small ones; at
 * least 50 stamp errors; half a level covers a batch of a coalescing receiver;
 * and of random length, so that flows do not lock in phase.
 */
RAPID_FN u32 rapid_level_length(struct rapid *law)
{
	u64 window = rapid_window_packets(law), packet = law->params.packet;
	u64 n = rapid_min(rapid_clamp(window / 256, 16, 64), rapid_max(4, window / 16));
	u64 batch = 3 * rapid_bytes_in(law->rate, rapid_batch(&law->envelope)) / packet;

	n = rapid_max(n, rapid_bytes_in(law->rate, law->params.level_min_ns) / packet);
	n = rapid_max(n, rapid_min(batch, window / 8));
	n = rapid_min(n, 12000);
	if (n >= 8) {
		u64 reach = n / 4;

		n = n - reach + (((2 * reach + 1) * (u64)rapid_random(&law->random)) >> 32);
	}
	return (u32)rapid_max(2, n & ~1ULL);
}

/* Opens the next probe stream. */
RAPID_FN void rapid_probe_open(struct rapid *law, const struct rapid_memory *memory)
{
	struct rapid_stream *s = rapid_open(law, memory, RAPID_PROBE, law->rate, rapid_level_length(law));

	if (s)
		s->wide = law->envelope.wide;
}

RAPID_FN u64 rapid_probe_rate(const struct rapid *law, const struct rapid_stream *s, u32 level)
{
	const struct rapid_ladder *ladder = rapid_ladder_of(law, s->wide);

	return s->kind == RAPID_PROBE && level < RAPID_LEVELS_MAX ? rapid_scale(s->rate, ladder->x[level]) : s->rate;
}

/* Keeps the envelope of a stream. */
RAPID_FN void rapid_envelope_sample(struct rapid_stream *s, u32 level, u32 half, s64 delay)
{
	if (level == 2 && !half)
		s->low2 = rapid_smin(s->low2, delay);
	if (level == 3 && !half)
		s->low3a = rapid_smin(s->low3a, delay);
	if (level == 3 && half)
		s->low3b = rapid_smin(s->low3b, delay);
}

/* Standing queue: the delay says how long, the round trip bounds what drifting clocks invent. */
RAPID_FN u64 rapid_standing_queue(const struct rapid_envelope *e, const struct rapid_stream *s)
{
	s64 by_delay, by_rtt;

	if (s->delay == RAPID_UNSEEN || s->rtt_ns == ~0ULL)
		return e->queue_ns;
	by_delay = rapid_difference((u64)s->delay, (u64)rapid_minimum_of(&e->delay));
	by_rtt = rapid_difference(s->rtt_ns, (u64)rapid_minimum_of(&e->rtt));
	return (u64)rapid_sclamp(rapid_smin(by_delay, by_rtt), 0, (s64)RAPID_RTT_CEILING_NS);
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

		e->growth = rapid_average(e->growth, slope, rapid_weight(4, duration, law->rtt_ns));
	}
	if (centre >= e->stream_centre_ns) {
		e->stream_centre_ns = centre;
		e->stream_delay = s->delay;
	}
}

/* Weight of one stream in the slopes: an eighth of a round trip, slower where streams are many or batched. */
RAPID_FN u64 rapid_slope_weight(const struct rapid *law, u64 duration)
{
	u64 w = rapid_weight(8, duration, law->rtt_ns);

	if (duration < law->rtt_ns / 4)
		w = rapid_min(w, RAPID_ONE / 2);
	return rapid_batch(&law->envelope) ? rapid_min(w, RAPID_ONE / 4) : w;
}

/* The slopes, and how much each level lost above the lower two. Gives 0 when a half-level has no stamp. */
RAPID_STAGE int rapid_note_slopes(struct rapid *law, const struct rapid_stream *s, u64 duration)
{
	struct rapid_envelope *e;
	s64 slope2, slope3, base;
	u64 w;

	if (!law || !s)
		return 0;
	e = &law->envelope;
	w = rapid_slope_weight(law, duration);
	if (s->low2 == RAPID_UNSEEN || s->low3a == RAPID_UNSEEN || s->low3b == RAPID_UNSEEN)
		return 0;
	base = rapid_fraction(s->lost - s->lost2 - s->lost3, 2 * s->per_level);
	slope2 = rapid_slope(rapid_difference((u64)s->low3a, (u64)s->low2), s->level3_ns - s->level2_ns);
	slope3 = rapid_slope(rapid_difference((u64)s->low3b, (u64)s->low3a), s->half3_ns - s->level3_ns);
	slope2 += rapid_fraction(s->lost2, s->per_level) - base;
	slope3 += rapid_fraction(s->lost3, s->per_level) - base;

	if (e->slopes_wide != s->wide || e->fresh) {
		e->slope2 = slope2;
		e->slope3 = slope3;
		e->slopes_wide = s->wide;
		e->fresh = 0;
		return 1;
	}
	e->slope2 = rapid_average(e->slope2, slope2, w);
	e->slope3 = rapid_average(e->slope3, slope3, w);
	return 1;
}

/* Slope above which level 3 is congested, Q16: above the noise of a stamp over half a level. */
RAPID_FN s64 rapid_threshold(const struct rapid *law, const struct rapid_stream *s)
{
	u64 noise = law->params.stamp_noise_ns + rapid_batch(&law->envelope) / 32;
	u64 half = rapid_max(s->half3_ns - s->level3_ns, 1);

	return (s64)rapid_clamp((rapid_min(noise, half) << 16) / half, RAPID_Q16(30), RAPID_ONE);
}

/*
 * The share of the capacity, Q16, from the line through both slopes; kept as
 * 2^56 / C because the rate changes between streams, and C does not.
 */
RAPID_FN s64 rapid_note_share(struct rapid *law, const struct rapid_ladder *ladder, u64 rate, u64 w, s64 threshold)
{
	struct rapid_envelope *e = &law->envelope;
	u64 whole = (1ULL << 56) / rate, step = ladder->x[3] - ladder->x[2];
	s64 share = 0;

	if (e->slope3 > threshold && e->slope2 > RAPID_Q16(5))
		share = rapid_divide((e->slope3 - e->slope2) * RAPID_ONE, step);
	else if (e->slope3 > threshold)
		share = rapid_divide(e->slope3 * RAPID_ONE, step);
	share = rapid_smin(share, RAPID_ONE);
	if (share > 0) {
		u64 inverse = ((u64)share << 40) / rate;

		if (e->slope2 > RAPID_Q16(5) || inverse > e->inverse)
			e->inverse = (u64)((s64)e->inverse +
					   rapid_divide(rapid_difference(inverse, e->inverse), 4 * RAPID_ONE / rapid_max(w, 64)));
	}
	e->inverse = rapid_clamp(e->inverse, whole / 1000, whole);
	return (s64)rapid_max((rate * e->inverse) >> 40, RAPID_ONE / 1000);
}

/* Available bandwidth over the mean rate of the stream, Q16; says whether it is the top of the stream. */
RAPID_FN s64 rapid_read_available(const struct rapid *law, const struct rapid_ladder *ladder, s64 share, s64 threshold,
				  u64 rate, u32 *ceiling)
{
	const struct rapid_envelope *e = &law->envelope;
	s64 x2 = ladder->x[2], x3 = ladder->x[3], knee;

	*ceiling = e->slope3 <= threshold &&
		   e->queue_ns < rapid_gap_ns(4 * law->params.packet, rate) + rapid_batch(e) / 5;
	if (*ceiling)
		return x3;
	knee = x3 - rapid_divide(e->slope3 * RAPID_ONE, (u64)share);
	if (knee > x2)
		return rapid_smin(x3, knee);
	return rapid_sclamp(x2 - rapid_divide(e->slope2 * RAPID_ONE, (u64)share), RAPID_ONE / 2, x2);
}

/* The gain, and bolder steps while the path shows no limit: doubled each round trip, up to one. */
RAPID_FN s64 rapid_gain(struct rapid *law, u64 now, s64 share, u32 ceiling)
{
	struct rapid_envelope *e = &law->envelope;
	s64 gain = rapid_smin(law->params.gain_max, share + law->params.gain_offset);

	if (!ceiling) {
		e->at_ceiling = 0;
		e->ceiling_gain = 0;
		e->wide = 0;
		return gain;
	}
	if (!e->at_ceiling) {
		e->at_ceiling = 1;
		e->ceiling_since_ns = e->ceiling_step_ns = now;
	}
	if (now - e->ceiling_step_ns >= law->rtt_ns) {
		e->ceiling_gain = (u32)rapid_min(RAPID_ONE, rapid_max(2 * e->ceiling_gain, (u64)gain));
		e->ceiling_step_ns = now;
	}
	e->wide = now - e->ceiling_since_ns > law->rtt_ns / 4;
	return rapid_smax(gain, e->ceiling_gain);
}

/* Queue that streams and stamps make by themselves. */
RAPID_FN u64 rapid_tolerated_queue(const struct rapid *law, u64 rate)
{
	return rapid_gap_ns(2 * law->params.packet, rate) + 1000 + rapid_batch(&law->envelope) / 10;
}

/* Drain, overload and loss: what may only lower the target. */
RAPID_STAGE u64 rapid_hold_back(const struct rapid *law, u64 target, u64 rate)
{
	const struct rapid_envelope *e;
	u64 kept, queue, delivered;

	if (!law)
		return 0;
	e = &law->envelope;
	kept = RAPID_ONE - law->params.margin;
	queue = rapid_above(e->queue_ns, rapid_tolerated_queue(law, rate));
	delivered = (u64)rapid_sclamp(RAPID_ONE - e->loss, 0, RAPID_ONE);
	if (queue && e->growth > RAPID_Q16(20))
		target = rapid_min(target, rapid_scale(rate, kept) * RAPID_ONE / (u64)(RAPID_ONE + e->growth));
	if (queue) {
		u64 drain = (rapid_min(queue, law->rtt_ns) << 17) / (3 * law->rtt_ns);

		target = rapid_scale(target, RAPID_ONE - rapid_min(law->params.drain_cap, drain));
	}
	if (queue && e->loss > RAPID_Q16(5))
		target = rapid_min(target, rapid_scale(rapid_scale(rate, kept), delivered));
	if (e->loss > RAPID_Q16(80))
		target = rapid_min(target, rapid_scale(rate, delivered));
	return target;
}

RAPID_FN void rapid_set_rate(struct rapid *law, u64 rate)
{
	u64 floor = rapid_rate_of(2 * law->params.packet, rapid_max(law->srtt_ns, law->rtt_ns));

	law->rate = rapid_bound(rapid_max(rate, floor));
	law->window_rate = rapid_max(law->window_rate, law->rate);
}

/*
 * The window follows the rate down over two round trips: what a faster rate has
 * put in flight must not block a slower one.
 */
RAPID_FN void rapid_relax_window(struct rapid *law, u64 duration)
{
	s64 down = rapid_average((s64)law->window_rate, (s64)law->rate, rapid_weight(1, duration, 2 * law->rtt_ns));

	law->window_rate = rapid_max(law->rate, (u64)down);
}

/* A stream that lost 30 %: at once, and even without an estimate. */
RAPID_FN void rapid_heed_heavy_loss(struct rapid *law, const struct rapid_stream *s, u64 rate)
{
	s64 lost = rapid_fraction(s->lost, s->sent);

	if (s->lost >= 2 && lost >= RAPID_Q16(300))
		rapid_set_rate(law, rapid_min(law->rate, rapid_scale(rate, rapid_max(RAPID_ONE / 4, (u64)(RAPID_ONE - lost)))));
}

/*
 * A queue that does not move by two packets in eight round trips and streams,
 * while the path has room for 3 % more (and so would have drained a quarter of a
 * round trip), is none: the path has become longer. Take it as it is.
 */
RAPID_FN void rapid_doubt_base(struct rapid *law, const struct rapid_stream *s, u64 now, s64 alpha, u64 tolerated)
{
	struct rapid_envelope *e = &law->envelope;
	s64 moved = rapid_difference((u64)s->delay, (u64)e->doubt_delay);

	if (e->queue_ns <= tolerated || alpha < RAPID_Q16(1030) || moved > (s64)tolerated || moved < -(s64)tolerated) {
		e->doubt_since_ns = now;
		e->doubt_delay = s->delay;
		e->doubts = 0;
	}
	if (++e->doubts <= 8 || now - e->doubt_since_ns < 8 * law->rtt_ns)
		return;
	e->delay = (struct rapid_minimum){s->delay, RAPID_UNSEEN};
	e->rtt = (struct rapid_minimum){(s64)s->rtt_ns, RAPID_UNSEEN};
	law->rtt_ns = rapid_max(s->rtt_ns, law->params.rtt_floor_ns);
	e->queue_ns = 0;
}

/* What every stream tells, whatever its kind: the queue and its growth. */
RAPID_STAGE int rapid_note_queue(struct rapid *law, const struct rapid_stream *s, u64 now, u64 duration)
{
	struct rapid_envelope *e;

	if (!law || !s)
		return 0;
	e = &law->envelope;
	if (now - e->bucket_ns >= 30 * RAPID_NS_PER_S) {
		rapid_minimum_turn(&e->delay);
		rapid_minimum_turn(&e->rtt);
		e->bucket_ns = now;
	}
	if (s->delay != RAPID_UNSEEN)
		rapid_minimum_take(&e->delay, s->delay);
	e->queue_ns = rapid_standing_queue(e, s);
	rapid_note_growth(law, s, duration);
	e->loss = rapid_average(e->loss, rapid_fraction(s->lost, s->sent), rapid_weight(1, duration, law->rtt_ns));
	return 1;
}

/* Whether the stream has the levels its plan says. A late one only bounds the rate. */
RAPID_FN int rapid_is_as_planned(struct rapid *law, const struct rapid_stream *s, u64 rate, u64 duration)
{
	u64 top;

	if (s->app_limited)
		return 0;
	if (duration <= (s->planned_q10 + s->planned_q10 / 8) >> 10)
		return 1;
	top = rapid_min(law->rate, rapid_scale(rate, rapid_ladder_of(law, s->wide)->x[3]));
	rapid_set_rate(law, (u64)rapid_average((s64)law->rate, (s64)top, rapid_weight(1, s->planned_q10 >> 10, law->rtt_ns)));
	return 0;
}

/* The slopes are known: move the rate. */
RAPID_STAGE int rapid_probe_act(struct rapid *law, const struct rapid_stream *s, u64 now, u64 duration, u64 rate)
{
	const struct rapid_ladder *ladder;
	u64 w, target;
	s64 threshold, share, alpha, gain;
	u32 ceiling = 0;

	if (!law || !s)
		return 0;
	ladder = rapid_ladder_of(law, s->wide);
	w = rapid_slope_weight(law, duration);
	threshold = rapid_threshold(law, s);
	share = rapid_note_share(law, ladder, rate, w, threshold);
	alpha = rapid_read_available(law, ladder, share, threshold, rate, &ceiling);
	if (!law->params.competitive)
		rapid_doubt_base(law, s, now, alpha, rapid_tolerated_queue(law, rate));
	gain = rapid_gain(law, now, share, ceiling);
	law->available = rapid_scale(rate, (u64)alpha);
	law->estimated = 1;

	/* 1 + G ((1 - m) alpha - 1): between 0.5 and 1.3 */
	alpha = (alpha * (RAPID_ONE - (s64)law->params.margin)) >> 16;
	target = rapid_scale(rate, (u64)(RAPID_ONE + ((gain * (alpha - RAPID_ONE) + 32768) >> 16)));
	target = rapid_hold_back(law, target, rate);
	rapid_set_rate(law, (u64)rapid_average((s64)law->rate, (s64)target, rapid_weight(4, duration, law->rtt_ns)));
	return 1;
}

/* A probe stream is complete, its queue noted: read it. */
RAPID_FN void rapid_probe_read(struct rapid *law, const struct rapid_stream *s, u64 now, u64 duration)
{
	u64 rate = rapid_bound(rapid_rate_of(s->bytes, duration));

	rapid_heed_heavy_loss(law, s, rate);
	if (rapid_is_as_planned(law, s, rate, duration) && rapid_note_slopes(law, s, duration))
		rapid_probe_act(law, s, now, duration, rate);
	else
		law->unusable++;
}

#endif
