// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Endpoints: a reliable connection to one peer, owned by the kernel.
 *
 * Life: created with a queue pair in RESET (NEW); connected once, with the
 * peer's address (CONNECTED); the peer may say CLOSE (PEER_CLOSED) or the
 * transport may fail (ERROR); destroyed (CLOSED), when it says CLOSE and lingers
 * if it was healthy (linger.c). The object's memory and the queue pair go with
 * the last reference and the end of lingering, whichever file is still open then.
 */
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "address.h"
#include "bindings.h"
#include "borrow.h"
#include "context.h"
#include "device.h"
#include "endpoint.h"
#include "limits.h"
#include "linger.h"
#include "probe.h"
#include "verbs.h"

static struct lock_class_key collq_message_lock_key;

/*
 * Destroys the queue pair. The state is CLOSED, so nobody posts. After this no
 * completion comes any more. May sleep.
 */
void collq_endpoint_destroy_qp(struct collq_endpoint *ep)
{
	flush_work(&ep->event_work);
	if (ep->connected)
		ib_drain_qp(ep->qp);
	ib_destroy_qp(ep->qp);
	if (cancel_work_sync(&ep->event_work))
		collq_object_put(&ep->obj);
	collq_endpoint_release_buffers(ep);
}

static void collq_endpoint_drop_pd(struct collq_endpoint *ep)
{
	if (!ep->pd)
		return;
	if (collq_endpoint_borrows(ep)) {
		collq_return_pd(ep->obj.ctx, &ep->pd);
		return;
	}
	ib_dealloc_pd(ep->pd);
	ep->pd = NULL;
	collq_uncharge(&ep->pd_charge, ep->verbs->pd->device,
		       COLLQ_CHARGE_OBJECT);
}

/* The same for good, with all that the queue pair was made from. May sleep. */
void collq_endpoint_teardown(struct collq_endpoint *ep)
{
	collq_endpoint_destroy_qp(ep);
	collq_endpoint_drop_pd(ep);
	collq_cq_put(&ep->verbs->device->cqs, ep->cq, ep->cq_depth);
	collq_verbs_drop_endpoint(ep->verbs, ep->cq_depth, &ep->charge);
	ep->qp = NULL;
}

/* A message endpoint hears of the end through its signal endpoint. */
static int collq_endpoint_join(struct collq_endpoint *ep,
			       struct collq_endpoint *signal)
{
	int err;

	spin_lock_bh(&signal->lock);
	err = collq_endpoint_error(signal);
	if (!err)
		list_add_tail(&ep->message_node, &signal->message_endpoints);
	spin_unlock_bh(&signal->lock);
	if (err)
		return err;
	collq_object_name(&signal->obj);
	ep->signal = signal;
	return 0;
}

static void collq_endpoint_leave(struct collq_endpoint *ep)
{
	struct collq_endpoint *signal = ep->signal;

	if (!signal)
		return;
	spin_lock_bh(&signal->lock);
	list_del_init(&ep->message_node);
	spin_unlock_bh(&signal->lock);
	/* The name goes; the reference stays for lingering. */
	atomic_dec(&signal->obj.users);
}

static void collq_endpoint_destroy(struct collq_object *obj)
{
	struct collq_endpoint *ep = collq_endpoint_of(obj);

	collq_endpoint_leave(ep);
	collq_local_finish(ep);
	collq_local_leave(ep);
	if (!collq_linger_begin(ep))
		collq_endpoint_teardown(ep);
}

/*
 * It's destroyed: waits until the process' protection domain is free of it. Sleeps, but
 * not if the process is killed: who closes its file waits again.
 */
void collq_endpoint_wait_returned(struct collq_endpoint *ep)
{
	if (!collq_endpoint_borrows(ep))
		return;
	/* Pairs with collq_return_pd(). */
	wait_var_event_killable(&ep->pd, !smp_load_acquire(&ep->pd));
}

static void collq_endpoint_free_queues(struct collq_endpoint *ep)
{
	kfree(ep->sge_list);
	kvfree(ep->local.sends_posted);
	kvfree(ep->recvs);
	kvfree(ep->sends);
}

static void collq_endpoint_free(struct collq_object *obj)
{
	struct collq_endpoint *ep = collq_endpoint_of(obj);

	if (ep->signal)
		collq_object_put(&ep->signal->obj);
	/* Nothing is left in @aborts: the queues that were have named the endpoint. */
	kvfree(ep->slots);
	collq_endpoint_free_queues(ep);
	/* A local peer may be about to look at it. */
	kfree_rcu(ep, rcu);
}

