/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The dissertation's law, whole: the one header a host of it includes, with the same calls as rapid.h and a state of its own.
 * Streams of N_r rates with N_p packets each, read by
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
 *  3. The target is the mean estimate less `margin`, none by default. Without one the
 *     rate settles where the estimator is blind by epsilon, above the capacity.
 *     Then a queue stands, receive gaps are always those of the capacity, and
 *     nothing drains the queue. In the printed testbed the sender's own link was
 *     the bottleneck, and could not be overdriven. No margin is the print.
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

_Static_assert(sizeof(struct rapid_thesis) % sizeof(u64) == 0, "cleared word by word");

RAPID_FN void rapid_thesis_init(struct rapid_thesis *law, const struct rapid_thesis_params *params, u64 now, u64 handshake_rtt)
{
	struct rapid_thesis_tuning *t = &law->tuning;

	rapid_clear(law, sizeof(*law));
	rapid_flow_init(&law->flow, params->packet, params->rtt_floor_ns, now, handshake_rtt);
	*t = params->tuning;
	t->margin = (u32)rapid_min(t->margin, RAPID_ONE / 2);
	t->levels = (u32)rapid_clamp(t->levels, RAPID_THESIS_LEVELS_MIN, RAPID_LEVELS_MAX);
	t->per_level = (u32)rapid_clamp(t->per_level, RAPID_THESIS_PER_LEVEL_MIN, RAPID_STREAM_MAX / t->levels);
	t->gamma = (u16)rapid_max(t->gamma, 1);
	t->eta_streams = (u32)rapid_max(t->eta_streams, 1);
	rapid_ladder_fill(law->x, params->span, t->levels);
}

RAPID_FN void rapid_thesis_set_rate(struct rapid_thesis *law, u64 rate)
{
	rapid_flow_set_rate(&law->flow, rapid_max(rate, rapid_flow_floor(&law->flow)));
}

RAPID_FN u64 rapid_thesis_probe_rate(const struct rapid_thesis *law, const struct rapid_stream *s, u32 level)
{
	return level < RAPID_LEVELS_MAX ? rapid_scale(s->rate, law->x[RAPID_INDEX(level, RAPID_LEVELS_MAX)]) : s->rate;
}

/* Sets the clock to the level that begins now. */
RAPID_FN void rapid_thesis_enter_level(struct rapid_thesis *law, const struct rapid_stream *s)
{
	struct rapid_flow *flow = &law->flow;

	if (!flow->half)
		rapid_set_level_rate(flow, rapid_thesis_probe_rate(law, s, flow->level));
	flow->left = rapid_half(s->per_level, flow->half);
}

RAPID_FN void rapid_thesis_open(struct rapid_thesis *law, const struct rapid_memory *memory)
{
	struct rapid_stream *s = rapid_open(&law->flow, memory, RAPID_PROBE, law->flow.rate, law->tuning.per_level);

	if (s)
		rapid_thesis_enter_level(law, s);
}

/* Returns what a stream says of the available bandwidth; 0: nothing. */
RAPID_FN u64 rapid_thesis_estimate(struct rapid_thesis *law, const struct rapid_memory *memory, const struct rapid_stream *s)
{
	if (law->tuning.reading == RAPID_IDEAL)
		return law->adapter.ideal;
	if (!memory->gaps || s->app_limited || s->bytes != (u64)s->sent * law->flow.packet)
		return 0;
	if (s->lost || (s32)(s->number - law->adapter.whole) < 0)
		return 0;
	rapid_normalise(memory, s);
#ifdef RAPID_WITH_LEARNT
	if (law->tuning.reading == RAPID_LEARNT)
		return rapid_learnt_rate(memory->gaps, law->flow.packet);
#endif
	rapid_denoise(memory->gaps, law->tuning.smoothing, law->tuning.reading != RAPID_RAW);
	return rapid_search_rate(memory->gaps, law->flow.packet, law->tuning.epsilon_ns);
}

/* The filter: moves the rate towards `available`, which streams of time `span` gave. */
RAPID_FN void rapid_adapt(struct rapid_thesis *law, u64 available, u64 span)
{
	const struct rapid_thesis_tuning *t = &law->tuning;
	u64 part = RAPID_ONE / t->eta_streams;

	if (available >= law->flow.rate)
		part = rapid_weight(1, span, t->tau_ns);
	else if (t->eta_ns)
		part = rapid_weight(1, span, t->eta_ns);
	rapid_thesis_set_rate(law, (u64)rapid_average((s64)law->flow.rate, (s64)available, part));
}

