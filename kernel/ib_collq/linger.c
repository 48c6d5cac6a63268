// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Lingering: destroyed endpoints that see their last messages delivered.
 *
 * A queue pair that goes to ERR right after a send loses it: flushing completes
 * the send but never delivers it. And one that is gone can't acknowledge what
 * its peer sends again because the first acknowledgment was lost, so that the
 * peer would take a success for a failure. So an endpoint that was healthy is
 * closed in steps:
 *
 *  1. CLOSE is posted (on a message endpoint a zero-length RDMA WRITE), which
 *     arrives after all that was sent before. Bounded, if the peer is dead. It
 *     speaks for the message endpoints too that name the endpoint, so it waits
 *     until their last messages have arrived.
 *  2. When it's acknowledged, the queue pair stays in RTS for one retry time
 *     and acknowledges retransmissions, if it has ever carried something.
 *  3. A worker moves it to ERR, drains it and destroys it; all that are due are
 *     moved to ERR first, so that they drain together.
 *
 * Nobody waits for it: destroy returns at once, and the process may be gone. But an
 * endpoint in a protection domain of the process' doesn't keep that from going any
 * longer than the first step takes.
 * The number of lingering endpoints is limited; beyond it the user who has the
 * most loses the oldest. Removal of the device ends them all.
 */
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>

#include "context.h"
#include "control.h"
#include "device.h"
#include "endpoint.h"
#include "limits.h"
#include "linger.h"
#include "verbs.h"

static unsigned int collq_max_lingering = COLLQ_MAX_LINGERING;
module_param_named(max_lingering, collq_max_lingering, uint, 0644);
MODULE_PARM_DESC(max_lingering,
		 "Destroyed endpoints of a device that see their last messages delivered at a time");

/* Nobody lingers longer for one retry time, whatever was asked for. */
#define COLLQ_MAX_RETRY_TIME	(30 * HZ)

/* How long a transfer is tried, in jiffies. */
static unsigned long collq_retry_time(const struct collq_endpoint *ep)
{
	u64 once = 4096ULL << ep->attr.timeout;
	unsigned long time = nsecs_to_jiffies((ep->attr.retry_cnt + 1) * once) + 1;

	if (READ_ONCE(ep->verbs->device->linger.hurry))
		return min_t(unsigned long, time, COLLQ_HURRY / 4);
	return min_t(unsigned long, time, COLLQ_MAX_RETRY_TIME);
}

/*
 * How long the last message may take. A signal endpoint has longer, since its
 * message endpoints come first.
 */
static unsigned long collq_linger_bound(const struct collq_endpoint *ep)
{
	unsigned long time = collq_retry_time(ep);

	if (ep->attr.kind == IB_COLLQ_ENDPOINT_SIGNAL)
		time *= 2;
	return READ_ONCE(ep->verbs->device->linger.hurry) ? time : time + HZ;
}

/* The worker looks at all of them again. Any context. */
static void collq_linger_kick(struct collq_device *cd)
{
	mod_delayed_work(collq_wq, &cd->linger.work, 0);
}

/* Moves the end of an endpoint that lingers. Endpoint lock held. */
static void collq_linger_set(struct collq_endpoint *ep, unsigned long delay)
{
	struct collq_device *cd = ep->verbs->device;

	lockdep_assert_held(&ep->lock);

	spin_lock(&cd->linger.lock);
	ep->linger_until = jiffies + delay;
	spin_unlock(&cd->linger.lock);
	collq_linger_kick(cd);
}

/* Sends the last message. Endpoint lock held. */
static void collq_linger_close(struct collq_endpoint *ep)
{
	ep->close_wanted = false;
	if (!collq_control_send_close(ep))
		collq_linger_cut(ep);
}

/*
 * A message endpoint's last message has arrived, or won't: if it was the last
 * one of its signal endpoint, that one may say CLOSE. Endpoint lock held.
 */
static void collq_linger_release_signal(struct collq_endpoint *ep)
{
	struct collq_endpoint *signal = ep->signal;

	if (!ep->holds_close)
		return;
	ep->holds_close = false;
	spin_lock(&signal->lock);
	if (!--signal->messages_closing && signal->close_wanted) {
		collq_linger_set(signal, collq_linger_bound(signal));
		collq_linger_close(signal);
	}
	spin_unlock(&signal->lock);
}

