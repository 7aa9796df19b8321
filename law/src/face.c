/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The law as functions with linkage, for the Rust face. Nothing is decided here. */
#define RAPID_WITH_LEARNT
/* What happens once per stream stays out of what happens once per packet. */
#define RAPID_STAGE static __attribute__((noinline, unused))
#include "rapid/rapid.h"

/* Mirrors `View` of ffi.rs: words only, so that both sides agree on the layout. */
struct rapid_view {
	u64 rate, next_ns, next_q10, window, available, queue_ns, streams, unusable, startup, completed, estimated, rtt_ns;
	u64 inverse, growth, slope2, slope3, loss, batch_ns, stream;
};

/* Mirrors `Packet` of ffi.rs. */
struct rapid_packet {
	u64 known, sent_ns, arrival_ns, stamped, size, rate, gap_ns;
};

/* Mirrors `Stream` of ffi.rs. */
struct rapid_summary {
	u64 kind, first, sent, start_ns, rate;
};

enum { CROWDED_RECORDS = 1, CROWDED_STREAMS = 2 };

void rapid_face_sizes(u64 sizes[5])
{
	sizes[0] = sizeof(struct rapid);
	sizes[1] = sizeof(struct rapid_record);
	sizes[2] = sizeof(struct rapid_stream);
	sizes[3] = sizeof(struct rapid_gaps);
	sizes[4] = __builtin_offsetof(struct rapid, next_ns);
}

void rapid_face_init(struct rapid *law, const struct rapid_params *params, u64 now, u64 rtt, u64 seed)
{
	rapid_init(law, params, now, rtt, seed);
}

/* Begins at `rate`, without start-up. */
void rapid_face_begin(struct rapid *law, u64 rate)
{
	law->startup = 0;
	rapid_set_rate(law, rate);
	rapid_set_level_rate(law, law->rate);
}

static int unread(const struct rapid_stream *s) { return s->sent && s->stage != RAPID_READ; }

/*
 * Whether a record is still needed: its stream has not been read. Without a branch, since which of the conditions fails
 * cannot be predicted, and that one does can.
 */
static u32 rapid_face_needed(const struct rapid_memory *memory, const struct rapid_record *r)
{
	const struct rapid_stream *s = RAPID_STREAM(memory, r->stream);

	return (u32)(r->state != RAPID_EMPTY) & (u32)(s->number == r->stream) & (u32)(s->stage != RAPID_READ);
}

/* Which ring would lose something that is still needed if packet `number` were noted now. */
static u32 rapid_face_crowded(const struct rapid *law, const struct rapid_memory *memory, u64 number)
{
	const struct rapid_record *r = RAPID_RECORD(memory, number);
	const struct rapid_stream *next = RAPID_STREAM(memory, law->stream);
	u32 crowded = 0;

	if (rapid_face_needed(memory, r))
		crowded |= CROWDED_RECORDS;
	if (!law->open && unread(next))
		crowded |= CROWDED_STREAMS;
	return crowded;
}

/* Whether no record from packet `first` up to packet `end` is needed any more. The last one is needed longest. */
u32 rapid_face_spare(const struct rapid_memory *memory, u64 first, u64 end)
{
	while (end > first) {
		if (rapid_face_needed(memory, RAPID_RECORD(memory, --end)))
			return 0;
	}
	return 1;
}

/* The packet after a pause of the application, which may end a stream: kept out of what happens once per packet. */
static __attribute__((noinline)) void rapid_face_resume(struct rapid *law, const struct rapid_memory *memory, u64 now, u64 number,
							u32 size)
{
	rapid_on_sent(law, memory, now, number, size, 1);
}

/* Notes a departure, unless a ring is too small for it: then says which. With `fixed` no ring may grow: it is noted. */
u32 rapid_face_on_sent(struct rapid *law, const struct rapid_memory *memory, u64 now, u64 number, u32 size, u32 idle,
		       u32 fixed)
{
	u32 crowded = fixed ? 0 : rapid_face_crowded(law, memory, number);

	if (crowded)
		return crowded;
	if (idle)
		rapid_face_resume(law, memory, now, number, size);
	else
		rapid_on_sent(law, memory, now, number, size, 0);
	return 0;
}

void rapid_face_on_arrival(struct rapid *law, const struct rapid_memory *memory, u64 now, u64 number, u64 arrival)
{
	rapid_on_arrival(law, memory, now, number, arrival);
}

