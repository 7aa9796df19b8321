/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Negotiates, writes and reads the option of wire.h: sock_ops on a cgroup2, at
 * both ends of a connection.
 *
 *   connect, listen     enable the callbacks that write options
 *   SYN, SYN-ACK        offer; answer an offer
 *   established         both offers decide: read arrivals, report them, or
 *                       neither, and the callbacks are disabled
 *   each segment sent   request, when a congestion control of ours has started
 *   each ACK sent       report arrivals (stamp.h)
 *   each ACK received   store the reported arrivals (feedback.h)
 *
 * The option never shrinks data: it travels on segments with free option space, that is
 * on pure acknowledgments and on data at least WIRE_SPARE short of the MSS. SACK
 * blocks are written first and keep their place. (Data with a request are 8 bytes
 * shorter, for a round trip; acknowledgments report, and do not request.) A lost SYN
 * is repeated without the option, since something on the path may drop it; after
 * DEAF_TIMES of these in a row, without one that passed with it at the
 * same time, no SYN to that address carries it for DEAF_NS. A SYN-ACK omits it after two.
 *
 * Every SYN offers, since its connection may select a congestion control of ours
 * later, and its peer too. Only a connection under one of ours wants arrivals; any other
 * may want them later, and its peer reports none until requested.
 *
 * A SYN's offer is stored until its handshake ends (option_handshake.h). Listeners older than the program, and
 * handshakes by SYN cookie, do without the option.
 */
#include "kernel.h"
#include "stamp.h"
#include "feedback.h"
#include "maps.h"
#include "option_clock.h"
#include "option_deaf.h"
#include "option_handshake.h"

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_ACK 0x10
#define SACK 5
#define ENOMSG 42

/* All the options that a TCP header can hold. */
#define WIRE_SPARE 40
/* Option lengths to try: 28 bytes to 8, four at a time. */
#define RESERVE_TRIES 6

/* Set before the program is loaded. */
const volatile u32 offered = WIRE_STAMPS | WIRE_WANTS;
/* What connections of other congestion controls offer when they are opened. */
const volatile u32 volunteered = WIRE_STAMPS | WIRE_MAY;

/* Names of the congestion controls that want arrivals. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, char[16]);
	__type(value, u32);
} askers SEC(".maps");

/* Connections whose SYN requested arrivals: another congestion control may be selected before the SYN-ACK. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, u32);
} wanting SEC(".maps");

/* The peer's offer, in the packet at hand or (`flags`) in the SYN, which is there when its first answer is built. */
INLINE u32 peer_offer(struct bpf_sock_ops *s, u64 flags)
{
	u8 option[WIRE_OFFER] = {WIRE_KIND, WIRE_HEAD, WIRE_EXPERIMENT >> 8, WIRE_EXPERIMENT & 0xff};
	long length = bpf_load_hdr_opt(s, option, sizeof(option), flags);

	return length < 0 ? 0 : wire_get_offer(option, (u32)length);
}

/* Whether two ends with these offers need the option. */
INLINE int match(u32 ours, u32 theirs)
{
	return (ours & WIRE_STAMPS && theirs & (WIRE_WANTS | WIRE_MAY)) ||
	       (ours & (WIRE_WANTS | WIRE_MAY) && theirs & WIRE_STAMPS);
}

INLINE void set_callbacks(struct bpf_sock_ops *s, u32 set, u32 clear)
{
	bpf_sock_ops_cb_flags_set(s, (int)((s->bpf_sock_ops_cb_flags & ~clear) | set));
}

/* Offer of this end's SYN. Sockets accepted by a listener send a request if they want arrivals. */
INLINE u32 our_offer(struct bpf_sock_ops *s, u32 answering)
{
	char name[16] = {0};

	if (answering)
		return offered & WIRE_WANTS ? (offered & ~WIRE_WANTS) | WIRE_MAY : offered;
	if (!bpf_getsockopt(s, SOL_TCP, TCP_CONGESTION, name, sizeof(name)) && bpf_map_lookup_elem(&askers, name))
		return offered;
	return volunteered;
}

