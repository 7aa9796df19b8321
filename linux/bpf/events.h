/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The entries of the ring of events: mirrored in src/tcp/log.rs, read by tests/lockstep/replay.c. */
#ifndef PACKETSCALE_EVENTS_H
#define PACKETSCALE_EVENTS_H

#include "rapid/types.h"

enum event_kind {
	EVENT_LAW = 1,
	EVENT_PACKET = 2,
};

enum law_call {
	CALL_BEGIN,          /* number: round trip; argument: seed */
	CALL_BEFORE_SENDING, /* number: size; argument: what it gave */
	CALL_SENT,           /* argument: app_limited << 32 | size */
	CALL_ARRIVAL,        /* argument: arrival */
	CALL_UNSTAMPED,
	CALL_LOST,
	CALL_RTT,            /* argument: round trip */
	CALL_RECOVERY,
	CALL_TIMEOUT,
	CALL_CAP,            /* argument: the rate not to exceed */
	CALL_NOISE,          /* argument: error of a stamp */
	CALL_SPURIOUS,       /* the last timeout; number: startup, argument: rate, as they were before */
	CALL_MARKED,
	CALL_PACKET,         /* argument: size of a full one */
	CALL_START,          /* number: round trip; argument: startup << 32 | packets per round trip */
};

/* A call, and the law after it. */
struct law_event {
	u32 kind;
	u32 call;
	u32 slot;
	u32 packet; /* size of a full one */
	u64 now_ns, number, argument;
	u64 rate, next_ns, available, streams;
};

/* A packet of a stream that has been read. */
struct packet_event {
	u32 kind;
	u32 slot;
	u32 stream;
	u32 packet;
	u32 of; /* packets of this stream */
	u16 size;
	u16 state; /* enum rapid_record_state */
	u64 sent_ns, arrival_ns;
	u64 rate;      /* that its level probes, bytes per second */
	u64 available; /* as read from the stream; 0: unusable */
	u32 stream_kind; /* enum rapid_kind */
	u32 reserved;
};

#endif
