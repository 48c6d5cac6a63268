// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Local endpoints: a peer on the same device needs no wire.
 *
 * A local endpoint is a connection like any other: its queue pair is connected,
 * and CLOSE, ABORT, lingering and probes travel there. Only signals and
 * data take the short way: the sender raises the peer's counter itself, and
 * local_data.c moves messages. So nothing that has to do with failure is different.
 *
 * Both sides have to want it, which their addresses say. It goes live when both
 * have been connected, and each was given exactly the address that the kernel
 * has made for the other one: a nonce that nobody can guess is in there, so who
 * isn't meant can't be reached. Whoever is the second finds the first one in the
 * device's table. Until then signals go over the wire, and what is still under
 * way there arrives all the same.
 *
 * It ends when either leaves CONNECTED for good: from then on the other one's
 * signals go over the wire, where they find what they would have found anyway.
 *
 * A sender takes its own lock and then the peer's, never both. In between
 * anything can happen to the peer; so the memory of endpoints outlives a grace
 * period of RCU, and a number tells whether it's still the same connection.
 */
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include <rdma/ib_collq.h>

#include "bindings.h"
#include "counter.h"
#include "device.h"
#include "endpoint.h"
#include "local.h"
#include "signal.h"
#include "verbs.h"

/* The upper bit of a P_Key: a full member. Two limited ones can't talk. */
#define COLLQ_PKEY_FULL		0x8000

void collq_local_init(struct collq_device *cd)
{
	spin_lock_init(&cd->local.lock);
	hash_init(cd->local.endpoints);
}

static const struct ib_collq_address *
collq_local_address(const struct collq_endpoint *ep)
{
	return (const void *)ep->attr.address;
}

static u64 collq_local_key(const struct ib_collq_address *address)
{
	u64 key;

	memcpy(&key, address->nonce, sizeof(key));
	return key;
}

/* Whether the short way may be taken between two addresses, if both are true. */
static bool collq_local_allowed(const struct ib_collq_address *own,
				const struct ib_collq_address *peer)
{
	const __le32 local = cpu_to_le32(IB_COLLQ_CAP_LOCAL);

	return (own->capabilities & local) && (peer->capabilities & local) &&
	       !memcmp(own->instance, peer->instance, sizeof(own->instance)) &&
	       own->device == peer->device && own->netns == peer->netns &&
	       own->pkey == peer->pkey &&
	       (le16_to_cpu(own->pkey) & COLLQ_PKEY_FULL);
}

/* Whether one was connected to just what the other one is. */
static bool collq_local_knows(const struct collq_endpoint *ep,
			      const struct collq_endpoint *peer)
{
	return !memcmp(&ep->peer_address, peer->attr.address,
		       sizeof(ep->peer_address));
}

/* The endpoint's peer, if it has been connected first. Table's lock held. */
static struct collq_endpoint *
collq_local_find(struct collq_local_table *table,
		 const struct collq_endpoint *ep)
{
	struct collq_endpoint *peer;

	hash_for_each_possible(table->endpoints, peer, local.node,
			       collq_local_key(&ep->peer_address)) {
		if (collq_local_knows(ep, peer) && collq_local_knows(peer, ep))
			return peer;
	}
	return NULL;
}

static bool collq_local_connected(struct collq_endpoint *ep)
{
	bool connected;

	spin_lock(&ep->lock);
	connected = ep->state == IB_COLLQ_ENDPOINT_CONNECTED;
	spin_unlock(&ep->lock);
	return connected;
}

static void collq_local_set_link(struct collq_endpoint *ep, u64 link)
{
	spin_lock(&ep->lock);
	ep->local.link = link;
	spin_unlock(&ep->lock);
}

/* From now on the peer hears of each receive; of so many it hasn't. */
static u32 collq_local_set_peer(struct collq_endpoint *ep,
				struct collq_endpoint *peer)
{
	u32 recvs;

	spin_lock(&ep->lock);
	ep->local.peer = peer;
	recvs = ep->recvs_posted;
	spin_unlock(&ep->lock);
	return recvs;
}

/* Room for what a message endpoint sends, should it be local. May sleep. */
int collq_local_alloc(struct collq_endpoint *ep)
{
	if (!(ep->attr.flags & IB_COLLQ_ENDPOINT_LOCAL))
		return 0;
	ep->local.sends_posted = kvcalloc(ep->attr.send_capacity,
					  sizeof(*ep->local.sends_posted),
					  GFP_KERNEL_ACCOUNT);
	return ep->local.sends_posted ? 0 : -ENOMEM;
}

