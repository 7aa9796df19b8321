/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Start-up of the default law: one wide chirp a round trip.
 *
 * From R = 10 packets per handshake round trip, a chirp of nine levels R 2^(j/2)
 * (up to 16 R) goes out; between chirps packets leave at R. When a chirp has
 * come back, the longest rising tail of its envelope tells where the path ended:
 *
 *     no knee                    R = 8 R, and the next chirp at once
 *     knee in level j, slope k_j A = r_j / (1 + k_j); the next slope gives 1/C,
 *                                and A = r_j - k_j C; leave with max(R/2, 0.92 A)
 *     losses in level K          the levels below K count; without a knee in them
 *                                leave with 0.85 r_(K-1)
 *     a growing standing queue,  leave at once
 *     or half a stream lost
 *
 * What a chirp can do to others is bounded by its tail: 2 to 9 packets at low
 * rates, 9 levels of 50 us at high ones.
 *
 * Streams that start-up leaves in flight are read for the queue, its growth and
 * heavy loss only.
 *
 * A chirp that the application interrupted says nothing, and is sent again. One
 * that took over 9/8 of its plan says no more than what was really sent; the
 * sender cannot do better, and start-up ends.
 *
 * Where delayed acknowledgments leave the first half of a level without a stamp,
 * its second half stands for it: a point carries its own time.
 */
#ifndef RAPID_STARTUP_H
#define RAPID_STARTUP_H

#include "envelope.h"

#define RAPID_CHIRP_LEVEL_NS 50000

/* 2^(j/2) in Q16. */
RAPID_FN u64 rapid_chirp_rate(u64 rate, u32 level)
{
	u64 octave = rate << (level / 2);

	return rapid_bound(level % 2 ? rapid_scale(octave, 92682) : octave);
}

RAPID_FN u32 rapid_chirp_length(const struct rapid *law, u32 level, u64 rate)
{
	u32 n = (u32)rapid_max(2, rapid_bytes_in(rate, RAPID_CHIRP_LEVEL_NS) / law->params.packet);

	return level == RAPID_CHIRP_LEVELS - 1 ? n + 1 : n;
}

