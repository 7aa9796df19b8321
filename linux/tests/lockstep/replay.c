/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Repeats the calls of a recorded connection in user space, and compares
 * the law's state after each with the kernel's.
 *
 *     replay FILE      LAW_PARAMS, then struct law_event after struct law_event
 *
 * Prints the number of calls that agreed; stops at the first that does not.
 */
#include <stdio.h>
#include <stdlib.h>

#ifdef SENDER_THESIS
#include "rapid/thesis.h"
#define LAW(call) rapid_thesis_##call
#define LAW_PARAMS struct rapid_thesis_params
static struct rapid_thesis law;
static struct rapid_gaps gaps;
#define GAPS &gaps
#else
#include "rapid/rapid.h"
#define LAW(call) rapid_##call
#define LAW_PARAMS struct rapid_params
static struct rapid law;
#define GAPS 0
#endif

#include "events.h"

#define RECORDS 4096
#define STREAMS 256

static struct rapid_record records[RECORDS];
static struct rapid_stream streams[STREAMS];

static u64 call(const struct law_event *e, LAW_PARAMS *params, const struct rapid_memory *memory)
{
	switch (e->call) {
	case CALL_BEGIN:
		params->packet = e->packet;
#ifdef SENDER_THESIS
		rapid_thesis_init(&law, params, e->now_ns, e->number);
#else
		rapid_init(&law, params, e->now_ns, e->number, e->argument);
#endif
		break;
	case CALL_BEFORE_SENDING:
		return LAW(before_sending)(&law, memory, e->now_ns, (u32)e->number);
	case CALL_SENT:
		LAW(on_sent)(&law, memory, e->now_ns, e->number, (u32)e->argument, (u32)(e->argument >> 32));
		break;
	case CALL_ARRIVAL:
		LAW(on_arrival)(&law, memory, e->now_ns, e->number, e->argument);
		break;
	case CALL_UNSTAMPED:
		LAW(on_unstamped)(&law, memory, e->now_ns, e->number);
		break;
	case CALL_LOST:
		LAW(on_lost)(&law, memory, e->now_ns, e->number);
		break;
	case CALL_RTT:
		LAW(on_rtt)(&law, e->argument);
		break;
	case CALL_RECOVERY:
		LAW(on_recovery)(&law);
		break;
	case CALL_TIMEOUT:
		LAW(on_timeout)(&law);
		break;
	case CALL_CAP:
		LAW(set_rate)(&law, rapid_min(law.flow.rate, e->argument));
		break;
	case CALL_NOISE:
#ifndef SENDER_THESIS
		law.tuning.stamp_noise_ns = (u32)e->argument;
		law.tuning.level_min_ns = RAPID_LEVEL_NOISES * (u32)e->argument;
#endif
		break;
	case CALL_SPURIOUS:
		LAW(on_spurious_timeout)(&law, e->argument, (u32)e->number);
		break;
	case CALL_MARKED:
		LAW(on_marked)(&law);
		break;
	case CALL_PACKET:
		LAW(set_packet)(&law, (u32)e->argument);
		break;
	case CALL_START:
#ifdef SENDER_THESIS
		rapid_thesis_start(&law, e->now_ns, e->number, (u32)e->argument, (u32)(e->argument >> 32));
#else
		rapid_start(&law, memory, e->now_ns, e->number, (u32)e->argument, (u32)(e->argument >> 32));
#endif
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
	struct rapid_memory memory = {records, streams, GAPS, RECORDS - 1, STREAMS - 1};
	LAW_PARAMS params;
	struct law_event e;
	unsigned long calls = 0;

	if (!file || fread(&params, sizeof(params), 1, file) != 1)
		return 2;
	for (; fread(&e, sizeof(e), 1, file) == 1; calls++) {
		u64 answer = call(&e, &params, &memory);

		if (answer == e.argument && law.flow.rate == e.rate && law.flow.next_ns == e.next_ns && law.available == e.available &&
		    law.streams == e.streams)
			continue;
		fprintf(stderr, "call %lu (%u): rate %llu, next %llu, available %llu, streams %llu here, %llu, %llu, %llu, %llu in the kernel\n",
			calls, e.call, law.flow.rate, law.flow.next_ns, law.available, (u64)law.streams, e.rate, e.next_ns, e.available, e.streams);
		return 1;
	}
	printf("%lu calls, %u streams\n", calls, law.streams);
	return 0;
}
