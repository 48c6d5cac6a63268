// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What happens to an endpoint: its state, failure, the peer's CLOSE, and who is told.
 *
 * State changes in softirq take effect for posts at once; a worker tells the
 * counters and queues that depend on the endpoint, since there may be many. It
 * also sees to it that what is posted lets go of its buffers.
 */
#include <linux/wait_bit.h>

#include <rdma/ib_verbs.h>

#include "counter.h"
#include "device.h"
#include "endpoint.h"
#include "engine.h"
#include "limits.h"
#include "linger.h"
#include "queue.h"
#include "trace.h"

void collq_endpoint_set_state(struct collq_endpoint *ep, u32 state, int error)
{
	lockdep_assert_held(&ep->lock);
	trace_collq_endpoint_state(ep, state, error);
	ep->state = state;
	ep->error = error;
}

/*
 * What a WAIT gets that is short of what comes from here, or a task that posts:
 * 0 while the endpoint is, or may yet be, of use. Endpoint lock held.
 */
int collq_endpoint_error(const struct collq_endpoint *ep)
{
	return ep->error;
}

static void collq_endpoint_schedule_event(struct collq_endpoint *ep)
{
	collq_object_get(&ep->obj);
	if (!queue_work(collq_wq, &ep->event_work))
		/* Can't be the last one: the work has one too. */
		collq_object_put(&ep->obj);
}

/* The transport has failed. Endpoint lock held. */
void collq_endpoint_fail_locked(struct collq_endpoint *ep, int error)
{
	lockdep_assert_held(&ep->lock);

	switch (ep->state) {
	case IB_COLLQ_ENDPOINT_ERROR:
		break;
	case IB_COLLQ_ENDPOINT_CLOSED:
		collq_linger_cut(ep);
		break;
	default:
		collq_endpoint_set_state(ep, IB_COLLQ_ENDPOINT_ERROR, error);
		collq_endpoint_schedule_event(ep);
	}
}

/* The same for callers that don't hold the lock. Softirq or process. */
void collq_endpoint_fail(struct collq_endpoint *ep, int error)
{
	spin_lock_bh(&ep->lock);
	collq_endpoint_fail_locked(ep, error);
	spin_unlock_bh(&ep->lock);
}

/*
 * What is posted here must not touch buffers any more, and nobody can take it back:
 * the endpoint fails if there is anything of that kind. Softirq or process.
 */
void collq_endpoint_abandon(struct collq_endpoint *ep, int error)
{
	spin_lock_bh(&ep->lock);
	if (ep->carried)
		collq_endpoint_fail_locked(ep, error);
	spin_unlock_bh(&ep->lock);
}

/* The peer will send nothing more. Endpoint lock held, softirq. */
void collq_endpoint_peer_closed(struct collq_endpoint *ep)
{
	/* NEW: the peer was connected first, and is done already. */
	if (ep->state != IB_COLLQ_ENDPOINT_CONNECTED &&
	    ep->state != IB_COLLQ_ENDPOINT_NEW)
		return;
	collq_endpoint_set_state(ep, IB_COLLQ_ENDPOINT_PEER_CLOSED,
				 -ECONNRESET);
	collq_endpoint_schedule_event(ep);
}

/*
 * No send will be done any more. That the peer has closed says nothing of those
 * in flight: it lingers to acknowledge them, or has just taken them. Endpoint lock held.
 */
void collq_endpoint_end_sends_counter(struct collq_endpoint *ep)
{
	if (!ep->sends_counter)
		return;
	if (ep->state == IB_COLLQ_ENDPOINT_PEER_CLOSED &&
	    (collq_endpoint_in_flight(ep) || ep->local.arriving))
		return;
	collq_counter_set_error(ep->sends_counter, ep->error);
}

/* Everything that counts on this endpoint learns that nothing more comes. */
static void collq_endpoint_fail_counters(struct collq_endpoint *ep)
{
	struct collq_counter *counter;
	bool more = true;
	u32 slot;

	collq_engine_enter_bh();
	spin_lock(&ep->lock);
	collq_endpoint_end_sends_counter(ep);
	if (ep->messages_counter)
		collq_counter_set_error(ep->messages_counter, ep->error);
	collq_endpoint_wake_waiters(ep);
	spin_unlock(&ep->lock);
	collq_engine_exit_bh();

	for (slot = 0; more; slot++) {
		collq_engine_enter_bh();
		spin_lock(&ep->lock);
		more = slot < ep->nr_slots;
		counter = more ? ep->slots[slot] : NULL;
		if (counter)
			collq_counter_set_error(counter, ep->error);
		spin_unlock(&ep->lock);
		collq_engine_exit_bh();
		cond_resched();
	}
}

