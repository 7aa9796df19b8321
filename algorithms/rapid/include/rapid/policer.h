/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Policers: a token bucket that drops what exceeds its rate, and makes no queue.
 *
 * No delay shows such a limit. Loss does; but so it does on a lossy line, where a sender that
 * slows down only loses throughput. What tells them apart is what a slower sender loses. A flow
 * that loses 4 to 20 % of its packets, without a queue, and without a pause in which it loses none, asks: it
 * sends less, by the part p that it loses and 1/32, until it would have lost 16 packets.
 *
 *     lost p/4 at most     a limit: the rate is held to what it is now
 *     lost more            a lossy line, or others: it asks again after 64 round trips, then
 *                          after twice as many, up to 2^6 times
 *
 * It counts and asks for at least 16 round trips, and for 250 ms. For as long a held rate lasts each
 * step by which it grows, the first one up to 2^4 times as long where the limit is met again and again:
 *
 *     limit (1 + (2^k - 1) / 64),   k = 0, 1, ... 6
 *
 * A step in which 1/128 is lost ends two steps below, since the bucket had tokens for the one before. Where the
 * first step loses as much, the flow asks again. After the last, at twice the limit, nothing is held.
 */
#ifndef RAPID_POLICER_H
#define RAPID_POLICER_H

#include "queue.h"

/* A flow counts and asks, and a step of a held rate lasts, for so long at least. */
#define RAPID_POLICER_ROUNDS 16
#define RAPID_POLICER_LEAST_NS 250000000ULL
/* What may be a limit: 16 packets (where so many are expected, four or fewer come once in 2500 times), and 4 to 20 % lost, */
#define RAPID_POLICER_LOST_PACKETS 16
#define RAPID_POLICER_LOST_LEAST_Q16 RAPID_Q16(40)
#define RAPID_POLICER_LOST_MOST_Q16 RAPID_Q16(200)
/* and no pause of half that time: losses by chance have one once in 2000 times, bursts nearly always. */
#define RAPID_POLICER_PAUSE_PART 2
/* Counts of less in four times that time are forgotten. */
#define RAPID_POLICER_FORGETS_TIMES 4
/* A flow asks with 1/32 less than what came through. It was a limit if it then loses a quarter as much. */
#define RAPID_POLICER_ASK_PART 32
#define RAPID_POLICER_LESS 4
/* It asks again after 64 round trips, then twice as many. */
#define RAPID_POLICER_AGAIN_ROUNDS 64
#define RAPID_POLICER_AGAIN_DOUBLINGS 6
/* A held rate grows by 1/64, 2/64, ... */
#define RAPID_POLICER_GROWTH_PART 64
#define RAPID_POLICER_STEPS 6
#define RAPID_POLICER_WAIT_DOUBLINGS 4
/* until four packets and 1/128 are lost, which ends two steps below. */
#define RAPID_POLICER_MET_PACKETS 4
#define RAPID_POLICER_MET_Q16 (RAPID_ONE / 128)
#define RAPID_POLICER_BACK_STEPS 2
/* Counts are halved from here on, and times end here. */
#define RAPID_POLICER_COUNT_MOST (1u << 15)
#define RAPID_POLICER_MS_MOST 65535

/* What a flow may send at most. */
RAPID_FN u64 rapid_policed(const struct rapid *law)
{
	const struct rapid_policer *p = &law->policer;

	if (!p->limit)
		return RAPID_RATE_CEILING;
	return p->limit + p->limit * ((1u << p->steps) - 1) / RAPID_POLICER_GROWTH_PART;
}

/* Counts from `since` on. */
RAPID_FN void rapid_policer_count(struct rapid_policer *p, u64 since)
{
	p->since_ns = since;
	p->sent = 0;
	p->lost = p->lost_ms = p->pause_ms = 0;
}

/* What a rate that asks is of the one before, Q16. */
RAPID_FN u64 rapid_policer_keeps(const struct rapid_policer *p)
{
	return rapid_above(RAPID_ONE - RAPID_ONE / RAPID_POLICER_ASK_PART, p->part);
}

/* Holds the rate to `limit`. */
RAPID_FN void rapid_police(struct rapid *law, u64 limit, u64 now)
{
	struct rapid_policer *p = &law->policer;

	p->limit = rapid_bound(limit);
	p->steps = 0;
	rapid_set_rate(law, rapid_min(law->rate, p->limit));
	rapid_policer_count(p, now);
}

/* Asks with less than `rate`. */
RAPID_FN void rapid_policer_ask(struct rapid *law, u64 rate, u64 now)
{
	struct rapid_policer *p = &law->policer;

	p->part = (u32)rapid_min((u64)rapid_fraction(p->lost, p->sent), RAPID_POLICER_LOST_MOST_Q16);
	rapid_police(law, rapid_scale(rate, rapid_policer_keeps(p)), now);
}

