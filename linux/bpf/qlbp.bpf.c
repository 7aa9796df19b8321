/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * QLBP as a queue discipline of Linux: the law is law/include/queueing/qlbp.h. For a forwarding node; a sender's own packets are few
 * in its queue (TCP Small Queues), and few packets mean the lowest rate.
 *
 * One registration serves all devices. `queues` has what each queue knows, by the address of its struct Qdisc; `settings` has the
 * parameters, by device, which user space may change at any time. A queue without settings refuses to begin.
 *
 * Where this differs from the law: its timer may be late. Up to QLBP_LATE_NS a packet counts as if it had left in time, so that
 * the rate stays the law's.
 */
#include "qdisc.h"

#include "queueing/qlbp.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define QLBP_LATE_NS 1000000
#define QUEUES_MAX 256
/* Linux's numbers of errors, negated. */
enum { NO_SETTINGS = -22, NO_MEMORY = -12 };

struct qlbp_settings {
	struct qlbp_params law;
	u32 limit; /* packets */
	u32 reserved;
};

struct queue {
	struct bpf_spin_lock lock;
	struct bpf_list_head line CONTAINS(held, node);
	struct place place;
	struct qlbp law;
	u64 ready_ns; /* when the first packet may leave: the deadline, or its own arrival after it */
	/* for the status */
	u64 began_ns, changed_ns; /* when the queue began, and when its length last changed */
	u64 waiting;
	u64 area; /* integral of `waiting`, packets x ns */
	u64 queued, sent, dropped;
};

struct {
	__uint(type, MAP_TYPE_HASH);
	__uint(max_entries, QUEUES_MAX);
	__type(key, u64);
	__type(value, struct queue);
} queues SEC(".maps");

struct {
	__uint(type, MAP_TYPE_HASH);
	__uint(max_entries, QUEUES_MAX);
	__type(key, struct place);
	__type(value, struct qlbp_settings);
} settings SEC(".maps");

/* From now on `waiting` packets wait. */
INLINE void count_time(struct queue *queue, u64 now, u64 waiting)
{
	queue->area += queue->waiting * rapid_above(now, queue->changed_ns);
	queue->changed_ns = now;
	queue->waiting = waiting;
}

/* Takes the first packet. */
INLINE struct sk_buff *take(struct queue *queue)
{
	struct bpf_list_node *node;
	struct sk_buff *skb;
	struct held *held;

	bpf_spin_lock(&queue->lock);
	node = bpf_list_pop_front(&queue->line);
	bpf_spin_unlock(&queue->lock);
	if (!node)
		return 0;
	held = HELD_OF(node);
	skb = bpf_kptr_xchg(&held->skb, 0);
	bpf_obj_drop_impl(held, 0);
	return skb;
}

SEC("struct_ops") int qlbp_enqueue(u64 *ctx)
{
	struct sk_buff *skb = (struct sk_buff *)ctx[0];
	struct Qdisc *sch = (struct Qdisc *)ctx[1];
	struct bpf_sk_buff_ptr *to_free = (struct bpf_sk_buff_ptr *)ctx[2];
	u64 key = (u64)sch, now = bpf_ktime_get_ns();
	struct queue *queue = bpf_map_lookup_elem(&queues, &key);
	struct qlbp_settings *set;
	struct held *held;
	u32 size = size_of(skb);

	if (!queue)
		goto drop;
	set = bpf_map_lookup_elem(&settings, &queue->place);
	if (!set || sch->q.qlen >= set->limit)
		goto drop;
	held = NEW(struct held);
	if (!held)
		goto drop;
	skb = bpf_kptr_xchg(&held->skb, skb);
	if (skb) /* it never is; the verifier wants to know */
		bpf_qdisc_skb_drop(skb, to_free);
	bpf_spin_lock(&queue->lock);
	bpf_list_push_back_impl(&queue->line, &held->node, 0, 0);
	bpf_spin_unlock(&queue->lock);
	sch->q.qlen++;
	sch->qstats.backlog += size;
	count_time(queue, now, sch->q.qlen);
	qlbp_on_arrival(&queue->law, &set->law, sch->q.qlen);
	queue->ready_ns = rapid_max(queue->law.next_ns, now);
	queue->queued++;
	return NET_XMIT_SUCCESS;
drop:
	if (queue)
		queue->dropped++;
	sch->qstats.drops++;
	bpf_qdisc_skb_drop(skb, to_free);
	return NET_XMIT_DROP;
}

