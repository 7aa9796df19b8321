/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Competitive mode of the default law: a share beside flows that fill the queue.
 *
 * A law that drains the queue must lose to one that fills it: the other takes what
 * it frees. Where a user asks for it, a flow that has long met a queue q, which its
 * own drain should have ended, stops draining and grows as Reno does. With T the
 * smallest round trip and P a packet:
 *
 *     begins:   q > T / 8 in every stream for 10 T
 *     in it:    R += P / T per T, whatever the streams say;   R *= 0.7 per loss recovery
 *     ends:     with the first stream of q < T / 8
 *
 * Off by default: it keeps the queue as full as the others do. Several flows of
 * the law never meet such a queue for so long, and so do not begin it. The rule of
 * heavy loss (queue.h) still holds. The law forgets the base delay after 30-60 s in
 * which the queue is never empty: what then stands all the time is no queue, and the
 * mode may end and begin again. In this mode the law does not take a queue that hardly
 * moves for a longer path (envelope.h, choice 4): beside CUBIC, between two of its
 * losses, it is none.
 */
#ifndef RAPID_CONTEST_H
#define RAPID_CONTEST_H

#include "envelope.h"

/* A contest begins with a queue above 1/8 of a round trip for ten of them: a drain takes about eight (envelope.h). */
#define RAPID_CONTEST_QUEUE_PART 8
#define RAPID_CONTEST_ROUNDS 10
/* What a loss recovery leaves of the rate: as CUBIC's (RFC 9438), beside which this is meant to stand. */
#define RAPID_CONTEST_KEEPS_Q16 RAPID_Q16(700)

/* Whether a contest is on; q is the queue of the stream just read. */
RAPID_FN int rapid_contends(struct rapid *law, u64 now)
{
	struct rapid_contest *c = &law->contest;

	if (!law->params.competitive || law->envelope.queue_ns < law->rtt_ns / RAPID_CONTEST_QUEUE_PART) {
		c->queued_since_ns = now;
		law->contending = 0;
	} else if (now - c->queued_since_ns >= RAPID_CONTEST_ROUNDS * law->rtt_ns) {
		law->contending = 1;
	}
	return law->contending;
}

/* Adds a packet per round trip, per round trip. */
RAPID_FN void rapid_contest_grow(struct rapid *law, u64 duration)
{
	u64 per_round = rapid_rate_of(law->params.packet, law->rtt_ns);

	rapid_set_rate(law, law->rate + per_round * rapid_min(duration, law->rtt_ns) / law->rtt_ns);
}

/* A loss recovery begins. */
RAPID_FN void rapid_contest_cut(struct rapid *law)
{
	if (law->contending)
		rapid_set_rate(law, rapid_scale(law->rate, RAPID_CONTEST_KEEPS_Q16));
}

/* A probe stream is complete: reads it, or contends. */
RAPID_FN void rapid_probe_complete(struct rapid *law, const struct rapid_stream *s, u64 now)
{
	u64 duration = rapid_max(s->end_ns - s->start_ns, 1);

	rapid_note_queue(law, s, now, duration);
	if (!rapid_contends(law, now)) {
		rapid_probe_read(law, s, now, duration);
	} else {
		rapid_heed_heavy_loss(law, s, rapid_bound(rapid_rate_of(s->bytes, duration)));
		rapid_contest_grow(law, duration);
	}
}

#endif
