/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Arrivals reported by an acknowledgment.
 *
 * sock_ops writes it as it parses an acknowledgment's option, cong_control reads it
 * for the same acknowledgment: both run under the socket lock, one right after the
 * other. Storage of the socket, one per connection. In the other direction,
 * a congestion control that begins uses it to send its request.
 */
#ifndef PACKETSCALE_FEEDBACK_H
#define PACKETSCALE_FEEDBACK_H

/* Arrivals that fit into one acknowledgment. */
#define FEEDBACK_ARRIVALS 16

/* The peer stamps: both ends agreed on the option in their SYNs. */
#define FEEDBACK_NEGOTIATED 1
/* Its clock differs in rate from ours, or too many options are unreadable: ignore its reports from now on. */
#define FEEDBACK_DISTRUSTED 2
/* It reports only after a request. */
#define FEEDBACK_SILENT 4

/* Segments that ask. */
#define FEEDBACK_ASKS 64

/* An arrival, and when its report came. */
struct clock_sample {
	u64 heard_ns;
	u64 arrival_ns;
};

struct feedback {
	u32 news;    /* options parsed so far; a new value means a new one */
	u32 flags;
	u32 ack_seq; /* of the acknowledgment that carried it */
	u32 count;
	u32 malformed; /* options that made no sense, ignored */
	u32 end_seq;   /* end of the newest segment; the arrivals are of segments one by one without a hole */
	u64 heard_ns;  /* when it came, by this host's clock */
	u64 arrival_ns[FEEDBACK_ARRIVALS]; /* oldest first, by the receiver's clock */

	/* Of option_clock.h. */
	struct clock_sample anchor;
	struct clock_sample before; /* the earliest of the last window, */
	struct clock_sample best;   /* and of this one, */
	u64 window_ns;              /* which began then */
	u32 samples, strange;       /* of it; not believed */
	u32 doubts;

	u32 asking; /* further segments that carry the request for arrivals */
	u32 disbelieved; /* of `malformed`: those of which only the time made no sense */
	u32 unreadable;  /* weight of the others: option_clock.h */
};

#endif
