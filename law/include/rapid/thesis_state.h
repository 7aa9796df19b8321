/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The state of the dissertation's law, and everything that a user can set of it. Units as in types.h. */
#ifndef RAPID_THESIS_STATE_H
#define RAPID_THESIS_STATE_H

#include "types.h"

#define RAPID_FEATURES 59
#define RAPID_PARTS 8
#define RAPID_ONSETS 5
#define RAPID_RECENT 4

/* Where the available bandwidth is read. */
enum rapid_reading {
	RAPID_DENOISED, /* streams, after BASS */
	RAPID_IDEAL,    /* the host knows it, and hands it in */
	RAPID_RAW,      /* streams, without BASS: variant V4 of section 8.6 */
	RAPID_LEARNT,   /* streams, by learnt.h, where the host has it (RAPID_WITH_LEARNT) */
};

/* What the law asks for while it runs. */
struct rapid_thesis_tuning {
	u64 tau_ns;       /* time constant of an increase */
	u64 eta_ns;       /* time constant of a decrease; 0: use eta_streams */
	u32 eta_streams;  /* streams that a decrease takes */
	u16 gamma;        /* estimates averaged before the rate is adapted */
	u16 smoothing;    /* AVG_WINDOW */
	u32 levels;       /* N_r */
	u32 per_level;    /* N_p */
	u32 epsilon_ns;   /* GAP_NS_EPSILON */
	u32 loss_cut;     /* Q16: part of the rate cut per loss recovery */
	u32 reading;      /* enum rapid_reading */
	u32 margin;       /* Q16: part of the available bandwidth left free */
};

/* Everything a user can set, and nothing else. */
struct rapid_thesis_params {
	u64 rtt_floor_ns; /* struct rapid_flow has it, */
	u32 packet;       /* and this */
	u32 span;         /* Q16: top rate over bottom rate of a stream */
	struct rapid_thesis_tuning tuning;
};

/* What thesis.h knows. */
struct rapid_adapter {
	u64 sum;     /* estimates gathered, */
	u64 span_ns; /* and the time their streams took */
	u32 count;
	u32 whole;   /* streams before this number were under way when a loss was found */
	u64 ideal;   /* available bandwidth handed in by the host */
	u64 read_ns; /* when the last stream that gave an estimate was read */
};

/* The state of a flow. */
struct rapid_thesis {
	struct rapid_flow flow;
	struct rapid_thesis_tuning tuning;
	struct rapid_adapter adapter;
	u64 queue_ns;       /* standing queue */
	u64 available;      /* last estimate */
	u32 streams, unusable; /* completed, 2^32 - 1 at most; of these, without an estimate */
	u32 completed;      /* number of the stream completed last, */
	u32 estimated;      /* and whether it gave an estimate */
	u32 x[RAPID_LEVELS_MAX]; /* rates of the levels over the mean rate, Q16 */
};

/* Least squares of delay over time. */
struct rapid_fit {
	s64 n, t, x, tx, tt;
};

/* One envelope of its delays. */
struct rapid_envelope_seen {
	s32 part[RAPID_PARTS];
	s32 lowest;
	s32 onset[RAPID_ONSETS];
	struct rapid_fit fit[3];
};

/* A stream, as features.h goes along it. */
struct rapid_seeing {
	u64 whole; /* T, 1/1024 ns */
	u64 time;  /* since the first packet, the same */
	s64 delay; /* the same */
	s32 t, x;  /* both in units */
	s32 highest, lowest;
	u64 noise;
	u32 batches, length, longest;
	u32 first, last; /* gaps before the first packet of the first and of the last batch */
	s32 first_t, first_x;
	s32 recent_t[RAPID_RECENT + 1], recent_x[RAPID_RECENT + 1];
	struct rapid_envelope_seen low, high;
};

/* Work space of gaps.h: one stream, gap by gap, in 1/1024 ns. */
struct rapid_gaps {
	u64 send[RAPID_STREAM_MAX];
	u64 receive[RAPID_STREAM_MAX];
	u64 smooth_send[RAPID_STREAM_MAX];
	u64 smooth_receive[RAPID_STREAM_MAX];
	u32 count;
	u32 offset; /* first packet of the stream with a gap after it */
	u32 stream;
	u32 zero;                        /* never written: RAPID_UNTOLD_ZERO */
	struct rapid_seeing seen;        /* features.h */
	s16 feature[RAPID_FEATURES + 1]; /* the same; the last is below all thresholds: learnt.h */
};

/*
 * Zero, as a value that a verifier does not know. Linux before 6.7 follows the body of bpf_loop once, with what lies on the
 * stack when the loop begins, and removes the branches that this never takes. So what decides a branch in a body, and
 * begins at zero, begins with this.
 */
#define RAPID_UNTOLD_ZERO(gaps) (*(const volatile u32 *)&(gaps)->zero)

#endif
