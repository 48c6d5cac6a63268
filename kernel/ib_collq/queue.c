// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Management queues, as front ends see them: create, submit, cancel. Waiting is
 * in queue_wait.c.
 *
 * A queue runs the graphs submitted to it first in, first out. Submitting walks
 * the graph as far as it goes at once; completions do the rest (engine.c). How
 * the last submissions ended is kept, so that somebody who asks later, or was
 * interrupted while waiting, still learns it.
 *
 * Life: destroying cancels what runs, after which nothing is accepted; whoever
 * waits is told. The memory goes with the last reference, which may be a run
 * list's.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "context.h"
#include "device.h"
#include "endpoint.h"
#include "engine.h"
#include "graph.h"
#include "limits.h"
#include "queue.h"
#include "ring.h"
#include "trace.h"

/*
 * An ABORT that still waits for a slot of the send queue is sent all the same: it
 * holds the queue, and with it the link.
 */
static void collq_queue_unlink(struct collq_queue *queue)
{
	u32 i;

	for (i = 0; i < queue->nr_links; i++) {
		struct collq_queue_link *link = &queue->links[i];

		xa_erase(&link->endpoint->aborts, link->slot);
		/* Wait for whoever has looked it up. */
		spin_lock_bh(&link->endpoint->lock);
		spin_unlock_bh(&link->endpoint->lock);
		collq_object_unname(&link->endpoint->obj);
	}
}

/* Reserves the abort slot. Nobody finds the queue there yet. */
static int collq_queue_link(struct collq_queue *queue,
			    const struct collq_queue_link_attr *attr)
{
	struct collq_queue_link *link = &queue->links[queue->nr_links];
	struct collq_endpoint *ep = attr->endpoint;
	int err;

	if (ep->attr.kind != IB_COLLQ_ENDPOINT_SIGNAL ||
	    attr->attr.__reserved0 || attr->attr.__reserved1 ||
	    attr->attr.abort_slot >= COLLQ_MAX_SLOTS ||
	    attr->attr.peer_abort_slot >= COLLQ_MAX_SLOTS)
		return -EINVAL;

	link->queue = queue;
	link->endpoint = ep;
	link->slot = attr->attr.abort_slot;
	link->generation = attr->attr.abort_generation;
	link->peer_slot = attr->attr.peer_abort_slot;
	link->peer_generation = attr->attr.peer_abort_generation;
	INIT_LIST_HEAD(&link->pending_node);
	err = xa_insert(&ep->aborts, link->slot, XA_ZERO_ENTRY,
			GFP_KERNEL_ACCOUNT);
	if (err)
		return err;
	collq_object_name(&ep->obj);
	queue->nr_links++;
	return 0;
}

/* Lets ABORTs in. The slots are reserved, so this can't fail. */
static void collq_queue_publish_links(struct collq_queue *queue)
{
	u32 i;

	for (i = 0; i < queue->nr_links; i++)
		xa_store(&queue->links[i].endpoint->aborts,
			 queue->links[i].slot, &queue->links[i], GFP_KERNEL);
}

/* Why what runs can't go on; peers hear of it too. */
static int collq_queue_end_error(const struct collq_context *ctx)
{
	if (READ_ONCE(ctx->device->dead))
		return -ENODEV;
	/* Who closes has gone, mostly without wanting to. */
	return ctx->closed ? -ECONNRESET : -ECANCELED;
}

/*
 * For good. A graph that runs is cancelled, and that is announced. An idle queue just
 * takes nothing more: its peers may still be on their way to the end of what
 * is over here.
 */
void collq_queue_end(struct collq_queue *queue)
{
	int error = collq_queue_end_error(queue->obj.ctx);

	collq_engine_enter_bh();
	spin_lock(&queue->lock);
	if (collq_queue_running(queue))
		collq_queue_fail_locked(queue, error, NULL);
	else if (!queue->error)
		queue->error = error;
	spin_unlock(&queue->lock);
	collq_engine_exit_bh();
}

static void collq_queue_destroy(struct collq_object *obj)
{
	struct collq_queue *queue = collq_queue_of(obj);

	collq_queue_end(queue);
	/* Where buffers are still touched nobody who waits is told before that is over. */
	wait_event(queue->wait, !READ_ONCE(queue->draining));
	spin_lock_bh(&queue->lock);
	WRITE_ONCE(queue->dead, true);
	spin_unlock_bh(&queue->lock);
	wake_up_all(&queue->wait);
	cancel_delayed_work_sync(&queue->deadline_work);
	collq_queue_unlink(queue);
	collq_object_unname(&queue->ring->obj);
}

