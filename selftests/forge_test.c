// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A peer that isn't ours: a queue pair of user-space verbs with a forged address
 * says to an endpoint what no endpoint would. What makes no sense is dropped and
 * counted, or breaks that one connection; nothing else is harmed.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

#define PSN	0x123456

FIXTURE(forge) {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char buffer[64];
	struct raw_side a;
	__u32 user_counter;
	__u32 user_graph;	/* waits for one of it */
};

static struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	int i;

	for (i = 0; list && list[i]; i++) {
		if (!strcmp(ibv_get_device_name(list[i]), RAW_DEVICE))
			context = ibv_open_device(list[i]);
	}
	if (list)
		ibv_free_device_list(list);
	return context;
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

FIXTURE_SETUP(forge)
{
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = 16, .max_recv_wr = 16,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ib_collq_address of_a;
	__u8 address[IB_COLLQ_ADDRESS_SIZE];
	struct ibv_recv_wr receive = {}, *bad;
	struct ib_collq_task task;
	int i;

	ASSERT_EQ(0, raw_side_open(&self->a));
	self->context = open_device();
	ASSERT_NE(NULL, self->context);
	self->pd = ibv_alloc_pd(self->context);
	self->cq = ibv_create_cq(self->context, 64, NULL, NULL, 0);
	self->mr = ibv_reg_mr(self->pd, self->buffer, sizeof(self->buffer), 0);
	ASSERT_NE(NULL, self->mr);
	attr.send_cq = self->cq;
	attr.recv_cq = self->cq;
	self->qp = ibv_create_qp(self->pd, &attr);
	ASSERT_NE(NULL, self->qp);
	memcpy(&of_a, self->a.attr.address, sizeof(of_a));
	ASSERT_EQ(0, connect_qp(self->qp, &of_a));
	for (i = 0; i < 16; i++)
		ASSERT_EQ(0, ibv_post_recv(self->qp, &receive, &bad));
	forge_address(address, self->a.attr.address, self->qp->qp_num);
	ASSERT_EQ(0, raw_side_connect(&self->a, address));

	self->user_counter = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_USER, 0);
	task = raw_wait_for(self->user_counter, 1);
	self->user_graph = raw_graph_create(self->a.fd, &task, 1);
	ASSERT_LT(0, (int)self->user_graph);
}

FIXTURE_TEARDOWN(forge)
{
	raw_side_close(&self->a);
	ibv_destroy_qp(self->qp);
	ibv_dereg_mr(self->mr);
	ibv_destroy_cq(self->cq);
	ibv_dealloc_pd(self->pd);
	ibv_close_device(self->context);
}

/* The status of the next completion of a kind; a negative one if none comes. */
static int next_completion(struct ibv_cq *cq, bool receive, struct ibv_wc *wc)
{
	bool found = RAW_EVENTUALLY(ibv_poll_cq(cq, 1, wc) == 1 &&
				    (wc->status || !!(wc->opcode & IBV_WC_RECV) == receive));

	return found ? (int)wc->status : -ETIME;
}

/* Sends and returns the completion's status. */
static int send_to(struct ibv_qp *qp, struct ibv_cq *cq, struct ibv_send_wr *send)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int err = ibv_post_send(qp, send, &bad);

	return err ? -err : next_completion(cq, false, &wc);
}

static int send_immediate(struct ibv_qp *qp, struct ibv_cq *cq, __u32 immediate)
{
	struct ibv_send_wr send = {
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htonl(immediate),
	};

	return send_to(qp, cq, &send);
}

#define SEND(immediate)	send_immediate(self->qp, self->cq, immediate)

static bool has_received(const struct raw_side *side, __u64 messages, __u64 dropped)
{
	struct ib_collq_endpoint_info info = raw_endpoint_info(side->fd, side->endpoint);

	return info.messages == messages && info.dropped == dropped;
}

#define RECEIVED(messages, dropped)	\
	RAW_EVENTUALLY(has_received(&self->a, messages, dropped))

static __u32 signal_of(__u32 slot, __u32 generation)
{
	return IB_COLLQ_IMM_SIGNAL << IB_COLLQ_IMM_TYPE_SHIFT |
	       slot << IB_COLLQ_IMM_SLOT_SHIFT | generation;
}

