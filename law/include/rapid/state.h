/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The state of the default law, and everything that a user can set of it. Units as in types.h. */
#ifndef RAPID_STATE_H
#define RAPID_STATE_H

#include "types.h"

#define RAPID_CHIRP_LEVELS 9
#define RAPID_PROBE_LEVELS 4 /* of a probe stream */
/* A level lasts at least this many errors of a stamp: one error is then 4 % of half a level, where a slope is read. */
#define RAPID_LEVEL_NOISES 50

/* What the law asks for while it runs. */
struct rapid_tuning {
	u32 margin;       /* Q16: part of the available bandwidth left free */
	u32 gain_max;     /* Q16 */
	u32 gain_offset;  /* Q16: gain is share + offset, at most gain_max */
	u32 drain_cap;    /* Q16: at most this much below the target to drain */
	u32 stamp_noise_ns; /* error of a stamp that must not pass for a slope */
	u32 level_min_ns; /* a level lasts at least this, RAPID_LEVEL_NOISES times the error */
	u32 competitive;  /* whether to contend with flows that fill the queue (contest.h) */
};

/* Everything a user can set, and nothing else. */
struct rapid_params {
	u64 rtt_floor_ns; /* struct rapid_flow has it, */
	u32 packet;       /* and this */
	u32 span;         /* Q16: top rate over bottom rate of a stream */
	u32 wide_span;    /* Q16: the same while the path shows no limit */
	struct rapid_tuning tuning;
};

/* The lowest delay of a half-level of a chirp, and when its packet left. */
struct rapid_point {
	s64 delay;
	u64 sent_ns;
};

struct rapid_chirp {
	struct rapid_point low[RAPID_CHIRP_LEVELS][2];
	u64 rate[RAPID_CHIRP_LEVELS];
	u32 sent[RAPID_CHIRP_LEVELS];
	u32 lost[RAPID_CHIRP_LEVELS];
};

/* What measure.h and envelope.h know. Every arrival touches what stands first. */
struct rapid_envelope {
	u64 last_arrival_ns, last_sent_ns; /* of the packet stamped last, */
	u32 untold;         /* and packets that arrived since, without a stamp */
	u32 hole_q16;       /* Q16: packets of the hole that the average packet is in */
	u32 batch_ns;       /* time between batches */
	u32 batched;        /* Q16: how often packets arrive in one batch */
	u32 pause_ns;       /* before the packet that arrives; between batches less the gap between packets */
	u32 least_pause_ns, least_pause_before_ns; /* the shortest between batches of this bucket and of the last */

	u8 paused;          /* it lies between batches */
	u8 doubts;          /* streams that say that the queue has not moved */
	u8 losing;          /* the last stream of which something arrived lost packets */
	u8 sole;            /* the flow seems to have the path for itself */
	u64 doubt_since_ns; /* since then from */
	s64 doubt_delay;    /* this delay, although the path had room */
	struct rapid_minimum delay;
	u64 bucket_ns;      /* when the buckets were last turned */
	u64 inverse;        /* 2^56 / capacity of the path, as slopes are read with; */
	u64 inverse_of_all; /* the same, counting streams that say a share below zero: a small flow adds a part; 0: not known yet */
	s64 growth;         /* Q16: how fast the lowest delay rises */
	s64 slope2, slope3; /* Q16 */
	s64 loss;           /* Q16 */
	s64 stream_delay;   /* lowest delay of the last stream, */
	u64 stream_centre_ns; /* and the middle of its sending */
	u64 queue_ns;       /* standing queue */
	u64 ceiling_since_ns;
	u64 ceiling_step_ns;
	u32 ceiling_gain;   /* Q16 */
	u8 at_ceiling;
	u8 wide;
	u8 fresh;           /* slopes hold nothing of this span yet */
	u8 slopes_wide;     /* the span the slopes belong to */
};

/* The packet of least lag in a window of skew.h. */
struct rapid_lag {
	u64 heard_ns;
	s64 lag;
};

/* What skew.h knows. */
struct rapid_skew {
	union {
		u64 anchor_ns; /* from this arrival on, by the receiver's clock, the pace holds, */
		u64 first_ns;  /* and while none was found, when the packet of `first_lag` was heard of */
	};
	u64 offset_ns;   /* what is added there */
	s32 pace;        /* Q20: how much faster than ours its clock runs */
	s32 drift;       /* Q20: how it ran beside that from one window to the next */
	u64 window_ns;   /* when the window began */
	struct rapid_lag best, before; /* of this window and of the last, */
	u32 best_rtt, before_rtt;      /* and their least round trips, 1024 ns */
	union {
		s64 first_lag; /* while no pace was found: the least lag of the first window, */
		u64 found_ns;  /* then when the pace was changed last */
	};
};