static const struct collq_object_ops collq_endpoint_ops = {
	.type = IB_COLLQ_OBJECT_ENDPOINT,
	.destroy = collq_endpoint_destroy,
	.free = collq_endpoint_free,
};

/* The largest capacity that leaves room for the kernel's own messages. */
u32 collq_endpoint_max_capacity(struct ib_device *ibdev)
{
	const int own = COLLQ_REPOST_BATCH + COLLQ_CONTROL_RECVS + 1;
	const int both = own + COLLQ_CONTROL_SENDS + 1;

	return clamp(min(ibdev->attrs.max_qp_wr - own,
			 (ibdev->attrs.max_cqe - both) / 2),
		     0, COLLQ_MAX_CAPACITY);
}

/* Checks all that can be checked without the device. */
static int collq_endpoint_check(const struct ib_collq_endpoint_create *attr,
				struct ib_device *ibdev)
{
	u32 max_capacity = collq_endpoint_max_capacity(ibdev);

	if (attr->flags & ~(IB_COLLQ_ENDPOINT_ZONES | IB_COLLQ_ENDPOINT_LOCAL |
			    IB_COLLQ_ENDPOINT_PD))
		return -EOPNOTSUPP;
	if ((attr->kind != IB_COLLQ_ENDPOINT_SIGNAL &&
	     attr->kind != IB_COLLQ_ENDPOINT_MESSAGE) ||
	    attr->__reserved[0] || attr->__reserved[1] ||
	    /*
	     * What is written goes over the wire, and signals must not overtake it;
	     * and what is the adapter's only the CPU can't copy.
	     */
	    hweight32(attr->flags) > 1 ||
	    !rdma_is_port_valid(ibdev, attr->port) ||
	    attr->sl > 15 || attr->mtu > IB_MTU_4096 ||
	    !attr->timeout || attr->timeout > 31 ||
	    attr->retry_cnt > 6 || attr->rnr_retry > 7 ||
	    (attr->probe_ms && (attr->probe_ms < COLLQ_MIN_PROBE_MS ||
				attr->probe_ms > COLLQ_MAX_PROBE_MS)) ||
	    !attr->send_capacity || attr->send_capacity > max_capacity ||
	    !attr->recv_capacity || attr->recv_capacity > max_capacity ||
	    attr->max_send_sge > ibdev->attrs.max_send_sge ||
	    attr->max_recv_sge > ibdev->attrs.max_recv_sge)
		return -EINVAL;
	if (attr->kind == IB_COLLQ_ENDPOINT_SIGNAL)
		return attr->max_recv_sge || attr->signal_endpoint ||
		       attr->flags & IB_COLLQ_ENDPOINT_PD ? -EINVAL : 0;
	return attr->flags & IB_COLLQ_ENDPOINT_ZONES ? -EINVAL : 0;
}

/*
 * Entries of a queue pair's lists: a few more than asked for, since an entry that
 * crosses a border of what has one key takes two.
 */
static u32 collq_endpoint_sges(u32 wanted, int limit)
{
	if (!wanted)
		return 1;
	return min_t(u32, wanted + COLLQ_SPARE_SGES, limit);
}

static void collq_endpoint_init(struct collq_endpoint *ep,
				const struct ib_collq_endpoint_create *attr)
{
	u32 i;

	ep->attr = *attr;
	spin_lock_init(&ep->lock);
	/* A message endpoint's lock is taken outside its signal endpoint's. */
	if (attr->kind == IB_COLLQ_ENDPOINT_MESSAGE)
		lockdep_set_class(&ep->lock, &collq_message_lock_key);
	INIT_LIST_HEAD(&ep->zones);
	INIT_LIST_HEAD(&ep->send_waiters);
	INIT_LIST_HEAD(&ep->recv_waiters);
	INIT_LIST_HEAD(&ep->pending_aborts);
	INIT_LIST_HEAD(&ep->message_endpoints);
	INIT_WORK(&ep->event_work, collq_endpoint_event_work);
	INIT_WORK(&ep->local.work, collq_local_work);
	xa_init(&ep->aborts);
	ep->state = IB_COLLQ_ENDPOINT_NEW;
	ep->probe_at = jiffies;

	ep->send_depth = attr->send_capacity;
	ep->recv_depth = attr->recv_capacity;
	if (attr->kind == IB_COLLQ_ENDPOINT_SIGNAL) {
		ep->recv_depth += COLLQ_CONTROL_RECVS + COLLQ_REPOST_BATCH;
		ep->send_depth += COLLQ_CONTROL_SENDS;
	} else {
		/* The last operation before lingering. */
		ep->send_depth += 1;
	}

	ep->recv_cqe.done = collq_endpoint_recv_done;
	for (i = 0; i < COLLQ_REPOST_BATCH; i++) {
		ep->repost[i].wr_cqe = &ep->recv_cqe;
		if (i + 1 < COLLQ_REPOST_BATCH)
			ep->repost[i].next = &ep->repost[i + 1];
	}
}

