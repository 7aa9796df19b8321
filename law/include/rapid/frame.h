/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What both presets share: the packet clock, the streams, and the records of what
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

/* A new round trip weighs 1/8 in the smoothed one, as in RFC 6298. */
#define RAPID_SRTT_PART 8
/* A stream is late when it took 1/8 longer than planned: its levels then are not those of its plan. */
#define RAPID_LATE_PART 8

/* The smallest value lately seen: the present bucket and the one before (queue.h turns them). */
RAPID_FN void rapid_minimum_take(struct rapid_minimum *m, s64 x) { m->now = rapid_smin(m->now, x); }
RAPID_FN s64 rapid_minimum_of(const struct rapid_minimum *m) { return rapid_smin(m->now, m->before); }
RAPID_FN void rapid_minimum_turn(struct rapid_minimum *m)
{
	m->before = m->now;
	m->now = RAPID_UNSEEN;
}

/* Packets that a window holds at most. */
#define RAPID_WINDOW_MAX_PACKETS (1u << 28)

/* The bandwidth-delay product, in full packets. */
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

/* When the next packet may leave: nanoseconds, and 1/1024 of them. */
struct rapid_departure {
	u64 ns;
	u32 q10;
};

RAPID_FN struct rapid_departure rapid_departure_after(const struct rapid *law, u64 now, u64 gap)
{
	struct rapid_departure next = {law->next_ns, law->next_q10};
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
RAPID_FN u64 rapid_clock(struct rapid *law, u64 now, u64 size)
{
	u64 gap = rapid_gap_after(law, size);
	struct rapid_departure next = rapid_departure_after(law, now, gap);

	law->next_ns = next.ns;
	law->next_q10 = next.q10;
	return gap;
}

/* Whether a time to send has passed, by more than the next gap makes up for. */
RAPID_FN int rapid_is_overdue(const struct rapid *law, u64 now)
{
	return now > law->next_ns + (law->gap_q10 >> (RAPID_Q10_BITS + 1));
}

/* Packets in one half of a level: an odd one goes into the second. */
RAPID_FN u32 rapid_half(u32 packets, u32 half) { return half ? packets - packets / 2 : packets / 2; }

/* Starts a stream of `kind` whose levels have `per_level` packets (a chirp sets its own: startup.h). */
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
	s->delay = RAPID_UNSEEN;
	for (u32 k = 0; k < RAPID_EDGES; k++)
		s->low[k] = RAPID_UNSEEN;
	law->open = 1;
	law->level = 0;
	law->half = 0;
	return s;
}

/* The level and the half of it that begin at an edge. */
RAPID_FN u32 rapid_edge_level(u32 edge) { return edge == RAPID_EDGE_2 ? 2 : 3; }
RAPID_FN u32 rapid_edge_half(u32 edge) { return edge == RAPID_EDGE_3_HALF; }

/* Notes a departure in its stream. */
RAPID_FN void rapid_note_departure(struct rapid *law, struct rapid_stream *s, u64 now, u64 number, u32 size)
{
	if (!s->sent) {
		s->start_ns = now;
		s->first = number;
	}
	for (u32 k = 0; k < RAPID_EDGES; k++) {
		u32 begun = law->level == rapid_edge_level(k), half = law->half >= rapid_edge_half(k), first = !s->edge_ns[k];

		s->edge_ns[k] = rapid_pick(begun & half & first, now, s->edge_ns[k]);
	}
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

/* Whether a stream that took `duration` took too much longer than planned. */
RAPID_FN int rapid_is_late(const struct rapid_stream *s, u64 duration)
{
	return duration > (s->planned_q10 + s->planned_q10 / RAPID_LATE_PART) >> RAPID_Q10_BITS;
}

RAPID_FN int rapid_is_complete(const struct rapid_stream *s) { return s->stage == RAPID_CLOSED && s->accounted >= s->sent; }

/* The record of a transmission that is still in flight, else null: feedback for a packet counts once. */
RAPID_FN struct rapid_record *rapid_take(struct rapid *law, const struct rapid_memory *memory, u64 number)
{
	struct rapid_record *r;

	if (number >= law->next || law->next - number > (u64)memory->record_mask + 1)
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
RAPID_FN void rapid_note_rtt(struct rapid *law, u64 rtt)
{
	rtt = rapid_clamp(rtt, RAPID_RTT_FLOOR_NS, RAPID_RTT_CEILING_NS);
	law->srtt_ns = law->srtt_ns - law->srtt_ns / RAPID_SRTT_PART + rtt / RAPID_SRTT_PART;
	rapid_minimum_take(&law->envelope.rtt, (s64)rtt);
	law->rtt_ns = rapid_max((u64)rapid_minimum_of(&law->envelope.rtt), law->params.rtt_floor_ns);
}

/* Moves the schedule forward when the rate has risen by much: the gap under way belongs to the old rate. */
RAPID_FN void rapid_hurry(struct rapid *law, u64 now)
{
	u64 latest = now + rapid_gap_ns(law->params.packet, law->rate);

	if (law->next_ns > latest) {
		law->next_ns = latest;
		law->next_q10 = 0;
	}
}

#endif
