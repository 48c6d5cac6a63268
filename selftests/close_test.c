// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Closing: what the peer learns of it, and that no message is lost because its
 * sender went right afterwards.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

FIXTURE(close) {
	struct raw_side a;
	struct raw_side b;
	__u32 send;		/* b's graph that sends a signal */
	__u32 wait_for_2;	/* a's graph that waits for two */
};

FIXTURE_SETUP(close)
{
	struct ib_collq_task task;

	ASSERT_EQ(0, raw_pair_open(&self->a, &self->b));
	task = raw_signal(self->b.endpoint, RAW_SLOT, RAW_GENERATION);
	self->send = raw_graph_create(self->b.fd, &task, 1);
	task = raw_wait_for(self->a.counter, 2);
	task.label = 7;
	self->wait_for_2 = raw_graph_create(self->a.fd, &task, 1);
	ASSERT_LT(0, (int)self->send);
	ASSERT_LT(0, (int)self->wait_for_2);
}

FIXTURE_TEARDOWN(close)
{
	raw_pair_close(&self->a, &self->b);
}

static bool peer_closed(const struct raw_side *side)
{
	return raw_endpoint_info(side->fd, side->endpoint).state == IB_COLLQ_ENDPOINT_PEER_CLOSED;
}

/* A WAIT that is short of its count, and was so before. */
TEST_F(close, wait_that_is_short)
{
	struct ib_collq_completion completion;
	struct ib_collq_counter_read read;
	int status;

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->wait_for_2, 0, 0, NULL));
	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, self->send, &status));
	ASSERT_TRUE(RAW_EVENTUALLY(raw_counter_raised(self->a.fd, self->a.counter) == 1));
	EXPECT_FALSE(raw_ring_take(&self->a.ring, &completion));
	raw_side_close(&self->b);

	ASSERT_EQ(0, raw_ring_next(self->a.fd, &self->a.ring, &completion));
	EXPECT_EQ(-ECONNRESET, completion.status);
	EXPECT_EQ(self->a.endpoint, completion.endpoint);
	EXPECT_EQ(42, completion.peer);
	EXPECT_EQ(0, completion.task);
	EXPECT_EQ(7, completion.label);
	EXPECT_TRUE(peer_closed(&self->a));
	EXPECT_EQ(-ECONNRESET, raw_endpoint_info(self->a.fd, self->a.endpoint).error);
	ASSERT_EQ(0, raw_counter_read(self->a.fd, self->a.counter, &read));
	EXPECT_EQ(-ECONNRESET, read.error);
	EXPECT_EQ(1, read.raised);
	EXPECT_EQ(0, read.consumed);
}

/* And one that comes later. */
TEST_F(close, wait_after_it)
{
	struct ib_collq_completion completion;
	int status;

	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, self->send, &status));
	raw_side_close(&self->b);
	ASSERT_TRUE(RAW_EVENTUALLY(peer_closed(&self->a)));
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->wait_for_2, 0, 0, NULL));
	ASSERT_EQ(0, raw_ring_next(self->a.fd, &self->a.ring, &completion));
	EXPECT_EQ(-ECONNRESET, completion.status);
	EXPECT_EQ(self->a.endpoint, completion.endpoint);
}

/* What has come is enough: nothing fails. */
TEST_F(close, wait_that_has_enough)
{
	int status;

	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, self->send, &status));
	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, self->send, &status));
	raw_side_close(&self->b);
	ASSERT_TRUE(RAW_EVENTUALLY(peer_closed(&self->a)));
	EXPECT_TRUE(raw_queue_in_state(self->a.fd, self->a.queue, IB_COLLQ_QUEUE_IDLE));
	ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, self->wait_for_2, &status));
	EXPECT_EQ(0, status);
}