/*
 * The last message was acknowledged: from here on, only answer. One that has
 * carried nothing else has nothing to answer. Endpoint lock held.
 */
void collq_linger_sent(struct collq_endpoint *ep)
{
	if (!ep->lingering)
		return;
	collq_linger_release_signal(ep);
	if ((ep->total_sends > 1 || ep->messages) &&
	    !collq_endpoint_borrows(ep) &&
	    !READ_ONCE(ep->verbs->device->linger.hurry))
		collq_linger_set(ep, collq_retry_time(ep));
	else
		collq_linger_cut(ep);
}

/*
 * The queue pair has failed: there's nothing to linger for. Called for every
 * send and receive that is flushed. Endpoint lock held.
 */
void collq_linger_cut(struct collq_endpoint *ep)
{
	if (!ep->lingering)
		return;
	ep->lingering = false;
	ep->close_wanted = false;
	collq_linger_release_signal(ep);
	collq_linger_set(ep, 0);
}

/*
 * Whether it was healthy, so that its last message can get through. Where somebody waits
 * there has to be one.
 */
static bool collq_linger_possible(const struct collq_endpoint *ep)
{
	if (collq_endpoint_borrows(ep) && !collq_endpoint_in_flight(ep))
		return false;
	return ep->connected && (ep->state == IB_COLLQ_ENDPOINT_CONNECTED ||
				 ep->state == IB_COLLQ_ENDPOINT_PEER_CLOSED);
}

static unsigned int *collq_linger_nr_of_user(struct collq_linger_list *list,
					     const struct collq_endpoint *ep)
{
	return &list->nr_of_user[hash_32(__kuid_val(ep->obj.ctx->uid),
					 COLLQ_LINGER_USER_BITS)];
}

/* Takes it into the list, unless the device goes. Endpoint lock held. */
static bool collq_linger_add(struct collq_endpoint *ep)
{
	struct collq_linger_list *list = &ep->verbs->device->linger;

	spin_lock(&list->lock);
	if (!list->stop) {
		collq_object_get(&ep->obj);
		ep->lingering = true;
		ep->linger_until = jiffies + collq_linger_bound(ep);
		list_add_tail(&ep->linger_node, &list->endpoints);
		list->nr++;
		(*collq_linger_nr_of_user(list, ep))++;
	}
	spin_unlock(&list->lock);
	return ep->lingering;
}

/* Keeps the signal endpoint from saying CLOSE before our messages arrive. */
static void collq_linger_hold_signal(struct collq_endpoint *ep)
{
	struct collq_endpoint *signal = ep->signal;

	if (!signal)
		return;
	spin_lock(&signal->lock);
	signal->messages_closing++;
	spin_unlock(&signal->lock);
	ep->holds_close = true;
}

/**
 * collq_linger_begin - close an endpoint in steps
 * @ep: the endpoint; nothing but the caller can post to it any more after this
 *
 * May sleep.
 *
 * Return: true if it lingers; the list has a reference. False if it has to be
 * torn down by the caller.
 */
bool collq_linger_begin(struct collq_endpoint *ep)
{
	bool linger;

	spin_lock_bh(&ep->lock);
	linger = collq_linger_possible(ep) && collq_linger_add(ep);
	collq_endpoint_set_state(ep, IB_COLLQ_ENDPOINT_CLOSED, -ECONNRESET);
	/* What had no room by now is dropped. */
	collq_control_flush_aborts(ep);
	if (linger) {
		collq_linger_hold_signal(ep);
		if (ep->messages_closing)
			ep->close_wanted = true;
		else
			collq_linger_close(ep);
		collq_linger_kick(ep->verbs->device);
	}
	spin_unlock_bh(&ep->lock);
	return linger;
}

/* Out of the list, to be ended. */
static void collq_linger_take(struct collq_linger_list *list,
			      struct collq_endpoint *ep, struct list_head *due)
{
	list_move_tail(&ep->linger_node, due);
	list->nr--;
	(*collq_linger_nr_of_user(list, ep))--;
}

/*
 * There are too many. Who has the most of them loses the oldest, so that what
 * one user does doesn't cost another one's last messages.
 */
