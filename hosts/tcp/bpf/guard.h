/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A bound that no arrival time can lift: a receiver may lie about when packets
 * arrived, but what it has acknowledged, it has acknowledged.
 *
 * The bytes newly acknowledged are counted over epochs of a round trip (at least
 * 5 ms). After start-up the rate is at most 1.25 times the higher of the last two
 * epochs', and 17/16 of the last one's if 1/32 of its packets were lost: a bound that
 * is always reached must stay below the factor it is there for. During start-up,
 * which grows eightfold per round trip, ten times. What
 * an idle sender did not send was not acknowledged either: an epoch in which it had
 * nothing to send sets no bound.
 */
#ifndef PACKETSCALE_GUARD_H
#define PACKETSCALE_GUARD_H

#include "law.h"

#define EPOCH_MIN_NS 5000000ULL
/* Below this many packets an epoch says little about a rate. */
#define EPOCH_PACKETS 8

INLINE void guard(struct conn *c, u64 now, u64 acked)
{
	struct guard *g = &c->guard;
	u64 lasted = rapid_above(now, g->since_ns), highest, bound;

	g->acked += acked;
	if (lasted < rapid_max(EPOCH_MIN_NS, c->law.srtt_ns))
		return;
	g->rate[1] = g->rate[0];
	g->rate[0] = g->idled ? RAPID_RATE_CEILING : rapid_rate_of(rapid_min(g->acked, 1ULL << 33), lasted);
	highest = rapid_max(g->rate[0], g->rate[1]);
	bound = c->law.startup ? 10 * highest : highest + highest / 4;
	if (!c->law.startup && 32 * (c->report.lost - g->lost) > c->report.delivered - g->delivered)
		bound = g->rate[0] + g->rate[0] / 16;
	if (g->since_ns && g->acked > EPOCH_PACKETS * c->law.params.packet && c->law.rate > bound) {
		c->report.capped++;
		law_cap(c, bound);
	}
	g->since_ns = now;
	g->acked = 0;
	g->lost = c->report.lost;
	g->delivered = c->report.delivered;
	g->idled = 0;
}

#endif
