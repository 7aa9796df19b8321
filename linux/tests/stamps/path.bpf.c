/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A path with faults, as tc programs: it drops data by a
 * pattern, tags and untags, and forges a receiver's reports by rewriting its
 * acknowledgments. IPv4 without IP options; one connection at a time.
 */
#include "prelude.h"
#include "wire.h"

#define TCP_AT (14 + 20)
#define TCP_MAX 60

static long (*const bpf_skb_store_bytes)(struct __sk_buff *skb, u32 at, const void *from, u32 length,
					 u64 flags) = (void *)9;
static long (*const bpf_l4_csum_replace)(struct __sk_buff *skb, u32 at, u64 from, u64 to, u64 flags) = (void *)11;
static long (*const bpf_skb_load_bytes)(const void *skb, u32 at, void *to, u32 length) = (void *)26;
static long (*const bpf_skb_vlan_push)(struct __sk_buff *skb, u16 protocol, u16 tci) = (void *)18;
static long (*const bpf_skb_vlan_pop)(struct __sk_buff *skb) = (void *)19;
static s64 (*const bpf_csum_diff)(const void *from, u32 from_length, const void *to, u32 to_length,
				  u32 seed) = (void *)28;

/* Bitmap of the dropped ones among each hundred data packets. */
const volatile u64 lost = 0;
/* Tags pushed, and popped. */
const volatile u32 tags = 1;

enum lie { TRUTH, ZERO, FROZEN, RANDOM, BACKWARDS, FAST, SLOW, STRIPPED, CORRUPT, UNSENT, SPOILT };
/* Valid options before the corrupted ones. */
#define TOLD_BEFORE 100
const volatile u32 lie = TRUTH;

/* Totals for the test. */
u64 data_packets, packets_lost, options_changed;

u64 first_clock, last_clock;

SEC("tc") int path_lose(struct __sk_buff *skb)
{
	u32 n;

	if (skb->len < 500)
		return TC_ACT_UNSPEC;
	n = (u32)(data_packets++ % 100);
	if (n > 63 || !(lost >> n & 1))
		return TC_ACT_UNSPEC;
	packets_lost++;
	return TC_ACT_STOLEN; /* TCP would learn of TC_ACT_SHOT at egress */
}

SEC("tc") int path_tag(struct __sk_buff *skb)
{
	if (tags > 1)
		bpf_skb_vlan_push(skb, __builtin_bswap16(0x8100), 5);
	bpf_skb_vlan_push(skb, __builtin_bswap16(tags > 1 ? 0x88a8 : 0x8100), 7);
	return TC_ACT_UNSPEC;
}

SEC("tc") int path_untag(struct __sk_buff *skb)
{
	if (skb->vlan_present)
		bpf_skb_vlan_pop(skb);
	if (tags > 1)
		bpf_skb_vlan_pop(skb);
	return TC_ACT_UNSPEC;
}

/* Forges arrival times. */
INLINE void bend(struct wire_run *run)
{
	u64 now, elapsed;
	u32 i;

	now = last_clock ? wire_unwrap(run->newest_ns, last_clock) : (1ULL << 40) + run->newest_ns;
	if (!first_clock)
		first_clock = now;
	last_clock = now;
	elapsed = now - first_clock;
	for (i = 0; i < WIRE_GAPS; i++) {
		if (lie == ZERO || lie == FROZEN)
			run->gap_ns[i] = 0;
		else if (lie == RANDOM)
			run->gap_ns[i] = bpf_get_prandom_u32() >> 10;
		else if (lie == FAST)
			run->gap_ns[i] /= 2;
		else if (lie == SLOW)
			run->gap_ns[i] *= 2;
		if (run->gap_ns[i] > WIRE_GAP_MAX_NS)
			run->gap_ns[i] = WIRE_GAP_MAX_NS;
	}
	switch (lie) {
	case ZERO:
		now = 0;
		break;
	case FROZEN:
		now = first_clock;
		break;
	case RANDOM:
		now = bpf_get_prandom_u32();
		break;
	case BACKWARDS:
		now = first_clock - elapsed;
		break;
	case FAST:
		now = first_clock + elapsed / 2;
		break;
	case SLOW:
		now = first_clock + elapsed * 2;
		break;
	}
	run->newest_ns = (u32)now & WIRE_CLOCK;
}

/*
 * Rewrites the option at `at`, of `length` bytes. Its kind stays as it was: with two arrivals it is as long as a
 * timestamp, and one byte made of it a false one, to which any TCP falls (RFC 7323, PAWS).
 */
