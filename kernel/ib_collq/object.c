// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ids and lifetimes of a context's objects.
 *
 * A constructor reserves an id (collq_object_init), builds the object, and in
 * the end either publishes it (collq_object_finalize), after which other
 * threads may find it, or gives the id back (collq_object_abort). Ids go up
 * and come round late, so that a stale one is not soon taken for another.
 *
 * Two counts keep an object. References keep its memory: each pointer that
 * outlives a lock holds one, and an ioctl holds one for as long as it works on
 * the object. Users keep its id: an endpoint that a graph names can't be
 * destroyed. Destroying takes the id away first and then the object out of
 * service; what still has a reference finds it dead.
 */
#include <linux/slab.h>
#include <linux/xarray.h>

#include <rdma/ib_collq.h>

#include "context.h"
#include "limits.h"
#include "object.h"

/*
 * Tells queues from other objects, so that they are found without a search. The first
 * mark is that of what is free.
 */
#define COLLQ_MARK_QUEUE	XA_MARK_1

int collq_object_init(struct collq_context *ctx, struct collq_object *obj,
		      const struct collq_object_ops *ops)
{
	int err;

	lockdep_assert_held(&ctx->mutex);

	if (ctx->nr_objects >= COLLQ_MAX_OBJECTS)
		return -ENOSPC;
	err = xa_alloc_cyclic(&ctx->objects, &obj->id, XA_ZERO_ENTRY,
			      XA_LIMIT(1, COLLQ_MAX_ID), &ctx->next_id,
			      GFP_KERNEL_ACCOUNT);
	if (err < 0)
		return err == -EBUSY ? -ENOSPC : err;

	ctx->nr_objects++;
	collq_context_get(ctx);
	obj->ctx = ctx;
	obj->ops = ops;
	refcount_set(&obj->refs, 1);
	atomic_set(&obj->users, 0);
	return 0;
}

void collq_object_finalize(struct collq_object *obj)
{
	lockdep_assert_held(&obj->ctx->mutex);
	xa_lock(&obj->ctx->objects);
	/* The id is reserved, so this doesn't allocate. */
	__xa_store(&obj->ctx->objects, obj->id, obj, GFP_KERNEL);
	if (obj->ops->type == IB_COLLQ_OBJECT_QUEUE)
		__xa_set_mark(&obj->ctx->objects, obj->id, COLLQ_MARK_QUEUE);
	xa_unlock(&obj->ctx->objects);
}

static void collq_object_erase(struct collq_object *obj)
{
	lockdep_assert_held(&obj->ctx->mutex);
	xa_erase(&obj->ctx->objects, obj->id);
	obj->ctx->nr_objects--;
}

/* Undoes collq_object_init(). The constructor frees the memory itself. */
void collq_object_abort(struct collq_object *obj)
{
	collq_object_erase(obj);
	collq_context_put(obj->ctx);
}

/* A reference to the object, or NULL if there is none of that type. */
struct collq_object *collq_object_find(struct collq_context *ctx, u32 id,
				       u32 type)
{
	XA_STATE(xas, &ctx->objects, id);
	struct collq_object *obj;

	xa_lock(&ctx->objects);
	obj = xas_load(&xas);
	/* An id that is reserved only. */
	if (xa_is_zero(obj))
		obj = NULL;
	if (obj && type != IB_COLLQ_OBJECT_ANY && obj->ops->type != type)
		obj = NULL;
	if (obj)
		collq_object_get(obj);
	xa_unlock(&ctx->objects);
	return obj;
}

/* A reference to the first object with this id or a higher one, or NULL. */
struct collq_object *collq_object_find_next(struct collq_context *ctx, u32 id)
{
	unsigned long index = id;
	struct collq_object *obj;

	/* The mutex keeps the object in the table from here to the reference. */
	lockdep_assert_held(&ctx->mutex);
	obj = xa_find(&ctx->objects, &index, COLLQ_MAX_ID, XA_PRESENT);
	if (obj)
		collq_object_get(obj);
	return obj;
}

/* The same for queues. Doesn't sleep, and works without the mutex. */
struct collq_object *collq_object_next_queue(struct collq_context *ctx, u32 id)
{
	XA_STATE(xas, &ctx->objects, id);
	struct collq_object *obj;

	xa_lock(&ctx->objects);
	obj = xas_find_marked(&xas, COLLQ_MAX_ID, COLLQ_MARK_QUEUE);
	if (obj)
		collq_object_get(obj);
	xa_unlock(&ctx->objects);
	return obj;
}

/* Takes it away whatever it is; also one that isn't published yet. */
void collq_object_remove(struct collq_object *obj)
{
	collq_object_erase(obj);
	obj->ops->destroy(obj);
	collq_object_put(obj);
}

int collq_object_destroy(struct collq_object *obj)
{
	lockdep_assert_held(&obj->ctx->mutex);

	/* Another thread that found it too may have been first. */
	if (xa_load(&obj->ctx->objects, obj->id) != obj)
		return -ENOENT;
	if (atomic_read(&obj->users))
		return -EBUSY;
	if (obj->ops->busy && obj->ops->busy(obj))
		return -EBUSY;
	collq_object_remove(obj);
	return 0;
}

/*
 * All of a type, when the context goes and nobody can be using them; those that
 * others of the type name after those.
 */
void collq_object_destroy_type(struct collq_context *ctx, u32 type)
{
	struct collq_object *obj;
	int pass;
	unsigned long id;

	lockdep_assert_held(&ctx->mutex);
	for (pass = 0; pass < 2; pass++) {
		xa_for_each(&ctx->objects, id, obj) {
			if (obj->ops->type != type)
				continue;
			if (!pass && atomic_read(&obj->users))
				continue;
			collq_object_remove(obj);
			cond_resched();
		}
	}
}

void collq_object_put(struct collq_object *obj)
{
	struct collq_context *ctx = obj->ctx;

	if (!refcount_dec_and_test(&obj->refs))
		return;
	obj->ops->free(obj);
	collq_context_put(ctx);
}
