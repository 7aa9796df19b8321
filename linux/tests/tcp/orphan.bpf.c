/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The sender on a kernel whose CUBIC is a module that is not loaded: the successor that it names is not there. */
#define SUCCESSOR "nobody"
#include "sender.bpf.c"
