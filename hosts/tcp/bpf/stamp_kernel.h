/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What stamp.bpf.c and option.bpf.c use of the kernel: contexts from its user-space headers, helpers by number. */
#ifndef PACKETSCALE_STAMP_KERNEL_H
#define PACKETSCALE_STAMP_KERNEL_H

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline, unused))

#define __uint(name, val) int (*name)[val]
#define __type(name, val) typeof(val) *name

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static __u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static long (*const bpf_setsockopt)(void *s, int level, int option, void *value, int length) = (void *)49;
static long (*const bpf_getsockopt)(void *s, int level, int option, void *value, int length) = (void *)57;
static long (*const bpf_sock_ops_cb_flags_set)(struct bpf_sock_ops *s, int flags) = (void *)59;
static long (*const bpf_skb_load_bytes_relative)(const void *skb, __u32 at, void *to, __u32 length,
						 __u32 from) = (void *)68;
static long (*const bpf_sk_release)(void *sk) = (void *)86;
static struct bpf_sock *(*const bpf_skc_lookup_tcp)(void *skb, struct bpf_sock_tuple *tuple, __u32 size, __u64 netns,
						    __u64 flags) = (void *)99;
static void *(*const bpf_sk_storage_get)(void *map, void *sk, void *value, __u64 flags) = (void *)107;
static struct tcp_sock *(*const bpf_skc_to_tcp_sock)(void *sk) = (void *)137;
static long (*const bpf_load_hdr_opt)(struct bpf_sock_ops *s, void *to, __u32 length, __u64 flags) = (void *)142;
static long (*const bpf_store_hdr_opt)(struct bpf_sock_ops *s, const void *from, __u32 length,
				       __u64 flags) = (void *)143;
static long (*const bpf_reserve_hdr_opt)(struct bpf_sock_ops *s, __u32 length, __u64 flags) = (void *)144;

#endif
