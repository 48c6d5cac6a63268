// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The commands of the character device.
 *
 * Structures are copied in as the ABI header says, ids are looked up, and
 * what is below gets objects and values. Structures are copied back whether the
 * command succeeded or not. What creates, names or destroys objects runs with
 * the context's mutex; what submits and waits doesn't.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <rdma/ib_verbs.h>

#include "context.h"
#include "counter.h"
#include "device.h"
#include "endpoint.h"
#include "engine.h"
#include "graph.h"
#include "ioctl.h"
#include "limits.h"
#include "mapping.h"
#include "queue.h"
#include "region.h"
#include "registrar.h"
#include "ring.h"
#include "target.h"
#include "zone.h"

static int collq_ioctl_query(struct collq_ioctl *io)
{
	struct ib_device *ibdev = io->ctx->device->ibdev;
	struct ib_collq_query *query = &io->arg.query;
	struct collq_graph_limits limits;

	collq_graph_limits(io->ctx->device, &limits);
	*query = (struct ib_collq_query) {
		.abi_version = IB_COLLQ_ABI_VERSION,
		.protocol_version = IB_COLLQ_PROTOCOL_VERSION,
		.features = limits.features,
		.max_message = limits.max_message,
		.max_objects = COLLQ_MAX_OBJECTS,
		.max_endpoints = COLLQ_MAX_ENDPOINTS,
		.max_capacity = collq_endpoint_max_capacity(ibdev),
		.max_slots = limits.max_slots,
		.max_tasks = limits.max_tasks,
		.max_sges = limits.max_sges,
		.max_send_sge = ibdev->attrs.max_send_sge,
		.max_recv_sge = ibdev->attrs.max_recv_sge,
		.max_buffers = limits.max_buffers,
		.max_queue_depth = COLLQ_MAX_QUEUE_DEPTH,
		.max_queue_endpoints = COLLQ_MAX_QUEUE_ENDPOINTS,
		.max_ring_entries = COLLQ_MAX_RING_ENTRIES,
		.max_batch = COLLQ_MAX_BATCH,
		.max_region = COLLQ_MAX_REGION,
		.max_zone = collq_zone_max(ibdev),
		.max_zones = COLLQ_MAX_ZONES,
		.region_part = collq_mapping_part(ibdev),
		.max_list_pages = collq_registrar_max_pages(ibdev),
		.max_lists = COLLQ_MAX_LISTS,
		.nr_ports = ibdev->phys_port_cnt,
	};
	memcpy(query->instance, collq_instance, sizeof(query->instance));
	strscpy(query->device, dev_name(&ibdev->dev), sizeof(query->device));
	return 0;
}

/*
 * An array of structures that may be longer than ours: a copy, or an ERR_PTR. Sizes
 * and number are the caller's, the number checked.
 */
void *collq_get_array(u64 user, u32 nr, u32 user_size, u32 size)
{
	void __user *from = u64_to_user_ptr(user);
	void *array;
	u32 i;
	int err;

	if (user_size < size)
		return ERR_PTR(-EINVAL);
	if (user_size > PAGE_SIZE)
		return ERR_PTR(-E2BIG);
	array = kvmalloc_array(nr, size, GFP_KERNEL_ACCOUNT);
	if (!array)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < nr; i++) {
		err = copy_struct_from_user(array + (size_t)i * size, size,
					    from + (size_t)i * user_size,
					    user_size);
		if (err) {
			kvfree(array);
			return ERR_PTR(err);
		}
	}
	return array;
}

/* The parts of a region that is a list, or NULL if it isn't one, or an ERR_PTR. */
static struct ib_collq_sge *
collq_ioctl_get_parts(struct collq_context *ctx,
		      const struct ib_collq_region_create *attr)
{
	u32 most = collq_registrar_max_pages(ctx->device->ibdev);

	if (attr->type != IB_COLLQ_REGION_LIST)
		return NULL;
	if (!most)
		return ERR_PTR(-EOPNOTSUPP);
	if (!attr->nr_parts)
		return ERR_PTR(-EINVAL);
	/* Each has a page at least. */
	if (attr->nr_parts > most)
		return ERR_PTR(-EMSGSIZE);
	return collq_get_array(attr->address, attr->nr_parts, attr->part_size,
			       sizeof(struct ib_collq_sge));
}

