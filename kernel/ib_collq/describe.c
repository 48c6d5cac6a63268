// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Describing objects: what they were made with and how they are, so that tools
 * can show them and a context can be rebuilt elsewhere.
 */
#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "clock.h"
#include "context.h"
#include "counter.h"
#include "endpoint.h"
#include "graph.h"
#include "ioctl.h"
#include "limits.h"
#include "queue.h"
#include "region.h"
#include "ring.h"
#include "target.h"
#include "zone.h"

/*
 * What is told of an object. It's gathered under the context's mutex and given to the
 * caller without: whose memory doesn't come holds nobody up.
 */
struct collq_description {
	struct ib_collq_object_describe *attr;
	/* Room in the caller's table. */
	u32 room;
	u32 entry_room;
	/* As much of the object's table as there's room for; made for it, or its own. */
	void *made;
	const void *entries;
	u32 info_size;
	union {
		struct ib_collq_endpoint_info endpoint;
		struct ib_collq_counter_info counter;
		struct ib_collq_graph_info graph;
		struct ib_collq_queue_info queue;
		struct ib_collq_ring_info ring;
		struct ib_collq_region_info region;
		struct ib_collq_zone_info zone;
		struct ib_collq_target_info target;
	} info;
};

/* How many entries of the table the caller gets. */
static u32 collq_entries_told(const struct collq_description *d)
{
	return d->attr->entries ? min(d->attr->nr, d->room) : 0;
}

/* Memory for the part of a table that the caller gets, or an ERR_PTR. */
static void *collq_make_table(struct collq_description *d, u32 nr, u32 size)
{
	d->attr->nr = nr;
	d->attr->entry_size = size;
	nr = collq_entries_told(d);
	if (!nr)
		return NULL;
	d->made = kvmalloc_array(nr, size, GFP_KERNEL_ACCOUNT);
	d->entries = d->made;
	return d->made ? d->made : ERR_PTR(-ENOMEM);
}

static u32 collq_bound_slots(const struct collq_endpoint *ep)
{
	u32 slot, nr = 0;

	for (slot = 0; slot < ep->nr_slots; slot++)
		nr += !!ep->slots[slot];
	return nr;
}

static int collq_describe_endpoint(struct collq_description *d,
				   struct collq_object *obj)
{
	struct collq_endpoint *ep = collq_endpoint_of(obj);
	struct ib_collq_slot_bind *bind;
	struct collq_counter *counter;
	u32 slot, i = 0, nr;

	bind = collq_make_table(d, collq_bound_slots(ep), sizeof(*bind));
	if (IS_ERR(bind))
		return PTR_ERR(bind);
	nr = collq_entries_told(d);
	for (slot = 0; i < nr; slot++) {
		counter = ep->slots[slot];
		if (!counter)
			continue;
		bind[i++] = (struct ib_collq_slot_bind) {
			.endpoint = obj->id,
			.slot = slot,
			.generation = counter->generation,
			.counter = counter->obj.id,
		};
	}
	collq_endpoint_info(ep, &d->info.endpoint);
	d->info.endpoint.nr_slots = d->attr->nr;
	d->info_size = sizeof(d->info.endpoint);
	return 0;
}

static void collq_describe_counter(struct collq_description *d,
				   struct collq_object *obj)
{
	struct collq_counter *counter = collq_counter_of(obj);
	struct ib_collq_counter_info *info = &d->info.counter;
	int error;

	*info = (struct ib_collq_counter_info) {
		.create = {
			.source = counter->source,
			.value = counter->initial,
			.id = obj->id,
		},
	};
	if (counter->endpoint && counter->source == IB_COLLQ_SOURCE_SIGNAL) {
		info->bound_endpoint = counter->endpoint->obj.id;
		info->bound_slot = counter->slot;
		info->bound_generation = counter->generation;
	} else if (counter->endpoint) {
		info->create.endpoint = counter->endpoint->obj.id;
	}
	collq_counter_read(counter, &info->raised, &info->consumed, &error);
	info->error = error;
	d->info_size = sizeof(*info);
}

