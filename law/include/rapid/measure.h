/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Measurement: what a stream shows of the path.
 *
 * The length of a stream, the lower envelope of its delay, its slopes, the capacity and the share that they show, the queue, its growth,
 * and loss. All that control (envelope.h, queue.h) reads of a stream is one struct, rapid_sight; rapid_see fills it. law/SPEC.md has
 * each as a formula.
 */
#ifndef RAPID_MEASURE_H
#define RAPID_MEASURE_H

#include "coalescing.h"

/*
 * The base delay is the smallest of the present bucket and the one before, so of 30-60 s. With 5-10 s, ten flows that enter a second apart
 * never see an empty queue together: the early ones forget the base, and the late ones take the queue for it (Jain 0.45 and 20 ms of queue
 * instead of 0.97 and 0.3 ms). Clocks that drift by 50 ppm invent 3 ms in a minute, which the round trip bounds.
 */
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
/* Loss that a queue confirms counts above 0.5 %. */
#define RAPID_LOSS_QUEUED_Q16 RAPID_Q16(5)

/*
 * The queue that streams and stamps make by themselves: two packets, 1 us, and 1/10 of a batch's period. Two packets of a slow flow
 * are a third of its round trip: while a flow above its floor loses more than a queue may, they are no excuse.
 */
#define RAPID_TOLERATED_PACKETS 2
#define RAPID_TOLERATED_NS 1000
#define RAPID_TOLERATED_BATCH_PART 10

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

/* What one stream shows. */
struct rapid_sight {
	u64 rate;        /* mean, as sent, */
	u64 duration;    /* and how long that took, ns; */
	u64 planned_ns;  /* and should have taken */
	u64 queue_ns;    /* standing queue */
	s64 growth;      /* of the lowest delay, Q16 */
	s64 available;   /* over the mean rate, Q16, */
	s64 share;       /* and the rate over the capacity, Q16: both 0 where the stream has no slopes */
	u64 batch_ns;    /* period of the receiver's batches; 0: it does not coalesce */
	s64 loss;        /* average, Q16 */
	u32 lost;        /* packets of the stream */
	u8 late;         /* it took too long, so that its levels are not those of its plan */
	u8 idle;         /* the application had nothing to send */
	u8 ceiling;      /* it met no limit: `available` is its top level */
};

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
	if (RAPID_HAS(FEW_WEIGHTS) && !rapid_is_at_floor(law) && rapid_window_packets(&law->flow) < RAPID_LOSS_FEW_PACKETS)
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
	u64 most = RAPID_HAS(LONG_LEVELS) ? RAPID_LEVEL_PACKETS_LONG : RAPID_LEVEL_PACKETS;
	u64 large = rapid_clamp(window / RAPID_LEVEL_WINDOW_PART, RAPID_LEVEL_PACKETS, most);
	u64 batches = RAPID_LEVEL_BATCHES * rapid_bytes_in(law->flow.rate, rapid_batch(&law->envelope)) / packet;
	u64 holes = (RAPID_LEVEL_HOLES * (u64)law->envelope.hole_q16) >> 16;
	int lossy = law->envelope.loss > RAPID_LOSS_QUEUED_Q16 && holes <= RAPID_LEVEL_PACKETS_SMALL;
	int crowd = RAPID_HAS(CROWD_LEVELS) && lossy && window < RAPID_LEVEL_FEW_PACKETS;
	u64 small = rapid_max(crowd ? RAPID_LEVEL_PACKETS_MIN : RAPID_LEVEL_PACKETS_SMALL, window / RAPID_LEVEL_SMALL_WINDOW_PART);
	u64 spell = rapid_max(law->spell, law->flow.next - law->spell_first) / RAPID_PROBE_LEVELS;
	u64 n = rapid_min(rapid_min(large, small), RAPID_HAS(SPELLS) ? spell : large);

	n = rapid_max(n, rapid_bytes_in(law->flow.rate, law->tuning.level_min_ns) / packet);
	n = rapid_max(n, rapid_min(rapid_max(batches, holes), window / RAPID_LEVEL_BATCHES_WINDOW_PART));
	n = rapid_min(n, RAPID_LEVEL_PACKETS_MAX);
	if (n >= RAPID_LEVEL_DRAWN_FROM && RAPID_HAS(RANDOM_LENGTHS)) {
		u64 reach = n / RAPID_LEVEL_DRAWN_PART;

		n = n - reach + (((2 * reach + 1) * (u64)rapid_random(&law->random)) >> 32);
	}
	return (u32)rapid_max(RAPID_LEVEL_PACKETS_MIN, n & ~1ULL); /* even */
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

	if (duration < law->flow.rtt_ns / RAPID_STREAM_SHORT_PART && RAPID_HAS(SHORT_WEIGHT))
		w = rapid_min(w, RAPID_SLOPE_SHORT_Q16);
	return rapid_batch(&law->envelope) ? rapid_min(w, RAPID_SLOPE_BATCHED_Q16) : w;
}

/* The part of the packets of a level, or of two, that were lost. */
RAPID_FN s64 rapid_level_loss(u32 lost, u32 packets) { return RAPID_HAS(LEVEL_LOSS) ? rapid_fraction(lost, packets) : 0; }

/*
 * Notes the slopes, with how much more each level lost than the lower two. Returns 0 where a half-level has no stamp. A stage of its
 * own, as the next one is: together they need a quarter of a BPF host's stack.
 */
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
	base = rapid_level_loss(s->lost - s->lost2 - s->lost3, 2 * s->per_level);
	slope2 = rapid_edge_slope(s, RAPID_EDGE_2) + rapid_level_loss(s->lost2, s->per_level) - base;
	slope3 = rapid_edge_slope(s, RAPID_EDGE_3) + rapid_level_loss(s->lost3, s->per_level) - base;

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

/* Completes `sight` by the slopes that the stream has noted. */
RAPID_STAGE int rapid_see_slopes(struct rapid *law, const struct rapid_stream *s, struct rapid_sight *sight)
{
	const u32 *ladder;
	s64 threshold;
	u32 ceiling = 0;

	if (!law || !s || !sight)
		return 0;
	ladder = rapid_ladder_of(law, s->wide);
	threshold = rapid_threshold(law, s);
	sight->share = rapid_note_share(law, ladder, sight->rate, rapid_slope_weight(law, sight->duration), threshold);
	sight->available = rapid_read_available(law, ladder, sight->share, threshold, sight->rate, &ceiling);
	sight->ceiling = (u8)ceiling;
	return 1;
}

/* What the stream shows whose queue is noted. Returns whether it has slopes. */
RAPID_STAGE int rapid_see(struct rapid *law, const struct rapid_stream *s, u64 duration, struct rapid_sight *sight)
{
	const struct rapid_envelope *e;

	if (!law || !s || !sight)
		return 0;
	e = &law->envelope;
	*sight = (struct rapid_sight){
		.rate = rapid_bound(rapid_rate_of(s->bytes, duration)),
		.duration = duration,
		.planned_ns = s->planned_q10 >> RAPID_Q10_BITS,
		.queue_ns = e->queue_ns,
		.growth = e->growth,
		.batch_ns = rapid_batch(e),
		.loss = e->loss,
		.lost = s->lost,
		.late = (u8)rapid_is_late(s, duration),
		.idle = s->app_limited,
	};
	if (sight->idle || sight->late || !rapid_note_slopes(law, s, duration))
		return 0;
	return rapid_see_slopes(law, s, sight);
}

#endif
