// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Control messages: what endpoints tell each other about failure.
 *
 * A dead peer doesn't announce itself, and a rank that only waits to receive
 * never finds out. So a queue that fails sends ABORT on all its endpoints, with
 * the slot of the queue that works with it over there; that one fails with the
 * sender's error and passes it on, once, since a queue fails only once. And an
 * endpoint says CLOSE before it goes: by itself that fails nothing, but a WAIT
 * that is short of what should come from there knows that it won't come.
 *
 * Both travel as immediate data of signal endpoints, which keep two slots of
 * the send queue and two receives for them.
 */
#include <linux/xarray.h>

#include "control.h"
#include "endpoint.h"
#include "queue.h"

static const struct {
	u8 code;
	int error;
} collq_errors[] = {
	{ IB_COLLQ_ERROR_CONNRESET, -ECONNRESET },
	{ IB_COLLQ_ERROR_HOSTUNREACH, -EHOSTUNREACH },
	{ IB_COLLQ_ERROR_REMOTEIO, -EREMOTEIO },
	{ IB_COLLQ_ERROR_NETDOWN, -ENETDOWN },
	{ IB_COLLQ_ERROR_TIMEDOUT, -ETIMEDOUT },
	{ IB_COLLQ_ERROR_CANCELED, -ECANCELED },
	{ IB_COLLQ_ERROR_NODEV, -ENODEV },
};

static u8 collq_error_encode(int error)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(collq_errors); i++) {
		if (collq_errors[i].error == error)
			return collq_errors[i].code;
	}
	return IB_COLLQ_ERROR_UNKNOWN;
}

static int collq_error_decode(u8 code)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(collq_errors); i++) {
		if (collq_errors[i].code == code)
			return collq_errors[i].error;
	}
	return -EREMOTEIO;
}

/* The queue that an ABORT is for, referenced, and the sender's error. */
static struct collq_queue *collq_control_abort(struct collq_endpoint *ep,
					       u32 imm, int *error)
{
	u16 slot = imm >> IB_COLLQ_IMM_SLOT_SHIFT & IB_COLLQ_IMM_SLOT_MASK;
	u8 generation = imm >> IB_COLLQ_IMM_ABORT_GEN_SHIFT &
			IB_COLLQ_IMM_ABORT_GEN_MASK;
	struct collq_queue_link *link = xa_load(&ep->aborts, slot);

	if (!link || link->generation != generation) {
		ep->dropped++;
		return NULL;
	}
	*error = collq_error_decode(imm & IB_COLLQ_IMM_ERROR_MASK);
	collq_object_get(&link->queue->obj);
	return link->queue;
}

/**
 * collq_control_receive - a message that isn't a signal
 * @ep: where it arrived; its lock is held
 * @imm: immediate data
 * @error: the error of an ABORT
 *
 * Softirq.
 *
 * Return: NULL, or the queue to fail with @error once the lock is dropped; the
 * caller puts the reference.
 */
struct collq_queue *collq_control_receive(struct collq_endpoint *ep, u32 imm,
					  int *error)
{
	lockdep_assert_held(&ep->lock);

	switch (imm >> IB_COLLQ_IMM_TYPE_SHIFT) {
	case IB_COLLQ_IMM_ABORT:
		return collq_control_abort(ep, imm, error);
	case IB_COLLQ_IMM_CONTROL:
		if ((imm & IB_COLLQ_IMM_CONTROL_MASK) == IB_COLLQ_CONTROL_CLOSE) {
			collq_endpoint_peer_closed(ep);
			return NULL;
		}
		fallthrough;
	default:
		ep->dropped++;
		return NULL;
	}
}

/*
 * Tells the peer of a queue that has failed. If the send queue is full, it's
 * sent as soon as a slot is free. Queue lock held.
 */
void collq_control_send_abort(struct collq_queue_link *link, int error)
{
	struct collq_endpoint *ep = link->endpoint;

	lockdep_assert_held(&link->queue->lock);

	spin_lock(&ep->lock);
	link->pending_imm = IB_COLLQ_IMM_ABORT << IB_COLLQ_IMM_TYPE_SHIFT |
			    link->peer_slot << IB_COLLQ_IMM_SLOT_SHIFT |
			    link->peer_generation << IB_COLLQ_IMM_ABORT_GEN_SHIFT |
			    collq_error_encode(error);
	if (ep->state == IB_COLLQ_ENDPOINT_CONNECTED) {
		collq_object_get(&link->queue->obj);
		list_add_tail(&link->pending_node, &ep->pending_aborts);
	}
	collq_control_flush_aborts(ep);
	spin_unlock(&ep->lock);
}

/*
 * Sends what there is room for; one slot stays for CLOSE. If the endpoint is of
 * no use any more, they are dropped.
 */
void collq_control_flush_aborts(struct collq_endpoint *ep)
{
	struct collq_queue_link *link;
	bool usable;

	lockdep_assert_held(&ep->lock);

	while (!list_empty(&ep->pending_aborts)) {
		usable = ep->state == IB_COLLQ_ENDPOINT_CONNECTED;
		if (usable &&
		    collq_endpoint_in_flight(ep) >= ep->send_depth - 1)
			break;
		link = list_first_entry(&ep->pending_aborts,
					struct collq_queue_link, pending_node);
		list_del_init(&link->pending_node);
		if (usable)
			collq_endpoint_post_control(ep, link->pending_imm);
		collq_object_put(&link->queue->obj);
	}
}

/* The last message of an endpoint. False if it couldn't be sent. */
bool collq_control_send_close(struct collq_endpoint *ep)
{
	u32 imm = IB_COLLQ_IMM_CONTROL << IB_COLLQ_IMM_TYPE_SHIFT |
		  IB_COLLQ_CONTROL_CLOSE;

	lockdep_assert_held(&ep->lock);

	if (ep->attr.kind == IB_COLLQ_ENDPOINT_SIGNAL)
		return !collq_endpoint_post_control(ep, imm);
	/* CLOSE would take a receive of the application's; this takes none. */
	return !collq_endpoint_post_probe(ep);
}
