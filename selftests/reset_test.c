// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Reset: what has failed is made usable again, in its place.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_memory.h"

FIXTURE(reset) {
	struct raw_side a;
	struct raw_side b;
	__u32 wait_only;	/* a's graph that waits for a signal */
};

FIXTURE_SETUP(reset)
{
	struct ib_collq_task task;

	ASSERT_EQ(0, raw_pair_open(&self->a, &self->b));
	task = raw_wait_for(self->a.counter, 1);
	self->wait_only = raw_graph_create(self->a.fd, &task, 1);
	ASSERT_LT(0, (int)self->wait_only);
}

FIXTURE_TEARDOWN(reset)
{
	raw_pair_close(&self->a, &self->b);
}

static int endpoint_state(const struct raw_side *side)
{
	return raw_endpoint_info(side->fd, side->endpoint).state;
}

/* A run is cancelled, which fails both queues; then all goes on. */
TEST_F(reset, after_a_failure)
{
	struct ib_collq_completion completion;
	struct ib_collq_counter_read read;
	int i, err, status;

	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->wait_only, 0, 0, NULL));
		ASSERT_EQ(0, raw_submit(self->b.fd, self->b.queue, self->b.graph, 0, 0, NULL));
		ASSERT_EQ(0, raw_submit(self->b.fd, self->b.queue, self->b.graph, 0, 0, NULL));
		err = raw_cancel(self->a.fd, self->a.queue, 0);
		ASSERT_TRUE(!err || err == -ENOENT);
		if (raw_submit(self->a.fd, self->a.queue, self->wait_only, 0, 0, NULL) == 0)
			ASSERT_EQ(0, raw_cancel(self->a.fd, self->a.queue, 0));
		ASSERT_TRUE(RAW_EVENTUALLY(raw_queue_in_state(self->b.fd, self->b.queue,
							      IB_COLLQ_QUEUE_FAILED)));
		EXPECT_EQ(-ECANCELED,
			  raw_submit(self->b.fd, self->b.queue, self->b.graph, 0, 0, NULL));

		ASSERT_EQ(0, raw_pair_reset(&self->a, self->a.endpoint,
					    &self->b, self->b.endpoint));
		ASSERT_EQ(0, raw_reset(self->a.fd, self->a.queue, NULL));
		ASSERT_EQ(0, raw_reset(self->b.fd, self->b.queue, NULL));
		while (raw_ring_take(&self->a.ring, &completion))
			;
		while (raw_ring_take(&self->b.ring, &completion))
			;
		/* What was left over from before would let a WAIT through. */
		ASSERT_EQ(0, raw_counter_read(self->a.fd, self->a.counter, &read));
		EXPECT_EQ(read.raised, read.consumed);
		EXPECT_EQ(0, read.error);

		for (status = 0; status < 5; status++)
			ASSERT_EQ(0, raw_pair_barrier(&self->a, &self->b));
	}
}

/* The connection is a new one: what names the old one leads nowhere. */
TEST_F(reset, address_is_new)
{
	struct ib_collq_address *now, before;
	__u8 address[IB_COLLQ_ADDRESS_SIZE];

	memcpy(&before, self->a.attr.address, sizeof(before));
	ASSERT_EQ(0, raw_reset(self->a.fd, self->a.endpoint, address));
	now = (void *)address;
	EXPECT_NE(before.qpn, now->qpn);
	EXPECT_NE(0, memcmp(before.nonce, now->nonce, sizeof(now->nonce)));
	EXPECT_EQ(0, memcmp(before.gid, now->gid, sizeof(now->gid)));
	EXPECT_EQ(0, memcmp(raw_endpoint_info(self->a.fd, self->a.endpoint).create.address,
			    address, sizeof(address)));
	EXPECT_EQ(IB_COLLQ_ENDPOINT_NEW, endpoint_state(&self->a));
	EXPECT_EQ(0, raw_endpoint_info(self->a.fd, self->a.endpoint).error);
}

/* The peer that listens is told. */
TEST_F(reset, peer_is_told)
{
	ASSERT_EQ(0, raw_pair_barrier(&self->a, &self->b));
	ASSERT_EQ(0, raw_reset(self->a.fd, self->a.endpoint, NULL));
	EXPECT_TRUE(RAW_EVENTUALLY(endpoint_state(&self->b) == IB_COLLQ_ENDPOINT_PEER_CLOSED));
	/* A graph that begins before it's connected again. */
	EXPECT_EQ(-ENOTCONN, ({
		int status = 0;
		int err = raw_run(self->a.fd, self->a.queue, self->a.graph, &status);

		err ? err : status;
	}));
}

