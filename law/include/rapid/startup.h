/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Start-up of the default law: one wide chirp per round trip.
 *
 * From R = 10 packets per handshake round trip, a flow sends a chirp of nine levels
 * R 2^(j/2) (up to 16 R). Between chirps packets leave at R. When a chirp has come
 * back, the longest rising tail of its envelope tells where the path ended:
 *
 *     no knee                    R = 8 R, and the next chirp at once; less, but at
 *                                least 2 R, where the highest levels have no stamp
 *     a delay that falls         the chirp met a queue that drains: R stays, in the
 *                                first eight streams
 *     a delay that moves         others send: R only doubles, as TCP's does, in the
 *                                first eight streams
 *     knee in level j, slope k_j A = r_j / (1 + k_j); the next slope gives 1/C,
 *                                and A = r_j - k_j C; leave with max(R/2, 0.92 A)
 *     losses in level K          the levels below K count; without a knee in them
 *                                leave with 0.85 r_(K-1)
 *     losses with holes          others fill the path: leave with R/4
 *     1/4 of a stream lost       so they do then
 *     a growing standing queue   leave at once
 *
 * The tail of a chirp bounds what it can do to others: 2 to 9 packets at low
 * rates, 9 levels of 50 us at high ones.
 *
 * Of the streams that start-up finds or leaves in flight, the law reads only the queue, its
 * growth and heavy loss.
 *
 * A chirp that the application interrupted ends there. It says what its whole levels
 * say, as if the highest had no stamp; without a knee R doubles at least. The next chirp begins with the next
 * answer. So answers of three packets and more come to leave as fast as the path takes
 * them (models/tests/rapid/kept.rs); without, those of less than a chirp and a plain
 * stream, 35 packets, mostly stay at R.
 *
 * Where a link sends what waits as one frame (coalescing.h), delays fall within a frame. So the
 * rate becomes at most twice that at which the end of the chirp arrived.
 *
 * A chirp that took over 9/8 of its plan says no more than what was really sent: the
 * sender cannot do better, and start-up ends.
 *
 * Where delayed acknowledgments leave the first half of a level without a stamp,
 * its second half stands for it: a point carries its own time.
 */
#ifndef RAPID_STARTUP_H
#define RAPID_STARTUP_H

#include "envelope.h"
#include "skew.h"

/* A level of a chirp (RAPID_CHIRP_LEVEL_NS) has at least two packets, which make a gap. */
#define RAPID_CHIRP_LEVEL_PACKETS 2
#define RAPID_SQRT2_Q16 92682
/* While there is no knee the rate becomes half of the highest level heard of: eight times what it was, and at least twice. */
#define RAPID_CHIRP_TRIED_PART 2
#define RAPID_CHIRP_GROWTH_LEAST 2

/*
 * A level is lost, and with it those above, if it and those below have lost three packets (fewer may be chance), and 1/8 of
 * theirs. (At low rates a level has two packets: it cannot lose three by itself.)
 */
#define RAPID_LEVEL_LOST_PACKETS 3
#define RAPID_LEVEL_LOST_PART 8
/* The delay rises if its slope is above 2 %. */
#define RAPID_TAIL_SLOPE_Q16 RAPID_Q16(20)
/* A tail has a knee if it rises by more than the time of two packets in the top level, and by more than stamps' noise. */
#define RAPID_KNEE_PACKETS 2
#define RAPID_KNEE_NS 500
/* What a knee shows lies above 9/10 of the level below it, which was not congested. */
#define RAPID_KNEE_LEAST(below) ((below) / 10 * 9)

/*
 * Where a chirp lost two packets and 1/16, and a level above the first that lost one lost none, it shows what others do, not the rate at
 * which the path ends: there all levels above lose.
 */
#define RAPID_CROWDED_LOST_PACKETS 2
#define RAPID_CROWDED_LOST_PART 16
/*
 * The delay falls over a chirp if it does so by more than 1/128 of a round trip. It moves if its highest point is more than 1/256 of
 * one above its lowest: without a knee, the chirp itself did not move it. Interrupts that come together fall and move so, too, and for
 * ever: so a newcomer heeds that in its first eight streams, some four chirps.
 */
#define RAPID_CHIRP_FALLS_PART 128
#define RAPID_CHIRP_MOVES_PART 256

/* Where start-up leaves to: 0.92 of what a knee shows, 0.85 of the last level that lost little. */
#define RAPID_LEAVE_KNEE_Q16 RAPID_Q16(920)
#define RAPID_LEAVE_LOSS_Q16 RAPID_Q16(850)
/* At a knee it leaves with at least half the rate of the chirp; with half of it where nothing can be read of the chirp, */
#define RAPID_LEAVE_LEAST_PART 2
/* and 1/4 of it or more was lost. (With fewer lost, another chirp asks again.) */
#define RAPID_UNREAD_LOST_PART 4

