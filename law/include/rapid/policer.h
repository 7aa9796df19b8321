/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Policers: a token bucket that drops what exceeds its rate, and makes no queue.
 *
 * No delay shows such a limit. Loss does; but so it does on a lossy line, where a sender that
 * slows down only loses throughput. What tells them apart is what a slower sender loses. A flow
 * that loses 4 to 20 % of its packets for 16 round trips, without a queue, and never for
 * a quarter of that time none, asks: it sends 1/32 less than what came through, until it would have lost 16 packets. With p,
 * the part that it lost:
 *
 *     lost p/4 at most     a limit: the rate is held to what it is now
 *     lost more            a lossy line, or others: it asks again after 64 round trips, then
 *                          after twice as many, up to 2^6 times
 *
 * A held rate grows in steps of 4 round trips:
 *
 *     limit (1 + (2^k - 1) / 64),   k = 0, 1, ... 6
 *
 * The first lasts 16, and 32 where the limit is met again.
 *
 * It meets the limit where it loses for two round trips and more, without a pause. Then the bucket is empty, so what came
 * through meanwhile is the limit. Bursts of loss are shorter: they change nothing. After the last step, at twice the limit,
 * nothing is held. A limit becomes less only where the flow asks again, in the first step.
 *
 * All these times are at least 250 ms, but for that of losses, which is at least 100: buckets do not know of round trips.
 */
#ifndef RAPID_POLICER_H
#define RAPID_POLICER_H

#include "queue.h"

/* A flow counts and asks for so long, at least. */
#define RAPID_POLICER_ROUNDS 16
#define RAPID_POLICER_LEAST_NS 250000000ULL
/* What may be a limit: 16 packets (where so many are expected, four or fewer come once in 2500 times), and 4 to 20 % lost, */
#define RAPID_POLICER_LOST_PACKETS 16
#define RAPID_POLICER_LOST_LEAST_Q16 RAPID_Q16(40)
#define RAPID_POLICER_LOST_MOST_Q16 RAPID_Q16(200)
/* no pause of a quarter of that time: 16 losses by chance have one once in five times, bursts nearly always; */
#define RAPID_POLICER_PAUSE_PART 4
/* no loss in a stream that met a queue of 1/64 of a round trip; */
#define RAPID_POLICER_QUEUE_PART 64
/* a rate that is less than 1/8 above what was counted: where it still rises, the path has no end; */
#define RAPID_POLICER_CLIMBS_PART 8
/* and a rate from which it would not begin anew (anew.h). */
#define RAPID_POLICER_PACKETS 4
/* Counts of less in four times that time are forgotten. */
#define RAPID_POLICER_FORGETS_TIMES 4
/* A flow asks with 1/32 less than what came through. It was a limit if it then loses a quarter as much. */
#define RAPID_POLICER_ASKS_Q16 (RAPID_ONE - RAPID_ONE / 32)
#define RAPID_POLICER_LESS 4
/* It asks again after 64 round trips, then twice as many. */
#define RAPID_POLICER_AGAIN_ROUNDS 64
#define RAPID_POLICER_AGAIN_DOUBLINGS 6
/* A held rate grows by 1/64, 2/64, ... */
#define RAPID_POLICER_STEP_ROUNDS 4
#define RAPID_POLICER_GROWTH_PART 64
#define RAPID_POLICER_STEPS 6
#define RAPID_POLICER_WAIT_DOUBLINGS 1
/* until it loses four packets and 1/128 in two round trips and more, with no more than one, or than 64 packets, between two losses. */
#define RAPID_POLICER_MET_PACKETS 4
#define RAPID_POLICER_MET_Q16 (RAPID_ONE / 128)
#define RAPID_POLICER_MET_ROUNDS 2
#define RAPID_POLICER_MET_NS 100000000ULL
#define RAPID_POLICER_APART_PACKETS 64
/* Times end here. */
#define RAPID_POLICER_MS_MOST 65535

/* What a flow may send at most. */
RAPID_FN u64 rapid_policed(const struct rapid *law)
{
	const struct rapid_policer *p = &law->policer;

	if (!p->limit)
		return RAPID_RATE_CEILING;
	return p->limit + p->limit * ((1u << p->steps) - 1) / RAPID_POLICER_GROWTH_PART;
}