/* What a flow that may compete does (contest.h). */
enum rapid_contest_stage {
	RAPID_RESTS,    /* nothing: what stands in `contest` is not of a contest */
	RAPID_WATCHES,  /* whether giving way to a queue helps */
	RAPID_CONTENDS, /* holds a window; the stages that follow do, too */
	RAPID_WAITS,    /* will look soon */
	RAPID_LOOKS,    /* what is left without its own packets */
};

/* What contest.h knows. */
struct rapid_contest {
	/* while it watches, or looks */
	u64 rate;     /* when the queue came, or giving way helped last; when the look began */
	u64 gave_ns;  /* queue that giving way should have drained */
	u64 queue_ns; /* the least queue of the ten round trips before, or of the look before; */
	u64 low_ns;   /* of these, or of this */
	u32 windows;  /* of ten round trips in which giving way did not help; looks that found the same */
	u32 k_ms;     /* the cubic is flat that long after its beginning */
	/* in the contest */
	u64 window;   /* in bytes, */
	u64 first;    /* when the cubic began */
	u64 most;     /* and where it is flat */
	u64 epoch_ns; /* when it began */
	u64 cut_ns;   /* the last loss that counted */
	u64 high_ns;  /* the longest queue since the last look; in a look, when it began */
	u64 bare;     /* the window of a look, */
	u64 most_ns;  /* and the longest queue when it had settled */
};

/* What policer.h knows. A flow that is not held counts; it asks while `part` is not 0. */
struct rapid_policer {
	u64 limit;    /* the rate is held to that, and what `steps` add; 0: it is not held */
	u64 since_ns; /* when the first stream that counts began, or from when on one will count */
	u32 sent;     /* packets of the streams sent since then, */
	u32 lost;     /* and of these lost */
	u16 part;     /* Q16: the part that was lost before it asked */
	u16 lost_ms;  /* the last loss, since since_ns */
	u16 mark_ms;  /* of a rate that grows the first loss of those near each other; else the longest time without one */
	u8 steps;     /* by which a held rate has grown */
	u8 times;     /* in a row that it asked in vain, or met the limit again */
};

/* What anew.h knows of the path: whether it is clear. */
struct rapid_clear_path {
	u8 streams; /* in a row that found it clear */
	u8 marked;  /* a packet was marked: the stream under way did not */
	u8 misread; /* start-up ended by what another clock said, and begins anew once the path is clear */
};

/* The state of a flow. An arrival touches of it, besides `flow`, what stands first in `envelope`, and `skew`. */
struct rapid {
	struct rapid_flow flow;
	struct rapid_envelope envelope;
	struct rapid_skew skew;
	struct rapid_tuning tuning;

	u32 random;
	struct rapid_clear_path clear;
	u8 anew;            /* how often start-up began anew */
	u8 chirping;        /* a chirp is under way, or unread */
	u8 chirp_rises;     /* the last chirp rose from its lowest level on, and little */
	u16 chirp_lost;     /* a bit for each level of the last chirp that lost a packet */
	u8 contest_stage;   /* enum rapid_contest_stage */
	u8 estimated;       /* whether the stream completed last gave an estimate */
	u32 completed;      /* its number */
	u32 streams, unusable; /* completed, 2^32 - 1 at most; of these, without an estimate */
	u64 available;      /* last estimate */
	u64 anew_ns;        /* from when on start-up may begin anew (startup.h) */

	u32 narrow[RAPID_PROBE_LEVELS], wide[RAPID_PROBE_LEVELS]; /* rates of the levels over the mean rate, Q16 */
	u64 contest_ns;     /* when the stage began, or its last window */
	union { /* no flow chirps while it competes */
		struct rapid_chirp chirp;
		struct rapid_contest contest;
	};
	u64 doubt_rate;     /* at most that is sent while the law asks whether the path has become longer (queue.h); else 0 */
	struct rapid_policer policer;
	u64 spell_first;    /* the first packet since the application paused, */
	u32 spell;          /* and how many it sent before that, from the pause before on; ~0: it has not paused */
	u64 quiet_rtt_ns;   /* round trip of the last stream but chirps, less its queue, if that was quiet (measure.h); else 0 */
};

#endif
