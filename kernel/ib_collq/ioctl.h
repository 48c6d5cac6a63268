/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_IOCTL_H
#define COLLQ_IOCTL_H

#include <linux/types.h>
#include <linux/uaccess.h>

#include <rdma/ib_collq.h>

#include "borrow.h"

struct collq_context;
struct collq_object;

/**
 * struct collq_ioctl - a command under way
 * @ctx: the context
 * @user: the caller's structure
 * @created: an object to be published if its id reaches the caller
 * @hold: gets a reference to that, for a front end that has handles of its own; or NULL
 * @borrowed: what that front end has for the object to use; or nothing
 * @arg: our copy of the structure; written back when the command is done
 */
struct collq_ioctl {
	struct collq_context *ctx;
	void __user *user;
	struct collq_object *created;
	struct collq_object **hold;
	struct collq_borrowed borrowed;
	union {
		struct ib_collq_query query;
		struct ib_collq_batch batch;
		struct ib_collq_counter_raise raise;
		struct ib_collq_counter_read read;
		struct ib_collq_ring_create ring;
		struct ib_collq_queue_create queue;
		struct ib_collq_graph_create graph;
		struct ib_collq_queue_submit submit;
		struct ib_collq_queue_wait wait;
		struct ib_collq_queue_cancel cancel;
		struct ib_collq_object_describe describe;
		struct ib_collq_context_describe context;
		struct ib_collq_region_create region;
		struct ib_collq_zone_offer zone;
		struct ib_collq_target_create target;
		struct ib_collq_object_reset reset;
	} arg;
};

/*
 * Copies a structure in as the ABI wants it. Inlined, so that the compiler knows
 * the size where it's a constant.
 */
static __always_inline int collq_copy_in(void *arg, u32 size, u32 min,
					 void __user *user, u32 *user_size)
{
	if (get_user(*user_size, (u32 __user *)user))
		return -EFAULT;
	if (likely(*user_size == size))
		return copy_from_user(arg, user, size) ? -EFAULT : 0;
	if (*user_size < min)
		return -EINVAL;
	if (*user_size > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(arg, size, user, *user_size);
}

/* ioctl.c */
void *collq_get_array(u64 user, u32 nr, u32 user_size, u32 size);
long collq_ioctl_run(struct collq_context *ctx, unsigned int cmd,
		     void __user *user);
int collq_ioctl_create(struct collq_context *ctx, unsigned int cmd,
		       void __user *user, u32 size,
		       const struct collq_borrowed *borrowed,
		       struct collq_object **obj);
void collq_ioctl_publish(struct collq_ioctl *io, bool fault);

/* ioctl_batch.c */
bool collq_batch_knows(unsigned int cmd);
long collq_batch_run(struct collq_ioctl *io, unsigned int cmd);
int collq_batch_run_one(struct collq_ioctl *io, unsigned int cmd, u32 size);

/* ioctl_run.c */
int collq_ioctl_graph_create(struct collq_ioctl *io);
int collq_ioctl_submit(struct collq_ioctl *io);
int collq_ioctl_wait(struct collq_ioctl *io);
int collq_ioctl_submit_wait(struct collq_context *ctx,
			    struct ib_collq_queue_submit_wait __user *user);
int collq_ioctl_cancel(struct collq_ioctl *io);

/* describe.c */
int collq_ioctl_describe(struct collq_ioctl *io);
int collq_ioctl_describe_context(struct collq_ioctl *io);

#endif /* COLLQ_IOCTL_H */
