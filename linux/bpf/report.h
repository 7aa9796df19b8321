/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What user space reads and writes: mirrored in src/tcp/report.rs. Every member
 * is naturally aligned, so that both sides agree.
 */
#ifndef PACKETSCALE_REPORT_H
#define PACKETSCALE_REPORT_H

#include "rapid/types.h"

#define GAP_BUCKETS 64

struct address {
	u32 family;  /* AF_INET or AF_INET6 */
	u16 local_port, remote_port; /* host order */
	u32 local[4], remote[4]; /* network order; IPv4 in the first */
};

enum mode {
	MODE_FREE, /* the slot is in no connection's hands */
	MODE_RAPID,
};

/* Where arrival times come from. */
enum source {
	SOURCE_UNDECIDED,
	SOURCE_OPTION,
	SOURCE_TIMESTAMPS,
	SOURCE_NONE,
};

enum reason {
	REASON_NONE,
	REASON_SLOTS,      /* more connections than were provided for */
	REASON_NO_STAMPS,  /* the peer reports no arrivals */
	REASON_CANNOT_PACE, /* gaps come far too late */
	REASON_BURSTS,     /* packets leave in groups */
	REASON_SWITCHED,   /* Rapid is switched off, or being unloaded */
	REASON_USER,       /* its user has the maximum */
	REASONS,
};

/* What else than the law keeps packets back: counters.h. */
enum limit {
	LIMIT_APPLICATION,
	LIMIT_RECEIVER,
	LIMIT_WINDOW,
	LIMITS,
};

/* One connection. Cumulative since it began, unless noted. */
struct report {
	struct address address;
	u32 mode;
	u32 source;
	u32 startup;
	u32 waiting;     /* it sends, and arrivals have not come yet */
	u64 began_ns, acked_ns;
	u64 rate;        /* bytes per second, IP header included, as are all rates here */
	u64 available;   /* last estimate, */
	u64 estimated_ns; /* and when */
	u64 queue_ns;    /* standing queue */
	u64 queue_max_ns;
	u64 rtt_ns, srtt_ns; /* smallest, smoothed */
	u64 packets, bytes;
	u64 delivered, stamped, lost, retransmitted;
	u64 streams, unusable;
	u64 capped;      /* round trips after which the guard lowered the rate, or in which its window was full */
	u64 bursts;      /* packets that left together with the one before */
	u64 malformed;   /* options of the peer that made no sense */
	u64 unlogged;    /* events lost to a full ring */
	u64 limited_ns[LIMITS];
	u64 gap_error[GAP_BUCKETS]; /* how much later than intended packets left: quarter octaves from 64 ns */
};

/* A connection that CUBIC has taken over, as it was then. */
struct fallen {
	u64 at_ns;
	u64 packets;
	u64 rate;    /* the law's; 0: the law never set the clock */
	u64 srtt_ns; /* TCP's, */
	u32 cwnd, ssthresh; /* and with what CUBIC begins */
	u32 reason;
	u32 source;
};

/* The same with its address: an event, and the state stored with a socket. */
struct fall {
	struct address address;
	struct fallen fallen;
};

enum {
	LOG_STREAMS = 1, /* each stream when it is read, packet by packet */
	LOG_LAW = 2,     /* each call of the law */
	LOG_FALLS = 4,   /* each connection that CUBIC takes over, in its own ring */
};

enum {
	SWITCHED_CLOSED = 1, /* no new connections */
	SWITCHED_OFF = 2,    /* and closed to existing ones */
};

struct config {
	u32 log;
	u32 spin_ns;     /* at most this is spent waiting in a loop, per packet */
	u32 option_noise_ns; /* error of a stamp of the option, */
	u32 timestamp_noise_ns; /* and of a timestamp */
	u32 window;      /* most packets in flight */
	u32 per_user;    /* most connections of a user */
	u32 switched;    /* SWITCHED_ bits */
	u16 memory_mib;  /* that the load has taken: for user space */
	u16 together;    /* group size */
};

#endif
