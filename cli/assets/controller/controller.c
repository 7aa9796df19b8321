/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * @NAME@: additive increase, multiplicative decrease. A controller to begin with; change what you like.
 *
 *     slow start:   window += acked                  below the threshold
 *     afterwards:   window += increase acked / window
 *     loss:         window = threshold = max(decrease window, 2)
 *
 * What every field means, and which other events there are, is in packetscale/controller.h.
 */
#include <packetscale/controller.h>

/* What a scenario can set: controller = { kind = "c", file = "@NAME@.so", increase = "2 packets" } */
enum { INCREASE, DECREASE, SETTINGS };

static const struct packetscale_setting settings[SETTINGS] = {
	/* name, what it does, value where nothing is set, least, most, kind, 0 */
	[INCREASE] = { "increase", "packets more per round trip", 1, 1, 100, PACKETSCALE_PACKETS, 0 },
	[DECREASE] = { "decrease", "what a loss leaves of the window", PACKETSCALE_Q32(1, 2), 1, PACKETSCALE_Q32(99, 100),
		       PACKETSCALE_FRACTION_Q32, 0 },
};

/* All that one flow remembers. Never use a global variable for it: flows are many, and runs go on at the same time. */
struct flow {
	double window; /* packets */
	double threshold;
	double increase;
	double decrease;
};

static void decide(const struct flow *flow, struct packetscale_decision *decision)
{
	decision->window_packets = (uint32_t)flow->window;
	/* A paced controller would also set departure_ps: the next packet leaves no earlier. */
}

static int32_t start(void *state, const struct packetscale_setup *setup, struct packetscale_decision *decision)
{
	struct flow *flow = state;

	flow->window = setup->initial_window_packets;
	flow->threshold = 1e9;
	flow->increase = (double)setup->settings[INCREASE];
	flow->decrease = (double)setup->settings[DECREASE] / 4294967296.0; /* from units of 2^-32 */
	decide(flow, decision);
	return 0;
}

static void on_ack(void *state, const struct packetscale_ack *ack, struct packetscale_decision *decision)
{
	struct flow *flow = state;

	/* Do not grow a window that does not limit, or while losses are repaired. */
	if (!ack->window_limited || ack->in_recovery)
		return;
	if (flow->window < flow->threshold)
		flow->window += ack->cumulative_packets;
	else
		flow->window += flow->increase * ack->cumulative_packets / flow->window;
	if (flow->window > 1e9)
		flow->window = 1e9;
	decide(flow, decision);
}

static void on_loss(void *state, const struct packetscale_loss *loss, struct packetscale_decision *decision)
{
	struct flow *flow = state;

	if (!loss->enters_recovery)
		return; /* once per episode */
	flow->window *= flow->decrease;
	if (flow->window < 2)
		flow->window = 2;
	flow->threshold = flow->window;
	decide(flow, decision);
}

static void on_timeout(void *state, const struct packetscale_timeout *timeout, struct packetscale_decision *decision)
{
	struct flow *flow = state;

	if (timeout->first)
		flow->threshold = flow->window * flow->decrease > 2 ? flow->window * flow->decrease : 2;
	flow->window = 1;
	decide(flow, decision);
}

const struct packetscale_controller packetscale_controller = {
	.abi = PACKETSCALE_ABI,
	.struct_bytes = sizeof(struct packetscale_controller),
	.name = "@NAME@",
	.summary = "additive increase, multiplicative decrease",
	.settings = settings,
	.settings_count = SETTINGS,
	.needs = 0,
	.state_bytes = sizeof(struct flow),
	.state_align = _Alignof(struct flow),
	.start = start,
	.on_ack = on_ack,
	.on_loss = on_loss,
	.on_timeout = on_timeout,
};
