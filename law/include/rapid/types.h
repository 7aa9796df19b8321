/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What the Rapid law is made of: parameters, records, streams and state.
 *
 * Units, everywhere: times are nanoseconds, rates are bytes per second, sizes
 * are bytes, fractions are Q16 (65536 is one). A name ends in its unit where a
 * reader could doubt it.
 *
 * The law allocates nothing. The host hands in two rings (send records, and streams
 * in flight), each a power of two in size; the law finds an entry by its number. A
 * ring that is too small costs evidence, never correctness: a slot carries the
 * number of what it holds, and the law ignores feedback for what was overwritten.
 */
#ifndef RAPID_TYPES_H
#define RAPID_TYPES_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef signed short s16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;

#define RAPID_FN static inline __attribute__((always_inline, unused))

/* An index below `bound`. A host whose verifier cannot see that it is checks it again. */
#ifndef RAPID_INDEX
#define RAPID_INDEX(i, bound) (i)
#endif

/*
 * A stage is a function that a host may compile on its own, so that a verifier
 * reads it once, not once per path that leads to it. It takes numbers and
 * pointers to state, checks the pointers, and returns a number.
 */
#ifndef RAPID_STAGE
#define RAPID_STAGE RAPID_FN
#endif

/* A function that a host with little stack may keep out of its callers. */
#ifndef RAPID_APART
#define RAPID_APART RAPID_FN
#endif

#define RAPID_ONE 65536
#define RAPID_HALF (RAPID_ONE / 2) /* also what rounds a Q16 product to nearest */
/* A fraction in Q16, written in thousandths. */
#define RAPID_Q16(thousandths) ((thousandths) * 65536LL / 1000)
#define RAPID_NS_PER_S 1000000000ULL
#define RAPID_NS_PER_MS 1000000ULL
#define RAPID_UNSEEN ((s64)0x7fffffffffffffffLL)

/* Gaps are kept in 1/1024 ns: at 400 Gbit/s a packet takes 30 ns, and a whole nanosecond would be 3 % of it. */
#define RAPID_Q10_BITS 10
#define RAPID_Q10_MASK ((1 << RAPID_Q10_BITS) - 1)

/* No rate is ever outside these: 8 kbit/s and 800 Gbit/s, in bytes per second. */
#define RAPID_RATE_FLOOR 1000ULL
#define RAPID_RATE_CEILING 100000000000ULL
/* No round trip is taken to be outside these. */
#define RAPID_RTT_FLOOR_NS 1000ULL
#define RAPID_RTT_CEILING_NS (60ULL * RAPID_NS_PER_S)

#define RAPID_LEVELS_MAX 16
#define RAPID_PROBE_LEVELS 4 /* of a stream of the default law */
#define RAPID_CHIRP_LEVELS 9
#define RAPID_STREAM_MAX 512
#define RAPID_FEATURES 59
#define RAPID_PARTS 8
#define RAPID_ONSETS 5
#define RAPID_RECENT 4

/* A level lasts at least this many errors of a stamp: one error is then 4 % of half a level, where a slope is read. */
#define RAPID_LEVEL_NOISES 50

enum rapid_preset {
	RAPID_DEFAULT, /* envelopes of delay: envelope.h, startup.h, contest.h */
	RAPID_THESIS,  /* gaps of the dissertation: thesis.h */
};

enum rapid_kind {
	RAPID_PROBE, /* rising levels around the mean rate */
	RAPID_PLAIN, /* one constant rate, between the chirps of start-up */
	RAPID_CHIRP, /* nine levels, up to 16 times the rate */
};

/* thesis.h: where the available bandwidth is read. */
enum rapid_reading {
	RAPID_DENOISED, /* streams, after BASS */
	RAPID_IDEAL,    /* the host knows it, and hands it in */
	RAPID_RAW,      /* streams, without BASS: variant V4 of section 8.6 */
	RAPID_LEARNT,   /* streams, by learnt.h, where the host has it (RAPID_WITH_LEARNT) */
};

/* Everything a user can set, and nothing else. */
struct rapid_params {
	u32 preset;
	u32 packet; /* full packet on the wire */