static int collq_ioctl_region_create(struct collq_ioctl *io)
{
	struct ib_collq_region_create *attr = &io->arg.region;
	struct collq_region *region;
	struct ib_collq_sge *parts;

	parts = collq_ioctl_get_parts(io->ctx, attr);
	if (IS_ERR(parts))
		return PTR_ERR(parts);
	region = collq_region_create(io->ctx, attr, io->borrowed.mr, parts);
	kvfree(parts);
	if (IS_ERR(region))
		return PTR_ERR(region);
	io->created = &region->obj;
	return 0;
}

static int collq_ioctl_zone_offer(struct collq_ioctl *io)
{
	struct ib_collq_zone_offer *attr = &io->arg.zone;
	struct collq_object *ep, *region;
	struct collq_zone *zone;
	int err = -ENOENT;

	/* Memory of the module would be one more region. */
	if (!attr->region)
		return -EOPNOTSUPP;
	ep = collq_object_find(io->ctx, attr->endpoint,
			       IB_COLLQ_OBJECT_ENDPOINT);
	if (!ep)
		return -ENOENT;
	region = collq_object_find(io->ctx, attr->region,
				   IB_COLLQ_OBJECT_REGION);
	if (!region)
		goto out_put_endpoint;
	zone = collq_zone_offer(io->ctx, attr, collq_endpoint_of(ep),
				collq_region_of(region));
	err = PTR_ERR_OR_ZERO(zone);
	if (!err)
		io->created = &zone->obj;
	collq_object_put(region);
out_put_endpoint:
	collq_object_put(ep);
	return err;
}

static int collq_ioctl_target_create(struct collq_ioctl *io)
{
	struct ib_collq_target_create *attr = &io->arg.target;
	struct collq_target *target;
	struct collq_object *ep;

	ep = collq_object_find(io->ctx, attr->endpoint,
			       IB_COLLQ_OBJECT_ENDPOINT);
	if (!ep)
		return -ENOENT;
	target = collq_target_create(io->ctx, attr, collq_endpoint_of(ep));
	collq_object_put(ep);
	if (IS_ERR(target))
		return PTR_ERR(target);
	io->created = &target->obj;
	return 0;
}

static int collq_ioctl_counter_raise(struct collq_ioctl *io)
{
	struct ib_collq_counter_raise *raise = &io->arg.raise;
	struct collq_counter *counter;
	struct collq_object *obj;
	int err = -EINVAL;

	if (raise->__reserved || !raise->count)
		return -EINVAL;
	obj = collq_object_find(io->ctx, raise->counter,
				IB_COLLQ_OBJECT_COUNTER);
	if (!obj)
		return -ENOENT;
	counter = collq_counter_of(obj);
	if (counter->source == IB_COLLQ_SOURCE_USER) {
		collq_engine_enter_bh();
		err = collq_counter_raise(counter, raise->count);
		collq_engine_exit_bh();
	}
	collq_object_put(obj);
	return err;
}

static int collq_ioctl_counter_read(struct collq_ioctl *io)
{
	struct ib_collq_counter_read *read = &io->arg.read;
	struct collq_object *obj;
	int error;

	obj = collq_object_find(io->ctx, read->counter,
				IB_COLLQ_OBJECT_COUNTER);
	if (!obj)
		return -ENOENT;
	collq_counter_read(collq_counter_of(obj), &read->raised,
			   &read->consumed, &error);
	read->error = error;
	collq_object_put(obj);
	return 0;
}

static int collq_ioctl_ring_create(struct collq_ioctl *io)
{
	struct ib_collq_ring_create *attr = &io->arg.ring;
	struct collq_ring *ring;

	if (attr->__reserved || attr->eventfd < -1)
		return -EINVAL;
	ring = collq_ring_create(io->ctx, attr->entries, attr->eventfd);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	collq_ring_attributes(ring, attr);
	io->created = &ring->obj;
	return 0;
}

static void collq_put_links(struct collq_queue_link_attr *links, u32 nr)
{
	while (nr--)
		collq_object_put(&links[nr].endpoint->obj);
	kvfree(links);
}

