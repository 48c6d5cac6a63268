// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Borrowed memory regions: only an ib_uverbs that takes extensions can keep them.
 */
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_extension.h>
#include <rdma/uverbs_types.h>

#include "borrow.h"

/* Until it's returned it can't be deregistered or changed: the region, or an ERR_PTR. */
struct ib_mr *collq_borrow_mr(struct collq_context *ctx, struct ib_uobject *mr)
{
	int err = uverbs_mr_use(mr);

	if (err)
		return ERR_PTR(err);
	collq_borrow(ctx);
	return mr->object;
}

void collq_return_mr(struct collq_context *ctx, struct ib_uobject *mr)
{
	uverbs_mr_unuse(mr);
	collq_give_back(ctx);
}