	/* envelope.h */
	u32 margin;       /* Q16: part of the available bandwidth left free; both presets */
	u32 span;         /* Q16: top rate over bottom rate of a stream */
	u32 wide_span;    /* Q16: the same while the path shows no limit */
	u32 gain_max;     /* Q16 */
	u32 gain_offset;  /* Q16: gain is share + offset, at most gain_max */
	u32 drain_cap;    /* Q16: at most this much below the target to drain */
	u32 stamp_noise_ns; /* error of a stamp that must not pass for a slope */
	u32 level_min_ns; /* a level lasts at least this, RAPID_LEVEL_NOISES times the error */

	/* thesis.h */
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

	/* contest.h */
	u32 competitive;  /* whether to contend with flows that fill the queue */

	/* frame.h; last, since every arrival asks for it: see struct rapid */
	u64 rtt_floor_ns; /* a shorter round trip is taken for this where time is counted in round trips; 0: none */
};

/* One packet sent. 24 bytes. */
struct rapid_record {
	u64 sent_ns;
	u64 arrival_ns;
	u32 stream;
	u16 size;
	u8 level; /* level << 1 | half */
	u8 state; /* enum rapid_record_state */
};

enum rapid_record_state {
	RAPID_EMPTY,
	RAPID_IN_FLIGHT,
	RAPID_STAMPED,   /* arrived, and the receiver said when */
	RAPID_UNSTAMPED, /* arrived */
	RAPID_LOST,
};

/*
 * The edges between which the default law reads the slope of the delay. Each is the beginning of a half-level of a
 * probe stream.
 */
enum rapid_edge {
	RAPID_EDGE_2,      /* level 2 begins */
	RAPID_EDGE_3,      /* level 3 begins */
	RAPID_EDGE_3_HALF, /* the second half of level 3 begins */
	RAPID_EDGES,
};

/* Start-up ended by what another clock said: it begins anew (anew.h). */
#define RAPID_MISREAD 255
/* A packet was marked: the stream under way is not clear. */
#define RAPID_MARKED 128
/* The last chirp rose from its lowest level on, and little. */
#define RAPID_CHIRP_RISES (1u << 15)

enum rapid_stage {
	RAPID_OPEN,   /* being sent */
	RAPID_CLOSED, /* all sent */
	RAPID_READ,   /* all accounted for, and read */
};

/*
 * One stream, from its first packet until all are acknowledged or lost. A departure touches the first two of its three cache
 * lines, an arrival the first.
 */
struct rapid_stream {
	u32 number;
	u8 kind;
	u8 stage; /* enum rapid_stage */
	u8 wide;
	u8 app_limited;
	u64 rtt_ns;      /* smallest round trip */
	s64 delay;       /* smallest arrival - departure; clocks are not aligned */
	s64 low[RAPID_EDGES]; /* smallest delay of the half-level after each edge */
	u32 sent;
	u32 accounted;
	u64 rate;        /* mean rate aimed at */

	u64 bytes;
	u64 planned_q10; /* sum of the gaps asked for, 1/1024 ns */
	u64 edge_ns[RAPID_EDGES]; /* recorded departure of the first packet after each edge, */
	u64 start_ns;    /* of the first packet of all, */
	u64 end_ns;      /* and when the next stream may begin */
	u64 first;       /* transmission number of its first packet */

	u32 per_level;
	u32 lost;
	u32 lost2; /* of these, in level 2, */
	u32 lost3; /* and in level 3 */
	u32 whole; /* of a chirp: levels that were sent to their end */
	u32 excused_ns; /* the most of a packet's delay that frames excused */
	u64 room[5]; /* so that each begins with a cache line, where the first does */
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

/* Smallest value of the last 30-60 s: two buckets of 30 s (queue.h). */
struct rapid_minimum {
	s64 now;
	s64 before;
};

/* Rates of the levels over the mean rate, Q16. */
struct rapid_ladder {
	u32 x[RAPID_LEVELS_MAX];
	u32 levels;
};

/* What envelope.h knows. Every arrival touches what stands first. */
struct rapid_envelope {
	struct rapid_minimum rtt;
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

/* What thesis.h knows. */
struct rapid_adapter {
	u64 sum;     /* estimates gathered, */
	u64 span_ns; /* and the time their streams took */
	u32 count;
	u32 whole;   /* streams before this number were under way when a loss was found */
	u64 ideal;   /* available bandwidth handed in by the host */
	u64 read_ns; /* when the last stream that gave an estimate was read */
};

/*
 * The state of a flow. What a departure touches of it stands first, up to the packet's size in its parameters; what an arrival
 * touches besides stands behind the parameters, in three cache lines. Hosts that have a thousand flows find none of it in their
 * cache.
 */
struct rapid {
	/* the packet clock */
	u64 next_ns;        /* the next packet may leave now or later */
	u64 gap_q10;        /* gap of a full packet at the present level */
	u64 next;           /* transmission number expected next */
	u32 next_q10;       /* the part of a nanosecond below next_ns, in 1/1024 */
	u32 left;           /* packets left in this half of the level */
	u32 stream;         /* number of the stream being sent */
	u8 open;
	u8 level, half;
	u8 startup;

