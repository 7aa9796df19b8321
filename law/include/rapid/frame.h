/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What both laws share: the packet clock, the streams, and the records of what
 * was really sent and what became of it.
 *
 *     departure(i+1) = departure(i) + size(i) / r(level of i)
 *
 * A gap follows every packet, and streams follow one another without a pause.
 * (Kaur's group prints the gap before packet i as size(i) / r(i). Here a packet's
 * level sets the gap after it, so a level of n packets lasts n gaps whatever their
 * sizes.)
 *
 * A sender is sometimes late. The next gap makes up for lateness of up to half a
 * gap; the rest is forgiven. So no two packets leave closer than half a gap, and a
 * host that stalled does not burst when it wakes. A host that sends early pays for
 * it with the next gap. An application that paused is not late: the first gap after a pause
 * would be half of what its level asks for.
 *
 * The law reads a stream by its recorded departures, never by the intended ones. A
 * packet without a stamp (delayed acknowledgments) is a hole. A stream is complete
 * when all its packets are acknowledged or lost.
 */
#ifndef RAPID_FRAME_H
#define RAPID_FRAME_H

#include "arithmetic.h"
#include "mechanisms.h"

/* A new round trip weighs 1/8 in the smoothed one, as in RFC 6298. */
#define RAPID_SRTT_PART 8
/* A stream is late when it took 1/8 longer than planned: its levels then are not those of its plan. */
#define RAPID_LATE_PART 8

/* The smallest value lately seen: the present bucket and the one before (measure.h turns them). */
RAPID_FN void rapid_minimum_take(struct rapid_minimum *m, s64 x) { m->now = rapid_smin(m->now, x); }
RAPID_FN s64 rapid_minimum_of(const struct rapid_minimum *m) { return rapid_smin(m->now, m->before); }
RAPID_FN void rapid_minimum_turn(struct rapid_minimum *m)
{
	m->before = m->now;
	m->now = RAPID_UNSEEN;
}

/* A connection begins with ten packets per round trip, as TCP does (RFC 6928). */
#define RAPID_INITIAL_PACKETS 10
/* Without start-up it begins with two packets per round trip at least, as TCP does after a loss (RFC 5681, 3.1). */
#define RAPID_START_PACKETS_LEAST 2
/* The floor of the rate, in packets per round trip: two make a gap. */
#define RAPID_FLOOR_PACKETS 2
/* The sizes of packets that the arithmetic is made for. */
#define RAPID_PACKET_MIN 64
#define RAPID_PACKET_MAX 65535
/* The round trip before one is measured: with ten packets, 1.2 Mbit/s. */
#define RAPID_RTT_UNKNOWN_NS 100000000ULL
/* What a mark leaves of the rate, once per round trip: as much as CUBIC keeps of its window (RFC 9438, 4.6). */
#define RAPID_MARKED_KEEPS_Q16 RAPID_Q16(700)
/* What a retransmission timeout leaves of the rate: half. */
#define RAPID_TIMEOUT_PART 2
/*
 * The window: two bandwidth-delay products, and slack, a stream of which is 64 packets. During start-up, what a chirp sends is added: nine
 * levels of 50 us at R 2^(j/2). The sum of these, j = 0..8, is 52.2 levels at R; a few more for its last packets.
 */
#define RAPID_WINDOW_TIMES 2
#define RAPID_WINDOW_SLACK_PACKETS 64
#define RAPID_CHIRP_LEVEL_NS 50000
#define RAPID_CHIRP_SUM 55
/* The window follows the rate down over two round trips: for that long packets of the faster rate may be in flight. */
#define RAPID_WINDOW_ROUNDS 2
/* Packets that a window holds at most. */
#define RAPID_WINDOW_MAX_PACKETS (1u << 28)

/* The bandwidth-delay product, in full packets. */
RAPID_FN u64 rapid_window_packets(const struct rapid_flow *flow)
{
	return rapid_bytes_in(flow->rate, flow->rtt_ns) / flow->packet;
}

/* Sets the rate of the packets that follow. */
RAPID_FN void rapid_set_level_rate(struct rapid_flow *flow, u64 rate)
{
	flow->level_rate = rapid_bound(rate);
	flow->gap_q10 = rapid_gap_q10(flow->packet, flow->level_rate);
}

/* State is all zero before it begins. A BPF compiler clears at most 1024 bytes in place: so word by word. */
RAPID_FN void rapid_clear(void *state, u32 bytes)
{
	typedef u64 __attribute__((may_alias)) word_of_any;
	volatile word_of_any *word = (volatile word_of_any *)state;

	for (u32 i = 0; i < bytes / sizeof(u64); i++)
		word[i] = 0;
}

/* The rate that a flow keeps where nothing is lost. */
RAPID_FN u64 rapid_flow_floor(const struct rapid_flow *flow)
{
	return rapid_rate_of(RAPID_FLOOR_PACKETS * flow->packet, rapid_max(flow->srtt_ns, flow->rtt_ns));
}

