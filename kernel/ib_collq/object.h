/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_OBJECT_H
#define COLLQ_OBJECT_H

#include <linux/atomic.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct collq_context;
struct collq_object;

/**
 * struct collq_object_ops - what differs between the types of objects
 * @type: IB_COLLQ_OBJECT_*
 * @busy: may be NULL; whether something unfinished needs the object, so that
 *	it can't be destroyed yet. Called with ctx->mutex held
 * @destroy: takes the object out of service; ids don't lead to it any more, but
 *	references may. Called with ctx->mutex held, may sleep
 * @free: last reference gone: give the memory back. Any context but hardirq
 */
struct collq_object_ops {
	u32 type;
	bool (*busy)(struct collq_object *obj);
	void (*destroy)(struct collq_object *obj);
	void (*free)(struct collq_object *obj);
};

/**
 * struct collq_object - what all objects of a context have in common
 * @ctx: the context; referenced
 * @ops: the type
 * @id: what user space calls it
 * @refs: one for the table of ids, one for each holder of a pointer. Keeps the
 *	memory
 * @users: other objects that name this one. They are added and dropped with
 *	ctx->mutex held; it can't be destroyed while there are any
 */
struct collq_object {
	struct collq_context *ctx;
	const struct collq_object_ops *ops;
	u32 id;
	refcount_t refs;
	atomic_t users;
};

int collq_object_init(struct collq_context *ctx, struct collq_object *obj,
		      const struct collq_object_ops *ops);
void collq_object_finalize(struct collq_object *obj);
void collq_object_abort(struct collq_object *obj);

struct collq_object *collq_object_find(struct collq_context *ctx, u32 id,
				       u32 type);
struct collq_object *collq_object_find_next(struct collq_context *ctx, u32 id);
struct collq_object *collq_object_next_queue(struct collq_context *ctx, u32 id);
void collq_object_remove(struct collq_object *obj);
int collq_object_destroy(struct collq_object *obj);
void collq_object_destroy_type(struct collq_context *ctx, u32 type);

static inline void collq_object_get(struct collq_object *obj)
{
	refcount_inc(&obj->refs);
}

void collq_object_put(struct collq_object *obj);

/* Being named: holds the id as well as the memory. */
static inline void collq_object_name(struct collq_object *obj)
{
	collq_object_get(obj);
	atomic_inc(&obj->users);
}

static inline void collq_object_unname(struct collq_object *obj)
{
	atomic_dec(&obj->users);
	collq_object_put(obj);
}

#endif /* COLLQ_OBJECT_H */
