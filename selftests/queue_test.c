// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Management queues: the order in which graphs run, what ends them early, and
 * what may not go while they run.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

#define DEPTH	4
#define LABEL	11

FIXTURE(queue) {
	int fd;
	struct raw_ring ring;
	struct ib_collq_query query;
	__u32 counter[2];
	__u32 graph[2];		/* waits for one of the counter */
	__u32 queue;
	__u32 endpoint;
};

FIXTURE_SETUP(queue)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct ib_collq_task task;
	int i;

	self->fd = raw_open();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, raw_query(self->fd, &self->query));
	ASSERT_EQ(0, raw_ring_create(self->fd, 64, &self->ring));
	for (i = 0; i < 2; i++) {
		self->counter[i] = raw_counter_create(self->fd, IB_COLLQ_SOURCE_USER, 0);
		task = raw_wait_for(self->counter[i], 1);
		task.label = LABEL + i;
		self->graph[i] = raw_graph_create(self->fd, &task, 1);
		ASSERT_LT(0, (int)self->graph[i]);
	}
	self->queue = raw_queue_create(self->fd, self->ring.id, DEPTH, NULL, 0);
	ASSERT_LT(0, (int)self->queue);
	self->endpoint = raw_endpoint_create(self->fd, &attr);
	ASSERT_LT(0, (int)self->endpoint);
}

FIXTURE_TEARDOWN(queue)
{
	raw_ring_unmap(&self->ring);
	close(self->fd);
}

/* The next completion, which has to be there. */
#define EXPECT_COMPLETION(_sequence, _status, _task, _label) do {		\
	struct ib_collq_completion _c = {};					\
										\
	EXPECT_EQ(0, raw_ring_next(self->fd, &self->ring, &_c));		\
	EXPECT_EQ(_sequence, _c.sequence);					\
	EXPECT_EQ(_status, _c.status);						\
	EXPECT_EQ(_task, _c.task);						\
	EXPECT_EQ(_label, _c.label);						\
	EXPECT_EQ(IB_COLLQ_NO_OBJECT, _c.endpoint);				\
} while (0)

TEST_F(queue, first_in_first_out)
{
	__u64 sequence;

	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, &sequence));
	EXPECT_EQ(1, sequence);
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[1], 0, 0, &sequence));
	EXPECT_EQ(2, sequence);
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, &sequence));
	EXPECT_EQ(3, sequence);

	/* What the second waits for is there, but the first isn't done. */
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter[1], 1));
	EXPECT_EQ(0, raw_ring_unread(&self->ring));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter[0], 1));
	EXPECT_EQ(2, raw_ring_unread(&self->ring));
	EXPECT_COMPLETION(1, 0, IB_COLLQ_NO_TASK, 0);
	EXPECT_COMPLETION(2, 0, IB_COLLQ_NO_TASK, 0);
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter[0], 1));
	EXPECT_COMPLETION(3, 0, IB_COLLQ_NO_TASK, 0);
	EXPECT_TRUE(raw_queue_in_state(self->fd, self->queue, IB_COLLQ_QUEUE_IDLE));
}

/* A graph that needs to wait for nothing is done when submit returns. */
TEST_F(queue, done_at_once)
{
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter[0], 1));
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	EXPECT_EQ(1, raw_ring_unread(&self->ring));
}

TEST_F(queue, depth)
{
	int i;

	for (i = 0; i < DEPTH; i++)
		ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	EXPECT_EQ(-EBUSY, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter[0], 1));
	EXPECT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	EXPECT_EQ(-EBUSY, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
}

TEST_F(queue, depth_is_limited)
{
	int max = self->query.max_queue_depth;

	EXPECT_EQ(-EINVAL, raw_queue_create(self->fd, self->ring.id, 0, NULL, 0));
	EXPECT_EQ(-EINVAL, raw_queue_create(self->fd, self->ring.id, max + 1, NULL, 0));
	EXPECT_LT(0, raw_queue_create(self->fd, self->ring.id, max, NULL, 0));
	EXPECT_LT(0, raw_queue_create(self->fd, self->ring.id, 1, NULL, 0));
}

/* One that isn't a power of two. */
TEST_F(queue, depth_of_three)
{
	int queue = raw_queue_create(self->fd, self->ring.id, 3, NULL, 0), round, i;

	for (round = 0; round < 5; round++) {
		for (i = 0; i < 3; i++)
			ASSERT_EQ(0, raw_submit(self->fd, queue, self->graph[0], 0, 0, NULL));
		EXPECT_EQ(-EBUSY, raw_submit(self->fd, queue, self->graph[0], 0, 0, NULL));
		ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter[0], 3));
		for (i = 0; i < 3; i++)
			EXPECT_COMPLETION(3 * round + i + 1, 0, IB_COLLQ_NO_TASK, 0);
	}
}