TEST_F(reset, while_in_use)
{
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->wait_only, 0, 0, NULL));
	EXPECT_EQ(-EBUSY, raw_reset(self->a.fd, self->a.endpoint, NULL));
	EXPECT_EQ(-EBUSY, raw_reset(self->a.fd, self->a.queue, NULL));
	EXPECT_EQ(IB_COLLQ_ENDPOINT_CONNECTED, endpoint_state(&self->a));
	EXPECT_EQ(IB_COLLQ_ENDPOINT_CONNECTED, endpoint_state(&self->b));
	ASSERT_EQ(0, raw_cancel(self->a.fd, self->a.queue, 0));
	EXPECT_EQ(0, raw_reset(self->a.fd, self->a.queue, NULL));
	EXPECT_EQ(0, raw_reset(self->a.fd, self->a.endpoint, NULL));
}

/* What is not a queue or an endpoint; and those where there's nothing to mend. */
TEST_F(reset, of_others)
{
	EXPECT_EQ(-EINVAL, raw_reset(self->a.fd, self->a.counter, NULL));
	EXPECT_EQ(-EINVAL, raw_reset(self->a.fd, self->a.graph, NULL));
	EXPECT_EQ(-EINVAL, raw_reset(self->a.fd, self->a.ring.id, NULL));
	EXPECT_EQ(-ENOENT, raw_reset(self->a.fd, 9999, NULL));
	EXPECT_EQ(0, raw_reset(self->a.fd, self->a.queue, NULL));
	EXPECT_EQ(0, raw_pair_barrier(&self->a, &self->b));
}

/* Message endpoints, after their signal endpoints. */
TEST_F(reset, message_endpoints)
{
	struct ib_collq_task tasks[2];
	int i, counter, recv, send, status;

	ASSERT_EQ(0, raw_pair_add_messages(&self->a, &self->b));
	counter = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_MESSAGES,
				     self->a.message_endpoint);
	tasks[0] = raw_message(IB_COLLQ_TASK_RECV, self->a.message_endpoint);
	tasks[1] = raw_wait_for(counter, 1);
	recv = raw_graph_create(self->a.fd, tasks, 2);
	tasks[0] = raw_message(IB_COLLQ_TASK_SEND, self->b.message_endpoint);
	send = raw_graph_create(self->b.fd, tasks, 1);
	ASSERT_LT(0, recv);
	ASSERT_LT(0, send);

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, recv, 0, 0, NULL));
		ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, send, &status));
		ASSERT_EQ(0, status);
		ASSERT_TRUE(RAW_EVENTUALLY(raw_queue_in_state(self->a.fd, self->a.queue,
							      IB_COLLQ_QUEUE_IDLE)));
		/* This ends a's signal endpoint, and the message endpoint with it. */
		ASSERT_EQ(0, raw_reset(self->b.fd, self->b.endpoint, NULL));
		ASSERT_TRUE(RAW_EVENTUALLY(raw_endpoint_info(self->a.fd,
							     self->a.message_endpoint).error));
		EXPECT_EQ(-ECONNRESET, raw_reset(self->a.fd, self->a.message_endpoint, NULL));
		ASSERT_EQ(0, raw_pair_reset(&self->a, self->a.endpoint,
					    &self->b, self->b.endpoint));
		ASSERT_EQ(0, raw_pair_reset(&self->a, self->a.message_endpoint,
					    &self->b, self->b.message_endpoint));
	}
	EXPECT_EQ(0, raw_pair_barrier(&self->a, &self->b));
}

struct resetter {
	const struct raw_side *side;
	int err;
};

static void *reset_messages(void *data)
{
	struct resetter *resetter = data;

	resetter->err = raw_reset(resetter->side->fd, resetter->side->message_endpoint, NULL);
	return NULL;
}

/*
 * A graph is submitted while its endpoint is being reset: either it's in the way of that, or
 * it fails, at once or for want of a connection. It doesn't wait for a receive that has gone.
 */
