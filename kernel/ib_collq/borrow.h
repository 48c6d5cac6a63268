/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_BORROW_H
#define COLLQ_BORROW_H

#include <linux/types.h>

struct collq_context;
struct ib_mr;
struct ib_pd;
struct ib_uobject;

/**
 * struct collq_borrowed - verbs objects of the process that a new object is to use
 * @pd: protection domain for an endpoint, or NULL
 * @mr: memory region for a region, by its uobject, or NULL
 */
struct collq_borrowed {
	struct ib_pd *pd;
	struct ib_uobject *mr;
};

#ifdef COLLQ_HAVE_UVERBS_EXTENSION
struct ib_mr *collq_borrow_mr(struct collq_context *ctx, struct ib_uobject *mr);
void collq_return_mr(struct collq_context *ctx, struct ib_uobject *mr);
#else
/* No front end has any. */
static inline struct ib_mr *collq_borrow_mr(struct collq_context *ctx,
					    struct ib_uobject *mr)
{
	return NULL;
}

static inline void collq_return_mr(struct collq_context *ctx,
				   struct ib_uobject *mr)
{
}
#endif

void collq_borrow(struct collq_context *ctx);
void collq_give_back(struct collq_context *ctx);
void collq_borrow_pd(struct collq_context *ctx, struct ib_pd *pd);
void collq_return_pd(struct collq_context *ctx, struct ib_pd **pd);
void collq_wait_returned(struct collq_context *ctx);

#endif /* COLLQ_BORROW_H */
