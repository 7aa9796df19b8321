/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * RED: marks or drops at random before the buffer is full, as the average queue rises.
 *
 * At every arrival, with q packets queued:
 *
 *     q > 0:   average += weight (q - average)
 *     q = 0:   average *= (1 - weight)^m,  m = idle time / time of a packet on the link;  m = 1 without idle_time
 *     chosen:  with the probability of the ramp (ramp.h): marked if the sender reads marks (RFC 3168), else dropped
 *     above the ramp:  dropped; marked with mark_above
 *
 * Source: S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on
 * Networking 1(4), 1993, sections IV and VII; RFC 3168, section 5.
 *
 * Deviations:
 * 1. Above the ramp, packets that could be marked are dropped, unless mark_above is set: the paper has no marks there.
 * 2. The average is a multiple of 2^-24 packets, rounded to nearest at each step: within 2^-25 / weight of the exact one.
 * 3. The time of a packet on the link is a whole number of nanoseconds.
 */
#ifndef QUEUEING_RED_H
#define QUEUEING_RED_H

#include "ramp.h"

struct red_params {
	struct queueing_ramp ramp;
	u64 service_ns; /* time of a packet on the link, 1 at least */
	u32 weight;     /* Q31 */
	u8 mark_above;
	u8 idle_time;
	u16 reserved;
};

struct red {
	u64 average;       /* packets, Q24 */
	u64 idle_since_ns; /* when the queue became empty */
	u32 since;         /* the marker's memory */
	u32 reserved;
};

RAPID_FN void red_take_average(struct red *red, const struct red_params *params, u64 now, u64 queued)
{
	u64 sample = rapid_min(queued, QUEUEING_PACKETS_MAX) << QUEUEING_Q24_BITS, count = 1;

	if (!queued) {
		if (params->idle_time)
			count = rapid_above(now, red->idle_since_ns) / rapid_max(params->service_ns, 1);
		red->idle_since_ns = now; /* idle time counts once, even if this packet is dropped */
	}
	red->average = queueing_average(red->average, sample, params->weight, count);
}

/* A packet arrives and finds `queued`. `capable`: its sender reads marks. */
RAPID_FN enum queueing_verdict red_on_arrival(struct red *red, const struct red_params *params, u64 now, u64 queued,
					      u32 capable, u32 random)
{
	enum queueing_choice choice;

	red_take_average(red, params, now, queued);
	choice = queueing_ramp_choose(&params->ramp, &red->since, red->average, random);
	if (choice == QUEUEING_SPARED)
		return QUEUEING_PASS;
	return capable && (choice == QUEUEING_DRAWN || params->mark_above) ? QUEUEING_MARK : QUEUEING_DROP;
}

/* A packet has left, and leaves `queued` behind. */
RAPID_FN void red_on_departure(struct red *red, u64 now, u64 queued)
{
	if (!queued)
		red->idle_since_ns = now;
}

#endif
