// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Probing: who only waits finds out that the peer is gone, and a peer that is
 * there doesn't notice.
 *
 * The peer that is gone is one that never connected: its queue pair drops what
 * comes, as one that isn't there does, and no CLOSE or ABORT tells of it.
 */
#include <errno.h>

#include "kselftest_harness.h"

#include "collq_util.h"

#define PROBE_MS	50
/* 4.096 us x 2^14, the 6 retries of raw_endpoint_attr() and the first time */
#define RETRY_MS	(7 * 68)

FIXTURE(probe) {
	struct raw_side a;
	struct raw_side b;
};

FIXTURE_VARIANT(probe) {
	__u32 kind;
};

FIXTURE_VARIANT_ADD(probe, signal) {
	.kind = IB_COLLQ_ENDPOINT_SIGNAL,
};

FIXTURE_VARIANT_ADD(probe, message) {
	.kind = IB_COLLQ_ENDPOINT_MESSAGE,
};

FIXTURE_SETUP(probe)
{
	ASSERT_EQ(0, raw_pair_open(&self->a, &self->b));
}

FIXTURE_TEARDOWN(probe)
{
	raw_pair_close(&self->a, &self->b);
}

static int open_endpoint(const struct raw_side *side, __u32 kind, __u32 probe_ms,
			 struct ib_collq_endpoint_create *attr)
{
	*attr = raw_endpoint_attr(kind);
	attr->timeout = 14;
	attr->probe_ms = probe_ms;
	if (kind == IB_COLLQ_ENDPOINT_MESSAGE)
		attr->signal_endpoint = side->endpoint;
	return raw_endpoint_create(side->fd, attr);
}

/* A graph that waits for one message of the endpoint. */
static int waiting_graph(const struct raw_side *side, __u32 endpoint, __u32 kind)
{
	struct ib_collq_task tasks[2] = { raw_message(IB_COLLQ_TASK_RECV, endpoint) };
	int counter, ret;

	if (kind == IB_COLLQ_ENDPOINT_MESSAGE) {
		counter = raw_counter_create(side->fd, IB_COLLQ_SOURCE_MESSAGES, endpoint);
		tasks[1] = raw_wait_for(counter, 1);
		return raw_graph_create(side->fd, tasks, 2);
	}
	counter = raw_counter_create(side->fd, IB_COLLQ_SOURCE_SIGNAL, 0);
	ret = raw_slot_bind(side->fd, endpoint, RAW_SLOT, RAW_GENERATION, counter);
	if (ret)
		return ret;
	tasks[0] = raw_wait_for(counter, 1);
	return raw_graph_create(side->fd, tasks, 1);
}

/* A peer that doesn't answer is found out, in detection time, whatever queue waits. */
TEST_F(probe, peer_is_gone)
{
	struct ib_collq_endpoint_create own, peer;
	struct ib_collq_completion completion;
	int endpoint, graph, queue;
	__u64 start;

	queue = raw_queue_behind_gap(&self->a);
	ASSERT_LT(0, queue);
	ASSERT_LT(0, open_endpoint(&self->b, variant->kind, 0, &peer));
	endpoint = open_endpoint(&self->a, variant->kind, PROBE_MS, &own);
	ASSERT_LT(0, endpoint);
	ASSERT_EQ(0, raw_endpoint_connect(self->a.fd, endpoint, peer.address));
	graph = waiting_graph(&self->a, endpoint, variant->kind);
	ASSERT_LT(0, graph);

	start = raw_now();
	ASSERT_EQ(0, raw_submit(self->a.fd, queue, graph, 0, 0, NULL));
	ASSERT_EQ(0, raw_ring_next(self->a.fd, &self->a.ring, &completion));
	EXPECT_EQ(-EHOSTUNREACH, completion.status);
	EXPECT_EQ(endpoint, completion.endpoint);
	EXPECT_LE(RETRY_MS * 1000000ULL / 2, raw_now() - start);
	EXPECT_EQ(IB_COLLQ_ENDPOINT_ERROR, raw_endpoint_info(self->a.fd, endpoint).state);
	/* The other connection, to a peer that is there, is as it was. */
	EXPECT_EQ(0, raw_endpoint_info(self->a.fd, self->a.endpoint).error);
}

/* Without an interval only a deadline ends the waiting. */
TEST_F(probe, not_asked_for)
{
	struct ib_collq_endpoint_create own, peer;
	struct ib_collq_completion completion;
	int endpoint, graph;

	ASSERT_LT(0, open_endpoint(&self->b, variant->kind, 0, &peer));
	endpoint = open_endpoint(&self->a, variant->kind, 0, &own);
	ASSERT_LT(0, endpoint);
	ASSERT_EQ(0, raw_endpoint_connect(self->a.fd, endpoint, peer.address));
	graph = waiting_graph(&self->a, endpoint, variant->kind);
	ASSERT_LT(0, graph);

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, graph, 0,
				raw_in_ms(3 * (PROBE_MS + RETRY_MS)), NULL));
	ASSERT_EQ(0, raw_ring_next(self->a.fd, &self->a.ring, &completion));
	EXPECT_EQ(-ETIMEDOUT, completion.status);
	EXPECT_EQ(0, raw_endpoint_info(self->a.fd, endpoint).sends);
}

