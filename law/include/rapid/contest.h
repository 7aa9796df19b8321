/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Competitive mode of the default law: a share beside flows that fill the queue.
 *
 * A law that drains the queue must lose to one that fills it: the other takes what it frees. Where a user asks for it, a flow finds
 * out whether its own drain helps; where it does not, the flow holds a window as CUBIC does, until it finds that the queue was its own.
 * With T the smallest round trip, q the queue, T' = T + q, R the rate, C the capacity, W the window and P a packet:
 *
 *     gives way:  gave = integral of (R0 - R) / C dt while q > T / 32, R0: the rate when that began, or helped last. Among flows
 *                 that drain, and traffic that does not respond, the queue falls by as much.
 *     begins:     twice in a row, in 10 T, the least q fell by less than gave / 2, and gave > T / 16;   W = W_max = R0 T'
 *     in it:      W follows W_cubic(t) = C_c (t - K)^3 + W_max,  K = cbrt((W_max - W) / C_c)       RFC 9438 (1), (2)
 *                 and at least W + 0.53 P per T', as Reno would                                    RFC 9438 (4)
 *                 at most W is in flight, paced at 1.2 W / T'
 *     loss:       once per T': W_max = W, or 0.85 W if W < W_max;   W = 0.75 W
 *     looks:      first of all, and when q has fallen by an eighth of its most, or after 10 s: from 1 T' later, when q > T / 8, or
 *                 10 s later, for 5 T', at most W T / T' is in flight. That is its part of what the path holds without a queue, so
 *                 the queue that is left belongs to others
 *     ends:       if q < T / 32 in the last two T' of a look; if gave > T / 16 in it, R0 being W / T', and q fell by gave / 2 or
 *                 7/8; or if a timer expires
 *     longer:     the same least q in three looks, one after the other, is a longer path, and the contest ends
 *
 * A look makes the queue fall, so other flows in this mode look, too, while it lasts: a crowd of them leaves together.
 *
 * Why W bounds what is in flight: at a full queue a packet that leaves when one arrives finds the place of that one; a paced packet
 * does not, and is lost 1.4 to 2 times as often. Why 0.75, CUBIC's being 0.7: so it is still lost more often. docs/coexistence.md
 * has the map of what comes of it, docs/designs/coexistence.md what else was tried.
 *
 * Why a look waits for a queue: in a shallow buffer a loss that all answer empties it without anybody's help.
 *
 * Why 7/8, too: gave tells of a queue without a bottom. Who has W of a path gives all that W has in the queue, and what does not
 * respond leaves with it; of one who fills the queue as much stays as it has.
 *
 * Off by default: beside BBR, in shallow buffers and beside many it still has less than its share. In a contest the base delay
 * does not grow old (measure.h): beside CUBIC the queue may never be empty.
 *
 * Deviations from RFC 9438: W moves once per stream, by the stream's part of a round trip; K counts in ms; Reno's line has one slope;
 * 0.53 and 0.85 are those of 0.7.
 */
#ifndef RAPID_CONTEST_H
#define RAPID_CONTEST_H

#include "envelope.h"

/* A queue counts above 1/32 of a round trip. */
#define RAPID_CONTEST_QUEUE_PART 32
/* Giving way is judged over ten round trips, longer than the cycle of some six in which flows of this law share; and twice. */
#define RAPID_CONTEST_ROUNDS 10
#define RAPID_CONTEST_WINDOWS 2
/* ... if it gave 1/16 of a round trip at least, and in vain if the queue fell by less than half of that. */
#define RAPID_CONTEST_GAVE_PART 16
#define RAPID_CONTEST_MOVED_TIMES 2
/* What is left of a queue at most, if it was the flow's own. */
#define RAPID_CONTEST_LEFT_PART 8
/* What a loss leaves; and of W_max, if it came before W_max was reached (fast convergence). */
#define RAPID_CONTEST_KEEPS_Q16 RAPID_Q16(750)
#define RAPID_CONTEST_CONVERGES_Q16 RAPID_Q16(850)
/* The steepness of the cubic is 2/5 of a packet per s^3; cubes here are of milliseconds. */
#define RAPID_CUBIC_TIMES 2
#define RAPID_CUBIC_PART 5
#define RAPID_MS_NS 1000000ULL
#define RAPID_MS_PER_S 1000ULL
#define RAPID_US_NS 1000ULL
/* No time to the flat part is longer than 2^18 ms: it would be that of a cut of four million packets. */
#define RAPID_CUBIC_SPAN_MS (1U << 18)
#define RAPID_CUBIC_PACKETS (1U << 22)
/* Packets per round trip that Reno's line adds: 3 (1 - b) / (1 + b) of b = 0.7. */
#define RAPID_CONTEST_RENO_Q16 RAPID_Q16(529)
/* A packet leaves at 1.2 times the pace of its window, as in Linux. */
#define RAPID_CONTEST_PACE_Q16 RAPID_Q16(1200)
/*
 * A look: after the queue fell by 1/8, or 10 s; one round trip later, when the queue is 1/8 of it, or 10 s later; for five. After three
 * of them others have answered the loss.
 */
