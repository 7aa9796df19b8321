/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The laws of queues with linkage, for `queueing.rs`. Nothing is decided here. */
#include "queueing/qlbp.h"
#include "queueing/red.h"
#include "queueing/tdqm.h"

void queueing_face_sizes(u64 sizes[6])
{
	sizes[0] = sizeof(struct qlbp_params);
	sizes[1] = sizeof(struct qlbp);
	sizes[2] = sizeof(struct red_params);
	sizes[3] = sizeof(struct red);
	sizes[4] = sizeof(struct tdqm_params);
	sizes[5] = sizeof(struct tdqm);
}

void queueing_face_qlbp_on_arrival(struct qlbp *qlbp, const struct qlbp_params *params, u64 waiting)
{
	qlbp_on_arrival(qlbp, params, waiting);
}

void queueing_face_qlbp_on_departure(struct qlbp *qlbp, const struct qlbp_params *params, u64 now, u32 size, u64 waiting)
{
	qlbp_on_departure(qlbp, params, now, size, waiting);
}

u32 queueing_face_red_on_arrival(struct red *red, const struct red_params *params, u64 now, u64 queued, u32 capable, u32 random)
{
	return red_on_arrival(red, params, now, queued, capable, random);
}

void queueing_face_red_on_departure(struct red *red, u64 now, u64 queued) { red_on_departure(red, now, queued); }

void queueing_face_tdqm_begin(struct tdqm *tdqm, const struct tdqm_params *params, u64 now) { tdqm_begin(tdqm, params, now); }

u32 queueing_face_tdqm_on_arrival(struct tdqm *tdqm, const struct tdqm_params *params, u64 now, u32 capable, u32 rho_random,
				  u32 eta_random)
{
	return tdqm_on_arrival(tdqm, params, now, capable, rho_random, eta_random);
}

void queueing_face_tdqm_on_queued(struct tdqm *tdqm, const struct tdqm_params *params, u64 now, u32 size)
{
	tdqm_on_queued(tdqm, params, now, size);
}