/* Two queues would take each other's counts. */
TEST_F(queue, counter_of_another_queue)
{
	int other = raw_queue_create(self->fd, self->ring.id, DEPTH, NULL, 0);

	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	EXPECT_EQ(-EBUSY, raw_submit(self->fd, other, self->graph[0], 0, 0, NULL));
	EXPECT_EQ(0, raw_submit(self->fd, other, self->graph[1], 0, 0, NULL));
	/* Not even behind another graph. */
	EXPECT_EQ(-EBUSY, raw_submit(self->fd, other, self->graph[0], 0, 0, NULL));
	EXPECT_EQ(-EBUSY, raw_submit(self->fd, self->queue, self->graph[1], 0, 0, NULL));
	/* The same queue may: it comes after itself. */
	EXPECT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter[0], 2));
	EXPECT_EQ(0, raw_submit(self->fd, other, self->graph[0], 0, 0, NULL));
}

TEST_F(queue, deadline)
{
	__u64 deadline = raw_in_ms(30), after = raw_in_ms(RAW_PATIENCE_MS);

	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, deadline, NULL));
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[1], 0, after, NULL));
	EXPECT_COMPLETION(1, -ETIMEDOUT, 0, LABEL);
	EXPECT_LE(deadline, raw_now());
	/* The queue has failed, with what is behind. */
	EXPECT_COMPLETION(2, -ECANCELED, IB_COLLQ_NO_TASK, 0);
	EXPECT_EQ(-ETIMEDOUT, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	EXPECT_TRUE(raw_queue_in_state(self->fd, self->queue, IB_COLLQ_QUEUE_FAILED));
}

TEST_F(queue, deadline_in_the_past)
{
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 1, NULL));
	EXPECT_COMPLETION(1, -ETIMEDOUT, 0, LABEL);
}

/* A graph that hasn't begun harms no other. */
TEST_F(queue, deadline_of_one_that_waits_its_turn)
{
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[1], 0, raw_in_ms(20), NULL));
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	EXPECT_COMPLETION(2, -ETIMEDOUT, IB_COLLQ_NO_TASK, 0);
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter[0], 2));
	EXPECT_COMPLETION(1, 0, IB_COLLQ_NO_TASK, 0);
	EXPECT_COMPLETION(3, 0, IB_COLLQ_NO_TASK, 0);
}

/* The nearer one is heeded, whichever was set first. */
TEST_F(queue, deadlines_out_of_order)
{
	int other = raw_queue_create(self->fd, self->ring.id, DEPTH, NULL, 0);
	__u64 late = raw_in_ms(RAW_PATIENCE_MS);

	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, late, NULL));
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, raw_in_ms(20), NULL));
	EXPECT_COMPLETION(2, -ETIMEDOUT, IB_COLLQ_NO_TASK, 0);
	ASSERT_EQ(0, raw_submit(self->fd, other, self->graph[1], 0, raw_in_ms(1000), NULL));
	ASSERT_EQ(0, raw_submit(self->fd, other, self->graph[1], 0, raw_in_ms(20), NULL));
	EXPECT_COMPLETION(2, -ETIMEDOUT, IB_COLLQ_NO_TASK, 0);
	EXPECT_COMPLETION(1, -ETIMEDOUT, 0, LABEL + 1);
}

/* A deadline that was met does nothing afterwards. */
TEST_F(queue, deadline_met)
{
	__u64 deadline = raw_in_ms(200);
	int status;

	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, deadline, NULL));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter[0], 1));
	EXPECT_COMPLETION(1, 0, IB_COLLQ_NO_TASK, 0);
	ASSERT_TRUE(RAW_EVENTUALLY(raw_now() > deadline + 100000000));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter[0], 1));
	ASSERT_EQ(0, raw_run(self->fd, self->queue, self->graph[0], &status));
	EXPECT_EQ(0, status);
}

TEST_F(queue, cancel_running)
{
	__u64 sequence;

	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[1], 0, 0, &sequence));
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	ASSERT_EQ(0, raw_cancel(self->fd, self->queue, sequence));
	EXPECT_COMPLETION(1, -ECANCELED, 0, LABEL + 1);
	EXPECT_COMPLETION(2, -ECANCELED, IB_COLLQ_NO_TASK, 0);
	EXPECT_EQ(-ENOENT, raw_cancel(self->fd, self->queue, sequence));
	EXPECT_EQ(-ECANCELED, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	/* What it waited for is free for others. */
	EXPECT_EQ(0, raw_destroy(self->fd, self->graph[1]));
	EXPECT_EQ(0, raw_destroy(self->fd, self->counter[1]));
}

