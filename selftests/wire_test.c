// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What endpoints tell each other: signals that nobody waits for, and ABORT:
 * sent by a queue that fails, honoured by those it works with, passed on once.
 *
 * Three contexts, each connected to the two others. A context's endpoint i
 * leads to context i (there is none to itself). All use the same slots.
 *
 *	    0
 *	   / \
 *	  1---2
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

#define NR	3

/* What a graph has that is to be late, in ms: enough to get to where it goes no further */
#define SOON_MS	200

FIXTURE(wire) {
	int fd[NR];
	struct raw_ring ring[NR];
	__u32 endpoint[NR][NR];
	__u32 counter[NR];	/* the user raises it */
	__u32 graph[NR];	/* waits for the counter, as its second task */
};

/* Endpoints to all others, created, then connected. */
static int connect_all(const int *fd, __u32 endpoint[NR][NR])
{
	struct ib_collq_endpoint_create attr[NR][NR];
	int i, k, ret;

	for (i = 0; i < NR; i++) {
		for (k = 0; k < NR; k++) {
			if (i == k)
				continue;
			attr[i][k] = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
			attr[i][k].peer = 100 + k;
			ret = raw_endpoint_create(fd[i], &attr[i][k]);
			if (ret < 0)
				return ret;
			endpoint[i][k] = ret;
		}
	}
	for (i = 0; i < NR; i++) {
		for (k = 0; k < NR; k++) {
			if (i == k)
				continue;
			ret = raw_endpoint_connect(fd[i], endpoint[i][k], attr[k][i].address);
			if (ret)
				return ret;
		}
	}
	return 0;
}

FIXTURE_SETUP(wire)
{
	struct ib_collq_task tasks[2];
	int i;

	for (i = 0; i < NR; i++) {
		self->fd[i] = raw_open();
		ASSERT_LE(0, self->fd[i]);
		ASSERT_EQ(0, raw_ring_create(self->fd[i], 64, &self->ring[i]));
		self->counter[i] = raw_counter_create(self->fd[i], IB_COLLQ_SOURCE_USER, 0);
		tasks[0] = raw_wait_for(self->counter[i], 1);
		tasks[1] = tasks[0];
		tasks[1].label = 40 + i;
		self->graph[i] = raw_graph_create(self->fd[i], tasks, 2);
		ASSERT_LT(0, (int)self->graph[i]);
		/* The first task has what it needs. */
		ASSERT_EQ(0, raw_counter_raise(self->fd[i], self->counter[i], 1));
	}
	ASSERT_EQ(0, connect_all(self->fd, self->endpoint));
}

FIXTURE_TEARDOWN(wire)
{
	int i;

	for (i = 0; i < NR; i++)
		close(self->fd[i]);
}

/* Sends one signal, and returns when it has arrived. */
static bool send_signal(int fd, __u32 ring, __u32 endpoint, __u16 slot, __u16 generation)
{
	const struct ib_collq_task task = raw_signal(endpoint, slot, generation);
	int graph = raw_graph_create(fd, &task, 1), status;
	int queue = raw_queue_create(fd, ring, 1, NULL, 0);
	__u64 sends = raw_endpoint_info(fd, endpoint).sends;

	return !raw_run(fd, queue, graph, &status) && !status &&
	       raw_endpoint_info(fd, endpoint).sends == sends + 1;
}

/* What arrived, and how much of it was dropped. */
static bool has_received(int fd, __u32 endpoint, __u64 messages, __u64 dropped)
{
	struct ib_collq_endpoint_info info = raw_endpoint_info(fd, endpoint);

	return info.messages == messages && info.dropped == dropped;
}

#define SEND(slot, generation)	\
	send_signal(self->fd[1], self->ring[1].id, self->endpoint[1][0], slot, generation)
#define RECEIVED(messages, dropped)	\
	RAW_EVENTUALLY(has_received(self->fd[0], self->endpoint[0][1], messages, dropped))