/* The user may raise his counter at any time, whoever is gone. */
TEST_F(close, wait_for_the_user)
{
	int counter = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_USER, 0);
	const struct ib_collq_task task = raw_wait_for(counter, 1);
	int graph = raw_graph_create(self->a.fd, &task, 1), status;
	struct ib_collq_counter_read read;
	__u64 sequence;

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, graph, 0, 0, &sequence));
	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, self->send, &status));
	raw_side_close(&self->b);
	ASSERT_TRUE(RAW_EVENTUALLY(peer_closed(&self->a)));
	/* The signal counter has heard of it, so the user's would have. */
	ASSERT_TRUE(RAW_EVENTUALLY(!raw_counter_read(self->a.fd, self->a.counter, &read) &&
				   read.error));
	EXPECT_TRUE(raw_queue_in_state(self->a.fd, self->a.queue, IB_COLLQ_QUEUE_WAITING));
	ASSERT_EQ(0, raw_counter_raise(self->a.fd, counter, 1));
	ASSERT_EQ(0, raw_result(self->a.fd, self->a.queue, sequence, &status));
	EXPECT_EQ(0, status);
}

/* There's nobody to send to. */
TEST_F(close, send_after_it)
{
	const struct ib_collq_task task = raw_signal(self->a.endpoint, RAW_SLOT, RAW_GENERATION);
	int graph = raw_graph_create(self->a.fd, &task, 1), status;
	struct ib_collq_completion completion;

	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, self->send, &status));
	raw_side_close(&self->b);
	ASSERT_TRUE(RAW_EVENTUALLY(peer_closed(&self->a)));
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, graph, 0, 0, NULL));
	ASSERT_TRUE(raw_ring_take(&self->a.ring, &completion));
	EXPECT_EQ(-ECONNRESET, completion.status);
	EXPECT_EQ(self->a.endpoint, completion.endpoint);
	EXPECT_EQ(0, completion.task);
	EXPECT_EQ(0, raw_endpoint_info(self->a.fd, self->a.endpoint).sends);
}

/* Closed before anything was ever sent. */
TEST_F(close, endpoint_that_carried_nothing)
{
	struct ib_collq_completion completion;

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->wait_for_2, 0, 0, NULL));
	raw_side_close(&self->b);
	ASSERT_EQ(0, raw_ring_next(self->a.fd, &self->a.ring, &completion));
	EXPECT_EQ(-ECONNRESET, completion.status);
	EXPECT_EQ(self->a.endpoint, completion.endpoint);
}

/* An endpoint that is destroyed says what a context that is closed does. */
TEST_F(close, endpoint_is_destroyed)
{
	struct ib_collq_completion completion;
	int status;

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->wait_for_2, 0, 0, NULL));
	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, self->send, &status));
	ASSERT_EQ(0, raw_slot_unbind(self->b.fd, self->b.endpoint, RAW_SLOT, RAW_GENERATION));
	ASSERT_EQ(0, raw_destroy(self->b.fd, self->send));
	ASSERT_EQ(0, raw_destroy(self->b.fd, self->b.graph));
	ASSERT_EQ(0, raw_destroy(self->b.fd, self->b.queue));
	ASSERT_EQ(0, raw_destroy(self->b.fd, self->b.endpoint));
	ASSERT_EQ(0, raw_ring_next(self->a.fd, &self->a.ring, &completion));
	EXPECT_EQ(-ECONNRESET, completion.status);
	/* Its owner is fine. */
	EXPECT_FALSE(raw_ring_take(&self->b.ring, &completion) && completion.status);
}