static __u32 abort_of(__u32 slot, __u32 generation, __u32 code)
{
	return IB_COLLQ_IMM_ABORT << IB_COLLQ_IMM_TYPE_SHIFT | slot << IB_COLLQ_IMM_SLOT_SHIFT |
	       generation << IB_COLLQ_IMM_ABORT_GEN_SHIFT | code;
}

#define CLOSE	((__u32)IB_COLLQ_IMM_CONTROL << IB_COLLQ_IMM_TYPE_SHIFT | IB_COLLQ_CONTROL_CLOSE)

/* The wire protocol as it is written down, both ways. */
TEST_F(forge, signals)
{
	struct ibv_wc wc;
	int status;

	ASSERT_EQ(0, SEND(signal_of(RAW_SLOT, RAW_GENERATION)));
	ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, self->a.graph, &status));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, next_completion(self->cq, true, &wc));
	EXPECT_EQ(0, wc.byte_len);
	EXPECT_TRUE(wc.wc_flags & IBV_WC_WITH_IMM);
	EXPECT_EQ(signal_of(RAW_SLOT, RAW_GENERATION), ntohl(wc.imm_data));
}

TEST_F(forge, abort_as_it_is_sent)
{
	struct ibv_wc wc;

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->user_graph, 0, 1, NULL));
	ASSERT_EQ(0, next_completion(self->cq, true, &wc));
	EXPECT_EQ(abort_of(RAW_ABORT_SLOT, RAW_ABORT_GENERATION, IB_COLLQ_ERROR_TIMEDOUT),
		  ntohl(wc.imm_data));
}

TEST_F(forge, close_as_it_is_sent)
{
	struct ibv_wc wc;

	ASSERT_EQ(0, SEND(signal_of(0, 0)));
	raw_side_close(&self->a);
	ASSERT_EQ(0, next_completion(self->cq, true, &wc));
	EXPECT_EQ(CLOSE, ntohl(wc.imm_data));
}

TEST_F(forge, close_as_it_is_heard)
{
	struct ib_collq_completion completion;

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->a.graph, 0, 0, NULL));
	ASSERT_EQ(0, SEND(CLOSE));
	ASSERT_EQ(0, raw_ring_next(self->a.fd, &self->a.ring, &completion));
	EXPECT_EQ(-ECONNRESET, completion.status);
	EXPECT_TRUE(RECEIVED(1, 0));
}

/* Dropped, counted, and the connection is as good as before. */
TEST_F(forge, nonsense)
{
	static const __u32 control = (__u32)IB_COLLQ_IMM_CONTROL << IB_COLLQ_IMM_TYPE_SHIFT;
	const __u32 nonsense[] = {
		3U << IB_COLLQ_IMM_TYPE_SHIFT, ~0U, control, control | 2, control | 0x3fffffff,
		control | 0x20000001, signal_of(RAW_SLOT, 0), signal_of(0, RAW_GENERATION),
		abort_of(0, RAW_ABORT_GENERATION, 1), abort_of(RAW_ABORT_SLOT, 0, 1),
		abort_of(16383, 255, 255),
	};
	struct ibv_send_wr without = { .opcode = IBV_WR_SEND };
	unsigned int i;
	int status;

	for (i = 0; i < ARRAY_SIZE(nonsense); i++) {
		ASSERT_EQ(0, SEND(nonsense[i]));
		ASSERT_TRUE(RECEIVED(i + 1, i + 1));
	}
	ASSERT_EQ(0, send_to(self->qp, self->cq, &without));
	ASSERT_TRUE(RECEIVED(i + 1, i + 1));

	EXPECT_EQ(0, raw_counter_raised(self->a.fd, self->a.counter));
	ASSERT_EQ(0, SEND(signal_of(RAW_SLOT, RAW_GENERATION)));
	ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, self->a.graph, &status));
	EXPECT_EQ(0, status);
}

/* More than was ever reserved: the adapter tells the sender to wait. */
TEST_F(forge, flood)
{
	int i;

	for (i = 0; i < 20 * RAW_CAPACITY; i++)
		ASSERT_EQ(0, SEND(signal_of(RAW_SLOT, RAW_GENERATION)));
	EXPECT_TRUE(RECEIVED(20 * RAW_CAPACITY, 0));
	EXPECT_EQ(20 * RAW_CAPACITY, raw_counter_raised(self->a.fd, self->a.counter));
}

