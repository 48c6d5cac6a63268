// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What once went wrong, and shows only at the edges: the smallest send queue,
 * the largest times, a great many waits, eventfds that give out one at a time.
 *
 * What it takes a forged peer to show is in forge_test.c.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

#define QUEUES		12	/* more than a narrow endpoint has slots */
#define WAITS		4000
#define SUBMISSIONS	512

FIXTURE(edge) {
	struct raw_side a;
	struct raw_side b;
};

FIXTURE_SETUP(edge)
{
	ASSERT_EQ(0, raw_pair_open(&self->a, &self->b));
}

FIXTURE_TEARDOWN(edge)
{
	raw_pair_close(&self->a, &self->b);
}

/* An endpoint that may have one send in flight. */
static int narrow_endpoint(const struct raw_side *side, struct ib_collq_endpoint_create *attr)
{
	*attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	attr->send_capacity = 1;
	return raw_endpoint_create(side->fd, attr);
}

static int waiting_graph(int fd, __u32 counter, __u64 count)
{
	const struct ib_collq_task task = raw_wait_for(counter, count);

	return raw_graph_create(fd, &task, 1);
}

TEST_F(edge, send_queue_of_one)
{
	static const int lengths[] = { 2, 100 };
	struct ib_collq_endpoint_create from, to;
	struct ib_collq_task tasks[100];
	int counter, graph, status, i;

	ASSERT_LT(0, narrow_endpoint(&self->a, &from));
	ASSERT_LT(0, narrow_endpoint(&self->b, &to));
	counter = raw_counter_create(self->b.fd, IB_COLLQ_SOURCE_SIGNAL, 0);
	ASSERT_EQ(0, raw_slot_bind(self->b.fd, to.id, RAW_SLOT, RAW_GENERATION, counter));
	ASSERT_EQ(0, raw_endpoint_connect(self->a.fd, from.id, to.address));
	ASSERT_EQ(0, raw_endpoint_connect(self->b.fd, to.id, from.address));
	for (i = 0; i < 100; i++)
		tasks[i] = raw_signal(from.id, RAW_SLOT, RAW_GENERATION);
	for (i = 0; i < 2; i++) {
		graph = raw_graph_create(self->a.fd, tasks, lengths[i]);
		ASSERT_LT(0, graph);
		ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, graph, &status));
		EXPECT_EQ(0, status);
	}
	EXPECT_TRUE(RAW_EVENTUALLY(raw_counter_raised(self->b.fd, counter) == 102));
}

/* Who has received everything may go before the sender knows that. */
TEST_F_TIMEOUT(edge, peer_goes_when_it_has_received, 120)
{
	int round, sends, sender, receiver, status;
	struct ib_collq_task tasks[2];
	struct raw_side a, b;
	__u64 sequence;

	for (round = 0; round < 200; round++) {
		ASSERT_EQ(0, raw_pair_open(&a, &b));
		sends = raw_counter_create(a.fd, IB_COLLQ_SOURCE_SENDS, a.endpoint);
		tasks[0] = raw_signal(a.endpoint, RAW_SLOT, RAW_GENERATION);
		tasks[1] = raw_wait_for(sends, 1);
		sender = raw_graph_create(a.fd, tasks, 2);
		receiver = waiting_graph(b.fd, b.counter, 1);
		ASSERT_EQ(0, raw_submit(a.fd, a.queue, sender, 0, 0, &sequence));
		ASSERT_EQ(0, raw_run(b.fd, b.queue, receiver, &status));
		ASSERT_EQ(0, status);
		raw_side_close(&b);
		ASSERT_EQ(0, raw_result(a.fd, a.queue, sequence, &status));
		ASSERT_EQ(0, status)
			TH_LOG("round %d", round);
		raw_side_close(&a);
	}
}

/* Queues of an endpoint, of which each has its own abort slot. */
static int queues_of(const struct raw_side *side, __u32 endpoint, int *queues)
{
	struct ib_collq_queue_endpoint link = { .endpoint = endpoint };
	int i;

	for (i = 0; i < QUEUES; i++) {
		link.abort_slot = i;
		link.peer_abort_slot = i;
		queues[i] = raw_queue_create(side->fd, side->ring.id, 1, &link, 1);
		if (queues[i] < 0)
			return queues[i];
	}
	return 0;
}

/* Makes each queue wait for what doesn't come. */
static int occupy(const struct raw_side *side, const int *queues)
{
	int counter, graph, err, i;

	for (i = 0; i < QUEUES; i++) {
		counter = raw_counter_create(side->fd, IB_COLLQ_SOURCE_USER, 0);
		graph = waiting_graph(side->fd, counter, 1);
		err = raw_submit(side->fd, queues[i], graph, 0, 0, NULL);
		if (err)
			return err;
	}
	return 0;
}

