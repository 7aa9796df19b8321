/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The Rapid rate law: the one header a host includes.
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
 * and lets the next packet go no earlier than law->next_ns. Transmissions are
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
#include "thesis.h"

/* A connection begins with ten packets per round trip, as TCP does (RFC 6928). */
#define RAPID_INITIAL_PACKETS 10
/* Without start-up it begins with two packets per round trip at least, as TCP does after a loss (RFC 5681, 3.1). */
#define RAPID_START_PACKETS_LEAST 2
/* The sizes of packets that the arithmetic is made for. */
#define RAPID_PACKET_MIN 64
#define RAPID_PACKET_MAX 65535
/*
 * The slack of the window: from 4 packets to 64, a stream; during start-up 64 and the packets of a chirp, and before a stream is read
 * those of a chirp alone, since the path may be far slower than the first rate. The delay of its product is
 * the round trip without a queue for a flow of few packets, and with it from 256 packets per round trip on: the queue of a
 * crowd then slows its flows down within a round trip, before they have read it, and a path of one flow may become longer at once.
 * What a quiet stream adds to the smallest round trip is not such a queue, but one on the way back, or a longer path.
 * While a flow has the path for itself, as far as it knows, and loses nothing, the window is at least what its rate puts on the way, and two
 * packets: on a path that has become longer than the window takes it for, streams would else be late for ever, and say nothing.
 */
#define RAPID_WINDOW_TIMES 2
#define RAPID_WINDOW_SLACK_LEAST 4
#define RAPID_WINDOW_SLACK_PACKETS 64
#define RAPID_WINDOW_QUEUE_PACKETS 256
#define RAPID_WINDOW_SPARE_PACKETS 2
#define RAPID_WINDOW_CHIRP_PACKETS (RAPID_CHIRP_LEVEL_PACKETS * (RAPID_CHIRP_LEVELS + 1))
/* Clocks may differ by decades, not by centuries (62 bits of ns are 146 years): what is wider is a lie. */
#define RAPID_DELAY_MAX_NS (1LL << 62)
/* The round trip before one is measured: with ten packets, 1.2 Mbit/s. */
#define RAPID_RTT_UNKNOWN_NS 100000000ULL
/* What a mark leaves of the rate, once per round trip: as much as CUBIC keeps of its window (RFC 9438, 4.6). */
#define RAPID_MARKED_KEEPS_Q16 RAPID_Q16(700)
/* What a retransmission timeout leaves of the rate: half. */
#define RAPID_TIMEOUT_PART 2

/* A BPF compiler clears at most 1024 bytes in place: so word by word. */
_Static_assert(sizeof(struct rapid) % sizeof(u64) == 0, "struct rapid");

RAPID_FN void rapid_clear(struct rapid *law)
{
	typedef u64 __attribute__((may_alias)) word_of_any;
	volatile word_of_any *word = (volatile word_of_any *)law;

	for (u32 i = 0; i < sizeof(*law) / sizeof(u64); i++)
		word[i] = 0;
}

/* `handshake_rtt` 0: not measured. */
RAPID_FN void rapid_init(struct rapid *law, const struct rapid_params *params, u64 now, u64 handshake_rtt, u64 seed)
{
	rapid_clear(law);
	law->params = *params;
	law->params.packet = (u32)rapid_clamp(params->packet, RAPID_PACKET_MIN, RAPID_PACKET_MAX);
	law->params.margin = (u32)rapid_min(params->margin, RAPID_ONE / 2);
	law->random = (u32)(seed ^ (seed >> 32)) | 1;
	law->next_ns = now;
	law->params.rtt_floor_ns = rapid_min(params->rtt_floor_ns, RAPID_RTT_CEILING_NS);
	law->unmeasured = !handshake_rtt;
	law->srtt_ns = rapid_clamp(handshake_rtt ? handshake_rtt : RAPID_RTT_UNKNOWN_NS, RAPID_RTT_FLOOR_NS, RAPID_RTT_CEILING_NS);
	law->rtt_ns = rapid_max(law->srtt_ns, law->params.rtt_floor_ns);
	law->envelope.rtt = (struct rapid_minimum){handshake_rtt ? (s64)law->srtt_ns : RAPID_UNSEEN, RAPID_UNSEEN};
	law->envelope.delay = (struct rapid_minimum){RAPID_UNSEEN, RAPID_UNSEEN};
	law->envelope.bucket_ns = now;
	law->envelope.fresh = 1;
	law->envelope.least_pause_ns = law->envelope.least_pause_before_ns = RAPID_NO_PAUSE;
	law->startup = 1;
	law->spell = ~0U;
	rapid_set_rate(law, rapid_rate_of(RAPID_INITIAL_PACKETS * law->params.packet, law->rtt_ns));
	law->envelope.inverse = RAPID_INVERSE_ONE / law->rate;
	if (params->preset == RAPID_THESIS) {
		rapid_thesis_init(law);
	} else {
		rapid_ladder_fill(&law->narrow, params->span, RAPID_PROBE_LEVELS);
		rapid_ladder_fill(&law->wide, params->wide_span, RAPID_PROBE_LEVELS);
	}
	rapid_set_level_rate(law, law->rate);
}