/* The endpoints of a queue to be, referenced. */
static struct collq_queue_link_attr *
collq_get_links(struct collq_context *ctx,
		const struct ib_collq_queue_create *attr)
{
	struct collq_queue_link_attr *links;
	struct collq_object *obj;
	u32 i;
	int err;

	if (attr->nr_endpoints > COLLQ_MAX_QUEUE_ENDPOINTS ||
	    attr->entry_size < sizeof(links->attr))
		return ERR_PTR(-EINVAL);
	if (attr->entry_size > PAGE_SIZE)
		return ERR_PTR(-E2BIG);
	links = kvcalloc(attr->nr_endpoints, sizeof(*links),
			 GFP_KERNEL_ACCOUNT);
	if (!links)
		return ERR_PTR(-ENOMEM);

	for (i = 0; i < attr->nr_endpoints; i++) {
		err = copy_struct_from_user(&links[i].attr,
					    sizeof(links[i].attr),
					    u64_to_user_ptr(attr->endpoints) +
					    (size_t)i * attr->entry_size,
					    attr->entry_size);
		if (err)
			goto err_put;
		obj = collq_object_find(ctx, links[i].attr.endpoint,
					IB_COLLQ_OBJECT_ENDPOINT);
		if (!obj) {
			err = -ENOENT;
			goto err_put;
		}
		links[i].endpoint = collq_endpoint_of(obj);
	}
	return links;

err_put:
	collq_put_links(links, i);
	return ERR_PTR(err);
}

static int collq_ioctl_queue_create(struct collq_ioctl *io)
{
	struct ib_collq_queue_create *attr = &io->arg.queue;
	struct collq_queue_link_attr *links = NULL;
	struct collq_queue *queue;
	struct collq_object *ring;
	int err = 0;

	if (attr->__reserved)
		return -EINVAL;
	ring = collq_object_find(io->ctx, attr->ring, IB_COLLQ_OBJECT_RING);
	if (!ring)
		return -ENOENT;
	if (attr->nr_endpoints) {
		links = collq_get_links(io->ctx, attr);
		if (IS_ERR(links)) {
			err = PTR_ERR(links);
			goto out_put_ring;
		}
	}

	queue = collq_queue_create(io->ctx, collq_ring_of(ring), attr->depth,
				   links, attr->nr_endpoints);
	if (IS_ERR(queue)) {
		err = PTR_ERR(queue);
	} else {
		attr->id = queue->obj.id;
		io->created = &queue->obj;
	}
	if (links)
		collq_put_links(links, attr->nr_endpoints);
out_put_ring:
	collq_object_put(ring);
	return err;
}

/* Called with the context's mutex held. */
static int collq_ioctl_reset(struct collq_ioctl *io)
{
	struct ib_collq_object_reset *attr = &io->arg.reset;
	struct collq_object *obj;
	int err;

	if (attr->__reserved)
		return -EINVAL;
	obj = collq_object_find(io->ctx, attr->id, IB_COLLQ_OBJECT_ANY);
	if (!obj)
		return -ENOENT;
	switch (obj->ops->type) {
	case IB_COLLQ_OBJECT_ENDPOINT:
		err = collq_endpoint_reset(collq_endpoint_of(obj));
		memcpy(attr->address, collq_endpoint_of(obj)->attr.address,
		       sizeof(attr->address));
		break;
	case IB_COLLQ_OBJECT_QUEUE:
		err = collq_queue_reset(collq_queue_of(obj));
		break;
	default:
		err = -EINVAL;
	}
	collq_object_put(obj);
	return err;
}

/**
 * struct collq_command - a command of its own structure
 * @cmd: number
 * @size: of the structure as this kernel knows it
 * @min: up to the last member that any caller must have
 * @out: where what is written back begins
 * @locked: to be run with the context's mutex
 * @flags: flags that it knows
 * @run: what it does
 */
struct collq_command {
	unsigned int cmd;
	u32 size;
	u32 min;
	u32 out;
	bool locked;
	u32 flags;
	int (*run)(struct collq_ioctl *io);
};

#define COLLQ_COMMAND(_cmd, _type, _last, _out, _locked, _run) {	\
	.cmd = _cmd,							\
	.size = sizeof(struct _type),					\
	.min = offsetofend(struct _type, _last),			\
	.out = offsetof(struct _type, _out),				\
	.locked = _locked,						\
	.run = _run,							\
}

