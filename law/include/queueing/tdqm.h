/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * TDQM marks packets with two bits: one when there is too much traffic, the other when it is too bursty.
 *
 *     rho = busy time of the link in a window / the window          averaged per window
 *     eta = integral of V over a busy period of length b / (b^2/2)  averaged per value
 *     V   = work of the packets that wait, as a time on the link    (meter.h)
 *
 * At every arrival each average may mark the packet, independently and by its own ramp (ramp.h): rho with congestion
 * experienced, eta with the burstiness bit.
 *
 * Source: Q. Li and D. L. Mills, "Control Architecture for Tuning Intensity and Burstiness of Traffic", section II.
 *
 * Deviations:
 * 1. A packet is marked for sure at the maximum, not only above it: rho reaches at most 1. With `offered` it is the work that
 *    arrived in the window.
 * 2. Windows follow each other without overlap. A window counts when it has ended; windows that ended since the last arrival
 *    count together, in a few steps however many they are.
 * 3. V leaves out the packet in service; with `unfinished` that packet counts.
 * 4. A long busy period that ends while short ones are joined gives its own eta; the short ones remain.
 * 5. While a busy period lasts, its eta is unknown.
 * 6. A packet that finds a full buffer does not count: the host calls tdqm_on_queued for the others.
 * 7. Chosen by rho, packets of senders that read no marks are dropped (RFC 3168); eta passes them over.
 * 8. The averages are multiples of 2^-24, rounded to nearest at each step.
 */
#ifndef QUEUEING_TDQM_H
#define QUEUEING_TDQM_H

#include "meter.h"
#include "ramp.h"

/* Work that arrived in one window, at most. */
#define TDQM_WORK_MAX_NS (1ULL << 39)

struct tdqm_params {
	struct queueing_ramp rho, eta;
	struct meter_params meter;
	u64 window_ns; /* 1 to METER_TIME_MAX_NS */
	u32 rho_weight, eta_weight; /* Q31 */
	u32 offered; /* rho is the work that arrived, else the share of time */
	u32 reserved;
};

struct tdqm {
	struct meter meter;
	u64 rho, eta; /* the averages, Q24 */
	u64 window_end_ns;
	u64 window_work_ns, window_busy_ns; /* work and busy time up to the beginning of the window */
	u32 rho_since, eta_since; /* the markers' memories */
};

enum tdqm_verdict { TDQM_CONGESTION = 1, TDQM_BURSTINESS = 2, TDQM_DROP = 4 };

/* The first window begins now; all else is zero. */
RAPID_FN void tdqm_begin(struct tdqm *tdqm, const struct tdqm_params *params, u64 now)
{
	tdqm->window_end_ns = now + params->window_ns;
}

RAPID_FN u64 tdqm_share(const struct tdqm_params *params, u64 part)
{
	u64 window = rapid_max(params->window_ns, 1);

	return ((rapid_min(part, TDQM_WORK_MAX_NS - 1) << QUEUEING_Q24_BITS) + window / 2) / window;
}

RAPID_FN void tdqm_take_rho(struct tdqm *tdqm, const struct tdqm_params *params, u64 sample, u64 count)
{
	tdqm->rho = queueing_average(tdqm->rho, sample, params->rho_weight, count);
}

/* `count` windows in which nothing arrived; after `left` the link rests. */
RAPID_FN void tdqm_quiet_windows(struct tdqm *tdqm, const struct tdqm_params *params, u64 left, u64 count)
{
	u64 busy = params->offered ? 0 : rapid_min(count, left / rapid_max(params->window_ns, 1));

	tdqm_take_rho(tdqm, params, QUEUEING_ONE_Q24, busy);
	count -= busy;
	if (count && !params->offered) {
		tdqm_take_rho(tdqm, params, tdqm_share(params, rapid_above(left, busy * params->window_ns)), 1);
		count--;
	}
	tdqm_take_rho(tdqm, params, 0, count);
}

/* Windows that have ended by `now`. */
RAPID_FN void tdqm_end_windows(struct tdqm *tdqm, const struct tdqm_params *params, u64 now)
{
	u64 window = rapid_max(params->window_ns, 1), end = tdqm->window_end_ns, work = tdqm->meter.work_ns, left, count;

	if (end > now)
		return;
	left = meter_unfinished_ns(&tdqm->meter, end);
	tdqm_take_rho(tdqm, params,
		      tdqm_share(params, params->offered ? work - tdqm->window_work_ns : work - left - tdqm->window_busy_ns), 1);
	count = (now - end) / window;
	if (count)
		tdqm_quiet_windows(tdqm, params, left, count);
	end += count * window;
	tdqm->window_work_ns = work;
	tdqm->window_busy_ns = work - meter_unfinished_ns(&tdqm->meter, end);
	tdqm->window_end_ns = end + window;
}

/* Brings both averages up to date. */
RAPID_FN void tdqm_learn(struct tdqm *tdqm, const struct tdqm_params *params, u64 now)
{
	u64 eta;

	tdqm_end_windows(tdqm, params, now);
	if (meter_ends(&tdqm->meter, &params->meter, now, &eta))
		tdqm->eta = queueing_average(tdqm->eta, eta, params->eta_weight, 1);
}

/* A packet arrives. Returns bits of enum tdqm_verdict. `capable`: its sender reads marks. */
RAPID_FN u32 tdqm_on_arrival(struct tdqm *tdqm, const struct tdqm_params *params, u64 now, u32 capable, u32 rho_random,
			     u32 eta_random)
{
	u32 congestion, burstiness;

	tdqm_learn(tdqm, params, now);
	congestion = queueing_ramp_choose(&params->rho, &tdqm->rho_since, tdqm->rho, rho_random) != QUEUEING_SPARED;
	burstiness = queueing_ramp_choose(&params->eta, &tdqm->eta_since, tdqm->eta, eta_random) != QUEUEING_SPARED;
	if (!capable)
		return congestion ? TDQM_DROP : 0;
	return (congestion ? TDQM_CONGESTION : 0) | (burstiness ? TDQM_BURSTINESS : 0);
}

/* It has been queued, too. */
RAPID_FN void tdqm_on_queued(struct tdqm *tdqm, const struct tdqm_params *params, u64 now, u32 size)
{
	meter_on_queued(&tdqm->meter, &params->meter, now, size);
}

#endif