TEST_F(wire, signal_of_no_slot_or_generation)
{
	int counter = raw_counter_create(self->fd[0], IB_COLLQ_SOURCE_SIGNAL, 0);

	ASSERT_EQ(0, raw_slot_bind(self->fd[0], self->endpoint[0][1], 5, 7, counter));
	ASSERT_TRUE(SEND(5, 7));
	ASSERT_TRUE(RECEIVED(1, 0));
	ASSERT_TRUE(SEND(6, 7));
	ASSERT_TRUE(RECEIVED(2, 1));
	ASSERT_TRUE(SEND(5, 6));
	ASSERT_TRUE(RECEIVED(3, 2));
	ASSERT_TRUE(SEND(5, 8));
	ASSERT_TRUE(RECEIVED(4, 3));
	ASSERT_TRUE(SEND(16383, 65535));
	ASSERT_TRUE(RECEIVED(5, 4));
	ASSERT_TRUE(SEND(0, 0));
	ASSERT_TRUE(RECEIVED(6, 5));
	EXPECT_EQ(1, raw_counter_raised(self->fd[0], counter));
	/* The connection is as good as before. */
	ASSERT_TRUE(SEND(5, 7));
	ASSERT_TRUE(RECEIVED(7, 5));
	EXPECT_EQ(2, raw_counter_raised(self->fd[0], counter));
}

/* What was sent for an earlier binding doesn't count for the next one. */
TEST_F(wire, stale_signal)
{
	int before = raw_counter_create(self->fd[0], IB_COLLQ_SOURCE_SIGNAL, 0);
	int after = raw_counter_create(self->fd[0], IB_COLLQ_SOURCE_SIGNAL, 0);

	ASSERT_EQ(0, raw_slot_bind(self->fd[0], self->endpoint[0][1], 5, 65535, before));
	ASSERT_TRUE(SEND(5, 65535));
	ASSERT_TRUE(RECEIVED(1, 0));
	ASSERT_EQ(0, raw_slot_unbind(self->fd[0], self->endpoint[0][1], 5, 65535));
	ASSERT_TRUE(SEND(5, 65535));
	ASSERT_TRUE(RECEIVED(2, 1));
	ASSERT_EQ(0, raw_slot_bind(self->fd[0], self->endpoint[0][1], 5, 0, after));
	ASSERT_TRUE(SEND(5, 65535));
	ASSERT_TRUE(RECEIVED(3, 2));
	ASSERT_TRUE(SEND(5, 0));
	ASSERT_TRUE(RECEIVED(4, 2));
	EXPECT_EQ(1, raw_counter_raised(self->fd[0], before));
	EXPECT_EQ(1, raw_counter_raised(self->fd[0], after));
}

/* The slots of an endpoint are its own. */
TEST_F(wire, slots_of_another_endpoint)
{
	int from_1 = raw_counter_create(self->fd[0], IB_COLLQ_SOURCE_SIGNAL, 0);
	int from_2 = raw_counter_create(self->fd[0], IB_COLLQ_SOURCE_SIGNAL, 0);

	ASSERT_EQ(0, raw_slot_bind(self->fd[0], self->endpoint[0][1], 5, 7, from_1));
	ASSERT_EQ(0, raw_slot_bind(self->fd[0], self->endpoint[0][2], 5, 7, from_2));
	ASSERT_TRUE(SEND(5, 7));
	ASSERT_TRUE(RECEIVED(1, 0));
	EXPECT_EQ(1, raw_counter_raised(self->fd[0], from_1));
	EXPECT_EQ(0, raw_counter_raised(self->fd[0], from_2));
}

/* A queue of context i that works with the contexts whose bits are set. */
static int queue_of(const int *fd, const struct raw_ring *rings, __u32 endpoint[NR][NR], int i,
		    unsigned int with)
{
	struct ib_collq_queue_endpoint links[NR];
	int k, nr = 0;

	for (k = 0; k < NR; k++) {
		if (!(with & 1U << k))
			continue;
		links[nr++] = (struct ib_collq_queue_endpoint) {
			.endpoint = endpoint[i][k],
			.abort_slot = 16383,
			.abort_generation = 255,
			.peer_abort_slot = 16383,
			.peer_abort_generation = 255,
		};
	}
	return raw_queue_create(fd[i], rings[i].id, 4, links, nr);
}

#define QUEUE(i, with)	queue_of(self->fd, self->ring, self->endpoint, i, with)