INLINE void on_connect(struct bpf_sock_ops *s)
{
	struct far_end end = far_end_of(s, 0);
	u32 ours = our_offer(s, 0);
	struct bpf_sock *sk = s->sk;

	if (!ours || !sk || is_deaf(bpf_map_lookup_elem(&deaf, &end)))
		return;
	set_callbacks(s, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG, 0);
	if (ours & WIRE_WANTS)
		bpf_sk_storage_get(&wanting, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
}

INLINE void on_listen(struct bpf_sock_ops *s)
{
	set_callbacks(s, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG, 0);
}

INLINE void on_established(struct bpf_sock_ops *s, u32 ours, u32 theirs)
{
	struct bpf_sock *sk = s->sk;
	u32 reads = 0, writes = 0;
	struct feedback *f;

	if (!sk)
		return;
	if (ours & WIRE_STAMPS && theirs & WIRE_WANTS)
		writes = bpf_sk_storage_get(&stamps, sk, 0, BPF_SK_STORAGE_GET_F_CREATE) != 0;
	else
		reads = ours & WIRE_STAMPS && theirs & WIRE_MAY;
	if (ours & (WIRE_WANTS | WIRE_MAY) && theirs & WIRE_STAMPS) {
		f = bpf_sk_storage_get(&feedback, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
		if (f) {
			f->flags = FEEDBACK_NEGOTIATED | (ours & WIRE_WANTS ? 0 : FEEDBACK_SILENT);
			reads = 1;
			writes |= !(ours & WIRE_WANTS);
		}
	}
	set_callbacks(s, reads ? BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG : 0,
		      writes ? 0 : BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
	if (writes)
		set_callbacks(s, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG, 0);
}

INLINE void on_connected(struct bpf_sock_ops *s)
{
	struct bpf_sock *sk = s->sk;
	u32 theirs = peer_offer(s, 0), wanted, ours;

	if (!sk)
		return;
	wanted = bpf_sk_storage_get(&wanting, sk, 0, 0) != 0;
	ours = wanted ? offered : volunteered;
	/* A SYN without an offer is no evidence about the path. */
	if (ours)
		count_syn(s, theirs);
	on_established(s, ours, theirs);
	if (wanted)
		bpf_sk_storage_delete(&wanting, sk);
}

INLINE void on_accepted(struct bpf_sock_ops *s)
{
	on_established(s, our_offer(s, 1), end_handshake(s));
}

/* If the header has no space for the option, the peer does not learn that we have it. */
INLINE void reserve_answer(struct bpf_sock_ops *s)
{
	struct far_end end = far_end_of(s, 1);
	u32 theirs = peer_offer(s, BPF_LOAD_HDR_OPT_TCP_SYN);

	if (answers_now(s, &end, theirs, match(our_offer(s, 1), theirs)) && bpf_reserve_hdr_opt(s, WIRE_OFFER, 0))
		bpf_map_delete_elem(&answered, &end);
}

INLINE void reserve_offer(struct bpf_sock_ops *s)
{
	if (!(s->skb_tcp_flags & TCP_ACK)) {
		if (s->total_retrans < SYN_TRIES)
			bpf_reserve_hdr_opt(s, WIRE_OFFER, 0);
	} else if (s->args[0] != BPF_WRITE_HDR_TCP_SYNACK_COOKIE) {
		reserve_answer(s);
	}
}

/* Right edge of the SACK block that comes first in the acknowledgment; `ack` where there is none. */
INLINE u32 first_sacked(struct bpf_sock *sk, u32 ack)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);

	return tp && tp->rx_opt.num_sacks ? tp->selective_acks[0].end_seq : ack;
}

/* Builds the option now, so that its length is known, and keeps it until TCP has written its own. */
INLINE void reserve_run(struct bpf_sock_ops *s)
{
	struct bpf_sock *sk = s->sk;
	struct stamp_ack ack = {.ack = s->rcv_nxt};
	struct wire_run run = {0};
	struct stamps *arrivals;
	u32 length, i;

	if (!sk || (s->skb_len && s->skb_len + WIRE_SPARE > s->mss_cache))
		return;
	arrivals = bpf_sk_storage_get(&stamps, sk, 0, 0);
	if (!arrivals)
		return;
	arrivals->length = 0;
	ack.sacked = first_sacked(sk, ack.ack);
	if (!stamp_run(arrivals, &ack, &run))
		return;
	length = stamp_write(arrivals, &run);
	/* As many arrivals as fit. */
	for (i = 0; i < RESERVE_TRIES && length >= WIRE_BASE; i++) {
		if (!bpf_reserve_hdr_opt(s, length, 0)) {
			wire_cut(arrivals->option, length);
			arrivals->length = length;
			return;
		}
		length = (length - 1) & ~3u;
	}
}

/* The requesting end's storage, while it requests. */
INLINE struct feedback *asking(struct bpf_sock_ops *s)
{
	struct bpf_sock *sk = s->sk;
	struct feedback *f = sk ? bpf_sk_storage_get(&feedback, sk, 0, 0) : 0;

	return f && f->asking ? f : 0;
}

/* Also called when TCP computes the payload of a segment. */
INLINE void reserve_ask(struct bpf_sock_ops *s)
{
	struct bpf_sock *sk = s->sk;
	struct stamps *arrivals = sk ? bpf_sk_storage_get(&stamps, sk, 0, 0) : 0;

	if (arrivals)
		arrivals->length = 0;
	if (s->skb_len + WIRE_BASE <= s->mss_cache)
		bpf_reserve_hdr_opt(s, WIRE_OFFER, 0);
}

INLINE void on_reserve(struct bpf_sock_ops *s)
{
	if (s->skb_tcp_flags & TCP_SYN) {
		reserve_offer(s);
	} else if ((s->skb_len || s->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS) && asking(s)) {
		reserve_ask(s);
	} else if (s->args[0] != BPF_WRITE_HDR_TCP_CURRENT_MSS && !(s->skb_tcp_flags & TCP_RST)) {
		reserve_run(s);
	}
}

INLINE void on_write(struct bpf_sock_ops *s)
{
	u8 offer[WIRE_OFFER];
	struct bpf_sock *sk = s->sk;
	struct feedback *f;
	struct stamps *arrivals;
	u64 length;

	if (s->skb_tcp_flags & TCP_SYN) {
		wire_put_offer(offer, our_offer(s, s->skb_tcp_flags & TCP_ACK));
		bpf_store_hdr_opt(s, offer, sizeof(offer), 0);
		if (s->skb_tcp_flags & TCP_ACK)
			note_answer(s);
		return;
	}
	arrivals = sk ? bpf_sk_storage_get(&stamps, sk, 0, 0) : 0;
	if (arrivals && arrivals->length >= WIRE_BASE) {
		length = arrivals->length;
		arrivals->length = 0;
		/* A separate comparison: the verifier of Linux 6.1 does not see the bound in a difference. */
		asm volatile("" : "+r"(length));
		if (length <= WIRE_MAX && !bpf_store_hdr_opt(s, arrivals->option, (u32)length, 0))
			arrivals->reported = arrivals->next;
		return;
	}
	f = asking(s);
	if (!f)
		return;
	wire_put_offer(offer, WIRE_WANTS);
	if (!bpf_store_hdr_opt(s, offer, sizeof(offer), 0))
		f->asking--;
}

/* Sets `end` to where the run of an incoming acknowledgment ends. Returns 0 where it names something never sent. */
INLINE int run_end(struct bpf_sock_ops *s, u32 beside, u32 ack, u32 *end)
{
	u8 sack[34] = {SACK};

	*end = ack;
	if (beside) {
		if (bpf_load_hdr_opt(s, sack, sizeof(sack), 0) < 10)
			return 0;
		*end = big32(sack + 6);
	}
	return !before(s->snd_nxt, *end);
}

/*
 * Whether a run has news. An acknowledgment overtaken by another has none, nor has the block of
 * a duplicate, which comes first (RFC 2883).
 */
INLINE int is_news(struct bpf_sock_ops *s, u32 beside, u32 ack, u32 end)
{
	return !before(ack, s->snd_una) && (!beside || before(ack, end));
}

INLINE void write_down(struct feedback *f, const struct wire_run *run, u64 now, u64 newest)
{
	u64 at = newest;
	u32 i, n = run->gaps;

	f->heard_ns = now;
	f->count = n + 1;
	f->arrival_ns[MASKED(n, FEEDBACK_ARRIVALS)] = at;
	for (i = 0; i < WIRE_GAPS; i++) {
		if (i >= n)
			break;
		at -= run->gap_ns[i];
		f->arrival_ns[MASKED(n - 1 - i, FEEDBACK_ARRIVALS)] = at;
	}
}

/* From now on this end reports arrivals. */
INLINE void on_asked(struct bpf_sock_ops *s, u32 theirs)
{
	struct bpf_sock *sk = s->sk;

	if (sk && theirs & WIRE_WANTS && offered & WIRE_STAMPS &&
	    bpf_sk_storage_get(&stamps, sk, 0, BPF_SK_STORAGE_GET_F_CREATE))
		set_callbacks(s, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG, 0);
}

/*
 * Whether TCP accepts an acknowledgment (RFC 5961, 5.2): it covers no unsent data, and is no older than the peer's largest
 * window, or everything that the peer has acknowledged, explains. Anybody may have sent an unacceptable one.
 */
INLINE int is_taken(struct bpf_sock_ops *s, struct bpf_sock *sk, u32 ack)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	u64 acked = s->bytes_acked;
	u32 back;

	if (!tp)
		return 0;
	back = acked < tp->max_window ? (u32)acked : tp->max_window;
	return !before(ack, s->snd_una - back) && !before(s->snd_nxt, ack);
}