/* Two WAITs, on counters of different endpoints: one peer goes, one doesn't. */
TEST_F(close, endpoint_of_another_peer)
{
	const struct ib_collq_task task = raw_wait_for(self->a.counter, 1);
	int graph = raw_graph_create(self->a.fd, &task, 1), status;
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct raw_side c;
	__u64 sequence;

	ASSERT_EQ(0, raw_side_open(&c));
	ASSERT_LT(0, raw_endpoint_create(self->a.fd, &attr));
	ASSERT_EQ(0, raw_endpoint_connect(self->a.fd, attr.id, c.attr.address));
	ASSERT_EQ(0, raw_side_connect(&c, attr.address));
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, graph, 0, 0, &sequence));
	/* c waits for nobody, but has sent something. */
	ASSERT_EQ(0, raw_submit(c.fd, c.queue, c.graph, 0, 0, NULL));
	raw_side_close(&c);
	ASSERT_TRUE(RAW_EVENTUALLY(raw_endpoint_info(self->a.fd, attr.id).state ==
				   IB_COLLQ_ENDPOINT_PEER_CLOSED));
	EXPECT_TRUE(raw_queue_in_state(self->a.fd, self->a.queue, IB_COLLQ_QUEUE_WAITING));
	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, self->send, &status));
	ASSERT_EQ(0, raw_result(self->a.fd, self->a.queue, sequence, &status));
	EXPECT_EQ(0, status);
}

/* A message endpoint's counters hear of it by way of its signal endpoint. */
TEST_F(close, message_endpoint)
{
	struct ib_collq_completion completion;
	struct ib_collq_task tasks[2];
	int counter, graph, status;

	ASSERT_EQ(0, raw_pair_add_messages(&self->a, &self->b));
	counter = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_MESSAGES,
				     self->a.message_endpoint);
	tasks[0] = raw_message(IB_COLLQ_TASK_RECV, self->a.message_endpoint);
	tasks[1] = raw_wait_for(counter, 1);
	graph = raw_graph_create(self->a.fd, tasks, 2);
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, graph, 0, 0, NULL));
	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, self->send, &status));
	raw_side_close(&self->b);
	ASSERT_EQ(0, raw_ring_next(self->a.fd, &self->a.ring, &completion));
	EXPECT_EQ(-ECONNRESET, completion.status);
	EXPECT_EQ(1, completion.task);
}

/* There's no use in a message endpoint to a peer that is gone. */
TEST_F(close, message_endpoint_after_it)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_MESSAGE);

	raw_side_close(&self->b);
	ASSERT_TRUE(RAW_EVENTUALLY(peer_closed(&self->a)));
	attr.signal_endpoint = self->a.endpoint;
	EXPECT_EQ(-ECONNRESET, raw_endpoint_create(self->a.fd, &attr));
}

/* The last message of one who goes at once, again and again. */
FIXTURE(linger) {
	int fd;
	__u32 counter;
};

FIXTURE_VARIANT(linger) {
	bool destroy;	/* the endpoint, before the context is closed */
	int rounds;
};

FIXTURE_VARIANT_ADD(linger, context_is_closed) {
	.rounds = 1000,
};

FIXTURE_VARIANT_ADD(linger, endpoint_is_destroyed) {
	.destroy = true,
	.rounds = 200,
};

FIXTURE_SETUP(linger)
{
	self->fd = raw_open();
	ASSERT_LE(0, self->fd);
	self->counter = raw_counter_create(self->fd, IB_COLLQ_SOURCE_SIGNAL, 0);
	ASSERT_LT(0, (int)self->counter);
}

FIXTURE_TEARDOWN(linger)
{
	close(self->fd);
}

/* Who sends: all that it takes, in a context of its own. */
struct sender {
	int fd;
	struct ib_collq_endpoint_create attr;
	int graph;
	int queue;
};

static int sender_open(struct sender *sender)
{
	struct ib_collq_ring_create ring = { .size = sizeof(ring), .entries = 1, .eventfd = -1 };
	struct ib_collq_task task;
	int err;

	sender->fd = raw_open();
	if (sender->fd < 0)
		return sender->fd;
	sender->attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	err = raw_endpoint_create(sender->fd, &sender->attr);
	if (err < 0)
		return err;
	err = raw_ioctl(sender->fd, IB_COLLQ_RING_CREATE, &ring);
	if (err)
		return err;
	task = raw_signal(sender->attr.id, RAW_SLOT, RAW_GENERATION);
	sender->graph = raw_graph_create(sender->fd, &task, 1);
	sender->queue = raw_queue_create(sender->fd, ring.id, 1, NULL, 0);
	return sender->graph < 0 || sender->queue < 0 ? -EPROTO : 0;
}