/* Mirrors `Room` of ffi.rs: packets that the window has room for at least, and what they were worked out from. */
struct rapid_room {
	u64 window_rate, rtt_ns, packets;
};

/* The window is never smaller: it takes no shorter round trip, and has no less slack. */
static u64 rapid_face_least_window(const struct rapid *law)
{
	u64 window = RAPID_WINDOW_TIMES * rapid_bytes_in(law->window_rate, law->rtt_ns) / law->params.packet;

	if (rapid_contends(law))
		return 0; /* it is not known for longer */
	return rapid_min(window + RAPID_WINDOW_SLACK_LEAST, RAPID_WINDOW_MAX_PACKETS);
}

/*
 * What most acknowledgments bring, in one call: a round trip, and the arrival of one packet. The window costs divisions, and
 * each round trip changes it; what it is at least, with the smallest round trip and the least slack, changes with a stream.
 */
void rapid_face_on_acked(struct rapid *law, const struct rapid_memory *memory, struct rapid_room *room, u64 now, u64 rtt,
			 u64 number, u64 arrival)
{
	rapid_on_rtt(law, rtt);
	rapid_on_arrival(law, memory, now, number, arrival);
	if (room->packets && room->window_rate == law->window_rate && room->rtt_ns == law->rtt_ns)
		return;
	*room = (struct rapid_room){law->window_rate, law->rtt_ns, rapid_face_least_window(law)};
}

void rapid_face_on_unstamped(struct rapid *law, const struct rapid_memory *memory, u64 now, u64 number)
{
	rapid_on_unstamped(law, memory, now, number);
}

void rapid_face_on_lost(struct rapid *law, const struct rapid_memory *memory, u64 now, u64 number)
{
	rapid_on_lost(law, memory, now, number);
}

void rapid_face_on_rtt(struct rapid *law, u64 rtt) { rapid_on_rtt(law, rtt); }
void rapid_face_on_recovery(struct rapid *law) { rapid_on_recovery(law); }
void rapid_face_on_timeout(struct rapid *law) { rapid_on_timeout(law); }
void rapid_face_on_spurious_timeout(struct rapid *law, u64 rate, u32 startup) { rapid_on_spurious_timeout(law, rate, startup); }
void rapid_face_on_marked(struct rapid *law) { rapid_on_marked(law); }
void rapid_face_set_packet(struct rapid *law, u32 packet) { rapid_set_packet(law, packet); }
void rapid_face_set_available(struct rapid *law, u64 rate) { rapid_set_available(law, rate); }
u64 rapid_face_completed(const struct rapid *law) { return law->streams; }
u32 rapid_face_window(const struct rapid *law) { return rapid_window(law); }
/* Streams are read when all they sent is accounted for, and nothing else brings the next departure forward. */
u32 rapid_face_keeps_departure(const struct rapid *law) { return law->streams == law->stream; }
u64 rapid_face_rate(const struct rapid *law) { return law->rate; }

void rapid_face_view(const struct rapid *law, struct rapid_view *v)
{
	const struct rapid_envelope *e = &law->envelope;

	*v = (struct rapid_view){
		.rate = law->rate,
		.next_ns = law->next_ns,
		.next_q10 = law->next_q10,
		.window = rapid_window(law),
		.available = law->available,
		.queue_ns = e->queue_ns,
		.streams = law->streams,
		.unusable = law->unusable,
		.startup = law->startup,
		.completed = law->completed,
		.estimated = law->estimated,
		.rtt_ns = law->rtt_ns,
		.inverse = e->inverse,
		.growth = (u64)e->growth,
		.slope2 = (u64)e->slope2,
		.slope3 = (u64)e->slope3,
		.loss = (u64)e->loss,
		.batch_ns = rapid_batch(e),
		.stream = law->stream,
	};
}

void rapid_face_stream(const struct rapid_memory *memory, u32 number, struct rapid_summary *v)
{
	const struct rapid_stream *s = RAPID_STREAM(memory, number);

	*v = (struct rapid_summary){
		.kind = s->kind,
		.first = s->first,
		.sent = s->sent,
		.start_ns = s->start_ns,
		.rate = s->rate,
	};
}