/* Every code of an ABORT, and those that are none. */
TEST_F(forge, abort_codes)
{
	static const struct {
		__u32 code;
		int status;
	} codes[] = {
		{ IB_COLLQ_ERROR_UNKNOWN, -EREMOTEIO },
		{ IB_COLLQ_ERROR_CONNRESET, -ECONNRESET },
		{ IB_COLLQ_ERROR_HOSTUNREACH, -EHOSTUNREACH },
		{ IB_COLLQ_ERROR_REMOTEIO, -EREMOTEIO },
		{ IB_COLLQ_ERROR_NETDOWN, -ENETDOWN },
		{ IB_COLLQ_ERROR_TIMEDOUT, -ETIMEDOUT },
		{ IB_COLLQ_ERROR_CANCELED, -ECANCELED },
		{ IB_COLLQ_ERROR_NODEV, -ENODEV },
		{ IB_COLLQ_ERROR_NODEV + 1, -EREMOTEIO },
		{ 255, -EREMOTEIO },
	};
	struct ib_collq_queue_endpoint link = { .endpoint = self->a.endpoint };
	struct ib_collq_completion completion;
	unsigned int i;
	int queue;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		link.abort_slot = 16000 + i;
		link.abort_generation = 200 + i;
		queue = raw_queue_create(self->a.fd, self->a.ring.id, 1, &link, 1);
		ASSERT_LT(0, queue);
		ASSERT_EQ(0, raw_submit(self->a.fd, queue, self->user_graph, 0, 0, NULL));
		ASSERT_EQ(0, SEND(abort_of(16000 + i, 200 + i, codes[i].code)));
		ASSERT_EQ(0, raw_ring_next(self->a.fd, &self->a.ring, &completion));
		EXPECT_EQ(queue, completion.queue);
		EXPECT_EQ(codes[i].status, completion.status)
			TH_LOG("code %u", codes[i].code);
		EXPECT_EQ(self->a.endpoint, completion.endpoint);
	}
}

/* Says ABORT to one slot, over and over. */
struct flood {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	__u32 immediate;
	bool stop;
	int err;
};

static void *flood_run(void *data)
{
	struct flood *flood = data;

	while (!flood->err && !__atomic_load_n(&flood->stop, __ATOMIC_RELAXED))
		flood->err = send_immediate(flood->qp, flood->cq, flood->immediate);
	return NULL;
}

/* Nobody sees a queue that isn't made in the end: the second abort slot is taken. */
TEST_F(forge, abort_of_a_queue_that_is_not_made)
{
	const struct ib_collq_queue_endpoint links[] = {
		{ .endpoint = self->a.endpoint, .abort_slot = 100, .abort_generation = 1 },
		{ .endpoint = self->a.endpoint, .abort_slot = RAW_ABORT_SLOT },
	};
	struct flood flood = {
		.qp = self->qp,
		.cq = self->cq,
		.immediate = abort_of(100, 1, IB_COLLQ_ERROR_CANCELED),
	};
	pthread_t thread;
	int i, ret, queue;

	ASSERT_EQ(0, pthread_create(&thread, NULL, flood_run, &flood));
	for (i = 0; i < 20000; i++) {
		ret = raw_queue_create(self->a.fd, self->a.ring.id, 1, links, 2);
		if (ret != -EBUSY)
			break;
	}
	__atomic_store_n(&flood.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	EXPECT_EQ(-EBUSY, ret);
	EXPECT_EQ(0, flood.err);
	/* Not one was for anybody. */
	EXPECT_TRUE(RAW_EVENTUALLY(raw_endpoint_info(self->a.fd, self->a.endpoint).messages ==
				   raw_endpoint_info(self->a.fd, self->a.endpoint).dropped));
	EXPECT_LT(0, raw_endpoint_info(self->a.fd, self->a.endpoint).dropped);

	/* The slot is free, and good for one that is made. */
	queue = raw_queue_create(self->a.fd, self->a.ring.id, 1, links, 1);
	ASSERT_LT(0, queue);
	EXPECT_TRUE(raw_queue_in_state(self->a.fd, queue, IB_COLLQ_QUEUE_IDLE));
	ASSERT_EQ(0, SEND(flood.immediate));
	EXPECT_TRUE(RAW_EVENTUALLY(raw_queue_in_state(self->a.fd, queue,
						      IB_COLLQ_QUEUE_FAILED)));
}

/* What is in flight when the peer says CLOSE is still delivered. */
TEST_F(forge, close_before_the_acknowledgment)
{
	int sends = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_SENDS, self->a.endpoint);
	struct ib_collq_task tasks[18];
	struct ibv_recv_wr receive = {}, *bad;
	int graph, more, status, i;
	__u64 sequence;

	/* One more than there are receives: it is retried until there is another. */
	for (i = 0; i < 17; i++)
		tasks[i] = raw_signal(self->a.endpoint, RAW_SLOT, RAW_GENERATION);
	tasks[17] = raw_wait_for(sends, 17);
	graph = raw_graph_create(self->a.fd, tasks, 18);
	more = raw_graph_create(self->a.fd, (struct ib_collq_task[]) { raw_wait_for(sends, 1) },
				1);
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, graph, 0, 0, &sequence));
	ASSERT_TRUE(RAW_EVENTUALLY(raw_counter_raised(self->a.fd, sends) == 16));
	ASSERT_EQ(0, SEND(CLOSE));
	ASSERT_TRUE(RAW_EVENTUALLY(raw_endpoint_info(self->a.fd, self->a.endpoint).state ==
				   IB_COLLQ_ENDPOINT_PEER_CLOSED));
	for (i = 0; i < 50; i++)
		raw_nap();
	EXPECT_TRUE(raw_queue_in_state(self->a.fd, self->a.queue, IB_COLLQ_QUEUE_WAITING));
	ASSERT_EQ(0, ibv_post_recv(self->qp, &receive, &bad));
	ASSERT_EQ(0, raw_result(self->a.fd, self->a.queue, sequence, &status));
	EXPECT_EQ(0, status);
	/* Now nothing is in flight, and nothing more will come. */
	ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, more, &status));
	EXPECT_EQ(-ECONNRESET, status);
}

