// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Data between local endpoints: what a pair of queue pairs would do, in software.
 *
 * SENDs and RECVs are posted as on the wire: either may come first, neither waits
 * for the other, and each holds its buffers until it's over. A message is moved
 * from the oldest send of one endpoint to the oldest receive of the other; only
 * what the owner has posted is written to.
 *
 * A message endpoint that may be local never carries data on the wire, since
 * order matters there: as long as its peer isn't connected, or when it's gone,
 * sends wait. A probe over the wire finds out what would have been found out
 * there.
 *
 * For each receive that is posted the sender's endpoint has a credit; so what
 * can be moved is known under one lock. Whoever posts the second half moves the
 * message: the one who sends, or the one who receives. One at a time is at it; it
 * copies without a lock, holding the buffers of both sides, as much as the
 * engine's budget allows, and leaves the rest to a worker. When it's through it
 * looks whether both ends are still what they were. If not, nothing has
 * happened: the message counts at neither side. Else it counts at both, first
 * where it arrives.
 */
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "bindings.h"
#include "counter.h"
#include "data.h"
#include "device.h"
#include "endpoint.h"
#include "engine.h"
#include "local.h"
#include "queue.h"

/**
 * struct collq_local_message - a message that is being moved
 * @link: the connection
 * @src: what is sent; its buffers are held
 * @dst: the receive; the same
 */
struct collq_local_message {
	u64 link;
	struct collq_list src;
	struct collq_list dst;
};

static void collq_list_hold(const struct collq_list *list)
{
	if (list->bindings)
		collq_bindings_get(list->bindings);
}

static void collq_list_release(const struct collq_list *list)
{
	if (list->bindings)
		collq_bindings_put(list->bindings);
}

/* Whether a message can be moved. Endpoint lock held. */
static bool collq_local_ready(const struct collq_endpoint *ep)
{
	return ep->local.pending && ep->local.credits && ep->local.peer &&
	       collq_local_is_end(ep, ep->local.link);
}

/* The oldest receive, if it's still there. */
static bool collq_local_take_recv(struct collq_endpoint *ep,
				  struct collq_local_message *message)
{
	bool taken;

	spin_lock(&ep->lock);
	taken = collq_local_is_end(ep, message->link) && ep->recvs_posted;
	if (taken) {
		message->dst = ep->recvs[ep->recv_oldest];
		collq_list_hold(&message->dst);
	}
	spin_unlock(&ep->lock);
	return taken;
}

/* The next message. If there's none, the caller moves no longer. */
static bool collq_local_take(struct collq_endpoint *ep,
			     struct collq_local_message *message)
{
	struct collq_endpoint *peer = NULL;

	rcu_read_lock();
	spin_lock(&ep->lock);
	if (collq_local_ready(ep)) {
		peer = ep->local.peer;
		message->link = ep->local.link;
		message->src = ep->local.sends_posted[ep->local.oldest];
		collq_list_hold(&message->src);
	} else {
		ep->local.moving = false;
	}
	spin_unlock(&ep->lock);
	if (peer && !collq_local_take_recv(peer, message)) {
		peer = NULL;
		collq_list_release(&message->src);
		WRITE_ONCE(ep->local.moving, false);
	}
	rcu_read_unlock();
	return peer;
}

/* 0, -EAGAIN if there's more to copy, -EMSGSIZE if there's no room. */
static int collq_local_copy(struct collq_endpoint *ep,
			    const struct collq_local_message *message)
{
	struct collq_progress *progress = &ep->local.progress;
	unsigned int *budget = collq_engine_budget();

	if (!progress->begun) {
		collq_data_begin(progress, &message->src, &message->dst, budget);
		if (progress->left > collq_list_length(&message->dst))
			return -EMSGSIZE;
	}
	collq_data_copy(&message->src, &message->dst, progress, budget);
	return progress->left ? -EAGAIN : 0;
}