RAPID_FN void rapid_flow_set_rate(struct rapid_flow *flow, u64 rate)
{
	flow->rate = rapid_bound(rate);
	flow->window_rate = rapid_max(flow->window_rate, flow->rate);
}

/* `packets` in a round trip. */
RAPID_FN u64 rapid_rate_of_packets(const struct rapid_flow *flow, u64 packets)
{
	return rapid_rate_of(packets * flow->packet, flow->rtt_ns);
}

/* `handshake_rtt` 0: not measured. The flow is all zero. */
RAPID_FN void rapid_flow_init(struct rapid_flow *flow, u32 packet, u64 rtt_floor_ns, u64 now, u64 handshake_rtt)
{
	flow->packet = (u32)rapid_clamp(packet, RAPID_PACKET_MIN, RAPID_PACKET_MAX);
	flow->rtt_floor_ns = rapid_min(rtt_floor_ns, RAPID_RTT_CEILING_NS);
	flow->next_ns = now;
	flow->unmeasured = !handshake_rtt;
	flow->srtt_ns = rapid_clamp(handshake_rtt ? handshake_rtt : RAPID_RTT_UNKNOWN_NS, RAPID_RTT_FLOOR_NS, RAPID_RTT_CEILING_NS);
	flow->rtt_ns = rapid_max(flow->srtt_ns, flow->rtt_floor_ns);
	flow->rtt = (struct rapid_minimum){handshake_rtt ? (s64)flow->srtt_ns : RAPID_UNSEEN, RAPID_UNSEEN};
	flow->startup = 1;
	rapid_flow_set_rate(flow, rapid_max(rapid_rate_of_packets(flow, RAPID_INITIAL_PACKETS), rapid_flow_floor(flow)));
	rapid_set_level_rate(flow, flow->rate);
}

/* The gap after a packet of `size`, in 1/1024 ns. */
RAPID_FN u64 rapid_gap_after(const struct rapid_flow *flow, u64 size)
{
	return size == flow->packet ? flow->gap_q10 : rapid_gap_q10(size, flow->level_rate);
}

/* When the next packet may leave: nanoseconds, and 1/1024 of them. */
struct rapid_departure {
	u64 ns;
	u32 q10;
};

RAPID_FN struct rapid_departure rapid_departure_after(const struct rapid_flow *flow, u64 now, u64 gap)
{
	struct rapid_departure next = {flow->next_ns, flow->next_q10};
	u64 credit = gap >> (RAPID_Q10_BITS + 1); /* half a gap, in ns */

	if (now > next.ns && now - next.ns > credit) {
		next.ns = now - credit;
		next.q10 = 0;
	}
	next.ns += (gap + next.q10) >> RAPID_Q10_BITS;
	next.q10 = (u32)((gap + next.q10) & RAPID_Q10_MASK);
	return next;
}

/* Sets the schedule after a packet of `size` that left at `now`. Returns the gap, in 1/1024 ns. */
RAPID_FN u64 rapid_clock(struct rapid_flow *flow, u64 now, u64 size)
{
	u64 gap = rapid_gap_after(flow, size);
	struct rapid_departure next = rapid_departure_after(flow, now, gap);

	flow->next_ns = next.ns;
	flow->next_q10 = next.q10;
	return gap;
}

/* Whether a time to send has passed, by more than the next gap makes up for. */
RAPID_FN int rapid_is_overdue(const struct rapid_flow *flow, u64 now)
{
	return now > flow->next_ns + (flow->gap_q10 >> (RAPID_Q10_BITS + 1));
}

/* Packets in one half of a level: an odd one goes into the second. */
RAPID_FN u32 rapid_half(u32 packets, u32 half) { return half ? packets - packets / 2 : packets / 2; }

/* Starts a stream of `kind` whose levels have `per_level` packets (a chirp sets its own: startup.h). */
RAPID_FN struct rapid_stream *rapid_open(struct rapid_flow *flow, const struct rapid_memory *memory, u32 kind, u64 rate,
					 u32 per_level)
{
	struct rapid_stream *s = RAPID_STREAM(memory, flow->stream);

	if (!s)
		return s;
	*s = (struct rapid_stream){0};
	s->number = flow->stream;
	s->kind = (u8)kind;
	s->rate = rate;
	s->per_level = per_level;
	s->rtt_ns = ~0ULL;
	s->delay = RAPID_UNSEEN;
	for (u32 k = 0; k < RAPID_EDGES; k++)
		s->low[k] = RAPID_UNSEEN;
	flow->open = 1;
	flow->level = 0;
	flow->half = 0;
	return s;
}

/* Notes a departure in its stream. */
RAPID_FN void rapid_note_departure(struct rapid_stream *s, u64 now, u64 number, u32 size)
{
	if (!s->sent) {
		s->start_ns = now;
		s->first = number;
	}
	s->sent++;
	s->bytes += size;
}

/* The stream being sent; null where there is none, or its slot holds another. */
RAPID_FN struct rapid_stream *rapid_being_sent(const struct rapid_flow *flow, const struct rapid_memory *memory)
{
	struct rapid_stream *s = RAPID_STREAM(memory, flow->stream);

	return s && flow->open && s->number == flow->stream ? s : 0;
}

