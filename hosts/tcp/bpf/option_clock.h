/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Whether the peer's clock can be one.
 *
 * Arrival times steer the sender, so a peer that makes them up steers it too. No
 * honest peer's clock advances at another pace than ours: quartz is within 1 part in
 * 5000, and this host hears of an arrival after at most a round trip and a delayed
 * acknowledgment (200 ms in Linux). So the two clocks may differ, since an anchor at
 * most ANCHOR_NS old, by
 *
 *     CLOCK_SLACK_NS + 2 round trips + elapsed / 64
 *
 * A clock that stands, jumps, runs backwards, twice or half as fast exceeds that
 * within some 0.5 s. The first time counts as an accident (a virtual machine that was
 * suspended): the option at hand is ignored, and a new anchor taken. After DOUBTS of
 * them nothing more is believed.
 *
 * There remains a liar that keeps the long-run pace and lies within it; the guard
 * (guard.h) bounds what it can gain.
 */
#ifndef PACKETSCALE_OPTION_CLOCK_H
#define PACKETSCALE_OPTION_CLOCK_H

#include "feedback.h"
#include "wire.h"

#define CLOCK_SLACK_NS 250000000ULL
#define ANCHOR_NS 10000000000ULL
#define DOUBTS 2
/* Slack for the pace: 1/64 of the time since the anchor. */
#define PACE_PART 64
/* Round trips of slack. */
#define PACE_ROUNDS 2

WIRE_FN void clock_anchor(struct feedback *f, u64 now, u64 arrival)
{
	f->anchor_ns = now;
	f->anchor_arrival_ns = arrival;
}

/* Returns whether an arrival at `arrival`, by the peer's clock, can be heard of at `now`, by ours. */
WIRE_FN int clock_believed(struct feedback *f, u64 now, u64 arrival, u64 rtt_ns)
{
	u64 elapsed = now - f->anchor_ns, moved = arrival - f->anchor_arrival_ns;
	u64 apart = (s64)(moved - elapsed) < 0 ? elapsed - moved : moved - elapsed;

	if (!f->anchor_ns) {
		clock_anchor(f, now, arrival);
		return 1;
	}
	if (apart <= CLOCK_SLACK_NS + PACE_ROUNDS * rtt_ns + elapsed / PACE_PART) {
		if (elapsed > ANCHOR_NS)
			clock_anchor(f, now, arrival);
		return 1;
	}
	clock_anchor(f, now, arrival);
	if (++f->doubts >= DOUBTS)
		f->flags = FEEDBACK_DISTRUSTED;
	return 0;
}

#endif
