/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The receiver's clock, as it would be if it ran as ours does.
 *
 * Slopes of delay are read from two clocks. One that runs 4 % fast makes each level look
 * overloaded; one that runs slow hides each queue. Quartz is within 1 part in 5000, but
 * a clock that NTP corrects may run several per cent off for seconds. The round trip is
 * measured by one clock, so it tells what is the clock's doing. With
 *
 *     lag = when we hear of an arrival - the arrival = the way back + the clocks' offset
 *
 * and both ends of a window of at least 0.1 s and two round trips known by the packet of
 * least lag,
 *
 *     drift = - (change of lag that the round trip does not share) / time between them
 *
 * A queue on the way back changes the lag, too, but the round trip with it. (The round trip
 * of an end is the smallest of its window. Another packet may have had it: a queue on the
 * way there lengthens the round trip, and leaves the lag.) Two windows
 * in a row that drift the same way by more than 3/4 %, the one at most twice as much as the
 * other, set the pace (the smaller of both is taken), and from then on arrivals are
 *
 *     arrival' = anchor' + (arrival - anchor) (1 - pace)
 *
 * Below that nothing changes, not by a nanosecond. A drift above 1/8 is no pace but a clock
 * that was set. A receiver that lies about the pace of its clock gains less by it.
 *
 * What a fast clock has added to the delays before it was found out, the base delay
 * does not know. So it is then set by the round trip: to the smallest one, less the least
 * lag. By then all acknowledgments of a fallen flow may be late, since it waits for the
 * receiver's timer each time. So in a flow's first 32 streams the least lag of its first
 * window counts, too, less what the pace has taken from it since: a clock that is fast
 * by then was so from the beginning. (A pace that is found in two steps uses it in the
 * first only.) A stream that began before that sets no base delay (measure.h).
 * And a chirp over such a clock rises from its first level on, as over a path that is full.
 * If that ended start-up, and the pace is found in a flow's first 32 streams, start-up is
 * made again (anew.h).
 */
#ifndef RAPID_SKEW_H
#define RAPID_SKEW_H

#include "frame.h"
#include "state.h"

/* A window: as long as this, and two round trips. */
#define RAPID_SKEW_WINDOW_NS 100000000ULL
#define RAPID_SKEW_ROUNDS 2
/* Both ends of a drift lie at least half a window apart. */
#define RAPID_SKEW_APART_PART 2
/* A pace found in so many streams was there when start-up ended, and in the first window. */
#define RAPID_SKEW_NEW_STREAMS 32
/* Pace is in Q20: 4 % is then exact to 1 part in 40 000. */
#define RAPID_SKEW_BITS 20
#define RAPID_SKEW_ONE (1LL << RAPID_SKEW_BITS)
#define RAPID_SKEW_LEAST (RAPID_SKEW_ONE * 3 / 400)
/* Windows agree where one drifts at most so many times as the other. */
#define RAPID_SKEW_LIKE 2
#define RAPID_SKEW_MOST_PART 8
#define RAPID_SKEW_MOST (RAPID_SKEW_ONE / RAPID_SKEW_MOST_PART)
/* Round trips are kept in units of this: they are compared over 50 ms at least. */
#define RAPID_SKEW_RTT_NS 1024
/* Lags and round trips are bounded by this: 2^41 ns, so that products in Q20 stay within 62 bits. */
#define RAPID_SKEW_SPAN_NS (1LL << 41)

/* The arrival by a clock that runs as ours does. */
RAPID_FN u64 rapid_unskewed(const struct rapid_skew *k, u64 arrival)
{
	s64 since = rapid_difference(arrival, k->anchor_ns);

	if (!k->pace)
		return arrival + k->offset_ns;
	since = rapid_sclamp(since, -RAPID_SKEW_SPAN_NS, RAPID_SKEW_SPAN_NS);
	return arrival + k->offset_ns - (u64)rapid_divide(since * k->pace, RAPID_SKEW_ONE);
}

/* The part of a change of lag that the round trip does not share. */
RAPID_FN s64 rapid_skew_own(s64 lag, s64 rtt)
{
	if (lag > 0)
		return rapid_smax(0, lag - rapid_smax(0, rtt));
	return rapid_smin(0, lag - rapid_smin(0, rtt));
}

/* How the clock has drifted from the last window to this one, Q20; 0 where nothing can be said. */
RAPID_FN s64 rapid_skew_drift(const struct rapid_skew *k, u64 window)
{
	s64 apart = rapid_difference(k->best.heard_ns, k->before.heard_ns);
	s64 longer = ((s64)k->best_rtt - k->before_rtt) * RAPID_SKEW_RTT_NS;
	s64 own = rapid_skew_own(rapid_difference((u64)k->best.lag, (u64)k->before.lag), longer);
	s64 drift;

	if (!k->before.heard_ns || apart < (s64)(window / RAPID_SKEW_APART_PART))
		return 0;
	own = rapid_sclamp(own, -RAPID_SKEW_SPAN_NS, RAPID_SKEW_SPAN_NS);
	drift = -rapid_divide(own * RAPID_SKEW_ONE, (u64)apart);
	return drift > RAPID_SKEW_MOST || drift < -RAPID_SKEW_MOST ? 0 : drift;
}

