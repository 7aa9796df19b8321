/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The busy periods of one link, from arrivals alone.
 *
 * The unfinished work V(t), in time on the link, falls with slope 1 and jumps by a packet's service time s when the packet
 * arrives. Let `free` be when the link would rest. Then V(t) = max(free - t, 0), and
 *
 *     arrival at t:                W = V(t), twice the area += 2 s W, free = max(t, free) + s
 *     with the one in service:     twice the area += s (2 W + s)
 *     the link rests at free < t:  b = free - start, eta = twice the area / b^2
 *     busy time up to t:           work that has arrived - V(t)
 *
 * Busy periods are joined, without the rests between them, until they are longer than `shortest`.
 *
 * Source: Q. Li and D. L. Mills, "Control Architecture for Tuning Intensity and Burstiness of Traffic", section II.
 *
 * Deviations:
 * 1. Service times are whole nanoseconds, their remainders carried: n of them err by one, not by n.
 * 2. s and W count as 2.1 s at most. An area of 2^62 ns^2 and more is kept in larger units: it errs by less than 2^-30 of itself.
 */
#ifndef QUEUEING_METER_H
#define QUEUEING_METER_H

#include "numbers.h"

#define METER_TIME_MAX_NS ((1ULL << 31) - 1)
#define METER_AREA_BITS 62
/* The side of a square of 62 bits. */
#define METER_SIDE_BITS 31
/* What queueing_fraction divides by. */
#define METER_WHOLE_BITS 47
#define METER_SHIFT_MAX 63

struct meter_params {
	u64 rate;        /* bytes per second, 1 at least */
	u64 shortest_ns; /* METER_TIME_MAX_NS at most */
	u32 unfinished;  /* V counts the packet in service */
	u32 reserved;
};

struct meter {
	u64 free_ns;  /* when the link rests, if nothing more arrives */
	u64 start_ns; /* of the busy period until then */
	u64 work_ns;  /* service times of all packets that have arrived */
	u64 remainder; /* of the last service time, in parts of a nanosecond of 1 / rate */
	u64 area;     /* twice the integral of V over this busy period, in 2^exponent ns^2 */
	u64 joined_ns, joined_area; /* of the busy periods joined so far */
	u32 exponent;
	u32 busy; /* a busy period is not reported yet */
};

/* V(now), for `now` after the last arrival. */
RAPID_FN u64 meter_unfinished_ns(const struct meter *meter, u64 now) { return rapid_above(meter->free_ns, now); }

/* eta = area / length^2 in Q24, within 2^-28 of itself and rounded to nearest. */
RAPID_FN u64 meter_eta(u64 area, u32 exponent, u64 length)
{
	u32 spare = (u32)rapid_above(queueing_bits(length), METER_SIDE_BITS), narrow;
	u64 side = length >> spare, square = side * side;

	area >>= rapid_min(rapid_above(2 * spare, exponent), METER_SHIFT_MAX);
	narrow = (u32)rapid_above(queueing_bits(square), METER_WHOLE_BITS);
	return (queueing_fraction(area >> narrow, square >> narrow) + (1 << 6)) >> 7;
}

/* Whether a value of eta is known by `now`: a busy period, or several short ones together, have ended. */
RAPID_FN u32 meter_ends(struct meter *meter, const struct meter_params *params, u64 now, u64 *eta)
{
	u64 length = meter->free_ns - meter->start_ns, area = meter->area;
	u32 exponent = meter->exponent;

	if (!meter->busy || meter->free_ns >= now)
		return 0;
	meter->busy = 0;
	meter->area = 0;
	meter->exponent = 0;
	if (length <= params->shortest_ns) {
		length = meter->joined_ns += length;
		area = meter->joined_area += area;
		if (length <= params->shortest_ns)
			return 0;
		meter->joined_ns = meter->joined_area = 0;
	}
	*eta = meter_eta(area, exponent, length);
	return 1;
}

/* The time of a packet on the link. */
RAPID_FN u64 meter_service_ns(struct meter *meter, const struct meter_params *params, u32 size)
{
	u64 rate = rapid_max(params->rate, 1);
	u64 work = rapid_min(size, QUEUEING_SIZE_MAX) * RAPID_NS_PER_S + meter->remainder;

	meter->remainder = work % rate;
	return work / rate;
}

/* A packet is queued. The caller has asked for everything known by `now`. */
RAPID_FN void meter_on_queued(struct meter *meter, const struct meter_params *params, u64 now, u32 size)
{
	u64 service = meter_service_ns(meter, params, size);
	u64 s = rapid_min(service, METER_TIME_MAX_NS);
	u64 w = rapid_min(meter_unfinished_ns(meter, now), METER_TIME_MAX_NS);

	if (!meter->busy)
		meter->start_ns = now;
	meter->busy = 1;
	meter->area += (params->unfinished ? s * (2 * w + s) : 2 * s * w) >> rapid_min(meter->exponent, METER_SHIFT_MAX);
	/* below 3/4 of 2^64 was added to less than 1/4 of it */
	for (u32 i = 0; i < 2 && meter->area >> METER_AREA_BITS; i++) {
		meter->area >>= 1;
		meter->exponent++;
	}
	meter->free_ns = rapid_max(meter->free_ns, now) + service;
	meter->work_ns += service;
}

#endif
