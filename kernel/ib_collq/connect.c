// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connecting an endpoint: RESET -> INIT -> receives posted -> RTR -> RTS.
 *
 * The peer may send as soon as its side is in RTS, which may be before this one
 * is connected: its retries bridge that.
 */
#include <rdma/ib_verbs.h>

#include "address.h"
#include "context.h"
#include "endpoint.h"
#include "route.h"
#include "verbs.h"

/* Receiver-not-ready back-off that is asked of the peer: 0.01 ms. */
#define COLLQ_MIN_RNR_TIMER	1

static int collq_connect_init(struct collq_endpoint *ep)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.pkey_index = ep->attr.pkey_index,
		.port_num = ep->attr.port,
		/* For zero-length operations, and landing zones if it has any. */
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE,
	};

	return ib_modify_qp(ep->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			    IB_QP_PORT | IB_QP_ACCESS_FLAGS);
}

/* How to get there. May take a second if nobody answers for the address. */
static int collq_connect_path(struct collq_endpoint *ep,
			      const struct ib_collq_address *peer,
			      struct rdma_ah_attr *path)
{
	struct collq_route route = {
		.port = ep->attr.port,
		.gid_index = ep->attr.gid_index,
		.sl = ep->attr.sl,
		.traffic_class = ep->attr.traffic_class,
		.lid = le16_to_cpu(peer->lid),
	};

	memcpy(route.gid.raw, peer->gid, sizeof(route.gid.raw));
	return collq_route_resolve(ep->verbs->pd, &route, path);
}

static int collq_connect_rtr(struct collq_endpoint *ep,
			     const struct ib_collq_address *peer)
{
	struct ib_collq_address *own = (void *)ep->attr.address;
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = min(own->mtu, peer->mtu),
		.dest_qp_num = le32_to_cpu(peer->qpn),
		.rq_psn = le32_to_cpu(peer->psn),
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = COLLQ_MIN_RNR_TIMER,
	};
	int err;

	err = collq_connect_path(ep, peer, &attr.ah_attr);
	if (err)
		return err;
	err = ib_modify_qp(ep->qp, &attr, IB_QP_STATE | IB_QP_AV |
			   IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			   IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	/* The own GID has gone meanwhile. */
	return err == -ENODATA ? -EADDRNOTAVAIL : err;
}

static int collq_connect_rts(struct collq_endpoint *ep)
{
	struct ib_collq_address *own = (void *)ep->attr.address;
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = ep->attr.timeout,
		.retry_cnt = ep->attr.retry_cnt,
		.rnr_retry = ep->attr.rnr_retry,
		.sq_psn = le32_to_cpu(own->psn),
		.max_rd_atomic = 1,
	};

	return ib_modify_qp(ep->qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT |
			    IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
			    IB_QP_MAX_QP_RD_ATOMIC);
}

/* Back to RESET, which forgets what was posted. */
static void collq_connect_undo(struct collq_endpoint *ep)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };

	ib_modify_qp(ep->qp, &attr, IB_QP_STATE);
}

/**
 * collq_endpoint_connect - connect an endpoint to its peer
 * @ep: the endpoint
 * @peer: the peer's address; not trusted
 *
 * Called with ctx->mutex held. May sleep, up to a second.
 *
 * Return: 0, -EINVAL, -EBUSY if it's connected, -ETIMEDOUT or -EHOSTUNREACH if
 * there's no way to the peer.
 */
int collq_endpoint_connect(struct collq_endpoint *ep,
			   const struct ib_collq_address *peer)
{
	int err;

	lockdep_assert_held(&ep->obj.ctx->mutex);

	err = collq_address_check(peer, (void *)ep->attr.address);
	if (err)
		return err;
	if (ep->connected)
		return -EBUSY;
	err = collq_address_still_ours(ep->verbs->pd->device, &ep->attr);
	if (err)
		return err;

	err = collq_connect_init(ep);
	if (err)
		return err;
	err = collq_endpoint_post_recvs(ep);
	if (err)
		goto err_undo;
	err = collq_connect_rtr(ep, peer);
	if (err)
		goto err_undo;

	/* Messages may arrive from now on, so there's no way back. */
	ep->connected = true;
	err = collq_connect_rts(ep);
	if (err) {
		collq_endpoint_fail(ep, -ENETDOWN);
		return err;
	}
	spin_lock_bh(&ep->lock);
	ep->peer_address = *peer;
	collq_local_prepare(ep);
	/* It may have said CLOSE, or failed, already. */
	if (ep->state == IB_COLLQ_ENDPOINT_NEW)
		collq_endpoint_set_state(ep, IB_COLLQ_ENDPOINT_CONNECTED, 0);
	spin_unlock_bh(&ep->lock);
	collq_local_join(ep);
	return 0;

err_undo:
	collq_connect_undo(ep);
	return err;
}