INLINE void rewrite(u8 *tcp, u32 at, u32 length)
{
	u32 i, where = 1 + bpf_get_prandom_u32() % (WIRE_BASE - 1);
	u8 option[WIRE_MAX] = {0};
	struct wire_run run = {0};

	for (i = 0; i < WIRE_MAX; i++)
		if (i < length && at + i < TCP_MAX)
			option[i] = tcp[at + i];
	if (lie == STRIPPED)
		for (i = 0; i < WIRE_MAX; i++)
			option[i] = 1;
	else if (lie == SPOILT)
		/* For a SACK block, of which there is none. */
		option[4] |= options_changed < TOLD_BEFORE ? 0 : 0x80;
	else if (lie == CORRUPT)
		for (i = 0; i < WIRE_BASE; i++)
			option[i] = i == where ? (u8)bpf_get_prandom_u32() : option[i];
	else if (wire_get_run(option, length, &run)) {
		bend(&run);
		wire_put_run(option, &run);
	}
	for (i = 0; i < WIRE_MAX; i++)
		if (i < length && at + i < TCP_MAX)
			tcp[at + i] = option[i];
	options_changed++;
}

/* Offset of our option in the header; 0: none. */
INLINE u32 option_at(const u8 *tcp, u32 header)
{
	u32 at, i;

	for (i = 0, at = 20; i < 40; i++) {
		if (at + 4 > header || at > TCP_MAX - 4 || !tcp[at])
			return 0;
		if (tcp[at] == WIRE_KIND && tcp[at + 2] == WIRE_EXPERIMENT >> 8)
			return at;
		at += tcp[at] == 1 ? 1 : tcp[at + 1];
	}
	return 0;
}

/* Lets no SYN, or answer to one, through that carries the option. */
SEC("tc") int path_refuse(struct __sk_buff *skb)
{
	u8 tcp[TCP_MAX] = {0};
	u32 header;

	if (skb->protocol != __builtin_bswap16(0x0800) || bpf_skb_load_bytes(skb, TCP_AT, tcp, 20))
		return TC_ACT_UNSPEC;
	header = (tcp[12] >> 4) * 4;
	if (header <= 20 || header > TCP_MAX || !(tcp[13] & 0x02) || bpf_skb_load_bytes(skb, TCP_AT, tcp, header))
		return TC_ACT_UNSPEC;
	if (!option_at(tcp, header))
		return TC_ACT_UNSPEC;
	packets_lost++;
	return TC_ACT_SHOT;
}

/* Loses the first answer to a SYN. */
SEC("tc") int path_lose_answer(struct __sk_buff *skb)
{
	u8 flags;

	if (packets_lost || skb->protocol != __builtin_bswap16(0x0800) || bpf_skb_load_bytes(skb, TCP_AT + 13, &flags, 1) ||
	    (flags & 0x12) != 0x12)
		return TC_ACT_UNSPEC;
	packets_lost++;
	return TC_ACT_SHOT;
}

/* Another program that writes options: it leaves 4 bytes of an answer to a SYN. */
#define ANOTHER_KIND 76
#define ANOTHER_LENGTH 16
SEC("sockops") int path_crowd(struct bpf_sock_ops *s)
{
	u8 option[ANOTHER_LENGTH] = {ANOTHER_KIND, ANOTHER_LENGTH};

	if (s->op == BPF_SOCK_OPS_HDR_OPT_LEN_CB && (s->skb_tcp_flags & 0x12) == 0x12)
		bpf_reserve_hdr_opt(s, ANOTHER_LENGTH, 0);
	else if (s->op == BPF_SOCK_OPS_WRITE_HDR_OPT_CB && (s->skb_tcp_flags & 0x12) == 0x12)
		bpf_store_hdr_opt(s, option, ANOTHER_LENGTH, 0);
	return 1;
}

SEC("tc") int path_lie(struct __sk_buff *skb)
{
	u8 was[TCP_MAX] = {0}, now[TCP_MAX];
	u32 header, at;

	if (lie == TRUTH || skb->protocol != __builtin_bswap16(0x0800) || bpf_skb_load_bytes(skb, TCP_AT, was, 20))
		return TC_ACT_UNSPEC;
	header = (was[12] >> 4) * 4;
	if (header <= 20 || header > TCP_MAX || was[13] & 0x02 || bpf_skb_load_bytes(skb, TCP_AT, was, header))
		return TC_ACT_UNSPEC;
	__builtin_memcpy(now, was, TCP_MAX);
	if (lie == UNSENT) {
		/* Every other acknowledgment, 1 MB beyond. */
		if (options_changed++ & 1)
			return TC_ACT_UNSPEC;
		now[9] += 0x10;
	} else {
		at = option_at(now, header);
		if (!at || at > TCP_MAX - 4)
			return TC_ACT_UNSPEC;
		rewrite(now, at, now[at + 1]);
	}
	bpf_skb_store_bytes(skb, TCP_AT, now, header, 0);
	bpf_l4_csum_replace(skb, TCP_AT + 16, 0, (u64)bpf_csum_diff(was, TCP_MAX, now, TCP_MAX, 0), 0);
	return TC_ACT_UNSPEC;
}

SEC("license") char path_license[] = "GPL";