#define RAPID_LOOK_FALL_PART 8
#define RAPID_LOOK_EVERY_NS (10 * RAPID_NS_PER_S)
#define RAPID_LOOK_WAIT_ROUNDS 1
#define RAPID_LOOK_QUEUE_PART 8
#define RAPID_LOOK_ROUNDS 5
#define RAPID_LOOK_SETTLED_ROUNDS 3
/* Looks in a row that found the same queue: the path is that much longer. */
#define RAPID_LOOKS_ALIKE 3
/* A window is used if more than three quarters of it are in flight. */
#define RAPID_CONTEST_FILLS_PART 4
/* A window has at most 2^33 bytes, 200 ms of 340 Gbit/s: a rate can be worked out from that many. */
#define RAPID_CONTEST_BYTES_MOST (1ULL << 33)
/* What is left in flight at least. */
#define RAPID_CONTEST_PACKETS_LEAST 2

RAPID_FN int rapid_contends(const struct rapid *law) { return law->contest_stage >= RAPID_CONTENDS; }

RAPID_FN u64 rapid_contest_base(const struct rapid *law)
{
	return (u64)rapid_smin(rapid_minimum_of(&law->flow.rtt), (s64)law->flow.rtt_ns);
}

/* The round trip with the queue. */
RAPID_FN u64 rapid_contest_round(const struct rapid *law) { return rapid_contest_base(law) + law->envelope.queue_ns; }

/* The queue that counts. */
RAPID_FN int rapid_meets_queue(const struct rapid *law)
{
	return law->envelope.queue_ns >
	       rapid_max(law->flow.rtt_ns / RAPID_CONTEST_QUEUE_PART, rapid_tolerated_queue(law, law->flow.rate));
}

/* The whole cube root of x < 2^54. */
RAPID_FN u64 rapid_cube_root(u64 x)
{
	u64 root = 0;

	for (u64 bit = RAPID_CUBIC_SPAN_MS / 2; bit; bit >>= 1) {
		u64 next = root | bit;

		if (next * next * next <= x)
			root = next;
	}
	return root;
}

/* The window is set: the cubic begins. */
RAPID_FN void rapid_contest_epoch(struct rapid *law, u64 now)
{
	struct rapid_contest *c = &law->contest;
	u64 packets = rapid_min(rapid_above(c->most, c->window) / law->flow.packet, RAPID_CUBIC_PACKETS);

	c->epoch_ns = now;
	c->first = c->window;
	c->k_ms = (u32)rapid_cube_root(packets * RAPID_CUBIC_PART * (RAPID_NS_PER_S / RAPID_CUBIC_TIMES));
}

/* What may be in flight, in bytes. */
RAPID_FN u64 rapid_contest_bytes(const struct rapid *law)
{
	const struct rapid_contest *c = &law->contest;

	return law->contest_stage == RAPID_LOOKS ? rapid_min(c->window, c->bare) : c->window;
}

/* The same, in packets. */
RAPID_FN u64 rapid_contest_window(const struct rapid *law)
{
	u64 packets = rapid_contest_bytes(law) / law->flow.packet;

	return rapid_clamp(packets, RAPID_CONTEST_PACKETS_LEAST, RAPID_WINDOW_MAX_PACKETS);
}

RAPID_FN void rapid_contest_pace(struct rapid *law)
{
	u64 rate = rapid_rate_of(rapid_contest_bytes(law), rapid_contest_round(law));

	rapid_set_rate(law, law->contest_stage == RAPID_LOOKS ? rate : rapid_scale(rate, RAPID_CONTEST_PACE_Q16));
	law->flow.window_rate = law->flow.rate;
}

/* Adds the queue that this stream's rate should have drained. */
RAPID_FN void rapid_contest_give(struct rapid *law, u64 duration)
{
	struct rapid_contest *c = &law->contest;
	u64 inverse = rapid_max(law->envelope.inverse, 1);
	u64 given = rapid_min(rapid_above(c->rate, law->flow.rate), RAPID_INVERSE_ONE / inverse);

	c->gave_ns += rapid_scale(rapid_min(duration, RAPID_RTT_CEILING_NS), given * inverse >> RAPID_INVERSE_SHIFT);
}

