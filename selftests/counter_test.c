// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters of every kind: what raises them, and that a WAIT takes just that.
 */
#include <errno.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

FIXTURE(counter) {
	struct raw_side a;
	struct raw_side b;
};

FIXTURE_SETUP(counter)
{
	ASSERT_EQ(0, raw_pair_open(&self->a, &self->b));
}

FIXTURE_TEARDOWN(counter)
{
	raw_pair_close(&self->a, &self->b);
}

/* A graph that only waits for a counter. */
static int waiting_graph(int fd, __u32 counter, __u64 count)
{
	const struct ib_collq_task task = raw_wait_for(counter, count);

	return raw_graph_create(fd, &task, 1);
}

static int eventfd_counter(int fd, int eventfd)
{
	struct ib_collq_counter_create create = {
		.source = IB_COLLQ_SOURCE_EVENTFD,
		.eventfd = eventfd,
	};
	int ret = raw_batch(fd, IB_COLLQ_COUNTER_CREATE, &create, sizeof(create), 1, NULL);

	return ret < 0 ? ret : (int)create.id;
}

TEST_F(counter, user)
{
	int counter = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_USER, 0);
	int graph = waiting_graph(self->a.fd, counter, 3);
	struct ib_collq_counter_read read;
	__u64 sequence;
	int status;

	ASSERT_LT(0, counter);
	ASSERT_EQ(0, raw_counter_read(self->a.fd, counter, &read));
	EXPECT_EQ(0, read.raised);
	EXPECT_EQ(0, read.consumed);
	EXPECT_EQ(0, read.error);

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, graph, 0, 0, &sequence));
	ASSERT_EQ(0, raw_counter_raise(self->a.fd, counter, 2));
	EXPECT_TRUE(raw_queue_in_state(self->a.fd, self->a.queue, IB_COLLQ_QUEUE_WAITING));
	ASSERT_EQ(0, raw_counter_raise(self->a.fd, counter, 5));
	ASSERT_EQ(0, raw_result(self->a.fd, self->a.queue, sequence, &status));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, raw_counter_read(self->a.fd, counter, &read));
	EXPECT_EQ(7, read.raised);
	EXPECT_EQ(3, read.consumed);

	/* What is left satisfies the next one without waiting, and then no more. */
	ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, graph, &status));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, graph, 0, 0, &sequence));
	EXPECT_TRUE(raw_queue_in_state(self->a.fd, self->a.queue, IB_COLLQ_QUEUE_WAITING));
	ASSERT_EQ(0, raw_counter_read(self->a.fd, counter, &read));
	EXPECT_EQ(6, read.consumed);
}

TEST_F(counter, initial_value)
{
	struct ib_collq_counter_create create = { .source = IB_COLLQ_SOURCE_USER, .value = 2 };
	struct ib_collq_counter_read read;
	int graph, status;

	ASSERT_EQ(1, raw_batch(self->a.fd, IB_COLLQ_COUNTER_CREATE, &create, sizeof(create), 1,
			       NULL));
	graph = waiting_graph(self->a.fd, create.id, 2);
	ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, graph, &status));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, raw_counter_read(self->a.fd, create.id, &read));
	EXPECT_EQ(2, read.raised);
	EXPECT_EQ(2, read.consumed);
}

TEST_F(counter, raise_is_checked)
{
	int counter = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_USER, 0);

	EXPECT_EQ(-EINVAL, raw_counter_raise(self->a.fd, counter, 0));
	EXPECT_EQ(-ENOENT, raw_counter_raise(self->a.fd, 0, 1));
	EXPECT_EQ(-ENOENT, raw_counter_raise(self->a.fd, 9999, 1));
	EXPECT_EQ(-ENOENT, raw_counter_raise(self->a.fd, self->a.endpoint, 1));
	/* The wire raises this one, and nobody else. */
	EXPECT_EQ(-EINVAL, raw_counter_raise(self->a.fd, self->a.counter, 1));
	EXPECT_EQ(0, raw_counter_raised(self->a.fd, self->a.counter));
	EXPECT_EQ(0, raw_counter_raised(self->a.fd, counter));
}

