/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Fixed point without 128 bits, floating point or signed division (which BPF
 * does not have). Each function says the range in which it is exact.
 */
#ifndef RAPID_ARITHMETIC_H
#define RAPID_ARITHMETIC_H

#include "types.h"

/* A larger rise of delay is the work of a clock that lies. */
#define RAPID_RISE_MAX_NS 2000000000LL
/* No slope is taken to be outside 64 and -64: far above any that steers, and products of it stay within 62 bits. */
#define RAPID_SLOPE_MAX (64 * RAPID_ONE)
/* Halvings that find a root between one and four to the last bit of Q16: 2^18 = 4 * 65536. */
#define RAPID_ROOT_TURNS 18

RAPID_FN u64 rapid_min(u64 a, u64 b) { return a < b ? a : b; }
RAPID_FN u64 rapid_max(u64 a, u64 b) { return a > b ? a : b; }
RAPID_FN s64 rapid_smin(s64 a, s64 b) { return a < b ? a : b; }
RAPID_FN s64 rapid_smax(s64 a, s64 b) { return a > b ? a : b; }
RAPID_FN u64 rapid_clamp(u64 x, u64 low, u64 high) { return x < low ? low : x > high ? high : x; }
RAPID_FN s64 rapid_sclamp(s64 x, s64 low, s64 high) { return x < low ? low : x > high ? high : x; }
RAPID_FN u64 rapid_above(u64 a, u64 b) { return a > b ? a - b : 0; }

/* `which` ? a : b, `which` being 0 or 1, without a branch, for choices that nobody could predict. */
RAPID_FN u64 rapid_pick(u32 which, u64 a, u64 b) { return b ^ ((a ^ b) & (0 - (u64)which)); }

/* a - b of two clocks that may run backwards, wrap or lie. */
RAPID_FN s64 rapid_difference(u64 a, u64 b) { return (s64)(a - b); }

/* One more, but not past 2^32 - 1. */
RAPID_FN void rapid_count(u32 *count) { *count += *count < ~0u; }

/* a / b rounded towards zero; 0 when b is 0. */
RAPID_FN s64 rapid_divide(s64 a, u64 b)
{
	if (!b)
		return 0;
	return a < 0 ? -(s64)((0 - (u64)a) / b) : (s64)((u64)a / b);
}

/* x * q of a Q16 fraction, for x < 2^48. */
RAPID_FN u64 rapid_scale(u64 x, u64 q) { return (x * q) >> 16; }

/*
 * One step of an average: x + w (y - x), rounded to nearest, for |y - x| < 2^46.
 * A plain shift of a negative number pulls down by up to one unit each time,
 * and what pulls one way is a bias between flows.
 */
RAPID_FN s64 rapid_average(s64 x, s64 y, u64 w) { return x + (((s64)w * (y - x) + RAPID_HALF) >> 16); }

/* min(1, n a / b) in Q16, for n a < 2^48; 1 when b is 0. */
RAPID_FN u64 rapid_weight(u64 n, u64 a, u64 b)
{
	u64 part = n * rapid_min(a, RAPID_RTT_CEILING_NS);

	return part >= b ? RAPID_ONE : (part << 16) / b;
}

/* rise / run in Q16. */
RAPID_FN s64 rapid_slope(s64 rise, u64 run)
{
	rise = rapid_sclamp(rise, -RAPID_RISE_MAX_NS, RAPID_RISE_MAX_NS);
	return rapid_sclamp(rapid_divide(rise * RAPID_ONE, run), -RAPID_SLOPE_MAX, RAPID_SLOPE_MAX);
}

/* part of whole in Q16, at most one; 0 of nothing. */
RAPID_FN s64 rapid_fraction(u32 part, u32 whole)
{
	return whole ? (s64)rapid_min(((u64)part << 16) / whole, RAPID_ONE) : 0;
}

RAPID_FN u64 rapid_bound(u64 rate) { return rapid_clamp(rate, RAPID_RATE_FLOOR, RAPID_RATE_CEILING); }

/* Time of `size` < 2^20 bytes, in 1/1024 ns. */
RAPID_FN u64 rapid_gap_q10(u64 size, u64 rate)
{
	return (size * RAPID_NS_PER_S << RAPID_Q10_BITS) / rapid_max(rate, 1);
}

RAPID_FN u64 rapid_gap_ns(u64 size, u64 rate) { return size * RAPID_NS_PER_S / rapid_max(rate, 1); }

/* Bytes that pass at `rate` in `ns` <= 60 s: whole microseconds, then the rest. */
RAPID_FN u64 rapid_bytes_in(u64 rate, u64 ns)
{
	ns = rapid_min(ns, RAPID_RTT_CEILING_NS);
	return rate * (ns / 1000) / 1000000 + rate * (ns % 1000) / RAPID_NS_PER_S;
}

/* Rate of `bytes` < 2^34 in `ns`. */
RAPID_FN u64 rapid_rate_of(u64 bytes, u64 ns) { return bytes * RAPID_NS_PER_S / rapid_max(ns, 1); }

/* Marsaglia's xorshift32: any host that starts from the same seed draws the same lengths. */
RAPID_FN u32 rapid_random(u32 *state)
{
	u32 x = *state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	*state = x;
	return x;
}

RAPID_FN u64 rapid_power(u64 base, u32 exponent)
{
	u64 power = RAPID_ONE;

	for (u32 i = 0; i < RAPID_LEVELS_MAX && i < exponent; i++)
		power = (power * base + RAPID_HALF) >> 16;
	return power;
}

/* The search for a = span^(1/(levels-1)). */
struct rapid_root {
	u64 low, high;
	u32 span, exponent;
};

static inline long rapid_halve(u32 turn, void *context)
{
	struct rapid_root *root = (struct rapid_root *)context;
	u64 middle = (root->low + root->high) / 2;

	(void)turn;
	if (rapid_power(middle, root->exponent) <= root->span)
		root->low = middle;
	else
		root->high = middle;
	return 0;
}

/*
 * Levels x_k = h a^k with a = span^(1/(levels-1)) and h = (1 + 1/a + ... )/levels,
 * so that a stream of equal counts per level has mean rate exactly one, in Q16. Span
 * is at most 4. Done once, when a flow begins.
 */
RAPID_FN void rapid_ladder_fill(u32 *x, u32 span, u32 levels)
{
	struct rapid_root root = {.low = RAPID_ONE, .high = 4 * RAPID_ONE, .span = span};
	u64 inverse_sum = 0, level = RAPID_ONE;

	levels = (u32)rapid_clamp(levels, 2, RAPID_LEVELS_MAX);
	root.exponent = levels - 1;
	RAPID_LOOP(RAPID_ROOT_TURNS, rapid_halve, &root);
	for (u32 k = 0; k < RAPID_LEVELS_MAX; k++) {
		if (k >= levels)
			break;
		x[k] = (u32)level;
		inverse_sum += ((u64)1 << 40) / level;
		level = (level * root.low + RAPID_HALF) >> 16;
	}
	for (u32 k = 0; k < RAPID_LEVELS_MAX; k++) {
		if (k >= levels)
			break;
		x[k] = (u32)((x[k] * (inverse_sum / levels) + (1 << 23)) >> 24);
	}
}

#endif
