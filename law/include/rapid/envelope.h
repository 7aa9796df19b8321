/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The default law: lower envelopes of delay, and a proportional margin.
 *
 * A stream rises through four levels r_0..r_3 around the mean rate R. Of each
 * half-level the law keeps only the smallest delay d = arrival - departure. This
 * ignores coalesced interrupts, holes and delayed acknowledgments, costs one
 * comparison per packet, and needs no array. Where a level of rate r loads a path of
 * capacity C beyond what is available, A, d rises with slope (r - A) / C:
 *
 *     slope2 = (d(3, first half)  - d(2, first half)) / duration of level 2
 *     slope3 = (d(3, second half) - d(3, first half)) / half the duration of level 3
 *
 * Two slopes give C (the line through them) and A (where the line meets zero), and
 * so the share s = R / C of this flow. The rate then moves towards a target that
 * depends on one stream alone, its own mean rate R_s and what it saw:
 *
 *     X = R_s (1 + G ((1 - m) A / R_s - 1)),   G = min(0.7, s + 0.15)
 *     R = R + min(1, 4 dt / T) (X - R)
 *
 * Because X is absolute, the many streams of one round trip do not compound. In
 * the fluid limit (1 - m) A alone makes equal shares the only equilibrium, with
 * an empty queue: R_i = h (1 - m) / m with the same spare capacity h for all. (What
 * the fluid does there, and why four flows and more go past it and cycle: docs/theory.md.)
 *
 * Where a stream meets no limit and the path is empty, a flow of less than a quarter of C adds
 * C (1 - 4 s)^2 / 70 besides, a quarter of its rate at most (half, if it has few packets), so that
 * a newcomer gets its part beside bursts, too. This C counts streams that say s < 0 as s = 0.
 * Then three corrections lower X (queue.h): a standing queue q lowers it by at most
 * 7 % (the drain); a queue that still grows caps it at the rate received; loss
 * counts where it rises with the probing rate, or when a queue confirms it, or
 * above 8 %. A stream that lost 30 % cuts the rate at once.
 *
 * Choices beyond the above:
 *  1. The mean rate of a stream is what was sent over how long it took, as
 *     recorded. So R does not run away on a host that cannot keep up.
 *  2. A stream gives no estimate if the application had nothing to send during it,
 *     or if it took over 9/8 of its plan: it does not have the levels that its
 *     slopes need. If its sender was late (not idle), it still pulls R towards the
 *     top level of what was really sent, and asks whether the path is longer (4).
 *     R otherwise stays. A pause of a round trip ends the stream, so that what follows
 *     has one of its own.
 *  3. The base delay is the smallest of 30-60 s. With 5-10 s, ten flows that enter
 *     a second apart never see an empty queue together: the early ones forget
 *     the base, the late ones take the queue for it and starve the early ones
 *     (Jain 0.45 and 20 ms of queue instead of 0.97 and 0.3 ms). Clocks that drift
 *     by 50 ppm invent 3 ms in a minute, which the round trip bounds. There is no
 *     periodic deeper drain.
 *  4. A path that becomes longer would look like a queue for that minute. If a
 *     queue stays within two packets for eight round trips although there seems to be
 *     room to drain it (and, with few packets, also while the flow then sends a quarter
 *     less: queue.h), the law takes it for the new base. Late streams that are quiet ask, too:
 *     the window of the shorter path is what makes them late.
 *  5. Windows below 16 packets make streams longer than a round trip: 4 levels of
 *     4 packets, or of 2 in a crowd, with weight one per stream. Such a stream does not
 *     lower R if it says nothing against it: it began at an older one. The floor is two
 *     packets per round trip as it is now, and less in a crowd (queue.h): on a path
 *     shorter than a packet's own time (two hosts in one machine) two packets per
 *     smallest round trip can be many times the capacity.
 *  6. Where the application pauses, streams are as short as what it sends at a time,
 *     down to eight packets: else answers of less than a stream would never give an
 *     estimate, and a rate that has fallen would stay where it is.
 *
 * Goals not reached, measured with the exact bottleneck of tests/ (three seeds where
 * flows share):
 *  - at 400 Gbit/s with 1500 B, 99 % of packets wait less than 22 packet times,
 *    not 16: a level must last 5 us for stamps of 100 ns, and is 170 packets.
 *  - ten flows of 100 ms round trip are still converging five seconds after the
 *    last has entered (Jain 0.78 to 0.97 by seed and spacing of entries; 0.95 to
 *    0.99 after fifteen), and ten flows keep a cycle of 0 to 5 ms of queue: their
 *    gains sum to 2.5.
 *  - after others take 30 % of a path, the rate stays at 0.87 of what is left while
 *    the queue that the step made drains, about eight round trips.
 * Not measured here: traffic that fills deep buffers, against which the law must
 * yield, since it takes what the law drains; clocks that drift; several bottlenecks.
 */
