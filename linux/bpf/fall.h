/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * When Rapid cannot serve a connection, the kernel's CUBIC takes over. The reason and
 * the connection's state are stored with its socket, and among the
 * latest in the map `fallen`; listeners get them as an event.
 */
#ifndef PACKETSCALE_FALL_H
#define PACKETSCALE_FALL_H

#include "counters.h"
#include "law.h"

/* Of each socket that CUBIC has taken over. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct fall);
} taken SEC(".maps");

/* Some hundred events. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} falls SEC(".maps");

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

/* IPv4 in a socket of IPv6: ::ffff:a.b.c.d. */
INLINE u32 is_mapped(const struct sock *sk)
{
	const u32 *a = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32;

	return !a[0] && !a[1] && a[2] == __builtin_bswap32(0xffff);
}

/* Bytes of a packet's headers, from the IP header on. */
INLINE u32 headers_of(const struct sock *sk)
{
	u32 v6 = sk->__sk_common.skc_family == AF_INET6 && !is_mapped(sk);

	return ((const struct tcp_sock *)sk)->tcp_header_len + (v6 ? 40 : 20);
}

/* Keeps what there is to know. `c` is null where Rapid has no slot for the connection. */
static __attribute__((noinline)) void note_fall(struct sock *sk, const struct conn *c, u32 reason)
{
	struct fall *f = bpf_sk_storage_get(&taken, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	const struct config *cfg = the_config();

	COUNT(refused, !c);
	count(__builtin_offsetof(struct counters, fallen) / sizeof(u64) + reason, 1);
	if (!f)
		return;
	read_address(sk, &f->address);
	f->fallen = (struct fallen){
		.at_ns = bpf_ktime_get_ns(),
		.packets = c ? c->report.packets : 0,
		.rate = c && !c->waiting ? c->law.flow.rate : 0,
		.srtt_ns = (u64)(tp->srtt_us >> 3) * 1000,
		.cwnd = tp->snd_cwnd,
		.ssthresh = tp->snd_ssthresh,
		.reason = reason,
		.source = c ? c->report.source : SOURCE_UNDECIDED,
	};
	bpf_map_update_elem(&fallen, &f->address, &f->fallen, 0);
	if (cfg && cfg->log & LOG_FALLS && bpf_ringbuf_output(&falls, f, sizeof(*f), 0))
		COUNT(unreported, 1);
}

/* Lists the sockets that CUBIC has taken over and that are still there: user space reads what this writes. */
SEC("iter/bpf_sk_storage_map") int list_taken(u64 *ctx)
{
	const struct bpf_iter_meta *meta = (const struct bpf_iter_meta *)ctx[0];
	const void *value = (const void *)ctx[3];

	if (value)
		bpf_seq_write(meta->seq, value, sizeof(struct fall));
	return 0;
}

/* The successor. A test names a missing one. */
#ifndef SUCCESSOR
#define SUCCESSOR "cubic"
#endif

INLINE void give_to_cubic(struct sock *sk)
{
	char cubic[] = SUCCESSOR, reno[] = "reno"; /* reno is in every kernel */

	if (bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, cubic, sizeof(cubic)))
		bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, reno, sizeof(reno));
}

/*
 * After this the socket belongs to CUBIC, and its slot is free: `release` has run. CUBIC begins as on a new connection:
 * ssthresh is the initial one, so that it uses slow start unless the path is known. (The kernel refuses it while another
 * program is selecting Rapid: the first acknowledgment retries.)
 */
static __attribute__((noinline)) void fall(struct sock *sk, const struct conn *c, u32 reason)
{
	note_fall(sk, c, reason);
	give_to_cubic(sk);
}

/*
 * Takes over the socket's pacing. The qdisc `fq` reports only once that it paces a connection: for an accepted one, when its
 * first packet leaves, after the controller was selected.
 */
INLINE void take_pacing(struct sock *sk)
{
	if (sk->sk_pacing_status == SK_PACING_FQ)
		((struct inet_connection_sock *)sk)->icsk_ca_priv[WORD_PACING] = SK_PACING_FQ;
	sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* The application's limit (SO_MAX_PACING_RATE). TCP takes 0 for no limit. */
INLINE u64 pacing_limit(const struct sock *sk)
{
	return sk->sk_max_pacing_rate ? sk->sk_max_pacing_rate : ~0UL;
}

/* Restores the socket's earlier pacing, or the limit that its application has set meanwhile. */
INLINE void restore_pacing(struct sock *sk)
{
	unsigned long limit = sk->sk_max_pacing_rate;
	u32 before;

	take_pacing(sk);
	before = (u32)((struct inet_connection_sock *)sk)->icsk_ca_priv[WORD_PACING];
	sk->sk_pacing_status = limit != ~0UL ? rapid_max(before, SK_PACING_NEEDED) : before;
	sk->sk_pacing_rate = limit;
}

/* Two windows in a row in which gaps came too late: clock.h. */
#define UNPACEABLE_WINDOWS 2

INLINE u32 is_switched_off(void)
{
	const struct config *cfg = the_config();

	return cfg && cfg->switched & SWITCHED_OFF;
}

/* Why Rapid should let go of a connection, or REASON_NONE. */
INLINE u32 reason_to_fall(const struct conn *c)
{
	if (is_switched_off())
		return REASON_SWITCHED;
	if (c->report.source == SOURCE_NONE)
		return REASON_NO_STAMPS;
	if (c->unpaceable >= UNPACEABLE_WINDOWS)
		return REASON_CANNOT_PACE;
	if (c->bursting)
		return REASON_BURSTS;
	return REASON_NONE;
}

#endif
