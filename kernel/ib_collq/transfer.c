// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sends and receives of an endpoint.
 *
 * Sends are numbered. Only some complete visibly: as many as slots must come
 * back for, or all if a counter counts them. A completion retires all earlier
 * ones, since a reliable connection completes in order. A queue that finds no
 * slot free is parked here and goes on when some have come back.
 *
 * A signal endpoint's receives are all alike, and the kernel posts them again a
 * batch at a time; so that there's always room for what has been reserved, the
 * receive queue is a batch longer. A message endpoint's receives are posted by
 * RECV tasks.
 *
 * WRITEs are sends of signal endpoints that have data, which lands in memory that the
 * peer has offered (target.c); there, they are signals like others.
 *
 * A message with data holds its buffers until the queue pair is through with it,
 * whether it went well or was flushed. Those that are sent always complete visibly.
 * Receives complete in the order in which they were posted, so a ring of what they
 * hold is enough.
 *
 * Posting is done with the endpoint's lock held, from process context or
 * softirq. Completions come in softirq.
 */
#include <linux/jiffies.h>
#include <linux/wait_bit.h>

#include <rdma/ib_verbs.h>

#include "bindings.h"
#include "control.h"
#include "counter.h"
#include "endpoint.h"
#include "engine.h"
#include "linger.h"
#include "queue.h"
#include "signal.h"
#include "target.h"

static int collq_endpoint_map_status(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_RETRY_EXC_ERR:
	case IB_WC_RNR_RETRY_EXC_ERR:
	case IB_WC_RESP_TIMEOUT_ERR:
		return -EHOSTUNREACH;
	case IB_WC_WR_FLUSH_ERR:
		return -ECONNRESET;
	case IB_WC_REM_INV_REQ_ERR:
	case IB_WC_REM_ACCESS_ERR:
	case IB_WC_REM_OP_ERR:
	case IB_WC_REM_INV_RD_REQ_ERR:
	case IB_WC_REM_ABORT_ERR:
		return -EREMOTEIO;
	default:
		return -ENETDOWN;
	}
}

/* Why nothing can be posted in this state; 0 if it can. */
static int collq_endpoint_unusable(const struct collq_endpoint *ep)
{
	if (likely(ep->state == IB_COLLQ_ENDPOINT_CONNECTED))
		return 0;
	if (ep->state == IB_COLLQ_ENDPOINT_NEW)
		return -ENOTCONN;
	return ep->error;
}

static bool collq_endpoint_wants_completion(const struct collq_endpoint *ep)
{
	if (ep->sends_counter)
		return true;
	return ep->posted - ep->last_signaled >= ep->attr.send_capacity / 2;
}

/* The driver takes no more: the queue pair is of no use, whatever the reason. */
static int collq_endpoint_post_failed(struct collq_endpoint *ep)
{
	collq_endpoint_fail_locked(ep, -ENETDOWN);
	return -ENETDOWN;
}

/* Fills in what all sends have in common, and posts. */
static int collq_endpoint_post(struct collq_endpoint *ep, struct ib_send_wr *wr,
			       bool visible, bool counted,
			       struct collq_bindings *bindings)
{
	struct collq_send *send = &ep->sends[ep->posted & ep->sends_mask];
	int err;

	lockdep_assert_held(&ep->lock);

	send->number = ep->posted;
	send->counted = counted;
	wr->wr_cqe = &send->cqe;
	if (visible)
		wr->send_flags |= IB_SEND_SIGNALED;
	err = ib_post_send(ep->qp, wr, NULL);
	if (unlikely(err))
		return collq_endpoint_post_failed(ep);

	send->bindings = bindings;
	if (unlikely(bindings)) {
		collq_bindings_get(bindings);
		ep->carried++;
	}
	ep->posted++;
	ep->total_sends++;
	if (visible)
		ep->last_signaled = ep->posted;
	return 0;
}

/* Parks a queue until a slot comes back. It holds a reference then. */
int collq_endpoint_park(struct list_head *waiters, struct collq_queue *queue)
{
	collq_object_get(&queue->obj);
	list_add_tail(&queue->park_node, waiters);
	return COLLQ_PARKED;
}