#ifndef RAPID_ENVELOPE_H
#define RAPID_ENVELOPE_H

#include "policer.h"

/*
 * The length of a level, in packets: 1/256 of a window, so that a stream is 1/64 of
 * a round trip; at least 16, which give an envelope, and at most 64, which give many
 * streams per round trip. In small windows at most 1/16 of a window (a stream is
 * 1/4 of a round trip), but at least 4. A flow of less than 4 packets per round trip that loses
 * some shares the path with many, and hears of a change only when a stream ends: 2, if
 * nearly every packet has a stamp.
 */
#define RAPID_LEVEL_WINDOW_PART 256
#define RAPID_LEVEL_PACKETS 16
#define RAPID_LEVEL_PACKETS_LONG 64
#define RAPID_LEVEL_SMALL_WINDOW_PART 16
#define RAPID_LEVEL_PACKETS_SMALL 4
#define RAPID_LEVEL_PACKETS_MIN 2
#define RAPID_LEVEL_FEW_PACKETS 4
/* Three batches of a coalescing receiver, so that each half holds one; but at most 1/8 of a window. */
#define RAPID_LEVEL_BATCHES 3
#define RAPID_LEVEL_BATCHES_WINDOW_PART 8
/* The same for holes between stamps. */
#define RAPID_LEVEL_HOLES 3
/* At most this: drawn a quarter longer, four levels are 60 000 packets, and their bytes stay below 2^34. */
#define RAPID_LEVEL_PACKETS_MAX 12000
/* The length is drawn within a quarter of its mean, so that flows do not lock in phase; below 8 that is one packet. */
#define RAPID_LEVEL_DRAWN_FROM 8
#define RAPID_LEVEL_DRAWN_PART 4

/*
 * Slopes are averaged over 1/8 of a round trip. Where a stream is shorter than 1/4
 * of one it weighs at most a half, since others will follow; behind a coalescing
 * receiver, at most a quarter, since batches make its slopes rough.
 */
#define RAPID_SLOPES_PER_ROUND 8
#define RAPID_STREAM_SHORT_PART 4
#define RAPID_SLOPE_SHORT_Q16 (RAPID_ONE / 2)
#define RAPID_SLOPE_BATCHED_Q16 (RAPID_ONE / 4)

/*
 * Level 3 is congested if its slope is above 3 %, and above what noise makes: of stamps, and 1/32 of a batch. At rest it has
 * 0.115 of the flow's share: below 3 % from four flows on, which then cycle (docs/theory.md).
 */
#define RAPID_CONGESTED_Q16 RAPID_Q16(30)
#define RAPID_NOISE_BATCH_PART 32
/* Level 2 is congested too if its slope is above 0.5 %: only then is there a line through two slopes. */
#define RAPID_CONGESTED_2_Q16 RAPID_Q16(5)

