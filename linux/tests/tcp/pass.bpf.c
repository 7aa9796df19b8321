/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* A foreign filter. */
#include "prelude.h"

SEC("tc")
int pass(struct __sk_buff *skb)
{
	(void)skb;
	return TC_ACT_UNSPEC;
}

SEC("license") char pass_license[] = "GPL";