TEST_F(queue, cancel_before_it_begins)
{
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[1], 0, 0, NULL));
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	ASSERT_EQ(0, raw_cancel(self->fd, self->queue, 2));
	EXPECT_COMPLETION(2, -ECANCELED, IB_COLLQ_NO_TASK, 0);
	EXPECT_EQ(-ENOENT, raw_cancel(self->fd, self->queue, 2));
	/* It keeps its claim on counters until the one before it has ended. */
	EXPECT_EQ(-EBUSY, raw_destroy(self->fd, self->graph[1]));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter[0], 2));
	EXPECT_COMPLETION(1, 0, IB_COLLQ_NO_TASK, 0);
	EXPECT_COMPLETION(3, 0, IB_COLLQ_NO_TASK, 0);
	EXPECT_EQ(0, raw_destroy(self->fd, self->graph[1]));
	EXPECT_EQ(-ENOENT, raw_cancel(self->fd, self->queue, 1));
	EXPECT_EQ(-ENOENT, raw_cancel(self->fd, self->queue, 4));
}

TEST_F(queue, cancel_all)
{
	int i;

	EXPECT_EQ(0, raw_cancel(self->fd, self->queue, 0));
	EXPECT_TRUE(raw_queue_in_state(self->fd, self->queue, IB_COLLQ_QUEUE_IDLE));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	EXPECT_EQ(0, raw_cancel(self->fd, self->queue, 0));
	EXPECT_COMPLETION(1, -ECANCELED, 0, LABEL);
	EXPECT_COMPLETION(2, -ECANCELED, IB_COLLQ_NO_TASK, 0);
	EXPECT_COMPLETION(3, -ECANCELED, IB_COLLQ_NO_TASK, 0);
}

/* Later failures don't hide the first one. */
TEST_F(queue, first_failure_stays)
{
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 1, NULL));
	EXPECT_COMPLETION(1, -ETIMEDOUT, 0, LABEL);
	EXPECT_EQ(0, raw_cancel(self->fd, self->queue, 0));
	EXPECT_EQ(-ETIMEDOUT, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
}

TEST_F(queue, destroy_cancels)
{
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[1], 0, 0, NULL));
	ASSERT_EQ(0, raw_destroy(self->fd, self->queue));
	EXPECT_COMPLETION(1, -ECANCELED, 0, LABEL);
	EXPECT_COMPLETION(2, -ECANCELED, IB_COLLQ_NO_TASK, 0);
	EXPECT_EQ(-ENOENT, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	EXPECT_EQ(-ENOENT, raw_cancel(self->fd, self->queue, 0));
	EXPECT_EQ(-ENOENT, raw_destroy(self->fd, self->queue));
}

/* What is named or in use stays. */
TEST_F(queue, destroy_what_is_needed)
{
	const struct ib_collq_queue_endpoint link = { .endpoint = self->endpoint };
	const struct ib_collq_task task = raw_signal(self->endpoint, 0, 0);
	int graph = raw_graph_create(self->fd, &task, 1);
	int queue = raw_queue_create(self->fd, self->ring.id, 1, &link, 1);

	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph[0], 0, 0, NULL));
	EXPECT_EQ(-EBUSY, raw_destroy(self->fd, self->graph[0]));
	EXPECT_EQ(-EBUSY, raw_destroy(self->fd, self->counter[0]));
	EXPECT_EQ(-EBUSY, raw_destroy(self->fd, self->ring.id));
	EXPECT_EQ(-EBUSY, raw_destroy(self->fd, self->endpoint));
	ASSERT_EQ(0, raw_destroy(self->fd, queue));
	EXPECT_EQ(-EBUSY, raw_destroy(self->fd, self->endpoint));
	ASSERT_EQ(0, raw_destroy(self->fd, graph));
	EXPECT_EQ(0, raw_destroy(self->fd, self->endpoint));

	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter[0], 1));
	EXPECT_EQ(-EBUSY, raw_destroy(self->fd, self->counter[0]));
	EXPECT_EQ(0, raw_destroy(self->fd, self->graph[0]));
	EXPECT_EQ(0, raw_destroy(self->fd, self->counter[0]));
	EXPECT_EQ(-EBUSY, raw_destroy(self->fd, self->ring.id));
	EXPECT_EQ(0, raw_destroy(self->fd, self->queue));
	EXPECT_EQ(0, raw_destroy(self->fd, self->ring.id));
}

