/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What both laws are made of: numbers, records, streams, and what a flow is to either. (The state of the default law:
 * state.h; that of the dissertation's: thesis_state.h.)
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
#define RAPID_STREAM_MAX 512

enum rapid_kind {
	RAPID_PROBE, /* rising levels around the mean rate */
	RAPID_PLAIN, /* one constant rate, between the chirps of start-up */
	RAPID_CHIRP, /* nine levels, up to 16 times the rate */
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

/* Smallest value of the last 30-60 s: two buckets of 30 s (measure.h). */
struct rapid_minimum {
	s64 now;
	s64 before;
};

/*
 * A flow, whatever its law. What a departure touches stands first, up to `unmeasured`; an arrival touches what stands behind
 * that. Hosts that have a thousand flows find none of it in their cache.
 */
struct rapid_flow {
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
	u32 packet;         /* full packet on the wire */
	u32 unmeasured;     /* no round trip is known yet */

	u64 rtt_floor_ns;   /* a shorter round trip is taken for this where time is counted in round trips; 0: none */
	u64 rtt_ns;         /* the smallest, */
	u64 srtt_ns;        /* and smoothed */
	struct rapid_minimum rtt;
	u64 rate;
	u64 window_rate;    /* of the last round trips, for the window */
	u64 level_rate;
};

/*
 * The memory of the host. The host hands in a pointer to this with each call, and
 * the law keeps none. So a host whose verifier follows pointers can build it anew
 * each time.
 */
struct rapid_memory {
	struct rapid_record *records;
	struct rapid_stream *streams;
	struct rapid_gaps *gaps; /* the work space of the dissertation's law; else null */
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