TEST_F(counter, overflow)
{
	int counter = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_USER, 0);

	ASSERT_EQ(0, raw_counter_raise(self->a.fd, counter, ~0ULL - 1));
	EXPECT_EQ(-EOVERFLOW, raw_counter_raise(self->a.fd, counter, 2));
	EXPECT_EQ(~0ULL - 1, raw_counter_raised(self->a.fd, counter));
	EXPECT_EQ(0, raw_counter_raise(self->a.fd, counter, 1));
	EXPECT_EQ(~0ULL, raw_counter_raised(self->a.fd, counter));
	EXPECT_EQ(-EOVERFLOW, raw_counter_raise(self->a.fd, counter, 1));
}

/* The largest count that a WAIT can ask for. */
TEST_F(counter, wait_for_most)
{
	int counter = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_USER, 0);
	int graph = waiting_graph(self->a.fd, counter, ~0ULL);
	__u64 sequence;
	int status;

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, graph, 0, 0, &sequence));
	ASSERT_EQ(0, raw_counter_raise(self->a.fd, counter, ~0ULL - 1));
	EXPECT_TRUE(raw_queue_in_state(self->a.fd, self->a.queue, IB_COLLQ_QUEUE_WAITING));
	ASSERT_EQ(0, raw_counter_raise(self->a.fd, counter, 1));
	ASSERT_EQ(0, raw_result(self->a.fd, self->a.queue, sequence, &status));
	EXPECT_EQ(0, status);
}

/* The caller closes his descriptor of the eventfd, and writes to a copy. */
TEST_F(counter, eventfd)
{
	int fd = eventfd(0, EFD_CLOEXEC), copy = dup(fd);
	int counter = eventfd_counter(self->a.fd, fd);
	int graph = waiting_graph(self->a.fd, counter, 5);
	__u64 sequence;
	int status;

	ASSERT_LT(0, counter);
	close(fd);
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, graph, 0, 0, &sequence));
	ASSERT_EQ(0, eventfd_write(copy, 3));
	ASSERT_TRUE(RAW_EVENTUALLY(raw_counter_raised(self->a.fd, counter) == 3));
	EXPECT_TRUE(raw_queue_in_state(self->a.fd, self->a.queue, IB_COLLQ_QUEUE_WAITING));
	ASSERT_EQ(0, eventfd_write(copy, 4));
	ASSERT_EQ(0, raw_result(self->a.fd, self->a.queue, sequence, &status));
	EXPECT_EQ(0, status);
	EXPECT_EQ(7, raw_counter_raised(self->a.fd, counter));
	close(copy);
}

TEST_F(counter, eventfd_that_was_written_before)
{
	int fd = eventfd(9, EFD_CLOEXEC | EFD_NONBLOCK), counter;
	eventfd_t value;

	counter = eventfd_counter(self->a.fd, fd);
	ASSERT_LT(0, counter);
	EXPECT_TRUE(RAW_EVENTUALLY(raw_counter_raised(self->a.fd, counter) == 9));
	/* It was taken out. */
	EXPECT_EQ(-1, eventfd_read(fd, &value));
	EXPECT_EQ(EAGAIN, errno);
	close(fd);
}

TEST_F(counter, eventfd_semaphore)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	int counter = eventfd_counter(self->a.fd, fd);

	ASSERT_LT(0, counter);
	ASSERT_EQ(0, eventfd_write(fd, 12));
	EXPECT_TRUE(RAW_EVENTUALLY(raw_counter_raised(self->a.fd, counter) == 12));
	close(fd);
}

static void *write_many(void *fd)
{
	int i;

	for (i = 0; i < 1000; i++)
		eventfd_write(*(int *)fd, 1);
	return NULL;
}

/* Who waits for room in the eventfd goes on when it has been emptied. */
TEST_F(counter, eventfd_full)
{
	int fd = eventfd(0, EFD_CLOEXEC), counter;
	pthread_t thread;

	ASSERT_EQ(0, eventfd_write(fd, ~0ULL - 1));
	ASSERT_EQ(0, pthread_create(&thread, NULL, write_many, &fd));
	usleep(20000);
	counter = eventfd_counter(self->a.fd, fd);
	ASSERT_LT(0, counter);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_TRUE(RAW_EVENTUALLY(raw_counter_raised(self->a.fd, counter) >= ~0ULL - 1));
	close(fd);
}