/* Start-up: see reading 2. */
RAPID_FN void rapid_thesis_grow(struct rapid_thesis *law, const struct rapid_stream *s, u64 estimate)
{
	u64 top = rapid_scale(s->rate, law->x[RAPID_INDEX(law->tuning.levels - 1, RAPID_LEVELS_MAX)]);

	if (estimate >= top - top / RAPID_THESIS_TOP_PART) {
		rapid_thesis_set_rate(law, rapid_max(law->flow.rate, RAPID_THESIS_TOP_TIMES * s->rate));
	} else if (estimate >= s->rate - s->rate / RAPID_THESIS_MEAN_PART) {
		rapid_thesis_set_rate(law, rapid_max(law->flow.rate, s->rate + s->rate / RAPID_THESIS_MEAN_GROWTH_PART));
	} else {
		law->flow.startup = 0;
		rapid_thesis_set_rate(law, rapid_min(law->flow.rate, estimate));
	}
}

/* Takes what a stream says into account. */
RAPID_FN void rapid_thesis_take(struct rapid_thesis *law, const struct rapid_memory *memory, const struct rapid_stream *s,
				u64 now)
{
	struct rapid_adapter *a = &law->adapter;
	u64 estimate = rapid_thesis_estimate(law, memory, s);
	u64 took = a->read_ns && now > a->read_ns ? now - a->read_ns : s->end_ns - s->start_ns;

	if (s->rtt_ns != ~0ULL)
		law->queue_ns = rapid_above(s->rtt_ns, (u64)rapid_minimum_of(&law->flow.rtt));
	if (!estimate) {
		rapid_count(&law->unusable);
		return;
	}
	a->read_ns = now;
	estimate = rapid_bound(estimate);
	law->available = estimate;
	law->estimated = 1;
	if (law->flow.startup && law->tuning.reading != RAPID_IDEAL) {
		rapid_thesis_grow(law, s, estimate);
		return;
	}
	a->sum += estimate;
	a->span_ns += took;
	if (++a->count < law->tuning.gamma)
		return;
	rapid_adapt(law, rapid_scale(a->sum / a->count, RAPID_ONE - law->tuning.margin), a->span_ns);
	a->sum = a->span_ns = 0;
	a->count = 0;
}

/* One more packet of a stream is accounted for: reads it if it is complete. */
RAPID_FN void rapid_thesis_account(struct rapid_thesis *law, const struct rapid_memory *memory, struct rapid_stream *s, u64 now)
{
	s->accounted++;
	if (!rapid_is_complete(s))
		return;
	rapid_count(&law->streams);
	law->completed = s->number;
	rapid_relax_window(&law->flow, s->end_ns - s->start_ns);
	law->estimated = 0;
	rapid_thesis_take(law, memory, s, now);
	s->stage = RAPID_READ;
}

RAPID_FN u64 rapid_thesis_before_sending(struct rapid_thesis *law, const struct rapid_memory *memory, u64 now, u32 size)
{
	size = (u32)rapid_clamp(size, 1, RAPID_PACKET_MAX);
	if (!law->flow.open)
		rapid_thesis_open(law, memory);
	return rapid_departure_after(&law->flow, now, rapid_gap_after(&law->flow, size)).ns;
}

RAPID_FN void rapid_thesis_on_sent(struct rapid_thesis *law, const struct rapid_memory *memory, u64 now, u64 number, u32 size,
				   u32 app_limited)
{
	struct rapid_record *r = RAPID_RECORD(memory, number);
	struct rapid_flow *flow = &law->flow;
	struct rapid_stream *s;

	size = (u32)rapid_clamp(size, 1, RAPID_PACKET_MAX);
	flow->next = rapid_max(flow->next, number + 1);
	if (!flow->open)
		rapid_thesis_open(law, memory);
	s = rapid_being_sent(flow, memory);
	if (!r || !s)
		return;
	if (app_limited)
		s->app_limited = 1;
	rapid_note_departure(s, now, number, size);
	*r = (struct rapid_record){now, 0, s->number, (u16)size, (u8)(flow->level << 1 | flow->half), RAPID_IN_FLIGHT};
	s->planned_q10 += rapid_clock(flow, now, size);
	if (!rapid_half_is_over(flow))
		return;
	if (flow->level < law->tuning.levels)
		rapid_thesis_enter_level(law, s);
	else
		rapid_close(flow, s);
}

/* A packet is in flight no more. Returns its stream, unless that has been read. */
RAPID_FN struct rapid_stream *rapid_thesis_settle(struct rapid_thesis *law, const struct rapid_memory *memory, u64 number,
						  u64 arrival, u32 state)
{
	struct rapid_record *r = rapid_take(&law->flow, memory, number);

	if (!r)
		return 0;
	r->arrival_ns = arrival;
	r->state = (u8)state;
	return rapid_stream_of(memory, r);
}