/*
 * More ABORTs than the send queue holds, from queues that are gone by the time
 * that the peer's answer makes room.
 */
TEST_F(edge, all_abort_who_are_destroyed_at_once)
{
	struct ib_collq_object_destroy destroy[QUEUES] = {};
	struct ib_collq_endpoint_create from, to;
	int queue[QUEUES], peer[QUEUES], i;

	ASSERT_LT(0, narrow_endpoint(&self->a, &from));
	ASSERT_LT(0, narrow_endpoint(&self->b, &to));
	ASSERT_EQ(0, queues_of(&self->a, from.id, queue));
	ASSERT_EQ(0, queues_of(&self->b, to.id, peer));
	ASSERT_EQ(0, raw_endpoint_connect(self->a.fd, from.id, to.address));
	ASSERT_EQ(0, occupy(&self->a, queue));
	for (i = 0; i < QUEUES; i++)
		destroy[i].id = queue[i];
	ASSERT_EQ(QUEUES, raw_batch(self->a.fd, IB_COLLQ_OBJECT_DESTROY, destroy,
				    sizeof(destroy[0]), QUEUES, NULL));
	/* One of the two slots that are the kernel's is kept for CLOSE. */
	EXPECT_EQ(2, raw_endpoint_info(self->a.fd, from.id).sends);

	ASSERT_EQ(0, raw_endpoint_connect(self->b.fd, to.id, from.address));
	for (i = 0; i < QUEUES; i++)
		EXPECT_TRUE(RAW_EVENTUALLY(raw_queue_in_state(self->b.fd, peer[i],
							      IB_COLLQ_QUEUE_FAILED)))
			TH_LOG("queue %d", i);
	EXPECT_EQ(IB_COLLQ_ENDPOINT_CONNECTED,
		  raw_endpoint_info(self->a.fd, from.id).state);
}

/* A graph that waits for one of each of many counters. */
static int wide_graph(int fd)
{
	struct ib_collq_counter_create *create = calloc(WAITS, sizeof(*create));
	struct ib_collq_task *tasks = calloc(WAITS, sizeof(*tasks));
	int i, ret = -ENOMEM;

	if (!create || !tasks)
		goto out;
	for (i = 0; i < WAITS; i++)
		create[i].source = IB_COLLQ_SOURCE_USER;
	ret = raw_batch(fd, IB_COLLQ_COUNTER_CREATE, create, sizeof(*create), WAITS, NULL);
	if (ret != WAITS)
		goto out;
	for (i = 0; i < WAITS; i++)
		tasks[i] = raw_wait_for(create[i].id, 1);
	ret = raw_graph_create(fd, tasks, WAITS);
out:
	free(tasks);
	free(create);
	return ret;
}

/* What a submission costs doesn't depend on how much the graph waits for. */
TEST_F(edge, cancel_many_of_a_wide_graph)
{
	int graph = wide_graph(self->a.fd), queue, i;
	struct ib_collq_completion completion;
	struct raw_ring ring;
	__u64 begin;

	ASSERT_LT(0, graph);
	ASSERT_EQ(0, raw_ring_create(self->a.fd, 2 * SUBMISSIONS, &ring));
	queue = raw_queue_create(self->a.fd, ring.id, SUBMISSIONS, NULL, 0);
	ASSERT_LT(0, queue);
	for (i = 0; i < SUBMISSIONS; i++)
		ASSERT_EQ(0, raw_submit(self->a.fd, queue, graph, i, 0, NULL));
	begin = raw_now();
	ASSERT_EQ(0, raw_cancel(self->a.fd, queue, 0));
	EXPECT_GT(begin + 1000000000, raw_now())
		TH_LOG("%llu us", (raw_now() - begin) / 1000);
	ASSERT_EQ(SUBMISSIONS, raw_ring_unread(&ring));
	for (i = 0; i < SUBMISSIONS; i++) {
		ASSERT_TRUE(raw_ring_take(&ring, &completion));
		EXPECT_EQ(i, completion.user_data);
		EXPECT_EQ(-ECANCELED, completion.status);
		EXPECT_EQ(i ? IB_COLLQ_NO_TASK : 0, completion.task);
	}
	EXPECT_EQ(0, raw_destroy(self->a.fd, graph));
	raw_ring_unmap(&ring);
}

/* Three queues, one counter, and two graphs that wait for it. */
FIXTURE(shared) {
	int fd;
	struct raw_ring ring;
	__u32 counter;
	int graph[2];
	int queue[3];
};