/* Between chirps, at R: start-up ends with a queue above four packets, 50 us and two batches that grows by 10 %, */
#define RAPID_PLAIN_PACKETS 4
#define RAPID_PLAIN_NS 50000
#define RAPID_PLAIN_BATCHES 2
#define RAPID_PLAIN_GROWING_Q16 RAPID_Q16(100)
/* at 9/10 of what arrives; */
#define RAPID_PLAIN_KEEPS(rate) ((rate) * 9 / 10)
/* or with two packets and 1/4 of a stream lost (an eighth is too often random loss); at a quarter of R. */
#define RAPID_PLAIN_LOST_PACKETS 2
#define RAPID_PLAIN_LOST_PART 4
#define RAPID_LOSSY_KEEPS_PART 4

/* The rate of a level: R 2^(j/2). */
RAPID_FN u64 rapid_chirp_rate(u64 rate, u32 level)
{
	u64 octave = rate << (level / 2);

	return rapid_bound(level % 2 ? rapid_scale(octave, RAPID_SQRT2_Q16) : octave);
}

RAPID_FN u32 rapid_chirp_length(const struct rapid *law, u32 level, u64 rate)
{
	u64 packets = rapid_bytes_in(rate, RAPID_CHIRP_LEVEL_NS) / law->flow.packet;
	u32 n = (u32)rapid_max(RAPID_CHIRP_LEVEL_PACKETS, packets);

	return level == RAPID_CHIRP_LEVELS - 1 ? n + 1 : n;
}

/* Opens a chirp when none is under way, else a plain stream. */
RAPID_FN void rapid_startup_open(struct rapid *law, const struct rapid_memory *memory)
{
	struct rapid_chirp *chirp = &law->chirp;

	law->contest_stage = RAPID_RESTS;
	if (law->chirping) {
		rapid_open(&law->flow, memory, RAPID_PLAIN, law->flow.rate, rapid_level_length(law));
		return;
	}
	if (!rapid_open(&law->flow, memory, RAPID_CHIRP, law->flow.rate, 0))
		return;
	law->chirping = 1;
	law->chirp_lost = 0;
	law->chirp_rises = 0;
	for (u32 j = 0; j < RAPID_CHIRP_LEVELS; j++) {
		chirp->rate[j] = rapid_chirp_rate(law->flow.rate, j);
		chirp->sent[j] = chirp->lost[j] = 0;
		chirp->low[j][0].delay = chirp->low[j][1].delay = RAPID_UNSEEN;
	}
}

RAPID_FN void rapid_chirp_sample(struct rapid_chirp *chirp, u32 level, u32 half, u64 sent, s64 delay)
{
	struct rapid_point *low;

	if (level >= RAPID_CHIRP_LEVELS || half >= 2)
		return;
	low = &chirp->low[RAPID_INDEX(level, RAPID_CHIRP_LEVELS)][RAPID_INDEX(half, 2)];
	if (delay < low->delay)
		*low = (struct rapid_point){delay, sent};
}

/* What a chirp shows: points of the envelope, and the slopes between them. The points stay in the chirp. */
struct rapid_tail {
	u8 place[RAPID_CHIRP_LEVELS + 1]; /* of each point: level << 1 | half */
	u32 points;
	u32 tried;  /* levels sent to their end */
	u32 usable; /* the levels below this one lost little */
	u32 knee;   /* first point of the rising tail */
};

RAPID_FN u32 rapid_tail_place(const struct rapid_tail *t, u32 i) { return t->place[RAPID_INDEX(i, RAPID_CHIRP_LEVELS + 1)]; }
RAPID_FN u32 rapid_tail_level(const struct rapid_tail *t, u32 i) { return rapid_tail_place(t, i) >> 1; }

RAPID_FN const struct rapid_point *rapid_tail_point(const struct rapid_chirp *chirp, const struct rapid_tail *t, u32 i)
{
	u32 place = rapid_tail_place(t, i);

	return &chirp->low[RAPID_INDEX(place >> 1, RAPID_CHIRP_LEVELS)][place & 1];
}

RAPID_FN u64 rapid_level_rate(const struct rapid_chirp *chirp, u32 level)
{
	return chirp->rate[RAPID_INDEX(level, RAPID_CHIRP_LEVELS)];
}

