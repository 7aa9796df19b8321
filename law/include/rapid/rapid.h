/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The Rapid rate law: the one header a host includes. law/SPEC.md says what the law does. (The dissertation's law, with entry points and
 * a state of its own, in the same frame: thesis.h.)
 *
 * A host calls rapid_init once, then
 *
 *     rapid_on_sent        when a packet has left, with the time it really left
 *     rapid_on_arrival     when a packet is acknowledged and the receiver said when it arrived
 *     rapid_on_unstamped   when it is acknowledged and the receiver did not
 *     rapid_on_lost        when it is given up
 *     rapid_on_rtt         for each round trip measured
 *
 * besides, what its transport finds out: rapid_start, rapid_on_recovery, rapid_on_timeout, rapid_on_spurious_timeout,
 * rapid_on_marked, rapid_set_packet;
 *
 * and lets the next packet go no earlier than law->flow.next_ns. Transmissions are
 * numbered 0, 1, 2, ... without holes; a retransmission has its own number.
 * Integers only: no libc, no kernel header, no floating point, no signed
 * division, no recursion; every loop has a constant bound.
 */
#ifndef RAPID_H
#define RAPID_H

#include "anew.h"
#include "contest.h"
#include "skew.h"
#include "startup.h"

/*
 * The slack of the window: from 4 packets to 64, a stream; during start-up 64 and the packets of a chirp, and before a stream is read
 * those of a chirp alone, since the path may be far slower than the first rate. The delay of its product is
 * the round trip without a queue for a flow of few packets, and with it from 256 packets per round trip on: the queue of a
 * crowd then slows its flows down within a round trip, before they have read it, and a path of one flow may become longer at once.
 * What a quiet stream adds to the smallest round trip is not such a queue, but one on the way back, or a longer path.
 * While a flow has the path for itself, as far as it knows, and loses nothing, the window is at least what its rate puts on the way, and two
 * packets: on a path that has become longer than the window takes it for, streams would else be late for ever, and say nothing.
 */
#define RAPID_WINDOW_SLACK_LEAST 4
#define RAPID_WINDOW_QUEUE_PACKETS 256
#define RAPID_WINDOW_SPARE_PACKETS 2
#define RAPID_WINDOW_CHIRP_PACKETS (RAPID_CHIRP_LEVEL_PACKETS * (RAPID_CHIRP_LEVELS + 1))
/* Clocks may differ by decades, not by centuries (62 bits of ns are 146 years): what is wider is a lie. */
#define RAPID_DELAY_MAX_NS (1LL << 62)
_Static_assert(sizeof(struct rapid) % sizeof(u64) == 0, "cleared word by word");

/* `handshake_rtt` 0: not measured. */
RAPID_FN void rapid_init(struct rapid *law, const struct rapid_params *params, u64 now, u64 handshake_rtt, u64 seed)
{
	rapid_clear(law, sizeof(*law));
	rapid_flow_init(&law->flow, params->packet, params->rtt_floor_ns, now, handshake_rtt);
	law->tuning = params->tuning;
	law->tuning.margin = (u32)rapid_min(params->tuning.margin, RAPID_ONE / 2);
	law->random = (u32)(seed ^ (seed >> 32)) | 1;
	law->envelope.delay = (struct rapid_minimum){RAPID_UNSEEN, RAPID_UNSEEN};
	law->envelope.bucket_ns = now;
	law->envelope.fresh = 1;
	law->envelope.least_pause_ns = law->envelope.least_pause_before_ns = RAPID_NO_PAUSE;
	law->envelope.inverse = RAPID_INVERSE_ONE / law->flow.rate;
	law->spell = ~0U;
	rapid_ladder_fill(law->narrow, params->span, RAPID_PROBE_LEVELS);
	rapid_ladder_fill(law->wide, params->wide_span, RAPID_PROBE_LEVELS);
}

/* Sets the clock to the level that begins now. */
RAPID_FN void rapid_enter_level(struct rapid *law, const struct rapid_stream *s)
{
	u32 packets = s->per_level;
	u64 rate = rapid_probe_rate(law, s, law->flow.level);

	if (s->kind == RAPID_CHIRP && law->flow.level < RAPID_CHIRP_LEVELS) {
		rate = law->chirp.rate[RAPID_INDEX(law->flow.level, RAPID_CHIRP_LEVELS)];
		packets = rapid_chirp_length(law, law->flow.level, rate);
	}
	if (!law->flow.half)
		rapid_set_level_rate(&law->flow, rate);
	law->flow.left = rapid_half(packets, law->flow.half);
}