/*
 * Posts what a task wants to send: 0, COLLQ_PARKED, or why nothing can be sent.
 * Endpoint lock held.
 */
static int collq_endpoint_start(struct collq_endpoint *ep,
				struct collq_queue *queue, struct ib_send_wr *wr,
				const struct collq_list *list)
{
	int ret;

	if (unlikely(collq_endpoint_in_flight(ep) >= ep->attr.send_capacity))
		return collq_endpoint_park(&ep->send_waiters, queue);
	if (unlikely(list->nr)) {
		wr->sg_list = ep->sge_list;
		wr->num_sge = collq_list_sges(list, ep, ep->sge_list);
	}
	ret = collq_endpoint_post(ep, wr, list->nr ||
				  collq_endpoint_borrows(ep) ||
				  collq_endpoint_wants_completion(ep),
				  ep->sends_counter, list->bindings);
	if (!ret)
		queue->sges += wr->num_sge;
	return ret;
}

static int collq_endpoint_send_wire(struct collq_endpoint *ep,
				    struct collq_queue *queue, u32 imm,
				    const struct collq_list *list)
{
	struct ib_send_wr wr = {
		.opcode = ep->attr.kind == IB_COLLQ_ENDPOINT_SIGNAL ?
			  IB_WR_SEND_WITH_IMM : IB_WR_SEND,
		.ex.imm_data = cpu_to_be32(imm),
	};

	return collq_endpoint_start(ep, queue, &wr, list);
}

/**
 * collq_endpoint_send - what a SEND task does
 * @ep: the endpoint
 * @queue: whose task it is; its lock is held
 * @imm: immediate data, on a signal endpoint
 * @list: what to send; may be empty
 *
 * Return: 0 if posted, COLLQ_PARKED if there is no slot and @queue will be
 * woken when there is, or why nothing can be sent.
 */
int collq_endpoint_send(struct collq_endpoint *ep, struct collq_queue *queue,
			u32 imm, const struct collq_list *list)
{
	int ret;

	lockdep_assert_held(&queue->lock);

	spin_lock(&ep->lock);
	ret = collq_endpoint_unusable(ep);
	if (likely(!ret)) {
		if (ep->local.data)
			return collq_local_send(ep, queue, list);
		if (ep->local.peer) {
			collq_local_signal(ep, imm);
			return 0;
		}
		ret = collq_endpoint_send_wire(ep, queue, imm, list);
	}
	spin_unlock(&ep->lock);
	return ret;
}

/**
 * collq_endpoint_write - what a WRITE task does
 * @ep: the endpoint
 * @queue: whose task it is; its lock is held
 * @imm: immediate data
 * @list: what to write; may be empty
 * @target: the peer's landing zone
 * @offset: offset into that; the list lies within
 *
 * Return: as for a SEND, or -ESTALE if the endpoint was reset since the target was
 * made: its key may be another zone's by now.
 */
int collq_endpoint_write(struct collq_endpoint *ep, struct collq_queue *queue,
			 u32 imm, const struct collq_list *list,
			 const struct collq_target *target, u64 offset)
{
	struct ib_rdma_wr wr = {
		.wr = {
			.opcode = IB_WR_RDMA_WRITE_WITH_IMM,
			.ex.imm_data = cpu_to_be32(imm),
		},
		.remote_addr = target->address + offset,
		.rkey = target->key,
	};
	int ret = -ESTALE;

	lockdep_assert_held(&queue->lock);

	spin_lock(&ep->lock);
	if (likely(target->resets == ep->resets))
		ret = collq_endpoint_unusable(ep);
	if (likely(!ret))
		ret = collq_endpoint_start(ep, queue, &wr.wr, list);
	spin_unlock(&ep->lock);
	return ret;
}

/* A receive has been posted, and holds what it writes to. */
static void collq_endpoint_hold_recv(struct collq_endpoint *ep,
				     const struct collq_list *list)
{
	u32 slot = (ep->recv_oldest + ep->recvs_posted++) % ep->recv_depth;

	ep->recvs[slot] = *list;
	if (list->bindings) {
		collq_bindings_get(list->bindings);
		ep->carried++;
	}
}