/* An operation of zero length asks for an answer and nothing else. */
TEST_F(forge, probe)
{
	struct ibv_send_wr probe = { .opcode = IBV_WR_RDMA_WRITE };
	int i;

	for (i = 0; i < 2 * RAW_CAPACITY; i++)
		ASSERT_EQ(0, send_to(self->qp, self->cq, &probe));
	EXPECT_TRUE(has_received(&self->a, 0, 0));
}

/* Whether an endpoint is of no use any more, and everything else is. */
static bool only_this_is_broken(struct raw_side *side)
{
	struct raw_side b, c;
	bool fine;

	if (!RAW_EVENTUALLY(raw_endpoint_info(side->fd, side->endpoint).state ==
			    IB_COLLQ_ENDPOINT_ERROR))
		return false;
	fine = !raw_pair_open(&b, &c) && !raw_pair_barrier(&b, &c);
	raw_pair_close(&b, &c);
	return fine;
}

/* Data where nothing but signals is expected. */
TEST_F(forge, message_with_data)
{
	struct ibv_sge sge = {
		.addr = (unsigned long)self->buffer,
		.length = 8,
		.lkey = self->mr->lkey,
	};
	struct ibv_send_wr send = {
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htonl(signal_of(RAW_SLOT, RAW_GENERATION)),
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ib_collq_completion completion;

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->a.graph, 0, 0, NULL));
	EXPECT_LT(0, send_to(self->qp, self->cq, &send));
	EXPECT_TRUE(only_this_is_broken(&self->a));
	ASSERT_EQ(0, raw_ring_next(self->a.fd, &self->a.ring, &completion));
	EXPECT_GT(0, completion.status);
	EXPECT_EQ(self->a.endpoint, completion.endpoint);
	EXPECT_EQ(0, raw_counter_raised(self->a.fd, self->a.counter));
}

/* No key is given out, so there's nothing to write to, and reads aren't allowed. */
TEST_F(forge, write_without_a_key)
{
	struct ibv_sge sge = {
		.addr = (unsigned long)self->buffer,
		.length = 8,
		.lkey = self->mr->lkey,
	};
	struct ibv_send_wr send = {
		.opcode = IBV_WR_RDMA_WRITE,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = 0x1000, .rkey = self->mr->rkey },
	};

	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, send_to(self->qp, self->cq, &send));
	EXPECT_TRUE(only_this_is_broken(&self->a));
}

TEST_HARNESS_MAIN