/* The capacity is kept as its inverse, 2^56 / C. Times a rate, and shifted by 40, that is a share in Q16. */
#define RAPID_INVERSE_ONE (1ULL << 56)
#define RAPID_INVERSE_SHIFT 40
/* The capacity does not change: it is averaged four times as long as the slopes, which then weigh at least 1/1024. */
#define RAPID_CAPACITY_TIMES 4
#define RAPID_CAPACITY_WEIGHT_MIN_Q16 64
/* The share is at least 1/1000. */
#define RAPID_SHARE_MIN_PART 1000

/*
 * The path shows no limit if level 3 is not congested and the queue, with the growth of frames, is below four packets and 1/5 of a
 * batch.
 */
#define RAPID_CEILING_PACKETS 4
#define RAPID_CEILING_BATCH_PART 5
/* A stream shows nothing below half its mean rate. */
#define RAPID_AVAILABLE_MIN_Q16 (RAPID_ONE / 2)
/*
 * Over an empty path, a flow of less than a quarter of the capacity adds a part of that besides, C (1 - 4 s)^2 / 70, where C is
 * `inverse_of_all`'s. At most that is a quarter of its rate, or four packets per round trip if they are more, but no more than half of its
 * rate. With (1 - 4 s) C / 50, and half of its rate at most, flows that know C lose up to three times as much beside violent bursts
 * (docs/decisions/0177).
 */
#define RAPID_SMALL_ADDS_PART 70
#define RAPID_SMALL_SHARE_PART 4
#define RAPID_SMALL_ADDS_MOST_PART 4
#define RAPID_SMALL_ADDS_PACKETS 4
#define RAPID_SMALL_ADDS_PACKETS_MOST_PART 2
/* The path is empty below 1/128 of a round trip: then a stream that is longer than one, and meets no limit, does not lower the rate. */
#define RAPID_EMPTY_PART 128
/* A flow is a newcomer in its first eight streams. */
#define RAPID_NEW_STREAMS 8
/* While the path shows no limit, the gain doubles per round trip; after 1/4 of one, streams get wide. */
#define RAPID_CEILING_GAIN_TIMES 2
#define RAPID_WIDE_AFTER_PART 4
/* The rate moves towards its target over 1/4 of a round trip: the 4 of x + 4 = 4 (1 - g) exp(-x) (docs/theory.md). */
#define RAPID_MOVES_PER_ROUND 4
/* A late stream pulls the rate over a round trip. */
#define RAPID_LATE_MOVES_PER_ROUND 1

RAPID_FN const u32 *rapid_ladder_of(const struct rapid *law, u32 wide)
{
	return wide ? law->wide : law->narrow;
}

/*
 * Packets per level: 16, up to 64 in large windows, down to 4 in small ones. A level
 * lasts at least 50 stamp errors, and half of it covers a batch of a coalescing
 * receiver, or a hole between stamps. Four levels are no longer than what the application
 * sends at a time. Its length is random, so that flows do not lock in phase.
 */
RAPID_FN u32 rapid_level_length(struct rapid *law)
{
	u64 window = rapid_window_packets(&law->flow), packet = law->flow.packet;
	u64 large = rapid_clamp(window / RAPID_LEVEL_WINDOW_PART, RAPID_LEVEL_PACKETS, RAPID_LEVEL_PACKETS_LONG);
	u64 batches = RAPID_LEVEL_BATCHES * rapid_bytes_in(law->flow.rate, rapid_batch(&law->envelope)) / packet;
	u64 holes = (RAPID_LEVEL_HOLES * (u64)law->envelope.hole_q16) >> 16;
	int lossy = law->envelope.loss > RAPID_LOSS_QUEUED_Q16 && holes <= RAPID_LEVEL_PACKETS_SMALL;
	int crowd = lossy && window < RAPID_LEVEL_FEW_PACKETS;
	u64 small = rapid_max(crowd ? RAPID_LEVEL_PACKETS_MIN : RAPID_LEVEL_PACKETS_SMALL, window / RAPID_LEVEL_SMALL_WINDOW_PART);
	u64 spell = rapid_max(law->spell, law->flow.next - law->spell_first) / RAPID_PROBE_LEVELS;
	u64 n = rapid_min(rapid_min(large, small), spell);

	n = rapid_max(n, rapid_bytes_in(law->flow.rate, law->tuning.level_min_ns) / packet);
	n = rapid_max(n, rapid_min(rapid_max(batches, holes), window / RAPID_LEVEL_BATCHES_WINDOW_PART));
	n = rapid_min(n, RAPID_LEVEL_PACKETS_MAX);
	if (n >= RAPID_LEVEL_DRAWN_FROM) {
		u64 reach = n / RAPID_LEVEL_DRAWN_PART;

		n = n - reach + (((2 * reach + 1) * (u64)rapid_random(&law->random)) >> 32);
	}
	return (u32)rapid_max(RAPID_LEVEL_PACKETS_MIN, n & ~1ULL); /* even */
}