static void collq_queue_free(struct collq_object *obj)
{
	struct collq_queue *queue = collq_queue_of(obj);

	kvfree(queue->links);
	kvfree(queue->submissions);
	kfree(queue);
}

static const struct collq_object_ops collq_queue_ops = {
	.type = IB_COLLQ_OBJECT_QUEUE,
	.destroy = collq_queue_destroy,
	.free = collq_queue_free,
};

static int collq_queue_alloc(struct collq_queue *queue, u32 depth, u32 nr_links)
{
	queue->depth = depth;
	queue->nr_slots = roundup_pow_of_two(depth);
	queue->submissions = kvcalloc(queue->nr_slots,
				      sizeof(*queue->submissions),
				      GFP_KERNEL_ACCOUNT);
	if (!queue->submissions)
		return -ENOMEM;
	if (!nr_links)
		return 0;
	queue->links = kvcalloc(nr_links, sizeof(*queue->links),
				GFP_KERNEL_ACCOUNT);
	return queue->links ? 0 : -ENOMEM;
}

/**
 * collq_queue_create - make a queue
 * @ctx: the context
 * @ring: where completions go
 * @depth: unfinished submissions at a time
 * @links: where failures are announced
 * @nr_links: how many
 *
 * Called with ctx->mutex held. May sleep.
 *
 * Return: the queue, not published yet, or an ERR_PTR: -EINVAL, -EBUSY if an
 * abort slot is taken.
 */
struct collq_queue *
collq_queue_create(struct collq_context *ctx, struct collq_ring *ring,
		   u32 depth, const struct collq_queue_link_attr *links,
		   u32 nr_links)
{
	struct collq_queue *queue;
	u32 i;
	int err;

	if (!depth || depth > COLLQ_MAX_QUEUE_DEPTH ||
	    nr_links > COLLQ_MAX_QUEUE_ENDPOINTS)
		return ERR_PTR(-EINVAL);

	queue = kzalloc(sizeof(*queue), GFP_KERNEL_ACCOUNT);
	if (!queue)
		return ERR_PTR(-ENOMEM);
	err = collq_queue_alloc(queue, depth, nr_links);
	if (err)
		goto err_free;

	spin_lock_init(&queue->lock);
	init_waitqueue_head(&queue->wait);
	INIT_DELAYED_WORK(&queue->deadline_work, collq_queue_deadline_work);
	INIT_WORK(&queue->drained_work, collq_queue_drained_work);
	INIT_LIST_HEAD(&queue->run_node);
	INIT_LIST_HEAD(&queue->park_node);
	queue->state = IB_COLLQ_QUEUE_IDLE;
	queue->since = jiffies;
	queue->current_seq = 1;

	err = collq_object_init(ctx, &queue->obj, &collq_queue_ops);
	if (err)
		goto err_free;
	for (i = 0; i < nr_links; i++) {
		err = collq_queue_link(queue, &links[i]);
		if (err)
			goto err_unlink;
	}
	collq_object_name(&ring->obj);
	queue->ring = ring;
	collq_queue_publish_links(queue);
	return queue;

err_unlink:
	collq_queue_unlink(queue);
	collq_object_abort(&queue->obj);
err_free:
	kvfree(queue->links);
	kvfree(queue->submissions);
	kfree(queue);
	return ERR_PTR(err);
}

static int collq_queue_submit_locked(struct collq_queue *queue,
				     const struct collq_submit *submit)
{
	struct collq_submission *sub;
	int err;

	if (queue->error)
		return queue->error;
	if (queue->submitted + 1 - queue->current_seq >= queue->depth)
		return -EBUSY;
	err = collq_ring_reserve(queue->ring);
	if (err)
		return err;
	err = collq_graph_claim(submit->graph, queue);
	if (err) {
		collq_ring_cancel(queue->ring);
		return err;
	}

	collq_object_get(&submit->graph->obj);
	sub = collq_queue_slot(queue, ++queue->submitted);
	WRITE_ONCE(sub->sequence, queue->submitted);
	sub->graph = submit->graph;
	sub->bindings = submit->bindings;
	sub->user_data = submit->user_data;
	sub->deadline = submit->deadline;
	sub->waiter = submit->waiter;
	sub->quiet = submit->quiet;
	WRITE_ONCE(sub->done, false);
	trace_collq_submit(queue, submit->graph->obj.id, submit->deadline);
	if (submit->deadline)
		collq_queue_arm_deadline(queue, submit->deadline);
	return 0;
}

