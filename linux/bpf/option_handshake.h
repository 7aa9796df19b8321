/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Handshakes in progress at the accepting end: the SYN's offer, and which of the SYN-ACKs carried the option. Used by
 * option.bpf.c.
 *
 * No header of a SYN is saved: TCP_SAVE_SYN belongs to the application. The SYN's initial sequence number distinguishes an
 * abandoned handshake from the next one between the same ports.
 */
#ifndef PACKETSCALE_OPTION_HANDSHAKE_H
#define PACKETSCALE_OPTION_HANDSHAKE_H

#include "option_deaf.h"

#define TIMESTAMP 8
#define ENOSPC 28

/* SYN-ACKs that carry the option before it is left out. */
#define ANSWER_TRIES 2
/* Two ticks of TCP's timestamps. */
#define TICK_NS 2000000ULL

struct handshake {
	u32 theirs;   /* offer of the SYN */
	u32 answers;  /* SYN-ACKs so far; the first ANSWER_TRIES carry the option */
	u64 noted_ns; /* when the last of these went out, */
	u32 stamped;  /* and TCP's timestamp of it; 0 without timestamps */
	u32 number;   /* the SYN's sequence number */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct far_end);
	__type(value, struct handshake);
} answered SEC(".maps");

/* A timestamp of the segment at hand, from these bytes of TCP's option: its own, or the one that it echoes. 0: none. */
#define TSVAL 2
#define TSECR 6
INLINE u32 timestamp(struct bpf_sock_ops *s, u32 at)
{
	u8 option[10] = {TIMESTAMP};

	return bpf_load_hdr_opt(s, option, sizeof(option), 0) == sizeof(option) ? big32(option + at) : 0;
}

/* The sequence number of the SYN at hand. Returns 0 where there is none: it is there when its first answer is built, and
   later if the application saves it. */
INLINE int syn_number(struct bpf_sock_ops *s, u32 *number)
{
	u8 syn[20] = {0};
	long got = bpf_getsockopt(s, SOL_TCP, TCP_BPF_SYN, syn, sizeof(syn));

	*number = big32(syn + 4);
	return got > 0 || got == -ENOSPC;
}

/* Send the next SYN-ACK without the option: in the same tick, its timestamp would equal that of the one before. */
INLINE void note_bare(struct handshake *h)
{
	if (h->answers == ANSWER_TRIES + 1 && h->stamped && bpf_ktime_get_ns() - h->noted_ns < TICK_NS)
		h->stamped--;
}

/* Whether a SYN-ACK is to carry the option. The SYN at hand, if there is one, offered `theirs`, and that `matches`. */
INLINE int answers_now(struct bpf_sock_ops *s, const struct far_end *end, u32 theirs, int matches)
{
	struct handshake begun = {.theirs = theirs, .answers = 1};
	struct handshake *h = bpf_map_lookup_elem(&answered, end);
	int there = syn_number(s, &begun.number);

	if (h && (!there || h->number == begun.number)) {
		h->answers++;
		note_bare(h);
		return h->answers <= ANSWER_TRIES;
	}
	if (matches)
		return !bpf_map_update_elem(&answered, end, &begun, 0);
	if (h)
		bpf_map_delete_elem(&answered, end);
	return 0;
}

/* Records when a SYN-ACK with the option was sent, by our clock and by the one that its peer echoes. (Its timestamp is known
   only now: the look-up is the second for this SYN-ACK.) */
INLINE void note_answer(struct bpf_sock_ops *s)
{
	struct far_end end = far_end_of(s, 1);
	struct handshake *h = bpf_map_lookup_elem(&answered, &end);

	if (!h)
		return;
	h->noted_ns = bpf_ktime_get_ns();
	h->stamped = timestamp(s, TSVAL);
}

/*
 * Whether the peer accepted a SYN-ACK with the option, though later ones had none: it echoes an earlier timestamp. It is far
 * away, or its SYN was repeated at the same time as our timer expired.
 */
INLINE int took_early(struct bpf_sock_ops *s, const struct handshake *h)
{
	u32 echoed = h->stamped ? timestamp(s, TSECR) : 0;

	return echoed && !before(h->stamped, echoed);
}

/* The handshake is over: returns the peer's offer, if it has the option. */
INLINE u32 end_handshake(struct bpf_sock_ops *s)
{
	struct far_end end = far_end_of(s, 1);
	const struct handshake *h = bpf_map_lookup_elem(&answered, &end);
	u32 theirs;

	if (!h)
		return 0;
	theirs = h->answers <= ANSWER_TRIES || took_early(s, h) ? h->theirs : 0;
	bpf_map_delete_elem(&answered, &end);
	return theirs;
}

#endif