/* The oldest receive is over. */
static void collq_endpoint_release_recv(struct collq_endpoint *ep)
{
	struct collq_bindings *bindings = ep->recvs[ep->recv_oldest].bindings;

	ep->recvs[ep->recv_oldest].bindings = NULL;
	ep->recvs_posted--;
	ep->recv_oldest = (ep->recv_oldest + 1) % ep->recv_depth;
	if (bindings) {
		ep->carried--;
		collq_bindings_put(bindings);
	}
}

/* A send is over, and with it all before: they let go of what they read. */
static void collq_endpoint_release_sends(struct collq_endpoint *ep, u32 number)
{
	struct collq_send *send;

	if (!ep->sge_list)
		return;
	while (ep->released != number) {
		send = &ep->sends[ep->released++ & ep->sends_mask];
		if (send->bindings) {
			ep->carried--;
			collq_bindings_put(send->bindings);
		}
		send->bindings = NULL;
	}
}

/* Nothing will arrive any more. */
void collq_endpoint_release_recvs(struct collq_endpoint *ep)
{
	spin_lock_bh(&ep->lock);
	while (ep->recvs_posted)
		collq_endpoint_release_recv(ep);
	spin_unlock_bh(&ep->lock);
}

/* The queue pair is gone, and nothing is under way any more. */
void collq_endpoint_release_buffers(struct collq_endpoint *ep)
{
	spin_lock_bh(&ep->lock);
	collq_endpoint_release_sends(ep, ep->posted);
	spin_unlock_bh(&ep->lock);
	collq_endpoint_release_recvs(ep);
}

/*
 * Why nothing can be received. Where the peer has closed nothing comes any more, but a
 * receive may be for a run that there won't be: who waits for it is told.
 */
static int collq_endpoint_deaf(const struct collq_endpoint *ep)
{
	/* It may have closed before this side was connected, or is connected. */
	if (ep->state == IB_COLLQ_ENDPOINT_PEER_CLOSED &&
	    ep->peer_address.version && ep->recvs_posted < ep->recv_depth)
		return 0;
	return collq_endpoint_unusable(ep);
}

/* The same for a RECV task, on a message endpoint. */
int collq_endpoint_recv(struct collq_endpoint *ep, struct collq_queue *queue,
			const struct collq_list *list)
{
	struct ib_recv_wr wr = { .wr_cqe = &ep->recv_cqe };
	int ret;

	lockdep_assert_held(&queue->lock);

	spin_lock(&ep->lock);
	ret = collq_endpoint_deaf(ep);
	if (ret)
		goto out_unlock;
	if (ep->recvs_posted >= ep->recv_depth) {
		ret = collq_endpoint_park(&ep->recv_waiters, queue);
		goto out_unlock;
	}
	if (ep->local.data) {
		collq_endpoint_hold_recv(ep, list);
		queue->sges += collq_list_sges(list, NULL, ep->sge_list);
		collq_local_recv(ep);
		return 0;
	}
	if (list->nr) {
		wr.sg_list = ep->sge_list;
		wr.num_sge = collq_list_sges(list, ep, ep->sge_list);
	}
	ret = ib_post_recv(ep->qp, &wr, NULL);
	if (ret) {
		ret = collq_endpoint_post_failed(ep);
		goto out_unlock;
	}
	collq_endpoint_hold_recv(ep, list);
	queue->sges += wr.num_sge;
out_unlock:
	spin_unlock(&ep->lock);
	return ret;
}

/* A control message. There's a slot for it. */
int collq_endpoint_post_control(struct collq_endpoint *ep, u32 imm)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND_WITH_IMM,
		.ex.imm_data = cpu_to_be32(imm),
	};

	return collq_endpoint_post(ep, &wr, true, false, NULL);
}

/* Asks the peer's queue pair for an acknowledgment, and nothing else. */
int collq_endpoint_post_probe(struct collq_endpoint *ep)
{
	struct ib_rdma_wr wr = { .wr.opcode = IB_WR_RDMA_WRITE };

	return collq_endpoint_post(ep, &wr.wr, true, false, NULL);
}