/* Watches from now on. */
RAPID_FN void rapid_contest_rest(struct rapid *law, u64 now)
{
	struct rapid_contest *c = &law->contest;

	law->contest_stage = RAPID_WATCHES;
	law->contest_ns = now;
	c->windows = 0;
	c->rate = law->flow.rate;
	c->gave_ns = 0;
	c->queue_ns = c->low_ns = law->envelope.queue_ns;
}

RAPID_FN void rapid_contest_begin(struct rapid *law, u64 now)
{
	struct rapid_contest *c = &law->contest;

	law->contest_stage = RAPID_WAITS;
	law->contest_ns = now;
	c->window = c->most = rapid_min(rapid_bytes_in(c->rate, rapid_contest_round(law)), RAPID_CONTEST_BYTES_MOST);
	c->windows = 0;
	c->high_ns = law->envelope.queue_ns;
	c->cut_ns = now;
	rapid_contest_epoch(law, now);
	rapid_contest_pace(law);
}

/* Gives way as always, and watches whether that helps. */
RAPID_STAGE int rapid_contest_watch(struct rapid *law, u64 now, u64 duration)
{
	struct rapid_contest *c;
	u64 queue;

	if (!law)
		return 0;
	c = &law->contest;
	queue = law->envelope.queue_ns;
	if (law->contest_stage != RAPID_WATCHES || law->doubt_rate || !rapid_meets_queue(law)) {
		rapid_contest_rest(law, now);
		return 0;
	}
	c->low_ns = rapid_min(c->low_ns, queue);
	rapid_contest_give(law, duration);
	if (now - law->contest_ns < RAPID_CONTEST_ROUNDS * law->flow.rtt_ns || c->gave_ns < law->flow.rtt_ns / RAPID_CONTEST_GAVE_PART)
		return 0;
	c->windows = RAPID_CONTEST_MOVED_TIMES * rapid_above(c->queue_ns, c->low_ns) < c->gave_ns ? c->windows + 1 : 0;
	if (c->windows >= RAPID_CONTEST_WINDOWS) {
		rapid_contest_begin(law, now);
		return 1;
	}
	if (!c->windows)
		c->rate = law->flow.rate;
	law->contest_ns = now;
	c->gave_ns = 0;
	c->queue_ns = c->low_ns;
	c->low_ns = queue;
	return 0;
}

/* Moves the window to where CUBIC's and Reno's curves will be in a round trip. */
RAPID_FN void rapid_contest_grow(struct rapid *law, u64 now, u64 duration)
{
	struct rapid_contest *c = &law->contest;
	u64 round = rapid_contest_round(law), packet = law->flow.packet, age = rapid_above(now, c->epoch_ns);
	u64 ms = (age + round) / RAPID_MS_NS, off, rise, target, reno;

	off = rapid_min(ms > c->k_ms ? ms - c->k_ms : c->k_ms - ms, RAPID_CUBIC_SPAN_MS);
	rise = off * off * off / RAPID_MS_PER_S * packet / (RAPID_MS_PER_S * RAPID_MS_PER_S) * RAPID_CUBIC_TIMES / RAPID_CUBIC_PART;
	target = ms > c->k_ms ? c->most + rise : rapid_above(c->most, rise);
	reno = c->first + rapid_scale(packet, RAPID_CONTEST_RENO_Q16) * (age / RAPID_US_NS) / (round / RAPID_US_NS + 1);
	target = rapid_clamp(rapid_max(target, reno), c->window, c->window + c->window / 2);
	c->window += rapid_scale(target - c->window, rapid_weight(1, duration, round));
	c->window = rapid_min(c->window, RAPID_CONTEST_BYTES_MOST);
}

/*
 * A look is over, and there is a queue. If it fell by half of what was given, or an eighth of it is left, it was the flow's own. If the
 * least of it is that of the looks before, the path has become longer: then that is its delay. Returns whether the contest goes on.
 */
RAPID_FN int rapid_contest_looked(struct rapid *law, const struct rapid_stream *s, u64 now)
{
	struct rapid_contest *c = &law->contest;
	u64 capacity = RAPID_INVERSE_ONE / rapid_max(law->envelope.inverse, 1);
	/* A queue that moves no more than a packet that crosses the path, and stamps, make it, stands still. */
	u64 still = rapid_tolerated_queue(law, RAPID_TOLERATED_PACKETS * capacity);
	u64 moved = rapid_max(c->most_ns, c->queue_ns) - rapid_min(c->low_ns, c->queue_ns);
	u64 fell = rapid_above(c->high_ns, c->low_ns);

	if (c->gave_ns > law->flow.rtt_ns / RAPID_CONTEST_GAVE_PART &&
	    (RAPID_CONTEST_MOVED_TIMES * fell >= c->gave_ns || RAPID_CONTEST_LEFT_PART * c->low_ns <= c->high_ns))
		return 0;
	if (s->delay == RAPID_UNSEEN || c->most_ns - c->low_ns > still)
		c->windows = 0;
	else
		c->windows = !c->windows || moved <= still ? c->windows + 1 : 0;
	if (c->windows >= RAPID_LOOKS_ALIKE) {
		rapid_rebase(law, s);
		return 0;
	}
	law->contest_stage = c->windows ? RAPID_WAITS : RAPID_CONTENDS;
	law->contest_ns = now;
	c->queue_ns = c->low_ns;
	c->high_ns = law->envelope.queue_ns;
	return 1;
}

