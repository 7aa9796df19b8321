/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Derives each transmission's fate from an acknowledgment.
 *
 * Transmissions are numbered as they leave. Each stores snd_nxt of that moment
 * (its edge), so edges never fall, and bisection finds the packet of a sequence
 * number. An acknowledgment newly delivers the data below snd_una, and those in its SACK
 * blocks. The newest of its arrivals belongs to the packet that
 * the option names (for timestamps: to the newest packet delivered), the one before
 * to the packet before, and so on. Packets without an arrival are unstamped.
 *
 * A packet is lost when `reordering` later ones have been delivered, it has not, and
 * TCP has declared one more lost than the law knows of (TCP tolerates reordering,
 * by its RACK). After a retransmission timeout, packets in flight are lost only
 * once an acknowledgment confirms it; the law has already halved its rate for the timeout, so these losses
 * are counted without a further reduction: to the law they are packets without a stamp. A retransmission has its place in the
 * packet clock and in its stream, and no more: it is ambiguous whether it or the
 * original arrived, so it has neither delay nor round trip.
 */
#ifndef PACKETSCALE_ACCOUNT_H
#define PACKETSCALE_ACCOUNT_H

#include "law.h"

/* Packets looked at per acknowledgment, at most. */
#define WALK 1024
/* Iterations of a bisection over RECORDS packets, at most 2^16, and a final one on an empty range. */
#define BISECTIONS 17

/* Notes a newly delivered transmission. Beyond FRESH, the oldest go unstamped. */
INLINE void push_fresh(struct conn *c, u64 now, u64 number)
{
	if (c->fresh_count >= FRESH)
		law_unstamped(c, now, c->fresh[INDEX(c->fresh_count, FRESH)]);
	c->fresh[INDEX(c->fresh_count, FRESH)] = number;
	c->fresh_count++;
	c->report.delivered++;
}

/*
 * The data of an original has arrived. If it was taken for lost, the retransmission
 * has arrived: that uses up an arrival, which the law ignores, since it has closed
 * the record.
 */
INLINE void deliver(struct conn *c, u64 now, u64 number, struct packet *p)
{
	if (p->fate == FATE_DELIVERED)
		return;
	push_fresh(c, now, number);
	c->fresh_bytes += rapid_max(p->law.size, c->law.flow.packet);
	if (p->fate == FATE_UNKNOWN)
		c->highest = rapid_max(c->highest, number + 1);
	p->fate = FATE_DELIVERED;
}

struct walking {
	struct conn *conn;
	u64 now;
	u64 number;
	u32 edge;
	u32 low; /* start of a block; the ordinal of the newest arrival; or 1: lost, whether or not TCP agrees */
};

/* One packet below snd_una. */
static long walk_head(u32 turn, void *context)
{
	struct walking *w = context;
	struct conn *c = w->conn;
	struct packet *p;

	(void)turn;
	if (c->head >= c->next)
		return 1;
	p = packet_at(c->slot, c->head);
	if (!p || before(w->edge, p->edge))
		return 1;
	deliver(c, w->now, c->head, p);
	c->head++;
	return 0;
}

GLOBAL int account_cumulative(struct conn *c, u64 now, u32 una)
{
	struct walking w = {.conn = c, .now = now, .edge = una};

	if (!c)
		return 0;
	if (c->next > c->head + RECORDS)
		c->head = c->next - RECORDS;
	bpf_loop(WALK, walk_head, &w, 0);
	return 0;
}

/* Finds the packets in flight whose edge is at most w->edge: each turn halves the range. */
static long bisect(u32 turn, void *context)
{
	struct walking *w = context;
	u64 step = (RECORDS / 2) >> (turn & 31), number = w->number + step;
	struct packet *p;

	if (!step)
		return 1;
	if (number > w->conn->next)
		return 0;
	p = packet_at(w->conn->slot, number - 1);
	if (p && !before(w->edge, p->edge))
		w->number = number;
	return 0;
}

/* Goes down to the first packet of the block, or the first that is known. */
static long walk_down(u32 turn, void *context)
{
	struct walking *w = context;
	struct packet *p;

	(void)turn;
	if (w->number <= w->conn->head)
		return 1;
	p = packet_at(w->conn->slot, w->number - 1);
	if (!p || (!p->retransmission &&
		   (before(p->edge - p->law.size + w->conn->overhead, w->low) || p->fate == FATE_DELIVERED)))
		return 1;
	w->number--;
	return 0;
}

