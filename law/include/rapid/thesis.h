/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The dissertation's law: streams of N_r rates with N_p packets each, read by
 * gaps.h, and a rate adapter. (Q. Yin, "TCP RAPID: from theory to practice",
 * sections 2.3 and 8.1; the filter is section II-A of Lovewell and Kaur, TR11-007.)
 *
 *     every gamma streams, with A the mean of their estimates and l their time:
 *     A >= R:  R = R + min(1, l / tau) (A - R)
 *     A <  R:  R = R - (R - A) / eta
 *     once per loss recovery:  R = 0.75 R
 *
 * Readings:
 *  1. eta is a number of streams ("(tau, eta) = (50, 4)"): the tables' column
 *     "eta = 1/4" is the fraction taken per step, 1 / eta. As printed in the
 *     filter, 1/eta with eta = 1/4 would take four times the difference.
 *     With `eta_ns` set, eta is a time, and the step is min(1, l / eta): the filter
 *     of TR11-007 with "L/n" read as L/eta, and tau for the increase.
 *  2. The printed start, 100 kbit/s and the filter alone, takes minutes: l / tau
 *     is at most one, and a stream shows at most 1.2 R. Here a flow starts at 10
 *     packets per round trip. It doubles while the estimate is the top of a stream,
 *     and grows by a quarter while the estimate is not 1/16 below the stream's mean
 *     (coalesced interrupts make streams of low rates say their own mean). The
 *     first estimate below that, or a loss, ends start-up.
 *  3. The target is 95 % of the mean estimate (`margin`). Without a margin the
 *     rate settles where the estimator is blind by epsilon, above the capacity.
 *     Then a queue stands, receive gaps are always those of the capacity, and
 *     nothing drains the queue. In the printed testbed the sender's own link was
 *     the bottleneck, and could not be overdriven. `margin = 0` is the print.
 *  4. l runs on the clock of the feedback: from the last stream that gave an estimate
 *     to the next one. Behind a queue that grows, streams come back slower
 *     than they were sent. With the time they took to send, the filter would
 *     lag by that stretch (on-off traffic, ideal estimation: utilisation .936
 *     where the filter's differential equation gives .892; on this clock .892).
 *  5. With RAPID_LEARNT, in a host that defines RAPID_WITH_LEARNT before it includes
 *     this (its tables take 59 kB), chapter 6 reads the streams, not chapter 5.
 *  6. A stream gives no estimate if it has short packets, if the application was idle
 *     during it, if one of its packets was lost (section 8.2.1), or if it was under
 *     way when a loss was found: a receiver that waits for a hole acknowledges one
 *     packet again and again, which tells no arrival.
 */
#ifndef RAPID_THESIS_H
#define RAPID_THESIS_H

#include "envelope.h"
#include "gaps.h"
#ifdef RAPID_WITH_LEARNT
#include "learnt.h"
#endif

/* A stream has a level and a level has a gap only with two of each. */
#define RAPID_THESIS_LEVELS_MIN 2
#define RAPID_THESIS_PER_LEVEL_MIN 2
/* Start-up: an estimate within 2 % of the top rate of a stream doubles the rate, */
#define RAPID_THESIS_TOP_PART 50
#define RAPID_THESIS_TOP_TIMES 2
/* one not 1/16 below its mean rate adds a quarter. */
#define RAPID_THESIS_MEAN_PART 16
#define RAPID_THESIS_MEAN_GROWTH_PART 4

RAPID_FN void rapid_thesis_init(struct rapid *law)
{
	struct rapid_params *p = &law->params;

	p->levels = (u32)rapid_clamp(p->levels, RAPID_THESIS_LEVELS_MIN, RAPID_LEVELS_MAX);
	p->per_level = (u32)rapid_clamp(p->per_level, RAPID_THESIS_PER_LEVEL_MIN, RAPID_STREAM_MAX / p->levels);
	p->gamma = (u16)rapid_max(p->gamma, 1);
	p->eta_streams = (u32)rapid_max(p->eta_streams, 1);
	rapid_ladder_fill(&law->narrow, p->span, p->levels);
}

RAPID_FN void rapid_thesis_open(struct rapid *law, const struct rapid_memory *memory)
{
	rapid_open(law, memory, RAPID_PROBE, law->rate, law->params.per_level);
}

/* Returns what a stream says of the available bandwidth; 0: nothing. */
RAPID_FN u64 rapid_thesis_estimate(struct rapid *law, const struct rapid_memory *memory, const struct rapid_stream *s)
{
	if (law->params.reading == RAPID_IDEAL)
		return law->adapter.ideal;
	if (!memory->gaps || s->app_limited || s->bytes != (u64)s->sent * law->params.packet)
		return 0;
	if (s->lost || (s32)(s->number - law->adapter.whole) < 0)
		return 0;
	rapid_normalise(memory, s);
#ifdef RAPID_WITH_LEARNT
	if (law->params.reading == RAPID_LEARNT)
		return rapid_learnt_rate(memory->gaps, law->params.packet);
#endif
	rapid_denoise(memory->gaps, law->params.smoothing, law->params.reading != RAPID_RAW);
	return rapid_search_rate(memory->gaps, law->params.packet, law->params.epsilon_ns);
}

/* The filter: moves the rate towards `available`, which streams of time `span` gave. */
RAPID_FN void rapid_adapt(struct rapid *law, u64 available, u64 span)
{
	const struct rapid_params *p = &law->params;
	u64 part = RAPID_ONE / p->eta_streams;

	if (available >= law->rate)
		part = rapid_weight(1, span, p->tau_ns);
	else if (p->eta_ns)
		part = rapid_weight(1, span, p->eta_ns);
	rapid_set_rate(law, (u64)rapid_average((s64)law->rate, (s64)available, part));
}

/* Start-up: see reading 2. */
RAPID_FN void rapid_thesis_grow(struct rapid *law, const struct rapid_stream *s, u64 estimate)
{
	u64 top = rapid_scale(s->rate, law->narrow.x[RAPID_INDEX(law->narrow.levels - 1, RAPID_LEVELS_MAX)]);

	if (estimate >= top - top / RAPID_THESIS_TOP_PART) {
		rapid_set_rate(law, rapid_max(law->rate, RAPID_THESIS_TOP_TIMES * s->rate));
	} else if (estimate >= s->rate - s->rate / RAPID_THESIS_MEAN_PART) {
		rapid_set_rate(law, rapid_max(law->rate, s->rate + s->rate / RAPID_THESIS_MEAN_GROWTH_PART));
	} else {
		law->startup = 0;
		rapid_set_rate(law, rapid_min(law->rate, estimate));
	}
}

RAPID_FN void rapid_thesis_read(struct rapid *law, const struct rapid_memory *memory, const struct rapid_stream *s,
				u64 now)
{
	struct rapid_adapter *a = &law->adapter;
	u64 estimate = rapid_thesis_estimate(law, memory, s);
	u64 took = a->read_ns && now > a->read_ns ? now - a->read_ns : s->end_ns - s->start_ns;

	if (s->rtt_ns != ~0ULL)
		law->envelope.queue_ns = rapid_above(s->rtt_ns, (u64)rapid_minimum_of(&law->envelope.rtt));
	if (!estimate) {
		rapid_count(&law->unusable);
		return;
	}
	a->read_ns = now;
	estimate = rapid_bound(estimate);
	law->available = estimate;
	law->estimated = 1;
	if (law->startup && law->params.reading != RAPID_IDEAL) {
		rapid_thesis_grow(law, s, estimate);
		return;
	}
	a->sum += estimate;
	a->span_ns += took;
	if (++a->count < law->params.gamma)
		return;
	rapid_adapt(law, rapid_scale(a->sum / a->count, RAPID_ONE - law->params.margin), a->span_ns);
	a->sum = a->span_ns = 0;
	a->count = 0;
}

/* Once per loss recovery. */
RAPID_FN void rapid_thesis_cut(struct rapid *law)
{
	law->startup = 0;
	law->adapter.whole = law->stream + 1;
	rapid_set_rate(law, rapid_scale(law->rate, RAPID_ONE - rapid_min(law->params.loss_cut, RAPID_ONE)));
}

#endif
