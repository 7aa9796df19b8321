/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The source of arrival times, detected per connection:
 *
 *  1. the option, when both ends agreed on it in their SYNs (feedback.h): each
 *     arrival, stamped before TCP saw it;
 *  2. TCP timestamps of microseconds (the route feature tcp_usec_ts of Linux 6.7
 *     and later at the receiver): the time when the acknowledgment was built. If the
 *     receiver is not busy, this is the arrival of the newest packet it covers. The
 *     peer does not announce them; they are detected by their rate, that of our own
 *     clock, where others are a thousand times slower;
 *  3. none: then Rapid cannot work.
 *
 * Even after agreement, arrivals may not come (no program records them at the peer's
 * device, or something on the path strips the option), or may cease. Then
 * detection starts again.
 */
#ifndef PACKETSCALE_SOURCE_H
#define PACKETSCALE_SOURCE_H

#include "counters.h"
#include "feedback.h"
#include "law.h"
#include "maps.h"

/* Timestamps of microseconds show after this time; */
#define SEEN_NS 500000ULL
/* their absence after this time, when they have advanced by less than this part of it (milliseconds do by 1/1000). */
#define UNSEEN_NS 10000000ULL
#define UNSEEN_PART 200
/* What was agreed on has not come after as many packets: as a connection begins with. */
#define UNSEEN_PACKETS 10
/* Such timestamps advance at half to twice our pace, with 200 us of slack. */
#define PACE_TIMES 2
#define PACE_SLACK_US 200
/* Packets delivered without arrivals, and the time, after which the source counts as lost. (A repair may take round
   trips, in which whole windows are delivered by acknowledgments whose SACK blocks leave no space for the option.) */
#define SILENT_PACKETS 16
#define SILENT_NS 200000000ULL
#define SILENT_ROUNDS 4

/* The source is known now, and with it the error of a stamp. */
INLINE void settle(struct conn *c, u32 source)
{
	const struct config *cfg = the_config();

	if (c->report.source == source)
		return;
	c->report.source = source;
	if (cfg && source != SOURCE_NONE)
		law_noise(c, source == SOURCE_OPTION ? cfg->option_noise_ns : cfg->timestamp_noise_ns);
}

INLINE void search_again(struct conn *c)
{
	c->report.source = SOURCE_UNDECIDED;
	c->first_ns = 0;
	c->heard = c->report.delivered;
	c->heard_ns = 0;
}

INLINE void take_option(struct conn *c, const struct feedback *f)
{
	settle(c, SOURCE_OPTION);
	c->news = f->news;
	c->arrivals = (u32)rapid_min(f->count, FEEDBACK_ARRIVALS);
	c->by_edge = 1;
	c->edge = f->end_seq;
	for (u32 i = 0; i < FEEDBACK_ARRIVALS; i++)
		c->arrival_ns[i] = f->arrival_ns[i];
}

/* Decides, as soon as it can, whether timestamps are microseconds. */
INLINE void judge_timestamps(struct conn *c, u64 now)
{
	u64 local = rapid_above(now, c->first_ns) / 1000, remote = c->tsval - c->first_tsval;

	u64 packets = c->waiting ? UNSEEN_PACKETS : c->report.delivered - c->heard;

	if (remote > local / PACE_TIMES && remote < local * PACE_TIMES + PACE_SLACK_US && local * 1000 >= SEEN_NS)
		settle(c, SOURCE_TIMESTAMPS);
	else if (local * 1000 >= UNSEEN_NS && remote < local / UNSEEN_PART && packets >= UNSEEN_PACKETS)
		settle(c, SOURCE_NONE);
}

INLINE void take_timestamp(struct conn *c, const struct tcp_sock *tp, u64 now)
{
	u32 tsval = tp->rx_opt.rcv_tsval;
	s32 ahead = (s32)(tsval - c->tsval);

	if (!c->first_ns) {
		c->first_ns = now;
		c->first_tsval = c->tsval = tsval;
		c->clock_ns = (u64)tsval * 1000;
		return;
	}
	if (ahead > 0) {
		c->tsval = tsval;
		c->clock_ns += (u64)ahead * 1000;
	}
	if (c->report.source == SOURCE_UNDECIDED)
		judge_timestamps(c, now);
	if (c->report.source == SOURCE_TIMESTAMPS && ahead >= 0) {
		c->arrivals = 1;
		c->by_edge = 0;
		c->arrival_ns[0] = c->clock_ns;
	}
}

/* Whether an option came with the acknowledgment at hand. (TCP may have refused the one that another came with.) */
INLINE int has_option(const struct conn *c, const struct feedback *f, const struct tcp_sock *tp)
{
	return f && f->flags & FEEDBACK_NEGOTIATED && !(f->flags & FEEDBACK_DISTRUSTED) && f->news != c->news &&
	       f->ack_seq == tp->snd_una;
}

/* Whether plausible arrivals have ceased. (Trust may return: option_clock.h.) */
INLINE int is_silent(const struct conn *c, const struct feedback *f, u64 now)
{
	u64 packets = c->report.delivered - c->heard;

	if (c->report.source == SOURCE_OPTION && f && f->flags & FEEDBACK_DISTRUSTED)
		return 1;
	return packets > SILENT_PACKETS &&
	       rapid_above(now, c->heard_ns) > rapid_max(SILENT_NS, SILENT_ROUNDS * c->law.flow.srtt_ns);
}

/* Counts the reason for the end of arrivals. */
INLINE void note_ceased(const struct conn *c, const struct feedback *f)
{
	if (c->report.source == SOURCE_OPTION && f && f->flags & FEEDBACK_DISTRUSTED)
		COUNT(distrusted, 1);
	else
		COUNT(silenced, 1);
}

/* The arrivals that the acknowledgment at hand brings. */
INLINE void take_arrivals(struct conn *c, struct sock *sk, const struct tcp_sock *tp, u64 now)
{
	const struct feedback *f = bpf_sk_storage_get(&feedback, sk, 0, 0);

	c->arrivals = 0;
	if (has_option(c, f, tp))
		take_option(c, f);
	else if (c->report.source != SOURCE_OPTION)
		take_timestamp(c, tp, now);
	if (c->arrivals || (f && f->disbelieved != c->disbelieved) || !c->heard_ns) {
		c->heard = c->report.delivered;
		c->heard_ns = now;
	}
	if (f) {
		c->disbelieved = f->disbelieved;
		c->report.malformed = f->malformed;
	}
	if (c->report.source != SOURCE_UNDECIDED && is_silent(c, f, now)) {
		note_ceased(c, f);
		search_again(c);
	}
}

#endif