/*
 * The message has arrived, or was too long. Nothing if the peer isn't there.
 *
 * From here on the peer may know, and be gone before the sender hears of it:
 * that doesn't count as having left this message behind.
 */
static bool collq_local_arrive(struct collq_endpoint *ep, u64 link, int error)
{
	struct collq_endpoint *peer;
	bool there = false;

	rcu_read_lock();
	spin_lock(&ep->lock);
	peer = ep->local.link == link ? ep->local.peer : NULL;
	ep->local.arriving = peer;
	spin_unlock(&ep->lock);
	if (peer) {
		spin_lock(&peer->lock);
		there = collq_local_is_end(peer, link);
		if (there && error) {
			collq_endpoint_fail_locked(peer, -ENETDOWN);
		} else if (there) {
			peer->local.messages++;
			collq_endpoint_message_done(peer);
		}
		spin_unlock(&peer->lock);
	}
	rcu_read_unlock();
	return there;
}

/* The oldest send is over. Endpoint lock held. */
static void collq_local_release_send(struct collq_endpoint *ep)
{
	struct collq_local *local = &ep->local;
	struct collq_list *list = &local->sends_posted[local->oldest];

	lockdep_assert_held(&ep->lock);

	local->oldest = (local->oldest + 1) % ep->attr.send_capacity;
	local->pending--;
	if (list->bindings)
		ep->carried--;
	collq_list_release(list);
}

/*
 * The same to the sender, whether or not the peer is still there. It can't be
 * another connection: who resets the endpoint waits for who moves.
 */
static void collq_local_sent(struct collq_endpoint *ep, bool arrived, int error)
{
	spin_lock(&ep->lock);
	ep->local.arriving = false;
	if (!arrived) {
		collq_local_let_know(ep);
	} else if (collq_local_is_open(ep) && error) {
		collq_endpoint_fail_locked(ep, -EREMOTEIO);
	} else if (collq_local_is_open(ep)) {
		ep->local.credits--;
		ep->local.sends++;
		/* Before anybody can know. */
		collq_local_release_send(ep);
		if (ep->sends_counter)
			collq_counter_raise(ep->sends_counter, 1);
		collq_endpoint_pass_on(ep);
	}
	/* That had to wait for this one. */
	if (ep->state == IB_COLLQ_ENDPOINT_PEER_CLOSED)
		collq_endpoint_end_sends_counter(ep);
	spin_unlock(&ep->lock);
}

/* A worker goes on. */
static void collq_local_hand_over(struct collq_endpoint *ep)
{
	collq_object_get(&ep->obj);
	if (!queue_work(collq_run_wq, &ep->local.work))
		/* Can't be the last one: the work has one too. */
		collq_object_put(&ep->obj);
}

/* By the one who moves. */
static void collq_local_go_on(struct collq_endpoint *ep)
{
	struct collq_local_message message;
	bool arrived;
	int err;

	while (collq_local_take(ep, &message)) {
		err = collq_local_copy(ep, &message);
		if (err != -EAGAIN) {
			ep->local.progress.begun = false;
			arrived = collq_local_arrive(ep, message.link, err);
			collq_local_sent(ep, arrived, err);
		}
		collq_list_release(&message.dst);
		collq_list_release(&message.src);
		if (err == -EAGAIN) {
			collq_local_hand_over(ep);
			return;
		}
	}
}

void collq_local_work(struct work_struct *work)
{
	struct collq_endpoint *ep =
		container_of(work, struct collq_endpoint, local.work);

	collq_engine_enter_bh();
	collq_local_go_on(ep);
	collq_engine_exit_bh();
	collq_object_put(&ep->obj);
}

/* Moves what can be moved, unless somebody is at it already. */
static void collq_local_move(struct collq_endpoint *ep)
{
	bool begin;

	spin_lock(&ep->lock);
	begin = !ep->local.moving && collq_local_ready(ep);
	if (begin)
		ep->local.moving = true;
	spin_unlock(&ep->lock);
	if (begin)
		collq_local_go_on(ep);
}