/* What is kept of messages under way. */
static int collq_endpoint_alloc_queues(struct collq_endpoint *ep)
{
	u32 i, nr = roundup_pow_of_two(ep->send_depth);

	ep->sends = kvcalloc(nr, sizeof(*ep->sends), GFP_KERNEL_ACCOUNT);
	if (!ep->sends)
		return -ENOMEM;
	ep->sends_mask = nr - 1;
	for (i = 0; i < nr; i++) {
		ep->sends[i].cqe.done = collq_endpoint_send_done;
		ep->sends[i].endpoint = ep;
	}
	if (ep->attr.kind == IB_COLLQ_ENDPOINT_SIGNAL && !ep->attr.max_send_sge)
		return 0;
	ep->sge_list = kcalloc(max(ep->send_sges, ep->recv_sges),
			       sizeof(*ep->sge_list), GFP_KERNEL_ACCOUNT);
	if (!ep->sge_list)
		return -ENOMEM;
	if (ep->attr.kind == IB_COLLQ_ENDPOINT_SIGNAL)
		return 0;
	ep->recvs = kvcalloc(ep->recv_depth, sizeof(*ep->recvs),
			     GFP_KERNEL_ACCOUNT);
	return ep->recvs ? collq_local_alloc(ep) : -ENOMEM;
}

/*
 * The protection domain that it borrows, or one of its own if it needs one: 0 or an
 * error. May sleep.
 */
static int collq_endpoint_alloc_pd(struct collq_endpoint *ep,
				   struct ib_pd *borrowed)
{
	struct ib_device *ibdev = ep->verbs->pd->device;
	struct ib_pd *pd;
	int err;

	if (borrowed) {
		collq_borrow_pd(ep->obj.ctx, borrowed);
		ep->pd = borrowed;
	}
	if (!collq_endpoint_is_apart(ep))
		return 0;
	err = collq_charge(&ep->pd_charge, ibdev, COLLQ_CHARGE_OBJECT);
	if (err)
		return err;
	pd = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(pd)) {
		collq_uncharge(&ep->pd_charge, ibdev, COLLQ_CHARGE_OBJECT);
		return PTR_ERR(pd);
	}
	ep->pd = pd;
	ep->own_lkey = pd->local_dma_lkey;
	return 0;
}

/*
 * A queue pair for the endpoint, or an ERR_PTR. Each queue has one slot more
 * than is used, for ib_drain_qp(). May sleep.
 */
struct ib_qp *collq_endpoint_create_qp(struct collq_endpoint *ep)
{
	struct ib_qp_init_attr init = {
		.event_handler = collq_endpoint_qp_event,
		.qp_context = ep,
		.send_cq = ep->cq->cq,
		.recv_cq = ep->cq->cq,
		.cap = {
			.max_send_wr = ep->send_depth + 1,
			.max_recv_wr = ep->recv_depth + 1,
			.max_send_sge = ep->send_sges,
			.max_recv_sge = ep->recv_sges,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_qp *qp;

	qp = ib_create_qp(collq_endpoint_pd(ep), &init);
	/* What rxe says when there's no memory for a socket. */
	return qp == ERR_PTR(-ENFILE) ? ERR_PTR(-ENOMEM) : qp;
}

/**
 * collq_endpoint_create - make an endpoint
 * @ctx: the context
 * @attr: what it is to be; id and address are filled in
 * @signal: a message endpoint's signal endpoint, or NULL
 * @pd: the process' protection domain that it is to be in, or NULL
 *
 * Called with ctx->mutex held. May sleep.
 *
 * Return: the endpoint, not published yet, or an ERR_PTR.
 */
struct collq_endpoint *
collq_endpoint_create(struct collq_context *ctx,
		      struct ib_collq_endpoint_create *attr,
		      struct collq_endpoint *signal, struct ib_pd *pd)
{
	struct ib_device *ibdev = ctx->verbs->pd->device;
	struct ib_collq_address address;
	struct collq_endpoint *ep;
	int err;