/* The endpoint is being connected, and nothing posted there yet. Its lock is held. */
void collq_local_prepare(struct collq_endpoint *ep)
{
	ep->local.data = ep->attr.kind == IB_COLLQ_ENDPOINT_MESSAGE &&
			 collq_local_allowed(collq_local_address(ep),
					     &ep->peer_address);
}

/**
 * collq_local_join - an endpoint has been connected
 * @ep: the endpoint
 *
 * Called with ctx->mutex held. Goes live if the peer was first.
 */
void collq_local_join(struct collq_endpoint *ep)
{
	struct collq_local_table *table = &ep->verbs->device->local;
	const struct ib_collq_address *own = collq_local_address(ep);
	static atomic64_t last_link;
	struct collq_endpoint *peer;
	u32 recvs, peer_recvs;
	u64 link;

	if (!collq_local_allowed(own, &ep->peer_address))
		return;
	spin_lock_bh(&table->lock);
	/* Who fails after this leaves after this. */
	if (!collq_local_connected(ep))
		goto out_unlock;
	hash_add(table->endpoints, &ep->local.node, collq_local_key(own));
	peer = collq_local_find(table, ep);
	if (!peer || !collq_local_connected(peer))
		goto out_unlock;

	/* Neither may send before the other one takes it. */
	link = atomic64_inc_return(&last_link);
	collq_local_set_link(ep, link);
	collq_local_set_link(peer, link);
	recvs = collq_local_set_peer(ep, peer);
	peer_recvs = collq_local_set_peer(peer, ep);
	collq_local_begin(peer, recvs);
	collq_local_begin(ep, peer_recvs);
out_unlock:
	spin_unlock_bh(&table->lock);
}

/*
 * What it has sent doesn't arrive, unless it just does: it finds out why as it
 * would with the wire. Endpoint lock held.
 */
void collq_local_let_know(struct collq_endpoint *ep)
{
	if (ep->local.pending > ep->local.arriving)
		collq_endpoint_ask(ep);
}

/**
 * collq_local_leave - an endpoint is of no use any more
 * @ep: the endpoint; its state is neither NEW nor CONNECTED, or it's being
 *	destroyed or reset
 *
 * After this its peer doesn't know it, and what was posted to be sent or received
 * the short way is dropped. May be called more than once. May sleep.
 */
void collq_local_leave(struct collq_endpoint *ep)
{
	struct collq_local_table *table = &ep->verbs->device->local;
	struct collq_endpoint *peer;

	spin_lock_bh(&table->lock);
	hash_del(&ep->local.node);
	peer = ep->local.peer;
	if (peer) {
		collq_local_set_peer(peer, NULL);
		collq_local_set_peer(ep, NULL);
		collq_local_set_link(peer, 0);
		collq_local_set_link(ep, 0);
		spin_lock(&peer->lock);
		collq_local_let_know(peer);
		spin_unlock(&peer->lock);
	}
	spin_unlock_bh(&table->lock);
	collq_local_drop(ep);
}

/*
 * Whether an endpoint is of use: that the other side has closed says nothing of
 * what was sent before. Its lock is held.
 */
bool collq_local_is_open(const struct collq_endpoint *ep)
{
	lockdep_assert_held(&ep->lock);
	return ep->state == IB_COLLQ_ENDPOINT_CONNECTED ||
	       ep->state == IB_COLLQ_ENDPOINT_PEER_CLOSED;
}

/* Whether it is, and still an end of that connection. The same. */
bool collq_local_is_end(const struct collq_endpoint *ep, u64 link)
{
	return collq_local_is_open(ep) && ep->local.link == link;
}

/* What the peer does with a signal; if it's no more there, nothing. */
static void collq_local_receive(struct collq_endpoint *ep, u64 link, u32 imm)
{
	spin_lock(&ep->lock);
	if (likely(collq_local_is_end(ep, link))) {
		ep->local.messages++;
		collq_signal_receive(ep, imm);
	}
	spin_unlock(&ep->lock);
}

/**
 * collq_local_signal - send a signal the short way
 * @ep: a signal endpoint that is live; its lock is held, and dropped
 * @imm: immediate data
 *
 * Between collq_engine_enter() and collq_engine_exit().
 */
void collq_local_signal(struct collq_endpoint *ep, u32 imm)
	__releases(&ep->lock)
{
	struct collq_endpoint *peer = ep->local.peer;
	u64 link = ep->local.link;

	ep->local.sends++;
	if (unlikely(ep->sends_counter))
		collq_counter_raise(ep->sends_counter, 1);
	rcu_read_lock();
	spin_unlock(&ep->lock);
	collq_local_receive(peer, link, imm);
	rcu_read_unlock();
}
