// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What happens to a queue: its current graph, completion, failure, deadlines.
 *
 * A queue fails once. Then the graph that runs completes with the error, those
 * behind it are cancelled, the failure is announced to all that the queue works
 * with, and nothing runs any more. A submission that has not begun can be taken
 * out (cancel, deadline) without harm to the others.
 *
 * All of it under the queue's lock, in process context or softirq, between
 * collq_engine_enter() and collq_engine_exit().
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/sched.h>

#include "bindings.h"
#include "control.h"
#include "counter.h"
#include "device.h"
#include "endpoint.h"
#include "engine.h"
#include "graph.h"
#include "queue.h"
#include "ring.h"
#include "trace.h"

void collq_queue_set_state(struct collq_queue *queue, u32 state)
{
	lockdep_assert_held(&queue->lock);
	trace_collq_queue_state(queue, state);
	queue->state = state;
	queue->since = jiffies;
}

/* Whether a graph has begun and not ended. */
bool collq_queue_running(const struct collq_queue *queue)
{
	return queue->state != IB_COLLQ_QUEUE_IDLE &&
	       queue->state != IB_COLLQ_QUEUE_FAILED;
}

/*
 * The queue has passed a submission. One that was taken out keeps its graph, and
 * with it the claim on counters, until then: those before it may have been
 * submitted under the same claim. Returns the graph, for the caller to put.
 */
static struct collq_graph *collq_queue_pass(struct collq_queue *queue,
					    struct collq_submission *sub)
{
	struct collq_graph *graph = sub->graph;

	sub->graph = NULL;
	if (unlikely(sub->bindings))
		collq_bindings_put(sub->bindings);
	sub->bindings = NULL;
	atomic_dec(&graph->runs);
	queue->current_seq++;
	queue->task = 0;
	queue->progress.begun = false;
	return graph;
}

static void collq_queue_skip(struct collq_queue *queue,
			     struct collq_submission *sub)
{
	collq_object_put(&collq_queue_pass(queue, sub)->obj);
}

/* The submission to go on with, or NULL if there's nothing to run. */
struct collq_submission *collq_queue_current(struct collq_queue *queue)
{
	struct collq_submission *sub;

	lockdep_assert_held(&queue->lock);

	if (unlikely(queue->error))
		return NULL;
	while (queue->current_seq <= queue->submitted) {
		sub = collq_queue_slot(queue, queue->current_seq);
		if (likely(!sub->done)) {
			collq_queue_set_state(queue, IB_COLLQ_QUEUE_RUNNING);
			return sub;
		}
		collq_queue_skip(queue, sub);
	}
	collq_queue_set_state(queue, IB_COLLQ_QUEUE_IDLE);
	return NULL;
}

/* The ring's entry, which was reserved for it. */
static void collq_queue_post(struct collq_queue *queue,
			     const struct collq_submission *sub)
{
	const struct ib_collq_completion completion = {
		.user_data = sub->user_data,
		.sequence = sub->sequence,
		.status = sub->result.status,
		.queue = queue->obj.id,
		.task = sub->result.task,
		.endpoint = sub->result.endpoint,
		.label = sub->result.label,
		.peer = sub->result.peer,
	};

	collq_ring_post(queue->ring, &completion);
}

/* Tells those who want to know. */
static void collq_queue_announce(struct collq_queue *queue,
				 struct collq_submission *sub)
{
	struct collq_waiter *waiter = sub->waiter;

	if (waiter && sub->quiet && !sub->result.status)
		collq_ring_cancel(queue->ring);
	else
		collq_queue_post(queue, sub);
	if (waiter) {
		sub->waiter = NULL;
		*waiter->result = sub->result;
		waiter->told = true;
		wake_up_process(waiter->task);
	}
	if (wq_has_sleeper(&queue->wait))
		wake_up_all(&queue->wait);
}

/**
 * collq_queue_complete - end a submission
 * @queue: the queue, locked
 * @sub: the submission
 * @result: how it ended
 *
 * If it's the current one, the next one becomes that.
 */