static long walk_up(u32 turn, void *context)
{
	struct walking *w = context;
	struct packet *p;

	(void)turn;
	if (w->number >= w->conn->next)
		return 1;
	p = packet_at(w->conn->slot, w->number);
	if (!p || before(w->edge, p->edge))
		return 1;
	deliver(w->conn, w->now, w->number, p);
	w->number++;
	return 0;
}

/* A block of data above snd_una that the peer has. */
GLOBAL int account_block(struct conn *c, u64 now, u32 start, u32 end)
{
	struct walking w = {.conn = c, .now = now, .edge = end, .low = start};

	if (!c || !before(start, end) || before(c->snd_nxt, end))
		return 0;
	w.number = c->head;
	bpf_loop(BISECTIONS, bisect, &w, 0);
	if (w.number <= c->head)
		return 0;
	bpf_loop(WALK, walk_down, &w, 0);
	bpf_loop(WALK, walk_up, &w, 0);
	return 0;
}

/* Hands one newly delivered transmission to the law, with its arrival if there is one. */
static long account_fresh(u32 turn, void *context)
{
	struct walking *w = context;
	struct conn *c = w->conn;
	u32 kept = (u32)rapid_min(c->fresh_count, FRESH), age;
	struct packet *p;
	u64 number;

	if (turn >= kept)
		return 1;
	number = c->fresh[INDEX(c->fresh_count - kept + turn, FRESH)];
	p = packet_at(c->slot, number);
	if (!p)
		return 0;
	age = (u16)(w->low - p->ordinal);
	if (age < c->arrivals)
		law_arrival(c, w->now, number, c->arrival_ns[INDEX(c->arrivals - 1 - age, FRESH)]);
	else
		law_unstamped(c, w->now, number);
	return 0;
}

/* Returns the ordinal of the packet that the newest arrival belongs to; negative: there is none. */
GLOBAL int newest_arrival(struct conn *c)
{
	struct walking w = {.conn = c};
	struct packet *p;

	if (!c || !c->arrivals || !c->fresh_count)
		return -1;
	if (!c->by_edge) {
		p = packet_at(c->slot, c->fresh[INDEX(c->fresh_count - 1, FRESH)]);
		return p ? p->ordinal : -1;
	}
	w.edge = c->edge;
	w.number = c->head;
	bpf_loop(BISECTIONS, bisect, &w, 0);
	if (!w.number)
		return -1;
	p = packet_at(c->slot, w.number - 1);
	return p && p->edge == c->edge ? p->ordinal : -1;
}

GLOBAL int account_arrivals(struct conn *c, u64 now)
{
	struct walking w = {.conn = c, .now = now};
	int newest;

	if (!c)
		return 0;
	newest = newest_arrival(c);
	if (newest < 0)
		c->arrivals = 0;
	w.low = (u32)newest;
	bpf_loop(FRESH, account_fresh, &w, 0);
	return 0;
}

/* Takes one packet below w->number for lost, if it has not arrived. */
static long walk_lost(u32 turn, void *context)
{
	struct walking *w = context;
	struct conn *c = w->conn;
	struct packet *p;

	(void)turn;
	if (c->scanned >= w->number)
		return 1;
	p = packet_at(c->slot, c->scanned);
	if (p && p->fate == FATE_UNKNOWN) {
		if (!w->low && !c->missing)
			return 1;
		c->missing -= c->missing > 0;
		p->fate = FATE_LOST;
		if (w->low) {
			/* The law has heeded the timer. */
			law_unstamped(c, w->now, c->scanned);
			c->report.lost++;
		} else {
			law_lost(c, w->now, c->scanned);
		}
	}
	c->scanned++;
	return 0;
}

/* Finds the packets that `reordering` later ones have overtaken. */
GLOBAL int account_lost(struct conn *c, u64 now, u32 reordering)
{
	struct walking w = {.conn = c, .now = now};

	if (!c)
		return 0;
	w.number = rapid_above(c->highest, reordering);
	c->scanned = rapid_max(c->scanned, c->head);
	bpf_loop(WALK, walk_lost, &w, 0);
	return 0;
}

/* What was in flight when the timer expired, and has not been delivered, is lost. */
GLOBAL int account_doubted(struct conn *c, u64 now)
{
	struct walking w = {.conn = c, .now = now, .low = 1};

	if (!c)
		return 0;
	w.number = c->doubted;
	c->scanned = rapid_max(c->scanned, c->head);
	c->doubted = 0;
	c->missing = 0;
	bpf_loop(RECORDS, walk_lost, &w, 0);
	return 0;
}

#endif