/* Looks, when it is time, what is left of the queue without its own packets. Returns whether the contest goes on. */
RAPID_FN int rapid_contest_look(struct rapid *law, const struct rapid_stream *s, u64 now, u64 duration)
{
	struct rapid_contest *c = &law->contest;
	u64 queue = law->envelope.queue_ns, round = rapid_contest_round(law), since = now - law->contest_ns;

	if (law->contest_stage == RAPID_CONTENDS) {
		c->high_ns = rapid_max(c->high_ns, queue);
		if (queue < c->high_ns - c->high_ns / RAPID_LOOK_FALL_PART || since > RAPID_LOOK_EVERY_NS) {
			law->contest_stage = RAPID_WAITS;
			law->contest_ns = now;
		}
	} else if (law->contest_stage == RAPID_WAITS) {
		if (since > RAPID_LOOK_WAIT_ROUNDS * round &&
		    (queue > law->flow.rtt_ns / RAPID_LOOK_QUEUE_PART || since > RAPID_LOOK_EVERY_NS)) {
			law->contest_stage = RAPID_LOOKS;
			law->contest_ns = now;
			c->low_ns = ~0ULL;
			c->most_ns = 0;
			c->high_ns = queue;
			c->rate = rapid_rate_of(c->window, round);
			c->gave_ns = 0;
			c->bare = rapid_bytes_in(c->rate, rapid_contest_base(law));
		}
	} else {
		rapid_contest_give(law, duration);
		if (since > RAPID_LOOK_SETTLED_ROUNDS * round) {
			if (!rapid_meets_queue(law))
				return 0;
			c->low_ns = rapid_min(c->low_ns, queue);
			c->most_ns = rapid_max(c->most_ns, queue);
			if (since > RAPID_LOOK_ROUNDS * round)
				return rapid_contest_looked(law, s, now);
		}
	}
	return 1;
}

/* Whether the flow sends what its window lets it: neither the application nor the receiver holds it back (RFC 7661). */
RAPID_FN int rapid_contest_fills(const struct rapid *law, const struct rapid_stream *s, u64 duration)
{
	u64 flight = rapid_bytes_in(rapid_rate_of(s->bytes, duration), rapid_contest_round(law));

	return !s->app_limited && flight * RAPID_CONTEST_FILLS_PART > rapid_contest_bytes(law) * (RAPID_CONTEST_FILLS_PART - 1);
}

/* Contends for as long as the stream lasted. */
RAPID_STAGE int rapid_contend(struct rapid *law, const struct rapid_stream *s, u64 now, u64 duration)
{
	if (!law || !s)
		return 0;
	if (rapid_contest_fills(law, s, duration))
		rapid_contest_grow(law, now, duration);
	if (rapid_contest_look(law, s, now, duration))
		rapid_contest_pace(law);
	else
		rapid_contest_rest(law, now);
	return 1;
}

/* A loss recovery begins. The packet clock says when. */
RAPID_APART void rapid_contest_cut(struct rapid *law)
{
	struct rapid_contest *c = &law->contest;
	u64 now = law->flow.next_ns;

	if (!rapid_contends(law) || rapid_above(now, c->cut_ns) < rapid_contest_round(law))
		return;
	c->cut_ns = now;
	c->most = c->window < c->most ? rapid_scale(c->window, RAPID_CONTEST_CONVERGES_Q16) : c->window;
	c->window = rapid_scale(c->window, RAPID_CONTEST_KEEPS_Q16);
	rapid_contest_epoch(law, now);
	rapid_contest_pace(law);
}

/* A probe stream is complete: reads it, or contends. */
RAPID_FN void rapid_probe_complete(struct rapid *law, const struct rapid_stream *s, u64 now)
{
	u64 duration = rapid_max(s->end_ns - s->start_ns, 1);

	rapid_note_queue(law, s, now, duration);
	if (rapid_contends(law)) {
		rapid_contend(law, s, now, duration);
		return;
	}
	rapid_meets_policer(law, s, now);
	rapid_probe_read(law, s, now, duration);
	if (law->tuning.competitive && !law->chirping)
		rapid_contest_watch(law, now, duration);
}

#endif
