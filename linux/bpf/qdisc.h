/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Common start of queue disciplines (struct Qdisc_ops, Linux 6.16 and later): the kernel's own structures as far as they are used,
 * helpers by number, kernel functions by name, and the line of packets.
 *
 * Kernel headers are not included: those of 6.2 and later define some of these structures, older ones do not.
 */
#ifndef PACKETSCALE_QDISC_H
#define PACKETSCALE_QDISC_H

#include "rapid/types.h"

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline, unused))
#define KSYM __attribute__((section(".ksyms")))
#define KPTR __attribute__((btf_type_tag("kptr")))
#define CONTAINS(structure, node) __attribute__((btf_decl_tag("contains:" #structure ":" #node)))

/* Definitions of maps for libbpf. */
#define __uint(name, val) int (*name)[val]
#define __type(name, val) typeof(val) *name

enum { MAP_TYPE_HASH = 1 };
/* What enqueue returns (include/linux/netdevice.h). */
enum { NET_XMIT_SUCCESS, NET_XMIT_DROP };

struct bpf_spin_lock {
	u32 val;
};
struct bpf_list_head {
	u64 __opaque[2];
} __attribute__((aligned(8)));
struct bpf_list_node {
	u64 __opaque[3];
} __attribute__((aligned(8)));

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sk_buff {
	u32 len;
	char cb[48];
};

/* At the beginning of `cb`. */
struct qdisc_skb_cb {
	u32 pkt_len;
};

struct ns_common {
	u32 inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct net_device {
	int ifindex;
	possible_net_t nd_net;
};

struct netdev_queue {
	struct net_device *dev;
};

struct qdisc_skb_head {
	u32 qlen;
};

struct gnet_stats_queue {
	u32 backlog;
	u32 drops;
};

struct Qdisc {
	u32 limit;
	struct netdev_queue *dev_queue;
	struct qdisc_skb_head q;
	struct gnet_stats_queue qstats;
};

#pragma clang attribute pop

/* The kernel's list of packets to free. */
struct bpf_sk_buff_ptr {
	struct sk_buff *skb;
};

/* libbpf finds these members by name. */
struct Qdisc_ops {
	char id[16];
	int (*enqueue)(u64 *ctx);
	struct sk_buff *(*dequeue)(u64 *ctx);
	int (*init)(u64 *ctx);
	void (*reset)(u64 *ctx);
	void (*destroy)(u64 *ctx);
};

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*const bpf_map_delete_elem)(void *map, const void *key) = (void *)3;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static long (*const bpf_spin_lock)(struct bpf_spin_lock *lock) = (void *)93;
static long (*const bpf_spin_unlock)(struct bpf_spin_lock *lock) = (void *)94;
static void *(*const bpf_kptr_xchg)(void *place, void *pointer) = (void *)194;
static long (*const bpf_loop)(u32 turns, void *fn, void *context, u64 flags) = (void *)181;

extern void *bpf_obj_new_impl(u64 type, void *meta) KSYM;
extern void bpf_obj_drop_impl(void *object, void *meta) KSYM;
extern int bpf_list_push_back_impl(struct bpf_list_head *head, struct bpf_list_node *node, void *meta, u64 at) KSYM;
extern struct bpf_list_node *bpf_list_pop_front(struct bpf_list_head *head) KSYM;
extern void bpf_qdisc_skb_drop(struct sk_buff *skb, struct bpf_sk_buff_ptr *to_free) KSYM;
extern void bpf_kfree_skb(struct sk_buff *skb) KSYM;
extern void bpf_qdisc_watchdog_schedule(struct Qdisc *sch, u64 at_ns, u64 slack_ns) KSYM;
extern void bpf_qdisc_bstats_update(struct Qdisc *sch, const struct sk_buff *skb) KSYM;

/*
 * Clang 14 loses the tag of a pointer within a structure, unless it has met the pointer before. Nobody calls this, so libbpf leaves
 * it out.
 */
void meet_pointer(struct sk_buff KPTR *skb);
void meet_pointer(struct sk_buff KPTR *skb) { (void)skb; }

/* A packet that waits. */
struct held {
	struct sk_buff KPTR *skb;
	struct bpf_list_node node;
};

#define TYPE_ID_LOCAL 0
#define NEW(type) ((type *)bpf_obj_new_impl(__builtin_btf_type_id(*(type *)0, TYPE_ID_LOCAL), (void *)0))
#define HELD_OF(pointer) ((struct held *)((char *)(pointer) - __builtin_offsetof(struct held, node)))

/* A device, in its namespace. */
struct place {
	u32 netns; /* inode number */
	u32 device;
};

INLINE struct place place_of(struct Qdisc *sch)
{
	struct net_device *dev = sch->dev_queue->dev;

	return (struct place){dev->nd_net.net->ns.inum, (u32)dev->ifindex};
}

/* The size that counts: with the headers of each packet that a super-packet becomes. */
INLINE u32 size_of(struct sk_buff *skb) { return ((struct qdisc_skb_cb *)skb->cb)->pkt_len; }

#endif
