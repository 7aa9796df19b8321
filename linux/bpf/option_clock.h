/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Whether the peer's clock can be one.
 *
 * Arrival times steer the sender, so a peer that makes them up steers it too. No
 * honest peer's clock advances at another pace than ours: quartz is within 1 part in
 * 5000. But this host hears of an arrival late, by as much as the way back, its queues,
 * and the machines on it that stand still may add; it never hears of one early. So
 * one late sample says nothing about the clock. The earliest sample of a window does:
 *
 *     lag = heard - arrival        the clocks' offset, and the way back
 *     per window of 0.4 s: the sample of least lag
 *
 * A window is consistent when its least lag is that of an anchor, at most 10 s old,
 *
 *     within CLOCK_SLACK_NS + 2 round trips + elapsed / 64
 *
 * and when most of its samples are. Else, if its least lag is that of the window before
 * (within STEP_SLACK_NS + 2 round trips + elapsed / 64), the way back has become longer
 * or shorter, or a clock was set or stood still with its virtual machine: the anchor
 * moves. Else it is a doubt. Each consistent window takes a doubt away; after DOUBTS
 * nothing more is believed. So a clock that stands, jumps about, runs backwards, twice
 * or half as fast is found out within two seconds where round trips are short, and a
 * spike of late acknowledgments convicts no honest peer. At 100 ms and more the slack
 * hides a clock of half speed. A way back that alternates by 0.3 s every second may
 * convict an honest peer after some seconds.
 *
 * The option tells 31 bits of that clock, so that it wraps every 2.1 s. The rest is taken from the
 * earliest sample of this window and the one before: what is heard is late, never early, so the arrival lies up to
 * 7/8 of that before the time expected, or 1/8 after it. (Where this window alone says what is expected, and begins with
 * acknowledgments a second late, those in time after them are read as 2.1 s earlier.)
 *
 * A single sample that is off by more than the slack is ignored, whatever the cause.
 *
 * Options that cannot be read come from no honest peer, and over no path that leaves bytes as they are: where some
 * are broken so that it shows, others are that pass for arrivals. So of 257 options no more than one may be unreadable
 * in the long run, and no four in a row.
 *
 * There remains a liar that keeps the long-run pace and lies within it; the guard
 * (guard.h) bounds what it can gain.
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

/* The peer's clock where the option says `clock`, and it is heard of at `now`. */
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

/* Returns whether an arrival at `arrival`, by the peer's clock, can be heard of at `now`, by ours. */
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