/* The pace that two windows agree on, Q20; 0: they do not. */
RAPID_FN s64 rapid_skew_agreed(s64 a, s64 b)
{
	s64 less = a > 0 ? rapid_smin(a, b) : rapid_smax(a, b), more = a + b - less;

	if (less > RAPID_SKEW_LEAST)
		return RAPID_SKEW_LIKE * less >= more ? less : 0;
	return less < -RAPID_SKEW_LEAST && RAPID_SKEW_LIKE * less <= more ? less : 0;
}

/* From `arrival` on the clock runs faster than the pace known, by `drift`. */
RAPID_FN void rapid_skew_set(struct rapid_skew *k, u64 arrival, s64 drift)
{
	s64 pace = rapid_divide((k->pace + drift) * RAPID_SKEW_ONE, (u64)(RAPID_SKEW_ONE + drift));

	k->offset_ns = rapid_unskewed(k, arrival) - arrival;
	k->anchor_ns = arrival;
	if (pace < RAPID_SKEW_LEAST && pace > -RAPID_SKEW_LEAST)
		pace = 0;
	k->pace = (s32)rapid_sclamp(pace, -RAPID_SKEW_MOST, RAPID_SKEW_MOST);
}

/* What the least lag of the first window has become by now, by the drift that was found. */
RAPID_FN s64 rapid_skew_first(const struct rapid_skew *k, u64 now, s64 drift)
{
	s64 since = (s64)rapid_min(rapid_above(now, k->first_ns), RAPID_SKEW_SPAN_NS);

	return rapid_difference((u64)k->first_lag, (u64)rapid_divide(since * drift, RAPID_SKEW_ONE));
}

/* A window is over. Returns whether the pace has changed. */
RAPID_STAGE int rapid_skew_turn(struct rapid_skew *k, u64 now, u64 arrival, u64 window)
{
	s64 drift, agreed;

	if (!k)
		return 0;
	if (!k->pace && !k->before.heard_ns) {
		k->first_ns = k->best.heard_ns;
		k->first_lag = k->best.lag;
	}
	drift = rapid_skew_drift(k, window);
	agreed = rapid_skew_agreed(drift, k->drift);
	k->before = k->best;
	k->before_rtt = k->best_rtt;
	k->drift = (s32)drift;
	k->window_ns = now;
	if (agreed)
		k->first_lag = k->pace ? RAPID_UNSEEN : rapid_skew_first(k, now, agreed);
	if (k->pace || agreed)
		rapid_skew_set(k, arrival, agreed);
	if (agreed) {
		k->drift = 0;
		k->before.heard_ns = 0;
	}
	return agreed != 0;
}

/* The base delay is what the round trip says. */
RAPID_FN void rapid_skew_forget(struct rapid *law, s64 lag)
{
	s64 rtt = rapid_smin(rapid_minimum_of(&law->flow.rtt), (s64)RAPID_RTT_CEILING_NS);

	law->envelope.delay = (struct rapid_minimum){rapid_difference((u64)rtt, (u64)lag), RAPID_UNSEEN};
}

/*
 * A packet that left at `sent` has arrived, and we hear of it `now`. Returns the arrival by a clock that runs as ours
 * does. Where the pace has just been found, the base delay is what the round trip says.
 */
RAPID_FN u64 rapid_note_skew(struct rapid *law, u64 now, u64 sent, u64 arrival)
{
	struct rapid_skew *k = &law->skew;
	u64 window = rapid_max(RAPID_SKEW_WINDOW_NS, RAPID_SKEW_ROUNDS * law->flow.srtt_ns), mapped;
	u32 rtt = (u32)rapid_min(rapid_above(now, sent) / RAPID_SKEW_RTT_NS, ~0U);
	s64 lag;

	if (!RAPID_HAS(SKEW))
		return arrival;
	if (!k->window_ns) {
		k->window_ns = now;
		k->best = (struct rapid_lag){now, rapid_difference(now, arrival)};
		k->best_rtt = rtt;
	} else if (rapid_above(now, k->window_ns) >= window) {
		int found = rapid_skew_turn(k, now, arrival, window), early = law->streams < RAPID_SKEW_NEW_STREAMS;

		mapped = rapid_unskewed(k, arrival);
		lag = rapid_difference(now, mapped);
		if (found) {
			rapid_skew_forget(law, early && RAPID_HAS(FIRST_LAG) ? rapid_smin(lag, k->first_lag) : lag);
			k->found_ns = now;
			if (k->pace > 0 && law->chirp_rises && early && !law->flow.startup && RAPID_HAS(MISREAD))
				law->clear = (struct rapid_clear_path){.misread = 1};
		}
		k->best = (struct rapid_lag){now, lag};
		k->best_rtt = rtt;
		return mapped;
	}
	mapped = rapid_unskewed(k, arrival);
	lag = rapid_difference(now, mapped);
	if (lag < k->best.lag) {
		k->best.heard_ns = now;
		k->best.lag = lag;
	}
	k->best_rtt = (u32)rapid_min(k->best_rtt, rtt);
	return mapped;
}

#endif