/* A message may be lost, so what runs on this endpoint can't succeed. */
static void collq_endpoint_fail_queues(struct collq_endpoint *ep, int error)
{
	struct collq_queue_link *link;
	struct collq_queue *queue;
	unsigned long slot = 0;

	for (;;) {
		spin_lock_bh(&ep->lock);
		link = xa_find(&ep->aborts, &slot, ULONG_MAX, XA_PRESENT);
		queue = link ? link->queue : NULL;
		if (queue)
			collq_object_get(&queue->obj);
		spin_unlock_bh(&ep->lock);
		if (!queue)
			break;
		collq_queue_transport_failed(queue, error, ep);
		collq_object_put(&queue->obj);
		slot++;
		cond_resched();
	}
}

/* The next message endpoint that isn't told yet, referenced; or NULL. */
static struct collq_endpoint *
collq_endpoint_next_message(struct collq_endpoint *ep)
{
	struct collq_endpoint *message, *found = NULL;

	spin_lock_bh(&ep->lock);
	list_for_each_entry(message, &ep->message_endpoints, message_node) {
		if (!message->signal_lost) {
			message->signal_lost = true;
			collq_object_get(&message->obj);
			found = message;
			break;
		}
	}
	spin_unlock_bh(&ep->lock);
	return found;
}

/*
 * CLOSE and ABORT don't travel on message endpoints: what ends their signal
 * endpoint ends them.
 */
static void collq_endpoint_end_messages(struct collq_endpoint *ep, u32 state,
					int error)
{
	struct collq_endpoint *message;

	while ((message = collq_endpoint_next_message(ep))) {
		if (state == IB_COLLQ_ENDPOINT_ERROR) {
			collq_endpoint_fail(message, error);
		} else {
			spin_lock_bh(&message->lock);
			collq_endpoint_peer_closed(message);
			spin_unlock_bh(&message->lock);
		}
		collq_object_put(&message->obj);
	}
}

/* Moves the queue pair to ERR, so that it flushes. May sleep. */
static void collq_endpoint_flush(struct collq_endpoint *ep)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	if (READ_ONCE(ep->connected))
		ib_modify_qp(ep->qp, &attr, IB_QP_STATE);
}

static bool collq_endpoint_all_sent(struct collq_endpoint *ep)
{
	bool sent;

	spin_lock_bh(&ep->lock);
	sent = !collq_endpoint_in_flight(ep) || READ_ONCE(ep->qp_failed);
	spin_unlock_bh(&ep->lock);
	return sent;
}

static atomic_t collq_nr_abort_waits = ATOMIC_INIT(0);

/*
 * A signal endpoint that was abandoned carries the ABORT that tells why: let it get
 * through, if the queue pair still works. May sleep, unless too many do: the failures of
 * others are not to wait for them.
 */
static void collq_endpoint_let_send(struct collq_endpoint *ep)
{
	if (atomic_inc_return(&collq_nr_abort_waits) > COLLQ_MAX_ABORT_WAITS)
		goto out;
	spin_lock_bh(&ep->lock);
	ep->sends_awaited = true;
	spin_unlock_bh(&ep->lock);
	wait_var_event_timeout(&ep->retired, collq_endpoint_all_sent(ep),
			       COLLQ_ABORT_TIME);
out:
	atomic_dec(&collq_nr_abort_waits);
}

void collq_endpoint_event_work(struct work_struct *work)
{
	struct collq_endpoint *ep =
		container_of(work, struct collq_endpoint, event_work);
	u32 state;
	int error;

	if (READ_ONCE(ep->qp_failed))
		collq_endpoint_fail(ep, -ENETDOWN);
	spin_lock_bh(&ep->lock);
	state = ep->state;
	error = ep->error;
	spin_unlock_bh(&ep->lock);

	/*
	 * What is posted there lets go of its buffers. Whoever replaces or destroys
	 * the queue pair waits for this work.
	 */
	if (state == IB_COLLQ_ENDPOINT_ERROR)
		collq_local_leave(ep);
	if (state == IB_COLLQ_ENDPOINT_ERROR && ep->sge_list) {
		if (ep->attr.kind == IB_COLLQ_ENDPOINT_SIGNAL)
			collq_endpoint_let_send(ep);
		collq_endpoint_flush(ep);
	}
	collq_endpoint_fail_counters(ep);
	collq_endpoint_end_messages(ep, state, error);
	if (state == IB_COLLQ_ENDPOINT_ERROR)
		collq_endpoint_fail_queues(ep, error);
	collq_object_put(&ep->obj);
}

/* A queue pair's asynchronous event. Any context, hardirq with some drivers. */
void collq_endpoint_qp_event(struct ib_event *event, void *data)
{
	struct collq_endpoint *ep = data;

	switch (event->event) {
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		WRITE_ONCE(ep->qp_failed, true);
		collq_endpoint_schedule_event(ep);
		break;
	default:
		break;
	}
}

/*
 * Moves the queue pair to ERR from outside. The state is CLOSED, so the worker
 * doesn't begin to do it too. May sleep.
 */
void collq_endpoint_kill(struct collq_endpoint *ep)
{
	flush_work(&ep->event_work);
	collq_endpoint_flush(ep);
}
