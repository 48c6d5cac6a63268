// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Describing objects: what they were made with and how they are, so that tools
 * can show them and a context can be rebuilt elsewhere.
 */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/uaccess.h>

#include "clock.h"
#include "context.h"
#include "counter.h"
#include "endpoint.h"
#include "graph.h"
#include "ioctl.h"
#include "queue.h"
#include "region.h"
#include "ring.h"
#include "target.h"
#include "zone.h"

/* What is told of an object, and where its table goes. */
struct collq_description {
	struct ib_collq_object_describe *attr;
	u32 room;
	u32 entry_room;
};

static int collq_put_info(struct collq_description *d, const void *info,
			  u32 size)
{
	void __user *user = u64_to_user_ptr(d->attr->info);
	u32 room = d->attr->info_size;

	d->attr->info_size = size;
	if (d->attr->info && copy_to_user(user, info, min(room, size)))
		return -EFAULT;
	return 0;
}

/* The next entry of the table, if there's room. */
static int collq_put_entry(struct collq_description *d, const void *entry,
			   u32 size)
{
	void __user *user = u64_to_user_ptr(d->attr->entries);
	u32 index = d->attr->nr++;

	d->attr->entry_size = size;
	if (!d->attr->entries || index >= d->room)
		return 0;
	user += (size_t)index * d->entry_room;
	if (copy_to_user(user, entry, min(d->entry_room, size)))
		return -EFAULT;
	return 0;
}

static int collq_describe_endpoint(struct collq_description *d,
				   struct collq_object *obj)
{
	struct collq_endpoint *ep = collq_endpoint_of(obj);
	struct ib_collq_endpoint_info info;
	struct collq_counter *counter;
	u32 slot;
	int err;

	d->attr->entry_size = sizeof(struct ib_collq_slot_bind);
	for (slot = 0; slot < ep->nr_slots; slot++) {
		struct ib_collq_slot_bind bind = {
			.endpoint = obj->id,
			.slot = slot,
		};

		counter = ep->slots[slot];
		if (!counter)
			continue;
		bind.generation = counter->generation;
		bind.counter = counter->obj.id;
		err = collq_put_entry(d, &bind, sizeof(bind));
		if (err)
			return err;
	}
	collq_endpoint_info(ep, &info);
	info.nr_slots = d->attr->nr;
	return collq_put_info(d, &info, sizeof(info));
}

static int collq_describe_counter(struct collq_description *d,
				  struct collq_object *obj)
{
	struct collq_counter *counter = collq_counter_of(obj);
	struct ib_collq_counter_info info = {
		.create = {
			.source = counter->source,
			.value = counter->initial,
			.id = obj->id,
		},
	};
	int error;

	if (counter->endpoint && counter->source == IB_COLLQ_SOURCE_SIGNAL) {
		info.bound_endpoint = counter->endpoint->obj.id;
		info.bound_slot = counter->slot;
		info.bound_generation = counter->generation;
	} else if (counter->endpoint) {
		info.create.endpoint = counter->endpoint->obj.id;
	}
	collq_counter_read(counter, &info.raised, &info.consumed, &error);
	info.error = error;
	return collq_put_info(d, &info, sizeof(info));
}

static int collq_describe_graph(struct collq_description *d,
				struct collq_object *obj)
{
	struct collq_graph *graph = collq_graph_of(obj);
	const struct ib_collq_graph_info info = {
		.id = obj->id,
		.nr_tasks = graph->nr_tasks,
		.nr_sges = graph->nr_sges,
		.nr_buffers = graph->nr_buffers,
		.submissions = atomic_read(&graph->runs),
	};
	u32 i;
	int err = 0;

	d->attr->entry_size = sizeof(struct ib_collq_sge);
	if (d->attr->flags & IB_COLLQ_DESCRIBE_SGES) {
		for (i = 0; i < graph->nr_sges && !err; i++)
			err = collq_put_entry(d, &graph->sges[i],
					      sizeof(graph->sges[i]));
	} else {
		for (i = 0; i < graph->nr_tasks && !err; i++)
			err = collq_put_entry(d, &graph->tasks[i],
					      sizeof(graph->tasks[i]));
	}
	return err ? err : collq_put_info(d, &info, sizeof(info));
}

static int collq_describe_queue(struct collq_description *d,
				struct collq_object *obj)
{
	struct collq_queue *queue = collq_queue_of(obj);
	struct ib_collq_queue_info info;
	u32 i;
	int err;

	d->attr->entry_size = sizeof(struct ib_collq_queue_endpoint);
	for (i = 0; i < queue->nr_links; i++) {
		const struct collq_queue_link *link = &queue->links[i];
		struct ib_collq_queue_endpoint entry = {
			.endpoint = link->endpoint->obj.id,
			.abort_slot = link->slot,
			.abort_generation = link->generation,
			.peer_abort_slot = link->peer_slot,
			.peer_abort_generation = link->peer_generation,
		};

		err = collq_put_entry(d, &entry, sizeof(entry));
		if (err)
			return err;
	}
	collq_queue_info(queue, &info);
	info.since = collq_clock_from_host(info.since);
	return collq_put_info(d, &info, sizeof(info));
}