/* Whether the flow counts losses without a queue, or asks. */
RAPID_FN int rapid_suspects_policer(const struct rapid *law) { return law->policer.part || law->policer.lost; }

/* Counts streams that begin from `since` on; the time begins with the first of them. */
RAPID_FN void rapid_policer_count(struct rapid_policer *p, u64 since)
{
	p->since_ns = since;
	p->sent = 0;
	p->lost = 0;
	p->lost_ms = p->mark_ms = 0;
}

/* Holds the rate to `limit`. */
RAPID_FN void rapid_police(struct rapid *law, u64 limit, u64 now)
{
	struct rapid_policer *p = &law->policer;

	p->limit = rapid_bound(limit);
	p->steps = 0;
	rapid_set_rate(law, rapid_min(law->flow.rate, p->limit));
	rapid_policer_count(p, now);
}

/* 1/32 less than what came through of the packets counted, which were sent in `span`. */
RAPID_FN u64 rapid_policer_through(const struct rapid *law, u64 span)
{
	const struct rapid_policer *p = &law->policer;

	return rapid_scale((p->sent - p->lost) * RAPID_NS_PER_S / rapid_max(span / law->flow.packet, 1), RAPID_POLICER_ASKS_Q16);
}

RAPID_FN void rapid_policer_ask(struct rapid *law, u64 span, u64 now)
{
	struct rapid_policer *p = &law->policer;

	p->part = (u16)rapid_fraction(p->lost, p->sent);
	rapid_police(law, rapid_policer_through(law, span), now);
}