RAPID_FN s64 rapid_tail_slope(const struct rapid_chirp *chirp, const struct rapid_tail *t, u32 i)
{
	const struct rapid_point *here = rapid_tail_point(chirp, t, i), *next;

	if (i + 1 >= t->points)
		return 0;
	next = rapid_tail_point(chirp, t, i + 1);
	return rapid_slope(rapid_difference((u64)next->delay, (u64)here->delay), next->sent_ns - here->sent_ns);
}

RAPID_FN void rapid_tail_add(struct rapid_tail *t, const struct rapid_point *low, u32 level, u32 half)
{
	u32 i = RAPID_INDEX(t->points, RAPID_CHIRP_LEVELS + 1);

	if (t->points > RAPID_CHIRP_LEVELS || low[half].delay == RAPID_UNSEEN)
		return;
	t->place[i] = (u8)(level << 1 | half);
	t->points = i + 1;
}

/*
 * Collects the points of the usable levels. Returns how many there are. A stage of its own, as the next one is: together they
 * took the kernel's verifier 40 000 instructions, since it followed each number of points through the other loop.
 */
RAPID_STAGE int rapid_tail_collect(const struct rapid_chirp *chirp, struct rapid_tail *t)
{
	u32 sent = 0, lost = 0;

	if (!chirp || !t)
		return 0;
	t->points = 0;
	t->usable = t->tried;
	for (u32 j = 0; j < RAPID_CHIRP_LEVELS; j++) {
		const struct rapid_point *low = chirp->low[j];

		if (j >= t->usable)
			break;
		sent += chirp->sent[j];
		lost += chirp->lost[j];
		if (lost >= RAPID_LEVEL_LOST_PACKETS && RAPID_LEVEL_LOST_PART * lost >= sent) {
			t->usable = j;
			break;
		}
		rapid_tail_add(t, low, j, low[0].delay == RAPID_UNSEEN);
		if (j == t->tried - 1 && low[0].delay != RAPID_UNSEEN)
			rapid_tail_add(t, low, j, 1);
	}
	return (int)t->points;
}

/* Finds the longest rising tail. Returns its first point. */
RAPID_STAGE int rapid_tail_find(const struct rapid_chirp *chirp, struct rapid_tail *t)
{
	if (!chirp || !t)
		return 0;
	t->knee = t->points ? t->points - 1 : 0;
	for (u32 i = 0; i < RAPID_CHIRP_LEVELS; i++) {
		if (!t->knee || rapid_tail_slope(chirp, t, t->knee - 1) <= RAPID_TAIL_SLOPE_Q16)
			break;
		t->knee--;
	}
	return (int)t->knee;
}

RAPID_FN int rapid_tail_has_knee(const struct rapid *law, const struct rapid_tail *t)
{
	u64 rise, needed;

	if (t->knee + 1 >= t->points)
		return 0;
	rise = (u64)rapid_smax(0, rapid_difference((u64)rapid_tail_point(&law->chirp, t, t->points - 1)->delay,
						   (u64)rapid_tail_point(&law->chirp, t, t->knee)->delay));
	needed = RAPID_KNEE_PACKETS * rapid_gap_ns(law->flow.packet, law->chirp.rate[RAPID_CHIRP_LEVELS - 1]);
	return rise > rapid_max(needed, RAPID_KNEE_NS);
}

/* The rate of the highest level that has a stamp. */
RAPID_FN u64 rapid_tail_top(const struct rapid *law, const struct rapid_tail *t)
{
	return rapid_level_rate(&law->chirp, rapid_tail_level(t, t->points ? t->points - 1 : 0));
}

/*
 * Twice the rate (stamps are coarse) at which arrived what was sent from point `from` on: that is at least what is available. Where a
 * link sends what waits as one frame, delays fall within a frame, and hide that the path is full.
 */
RAPID_STAGE u64 rapid_tail_most(const struct rapid *law, const struct rapid_tail *t, u32 from)
{
	const struct rapid_point *first, *last;
	u64 packets = 0;
	s64 took;

	if (!law || !t || from >= t->points || !RAPID_HAS(CHIRP_ARRIVAL))
		return RAPID_RATE_CEILING;
	first = rapid_tail_point(&law->chirp, t, from);
	last = rapid_tail_point(&law->chirp, t, t->points - 1);
	took = rapid_difference(last->sent_ns + (u64)last->delay, first->sent_ns + (u64)first->delay);
	from = rapid_tail_level(t, from);
	for (u32 j = 0; j < RAPID_CHIRP_LEVELS; j++)
		packets += j >= from ? law->chirp.sent[j] : 0;
	return took > 0 ? rapid_bound(2 * rapid_rate_of(packets * law->flow.packet, (u64)took)) : RAPID_RATE_CEILING;
}

