// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Borrowed verbs objects: the process' own protection domains and memory regions.
 *
 * They belong to the process' uverbs file, which destroys them when it's closed, and
 * doesn't expect that to be refused once everything else has gone. So who borrows has
 * given back by then: whoever closes the file, or destroys what borrows, waits.
 */
#include <linux/wait_bit.h>

#include <rdma/ib_verbs.h>

#include "borrow.h"
#include "context.h"
#include "linger.h"

/* One more thing is borrowed, by any of the context's objects; and one less. */
void collq_borrow(struct collq_context *ctx)
{
	atomic_inc(&ctx->borrowed);
}

void collq_give_back(struct collq_context *ctx)
{
	if (atomic_dec_and_test(&ctx->borrowed))
		wake_up_var(&ctx->borrowed);
}

/* Until it's returned it can't be deallocated. The caller's method keeps it so far. */
void collq_borrow_pd(struct collq_context *ctx, struct ib_pd *pd)
{
	atomic_inc(&pd->usecnt);
	collq_borrow(ctx);
}

/* The opposite, for the one who holds it at @pd. */
void collq_return_pd(struct collq_context *ctx, struct ib_pd **pd)
{
	atomic_dec(&(*pd)->usecnt);
	/* Pairs with who waits for it to be gone, and deallocates it. */
	smp_store_release(pd, NULL);
	/* Whether somebody waits must not be asked before that is seen. */
	smp_mb();
	wake_up_var(pd);
	collq_give_back(ctx);
}

/*
 * All that the context's objects have borrowed is returned, or will be: they have been
 * destroyed. Takes as long as an endpoint's last message, within limits. Sleeps.
 */
void collq_wait_returned(struct collq_context *ctx)
{
	if (!atomic_read(&ctx->borrowed))
		return;
	collq_linger_shorten(ctx);
	wait_var_event(&ctx->borrowed, !atomic_read(&ctx->borrowed));
}