RAPID_FN u32 rapid_levels_of(const struct rapid *law, const struct rapid_stream *s)
{
	if (s->kind == RAPID_CHIRP)
		return RAPID_CHIRP_LEVELS;
	return law->params.preset == RAPID_THESIS ? law->narrow.levels : RAPID_PROBE_LEVELS;
}

/* Sets the clock to the level that begins now. */
RAPID_FN void rapid_enter_level(struct rapid *law, const struct rapid_stream *s)
{
	u32 packets = s->per_level;
	u64 rate = rapid_probe_rate(law, s, law->level);

	if (s->kind == RAPID_CHIRP && law->level < RAPID_CHIRP_LEVELS) {
		rate = law->chirp.rate[law->level];
		packets = rapid_chirp_length(law, law->level, rate);
	}
	if (!law->half)
		rapid_set_level_rate(law, rate);
	law->left = rapid_half(packets, law->half);
}

RAPID_FN void rapid_open_next(struct rapid *law, const struct rapid_memory *memory)
{
	struct rapid_stream *s;

	if (law->params.preset == RAPID_THESIS)
		rapid_thesis_open(law, memory);
	else if (law->startup)
		rapid_startup_open(law, memory);
	else
		rapid_probe_open(law, memory);
	s = RAPID_STREAM(memory, law->stream);
	if (s && law->open)
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
	if (!law->open)
		rapid_open_next(law, memory);
	return rapid_departure_after(law, now, rapid_gap_after(law, size)).ns;
}