FIXTURE_SETUP(shared)
{
	int i;

	self->fd = raw_open();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, raw_ring_create(self->fd, 64, &self->ring));
	self->counter = raw_counter_create(self->fd, IB_COLLQ_SOURCE_USER, 0);
	for (i = 0; i < 2; i++) {
		self->graph[i] = waiting_graph(self->fd, self->counter, 1);
		ASSERT_LT(0, self->graph[i]);
	}
	for (i = 0; i < 3; i++) {
		self->queue[i] = raw_queue_create(self->fd, self->ring.id, 4, NULL, 0);
		ASSERT_LT(0, self->queue[i]);
	}
}

FIXTURE_TEARDOWN(shared)
{
	raw_ring_unmap(&self->ring);
	close(self->fd);
}

#define SUBMIT(q, g)	raw_submit(self->fd, self->queue[q], self->graph[g], 0, 0, NULL)

TEST_F(shared, one_queue_at_a_time)
{
	ASSERT_EQ(0, SUBMIT(0, 0));
	EXPECT_EQ(-EBUSY, SUBMIT(1, 0));
	EXPECT_EQ(-EBUSY, SUBMIT(1, 1));
	ASSERT_EQ(0, SUBMIT(0, 1));
	EXPECT_EQ(-EBUSY, SUBMIT(1, 0));
	EXPECT_EQ(-EBUSY, SUBMIT(1, 1));
	/* The first is done, the second still waits. */
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	EXPECT_EQ(-EBUSY, SUBMIT(1, 0));
	EXPECT_EQ(-EBUSY, SUBMIT(1, 1));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	EXPECT_EQ(0, SUBMIT(1, 1));
	EXPECT_EQ(-EBUSY, SUBMIT(0, 0));
	EXPECT_EQ(-EBUSY, SUBMIT(2, 1));
}

TEST_F(shared, free_after_cancel)
{
	ASSERT_EQ(0, SUBMIT(0, 0));
	ASSERT_EQ(0, SUBMIT(0, 1));
	ASSERT_EQ(0, raw_cancel(self->fd, self->queue[0], 0));
	EXPECT_EQ(0, SUBMIT(1, 0));
	EXPECT_EQ(-EBUSY, SUBMIT(2, 0));
	EXPECT_EQ(-EBUSY, SUBMIT(2, 1));
	ASSERT_EQ(0, raw_destroy(self->fd, self->queue[1]));
	EXPECT_EQ(0, SUBMIT(2, 1));
}

/* What is taken out of the middle frees nothing that the others need. */
TEST_F(shared, one_cancelled_behind_another)
{
	ASSERT_EQ(0, SUBMIT(0, 0));
	ASSERT_EQ(0, SUBMIT(0, 1));
	ASSERT_EQ(0, raw_cancel(self->fd, self->queue[0], 2));
	EXPECT_EQ(-EBUSY, SUBMIT(1, 1));
	EXPECT_EQ(-EBUSY, SUBMIT(2, 0));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	EXPECT_TRUE(RAW_EVENTUALLY(raw_queue_in_state(self->fd, self->queue[0],
						      IB_COLLQ_QUEUE_IDLE)));
	EXPECT_EQ(0, SUBMIT(1, 1));
}

/* The same with one that is submitted by nobody before. */
TEST_F(shared, third_graph_behind_one_cancelled)
{
	int third = waiting_graph(self->fd, self->counter, 1);

	ASSERT_LT(0, third);
	ASSERT_EQ(0, SUBMIT(0, 0));
	ASSERT_EQ(0, SUBMIT(0, 1));
	ASSERT_EQ(0, raw_cancel(self->fd, self->queue[0], 2));
	EXPECT_EQ(-EBUSY, raw_submit(self->fd, self->queue[1], third, 0, 0, NULL));
}

/* What a semaphore gives out one at a time adds up, though nobody writes again. */
TEST_F(edge, eventfd_semaphore_of_many)
{
	static const __u64 counts[] = { 100, 5000 };
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE), graph, status, i;
	struct ib_collq_counter_create create = {
		.source = IB_COLLQ_SOURCE_EVENTFD,
		.eventfd = fd,
	};
	eventfd_t value;
	__u64 sequence;

	ASSERT_EQ(1, raw_batch(self->a.fd, IB_COLLQ_COUNTER_CREATE, &create, sizeof(create), 1,
			       NULL));
	for (i = 0; i < 2; i++) {
		graph = waiting_graph(self->a.fd, create.id, counts[i]);
		ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, graph, 0, 0, &sequence));
		ASSERT_EQ(0, eventfd_write(fd, counts[i]));
		ASSERT_EQ(0, raw_result(self->a.fd, self->a.queue, sequence, &status));
		EXPECT_EQ(0, status);
	}
	EXPECT_EQ(5100, raw_counter_raised(self->a.fd, create.id));
	EXPECT_EQ(-1, eventfd_read(fd, &value));
	close(fd);
}

/* Raises a counter when another thread has had time to go to sleep. */
struct raiser {
	int fd;
	__u32 counter;
};