RAPID_FN void rapid_open_next(struct rapid *law, const struct rapid_memory *memory)
{
	struct rapid_stream *s;

	if (law->flow.startup)
		rapid_startup_open(law, memory);
	else
		rapid_probe_open(law, memory);
	s = RAPID_STREAM(memory, law->flow.stream);
	if (s && law->flow.open)
		rapid_enter_level(law, s);
}

/*
 * What next_ns will be if a packet of `size` leaves at `now`: for a host that
 * must set its timer before it sends. Sending nothing, or something else, or
 * later, is allowed. Begins a stream when none is open.
 */
RAPID_FN u64 rapid_before_sending(struct rapid *law, const struct rapid_memory *memory, u64 now, u32 size)
{
	size = (u32)rapid_clamp(size, 1, RAPID_PACKET_MAX);
	if (!law->flow.open)
		rapid_open_next(law, memory);
	return rapid_departure_after(&law->flow, now, rapid_gap_after(&law->flow, size)).ns;
}

/* A stream is complete: read it. */
RAPID_FN void rapid_read(struct rapid *law, const struct rapid_memory *memory, struct rapid_stream *s, u64 now)
{
	u64 duration = s->end_ns - s->start_ns;

	rapid_count(&law->streams);
	law->completed = s->number;
	rapid_relax_window(&law->flow, duration);
	law->estimated = 0;
	if (s->kind == RAPID_PROBE && !law->flow.startup) {
		rapid_probe_complete(law, s, now);
		if (rapid_begins_anew(law, s, now))
			rapid_begin_anew(law, memory, now);
	} else {
		rapid_note_queue(law, s, now, rapid_max(duration, 1));
		if (s->kind == RAPID_CHIRP)
			rapid_chirp_read(law, memory, s, now);
		else
			rapid_plain_read(law, s);
	}
	s->stage = RAPID_READ;
}

/*
 * The packet that leaves now comes after a pause of the application. Returns whether the stream being sent ends before it: if all of it
 * is back, after a round trip, or if it is a chirp, of which there is one per round trip. Others go on, and give no estimate.
 */
RAPID_FN int rapid_is_interrupted(const struct rapid *law, struct rapid_stream *s, u64 now)
{
	u32 ends = s->kind == RAPID_CHIRP ||
		   (RAPID_HAS(PAUSE_ENDS) && (s->accounted >= s->sent || now > law->flow.next_ns + law->flow.rtt_ns));

	if (ends || !s->sent)
		return s->sent != 0;
	s->app_limited = 1;
	return 0;
}

/* Ends it. If all of it is back already, nothing comes after which it could be read. */
RAPID_FN void rapid_cut_short(struct rapid *law, const struct rapid_memory *memory, struct rapid_stream *s, u64 now)
{
	s->app_limited = 1;
	s->whole = law->flow.level;
	rapid_close(&law->flow, s);
	if (rapid_is_complete(s))
		rapid_read(law, memory, s, now);
}

/* A packet has left: note it, and set when the next may. */
RAPID_FN void rapid_on_sent(struct rapid *law, const struct rapid_memory *memory, u64 now, u64 number, u32 size,
			    u32 app_limited)
{
	struct rapid_record *r = RAPID_RECORD(memory, number);
	struct rapid_stream *s;

	size = (u32)rapid_clamp(size, 1, RAPID_PACKET_MAX);
	law->flow.next = rapid_max(law->flow.next, number + 1);
	if (!law->flow.open)
		rapid_open_next(law, memory);
	s = rapid_being_sent(&law->flow, memory);
	if (!r || !s)
		return;
	if (app_limited && number > law->spell_first) {
		law->spell = (u32)rapid_min(number - law->spell_first, ~0U);
		law->spell_first = number;
	}
	if (app_limited && rapid_is_interrupted(law, s, now)) {
		rapid_cut_short(law, memory, s, now);
		if (!law->flow.open)
			rapid_open_next(law, memory);
		s = rapid_being_sent(&law->flow, memory);
		if (!s)
			return;
	}
	if (app_limited && law->flow.next_ns < now) {
		law->flow.next_ns = now;
		law->flow.next_q10 = 0;
	}

	rapid_note_departure(s, now, number, size);
	rapid_note_edges(&law->flow, s, now);
	if (s->kind == RAPID_CHIRP && law->flow.level < RAPID_CHIRP_LEVELS)
		law->chirp.sent[RAPID_INDEX(law->flow.level, RAPID_CHIRP_LEVELS)]++;
	*r = (struct rapid_record){now, 0, s->number, (u16)size, (u8)(law->flow.level << 1 | law->flow.half), RAPID_IN_FLIGHT};

	s->planned_q10 += rapid_clock(&law->flow, now, size);
	if (!rapid_half_is_over(&law->flow))
		return;
	if (law->flow.level < (s->kind == RAPID_CHIRP ? RAPID_CHIRP_LEVELS : RAPID_PROBE_LEVELS))
		rapid_enter_level(law, s);
	else
		rapid_close(&law->flow, s);
}

