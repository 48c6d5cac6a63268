// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Contexts and processes: a context belongs to the process that opened it, and
 * goes with it at any time.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"
#include "pass_fd.h"

#define EXEC_FD	"COLLQ_TEST_EXEC_FD"

/* What a command gives in this process; errno, to be an exit status. */
static int query_status(int fd)
{
	struct ib_collq_query query;

	return -raw_query(fd, &query);
}

/* This program executed anew, to see whether a descriptor is of use to it. */
static void __attribute__((constructor)) run_after_exec(void)
{
	const char *fd = getenv(EXEC_FD);

	if (fd)
		_exit(query_status(atoi(fd)));
}

FIXTURE(process) {
	struct raw_side a;
	struct raw_side b;
};

FIXTURE_SETUP(process)
{
	ASSERT_EQ(0, raw_pair_open(&self->a, &self->b));
}

FIXTURE_TEARDOWN(process)
{
	raw_pair_close(&self->a, &self->b);
}

TEST_F(process, fork)
{
	pid_t pid = fork();

	if (!pid)
		_exit(query_status(self->a.fd));
	EXPECT_EQ(EPERM, raw_exit_status(pid));
	/* The child has closed its copies, and the parent goes on. */
	EXPECT_EQ(0, raw_pair_barrier(&self->a, &self->b));
}

TEST_F(process, fork_and_mmap)
{
	struct ib_collq_ring_info info = {};
	void *map;
	pid_t pid;

	ASSERT_EQ(0, raw_describe(self->a.fd, self->a.ring.id, &info, sizeof(info)));
	pid = fork();
	if (!pid) {
		map = mmap(NULL, info.create.mmap_size, PROT_READ, MAP_SHARED, self->a.fd,
			   info.create.mmap_offset);
		_exit(map == MAP_FAILED ? errno : 0);
	}
	EXPECT_EQ(EPERM, raw_exit_status(pid));
}

/* A child has contexts of its own. */
TEST_F(process, fork_and_open)
{
	struct raw_side c, d;
	pid_t pid = fork();

	if (!pid)
		_exit(raw_pair_open(&c, &d) || raw_pair_barrier(&c, &d));
	EXPECT_EQ(0, raw_exit_status(pid));
}

TEST_F(process, exec)
{
	char fd[16];
	pid_t pid;

	snprintf(fd, sizeof(fd), "%d", self->a.fd);
	ASSERT_EQ(0, fcntl(self->a.fd, F_SETFD, 0));
	pid = fork();
	if (!pid) {
		setenv(EXEC_FD, fd, 1);
		execl("/proc/self/exe", "process_test", NULL);
		_exit(127);
	}
	EXPECT_EQ(EPERM, raw_exit_status(pid));
}

/* The process that opened it is another one after exec, though with the same id. */
TEST_F(process, exec_of_the_owner)
{
	pid_t pid = fork();
	char fd[16];
	int own;

	if (!pid) {
		own = raw_open();
		if (own < 0 || query_status(own) || fcntl(own, F_SETFD, 0))
			_exit(126);
		snprintf(fd, sizeof(fd), "%d", own);
		setenv(EXEC_FD, fd, 1);
		execl("/proc/self/exe", "process_test", NULL);
		_exit(127);
	}
	EXPECT_EQ(EPERM, raw_exit_status(pid));
}

/* A descriptor that somebody else has opened, and closed. */
TEST_F(process, descriptor_is_passed_on)
{
	int sockets[2], fd;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	pid = fork();
	if (!pid)
		_exit(pass_fd(sockets[1], raw_open()) ? 0 : 1);
	ASSERT_EQ(0, raw_exit_status(pid));
	fd = take_fd(sockets[0]);
	ASSERT_LE(0, fd);
	EXPECT_EQ(EPERM, query_status(fd));
	close(fd);
	close(sockets[0]);
	close(sockets[1]);
}

/* Ids of objects that another context has, and this one hasn't. */
TEST_F(process, objects_of_another_context)
{
	struct raw_side *a = &self->a;
	struct ib_collq_counter_read read;
	struct ib_collq_queue_wait wait;
	struct ib_collq_task task = raw_wait_for(a->counter, 1);
	struct ib_collq_queue_endpoint link = { .endpoint = a->endpoint };
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_MESSAGE);
	int fd = raw_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(-ENOENT, raw_destroy(fd, a->ring.id));
	EXPECT_EQ(-ENOENT, raw_destroy(fd, a->endpoint));
	EXPECT_EQ(-ENOENT, raw_describe(fd, a->queue, NULL, 0));
	EXPECT_EQ(-ENOENT, raw_endpoint_connect(fd, a->endpoint, self->b.attr.address));
	EXPECT_EQ(-ENOENT, raw_capacity(fd, IB_COLLQ_CAPACITY_RESERVE, a->endpoint, 1));
	EXPECT_EQ(-ENOENT, raw_capacity(fd, IB_COLLQ_CAPACITY_RELEASE, a->endpoint, 1));
	EXPECT_EQ(-ENOENT, raw_slot_bind(fd, a->endpoint, 0, 0, a->counter));
	EXPECT_EQ(-ENOENT, raw_slot_unbind(fd, a->endpoint, RAW_SLOT, RAW_GENERATION));
	EXPECT_EQ(-ENOENT, raw_counter_create(fd, IB_COLLQ_SOURCE_SENDS, a->endpoint));
	EXPECT_EQ(-ENOENT, raw_counter_raise(fd, a->counter, 1));
	EXPECT_EQ(-ENOENT, raw_counter_read(fd, a->counter, &read));
	EXPECT_EQ(-ENOENT, raw_queue_create(fd, a->ring.id, 1, NULL, 0));
	EXPECT_EQ(-ENOENT, raw_graph_create(fd, &task, 1));
	task = raw_signal(a->endpoint, 0, 0);
	EXPECT_EQ(-ENOENT, raw_graph_create(fd, &task, 1));
	EXPECT_EQ(-ENOENT, raw_submit(fd, a->queue, a->graph, 0, 0, NULL));
	EXPECT_EQ(-ENOENT, raw_wait(fd, a->queue, 1, 1, &wait));
	EXPECT_EQ(-ENOENT, raw_cancel(fd, a->queue, 0));
	attr.signal_endpoint = a->endpoint;
	EXPECT_EQ(-ENOENT, raw_endpoint_create(fd, &attr));

	/* The same id means another object here, and the two don't meet. */
	ASSERT_EQ(a->ring.id, raw_counter_create(fd, IB_COLLQ_SOURCE_USER, 0));
	EXPECT_EQ(-ENOENT, raw_queue_create(fd, a->ring.id, 1, &link, 1));
	EXPECT_EQ(0, raw_destroy(fd, a->ring.id));
	close(fd);
	EXPECT_EQ(0, raw_pair_barrier(a, &self->b));
}

