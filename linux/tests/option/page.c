/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* bpf/wire.h, bpf/stamp.h and bpf/option_clock.h in user space, for page.rs and clock.rs: one request per line, one answer per line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stamp.h"
#include "option_clock.h"

static struct stamps stamps;
static struct feedback feedback;

static void say(const struct wire_run *run)
{
	printf("%u %u", run->newest_ns, run->beside);
	for (u32 i = 0; i < run->gaps; i++)
		printf(" %u", run->gap_ns[i]);
	puts("");
}

/* put NEWEST BESIDE COUNT GAP... */
static void put(void)
{
	struct wire_run run = {0};
	u8 *out = malloc(WIRE_MAX);
	u32 length;

	if (scanf("%u %u %u", &run.newest_ns, &run.beside, &run.gaps) != 3 || run.gaps > WIRE_GAPS)
		exit(2);
	for (u32 i = 0; i < run.gaps; i++)
		if (scanf("%u", &run.gap_ns[i]) != 1)
			exit(2);
	length = wire_put_run(out, &run);
	for (u32 i = 0; i < length; i++)
		printf("%02x", out[i]);
	puts("");
	free(out);
}

/* get LENGTH HEX: exactly that many bytes can be read. */
static void get(void)
{
	struct wire_run run = {0};
	u32 length, byte;
	u8 *in;

	if (scanf("%u", &length) != 1)
		exit(2);
	in = malloc(length);
	for (u32 i = 0; i < length; i++) {
		if (scanf("%2x", &byte) != 1)
			exit(2);
		in[i] = (u8)byte;
	}
	if (wire_get_run(in, length, &run))
		say(&run);
	else
		puts("no");
	free(in);
}

/* note NS START LENGTH SEGMENTS */
static void note(void)
{
	u64 ns;
	u32 start, length, segments;

	if (scanf("%llu %u %u %u", &ns, &start, &length, &segments) != 4)
		exit(2);
	stamp_note(&stamps, ns, start, length, segments);
	puts("ok");
}

/* ack ACK SACKED */
static void acknowledge(void)
{
	struct wire_run run = {0};
	struct stamp_ack ack;

	if (scanf("%u %u", &ack.ack, &ack.sacked) != 2)
		exit(2);
	if (stamp_run(&stamps, &ack, &run)) {
		stamps.reported = stamps.next;
		say(&run);
	} else {
		puts("no");
	}
}

/* clock NS CLOCK RTT: the decoded arrival, whether it is trusted, and the doubts. */
static void read_clock(void)
{
	u64 now, rtt, arrival;
	u32 clock;
	int believed;

	if (scanf("%llu %u %llu", &now, &clock, &rtt) != 3)
		exit(2);
	arrival = clock_unwrapped(&feedback, clock, now);
	believed = clock_believed(&feedback, now, arrival, rtt);
	printf("%llu %d %u\n", arrival, believed, feedback.doubts);
}

/* spoil READABLE: an unreadable option after READABLE valid ones; whether the peer is still trusted. */
static void spoil(void)
{
	u32 readable;

	if (scanf("%u", &readable) != 1)
		exit(2);
	while (readable--)
		clock_readable(&feedback);
	clock_unreadable(&feedback);
	printf("%d\n", !(feedback.flags & FEEDBACK_DISTRUSTED));
}

int main(void)
{
	char what[16];
	u64 about;
	u32 clock;

	while (scanf("%15s", what) == 1) {
		if (!strcmp(what, "put"))
			put();
		else if (!strcmp(what, "get"))
			get();
		else if (!strcmp(what, "note"))
			note();
		else if (!strcmp(what, "ack"))
			acknowledge();
		else if (!strcmp(what, "clock"))
			read_clock();
		else if (!strcmp(what, "spoil"))
			spoil();
		else if (!strcmp(what, "forget"))
			puts((memset(&stamps, 0, sizeof(stamps)), memset(&feedback, 0, sizeof(feedback)), "ok"));
		else if (!strcmp(what, "unwrap") && scanf("%u %llu", &clock, &about) == 2)
			printf("%llu\n", wire_unwrap(clock, about));
		else
			return 2;
		fflush(stdout);
	}
	return 0;
}
