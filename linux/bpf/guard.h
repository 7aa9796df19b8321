/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A bound that holds whatever arrival times are reported: a receiver may lie about when packets
 * arrived, but not about what it has acknowledged.
 *
 * The guard counts the bytes newly acknowledged over epochs of a round trip (at
 * least 5 ms). After start-up the rate is at most 1.25 times the higher of the last
 * two epochs', and 17/16 of the last one's if 1/32 of its packets were lost: a bound
 * that is always reached must stay below the factor that it enforces. During start-up,
 * which grows eightfold per round trip, it is ten times. An epoch in which the sender
 * was idle does not lower the bound, since data that were not sent were not acknowledged
 * either. Nor does it raise it: a peer can make a sender idle, by closing its window. The same holds while TCP repairs
 * the losses of its timeout, for REPAIR_EPOCHS: an outage is no rate.
 *
 * An application that pauses has no such rate at all: 60 kB that leave in 10 ms every 140 ms are acknowledged at a
 * fourteenth of the rate at which they left. Then the guard bounds the data per round trip, as TCP's window does, and not
 * their rate: at most twice what was acknowledged in two consecutive epochs, and a stream's slack; after losses once that
 * of one epoch. The pause remains in effect for PAUSE_EPOCHS: acknowledgments are a round trip behind, and data may grow up to
 * 2.7 times in each. An epoch's acknowledged data are scaled to a round trip without queue, by its longest smoothed round trip,
 * so that a peer that lies about arrivals has some four bandwidth-delay products in flight (of the law's least round trip, 20 ms, where the path is shorter).
 * One that also withholds acknowledgments and releases them all at once can double that repeatedly, as in TCP's slow start,
 * until losses or the load's widest window.
 */
#ifndef PACKETSCALE_GUARD_H
#define PACKETSCALE_GUARD_H

#include "counters.h"
#include "law.h"

#define EPOCH_MIN_NS 5000000ULL
/* Below this many packets an epoch is too short to measure a rate. */
#define EPOCH_PACKETS 8
/* Above the rate acknowledged: 1/4, after losses 1/16; losses count from 1/32 of the packets. */
#define HEADROOM_PART 4
#define HEADROOM_LOSSY_PART 16
#define LOSSY_PART 32
/* During start-up, times the rate acknowledged. */
#define STARTUP_TIMES 10
/* A window, twice the path's capacity, is retransmitted at half the rate in four of them. */
#define REPAIR_EPOCHS 16
/* Epochs after one in which the application paused. */
#define PAUSE_EPOCHS 3
/* After a pause, times what two round trips carried: a slow start doubles. */
#define PAUSE_TIMES 2
/* What was carried once counts for less by this part with each epoch. */
#define CARRIED_AGES_PART 8
/* As many bytes as rapid_rate_of can count. */
#define EPOCH_BYTES_MAX (1ULL << 33)

/* Maximum packets in flight while the application pauses now and then, whatever the law allows. */
INLINE u64 guard_window(const struct conn *c)
{
	const struct guard *g = &c->guard;

	if (!g->pausing)
		return ~0ULL;
	return RAPID_WINDOW_SLACK_PACKETS + PAUSE_TIMES * g->carried / c->law.flow.packet;
}

/* On an acknowledgment: records whether the guard's window held packets back, and not the law's. */
static __attribute__((noinline)) void guard_note_window(struct conn *c, const struct tcp_sock *tp)
{
	struct guard *g = &c->guard;

	if (g->pausing && was_full(c, tp) && guard_window(c) < LAW(window)(&c->law))
		g->held = 1;
}

/* An epoch ends: whether the application paused lately, and what two round trips carry. */
INLINE void guard_pauses(struct conn *c, u32 lossy)
{
	struct guard *g = &c->guard;
	u64 slowest = rapid_max(g->slowest_ns, c->law.flow.rtt_ns), part = (c->law.flow.rtt_ns << 16) / rapid_max(slowest, 1);
	u64 acked = rapid_min(g->acked, EPOCH_BYTES_MAX) * part >> 16, both = acked + g->acked_before;

	g->pausing = g->paused ? PAUSE_EPOCHS : rapid_above(g->pausing, 1);
	g->carried = lossy ? both / 2 : g->pausing ? rapid_max(g->carried - g->carried / CARRIED_AGES_PART, both) : both;
	g->acked_before = acked;
	g->slowest_ns = 0;
	g->paused = 0;
}

static __attribute__((noinline)) void guard(struct conn *c, u64 now, u64 acked)
{
	struct guard *g = &c->guard;
	u64 lasted = rapid_above(now, g->since_ns), repairs, highest, bound;
	u32 lossy;

	g->acked += acked;
	g->slowest_ns = rapid_max(g->slowest_ns, c->law.flow.srtt_ns);
	repairs = c->state == TCP_CA_Loss && g->repairs;
	g->idled |= repairs;
	if (lasted < rapid_max(EPOCH_MIN_NS, c->law.flow.srtt_ns))
		return;
	g->paused |= was_drained(c, now);
	lossy = LOSSY_PART * (c->report.lost - g->lost) > c->report.delivered - g->delivered;
	guard_pauses(c, lossy);
	g->repairs -= repairs;
	g->rate[1] = g->rate[0];
	g->rate[0] = rapid_rate_of(rapid_min(g->acked, EPOCH_BYTES_MAX), lasted);
	highest = rapid_max(g->rate[0], g->rate[1]);
	if (g->idled || g->pausing)
		g->rate[0] = highest;
	bound = c->law.flow.startup ? STARTUP_TIMES * highest : highest + highest / HEADROOM_PART;
	if (!c->law.flow.startup && lossy)
		bound = g->rate[0] + g->rate[0] / HEADROOM_LOSSY_PART;
	if (g->since_ns && !g->pausing && g->acked > EPOCH_PACKETS * c->law.flow.packet && c->law.flow.rate > bound) {
		g->held = 1;
		law_cap(c, bound);
	}
	c->report.capped += g->held;
	COUNT(guarded, g->held);
	g->held = 0;
	g->since_ns = now;
	g->acked = 0;
	g->lost = c->report.lost;
	g->delivered = c->report.delivered;
	g->idled = 0;
}

#endif
