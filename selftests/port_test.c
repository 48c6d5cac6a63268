// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The own port goes down, and comes back: its network device is shut down with graphs
 * running. Who sends or probes hears of it; what there is stays, and after a reset of
 * the endpoints all is as before.
 *
 * Not amid a stream of messages: SoftRoCE of 6.1 says nothing any more of a message whose
 * ACK was lost if the next one could not be sent, so that only a deadline ends
 * who waits.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

#define PROBE_MS	50

static bool port_down(void)
{
	return !system("ip link set d0 down");
}

static bool port_up(void)
{
	return !system("ip link set d0 up");
}

FIXTURE(port) {
	struct raw_side a;
	struct raw_side b;
};

FIXTURE_VARIANT(port) {
	__u32 probe_ms;
};

FIXTURE_VARIANT_ADD(port, probing) {
	.probe_ms = PROBE_MS,
};

FIXTURE_VARIANT_ADD(port, silent) {
	.probe_ms = 0,
};

FIXTURE_SETUP(port)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);

	if (geteuid())
		SKIP(return, "takes root");
	attr.probe_ms = variant->probe_ms;
	/* Who ran into a time limit has not brought it back. */
	ASSERT_TRUE(port_up());
	ASSERT_EQ(0, raw_pair_open_with(&self->a, &attr, &self->b, &attr));
	ASSERT_EQ(0, raw_pair_barrier(&self->a, &self->b));
}

FIXTURE_TEARDOWN(port)
{
	raw_pair_close(&self->a, &self->b);
	/* Whatever has become of the test, those behind it need it. */
	if (!port_up() || !RAW_EVENTUALLY(!raw_try_new_pair()))
		TH_LOG("no port any more");
}

/* What runs next to end has failed for that, and so has its endpoint. */
static void expect_lost(struct __test_metadata *_metadata, struct raw_side *side)
{
	struct ib_collq_completion completion;
	struct ib_collq_endpoint_info info;

	ASSERT_EQ(0, raw_ring_next(side->fd, &side->ring, &completion));
	EXPECT_TRUE(completion.status == -ENETDOWN || completion.status == -EHOSTUNREACH)
		TH_LOG("status %d", completion.status);
	EXPECT_EQ(side->endpoint, completion.endpoint);
	EXPECT_EQ(42, completion.peer);
	EXPECT_EQ(completion.status,
		  raw_submit(side->fd, side->queue, side->graph, 0, 0, NULL));
	info = raw_endpoint_info(side->fd, side->endpoint);
	EXPECT_EQ(IB_COLLQ_ENDPOINT_ERROR, info.state);
	EXPECT_EQ(completion.status, info.error);
}

/* What needs no port is of use meanwhile. */
static void expect_usable(struct __test_metadata *_metadata, const struct raw_side *side)
{
	const int counter = raw_counter_create(side->fd, IB_COLLQ_SOURCE_USER, 0);
	const int queue = raw_queue_create(side->fd, side->ring.id, 1, NULL, 0);
	const struct ib_collq_task task = raw_wait_for(counter, 1);
	const int graph = raw_graph_create(side->fd, &task, 1);
	struct ib_collq_queue_wait wait;
	__u64 sequence;

	ASSERT_EQ(0, raw_submit(side->fd, queue, graph, 0, 0, &sequence));
	ASSERT_EQ(0, raw_counter_raise(side->fd, counter, 1));
	ASSERT_EQ(0, raw_wait(side->fd, queue, sequence, raw_in_ms(RAW_PATIENCE_MS), &wait));
	EXPECT_EQ(0, wait.status);
}

/* The port is there again. Graphs, counters and their bindings are the old ones. */
static void expect_reset(struct __test_metadata *_metadata, struct raw_side *a,
			 struct raw_side *b)
{
	struct ib_collq_completion completion;
	int i;

	ASSERT_TRUE(port_up());
	ASSERT_EQ(0, raw_pair_reset(a, a->endpoint, b, b->endpoint));
	ASSERT_EQ(0, raw_reset(a->fd, a->queue, NULL));
	ASSERT_EQ(0, raw_reset(b->fd, b->queue, NULL));
	while (raw_ring_take(&a->ring, &completion) || raw_ring_take(&b->ring, &completion))
		;
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, raw_pair_barrier(a, b));
}

/* A graph that waits for the peer's signal */
static int waiting_graph(const struct raw_side *side)
{
	const struct ib_collq_task task = raw_wait_for(side->counter, 1);

	return raw_graph_create(side->fd, &task, 1);
}

/* One that sends when the user says so, and then waits for the peer's signal */
static int sending_graph(const struct raw_side *side, int counter)
{
	const struct ib_collq_task tasks[] = {
		raw_wait_for(counter, 1),
		raw_signal(side->endpoint, RAW_SLOT, RAW_GENERATION),
		raw_wait_for(side->counter, 1),
	};

	return raw_graph_create(side->fd, tasks, 3);
}

/* Who only waits hears of it by probing; without, nothing has happened. */
TEST_F(port, waiting)
{
	struct ib_collq_completion completion;

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, waiting_graph(&self->a), 0, 0, NULL));
	ASSERT_TRUE(port_down());
	if (variant->probe_ms) {
		expect_lost(_metadata, &self->a);
		expect_usable(_metadata, &self->a);
		expect_reset(_metadata, &self->a, &self->b);
		return;
	}
	EXPECT_FALSE(RAW_WITHIN(10 * PROBE_MS, raw_ring_take(&self->a.ring, &completion)));
	EXPECT_EQ(IB_COLLQ_ENDPOINT_CONNECTED,
		  raw_endpoint_info(self->a.fd, self->a.endpoint).state);
	ASSERT_TRUE(port_up());
	/* For the one that waits already, and the one of the barrier */
	ASSERT_EQ(0, raw_submit(self->b.fd, self->b.queue, self->b.graph, 0, 0, NULL));
	ASSERT_EQ(0, raw_ring_next(self->a.fd, &self->a.ring, &completion));
	EXPECT_EQ(0, completion.status);
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->a.graph, 0, 0, NULL));
	ASSERT_EQ(0, raw_ring_next(self->b.fd, &self->b.ring, &completion));
	EXPECT_EQ(0, completion.status);
}

/* Both ends send when it's down. */
TEST_F(port, sending)
{
	struct raw_side *sides[] = { &self->a, &self->b };
	int counters[2], i;

	for (i = 0; i < 2; i++) {
		counters[i] = raw_counter_create(sides[i]->fd, IB_COLLQ_SOURCE_USER, 0);
		ASSERT_EQ(0, raw_submit(sides[i]->fd, sides[i]->queue,
					sending_graph(sides[i], counters[i]), 0, 0, NULL));
	}
	ASSERT_TRUE(port_down());
	/* Those that probe may have heard already. */
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, raw_counter_raise(sides[i]->fd, counters[i], 1));
	for (i = 0; i < 2; i++)
		expect_lost(_metadata, sides[i]);
	expect_usable(_metadata, &self->b);
	expect_reset(_metadata, &self->a, &self->b);
}

TEST_HARNESS_MAIN
