/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A congestion controller of your own, for packetscale.
 *
 *     cc -shared -O2 -fPIC -ffp-contract=off mine.c -o mine.so
 *     controller = { kind = "c", file = "mine.so" }      # in a scenario
 *
 * A file defines one `const struct packetscale_controller packetscale_controller`: what the controller is called, what a
 * scenario can set, how much state a flow needs, and one function for each event. Each function gets the state of its
 * flow, what happened, and the decision that holds so far, which it may change: how many packets may be in flight, and when
 * the next may leave.
 *
 * Rules
 *   1. All that a flow remembers is in its state. Flows have different states, and runs go on in several threads at the
 *      same time, so global variables that change are not allowed.
 *   2. The state is copied byte by byte. No pointer into it, or to anything else that changes, may be in it.
 *   3. The state begins as zeros. No memory has to be allocated, and no function of libc is needed.
 *   4. Pointers in events are valid during the call only.
 *   5. No clock and no randomness: each event has the time, and `packetscale_setup` a seed. So the same run gives the
 *      same bytes. Floating point must use + - * / and square roots only, and no fused multiply-add (-ffp-contract=off).
 *
 * Units are in the names: times are picoseconds since the run's start, rates are bits per second. Fields called `reserved`
 * are zero. Structures have no holes, and the same layout on each machine with pointers of 64 bits.
 *
 * A shared object is code and runs with the rights of the user. Its results are bounded, its memory accesses are not
 * checked.
 */
#ifndef PACKETSCALE_CONTROLLER_H
#define PACKETSCALE_CONTROLLER_H

#include <stdint.h>

/* It changes with every change of this file that a compiled controller would notice. */
#define PACKETSCALE_ABI 1u

/* No time, no rate. */
#define PACKETSCALE_NONE UINT64_MAX
/* No slow-start threshold. */
#define PACKETSCALE_NO_THRESHOLD UINT32_MAX

/* ---- What a scenario can set ---- */

/* What a setting is, and the unit in which the controller gets it. */
#define PACKETSCALE_TIME_PS 1u /* "50 ms": picoseconds */
#define PACKETSCALE_FRACTION_Q32 2u /* 0.25: in units of 2^-32 */
#define PACKETSCALE_RATE_BPS 3u /* "1 Mbit/s": bits per second */
#define PACKETSCALE_PACKETS 4u /* "160 packets" */
#define PACKETSCALE_BYTES 5u /* "1500 B" */
#define PACKETSCALE_INTEGER 6u /* a whole number below 2^32 */
#define PACKETSCALE_SWITCH 7u /* true or false: 1 or 0 */

/* numerator / denominator as a fraction, rounded down. */
#define PACKETSCALE_Q32(numerator, denominator) (((uint64_t)(numerator) << 32) / (denominator))

/* One setting. The host refuses values outside of the range, before a run. */
struct packetscale_setting {
	const char *name; /* the key in a scenario: small letters, digits and _ */
	const char *doc; /* what it does, in one line */
	uint64_t preset; /* its value where a scenario does not set it */
	uint64_t least;
	uint64_t most;
	uint32_t kind;
	uint32_t reserved;
};

/* ---- Events ---- */

/* What is known at the start of a flow. */
struct packetscale_setup {
	uint64_t now_ps;
	uint64_t packet_bytes; /* a full packet on the wire */
	uint64_t handshake_rtt_ps;
	uint64_t seed; /* for each random choice of the controller */
	const uint64_t *settings; /* in the order of their declaration, each in the unit of its kind */
	uint32_t initial_window_packets;
	uint32_t reserved;
};

/* A packet left. */
struct packetscale_sent {
	uint64_t now_ps;
	uint64_t transmission; /* 0, 1, 2, ... in its flow, retransmissions included */
	uint64_t size_bytes;
	uint32_t in_flight_packets; /* this one included */
	uint16_t app_limited; /* 1: the flow had nothing else to send */
	uint16_t retransmission; /* 1: it was sent before */
};

/* A packet newly known to have arrived. */
struct packetscale_arrival {
	uint64_t transmission;
	uint64_t arrived_ps; /* on the receiver's clock; PACKETSCALE_NONE: not reported */
};

/* The path's delivery rate, by the newest packet that an acknowledgment covers (draft-ietf-ccwg-bbr). */
struct packetscale_rate_sample {
	uint64_t delivered_packets; /* between the departure of that packet and now */
	uint64_t interval_ps; /* how long that took; 0: no path allows that it took so short */
	uint64_t prior_delivered_packets; /* when that packet left */
	uint64_t lost_packets; /* declared lost since it left */
	uint32_t tx_in_flight_packets; /* after it left, itself included */
	uint32_t app_limited; /* 1: the flow lacked data to send when it left */
};

/* An acknowledgment arrived. */
struct packetscale_ack {
	uint64_t now_ps;
	uint64_t rtt_ps; /* of the newest transmission that it covers; PACKETSCALE_NONE: unknown */
	uint64_t srtt_ps; /* smoothed (RFC 6298) */
	uint64_t min_rtt_ps; /* the smallest of the connection */
	uint64_t next_unacked; /* sequence number, in packets, up to which all has arrived */
	uint64_t next_unsent; /* sequence number of the next packet that was never sent */
	const struct packetscale_arrival *arrivals; /* with PACKETSCALE_NEEDS_ARRIVALS */
	const struct packetscale_rate_sample *rate_sample; /* with PACKETSCALE_NEEDS_RATE_SAMPLES, or NULL */
	uint32_t arrivals_count;
	uint32_t delivered_packets; /* newly acknowledged, cumulatively and selectively */
	uint32_t cumulative_packets; /* of those, cumulatively */
	uint32_t prior_in_flight_packets; /* before this acknowledgment */
	uint32_t in_flight_packets; /* after it */
	uint16_t window_limited; /* 1: the window limits the flow, not the application or the receiver */
	uint16_t in_recovery; /* 1: fast recovery, or loss recovery after a timeout */
};