/* From 0 to 1, and from there to 2, which 0 knows nothing of. */
TEST_F(wire, abort_is_forwarded)
{
	int queue[NR] = { QUEUE(0, 1 << 1), QUEUE(1, 1 << 0 | 1 << 2), QUEUE(2, 1 << 1) };
	struct ib_collq_completion completion;
	int i;

	for (i = 2; i >= 0; i--) {
		ASSERT_EQ(0, raw_submit(self->fd[i], queue[i], self->graph[i], i,
					i ? 0 : raw_in_ms(10), NULL));
	}
	/* Each is in its second task. */
	for (i = 0; i < NR; i++) {
		ASSERT_EQ(0, raw_ring_next(self->fd[i], &self->ring[i], &completion));
		EXPECT_EQ(-ETIMEDOUT, completion.status);
		EXPECT_EQ(i, completion.user_data);
		EXPECT_EQ(queue[i], completion.queue);
		EXPECT_EQ(1, completion.task);
		EXPECT_EQ(40 + i, completion.label);
		EXPECT_EQ(i ? self->endpoint[i][i - 1] : IB_COLLQ_NO_OBJECT, completion.endpoint);
		EXPECT_EQ(i ? 100 + i - 1 : 0, completion.peer);
		EXPECT_EQ(-ETIMEDOUT,
			  raw_submit(self->fd[i], queue[i], self->graph[i], 0, 0, NULL));
	}
	/* Not back to where it came from, and not to whom the queue doesn't list. */
	EXPECT_EQ(1, raw_endpoint_info(self->fd[0], self->endpoint[0][1]).sends);
	EXPECT_EQ(0, raw_endpoint_info(self->fd[0], self->endpoint[0][2]).sends);
	EXPECT_EQ(0, raw_endpoint_info(self->fd[1], self->endpoint[1][0]).sends);
	EXPECT_EQ(1, raw_endpoint_info(self->fd[1], self->endpoint[1][2]).sends);
	EXPECT_EQ(0, raw_endpoint_info(self->fd[2], self->endpoint[2][1]).sends);
	/* Connections are as good as before. */
	EXPECT_EQ(IB_COLLQ_ENDPOINT_CONNECTED,
		  raw_endpoint_info(self->fd[1], self->endpoint[1][2]).state);
}

static __u64 sent_by(const int *fd, __u32 endpoint[NR][NR], int i)
{
	__u64 sent = 0;
	int k;

	for (k = 0; k < NR; k++)
		sent += i == k ? 0 : raw_endpoint_info(fd[i], endpoint[i][k]).sends;
	return sent;
}

static __u64 received_by(const int *fd, __u32 endpoint[NR][NR], int i)
{
	__u64 received = 0;
	int k;

	for (k = 0; k < NR; k++)
		received += i == k ? 0 : raw_endpoint_info(fd[i], endpoint[i][k]).messages;
	return received;
}

/* It doesn't go round in a circle: from 0 to both, and from each to the other. */
TEST_F(wire, abort_is_forwarded_once)
{
	int queue[NR] = { QUEUE(0, 6), QUEUE(1, 5), QUEUE(2, 3) };
	struct ib_collq_completion completion;
	int i;

	for (i = 0; i < NR; i++)
		ASSERT_EQ(0, raw_submit(self->fd[i], queue[i], self->graph[i], 0, 0, NULL));
	ASSERT_EQ(0, raw_cancel(self->fd[0], queue[0], 0));
	for (i = 0; i < NR; i++) {
		ASSERT_EQ(0, raw_ring_next(self->fd[i], &self->ring[i], &completion));
		EXPECT_EQ(-ECANCELED, completion.status);
	}
	EXPECT_TRUE(RAW_EVENTUALLY(sent_by(self->fd, self->endpoint, 1) == 1 &&
				   sent_by(self->fd, self->endpoint, 2) == 1));
	EXPECT_TRUE(RAW_EVENTUALLY(received_by(self->fd, self->endpoint, 0) +
				   received_by(self->fd, self->endpoint, 1) +
				   received_by(self->fd, self->endpoint, 2) == 4));
	/* All have been acted upon by now, and nobody sent more. */
	EXPECT_EQ(2, sent_by(self->fd, self->endpoint, 0));
	EXPECT_EQ(1, sent_by(self->fd, self->endpoint, 1));
	EXPECT_EQ(1, sent_by(self->fd, self->endpoint, 2));
	for (i = 0; i < NR; i++)
		EXPECT_EQ(0, raw_endpoint_info(self->fd[i],
					       self->endpoint[i][(i + 1) % NR]).dropped);
}

