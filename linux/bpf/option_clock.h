/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Checks whether the peer's clock is plausible.
 *
 * Arrival times steer the sender, so a peer that forges them steers it too. No
 * honest peer's clock differs in rate from ours by much: quartz is within 1 part in
 * 5000. But this host learns of an arrival late, by the delay of the return path, its
 * queues, and paused machines on it; it never learns of one early. So
 * one late sample is no evidence about the clock. The earliest sample of a window is:
 *
 *     lag = receipt - arrival      offset of the clocks, and the return delay
 *     per window of 0.4 s: the sample of least lag
 *
 * A window is consistent when its least lag is that of an anchor, at most 10 s old,
 *
 *     within CLOCK_SLACK_NS + 2 round trips + elapsed / 64
 *
 * and when most of its samples are. Else, if its least lag is that of the window before
 * (within STEP_SLACK_NS + 2 round trips + elapsed / 64), the return path has become longer
 * or shorter, or a clock was set or paused with its virtual machine: the anchor
 * moves. Else it counts as a doubt. Each consistent window removes a doubt; after DOUBTS
 * the peer is distrusted. So a clock that is frozen, jumps, runs backwards, twice
 * or half as fast is detected within two seconds if round trips are short, and a
 * spike of late acknowledgments never rejects an honest peer. At 100 ms and more the slack
 * hides a clock of half speed. A return delay that alternates by 0.3 s every second may
 * reject an honest peer after some seconds.
 *
 * The option has 31 bits of that clock, which wrap every 2.1 s. The high bits come from the
 * earliest sample of this window and the one before: reports are late, never early, so the arrival is up to
 * 7/8 of that before the expected time, or 1/8 after it. (If only this window gives the expected time, and begins with
 * acknowledgments a second late, the timely ones after them are read as 2.1 s earlier.)
 *
 * A single sample that is off by more than the slack is ignored, whatever the cause.
 *
 * Unreadable options come from no honest peer, and over no path that preserves bytes: where some
 * are visibly corrupted, others are corrupted into plausible arrivals. So of 257 options no more than one may be unreadable
 * in the long run, and no four in a row.
 *
 * A liar that keeps the long-run rate and stays within the slack is not detected; the guard
 * (guard.h) bounds its gain.
 */
#ifndef PACKETSCALE_OPTION_CLOCK_H
#define PACKETSCALE_OPTION_CLOCK_H

#include "feedback.h"
#include "wire.h"

#define CLOCK_SLACK_NS 250000000ULL
#define STEP_SLACK_NS 100000000ULL
#define CLOCK_WINDOW_NS 400000000ULL
#define ANCHOR_NS 10000000000ULL
#define DOUBTS 3
/* Fewer samples than this are no majority. */
#define CLOCK_SAMPLES 8
/* Slack for the pace: 1/64 of the time elapsed. */
#define PACE_PART 64
/* Round trips of slack. */
#define PACE_ROUNDS 2
/* What an unreadable option weighs, against one that can be read; and what all may. */
#define UNREADABLE_WEIGHT 256
#define UNREADABLE_MOST (4 * UNREADABLE_WEIGHT)

WIRE_FN void clock_unreadable(struct feedback *f)
{
	f->unreadable += UNREADABLE_WEIGHT;
	if (f->unreadable >= UNREADABLE_MOST)
		f->flags |= FEEDBACK_DISTRUSTED;
}

WIRE_FN void clock_readable(struct feedback *f)
{
	f->unreadable -= f->unreadable > 0;
}

WIRE_FN s64 clock_lag(const struct clock_sample *sample)
{
	return (s64)(sample->heard_ns - sample->arrival_ns);
}

/* The full time of the peer's clock for an option's `clock` received at `now`. */
WIRE_FN u64 clock_unwrapped(const struct feedback *f, u32 clock, u64 now)
{
	s64 before = clock_lag(&f->before), best = clock_lag(&f->best);
	s64 lag = before < best ? before : best;

	return wire_unwrap(clock, now - (u64)lag - WIRE_LATE_NS);
}

/* How far two samples are from the pace of our clock. */
WIRE_FN int clock_near_to(const struct clock_sample *from, const struct clock_sample *to, u64 slack)
{
	u64 elapsed = to->heard_ns - from->heard_ns, moved = to->arrival_ns - from->arrival_ns;
	u64 apart = (s64)(moved - elapsed) < 0 ? elapsed - moved : moved - elapsed;

	return apart <= slack + elapsed / PACE_PART;
}

/* A window is over: judges it, and begins the next with `sample`. */
WIRE_FN void clock_judge(struct feedback *f, const struct clock_sample *sample, u64 rounds)
{
	int there = clock_near_to(&f->anchor, &f->best, CLOCK_SLACK_NS + rounds);
	int most = f->samples < CLOCK_SAMPLES || 2 * f->strange <= f->samples;

	if (there && most) {
		f->doubts -= f->doubts > 0;
		if (f->best.heard_ns - f->anchor.heard_ns > ANCHOR_NS)
			f->anchor = f->best;
	} else if (!there && clock_near_to(&f->before, &f->best, STEP_SLACK_NS + rounds)) {
		f->anchor = f->best;
	} else if (++f->doubts >= DOUBTS) {
		f->flags |= FEEDBACK_DISTRUSTED;
	}
	f->before = f->best;
	f->best = *sample;
	f->window_ns = sample->heard_ns;
	f->samples = f->strange = 0;
}

/* Whether an arrival at `arrival`, by the peer's clock, is plausible for a report received at `now`, by ours. */
WIRE_STAGE int clock_believed(struct feedback *f, u64 now, u64 arrival, u64 rtt_ns)
{
	struct clock_sample sample = {now, arrival};
	u64 rounds = PACE_ROUNDS * rtt_ns;
	int believed;

	if (!f)
		return 0;
	if (!f->anchor.heard_ns) {
		f->anchor = f->before = f->best = sample;
		f->window_ns = now;
		return 1;
	}
	if (now - f->window_ns >= CLOCK_WINDOW_NS)
		clock_judge(f, &sample, rounds);
	if (clock_lag(&sample) < clock_lag(&f->best))
		f->best = sample;
	believed = clock_near_to(&f->anchor, &sample, CLOCK_SLACK_NS + rounds);
	f->samples++;
	f->strange += !believed;
	return believed;
}

#endif