static const struct collq_command collq_commands[] = {
	COLLQ_COMMAND(IB_COLLQ_QUEUE_SUBMIT, ib_collq_queue_submit,
		      sequence, sequence, false, collq_ioctl_submit),
	COLLQ_COMMAND(IB_COLLQ_QUEUE_WAIT, ib_collq_queue_wait,
		      label, status, false, collq_ioctl_wait),
	COLLQ_COMMAND(IB_COLLQ_QUEUE_CANCEL, ib_collq_queue_cancel,
		      sequence, sequence, false, collq_ioctl_cancel),
	COLLQ_COMMAND(IB_COLLQ_COUNTER_RAISE, ib_collq_counter_raise,
		      count, count, false, collq_ioctl_counter_raise),
	COLLQ_COMMAND(IB_COLLQ_COUNTER_READ, ib_collq_counter_read,
		      consumed, error, false, collq_ioctl_counter_read),
	COLLQ_COMMAND(IB_COLLQ_QUERY, ib_collq_query,
		      device, abi_version, false, collq_ioctl_query),
	COLLQ_COMMAND(IB_COLLQ_RING_CREATE, ib_collq_ring_create,
		      __reserved, id, true, collq_ioctl_ring_create),
	COLLQ_COMMAND(IB_COLLQ_QUEUE_CREATE, ib_collq_queue_create,
		      __reserved, id, true, collq_ioctl_queue_create),
	COLLQ_COMMAND(IB_COLLQ_GRAPH_CREATE, ib_collq_graph_create,
		      refused_limit, id, true, collq_ioctl_graph_create),
	{
		.cmd = IB_COLLQ_OBJECT_DESCRIBE,
		.size = sizeof(struct ib_collq_object_describe),
		.min = offsetofend(struct ib_collq_object_describe, context),
		.out = offsetof(struct ib_collq_object_describe, id),
		.flags = IB_COLLQ_DESCRIBE_NEXT | IB_COLLQ_DESCRIBE_SGES,
		.run = collq_ioctl_describe,
	},
	{
		.cmd = IB_COLLQ_CONTEXT_DESCRIBE,
		.size = sizeof(struct ib_collq_context_describe),
		.min = offsetofend(struct ib_collq_context_describe, comm),
		.out = offsetof(struct ib_collq_context_describe, id),
		.flags = IB_COLLQ_DESCRIBE_NEXT,
		.run = collq_ioctl_describe_context,
	},
	COLLQ_COMMAND(IB_COLLQ_OBJECT_RESET, ib_collq_object_reset,
		      address, address, true, collq_ioctl_reset),
	COLLQ_COMMAND(IB_COLLQ_REGION_CREATE, ib_collq_region_create,
		      part_size, id, true, collq_ioctl_region_create),
	COLLQ_COMMAND(IB_COLLQ_ZONE_OFFER, ib_collq_zone_offer,
		      zone, id, true, collq_ioctl_zone_offer),
	COLLQ_COMMAND(IB_COLLQ_TARGET_CREATE, ib_collq_target_create,
		      zone, id, true, collq_ioctl_target_create),
};

/* All batches are alike but for their entries. */
static const struct collq_command collq_batch_command =
	COLLQ_COMMAND(0, ib_collq_batch, __reserved, error, true, NULL);

static const struct collq_command *collq_find_command(unsigned int cmd)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(collq_commands); i++) {
		if (collq_commands[i].cmd == cmd)
			return &collq_commands[i];
	}
	return collq_batch_knows(cmd) ? &collq_batch_command : NULL;
}

static long collq_run_command(struct collq_ioctl *io, unsigned int cmd,
			      const struct collq_command *command)
{
	/* Every structure starts with size and flags. */
	if (io->arg.query.flags & ~command->flags)
		return -EOPNOTSUPP;
	if (command->run)
		return command->run(io);
	return collq_batch_run(io, cmd);
}

/* An object is there for others only once its creator knows its id. */
void collq_ioctl_publish(struct collq_ioctl *io, bool fault)
{
	struct collq_object *obj = io->created;

	if (!obj)
		return;
	io->created = NULL;
	if (fault) {
		collq_object_remove(obj);
		return;
	}
	if (io->hold) {
		collq_object_get(obj);
		*io->hold = obj;
	}
	collq_object_finalize(obj);
}

static long collq_write_back(struct collq_ioctl *io, u32 out, u32 size,
			     long ret)
{
	bool fault = copy_to_user(io->user + out, (void *)&io->arg + out,
				  size - out);

	collq_ioctl_publish(io, fault);
	return fault ? -EFAULT : ret;
}

/* Any command but that which has a way of its own. */
static noinline long collq_ioctl_common(struct collq_ioctl *io, unsigned int cmd)
{
	const struct collq_command *command = collq_find_command(cmd);
	struct collq_context *ctx = io->ctx;
	u32 size;
	long ret;

	if (!command)
		return -ENOTTY;
	ret = collq_copy_in(&io->arg, command->size, command->min, io->user,
			    &size);
	if (ret)
		return ret;

	if (command->locked && mutex_lock_killable(&ctx->mutex))
		return -EINTR;
	/* The device may have gone meanwhile, and not wait for us all. */
	ret = -ENODEV;
	if (!READ_ONCE(ctx->device->dead))
		ret = collq_run_command(io, cmd, command);
	ret = collq_write_back(io, command->out, min(size, command->size), ret);
	if (command->locked)
		mutex_unlock(&ctx->mutex);
	return ret;
}

