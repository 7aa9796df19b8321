/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The default law as a controller file, as models/src/congestion/rapid.rs runs it: RAPID_WITHOUT names what is left out. */
#include "rapid/rapid.h"
#include <packetscale/controller.h>

/* Records and streams of a flow; the built-in host's grow, so these are as many as a path of paths/ needs. */
#define RECORDS (1u << 15)
#define STREAMS (1u << 12)
#define PS_PER_NS 1000
/* A fraction in Q16, written in thousandths and rounded, as the built-in host does. */
#define ROUNDED(thousandths) ((u32)(((thousandths) * 65536LL + 500) / 1000))

struct flow {
	struct rapid law;
	u64 doubted_rate; /* the rate before a timeout that may have been for nothing, */
	u32 doubted_startup, doubted; /* whether it was starting up, and whether there was one */
	u32 drained; /* nothing waited behind the last packet */
	struct rapid_record records[RECORDS];
	struct rapid_stream streams[STREAMS];
};

static struct rapid_memory memory_of(struct flow *f)
{
	return (struct rapid_memory){f->records, f->streams, 0, RECORDS - 1, STREAMS - 1};
}

static void decide(const struct flow *f, struct packetscale_decision *d)
{
	d->departure_ps = f->law.flow.next_ns * PS_PER_NS;
	d->window_packets = rapid_window(&f->law);
	d->rate_bps = f->law.flow.rate * 8;
}

static int32_t start(void *state, const struct packetscale_setup *s, struct packetscale_decision *d)
{
	struct flow *f = state;
	struct rapid_params p = {
		.packet = (u32)s->packet_bytes, .span = ROUNDED(1300), .wide_span = ROUNDED(1600),
		.tuning = {
			.margin = ROUNDED(30), .gain_max = ROUNDED(700), .gain_offset = ROUNDED(150),
			.drain_cap = ROUNDED(70), .stamp_noise_ns = 100, .level_min_ns = 100 * RAPID_LEVEL_NOISES,
		},
	};

	rapid_init(&f->law, &p, s->now_ps / PS_PER_NS, s->handshake_rtt_ps / PS_PER_NS, s->seed);
	decide(f, d);
	return 0;
}

static void on_sent(void *state, const struct packetscale_sent *s, struct packetscale_decision *d)
{
	struct flow *f = state;
	struct rapid_memory m = memory_of(f);
	u64 now = s->now_ps / PS_PER_NS;
	u32 paused = f->drained && rapid_is_overdue(&f->law.flow, now);

	f->drained = s->app_limited;
	rapid_on_sent(&f->law, &m, now, s->transmission, (u32)s->size_bytes, paused);
	decide(f, d);
}

static void on_ack(void *state, const struct packetscale_ack *a, struct packetscale_decision *d)
{
	struct flow *f = state;
	struct rapid_memory m = memory_of(f);
	u64 now = a->now_ps / PS_PER_NS;

	if (!a->in_recovery)
		f->doubted = 0;
	if (a->rtt_ps != PACKETSCALE_NONE)
		rapid_on_rtt(&f->law, a->rtt_ps / PS_PER_NS);
	for (u32 i = 0; i < a->arrivals_count; i++) {
		if (a->arrivals[i].arrived_ps != PACKETSCALE_NONE)
			rapid_on_arrival(&f->law, &m, now, a->arrivals[i].transmission, a->arrivals[i].arrived_ps / PS_PER_NS);
		else
			rapid_on_unstamped(&f->law, &m, now, a->arrivals[i].transmission);
	}
	decide(f, d);
}

static void on_loss(void *state, const struct packetscale_loss *l, struct packetscale_decision *d)
{
	struct flow *f = state;
	struct rapid_memory m = memory_of(f);

	if (l->enters_recovery)
		rapid_on_recovery(&f->law);
	for (u32 i = 0; i < l->transmissions_count; i++)
		rapid_on_lost(&f->law, &m, l->now_ps / PS_PER_NS, l->transmissions[i]);
	decide(f, d);
}

static void on_timeout(void *state, const struct packetscale_timeout *t, struct packetscale_decision *d)
{
	struct flow *f = state;

	if (t->first) {
		f->doubted = 1;
		f->doubted_rate = f->law.flow.rate;
		f->doubted_startup = f->law.flow.startup;
		rapid_on_timeout(&f->law);
	}
	decide(f, d);
}

static void on_undo(void *state, const struct packetscale_undo *u, struct packetscale_decision *d)
{
	struct flow *f = state;

	(void)u;
	if (f->doubted)
		rapid_on_spurious_timeout(&f->law, f->doubted_rate, f->doubted_startup);
	f->doubted = 0;
	decide(f, d);
}

const struct packetscale_controller packetscale_controller = {
	.abi = PACKETSCALE_ABI,
	.struct_bytes = sizeof(struct packetscale_controller),
	.name = "rapid-variant",
	.summary = "Rapid's default law, without one mechanism",
	.needs = PACKETSCALE_NEEDS_ARRIVALS | PACKETSCALE_OWN_WINDOW,
	.state_bytes = sizeof(struct flow),
	.state_align = _Alignof(struct flow),
	.start = start,
	.on_ack = on_ack,
	.on_loss = on_loss,
	.on_timeout = on_timeout,
	.on_sent = on_sent,
	.on_undo = on_undo,
};
