/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Rapid as a congestion control of Linux TCP.
 *
 *     init          take a slot, begin the law
 *     min_tso_segs  the packet clock: clock.h
 *     cong_control  an acknowledgment: arrivals (source.h), each packet's fate
 *                   (account.h), the bound on the gain of a lie (guard.h), the window
 *     set_state     loss recovery, marks and the retransmission timer
 *     undo_cwnd     the timeout was spurious
 *     release       give the slot back
 *
 * The kernel's CUBIC takes over where Rapid cannot work (fall.h). The law is
 * that of `law/`, unchanged; sender_thesis.bpf.c compiles the same with the dissertation's law.
 */
#include "memory.h"

#include "account.h"
#include "clock.h"
#include "counters.h"
#include "fall.h"
#include "guard.h"
#include "quota.h"
#include "source.h"

/* Copies what user space sees of the law. */
INLINE void update_report(struct conn *c, u64 now)
{
	struct report *r = &c->report;

	r->acked_ns = now;
	r->rate = c->law.flow.rate;
	r->startup = c->law.flow.startup;
	r->queue_ns = LAW(queue_ns)(&c->law);
	r->queue_max_ns = rapid_max(r->queue_max_ns, r->queue_ns);
	r->rtt_ns = c->law.flow.rtt_ns;
	r->srtt_ns = c->law.flow.srtt_ns;
}

/* Sets the law's window, which exceeds what the packet clock releases. */
INLINE void set_window(struct tcp_sock *tp, const struct conn *c)
{
	u32 window = (u32)rapid_min(rapid_min(LAW(window)(&c->law), guard_window(c)), window_most());

	tp->snd_cwnd = (u32)rapid_min(rapid_max(window, 4), tp->snd_cwnd_clamp);
}

/* Requests arrivals from a peer that can report them. Returns whether there is one. */
INLINE u32 ask(struct sock *sk)
{
	struct feedback *f = bpf_sk_storage_get(&feedback, sk, 0, 0);

	if (!f || !(f->flags & FEEDBACK_NEGOTIATED))
		return 0;
	if (f->flags & FEEDBACK_SILENT)
		f->asking = FEEDBACK_ASKS;
	return 1;
}

/*
 * A peer counts as silent if after a request no arrivals come for three round trips and 10 ms, and this many delivered
 * packets. (The request leaves with data, which may come long after the controller was selected, and wait
 * in a queue of this host for longer than the handshake's round trip.)
 */
#define ANSWER_PACKETS 32
#define ANSWER_ROUNDS 3
#define ANSWER_NS 10000000ULL

/* From now on the law sets the clock. It begins with what TCP would send in the next round trip. */
INLINE void take_over(struct conn *c, struct sock *sk, const struct tcp_sock *tp, u64 now, u32 acked)
{
	u64 rtt_ns = (u64)(tp->srtt_us >> 3) * 1000;
	u32 flight = tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out + acked;
	u32 slow_start = c->state < TCP_CA_CWR && tp->snd_cwnd < tp->snd_ssthresh;

	note_payload(c, sk, tp);
	c->begun_rtt_ns = rtt_ns;
	law_start(c, now, rtt_ns, slow_start ? 2 * flight : flight, slow_start);
	c->marked_rate = c->law.flow.rate; /* marks until now have been heeded: slow start is over */
	c->report.waiting = c->waiting = BEGUN;
	COUNT(steered, 1);
	c->segments = tp->data_segs_out;
	c->retransmitted = tp->total_retrans;
	c->tcp_lost = tp->lost;
	c->snd_nxt = tp->snd_nxt;
	take_pacing(sk);
}