static void *raise_later(void *data)
{
	const struct raiser *raiser = data;
	int i;

	for (i = 0; i < 50; i++)
		raw_nap();
	raw_counter_raise(raiser->fd, raiser->counter, 1);
	return NULL;
}

/* Deadlines that a signed number of nanoseconds can't hold are far away. */
TEST_F(edge, deadline_of_no_end)
{
	static const __u64 deadlines[] = { 1ULL << 63, ~0ULL, (1ULL << 63) - 1 };
	struct raiser raiser = { .fd = self->a.fd };
	struct ib_collq_queue_wait wait;
	struct ib_collq_completion completion;
	pthread_t thread;
	__u64 sequence;
	int graph, i;

	raiser.counter = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_USER, 0);
	graph = waiting_graph(self->a.fd, raiser.counter, 1);
	for (i = 0; i < 2 * (int)ARRAY_SIZE(deadlines); i++) {
		ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, graph, 0, deadlines[i / 2],
					&sequence));
		ASSERT_EQ(0, pthread_create(&thread, NULL, raise_later, &raiser));
		if (i & 1) {
			wait = (struct ib_collq_queue_wait) {
				.size = sizeof(wait),
				.ring = self->a.ring.id,
				.deadline = deadlines[i / 2],
			};
			EXPECT_EQ(0, raw_ioctl(self->a.fd, IB_COLLQ_QUEUE_WAIT, &wait));
		} else {
			EXPECT_EQ(0, raw_wait(self->a.fd, self->a.queue, sequence,
					      deadlines[i / 2], &wait));
			EXPECT_EQ(0, wait.status);
		}
		pthread_join(thread, NULL);
		ASSERT_TRUE(raw_ring_take(&self->a.ring, &completion));
		EXPECT_EQ(0, completion.status);
	}
}

/* A counter of sends counts no ABORT, and not what was sent before it was made. */
TEST_F(edge, sends_that_do_not_count)
{
	const struct ib_collq_queue_endpoint link = {
		.endpoint = self->a.endpoint,
		.abort_slot = 100,
		.peer_abort_slot = 100,
	};
	int other = raw_queue_create(self->a.fd, self->a.ring.id, 1, &link, 1);
	int never = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_USER, 0);
	struct ib_collq_task tasks[2];
	int sends, graph, status;

	tasks[0] = raw_signal(self->a.endpoint, RAW_SLOT, RAW_GENERATION);
	tasks[1] = tasks[0];
	graph = raw_graph_create(self->a.fd, tasks, 2);
	ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, graph, &status));
	sends = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_SENDS, self->a.endpoint);
	ASSERT_LT(0, sends);

	ASSERT_EQ(0, raw_submit(self->a.fd, other, waiting_graph(self->a.fd, never, 1), 0, 0,
				NULL));
	ASSERT_EQ(0, raw_cancel(self->a.fd, other, 0));
	/* The ABORT has been answered, and with it what was sent before. */
	ASSERT_TRUE(RAW_EVENTUALLY(raw_endpoint_info(self->a.fd, self->a.endpoint).sends_done ==
				   3));
	EXPECT_EQ(0, raw_counter_raised(self->a.fd, sends));

	tasks[1] = raw_wait_for(sends, 1);
	graph = raw_graph_create(self->a.fd, tasks, 2);
	ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, graph, &status));
	EXPECT_EQ(0, status);
	EXPECT_EQ(1, raw_counter_raised(self->a.fd, sends));
}

/* A connection has one peer. */
TEST_F(edge, multicast_peer)
{
	static const __u8 gids[][16] = {
		{ [0] = 0xff, [1] = 0x02, [15] = 1 },
		{ [0] = 0xff, [1] = 0x0e, [15] = 0x99 },
		{ [10] = 0xff, [11] = 0xff, [12] = 224, [15] = 1 },
		{ [0] = 0xff, [1] = 0x0e, [10] = 0xff, [11] = 0xff, [12] = 239, [15] = 1 },
	};
	struct ib_collq_address address;
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	__u8 raw[IB_COLLQ_ADDRESS_SIZE];
	unsigned int i;

	ASSERT_LT(0, raw_endpoint_create(self->a.fd, &attr));
	for (i = 0; i < ARRAY_SIZE(gids); i++) {
		memcpy(&address, self->b.attr.address, sizeof(address));
		memcpy(address.gid, gids[i], sizeof(address.gid));
		memcpy(raw, &address, sizeof(raw));
		EXPECT_EQ(-EINVAL, raw_endpoint_connect(self->a.fd, attr.id, raw))
			TH_LOG("gid %u", i);
	}
	/* It's as new as before. */
	EXPECT_EQ(0, raw_endpoint_connect(self->a.fd, attr.id, self->b.attr.address));
}

TEST_HARNESS_MAIN
