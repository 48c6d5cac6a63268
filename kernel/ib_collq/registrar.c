// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Registering memory with the device.
 *
 * Kernel verbs know one way to do that: a work request on a queue pair that is
 * in RTS. So there's one connected to itself, which never sends a packet. What
 * was registered is good for all queue pairs of the protection domain, and stays
 * so when this one is gone: it's made for a region, registers its memory, and is
 * thrown away. That costs some 100 us, and there's no state that could go wrong
 * between two regions.
 */
#include <linux/mm.h>
#include <linux/scatterlist.h>

#include <rdma/ib_cache.h>

#include "cq_pool.h"
#include "device.h"
#include "limits.h"
#include "registrar.h"
#include "route.h"
#include "verbs.h"

/* A registration, and what ib_drain_qp() needs. */
#define COLLQ_REGISTRAR_DEPTH	2

/* GIDs of a port that are tried: one of the own should lead to the own port. */
#define COLLQ_REGISTRAR_GIDS	4

static void collq_registrar_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct collq_registrar *reg =
		container_of(wc->wr_cqe, struct collq_registrar, cqe);

	reg->status = wc->status;
	complete(&reg->done);
}

/* From wherever it is to RTS, by way of RESET. */
static int collq_registrar_connect(struct collq_registrar *reg,
				   const struct collq_route *route)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };
	int err;

	err = ib_modify_qp(reg->qp, &attr, IB_QP_STATE);
	if (err)
		return err;
	attr.qp_state = IB_QPS_INIT;
	attr.port_num = route->port;
	err = ib_modify_qp(reg->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			   IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	if (err)
		return err;

	err = collq_route_resolve(reg->pd, route, &attr.ah_attr);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTR;
	attr.path_mtu = IB_MTU_256;
	attr.dest_qp_num = reg->qp->qp_num;
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 1;
	err = ib_modify_qp(reg->qp, &attr, IB_QP_STATE | IB_QP_AV |
			   IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			   IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	if (err)
		return err;

	attr.qp_state = IB_QPS_RTS;
	attr.timeout = 14;
	attr.max_rd_atomic = 1;
	return ib_modify_qp(reg->qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT |
			    IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
			    IB_QP_MAX_QP_RD_ATOMIC);
}

/* Tries the GIDs of a port. */
static int collq_registrar_connect_port(struct collq_registrar *reg, u32 port)
{
	struct ib_device *ibdev = reg->pd->device;
	int gids = ibdev->port_data[port].immutable.gid_tbl_len;
	const struct ib_gid_attr *gid;
	struct collq_route route = { .port = port };
	int err, i, tried = 0;

	if (rdma_protocol_ib(ibdev, port)) {
		err = collq_verbs_look_at_port(reg->verbs, port);
		if (err)
			return err;
		route.lid = reg->verbs->port_lid;
	}
	err = -EADDRNOTAVAIL;
	for (i = 0; i < gids && err && tried < COLLQ_REGISTRAR_GIDS; i++) {
		gid = rdma_get_gid_attr(ibdev, port, i);
		if (IS_ERR(gid))
			continue;
		route.gid_index = i;
		route.gid = gid->gid;
		rdma_put_gid_attr(gid);
		err = collq_registrar_connect(reg, &route);
		tried++;
	}
	return err;
}

static struct ib_qp *collq_registrar_create_qp(struct collq_registrar *reg)
{
	struct ib_qp_init_attr init = {
		.send_cq = reg->cq->cq,
		.recv_cq = reg->cq->cq,
		.cap = {
			.max_send_wr = COLLQ_REGISTRAR_DEPTH,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_qp *qp;

	qp = ib_create_qp(reg->pd, &init);
	/* What rxe says when there's no memory for a socket. */
	return qp == ERR_PTR(-ENFILE) ? ERR_PTR(-ENOMEM) : qp;
}

/**
 * collq_registrar_open - get ready to register memory
 * @reg: what is filled in; it must not move until it's closed
 * @verbs: the context's
 * @pd: where memory is to be registered: the context's protection domain or an
 *	endpoint's
 *
 * Called with the context's mutex held. Sleeps.
 *
 * Return: 0, -ENOMEM, -ENOSPC, or -ENETDOWN if no port has an address that leads
 * to itself.
 */
int collq_registrar_open(struct collq_registrar *reg, struct collq_verbs *verbs,
			 struct ib_pd *pd)
{
	struct ib_device *ibdev = pd->device;
	u32 port;
	int err;

	reg->verbs = verbs;
	reg->pd = pd;
	reg->cqe.done = collq_registrar_done;
	init_completion(&reg->done);
	err = collq_charge(&reg->charge, ibdev, COLLQ_CHARGE_OBJECT);
	if (err)
		return err;
	reg->cq = collq_cq_get(&verbs->device->cqs, ibdev,
			       COLLQ_REGISTRAR_DEPTH + 1, NULL);
	if (IS_ERR(reg->cq)) {
		err = PTR_ERR(reg->cq);
		goto err_uncharge;
	}
	reg->qp = collq_registrar_create_qp(reg);
	if (IS_ERR(reg->qp)) {
		err = PTR_ERR(reg->qp);
		goto err_put_cq;
	}
	err = -ENETDOWN;
	rdma_for_each_port(ibdev, port) {
		err = collq_registrar_connect_port(reg, port);
		if (!err || err == -ENOMEM)
			break;
	}
	if (!err)
		return 0;

	err = err == -ENOMEM ? err : -ENETDOWN;
	ib_destroy_qp(reg->qp);
err_put_cq:
	collq_cq_put(&verbs->device->cqs, reg->cq, COLLQ_REGISTRAR_DEPTH + 1);
err_uncharge:
	collq_uncharge(&reg->charge, ibdev, COLLQ_CHARGE_OBJECT);
	return err;
}

/* Makes a memory region valid that is mapped: 0, or -ENETDOWN. */
static int collq_registrar_post(struct collq_registrar *reg, struct ib_mr *mr,
				int access)
{
	struct ib_reg_wr wr = {
		.wr = {
			.opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED,
			.wr_cqe = &reg->cqe,
		},
		.mr = mr,
		.access = access,
	};

	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->lkey));
	wr.key = mr->lkey;
	if (ib_post_send(reg->qp, &wr.wr, NULL))
		return -ENETDOWN;
	wait_for_completion(&reg->done);
	return reg->status == IB_WC_SUCCESS ? 0 : -ENETDOWN;
}

/* Pages that one key serves at most; 0 if the device can't register any. */
u32 collq_registrar_max_pages(const struct ib_device *ibdev)
{
	u32 limit = ibdev->attrs.max_fast_reg_page_list_len;

	if (limit <= COLLQ_SPARE_PAGES)
		return 0;
	return min(limit - COLLQ_SPARE_PAGES, COLLQ_MAX_KEY_PAGES);
}

/* Whether one key can serve pieces that aren't whole pages. */
bool collq_registrar_takes_gaps(const struct ib_device *ibdev)
{
	return ibdev->attrs.kernel_cap_flags & IBK_SG_GAPS_REG;
}

/**
 * collq_registrar_register - register pages
 * @reg: the registrar
 * @registration: filled in
 * @pages: the pages, mapped, in entries of one page each: the first may begin, and
 *	the last may end, in the middle of one; or any of them may with gaps
 * @nr: number of @pages
 * @length: bytes
 * @type: IB_MR_TYPE_MEM_REG, or IB_MR_TYPE_SG_GAPS if the device takes gaps
 * @access: IB_ACCESS_* flags. Where a peer has access its name for the first byte
 *	says nothing but where in a page that is
 *
 * Sleeps. After a failure the registrar can only be closed.
 *
 * Return: 0, -EOPNOTSUPP if the device can't put them under one key, -ENOMEM,
 * -ENOSPC, or -ENETDOWN.
 */
int collq_registrar_register(struct collq_registrar *reg,
			     struct collq_registration *registration,
			     struct scatterlist *pages, u32 nr, u32 length,
			     enum ib_mr_type type, int access)
{
	struct ib_device *ibdev = reg->pd->device;
	struct ib_mr *mr;
	int err;

	err = collq_charge(&registration->charge, ibdev, COLLQ_CHARGE_OBJECT);
	if (err)
		return err;
	mr = ib_alloc_mr(reg->pd, type, nr + COLLQ_SPARE_PAGES);
	if (IS_ERR(mr)) {
		err = PTR_ERR(mr);
		goto err_uncharge;
	}
	err = ib_map_mr_sg(mr, pages, nr, NULL, PAGE_SIZE);
	if (err >= 0)
		err = err == nr && mr->length == length ? 0 : -EOPNOTSUPP;
	if (err)
		goto err_dereg;
	/* With SoftRoCE it would be an address of the kernel's. */
	if (access & IB_ACCESS_REMOTE_WRITE)
		mr->iova = offset_in_page(mr->iova);
	err = collq_registrar_post(reg, mr, access);
	if (err)
		goto err_dereg;
	registration->mr = mr;
	return 0;

err_dereg:
	ib_dereg_mr(mr);
err_uncharge:
	collq_uncharge(&registration->charge, ibdev, COLLQ_CHARGE_OBJECT);
	return err;
}

/*
 * The key is of no use any more when this returns, and nothing touches the memory by
 * it. Sleeps.
 */
void collq_registration_drop(struct collq_registration *registration)
{
	struct ib_device *ibdev;

	if (!registration->mr)
		return;
	ibdev = registration->mr->device;
	ib_dereg_mr(registration->mr);
	registration->mr = NULL;
	collq_uncharge(&registration->charge, ibdev, COLLQ_CHARGE_OBJECT);
}

/* What was registered stays. Sleeps. */
void collq_registrar_close(struct collq_registrar *reg)
{
	struct collq_verbs *verbs = reg->verbs;

	ib_drain_qp(reg->qp);
	ib_destroy_qp(reg->qp);
	collq_cq_put(&verbs->device->cqs, reg->cq, COLLQ_REGISTRAR_DEPTH + 1);
	collq_uncharge(&reg->charge, reg->pd->device, COLLQ_CHARGE_OBJECT);
}
