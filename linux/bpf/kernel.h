/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What these programs use of the kernel's own structures, and no more. When the
 * programs load, libbpf finds the members named here in the running kernel's type
 * information (CO-RE), whatever their offsets there.
 */
#ifndef PACKETSCALE_KERNEL_H
#define PACKETSCALE_KERNEL_H

#include "prelude.h"

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

typedef struct {
	u32 val;
} kuid_t;

struct sock {
	struct sock_common __sk_common;
	kuid_t sk_uid;
	struct sk_buff_head sk_write_queue;
	u16 sk_gso_max_segs;
	u32 sk_pacing_status;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
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
	u8 num_sacks;
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct tcp_sack_block {
	u32 start_seq;
	u32 end_seq;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u16 tcp_header_len;
	u32 data_segs_out;
	u32 rcv_nxt;
	u32 rcv_wnd;
	u32 rcv_wup;
	u32 snd_nxt;
	u32 snd_una;
	u32 write_seq;
	u32 snd_wnd;
	u32 max_window;
	u32 mss_cache;
	u32 srtt_us; /* eighths */
	u32 rttvar_us;
	u32 packets_out;
	u32 retrans_out;
	u32 lost_out;
	u32 sacked_out;
	u32 total_retrans;
	u32 reordering;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 prior_ssthresh;
	u32 undo_marker;
	u32 delivered;
	u32 lost;
	u64 tcp_wstamp_ns;
	u64 tcp_clock_cache;
	struct tcp_options_received rx_opt;
	struct tcp_sack_block selective_acks[4];  /* to send, */
	struct tcp_sack_block recv_sack_cache[4]; /* received */
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
#define SK_PACING_FQ 2
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CA_Open 0
#define TCP_CA_CWR 2
#define TCP_CA_Recovery 3
#define TCP_CA_Loss 4
#define AF_INET6 10
#define SOL_TCP 6
#define TCP_CONGESTION 13

#endif