static int collq_describe_ring(struct collq_description *d,
			       struct collq_object *obj)
{
	struct collq_ring *ring = collq_ring_of(obj);
	struct ib_collq_ring_info info = {
		.create = { .size = sizeof(info.create) },
	};

	collq_ring_attributes(ring, &info.create);
	info.reserved = READ_ONCE(ring->reserved);
	info.unread = collq_ring_unread(ring);
	return collq_put_info(d, &info, sizeof(info));
}

static int collq_describe_region(struct collq_description *d,
				 struct collq_object *obj)
{
	const struct collq_region *region = collq_region_of(obj);
	const struct collq_region_list *list = region->list;
	struct ib_collq_region_info info;
	struct ib_collq_sge part;
	u32 i;
	int err;

	d->attr->entry_size = sizeof(part);
	for (i = 0; list && i < list->nr_parts; i++) {
		collq_region_list_part(region, i, &part);
		err = collq_put_entry(d, &part, sizeof(part));
		if (err)
			return err;
	}
	collq_region_info(region, &info);
	return collq_put_info(d, &info, sizeof(info));
}

static int collq_describe_zone(struct collq_description *d,
			       struct collq_object *obj)
{
	struct ib_collq_zone_info info;

	collq_zone_info(collq_zone_of(obj), &info);
	return collq_put_info(d, &info, sizeof(info));
}

static int collq_describe_target(struct collq_description *d,
				 struct collq_object *obj)
{
	struct ib_collq_target_info info;

	collq_target_info(collq_target_of(obj), &info);
	return collq_put_info(d, &info, sizeof(info));
}

static int collq_describe(struct collq_description *d, struct collq_object *obj)
{
	switch (obj->ops->type) {
	case IB_COLLQ_OBJECT_REGION:
		return collq_describe_region(d, obj);
	case IB_COLLQ_OBJECT_ZONE:
		return collq_describe_zone(d, obj);
	case IB_COLLQ_OBJECT_TARGET:
		return collq_describe_target(d, obj);
	case IB_COLLQ_OBJECT_ENDPOINT:
		return collq_describe_endpoint(d, obj);
	case IB_COLLQ_OBJECT_COUNTER:
		return collq_describe_counter(d, obj);
	case IB_COLLQ_OBJECT_GRAPH:
		return collq_describe_graph(d, obj);
	case IB_COLLQ_OBJECT_QUEUE:
		return collq_describe_queue(d, obj);
	default:
		return collq_describe_ring(d, obj);
	}
}

/* The context's mutex keeps tables as they are. */
static int collq_describe_object(struct collq_context *ctx,
				 struct ib_collq_object_describe *attr)
{
	struct collq_description d = {
		.attr = attr,
		.room = attr->nr,
		.entry_room = attr->entry_size,
	};
	struct collq_object *obj;
	int err;

	lockdep_assert_held(&ctx->mutex);

	if (attr->flags & IB_COLLQ_DESCRIBE_NEXT)
		obj = collq_object_find_next(ctx, attr->id);
	else
		obj = collq_object_find(ctx, attr->id, IB_COLLQ_OBJECT_ANY);
	if (!obj)
		return -ENOENT;

	attr->id = obj->id;
	attr->type = obj->ops->type;
	attr->nr = 0;
	attr->entry_size = 0;
	err = collq_describe(&d, obj);
	collq_object_put(obj);
	return err;
}

/* May sleep. */
int collq_ioctl_describe(struct collq_ioctl *io)
{
	struct ib_collq_object_describe *attr = &io->arg.describe;
	struct collq_context *ctx;
	int err;

	if (attr->entries && attr->nr &&
	    (!attr->entry_size || attr->entry_size > PAGE_SIZE))
		return -EINVAL;
	ctx = collq_context_find(io->ctx, attr->context, false);
	if (!ctx)
		return -ENOENT;

	err = mutex_lock_killable(&ctx->mutex);
	if (!err) {
		err = collq_describe_object(ctx, attr);
		mutex_unlock(&ctx->mutex);
	}
	collq_context_put(ctx);
	return err;
}

int collq_ioctl_describe_context(struct collq_ioctl *io)
{
	struct ib_collq_context_describe *attr = &io->arg.context;
	struct collq_context *ctx;

	ctx = collq_context_find(io->ctx, attr->id,
				 attr->flags & IB_COLLQ_DESCRIBE_NEXT);
	if (!ctx)
		return -ENOENT;
	*attr = (struct ib_collq_context_describe) {
		.size = attr->size,
		.flags = attr->flags,
		.id = ctx->id,
		.nr_objects = READ_ONCE(ctx->nr_objects),
		.pid = pid_vnr(ctx->pid),
		.uid = from_kuid_munged(current_user_ns(), ctx->uid),
		.created = collq_clock_from_host(ctx->created),
	};
	memcpy(attr->comm, ctx->comm, sizeof(attr->comm));
	collq_context_put(ctx);
	return 0;
}
