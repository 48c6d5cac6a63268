// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connecting an endpoint: RESET -> INIT -> receives posted -> RTR -> RTS.
 *
 * ib_modify_qp() doesn't find out the peer's Ethernet address for a caller in
 * the kernel, and an address of zeros would hang in silence. Making an address
 * handle does, and fills it into the attributes; so one is made and thrown
 * away.
 *
 * The peer may send as soon as its side is in RTS, which may be before this one
 * is connected: its retries bridge that.
 */
#include <linux/etherdevice.h>

#include <rdma/ib_addr.h>

#include "address.h"
#include "context.h"
#include "endpoint.h"
#include "verbs.h"

/* Receiver-not-ready back-off that is asked of the peer: 0.01 ms. */
#define COLLQ_MIN_RNR_TIMER	1

static int collq_connect_init(struct collq_endpoint *ep)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.pkey_index = ep->attr.pkey_index,
		.port_num = ep->attr.port,
		/* For zero-length operations only: no key is ever given out. */
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
	struct ib_pd *pd = ep->verbs->pd;
	union ib_gid gid;
	struct ib_ah *ah;

	memset(path, 0, sizeof(*path));
	path->type = rdma_ah_find_type(pd->device, ep->attr.port);
	rdma_ah_set_port_num(path, ep->attr.port);
	rdma_ah_set_sl(path, ep->attr.sl);
	memcpy(gid.raw, peer->gid, sizeof(gid.raw));
	if (path->type == RDMA_AH_ATTR_TYPE_ROCE ||
	    rdma_cap_eth_ah(pd->device, ep->attr.port) || !peer->lid)
		rdma_ah_set_grh(path, &gid, 0, ep->attr.gid_index, 64,
				ep->attr.traffic_class);
	if (path->type == RDMA_AH_ATTR_TYPE_IB)
		rdma_ah_set_dlid(path, le16_to_cpu(peer->lid));
	if (path->type != RDMA_AH_ATTR_TYPE_ROCE)
		return 0;

	ah = rdma_create_user_ah(pd, path, NULL);
	if (IS_ERR(ah)) {
		int err = PTR_ERR(ah);

		/* Routing has many errors, some with another meaning here. */
		if (err == -ENOBUFS)
			err = -ENOMEM;
		return err == -ETIMEDOUT || err == -ENOMEM ? err : -EHOSTUNREACH;
	}
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	if (is_zero_ether_addr(rdma_ah_retrieve_dmac(path)))
		return -EHOSTUNREACH;
	return 0;
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
	/* It may have said CLOSE, or failed, already. */
	if (ep->state == IB_COLLQ_ENDPOINT_NEW)
		collq_endpoint_set_state(ep, IB_COLLQ_ENDPOINT_CONNECTED, 0);
	spin_unlock_bh(&ep->lock);
	return 0;

err_undo:
	collq_connect_undo(ep);
	return err;
}