/* Whoever waits for room says in the same eventfd that there is some. */
TEST_F(counter, eventfd_that_tells_itself)
{
	int fd = eventfd(0, EFD_CLOEXEC), counter;
	struct iocb poll = {
		.aio_lio_opcode = IOCB_CMD_POLL,
		.aio_fildes = fd,
		.aio_buf = POLLOUT,
		.aio_flags = IOCB_FLAG_RESFD,
		.aio_resfd = fd,
	}, *polls = &poll;
	aio_context_t aio = 0;

	ASSERT_EQ(0, eventfd_write(fd, ~0ULL - 1));
	if (syscall(SYS_io_setup, 1, &aio))
		SKIP(return, "no asynchronous input and output");
	ASSERT_EQ(1, syscall(SYS_io_submit, aio, 1, &polls));
	counter = eventfd_counter(self->a.fd, fd);
	ASSERT_LT(0, counter);
	EXPECT_TRUE(RAW_EVENTUALLY(raw_counter_raised(self->a.fd, counter) == ~0ULL));
	EXPECT_EQ(0, syscall(SYS_io_destroy, aio));
	close(fd);
}

/* Counters of a context that may listen to an eventfd */
#define MAX_EVENTFDS	256

static __u64 raised_by_all(int fd, const int counters[MAX_EVENTFDS])
{
	__u64 sum = 0;
	int i;

	for (i = 0; i < MAX_EVENTFDS; i++)
		sum += raw_counter_raised(fd, counters[i]);
	return sum;
}

/* There may be so many that listen, to one eventfd or to many. */
TEST_F(counter, many_eventfds)
{
	int fd = eventfd(0, EFD_CLOEXEC), counters[MAX_EVENTFDS], others, i;

	for (i = 0; i < MAX_EVENTFDS; i++) {
		counters[i] = eventfd_counter(self->a.fd, fd);
		ASSERT_LT(0, counters[i]);
	}
	EXPECT_EQ(-ENOSPC, eventfd_counter(self->a.fd, fd));
	others = eventfd_counter(self->b.fd, fd);
	ASSERT_LT(0, others);
	ASSERT_EQ(0, raw_destroy(self->a.fd, counters[0]));
	EXPECT_EQ(-EBADF, eventfd_counter(self->a.fd, -1));
	counters[0] = eventfd_counter(self->a.fd, fd);
	EXPECT_LT(0, counters[0]);
	EXPECT_EQ(-ENOSPC, eventfd_counter(self->a.fd, fd));
	/* What is written is counted once. */
	ASSERT_EQ(0, eventfd_write(fd, 1));
	EXPECT_TRUE(RAW_EVENTUALLY(raised_by_all(self->a.fd, counters) +
				   raw_counter_raised(self->b.fd, others) == 1));
	close(fd);
}

/* A destroyed counter leaves the eventfd alone. */
TEST_F(counter, eventfd_after_destroy)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	int counter = eventfd_counter(self->a.fd, fd);
	eventfd_t value;

	ASSERT_LT(0, counter);
	ASSERT_EQ(0, raw_destroy(self->a.fd, counter));
	ASSERT_EQ(0, eventfd_write(fd, 6));
	ASSERT_EQ(0, eventfd_read(fd, &value));
	EXPECT_EQ(6, value);
	close(fd);
}

/* Nothing gets lost, however many write. */
TEST_F(counter, eventfd_of_many_threads)
{
	int fd = eventfd(0, EFD_CLOEXEC), i;
	int counter = eventfd_counter(self->a.fd, fd);
	pthread_t threads[4];

	ASSERT_LT(0, counter);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, write_many, &fd));
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	EXPECT_TRUE(RAW_EVENTUALLY(raw_counter_raised(self->a.fd, counter) == 4000))
		TH_LOG("%llu", raw_counter_raised(self->a.fd, counter));
	close(fd);
}

TEST_F(counter, eventfd_that_is_none)
{
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	EXPECT_EQ(-EINVAL, eventfd_counter(self->a.fd, ends[0]));
	EXPECT_EQ(-EBADF, eventfd_counter(self->a.fd, 9999));
	EXPECT_EQ(-EBADF, eventfd_counter(self->a.fd, -1));
	close(ends[0]);
	close(ends[1]);
}