SEC("struct_ops") struct sk_buff *qlbp_dequeue(u64 *ctx)
{
	struct Qdisc *sch = (struct Qdisc *)ctx[0];
	u64 key = (u64)sch, now = bpf_ktime_get_ns(), left;
	struct queue *queue = bpf_map_lookup_elem(&queues, &key);
	struct qlbp_settings *set;
	struct sk_buff *skb;
	u32 size;

	if (!queue || !sch->q.qlen)
		return 0;
	set = bpf_map_lookup_elem(&settings, &queue->place);
	if (!set)
		return 0;
	if (now < queue->ready_ns) {
		bpf_qdisc_watchdog_schedule(sch, queue->ready_ns, 0);
		return 0;
	}
	skb = take(queue);
	if (!skb)
		return 0;
	size = size_of(skb);
	sch->q.qlen--;
	sch->qstats.backlog -= size;
	count_time(queue, now, sch->q.qlen);
	bpf_qdisc_bstats_update(sch, skb);
	left = now - queue->ready_ns < QLBP_LATE_NS ? queue->ready_ns : now;
	qlbp_on_departure(&queue->law, &set->law, left, size, sch->q.qlen);
	queue->ready_ns = queue->law.next_ns;
	queue->sent++;
	return skb;
}

SEC("struct_ops") int qlbp_init(u64 *ctx)
{
	struct Qdisc *sch = (struct Qdisc *)ctx[0];
	u64 key = (u64)sch;
	u64 now = bpf_ktime_get_ns();
	struct queue fresh = {.place = place_of(sch), .began_ns = now, .changed_ns = now};
	struct qlbp_settings *set = bpf_map_lookup_elem(&settings, &fresh.place);

	if (!set)
		return NO_SETTINGS;
	sch->limit = set->limit;
	return bpf_map_update_elem(&queues, &key, &fresh, 0) ? NO_MEMORY : 0;
}

static long forget(u32 turn, void *context)
{
	u64 key = *(u64 *)context;
	struct queue *queue = bpf_map_lookup_elem(&queues, &key);
	struct sk_buff *skb = queue ? take(queue) : 0;

	(void)turn;
	if (!skb)
		return 1;
	bpf_kfree_skb(skb);
	return 0;
}

/* The device goes down, or the queue ends. */
SEC("struct_ops") void qlbp_reset(u64 *ctx)
{
	struct Qdisc *sch = (struct Qdisc *)ctx[0];
	u64 key = (u64)sch;
	struct queue *queue = bpf_map_lookup_elem(&queues, &key);

	if (queue) {
		bpf_loop(sch->q.qlen, forget, &key, 0);
		count_time(queue, bpf_ktime_get_ns(), 0);
		queue->law = (struct qlbp){0};
		queue->ready_ns = 0;
	}
	sch->q.qlen = 0;
	sch->qstats.backlog = 0;
}

SEC("struct_ops") void qlbp_destroy(u64 *ctx)
{
	u64 key = ctx[0];

	bpf_map_delete_elem(&queues, &key);
}

SEC(".struct_ops") struct Qdisc_ops qlbp = {
	.id = "qlbp",
	.enqueue = qlbp_enqueue,
	.dequeue = qlbp_dequeue,
	.init = qlbp_init,
	.reset = qlbp_reset,
	.destroy = qlbp_destroy,
};
