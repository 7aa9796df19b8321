/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What these programs use of the kernel, and no more: the members named here are
 * found in the running kernel's own type information when the programs load
 * (CO-RE), whatever their offsets there. Helpers are called by number.
 */
#ifndef PACKETSCALE_KERNEL_H
#define PACKETSCALE_KERNEL_H

#include "rapid/types.h"

#define SEC(name) __attribute__((section(name), used))
#define GLOBAL __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline, unused))

#define __uint(name, val) int (*name)[val]
#define __type(name, val) typeof(val) *name

enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_F_NO_PREALLOC = 1,
};

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static u32 (*const bpf_get_prandom_u32)(void) = (void *)7;
static long (*const bpf_setsockopt)(void *sk, int level, int option, void *value, int length) = (void *)49;
static long (*const bpf_map_push_elem)(void *map, const void *value, u64 flags) = (void *)87;
static long (*const bpf_map_pop_elem)(void *map, void *value) = (void *)88;
static void *(*const bpf_sk_storage_get)(void *map, void *sk, void *value, u64 flags) = (void *)107;
static long (*const bpf_ringbuf_output)(void *ring, const void *data, u64 size, u64 flags) = (void *)130;
static long (*const bpf_loop)(u32 turns, void *fn, void *context, u64 flags) = (void *)181;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	union {
		u32 u6_addr32[4];
	} in6_u;
};

struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport; /* network order */
	u16 skc_num;   /* host order */
	u16 skc_family;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sk_buff {
	u32 len;
};

struct sk_buff_head {
	struct sk_buff *next;
	u32 qlen;
};

struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_write_queue;
	u16 sk_gso_max_segs;
	u32 sk_pacing_status;
	unsigned long sk_pacing_rate;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	u64 icsk_ca_priv[13];
};

struct tcp_options_received {
	u32 rcv_tsval;
	u16 saw_tstamp : 1;
};

struct tcp_sack_block {
	u32 start_seq;
	u32 end_seq;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u16 tcp_header_len;
	u32 data_segs_out;
	u32 snd_nxt;
	u32 snd_una;
	u32 write_seq;
	u32 snd_wnd;
	u32 mss_cache;
	u32 srtt_us;
	u32 packets_out;
	u32 retrans_out;
	u32 lost_out;
	u32 sacked_out;
	u32 total_retrans;
	u32 reordering;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 delivered;
	u64 tcp_wstamp_ns;
	u64 tcp_clock_cache;
	struct tcp_options_received rx_opt;
	struct tcp_sack_block recv_sack_cache[4];
};

#pragma clang attribute pop

/* libbpf finds these members by name. The arguments of cong_control, which changed in Linux 6.10, are not used. */
struct tcp_congestion_ops {
	char name[16];
	u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	u32 (*min_tso_segs)(struct sock *sk);
	void (*cong_control)(struct sock *sk);
	void (*set_state)(struct sock *sk, u8 state);
	u32 (*ssthresh)(struct sock *sk);
	u32 (*undo_cwnd)(struct sock *sk);
};

#define SK_PACING_NONE 0
#define SK_PACING_NEEDED 1
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CA_Recovery 3
#define TCP_CA_Loss 4
#define AF_INET6 10
#define SOL_TCP 6
#define TCP_CONGESTION 13

/* a before b, of sequence numbers. */
INLINE int before(u32 a, u32 b) { return (s32)(a - b) < 0; }

/* An index below a power of two. In assembler, since a compiler that can prove the mask needless drops it, and the
 * verifier of Linux 6.1 then misses it. */
#define INDEX(i, size)                                                                \
	({                                                                            \
		u64 index_ = (u64)(i);                                                \
		asm volatile("%0 &= %1" : "+r"(index_) : "i"((size) - 1));            \
		index_;                                                               \
	})

#endif
