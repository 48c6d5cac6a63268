// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Contexts: one per open file, or as many as a file of uverbs has objects of that
 * kind.
 *
 * Our lifetime rules are: the file holds the context; each object holds it too,
 * since a lingering endpoint or a queue in a run list may be the last to need
 * it. Closing the file takes all objects out of service, from those that name
 * others to those that are named. Removal of the device does the same with the
 * file still open, after which every command gives -ENODEV.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/ktime.h>
#include <linux/nsproxy.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include <rdma/ib_verbs.h>

#include "context.h"
#include "device.h"
#include "object.h"
#include "queue.h"
#include "region.h"
#include "ring.h"
#include "verbs.h"

static void collq_context_free(struct work_struct *work)
{
	struct collq_context *ctx =
		container_of(work, struct collq_context, free_work);

	xa_destroy(&ctx->objects);
	mutex_destroy(&ctx->leftovers.mutex);
	mutex_destroy(&ctx->mutex);
	put_pid(ctx->pid);
	mmdrop(ctx->mm);
	collq_device_put(ctx->device);
	kfree(ctx);
}

/* Any context but hardirq. */
void collq_context_put(struct collq_context *ctx)
{
	/* Dropping an mm and a device may sleep. */
	if (refcount_dec_and_test(&ctx->refs))
		queue_work(collq_wq, &ctx->free_work);
}

/* For the current process. The device is alive. */
static struct collq_context *collq_context_create(struct collq_device *cd)
{
	struct collq_context *ctx;

	lockdep_assert_held(&cd->mutex);

	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);
	if (!ctx)
		return ERR_PTR(-ENOMEM);
	ctx->verbs = collq_verbs_create(cd);
	if (IS_ERR(ctx->verbs)) {
		struct collq_verbs *err = ctx->verbs;

		kfree(ctx);
		return ERR_CAST(err);
	}

	refcount_set(&ctx->refs, 1);
	mutex_init(&ctx->mutex);
	xa_init_flags(&ctx->objects, XA_FLAGS_ALLOC1);
	spin_lock_init(&ctx->claim_lock);
	spin_lock_init(&ctx->rings_lock);
	INIT_LIST_HEAD(&ctx->rings);
	collq_probe_init(&ctx->probe);
	init_waitqueue_head(&ctx->poll_wait);
	collq_leftovers_init(&ctx->leftovers);
	INIT_WORK(&ctx->free_work, collq_context_free);
	ctx->id = ++cd->last_context;
	ctx->pid = get_pid(task_tgid(current));
	ctx->uid = current_euid();
	ctx->created = ktime_get_ns();
	get_task_comm(ctx->comm, current);
	mmgrab(current->mm);
	ctx->mm = current->mm;
	ctx->device = collq_device_get(cd);
	list_add_tail(&ctx->node, &cd->contexts);
	return ctx;
}

/**
 * collq_context_open - make a context for the current process
 * @cd: the device
 *
 * May sleep.
 *
 * Return: the context, or an ERR_PTR: -ENODEV, -EPERM if the process' network
 * namespace doesn't have the device, -ENOMEM, -ENOSPC.
 */
struct collq_context *collq_context_open(struct collq_device *cd)
{
	struct collq_context *ctx;

	mutex_lock(&cd->mutex);
	if (cd->dead)
		ctx = ERR_PTR(-ENODEV);
	else if (!rdma_dev_access_netns(cd->ibdev, current->nsproxy->net_ns))
		ctx = ERR_PTR(-EPERM);
	else
		ctx = collq_context_create(cd);
	mutex_unlock(&cd->mutex);
	return ctx;
}

/* Whether the caller may look into it: it's the same user's, in sight of it. */
static bool collq_context_visible(const struct collq_context *ctx)
{
	if (uid_eq(ctx->uid, current_euid()) && pid_vnr(ctx->pid))
		return true;
	return capable(CAP_SYS_ADMIN);
}

