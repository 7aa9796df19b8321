/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Queue-length based pacing (QLBP): the longer the queue, the faster its packets leave.
 *
 * A packet of size S has left at t_last, and n packets wait. The next leaves no earlier than
 *
 *     t_next = t_last + S / mu(n),    mu(n) = mu_min + (mu_max - mu_min) n / Q_max    n <= Q_max
 *                                     no pacing                                       n >  Q_max
 *
 * t_next is computed again whenever n changes: an arrival moves it earlier, a departure restarts it.
 *
 * Source: Y. Cai, B. Jiang, T. Wolf and W. Gong, "A Practical On-line Pacing Scheme at Edges of Small Buffer Networks":
 * equation (1), Algorithm 1.
 *
 * Deviations:
 * 1. The first packet is not held; Algorithm 1 reads t_next before it is set.
 * 2. S is the size of the packet that has left; Table I has the packet at the head.
 * 3. Beyond Q_max equation (1) holds: the rate of the link. In lines 7 and 31 of Algorithm 1 the rate rises further.
 * 4. There is no `blocked` state: the host knows whether the link is busy.
 * 5. S / mu(n) is rounded down to the nanosecond. It is exact before: the numerator stays below 2^64.
 */
#ifndef QUEUEING_QLBP_H
#define QUEUEING_QLBP_H

#include "numbers.h"

#define QLBP_PACKETS_MAX (1 << 14)
#define QLBP_RATE_MAX (1ULL << 40)
/* With mu_min of zero, nothing leaves an empty queue. */
#define QLBP_NEVER (~0ULL)

struct qlbp_params {
	u64 mu_min; /* bytes per second, below mu_max */
	u64 mu_max; /* at most QLBP_RATE_MAX */
	u32 q_max;  /* 1 to QLBP_PACKETS_MAX */
	u32 reserved;
};

struct qlbp {
	u64 last_ns; /* when the last packet left */
	u64 next_ns; /* when the next may leave */
	u32 size;    /* of the last packet; 0: none has left */
	u32 reserved;
};

/* S / mu(n). */
RAPID_FN u64 qlbp_gap_ns(const struct qlbp_params *params, u64 size, u64 waiting)
{
	u64 q_max = rapid_clamp(params->q_max, 1, QLBP_PACKETS_MAX), mu;

	if (waiting > q_max || !size)
		return 0;
	/* mu(n), in units of 1 / Q_max */
	mu = params->mu_min * q_max + rapid_above(params->mu_max, params->mu_min) * waiting;
	return mu ? rapid_min(size, QUEUEING_SIZE_MAX) * q_max * RAPID_NS_PER_S / mu : QLBP_NEVER;
}

RAPID_FN void qlbp_pace(struct qlbp *qlbp, const struct qlbp_params *params, u64 waiting)
{
	u64 gap = qlbp_gap_ns(params, qlbp->size, waiting);

	qlbp->next_ns = gap > QLBP_NEVER - qlbp->last_ns ? QLBP_NEVER : qlbp->last_ns + gap;
}

/* A packet has been queued; `waiting` counts it. */
RAPID_FN void qlbp_on_arrival(struct qlbp *qlbp, const struct qlbp_params *params, u64 waiting)
{
	qlbp_pace(qlbp, params, waiting);
}

/* A packet leaves at `now`, and leaves `waiting` behind. */
RAPID_FN void qlbp_on_departure(struct qlbp *qlbp, const struct qlbp_params *params, u64 now, u32 size, u64 waiting)
{
	qlbp->last_ns = now;
	qlbp->size = size;
	qlbp_pace(qlbp, params, waiting);
}

#endif