RAPID_FN void rapid_account(struct rapid *law, const struct rapid_memory *memory, struct rapid_stream *s, u64 now)
{
	s->accounted++;
	if (rapid_is_complete(s))
		rapid_read(law, memory, s, now);
}

RAPID_FN void rapid_on_arrival(struct rapid *law, const struct rapid_memory *memory, u64 now, u64 number, u64 arrival)
{
	struct rapid_record *r = rapid_take(&law->flow, memory, number);
	struct rapid_stream *s = r ? rapid_stream_of(memory, r) : 0;
	u32 level, half;
	s64 delay;

	if (!r)
		return;
	r->arrival_ns = arrival;
	r->state = RAPID_STAMPED;
	arrival = rapid_note_skew(law, now, r->sent_ns, arrival);
	if (!s)
		return;
	level = r->level >> 1;
	half = r->level & 1;
	delay = rapid_sclamp(rapid_difference(arrival, r->sent_ns), -RAPID_DELAY_MAX_NS, RAPID_DELAY_MAX_NS);
	s->rtt_ns = rapid_min(s->rtt_ns, rapid_max(rapid_above(now, r->sent_ns), RAPID_RTT_FLOOR_NS));
	rapid_note_batch(&law->envelope, r->sent_ns, arrival);
	if (s->kind != RAPID_CHIRP)
		delay = rapid_less_frame(law, s, delay);
	s->delay = rapid_smin(s->delay, delay);
	if (s->kind == RAPID_CHIRP)
		rapid_chirp_sample(&law->chirp, level, half, r->sent_ns, delay);
	else
		rapid_envelope_sample(s, level, half, delay);
	rapid_account(law, memory, s, now);
}

RAPID_FN void rapid_on_unstamped(struct rapid *law, const struct rapid_memory *memory, u64 now, u64 number)
{
	struct rapid_record *r = rapid_take(&law->flow, memory, number);
	struct rapid_stream *s = r ? rapid_stream_of(memory, r) : 0;

	if (!r)
		return;
	r->state = RAPID_UNSTAMPED;
	law->envelope.untold += law->envelope.untold < RAPID_HOLE_MOST;
	if (s)
		rapid_account(law, memory, s, now);
}

RAPID_FN void rapid_on_lost(struct rapid *law, const struct rapid_memory *memory, u64 now, u64 number)
{
	struct rapid_record *r = rapid_take(&law->flow, memory, number);
	struct rapid_stream *s = r ? rapid_stream_of(memory, r) : 0;
	u32 level;

	if (!r)
		return;
	r->state = RAPID_LOST;
	if (!s)
		return;
	level = r->level >> 1;
	s->lost++;
	s->lost2 += level == 2;
	s->lost3 += level == 3;
	if (s->kind == RAPID_CHIRP && level < RAPID_CHIRP_LEVELS) {
		law->chirp.lost[RAPID_INDEX(level, RAPID_CHIRP_LEVELS)]++;
		law->chirp_lost |= (u16)(1u << level);
	}
	rapid_account(law, memory, s, now);
}

RAPID_FN void rapid_on_rtt(struct rapid *law, u64 rtt)
{
	if (rapid_measure(&law->flow, rtt) && law->flow.startup)
		rapid_set_rate(law, rapid_rate_of_packets(&law->flow, RAPID_INITIAL_PACKETS));
}

/*
 * Begins after packets that TCP's slow start let go: with the `packets` per round trip that TCP would send next.
 * startup 0: some of them were lost, or TCP was past its slow start. To be called before the first packet of the law,
 * in place of rapid_init's `now` and round trip; and once more, in the first stream, if the first round trip shows that one
 * to be far too long. What that stream has sent so far then tells no more than any stream of its rate.
 */
