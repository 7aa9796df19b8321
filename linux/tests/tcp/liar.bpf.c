/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The sender with forged arrivals: the shipped program unchanged except for
 * one call, after which the reported arrivals are replaced.
 *
 * The forgery comes after every check that could detect it (option_clock.h): only
 * the guard is left. A forger on the wire is tests/stamps/path.bpf.c.
 *
 * LIE is one of enum lie, set by the compiler's command line.
 */
#include "memory.h"

#include "source.h"

enum lie {
	LIE_ZERO = 1,
	LIE_FROZEN,
	LIE_RANDOM,
	LIE_BACKWARDS,
	LIE_FAST,
	LIE_SLOW,
	LIE_A_LITTLE_FAST,
	LIE_A_LITTLE_SLOW,
	LIE_NO_QUEUE,
};

_Static_assert(LIE >= LIE_ZERO && LIE <= LIE_NO_QUEUE, "LIE is one of enum lie");

/* Reading of a frozen clock, arbitrary. */
#define FROZEN_NS 1000000007

/* Clocks that are off by 4 %, and by 1/70. */
#define FAST_PART 25
#define SLOW_PART 70

INLINE u64 lied(const struct conn *c, u64 arrival)
{
	switch (LIE) {
	case LIE_ZERO:
		return 0;
	case LIE_FROZEN:
		return FROZEN_NS;
	case LIE_RANDOM:
		return (u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();
	case LIE_BACKWARDS:
		return 0 - arrival;
	case LIE_FAST:
		return c->first_ns + rapid_above(arrival, c->first_ns) / 2;
	case LIE_SLOW:
		return arrival * 2;
	case LIE_A_LITTLE_FAST:
		return arrival + arrival / FAST_PART;
	case LIE_NO_QUEUE:
		return arrival;
	default: /* LIE_A_LITTLE_SLOW: within what option_clock.h believes, 1/64 */
		return arrival - arrival / SLOW_PART;
	}
}

static long distort_one(u32 turn, void *context)
{
	struct conn *c = *(struct conn **)context;
	u64 *arrival = &c->arrival_ns[INDEX(turn, FRESH)];

	*arrival = lied(c, *arrival);
	return 0;
}

GLOBAL int distort(struct conn *c)
{
	if (c)
		bpf_loop(FEEDBACK_ARRIVALS, distort_one, &c, 0);
	return 0;
}

/* Every packet had the same delay: this forger knows when they left. */
#define WAY_NS 20000000
INLINE u64 unqueued(const struct conn *c, u64 number, u64 arrival)
{
	const struct packet *p = packet_at(c->slot, number);

	return LIE == LIE_NO_QUEUE && p ? p->law.sent_ns + WAY_NS : arrival;
}

#define law_arrival(c, now, number, arrival) law_arrival(c, now, number, unqueued(c, number, arrival))

/* The call of sender.bpf.c, followed by the forgery. A macro does not expand itself. */
#define take_arrivals(c, sk, tp, now) (take_arrivals(c, sk, tp, now), distort(c))

#include "sender.bpf.c"