void collq_queue_complete(struct collq_queue *queue,
			  struct collq_submission *sub,
			  const struct collq_result *result)
{
	struct collq_graph *passed = NULL;

	lockdep_assert_held(&queue->lock);
	trace_collq_complete(queue, sub->sequence, result);

	/* Before anybody can know; its memory is needed until all have been told. */
	if (sub->sequence == queue->current_seq)
		passed = collq_queue_pass(queue, sub);
	sub->result = *result;
	WRITE_ONCE(sub->done, true);
	queue->completed++;
	collq_queue_announce(queue, sub);
	if (passed)
		collq_object_put(&passed->obj);
}

static struct collq_result collq_queue_result(struct collq_queue *queue,
					      int error,
					      const struct collq_endpoint *from)
{
	struct collq_result result = {
		.status = error,
		.task = IB_COLLQ_NO_TASK,
		.endpoint = IB_COLLQ_NO_OBJECT,
	};

	if (collq_queue_running(queue)) {
		struct collq_submission *sub =
			collq_queue_slot(queue, queue->current_seq);

		result.task = queue->task;
		if (queue->task < sub->graph->nr_tasks)
			result.label = sub->graph->tasks[queue->task].label;
	}
	if (from) {
		result.endpoint = from->obj.id;
		result.peer = from->attr.peer;
	}
	return result;
}

/* If it is in a run list rather than parked, it will find nothing to do. */
static void collq_queue_unpark(struct collq_queue *queue)
{
	struct collq_endpoint *ep = queue->parked_endpoint;
	bool parked = false;

	if (queue->parked_counter)
		parked = collq_counter_unpark(queue->parked_counter, queue);
	if (ep) {
		spin_lock(&ep->lock);
		parked = !list_empty(&queue->park_node);
		list_del_init(&queue->park_node);
		if (!parked)
			collq_endpoint_pass_on(ep);
		spin_unlock(&ep->lock);
	}
	if (parked)
		/* The caller has a reference too. */
		collq_object_put(&queue->obj);
	else if (queue->parked_counter || ep)
		queue->listed = true;
	queue->parked_counter = NULL;
	queue->parked_endpoint = NULL;
}

/* Ends all that a queue had to do which has failed. */
static void collq_queue_end_all(struct collq_queue *queue)
{
	struct collq_result result = queue->failure;
	struct collq_submission *sub;

	while (queue->current_seq <= queue->submitted) {
		sub = collq_queue_slot(queue, queue->current_seq);
		if (sub->done)
			collq_queue_skip(queue, sub);
		else
			collq_queue_complete(queue, sub, &result);
		if (queue->error != -ENODEV ||
		    !READ_ONCE(queue->obj.ctx->device->dead))
			result.status = -ECANCELED;
		result.task = IB_COLLQ_NO_TASK;
		result.label = 0;
	}
	collq_queue_set_state(queue, IB_COLLQ_QUEUE_FAILED);
}

/*
 * If messages are under way that may still touch the caller's buffers, nobody is to
 * hear of the failure before they are over. There's no way to take them back but
 * to fail the endpoints that they are on.
 */
static bool collq_queue_drain(struct collq_queue *queue)
{
	struct collq_submission *sub;
	u32 i;

	if (!collq_queue_running(queue))
		return false;
	sub = collq_queue_slot(queue, queue->current_seq);
	if (!sub->bindings || refcount_read(&sub->bindings->refs) == 1)
		return false;

	for (i = 0; i < sub->graph->nr_carriers; i++)
		collq_endpoint_abandon(sub->graph->carriers[i], queue->error);
	queue->draining = true;
	collq_object_get(&queue->obj);
	sub->bindings->drained = &queue->drained_work;
	collq_bindings_put(sub->bindings);
	sub->bindings = NULL;
	return true;
}

