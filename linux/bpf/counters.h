/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Totals of all connections since the load: counters that user space
 * reads without touching connections. Each processor has its own copy; readers
 * add them up.
 *
 * Time counts as limited when something other than the law held a packet back:
 *
 *     the application   a packet could have left, and there was none. Counted when the
 *                       next one leaves
 *     the receiver      its window was too small for the next packet. Counted likewise
 *     the window        as many packets were in flight as the load allows, between two
 *                       acknowledgments
 */
#ifndef PACKETSCALE_COUNTERS_H
#define PACKETSCALE_COUNTERS_H

#include "memory.h"

/* Packets that may be in flight: fewer than there are records, so that losses are still known. */
#define WINDOW_MOST (RECORDS - RECORDS / 8)

/* The most that may be in flight of this load's connections. */
INLINE u32 window_most(void)
{
	const struct config *cfg = the_config();

	return cfg ? (u32)rapid_min(cfg->window, WINDOW_MOST) : WINDOW_MOST;
}

/* Mirrored in src/counters.rs. */
struct counters {
	u64 begun;      /* connections that selected Rapid */
	u64 refused;    /* of these, those that got no slot, */
	u64 steered;    /* those that Rapid began to steer, */
	u64 ended;      /* and those that gave their slot back */
	u64 distrusted; /* times that a peer's clock turned out to be none */
	u64 silenced;   /* times that arrivals ceased to come */
	u64 timeouts;   /* retransmission timers that expired under Rapid */
	u64 undone;     /* of these, those that turned out to be wrong */
	u64 guarded;    /* round trips after which the guard lowered the rate, or in which its window was full */
	u64 unreported; /* falls lost to a full ring */
	u64 limited_ns[LIMITS];
	u64 fallen[REASONS]; /* connections that CUBIC has taken over */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct counters);
} counters SEC(".maps");

/* `at`: the counter's place among the words of struct counters. Atomic: an interrupt may count, too. */
GLOBAL int count(u32 at, u64 n)
{
	u32 zero = 0;
	u64 *all = bpf_map_lookup_elem(&counters, &zero);

	if (all)
		__sync_fetch_and_add(&all[RAPID_INDEX(at, sizeof(struct counters) / sizeof(u64))], n);
	return 0;
}

#define COUNT(member, n) count(__builtin_offsetof(struct counters, member) / sizeof(u64), n)

INLINE void note_limit(struct conn *c, u32 limit, u64 ns)
{
	c->report.limited_ns[limit] += ns;
	count(__builtin_offsetof(struct counters, limited_ns) / sizeof(u64) + limit, ns);
}

/* A packet leaves: records how long there was none to send, or the receiver's window was closed. */
INLINE void note_waited(struct conn *c)
{
	u64 waited = rapid_above(c->proposal_ns, c->planned_ns);

	/* What TCP's timers send unasked waited for the timer. */
	if (c->idle && c->planned_ns && (c->shut || c->proposed))
		note_limit(c, c->shut ? LIMIT_RECEIVER : LIMIT_APPLICATION, waited);
	c->shut = 0;
}

/* An acknowledgment has come: whether the window was full before it. */
INLINE int was_full(const struct conn *c, const struct tcp_sock *tp)
{
	u32 flight = tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;

	return flight + c->fresh_count >= tp->snd_cwnd;
}

/* Notes whether as much was in flight as there are records for. */
static __attribute__((noinline)) void note_window(struct conn *c, const struct tcp_sock *tp, u64 now)
{
	if (tp->snd_cwnd >= window_most() && was_full(c, tp))
		note_limit(c, LIMIT_WINDOW, rapid_min(rapid_above(now, c->report.acked_ns), c->law.flow.srtt_ns));
}

#endif