/* Opens the next probe stream. */
RAPID_FN void rapid_probe_open(struct rapid *law, const struct rapid_memory *memory)
{
	struct rapid_stream *s = rapid_open(&law->flow, memory, RAPID_PROBE, law->flow.rate, rapid_level_length(law));

	if (s)
		s->wide = law->envelope.wide;
}

RAPID_FN u64 rapid_probe_rate(const struct rapid *law, const struct rapid_stream *s, u32 level)
{
	const u32 *ladder = rapid_ladder_of(law, s->wide);

	return s->kind == RAPID_PROBE && level < RAPID_PROBE_LEVELS
		       ? rapid_scale(s->rate, ladder[RAPID_INDEX(level, RAPID_PROBE_LEVELS)])
		       : s->rate;
}

/* The level and the half of it that begin at an edge. */
RAPID_FN u32 rapid_edge_level(u32 edge) { return edge == RAPID_EDGE_2 ? 2 : 3; }
RAPID_FN u32 rapid_edge_half(u32 edge) { return edge == RAPID_EDGE_3_HALF; }

/* Notes when the packets after each edge left. */
RAPID_FN void rapid_note_edges(const struct rapid_flow *flow, struct rapid_stream *s, u64 now)
{
	for (u32 k = 0; k < RAPID_EDGES; k++) {
		u32 begun = flow->level == rapid_edge_level(k), half = flow->half >= rapid_edge_half(k), first = !s->edge_ns[k];

		s->edge_ns[k] = rapid_pick(begun & half & first, now, s->edge_ns[k]);
	}
}

/* Keeps the envelope of a stream: the smallest delay of the half-level after each edge. */
RAPID_FN void rapid_envelope_sample(struct rapid_stream *s, u32 level, u32 half, s64 delay)
{
	for (u32 k = 0; k < RAPID_EDGES; k++) {
		u32 on_level = level == rapid_edge_level(k), on_half = half == rapid_edge_half(k);

		s->low[k] = rapid_smin(s->low[k], (s64)rapid_pick(on_level & on_half, (u64)delay, (u64)RAPID_UNSEEN));
	}
}

/* The slope of the envelope from one edge to the next, Q16. Both have a delay. */
RAPID_FN s64 rapid_edge_slope(const struct rapid_stream *s, u32 edge)
{
	return rapid_slope(rapid_difference((u64)s->low[edge + 1], (u64)s->low[edge]), s->edge_ns[edge + 1] - s->edge_ns[edge]);
}

/* The weight of one stream in the slopes. */
RAPID_FN u64 rapid_slope_weight(const struct rapid *law, u64 duration)
{
	u64 w = rapid_weight(RAPID_SLOPES_PER_ROUND, duration, law->flow.rtt_ns);

	if (duration < law->flow.rtt_ns / RAPID_STREAM_SHORT_PART)
		w = rapid_min(w, RAPID_SLOPE_SHORT_Q16);
	return rapid_batch(&law->envelope) ? rapid_min(w, RAPID_SLOPE_BATCHED_Q16) : w;
}

