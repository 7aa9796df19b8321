/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Addresses that SYNs reach only without the option, because something on the path drops them: detection and
 * duration. Used by option.bpf.c.
 */
#ifndef PACKETSCALE_OPTION_DEAF_H
#define PACKETSCALE_OPTION_DEAF_H

#define AF_INET 2

/* SYNs that carry the option before it is left out. */
#define SYN_TRIES 1
/* Time without the option after a number of consecutive SYNs that passed only without it. */
#define DEAF_NS 600000000000ULL
#define DEAF_TIMES 3
/* A SYN that passed without it is no evidence if one with it passed within this time: its first try, a second and a round
   trip ago, was sent among others, and was lost by chance. */
#define BESIDE_NS 3000000000ULL

/* The other end of a connection of one network namespace; of a listener's, also the ports. */
struct far_end {
	u64 namespace;
	u32 address[4];
	u32 ports;
	u32 padding;
};

/* How SYNs with the option fare to an address: how many in a row passed only without it, when the last of these did, and
   when one last passed with it. */
struct deaf_end {
	u64 since_ns;
	u64 times;
	u64 passed_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct far_end);
	__type(value, struct deaf_end);
} deaf SEC(".maps");

INLINE struct far_end far_end_of(struct bpf_sock_ops *s, u32 ports)
{
	struct far_end end = {.ports = ports ? (s->remote_port & 0xffff0000) | (s->local_port & 0xffff) : 0};
	u32 v4 = s->remote_ip4;

	end.namespace = bpf_get_netns_cookie(s);

	/* The verifier allows no pointer into the context: this load must not be merged with those below. */
	asm volatile("" : "+r"(v4));
	if (s->family == AF_INET) {
		end.address[0] = v4;
	} else {
		end.address[0] = s->remote_ip6[0];
		end.address[1] = s->remote_ip6[1];
		end.address[2] = s->remote_ip6[2];
		end.address[3] = s->remote_ip6[3];
	}
	return end;
}

INLINE int is_deaf(const struct deaf_end *d)
{
	return d && d->times >= DEAF_TIMES && bpf_ktime_get_ns() - d->since_ns < DEAF_NS;
}

/*
 * A SYN that passed only without the option: chance, or something on this path that lets none through. A SYN that
 * passed with it, which an answer with the option (`theirs`) shows, too, ends the count. One that was lost twice, once
 * without the option, was lost by chance.
 */
INLINE void count_syn(struct bpf_sock_ops *s, u32 theirs)
{
	struct far_end end = far_end_of(s, 0);
	const struct deaf_end *before = bpf_map_lookup_elem(&deaf, &end);
	struct deaf_end d = {0};
	u64 now = bpf_ktime_get_ns();

	/* SYNs to a deaf address carried none, and are no evidence. */
	if (is_deaf(before))
		return;
	if (before)
		d = *before;
	if (theirs || s->total_retrans < SYN_TRIES) {
		d.times = 0;
		d.passed_ns = now;
	} else if (s->total_retrans == SYN_TRIES && now - d.passed_ns > BESIDE_NS) {
		d.times++;
		d.since_ns = now;
	}
	bpf_map_update_elem(&deaf, &end, &d, 0);
}

#endif