/* Whether the transport would notice by itself that the peer is gone. */
static bool collq_endpoint_expects_ack(const struct collq_endpoint *ep)
{
	return (s32)(ep->last_signaled - ep->retired) > 0;
}

/*
 * Finds out whether the peer is there, unless that is being found out already.
 * Endpoint lock held.
 */
void collq_endpoint_ask(struct collq_endpoint *ep)
{
	lockdep_assert_held(&ep->lock);

	if (ep->state == IB_COLLQ_ENDPOINT_CONNECTED &&
	    collq_endpoint_in_flight(ep) < ep->attr.send_capacity &&
	    !collq_endpoint_expects_ack(ep) && !collq_endpoint_post_probe(ep))
		ep->probes++;
}

/**
 * collq_endpoint_probe - find out whether a peer that is waited for is there
 * @ep: the endpoint
 *
 * Does so if it's time, and if nothing tells already: a send under way that
 * completes visibly, or a local peer, which is known as long as it's there. It takes
 * a slot of the application's, of which half are free then: no more than that many
 * sends in a row complete unseen. Any context but hardirq.
 */
void collq_endpoint_probe(struct collq_endpoint *ep)
{
	spin_lock_bh(&ep->lock);
	if (time_after_eq(jiffies, ep->probe_at)) {
		ep->probe_at = jiffies + msecs_to_jiffies(ep->attr.probe_ms);
		if (!ep->local.peer && !ep->local.arriving)
			collq_endpoint_ask(ep);
	}
	spin_unlock_bh(&ep->lock);
}

/* All receives of a signal endpoint, before it's connected. */
int collq_endpoint_post_recvs(struct collq_endpoint *ep)
{
	struct ib_recv_wr wr = { .wr_cqe = &ep->recv_cqe };
	u32 i;
	int err;

	if (ep->attr.kind != IB_COLLQ_ENDPOINT_SIGNAL)
		return 0;
	for (i = 0; i < ep->recv_depth; i++) {
		err = ib_post_recv(ep->qp, &wr, NULL);
		if (err)
			return err;
	}
	return 0;
}

/* The first queue of a list of waiters tries again. Endpoint lock held. */
static bool collq_endpoint_wake_waiter(struct list_head *waiters)
{
	struct collq_queue *queue;

	queue = list_first_entry_or_null(waiters, struct collq_queue,
					 park_node);
	if (!queue)
		return false;
	list_del_init(&queue->park_node);
	collq_engine_wake(queue);
	return true;
}

/* All of them do: the endpoint is of no use any more. Endpoint lock held. */
void collq_endpoint_wake_waiters(struct collq_endpoint *ep)
{
	lockdep_assert_held(&ep->lock);

	while (collq_endpoint_wake_waiter(&ep->send_waiters))
		;
	while (collq_endpoint_wake_waiter(&ep->recv_waiters))
		;
}

/* Sends under way, of those that SEND tasks have made and others in their slots. */
static u32 collq_endpoint_sends(const struct collq_endpoint *ep)
{
	return ep->local.data ? ep->local.pending : collq_endpoint_in_flight(ep);
}

/*
 * A queue that was woken because a slot was free has been here: if it has left
 * one, it's another queue's turn. So a slot that comes back costs one look,
 * however many wait. Endpoint lock held.
 */
void collq_endpoint_pass_on(struct collq_endpoint *ep)
{
	lockdep_assert_held(&ep->lock);

	if (collq_endpoint_sends(ep) < ep->attr.send_capacity)
		collq_endpoint_wake_waiter(&ep->send_waiters);
	if (ep->recvs_posted < ep->recv_depth)
		collq_endpoint_wake_waiter(&ep->recv_waiters);
}

