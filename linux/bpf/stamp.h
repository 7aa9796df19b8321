/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Stores a connection's arrival times until an acknowledgment has reported them.
 *
 * Storage of the socket at the receiver: stamp.bpf.c records arrivals at the
 * device, option.bpf.c takes them when an acknowledgment leaves. In between,
 * its backlog or a busy application may delay TCP, so the arrivals wait in a ring.
 *
 * One CPU records a flow's arrivals while another may read. An arrival is written
 * before it is counted, and the count is read before it: both by an atomic addition
 * that returns the old value, the only BPF instruction that orders all others
 * around it on every processor (AArch64 orders no plain ones, `volatile` or not).
 * The reader avoids the oldest STAMPS_SLACK, which may be overwritten
 * during the read.
 */
#ifndef PACKETSCALE_STAMP_H
#define PACKETSCALE_STAMP_H

#include "wire.h"

#define STAMPS 128 /* a power of two */
#define STAMPS_SLACK 8

/* i modulo a power of two. For BPF in assembler: a compiler that can prove the mask needless drops it, and the verifier
 * of Linux 6.1 then misses it. */
#ifdef __bpf__
#define MASKED(i, size)                                                          \
	({                                                                       \
		u64 masked_ = (u32)(i);                                          \
		asm volatile("%0 &= %1" : "+r"(masked_) : "i"((size) - 1));      \
		masked_;                                                         \
	})
#else
#define MASKED(i, size) ((i) & ((size) - 1))
#endif
#define STAMP_INDEX(i) MASKED(i, STAMPS)

/* A packet as the device handed it over. */
struct stamp {
	u64 ns;
	u32 start; /* sequence numbers */
	u32 end;
};

struct stamps {
	u32 noted; /* arrivals so far, modulo 2^32 */
	u32 reported; /* arrivals before it are reported, or never will be */
	u32 next;  /* new value of `reported` once `option` has left */
	u32 length;
	u8 option[WIRE_MAX]; /* of the acknowledgment that is being built */
	u16 segments[STAMPS];
	struct stamp ring[STAMPS];
};

/* Adds to the count of arrivals; returns the old value. If the result were unused, a compiler would choose the addition
   that returns nothing, and orders nothing. */
WIRE_FN u32 stamp_count(struct stamps *s, u32 more)
{
	u32 before = __sync_fetch_and_add(&s->noted, more);

	asm volatile("" : "+r"(before));
	return before;
}

WIRE_FN void stamp_note(struct stamps *s, u64 now, u32 start, u32 length, u32 segments)
{
	u32 i = (u32)STAMP_INDEX(s->noted);

	s->ring[i].ns = now;
	s->ring[i].start = start;
	s->ring[i].end = start + length;
	s->segments[i] = (u16)segments;
	stamp_count(s, 1);
}

/* The acknowledgment under construction. */
struct stamp_ack {
	u32 ack;
	u32 sacked; /* right edge of its first SACK block; equal to `ack` where it has none */
};

/*
 * Finds the arrival that triggered the acknowledgment: the latest unreported one
 * that ends at the acknowledgment number. Later arrivals are still in
 * TCP's queues.
 */
WIRE_STAGE int stamp_find(const struct stamps *s, const struct stamp_ack *ack, u32 first, u32 noted,
			  u32 *found)
{
	int any = 0;
	u32 i, end;

	if (!s || !ack || !found)
		return 0;
	for (i = 0; i < STAMPS - STAMPS_SLACK; i++) {
		if (first + i == noted)
			break;
		end = s->ring[STAMP_INDEX(first + i)].end;
		if (end != ack->ack && end != ack->sacked)
			continue;
		*found = first + i;
		any = 1;
		if (ack->ack == ack->sacked)
			break;
	}
	return any;
}

/*
 * Fills the run that the acknowledgment reports. Returns 0 if there is none. Stores the end of the run in s->next. As space
 * permits, the run repeats earlier arrivals: the acknowledgment that reported them may have been lost.
 */
WIRE_STAGE int stamp_run(struct stamps *s, const struct stamp_ack *ack, struct wire_run *run)
{
	const struct stamp *here, *before;
	u32 noted, oldest, first, at = 0, i, merged;

	if (!s || !ack || !run)
		return 0;
	noted = stamp_count(s, 0);
	oldest = noted < STAMPS - STAMPS_SLACK ? 0 : noted - (STAMPS - STAMPS_SLACK);
	first = noted - s->reported > noted - oldest ? oldest : s->reported;
	if (!stamp_find(s, ack, first, noted, &at))
		return 0;
	s->next = at + 1;
	here = &s->ring[STAMP_INDEX(at)];
	run->newest_ns = (u32)here->ns & WIRE_CLOCK;
	run->beside = here->end != ack->ack;
	run->gaps = 0;
	merged = s->segments[STAMP_INDEX(at)];
	for (i = 0; i < WIRE_GAPS; i++) {
		if (merged > 1) {
			merged--;
			run->gap_ns[i] = 0;
		} else {
			if (at == oldest)
				break;
			before = &s->ring[STAMP_INDEX(at - 1)];
			if (before->end != here->start || here->ns - before->ns > WIRE_GAP_MAX_NS)
				break;
			run->gap_ns[i] = (u32)(here->ns - before->ns);
			at--;
			here = before;
			merged = s->segments[STAMP_INDEX(at)];
		}
		run->gaps = i + 1;
	}
	return 1;
}

/* Writes the option with the run, which waits here until TCP has space for it. Returns its length. */
WIRE_STAGE u32 stamp_write(struct stamps *s, const struct wire_run *run)
{
	return s && run ? wire_put_run(s->option, run) : 0;
}

#endif
