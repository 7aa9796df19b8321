/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The frame both presets share: the packet clock, streams, records of what was
 * really sent, and what came of it.
 *
 *     departure(i+1) = departure(i) + size(i) / r(level of i)
 *
 * Every packet is clocked by a gap, and streams follow one another without a
 * pause. (Kaur's group prints the gap before packet i as size(i) / r(i); here a
 * packet's level sets the gap after it, so that a level of n packets lasts n
 * gaps whatever the sizes.)
 *
 * A sender is sometimes late. Lateness of up to half a gap is made up by the
 * next gap; what is more is forgiven, so that no two packets ever leave closer
 * than half a gap, and a stalled host does not burst when it wakes. A host that
 * sends early pays for it with the next gap.
 *
 * Streams are read with the departures recorded, never with those intended. A
 * packet without a stamp (delayed acknowledgments) is a hole, and a stream is
 * complete when all its packets are acknowledged or lost.
 */
#ifndef RAPID_FRAME_H
#define RAPID_FRAME_H

#include "arithmetic.h"

/* Smallest of the last 5-10 s. */
RAPID_FN void rapid_minimum_take(struct rapid_minimum *m, s64 x) { m->now = rapid_smin(m->now, x); }
RAPID_FN s64 rapid_minimum_of(const struct rapid_minimum *m) { return rapid_smin(m->now, m->before); }
RAPID_FN void rapid_minimum_turn(struct rapid_minimum *m)
{
	m->before = m->now;
	m->now = RAPID_UNSEEN;
}

/* Bandwidth-delay product in full packets. */
RAPID_FN u64 rapid_window_packets(const struct rapid *law)
{
	return rapid_bytes_in(law->rate, law->rtt_ns) / law->params.packet;
}

/* Sets the rate of the packets that follow. */
RAPID_FN void rapid_set_level_rate(struct rapid *law, u64 rate)
{
	law->level_rate = rapid_bound(rate);
	law->gap_q10 = rapid_gap_q10(law->params.packet, law->level_rate);
}

/* The gap after a packet of `size`, in 1/1024 ns. */
RAPID_FN u64 rapid_gap_after(const struct rapid *law, u64 size)
{
	return size == law->params.packet ? law->gap_q10 : rapid_gap_q10(size, law->level_rate);
}

/* When the next packet may leave after one that leaves at `now`, in ns and 1/1024 ns. */
struct rapid_departure {
	u64 ns;
	u32 q10;
};

RAPID_FN struct rapid_departure rapid_departure_after(const struct rapid *law, u64 now, u64 gap)
{
	struct rapid_departure next = {law->next_ns, law->next_q10};
	u64 credit = gap >> 11;

	if (now > next.ns && now - next.ns > credit) {
		next.ns = now - credit;
		next.q10 = 0;
	}
	next.ns += (gap + next.q10) >> 10;
	next.q10 = (u32)((gap + next.q10) & 1023);
	return next;
}

/* The schedule after a packet of `size` that left at `now`; gives the gap, in 1/1024 ns. */
RAPID_FN u64 rapid_clock(struct rapid *law, u64 now, u64 size)
{
	u64 gap = rapid_gap_after(law, size);
	struct rapid_departure next = rapid_departure_after(law, now, gap);

	law->next_ns = next.ns;
	law->next_q10 = next.q10;
	return gap;
}

/* Packets in one half of a level: what is odd goes into the second. */
RAPID_FN u32 rapid_half(u32 packets, u32 half) { return half ? packets - packets / 2 : packets / 2; }

/* Starts a stream of `kind` whose levels have `per_level` packets (not so a chirp). */
RAPID_FN struct rapid_stream *rapid_open(struct rapid *law, const struct rapid_memory *memory, u32 kind, u64 rate,
					 u32 per_level)
{
	struct rapid_stream *s = RAPID_STREAM(memory, law->stream);

	if (!s)
		return s;
	*s = (struct rapid_stream){0};
	s->number = law->stream;
	s->kind = (u8)kind;
	s->rate = rate;
	s->per_level = per_level;
	s->rtt_ns = ~0ULL;
	s->delay = s->low2 = s->low3a = s->low3b = RAPID_UNSEEN;
	law->open = 1;
	law->level = 0;
	law->half = 0;
	return s;
}

/* Notes a departure in its stream. */
RAPID_FN void rapid_note_departure(struct rapid *law, struct rapid_stream *s, u64 now, u64 number, u32 size)
{
	if (!s->sent) {
		s->start_ns = now;
		s->first = number;
	}
	if (law->level == 2 && !s->level2_ns)
		s->level2_ns = now;
	if (law->level == 3 && !s->level3_ns)
		s->level3_ns = now;
	if (law->level == 3 && law->half && !s->half3_ns)
		s->half3_ns = now;
	s->sent++;
	s->bytes += size;
}

/* Ends the stream being sent; the next packet begins another. */
RAPID_FN void rapid_close(struct rapid *law, struct rapid_stream *s)
{
	if (!law->open)
		return;
	s->stage = RAPID_CLOSED;
	s->end_ns = law->next_ns;
	law->open = 0;
	law->stream++;
}

RAPID_FN int rapid_is_complete(const struct rapid_stream *s) { return s->stage == RAPID_CLOSED && s->accounted >= s->sent; }

/*
 * The record of a transmission that is still in flight, or null: feedback for a
 * packet is taken once.
 */
RAPID_FN struct rapid_record *rapid_take(struct rapid *law, const struct rapid_memory *memory, u64 number)
{
	struct rapid_record *r;

	if (number >= law->next || law->next - number > (u64)memory->record_mask + 1)
		return 0;
	r = RAPID_RECORD(memory, number);
	return r && r->state == RAPID_IN_FLIGHT ? r : 0;
}

/* The stream of a record, or null when it has been read, or its slot holds another. */
RAPID_FN struct rapid_stream *rapid_stream_of(const struct rapid_memory *memory, const struct rapid_record *r)
{
	struct rapid_stream *s = RAPID_STREAM(memory, r->stream);

	return s && s->number == r->stream && s->stage != RAPID_READ ? s : 0;
}

/* A round trip: smoothed for the window, smallest for everything else. */
RAPID_FN void rapid_note_rtt(struct rapid *law, u64 rtt)
{
	rtt = rapid_clamp(rtt, RAPID_RTT_FLOOR_NS, RAPID_RTT_CEILING_NS);
	law->srtt_ns = law->srtt_ns - law->srtt_ns / 8 + rtt / 8;
	rapid_minimum_take(&law->envelope.rtt, (s64)rtt);
	law->rtt_ns = rapid_max((u64)rapid_minimum_of(&law->envelope.rtt), law->params.rtt_floor_ns);
}

/* Moves the schedule up when the rate has risen by much: the gap under way was cut for the old one. */
RAPID_FN void rapid_hurry(struct rapid *law, u64 now)
{
	u64 latest = now + rapid_gap_ns(law->params.packet, law->rate);

	if (law->next_ns > latest) {
		law->next_ns = latest;
		law->next_q10 = 0;
	}
}

#endif