/* A stream is complete: read it. */
RAPID_FN void rapid_read(struct rapid *law, const struct rapid_memory *memory, struct rapid_stream *s, u64 now)
{
	u64 duration = s->end_ns - s->start_ns;

	rapid_count(&law->streams);
	law->completed = s->number;
	rapid_relax_window(law, duration);
	law->estimated = 0;
	if (law->params.preset == RAPID_THESIS) {
		rapid_thesis_read(law, memory, s, now);
	} else if (s->kind == RAPID_PROBE && !law->startup) {
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
	u32 ends = s->kind == RAPID_CHIRP || s->accounted >= s->sent || now > law->next_ns + law->rtt_ns;

	if (law->params.preset != RAPID_THESIS && (ends || !s->sent))
		return s->sent != 0;
	s->app_limited = 1;
	return 0;
}

/* Ends it. If all of it is back already, nothing comes after which it could be read. */
RAPID_FN void rapid_cut_short(struct rapid *law, const struct rapid_memory *memory, struct rapid_stream *s, u64 now)
{
	s->app_limited = 1;
	s->whole = law->level;
	rapid_close(law, s);
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
	law->next = rapid_max(law->next, number + 1);
	if (!law->open)
		rapid_open_next(law, memory);
	s = RAPID_STREAM(memory, law->stream);
	if (!r || !s || !law->open || s->number != law->stream)
		return;
	if (app_limited && number > law->spell_first) {
		law->spell = (u32)rapid_min(number - law->spell_first, ~0U);
		law->spell_first = number;
	}
	if (app_limited && rapid_is_interrupted(law, s, now)) {
		rapid_cut_short(law, memory, s, now);
		if (!law->open)
			rapid_open_next(law, memory);
		s = RAPID_STREAM(memory, law->stream);
		if (!s || !law->open || s->number != law->stream)
			return;
	}
	if (app_limited && law->params.preset != RAPID_THESIS && law->next_ns < now) {
		law->next_ns = now;
		law->next_q10 = 0;
	}

	rapid_note_departure(law, s, now, number, size);
	if (s->kind == RAPID_CHIRP && law->level < RAPID_CHIRP_LEVELS)
		law->chirp.sent[law->level]++;
	*r = (struct rapid_record){now, 0, s->number, (u16)size, (u8)(law->level << 1 | law->half), RAPID_IN_FLIGHT};

	s->planned_q10 += rapid_clock(law, now, size);
	if (law->left)
		law->left--;
	if (law->left)
		return;
	law->level += law->half;
	law->half ^= 1;
	if (law->level < rapid_levels_of(law, s))
		rapid_enter_level(law, s);
	else
		rapid_close(law, s);
}

RAPID_FN void rapid_account(struct rapid *law, const struct rapid_memory *memory, struct rapid_stream *s, u64 now)
{
	s->accounted++;
	if (rapid_is_complete(s))
		rapid_read(law, memory, s, now);
}

RAPID_FN void rapid_on_arrival(struct rapid *law, const struct rapid_memory *memory, u64 now, u64 number, u64 arrival)
{
	struct rapid_record *r = rapid_take(law, memory, number);
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
	struct rapid_record *r = rapid_take(law, memory, number);
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
	struct rapid_record *r = rapid_take(law, memory, number);
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
	u32 first = law->unmeasured;

	if (first)
		law->srtt_ns = rapid_clamp(rtt, RAPID_RTT_FLOOR_NS, RAPID_RTT_CEILING_NS);
	law->unmeasured = 0;
	rapid_note_rtt(law, rtt);
	if (first && law->startup)
		rapid_set_rate(law, rapid_rate_of(RAPID_INITIAL_PACKETS * law->params.packet, law->rtt_ns));
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
	struct rapid_stream *open = RAPID_STREAM(memory, law->stream);

	if (law->open && open) {
		open->kind = RAPID_PLAIN;
		law->chirping = 0;
		law->unmeasured = 1;
		rapid_close(law, open);
	}
	law->next_ns = now;
	law->envelope.bucket_ns = now;
	rapid_on_rtt(law, rtt);
	law->startup = startup != 0;
	rapid_set_rate(law, rapid_rate_of(rapid_max(packets, least) * law->params.packet, law->rtt_ns));
	law->envelope.inverse = RAPID_INVERSE_ONE / law->rate;
	rapid_set_level_rate(law, law->rate);
}

/* The first loss of a recovery episode. */
RAPID_FN void rapid_on_recovery(struct rapid *law)
{
	if (law->params.preset == RAPID_THESIS)
		rapid_thesis_cut(law);
	else
		rapid_contest_cut(law);
}

/* The retransmission timer expired: the path may be gone. Halve, and let the streams tell. */
RAPID_FN void rapid_on_timeout(struct rapid *law)
{
	law->startup = 0;
	law->clear = 0;
	law->contest_stage = RAPID_RESTS;
	rapid_set_rate(law, law->rate / RAPID_TIMEOUT_PART);
}

/* Nothing was lost: the acknowledgments were late (RFC 5682, RFC 3522). `rate` and `startup` are of before the timeout. */
RAPID_FN void rapid_on_spurious_timeout(struct rapid *law, u64 rate, u32 startup)
{
	law->startup = startup != 0;
	rapid_set_rate(law, rapid_max(law->rate, rate));
}

/* A queue on the path has marked a packet (RFC 3168): once per round trip, as for a loss that others heed. */
RAPID_FN void rapid_on_marked(struct rapid *law)
{
	law->startup = 0;
	law->clear = RAPID_MARKED;
	if (rapid_contends(law))
		rapid_contest_cut(law);
	else
		rapid_set_rate(law, rapid_scale(law->rate, RAPID_MARKED_KEEPS_Q16));
}

/* A full packet has another size from now on: the path takes smaller ones, or larger ones again. */
RAPID_FN void rapid_set_packet(struct rapid *law, u32 packet)
{
	law->params.packet = (u32)rapid_clamp(packet, RAPID_PACKET_MIN, RAPID_PACKET_MAX);
	rapid_set_level_rate(law, law->level_rate);
}

/*
 * The window: two bandwidth-delay products, and slack; during start-up a chirp more. Under the dissertation's law the delay is the
 * smoothed round trip, and the slack a stream.
 */
RAPID_FN u64 rapid_window_over(const struct rapid *law, u64 rtt, u64 slack)
{
	u64 window = RAPID_WINDOW_TIMES * rapid_bytes_in(law->window_rate, rtt) / law->params.packet + slack;

	if (law->startup)
		window += rapid_bytes_in(law->rate, RAPID_CHIRP_SUM * RAPID_CHIRP_LEVEL_NS) / law->params.packet;
	return rapid_min(window, RAPID_WINDOW_MAX_PACKETS);
}

/* Packets that may be in flight. */
RAPID_FN u32 rapid_window(const struct rapid *law)
{
	u64 own = rapid_window_packets(law), srtt = rapid_max(law->srtt_ns, law->rtt_ns);
	u64 slack = RAPID_WINDOW_SLACK_PACKETS, rtt = rapid_clamp(law->quiet_rtt_ns, law->rtt_ns, srtt), window;

	if (law->params.preset == RAPID_THESIS)
		return (u32)rapid_window_over(law, srtt, slack);
	if (rapid_contends(law))
		return (u32)rapid_contest_window(law);
	if (law->startup)
		slack = RAPID_WINDOW_CHIRP_PACKETS + (law->streams ? slack : 0);
	else
		slack = rapid_clamp(own, RAPID_WINDOW_SLACK_LEAST, slack);
	rtt += (srtt - rtt) * rapid_min(own, RAPID_WINDOW_QUEUE_PACKETS) / RAPID_WINDOW_QUEUE_PACKETS;
	window = rapid_window_over(law, rtt, slack);
	if (!law->startup && law->envelope.sole && law->envelope.loss <= RAPID_LOSS_QUEUED_Q16)
		window = rapid_max(window, rapid_bytes_in(law->rate, srtt) / law->params.packet + RAPID_WINDOW_SPARE_PACKETS);
	return (u32)rapid_min(window, RAPID_WINDOW_MAX_PACKETS);
}

/* The available bandwidth, from a host that knows it (thesis.h, ideal estimation). */
RAPID_FN void rapid_set_available(struct rapid *law, u64 rate) { law->adapter.ideal = rate; }

#endif
