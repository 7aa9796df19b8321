/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* sender.bpf.c with the law of the dissertation. */
#define SENDER_THESIS
#include "sender.bpf.c"
