// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters: what WAIT tasks hold for.
 *
 * Completions raise a counter, in softirq mostly; WAITs consume from it. One
 * queue at most is parked at a counter: a graph claims its counters when it is
 * submitted (graph.c), and a queue runs one graph at a time.
 *
 * Each counter has one source. When that is an endpoint and nothing more can
 * come from there, the counter gets an error, which fails a WAIT only if what
 * has come before isn't enough.
 */
#include <linux/slab.h>

#include "context.h"
#include "counter.h"
#include "endpoint.h"
#include "engine.h"
#include "graph.h"
#include "limits.h"
#include "queue.h"
#include "signal.h"

/* Where an endpoint keeps the counter of a source, if it has such a place. */
static struct collq_counter **collq_counter_place(struct collq_endpoint *ep,
						  u32 source)
{
	if (source == IB_COLLQ_SOURCE_SENDS)
		return &ep->sends_counter;
	return &ep->messages_counter;
}

static void collq_counter_destroy(struct collq_object *obj)
{
	struct collq_counter *counter = collq_counter_of(obj);
	struct collq_endpoint *ep = counter->endpoint;

	if (counter->eventfd) {
		collq_eventfd_stop(counter->eventfd);
		obj->ctx->nr_eventfds--;
	}
	if (!ep)
		return;
	if (counter->source == IB_COLLQ_SOURCE_SIGNAL) {
		collq_signal_unbind(ep, counter->slot, counter->generation);
		return;
	}
	spin_lock_bh(&ep->lock);
	*collq_counter_place(ep, counter->source) = NULL;
	spin_unlock_bh(&ep->lock);
	collq_object_unname(&ep->obj);
}

static void collq_counter_free(struct collq_object *obj)
{
	kfree(collq_counter_of(obj));
}

static const struct collq_object_ops collq_counter_ops = {
	.type = IB_COLLQ_OBJECT_COUNTER,
	.destroy = collq_counter_destroy,
	.free = collq_counter_free,
};

/* Makes the counter count what the endpoint does. */
static int collq_counter_attach(struct collq_counter *counter,
				struct collq_endpoint *ep)
{
	struct collq_counter **place = collq_counter_place(ep, counter->source);
	int err = 0;

	spin_lock_bh(&ep->lock);
	if (*place) {
		err = -EBUSY;
	} else {
		*place = counter;
		collq_counter_bind(counter, ep, collq_endpoint_error(ep));
	}
	spin_unlock_bh(&ep->lock);
	if (err)
		return err;
	collq_object_name(&ep->obj);
	return 0;
}

/* Makes the counter count what is written to an eventfd. */
static int collq_counter_listen(struct collq_counter *counter, int fd)
{
	struct collq_context *ctx = counter->obj.ctx;
	struct collq_eventfd *eventfd;

	if (ctx->nr_eventfds >= COLLQ_MAX_EVENTFDS)
		return -ENOSPC;
	eventfd = collq_eventfd_listen(fd, counter);
	if (IS_ERR(eventfd))
		return PTR_ERR(eventfd);
	counter->eventfd = eventfd;
	ctx->nr_eventfds++;
	return 0;
}

/**
 * collq_counter_create - make a counter
 * @ctx: the context
 * @attr: what kind; checked here, but for the endpoint's id
 * @ep: the endpoint that @attr names, or NULL
 *
 * Called with ctx->mutex held. May sleep.
 *
 * Return: the counter, not published yet, or an ERR_PTR: -EINVAL, -EBUSY if the
 * endpoint has such a counter, -EBADF if there's no such descriptor, -EINVAL also if it
 * is not an eventfd, -ENOSPC if there are too many that listen to one.
 */
struct collq_counter *
collq_counter_create(struct collq_context *ctx,
		     struct ib_collq_counter_create *attr,
		     struct collq_endpoint *ep)
{
	bool wants_endpoint = attr->source == IB_COLLQ_SOURCE_SENDS ||
			      attr->source == IB_COLLQ_SOURCE_MESSAGES;
	struct collq_counter *counter;
	int err;

	if (attr->flags)
		return ERR_PTR(-EOPNOTSUPP);
	if (attr->source < IB_COLLQ_SOURCE_USER ||
	    attr->source > IB_COLLQ_SOURCE_SIGNAL ||
	    attr->__reserved || wants_endpoint != !!ep ||
	    (attr->source != IB_COLLQ_SOURCE_EVENTFD && attr->eventfd))
		return ERR_PTR(-EINVAL);
	if (attr->source == IB_COLLQ_SOURCE_MESSAGES &&
	    ep->attr.kind != IB_COLLQ_ENDPOINT_MESSAGE)
		return ERR_PTR(-EINVAL);

	counter = kzalloc(sizeof(*counter), GFP_KERNEL_ACCOUNT);
	if (!counter)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&counter->lock);
	counter->source = attr->source;
	counter->initial = attr->value;
	counter->raised = attr->value;

	err = collq_object_init(ctx, &counter->obj, &collq_counter_ops);
	if (err)
		goto err_free;
	if (ep) {
		err = collq_counter_attach(counter, ep);
		if (err)
			goto err_abort;
	}
	if (attr->source == IB_COLLQ_SOURCE_EVENTFD) {
		err = collq_counter_listen(counter, attr->eventfd);
		if (err)
			goto err_abort;
	}
	attr->id = counter->obj.id;
	return counter;

err_abort:
	collq_object_abort(&counter->obj);
err_free:
	kfree(counter);
	return ERR_PTR(err);
}

