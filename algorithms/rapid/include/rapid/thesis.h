/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef RAPID_THESIS_H
#define RAPID_THESIS_H

#include "envelope.h"

RAPID_FN void rapid_thesis_init(struct rapid *law) { rapid_ladder_fill(&law->narrow, law->params.span, law->params.levels); }
RAPID_FN void rapid_thesis_open(struct rapid *law, const struct rapid_memory *memory)
{
	rapid_open(law, memory, RAPID_PROBE, law->rate, law->params.per_level);
}
RAPID_FN void rapid_thesis_read(struct rapid *law, const struct rapid_memory *memory, struct rapid_stream *s, u64 now)
{
	(void)memory; (void)s; (void)now; (void)law;
}
RAPID_FN void rapid_thesis_cut(struct rapid *law) { (void)law; }

#endif
