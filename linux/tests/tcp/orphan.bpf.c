/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The sender on a kernel without CUBIC: its successor is missing. */
#define SUCCESSOR "nobody"
#include "sender.bpf.c"
