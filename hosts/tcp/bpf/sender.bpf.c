/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Rapid as a congestion control of Linux TCP.
 *
 *     init          take a slot, begin the law
 *     min_tso_segs  the packet clock: clock.h
 *     cong_control  an acknowledgment: arrivals (source.h), each packet's fate
 *                   (account.h), the bound on what a lie can gain (guard.h), the window
 *     set_state     loss recovery and the retransmission timer
 *     release       give the slot back
 *
 * The kernel's own CUBIC takes over where Rapid can do nothing (fall.h). The law is
 * algorithms/rapid, word for word.
 */
#include "memory.h"

#include "account.h"
#include "clock.h"
#include "fall.h"
#include "guard.h"
#include "source.h"

/* Copies what user space sees of the law. */
INLINE void update_report(struct conn *c, u64 now)
{
	struct report *r = &c->report;

	r->acked_ns = now;
	r->rate = c->law.rate;
	r->startup = c->law.startup;
	r->queue_ns = c->law.envelope.queue_ns;
	r->queue_max_ns = rapid_max(r->queue_max_ns, r->queue_ns);
	r->rtt_ns = c->law.rtt_ns;
	r->srtt_ns = c->law.srtt_ns;
}

/* Sets the law's window, which is above what the packet clock lets go. */
INLINE void set_window(struct tcp_sock *tp, const struct conn *c)
{
	u32 window = (u32)rapid_min(rapid_window(&c->law), RECORDS - RECORDS / 8);

	tp->snd_cwnd = (u32)rapid_min(rapid_max(window, 4), tp->snd_cwnd_clamp);
}

SEC("struct_ops") void rapid_begin(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	const struct config *cfg = the_config();
	u64 now = bpf_ktime_get_ns();
	struct rapid_params params;
	struct conn *c;
	u32 slot = 0;

	set_slot(sk, 0);
	if (!cfg || bpf_map_pop_elem(&slots, &slot)) {
		fall(sk, REASON_SLOTS, SOURCE_UNDECIDED, 0);
		return;
	}
	c = clean_conn(slot);
	if (!c)
		return;
	set_slot(sk, slot);
	params = cfg->params;
	c->slot = slot;
	c->overhead = tp->tcp_header_len + (sk->__sk_common.skc_family == AF_INET6 ? 40 : 20);
	c->segments = tp->data_segs_out;
	c->retransmitted = tp->total_retrans;
	c->snd_nxt = tp->snd_nxt;
	read_address(sk, &c->report.address);
	c->report.mode = MODE_RAPID;
	c->report.began_ns = now;
	params.packet = tp->mss_cache + c->overhead;
	law_begin(c, &params, now, (u64)(tp->srtt_us >> 3) * 1000, now ^ ((u64)slot << 40));
	update_report(c, 0);
	sk->sk_pacing_status = SK_PACING_NEEDED;
}

SEC("struct_ops") void rapid_end(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	u32 slot = slot_of(sk);
	struct conn *c = conn_at(slot);

	if (!c)
		return;
	set_slot(sk, 0);
	c->report.mode = MODE_FREE;
	bpf_map_push_elem(&slots, &slot, 0);
}

SEC("struct_ops") u32 rapid_min_tso_segs(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct conn *c = conn_of(sk);

	if (c)
		tick(c, sk, (const struct tcp_sock *)sk);
	return 1;
}

/* Tells the law the round trip of the newest packet delivered, unless that may have been sent twice. */
INLINE void take_rtt(struct conn *c, const struct tcp_sock *tp, u64 now)
{
	struct packet *p;

	if (!c->fresh_count || tp->retrans_out)
		return;
	p = packet_at(c->slot, c->fresh[INDEX(c->fresh_count - 1, FRESH)]);
	if (p && p->law.state == RAPID_IN_FLIGHT)
		law_rtt(c, rapid_above(now, p->law.sent_ns));
}

SEC("struct_ops") void rapid_cong_control(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct conn *c = conn_of(sk);
	u64 now = bpf_ktime_get_ns();
	u32 window, reason;

	if (!c)
		return;
	commit(c, tp);
	take_arrivals(c, sk, tp, now);
	c->fresh_count = 0;
	account_cumulative(c, now, tp->snd_una);
	if (tp->sacked_out)
		for (u32 i = 0; i < 4; i++)
			account_block(c, now, tp->recv_sack_cache[i].start_seq, tp->recv_sack_cache[i].end_seq);
	take_rtt(c, tp, now);
	account_arrivals(c, now);
	account_lost(c, now, tp->reordering, 0);
	guard(c, now, (u64)c->fresh_count * c->law.params.packet);
	update_report(c, now);

	set_window(tp, c);
	sk->sk_pacing_status = SK_PACING_NEEDED;
	reason = reason_to_fall(c);
	if (reason) {
		window = rapid_bytes_in(c->law.rate, c->law.srtt_ns) / c->law.params.packet;
		tp->snd_cwnd = tp->snd_ssthresh = (u32)rapid_clamp(window, 10, 4096);
		fall(sk, reason, c->report.source, c->report.packets);
	}
}

SEC("struct_ops") void rapid_set_state(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct conn *c = conn_of(sk);
	u8 state = (u8)ctx[1];

	if (!c)
		return;
	if (state == TCP_CA_Recovery && c->state < TCP_CA_Recovery)
		law_recovery(c);
	if (state == TCP_CA_Loss && c->state != TCP_CA_Loss) {
		commit(c, (const struct tcp_sock *)sk);
		account_lost(c, bpf_ktime_get_ns(), 0, 1);
		law_timeout(c);
	}
	c->state = state;
}

/* Rapid does not use ssthresh: the window never shrinks for a loss. */
SEC("struct_ops") u32 rapid_ssthresh(u64 *ctx) { return ((const struct tcp_sock *)ctx[0])->snd_ssthresh; }
SEC("struct_ops") u32 rapid_undo_cwnd(u64 *ctx) { return ((const struct tcp_sock *)ctx[0])->snd_cwnd; }

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