/**
 * collq_context_find - a context of the caller's device to look into
 * @caller: the caller's
 * @id: the context, or 0 for @caller
 * @or_next: or else the first one behind it
 *
 * May sleep.
 *
 * Return: the context, referenced, or NULL if there is none that the caller may
 * see.
 */
struct collq_context *collq_context_find(struct collq_context *caller, u32 id,
					 bool or_next)
{
	struct collq_device *cd = caller->device;
	struct collq_context *ctx, *found = NULL;

	if (!id && !or_next) {
		collq_context_get(caller);
		return caller;
	}
	mutex_lock(&cd->mutex);
	list_for_each_entry(ctx, &cd->contexts, node) {
		if (ctx->id < id || (ctx->id > id && !or_next))
			continue;
		if (found && found->id < ctx->id)
			continue;
		if (ctx == caller || collq_context_visible(ctx))
			found = ctx;
	}
	if (found)
		collq_context_get(found);
	mutex_unlock(&cd->mutex);
	return found;
}

static void collq_context_each_queue(struct collq_context *ctx,
				     void (*visit)(struct collq_queue *queue))
{
	struct collq_object *obj;
	u32 id = 0;

	while ((obj = collq_object_next_queue(ctx, id))) {
		id = obj->id + 1;
		visit(collq_queue_of(obj));
		collq_object_put(obj);
		cond_resched();
	}
}

static void collq_context_lose_queue(struct collq_queue *queue)
{
	collq_queue_fail(queue, -ENODEV, NULL);
}

/*
 * The device goes. Ends whatever runs or waits, so that no ioctl sleeps on. Without the
 * mutex, which an ioctl of another process may have: who finds a queue that was not there
 * yet sees that the device is dead before he sleeps.
 */
void collq_context_lose_device(struct collq_context *ctx)
{
	collq_context_each_queue(ctx, collq_context_lose_queue);
	collq_ring_wake_all(ctx);
}

/*
 * Takes everything out of service and gives the device's things back, except
 * what lingers. May sleep. Happens once: when the file is closed or when the
 * device is removed, whichever is first.
 */
static void collq_context_detach(struct collq_context *ctx)
{
	/* Those that name others first. */
	static const u32 order[] = {
		IB_COLLQ_OBJECT_QUEUE,
		IB_COLLQ_OBJECT_GRAPH,
		IB_COLLQ_OBJECT_TARGET,
		IB_COLLQ_OBJECT_ZONE,
		IB_COLLQ_OBJECT_COUNTER,
		IB_COLLQ_OBJECT_ENDPOINT,
		IB_COLLQ_OBJECT_REGION,
		IB_COLLQ_OBJECT_RING,
	};
	size_t i;

	mutex_lock(&ctx->mutex);
	if (ctx->verbs) {
		/* First all of them, since each may take a while to get its buffers back. */
		collq_context_each_queue(ctx, collq_queue_end);
		for (i = 0; i < ARRAY_SIZE(order); i++)
			collq_object_destroy_type(ctx, order[i]);
		/* Without a queue nobody asks for it again. */
		collq_probe_stop(&ctx->probe);
		collq_verbs_put(ctx->verbs);
		ctx->verbs = NULL;
	}
	mutex_unlock(&ctx->mutex);
}

/* The device goes, and waits for no process. May sleep. */
void collq_context_remove(struct collq_context *ctx)
{
	collq_context_detach(ctx);
	collq_leftovers_hand_over(ctx);
}

/* The process lets go of it, or is gone. May be called again. May sleep. */
void collq_context_shut(struct collq_context *ctx)
{
	struct collq_device *cd = ctx->device;

	mutex_lock(&cd->mutex);
	list_del_init(&ctx->node);
	mutex_unlock(&cd->mutex);
	mutex_lock(&ctx->mutex);
	ctx->closed = true;
	mutex_unlock(&ctx->mutex);
	collq_context_detach(ctx);
	collq_leftovers_finish(ctx);
}

/* The opposite of collq_context_open(). May sleep. */
void collq_context_close(struct collq_context *ctx)
{
	collq_context_shut(ctx);
	collq_context_put(ctx);
}
