/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Tells user space when each packet came to the bottleneck and when it left it: one record per packet and end.
 *
 * `arrives` runs at the egress of the router's device, before its queue discipline. It writes the time into the
 * packet's flow hash, 32 bits that travel with the packet through the queue and over a veth pair into the next
 * namespace (mark, priority and time stamp are cleared on the way); nothing on this path reads them. `departs` runs
 * at the ingress of the device at the other end, takes the time out and lets the kernel compute the hash anew. So each
 * packet carries its own arrival: nothing is looked up, and a packet that never departs was dropped.
 *
 * Both leave the verdict to the programs after them.
 */
#include "prelude.h"

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>

enum { ARRIVED = 0, DEPARTED = 1 };

/* As read by hosts/lab/src/tap.rs. */
struct record {
	u64 time_ns;  /* CLOCK_MONOTONIC */
	u32 stamp;    /* low half of the time of its arrival, which names the packet */
	u32 size;     /* the frame, Ethernet header included */
	u16 port;     /* source port */
	u8 protocol;  /* of IPv4; 0: something else */
	u8 end;       /* ARRIVED or DEPARTED */
	u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 23);
} records SEC(".maps");

/* Records that found no room. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} missed SEC(".maps");

INLINE void report(struct __sk_buff *packet, u8 end, u64 now, u32 stamp)
{
	struct record *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);

	if (!record) {
		u32 first = 0;
		u64 *count = bpf_map_lookup_elem(&missed, &first);

		if (count)
			__sync_fetch_and_add(count, 1);
		return;
	}
	*record = (struct record){ .time_ns = now, .stamp = stamp, .size = packet->len, .end = end };
	void *data = (void *)(long)packet->data, *data_end = (void *)(long)packet->data_end;
	struct iphdr *ip = data + sizeof(struct ethhdr);
	__be16 *source = (void *)(ip + 1);

	if ((void *)(source + 1) <= data_end && packet->protocol == __builtin_bswap16(ETH_P_IP) && ip->ihl == 5) {
		record->protocol = ip->protocol;
		record->port = __builtin_bswap16(*source);
	}
	/* No wake-up, which would cost more than the record: the reader looks often enough. */
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

SEC("tc")
int arrives(struct __sk_buff *packet)
{
	u64 now = bpf_ktime_get_ns();

	bpf_set_hash(packet, (u32)now);
	report(packet, ARRIVED, now, (u32)now);
	return TC_ACT_UNSPEC;
}

SEC("tc")
int departs(struct __sk_buff *packet)
{
	u64 now = bpf_ktime_get_ns();
	u32 stamp = packet->hash;

	bpf_set_hash_invalid(packet);
	report(packet, DEPARTED, now, stamp);
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "Dual BSD/GPL";
