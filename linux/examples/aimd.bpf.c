/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A congestion control to start from: additive increase, multiplicative
 * decrease, as Reno's. `packetscale tcp load aimd.bpf.o` tests and registers it.
 *
 *     clang -target bpf -mcpu=v3 -g -O2 -c aimd.bpf.c -o aimd.bpf.o
 *
 * The window w, in packets: in slow start each acknowledged packet adds one; then w of
 * them add one; a loss halves it. Reno also checks whether the window was used up before
 * it widens it; this does not.
 *
 * Each structure has only the members used here: libbpf finds their offsets in the
 * running kernel (CO-RE), so no kernel headers are needed.
 */
typedef unsigned int u32;
typedef unsigned long long u64;
typedef _Bool bool;

#define SEC(name) __attribute__((section(name), used))

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock {
	int sk_rcvbuf;
};

struct tcp_sock {
	u32 snd_cwnd;
	u32 snd_cwnd_cnt; /* acknowledged packets that have not widened the window yet */
	u32 snd_ssthresh;
	u32 prior_cwnd; /* the window before the latest loss */
};

#pragma clang attribute pop

/* libbpf finds these members by name. */
struct tcp_congestion_ops {
	char name[16];
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	u32 (*ssthresh)(struct sock *sk);
	u32 (*undo_cwnd)(struct sock *sk);
};

/* The kernel hands each function its arguments as an array of double words. */

SEC("struct_ops") void aimd_cong_avoid(u64 *arguments)
{
	struct tcp_sock *tp = (struct tcp_sock *)arguments[0];
	u32 acked = (u32)arguments[2];
#if defined(FROZEN)
	tp->snd_cwnd = 1;
	(void)acked;
#elif defined(CONSTANT)
	tp->snd_cwnd = 10;
	(void)acked;
#elif defined(FORBIDDEN)
	tp->snd_ssthresh = acked;
	tp->prior_cwnd = acked;
#else
	if (tp->snd_cwnd < tp->snd_ssthresh) {
		tp->snd_cwnd += acked;
		return;
	}
	tp->snd_cwnd_cnt += acked;
	if (tp->snd_cwnd_cnt >= tp->snd_cwnd) {
		tp->snd_cwnd_cnt = 0;
		tp->snd_cwnd++;
	}
#endif
}

SEC("struct_ops") u32 aimd_ssthresh(u64 *arguments)
{
	u32 half = ((struct tcp_sock *)arguments[0])->snd_cwnd / 2;
	return half > 2 ? half : 2;
}

SEC("struct_ops") u32 aimd_undo_cwnd(u64 *arguments)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)arguments[0];
	return tp->snd_cwnd > tp->prior_cwnd ? tp->snd_cwnd : tp->prior_cwnd;
}

#if defined(PINNED)
struct {
	int (*type)[2]; /* BPF_MAP_TYPE_ARRAY */
	int (*max_entries)[1];
	int (*pinning)[1]; /* LIBBPF_PIN_BY_NAME */
	u32 *key;
	u64 *value;
} aimd_pinned SEC(".maps");
#endif

#if !defined(NONE)
SEC(".struct_ops") struct tcp_congestion_ops aimd = {
	.name = "aimd",
	.cong_avoid = (void *)aimd_cong_avoid,
	.ssthresh = (void *)aimd_ssthresh,
#if !defined(INCOMPLETE)
	.undo_cwnd = (void *)aimd_undo_cwnd,
#endif
};
#endif

#if defined(TWO)
SEC(".struct_ops") struct tcp_congestion_ops another = {
	.name = "another",
	.cong_avoid = (void *)aimd_cong_avoid,
	.ssthresh = (void *)aimd_ssthresh,
	.undo_cwnd = (void *)aimd_undo_cwnd,
};
#endif

#if defined(CLOSED)
SEC("license") char licence[] = "Proprietary";
#else
SEC("license") char licence[] = "Dual BSD/GPL";
#endif