/* A send has arrived, and with it all before. */
static void collq_endpoint_retire(struct collq_endpoint *ep,
				  const struct collq_send *send)
{
	ep->retired = send->number + 1;
	/* Before anybody can know. */
	collq_endpoint_release_sends(ep, ep->retired);
	if (unlikely(ep->sends_counter)) {
		/* All that are counted complete visibly, one by one. */
		if (send->counted)
			collq_counter_raise(ep->sends_counter, 1);
		if (ep->state == IB_COLLQ_ENDPOINT_PEER_CLOSED)
			collq_endpoint_end_sends_counter(ep);
	}
	if (unlikely(!list_empty(&ep->pending_aborts)))
		collq_control_flush_aborts(ep);
	if (unlikely(!list_empty(&ep->send_waiters)))
		collq_endpoint_wake_waiter(&ep->send_waiters);
	if (unlikely(ep->state == IB_COLLQ_ENDPOINT_CLOSED) &&
	    !collq_endpoint_in_flight(ep) && !ep->close_wanted)
		collq_linger_sent(ep);
	if (unlikely(ep->sends_awaited))
		wake_up_var(&ep->retired);
}

void collq_endpoint_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct collq_send *send =
		container_of(wc->wr_cqe, struct collq_send, cqe);
	struct collq_endpoint *ep = send->endpoint;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		spin_lock(&ep->lock);
		collq_endpoint_release_sends(ep, send->number + 1);
		collq_endpoint_fail_locked(ep, collq_endpoint_map_status(wc->status));
		WRITE_ONCE(ep->qp_failed, true);
		if (ep->sends_awaited)
			wake_up_var(&ep->retired);
		spin_unlock(&ep->lock);
		return;
	}

	collq_engine_enter();
	spin_lock(&ep->lock);
	collq_endpoint_retire(ep, send);
	spin_unlock(&ep->lock);
	collq_engine_exit();
}

/* Whether there is a batch of receives to give back. Endpoint lock held. */
static bool collq_endpoint_repost_due(struct collq_endpoint *ep)
{
	if (++ep->recvs_consumed < COLLQ_REPOST_BATCH)
		return false;
	ep->recvs_consumed = 0;
	return true;
}

/*
 * There's room for a batch. Fails only if the queue pair has, which then says so. Not
 * when it's about to be drained, after which nothing may come.
 */
static void collq_endpoint_repost(struct collq_endpoint *ep)
{
	spin_lock(&ep->lock);
	if (ep->state != IB_COLLQ_ENDPOINT_CLOSED || ep->lingering)
		ib_post_recv(ep->qp, &ep->repost[0], NULL);
	spin_unlock(&ep->lock);
}

/* A message endpoint has got a message. Its lock is held. */
void collq_endpoint_message_done(struct collq_endpoint *ep)
{
	collq_endpoint_release_recv(ep);
	if (ep->messages_counter)
		collq_counter_raise(ep->messages_counter, 1);
	collq_endpoint_wake_waiter(&ep->recv_waiters);
}

void collq_endpoint_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct collq_endpoint *ep =
		container_of(wc->wr_cqe, struct collq_endpoint, recv_cqe);
	struct collq_queue *aborted = NULL;
	u32 imm = be32_to_cpu(wc->ex.imm_data);
	bool repost = false;
	int error = 0;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		spin_lock(&ep->lock);
		if (ep->attr.kind == IB_COLLQ_ENDPOINT_MESSAGE)
			collq_endpoint_release_recv(ep);
		collq_endpoint_fail_locked(ep, collq_endpoint_map_status(wc->status));
		spin_unlock(&ep->lock);
		return;
	}

	collq_engine_enter();
	spin_lock(&ep->lock);
	ep->messages++;
	if (ep->attr.kind == IB_COLLQ_ENDPOINT_MESSAGE) {
		collq_endpoint_message_done(ep);
	} else {
		repost = collq_endpoint_repost_due(ep);
		if (unlikely(!(wc->wc_flags & IB_WC_WITH_IMM)))
			ep->dropped++;
		else if (likely(imm >> IB_COLLQ_IMM_TYPE_SHIFT ==
				IB_COLLQ_IMM_SIGNAL))
			collq_signal_receive(ep, imm);
		else
			aborted = collq_control_receive(ep, imm, &error);
	}
	spin_unlock(&ep->lock);

	if (unlikely(aborted)) {
		collq_queue_fail(aborted, error, ep);
		collq_object_put(&aborted->obj);
	}
	collq_engine_exit();

	/* After what the message has set going. */
	if (repost)
		collq_endpoint_repost(ep);
}
