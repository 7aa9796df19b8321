/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * CUBIC (RFC 9438) with HyStart++ (RFC 9406), as a controller of a file. It decides what packetscale's own `cubic` decides,
 * to the last bit: it uses the same arithmetic in the same order.
 *
 *     W(t)   = c (t - K)^3 + W_max, K = cbrt((W_max - cwnd) / c)     section 4.2, equations 1 and 2
 *     target = W(t + RTT), between cwnd and 1.5 cwnd
 *     W_est += alpha acked / cwnd                                    section 4.3, equation 4
 *     loss:    cwnd = max(beta cwnd, 2)                              section 4.6
 *     mark:    the same, once per window for both; then no growth for a round trip
 *
 *     cc -shared -O2 -fPIC -ffp-contract=off -I ../include cubic.c -o cubic.so
 */
#include <packetscale/controller.h>

#define MIN_THRESHOLD 2.0
#define ABE_BETA 0.85
#define UNSET 1.7976931348623157e308 /* DBL_MAX: no threshold yet */

enum { BETA, ABE, C, FAST_CONVERGENCE, RENO_FRIENDLY, FULL_RENO, HYSTART, SETTINGS };

static const struct packetscale_setting settings[SETTINGS] = {
	[BETA] = { "beta", "factor on the window after a loss", PACKETSCALE_Q32(7, 10), 1, UINT32_MAX,
		   PACKETSCALE_FRACTION_Q32, 0 },
	[ABE] = { "abe", "a mark leaves 0.85 of the window, not beta (RFC 8511)", 0, 0, 1, PACKETSCALE_SWITCH, 0 },
	[C] = { "c", "steepness of the cubic, in packets per second^3", PACKETSCALE_Q32(4, 10), 1, UINT64_MAX,
		PACKETSCALE_FRACTION_Q32, 0 },
	[FAST_CONVERGENCE] = { "fast_convergence", "lower the maximum if the window shrank since the last loss", 1, 0, 1,
			       PACKETSCALE_SWITCH, 0 },
	[RENO_FRIENDLY] = { "reno_friendly", "grow at least as fast as Reno", 1, 0, 1, PACKETSCALE_SWITCH, 0 },
	[FULL_RENO] = { "full_reno", "Reno's estimate grows by a packet per round trip from the window before the loss on", 1,
			0, 1, PACKETSCALE_SWITCH, 0 },
	[HYSTART] = { "hystart", "leave the first slow start when delay rises (HyStart++)", 1, 0, 1, PACKETSCALE_SWITCH, 0 },
};

/* What decides the window, and what an undo restores. */
struct course {
	double window; /* packets */
	double threshold;
	double prior; /* window before the last reduction */
	double w_max; /* window of the next plateau */
	double k_s; /* of the epoch: seconds from its start to the plateau */
	double plateau; /* of the epoch */
	double w_est; /* of the epoch: what Reno would have */
	uint64_t epoch_ps; /* its start */
	uint32_t has_w_max;
	uint32_t in_epoch;
};

/* Rounds of the first slow start (RFC 9406, section 4). */
struct hystart {
	uint64_t round_end;
	uint64_t last_min_ps;
	uint64_t min_ps;
	uint64_t baseline_ps; /* the delay that began the conservative rounds */
	uint32_t samples;
	uint32_t rounds; /* conservative ones so far */
	uint32_t conservative;
	uint32_t on;
};

enum { MARK_NONE, MARK_NOW, MARK_BEFORE };

struct cubic {
	struct course now;
	struct course before;
	struct hystart hystart;
	double beta, mark_beta, c, alpha;
	uint64_t last_ack_ps;
	uint64_t answered_until; /* first packet that left after a mark was answered */
	uint32_t answered; /* for a round trip after a mark was answered */
	uint32_t has_before;
	uint32_t recovering;
	uint32_t fast_convergence, reno_friendly, full_reno;
};

#define HYSTART_MIN_PS 4000000000ull /* 4 ms */
#define HYSTART_MAX_PS 16000000000ull /* 16 ms */
#define HYSTART_SAMPLES 8
#define HYSTART_ROUNDS 5
#define HYSTART_BURST 8

static double seconds(uint64_t ps) { return (double)ps * 1e-12; }

static uint64_t since(uint64_t now_ps, uint64_t then_ps) { return now_ps > then_ps ? now_ps - then_ps : 0; }

/* A fraction as it was written, to nine decimal places. */
static double decimal(uint64_t q32) { return (double)(uint64_t)((double)q32 / 4294967296.0 * 1e9 + 0.5) / 1e9; }

/* x <- (2 x + a / x^2) / 3, from a power of two near the root. */
static double cube_root(double a)
{
	union {
		double value;
		uint64_t bits;
	} number = { .value = a };
	int64_t exponent;
	double x;

	if (a <= 0.0)
		return 0.0;
	exponent = (int64_t)(number.bits >> 52) - 1023;
	exponent = (exponent >= 0 ? exponent / 3 : -((2 - exponent) / 3)) + 1;
	number.bits = (uint64_t)(exponent + 1023) << 52;
	x = number.value;
	for (int turn = 0; turn < 7; turn++)
		x = (2.0 * x + a / (x * x)) / 3.0;
	return x;
}