/* One packet less is left at this level. Returns whether the next half of a level begins, or the stream is over. */
RAPID_FN int rapid_half_is_over(struct rapid_flow *flow)
{
	if (flow->left)
		flow->left--;
	if (flow->left)
		return 0;
	flow->level += flow->half;
	flow->half ^= 1;
	return 1;
}

/* Ends the stream being sent; the next packet begins another. */
RAPID_FN void rapid_close(struct rapid_flow *flow, struct rapid_stream *s)
{
	if (!flow->open)
		return;
	s->stage = RAPID_CLOSED;
	s->end_ns = flow->next_ns;
	flow->open = 0;
	flow->stream++;
}

/* Whether a stream that took `duration` took too much longer than planned. */
RAPID_FN int rapid_is_late(const struct rapid_stream *s, u64 duration)
{
	return duration > (s->planned_q10 + s->planned_q10 / RAPID_LATE_PART) >> RAPID_Q10_BITS;
}

RAPID_FN int rapid_is_complete(const struct rapid_stream *s) { return s->stage == RAPID_CLOSED && s->accounted >= s->sent; }

/* The record of a transmission that is still in flight, else null: feedback for a packet counts once. */
RAPID_FN struct rapid_record *rapid_take(struct rapid_flow *flow, const struct rapid_memory *memory, u64 number)
{
	struct rapid_record *r;

	if (number >= flow->next || flow->next - number > (u64)memory->record_mask + 1)
		return 0;
	r = RAPID_RECORD(memory, number);
	return r && r->state == RAPID_IN_FLIGHT ? r : 0;
}

/* The stream of a record; null when it has been read, or when its slot holds another. */
RAPID_FN struct rapid_stream *rapid_stream_of(const struct rapid_memory *memory, const struct rapid_record *r)
{
	struct rapid_stream *s = RAPID_STREAM(memory, r->stream);

	return s && s->number == r->stream && s->stage != RAPID_READ ? s : 0;
}

/* A round trip: the smoothed one sets the window, the smallest one everything else. */
RAPID_FN void rapid_note_rtt(struct rapid_flow *flow, u64 rtt)
{
	rtt = rapid_clamp(rtt, RAPID_RTT_FLOOR_NS, RAPID_RTT_CEILING_NS);
	flow->srtt_ns = flow->srtt_ns - flow->srtt_ns / RAPID_SRTT_PART + rtt / RAPID_SRTT_PART;
	rapid_minimum_take(&flow->rtt, (s64)rtt);
	flow->rtt_ns = rapid_max((u64)rapid_minimum_of(&flow->rtt), flow->rtt_floor_ns);
}

/* The same; returns whether it is the first. */
RAPID_FN u32 rapid_measure(struct rapid_flow *flow, u64 rtt)
{
	u32 first = flow->unmeasured;

	if (first)
		flow->srtt_ns = rapid_clamp(rtt, RAPID_RTT_FLOOR_NS, RAPID_RTT_CEILING_NS);
	flow->unmeasured = 0;
	rapid_note_rtt(flow, rtt);
	return first;
}

/* A full packet has another size from now on: the path takes smaller ones, or larger ones again. */
RAPID_FN void rapid_flow_set_packet(struct rapid_flow *flow, u32 packet)
{
	flow->packet = (u32)rapid_clamp(packet, RAPID_PACKET_MIN, RAPID_PACKET_MAX);
	rapid_set_level_rate(flow, flow->level_rate);
}

/*
 * The window follows the rate down over two round trips: what a faster rate has
 * put in flight must not block a slower one.
 */
RAPID_FN void rapid_relax_window(struct rapid_flow *flow, u64 duration)
{
	u64 weight = rapid_weight(1, duration, RAPID_WINDOW_ROUNDS * flow->rtt_ns);
	s64 down = rapid_average((s64)flow->window_rate, (s64)flow->rate, weight);

	flow->window_rate = rapid_max(flow->rate, (u64)down);
}

/* The window over a delay, with a slack in packets. */
RAPID_FN u64 rapid_window_over(const struct rapid_flow *flow, u64 rtt, u64 slack)
{
	u64 window = RAPID_WINDOW_TIMES * rapid_bytes_in(flow->window_rate, rtt) / flow->packet + slack;

	if (flow->startup)
		window += rapid_bytes_in(flow->rate, RAPID_CHIRP_SUM * RAPID_CHIRP_LEVEL_NS) / flow->packet;
	return rapid_min(window, RAPID_WINDOW_MAX_PACKETS);
}

/* Moves the schedule forward when the rate has risen by much: the gap under way belongs to the old rate. */
RAPID_FN void rapid_hurry(struct rapid_flow *flow, u64 now)
{
	u64 latest = now + rapid_gap_ns(flow->packet, flow->rate);

	if (flow->next_ns > latest) {
		flow->next_ns = latest;
		flow->next_q10 = 0;
	}
}

#endif