	struct rapid_params params;

	u64 rtt_ns;         /* the last minimum */
	u64 srtt_ns;
	u64 rate;
	u64 window_rate;    /* of the last round trips, for the window */
	u8 unmeasured;      /* no round trip is known yet */
	u8 chirping;        /* a chirp is under way, or unread */
	u8 clear;           /* streams in a row that found a clear path; or RAPID_MISREAD, RAPID_MARKED */
	u8 anew;            /* how often start-up began anew */
	u32 random;

	struct rapid_envelope envelope;
	u64 anew_ns;        /* from when on start-up may begin anew (startup.h) */
	struct rapid_skew skew;

	u64 level_rate;
	u64 available;      /* last estimate */
	u32 streams, unusable; /* completed, 2^32 - 1 at most; of these, without an estimate */
	u32 completed;      /* number of the stream completed last */
	u8 estimated;       /* and whether it gave an estimate */
	u8 contest_stage;   /* enum rapid_contest_stage */
	u16 chirp_lost;     /* a bit for each level of the last chirp that lost a packet; and RAPID_CHIRP_RISES */

	struct rapid_ladder narrow, wide;
	u64 contest_ns;     /* when the stage began, or its last window */
	union { /* no flow chirps while it competes */
		struct rapid_chirp chirp;
		struct rapid_contest contest;
	};
	union { /* each preset has its own */
		struct rapid_adapter adapter;
		struct {
			u64 doubt_rate; /* at most that is sent while the law asks whether the path has become longer (queue.h); else 0 */
			struct rapid_policer policer;
		};
	};
	u64 spell_first;    /* the first packet since the application paused, */
	u32 spell;          /* and how many it sent before that, from the pause before on; ~0: it has not paused */
	u16 cut_sent;       /* packets of the last streams that it cut short, */
	u16 cut_lost;       /* and how many of these were lost */
	u64 quiet_rtt_ns;   /* round trip of the last stream but chirps, less its queue, if that was quiet (queue.h); else 0 */
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

/* Work space of gaps.h: one stream, gap by gap, in 1/1024 ns. Not used by the default. */
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
 * The memory of the host. The host hands in a pointer to this with each call, and
 * the law keeps none. So a host whose verifier follows pointers can build it anew
 * each time.
 */
struct rapid_memory {
	struct rapid_record *records;
	struct rapid_stream *streams;
	struct rapid_gaps *gaps; /* null unless the preset is the thesis */
	u32 record_mask;
	u32 stream_mask;
};

/* A host that finds its memory in another way defines these. They may return null. */
#ifndef RAPID_RECORD
#define RAPID_RECORD(memory, number) (&(memory)->records[(u32)(number) & (memory)->record_mask])
#endif
#ifndef RAPID_STREAM
#define RAPID_STREAM(memory, number) (&(memory)->streams[(u32)(number) & (memory)->stream_mask])
#endif

/*
 * Zero, as a value that a verifier does not know. Linux before 6.7 follows the body of bpf_loop once, with what lies on the
 * stack when the loop begins, and removes the branches that this never takes. So what decides a branch in a body, and
 * begins at zero, begins with this.
 */
#define RAPID_UNTOLD_ZERO(gaps) (*(const volatile u32 *)&(gaps)->zero)

/*
 * A loop of n <= bound turns over a function of (turn, context) that returns 0
 * to go on. A BPF host defines it as bpf_loop.
 */
#ifndef RAPID_LOOP
#define RAPID_LOOP(n, fn, context)                                                         \
	do {                                                                               \
		for (u32 rapid_turn = 0; rapid_turn < (n); rapid_turn++)                   \
			if (fn(rapid_turn, (context)))                                     \
				break;                                                     \
	} while (0)
#endif

#endif