/* Takes a slot, and waits for a source of arrivals. Returns REASON_NONE, or why there is no slot. */
static __attribute__((noinline)) u32 begin(struct sock *sk)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	const struct config *cfg = the_config();
	u32 slot = 0, uid = sk->sk_uid.val, counted = 0, reason, zero = 0;
	const LAW_PARAMS *usual = bpf_map_lookup_elem(&params, &zero);
	u64 now = bpf_ktime_get_ns();
	LAW_PARAMS own;
	struct conn *c;

	if (!cfg || !usual)
		return REASON_SLOTS;
	reason = cfg->switched ? REASON_SWITCHED : take_slot(cfg, uid, &slot, &counted);
	if (reason != REASON_NONE)
		return reason;
	c = clean_conn(slot);
	if (!c)
		return REASON_SLOTS;
	COUNT(begun, 1);
	set_slot(sk, slot, c->turn);
	c->slot = slot;
	c->uid = uid;
	c->counted = counted;
	c->awake_ns = now;
	c->payload = tp->mss_cache;
	c->overhead = headers_of(sk);
	c->acked = tp->delivered;
	read_address(sk, &c->report.address);
	c->report.began_ns = now;
	own = *usual;
	own.packet = c->payload + c->overhead;
	law_begin(c, &own, now, (u64)(tp->srtt_us >> 3) * 1000, now ^ ((u64)slot << 40));
	update_report(c, 0);
	c->waiting = ask(sk) ? ASKED : UNASKED;
	c->report.mode = MODE_RAPID;
	return REASON_NONE;
}

/* There is no slot: CUBIC takes over. */
INLINE void refuse(struct sock *sk, u32 reason)
{
	set_slot(sk, 0, 0);
	COUNT(begun, 1);
	fall(sk, 0, reason);
}

SEC("struct_ops") void rapid_begin(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	u32 reason;

	set_slot(sk, 0, 0);
	((struct inet_connection_sock *)sk)->icsk_ca_priv[WORD_PACING] = sk->sk_pacing_status;
	bpf_sk_storage_delete(&taken, sk);
	reason = begin(sk);
	if (reason != REASON_NONE)
		refuse(sk, reason);
}

/* The connection was idle, and another has its slot. It restarts with the window and pacing of a new one; within an
   outage, as after a loss. */
static __attribute__((noinline)) u32 wake(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct conn *c;
	u32 reason;

	tp->snd_cwnd = (u32)rapid_min(tp->snd_cwnd, RAPID_INITIAL_PACKETS);
	restore_pacing(sk);
	reason = begin(sk);
	c = conn_of(sk);
	if (c && tp->lost_out)
		c->state = TCP_CA_Recovery;
	return reason;
}

SEC("struct_ops") void rapid_end(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	u64 word = word_of(sk);
	struct conn *c = conn_at(slot_in(word));

	if (!c)
		return;
	set_slot(sk, 0, 0);
	restore_pacing(sk);
	if (end_turn(c, turn_in(word)))
		give_slot_back(slot_in(word), c->uid, c->counted);
}

SEC("struct_ops") u32 rapid_min_tso_segs(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct conn *c = conn_of(sk);

	if (c) {
		c->awake_ns = ((const struct tcp_sock *)sk)->tcp_clock_cache;
		tick(c, sk, (struct tcp_sock *)sk);
	} else if (slot_in(word_of(sk))) {
		/* Where no slot is free, the acknowledgment hands it to CUBIC: here TCP is about to send. */
		wake(sk);
	}
	return 1;
}

/*
 * The handshake's round trip may be misleading (address resolution, a radio that woke). If the law's first
 * measured round trip is less than half of its initial one, it restarts with that, in its first stream.
 */
INLINE void restart(struct conn *c, u64 now, u64 rtt)
{
	u64 begun = c->begun_rtt_ns;

	c->begun_rtt_ns = 0;
	if (LAW_RESTARTS && c->law.flow.startup && !c->law.flow.stream && 2 * rapid_max(rtt, c->law.flow.rtt_floor_ns) < begun)
		law_start(c, now, rtt, c->fresh_count, 1);
}

/* Passes the round trip of the newest delivered packet to the law, unless it may have been retransmitted. */
INLINE void take_rtt(struct conn *c, const struct tcp_sock *tp, u64 now)
{
	struct packet *p;
	u64 number, rtt;

	if (!c->fresh_count || tp->retrans_out)
		return;
	number = c->fresh[INDEX(c->fresh_count - 1, FRESH)];
	p = packet_at(c->slot, number);
	if (!p || p->law.state != RAPID_IN_FLIGHT || number < c->repaired)
		return;
	rtt = rapid_above(now, p->law.sent_ns);
	if (c->begun_rtt_ns)
		restart(c, now, rtt);
	law_rtt(c, rtt);
}

