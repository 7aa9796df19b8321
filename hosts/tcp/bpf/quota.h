/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Slots are few, and a connection holds one as long as it lives, asleep or not. So that
 * nobody takes Rapid from all others, a user (uid) has a part of them at most. Root may
 * have all: it can unload Rapid, too. Users beyond those that `users` has room for are
 * not counted; an entry is never removed, since another processor may just count in it.
 */
#ifndef PACKETSCALE_QUOTA_H
#define PACKETSCALE_QUOTA_H

#include "memory.h"

#define ROOT 0

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

/* Takes a slot for the user, and sets it and whether it was counted. Returns REASON_NONE, or why there is none. */
INLINE u32 take_slot(const struct config *cfg, u32 uid, u32 *slot, u32 *counted)
{
	u32 *held = held_by(uid), reason = REASON_USER;

	*counted = 0;
	/* The verifier must see on each path by itself that there is a count. */
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

INLINE void give_slot_back(u32 slot, u32 uid, u32 counted)
{
	u32 *held = counted ? bpf_map_lookup_elem(&users, &uid) : 0;

	if (held)
		__sync_fetch_and_add(held, (u32)-1);
	bpf_map_push_elem(&slots, &slot, 0);
}

#endif
