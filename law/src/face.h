/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A law as functions with linkage, for the Rust face. Nothing is decided here. Included once for each law, which first defines
 *
 *     STATE       its struct
 *     GAPS        the size of its work space
 *     LAW(call)   its name of a call
 *     FACE(call)  the name with linkage
 */

/* Mirrors `View` of ffi.rs: words only, so that both sides agree on the layout. */
struct rapid_view {
	u64 rate, next_ns, next_q10, window, available, queue_ns, streams, unusable, startup, completed, estimated, rtt_ns, stream;
};

/* Mirrors `Packet` of ffi.rs. */
struct rapid_packet {
	u64 known, sent_ns, arrival_ns, stamped, size, rate, gap_ns;
};

/* Mirrors `Room` of ffi.rs: packets that the window has room for at least, and what they were worked out from. */
struct rapid_room {
	u64 window_rate, rtt_ns, packets;
};

enum { CROWDED_RECORDS = 1, CROWDED_STREAMS = 2 };

void FACE(sizes)(u64 sizes[5])
{
	sizes[0] = sizeof(STATE);
	sizes[1] = sizeof(struct rapid_record);
	sizes[2] = sizeof(struct rapid_stream);
	sizes[3] = GAPS;
	sizes[4] = __builtin_offsetof(STATE, flow.next_ns);
}

static int unread(const struct rapid_stream *s) { return s->sent && s->stage != RAPID_READ; }

/*
 * Whether a record is still needed: its stream has not been read. Without a branch, since which of the conditions fails
 * cannot be predicted, and that one does can.
 */
static u32 is_needed(const struct rapid_memory *memory, const struct rapid_record *r)
{
	const struct rapid_stream *s = RAPID_STREAM(memory, r->stream);

	return (u32)(r->state != RAPID_EMPTY) & (u32)(s->number == r->stream) & (u32)(s->stage != RAPID_READ);
}

/* Which ring would lose something that is still needed if packet `number` were noted now. */
static u32 crowded_rings(const STATE *law, const struct rapid_memory *memory, u64 number)
{
	const struct rapid_record *r = RAPID_RECORD(memory, number);
	const struct rapid_stream *next = RAPID_STREAM(memory, law->flow.stream);
	u32 crowded = 0;

	if (is_needed(memory, r))
		crowded |= CROWDED_RECORDS;
	if (!law->flow.open && unread(next))
		crowded |= CROWDED_STREAMS;
	return crowded;
}

/* Whether no record from packet `first` up to packet `end` is needed any more. The last one is needed longest. */
u32 FACE(spare)(const struct rapid_memory *memory, u64 first, u64 end)
{
	while (end > first) {
		if (is_needed(memory, RAPID_RECORD(memory, --end)))
			return 0;
	}
	return 1;
}

/* The packet after a pause of the application, which may end a stream: kept out of what happens once per packet. */
static __attribute__((noinline)) void resume(STATE *law, const struct rapid_memory *memory, u64 now, u64 number, u32 size)
{
	LAW(on_sent)(law, memory, now, number, size, 1);
}

/* Notes a departure, unless a ring is too small for it: then says which. With `fixed` no ring may grow: it is noted. */
u32 FACE(on_sent)(STATE *law, const struct rapid_memory *memory, u64 now, u64 number, u32 size, u32 idle,
		  u32 fixed)
{
	u32 crowded = fixed ? 0 : crowded_rings(law, memory, number);

	if (crowded)
		return crowded;
	if (idle)
		resume(law, memory, now, number, size);
	else
		LAW(on_sent)(law, memory, now, number, size, 0);
	return 0;
}

void FACE(on_arrival)(STATE *law, const struct rapid_memory *memory, u64 now, u64 number, u64 arrival)
{
	LAW(on_arrival)(law, memory, now, number, arrival);
}

/* The window is never smaller: each law says below. */
static u64 least_window(const STATE *law);

/*
 * What most acknowledgments bring, in one call: a round trip, and the arrival of one packet. The window costs divisions, and
 * each round trip changes it; what it is at least, with the smallest round trip and the least slack, changes with a stream.
 */
void FACE(on_acked)(STATE *law, const struct rapid_memory *memory, struct rapid_room *room, u64 now, u64 rtt,
		   u64 number, u64 arrival)
{
	LAW(on_rtt)(law, rtt);
	LAW(on_arrival)(law, memory, now, number, arrival);
	if (room->packets && room->window_rate == law->flow.window_rate && room->rtt_ns == law->flow.rtt_ns)
		return;
	*room = (struct rapid_room){law->flow.window_rate, law->flow.rtt_ns, least_window(law)};
}

void FACE(on_unstamped)(STATE *law, const struct rapid_memory *memory, u64 now, u64 number)
{
	LAW(on_unstamped)(law, memory, now, number);
}

void FACE(on_lost)(STATE *law, const struct rapid_memory *memory, u64 now, u64 number)
{
	LAW(on_lost)(law, memory, now, number);
}

void FACE(on_rtt)(STATE *law, u64 rtt) { LAW(on_rtt)(law, rtt); }
void FACE(on_recovery)(STATE *law) { LAW(on_recovery)(law); }
void FACE(on_timeout)(STATE *law) { LAW(on_timeout)(law); }
void FACE(on_spurious_timeout)(STATE *law, u64 rate, u32 startup) { LAW(on_spurious_timeout)(law, rate, startup); }
void FACE(on_marked)(STATE *law) { LAW(on_marked)(law); }
void FACE(set_packet)(STATE *law, u32 packet) { LAW(set_packet)(law, packet); }
u64 FACE(completed)(const STATE *law) { return law->streams; }
u32 FACE(window)(const STATE *law) { return LAW(window)(law); }
/* Streams are read when all they sent is accounted for, and nothing else brings the next departure forward. */
u32 FACE(keeps_departure)(const STATE *law) { return law->streams == law->flow.stream; }
u64 FACE(rate)(const STATE *law) { return law->flow.rate; }

void FACE(view)(const STATE *law, struct rapid_view *v)
{
	*v = (struct rapid_view){
		.rate = law->flow.rate,
		.next_ns = law->flow.next_ns,
		.next_q10 = law->flow.next_q10,
		.window = LAW(window)(law),
		.available = law->available,
		.queue_ns = LAW(queue_ns)(law),
		.streams = law->streams,
		.unusable = law->unusable,
		.startup = law->flow.startup,
		.completed = law->completed,
		.estimated = law->estimated,
		.rtt_ns = law->flow.rtt_ns,
		.stream = law->flow.stream,
	};
}

/* Mirrors `Stream` of ffi.rs. */
struct rapid_summary {
	u64 kind, first, sent, start_ns, rate;
};

void FACE(stream)(const struct rapid_memory *memory, u32 number, struct rapid_summary *v)
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

/* One packet of stream `stream`; `known` is 0 when its record has been overwritten. */
void FACE(packet)(const STATE *law, const struct rapid_memory *memory, u32 stream, u64 number,
		  struct rapid_packet *v)
{
	const struct rapid_record *r = RAPID_RECORD(memory, number);
	const struct rapid_stream *s = RAPID_STREAM(memory, stream);
	u64 rate = LAW(probe_rate)(law, s, r->level >> 1);

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
