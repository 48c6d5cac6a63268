/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Before a collective that moves data can be built, ranks have to agree on how: its
 * graphs only fit together if all build with the same limits, and devices may differ.
 */
#ifndef COLLQ_AGREE_H
#define COLLQ_AGREE_H

#include "collq/collq.h"

#include "message.h"

struct collq_request;

/*
 * What a rank says, its limits aside, and what makes a graph of it, the prelude and the
 * needs when the limits are agreed on. One of the collectives is what it is about.
 */
struct collq_terms {
	struct collq_message_terms own;
	int (*build)(struct collq_request *req, const struct collq_message_terms *agreed);
	struct collq_alltoall alltoall;
	struct collq_allreduce allreduce;
};

int collq_agree_begin(struct collq_request *req);

/* -EINPROGRESS; 0 when this rank has built, or has its reason to fail; or -errno. */
int collq_agree_test(struct collq_request *req);

#endif /* COLLQ_AGREE_H */
