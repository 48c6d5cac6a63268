/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A peer that isn't ours: a queue pair of user-space verbs, connected to an
 * endpoint, whose address looks like an endpoint's. It can say what no endpoint
 * would.
 */
#ifndef FORGER_H
#define FORGER_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>

#include <rdma/ib_collq.h>

/* What it can send, or has posted to receive */
#define FORGER_DEPTH	16

/**
 * struct forger - the queue pair and what belongs to it
 * @context: the device
 * @pd: protection domain
 * @cq: completions of both sides
 * @qp: the queue pair; every send is signalled
 * @mr: @buffer, registered
 * @buffer: data to send
 * @thread: says the same over and over, if it was started
 * @stop: it is to end
 * @immediate: what it says
 * @said: how often it has
 * @err: why it has ended by itself, or 0
 */
struct forger {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char buffer[64];
	pthread_t thread;
	bool stop;
	__u32 immediate;
	__u64 said;
	int err;
};

/* Immediate data of signals, of ABORT and of CLOSE */
__u32 forge_signal(__u32 slot, __u32 generation);
__u32 forge_abort(__u32 slot, __u32 generation, __u32 code);

#define FORGE_CLOSE	((__u32)IB_COLLQ_IMM_CONTROL << IB_COLLQ_IMM_TYPE_SHIFT |	\
			 IB_COLLQ_CONTROL_CLOSE)

/* Connects to an endpoint; the address to connect it to is written to @address. */
int forger_open(struct forger *forger, const __u8 *endpoint, __u8 *address);
void forger_close(struct forger *forger);

/* Sends, and returns the completion's status, or a negative one if none comes. */
int forger_send(struct forger *forger, struct ibv_send_wr *send);
int forger_send_immediate(struct forger *forger, __u32 immediate);

/* The status of the next completion of a kind; a negative one if none comes. */
int forger_next(struct forger *forger, bool receive, struct ibv_wc *wc);

/* Says the same over and over, in a thread of its own, until it is stopped. */
int forger_start(struct forger *forger, __u32 immediate);
int forger_stop(struct forger *forger);

#endif /* FORGER_H */
