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
 * the fluid does there, and why three flows and more go past it and cycle: docs/theory.md.)
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
 * Goals not reached, measured with an exact bottleneck (models/tests/rapid; three seeds where
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