static void collq_linger_limit(struct collq_linger_list *list,
			       struct list_head *due)
{
	struct collq_endpoint *ep, *tmp;
	unsigned int limit = READ_ONCE(collq_max_lingering);
	unsigned int i, excess, *most;

	while (list->nr > limit) {
		excess = list->nr - limit;
		most = &list->nr_of_user[0];
		for (i = 1; i < ARRAY_SIZE(list->nr_of_user); i++) {
			if (list->nr_of_user[i] > *most)
				most = &list->nr_of_user[i];
		}
		list_for_each_entry_safe(ep, tmp, &list->endpoints, linger_node) {
			if (collq_linger_nr_of_user(list, ep) != most)
				continue;
			collq_linger_take(list, ep, due);
			if (!--excess)
				break;
		}
	}
}

/* Takes those that are due; returns when the next one is, or 0 for none. */
static unsigned long collq_linger_due(struct collq_linger_list *list,
				      struct list_head *due)
{
	unsigned long now = jiffies, next = 0;
	struct collq_endpoint *ep, *tmp;

	spin_lock_bh(&list->lock);
	list_for_each_entry_safe(ep, tmp, &list->endpoints, linger_node) {
		if (list->stop || time_after_eq(now, ep->linger_until))
			collq_linger_take(list, ep, due);
		else if (!next || time_before(ep->linger_until, next))
			next = ep->linger_until;
	}
	collq_linger_limit(list, due);
	spin_unlock_bh(&list->lock);
	return next;
}

/* Its time is over, whatever it still waits for. */
static void collq_linger_end(struct collq_endpoint *ep)
{
	spin_lock_bh(&ep->lock);
	collq_linger_cut(ep);
	spin_unlock_bh(&ep->lock);
	collq_endpoint_kill(ep);
}

static void collq_linger_work(struct work_struct *work)
{
	struct collq_linger_list *list =
		container_of(to_delayed_work(work), struct collq_linger_list,
			     work);
	struct collq_endpoint *ep, *tmp;
	unsigned long next, now;
	LIST_HEAD(due);

	next = collq_linger_due(list, &due);
	list_for_each_entry(ep, &due, linger_node)
		collq_linger_end(ep);
	list_for_each_entry_safe(ep, tmp, &due, linger_node) {
		list_del_init(&ep->linger_node);
		collq_endpoint_teardown(ep);
		collq_object_put(&ep->obj);
		cond_resched();
	}

	now = jiffies;
	if (next)
		queue_delayed_work(collq_wq, &list->work,
				   time_after(next, now) ? next - now : 0);
}

void collq_linger_init(struct collq_device *cd)
{
	spin_lock_init(&cd->linger.lock);
	INIT_LIST_HEAD(&cd->linger.endpoints);
	INIT_DELAYED_WORK(&cd->linger.work, collq_linger_work);
}

/*
 * Those in a protection domain of the process' have no more than this time: its end waits
 * for them. The context has none that doesn't linger any more.
 */
void collq_linger_shorten(struct collq_context *ctx)
{
	struct collq_linger_list *list = &ctx->device->linger;
	unsigned long until = jiffies + COLLQ_MAX_BORROWED;
	struct collq_endpoint *ep;

	spin_lock_bh(&list->lock);
	list_for_each_entry(ep, &list->endpoints, linger_node) {
		if (ep->obj.ctx == ctx && collq_endpoint_borrows(ep) &&
		    time_after(ep->linger_until, until))
			ep->linger_until = until;
	}
	/* Else they have been ended, and the device may be about to go. */
	if (!list->stop)
		collq_linger_kick(ctx->device);
	spin_unlock_bh(&list->lock);
}

/* The device goes: from here on lingering is short. */
void collq_linger_hurry(struct collq_device *cd)
{
	WRITE_ONCE(cd->linger.hurry, true);
}

/* Ends them all, and waits for it. No endpoint lingers after this. */
void collq_linger_stop(struct collq_device *cd)
{
	spin_lock_bh(&cd->linger.lock);
	cd->linger.stop = true;
	spin_unlock_bh(&cd->linger.lock);
	collq_linger_kick(cd);
	flush_delayed_work(&cd->linger.work);
}