/**
 * collq_local_send - what a SEND task does on a message endpoint
 * @ep: the endpoint; data takes the short way. Its lock is held, and dropped
 * @queue: whose task it is; its lock is held
 * @list: what to send; may be empty
 *
 * Return: 0 if posted, or COLLQ_PARKED.
 */
int collq_local_send(struct collq_endpoint *ep, struct collq_queue *queue,
		     const struct collq_list *list)
	__releases(&ep->lock)
{
	struct collq_local *local = &ep->local;
	u32 capacity = ep->attr.send_capacity;
	int ret = 0;

	if (local->pending == capacity) {
		ret = collq_endpoint_park(&ep->send_waiters, queue);
	} else {
		local->sends_posted[(local->oldest + local->pending++) % capacity] =
			*list;
		collq_list_hold(list);
		if (list->bindings)
			ep->carried++;
		queue->sges += collq_list_sges(list, NULL, ep->sge_list);
		if (!local->peer)
			collq_endpoint_ask(ep);
	}
	spin_unlock(&ep->lock);
	if (!ret)
		collq_local_move(ep);
	return ret;
}

/*
 * The endpoint has a peer now, which had posted so many receives before. What was
 * sent until now is moved by a worker.
 */
void collq_local_begin(struct collq_endpoint *ep, u32 recvs)
{
	bool begin;

	spin_lock(&ep->lock);
	ep->local.credits += recvs;
	begin = !ep->local.moving && collq_local_ready(ep);
	if (begin)
		ep->local.moving = true;
	spin_unlock(&ep->lock);
	if (begin)
		collq_local_hand_over(ep);
}

/* There's one receive more for what an endpoint sends. */
static void collq_local_credit(struct collq_endpoint *ep, u64 link)
{
	bool move = false;

	spin_lock(&ep->lock);
	if (collq_local_is_end(ep, link)) {
		ep->local.credits++;
		move = ep->local.pending &&
		       refcount_inc_not_zero(&ep->obj.refs);
	}
	spin_unlock(&ep->lock);
	if (move) {
		collq_local_move(ep);
		collq_object_put(&ep->obj);
	}
}

/**
 * collq_local_recv - a receive has been posted
 * @ep: the endpoint; data takes the short way. Its lock is held, and dropped
 *
 * Between collq_engine_enter() and collq_engine_exit().
 */
void collq_local_recv(struct collq_endpoint *ep)
	__releases(&ep->lock)
{
	struct collq_endpoint *peer = ep->local.peer;
	u64 link = ep->local.link;

	rcu_read_lock();
	spin_unlock(&ep->lock);
	if (peer)
		collq_local_credit(peer, link);
	rcu_read_unlock();
}

/*
 * The endpoint is about to be destroyed: what has a receive is moved before. May
 * sleep.
 */
void collq_local_finish(struct collq_endpoint *ep)
{
	if (!ep->local.data)
		return;
	do {
		flush_work(&ep->local.work);
		collq_engine_enter_bh();
		collq_local_move(ep);
		collq_engine_exit_bh();
		cond_resched();
	} while (READ_ONCE(ep->local.moving));
}

/*
 * The endpoint has no peer any more: who still moves stops, and nothing that is
 * posted is needed. May sleep.
 */
void collq_local_drop(struct collq_endpoint *ep)
{
	if (!ep->local.data)
		return;
	do {
		flush_work(&ep->local.work);
		cond_resched();
	} while (READ_ONCE(ep->local.moving));

	spin_lock_bh(&ep->lock);
	while (ep->local.pending)
		collq_local_release_send(ep);
	ep->local.credits = 0;
	ep->local.progress.begun = false;
	spin_unlock_bh(&ep->lock);
	collq_endpoint_release_recvs(ep);
}