/* Whether a peer that agreed to report arrivals may still do so: request and reply take a round trip each. */
INLINE u32 may_answer(const struct conn *c, const struct tcp_sock *tp, u64 now)
{
	u64 until = c->report.began_ns + ANSWER_NS + ANSWER_ROUNDS * (u64)(tp->srtt_us >> 3) * 1000;

	return c->waiting == ASKED && (now < until || c->waited < ANSWER_PACKETS);
}

/*
 * Until arrivals come, the connection uses TCP's slow start (RFC 5681, 3.1), unpaced:
 * then CUBIC continues from there, or Rapid begins.
 */
static __attribute__((noinline)) void wait_for_source(struct conn *c, struct sock *sk, struct tcp_sock *tp, u64 now)
{
	u32 acked = tp->delivered - c->acked;

	c->acked = tp->delivered;
	c->waited += acked;
	if (c->state < TCP_CA_CWR && tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * (tp->packets_out + acked))
		tp->snd_cwnd = (u32)rapid_min((u64)tp->snd_cwnd + acked, tp->snd_cwnd_clamp);
	if (c->waiting == UNASKED && ask(sk)) {
		/* The controller was set during the handshake, whose result is known only now. */
		c->waiting = ASKED;
		c->report.began_ns = now;
	}
	c->report.waiting = c->waiting;
	take_arrivals(c, sk, tp, now);
	if (is_switched_off()) {
		fall(sk, c, REASON_SWITCHED);
	} else if (c->report.source == SOURCE_OPTION || c->report.source == SOURCE_TIMESTAMPS) {
		take_over(c, sk, tp, now, acked);
	} else if ((c->report.source == SOURCE_NONE || c->state >= TCP_CA_CWR) && !may_answer(c, tp, now)) {
		fall(sk, c, REASON_NO_STAMPS);
	}
}

/* What TCP has found out about losses since the last acknowledgment. */
INLINE void take_losses(struct conn *c, const struct tcp_sock *tp, u64 now)
{
	c->missing += tp->lost - c->tcp_lost;
	c->tcp_lost = tp->lost;
	if (c->doubted && tp->snd_una != c->doubted_una) {
		if (c->state == TCP_CA_Loss)
			account_doubted(c, now);
		c->doubted = 0;
	}
}

/* Upper bounds of the rate besides the law's: the application's limit, and in a round trip with marks, their reduction. */
static __attribute__((noinline)) void keep_bounds(struct conn *c, const struct sock *sk)
{
	u64 limit = pacing_limit(sk);

	if (limit < RAPID_RATE_CEILING && c->law.flow.rate > limit)
		law_cap(c, limit);
	if (c->state == TCP_CA_CWR && c->law.flow.rate > c->marked_rate)
		law_cap(c, c->marked_rate);
}

SEC("struct_ops") void rapid_cong_control(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct conn *c = conn_of(sk);
	u64 now = bpf_ktime_get_ns();
	u32 reason;

	if (!c && slot_in(word_of(sk))) {
		reason = wake(sk);
		if (reason != REASON_NONE)
			refuse(sk, reason);
		return;
	}
	if (!c) {
		/* Not begun yet, or fallen and refused. */
		if (bpf_sk_storage_get(&taken, sk, 0, 0))
			give_to_cubic(sk);
		return;
	}
	c->awake_ns = now;
	if (tp->delivered != c->acked)
		c->acked_ns = now;
	if (c->waiting) {
		wait_for_source(c, sk, tp, now);
		return;
	}
	c->acked = tp->delivered;
	commit(c, tp);
	take_losses(c, tp, now);
	take_arrivals(c, sk, tp, now);
	c->fresh_count = 0;
	c->fresh_bytes = 0;
	account_cumulative(c, now, tp->snd_una);
	if (tp->sacked_out)
		for (u32 i = 0; i < 4; i++)
			account_block(c, now, tp->recv_sack_cache[i].start_seq, tp->recv_sack_cache[i].end_seq);
	take_rtt(c, tp, now);
	account_arrivals(c, now);
	account_lost(c, now, tp->reordering);
	guard(c, now, c->fresh_bytes);
	keep_bounds(c, sk);
	note_window(c, tp, now);
	guard_note_window(c, tp);
	update_report(c, now);

	set_window(tp, c);
	take_pacing(sk);
	reason = reason_to_fall(c);
	if (reason) {
		u64 most = rapid_min(guard_window(c), window_most());

		tp->snd_cwnd = (u32)rapid_clamp(rapid_bytes_in(c->law.flow.rate, c->law.flow.srtt_ns) / c->law.flow.packet, RAPID_INITIAL_PACKETS,
					      most);
		fall(sk, c, reason);
	}
}

