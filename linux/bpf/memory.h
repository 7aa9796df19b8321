/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Storage of a connection's state.
 *
 * Everything is allocated at load. A connection takes a slot when it begins and
 * returns it when it ends, or loses it to another while idle (quota.h). Its socket
 * stores only the number of its slot (in the private area of a congestion control; 0 is
 * none), and its turn there. The slots are in arrays, not in
 * storage of the socket: the kernel charges that to net.core.optmem_max, 20 KB on
 * Linux 6.1, and user space can read an array by slot.
 */
#ifndef PACKETSCALE_MEMORY_H
#define PACKETSCALE_MEMORY_H

/* How the law finds its memory here; defined before its first header. */
#define RAPID_RECORD(memory, number) host_record(memory, number)
#define RAPID_STREAM(memory, number) host_stream(memory, number)
#define RAPID_INDEX(i, bound)                                       \
	({                                                          \
		u64 index_ = (u64)(i);                              \
		asm volatile("" : "+r"(index_));                    \
		index_ < (bound) ? index_ : 0;                      \
	})
#define RAPID_STAGE __attribute__((noinline))
#define RAPID_APART static __attribute__((noinline))
#define RAPID_LOOP(n, fn, context) bpf_loop((u32)(n), (void *)fn, (context), 0)

#include "kernel.h"
#include "report.h"

/*
 * Transmissions and streams that a connection remembers. Powers of two. The load decides the number of transmissions:
 * the loader writes it less one before the kernel reads the programs, so that it is a constant for them.
 * At most 2^16, so that ordinals, of 16 bits, distinguish those in flight.
 */
const volatile u32 record_mask SEC(".rodata.records") = 4096 - 1;
#define RECORDS (record_mask + 1)
#define STREAMS 256
/* Packets that one acknowledgment can newly deliver with a stamp. */
#define FRESH 64

struct memory {
	struct rapid_memory law;
	u32 slot;
};

/* A transmission: the law's record, and what TCP calls it. */
struct packet {
	struct rapid_record law;
	u32 edge;    /* snd_nxt once it was sent */
	u16 ordinal; /* among those that are no retransmissions, modulo 2^16 */
	u8 retransmission;
	u8 fate;     /* enum fate */
};

enum fate {
	FATE_UNKNOWN,
	FATE_DELIVERED,
	FATE_LOST,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4096); /* RECORDS times slots, set at load */
	__type(key, u32);
	__type(value, struct packet);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, STREAMS);
	__type(key, u32);
	__type(value, struct rapid_stream);
} streams SEC(".maps");

INLINE struct packet *packet_at(u32 slot, u64 number)
{
	u32 key = ((u32)number & record_mask) + slot * RECORDS;

	return bpf_map_lookup_elem(&records, &key);
}

INLINE struct rapid_record *host_record(const struct rapid_memory *memory, u64 number)
{
	struct packet *p = packet_at(((const struct memory *)memory)->slot, number);

	return p ? &p->law : 0;
}

INLINE struct rapid_stream *host_stream(const struct rapid_memory *memory, u32 number)
{
	u32 key = ((const struct memory *)memory)->slot * STREAMS + (number & (STREAMS - 1));

	return bpf_map_lookup_elem(&streams, &key);
}

/* The default law, or the dissertation's in sender_thesis.bpf.c. Both have the same calls: LAW(call). */
#ifdef SENDER_THESIS
#include "rapid/thesis.h"
#define LAW(call) rapid_thesis_##call
#define LAW_STATE struct rapid_thesis
#define LAW_PARAMS struct rapid_thesis_params
#define LAW_RESTARTS 0

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct rapid_gaps);
} gaps SEC(".maps");
#else
#include "rapid/rapid.h"
#define LAW(call) rapid_##call
#define LAW_STATE struct rapid
#define LAW_PARAMS struct rapid_params
#define LAW_RESTARTS 1 /* in its first stream */
#endif

/* Initial state of a connection, except its packet size. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, LAW_PARAMS);
} params SEC(".maps");

/* Runs of one law per round trip that bound the rate: guard.h. */
struct guard {
	u64 since_ns;
	u64 acked; /* bytes newly acknowledged since */
	u64 rate[2]; /* of the last two epochs, bytes per second */
	u64 idled;   /* the queue was empty at some time, or TCP's timer had expired */
	u64 lost, delivered; /* packets, when the epoch began */
	u64 repairs; /* epochs of a repair that may still count as idle */
	u64 paused;  /* the application had no data at some time, */
	u64 pausing; /* and number of further epochs that count as paused */
	u64 slowest_ns; /* the longest smoothed round trip of the epoch */
	u64 held;    /* this guard lowered the rate, or its window was full */
	u64 acked_before, carried; /* bytes acknowledged in the last epoch, and what two in a row may carry */
};

enum waiting {
	BEGUN, /* the law sets the clock */
	UNASKED,
	ASKED,
};

struct conn {
	struct report report;

