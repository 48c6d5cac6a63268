// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands on an array of entries: what creates, connects, binds and destroys
 * many objects in one system call.
 *
 * A batch stops at the first entry that fails, and what was done stays done. It
 * holds the context's mutex throughout.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "context.h"
#include "counter.h"
#include "device.h"
#include "endpoint.h"
#include "ioctl.h"
#include "limits.h"
#include "signal.h"

union collq_entry {
	struct ib_collq_object_destroy destroy;
	struct ib_collq_endpoint_create endpoint;
	struct ib_collq_endpoint_connect connect;
	struct ib_collq_capacity capacity;
	struct ib_collq_slot_bind bind;
	struct ib_collq_counter_create counter;
};

static int collq_entry_destroy(struct collq_ioctl *io, union collq_entry *entry)
{
	struct ib_collq_object_destroy *destroy = &entry->destroy;
	struct collq_object *obj;
	int err;

	if (destroy->type > IB_COLLQ_OBJECT_TARGET)
		return -EINVAL;
	obj = collq_object_find(io->ctx, destroy->id, destroy->type);
	if (!obj)
		return -ENOENT;
	err = collq_object_destroy(obj);
	collq_object_put(obj);
	return err;
}

/* An endpoint by its id, referenced; NULL for 0, if that is allowed. */
static struct collq_endpoint *collq_get_endpoint(struct collq_ioctl *io, u32 id,
						 bool optional)
{
	struct collq_object *obj;

	if (!id && optional)
		return NULL;
	obj = collq_object_find(io->ctx, id, IB_COLLQ_OBJECT_ENDPOINT);
	return obj ? collq_endpoint_of(obj) : ERR_PTR(-ENOENT);
}

static void collq_put_endpoint(struct collq_endpoint *ep)
{
	if (ep)
		collq_object_put(&ep->obj);
}

static int collq_entry_endpoint(struct collq_ioctl *io,
				union collq_entry *entry)
{
	struct ib_collq_endpoint_create *attr = &entry->endpoint;
	struct collq_endpoint *signal, *ep;

	signal = collq_get_endpoint(io, attr->signal_endpoint, true);
	if (IS_ERR(signal))
		return PTR_ERR(signal);
	ep = collq_endpoint_create(io->ctx, attr, signal, io->borrowed.pd);
	collq_put_endpoint(signal);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	io->created = &ep->obj;
	return 0;
}

static int collq_entry_connect(struct collq_ioctl *io, union collq_entry *entry)
{
	struct ib_collq_endpoint_connect *attr = &entry->connect;
	struct collq_endpoint *ep;
	int err;

	if (attr->flags)
		return -EOPNOTSUPP;
	ep = collq_get_endpoint(io, attr->endpoint, false);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	err = collq_endpoint_connect(ep, (void *)attr->address);
	collq_put_endpoint(ep);
	return err;
}

static int collq_entry_reserve(struct collq_ioctl *io, union collq_entry *entry)
{
	struct collq_endpoint *ep;
	int err;

	ep = collq_get_endpoint(io, entry->capacity.endpoint, false);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	err = collq_endpoint_reserve(ep, entry->capacity.recvs);
	collq_put_endpoint(ep);
	return err;
}

static int collq_entry_release(struct collq_ioctl *io, union collq_entry *entry)
{
	struct collq_endpoint *ep;
	int err;

	ep = collq_get_endpoint(io, entry->capacity.endpoint, false);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	err = collq_endpoint_release(ep, entry->capacity.recvs);
	collq_put_endpoint(ep);
	return err;
}

static int collq_entry_bind(struct collq_ioctl *io, union collq_entry *entry)
{
	struct ib_collq_slot_bind *attr = &entry->bind;
	struct collq_object *counter;
	struct collq_endpoint *ep;
	int err = -ENOENT;

	ep = collq_get_endpoint(io, attr->endpoint, false);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	counter = collq_object_find(io->ctx, attr->counter,
				    IB_COLLQ_OBJECT_COUNTER);
	if (counter) {
		err = collq_signal_bind(ep, attr->slot, attr->generation,
					collq_counter_of(counter));
		collq_object_put(counter);
	}
	collq_put_endpoint(ep);
	return err;
}

static int collq_entry_unbind(struct collq_ioctl *io, union collq_entry *entry)
{
	struct ib_collq_slot_bind *attr = &entry->bind;
	struct collq_endpoint *ep;
	int err;

	if (attr->counter)
		return -EINVAL;
	ep = collq_get_endpoint(io, attr->endpoint, false);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	err = collq_signal_unbind(ep, attr->slot, attr->generation);
	collq_put_endpoint(ep);
	return err;
}

