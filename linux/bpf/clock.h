/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The packet clock, by TCP's own pacing.
 *
 * TCP calls a congestion control's min_tso_segs before it tries to send
 * anything, and then checks its pacing timer. One packet leaves
 * per try, because TCP reads the clock that it compares with once per try. As the
 * packet leaves, TCP reads its gap to the next one from sk_pacing_rate. So in
 * min_tso_segs
 *
 *  - if something left since the last call, it left at the time proposed then:
 *    report it to the law (commit);
 *  - if the timer is still running, or there is nothing to send, or the receiver's
 *    window is closed, or the path is silent, nothing leaves;
 *  - else a packet is about to leave now: ask the law when the next one may, and
 *    write the pacing rate that makes TCP wait until then (propose). If nothing
 *    leaves after all, the next call proposes again.
 *
 * TCP shortens a gap by up to half to make up for lateness. The law has its own
 * rule for that. With lateness c, and L the time until the next packet,
 *
 *     rate = bytes * 1e9 / (L + min(L, c))
 *
 * is shortened to exactly L.
 *
 * TCP does not pace the first ten packets of a connection. To the law this is an
 * interruption by the application, and it sends another stream.
 * (Linux 6.1 to 6.18: tcp_write_xmit, tcp_update_skb_after_send. The kernel guarantees
 * none of this to a congestion control: the loader tests it.)
 */
#ifndef PACKETSCALE_CLOCK_H
#define PACKETSCALE_CLOCK_H

#include "counters.h"
#include "fall.h"
#include "law.h"

/* Packets that TCP does not pace. */
#define UNPACED 10
/* Packets per second that gaps of 30 us make. */
#define SHORT_GAP_RATE 33333
/* Packets over which lateness is judged, and bursts. */
#define LATENESS_WINDOW 2048
#define BURST_WINDOW 64
/* Largest payload of a packet. */
#define PAYLOAD_MAX 65000
/* No wait is shorter than this: the quotient that makes the pacing rate stays fine. */
#define WAIT_MIN_NS 1000
/* Turns of a spin: far more than its time allows. */
#define SPIN_TURNS (1 << 16)
/* Packets that one commit may find: a burst of TSO. */
#define BURST_MAX 64
/* Maximum group size of a load: src/options.rs. */
#define TOGETHER_MOST 7

/* The bucket of a lateness: quarter octaves from 64 ns. */
INLINE u32 gap_bucket(u64 ns)
{
	u32 octave = 0;

	if (ns < 64)
		return 0;
	for (u32 step = 32; step; step /= 2)
		if (ns >> (octave + step))
			octave += step;
	/* 2^octave <= ns, octave >= 6 */
	return (u32)rapid_min((octave - 6) * 4 + (ns >> (octave - 2) & 3) + 1, GAP_BUCKETS - 1);
}

/*
 * Records the packet's lateness. This machine cannot create the gaps if the rate needs gaps shorter than 30 us, and
 * the actual ones are more than twice as long, for half the packets of a window and then for half of the next. (With groups,
 * the gaps between groups count. Longer gaps
 * tolerate a busy machine, since the law reads actual gaps. Single gaps are shorter than the rate's where the law
 * makes up for lateness.)
 */
INLINE void note_lateness(struct conn *c)
{
	u64 created = rapid_min(rapid_above(c->proposal_ns, c->last_sent_ns), RAPID_NS_PER_S), rate = c->law.flow.rate;
	u32 packet = c->law.flow.packet * (u32)rapid_max(c->group, 1);

	if (!c->planned_ns || c->idle || !c->last_sent_ns)
		return;
	c->report.gap_error[INDEX(gap_bucket(rapid_above(c->proposal_ns, c->planned_ns)), GAP_BUCKETS)]++;
	c->late += rate > (u64)SHORT_GAP_RATE * packet && rapid_bytes_in(rate, created) > 2 * packet;
	if (++c->observed < LATENESS_WINDOW)
		return;
	c->unpaceable = c->late > c->observed / 2 ? c->unpaceable + 1 : 0;
	c->late = c->observed = 0;
}