	/* clock.h */
	u64 proposal_ns; /* when the packet that may be leaving leaves */
	u64 planned_ns;  /* when it should have left */
	u64 last_sent_ns;
	u32 segments;    /* data_segs_out, total_retrans and snd_nxt at the last commit */
	u32 retransmitted;
	u32 snd_nxt;
	u32 overhead;    /* headers of a packet, from the IP header on */
	u32 idle;        /* no data waited when a packet could have left */
	u32 proposed;    /* a departure was proposed for the packet that may be leaving */
	u32 group;       /* packets that left at the last try */
	u32 last;        /* no data wait behind it; */
	u32 shut;        /* the receiver's window was too small for the next packet */
	u32 drained;     /* no data waited behind the last that left */
	u32 payload;     /* maximum payload: mss_cache at the last check */
	u32 short_head;  /* payload of the proposed packet by itself, if it is short and data follow it; else 0 */
	u32 fills;       /* TCP filled the last such packet with these data */
	u32 waiting;     /* for a source of arrivals: slow start meanwhile. ASKED: the peer was requested to report */
	u32 acked;       /* tp->delivered at the last check, */
	u32 waited;      /* and packets delivered while waiting */
	u32 slot;
	u32 uid;     /* user of the slot; */
	u32 counted; /* among that user's */
	u32 turn;    /* number of owners so far: a socket with another turn has lost the slot */
	u64 awake_ns; /* last time that the connection sent or received; */
	u64 acked_ns; /* last acknowledgment of its own data */
	u64 begun_rtt_ns; /* the round trip that the law began with, until it has measured one */

	/* account.h */
	u64 next;    /* number of the next transmission */
	u64 head;    /* first one not acknowledged cumulatively */
	u64 scanned; /* those below were checked for loss */
	u64 highest; /* highest delivered, plus one */
	u64 fresh[FRESH];
	u32 fresh_count;
	u64 fresh_bytes; /* of those newly delivered, as they were sent */
	u32 ordinals; /* packets sent that are no retransmissions */
	u32 tcp_lost; /* tp->lost at the last check, */
	u32 missing;  /* and TCP's losses since that the law does not know */
	u64 doubted;  /* those below were in flight when the retransmission timer expired; 0: none */
	u32 doubted_una; /* snd_una then */
	u64 undo_rate; /* the law's, before the timer expired */
	u32 undo_startup;
	u64 repaired; /* those below left before the last retransmission: Karn's rule */
	u64 marked_rate; /* bound on the rate in a round trip with marks */
	u32 state; /* of TCP's own recovery */

	/* source.h */
	u32 news;
	u32 tsval;
	u32 first_tsval;
	u32 arrivals;
	u32 by_edge;     /* the newest arrival is of the packet that ends at */
	u32 edge;        /* this; else of the newest packet delivered */
	u64 first_ns;
	u64 heard; /* packets delivered when an arrival last came, */
	u64 heard_ns; /* and when that was */
	u32 disbelieved;
	u64 clock_ns; /* the peer's timestamps, unwrapped */
	u64 arrival_ns[FRESH];

	struct guard guard;
	u32 late, observed; /* of the packets lately sent, how many came too late: clock.h */
	u32 unpaceable; /* windows in a row in which half came too late */
	u32 together, committed; /* of the packets lately sent, how many left with the one before */
	u32 bursting;

	LAW_STATE law;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct conn);
} conns SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, u32);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct config);
} config SEC(".maps");

/* How many slots each user has: quota.h. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, u32);
} users SEC(".maps");

/* Connections that were given to CUBIC, and why. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct address);
	__type(value, struct fallen);
} fallen SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

INLINE struct config *the_config(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&config, &zero);
}

/* Private words of a socket: slot, turn, and sk_pacing_status before Rapid. */
#define WORD_SLOT 0
#define WORD_PACING 1

INLINE u64 word_of(const struct sock *sk) { return ((const struct inet_connection_sock *)sk)->icsk_ca_priv[WORD_SLOT]; }
INLINE u32 slot_in(u64 word) { return (u32)word; }
INLINE u32 turn_in(u64 word) { return (u32)(word >> 32); }

INLINE void set_slot(struct sock *sk, u32 slot, u32 turn)
{
	((struct inet_connection_sock *)sk)->icsk_ca_priv[WORD_SLOT] = (u64)turn << 32 | slot;
}

INLINE struct conn *conn_at(u32 slot) { return slot ? bpf_map_lookup_elem(&conns, &slot) : 0; }

/* Null where the socket has no slot, or another has it now. */
INLINE struct conn *conn_of(struct sock *sk)
{
	u64 word = word_of(sk);
	struct conn *c = conn_at(slot_in(word));

	return c && c->turn == turn_in(word) ? c : 0;
}

/* The state of a slot, all zero except its turn: copied from slot 0, which is never used. */
INLINE struct conn *clean_conn(u32 slot)
{
	u32 nobody = 0, turn;
	struct conn *zero = bpf_map_lookup_elem(&conns, &nobody), *c = conn_at(slot);

	if (!c || !zero)
		return 0;
	turn = c->turn + 1;
	if (bpf_map_update_elem(&conns, &slot, zero, 0))
		return 0;
	c->turn = turn;
	return c;
}

INLINE struct memory memory_of(const struct conn *c)
{
	struct memory m = {.law = {.record_mask = record_mask, .stream_mask = STREAMS - 1}, .slot = c->slot};

#ifdef SENDER_THESIS
	m.law.gaps = bpf_map_lookup_elem(&gaps, &m.slot);
#endif
	return m;
}

#endif