TEST_F(queue, submit_is_checked)
{
	struct ib_collq_queue_submit submit = {
		.size = sizeof(submit),
		.queue = self->queue,
		.graph = self->graph[0],
		.nr_bindings = 1,
		.binding_size = sizeof(struct ib_collq_buffer_bind),
		.bindings = (unsigned long)&submit,
	};

	EXPECT_EQ(-ENOENT, raw_submit(self->fd, 0, self->graph[0], 0, 0, NULL));
	EXPECT_EQ(-ENOENT, raw_submit(self->fd, self->ring.id, self->graph[0], 0, 0, NULL));
	EXPECT_EQ(-ENOENT, raw_submit(self->fd, self->queue, 0, 0, 0, NULL));
	EXPECT_EQ(-ENOENT, raw_submit(self->fd, self->queue, self->queue, 0, 0, NULL));
	/* One for each buffer slot of the graph, and there is none. */
	EXPECT_EQ(-EINVAL, raw_ioctl(self->fd, IB_COLLQ_QUEUE_SUBMIT, &submit));
	EXPECT_TRUE(raw_queue_in_state(self->fd, self->queue, IB_COLLQ_QUEUE_IDLE));
}

TEST_F(queue, create_is_checked)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_MESSAGE);
	const struct ib_collq_queue_endpoint good = { .endpoint = self->endpoint };
	struct ib_collq_queue_endpoint link[2] = { good, good };
	__u32 ring = self->ring.id;
	int fd = self->fd;

	EXPECT_EQ(-ENOENT, raw_queue_create(fd, 0, 1, link, 1));
	EXPECT_EQ(-ENOENT, raw_queue_create(fd, self->queue, 1, link, 1));
	/* The same abort slot twice, then once and again. */
	EXPECT_EQ(-EBUSY, raw_queue_create(fd, ring, 1, link, 2));
	ASSERT_LT(0, raw_queue_create(fd, ring, 1, link, 1));
	EXPECT_EQ(-EBUSY, raw_queue_create(fd, ring, 1, link, 1));
	link[0].abort_slot = self->query.max_slots - 1;
	link[0].peer_abort_slot = self->query.max_slots - 1;
	EXPECT_LT(0, raw_queue_create(fd, ring, 1, link, 1));

	link[0].abort_slot = self->query.max_slots;
	EXPECT_EQ(-EINVAL, raw_queue_create(fd, ring, 1, link, 1));
	link[0].abort_slot = 1;
	link[0].peer_abort_slot = self->query.max_slots;
	EXPECT_EQ(-EINVAL, raw_queue_create(fd, ring, 1, link, 1));
	link[0] = good;
	link[0].endpoint = self->counter[0];
	EXPECT_EQ(-ENOENT, raw_queue_create(fd, ring, 1, link, 1));
	attr.signal_endpoint = self->endpoint;
	link[0].endpoint = raw_endpoint_create(fd, &attr);
	EXPECT_EQ(-EINVAL, raw_queue_create(fd, ring, 1, link, 1));
	EXPECT_EQ(-EINVAL, raw_queue_create(fd, ring, 1, link,
					    self->query.max_queue_endpoints + 1));
	/* Nothing of what failed has kept a slot. */
	link[0] = good;
	link[0].abort_slot = 1;
	EXPECT_LT(0, raw_queue_create(fd, ring, 1, link, 1));
}

/* Entries of a later version, or none. */
TEST_F(queue, create_with_entries_of_another_size)
{
	struct {
		struct ib_collq_queue_endpoint link;
		__u32 tail;
	} links[2] = { { .link.endpoint = self->endpoint }, { .link.endpoint = self->endpoint } };
	struct ib_collq_queue_create create = {
		.size = sizeof(create),
		.ring = self->ring.id,
		.depth = 1,
		.nr_endpoints = 2,
		.entry_size = sizeof(links[0].link) - 1,
		.endpoints = (unsigned long)links,
	};

	links[1].link.abort_slot = 1;
	EXPECT_EQ(-EINVAL, raw_ioctl(self->fd, IB_COLLQ_QUEUE_CREATE, &create));
	create.entry_size = sizeof(links[0]);
	links[1].tail = 1;
	EXPECT_EQ(-E2BIG, raw_ioctl(self->fd, IB_COLLQ_QUEUE_CREATE, &create));
	links[1].tail = 0;
	links[0].link.__reserved0 = 1;
	EXPECT_EQ(-EINVAL, raw_ioctl(self->fd, IB_COLLQ_QUEUE_CREATE, &create));
	links[0].link.__reserved0 = 0;
	links[1].link.__reserved1 = 1;
	EXPECT_EQ(-EINVAL, raw_ioctl(self->fd, IB_COLLQ_QUEUE_CREATE, &create));
	links[1].link.__reserved1 = 0;
	EXPECT_EQ(0, raw_ioctl(self->fd, IB_COLLQ_QUEUE_CREATE, &create));
	create.endpoints = 16;
	EXPECT_EQ(-EFAULT, raw_ioctl(self->fd, IB_COLLQ_QUEUE_CREATE, &create));
}