/* Notes the slopes, with how much more each level lost than the lower two. Returns 0 where a half-level has no stamp. */
RAPID_STAGE int rapid_note_slopes(struct rapid *law, const struct rapid_stream *s, u64 duration)
{
	struct rapid_envelope *e;
	s64 slope2, slope3, base;
	u64 w;

	if (!law || !s)
		return 0;
	e = &law->envelope;
	w = rapid_slope_weight(law, duration);
	for (u32 k = 0; k < RAPID_EDGES; k++)
		if (s->low[k] == RAPID_UNSEEN)
			return 0;
	base = rapid_fraction(s->lost - s->lost2 - s->lost3, 2 * s->per_level);
	slope2 = rapid_edge_slope(s, RAPID_EDGE_2) + rapid_fraction(s->lost2, s->per_level) - base;
	slope3 = rapid_edge_slope(s, RAPID_EDGE_3) + rapid_fraction(s->lost3, s->per_level) - base;

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

/* The slope above which level 3 is congested, Q16: above the noise of a stamp over half a level. */
RAPID_FN s64 rapid_threshold(const struct rapid *law, const struct rapid_stream *s)
{
	u64 noise = law->tuning.stamp_noise_ns + rapid_batch(&law->envelope) / RAPID_NOISE_BATCH_PART;
	u64 half = rapid_max(s->edge_ns[RAPID_EDGE_3_HALF] - s->edge_ns[RAPID_EDGE_3], 1);

	return (s64)rapid_clamp((rapid_min(noise, half) << 16) / half, RAPID_CONGESTED_Q16, RAPID_ONE);
}

/* 2^56 / C after a stream that says `inverse`. Without a line through both slopes, that is the least it can be. */
RAPID_FN u64 rapid_inverse_after(u64 kept, u64 inverse, int line, u64 slowness)
{
	if (!line && inverse <= kept)
		return kept;
	return (u64)((s64)kept + rapid_divide(rapid_difference(inverse, kept), slowness));
}

/*
 * The share of the capacity, Q16, from the line through both slopes. What is kept
 * is 2^56 / C: the rate changes between streams, and C does not.
 *
 * Bursts that begin within a stream make either slope the larger, so a share may be above one, and is cut to one, or below zero. What
 * slopes are read with leaves these out: too large a share errs towards small steps. But a small flow would add next to nothing beside
 * bursts, so of what it adds they count as zero. Not where arrivals come in batches, by a receiver or a link: there a flow alone reads
 * shares below zero, too.
 */
RAPID_FN s64 rapid_note_share(struct rapid *law, const u32 *ladder, u64 rate, u64 w, s64 threshold)
{
	struct rapid_envelope *e = &law->envelope;
	u64 whole = RAPID_INVERSE_ONE / rate, step = ladder[3] - ladder[2];
	int line = e->slope2 > RAPID_CONGESTED_2_Q16;
	s64 share = rapid_divide((e->slope3 - (line ? e->slope2 : 0)) * RAPID_ONE, step);

	share = rapid_sclamp(share, 0, RAPID_ONE);
	if (!e->inverse_of_all)
		e->inverse_of_all = e->inverse;
	if (e->slope3 > threshold) {
		u64 inverse = ((u64)share << RAPID_INVERSE_SHIFT) / rate;
		u64 slowness = RAPID_CAPACITY_TIMES * RAPID_ONE / rapid_max(w, RAPID_CAPACITY_WEIGHT_MIN_Q16);

		if (share)
			e->inverse = rapid_inverse_after(e->inverse, inverse, line, slowness);
		if (share || !rapid_batch(e))
			e->inverse_of_all = rapid_inverse_after(e->inverse_of_all, inverse, line, slowness);
	}
	e->inverse_of_all = rapid_clamp(e->inverse_of_all, whole / RAPID_SHARE_MIN_PART, whole);
	e->inverse = rapid_clamp(e->inverse, whole / RAPID_SHARE_MIN_PART, whole);
	share = (s64)rapid_max((rate * e->inverse) >> RAPID_INVERSE_SHIFT, RAPID_ONE / RAPID_SHARE_MIN_PART);
	e->sole = share >= RAPID_SOLE_Q16;
	return share;
}

/* The available bandwidth over the mean rate of the stream, Q16. Sets `ceiling` where it is the top of the stream. */
RAPID_FN s64 rapid_read_available(const struct rapid *law, const u32 *ladder, s64 share, s64 threshold,
				  u64 rate, u32 *ceiling)
{
	const struct rapid_envelope *e = &law->envelope;
	s64 x2 = ladder[2], x3 = ladder[3], knee;

	*ceiling = e->slope3 <= threshold && e->queue_ns + rapid_frame_growth(e, e->batch_ns) <
						     rapid_gap_ns(RAPID_CEILING_PACKETS * law->flow.packet, rate) +
							     rapid_batch(e) / RAPID_CEILING_BATCH_PART;
	if (*ceiling)
		return x3;
	knee = x3 - rapid_divide(e->slope3 * RAPID_ONE, (u64)share);
	if (knee > x2)
		return rapid_smin(x3, knee);
	knee = x2 - rapid_divide(e->slope2 * RAPID_ONE, (u64)share);
	return rapid_sclamp(knee, RAPID_AVAILABLE_MIN_Q16, x2);
}

/* The gain. While the path shows no limit, steps get bolder: the gain doubles each round trip, up to one. */
RAPID_FN s64 rapid_gain(struct rapid *law, u64 now, s64 share, u32 ceiling)
{
	struct rapid_envelope *e = &law->envelope;
	s64 gain = rapid_smin(law->tuning.gain_max, share + law->tuning.gain_offset);

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
	if (now - e->ceiling_step_ns >= law->flow.rtt_ns) {
		e->ceiling_gain =
			(u32)rapid_min(RAPID_ONE, rapid_max(RAPID_CEILING_GAIN_TIMES * e->ceiling_gain, (u64)gain));
		e->ceiling_step_ns = now;
	}
	e->wide = now - e->ceiling_since_ns > law->flow.rtt_ns / RAPID_WIDE_AFTER_PART && !law->policer.limit;
	return rapid_smax(gain, e->ceiling_gain);
}

/* Whether the path has no queue that is worth the name. */
RAPID_FN int rapid_is_empty(const struct rapid *law) { return law->envelope.queue_ns < law->flow.rtt_ns / RAPID_EMPTY_PART; }

/*
 * What a flow of a small share adds where a stream meets no limit and the path is empty, in a round trip. Its other steps, up and down,
 * are parts of its rate, and of the rates of others: beside bursts, which end both early, shares would stay as unequal as they are.
 */
RAPID_FN u64 rapid_small_adds(const struct rapid *law, u64 rate)
{
	u64 inverse = rapid_max(law->envelope.inverse_of_all, 1), share = (rate * inverse) >> RAPID_INVERSE_SHIFT;
	u64 lacks = rapid_above(RAPID_ONE, RAPID_SMALL_SHARE_PART * share), adds, packets, most;

	if (!lacks || !rapid_is_empty(law))
		return 0;
	adds = rapid_scale(RAPID_INVERSE_ONE / inverse / RAPID_SMALL_ADDS_PART, rapid_scale(lacks, lacks));
	packets = rapid_rate_of(RAPID_SMALL_ADDS_PACKETS * law->flow.packet, law->flow.rtt_ns);
	most = rapid_max(rate / RAPID_SMALL_ADDS_MOST_PART, rapid_min(packets, rate / RAPID_SMALL_ADDS_PACKETS_MOST_PART));
	return rapid_min(adds, most);
}

/*
 * Whether a stream says nothing against the present rate: if it met no limit, lost nothing, found the path empty, and is longer than a
 * round trip. Such a one began before the one before it was read, so at a rate of before that one's answer, to which it would return:
 * of two steps up one would be lost. Not so for a newcomer, who may be one of a crowd, nor for a flow that counts losses without a
 * queue: it may be behind a policer.
 */
RAPID_FN int rapid_says_nothing_against(const struct rapid *law, const struct rapid_stream *s, u64 duration, u32 ceiling)
{
	u32 empty = ceiling && !s->lost && rapid_is_empty(law);

	return empty && !rapid_suspects_policer(law) && duration > law->flow.rtt_ns && law->streams >= RAPID_NEW_STREAMS;
}

/*
 * A late stream has not the levels that its slopes need, but bounds the rate. Where the window holds it back, since that is of a shorter
 * path, it says how long the path is: if one after the other is quiet, loses nothing and finds the same delay, the path is that long.
 */
RAPID_STAGE int rapid_late_read(struct rapid *law, const struct rapid_stream *s, u64 now, u64 rate)
{
	u64 top, weight, still;

	if (!law || !s)
		return 0;
	top = rapid_min(law->flow.rate, rapid_scale(rate, rapid_ladder_of(law, s->wide)[3]));
	weight = rapid_weight(RAPID_LATE_MOVES_PER_ROUND, s->planned_q10 >> RAPID_Q10_BITS, law->flow.rtt_ns);
	rapid_set_rate(law, (u64)rapid_average((s64)law->flow.rate, (s64)top, weight));
	still = (law->flow.rtt_ns + law->envelope.queue_ns) / RAPID_QUIET_PART;
	if (law->quiet_rtt_ns && !s->lost)
		rapid_doubt_base(law, s, now, RAPID_DOUBT_ROOM_Q16, still, law->flow.rate);
	else
		rapid_end_trial(law);
	return 1;
}

/* The slopes are known: moves the rate. */
RAPID_STAGE int rapid_probe_act(struct rapid *law, const struct rapid_stream *s, u64 now, u64 duration, u64 rate)
{
	const u32 *ladder;
	u64 w, target;
	s64 threshold, share, alpha, room, gain;
	u32 ceiling = 0;

	if (!law || !s)
		return 0;
	ladder = rapid_ladder_of(law, s->wide);
	w = rapid_slope_weight(law, duration);
	threshold = rapid_threshold(law, s);
	share = rapid_note_share(law, ladder, rate, w, threshold);
	alpha = rapid_read_available(law, ladder, share, threshold, rate, &ceiling);
	room = alpha;
	gain = rapid_gain(law, now, share, ceiling);
	law->available = rapid_scale(rate, (u64)alpha);
	law->estimated = 1;

	/* 1 + G ((1 - m) alpha - 1): between 0.5 and 1.3; a small share over an empty path gets up to 1/4 or 1/2 more */
	alpha = (alpha * (RAPID_ONE - (s64)law->tuning.margin)) >> 16;
	target = rapid_scale(rate, (u64)(RAPID_ONE + ((gain * (alpha - RAPID_ONE) + RAPID_HALF) >> 16)));
	target += ceiling ? rapid_small_adds(law, rate) : 0;
	target = rapid_hold_back(law, target, rate);
	if (rapid_says_nothing_against(law, s, duration, ceiling))
		target = rapid_max(target, law->flow.rate);
	target = rapid_min(target, rapid_policed(law));
	target = rapid_doubt_base(law, s, now, room, rapid_tolerated_queue(law, rate), target);
	w = rapid_weight(RAPID_MOVES_PER_ROUND, duration, law->flow.rtt_ns);
	rapid_set_rate(law, (u64)rapid_average((s64)law->flow.rate, (s64)target, w));
	return 1;
}

/* Reads a probe stream that is complete, and whose queue is noted. */
RAPID_FN void rapid_probe_read(struct rapid *law, const struct rapid_stream *s, u64 now, u64 duration)
{
	u64 rate = rapid_bound(rapid_rate_of(s->bytes, duration));
	int late = rapid_is_late(s, duration);

	rapid_heed_heavy_loss(law, s, rate);
	if (!s->app_limited && !late && rapid_note_slopes(law, s, duration)) {
		rapid_probe_act(law, s, now, duration, rate);
		return;
	}
	rapid_count(&law->unusable);
	if (!s->app_limited && late)
		rapid_late_read(law, s, now, rate);
}

#endif