INLINE void on_parse(struct bpf_sock_ops *s)
{
	u8 option[WIRE_MAX] = {WIRE_KIND, WIRE_HEAD, WIRE_EXPERIMENT >> 8, WIRE_EXPERIMENT & 0xff};
	const u8 *tcp = s->skb_data, *end = s->skb_data_end;
	struct bpf_sock *sk = s->sk;
	struct wire_run run = {0};
	struct feedback *f;
	long length;
	u64 now, newest;
	u32 ack, edge;
	int taken;

	if (!sk || tcp + 20 > end)
		return;
	length = bpf_load_hdr_opt(s, option, sizeof(option), 0);
	if (length == -ENOMSG)
		return;
	ack = big32(tcp + 8);
	taken = is_taken(s, sk, ack);
	if (length == WIRE_OFFER) {
		if (taken)
			on_asked(s, wire_get_offer(option, WIRE_OFFER));
		return;
	}
	f = bpf_sk_storage_get(&feedback, sk, 0, 0);
	if (!f || f->flags & FEEDBACK_DISTRUSTED)
		return;
	if (!taken) {
		f->malformed++;
		return;
	}
	if (length < 0 || !wire_get_run(option, (u32)length, &run) || !run_end(s, run.beside, ack, &edge)) {
		f->malformed++;
		clock_unreadable(f);
		return;
	}
	clock_readable(f);
	if (!is_news(s, run.beside, ack, edge))
		return;
	now = bpf_ktime_get_ns();
	newest = clock_unwrapped(f, run.newest_ns, now);
	if (!clock_believed(f, now, newest, (u64)s->srtt_us * 125)) {
		f->disbelieved++;
		f->malformed++;
		return;
	}
	f->ack_seq = ack;
	f->end_seq = edge;
	f->asking = 0;
	f->flags &= ~(u32)FEEDBACK_SILENT;
	write_down(f, &run, now, newest);
	f->news++;
}

SEC("sockops")
int stamp_option(struct bpf_sock_ops *s)
{
	switch (s->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		on_connect(s);
		break;
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		on_listen(s);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		on_connected(s);
		break;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		on_accepted(s);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		on_reserve(s);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		on_write(s);
		break;
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
		on_parse(s);
		break;
	}
	return 1;
}

SEC("license") char stamp_option_license[] = "GPL";