/* Tasks and lists stay as they are for as long as there's a reference. */
static void collq_describe_graph(struct collq_description *d,
				 struct collq_object *obj)
{
	struct collq_graph *graph = collq_graph_of(obj);

	d->info.graph = (struct ib_collq_graph_info) {
		.id = obj->id,
		.nr_tasks = graph->nr_tasks,
		.nr_sges = graph->nr_sges,
		.nr_buffers = graph->nr_buffers,
		.submissions = atomic_read(&graph->runs),
	};
	d->info_size = sizeof(d->info.graph);
	if (d->attr->flags & IB_COLLQ_DESCRIBE_SGES) {
		d->entries = graph->sges;
		d->attr->nr = graph->nr_sges;
		d->attr->entry_size = sizeof(*graph->sges);
	} else {
		d->entries = graph->tasks;
		d->attr->nr = graph->nr_tasks;
		d->attr->entry_size = sizeof(*graph->tasks);
	}
}

static int collq_describe_queue(struct collq_description *d,
				struct collq_object *obj)
{
	struct collq_queue *queue = collq_queue_of(obj);
	struct ib_collq_queue_endpoint *entry;
	u32 i;

	entry = collq_make_table(d, queue->nr_links, sizeof(*entry));
	if (IS_ERR(entry))
		return PTR_ERR(entry);
	for (i = 0; i < collq_entries_told(d); i++) {
		const struct collq_queue_link *link = &queue->links[i];

		entry[i] = (struct ib_collq_queue_endpoint) {
			.endpoint = link->endpoint->obj.id,
			.abort_slot = link->slot,
			.abort_generation = link->generation,
			.peer_abort_slot = link->peer_slot,
			.peer_abort_generation = link->peer_generation,
		};
	}
	collq_queue_info(queue, &d->info.queue);
	d->info.queue.since = collq_clock_from_host(d->info.queue.since);
	d->info_size = sizeof(d->info.queue);
	return 0;
}

static void collq_describe_ring(struct collq_description *d,
				struct collq_object *obj)
{
	struct collq_ring *ring = collq_ring_of(obj);
	struct ib_collq_ring_info *info = &d->info.ring;

	*info = (struct ib_collq_ring_info) {
		.create = { .size = sizeof(info->create) },
	};
	collq_ring_attributes(ring, &info->create);
	info->reserved = READ_ONCE(ring->reserved);
	info->unread = collq_ring_unread(ring);
	d->info_size = sizeof(*info);
}

static int collq_describe_region(struct collq_description *d,
				 struct collq_object *obj)
{
	const struct collq_region *region = collq_region_of(obj);
	struct ib_collq_sge *part;
	u32 i;

	part = collq_make_table(d, region->list ? region->list->nr_parts : 0,
				sizeof(*part));
	if (IS_ERR(part))
		return PTR_ERR(part);
	for (i = 0; i < collq_entries_told(d); i++)
		collq_region_list_part(region, i, &part[i]);
	collq_region_info(region, &d->info.region);
	d->info_size = sizeof(d->info.region);
	return 0;
}

static void collq_describe_zone(struct collq_description *d,
				struct collq_object *obj)
{
	collq_zone_info(collq_zone_of(obj), &d->info.zone);
	d->info_size = sizeof(d->info.zone);
}

static void collq_describe_target(struct collq_description *d,
				  struct collq_object *obj)
{
	collq_target_info(collq_target_of(obj), &d->info.target);
	d->info_size = sizeof(d->info.target);
}