/* One that is there answers, needs no receive for it, and goes on as before. */
TEST_F(probe, peer_is_there)
{
	struct ib_collq_endpoint_create own, peer;
	int endpoint, far, graph, send, status;
	struct ib_collq_completion completion;
	struct ib_collq_task task;
	bool signal = variant->kind == IB_COLLQ_ENDPOINT_SIGNAL;
	__u64 probes;

	far = open_endpoint(&self->b, variant->kind, 0, &peer);
	endpoint = open_endpoint(&self->a, variant->kind, PROBE_MS, &own);
	ASSERT_LT(0, far);
	ASSERT_LT(0, endpoint);
	ASSERT_EQ(0, raw_endpoint_connect(self->a.fd, endpoint, peer.address));
	ASSERT_EQ(0, raw_endpoint_connect(self->b.fd, far, own.address));
	graph = waiting_graph(&self->a, endpoint, variant->kind);
	ASSERT_LT(0, graph);
	task = signal ? raw_signal(far, RAW_SLOT, RAW_GENERATION) :
			raw_message(IB_COLLQ_TASK_SEND, far);
	send = raw_graph_create(self->b.fd, &task, 1);
	ASSERT_LT(0, send);

	/* Not while nobody waits. */
	EXPECT_EQ(0, raw_endpoint_info(self->a.fd, endpoint).sends);
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, graph, 0, 0, NULL));
	ASSERT_TRUE(RAW_EVENTUALLY(raw_endpoint_info(self->a.fd, endpoint).sends_done >= 5));
	EXPECT_FALSE(raw_ring_take(&self->a.ring, &completion));
	EXPECT_EQ(0, raw_endpoint_info(self->b.fd, far).messages);
	EXPECT_LE(5, raw_endpoint_info(self->a.fd, endpoint).probes);

	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, send, &status));
	ASSERT_EQ(0, raw_ring_next(self->a.fd, &self->a.ring, &completion));
	EXPECT_EQ(0, completion.status);
	EXPECT_EQ(1, raw_endpoint_info(self->b.fd, far).sends);
	EXPECT_EQ(0, raw_endpoint_info(self->b.fd, far).probes);

	/* And no more when nobody waits. A tick may be under way. */
	probes = raw_endpoint_info(self->a.fd, endpoint).sends;
	EXPECT_EQ(0, raw_run(self->b.fd, self->b.queue, send, &status));
	EXPECT_GE(probes + 1, raw_endpoint_info(self->a.fd, endpoint).sends);
	EXPECT_EQ(0, raw_endpoint_info(self->a.fd, endpoint).error);
}

/* A send queue that is full of what nobody asked to hear of has room for one. */
TEST_F(probe, send_queue_is_full)
{
	struct ib_collq_endpoint_create own, peer;
	struct ib_collq_task tasks[2];
	int endpoint, far, graph, status, i;
	struct ib_collq_completion completion;

	if (variant->kind != IB_COLLQ_ENDPOINT_SIGNAL)
		return;
	far = open_endpoint(&self->b, variant->kind, 0, &peer);
	own = raw_endpoint_attr(variant->kind);
	own.probe_ms = PROBE_MS;
	own.send_capacity = 3;
	endpoint = raw_endpoint_create(self->a.fd, &own);
	ASSERT_LT(0, far);
	ASSERT_LT(0, endpoint);
	ASSERT_EQ(0, raw_endpoint_connect(self->a.fd, endpoint, peer.address));
	ASSERT_EQ(0, raw_endpoint_connect(self->b.fd, far, own.address));
	tasks[0] = raw_signal(endpoint, RAW_SLOT, RAW_GENERATION);
	graph = raw_graph_create(self->a.fd, tasks, 1);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, graph, &status));
		ASSERT_EQ(0, status);
		ASSERT_TRUE(raw_ring_take(&self->a.ring, &completion));
	}
	graph = waiting_graph(&self->a, endpoint, variant->kind);
	ASSERT_LT(0, graph);
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, graph, 0, 0, NULL));
	ASSERT_TRUE(RAW_EVENTUALLY(raw_endpoint_info(self->a.fd, endpoint).sends_done >= 25));
	EXPECT_EQ(0, raw_endpoint_info(self->a.fd, endpoint).error);
	EXPECT_EQ(0, raw_cancel(self->a.fd, self->a.queue, 0));
}

TEST_HARNESS_MAIN
