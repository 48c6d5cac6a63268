// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Resetting an endpoint: a new queue pair in the place of the old one.
 *
 * Graphs, queues and slots go on naming the endpoint; what is made anew is all
 * that the transport knows: the queue pair, its number and start PSN, and so
 * the address. Nothing of the old connection can be taken for the new one.
 *
 * The new queue pair is made first, so that a failure changes nothing. Then the
 * endpoint is CLOSED as if it were destroyed, which keeps everybody from posting
 * and makes completions harmless; a peer that still listens is told, but not
 * waited for long: mostly it's being reset too. When the old queue pair has been
 * drained, counters start from where they are, and the endpoint is NEW. What the old
 * peer was allowed to write to is out of reach of the new one.
 */
#include <linux/jiffies.h>
#include <linux/wait_bit.h>

#include <rdma/ib_verbs.h>

#include "address.h"
#include "context.h"
#include "control.h"
#include "counter.h"
#include "endpoint.h"
#include "limits.h"
#include "zone.h"

/* Calls a function for each counter that the endpoint raises, as long as it's true. */
static bool collq_reset_each(struct collq_endpoint *ep,
			     bool (*visit)(struct collq_counter *counter))
{
	u32 slot;

	lockdep_assert_held(&ep->obj.ctx->mutex);

	if (ep->sends_counter && !visit(ep->sends_counter))
		return false;
	if (ep->messages_counter && !visit(ep->messages_counter))
		return false;
	for (slot = 0; slot < ep->nr_slots; slot++) {
		if (ep->slots[slot] && !visit(ep->slots[slot]))
			return false;
		cond_resched();
	}
	return true;
}

static bool collq_reset_restart(struct collq_counter *counter)
{
	collq_counter_restart(counter);
	return true;
}

static bool collq_reset_release(struct collq_counter *counter)
{
	collq_counter_release(counter);
	return true;
}

/* A message endpoint is of no use without its signal endpoint. */
static int collq_reset_rejoin(struct collq_endpoint *ep)
{
	struct collq_endpoint *signal = ep->signal;
	int err;

	if (!signal)
		return 0;
	spin_lock_bh(&signal->lock);
	err = collq_endpoint_error(signal);
	if (!err)
		ep->signal_lost = false;
	spin_unlock_bh(&signal->lock);
	return err;
}

/* Nobody posts any more, and a peer that listens is told: 0 or -EBUSY. */
static int collq_reset_close(struct collq_endpoint *ep)
{
	bool connected;
	int err = 0;

	spin_lock_bh(&ep->lock);
	if (!list_empty(&ep->send_waiters) || !list_empty(&ep->recv_waiters)) {
		err = -EBUSY;
		goto out_unlock;
	}
	connected = ep->state == IB_COLLQ_ENDPOINT_CONNECTED;
	collq_endpoint_set_state(ep, IB_COLLQ_ENDPOINT_CLOSED, -ENOTCONN);
	/* What had no room by now is dropped. */
	collq_control_flush_aborts(ep);
	ep->sends_awaited = connected && collq_control_send_close(ep);
out_unlock:
	spin_unlock_bh(&ep->lock);
	return err;
}

static bool collq_reset_all_sent(struct collq_endpoint *ep)
{
	bool sent;

	spin_lock_bh(&ep->lock);
	sent = !collq_endpoint_in_flight(ep);
	spin_unlock_bh(&ep->lock);
	return sent;
}

/* As after it was made. */
static void collq_reset_state(struct collq_endpoint *ep)
{
	spin_lock_bh(&ep->lock);
	ep->sends_awaited = false;
	ep->posted = 0;
	ep->retired = 0;
	ep->last_signaled = 0;
	ep->released = 0;
	ep->recv_oldest = 0;
	ep->recvs_consumed = 0;
	ep->qp_failed = false;
	ep->resets++;
	ep->local.data = false;
	memset(&ep->peer_address, 0, sizeof(ep->peer_address));
	collq_endpoint_set_state(ep, IB_COLLQ_ENDPOINT_NEW, 0);
	spin_unlock_bh(&ep->lock);
}

/* With its counters held: no graph that waits for it runs, or begins to. */
static int collq_reset_held(struct collq_endpoint *ep)
{
	struct ib_collq_address address;
	struct ib_qp *qp;
	int err;

	qp = collq_endpoint_create_qp(ep);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	err = collq_address_make(ep->verbs, &ep->attr, qp->qp_num, &address);
	if (err)
		goto err_destroy_qp;
	err = collq_reset_rejoin(ep);
	if (err)
		goto err_destroy_qp;
	err = collq_reset_close(ep);
	if (err)
		goto err_destroy_qp;
	collq_local_leave(ep);

	if (ep->sends_awaited)
		wait_var_event_timeout(&ep->retired, collq_reset_all_sent(ep),
				       COLLQ_RESET_CLOSE);
	collq_endpoint_kill(ep);
	collq_endpoint_destroy_qp(ep);
	collq_zone_revoke_all(ep);

	ep->qp = qp;
	ep->connected = false;
	memcpy(ep->attr.address, &address, sizeof(address));
	collq_reset_each(ep, collq_reset_restart);
	collq_reset_state(ep);
	return 0;

err_destroy_qp:
	ib_destroy_qp(qp);
	return err;
}

/**
 * collq_endpoint_reset - make an endpoint as new
 * @ep: the endpoint
 *
 * Called with ctx->mutex held. May sleep.
 *
 * Return: 0 with a new address in @ep->attr, -EBUSY if a graph that may wait
 * for it is unfinished, the error of a message endpoint's signal endpoint, or
 * what creating an endpoint gives; then nothing has changed.
 */
int collq_endpoint_reset(struct collq_endpoint *ep)
{
	int err = -EBUSY;

	if (collq_reset_each(ep, collq_counter_hold))
		err = collq_reset_held(ep);
	collq_reset_each(ep, collq_reset_release);
	return err;
}