TEST_F_TIMEOUT(reset, beside_a_submission, 300)
{
	struct resetter resetter = { .side = &self->a };
	const int fd = self->a.fd;
	struct ib_collq_task tasks[2];
	int i, recv, err, status;
	pthread_t thread;
	__u64 sequence;

	ASSERT_EQ(0, raw_pair_add_messages(&self->a, &self->b));
	tasks[0] = raw_message(IB_COLLQ_TASK_RECV, self->a.message_endpoint);
	tasks[1] = raw_wait_for(raw_counter_create(fd, IB_COLLQ_SOURCE_MESSAGES,
						   self->a.message_endpoint), 1);
	recv = raw_graph_create(fd, tasks, 2);
	for (i = 0; i < 60; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, reset_messages, &resetter));
		usleep(i * 50);
		err = raw_submit(fd, self->a.queue, recv, 0, 0, &sequence);
		ASSERT_EQ(0, pthread_join(thread, NULL));
		ASSERT_TRUE(!err || err == -EBUSY);
		ASSERT_TRUE(!resetter.err || resetter.err == -EBUSY);
		if (resetter.err)
			ASSERT_EQ(0, raw_cancel(fd, self->a.queue, 0));
		if (!err)
			ASSERT_EQ(0, raw_result(fd, self->a.queue, sequence, &status));
		ASSERT_EQ(0, raw_reset(fd, self->a.queue, NULL));
		ASSERT_EQ(0, raw_pair_reset(&self->a, self->a.message_endpoint,
					    &self->b, self->b.message_endpoint));
	}
}

/* Again and again, with traffic in between: nothing is used up. */
TEST_F_TIMEOUT(reset, many_times, 300)
{
	int i;

	for (i = 0; i < 200; i++) {
		ASSERT_EQ(0, raw_pair_reset(&self->a, self->a.endpoint,
					    &self->b, self->b.endpoint));
		ASSERT_EQ(0, raw_pair_barrier(&self->a, &self->b));
	}
}

/* More than is copied before others have their turn, and how many queues have such turns */
#define MUCH		(8UL << 20)
#define NR_QUEUES	24

static int much_to_copy(int fd)
{
	static const struct ib_collq_sge sges[] = {
		{ .length = MUCH }, { .offset = MUCH, .length = MUCH },
	};
	const struct ib_collq_task task = raw_copy(0, 1, 1, 1);
	const struct raw_graph graph = {
		.tasks = &task, .nr_tasks = 1, .sges = sges, .nr_sges = 2, .nr_buffers = 1,
	};

	return raw_data_graph_create(fd, &graph, NULL);
}

/*
 * A queue fails while it waits for its turn to go on, is reset and has something to do
 * again before that turn has come. All queues get to their end, each once.
 */
TEST_F_TIMEOUT(reset, while_its_turn_is_to_come, 300)
{
	const int fd = self->a.fd;
	struct ib_collq_buffer_bind binding = {};
	int queues[NR_QUEUES], graph, status, i;
	__u64 sequences[NR_QUEUES];
	void *memory = raw_map(2 * MUCH);

	binding.region = raw_region_create(fd, memory, 2 * MUCH, IB_COLLQ_ACCESS_WRITE);
	ASSERT_LT(0, (int)binding.region);
	graph = much_to_copy(fd);
	ASSERT_LT(0, graph);
	for (i = 0; i < NR_QUEUES; i++) {
		queues[i] = raw_queue_create(fd, self->a.ring.id, 2, NULL, 0);
		ASSERT_LT(0, queues[i]);
		ASSERT_EQ(0, raw_submit_bound(fd, queues[i], graph, &binding, 1, &sequences[i]));
	}
	for (i = NR_QUEUES - 1; i > 0; i -= 2) {
		if (raw_cancel(fd, queues[i], 0) || raw_reset(fd, queues[i], NULL))
			continue;
		ASSERT_EQ(0, raw_submit_bound(fd, queues[i], graph, &binding, 1, &sequences[i]));
	}
	for (i = 0; i < NR_QUEUES; i++) {
		ASSERT_EQ(0, raw_result(fd, queues[i], sequences[i], &status));
		EXPECT_TRUE(!status || status == -ECANCELED);
	}
	munmap(memory, 2 * MUCH);
}

TEST_HARNESS_MAIN
