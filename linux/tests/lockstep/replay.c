/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Makes the calls of a recorded connection again, in user space, and compares
 * what the law has come to after each with what it had come to in the kernel.
 *
 *     replay FILE      struct rapid_params, then struct law_event after struct law_event
 *
 * Prints how many calls agreed; stops at the first that does not.
 */
#include <stdio.h>
#include <stdlib.h>

#include "rapid/rapid.h"

#include "events.h"

#define RECORDS 4096
#define STREAMS 256

static struct rapid law;
static struct rapid_record records[RECORDS];
static struct rapid_stream streams[STREAMS];
static struct rapid_gaps gaps;

static u64 call(const struct law_event *e, struct rapid_params *params, const struct rapid_memory *memory)
{
	switch (e->call) {
	case CALL_BEGIN:
		params->packet = e->packet;
		rapid_init(&law, params, e->now_ns, e->number, e->argument);
		break;
	case CALL_BEFORE_SENDING:
		return rapid_before_sending(&law, memory, e->now_ns, (u32)e->number);
	case CALL_SENT:
		rapid_on_sent(&law, memory, e->now_ns, e->number, (u32)e->argument, (u32)(e->argument >> 32));
		break;
	case CALL_ARRIVAL:
		rapid_on_arrival(&law, memory, e->now_ns, e->number, e->argument);
		break;
	case CALL_UNSTAMPED:
		rapid_on_unstamped(&law, memory, e->now_ns, e->number);
		break;
	case CALL_LOST:
		rapid_on_lost(&law, memory, e->now_ns, e->number);
		break;
	case CALL_RTT:
		rapid_on_rtt(&law, e->argument);
		break;
	case CALL_RECOVERY:
		rapid_on_recovery(&law);
		break;
	case CALL_TIMEOUT:
		rapid_on_timeout(&law);
		break;
	case CALL_CAP:
		rapid_set_rate(&law, rapid_min(law.rate, e->argument));
		break;
	case CALL_NOISE:
		law.params.stamp_noise_ns = (u32)e->argument;
		law.params.level_min_ns = RAPID_LEVEL_NOISES * (u32)e->argument;
		break;
	case CALL_SPURIOUS:
		rapid_on_spurious_timeout(&law, e->argument, (u32)e->number);
		break;
	case CALL_MARKED:
		rapid_on_marked(&law);
		break;
	case CALL_PACKET:
		rapid_set_packet(&law, (u32)e->argument);
		break;
	case CALL_START:
		rapid_start(&law, memory, e->now_ns, e->number, (u32)e->argument, (u32)(e->argument >> 32));
		break;
	default:
		fprintf(stderr, "an unknown call: %u\n", e->call);
		exit(2);
	}
	return e->argument;
}

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : 0;
	struct rapid_memory memory = {records, streams, &gaps, RECORDS - 1, STREAMS - 1};
	struct rapid_params params;
	struct law_event e;
	unsigned long calls = 0;

	if (!file || fread(&params, sizeof(params), 1, file) != 1)
		return 2;
	if (params.preset != RAPID_THESIS)
		memory.gaps = 0;
	for (; fread(&e, sizeof(e), 1, file) == 1; calls++) {
		u64 answer = call(&e, &params, &memory);

		if (answer == e.argument && law.rate == e.rate && law.next_ns == e.next_ns && law.available == e.available &&
		    law.streams == e.streams)
			continue;
		fprintf(stderr, "call %lu (%u): rate %llu, next %llu, available %llu, streams %llu here, %llu, %llu, %llu, %llu in the kernel\n",
			calls, e.call, law.rate, law.next_ns, law.available, (u64)law.streams, e.rate, e.next_ns, e.available, e.streams);
		return 1;
	}
	printf("%lu calls, %u streams\n", calls, law.streams);
	return 0;
}