/* Counts what arrived at the peer, which is known when it has said so. */
TEST_F(counter, sends)
{
	int counter = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_SENDS, self->a.endpoint);
	struct ib_collq_task tasks[4];
	int graph, status, i;

	ASSERT_LT(0, counter);
	for (i = 0; i < 3; i++)
		tasks[i] = raw_signal(self->a.endpoint, RAW_SLOT, RAW_GENERATION);
	tasks[3] = raw_wait_for(counter, 3);
	graph = raw_graph_create(self->a.fd, tasks, 4);
	ASSERT_LT(0, graph);
	ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, graph, &status));
	EXPECT_EQ(0, status);
	EXPECT_EQ(3, raw_counter_raised(self->a.fd, counter));
	EXPECT_EQ(3, raw_endpoint_info(self->a.fd, self->a.endpoint).sends_done);
	EXPECT_EQ(3, raw_endpoint_info(self->b.fd, self->b.endpoint).messages);

	/* One of a kind for each endpoint. */
	EXPECT_EQ(-EBUSY, raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_SENDS, self->a.endpoint));
	EXPECT_EQ(-EBUSY, raw_destroy(self->a.fd, counter));
	ASSERT_EQ(0, raw_destroy(self->a.fd, graph));
	ASSERT_EQ(0, raw_destroy(self->a.fd, counter));
	EXPECT_LT(0, raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_SENDS, self->a.endpoint));
}

TEST_F(counter, messages)
{
	struct ib_collq_task tasks[3];
	int counter, receive, send, status;
	__u64 sequence;

	ASSERT_EQ(0, raw_pair_add_messages(&self->a, &self->b));
	counter = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_MESSAGES,
				     self->a.message_endpoint);
	ASSERT_LT(0, counter);
	tasks[0] = raw_message(IB_COLLQ_TASK_RECV, self->a.message_endpoint);
	tasks[1] = tasks[0];
	tasks[2] = raw_wait_for(counter, 2);
	receive = raw_graph_create(self->a.fd, tasks, 3);
	ASSERT_LT(0, receive);
	tasks[0] = raw_message(IB_COLLQ_TASK_SEND, self->b.message_endpoint);
	send = raw_graph_create(self->b.fd, tasks, 1);
	ASSERT_LT(0, send);

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, receive, 0, 0, &sequence));
	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, send, &status));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(RAW_EVENTUALLY(raw_counter_raised(self->a.fd, counter) == 1));
	EXPECT_TRUE(raw_queue_in_state(self->a.fd, self->a.queue, IB_COLLQ_QUEUE_WAITING));
	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, send, &status));
	ASSERT_EQ(0, raw_result(self->a.fd, self->a.queue, sequence, &status));
	EXPECT_EQ(0, status);
	EXPECT_EQ(2, raw_counter_raised(self->a.fd, counter));
	EXPECT_EQ(2, raw_endpoint_info(self->a.fd, self->a.message_endpoint).messages);
	EXPECT_EQ(0, raw_endpoint_info(self->a.fd, self->a.endpoint).messages);

	EXPECT_EQ(-EBUSY, raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_MESSAGES,
					     self->a.message_endpoint));
	/* Sends of the same endpoint are another matter. */
	EXPECT_LT(0, raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_SENDS,
					self->a.message_endpoint));
}

/* Who sends before there is a receive waits for it. */
TEST_F(counter, message_before_the_receive)
{
	struct ib_collq_task tasks[2];
	int counter, receive, send, status;
	__u64 sequence;

	ASSERT_EQ(0, raw_pair_add_messages(&self->a, &self->b));
	counter = raw_counter_create(self->b.fd, IB_COLLQ_SOURCE_SENDS, self->b.message_endpoint);
	tasks[0] = raw_message(IB_COLLQ_TASK_SEND, self->b.message_endpoint);
	tasks[1] = raw_wait_for(counter, 1);
	send = raw_graph_create(self->b.fd, tasks, 2);
	ASSERT_EQ(0, raw_submit(self->b.fd, self->b.queue, send, 0, 0, &sequence));
	EXPECT_TRUE(raw_queue_in_state(self->b.fd, self->b.queue, IB_COLLQ_QUEUE_WAITING));

	tasks[0] = raw_message(IB_COLLQ_TASK_RECV, self->a.message_endpoint);
	receive = raw_graph_create(self->a.fd, tasks, 1);
	ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, receive, &status));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, raw_result(self->b.fd, self->b.queue, sequence, &status));
	EXPECT_EQ(0, status);
}

