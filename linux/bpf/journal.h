/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Writes the events that user space requests to the ring: each call of the law with
 * its outcome, or each stream that was read, packet by packet.
 */
#ifndef PACKETSCALE_JOURNAL_H
#define PACKETSCALE_JOURNAL_H

#include "events.h"
#include "memory.h"

GLOBAL int note_call(struct conn *c, u32 call, u64 now, u64 number, u64 argument)
{
	const struct config *cfg = the_config();
	struct law_event e;

	if (!c || !cfg || !(cfg->log & LOG_LAW))
		return 0;
	e = (struct law_event){
		.kind = EVENT_LAW,
		.call = call,
		.slot = c->slot,
		.packet = c->law.flow.packet,
		.now_ns = now,
		.number = number,
		.argument = argument,
		.rate = c->law.flow.rate,
		.next_ns = c->law.flow.next_ns,
		.available = c->law.available,
		.streams = c->law.streams,
	};
	c->report.unlogged += bpf_ringbuf_output(&events, &e, sizeof(e), 0) != 0;
	return 1;
}

struct noting {
	struct conn *conn;
	struct rapid_stream *stream_record;
	u64 first;
	u32 stream;
	u32 sent;
};

static long note_packet(u32 turn, void *context)
{
	struct noting *n = context;
	struct packet_event e = {.kind = EVENT_PACKET};
	struct packet *p = packet_at(n->conn->slot, n->first + turn);

	if (!p || p->law.stream != n->stream)
		return 0;
	e.slot = n->conn->slot;
	e.stream = n->stream;
	e.packet = turn;
	e.of = n->sent;
	e.size = p->law.size;
	e.state = p->law.state;
	e.sent_ns = p->law.sent_ns;
	e.arrival_ns = p->law.arrival_ns;
	e.rate = LAW(probe_rate)(&n->conn->law, n->stream_record, p->law.level >> 1);
	e.available = n->conn->law.estimated ? n->conn->law.available : 0;
	e.stream_kind = n->stream_record->kind;
	n->conn->report.unlogged += bpf_ringbuf_output(&events, &e, sizeof(e), 0) != 0;
	return 0;
}

/* Notes the stream that has just been read, if there is one. */
GLOBAL int note_stream(struct conn *c)
{
	const struct config *cfg = the_config();
	struct noting n = {.conn = c};
	struct rapid_stream *s;
	struct memory m;

	if (!c || c->law.streams == c->report.streams)
		return 0;
	c->report.streams = c->law.streams;
	c->report.unusable = c->law.unusable;
	if (c->law.estimated) {
		c->report.available = c->law.available;
		c->report.estimated_ns = bpf_ktime_get_ns();
	}
	m = memory_of(c);
	n.stream = c->law.completed;
	s = RAPID_STREAM(&m.law, n.stream);
	if (!cfg || !(cfg->log & LOG_STREAMS) || !s)
		return 0;
	n.stream_record = s;
	n.first = s->first;
	n.sent = s->sent;
	bpf_loop((u32)rapid_min(n.sent, RECORDS), note_packet, &n, 0);
	return 1;
}

#endif
