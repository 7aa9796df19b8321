/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The smallest BPF host of the laws of queues. */
#include "queueing/qlbp.h"
#include "queueing/red.h"
#include "queueing/tdqm.h"

#define SEC(name) __attribute__((section(name), used))

static unsigned long long (*const bpf_ktime_get_ns)(void) = (void *)5;
static unsigned int (*const bpf_get_prandom_u32)(void) = (void *)7;

static struct qlbp pacer;
static struct red red;
static struct tdqm tdqm;
static struct qlbp_params pacer_params;
static struct red_params red_params;
static struct tdqm_params tdqm_params;

SEC("struct_ops/enqueue") int host_enqueue(u64 *queued)
{
	u64 now = bpf_ktime_get_ns();
	u32 verdict = tdqm_on_arrival(&tdqm, &tdqm_params, now, 1, bpf_get_prandom_u32(), bpf_get_prandom_u32());

	if (verdict & TDQM_DROP || red_on_arrival(&red, &red_params, now, *queued, 1, bpf_get_prandom_u32()) == QUEUEING_DROP)
		return 1;
	tdqm_on_queued(&tdqm, &tdqm_params, now, 1500);
	qlbp_on_arrival(&pacer, &pacer_params, *queued + 1);
	return 0;
}

SEC("struct_ops/dequeue") u64 host_dequeue(u64 *queued)
{
	u64 now = bpf_ktime_get_ns();

	qlbp_on_departure(&pacer, &pacer_params, now, 1500, *queued);
	red_on_departure(&red, now, *queued);
	return pacer.next_ns;
}