static int collq_describe(struct collq_description *d, struct collq_object *obj)
{
	switch (obj->ops->type) {
	case IB_COLLQ_OBJECT_REGION:
		return collq_describe_region(d, obj);
	case IB_COLLQ_OBJECT_ENDPOINT:
		return collq_describe_endpoint(d, obj);
	case IB_COLLQ_OBJECT_QUEUE:
		return collq_describe_queue(d, obj);
	case IB_COLLQ_OBJECT_ZONE:
		collq_describe_zone(d, obj);
		return 0;
	case IB_COLLQ_OBJECT_TARGET:
		collq_describe_target(d, obj);
		return 0;
	case IB_COLLQ_OBJECT_COUNTER:
		collq_describe_counter(d, obj);
		return 0;
	case IB_COLLQ_OBJECT_GRAPH:
		collq_describe_graph(d, obj);
		return 0;
	default:
		collq_describe_ring(d, obj);
		return 0;
	}
}

/* The object, referenced, or an ERR_PTR. */
static struct collq_object *collq_gather(struct collq_description *d,
					 struct collq_context *ctx)
{
	struct ib_collq_object_describe *attr = d->attr;
	struct collq_object *obj;
	int err;

	lockdep_assert_held(&ctx->mutex);

	if (attr->flags & IB_COLLQ_DESCRIBE_NEXT)
		obj = collq_object_find_next(ctx, attr->id);
	else
		obj = collq_object_find(ctx, attr->id, IB_COLLQ_OBJECT_ANY);
	if (!obj)
		return ERR_PTR(-ENOENT);
	attr->id = obj->id;
	attr->type = obj->ops->type;
	attr->nr = 0;
	attr->entry_size = 0;
	err = collq_describe(d, obj);
	if (err) {
		collq_object_put(obj);
		return ERR_PTR(err);
	}
	return obj;
}

static int collq_tell(struct collq_description *d)
{
	struct ib_collq_object_describe *attr = d->attr;
	u32 info_room = attr->info_size, i;
	u32 size = min(d->entry_room, attr->entry_size);

	for (i = 0; i < collq_entries_told(d); i++) {
		if (copy_to_user(u64_to_user_ptr(attr->entries) +
				 (size_t)i * d->entry_room,
				 d->entries + (size_t)i * attr->entry_size, size))
			return -EFAULT;
	}
	attr->info_size = d->info_size;
	if (attr->info && copy_to_user(u64_to_user_ptr(attr->info), &d->info,
				       min(info_room, d->info_size)))
		return -EFAULT;
	return 0;
}

/*
 * Another process' call may hold the mutex for as long as it likes, if it has the
 * kernel wait for memory: who only looks doesn't wait for that.
 */
static int collq_lock_to_look(struct collq_context *ctx, bool own)
{
	unsigned long end = jiffies + COLLQ_LOOK_WAIT;

	if (own)
		return mutex_lock_killable(&ctx->mutex);
	while (!mutex_trylock(&ctx->mutex)) {
		if (fatal_signal_pending(current))
			return -EINTR;
		if (time_after(jiffies, end))
			return -EBUSY;
		schedule_timeout_killable(1);
	}
	return 0;
}

/* May sleep. */
int collq_ioctl_describe(struct collq_ioctl *io)
{
	struct ib_collq_object_describe *attr = &io->arg.describe;
	struct collq_description d = {
		.attr = attr,
		.room = attr->nr,
		.entry_room = attr->entry_size,
	};
	struct collq_context *ctx;
	struct collq_object *obj;
	int err;

	if (attr->entries && attr->nr &&
	    (!attr->entry_size || attr->entry_size > PAGE_SIZE))
		return -EINVAL;
	ctx = collq_context_find(io->ctx, attr->context, false);
	if (!ctx)
		return -ENOENT;
	err = collq_lock_to_look(ctx, ctx == io->ctx);
	if (err)
		goto out_put_context;

	obj = collq_gather(&d, ctx);
	mutex_unlock(&ctx->mutex);
	err = PTR_ERR_OR_ZERO(obj);
	if (!err) {
		err = collq_tell(&d);
		collq_object_put(obj);
	}
	kvfree(d.made);
out_put_context:
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
