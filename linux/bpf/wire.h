/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The TCP option that carries arrival times back to the sender.
 *
 * Kind 254 with the experiment identifier 0x5241 (RFC 6994; not registered).
 * Numbers are big-endian. Two forms, distinguished by the segment's SYN flag:
 *
 *   SYN, SYN-ACK:   254 | 6 | 0x5241 | version | offer          (later: request)
 *   ACK:            254 | 8 + 2n | 0x5241 | base | gap 1 | ... | gap n     n <= 10
 *
 * offer    WIRE_STAMPS: this end records arrivals and can report them.
 *          WIRE_WANTS: this end wants reports of its data's arrivals.
 *          WIRE_MAY: it may want them later, and then sends a request.
 *          A SYN-ACK answers a SYN that carried the option, never another.
 *          Afterwards one end stamps if it offered stamps and the other wants
 *          them; the two directions are independent. For a later request, an end
 *          repeats the option of a SYN, with WIRE_WANTS, in any segment.
 *
 * base     bit 31: where the run ends. 0: at the acknowledgment number. 1: at
 *          the right edge of the segment's first SACK block.
 *          bits 30-0: when the run's last segment arrived, in nanoseconds of
 *          the receiver's clock, modulo 2^31 (2.1 s).
 *
 * gap k    how much earlier the segment before it arrived, as exponent (bits
 *          15-12) and fraction (bits 11-0):
 *              e = 0:  fraction
 *              e > 0:  (4096 + fraction) << (e - 1)
 *          exact to 8191 ns, then truncated by less than 1 part in 4096; at
 *          most 134 201 344 ns. A longer gap ends the run: older segments add
 *          nothing for a sender, and are omitted.
 *
 * The segments of a run follow each other in sequence without a hole, so the
 * sender counts back over its own segments from the end of the run. Segments
 * that the receiver got merged (GRO, LRO) are reported one by one, all with the
 * time of the merged packet: gaps of zero between them.
 *
 * With timestamps (12 bytes) an acknowledgment has space for 28 bytes: 11
 * arrivals; with one SACK block 16 (5 arrivals), with two 8 (one), with
 * three none. The oldest are omitted first.
 *
 * Plain integer C: the same source is compiled for BPF and, by the tests, for
 * user space.
 */
#ifndef PACKETSCALE_WIRE_H
#define PACKETSCALE_WIRE_H

#include "rapid/types.h"

#define WIRE_FN static inline __attribute__((always_inline, unused))
/* A function that the BPF verifier reads once, not for every path that leads to it. */
#ifdef __bpf__
#define WIRE_STAGE __attribute__((noinline))
#else
#define WIRE_STAGE WIRE_FN
#endif

#define WIRE_KIND 254
#define WIRE_EXPERIMENT 0x5241
#define WIRE_VERSION 1
#define WIRE_HEAD 4  /* kind, length, experiment identifier */
#define WIRE_OFFER 6 /* the option in a SYN */
#define WIRE_BASE 8  /* the option with one arrival */
#define WIRE_GAPS 10
#define WIRE_MAX (WIRE_BASE + 2 * WIRE_GAPS)

#define WIRE_STAMPS 1
#define WIRE_WANTS 2
#define WIRE_MAY 4

#define WIRE_BESIDE 0x80000000u /* bit 31 of the base */
#define WIRE_CLOCK 0x7fffffffu
#define WIRE_GAP_MAX_NS (8191u << 14)
/* An arrival may be this much earlier than usual, and half the clock's range more: up to 7/8 of it. */
#define WIRE_LATE_NS 0x30000000u

/* Arrivals of segments in sequence. */
struct wire_run {
	u32 newest_ns; /* bits 30-0 of the receiver's clock */
	u32 beside;    /* 1: ends at the first SACK block's right edge, 0: at the acknowledgment number */
	u32 gaps;
	u32 gap_ns[WIRE_GAPS]; /* newest first */
};

WIRE_FN void wire_put_head(u8 *out, u32 length)
{
	out[0] = WIRE_KIND;
	out[1] = (u8)length;
	out[2] = WIRE_EXPERIMENT >> 8;
	out[3] = WIRE_EXPERIMENT & 0xff;
}