/* Only the queue that it's for. */
TEST_F(wire, abort_of_one_of_two_queues)
{
	struct ib_collq_queue_endpoint link = {
		.endpoint = self->endpoint[1][0],
		.abort_slot = 1,
		.peer_abort_slot = 1,
	};
	int queue[2] = { QUEUE(0, 1 << 1), QUEUE(1, 1 << 0) };
	struct ib_collq_completion completion;
	int other, status;

	other = raw_queue_create(self->fd[1], self->ring[1].id, 1, &link, 1);
	ASSERT_LT(0, other);
	ASSERT_EQ(0, raw_submit(self->fd[0], queue[0], self->graph[0], 0, 1, NULL));
	/* Nothing was running there: what comes next learns of it. */
	EXPECT_TRUE(RAW_EVENTUALLY(raw_queue_in_state(self->fd[1], queue[1],
						      IB_COLLQ_QUEUE_FAILED)));
	EXPECT_EQ(-ETIMEDOUT, raw_submit(self->fd[1], queue[1], self->graph[1], 0, 0, NULL));
	EXPECT_FALSE(raw_ring_take(&self->ring[1], &completion));

	ASSERT_EQ(0, raw_counter_raise(self->fd[1], self->counter[1], 1));
	EXPECT_EQ(0, raw_run(self->fd[1], other, self->graph[1], &status));
	EXPECT_EQ(0, status);
}

/* An ABORT for a queue that is no more. */
TEST_F(wire, abort_of_another_generation)
{
	struct ib_collq_queue_endpoint link = {
		.endpoint = self->endpoint[0][1],
		.abort_slot = 16383,
		.abort_generation = 255,
		.peer_abort_slot = 16383,
		.peer_abort_generation = 254,
	};
	int queue = QUEUE(1, 1 << 0), other, status;

	other = raw_queue_create(self->fd[0], self->ring[0].id, 1, &link, 1);
	ASSERT_EQ(0, raw_submit(self->fd[0], other, self->graph[0], 0, 1, NULL));
	EXPECT_TRUE(RAW_EVENTUALLY(has_received(self->fd[1], self->endpoint[1][0], 1, 1)));
	ASSERT_EQ(0, raw_counter_raise(self->fd[1], self->counter[1], 1));
	EXPECT_EQ(0, raw_run(self->fd[1], queue, self->graph[1], &status));
	EXPECT_EQ(0, status);
}

/* A queue that is destroyed with nothing to do tells nobody: they may be busy. */
TEST_F(wire, idle_queue_goes_in_silence)
{
	int queue[2] = { QUEUE(0, 1 << 1), QUEUE(1, 1 << 0) };
	int status;

	ASSERT_EQ(0, raw_destroy(self->fd[0], queue[0]));
	EXPECT_EQ(0, raw_endpoint_info(self->fd[0], self->endpoint[0][1]).sends);

	ASSERT_EQ(0, raw_counter_raise(self->fd[1], self->counter[1], 1));
	EXPECT_EQ(0, raw_run(self->fd[1], queue[1], self->graph[1], &status));
	EXPECT_EQ(0, status);
}

/* One that is destroyed while it works does. */
TEST_F(wire, running_queue_does_not)
{
	int queue[2] = { QUEUE(0, 1 << 1), QUEUE(1, 1 << 0) };
	struct ib_collq_completion completion;

	ASSERT_EQ(0, raw_submit(self->fd[1], queue[1], self->graph[1], 0, 0, NULL));
	ASSERT_EQ(0, raw_submit(self->fd[0], queue[0], self->graph[0], 0, 0, NULL));
	ASSERT_EQ(0, raw_destroy(self->fd[0], queue[0]));
	ASSERT_EQ(0, raw_ring_next(self->fd[1], &self->ring[1], &completion));
	EXPECT_EQ(-ECANCELED, completion.status);
	EXPECT_EQ(self->endpoint[1][0], completion.endpoint);
}

/* All slots of the send queue are taken when it fails: ABORT comes behind. */
FIXTURE(narrow) {
	struct raw_side a;
	struct raw_side b;
};