/* A signal that arrives before anybody waits is not lost. */
TEST_F(counter, signal)
{
	const struct ib_collq_task task = raw_signal(self->b.endpoint, RAW_SLOT, RAW_GENERATION);
	int send = raw_graph_create(self->b.fd, &task, 1);
	int graph = waiting_graph(self->a.fd, self->a.counter, 2);
	struct ib_collq_counter_read read;
	int status;

	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, send, &status));
	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, send, &status));
	ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, graph, &status));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, raw_counter_read(self->a.fd, self->a.counter, &read));
	EXPECT_EQ(2, read.raised);
	EXPECT_EQ(2, read.consumed);
}

/* Bound anew, a counter goes on counting from where it was. */
TEST_F(counter, signal_bound_twice)
{
	ASSERT_EQ(0, raw_pair_barrier(&self->a, &self->b));
	ASSERT_EQ(0, raw_slot_unbind(self->a.fd, self->a.endpoint, RAW_SLOT, RAW_GENERATION));
	ASSERT_EQ(0, raw_slot_bind(self->a.fd, self->a.endpoint, RAW_SLOT, RAW_GENERATION,
				   self->a.counter));
	ASSERT_EQ(0, raw_pair_barrier(&self->a, &self->b));
	EXPECT_EQ(2, raw_counter_raised(self->a.fd, self->a.counter));
}

TEST_F(counter, create_is_checked)
{
	int fd = self->a.fd;

	EXPECT_EQ(-EINVAL, raw_counter_create(fd, 0, 0));
	EXPECT_EQ(-EINVAL, raw_counter_create(fd, 6, 0));
	EXPECT_EQ(-EINVAL, raw_counter_create(fd, IB_COLLQ_SOURCE_USER, self->a.endpoint));
	EXPECT_EQ(-EINVAL, raw_counter_create(fd, IB_COLLQ_SOURCE_SIGNAL, self->a.endpoint));
	EXPECT_EQ(-EINVAL, raw_counter_create(fd, IB_COLLQ_SOURCE_SENDS, 0));
	EXPECT_EQ(-EINVAL, raw_counter_create(fd, IB_COLLQ_SOURCE_MESSAGES, 0));
	EXPECT_EQ(-ENOENT, raw_counter_create(fd, IB_COLLQ_SOURCE_SENDS, 9999));
	EXPECT_EQ(-ENOENT, raw_counter_create(fd, IB_COLLQ_SOURCE_SENDS, self->a.counter));
	/* A signal endpoint's messages are counted by slot. */
	EXPECT_EQ(-EINVAL, raw_counter_create(fd, IB_COLLQ_SOURCE_MESSAGES, self->a.endpoint));
}

TEST_F(counter, eventfd_of_another_source)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	struct ib_collq_counter_create create = {
		.source = IB_COLLQ_SOURCE_USER,
		.eventfd = fd,
	};

	EXPECT_EQ(-EINVAL, raw_batch(self->a.fd, IB_COLLQ_COUNTER_CREATE, &create,
				     sizeof(create), 1, NULL));
	close(fd);
}

/* A batch makes what comes before the one at fault. */
TEST_F(counter, batch)
{
	struct ib_collq_counter_create create[3] = {
		{ .source = IB_COLLQ_SOURCE_USER },
		{ .source = IB_COLLQ_SOURCE_SIGNAL, .value = 4 },
		{ .source = 99 },
	};
	int error;

	EXPECT_EQ(2, raw_batch(self->a.fd, IB_COLLQ_COUNTER_CREATE, create, sizeof(create[0]), 3,
			       &error));
	EXPECT_EQ(-EINVAL, error);
	EXPECT_EQ(0, raw_counter_raised(self->a.fd, create[0].id));
	EXPECT_EQ(4, raw_counter_raised(self->a.fd, create[1].id));
	EXPECT_EQ(0, create[2].id);
}

TEST_F(counter, read_nobody)
{
	struct ib_collq_counter_read read;

	EXPECT_EQ(-ENOENT, raw_counter_read(self->a.fd, 9999, &read));
	EXPECT_EQ(-ENOENT, raw_counter_read(self->a.fd, self->a.queue, &read));
}

TEST_HARNESS_MAIN
