// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults that were found by reading, each with the case that showed it.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

#define ROUNDS	50

FIXTURE(regress) {
	struct raw_side a;
	struct raw_side b;
};

FIXTURE_SETUP(regress)
{
	ASSERT_EQ(0, raw_pair_open(&self->a, &self->b));
}

FIXTURE_TEARDOWN(regress)
{
	raw_pair_close(&self->a, &self->b);
}

/* Endpoints of this send capacity, connected; the second one's slot is bound. */
static int connect_with_capacity(struct raw_side *a, struct raw_side *b, __u32 capacity,
				 __u32 *from, __u32 *counter)
{
	struct ib_collq_endpoint_create attr[2] = {
		raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL),
		raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL),
	};
	int ret;

	attr[0].send_capacity = capacity;
	ret = raw_endpoint_create(a->fd, &attr[0]);
	if (ret < 0)
		return ret;
	ret = raw_endpoint_create(b->fd, &attr[1]);
	if (ret < 0)
		return ret;
	ret = raw_counter_create(b->fd, IB_COLLQ_SOURCE_SIGNAL, 0);
	if (ret < 0)
		return ret;
	*from = attr[0].id;
	*counter = ret;
	ret = raw_slot_bind(b->fd, attr[1].id, RAW_SLOT, RAW_GENERATION, *counter);
	if (ret)
		return ret;
	ret = raw_endpoint_connect(a->fd, attr[0].id, attr[1].address);
	if (ret)
		return ret;
	return raw_endpoint_connect(b->fd, attr[1].id, attr[0].address);
}

/* The only send in flight must complete visibly, or the next one waits for ever. */
TEST_F(regress, send_capacity_of_one)
{
	struct ib_collq_task tasks[ROUNDS];
	__u32 endpoint, counter;
	int graph, i, status;

	ASSERT_EQ(0, connect_with_capacity(&self->a, &self->b, 1, &endpoint, &counter));
	for (i = 0; i < ROUNDS; i++)
		tasks[i] = raw_signal(endpoint, RAW_SLOT, RAW_GENERATION);
	graph = raw_graph_create(self->a.fd, tasks, ROUNDS);
	ASSERT_LT(0, graph);
	ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, graph, &status));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(RAW_EVENTUALLY(raw_counter_raised(self->b.fd, counter) == ROUNDS));
}

/*
 * A queue whose second endpoint is refused was published on the first one, where
 * an ABORT could find it. Afterwards the first abort slot must be free.
 */
TEST_F(regress, refused_queue_leaves_no_link)
{
	const struct ib_collq_queue_endpoint links[] = {
		{ .endpoint = self->a.endpoint, .abort_slot = RAW_ABORT_SLOT + 1 },
		{ .endpoint = self->a.endpoint, .abort_slot = RAW_ABORT_SLOT },
	};
	int i, queue;

	for (i = 0; i < ROUNDS; i++)
		ASSERT_EQ(-EBUSY, raw_queue_create(self->a.fd, self->a.ring.id, 1, links, 2));
	queue = raw_queue_create(self->a.fd, self->a.ring.id, 1, links, 1);
	EXPECT_LT(0, queue);
	EXPECT_EQ(0, raw_pair_barrier(&self->a, &self->b));
}

/* The peer's CLOSE says nothing of a send that has arrived. */
TEST_F(regress, sends_of_a_peer_that_closes)
{
	struct ib_collq_task tasks[2];
	int counter, graph, i, status;

	for (i = 0; i < ROUNDS / 5; i++) {
		struct raw_side a, b;

		ASSERT_EQ(0, raw_pair_open(&a, &b));
		counter = raw_counter_create(a.fd, IB_COLLQ_SOURCE_SENDS, a.endpoint);
		ASSERT_LT(0, counter);
		tasks[0] = raw_signal(a.endpoint, RAW_SLOT, RAW_GENERATION);
		tasks[1] = raw_wait_for(counter, 1);
		graph = raw_graph_create(a.fd, tasks, 2);
		ASSERT_LT(0, graph);
		ASSERT_EQ(0, raw_run(a.fd, a.queue, graph, &status));
		EXPECT_EQ(0, status);
		raw_pair_close(&a, &b);
	}
}

/* An eventfd in semaphore mode gives one at a time, and many were left in it. */
TEST_F(regress, semaphore_eventfd)
{
	__u64 count = 5000;
	struct ib_collq_counter_create attr = { .source = IB_COLLQ_SOURCE_EVENTFD };
	int fd = eventfd(0, EFD_SEMAPHORE), error;

	ASSERT_LE(0, fd);
	attr.eventfd = fd;
	ASSERT_EQ(1, raw_batch(self->a.fd, IB_COLLQ_COUNTER_CREATE, &attr, sizeof(attr), 1,
			       &error));
	ASSERT_EQ(sizeof(count), write(fd, &count, sizeof(count)));
	EXPECT_TRUE(RAW_EVENTUALLY(raw_counter_raised(self->a.fd, attr.id) == count));
	close(fd);
}

static void *raise_soon(void *arg)
{
	const __u32 *where = arg;

	raw_nap();
	raw_counter_raise(where[0], where[1], 1);
	return NULL;
}

/* A deadline beyond what the kernel's clock can say is far away, not in the past. */
TEST_F(regress, deadline_at_the_end_of_time)
{
	struct ib_collq_queue_wait wait;
	int counter = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_USER, 0);
	__u32 where[2] = { self->a.fd, counter };
	struct ib_collq_task task;
	__u64 sequence;
	pthread_t thread;
	int graph;

	ASSERT_LT(0, counter);
	task = raw_wait_for(counter, 1);
	graph = raw_graph_create(self->a.fd, &task, 1);
	ASSERT_LT(0, graph);
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, graph, 0, ~0ULL, &sequence));
	ASSERT_EQ(0, pthread_create(&thread, NULL, raise_soon, where));
	EXPECT_EQ(0, raw_wait(self->a.fd, self->a.queue, sequence, ~0ULL, &wait));
	EXPECT_EQ(0, wait.status);
	pthread_join(thread, NULL);
}

TEST_HARNESS_MAIN