FIXTURE_SETUP(narrow)
{
	/* It takes its time to give up, so that nobody must hurry to connect the other end. */
	raw_ack_timeout = 17;
	ASSERT_EQ(0, raw_side_open(&self->a));
	ASSERT_EQ(0, raw_side_open(&self->b));
	ASSERT_EQ(0, raw_side_connect(&self->a, self->b.attr.address));
}

FIXTURE_TEARDOWN(narrow)
{
	raw_pair_close(&self->a, &self->b);
}

/* So many times the same */
static int repeated(int fd, struct ib_collq_task task, __u32 nr)
{
	struct ib_collq_task tasks[2 * RAW_CAPACITY];
	__u32 i;

	for (i = 0; i < nr; i++)
		tasks[i] = task;
	return raw_graph_create(fd, tasks, nr);
}

TEST_F(narrow, abort_waits_for_a_slot)
{
	struct ib_collq_completion completion;
	__u64 sequence;
	int graph;

	graph = repeated(self->a.fd, raw_signal(self->a.endpoint, RAW_SLOT, RAW_GENERATION),
			 2 * RAW_CAPACITY);
	/* The peer isn't connected yet, so nothing comes back. */
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, graph, 0, 0, &sequence));
	ASSERT_TRUE(raw_queue_in_state(self->a.fd, self->a.queue, IB_COLLQ_QUEUE_BLOCKED));
	EXPECT_EQ(RAW_CAPACITY, raw_endpoint_info(self->a.fd, self->a.endpoint).sends);
	ASSERT_EQ(0, raw_cancel(self->a.fd, self->a.queue, sequence));
	ASSERT_TRUE(raw_ring_take(&self->a.ring, &completion));
	EXPECT_EQ(-ECANCELED, completion.status);
	EXPECT_EQ(RAW_CAPACITY, completion.task);

	ASSERT_EQ(0, raw_side_connect(&self->b, self->a.attr.address));
	ASSERT_TRUE(RAW_EVENTUALLY(raw_queue_in_state(self->b.fd, self->b.queue,
						      IB_COLLQ_QUEUE_FAILED)));
	EXPECT_EQ(RAW_CAPACITY, raw_counter_raised(self->b.fd, self->b.counter));
	EXPECT_EQ(0, raw_endpoint_info(self->b.fd, self->b.endpoint).dropped);
	EXPECT_EQ(RAW_CAPACITY + 1, raw_endpoint_info(self->b.fd, self->b.endpoint).messages);
}

/* A graph that is late: it has sent all that can be under way, and waits for some to come back. */
static void expect_late(struct __test_metadata *_metadata, struct raw_side *side, int graph)
{
	struct ib_collq_completion completion;
	const __u64 deadline = raw_in_ms(SOON_MS);

	ASSERT_EQ(0, raw_submit(side->fd, side->queue, graph, 0, deadline, NULL));
	ASSERT_EQ(0, raw_ring_next(side->fd, &side->ring, &completion));
	EXPECT_LE(deadline, raw_now());
	EXPECT_EQ(-ETIMEDOUT, completion.status);
	EXPECT_EQ(RAW_CAPACITY, completion.task);
	EXPECT_EQ(IB_COLLQ_NO_OBJECT, completion.endpoint);
	EXPECT_EQ(-ETIMEDOUT, raw_submit(side->fd, side->queue, graph, 0, 0, NULL));
}

/* The peer has heard of it. Both queues are of use again. */
static void expect_reset(struct __test_metadata *_metadata, struct raw_side *a,
			 struct raw_side *b)
{
	ASSERT_TRUE(RAW_EVENTUALLY(raw_queue_in_state(b->fd, b->queue, IB_COLLQ_QUEUE_FAILED)));
	EXPECT_EQ(-ETIMEDOUT, raw_submit(b->fd, b->queue, b->graph, 0, 0, NULL));
	EXPECT_EQ(0, raw_reset(a->fd, a->queue, NULL));
	EXPECT_EQ(0, raw_reset(b->fd, b->queue, NULL));
}