/* The last message of what has failed is over. */
void collq_queue_drained_work(struct work_struct *work)
{
	struct collq_queue *queue =
		container_of(work, struct collq_queue, drained_work);

	collq_engine_enter_bh();
	spin_lock(&queue->lock);
	collq_queue_end_all(queue);
	WRITE_ONCE(queue->draining, false);
	spin_unlock(&queue->lock);
	collq_engine_exit_bh();
	wake_up_all(&queue->wait);
	collq_object_put(&queue->obj);
}

/**
 * collq_queue_fail_locked - end everything that the queue has to do
 * @queue: the queue, locked; the caller has a reference
 * @error: why
 * @from: the endpoint that failed or brought the news, or NULL
 */
void collq_queue_fail_locked(struct collq_queue *queue, int error,
			     const struct collq_endpoint *from)
{
	u32 i;

	lockdep_assert_held(&queue->lock);

	if (queue->error)
		return;
	trace_collq_error(queue, error, from);
	queue->failure = collq_queue_result(queue, error, from);
	collq_queue_unpark(queue);
	queue->error = error;
	/* First: draining may end the very endpoints that the news goes out on. */
	for (i = 0; i < queue->nr_links; i++) {
		if (queue->links[i].endpoint != from)
			collq_control_send_abort(&queue->links[i], error);
	}
	if (!collq_queue_drain(queue))
		collq_queue_end_all(queue);
}

/* The same for callers that don't hold the lock. */
void collq_queue_fail(struct collq_queue *queue, int error,
		      const struct collq_endpoint *from)
{
	collq_engine_enter_bh();
	spin_lock(&queue->lock);
	collq_queue_fail_locked(queue, error, from);
	spin_unlock(&queue->lock);
	collq_engine_exit_bh();
}

/* An endpoint that the queue works with has failed: so does what runs. */
void collq_queue_transport_failed(struct collq_queue *queue, int error,
				  const struct collq_endpoint *from)
{
	collq_engine_enter_bh();
	spin_lock(&queue->lock);
	if (collq_queue_running(queue))
		collq_queue_fail_locked(queue, error, from);
	spin_unlock(&queue->lock);
	collq_engine_exit_bh();
}

/* Makes the worker look no later than this. Queue locked. */
void collq_queue_arm_deadline(struct collq_queue *queue, u64 deadline)
{
	u64 now = ktime_get_ns();
	unsigned long delay = 0;

	lockdep_assert_held(&queue->lock);

	if (queue->armed && queue->armed <= deadline)
		return;
	if (deadline > now)
		delay = min_t(u64, nsecs_to_jiffies64(deadline - now) + 1,
			      MAX_JIFFY_OFFSET);
	queue->armed = deadline;
	mod_delayed_work(collq_run_wq, &queue->deadline_work, delay);
}

/* Fails or takes out what is late; returns the next deadline, or 0. */
static u64 collq_queue_expire(struct collq_queue *queue, u64 now)
{
	static const struct collq_result late = {
		.status = -ETIMEDOUT,
		.task = IB_COLLQ_NO_TASK,
	};
	struct collq_submission *sub;
	u64 sequence, next = 0;

	for (sequence = queue->current_seq; sequence <= queue->submitted;
	     sequence++) {
		sub = collq_queue_slot(queue, sequence);
		if (sub->done || !sub->deadline)
			continue;
		if (sub->deadline > now) {
			if (!next || sub->deadline < next)
				next = sub->deadline;
			continue;
		}
		if (sequence == queue->current_seq) {
			collq_queue_fail_locked(queue, -ETIMEDOUT, NULL);
			return 0;
		}
		collq_queue_complete(queue, sub, &late);
	}
	return next;
}

void collq_queue_deadline_work(struct work_struct *work)
{
	struct collq_queue *queue =
		container_of(to_delayed_work(work), struct collq_queue,
			     deadline_work);
	u64 next;

	collq_engine_enter_bh();
	spin_lock(&queue->lock);
	queue->armed = 0;
	next = queue->error ? 0 : collq_queue_expire(queue, ktime_get_ns());
	if (next)
		collq_queue_arm_deadline(queue, next);
	spin_unlock(&queue->lock);
	collq_engine_exit_bh();
}