/*
 * Returns the available bandwidth at the knee, which there must be: two points at least from there on. Notes the capacity, from the
 * next slope where there is one.
 */
RAPID_FN u64 rapid_tail_available(struct rapid *law, const struct rapid_tail *t)
{
	const struct rapid_chirp *chirp = &law->chirp;
	u32 j = rapid_tail_level(t, t->knee), up = rapid_tail_level(t, t->knee + 1);
	s64 slope = rapid_tail_slope(chirp, t, t->knee), next = rapid_tail_slope(chirp, t, t->knee + 1);
	u64 rate = rapid_level_rate(chirp, j);
	u64 available = rate * RAPID_ONE / (u64)(RAPID_ONE + rapid_smax(slope, 0));
	u64 below = j ? rapid_level_rate(chirp, j - 1) : 0;

	law->envelope.inverse = RAPID_INVERSE_ONE / rapid_bound(available);
	if (next > slope && up > j) {
		u64 capacity = (rapid_level_rate(chirp, up) - rate) * RAPID_ONE / (u64)(next - slope);
		u64 excess = (u64)slope * rapid_min(capacity, RAPID_RATE_CEILING) >> 16;

		law->envelope.inverse = RAPID_INVERSE_ONE / rapid_bound(capacity);
		available = rapid_min(rate, rapid_max(rapid_above(rate, excess), RAPID_KNEE_LEAST(below)));
	}
	return rapid_min(available, rapid_tail_most(law, t, t->knee));
}

RAPID_FN void rapid_leave_startup(struct rapid *law, u64 rate)
{
	law->flow.startup = 0;
	rapid_set_rate(law, rate);
}

/* Leaves start-up where others fill the path. R was an eighth of this before it was raised. */
RAPID_FN void rapid_leave_lossy(struct rapid *law, const struct rapid_stream *s)
{
	rapid_leave_startup(law, s->rate / RAPID_LOSSY_KEEPS_PART);
}

/* Whether a level above the first that lost a packet lost none: a run of bits that ends at the top has no hole. */
RAPID_FN int rapid_chirp_has_hole(const struct rapid *law, u32 tried)
{
	u32 lost = law->chirp_lost, beyond = lost + (lost & (0 - lost));

	return lost && ((lost & beyond) || beyond < 1u << tried);
}

/* Whether others fill the path, so that a chirp does not show where it ends. */
RAPID_FN int rapid_chirp_is_crowded(const struct rapid *law, const struct rapid_stream *s, const struct rapid_tail *t)
{
	return RAPID_HAS(CHIRP_HOLE) && s->lost >= RAPID_CROWDED_LOST_PACKETS && RAPID_CROWDED_LOST_PART * s->lost >= s->sent &&
	       rapid_chirp_has_hole(law, t->tried);
}

/* Whether a newcomer's delay fell from the first point to the last: a queue that drains, by others' leave and not for long. */
RAPID_STAGE int rapid_tail_falls(const struct rapid_chirp *chirp, const struct rapid_tail *t, u64 more_than)
{
	u64 first, last;

	if (!chirp || !t || t->points < 2 || !RAPID_HAS(CHIRP_FALLS))
		return 0;
	first = (u64)rapid_tail_point(chirp, t, 0)->delay;
	last = (u64)rapid_tail_point(chirp, t, t->points - 1)->delay;
	return rapid_difference(first, last) > (s64)more_than;
}

/* Whether the delay moved from point to point, in whatever way. */
RAPID_STAGE int rapid_tail_moves(const struct rapid_chirp *chirp, const struct rapid_tail *t, u64 more_than)
{
	s64 low = 0, high = 0;

	if (!chirp || !t || !t->points || !RAPID_HAS(CHIRP_MOVES))
		return 0;
	for (u32 i = 1; i < RAPID_CHIRP_LEVELS + 1; i++) {
		s64 above;

		if (i >= t->points)
			break;
		above = rapid_difference((u64)rapid_tail_point(chirp, t, i)->delay, (u64)rapid_tail_point(chirp, t, 0)->delay);
		low = rapid_smin(low, above);
		high = rapid_smax(high, above);
	}
	return high - low > (s64)more_than;
}

/*
 * The rate after a chirp that met no limit: half of the highest level heard of, but a newcomer among others only doubles, and so does a
 * flow that begins anew.
 */