/*
 * Packets that TCP counts as lost because the MTU shrank: those that were too large are retransmitted. It is no evidence of
 * a slower path (tcp_simple_retransmit, which changes neither window nor ssthresh. The timer leaves a window of one more than
 * is in flight; fast recovery is another state).
 */
INLINE u32 is_resized(const struct tcp_sock *tp)
{
	u32 flight = tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;

	return !tp->undo_marker && !tp->prior_ssthresh && tp->snd_cwnd > flight + 1;
}

/* Packets in flight get no arrival; the law's state stays. (Inline: calls may be eight deep.) */
INLINE void resize(struct conn *c, const struct tcp_sock *tp)
{
	commit(c, tp);
	c->doubted = c->next;
	account_doubted(c, bpf_ktime_get_ns());
	c->tcp_lost = tp->lost;
	c->proposed = 0;
	c->guard.idled = 1;
}

SEC("struct_ops") void rapid_set_state(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct conn *c = conn_of(sk);
	u8 state = (u8)ctx[1];

	if (!c)
		return;
	if (state == TCP_CA_Loss && is_resized((const struct tcp_sock *)sk)) {
		state = TCP_CA_Open;
		if (!c->waiting)
			resize(c, (const struct tcp_sock *)sk);
	}
	if (c->waiting) {
		c->state = state;
		return;
	}
	if (state < TCP_CA_CWR && c->state > TCP_CA_CWR)
		c->missing = 0;
	if (state == TCP_CA_Recovery && c->state < TCP_CA_Recovery)
		law_recovery(c);
	if (state == TCP_CA_CWR && c->state < TCP_CA_CWR) {
		law_marked(c);
		c->marked_rate = c->law.flow.rate;
	}
	if (state == TCP_CA_Loss)
		c->guard.repairs = REPAIR_EPOCHS;
	if (state == TCP_CA_Loss && c->state != TCP_CA_Loss) {
		commit(c, (const struct tcp_sock *)sk);
		c->undo_rate = c->law.flow.rate;
		c->undo_startup = c->law.flow.startup;
		c->doubted = c->next;
		c->doubted_una = ((const struct tcp_sock *)sk)->snd_una;
		c->proposed = 0;
		law_timeout(c);
		COUNT(timeouts, 1);
	}
	c->state = state;
}

/* Rapid does not use ssthresh: the window never shrinks for a loss. While it waits, it does what CUBIC would (RFC 9438, 4.6). */
SEC("struct_ops") u32 rapid_ssthresh(u64 *ctx)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)ctx[0];
	const struct conn *c = conn_of((struct sock *)ctx[0]);

	return c && c->waiting ? (u32)rapid_max((u64)tp->snd_cwnd * 7 / 10, 2) : tp->snd_ssthresh;
}

/* TCP has detected a spurious timeout: the acknowledgments were late. */
SEC("struct_ops") u32 rapid_undo_cwnd(u64 *ctx)
{
	struct conn *c = conn_of((struct sock *)ctx[0]);

	if (c && c->doubted && !c->waiting) {
		c->doubted = 0;
		law_spurious(c, c->undo_rate, c->undo_startup);
		COUNT(undone, 1);
	}
	return ((const struct tcp_sock *)ctx[0])->snd_cwnd;
}

SEC(".struct_ops") struct tcp_congestion_ops rapid = {
	.name = "rapid",
	.flags = TCP_CONG_NON_RESTRICTED,
	.init = (void *)rapid_begin,
	.release = (void *)rapid_end,
	.min_tso_segs = (void *)rapid_min_tso_segs,
	.cong_control = (void *)rapid_cong_control,
	.set_state = (void *)rapid_set_state,
	.ssthresh = (void *)rapid_ssthresh,
	.undo_cwnd = (void *)rapid_undo_cwnd,
};

SEC("license") char rapid_license[] = "GPL";