/* The slope of the envelope in one level of a stream, Q16. */
static s64 level_slope(const struct rapid_stream *s, u32 level)
{
	u32 edge = level == 2 ? RAPID_EDGE_2 : RAPID_EDGE_3;

	if ((level != 2 && level != 3) || s->low[edge] == RAPID_UNSEEN || s->low[edge + 1] == RAPID_UNSEEN)
		return 0;
	return rapid_edge_slope(s, edge);
}

/*
 * What the law made of the gap from packet `number` to the next, which was
 * created with `gap` ns. Says whether it made anything of it.
 */
u32 rapid_face_denoised(const struct rapid *law, const struct rapid_memory *memory, u32 stream, u64 number, u64 gap,
			u64 *denoised)
{
	const struct rapid_record *r = RAPID_RECORD(memory, number);
	const struct rapid_stream *s = RAPID_STREAM(memory, stream);
	const struct rapid_gaps *gaps = memory->gaps;

	if (law->params.preset == RAPID_THESIS) {
		u64 i = number - s->first - (gaps ? gaps->offset : 0);

		if (!gaps || gaps->stream != stream || number < s->first + gaps->offset || i >= gaps->count)
			return 0;
		*denoised = gaps->receive[i] >> 10;
		return 1;
	}
	gap = rapid_min(gap, 1ULL << 36);
	*denoised = (u64)rapid_smax(0, (s64)gap + (((s64)gap * level_slope(s, r->level >> 1)) >> 16));
	return 1;
}

/* One packet of stream `stream`; `known` is 0 when its record has been overwritten. */
void rapid_face_packet(const struct rapid *law, const struct rapid_memory *memory, u32 stream, u64 number,
		       struct rapid_packet *v)
{
	const struct rapid_record *r = RAPID_RECORD(memory, number);
	const struct rapid_stream *s = RAPID_STREAM(memory, stream);
	u64 rate = rapid_probe_rate(law, s, r->level >> 1);

	*v = (struct rapid_packet){
		.known = r->state != RAPID_EMPTY && r->stream == stream,
		.sent_ns = r->sent_ns,
		.arrival_ns = r->arrival_ns,
		.stamped = r->state == RAPID_STAMPED,
		.size = r->size,
		.rate = rate,
		.gap_ns = rapid_gap_ns(r->size, rate),
	};
}

/* gaps.h on gaps of the caller. */
void rapid_face_denoise(struct rapid_gaps *gaps, u32 window) { rapid_denoise(gaps, window, 1); }
u32 rapid_face_smooth(struct rapid_gaps *gaps, u64 up, u64 down) { return rapid_smooth(gaps, up, down); }
u64 rapid_face_search(const struct rapid_gaps *gaps, u32 packet, u32 epsilon_ns, u32 least)
{
	return rapid_search_runs(gaps, packet, epsilon_ns, least);
}

void rapid_face_set_gaps(struct rapid_gaps *gaps, const u64 *send_q10, const u64 *receive_q10, u32 count)
{
	gaps->count = count < RAPID_STREAM_MAX ? count : RAPID_STREAM_MAX;
	for (u32 i = 0; i < gaps->count; i++) {
		gaps->send[i] = rapid_min(send_q10[i], 1ULL << 50);
		gaps->receive[i] = rapid_min(receive_q10[i], 1ULL << 50);
	}
}

u32 rapid_face_get_gaps(const struct rapid_gaps *gaps, u64 *send_q10, u64 *receive_q10)
{
	for (u32 i = 0; i < gaps->count; i++) {
		send_q10[i] = gaps->send[i];
		receive_q10[i] = gaps->receive[i];
	}
	return gaps->count;
}

/* features.h on gaps of the caller. */
u32 rapid_face_features(struct rapid_gaps *gaps, s16 *feature)
{
	u32 batches = rapid_features(gaps);

	for (u32 i = 0; i < RAPID_FEATURES; i++)
		feature[i] = gaps->feature[i];
	return batches;
}

/* learnt.h on features taken before: value, spread, verdict, in 1/2^18. */
void rapid_face_learnt(const struct rapid_gaps *gaps, s32 *value, s32 *spread, s32 *verdict)
{
	if (value)
		*value = rapid_learnt_value(gaps);
	if (spread)
		*spread = rapid_learnt_spread(gaps);
	if (verdict)
		*verdict = rapid_learnt_verdict(gaps);
}
