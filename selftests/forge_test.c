// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A peer that isn't ours: a queue pair of user-space verbs with a forged address
 * says to an endpoint what no endpoint would. What makes no sense is dropped and
 * counted, or breaks that one connection; nothing else is harmed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"
#include "forger.h"

FIXTURE(forge) {
	struct forger forger;
	struct raw_side a;
	__u32 user_counter;
	__u32 user_graph;	/* waits for one of it */
};

FIXTURE_SETUP(forge)
{
	__u8 address[IB_COLLQ_ADDRESS_SIZE];
	struct ib_collq_task task;

	ASSERT_EQ(0, raw_side_open(&self->a));
	ASSERT_EQ(0, forger_open(&self->forger, self->a.attr.address, address));
	ASSERT_EQ(0, raw_side_connect(&self->a, address));

	self->user_counter = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_USER, 0);
	task = raw_wait_for(self->user_counter, 1);
	self->user_graph = raw_graph_create(self->a.fd, &task, 1);
	ASSERT_LT(0, (int)self->user_graph);
}

FIXTURE_TEARDOWN(forge)
{
	raw_side_close(&self->a);
	forger_close(&self->forger);
}

#define SEND(immediate)	forger_send_immediate(&self->forger, immediate)

static bool has_received(const struct raw_side *side, __u64 messages, __u64 dropped)
{
	struct ib_collq_endpoint_info info = raw_endpoint_info(side->fd, side->endpoint);

	return info.messages == messages && info.dropped == dropped;
}

#define RECEIVED(messages, dropped)	\
	RAW_EVENTUALLY(has_received(&self->a, messages, dropped))

/* The wire protocol as it is written down, both ways. */
TEST_F(forge, signals)
{
	struct ibv_wc wc;
	int status;

	ASSERT_EQ(0, SEND(forge_signal(RAW_SLOT, RAW_GENERATION)));
	ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, self->a.graph, &status));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, forger_next(&self->forger, true, &wc));
	EXPECT_EQ(0, wc.byte_len);
	EXPECT_TRUE(wc.wc_flags & IBV_WC_WITH_IMM);
	EXPECT_EQ(forge_signal(RAW_SLOT, RAW_GENERATION), ntohl(wc.imm_data));
}

TEST_F(forge, abort_as_it_is_sent)
{
	struct ibv_wc wc;

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->user_graph, 0, 1, NULL));
	ASSERT_EQ(0, forger_next(&self->forger, true, &wc));
	EXPECT_EQ(forge_abort(RAW_ABORT_SLOT, RAW_ABORT_GENERATION, IB_COLLQ_ERROR_TIMEDOUT),
		  ntohl(wc.imm_data));
}

TEST_F(forge, close_as_it_is_sent)
{
	struct ibv_wc wc;

	ASSERT_EQ(0, SEND(forge_signal(0, 0)));
	raw_side_close(&self->a);
	ASSERT_EQ(0, forger_next(&self->forger, true, &wc));
	EXPECT_EQ(FORGE_CLOSE, ntohl(wc.imm_data));
}

TEST_F(forge, close_as_it_is_heard)
{
	struct ib_collq_completion completion;

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->a.graph, 0, 0, NULL));
	ASSERT_EQ(0, SEND(FORGE_CLOSE));
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
		control | 0x20000001, forge_signal(RAW_SLOT, 0), forge_signal(0, RAW_GENERATION),
		forge_abort(0, RAW_ABORT_GENERATION, 1), forge_abort(RAW_ABORT_SLOT, 0, 1),
		forge_abort(16383, 255, 255),
	};
	struct ibv_send_wr without = { .opcode = IBV_WR_SEND };
	unsigned int i;
	int status;

	for (i = 0; i < ARRAY_SIZE(nonsense); i++) {
		ASSERT_EQ(0, SEND(nonsense[i]));
		ASSERT_TRUE(RECEIVED(i + 1, i + 1));
	}
	ASSERT_EQ(0, forger_send(&self->forger, &without));
	ASSERT_TRUE(RECEIVED(i + 1, i + 1));

	EXPECT_EQ(0, raw_counter_raised(self->a.fd, self->a.counter));
	ASSERT_EQ(0, SEND(forge_signal(RAW_SLOT, RAW_GENERATION)));
	ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, self->a.graph, &status));
	EXPECT_EQ(0, status);
}

