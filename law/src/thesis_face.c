/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The dissertation's law with linkage, and its readings of gaps by themselves. */
#define RAPID_WITH_LEARNT
#define RAPID_STAGE static __attribute__((noinline, unused))
#include "rapid/thesis.h"

#define STATE struct rapid_thesis
#define LAW(call) rapid_thesis_##call
#define FACE(call) rapid_thesis_face_##call
#define GAPS sizeof(struct rapid_gaps)
#include "face.h"

void rapid_thesis_face_init(struct rapid_thesis *law, const struct rapid_thesis_params *params, u64 now, u64 rtt, u64 seed)
{
	(void)seed; /* nothing is drawn */
	rapid_thesis_init(law, params, now, rtt);
}

/* Begins at `rate`, without start-up. */
void rapid_thesis_face_begin(struct rapid_thesis *law, u64 rate)
{
	law->flow.startup = 0;
	rapid_thesis_set_rate(law, rate);
	rapid_set_level_rate(&law->flow, law->flow.rate);
}

void rapid_thesis_face_set_available(struct rapid_thesis *law, u64 rate) { rapid_thesis_set_available(law, rate); }

/* The window is the smallest over the smallest round trip: it has the same slack always. */
static u64 least_window(const struct rapid_thesis *law)
{
	u64 window = RAPID_WINDOW_TIMES * rapid_bytes_in(law->flow.window_rate, law->flow.rtt_ns) / law->flow.packet;

	return rapid_min(window + RAPID_WINDOW_SLACK_PACKETS, RAPID_WINDOW_MAX_PACKETS);
}

/* What became of the gap from packet `number` to the next. Says whether it is known. */
u32 rapid_thesis_face_denoised(const struct rapid_thesis *law, const struct rapid_memory *memory, u32 stream, u64 number, u64 gap,
			       u64 *denoised)
{
	const struct rapid_stream *s = RAPID_STREAM(memory, stream);
	const struct rapid_gaps *gaps = memory->gaps;
	u64 i = number - s->first - (gaps ? gaps->offset : 0);

	(void)law;
	(void)gap;
	if (!gaps || gaps->stream != stream || number < s->first + gaps->offset || i >= gaps->count)
		return 0;
	*denoised = gaps->receive[i] >> RAPID_Q10_BITS;
	return 1;
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