/* Closed with graphs that wait, that are queued, and that can't send. */
TEST_F(process, close_with_graphs_in_flight)
{
	const struct ib_collq_task task = raw_wait_for(self->a.counter, 1);
	int other = raw_graph_create(self->a.fd, &task, 1), i;
	struct ib_collq_completion completion;

	ASSERT_EQ(0, raw_submit(self->b.fd, self->b.queue, self->b.graph, 0, 0, NULL));
	ASSERT_EQ(0, raw_submit(self->b.fd, self->b.queue, self->b.graph, 0, 0, NULL));
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->a.graph, 0, 0, NULL));
	for (i = 0; i < RAW_DEPTH - 1; i++)
		ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, other, 0, 0, NULL));
	raw_side_close(&self->a);
	/* The first was answered; the second is cancelled with the queue over there. */
	ASSERT_EQ(0, raw_ring_next(self->b.fd, &self->b.ring, &completion));
	EXPECT_EQ(0, completion.status);
	ASSERT_EQ(0, raw_ring_next(self->b.fd, &self->b.ring, &completion));
	EXPECT_EQ(-ECONNRESET, completion.status);
}

/* Opens a side and connects it to the one at the other end of a socket. */
static int join(struct raw_side *side, int socket)
{
	__u8 address[IB_COLLQ_ADDRESS_SIZE];
	int err = raw_side_open(side);
	char byte = 0;

	if (err)
		return err;
	if (write(socket, side->attr.address, sizeof(address)) != sizeof(address) ||
	    recv(socket, address, sizeof(address), MSG_WAITALL) != sizeof(address))
		return -EIO;
	err = raw_side_connect(side, address);
	if (err)
		return err;
	/* Both are connected. */
	if (write(socket, &byte, 1) != 1 || recv(socket, &byte, 1, MSG_WAITALL) != 1)
		return -EIO;
	return 0;
}

/* A process that is killed in its sleep: it goes at once, and its peer hears of it. */
TEST(killed_while_it_waits)
{
	struct raw_side a, b;
	int sockets[2], status;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	pid = fork();
	if (!pid) {
		if (join(&b, sockets[1]))
			_exit(1);
		raw_run(b.fd, b.queue, b.graph, &status);
		_exit(2);
	}
	ASSERT_EQ(0, join(&a, sockets[0]));
	/* It has sent its signal, and sleeps. */
	ASSERT_TRUE(RAW_EVENTUALLY(raw_counter_raised(a.fd, a.counter) == 1 && raw_asleep(pid)));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(128 + SIGKILL, raw_exit_status(pid));
	/* The signal is here, but the queue over there has failed. */
	EXPECT_TRUE(RAW_EVENTUALLY(raw_queue_in_state(a.fd, a.queue, IB_COLLQ_QUEUE_FAILED)));
	EXPECT_EQ(-ECONNRESET, raw_submit(a.fd, a.queue, a.graph, 0, 0, NULL));
	EXPECT_TRUE(RAW_EVENTUALLY(raw_endpoint_info(a.fd, a.endpoint).state ==
				   IB_COLLQ_ENDPOINT_PEER_CLOSED));
	raw_side_close(&a);
}

/* Two processes pass one barrier and exit: neither must miss the other's signal. */
static int pass_and_exit(int socket)
{
	struct raw_side side;
	int status;

	if (join(&side, socket))
		return 1;
	if (raw_run(side.fd, side.queue, side.graph, &status))
		return 2;
	return status ? 3 : 0;
}

TEST_F_TIMEOUT(process, exit_after_a_barrier, 120)
{
	pid_t pid[2];
	int i, k, sockets[2];

	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
		for (k = 0; k < 2; k++) {
			pid[k] = fork();
			if (!pid[k])
				_exit(pass_and_exit(sockets[k]));
		}
		for (k = 0; k < 2; k++) {
			EXPECT_EQ(0, raw_exit_status(pid[k]))
				TH_LOG("round %d", i);
		}
		close(sockets[0]);
		close(sockets[1]);
	}
}

/* Neither privileges nor memory that may be locked. */
TEST(ordinary_user)
{
	const struct rlimit nothing = {};
	struct raw_side a, b;
	int i;

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &nothing));
	if (!geteuid())
		ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	ASSERT_NE(0, geteuid());
	ASSERT_EQ(0, raw_pair_open(&a, &b));
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, raw_pair_barrier(&a, &b))
			TH_LOG("barrier %d", i);
	}
}

TEST_HARNESS_MAIN