/* Opens a chirp when none is under way, else a plain stream. */
RAPID_FN void rapid_startup_open(struct rapid *law, const struct rapid_memory *memory)
{
	struct rapid_chirp *chirp = &law->chirp;

	if (law->chirping) {
		rapid_open(law, memory, RAPID_PLAIN, law->rate, rapid_level_length(law));
		return;
	}
	if (!rapid_open(law, memory, RAPID_CHIRP, law->rate, 0))
		return;
	law->chirping = 1;
	for (u32 j = 0; j < RAPID_CHIRP_LEVELS; j++) {
		chirp->rate[j] = rapid_chirp_rate(law->rate, j);
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

/* What a chirp shows: points of the envelope, and the slopes between them. */
struct rapid_tail {
	struct rapid_point point[RAPID_CHIRP_LEVELS + 1];
	u8 level[RAPID_CHIRP_LEVELS + 1];
	u32 points;
	u32 usable; /* levels below this one lost little */
	u32 knee;   /* first point of the rising tail */
};

RAPID_FN s64 rapid_tail_slope(const struct rapid_tail *t, u32 i)
{
	if (i + 1 >= t->points || i >= RAPID_CHIRP_LEVELS)
		return 0;
	return rapid_slope(rapid_difference((u64)t->point[i + 1].delay, (u64)t->point[i].delay),
			   t->point[i + 1].sent_ns - t->point[i].sent_ns);
}

RAPID_FN void rapid_tail_add(struct rapid_tail *t, const struct rapid_point *p, u32 level)
{
	u32 i = RAPID_INDEX(t->points, RAPID_CHIRP_LEVELS + 1);

	if (t->points > RAPID_CHIRP_LEVELS || p->delay == RAPID_UNSEEN)
		return;
	t->point[i] = *p;
	t->level[i] = (u8)level;
	t->points = i + 1;
}

/* Collects the points of the usable levels and finds the longest rising tail. */
RAPID_FN void rapid_tail_find(const struct rapid_chirp *chirp, struct rapid_tail *t)
{
	t->points = 0;
	t->usable = RAPID_CHIRP_LEVELS;
	for (u32 j = 0; j < RAPID_CHIRP_LEVELS; j++) {
		const struct rapid_point *low = chirp->low[j];

		if (j >= t->usable)
			break;
		if (chirp->lost[j] >= 3 && 8 * chirp->lost[j] >= chirp->sent[j]) {
			t->usable = j;
			break;
		}
		rapid_tail_add(t, low[0].delay != RAPID_UNSEEN ? &low[0] : &low[1], j);
		if (j == RAPID_CHIRP_LEVELS - 1 && low[0].delay != RAPID_UNSEEN)
			rapid_tail_add(t, &low[1], j);
	}
	t->knee = t->points ? t->points - 1 : 0;
	for (u32 i = 0; i < RAPID_CHIRP_LEVELS; i++) {
		if (!t->knee || rapid_tail_slope(t, t->knee - 1) <= RAPID_Q16(20))
			break;
		t->knee--;
	}
}

RAPID_FN int rapid_tail_has_knee(const struct rapid *law, const struct rapid_tail *t)
{
	u64 rise, needed;

	if (t->knee + 1 >= t->points || t->points > RAPID_CHIRP_LEVELS + 1)
		return 0;
	rise = (u64)rapid_smax(0, rapid_difference((u64)t->point[t->points - 1].delay, (u64)t->point[t->knee].delay));
	needed = 2 * rapid_gap_ns(law->params.packet, law->chirp.rate[RAPID_CHIRP_LEVELS - 1]);
	return rise > rapid_max(needed, 500);
}

/* Available bandwidth at the knee, and the capacity where the next slope tells. */
RAPID_FN u64 rapid_tail_available(struct rapid *law, const struct rapid_tail *t)
{
	const struct rapid_chirp *chirp = &law->chirp;
	u32 i = t->knee < RAPID_CHIRP_LEVELS ? t->knee : 0;
	u32 j = t->level[i] < RAPID_CHIRP_LEVELS ? t->level[i] : 0;
	u32 up = t->level[i + 1] < RAPID_CHIRP_LEVELS ? t->level[i + 1] : 0;
	s64 slope = rapid_tail_slope(t, i), next = rapid_tail_slope(t, i + 1);
	u64 rate = chirp->rate[j];
	u64 available = rate * RAPID_ONE / (u64)(RAPID_ONE + rapid_smax(slope, 0));
	u64 below = j ? chirp->rate[RAPID_INDEX(j - 1, RAPID_CHIRP_LEVELS)] : 0;

	law->envelope.inverse = (1ULL << 56) / rapid_bound(available);
	if (next > slope && up > j) {
		u64 capacity = (chirp->rate[up] - rate) * RAPID_ONE / (u64)(next - slope);
		u64 excess = (u64)slope * rapid_min(capacity, RAPID_RATE_CEILING) >> 16;

		law->envelope.inverse = (1ULL << 56) / rapid_bound(capacity);
		available = rapid_min(rate, rapid_max(rapid_above(rate, excess), below / 10 * 9));
	}
	return available;
}

RAPID_FN void rapid_leave_startup(struct rapid *law, u64 rate)
{
	law->startup = 0;
	rapid_set_rate(law, rate);
}

/* What a chirp says; 1 when that is to go on growing. */
RAPID_STAGE int rapid_chirp_judge(struct rapid *law, const struct rapid_stream *s)
{
	struct rapid_tail t = {0};
	u64 duration, sent;
	int late;

	if (!law || !s)
		return 0;
	duration = s->end_ns - s->start_ns;
	sent = rapid_rate_of(s->bytes, duration);
	late = duration > (s->planned_q10 + s->planned_q10 / 8) >> 10;
	law->chirping = 0;
	if (!law->startup || s->app_limited)
		return 0;
	rapid_tail_find(&law->chirp, &t);
	if (rapid_tail_has_knee(law, &t)) {
		law->available = rapid_tail_available(law, &t);
		if (late)
			law->available = rapid_min(law->available, sent);
		law->estimated = 1;
		rapid_leave_startup(law, rapid_max(s->rate / 2, rapid_scale(law->available, RAPID_Q16(920))));
	} else if (t.usable && t.usable < RAPID_CHIRP_LEVELS) {
		rapid_leave_startup(law, rapid_scale(law->chirp.rate[t.usable - 1], RAPID_Q16(850)));
	} else if (!t.points || !t.usable) {
		/* Nothing can be read: retreat if much was lost, else ask again. */
		if (4 * s->lost >= s->sent)
			rapid_leave_startup(law, s->rate / 2);
	} else if (late) {
		rapid_leave_startup(law, rapid_max(s->rate, sent));
	} else {
		rapid_set_rate(law, 8 * s->rate);
		return 1;
	}
	return 0;
}

/* A chirp is back. */
RAPID_FN void rapid_chirp_read(struct rapid *law, const struct rapid_memory *memory, const struct rapid_stream *s, u64 now)
{
	struct rapid_stream *plain;

	if (!rapid_chirp_judge(law, s))
		return;
	plain = RAPID_STREAM(memory, law->stream);
	if (law->open && plain)
		rapid_close(law, plain);
	rapid_hurry(law, now);
}

/* A plain stream is back, or any stream that start-up left behind. */
RAPID_FN void rapid_plain_read(struct rapid *law, const struct rapid_stream *s)
{
	const struct rapid_envelope *e = &law->envelope;
	u64 tolerated = rapid_max(rapid_gap_ns(4 * law->params.packet, s->rate), rapid_max(50000, 2 * rapid_batch(e)));

	if (!law->startup) {
		rapid_heed_heavy_loss(law, s, s->rate);
		return;
	}
	if (s->lost >= 2 && 2 * s->lost >= s->sent) {
		s64 kept = RAPID_ONE - rapid_fraction(s->lost, s->sent);

		rapid_leave_startup(law, rapid_scale(s->rate, rapid_max(RAPID_ONE / 4, (u64)kept * 9 / 10)));
	} else if (e->queue_ns > tolerated && e->growth > RAPID_Q16(100)) {
		rapid_leave_startup(law, law->rate * 9 / 10 * RAPID_ONE / (u64)(RAPID_ONE + e->growth));
	}
}

#endif