WIRE_FN int wire_has_head(const u8 *in, u32 length)
{
	return in[0] == WIRE_KIND && in[1] == length && in[2] == WIRE_EXPERIMENT >> 8 &&
	       in[3] == (WIRE_EXPERIMENT & 0xff);
}

WIRE_FN void wire_put_offer(u8 out[WIRE_OFFER], u32 offer)
{
	wire_put_head(out, WIRE_OFFER);
	out[4] = WIRE_VERSION;
	out[5] = (u8)offer;
}

/* The peer's offer: 0 without one, or for another version. */
WIRE_FN u32 wire_get_offer(const u8 in[WIRE_OFFER], u32 length)
{
	if (length != WIRE_OFFER || !wire_has_head(in, length) || in[4] != WIRE_VERSION)
		return 0;
	return in[5] & (WIRE_STAMPS | WIRE_WANTS | WIRE_MAY);
}

/* The 16 bits of a gap of at most WIRE_GAP_MAX_NS. */
WIRE_STAGE u32 wire_pack_gap(u32 gap_ns)
{
	u32 rest = gap_ns >> 12, exponent = 0; /* its width in bits, found by halving */

	if (rest >> 8) {
		exponent = 8;
		rest >>= 8;
	}
	if (rest >> 4) {
		exponent += 4;
		rest >>= 4;
	}
	if (rest >> 2) {
		exponent += 2;
		rest >>= 2;
	}
	if (rest >> 1) {
		exponent += 1;
		rest >>= 1;
	}
	exponent += rest;
	if (!exponent)
		return gap_ns;
	return exponent << 12 | (gap_ns >> (exponent - 1) & 0xfff);
}

WIRE_FN u32 wire_unpack_gap(u32 packed)
{
	u32 exponent = packed >> 12 & 0xf, fraction = packed & 0xfff;

	return exponent ? (4096 | fraction) << (exponent - 1) : fraction;
}

/* Shortens a written option to `length`, by its oldest arrivals. */
WIRE_FN void wire_cut(u8 *out, u32 length)
{
	out[1] = (u8)length;
}

/* Writes a run; returns the option's length. */
WIRE_FN u32 wire_put_run(u8 out[WIRE_MAX], const struct wire_run *run)
{
	u32 base = (run->newest_ns & WIRE_CLOCK) | (run->beside ? WIRE_BESIDE : 0);
	u32 length = WIRE_BASE, i, packed;

	out[4] = (u8)(base >> 24);
	out[5] = (u8)(base >> 16);
	out[6] = (u8)(base >> 8);
	out[7] = (u8)base;
	for (i = 0; i < WIRE_GAPS; i++) {
		if (i >= run->gaps || run->gap_ns[i] > WIRE_GAP_MAX_NS)
			break;
		packed = wire_pack_gap(run->gap_ns[i]);
		out[WIRE_BASE + 2 * i] = (u8)(packed >> 8);
		out[WIRE_BASE + 2 * i + 1] = (u8)packed;
		length += 2;
	}
	wire_put_head(out, length);
	return length;
}

/* Reads an option of `length` bytes into `run`. Returns 0 where it makes no sense; `run` is then as it was. */
WIRE_FN int wire_get_run(const u8 in[WIRE_MAX], u32 length, struct wire_run *run)
{
	u32 base, i;

	if (length < WIRE_BASE || length > WIRE_MAX || length & 1 || !wire_has_head(in, length))
		return 0;
	base = (u32)in[4] << 24 | (u32)in[5] << 16 | (u32)in[6] << 8 | in[7];
	run->newest_ns = base & WIRE_CLOCK;
	run->beside = base >> 31;
	run->gaps = (length - WIRE_BASE) / 2;
	for (i = 0; i < WIRE_GAPS; i++) {
		if (i >= run->gaps)
			break;
		run->gap_ns[i] = wire_unpack_gap((u32)in[WIRE_BASE + 2 * i] << 8 | in[WIRE_BASE + 2 * i + 1]);
	}
	return 1;
}

/* The time nearest to `about` that reads `clock` in bits 30-0. */
WIRE_FN u64 wire_unwrap(u32 clock, u64 about)
{
	u32 ahead = (clock - (u32)about) & WIRE_CLOCK;

	return ahead < 0x40000000 ? about + ahead : about - (0x80000000u - ahead);
}

#endif