/* There was no limit, or there is none any more. The rate finds its way back by itself. */
RAPID_FN void rapid_unpolice(struct rapid *law, u64 now)
{
	struct rapid_policer *p = &law->policer;

	rapid_policer_count(p, p->part ? now + ((RAPID_POLICER_AGAIN_ROUNDS * law->flow.rtt_ns) << p->times) : now);
	p->times = p->part ? (u8)rapid_min(p->times + 1, RAPID_POLICER_AGAIN_DOUBLINGS) : 0;
	p->limit = 0;
	p->part = 0;
	p->steps = 0;
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

/* Counts what a stream lost, and for how long none was. */
RAPID_FN void rapid_policer_add(struct rapid_policer *p, const struct rapid_stream *s, u64 apart_ns)
{
	u64 from, until;

	if (!p->sent)
		p->since_ns = s->start_ns;
	from = rapid_min((s->start_ns - p->since_ns) / RAPID_NS_PER_MS, RAPID_POLICER_MS_MOST);
	until = rapid_min((s->end_ns - p->since_ns) / RAPID_NS_PER_MS, RAPID_POLICER_MS_MOST);
	/* of a rate that grows only losses near each other count */
	if (p->steps && s->lost && (!p->lost || (from > p->lost_ms && (from - p->lost_ms) * RAPID_NS_PER_MS > apart_ns))) {
		p->sent = p->lost = 0;
		p->mark_ms = (u16)from;
	}
	p->sent += s->sent;
	p->lost += s->lost;
	/* what came through in a time in which the application paused says nothing of the path */
	if (!p->steps)
		p->mark_ms = (u16)rapid_max(p->mark_ms, s->app_limited ? RAPID_POLICER_MS_MOST : rapid_above(until, p->lost_ms));
	if (s->lost)
		p->lost_ms = (u16)until;
}

/* Whether more comes through now than on average of what was counted. */
RAPID_FN int rapid_is_climbing(const struct rapid *law, s64 part, u64 span)
{
	return rapid_scale(law->flow.rate, (u64)(RAPID_ONE - part)) * RAPID_POLICER_CLIMBS_PART >
	       rapid_policer_through(law, span) * (RAPID_POLICER_CLIMBS_PART + 1);
}

/* Whether what was counted may be a policer's; it was sent in `span`. */
RAPID_FN int rapid_may_be_policed(const struct rapid *law, u64 span)
{
	const struct rapid_policer *p = &law->policer;
	s64 part = rapid_fraction(p->lost, p->sent);
	u64 pause = p->mark_ms * RAPID_NS_PER_MS;

	return p->lost >= RAPID_POLICER_LOST_PACKETS && part >= RAPID_POLICER_LOST_LEAST_Q16 &&
	       part <= RAPID_POLICER_LOST_MOST_Q16 && RAPID_POLICER_PAUSE_PART * pause <= span &&
	       rapid_window_packets(&law->flow) >= RAPID_POLICER_PACKETS && !rapid_is_climbing(law, part, span);
}

/* So many round trips, and 250 ms at least. */
RAPID_FN u64 rapid_policer_wait(const struct rapid *law, u64 rounds)
{
	return rapid_max(rounds * law->flow.rtt_ns, RAPID_POLICER_LEAST_NS);
}

/* Whether the limit is met: losses near each other. In the first step all losses count, so there it is not. */
RAPID_FN int rapid_meets_limit(const struct rapid *law, const struct rapid_stream *s, u64 losing)
{
	const struct rapid_policer *p = &law->policer;

	return p->steps && s->lost && p->lost >= RAPID_POLICER_MET_PACKETS &&
	       losing >= rapid_max(RAPID_POLICER_MET_ROUNDS * law->flow.rtt_ns, RAPID_POLICER_MET_NS) &&
	       rapid_fraction(p->lost, p->sent) >= RAPID_POLICER_MET_Q16;
}

/* A stream of a held rate is back, and `span` of the step has passed. */
RAPID_FN void rapid_policer_hold(struct rapid *law, const struct rapid_stream *s, u64 span, u64 now)
{
	struct rapid_policer *p = &law->policer;
	u64 losing = rapid_above(p->lost_ms, p->mark_ms) * RAPID_NS_PER_MS;
	u64 wait = rapid_policer_wait(law, p->steps ? RAPID_POLICER_STEP_ROUNDS : RAPID_POLICER_ROUNDS);

	if (rapid_meets_limit(law, s, losing)) {
		p->times = (u8)rapid_min(p->times + 1, RAPID_POLICER_WAIT_DOUBLINGS);
		rapid_police(law, rapid_clamp(rapid_policer_through(law, losing), p->limit, rapid_policed(law)), now);
	} else if (!p->steps && span >= wait && rapid_may_be_policed(law, span)) {
		rapid_policer_ask(law, span, now);
	} else if (span >= (p->steps ? wait : wait << p->times)) {
		p->steps++;
		rapid_policer_count(p, now);
		if (p->steps > RAPID_POLICER_STEPS)
			rapid_unpolice(law, now);
	}
}

/* A probe stream is back, and its queue is noted. One that lost all its packets tells of an outage. */
RAPID_STAGE int rapid_meets_policer(struct rapid *law, const struct rapid_stream *s, u64 now)
{
	struct rapid_policer *p;
	u64 span, apart;
	u32 enough, queued;

	if (!law || !s || !RAPID_HAS(POLICER))
		return 0;
	p = &law->policer;
	if (s->start_ns < p->since_ns || s->end_ns <= s->start_ns || s->lost >= s->sent)
		return 0;
	apart = rapid_gap_ns(RAPID_POLICER_APART_PACKETS * law->flow.packet, law->flow.rate);
	rapid_policer_add(p, s, rapid_max(law->flow.rtt_ns, apart));
	span = s->end_ns - p->since_ns;
	enough = span >= rapid_policer_wait(law, RAPID_POLICER_ROUNDS);
	queued = law->envelope.queue_ns > law->flow.rtt_ns / RAPID_POLICER_QUEUE_PART + rapid_stamped_queue(law);
	if (p->limit && !p->part) {
		rapid_policer_hold(law, s, span, now);
	} else if (p->part) {
		if (s->lost && queued)
			rapid_unpolice(law, now);
		else if (enough)
			rapid_policer_answer(law, now);
	} else if (enough && !queued && rapid_may_be_policed(law, span)) {
		rapid_policer_ask(law, span, now);
	} else if ((s->lost && queued) || span >= RAPID_POLICER_FORGETS_TIMES * rapid_policer_wait(law, RAPID_POLICER_ROUNDS)) {
		rapid_policer_count(p, now);
	}
	return 1;
}

#endif