RAPID_FN void rapid_start(struct rapid *law, const struct rapid_memory *memory, u64 now, u64 rtt, u32 packets,
			  u32 startup)
{
	u64 least = startup ? RAPID_INITIAL_PACKETS : RAPID_START_PACKETS_LEAST;
	struct rapid_stream *open = RAPID_STREAM(memory, law->flow.stream);

	if (law->flow.open && open) {
		open->kind = RAPID_PLAIN;
		law->chirping = 0;
		law->flow.unmeasured = 1;
		rapid_close(&law->flow, open);
	}
	law->flow.next_ns = now;
	law->envelope.bucket_ns = now;
	rapid_on_rtt(law, rtt);
	law->flow.startup = startup != 0;
	rapid_set_rate(law, rapid_rate_of_packets(&law->flow, rapid_max(packets, least)));
	law->envelope.inverse = RAPID_INVERSE_ONE / law->flow.rate;
	rapid_set_level_rate(&law->flow, law->flow.rate);
}

/* The first loss of a recovery episode. */
RAPID_FN void rapid_on_recovery(struct rapid *law) { rapid_contest_cut(law); }

/* The retransmission timer expired: the path may be gone. Halve, and let the streams tell. */
RAPID_FN void rapid_on_timeout(struct rapid *law)
{
	law->flow.startup = 0;
	law->clear = (struct rapid_clear_path){0};
	law->contest_stage = RAPID_RESTS;
	rapid_set_rate(law, law->flow.rate / RAPID_TIMEOUT_PART);
}

/* Nothing was lost: the acknowledgments were late (RFC 5682, RFC 3522). `rate` and `startup` are of before the timeout. */
RAPID_FN void rapid_on_spurious_timeout(struct rapid *law, u64 rate, u32 startup)
{
	law->flow.startup = startup != 0;
	rapid_set_rate(law, rapid_max(law->flow.rate, rate));
}

/* A queue on the path has marked a packet (RFC 3168): once per round trip, as for a loss that others heed. */
RAPID_FN void rapid_on_marked(struct rapid *law)
{
	law->flow.startup = 0;
	law->clear = (struct rapid_clear_path){.marked = 1};
	if (rapid_contends(law))
		rapid_contest_cut(law);
	else
		rapid_set_rate(law, rapid_scale(law->flow.rate, RAPID_MARKED_KEEPS_Q16));
}

RAPID_FN void rapid_set_packet(struct rapid *law, u32 packet) { rapid_flow_set_packet(&law->flow, packet); }

/* What the host reports. */
RAPID_FN u64 rapid_queue_ns(const struct rapid *law) { return law->envelope.queue_ns; }

/* Packets that may be in flight. */
RAPID_FN u32 rapid_window(const struct rapid *law)
{
	u64 own = rapid_window_packets(&law->flow), srtt = rapid_max(law->flow.srtt_ns, law->flow.rtt_ns);
	u64 slack = RAPID_WINDOW_SLACK_PACKETS, rtt = rapid_clamp(law->quiet_rtt_ns, law->flow.rtt_ns, srtt), window;

	if (rapid_contends(law))
		return (u32)rapid_contest_window(law);
	if (law->flow.startup)
		slack = RAPID_WINDOW_CHIRP_PACKETS + (law->streams ? slack : 0);
	else
		slack = rapid_clamp(own, RAPID_WINDOW_SLACK_LEAST, slack);
	if (!RAPID_HAS(CROWD_WINDOW))
		own = RAPID_WINDOW_QUEUE_PACKETS;
	rtt += (srtt - rtt) * rapid_min(own, RAPID_WINDOW_QUEUE_PACKETS) / RAPID_WINDOW_QUEUE_PACKETS;
	window = rapid_window_over(&law->flow, rtt, slack);
	if (RAPID_HAS(SOLE_WINDOW) && !law->flow.startup && law->envelope.sole && law->envelope.loss <= RAPID_LOSS_QUEUED_Q16)
		window = rapid_max(window, rapid_bytes_in(law->flow.rate, srtt) / law->flow.packet + RAPID_WINDOW_SPARE_PACKETS);
	return (u32)rapid_min(window, RAPID_WINDOW_MAX_PACKETS);
}

#endif