/**
 * collq_queue_submit - run a graph
 * @queue: the queue
 * @submit: the graph and what belongs to it
 * @sequence: number of the submission; set before it can complete
 *
 * Walks the graph as far as it goes. Doesn't sleep.
 *
 * Return: 0, -EBUSY, or the error with which the queue has failed.
 */
int collq_queue_submit(struct collq_queue *queue,
		       const struct collq_submit *submit, u64 *sequence)
{
	int err;

	collq_engine_enter_bh();
	spin_lock(&queue->lock);
	err = collq_queue_submit_locked(queue, submit);
	if (!err) {
		*sequence = queue->submitted;
		if (queue->state == IB_COLLQ_QUEUE_IDLE) {
			if (likely(!queue->listed))
				collq_engine_run_locked(queue);
			else
				collq_queue_set_state(queue, IB_COLLQ_QUEUE_RUNNING);
		}
	}
	spin_unlock(&queue->lock);
	collq_engine_exit_bh();
	return err;
}

static int collq_queue_cancel_one(struct collq_queue *queue, u64 sequence)
{
	static const struct collq_result cancelled = {
		.status = -ECANCELED,
		.task = IB_COLLQ_NO_TASK,
	};
	struct collq_submission *sub = collq_queue_slot(queue, sequence);

	if (sequence < queue->current_seq || sequence > queue->submitted ||
	    sub->done)
		return -ENOENT;
	if (sequence == queue->current_seq)
		collq_queue_fail_locked(queue, -ECANCELED, NULL);
	else
		collq_queue_complete(queue, sub, &cancelled);
	return 0;
}

/**
 * collq_queue_cancel - end a submission early
 * @queue: the queue
 * @sequence: the submission, or 0 for all
 *
 * Doesn't sleep.
 *
 * Return: 0, or -ENOENT if it has ended.
 */
int collq_queue_cancel(struct collq_queue *queue, u64 sequence)
{
	int err = 0;

	collq_engine_enter_bh();
	spin_lock(&queue->lock);
	if (sequence)
		err = collq_queue_cancel_one(queue, sequence);
	else if (collq_queue_running(queue))
		collq_queue_fail_locked(queue, -ECANCELED, NULL);
	spin_unlock(&queue->lock);
	collq_engine_exit_bh();
	return err;
}

/* An ABORT that had no room yet tells of a failure that is over. */
static void collq_queue_drop_abort(struct collq_queue_link *link)
{
	struct collq_endpoint *ep = link->endpoint;
	bool pending;

	spin_lock(&ep->lock);
	pending = !list_empty(&link->pending_node);
	list_del_init(&link->pending_node);
	spin_unlock(&ep->lock);
	if (pending)
		/* The caller has a reference too. */
		collq_object_put(&link->queue->obj);
}

/**
 * collq_queue_reset - make a queue that has failed run again
 * @queue: the queue
 *
 * Doesn't sleep.
 *
 * Return: 0, or -EBUSY as long as it has something to do.
 */
int collq_queue_reset(struct collq_queue *queue)
{
	int err = 0;
	u32 i;

	spin_lock_bh(&queue->lock);
	if (queue->current_seq <= queue->submitted) {
		err = -EBUSY;
	} else if (queue->error) {
		for (i = 0; i < queue->nr_links; i++)
			collq_queue_drop_abort(&queue->links[i]);
		queue->error = 0;
		collq_queue_set_state(queue, IB_COLLQ_QUEUE_IDLE);
	}
	spin_unlock_bh(&queue->lock);
	return err;
}

void collq_queue_info(struct collq_queue *queue,
		      struct ib_collq_queue_info *info)
{
	struct collq_submission *sub;

	memset(info, 0, sizeof(*info));
	info->id = queue->obj.id;
	info->ring = queue->ring->obj.id;
	info->depth = queue->depth;
	info->task = IB_COLLQ_NO_TASK;

	spin_lock_bh(&queue->lock);
	info->nr_endpoints = queue->nr_links;
	info->state = queue->state;
	info->error = queue->error;
	info->since = ktime_get_ns() -
		      jiffies_to_nsecs(jiffies - queue->since);
	info->submitted = queue->submitted;
	info->completed = queue->completed;
	info->copied = queue->copied;
	info->sges = queue->sges;
	if (collq_queue_running(queue)) {
		sub = collq_queue_slot(queue, queue->current_seq);
		info->graph = sub->graph->obj.id;
		if (queue->task < sub->graph->nr_tasks) {
			info->task = queue->task;
			info->label = sub->graph->tasks[queue->task].label;
			info->object = sub->graph->tasks[queue->task].object;
		}
	}
	spin_unlock_bh(&queue->lock);
}