/* An endpoint of the receiver, connected, whose slot raises the counter. */
static int receiver_open(int fd, __u32 counter, const __u8 *peer_address,
			 struct ib_collq_endpoint_create *attr)
{
	int err;

	*attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	err = raw_endpoint_create(fd, attr);
	if (err < 0)
		return err;
	err = raw_slot_bind(fd, attr->id, RAW_SLOT, RAW_GENERATION, counter);
	if (err)
		return err;
	return raw_endpoint_connect(fd, attr->id, peer_address);
}

static int receiver_close(int fd, __u32 endpoint)
{
	int err = raw_slot_unbind(fd, endpoint, RAW_SLOT, RAW_GENERATION);

	return err ? err : raw_destroy(fd, endpoint);
}

TEST_F_TIMEOUT(linger, nothing_is_lost, 200)
{
	struct ib_collq_endpoint_create attr;
	struct sender sender;
	int i;

	for (i = 0; i < variant->rounds; i++) {
		ASSERT_EQ(0, sender_open(&sender));
		ASSERT_EQ(0, receiver_open(self->fd, self->counter, sender.attr.address, &attr));
		ASSERT_EQ(0, raw_endpoint_connect(sender.fd, sender.attr.id, attr.address));

		ASSERT_EQ(0, raw_submit(sender.fd, sender.queue, sender.graph, 0, 0, NULL));
		if (variant->destroy) {
			ASSERT_EQ(0, raw_destroy(sender.fd, sender.graph));
			ASSERT_EQ(0, raw_destroy(sender.fd, sender.attr.id));
		}
		close(sender.fd);

		ASSERT_TRUE(RAW_EVENTUALLY(raw_counter_raised(self->fd, self->counter) ==
					   (__u64)i + 1))
			TH_LOG("lost in round %d", i);
		ASSERT_EQ(0, receiver_close(self->fd, attr.id));
	}
}

/* A process that is killed right after it has sent something. */
static void send_and_die(int pipe)
{
	__u8 address[IB_COLLQ_ADDRESS_SIZE];
	struct sender sender;

	if (sender_open(&sender) ||
	    write(pipe, sender.attr.address, sizeof(address)) != sizeof(address) ||
	    read(pipe, address, sizeof(address)) != sizeof(address) ||
	    raw_endpoint_connect(sender.fd, sender.attr.id, address) ||
	    raw_submit(sender.fd, sender.queue, sender.graph, 0, 0, NULL))
		_exit(1);
	kill(getpid(), SIGKILL);
}

TEST(killed_after_sending)
{
	int fd = raw_open(), counter = raw_counter_create(fd, IB_COLLQ_SOURCE_SIGNAL, 0);
	struct ib_collq_endpoint_create attr;
	__u8 address[IB_COLLQ_ADDRESS_SIZE];
	int pipe[2], i, status;
	pid_t pid;

	ASSERT_LE(0, fd);
	for (i = 0; i < 50; i++) {
		ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pipe));
		pid = fork();
		if (!pid)
			send_and_die(pipe[1]);
		close(pipe[1]);
		ASSERT_EQ(sizeof(address), read(pipe[0], address, sizeof(address)));
		ASSERT_EQ(0, receiver_open(fd, counter, address, &attr));
		ASSERT_EQ(sizeof(attr.address), write(pipe[0], attr.address, sizeof(attr.address)));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_TRUE(WIFSIGNALED(status));
		ASSERT_TRUE(RAW_EVENTUALLY(raw_counter_raised(fd, counter) == (__u64)i + 1))
			TH_LOG("lost in round %d", i);
		EXPECT_TRUE(RAW_EVENTUALLY(raw_endpoint_info(fd, attr.id).state ==
					   IB_COLLQ_ENDPOINT_PEER_CLOSED));
		ASSERT_EQ(0, receiver_close(fd, attr.id));
		close(pipe[0]);
	}
	close(fd);
}

TEST_HARNESS_MAIN