RAPID_FN u64 rapid_chirp_grown(const struct rapid *law, const struct rapid_stream *s, const struct rapid_tail *t)
{
	u64 least = RAPID_CHIRP_GROWTH_LEAST * s->rate, grown;
	u32 newcomer = law->streams < RAPID_NEW_STREAMS || law->anew;

	if (newcomer && rapid_tail_moves(&law->chirp, t, law->flow.rtt_ns / RAPID_CHIRP_MOVES_PART))
		return least;
	grown = rapid_min(rapid_tail_top(law, t) / RAPID_CHIRP_TRIED_PART, rapid_tail_most(law, t, t->points / 2));
	return RAPID_HAS(CHIRP_EIGHT) ? rapid_max(least, grown) : least;
}

/* Does what a chirp says. Returns 1 when that is to grow on. */
RAPID_STAGE int rapid_chirp_judge(struct rapid *law, const struct rapid_stream *s)
{
	struct rapid_tail t = {0};
	u64 duration, sent;
	int late;

	if (!law || !s)
		return 0;
	duration = s->end_ns - s->start_ns;
	sent = rapid_rate_of(s->bytes, duration);
	late = rapid_is_late(s, duration);
	law->chirping = 0;
	t.tried = s->app_limited ? (u32)rapid_min(s->whole, RAPID_CHIRP_LEVELS) : RAPID_CHIRP_LEVELS;
	if (!law->flow.startup || !t.tried)
		return 0;
	rapid_tail_collect(&law->chirp, &t);
	rapid_tail_find(&law->chirp, &t);
	if (rapid_chirp_is_crowded(law, s, &t)) {
		rapid_leave_lossy(law, s);
	} else if (rapid_tail_has_knee(law, &t)) {
		/* by no more than a clock may be fast: it may be a clock's doing */
		if (!t.knee && rapid_tail_slope(&law->chirp, &t, 0) <= RAPID_ONE / RAPID_SKEW_MOST_PART)
			law->chirp_rises = 1;
		law->available = rapid_tail_available(law, &t);
		if (late)
			law->available = rapid_min(law->available, sent);
		law->estimated = 1;
		rapid_leave_startup(law, rapid_max(s->rate / RAPID_LEAVE_LEAST_PART,
						   rapid_scale(law->available, RAPID_LEAVE_KNEE_Q16)));
	} else if (t.usable && t.usable < t.tried) {
		rapid_leave_startup(law, rapid_scale(rapid_level_rate(&law->chirp, t.usable - 1), RAPID_LEAVE_LOSS_Q16));
	} else if (!t.points) {
		/* Nothing can be read: retreat if much was lost, else ask again. */
		if (RAPID_UNREAD_LOST_PART * s->lost >= s->sent)
			rapid_leave_startup(law, s->rate / RAPID_LEAVE_LEAST_PART);
	} else if (late) {
		rapid_leave_startup(law, rapid_max(s->rate, sent));
	} else if (law->streams >= RAPID_NEW_STREAMS || !rapid_tail_falls(&law->chirp, &t, law->flow.rtt_ns / RAPID_CHIRP_FALLS_PART)) {
		rapid_set_rate(law, rapid_chirp_grown(law, s, &t));
		return 1;
	}
	return 0;
}

/* Reads a chirp that is back. */
RAPID_FN void rapid_chirp_read(struct rapid *law, const struct rapid_memory *memory, const struct rapid_stream *s, u64 now)
{
	struct rapid_stream *plain;

	if (!rapid_chirp_judge(law, s))
		return;
	plain = RAPID_STREAM(memory, law->flow.stream);
	if (law->flow.open && plain)
		rapid_close(&law->flow, plain);
	rapid_hurry(&law->flow, now);
}

/* Reads a plain stream that is back, or any stream that start-up left behind. */
RAPID_FN void rapid_plain_read(struct rapid *law, const struct rapid_stream *s)
{
	const struct rapid_envelope *e = &law->envelope;
	u64 tolerated = rapid_max(rapid_gap_ns(RAPID_PLAIN_PACKETS * law->flow.packet, s->rate),
				  rapid_max(RAPID_PLAIN_NS, RAPID_PLAIN_BATCHES * rapid_batch(e)));

	if (!law->flow.startup) {
		rapid_heed_heavy_loss(law, s, s->rate);
		return;
	}
	if (RAPID_HAS(PLAIN_LOSS) && s->lost >= RAPID_PLAIN_LOST_PACKETS && RAPID_PLAIN_LOST_PART * s->lost >= s->sent) {
		rapid_leave_lossy(law, s);
	} else if (e->queue_ns > tolerated && e->growth > RAPID_PLAIN_GROWING_Q16 && RAPID_HAS(PLAIN_QUEUE)) {
		rapid_leave_startup(law, RAPID_PLAIN_KEEPS(law->flow.rate) * RAPID_ONE / (u64)(RAPID_ONE + e->growth));
	}
}

#endif