/* Within what the type holds. */
static uint32_t packets(double window)
{
	if (window >= 4294967295.0)
		return UINT32_MAX;
	return window > 0.0 ? (uint32_t)window : 0;
}

static void decide(const struct cubic *cubic, struct packetscale_decision *decision)
{
	decision->window_packets = packets(cubic->now.window);
	decision->threshold_packets = packets(cubic->now.threshold);
}

static void reduce(struct cubic *cubic, double beta)
{
	struct course *now = &cubic->now;
	double window = now->window;
	double threshold = window * beta > MIN_THRESHOLD ? window * beta : MIN_THRESHOLD;
	int shrinking = now->has_w_max && window < now->w_max;

	cubic->before = *now;
	cubic->has_before = 1;
	now->w_max = shrinking && cubic->fast_convergence ? window * (1.0 + beta) / 2.0 : window;
	now->has_w_max = 1;
	now->window = now->threshold = threshold;
	now->prior = window;
	now->in_epoch = 0;
}

static void begin_epoch(struct cubic *cubic, uint64_t now_ps)
{
	struct course *now = &cubic->now;

	now->plateau = now->has_w_max && now->w_max > now->window ? now->w_max : now->window;
	now->epoch_ps = now_ps;
	now->k_s = cube_root((now->plateau - now->window) / cubic->c);
	now->w_est = now->window;
	now->in_epoch = 1;
}

static double curve(const struct cubic *cubic, double at_s)
{
	double x = at_s - cubic->now.k_s;

	return cubic->c * x * x * x + cubic->now.plateau;
}

static void avoid_congestion(struct cubic *cubic, const struct packetscale_ack *ack)
{
	struct course *now = &cubic->now;
	double acked = ack->cumulative_packets, window = now->window, t, target;

	if (!now->in_epoch)
		begin_epoch(cubic, ack->now_ps);
	t = seconds(since(ack->now_ps, now->epoch_ps));
	now->w_est += (cubic->full_reno && now->w_est >= now->prior ? 1.0 : cubic->alpha) * acked / window;
	if (cubic->reno_friendly && curve(cubic, t) < now->w_est) {
		now->window = window > now->w_est ? window : now->w_est;
		return;
	}
	target = curve(cubic, t + seconds(ack->srtt_ps));
	target = target < window ? window : target > 1.5 * window ? 1.5 * window : target;
	now->window = window + acked * (target - window) / window;
}

/* Ends a round. Returns whether the conservative rounds are used up. */
static int next_round(struct hystart *hystart, uint64_t next_unsent)
{
	hystart->round_end = next_unsent;
	hystart->last_min_ps = hystart->min_ps;
	hystart->min_ps = UINT64_MAX;
	hystart->samples = 0;
	return hystart->conservative && ++hystart->rounds >= HYSTART_ROUNDS;
}

static void watch_delay(struct hystart *hystart)
{
	uint64_t rise_ps = hystart->last_min_ps / 8;

	if (hystart->samples < HYSTART_SAMPLES || hystart->min_ps == UINT64_MAX || hystart->last_min_ps == UINT64_MAX)
		return;
	rise_ps = rise_ps < HYSTART_MIN_PS ? HYSTART_MIN_PS : rise_ps > HYSTART_MAX_PS ? HYSTART_MAX_PS : rise_ps;
	if (hystart->min_ps >= hystart->last_min_ps + rise_ps) {
		hystart->conservative = 1;
		hystart->baseline_ps = hystart->min_ps;
		hystart->rounds = 0;
	}
}

/* Returns the packets to add to the window; sets `leave` where slow start ends. */
static double first_slow_start(struct hystart *hystart, const struct packetscale_ack *ack, int *leave)
{
	double step = ack->cumulative_packets < HYSTART_BURST ? ack->cumulative_packets : HYSTART_BURST;

	*leave = ack->next_unacked >= hystart->round_end && next_round(hystart, ack->next_unsent);
	if (ack->rtt_ps != PACKETSCALE_NONE) {
		if (ack->rtt_ps < hystart->min_ps)
			hystart->min_ps = ack->rtt_ps;
		hystart->samples++;
	}
	if (!hystart->conservative) {
		watch_delay(hystart);
		return step;
	}
	if (hystart->samples >= HYSTART_SAMPLES && hystart->min_ps < hystart->baseline_ps)
		hystart->conservative = 0;
	return step / 4.0;
}