/**
 * collq_counter_raise - count
 * @counter: the counter
 * @count: how much
 *
 * Wakes the queue that is parked there, if that is enough. Between
 * collq_engine_enter() and collq_engine_exit().
 *
 * Return: 0, or -EOVERFLOW with nothing changed.
 */
int collq_counter_raise(struct collq_counter *counter, u64 count)
{
	struct collq_queue *waiter = NULL;

	spin_lock(&counter->lock);
	if (counter->raised + count < count) {
		spin_unlock(&counter->lock);
		return -EOVERFLOW;
	}
	counter->raised += count;
	if (counter->waiter &&
	    counter->raised - counter->consumed >= counter->wanted)
		swap(waiter, counter->waiter);
	spin_unlock(&counter->lock);

	if (waiter)
		collq_engine_wake(waiter);
	return 0;
}

/*
 * Nothing more will come: the error that a WAIT gets which is short; or 0 when
 * the counter has a new source. Between enter and exit, as above.
 */
void collq_counter_set_error(struct collq_counter *counter, int error)
{
	struct collq_queue *waiter = NULL;

	spin_lock(&counter->lock);
	counter->error = error;
	if (error)
		swap(waiter, counter->waiter);
	spin_unlock(&counter->lock);

	if (waiter)
		collq_engine_wake(waiter);
}

/**
 * collq_counter_consume - what a WAIT task does
 * @counter: the counter
 * @count: how much to take
 * @queue: who wants it; its lock is held
 *
 * Return: 0 if taken, COLLQ_PARKED if @queue will be woken when there is
 * enough, or the counter's error.
 */
int collq_counter_consume(struct collq_counter *counter, u64 count,
			  struct collq_queue *queue)
{
	int ret;

	lockdep_assert_held(&queue->lock);

	spin_lock(&counter->lock);
	if (counter->raised - counter->consumed >= count) {
		counter->consumed += count;
		ret = 0;
	} else if (counter->error) {
		ret = counter->error;
	} else {
		collq_object_get(&queue->obj);
		counter->waiter = queue;
		counter->wanted = count;
		ret = COLLQ_PARKED;
	}
	spin_unlock(&counter->lock);
	return ret;
}

/*
 * Takes a parked queue away that isn't to wait any longer. If it has been woken
 * already it's in a run list, and false is returned.
 */
bool collq_counter_unpark(struct collq_counter *counter,
			  struct collq_queue *queue)
{
	bool parked;

	lockdep_assert_held(&queue->lock);

	spin_lock(&counter->lock);
	parked = counter->waiter == queue;
	if (parked)
		counter->waiter = NULL;
	spin_unlock(&counter->lock);
	return parked;
}

/* The endpoint behind it. Stays as long as a graph that waits here runs. */
struct collq_endpoint *collq_counter_endpoint(struct collq_counter *counter)
{
	struct collq_endpoint *ep;

	spin_lock_bh(&counter->lock);
	ep = counter->endpoint;
	spin_unlock_bh(&counter->lock);
	return ep;
}

/* From now on it counts what comes from there. */
void collq_counter_bind(struct collq_counter *counter,
			struct collq_endpoint *ep, int error)
{
	spin_lock_bh(&counter->lock);
	counter->endpoint = ep;
	counter->error = error;
	spin_unlock_bh(&counter->lock);
}

/* Under the context's claim lock, with which graphs begin to run. */
static bool collq_counter_claimed(const struct collq_counter *counter)
{
	lockdep_assert_held(&counter->obj.ctx->claim_lock);
	return counter->claimant && atomic_read(&counter->claimant->runs);
}

/* The opposite; -EBUSY while a graph that waits here runs. */
int collq_counter_unbind(struct collq_counter *counter)
{
	struct collq_context *ctx = counter->obj.ctx;
	int err = 0;

	spin_lock_bh(&ctx->claim_lock);
	if (collq_counter_claimed(counter))
		err = -EBUSY;
	else
		collq_counter_bind(counter, NULL, 0);
	spin_unlock_bh(&ctx->claim_lock);
	return err;
}

/*
 * No graph that waits here begins to run until collq_counter_release(). False if one is
 * submitted and unfinished.
 */
bool collq_counter_hold(struct collq_counter *counter)
{
	struct collq_context *ctx = counter->obj.ctx;
	bool claimed;

	spin_lock_bh(&ctx->claim_lock);
	claimed = collq_counter_claimed(counter);
	if (!claimed) {
		counter->held = true;
		/* Which has to look again, next time. */
		if (counter->claimant)
			counter->claimant->claimed = false;
		counter->claimant = NULL;
	}
	spin_unlock_bh(&ctx->claim_lock);
	return !claimed;
}

void collq_counter_release(struct collq_counter *counter)
{
	struct collq_context *ctx = counter->obj.ctx;

	spin_lock_bh(&ctx->claim_lock);
	counter->held = false;
	spin_unlock_bh(&ctx->claim_lock);
}

/* Forgets what came and nobody waited for: its source begins anew. Held. */
void collq_counter_restart(struct collq_counter *counter)
{
	spin_lock_bh(&counter->lock);
	counter->consumed = counter->raised;
	counter->error = 0;
	spin_unlock_bh(&counter->lock);
}

void collq_counter_read(struct collq_counter *counter, u64 *raised,
			u64 *consumed, int *error)
{
	spin_lock_bh(&counter->lock);
	*raised = counter->raised;
	*consumed = counter->consumed;
	*error = counter->error;
	spin_unlock_bh(&counter->lock);
}
