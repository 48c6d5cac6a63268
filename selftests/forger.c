// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A peer that isn't ours: see forger.h.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "collq_util.h"
#include "forger.h"
#include "verbs_device.h"

#define PSN	0x123456

__u32 forge_signal(__u32 slot, __u32 generation)
{
	return IB_COLLQ_IMM_SIGNAL << IB_COLLQ_IMM_TYPE_SHIFT |
	       slot << IB_COLLQ_IMM_SLOT_SHIFT | generation;
}

__u32 forge_abort(__u32 slot, __u32 generation, __u32 code)
{
	return IB_COLLQ_IMM_ABORT << IB_COLLQ_IMM_TYPE_SHIFT | slot << IB_COLLQ_IMM_SLOT_SHIFT |
	       generation << IB_COLLQ_IMM_ABORT_GEN_SHIFT | code;
}

/* From a good address that of our queue pair. */
static void forge_address(__u8 *address, const __u8 *model, __u32 qpn)
{
	struct ib_collq_address forged;

	memcpy(&forged, model, sizeof(forged));
	forged.qpn = htole32(qpn);
	forged.psn = htole32(PSN);
	memset(forged.nonce, 0x5a, sizeof(forged.nonce));
	memcpy(address, &forged, sizeof(forged));
}

static int connect_qp(struct ibv_qp *qp, const struct ib_collq_address *peer)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
	};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = le32toh(peer->qpn),
		.rq_psn = le32toh(peer->psn),
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = { .sgid_index = 1, .hop_limit = 64 },
		},
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 6,
		.rnr_retry = 7,
		.sq_psn = PSN,
		.max_rd_atomic = 1,
	};

	memcpy(rtr.ah_attr.grh.dgid.raw, peer->gid, sizeof(peer->gid));
	return ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			     IBV_QP_ACCESS_FLAGS) ?:
	       ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			     IBV_QP_MIN_RNR_TIMER) ?:
	       ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static int make_qp(struct forger *forger)
{
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = FORGER_DEPTH, .max_recv_wr = FORGER_DEPTH,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	forger->context = verbs_device_open();
	if (!forger->context)
		return -ENODEV;
	forger->pd = ibv_alloc_pd(forger->context);
	forger->cq = ibv_create_cq(forger->context, 4 * FORGER_DEPTH, NULL, NULL, 0);
	if (!forger->pd || !forger->cq)
		return -ENOMEM;
	forger->mr = ibv_reg_mr(forger->pd, forger->buffer, sizeof(forger->buffer), 0);
	attr.send_cq = forger->cq;
	attr.recv_cq = forger->cq;
	forger->qp = ibv_create_qp(forger->pd, &attr);
	return forger->mr && forger->qp ? 0 : -ENOMEM;
}

int forger_open(struct forger *forger, const __u8 *endpoint, __u8 *address)
{
	struct ibv_recv_wr receive = {}, *bad;
	struct ib_collq_address peer;
	int i, err;

	memset(forger, 0, sizeof(*forger));
	err = make_qp(forger);
	if (err)
		return err;
	memcpy(&peer, endpoint, sizeof(peer));
	err = connect_qp(forger->qp, &peer);
	for (i = 0; i < FORGER_DEPTH && !err; i++)
		err = ibv_post_recv(forger->qp, &receive, &bad);
	forge_address(address, endpoint, forger->qp->qp_num);
	return -err;
}

void forger_close(struct forger *forger)
{
	if (forger->qp)
		ibv_destroy_qp(forger->qp);
	if (forger->mr)
		ibv_dereg_mr(forger->mr);
	if (forger->cq)
		ibv_destroy_cq(forger->cq);
	if (forger->pd)
		ibv_dealloc_pd(forger->pd);
	if (forger->context)
		ibv_close_device(forger->context);
}

int forger_next(struct forger *forger, bool receive, struct ibv_wc *wc)
{
	bool found = RAW_EVENTUALLY(ibv_poll_cq(forger->cq, 1, wc) == 1 &&
				    (wc->status || !!(wc->opcode & IBV_WC_RECV) == receive));

	return found ? (int)wc->status : -ETIME;
}

int forger_send(struct forger *forger, struct ibv_send_wr *send)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int err = ibv_post_send(forger->qp, send, &bad);

	return err ? -err : forger_next(forger, false, &wc);
}

int forger_send_immediate(struct forger *forger, __u32 immediate)
{
	struct ibv_send_wr send = {
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htonl(immediate),
	};

	return forger_send(forger, &send);
}

static void *say_again(void *data)
{
	struct forger *forger = data;

	while (!forger->err && !__atomic_load_n(&forger->stop, __ATOMIC_RELAXED)) {
		forger->err = forger_send_immediate(forger, forger->immediate);
		forger->said++;
	}
	return NULL;
}

int forger_start(struct forger *forger, __u32 immediate)
{
	forger->immediate = immediate;
	return -pthread_create(&forger->thread, NULL, say_again, forger);
}

/* Returns why it has ended before, or 0. */
int forger_stop(struct forger *forger)
{
	__atomic_store_n(&forger->stop, true, __ATOMIC_RELAXED);
	pthread_join(forger->thread, NULL);
	return forger->err;
}
