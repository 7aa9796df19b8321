/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Where Rapid can do nothing for a connection, the kernel's CUBIC takes over, and the reason is kept. */
#ifndef PACKETSCALE_FALL_H
#define PACKETSCALE_FALL_H

#include "law.h"

INLINE void read_address(const struct sock *sk, struct address *a)
{
	const struct sock_common *s = &sk->__sk_common;

	*a = (struct address){.family = s->skc_family, .local_port = s->skc_num};
	a->remote_port = __builtin_bswap16(s->skc_dport);
	if (s->skc_family == AF_INET6) {
		for (u32 i = 0; i < 4; i++) {
			a->local[i] = s->skc_v6_rcv_saddr.in6_u.u6_addr32[i];
			a->remote[i] = s->skc_v6_daddr.in6_u.u6_addr32[i];
		}
	} else {
		a->local[0] = s->skc_rcv_saddr;
		a->remote[0] = s->skc_daddr;
	}
}

/* After this the socket belongs to CUBIC, and its slot to nobody: `release` has run. */
static __attribute__((noinline)) void fall(struct sock *sk, u32 reason, u32 source, u64 packets)
{
	struct fallen f = {.at_ns = bpf_ktime_get_ns(), .packets = packets, .reason = reason, .source = source};
	char cubic[] = "cubic";
	struct address a;

	read_address(sk, &a);
	bpf_map_update_elem(&fallen, &a, &f, 0);
	sk->sk_pacing_status = SK_PACING_NONE;
	sk->sk_pacing_rate = ~0UL;
	bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, cubic, sizeof(cubic));
}

/* Two windows in a row in which gaps came too late: clock.h. */
#define UNPACEABLE_WINDOWS 2

/* Why Rapid should let go of a connection, or REASON_NONE. */
INLINE u32 reason_to_fall(const struct conn *c)
{
	if (c->report.source == SOURCE_NONE)
		return REASON_NO_STAMPS;
	if (c->unpaceable >= UNPACEABLE_WINDOWS)
		return REASON_CANNOT_PACE;
	if (c->bursting)
		return REASON_BURSTS;
	return REASON_NONE;
}

#endif