/* Group size of the load. */
INLINE u32 together_most(void)
{
	const struct config *cfg = the_config();

	return cfg ? (u32)rapid_clamp(cfg->together, 1, TOGETHER_MOST) : 1;
}

/*
 * Records packets that left together, except groups within the load's limit. If the device takes larger ones, and half
 * of the last ones were larger, TCP leaves segmentation to the device.
 */
INLINE void note_bursts(struct conn *c, const struct sock *sk, u32 packets)
{
	u32 allowed = together_most(), together = packets > allowed ? packets - 1 : 0;

	c->report.bursts += together;
	if (sk->sk_gso_max_segs <= allowed)
		return;
	c->together += together;
	c->committed += packets;
	if (c->committed < BURST_WINDOW)
		return;
	c->bursting = c->together > c->committed / 2;
	c->together = c->committed = 0;
}

struct committing {
	struct conn *conn;
	u32 retransmissions;
	u32 packets;
	u32 left; /* bytes of new data not yet given to a packet */
	u32 mss;
};

static long commit_one(u32 turn, void *context)
{
	struct committing *now = context;
	struct conn *c = now->conn;
	u32 again = turn < now->retransmissions;
	u32 payload = again ? now->mss : (u32)rapid_min(now->left, now->mss);
	u64 number = c->next;
	struct packet *p;

	if (turn + 1 == now->packets && !again)
		payload = (u32)rapid_min(now->left, PAYLOAD_MAX);
	law_sent(c, c->proposal_ns, number, payload + c->overhead, c->idle | (c->segments + turn < UNPACED));
	c->next = number + 1;
	if (c->proposed)
		c->idle = 0;
	if (!again) {
		now->left -= payload;
		c->snd_nxt += payload;
	}
	p = packet_at(c->slot, number);
	if (!p)
		return 1;
	p->edge = c->snd_nxt;
	if (!again)
		c->ordinals++;
	p->ordinal = (u16)c->ordinals;
	p->retransmission = (u8)again;
	p->fate = again ? FATE_DELIVERED : FATE_UNKNOWN;
	if (again) {
		law_unstamped(c, c->proposal_ns, number);
		c->repaired = number;
	}
	c->report.packets++;
	c->report.bytes += payload + c->overhead;
	return 0;
}

/*
 * TCP sends some packets by itself: probes of a closed window, and retransmissions by its timers. Their departure is TCP's own
 * clock, which is now at the next departure. They belong to a stream without information; so does the last of several, where it
 * begins the stream in which the path works again.
 */
INLINE void note_unasked(struct conn *c, const struct sock *sk, const struct tcp_sock *tp)
{
	u64 gap = tp->mss_cache * RAPID_NS_PER_S / rapid_max(sk->sk_pacing_rate, 1);

	c->proposal_ns = rapid_max(rapid_above(tp->tcp_wstamp_ns, gap), c->last_sent_ns);
	c->idle = 1;
}

/* A full packet has another size from now on. */
INLINE void note_payload(struct conn *c, const struct sock *sk, const struct tcp_sock *tp)
{
	if (tp->mss_cache == c->payload)
		return;
	c->payload = tp->mss_cache;
	c->overhead = headers_of(sk);
	law_packet(c, c->payload + c->overhead);
}

/* Whether TCP fills a short head of the queue: see `filled`. */
INLINE void note_filling(struct conn *c, u32 packets, u32 again, u32 left)
{
	if (c->proposed && c->short_head && packets == 1 && !again)
		c->fills = left > c->short_head;
}