static void slow_start(struct cubic *cubic, const struct packetscale_ack *ack)
{
	struct course *now = &cubic->now;
	double step = ack->cumulative_packets;
	int leave = 0;

	if (cubic->hystart.on && now->threshold == UNSET)
		step = first_slow_start(&cubic->hystart, ack, &leave);
	now->window = now->window + step < now->threshold ? now->window + step : now->threshold;
	if (leave)
		now->threshold = now->window;
}

/* Returns whether the window is frozen: for one round trip after a mark was answered (RFC 3168, section 6.1.2). */
static int in_reduced_window(struct cubic *cubic, const struct packetscale_ack *ack)
{
	if (cubic->answered == MARK_NOW) {
		cubic->answered = MARK_BEFORE;
		cubic->answered_until = ack->next_unsent;
	} else if (ack->next_unacked > cubic->answered_until || ack->in_flight_packets == 0) {
		cubic->answered = MARK_NONE;
	}
	return cubic->answered != MARK_NONE;
}

static int32_t start(void *state, const struct packetscale_setup *setup, struct packetscale_decision *decision)
{
	struct cubic *cubic = state;

	cubic->beta = decimal(setup->settings[BETA]);
	cubic->mark_beta = setup->settings[ABE] ? ABE_BETA : cubic->beta;
	cubic->c = decimal(setup->settings[C]);
	cubic->alpha = 3.0 * (1.0 - cubic->beta) / (1.0 + cubic->beta);
	cubic->fast_convergence = setup->settings[FAST_CONVERGENCE] != 0;
	cubic->reno_friendly = setup->settings[RENO_FRIENDLY] != 0;
	cubic->full_reno = setup->settings[FULL_RENO] != 0;
	cubic->hystart.on = setup->settings[HYSTART] != 0;
	cubic->hystart.min_ps = cubic->hystart.last_min_ps = UINT64_MAX;
	cubic->last_ack_ps = setup->now_ps;
	cubic->now.window = setup->initial_window_packets ? setup->initial_window_packets : 1;
	cubic->now.threshold = UNSET;
	decide(cubic, decision);
	return 0;
}

static void on_ack(void *state, const struct packetscale_ack *ack, struct packetscale_decision *decision)
{
	struct cubic *cubic = state;
	uint64_t idle_ps = since(ack->now_ps, cubic->last_ack_ps);

	cubic->last_ack_ps = ack->now_ps;
	if (!ack->in_recovery)
		cubic->recovering = 0;
	if (in_reduced_window(cubic, ack) || cubic->recovering || ack->cumulative_packets == 0)
		return;
	if (!ack->window_limited) {
		if (cubic->now.in_epoch)
			cubic->now.epoch_ps += idle_ps;
		return;
	}
	if (cubic->now.window < cubic->now.threshold)
		slow_start(cubic, ack);
	else
		avoid_congestion(cubic, ack);
	decide(cubic, decision);
}

static void on_loss(void *state, const struct packetscale_loss *loss, struct packetscale_decision *decision)
{
	struct cubic *cubic = state;

	if (!loss->enters_recovery)
		return;
	if (cubic->answered == MARK_NONE)
		reduce(cubic, cubic->beta);
	cubic->answered = MARK_NONE;
	cubic->recovering = 1;
	decide(cubic, decision);
}

static void on_mark(void *state, const struct packetscale_mark *mark, struct packetscale_decision *decision)
{
	struct cubic *cubic = state;

	if (!mark->answer)
		return;
	reduce(cubic, cubic->mark_beta);
	cubic->has_before = 0; /* a mark is never undone */
	cubic->answered = MARK_NOW;
	decide(cubic, decision);
}

static void on_timeout(void *state, const struct packetscale_timeout *timeout, struct packetscale_decision *decision)
{
	struct cubic *cubic = state;

	if (timeout->first) {
		reduce(cubic, cubic->beta);
		cubic->now.has_w_max = 0;
	}
	cubic->now.window = 1.0;
	cubic->now.in_epoch = 0;
	cubic->recovering = 0;
	cubic->answered = MARK_NONE;
	decide(cubic, decision);
}

static void on_undo(void *state, const struct packetscale_undo *undo, struct packetscale_decision *decision)
{
	struct cubic *cubic = state;

	(void)undo;
	if (cubic->has_before)
		cubic->now = cubic->before;
	cubic->has_before = 0;
	cubic->recovering = 0;
	decide(cubic, decision);
}

const struct packetscale_controller packetscale_controller = {
	.abi = PACKETSCALE_ABI,
	.struct_bytes = sizeof(struct packetscale_controller),
	.name = "cubic-in-c",
	.summary = "CUBIC with HyStart++ (RFC 9438, RFC 9406), in C",
	.settings = settings,
	.settings_count = SETTINGS,
	.needs = PACKETSCALE_SENDS_ECT0,
	.state_bytes = sizeof(struct cubic),
	.state_align = _Alignof(struct cubic),
	.start = start,
	.on_ack = on_ack,
	.on_loss = on_loss,
	.on_timeout = on_timeout,
	.on_mark = on_mark,
	.on_undo = on_undo,
};
