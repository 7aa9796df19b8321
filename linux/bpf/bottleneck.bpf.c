/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Records when each packet arrives at the bottleneck and when it leaves: one record per packet and end.
 *
 * `arrives` runs at the egress of the router's device, before its queue discipline. It writes the time into the
 * packet's flow hash, 32 bits that travel with the packet through the queue and over a veth pair into the next
 * namespace (mark, priority and time stamp are cleared on the way); nothing on this path reads them. `departs` runs
 * at the ingress of the device at the other end, reads the time and lets the kernel recompute the hash. So each
 * packet carries its own arrival time without a look-up, and a packet that never departs was dropped.
 *
 * If configured, `departs` is also the wire behind the bottleneck. It drops packets at random and in outages,
 * each with a record, and marks late ones for a filter behind it. Packets that open, close or reset a
 * connection are neither dropped at random nor late.
 *
 * Except for drops, both leave the verdict to the programs after them.
 */
#include "prelude.h"

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/tcp.h>

static u32 (*const bpf_get_hash_recalc)(struct __sk_buff *packet) = (void *)34;

enum { ARRIVED = 0, DEPARTED = 1, LOST = 2, MARKED = 0x80 };
enum { CONGESTION_EXPERIENCED = 3 };
enum { MOST_OUTAGES = 16 };

/* The Ethernet type of a frame that wakes the token bucket, which drops it (linux/src/lab/rates.rs). */
enum { NUDGE = 0x88b5 };

/* As read by linux/src/lab/tap.rs. */
struct record {
	u64 time_ns;  /* CLOCK_MONOTONIC */
	u32 stamp;    /* of its arrival: the low half of the time, which names the packet */
	u32 size;     /* the frame, Ethernet header included */
	u16 port;     /* source port */
	u8 protocol;  /* of IPv4; 0: something else */
	u8 end;       /* ARRIVED, DEPARTED or LOST; and MARKED, where congestion was experienced */
	u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 23);
} records SEC(".maps");

/* Records lost to a full ring. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} missed SEC(".maps");

/* How a queue identifies the packets of a flow. */
enum { NOT_AT_ALL = 0, BY_PRIORITY = 1, BY_MARK = 2, BY_HASH = 3 };

/* Written by linux/src/lab/tap.rs. All zero: a queue without flows, and a transparent wire. */
struct wire {
	u64 classifier; /* how the queue identifies flows */
	u64 handle;   /* the queue's, in the upper half of 32 bits */
	u64 buckets;  /* number of flow buckets, at most 2^16 - 1; a power of two if identified by hash */
	u64 random;   /* state of the generator */
	u64 loss;     /* probability in 2^-32; of a chain that of its good state */
	u64 late;     /* probability in 2^-32 */
	u64 p, r;     /* chain of Gilbert and Elliott: from good to bad and back, in 2^-32; p zero: none */
	u64 bad_loss; /* probability in 2^-32 */
	u64 bad;      /* whether the chain is in its bad state */
	u64 outages;  /* how many of the following count */
	struct {
		u64 from_ns, to_ns; /* CLOCK_MONOTONIC */
	} outage[MOST_OUTAGES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct wire);
} wire SEC(".maps");

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
		if ((ip->tos & CONGESTION_EXPERIENCED) == CONGESTION_EXPERIENCED)
			record->end |= MARKED;
		record->port = __builtin_bswap16(*source);
	}
	/* No wake-up, which would cost more than the record: the reader polls often enough. */
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/*
 * The stamp replaces the hash by which a queue finds a packet's flow. To put all packets of a flow into one
 * bucket, the bucket is selected by the priority (fq_codel_classify, fq_pie_classify) or, with a filter at the
 * queue, by the mark (cake_classify). A queue that reads only the lowest bits of the hash (fq_classify) finds the
 * flow's there, and the stamp uses the others: a flow has no two packets within so few nanoseconds.
 */
INLINE u32 stamp_of(struct __sk_buff *packet, u32 now)
{
	u32 first = 0, hash, bucket;
	struct wire *here = bpf_map_lookup_elem(&wire, &first);

	if (!here || here->classifier == NOT_AT_ALL)
		return now;
	hash = bpf_get_hash_recalc(packet);
	if (here->classifier == BY_HASH) {
		u32 low = (u32)here->buckets - 1;

		return (now & ~low) | (hash & low);
	}
	bucket = 1 + (u32)((u64)hash * here->buckets >> 32);
	if (here->classifier == BY_MARK)
		packet->mark = bucket;
	else
		packet->priority = (u32)here->handle + bucket;
	return now;
}

SEC("tc")
int arrives(struct __sk_buff *packet)
{
	u64 now = bpf_ktime_get_ns();
	u32 stamp;

	if (packet->protocol == __builtin_bswap16(NUDGE))
		return TC_ACT_UNSPEC;
	stamp = stamp_of(packet, (u32)now);
	bpf_set_hash(packet, stamp);
	report(packet, ARRIVED, now, stamp);
	return TC_ACT_UNSPEC;
}

/* The high half of SplitMix64's next number (Steele, Lea, Flood 2014). */
INLINE u64 draw(struct wire *wire)
{
	u64 mixed = wire->random += 0x9e3779b97f4a7c15ull;

	mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
	mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
	return (mixed ^ (mixed >> 31)) >> 32;
}

/* Whether the next packet is lost at random. */
INLINE int lose(struct wire *wire)
{
	int lost = draw(wire) < (wire->bad ? wire->bad_loss : wire->loss);

	if (wire->p && draw(wire) < (wire->bad ? wire->r : wire->p))
		wire->bad = !wire->bad;
	return lost;
}

INLINE int opens_or_closes(struct __sk_buff *packet)
{
	void *data = (void *)(long)packet->data, *data_end = (void *)(long)packet->data_end;
	struct iphdr *ip = data + sizeof(struct ethhdr);
	struct tcphdr *tcp = (void *)(ip + 1);

	if ((void *)(tcp + 1) > data_end || packet->protocol != __builtin_bswap16(ETH_P_IP) || ip->ihl != 5)
		return 1; /* Nothing that a flow or a source of traffic sends. */
	return ip->protocol == IPPROTO_TCP && (tcp->syn || tcp->fin || tcp->rst);
}

INLINE int in_outage(struct wire *wire, u64 now)
{
	for (u32 i = 0; i < MOST_OUTAGES; i++)
		if (i < wire->outages && now >= wire->outage[i].from_ns && now < wire->outage[i].to_ns)
			return 1;
	return 0;
}

SEC("tc")
int departs(struct __sk_buff *packet)
{
	u64 now = bpf_ktime_get_ns();
	u32 stamp = packet->hash, first = 0;
	struct wire *here = bpf_map_lookup_elem(&wire, &first);
	int lost = 0;

	bpf_set_hash_invalid(packet);
	report(packet, DEPARTED, now, stamp);
	if (!here)
		return TC_ACT_UNSPEC;
	if (here->outages)
		lost = in_outage(here, now);
	if ((here->loss || here->late || here->p) && !opens_or_closes(packet)) {
		lost |= lose(here);
		packet->mark = draw(here) < here->late;
	}
	if (!lost)
		return TC_ACT_UNSPEC;
	report(packet, LOST, now, stamp);
	return TC_ACT_SHOT;
}

char _license[] SEC("license") = "Dual BSD/GPL";