/* Reports to the law what has left since the last call. */
static __attribute__((noinline)) void commit(struct conn *c, const struct tcp_sock *tp)
{
	u32 packets = tp->data_segs_out - c->segments;
	u32 again = tp->total_retrans - c->retransmitted;
	struct committing now = {.conn = c, .left = tp->snd_nxt - c->snd_nxt, .mss = tp->mss_cache};

	if (!packets)
		return;
	if (!c->proposed)
		note_unasked(c, (const struct sock *)tp, tp);
	note_waited(c);
	note_lateness(c);
	note_filling(c, packets, again, now.left);
	now.packets = (u32)rapid_min(packets, BURST_MAX);
	now.retransmissions = (u32)rapid_min(again, now.packets);
	if (tp->data_segs_out > UNPACED)
		note_bursts(c, (const struct sock *)tp, packets);
	c->report.retransmitted += again;
	bpf_loop(now.packets, commit_one, &now, 0);
	c->segments += packets;
	c->retransmitted += again;
	c->snd_nxt = tp->snd_nxt;
	c->last_sent_ns = c->proposal_ns;
	c->planned_ns = c->law.flow.next_ns;
	c->drained = c->last;
	c->idle = 0;
	c->proposed = 0;
	c->group = now.packets;
}

static long spin_turn(u32 turn, void *context)
{
	u64 *until = context;

	(void)turn;
	return bpf_ktime_get_ns() >= *until;
}

/* Spins for the rest of a gap, at most `limit`. Returns the time after it. */
INLINE u64 spin(const struct conn *c, u64 now, u64 limit)
{
	u64 until = c->law.flow.next_ns;

	if (until <= now || until - now > limit)
		return now;
	bpf_loop(SPIN_TURNS, spin_turn, &until, 0);
	return bpf_ktime_get_ns();
}

/* Returns the payload of the packet that leaves next; 0: there is none. */
INLINE u32 next_payload(const struct sock *sk, const struct tcp_sock *tp)
{
	const struct sk_buff *head;

	if (tp->lost_out > tp->retrans_out)
		return tp->mss_cache;
	if (!sk->sk_write_queue.qlen)
		return 0;
	head = sk->sk_write_queue.next;
	return head ? (u32)rapid_min(head->len, tp->mss_cache) : 0;
}

/*
 * Payload of the packet whose own payload is `payload`. Linux 6.10 and later fill a short packet with the data behind it
 * (tcp_grow_skb), which makes the next one as short, and so on: after one change of the MSS all packets are short here, and
 * leave full. Older kernels do not, nor does any where the application keeps data apart (MSG_EOR, MSG_ZEROCOPY); so it is as with
 * the last such packet.
 */
INLINE u32 filled(struct conn *c, const struct sock *sk, const struct tcp_sock *tp, u32 payload)
{
	c->short_head = 0;
	if (payload >= tp->mss_cache || sk->sk_write_queue.qlen < 2)
		return payload;
	c->short_head = payload;
	return c->fills ? (u32)rapid_min(tp->write_seq - tp->snd_nxt, tp->mss_cache) : payload;
}

/*
 * Packets that the next try may send: the size of its super-packet. TCP makes these itself, of a millisecond's data or more
 * where round trips are short (tcp_tso_autosize), up to the device's limit, which the load therefore
 * lowers. A group is one try, one timer and one gap, and to the law packets
 * that left at the same time: of the packets of a half-level it reads the one that waited least, which is a group's first.
 */
INLINE u32 group_of(const struct sock *sk, const struct tcp_sock *tp, u32 payload)
{
	u32 most = (u32)rapid_min(together_most(), sk->sk_gso_max_segs);
	const struct sk_buff *head;

	if (most <= 1 || payload < tp->mss_cache || tp->lost_out > tp->retrans_out)
		return 1;
	head = sk->sk_write_queue.next;
	return head ? (u32)rapid_clamp(head->len / payload, 1, most) : 1;
}

/* The receiver's window is closed: no new data may leave. */
INLINE u32 is_shut(const struct tcp_sock *tp, u32 payload)
{
	return tp->lost_out <= tp->retrans_out && before(tp->snd_una + tp->snd_wnd, tp->snd_nxt + payload);
}