static noinline long collq_ioctl_any(struct collq_context *ctx,
				     unsigned int cmd, void __user *user)
{
	struct collq_ioctl io;

	io.ctx = ctx;
	io.user = user;
	io.created = NULL;
	io.hold = NULL;
	io.borrowed = (struct collq_borrowed) {};
	return collq_ioctl_common(&io, cmd);
}

/* 0 if a command may be carried out; collq_ioctl_end() is to follow. */
static __always_inline int collq_ioctl_begin(struct collq_context *ctx, int *idx)
{
	struct collq_device *cd = ctx->device;

	/* After fork, exec, or passing the descriptor on. */
	if (current->mm != ctx->mm)
		return -EPERM;
	*idx = srcu_read_lock(&cd->srcu);
	return 0;
}

/* As it is, charges included, for who goes on elsewhere. */
static noinline long collq_wait_gone(struct collq_context *ctx)
{
	struct collq_device *cd = ctx->device;

	if (wait_event_killable(cd->verbs_gone, READ_ONCE(cd->gone)))
		return -ERESTARTSYS;
	collq_leftovers_finish(ctx);
	return -ENODEV;
}

/* Whether a command can be what takes a region out of service. */
static __always_inline bool collq_ends_regions(unsigned int cmd)
{
	return cmd == IB_COLLQ_OBJECT_DESTROY || cmd == IB_COLLQ_REGION_CREATE;
}

/*
 * Memory of a region is the caller's again when the command returns, and others don't wait
 * for that. Who is told that the device has gone is told when nothing of his is on it.
 */
static __always_inline long collq_ioctl_end(struct collq_context *ctx, int idx,
					    unsigned int cmd, long ret)
{
	struct collq_device *cd = ctx->device;

	srcu_read_unlock(&cd->srcu, idx);
	if (unlikely(collq_ends_regions(cmd)))
		collq_leftovers_finish(ctx);
	if (unlikely(ret == -ENODEV) && READ_ONCE(cd->dead))
		ret = collq_wait_gone(ctx);
	return ret;
}

/**
 * collq_ioctl_run - carry out a command
 * @ctx: the context
 * @cmd: the command
 * @user: its structure
 *
 * May sleep.
 *
 * Return: as in the ABI header.
 */
long collq_ioctl_run(struct collq_context *ctx, unsigned int cmd,
		     void __user *user)
{
	long ret;
	int idx;

	ret = collq_ioctl_begin(ctx, &idx);
	if (ret)
		return ret;
	ret = -ENODEV;
	if (likely(!READ_ONCE(ctx->device->dead))) {
		if (likely(cmd == IB_COLLQ_QUEUE_SUBMIT_WAIT))
			ret = collq_ioctl_submit_wait(ctx, user);
		else
			ret = collq_ioctl_any(ctx, cmd, user);
	}
	return collq_ioctl_end(ctx, idx, cmd, ret);
}

static int collq_ioctl_create_one(struct collq_ioctl *io, unsigned int cmd,
				  u32 size)
{
	struct collq_context *ctx = io->ctx;
	int err = -ENODEV;

	if (!collq_batch_knows(cmd))
		return collq_ioctl_common(io, cmd);
	if (mutex_lock_killable(&ctx->mutex))
		return -EINTR;
	if (!READ_ONCE(ctx->device->dead))
		err = collq_batch_run_one(io, cmd, size);
	mutex_unlock(&ctx->mutex);
	return err;
}

/**
 * collq_ioctl_create - make one object
 * @ctx: the context
 * @cmd: a command that makes objects
 * @user: its structure, or an entry if it takes a batch
 * @size: of such an entry, as the caller knows it
 * @borrowed: what the object is to use
 * @obj: set to the object, with a reference for the caller, if there is one
 *
 * May sleep.
 *
 * Return: 0 or an error, as in the ABI header.
 */
int collq_ioctl_create(struct collq_context *ctx, unsigned int cmd,
		       void __user *user, u32 size,
		       const struct collq_borrowed *borrowed,
		       struct collq_object **obj)
{
	struct collq_ioctl io = {
		.ctx = ctx,
		.user = user,
		.hold = obj,
		.borrowed = *borrowed,
	};
	int err, idx;

	err = collq_ioctl_begin(ctx, &idx);
	if (err)
		return err;
	err = -ENODEV;
	if (!READ_ONCE(ctx->device->dead))
		err = collq_ioctl_create_one(&io, cmd, size);
	return collq_ioctl_end(ctx, idx, cmd, err);
}