	err = collq_endpoint_check(attr, ibdev);
	if (err)
		return ERR_PTR(err);
	if (!pd != !(attr->flags & IB_COLLQ_ENDPOINT_PD))
		return ERR_PTR(pd ? -EINVAL : -EOPNOTSUPP);
	if (attr->kind == IB_COLLQ_ENDPOINT_MESSAGE &&
	    (!signal || signal->attr.kind != IB_COLLQ_ENDPOINT_SIGNAL))
		return ERR_PTR(-EINVAL);

	ep = kzalloc(sizeof(*ep), GFP_KERNEL_ACCOUNT);
	if (!ep)
		return ERR_PTR(-ENOMEM);
	collq_endpoint_init(ep, attr);
	ep->send_sges = collq_endpoint_sges(attr->max_send_sge,
					    ibdev->attrs.max_send_sge);
	ep->recv_sges = collq_endpoint_sges(attr->max_recv_sge,
					    ibdev->attrs.max_recv_sge);
	err = collq_endpoint_alloc_queues(ep);
	if (err)
		goto err_free;

	err = collq_object_init(ctx, &ep->obj, &collq_endpoint_ops);
	if (err)
		goto err_free;

	ep->verbs = ctx->verbs;
	ep->cq_depth = ep->send_depth + ep->recv_depth + 2;
	err = collq_verbs_add_endpoint(ep->verbs, ep->cq_depth, &ep->charge);
	if (err)
		goto err_abort;
	/* In the same one a message isn't overtaken by CLOSE. */
	ep->cq = collq_cq_get(&ep->verbs->device->cqs, ibdev, ep->cq_depth,
			      signal ? signal->cq : NULL);
	if (IS_ERR(ep->cq)) {
		err = PTR_ERR(ep->cq);
		goto err_drop_verbs;
	}
	err = collq_endpoint_alloc_pd(ep, pd);
	if (err)
		goto err_put_cq;
	ep->qp = collq_endpoint_create_qp(ep);
	if (IS_ERR(ep->qp)) {
		err = PTR_ERR(ep->qp);
		goto err_drop_pd;
	}
	err = collq_address_make(ep->verbs, attr, ep->qp->qp_num, &address);
	if (err)
		goto err_destroy_qp;

	if (signal) {
		err = collq_endpoint_join(ep, signal);
		if (err)
			goto err_destroy_qp;
	}
	collq_probe_add(ctx, attr->probe_ms);
	ep->attr.id = ep->obj.id;
	memcpy(ep->attr.address, &address, sizeof(address));
	*attr = ep->attr;
	return ep;

err_destroy_qp:
	ib_destroy_qp(ep->qp);
err_drop_pd:
	collq_endpoint_drop_pd(ep);
err_put_cq:
	collq_cq_put(&ep->verbs->device->cqs, ep->cq, ep->cq_depth);
err_drop_verbs:
	collq_verbs_drop_endpoint(ep->verbs, ep->cq_depth, &ep->charge);
err_abort:
	collq_object_abort(&ep->obj);
err_free:
	collq_endpoint_free_queues(ep);
	kfree(ep);
	return ERR_PTR(err);
}

/* Room for so many messages that are not waited for yet: 0 or -ENOSPC. */
int collq_endpoint_reserve(struct collq_endpoint *ep, u32 recvs)
{
	if (ep->attr.kind != IB_COLLQ_ENDPOINT_SIGNAL || !recvs)
		return -EINVAL;
	if (recvs > ep->attr.recv_capacity - ep->reserved_recvs)
		return -ENOSPC;
	ep->reserved_recvs += recvs;
	return 0;
}

int collq_endpoint_release(struct collq_endpoint *ep, u32 recvs)
{
	if (ep->attr.kind != IB_COLLQ_ENDPOINT_SIGNAL || !recvs ||
	    recvs > ep->reserved_recvs)
		return -EINVAL;
	ep->reserved_recvs -= recvs;
	return 0;
}

void collq_endpoint_info(struct collq_endpoint *ep,
			 struct ib_collq_endpoint_info *info)
{
	memset(info, 0, sizeof(*info));
	info->create = ep->attr;
	spin_lock_bh(&ep->lock);
	memcpy(info->peer_address, &ep->peer_address,
	       sizeof(info->peer_address));
	info->state = ep->state;
	info->error = ep->error;
	info->reserved_recvs = ep->reserved_recvs;
	info->sends = ep->total_sends;
	info->sends_done = ep->total_sends - collq_endpoint_in_flight(ep);
	info->messages = ep->messages;
	info->dropped = ep->dropped;
	info->local_sends = ep->local.sends;
	info->local_messages = ep->local.messages;
	info->is_local = !!ep->local.peer;
	info->probes = ep->probes;
	spin_unlock_bh(&ep->lock);
}
