/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Common start of every program: contexts and constants from the kernel's
 * user-space headers, helpers by number, and the idioms that the verifier needs.
 *
 * A helper's number never changes. Unused helpers add nothing to a
 * program.
 */
#ifndef PACKETSCALE_PRELUDE_H
#define PACKETSCALE_PRELUDE_H

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include "rapid/types.h"

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline, unused))
/* A function that the verifier reads once, not once per call. */
#define GLOBAL __attribute__((noinline))

/* Definitions of maps for libbpf. */
#define __uint(name, val) int (*name)[val]
#define __type(name, val) typeof(val) *name

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*const bpf_map_delete_elem)(void *map, const void *key) = (void *)3;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static u32 (*const bpf_get_prandom_u32)(void) = (void *)7;
static long (*const bpf_set_hash_invalid)(struct __sk_buff *packet) = (void *)41;
static long (*const bpf_set_hash)(struct __sk_buff *packet, u32 hash) = (void *)48;
static long (*const bpf_setsockopt)(void *sk, int level, int option, void *value, int length) = (void *)49;
static long (*const bpf_getsockopt)(void *sk, int level, int option, void *value, int length) = (void *)57;
static long (*const bpf_sock_ops_cb_flags_set)(struct bpf_sock_ops *s, int flags) = (void *)59;
static long (*const bpf_skb_load_bytes_relative)(const void *skb, u32 at, void *to, u32 length, u32 from) = (void *)68;
static long (*const bpf_sk_release)(void *sk) = (void *)86;
static long (*const bpf_map_push_elem)(void *map, const void *value, u64 flags) = (void *)87;
static long (*const bpf_map_pop_elem)(void *map, void *value) = (void *)88;
static struct bpf_sock *(*const bpf_skc_lookup_tcp)(void *skb, struct bpf_sock_tuple *tuple, u32 size, u64 netns,
						    u64 flags) = (void *)99;
static void *(*const bpf_sk_storage_get)(void *map, void *sk, void *value, u64 flags) = (void *)107;
static long (*const bpf_sk_storage_delete)(void *map, void *sk) = (void *)108;
static u64 (*const bpf_get_netns_cookie)(void *context) = (void *)122;
static long (*const bpf_seq_write)(void *seq, const void *data, u32 size) = (void *)127;
static long (*const bpf_ringbuf_output)(void *ring, const void *data, u64 size, u64 flags) = (void *)130;
static void *(*const bpf_ringbuf_reserve)(void *ring, u64 size, u64 flags) = (void *)131;
static void (*const bpf_ringbuf_submit)(void *record, u64 flags) = (void *)132;
static struct tcp_sock *(*const bpf_skc_to_tcp_sock)(void *sk) = (void *)137;
static long (*const bpf_load_hdr_opt)(struct bpf_sock_ops *s, void *to, u32 length, u64 flags) = (void *)142;
static long (*const bpf_store_hdr_opt)(struct bpf_sock_ops *s, const void *from, u32 length, u64 flags) = (void *)143;
static long (*const bpf_reserve_hdr_opt)(struct bpf_sock_ops *s, u32 length, u64 flags) = (void *)144;
static long (*const bpf_loop)(u32 turns, void *fn, void *context, u64 flags) = (void *)181;

/*
 * An index below a power of two. In assembler: a compiler that can prove the mask
 * needless drops it, and the verifier of Linux 6.1 then misses it.
 */
#define INDEX(i, size)                                                                \
	({                                                                            \
		u64 index_ = (u64)(i);                                                \
		asm volatile("%0 &= %1" : "+r"(index_) : "i"((size) - 1));            \
		index_;                                                               \
	})

/* a before b, of sequence numbers. */
INLINE int before(u32 a, u32 b) { return (s32)(a - b) < 0; }

/* Bytes of a packet as numbers. */
INLINE u32 big16(const u8 *at) { return (u32)at[0] << 8 | at[1]; }
INLINE u32 big32(const u8 *at) { return big16(at) << 16 | big16(at + 2); }

#endif
