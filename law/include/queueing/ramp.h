/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * RED's marker: it chooses packets by an average.
 *
 *     average < min             0
 *     min <= average < max      p = max_p (average - min) / (max - min)
 *     max <= average            1;  gentle: from max_p to 1 up to 2 max
 *     spread:                   p / (1 - count p),  count = packets since the last one chosen
 *
 * Source: S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on
 * Networking 1(4), 1993, sections IV and VII. Gentle: S. Floyd, "Recommendation on using the gentle variant of RED", 2000.
 *
 * Deviations:
 * 1. Probabilities are multiples of 2^-31; each of the two divisions errs by less than that.
 */
#ifndef QUEUEING_RAMP_H
#define QUEUEING_RAMP_H

#include "numbers.h"

struct queueing_ramp {
	u64 min, max; /* Q24; max >= min, below 2^44 */
	u32 max_p;    /* Q31 */
	u8 gentle;
	u8 spread;
	u8 off; /* chooses nothing */
	u8 reserved;
};

enum queueing_choice { QUEUEING_SPARED, QUEUEING_DRAWN, QUEUEING_EVERY };

/* The probability at this average, before spreading. */
RAPID_FN u64 queueing_ramp_probability(const struct queueing_ramp *ramp, u64 average)
{
	u64 above = QUEUEING_ONE_Q31 - ramp->max_p;

	if (average >= ramp->max) {
		if (!ramp->gentle || average >= 2 * ramp->max)
			return QUEUEING_ONE_Q31;
		return ramp->max_p + queueing_scale(queueing_fraction(average - ramp->max, ramp->max), above);
	}
	if (average <= ramp->min)
		return 0;
	return queueing_scale(queueing_fraction(average - ramp->min, ramp->max - ramp->min), ramp->max_p);
}

/* p / (1 - count p), at most one. */
RAPID_FN u64 queueing_ramp_spread(u64 p, u32 count)
{
	u64 rest = rapid_above(QUEUEING_ONE_Q31, count * p);

	return rest > p ? queueing_fraction(p, rest) : QUEUEING_ONE_Q31;
}

/*
 * A packet arrives. `since` is the marker's memory: packets since the last one chosen, with that one; 0 below the ramp.
 */
RAPID_FN enum queueing_choice queueing_ramp_choose(const struct queueing_ramp *ramp, u32 *since, u64 average, u32 random)
{
	u64 p = ramp->off ? 0 : queueing_ramp_probability(ramp, average);
	u32 count = *since;

	*since = p ? 1 : 0;
	if (!p)
		return QUEUEING_SPARED;
	if (p >= QUEUEING_ONE_Q31)
		return QUEUEING_EVERY;
	if (random >> 1 < (ramp->spread ? queueing_ramp_spread(p, count) : p))
		return QUEUEING_DRAWN;
	*since = count;
	rapid_count(since);
	return QUEUEING_SPARED;
}

#endif