static int collq_entry_counter(struct collq_ioctl *io, union collq_entry *entry)
{
	struct ib_collq_counter_create *attr = &entry->counter;
	struct collq_counter *counter;
	struct collq_endpoint *ep;

	ep = collq_get_endpoint(io, attr->endpoint, true);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	counter = collq_counter_create(io->ctx, attr, ep);
	collq_put_endpoint(ep);
	if (IS_ERR(counter))
		return PTR_ERR(counter);
	io->created = &counter->obj;
	return 0;
}

/**
 * struct collq_batch_command - a command that takes entries
 * @cmd: number
 * @size: of an entry as this kernel knows it
 * @min: up to the last member that any caller must have
 * @run: what it does with one
 */
struct collq_batch_command {
	unsigned int cmd;
	u32 size;
	u32 min;
	int (*run)(struct collq_ioctl *io, union collq_entry *entry);
};

#define COLLQ_BATCH(_cmd, _type, _last, _run) {				\
	.cmd = _cmd,							\
	.size = sizeof(struct _type),					\
	.min = offsetofend(struct _type, _last),			\
	.run = _run,							\
}

static const struct collq_batch_command collq_batches[] = {
	COLLQ_BATCH(IB_COLLQ_OBJECT_DESTROY, ib_collq_object_destroy,
		    type, collq_entry_destroy),
	COLLQ_BATCH(IB_COLLQ_ENDPOINT_CREATE, ib_collq_endpoint_create,
		    address, collq_entry_endpoint),
	COLLQ_BATCH(IB_COLLQ_ENDPOINT_CONNECT, ib_collq_endpoint_connect,
		    address, collq_entry_connect),
	COLLQ_BATCH(IB_COLLQ_CAPACITY_RESERVE, ib_collq_capacity,
		    recvs, collq_entry_reserve),
	COLLQ_BATCH(IB_COLLQ_CAPACITY_RELEASE, ib_collq_capacity,
		    recvs, collq_entry_release),
	COLLQ_BATCH(IB_COLLQ_SLOT_BIND, ib_collq_slot_bind,
		    counter, collq_entry_bind),
	COLLQ_BATCH(IB_COLLQ_SLOT_UNBIND, ib_collq_slot_bind,
		    counter, collq_entry_unbind),
	COLLQ_BATCH(IB_COLLQ_COUNTER_CREATE, ib_collq_counter_create,
		    __reserved, collq_entry_counter),
};

static const struct collq_batch_command *collq_find_batch(unsigned int cmd)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(collq_batches); i++) {
		if (collq_batches[i].cmd == cmd)
			return &collq_batches[i];
	}
	return NULL;
}

bool collq_batch_knows(unsigned int cmd)
{
	return collq_find_batch(cmd);
}

/* One entry, in and out. */
static int collq_run_entry(struct collq_ioctl *io,
			   const struct collq_batch_command *command,
			   void __user *user, u32 size)
{
	union collq_entry entry;
	bool fault;
	int err;

	err = copy_struct_from_user(&entry, command->size, user, size);
	if (err)
		return err;
	err = command->run(io, &entry);
	if (err)
		return err;

	fault = copy_to_user(user, &entry, min(size, command->size));
	collq_ioctl_publish(io, fault);
	return fault ? -EFAULT : 0;
}

/* Called with the context's mutex held. Returns as a batch does. */
long collq_batch_run(struct collq_ioctl *io, unsigned int cmd)
{
	const struct collq_batch_command *command = collq_find_batch(cmd);
	struct ib_collq_batch *batch = &io->arg.batch;
	u32 done;
	int err = 0;

	batch->error = 0;
	if (batch->__reserved || !batch->nr || batch->nr > COLLQ_MAX_BATCH ||
	    batch->entry_size < command->min)
		return -EINVAL;
	if (batch->entry_size > PAGE_SIZE)
		return -E2BIG;

	for (done = 0; done < batch->nr; done++) {
		if (done && signal_pending(current)) {
			err = -EINTR;
			break;
		}
		if (READ_ONCE(io->ctx->device->dead)) {
			err = -ENODEV;
			break;
		}
		err = collq_run_entry(io, command,
				      u64_to_user_ptr(batch->entries) +
				      (size_t)done * batch->entry_size,
				      batch->entry_size);
		if (err)
			break;
		cond_resched();
	}
	batch->error = err;
	if (done)
		return done;
	return err;
}

/* The same for an entry by itself, of this size, which is what @io is about. */
int collq_batch_run_one(struct collq_ioctl *io, unsigned int cmd, u32 size)
{
	const struct collq_batch_command *command = collq_find_batch(cmd);

	if (size < command->min)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	return collq_run_entry(io, command, io->user, size);
}