RAPID_FN void rapid_thesis_on_arrival(struct rapid_thesis *law, const struct rapid_memory *memory, u64 now, u64 number, u64 arrival)
{
	const struct rapid_record *r = RAPID_RECORD(memory, number);
	struct rapid_stream *s = rapid_thesis_settle(law, memory, number, arrival, RAPID_STAMPED);

	if (!r || !s)
		return;
	s->rtt_ns = rapid_min(s->rtt_ns, rapid_max(rapid_above(now, r->sent_ns), RAPID_RTT_FLOOR_NS));
	rapid_thesis_account(law, memory, s, now);
}

RAPID_FN void rapid_thesis_on_unstamped(struct rapid_thesis *law, const struct rapid_memory *memory, u64 now, u64 number)
{
	struct rapid_stream *s = rapid_thesis_settle(law, memory, number, 0, RAPID_UNSTAMPED);

	if (s)
		rapid_thesis_account(law, memory, s, now);
}

RAPID_FN void rapid_thesis_on_lost(struct rapid_thesis *law, const struct rapid_memory *memory, u64 now, u64 number)
{
	struct rapid_stream *s = rapid_thesis_settle(law, memory, number, 0, RAPID_LOST);

	if (!s)
		return;
	s->lost++;
	rapid_thesis_account(law, memory, s, now);
}

RAPID_FN void rapid_thesis_on_rtt(struct rapid_thesis *law, u64 rtt)
{
	if (rapid_measure(&law->flow, rtt) && law->flow.startup)
		rapid_thesis_set_rate(law, rapid_rate_of_packets(&law->flow, RAPID_INITIAL_PACKETS));
}

/* As rapid_start, before the first packet. */
RAPID_FN void rapid_thesis_start(struct rapid_thesis *law, u64 now, u64 rtt, u32 packets, u32 startup)
{
	u64 least = startup ? RAPID_INITIAL_PACKETS : RAPID_START_PACKETS_LEAST;

	law->flow.next_ns = now;
	rapid_thesis_on_rtt(law, rtt);
	law->flow.startup = startup != 0;
	rapid_thesis_set_rate(law, rapid_rate_of_packets(&law->flow, rapid_max(packets, least)));
	rapid_set_level_rate(&law->flow, law->flow.rate);
}

/* Once per loss recovery. */
RAPID_FN void rapid_thesis_on_recovery(struct rapid_thesis *law)
{
	law->flow.startup = 0;
	law->adapter.whole = law->flow.stream + 1;
	rapid_thesis_set_rate(law, rapid_scale(law->flow.rate, RAPID_ONE - rapid_min(law->tuning.loss_cut, RAPID_ONE)));
}

/* The retransmission timer expired. */
RAPID_FN void rapid_thesis_on_timeout(struct rapid_thesis *law)
{
	law->flow.startup = 0;
	rapid_thesis_set_rate(law, law->flow.rate / RAPID_TIMEOUT_PART);
}

/* Nothing was lost (RFC 5682, RFC 3522). `rate` and `startup` are of before the timeout. */
RAPID_FN void rapid_thesis_on_spurious_timeout(struct rapid_thesis *law, u64 rate, u32 startup)
{
	law->flow.startup = startup != 0;
	rapid_thesis_set_rate(law, rapid_max(law->flow.rate, rate));
}

/* A queue on the path has marked a packet (RFC 3168): once per round trip. */
RAPID_FN void rapid_thesis_on_marked(struct rapid_thesis *law)
{
	law->flow.startup = 0;
	rapid_thesis_set_rate(law, rapid_scale(law->flow.rate, RAPID_MARKED_KEEPS_Q16));
}

RAPID_FN void rapid_thesis_set_packet(struct rapid_thesis *law, u32 packet) { rapid_flow_set_packet(&law->flow, packet); }

/* Packets that may be in flight: the delay of the product is the smoothed round trip, and the slack a stream. */
RAPID_FN u32 rapid_thesis_window(const struct rapid_thesis *law)
{
	u64 srtt = rapid_max(law->flow.srtt_ns, law->flow.rtt_ns);

	return (u32)rapid_window_over(&law->flow, srtt, RAPID_WINDOW_SLACK_PACKETS);
}

/* What the host reports. */
RAPID_FN u64 rapid_thesis_queue_ns(const struct rapid_thesis *law) { return law->queue_ns; }

/* The available bandwidth, from a host that knows it (ideal estimation). */
RAPID_FN void rapid_thesis_set_available(struct rapid_thesis *law, u64 rate) { law->adapter.ideal = rate; }

#endif
