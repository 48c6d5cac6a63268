// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fuzzer on the wire: a peer with queue pairs of user-space verbs, whose address
 * was forged, that says anything to endpoints of the contexts under test: signals
 * and ABORTs for all slots in use, CLOSE, immediate data that makes no sense, data
 * where none is expected, reads, writes and atomics with keys that it was never
 * given; in floods, and gone without a word in the middle of them.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "forger.h"
#include "fuzz.h"

#define FLOOD	400

static __u32 fuzz_immediate(struct fuzz_thread *t)
{
	__u32 slot = fuzz_below(t, FUZZ_SLOTS), generation = fuzz_below(t, FUZZ_GENERATIONS);

	switch (fuzz_below(t, 40)) {
	case 0:
		return FORGE_CLOSE;
	case 1:
		return IB_COLLQ_IMM_CONTROL << IB_COLLQ_IMM_TYPE_SHIFT | fuzz_below(t, 1 << 30);
	case 2:
		return 3U << IB_COLLQ_IMM_TYPE_SHIFT | fuzz_below(t, 1 << 30);
	case 3 ... 6:
		return fuzz_below(t, ~0U);
	case 7 ... 15:
		return forge_abort(slot, generation, fuzz_below(t, 256));
	default:
		return forge_signal(slot, generation);
	}
}

static struct ibv_send_wr fuzz_message(struct fuzz_thread *t, __u32 key)
{
	static const enum ibv_wr_opcode others[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_send_wr message = {
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htonl(fuzz_immediate(t)),
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (fuzz_one_in(t, 30))
		message.opcode = others[fuzz_below(t, sizeof(others) / sizeof(others[0]))];
	if (message.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    message.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		message.wr.atomic.remote_addr = fuzz_below(t, 1 << 20) & ~7U;
		message.wr.atomic.rkey = fuzz_one_in(t, 2) ? key : fuzz_below(t, ~0U);
	} else if (message.opcode != IBV_WR_SEND_WITH_IMM) {
		message.wr.rdma.remote_addr = fuzz_below(t, 1 << 20);
		message.wr.rdma.rkey = fuzz_one_in(t, 2) ? key : fuzz_below(t, ~0U);
	}
	return message;
}

/* False when the connection is broken. */
static bool fuzz_drain(struct forger *forger, unsigned int *under_way)
{
	struct ibv_wc wc[FORGER_DEPTH];
	int i, nr = ibv_poll_cq(forger->cq, FORGER_DEPTH, wc);
	bool fine = nr >= 0;

	for (i = 0; i < nr; i++) {
		if (wc[i].status)
			fine = false;
		else if (!(wc[i].opcode & IBV_WC_RECV) && *under_way)
			(*under_way)--;
	}
	return fine;
}

static void fuzz_flood(struct fuzz_thread *t, struct forger *forger)
{
	unsigned int left = 1 + fuzz_below(t, FLOOD), under_way = 0;
	__u64 until = raw_in_ms(100);
	struct ibv_send_wr message, *bad;
	struct ibv_recv_wr receive = {}, *bad_receive;
	struct ibv_sge sge;
	bool atomic;

	while ((left || under_way) && raw_now() < until) {
		if (!fuzz_drain(forger, &under_way))
			return;
		if (!left || under_way == FORGER_DEPTH - 1)
			continue;
		message = fuzz_message(t, forger->mr->rkey);
		atomic = message.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
			 message.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
		sge = (struct ibv_sge) {
			.addr = (unsigned long)forger->buffer,
			.length = atomic ? 8 : fuzz_below(t, sizeof(forger->buffer)),
			.lkey = forger->mr->lkey,
		};
		/* Seldom with data where there should be none. */
		if (atomic || fuzz_one_in(t, 60)) {
			message.sg_list = &sge;
			message.num_sge = 1;
		}
		if (ibv_post_send(forger->qp, &message, &bad))
			return;
		/* For what the other side says; where there's no room, so much the better. */
		if (fuzz_one_in(t, 4))
			ibv_post_recv(forger->qp, &receive, &bad_receive);
		under_way++;
		left--;
	}
}

/*
 * An endpoint in one of the contexts gets a stranger for a peer. Others bind slots
 * of it, list it in queues, send there, destroy it.
 */
void fuzz_stranger_round(struct fuzz_thread *t)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct fuzz_context *ctx = fuzz_any_context(t);
	struct fuzz_endpoint *place = &ctx->endpoint[fuzz_below(t, FUZZ_PLACES)];
	struct ib_collq_endpoint_connect connect = {};
	struct forger forger;
	int i;

	memset(&forger, 0, sizeof(forger));
	t->honest = true;
	t->placed = 0;
	attr.timeout = 10;
	attr.retry_cnt = 2;
	attr.recv_capacity = 1 + fuzz_below(t, 20);
	attr.send_capacity = 1 + fuzz_below(t, 4);
	if (fuzz_batch(t, ctx->fd, IB_COLLQ_ENDPOINT_CREATE, &attr, sizeof(attr), 1) == 1 &&
	    !forger_open(&forger, attr.address, connect.address)) {
		place->id = attr.id;
		place->kind = attr.kind;
		memcpy(place->address, attr.address, sizeof(place->address));
		connect.endpoint = attr.id;
		fuzz_batch(t, ctx->fd, IB_COLLQ_ENDPOINT_CONNECT, &connect, sizeof(connect), 1);
		for (i = 1 + fuzz_below(t, 4); i; i--)
			fuzz_flood(t, &forger);
	}
	forger_close(&forger);
	t->honest = false;
}
