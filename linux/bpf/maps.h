/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The maps that two programs share: storage of a socket, one value per connection.
 *
 *     stamps     stamp.bpf.c records arrivals, option.bpf.c reports them
 *     feedback   option.bpf.c writes the reports, sender.bpf.c reads them
 *
 * A program has the maps whose values it knows: it includes stamp.h, feedback.h or
 * both before this. The loader gives both programs the same map (src/tcp/programs.rs).
 */
#ifndef PACKETSCALE_MAPS_H
#define PACKETSCALE_MAPS_H

#include "prelude.h"

#ifdef PACKETSCALE_STAMP_H
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct stamps);
} stamps SEC(".maps");
#endif

#ifdef PACKETSCALE_FEEDBACK_H
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct feedback);
} feedback SEC(".maps");
#endif

#endif