/* There was no limit, or there is none any more. */
RAPID_FN void rapid_unpolice(struct rapid *law, u64 now)
{
	struct rapid_policer *p = &law->policer;

	if (p->part) {
		rapid_set_rate(law, rapid_min(law->rate, p->limit) * RAPID_ONE / rapid_policer_keeps(p));
		p->times = (u8)rapid_min(p->times + 1, RAPID_POLICER_AGAIN_DOUBLINGS);
	} else {
		p->times = 0;
	}
	p->limit = 0;
	p->part = 0;
	rapid_policer_count(p, now + ((RAPID_POLICER_AGAIN_ROUNDS * law->rtt_ns) << p->times));
}

/* A stream of a flow that asks is back. */
RAPID_FN void rapid_policer_answer(struct rapid *law, u64 now)
{
	struct rapid_policer *p = &law->policer;

	if (p->sent * (u64)p->part < RAPID_POLICER_LOST_PACKETS * RAPID_ONE)
		return;
	if (RAPID_POLICER_LESS * rapid_fraction(p->lost, p->sent) > (s64)p->part) {
		rapid_unpolice(law, now);
		return;
	}
	p->part = 0;
	p->times = 0;
	rapid_policer_count(p, now);
}

/* A stream of a held rate is back; `enough` has passed for a step. */
RAPID_FN void rapid_policer_hold(struct rapid *law, u64 now, u32 enough)
{
	struct rapid_policer *p = &law->policer;

	if (p->lost >= RAPID_POLICER_MET_PACKETS && rapid_fraction(p->lost, p->sent) >= RAPID_POLICER_MET_Q16) {
		if (!p->steps) {
			rapid_policer_ask(law, p->limit, now);
			return;
		}
		p->times = (u8)rapid_min(p->times + 1, RAPID_POLICER_WAIT_DOUBLINGS);
		p->steps = (u8)rapid_above(p->steps, RAPID_POLICER_BACK_STEPS);
		rapid_police(law, rapid_policed(law), now);
	} else if (enough) {
		p->steps++;
		rapid_policer_count(p, now);
		if (p->steps > RAPID_POLICER_STEPS)
			rapid_unpolice(law, now);
	}
}

/* Counts what a stream lost, and for how long none did. */
RAPID_FN void rapid_policer_add(struct rapid_policer *p, const struct rapid_stream *s, u64 now)
{
	u64 ms = rapid_min((now - p->since_ns) / RAPID_NS_PER_MS, RAPID_POLICER_MS_MOST);

	if (p->lost >= RAPID_POLICER_COUNT_MOST) {
		p->sent /= 2;
		p->lost /= 2;
	}
	p->sent += s->sent;
	p->lost = (u16)(p->lost + rapid_min(s->lost, RAPID_POLICER_COUNT_MOST));
	p->pause_ms = (u16)rapid_max(p->pause_ms, rapid_above(ms, p->lost_ms));
	if (s->lost)
		p->lost_ms = (u16)ms;
}

/* Whether what was counted in `since` may be a policer's. */
RAPID_FN int rapid_may_be_policed(const struct rapid *law, u64 since)
{
	const struct rapid_policer *p = &law->policer;
	s64 part = rapid_fraction(p->lost, p->sent);

	return part >= RAPID_POLICER_LOST_LEAST_Q16 && part <= RAPID_POLICER_LOST_MOST_Q16 &&
	       RAPID_POLICER_PAUSE_PART * RAPID_NS_PER_MS * (u64)p->pause_ms <= since &&
	       law->envelope.queue_ns <= rapid_tolerated_queue(law, law->rate);
}

/* A probe stream is back, and its queue is noted. One that lost all its packets tells of an outage. */
RAPID_STAGE int rapid_meets_policer(struct rapid *law, const struct rapid_stream *s, u64 now)
{
	struct rapid_policer *p;
	u64 since, wait;

	if (!law || !s)
		return 0;
	p = &law->policer;
	if (s->start_ns < p->since_ns || now < p->since_ns || s->lost >= s->sent)
		return 0;
	rapid_policer_add(p, s, now);
	since = now - p->since_ns;
	wait = rapid_max(RAPID_POLICER_ROUNDS * law->rtt_ns, RAPID_POLICER_LEAST_NS);
	if (p->limit && !p->part) {
		rapid_policer_hold(law, now, since >= (p->steps ? wait : wait << p->times));
	} else if (since >= wait && p->part) {
		rapid_policer_answer(law, now);
	} else if (since >= wait && p->lost >= RAPID_POLICER_LOST_PACKETS) {
		if (rapid_may_be_policed(law, since))
			rapid_policer_ask(law, law->rate, now);
		else
			rapid_policer_count(p, now);
	} else if (since >= RAPID_POLICER_FORGETS_TIMES * wait) {
		rapid_policer_count(p, now);
	}
	return 1;
}

#endif
