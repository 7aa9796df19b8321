/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A flow that an outage, a full queue or a burst has taken to a few packets per
 * round trip begins anew, with chirps (startup.h), when the path is clear: stream by
 * stream it would need seconds, since a stream is 16 packets. So does one whose start-up
 * ended by what a fast clock said, once its pace is known (skew.h).
 */
#ifndef RAPID_ANEW_H
#define RAPID_ANEW_H

#include "startup.h"

/*
 * A flow begins anew below four packets per round trip, where a stream of sixteen lasts four round trips, if two streams in a
 * row showed no limit, lost nothing, met no queue of 1/8 of a round trip, and saw its own packets wait within 1/32 of one of each
 * other: a crowd whose flows have never seen the queue empty is not that quiet. One stream is enough
 *  - if it met no queue of 1/128 (with 1/8 after one, crowds lose more),
 *  - and was sent at the floor of two packets per round trip, or an eighth more (flows that share a path and have some eight each fall
 *    below four now and then, and find it empty),
 *  - and the flow may not compete: what chirps put into a queue would look like others who do not give way.
 * It does so again after 16 round trips at the earliest, then after twice as many, up to 2^6 times as many, until it has been at 10
 * packets per round trip. Its chirps grow as a newcomer's do (startup.h).
 */
#define RAPID_ANEW_PACKETS 4
#define RAPID_ANEW_STREAMS 2
#define RAPID_ANEW_QUEUE_PART 8
#define RAPID_ANEW_FLOOR_EIGHTHS 18
#define RAPID_ANEW_ROUNDS 16
#define RAPID_ANEW_DOUBLINGS 6
#define RAPID_ANEW_DONE_PACKETS 10
#define RAPID_ANEW_MISREAD_STREAMS 64

/*
 * Whether a flow whose start-up a clock ended begins anew: if two streams in a row lost nothing and showed no limit, or met no queue
 * where they could not be read. Not beyond the flow's first 64 streams, nor where it loses: others are there.
 */
RAPID_FN int rapid_was_misread(struct rapid *law, const struct rapid_stream *s)
{
	const struct rapid_envelope *e = &law->envelope;
	struct rapid_clear_path *c = &law->clear;
	u32 empty = e->queue_ns < law->flow.rtt_ns / RAPID_ANEW_QUEUE_PART;
	u32 clear = !s->lost && (law->estimated ? e->at_ceiling : empty);

	c->streams = clear ? (u8)(c->streams + 1) : 0;
	if (law->streams >= RAPID_ANEW_MISREAD_STREAMS || e->loss > RAPID_LOSS_QUEUED_Q16 || law->contest_stage >= RAPID_CONTENDS)
		*c = (struct rapid_clear_path){0};
	if (c->streams < RAPID_ANEW_STREAMS)
		return 0;
	*c = (struct rapid_clear_path){0};
	return 1;
}

/* Whether a flow begins anew. `s` is the probe stream just read. */
RAPID_FN int rapid_begins_anew(struct rapid *law, const struct rapid_stream *s, u64 now)
{
	const struct rapid_envelope *e = &law->envelope;
	u64 per_round = rapid_rate_of(law->flow.packet, law->flow.rtt_ns);
	u32 clear = law->estimated && e->at_ceiling && !s->lost && e->queue_ns < law->flow.rtt_ns / RAPID_ANEW_QUEUE_PART;
	u32 needs = RAPID_ANEW_STREAMS;

	if (law->clear.marked) {
		law->clear.marked = 0;
		return 0;
	}
	if (law->clear.misread)
		return rapid_was_misread(law, s);
	clear &= law->flow.rate < RAPID_ANEW_PACKETS * per_round && law->quiet_rtt_ns;
	law->clear.streams = clear ? (u8)rapid_min(law->clear.streams + 1, RAPID_ANEW_STREAMS) : 0;
	if (RAPID_HAS(ANEW_SOON) && rapid_is_empty(law) && !law->tuning.competitive && s->rate < RAPID_ANEW_FLOOR_EIGHTHS * per_round / 8)
		needs = 1;
	if (law->flow.rate >= RAPID_ANEW_DONE_PACKETS * per_round)
		law->anew = 0;
	if (!RAPID_HAS(ANEW) || law->clear.streams < needs || now < law->anew_ns || law->contest_stage >= RAPID_CONTENDS)
		return 0;
	law->anew_ns = now + ((RAPID_ANEW_ROUNDS * law->flow.rtt_ns) << law->anew);
	law->anew = (u8)rapid_min(law->anew + 1, RAPID_ANEW_DOUBLINGS);
	return 1;
}

/* Begins anew with a chirp. */
RAPID_FN void rapid_begin_anew(struct rapid *law, const struct rapid_memory *memory, u64 now)
{
	struct rapid_stream *open = RAPID_STREAM(memory, law->flow.stream);

	law->flow.startup = 1;
	law->contest_stage = RAPID_RESTS;
	law->doubt_rate = 0;
	law->policer = (struct rapid_policer){0};
	law->chirping = 0;
	law->clear = (struct rapid_clear_path){0};
	if (law->flow.open && open)
		rapid_close(&law->flow, open);
	rapid_hurry(&law->flow, now);
}

#endif
