/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Records when data arrive: tc ingress (clsact or tcx) of a receiver's device.
 *
 * Inspects every packet, changes none, drops none: it always returns TC_ACT_UNSPEC,
 * "as if there were no program". Only connections that agreed on the option have `stamps`
 * (option.bpf.c); any other packet costs an inspection of its headers and a look-up in TCP's table of
 * connections.
 *
 * Offsets count from the network header: the same with a link header, without
 * one (TUN), and with a VLAN tag that the device has removed; it skips up to two
 * tags still in the packet. Segments that the stack below has merged (GRO, LRO) have
 * one arrival. It leaves unstamped: fragments, packets with extension headers
 * that hide TCP (ESP, AH), IP packets longer than 65535 bytes, and data that TCP
 * would reject: outside the window that this end has opened or announced before.
 * (A forger must guess the window, as to break the connection itself.)
 */
#include "kernel.h"
#include "stamp.h"
#include "maps.h"

#define TCP 6

/* A TCP segment with data, and the addresses that its connection is found by. */
struct segment {
	struct bpf_sock_tuple tuple;
	u32 tuple_size;
	u32 at;     /* where the headers not yet read begin */
	u32 length; /* from there to the packet's end */
	u32 seq;
};

INLINE int load(struct __sk_buff *skb, u32 at, void *to, u32 length)
{
	return !bpf_skb_load_bytes_relative(skb, at, to, length, BPF_HDR_START_NET);
}

/* EtherType of the packet, behind up to two VLAN tags. */
INLINE u32 ethertype(struct __sk_buff *skb, u32 *at)
{
	u32 i, type = __builtin_bswap16((u16)skb->protocol);
	u8 tag[4];

	for (i = 0; i < 2; i++) {
		if (type != 0x8100 && type != 0x88a8)
			break;
		if (!load(skb, *at, tag, sizeof(tag)))
			return 0;
		type = big16(tag + 2);
		*at += sizeof(tag);
	}
	return type;
}

INLINE int read_ipv4(struct __sk_buff *skb, struct segment *s)
{
	u8 ip[20];
	u32 header, total;

	if (!load(skb, s->at, ip, sizeof(ip)) || ip[0] >> 4 != 4 || ip[9] != TCP || big16(ip + 6) & 0x3fff)
		return 0;
	header = (ip[0] & 0xf) * 4;
	total = big16(ip + 2);
	if (header < sizeof(ip) || total < header)
		return 0;
	__builtin_memcpy(&s->tuple.ipv4.saddr, ip + 12, 8);
	s->tuple_size = sizeof(s->tuple.ipv4);
	s->at += header;
	s->length = total - header;
	return 1;
}

INLINE int read_ipv6(struct __sk_buff *skb, struct segment *s)
{
	u8 ip[40], extension[2];
	u32 i, next, size;

	if (!load(skb, s->at, ip, sizeof(ip)) || ip[0] >> 4 != 6)
		return 0;
	__builtin_memcpy(s->tuple.ipv6.saddr, ip + 8, 32);
	s->tuple_size = sizeof(s->tuple.ipv6);
	s->at += sizeof(ip);
	s->length = big16(ip + 4);
	next = ip[6];
	/* Hop-by-hop, routing, destination options. */
	for (i = 0; i < 4 && (next == 0 || next == 43 || next == 60); i++) {
		if (!load(skb, s->at, extension, sizeof(extension)))
			return 0;
		next = extension[0];
		size = (extension[1] + 1) * 8;
		if (s->length < size)
			return 0;
		s->at += size;
		s->length -= size;
	}
	return next == TCP;
}

INLINE int read_tcp(struct __sk_buff *skb, struct segment *s)
{
	u8 tcp[20];
	u32 header;

	if (!load(skb, s->at, tcp, sizeof(tcp)) || tcp[13] & 0x06) /* SYN, RST */
		return 0;
	header = (tcp[12] >> 4) * 4;
	if (header < sizeof(tcp) || s->length <= header)
		return 0;
	if (s->tuple_size == sizeof(s->tuple.ipv4))
		__builtin_memcpy(&s->tuple.ipv4.sport, tcp, 4);
	else
		__builtin_memcpy(&s->tuple.ipv6.sport, tcp, 4);
	s->seq = big32(tcp + 4);
	s->length -= header;
	return 1;
}

/* Segments that were merged into the packet. Some devices (virtio-net, TUN) do not report their number. */
INLINE u32 merged(const struct __sk_buff *skb, u32 length)
{
	u32 segments = skb->gso_segs, size = skb->gso_size;

	return segments || !size ? segments : (length + size - 1) / size;
}

/* Whether the data are inside the open window, some of them new. */
INLINE int is_expected(const struct tcp_sock *tp, const struct segment *s)
{
	u32 next = tp->rcv_nxt, edge = tp->rcv_wup + tp->rcv_wnd, end = s->seq + s->length;

	return before(next, end) && !before(edge, end);
}

SEC("tc")
int stamp_arrival(struct __sk_buff *skb)
{
	u64 now = bpf_ktime_get_ns();
	struct segment s = {0};
	struct bpf_sock *sk;
	struct tcp_sock *tp;
	struct stamps *noted;
	u32 type = ethertype(skb, &s.at);

	if (!(type == 0x0800 ? read_ipv4(skb, &s) : type == 0x86dd && read_ipv6(skb, &s)) || !read_tcp(skb, &s))
		return TC_ACT_UNSPEC;
	sk = bpf_skc_lookup_tcp(skb, &s.tuple, s.tuple_size, BPF_F_CURRENT_NETNS, 0);
	if (!sk)
		return TC_ACT_UNSPEC;
	noted = bpf_sk_storage_get(&stamps, sk, 0, 0);
	tp = bpf_skc_to_tcp_sock(sk);
	if (noted && tp && is_expected(tp, &s))
		stamp_note(noted, now, s.seq, s.length, merged(skb, s.length));
	bpf_sk_release(sk);
	return TC_ACT_UNSPEC;
}

SEC("license") char stamp_license[] = "GPL";