/*
 * None of our data was acknowledged for the duration of TCP's timer, whatever the peer sends (RFC 6298, 2.3). TCP's own timer may take much longer: once the
 * oldest packet is older than the timer, each new one delays it by two round trips (Linux 6.1 to 6.18:
 * tcp_schedule_loss_probe), and at a low rate the window holds a second of them. So no new data leave until the
 * timer has expired, or data are acknowledged.
 */
INLINE u32 is_path_silent(const struct conn *c, const struct tcp_sock *tp, u64 now)
{
	const struct packet *oldest = packet_at(c->slot, c->head);
	u64 timer = ((u64)(tp->srtt_us >> 3) + tp->rttvar_us) * 1000;

	if (!oldest || !tp->packets_out || c->head >= c->next || tp->lost_out > tp->retrans_out)
		return 0;
	return now > rapid_max(c->acked_ns, oldest->law.sent_ns) + timer;
}

/* Stops all but TCP's timers from sending before the next acknowledgment. */
INLINE void hold(struct tcp_sock *tp)
{
	tp->snd_cwnd = (u32)rapid_max(tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out, 1);
}

/*
 * Whether the application, not this host, missed a time to send: no packet was behind the last, and half a gap,
 * which the law makes up for, was too short. (TCP does not call when it has no data.)
 */
INLINE u32 was_drained(const struct conn *c, u64 now)
{
	return c->drained && now > c->law.flow.next_ns + (c->law.flow.gap_q10 >> (RAPID_Q10_BITS + 1));
}

INLINE void note_idle(struct conn *c)
{
	c->idle = 1;
	c->guard.idled = 1;
}

/* Writes the pacing rate for a packet that leaves now. (Apart: the stack of the calls that commit makes is full.) */
static __attribute__((noinline)) void propose(struct conn *c, struct sock *sk, struct tcp_sock *tp)
{
	const struct config *cfg = the_config();
	u64 clock = tp->tcp_clock_cache, stamp = tp->tcp_wstamp_ns, now = clock, wait, next;
	u32 payload = next_payload(sk, tp), group;

	c->proposed = 0;
	if (!payload || is_shut(tp, payload)) {
		note_idle(c);
		c->guard.paused |= !payload;
		c->shut |= payload != 0;
		return;
	}
	if (is_path_silent(c, tp, clock)) {
		note_idle(c);
		hold(tp);
		return;
	}
	payload = filled(c, sk, tp, payload);
	if (was_drained(c, clock)) {
		note_idle(c);
		c->guard.paused = 1;
	}
	if (cfg && cfg->spin_ns)
		now = spin(c, now, cfg->spin_ns);
	next = law_before_sending(c, now, payload + c->overhead);
	if (c->idle)
		/* The law's schedule after the pause: it shortens no gap for it. */
		next = rapid_max(next, now + (c->law.flow.gap_q10 >> RAPID_Q10_BITS));
	group = group_of(sk, tp, payload);
	next += (group - 1) * c->law.flow.gap_q10 >> RAPID_Q10_BITS;
	payload *= group;
	if (cfg && cfg->spin_ns)
		next -= rapid_min(next, cfg->spin_ns);
	wait = rapid_clamp(rapid_above(next, clock), WAIT_MIN_NS, RAPID_NS_PER_S);
	wait += rapid_min(wait, rapid_above(clock, stamp));
	sk->sk_pacing_rate = rapid_clamp(payload * RAPID_NS_PER_S / wait, 1, pacing_limit(sk));
	c->proposal_ns = now;
	c->proposed = 1;
	c->last = tp->lost_out <= tp->retrans_out && tp->snd_nxt + payload == tp->write_seq;
}

/* min_tso_segs */
INLINE void tick(struct conn *c, struct sock *sk, struct tcp_sock *tp)
{
	if (c->waiting)
		return;
	commit(c, tp);
	note_payload(c, sk, tp);
	if (tp->tcp_wstamp_ns <= tp->tcp_clock_cache)
		propose(c, sk, tp);
	else if (next_payload(sk, tp))
		c->drained = 0;
}

#endif