/* More than was ever reserved: the adapter tells the sender to wait. */
TEST_F(forge, flood)
{
	int i;

	for (i = 0; i < 20 * RAW_CAPACITY; i++)
		ASSERT_EQ(0, SEND(forge_signal(RAW_SLOT, RAW_GENERATION)));
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
		queue = raw_queue_create(self->a.fd, self->a.ring.id, 2, &link, 1);
		ASSERT_LT(0, queue);
		ASSERT_EQ(0, raw_submit(self->a.fd, queue, self->user_graph, 0, 0, NULL));
		ASSERT_EQ(0, raw_submit(self->a.fd, queue, self->user_graph, 0, 0, NULL));
		ASSERT_EQ(0, SEND(forge_abort(16000 + i, 200 + i, codes[i].code)));
		ASSERT_EQ(0, raw_ring_next(self->a.fd, &self->a.ring, &completion));
		EXPECT_EQ(queue, completion.queue);
		EXPECT_EQ(codes[i].status, completion.status)
			TH_LOG("code %u", codes[i].code);
		EXPECT_EQ(self->a.endpoint, completion.endpoint);
		/* What is behind it is cancelled, even if the sender has lost its device. */
		ASSERT_EQ(0, raw_ring_next(self->a.fd, &self->a.ring, &completion));
		EXPECT_EQ(2, completion.sequence);
		EXPECT_EQ(-ECANCELED, completion.status);
	}
}

/* Nobody sees a queue that isn't made in the end: the second abort slot is taken. */
TEST_F(forge, abort_of_a_queue_that_is_not_made)
{
	const struct ib_collq_queue_endpoint links[] = {
		{ .endpoint = self->a.endpoint, .abort_slot = 100, .abort_generation = 1 },
		{ .endpoint = self->a.endpoint, .abort_slot = RAW_ABORT_SLOT },
	};
	const __u32 abort = forge_abort(100, 1, IB_COLLQ_ERROR_CANCELED);
	__u64 until = raw_in_ms(2000);
	int ret, queue;

	ASSERT_EQ(0, forger_start(&self->forger, abort));
	do {
		ret = raw_queue_create(self->a.fd, self->a.ring.id, 1, links, 2);
	} while (ret == -EBUSY && raw_now() < until);
	EXPECT_EQ(0, forger_stop(&self->forger));
	EXPECT_EQ(-EBUSY, ret);
	/* Not one was for anybody. */
	EXPECT_TRUE(RAW_EVENTUALLY(raw_endpoint_info(self->a.fd, self->a.endpoint).messages ==
				   raw_endpoint_info(self->a.fd, self->a.endpoint).dropped));
	EXPECT_LT(0, raw_endpoint_info(self->a.fd, self->a.endpoint).dropped);

	/* The slot is free, and good for one that is made. */
	queue = raw_queue_create(self->a.fd, self->a.ring.id, 1, links, 1);
	ASSERT_LT(0, queue);
	EXPECT_TRUE(raw_queue_in_state(self->a.fd, queue, IB_COLLQ_QUEUE_IDLE));
	ASSERT_EQ(0, SEND(abort));
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
	ASSERT_EQ(0, SEND(FORGE_CLOSE));
	ASSERT_TRUE(RAW_EVENTUALLY(raw_endpoint_info(self->a.fd, self->a.endpoint).state ==
				   IB_COLLQ_ENDPOINT_PEER_CLOSED));
	for (i = 0; i < 50; i++)
		raw_nap();
	EXPECT_TRUE(raw_queue_in_state(self->a.fd, self->a.queue, IB_COLLQ_QUEUE_WAITING));
	ASSERT_EQ(0, ibv_post_recv(self->forger.qp, &receive, &bad));
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
		ASSERT_EQ(0, forger_send(&self->forger, &probe));
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
		.addr = (unsigned long)self->forger.buffer,
		.length = 8,
		.lkey = self->forger.mr->lkey,
	};
	struct ibv_send_wr send = {
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htonl(forge_signal(RAW_SLOT, RAW_GENERATION)),
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ib_collq_completion completion;

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->a.graph, 0, 0, NULL));
	EXPECT_LT(0, forger_send(&self->forger, &send));
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
		.addr = (unsigned long)self->forger.buffer,
		.length = 8,
		.lkey = self->forger.mr->lkey,
	};
	struct ibv_send_wr send = {
		.opcode = IBV_WR_RDMA_WRITE,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = 0x1000, .rkey = self->forger.mr->rkey },
	};

	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, forger_send(&self->forger, &send));
	EXPECT_TRUE(only_this_is_broken(&self->a));
}

TEST_HARNESS_MAIN
