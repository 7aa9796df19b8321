/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The smallest BPF host of the law: it shows that the headers compile for that machine, and how a host plugs in. */
#define SEC(name) __attribute__((section(name), used))

#define HOST_RECORDS 4096
#define HOST_STREAMS 256
#define RAPID_RECORD(memory, number) (&(memory)->records[(u32)(number) & (HOST_RECORDS - 1)])
#define RAPID_STREAM(memory, number) (&(memory)->streams[(u32)(number) & (HOST_STREAMS - 1)])
/* The stack has 512 bytes: what happens once per stream stays out of what happens once per packet. */
#define RAPID_STAGE static __attribute__((noinline, unused))
#define RAPID_LOOP(n, fn, context) bpf_loop((unsigned int)(n), (void *)fn, (context), 0)

static long (*const bpf_loop)(unsigned int, void *, void *, unsigned long long) = (void *)181;
static unsigned long long (*const bpf_ktime_get_ns)(void) = (void *)5;

#ifdef HOST_THESIS
#include "rapid/thesis.h"
#define LAW(call) rapid_thesis_##call
static struct rapid_thesis law;
static struct rapid_gaps gaps;
#define GAPS &gaps
#else
#include "rapid/rapid.h"
#define LAW(call) rapid_##call
static struct rapid law;
#define GAPS 0
#endif

static struct rapid_record records[HOST_RECORDS];
static struct rapid_stream streams[HOST_STREAMS];

static __attribute__((always_inline)) struct rapid_memory memory(void)
{
	return (struct rapid_memory){records, streams, GAPS, HOST_RECORDS - 1, HOST_STREAMS - 1};
}

#ifdef HOST_THESIS
SEC("struct_ops/init") int host_init(struct rapid_thesis_params *params)
{
	rapid_thesis_init(&law, params, bpf_ktime_get_ns(), 30000000);
	return 0;
}
#else
SEC("struct_ops/init") int host_init(struct rapid_params *params)
{
	rapid_init(&law, params, bpf_ktime_get_ns(), 30000000, 1);
	return 0;
}
#endif

SEC("struct_ops/sent") int host_sent(u64 *packet)
{
	struct rapid_memory m = memory();

	LAW(on_sent)(&law, &m, bpf_ktime_get_ns(), *packet, 1500, 0);
	return 0;
}

SEC("struct_ops/arrival") int host_arrival(u64 *packet)
{
	struct rapid_memory m = memory();

	LAW(on_arrival)(&law, &m, bpf_ktime_get_ns(), packet[0], packet[1]);
	return 0;
}

SEC("struct_ops/unstamped") int host_unstamped(u64 *packet)
{
	struct rapid_memory m = memory();

	LAW(on_unstamped)(&law, &m, bpf_ktime_get_ns(), *packet);
	return 0;
}

SEC("struct_ops/lost") int host_lost(u64 *packet)
{
	struct rapid_memory m = memory();

	LAW(on_lost)(&law, &m, bpf_ktime_get_ns(), *packet);
	return 0;
}

SEC("struct_ops/window") int host_window(u64 *rtt)
{
	LAW(on_rtt)(&law, *rtt);
	return (int)LAW(window)(&law);
}

SEC("license") char host_license[] = "GPL";