/* The same at a deadline. What was sent arrives, and endpoints go on as they are. */
TEST_F(narrow, deadline_without_a_slot)
{
	struct ib_collq_completion completion;
	struct ib_collq_task task = raw_wait_for(self->b.counter, RAW_CAPACITY);
	int status;

	expect_late(_metadata, &self->a,
		    repeated(self->a.fd, raw_signal(self->a.endpoint, RAW_SLOT, RAW_GENERATION),
			     2 * RAW_CAPACITY));
	ASSERT_EQ(0, raw_side_connect(&self->b, self->a.attr.address));
	expect_reset(_metadata, &self->a, &self->b);
	EXPECT_EQ(RAW_CAPACITY, raw_counter_raised(self->b.fd, self->b.counter));
	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, raw_graph_create(self->b.fd, &task, 1),
			     &status));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(raw_ring_take(&self->b.ring, &completion));
	EXPECT_EQ(0, raw_pair_barrier(&self->a, &self->b));
}

/* And with a peer that takes no messages. */
TEST_F(narrow, deadline_without_a_receive)
{
	struct ib_collq_completion completion;
	int status;

	ASSERT_EQ(0, raw_side_connect(&self->b, self->a.attr.address));
	ASSERT_EQ(0, raw_pair_add_messages(&self->a, &self->b));
	expect_late(_metadata, &self->a,
		    repeated(self->a.fd, raw_message(IB_COLLQ_TASK_SEND, self->a.message_endpoint),
			     2 * RAW_CAPACITY));
	expect_reset(_metadata, &self->a, &self->b);
	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue,
			     repeated(self->b.fd, raw_message(IB_COLLQ_TASK_RECV,
							      self->b.message_endpoint),
				      RAW_CAPACITY), &status));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(raw_ring_take(&self->b.ring, &completion));
	EXPECT_TRUE(RAW_EVENTUALLY(raw_endpoint_info(self->b.fd,
						     self->b.message_endpoint).messages ==
				   RAW_CAPACITY));
	EXPECT_EQ(0, raw_pair_barrier(&self->a, &self->b));
}

#define SHARERS		48
#define SENDS_EACH	40

/* Many queues share a slot or two of one endpoint; some are cancelled meanwhile. */
TEST_F(narrow, many_queues_wait_for_a_slot)
{
	struct ib_collq_endpoint_create near = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct ib_collq_endpoint_create far = near;
	struct ib_collq_completion completion;
	struct ib_collq_task tasks[SENDS_EACH];
	int endpoint, peer, graph, i, left = SHARERS, done = 0;
	__u32 queues[SHARERS];
	__u64 sequence;

	near.send_capacity = 2;
	endpoint = raw_endpoint_create(self->a.fd, &near);
	peer = raw_endpoint_create(self->b.fd, &far);
	ASSERT_LT(0, endpoint);
	ASSERT_LT(0, peer);
	ASSERT_EQ(0, raw_endpoint_connect(self->a.fd, endpoint, far.address));
	for (i = 0; i < SENDS_EACH; i++)
		tasks[i] = raw_signal(endpoint, RAW_SLOT, RAW_GENERATION);
	graph = raw_graph_create(self->a.fd, tasks, SENDS_EACH);
	ASSERT_LT(0, graph);
	for (i = 0; i < SHARERS; i++) {
		queues[i] = raw_queue_create(self->a.fd, self->a.ring.id, 1, NULL, 0);
		ASSERT_LT(0, (int)queues[i]);
	}
	for (i = 0; i < SHARERS; i++) {
		ASSERT_EQ(0, raw_submit(self->a.fd, queues[i], graph, i, 0, &sequence));
		if (i % 3 == 2)
			raw_cancel(self->a.fd, queues[i - 1], 0);
	}
	/* Until the peer is connected nothing comes back, and all of them wait. */
	for (i = 0; i < SHARERS; i += 3)
		EXPECT_TRUE(raw_queue_in_state(self->a.fd, queues[i], IB_COLLQ_QUEUE_BLOCKED));
	ASSERT_EQ(0, raw_endpoint_connect(self->b.fd, peer, near.address));
	while (left--) {
		ASSERT_EQ(0, raw_ring_next(self->a.fd, &self->a.ring, &completion));
		EXPECT_TRUE(!completion.status || completion.status == -ECANCELED);
		done += !completion.status;
	}
	EXPECT_EQ(SHARERS - SHARERS / 3, done);
	EXPECT_LE(done * SENDS_EACH, raw_endpoint_info(self->a.fd, endpoint).sends);
	EXPECT_EQ(0, raw_endpoint_info(self->a.fd, endpoint).error);
}

TEST_HARNESS_MAIN
