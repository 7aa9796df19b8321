/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Slots are few. A connection holds one for its lifetime; but if one is needed and none is free, all connections are
 * evicted whose own data have been neither sent nor acknowledged for SLEEP_NS (at a user's limit: that user's). Such a
 * connection restarts when it resumes, with another slot, or goes to CUBIC. (One that resumes on another processor just when
 * its slot is reassigned may write into it once more: wrong numbers for a moment, which the guard bounds.)
 *
 * To prevent a user (uid) from taking Rapid from all others, each may hold a limited share. Root may
 * have all: it can unload Rapid, too. Users beyond the capacity of `users` are
 * not counted; an entry is never removed, since another processor may be counting in it.
 */
#ifndef PACKETSCALE_QUOTA_H
#define PACKETSCALE_QUOTA_H

#include "counters.h"
#include "memory.h"

#define ROOT 0
/* Knowledge of a path is outdated after a minute; TCP would not keep its window either (RFC 5681, 4.1). */
#define SLEEP_NS 60000000000ULL
/* Sleepers are looked for this often at most, */
#define SWEEP_NS 1000000000ULL
/* among this number of slots. */
#define SWEPT_MOST (1 << 16)

static volatile u64 swept_ns;

/* The user's count; 0 where there is none. */
INLINE u32 *held_by(u32 uid)
{
	u32 none = 0;

	if (uid == ROOT)
		return 0;
	bpf_map_update_elem(&users, &uid, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&users, &uid);
}

/* Returns REASON_NONE, or that no slot is free. */
INLINE u32 pop_slot(u32 *slot) { return bpf_map_pop_elem(&slots, slot) ? REASON_SLOTS : REASON_NONE; }

INLINE void give_slot_back(u32 slot, u32 uid, u32 counted)
{
	u32 *held = counted ? bpf_map_lookup_elem(&users, &uid) : 0;

	if (held)
		__sync_fetch_and_add(held, (u32)-1);
	bpf_map_push_elem(&slots, &slot, 0);
}

/* Ends the connection's turn there; 0: another has ended it. */
INLINE int end_turn(struct conn *c, u32 turn)
{
	if (__sync_val_compare_and_swap(&c->turn, turn, turn + 1) != turn)
		return 0;
	c->report.mode = MODE_FREE;
	COUNT(ended, 1);
	return 1;
}

/* Owner of the idle connections to evict: any user, or one. */
struct sweep {
	u64 now;
	u32 everybody;
	u32 uid;
};

static long sweep_one(u32 turn, void *context)
{
	const struct sweep *w = context;
	struct conn *c = conn_at(turn + 1);
	u32 whose;

	if (!c)
		return 1;
	whose = c->turn;
	if ((w->everybody || c->uid == w->uid) && c->report.mode == MODE_RAPID && w->now > c->awake_ns + SLEEP_NS &&
	    end_turn(c, whose))
		give_slot_back(turn + 1, c->uid, c->counted);
	return 0;
}

/* Takes the slots of those that sleep. */
static __attribute__((noinline)) void sweep(u32 everybody, u32 uid)
{
	struct sweep w = {bpf_ktime_get_ns(), everybody, uid};

	if (w.now < swept_ns + SWEEP_NS)
		return;
	swept_ns = w.now;
	bpf_loop(SWEPT_MOST, sweep_one, &w, 0);
}

INLINE u32 try_to_take(const struct config *cfg, u32 uid, u32 *slot, u32 *counted)
{
	u32 *held = held_by(uid), reason = REASON_USER;

	*counted = 0;
	/* The verifier must see on each path separately that there is a count. */
	if (!held)
		return pop_slot(slot);
	if (__sync_fetch_and_add(held, 1) < cfg->per_user)
		reason = pop_slot(slot);
	if (reason == REASON_NONE)
		*counted = 1;
	else
		__sync_fetch_and_add(held, (u32)-1);
	return reason;
}

/* Takes a slot for the user, and sets it and whether it was counted. Returns REASON_NONE, or why there is none. */
INLINE u32 take_slot(const struct config *cfg, u32 uid, u32 *slot, u32 *counted)
{
	u32 reason = try_to_take(cfg, uid, slot, counted);

	if (reason == REASON_NONE)
		return reason;
	sweep(reason == REASON_SLOTS, uid);
	return try_to_take(cfg, uid, slot, counted);
}

#endif
