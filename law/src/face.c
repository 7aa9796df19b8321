/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The default law with linkage. */
/* What happens once per stream stays out of what happens once per packet. */
#define RAPID_STAGE static __attribute__((noinline, unused))
#include "rapid/rapid.h"

#define STATE struct rapid
#define LAW(call) rapid_##call
#define FACE(call) rapid_face_##call
#define GAPS 0
#include "face.h"

void rapid_face_init(struct rapid *law, const struct rapid_params *params, u64 now, u64 rtt, u64 seed)
{
	rapid_init(law, params, now, rtt, seed);
}

/* The window is never smaller: it takes no shorter round trip, and has no less slack. */
static u64 least_window(const struct rapid *law)
{
	u64 window = RAPID_WINDOW_TIMES * rapid_bytes_in(law->flow.window_rate, law->flow.rtt_ns) / law->flow.packet;

	if (rapid_contends(law))
		return 0; /* it is not known for longer */
	return rapid_min(window + RAPID_WINDOW_SLACK_LEAST, RAPID_WINDOW_MAX_PACKETS);
}

/* Mirrors `Envelope` of ffi.rs. */
struct rapid_envelope_view {
	u64 inverse, loss, batch_ns;
};

void rapid_face_envelope(const struct rapid *law, struct rapid_envelope_view *v)
{
	const struct rapid_envelope *e = &law->envelope;

	*v = (struct rapid_envelope_view){.inverse = e->inverse, .loss = (u64)e->loss, .batch_ns = rapid_batch(e)};
}

/* The slope of the envelope in one level of a stream, Q16. */
static s64 level_slope(const struct rapid_stream *s, u32 level)
{
	u32 edge = level == 2 ? RAPID_EDGE_2 : RAPID_EDGE_3;

	if ((level != 2 && level != 3) || s->low[edge] == RAPID_UNSEEN || s->low[edge + 1] == RAPID_UNSEEN)
		return 0;
	return rapid_edge_slope(s, edge);
}

/* The gap from packet `number` to the next, created with `gap` ns, as the slope of its level stretches it. Always says 1. */
u32 rapid_face_denoised(const struct rapid *law, const struct rapid_memory *memory, u32 stream, u64 number, u64 gap, u64 *denoised)
{
	const struct rapid_record *r = RAPID_RECORD(memory, number);

	(void)law;
	gap = rapid_min(gap, 1ULL << 36);
	*denoised = (u64)rapid_smax(0, (s64)gap + (((s64)gap * level_slope(RAPID_STREAM(memory, stream), r->level >> 1)) >> 16));
	return 1;
}