/* Nobody's entry is longer than a page. */
TEST_F(queue, create_with_entries_much_too_long)
{
	const size_t length = 1 << 20;
	struct ib_collq_queue_endpoint *links = calloc(1, length);
	struct ib_collq_queue_create create = {
		.size = sizeof(create),
		.ring = self->ring.id,
		.depth = 1,
		.nr_endpoints = 1,
		.entry_size = length,
		.endpoints = (unsigned long)links,
	};

	ASSERT_NE(NULL, links);
	links->endpoint = self->endpoint;
	EXPECT_EQ(-E2BIG, raw_ioctl(self->fd, IB_COLLQ_QUEUE_CREATE, &create));
	free(links);
}

/* More tasks than are carried out at one go. */
TEST_F(queue, longest_graph)
{
	__u32 nr = self->query.max_tasks, i;
	struct ib_collq_task *tasks = calloc(nr, sizeof(*tasks));
	int graph, status;

	ASSERT_NE(NULL, tasks);
	for (i = 0; i < nr; i++)
		tasks[i] = raw_wait_for(self->counter[0], 1);
	graph = raw_graph_create(self->fd, tasks, nr);
	ASSERT_LT(0, graph);
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter[0], nr + 1));
	ASSERT_EQ(0, raw_run(self->fd, self->queue, graph, &status));
	EXPECT_EQ(0, status);
	free(tasks);
}

/* More than fits into the send queue: it pauses, and goes on. */
TEST_F(queue, more_sends_than_slots)
{
	struct ib_collq_task tasks[1000];
	struct raw_side a, b;
	int graph, status, i;

	ASSERT_EQ(0, raw_pair_open(&a, &b));
	for (i = 0; i < 1000; i++)
		tasks[i] = raw_signal(a.endpoint, RAW_SLOT, RAW_GENERATION);
	graph = raw_graph_create(a.fd, tasks, 1000);
	ASSERT_LT(0, graph);
	ASSERT_EQ(0, raw_run(a.fd, a.queue, graph, &status));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(RAW_EVENTUALLY(raw_counter_raised(b.fd, b.counter) == 1000));
	raw_pair_close(&a, &b);
}

/* Threads with a queue each, and one ring for all. */
struct worker {
	pthread_t thread;
	int fd;
	__u32 ring;
	int err;
};

static void *worker_run(void *data)
{
	struct worker *worker = data;
	int counter = raw_counter_create(worker->fd, IB_COLLQ_SOURCE_USER, 0);
	int queue = raw_queue_create(worker->fd, worker->ring, 1, NULL, 0);
	const struct ib_collq_task task = raw_wait_for(counter, 1);
	int graph = raw_graph_create(worker->fd, &task, 1);
	__u64 sequence;
	int i, status;

	for (i = 0; i < 200 && !worker->err; i++) {
		worker->err = raw_submit(worker->fd, queue, graph, 0, 0, &sequence);
		if (!worker->err)
			worker->err = raw_counter_raise(worker->fd, counter, 1);
		if (!worker->err)
			worker->err = raw_result(worker->fd, queue, sequence, &status);
		if (!worker->err)
			worker->err = status;
	}
	return NULL;
}

TEST_F(queue, many_threads)
{
	struct worker workers[8];
	struct raw_ring ring;
	int i;

	ASSERT_EQ(0, raw_ring_create(self->fd, 2048, &ring));
	for (i = 0; i < 8; i++) {
		workers[i] = (struct worker) { .fd = self->fd, .ring = ring.id };
		ASSERT_EQ(0, pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]));
	}
	for (i = 0; i < 8; i++) {
		pthread_join(workers[i].thread, NULL);
		EXPECT_EQ(0, workers[i].err);
	}
	EXPECT_EQ(1600, raw_ring_unread(&ring));
}

TEST_HARNESS_MAIN
