/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The law's calls as separate functions: the verifier checks each once, not
 * once per caller. The log can record each call with its outcome, so that user space
 * can repeat the calls and compare bit by bit.
 */
#ifndef PACKETSCALE_LAW_H
#define PACKETSCALE_LAW_H

#include "journal.h"
#include "memory.h"

GLOBAL u64 law_before_sending(struct conn *c, u64 now, u32 size)
{
	struct memory m;
	u64 next;

	if (!c)
		return 0;
	m = memory_of(c);
	next = LAW(before_sending)(&c->law, &m.law, now, size);
	note_call(c, CALL_BEFORE_SENDING, now, size, next);
	return next;
}

GLOBAL int law_sent(struct conn *c, u64 now, u64 number, u32 size, u32 app_limited)
{
	struct memory m;

	if (!c)
		return 0;
	m = memory_of(c);
	LAW(on_sent)(&c->law, &m.law, now, number, size, app_limited);
	note_call(c, CALL_SENT, now, number, (u64)app_limited << 32 | size);
	return 0;
}

GLOBAL int law_arrival(struct conn *c, u64 now, u64 number, u64 arrival)
{
	struct memory m;

	if (!c)
		return 0;
	m = memory_of(c);
	LAW(on_arrival)(&c->law, &m.law, now, number, arrival);
	c->report.stamped++;
	note_call(c, CALL_ARRIVAL, now, number, arrival);
	note_stream(c);
	return 0;
}

GLOBAL int law_unstamped(struct conn *c, u64 now, u64 number)
{
	struct memory m;

	if (!c)
		return 0;
	m = memory_of(c);
	LAW(on_unstamped)(&c->law, &m.law, now, number);
	note_call(c, CALL_UNSTAMPED, now, number, 0);
	note_stream(c);
	return 0;
}

GLOBAL int law_lost(struct conn *c, u64 now, u64 number)
{
	struct memory m;

	if (!c)
		return 0;
	m = memory_of(c);
	LAW(on_lost)(&c->law, &m.law, now, number);
	c->report.lost++;
	note_call(c, CALL_LOST, now, number, 0);
	note_stream(c);
	return 0;
}

INLINE void law_rtt(struct conn *c, u64 rtt)
{
	LAW(on_rtt)(&c->law, rtt);
	note_call(c, CALL_RTT, 0, 0, rtt);
}

INLINE void law_recovery(struct conn *c)
{
	LAW(on_recovery)(&c->law);
	note_call(c, CALL_RECOVERY, 0, 0, 0);
}

INLINE void law_timeout(struct conn *c)
{
	LAW(on_timeout)(&c->law);
	note_call(c, CALL_TIMEOUT, 0, 0, 0);
}

INLINE void law_spurious(struct conn *c, u64 rate, u32 startup)
{
	LAW(on_spurious_timeout)(&c->law, rate, startup);
	note_call(c, CALL_SPURIOUS, 0, startup, rate);
}

INLINE void law_marked(struct conn *c)
{
	LAW(on_marked)(&c->law);
	note_call(c, CALL_MARKED, 0, 0, 0);
}

INLINE void law_packet(struct conn *c, u32 packet)
{
	LAW(set_packet)(&c->law, packet);
	note_call(c, CALL_PACKET, 0, 0, packet);
}

/* Lowers the rate to `rate`. */
INLINE void law_cap(struct conn *c, u64 rate)
{
	LAW(set_rate)(&c->law, rapid_min(c->law.flow.rate, rate));
	note_call(c, CALL_CAP, 0, 0, rate);
}

INLINE void law_start(struct conn *c, u64 now, u64 rtt, u32 packets, u32 startup)
{
#ifdef SENDER_THESIS
	rapid_thesis_start(&c->law, now, rtt, packets, startup);
#else
	struct memory m = memory_of(c);

	rapid_start(&c->law, &m.law, now, rtt, packets, startup);
#endif
	note_call(c, CALL_START, now, rtt, (u64)startup << 32 | packets);
}

/*
 * Sets the error of a stamp that must not pass for a slope, and with it how long a level lasts at least. The dissertation's law reads no
 * slopes.
 */
INLINE void law_noise(struct conn *c, u32 noise_ns)
{
#ifndef SENDER_THESIS
	c->law.tuning.stamp_noise_ns = noise_ns;
	c->law.tuning.level_min_ns = RAPID_LEVEL_NOISES * noise_ns;
#endif
	note_call(c, CALL_NOISE, 0, 0, noise_ns);
}

INLINE void law_begin(struct conn *c, const LAW_PARAMS *params, u64 now, u64 rtt, u64 seed)
{
#ifdef SENDER_THESIS
	rapid_thesis_init(&c->law, params, now, rtt);
#else
	rapid_init(&c->law, params, now, rtt, seed);
#endif
	note_call(c, CALL_BEGIN, now, rtt, seed);
}

#endif