/* A lost packet, as it was when it left. */
struct packetscale_lost_flight {
	uint64_t sequence;
	uint64_t lost_packets; /* declared lost since it left, itself included */
	uint32_t tx_in_flight_packets;
	uint32_t app_limited;
};

/* Packets were declared lost. */
struct packetscale_loss {
	uint64_t now_ps;
	uint64_t srtt_ps;
	const uint64_t *transmissions; /* with PACKETSCALE_NEEDS_ARRIVALS */
	const struct packetscale_lost_flight *flights; /* with PACKETSCALE_NEEDS_RATE_SAMPLES */
	uint32_t transmissions_count;
	uint32_t flights_count;
	uint32_t lost_packets;
	uint32_t prior_in_flight_packets;
	uint32_t enters_recovery; /* 1: the first loss of an episode. Reduce only here (RFC 6675, section 5) */
	uint32_t reserved;
};

/* Packets arrived marked. Comes before their acknowledgment, and only with PACKETSCALE_SENDS_ECT0 or _ECT1. */
struct packetscale_mark {
	uint64_t now_ps;
	uint64_t srtt_ps;
	uint32_t congestion_packets; /* with congestion experienced */
	uint32_t burstiness_packets; /* with the burstiness bit */
	uint32_t answer; /* 1: the first congestion mark of a window (RFC 3168, section 6.1.2) */
	uint32_t reserved;
};

/* The retransmission timer expired. */
struct packetscale_timeout {
	uint64_t now_ps;
	uint32_t in_flight_packets;
	uint32_t first; /* 1: the first expiry for this data */
};

/* The last reduction was needless: the packets were not lost. */
struct packetscale_undo {
	uint64_t now_ps;
};

/* Rate feedback: a rate offered by routers, or the available rate as the experiment knows it. */
struct packetscale_rate_feedback {
	uint64_t now_ps;
	uint64_t rate_bps;
};

/* ---- Decisions ---- */

/*
 * It holds until an event changes it. It begins with the initial window, a departure at time 0, no rate and no threshold.
 * The host keeps the window between 1 packet and 2^20, and the departure at most 60 s after the event. A departure in the
 * past means: as soon as the window allows.
 */
struct packetscale_decision {
	uint64_t departure_ps; /* the next packet leaves no earlier */
	uint64_t rate_bps; /* the mean rate aimed at, for pictures; PACKETSCALE_NONE */
	uint32_t window_packets; /* at most this many packets are in flight */
	uint32_t threshold_packets; /* slow-start threshold, for pictures; PACKETSCALE_NO_THRESHOLD */
};

/* ---- The controller ---- */

/* Features that the controller needs. Each has a cost: request only what is used. */
#define PACKETSCALE_NEEDS_ARRIVALS 1u
#define PACKETSCALE_NEEDS_RATE_SAMPLES 2u
#define PACKETSCALE_NEEDS_AVAILABLE 4u /* `on_available`, from hosts that know what is available */
#define PACKETSCALE_NEEDS_OFFERS 8u /* `on_offer`: packets carry a rate field that routers fill in (RCP) */
#define PACKETSCALE_SENDS_ECT0 16u /* reads marks; a mark means what a loss means (RFC 3168) */
#define PACKETSCALE_SENDS_ECT1 32u /* reads marks; each means little (RFC 9331) */
#define PACKETSCALE_OWN_WINDOW 64u /* its window holds in fast recovery and after a mark, too; else RFC 6937 decides what leaves */

struct packetscale_controller {
	uint32_t abi; /* PACKETSCALE_ABI */
	uint32_t struct_bytes; /* sizeof(struct packetscale_controller) */
	const char *name; /* small letters, digits and -; not one of packetscale's own */
	const char *summary; /* one line */
	const struct packetscale_setting *settings;
	uint32_t settings_count;
	uint32_t needs;
	uint32_t state_bytes; /* at most 2^24; of all flows of a run together at most 2^30 */
	uint32_t state_align; /* a power of two, _Alignof(struct mine) */

	/* Begins a flow. Returns 0, or n if the n-th setting (from 1) does not fit the others or the flow. */
	int32_t (*start)(void *state, const struct packetscale_setup *setup, struct packetscale_decision *decision);

	/* These are required. */
	void (*on_ack)(void *state, const struct packetscale_ack *ack, struct packetscale_decision *decision);
	void (*on_loss)(void *state, const struct packetscale_loss *loss, struct packetscale_decision *decision);
	void (*on_timeout)(void *state, const struct packetscale_timeout *timeout, struct packetscale_decision *decision);

	/* These may be NULL. */
	void (*on_sent)(void *state, const struct packetscale_sent *sent, struct packetscale_decision *decision);
	void (*on_mark)(void *state, const struct packetscale_mark *mark, struct packetscale_decision *decision);
	void (*on_undo)(void *state, const struct packetscale_undo *undo, struct packetscale_decision *decision);
	void (*on_offer)(void *state, const struct packetscale_rate_feedback *offer, struct packetscale_decision *decision);
	void (*on_available)(void *state, const struct packetscale_rate_feedback *available, struct packetscale_decision *decision);
};

#endif
