/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* A minimal congestion control that loads fast. */
#include "kernel.h"
#include "feedback.h"
#include "maps.h"

SEC("struct_ops") void little_cong_control(u64 *ctx)
{
	bpf_sk_storage_get(&feedback, (void *)ctx[0], 0, 0);
}

SEC("struct_ops") u32 little_ssthresh(u64 *ctx)
{
	return ((const struct tcp_sock *)ctx[0])->snd_ssthresh;
}

SEC("struct_ops") u32 little_undo_cwnd(u64 *ctx)
{
	return ((const struct tcp_sock *)ctx[0])->snd_cwnd;
}

SEC(".struct_ops") struct tcp_congestion_ops rapid = {
	.name = "rapid",
	.cong_control = (void *)little_cong_control,
	.ssthresh = (void *)little_ssthresh,
	.undo_cwnd = (void *)little_undo_cwnd,
};

SEC("license") char little_license[] = "GPL";
