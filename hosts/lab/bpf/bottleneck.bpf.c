/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * When each packet came to the bottleneck and when it left it: one record per packet and end, to user space.
 *
 * `arrives` runs at the egress of the router's device, before its queue discipline. It writes the time into the
 * packet's flow hash, 32 bits that travel with the packet through the queue and over a veth pair into the next
 * namespace (mark, priority and time stamp are cleared on the way), and that nothing on this path reads. `departs` runs
 * at the ingress of the device at the other end, takes the time out and lets the kernel compute the hash anew. So each
 * packet carries its own arrival: nothing is looked up, and a packet that never departs was dropped.
 *
 * Both leave the verdict to the programs after them.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
#define __uint(name, val) int (*name)[val]
#define __type(name, val) typeof(val) *name

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static __u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static long (*const bpf_set_hash_invalid)(struct __sk_buff *packet) = (void *)41;
static long (*const bpf_set_hash)(struct __sk_buff *packet, __u32 hash) = (void *)48;
static void *(*const bpf_ringbuf_reserve)(void *ring, __u64 size, __u64 flags) = (void *)131;
static void (*const bpf_ringbuf_submit)(void *record, __u64 flags) = (void *)132;

enum { ARRIVED = 0, DEPARTED = 1 };

/* As read by hosts/lab/src/tap.rs. */
struct record {
	__u64 time_ns;  /* CLOCK_MONOTONIC */
	__u32 stamp;    /* low half of the time of its arrival, which names the packet */
	__u32 size;     /* the frame, Ethernet header included */
	__u16 port;     /* source port */
	__u8 protocol;  /* of IPv4; 0: something else */
	__u8 end;       /* ARRIVED or DEPARTED */
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 23);
} records SEC(".maps");

/* Records that found no room. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} missed SEC(".maps");

INLINE void report(struct __sk_buff *packet, __u8 end, __u64 now, __u32 stamp)
{
	struct record *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);

	if (!record) {
		__u32 first = 0;
		__u64 *count = bpf_map_lookup_elem(&missed, &first);

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
	/* Whoever reads looks often enough: no wake-ups, which would cost more than the record. */
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

SEC("tc")
int arrives(struct __sk_buff *packet)
{
	__u64 now = bpf_ktime_get_ns();

	bpf_set_hash(packet, (__u32)now);
	report(packet, ARRIVED, now, (__u32)now);
	return TC_ACT_UNSPEC;
}

SEC("tc")
int departs(struct __sk_buff *packet)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 stamp = packet->hash;

	bpf_set_hash_invalid(packet);
	report(packet, DEPARTED, now, stamp);
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "Dual BSD/GPL";
