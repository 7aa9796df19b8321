/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Control of the default law: how a stream moves the rate. law/SPEC.md says what it does and why; measure.h what it reads.
 *
 *     X = r (1 + G ((1 - m) A / r - 1)),   G = min(0.7, s + 0.15)
 *     R = R + min(1, 4 dt / T) (X - R)
 *
 * Goals not reached, measured with an exact bottleneck (models/tests/rapid; three seeds where flows share):
 *  - at 400 Gbit/s with 1500 B, 99 % of packets wait less than 22 packet times, not 16: a level must last 5 us for stamps of 100 ns, and
 *    is 170 packets.
 *  - ten flows of 100 ms round trip are still converging five seconds after the last has entered (Jain 0.78 to 0.97 by seed and
 *    spacing of entries; 0.95 to 0.99 after fifteen), and ten flows keep a cycle of 0 to 5 ms of queue: their gains sum to 2.5.
 *  - after others take 30 % of a path, the rate stays at 0.87 of what is left while the queue that the step made drains, about eight
 *    round trips.
 */
#ifndef RAPID_ENVELOPE_H
#define RAPID_ENVELOPE_H

#include "policer.h"

/*
 * Over an empty path, a flow of less than a quarter of the capacity adds a part of that besides, C (1 - 4 s)^2 / 70, where C is
 * `inverse_of_all`'s. At most that is a quarter of its rate, or four packets per round trip if they are more, but no more than half of its
 * rate. With (1 - 4 s) C / 50, and half of its rate at most, flows that know C lose up to three times as much beside violent
 * bursts.
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

/* Opens the next probe stream. */
RAPID_FN void rapid_probe_open(struct rapid *law, const struct rapid_memory *memory)
{
	struct rapid_stream *s = rapid_open(&law->flow, memory, RAPID_PROBE, law->flow.rate, rapid_level_length(law));

	if (s)
		s->wide = law->envelope.wide;
}

/* The gain. While the path shows no limit, steps get bolder: the gain doubles each round trip, up to one. */
RAPID_FN s64 rapid_gain(struct rapid *law, const struct rapid_sight *sight, u64 now)
{
	struct rapid_envelope *e = &law->envelope;
	s64 gain = RAPID_HAS(SHARE_GAIN) ? rapid_smin(law->tuning.gain_max, sight->share + law->tuning.gain_offset) : RAPID_ONE / 4;

	if (!sight->ceiling) {
		e->at_ceiling = 0;
		e->ceiling_gain = 0;
		e->wide = 0;
		return gain;
	}
	if (!e->at_ceiling) {
		e->at_ceiling = 1;
		e->ceiling_since_ns = e->ceiling_step_ns = now;
	}
	if (now - e->ceiling_step_ns >= law->flow.rtt_ns && RAPID_HAS(GAIN_DOUBLES)) {
		e->ceiling_gain =
			(u32)rapid_min(RAPID_ONE, rapid_max(RAPID_CEILING_GAIN_TIMES * e->ceiling_gain, (u64)gain));
		e->ceiling_step_ns = now;
	}
	e->wide = RAPID_HAS(WIDE) && now - e->ceiling_since_ns > law->flow.rtt_ns / RAPID_WIDE_AFTER_PART && !law->policer.limit;
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

	if (!lacks || !rapid_is_empty(law) || !RAPID_HAS(SMALL_ADDS))
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
RAPID_FN int rapid_says_nothing_against(const struct rapid *law, const struct rapid_sight *sight)
{
	u32 empty = sight->ceiling && !sight->lost && rapid_is_empty(law) && RAPID_HAS(SAYS_NOTHING);

	return empty && !rapid_suspects_policer(law) && sight->duration > law->flow.rtt_ns && law->streams >= RAPID_NEW_STREAMS;
}

/*
 * A late stream has not the levels that its slopes need, but bounds the rate. Where the window holds it back, since that is of a shorter
 * path, it says how long the path is: if one after the other is quiet, loses nothing and finds the same delay, the path is that long.
 */
RAPID_STAGE int rapid_late_read(struct rapid *law, const struct rapid_stream *s, const struct rapid_sight *sight, u64 now)
{
	u64 top, weight, still;

	if (!law || !s || !sight)
		return 0;
	top = rapid_min(law->flow.rate, rapid_scale(sight->rate, rapid_ladder_of(law, s->wide)[3]));
	weight = rapid_weight(RAPID_LATE_MOVES_PER_ROUND, sight->planned_ns, law->flow.rtt_ns);
	rapid_set_rate(law, (u64)rapid_average((s64)law->flow.rate, (s64)top, weight));
	still = (law->flow.rtt_ns + sight->queue_ns) / RAPID_QUIET_PART;
	if (law->quiet_rtt_ns && !sight->lost)
		rapid_doubt_base(law, s, now, RAPID_DOUBT_ROOM_Q16, still, law->flow.rate);
	else
		rapid_end_trial(law);
	return 1;
}

/* The slopes are known: moves the rate. */
RAPID_STAGE int rapid_probe_act(struct rapid *law, const struct rapid_stream *s, const struct rapid_sight *sight, u64 now)
{
	u64 rate, weight, target;
	s64 alpha, gain;

	if (!law || !s || !sight)
		return 0;
	rate = sight->rate;
	gain = rapid_gain(law, sight, now);
	law->available = rapid_scale(rate, (u64)sight->available);
	law->estimated = 1;

	/* 1 + G ((1 - m) alpha - 1): between 0.5 and 1.3; a small share over an empty path gets up to 1/4 or 1/2 more */
	alpha = (sight->available * (RAPID_ONE - (s64)law->tuning.margin)) >> 16;
	target = rapid_scale(rate, (u64)(RAPID_ONE + ((gain * (alpha - RAPID_ONE) + RAPID_HALF) >> 16)));
	target += sight->ceiling ? rapid_small_adds(law, rate) : 0;
	target = rapid_hold_back(law, sight, target);
	if (rapid_says_nothing_against(law, sight))
		target = rapid_max(target, law->flow.rate);
	target = rapid_min(target, rapid_policed(law));
	target = rapid_doubt_base(law, s, now, sight->available, rapid_tolerated_queue(law, rate), target);
	weight = rapid_weight(RAPID_MOVES_PER_ROUND, sight->duration, law->flow.rtt_ns);
	rapid_set_rate(law, (u64)rapid_average((s64)law->flow.rate, (s64)target, weight));
	return 1;
}

/*
 * Reads a probe stream that is complete, and whose queue is noted. A stage of its own, so that what the stream shows is on a host's
 * stack only while it is read, not while a chirp is.
 */
RAPID_STAGE int rapid_probe_read(struct rapid *law, const struct rapid_stream *s, u64 now, u64 duration)
{
	struct rapid_sight sight;

	if (!law || !s)
		return 0;
	rapid_heed_heavy_loss(law, s, rapid_bound(rapid_rate_of(s->bytes, duration)));
	if (rapid_see(law, s, duration, &sight)) {
		rapid_probe_act(law, s, &sight, now);
		return 1;
	}
	rapid_count(&law->unusable);
	if (!sight.idle && sight.late && RAPID_HAS(LATE_READ))
		rapid_late_read(law, s, &sight, now);
	return 0;
}

#endif
