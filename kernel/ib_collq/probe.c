// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Probing: who only waits to receive finds out that the peer is gone.
 *
 * A connection on which nothing is sent never fails, and a peer whose host died
 * says nothing. So while a queue is parked at an endpoint, or at a counter that
 * an endpoint raises, a zero-length RDMA WRITE goes out on it once in an
 * interval, unless a send is under way that would tell as well. It needs no
 * receive and no memory at the peer; its queue pair answers by itself, so this
 * tells of a dead host or a queue pair that is gone, and not of a process that
 * is stopped: that's what deadlines are for.
 *
 * Each context has one worker, which a queue that is parked arms, and which goes
 * on by itself only as long as it finds one. It marks itself unarmed before it
 * looks; a queue that it has found running will be parked, under its lock, after
 * that, and arms it again.
 */
#include <linux/jiffies.h>

#include "context.h"
#include "counter.h"
#include "device.h"
#include "endpoint.h"
#include "object.h"
#include "queue.h"

/* What a queue waits for, referenced; NULL if that is nothing to probe. */
static struct collq_endpoint *collq_probe_target(struct collq_queue *queue)
{
	struct collq_endpoint *ep = NULL;

	spin_lock_bh(&queue->lock);
	if (queue->state == IB_COLLQ_QUEUE_WAITING && queue->parked_counter)
		ep = collq_counter_endpoint(queue->parked_counter);
	else if (queue->state == IB_COLLQ_QUEUE_BLOCKED)
		ep = queue->parked_endpoint;
	if (ep && ep->attr.probe_ms)
		collq_object_get(&ep->obj);
	else
		ep = NULL;
	spin_unlock_bh(&queue->lock);
	return ep;
}

static void collq_probe_work(struct work_struct *work)
{
	struct collq_probe *probe =
		container_of(to_delayed_work(work), struct collq_probe, work);
	struct collq_context *ctx =
		container_of(probe, struct collq_context, probe);
	struct collq_endpoint *ep;
	struct collq_object *obj;
	bool again = false;
	u32 id = 0;

	WRITE_ONCE(probe->armed, false);
	while ((obj = collq_object_next_queue(ctx, id))) {
		id = obj->id + 1;
		ep = collq_probe_target(collq_queue_of(obj));
		if (ep) {
			collq_endpoint_probe(ep);
			collq_object_put(&ep->obj);
			again = true;
		}
		collq_object_put(obj);
		cond_resched();
	}
	if (again)
		collq_probe_arm(probe);
}

void collq_probe_init(struct collq_probe *probe)
{
	INIT_DELAYED_WORK(&probe->work, collq_probe_work);
}

/* An endpoint of the context wants to be probed. Called with its mutex held. */
void collq_probe_add(struct collq_context *ctx, unsigned int ms)
{
	struct collq_probe *probe = &ctx->probe;
	unsigned long interval = msecs_to_jiffies(ms);

	if (ms && (!probe->interval || interval < probe->interval))
		WRITE_ONCE(probe->interval, interval);
}

/* Any context but hardirq. */
void collq_probe_schedule(struct collq_probe *probe)
{
	if (!xchg(&probe->armed, true))
		queue_delayed_work(collq_wq, &probe->work, probe->interval);
}

/* The context has no queue any more. May sleep. */
void collq_probe_stop(struct collq_probe *probe)
{
	cancel_delayed_work_sync(&probe->work);
}
