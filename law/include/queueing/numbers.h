/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What the laws of queues share: fractions in Q31, averages in Q24, and what a law says of a packet.
 *
 * Units: times are nanoseconds, rates bytes per second, sizes bytes below 2^20. Integers only; a law has no clock, no memory and
 * no random numbers of its own. The host hands in the time and 32 random bits.
 */
#ifndef QUEUEING_NUMBERS_H
#define QUEUEING_NUMBERS_H

#include "../rapid/arithmetic.h"

/* One, as a weight, a share or a probability. */
#define QUEUEING_ONE_Q31 (1ULL << 31)
/* One, as an average or a threshold: packets below 2^20, or a ratio. */
#define QUEUEING_Q24_BITS 24
#define QUEUEING_ONE_Q24 (1ULL << QUEUEING_Q24_BITS)
#define QUEUEING_PACKETS_MAX ((1ULL << 20) - 1)
#define QUEUEING_SIZE_MAX ((1ULL << 20) - 1)
/* More samples of one kind change no average: 2^32 - 1. */
#define QUEUEING_SAMPLES_MAX 0xffffffffULL
#define QUEUEING_SAMPLES_BITS 32

enum queueing_verdict { QUEUEING_PASS, QUEUEING_MARK, QUEUEING_DROP };

/* How many bits a number takes; 1 for 0. */
RAPID_FN u32 queueing_bits(u64 x)
{
	u32 bits = 1;

	for (u32 step = 32; step; step /= 2) {
		if (x >> step) {
			x >>= step;
			bits += step;
		}
	}
	return bits;
}

/* x q of a fraction q <= 1 in Q31, for x < 2^52: within 1/2 + 2^-11 of the product. In halves, since there are no 128 bits. */
RAPID_FN u64 queueing_scale(u64 x, u64 q)
{
	u64 high = x >> 20, low = x & ((1ULL << 20) - 1);

	return (high * q + ((low * q) >> 20) + (1ULL << 10)) >> 11;
}

/* part / whole in Q31, rounded down, at most one, for whole < 2^47: two steps of a long division. One of nothing is one. */
RAPID_FN u64 queueing_fraction(u64 part, u64 whole)
{
	u64 first, rest;

	if (part >= whole)
		return QUEUEING_ONE_Q31;
	first = (part << 16) / whole;
	rest = (part << 16) % whole;
	return (first << 15) + (rest << 15) / whole;
}

/* base^exponent in Q31 by squaring: within 2^-32 (min(2 exponent, 1.5 / (1 - base)) + 34), and exact for exponents 0 and 1. */
RAPID_FN u64 queueing_power(u64 base, u64 exponent)
{
	u64 power = QUEUEING_ONE_Q31;

	for (u32 i = 0; i < QUEUEING_SAMPLES_BITS && exponent; i++) {
		if (exponent & 1)
			power = queueing_scale(power, base);
		base = queueing_scale(base, base);
		exponent >>= 1;
	}
	return power;
}

/* An average after `count` equal samples: sample + (average - sample) (1 - weight)^count. */
RAPID_FN u64 queueing_average(u64 average, u64 sample, u32 weight, u64 count)
{
	u64 stays = queueing_power(QUEUEING_ONE_Q31 - weight, rapid_min(count, QUEUEING_SAMPLES_MAX));

	if (average < sample)
		return sample - queueing_scale(sample - average, stays);
	return sample + queueing_scale(average - sample, stays);
}

#endif
