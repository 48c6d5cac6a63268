// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Looking into other contexts: who may, and what is seen.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"
#include "hole.h"

#define SOMEBODY	1234
#define SOMEBODY_ELSE	1235

FIXTURE(inspect) {
	struct raw_side a;
	struct raw_side b;
};

FIXTURE_SETUP(inspect)
{
	ASSERT_EQ(0, raw_pair_open(&self->a, &self->b));
}

FIXTURE_TEARDOWN(inspect)
{
	raw_pair_close(&self->a, &self->b);
}

static int context_describe(int fd, __u32 id, __u32 flags, struct ib_collq_context_describe *attr)
{
	*attr = (struct ib_collq_context_describe) {
		.size = sizeof(*attr),
		.flags = flags,
		.id = id,
	};
	return raw_ioctl(fd, IB_COLLQ_CONTEXT_DESCRIBE, attr);
}

static int queue_of(int fd, __u32 context, __u32 queue, struct ib_collq_queue_info *info)
{
	struct ib_collq_object_describe attr = {
		.size = sizeof(attr),
		.id = queue,
		.info = (__u64)(unsigned long)info,
		.info_size = sizeof(*info),
		.context = context,
	};

	return raw_ioctl(fd, IB_COLLQ_OBJECT_DESCRIBE, &attr);
}

/* Number of contexts of a process that are seen from a descriptor. */
static int contexts_of(int fd, pid_t pid)
{
	struct ib_collq_context_describe attr;
	__u32 id = 0;
	int nr = 0, err;

	while (!(err = context_describe(fd, id, IB_COLLQ_DESCRIBE_NEXT, &attr))) {
		nr += attr.pid == (__u32)pid;
		id = attr.id + 1;
	}
	return err == -ENOENT ? nr : err;
}

TEST_F(inspect, own)
{
	struct ib_collq_context_describe attr;
	char name[16] = {};

	prctl(PR_GET_NAME, name);
	ASSERT_EQ(0, context_describe(self->a.fd, 0, 0, &attr));
	EXPECT_LT(0, attr.id);
	EXPECT_EQ(5, attr.nr_objects);
	EXPECT_EQ(getpid(), attr.pid);
	EXPECT_EQ(geteuid(), attr.uid);
	EXPECT_STREQ(name, (char *)attr.comm);
	EXPECT_GE(raw_now(), attr.created);
	EXPECT_LE(raw_now(), attr.created + 60000000000ULL);
	EXPECT_EQ(2, contexts_of(self->a.fd, getpid()));
}

/* What a queue of another context waits for. */
TEST_F(inspect, another)
{
	struct ib_collq_context_describe attr;
	struct ib_collq_queue_info info;
	struct ib_collq_task task = raw_wait_for(self->b.counter, 1);
	int graph;

	task.label = 77;
	graph = raw_graph_create(self->b.fd, &task, 1);
	ASSERT_LT(0, graph);
	ASSERT_EQ(0, raw_submit(self->b.fd, self->b.queue, graph, 0, 0, NULL));
	ASSERT_EQ(0, context_describe(self->b.fd, 0, 0, &attr));
	ASSERT_EQ(0, queue_of(self->a.fd, attr.id, self->b.queue, &info));
	EXPECT_EQ(IB_COLLQ_QUEUE_WAITING, info.state);
	EXPECT_EQ(graph, info.graph);
	EXPECT_EQ(77, info.label);
	EXPECT_EQ(self->b.counter, info.object);
	EXPECT_GE(raw_now(), info.since);
	/* Its own has the same ids, and does nothing. */
	ASSERT_EQ(0, queue_of(self->a.fd, 0, self->a.queue, &info));
	EXPECT_EQ(IB_COLLQ_QUEUE_IDLE, info.state);
	raw_side_close(&self->b);
	EXPECT_EQ(-ENOENT, context_describe(self->a.fd, attr.id, 0, &attr));
}

/* As a user: the number of the given process' contexts that are seen. */
static int seen_by(uid_t uid, pid_t pid)
{
	pid_t child = fork();
	int status, fd;

	if (!child) {
		if (setresuid(uid, uid, uid))
			_exit(100);
		fd = raw_open();
		_exit(fd < 0 ? 101 : contexts_of(fd, pid));
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* A process of another user, with two contexts, until it's told to end. */
TEST_F(inspect, users)
{
	int ready[2], end[2];
	pid_t owner;
	char byte;

	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(end));
	owner = fork();
	ASSERT_LE(0, owner);
	if (!owner) {
		close(end[1]);
		if (setresuid(SOMEBODY, SOMEBODY, SOMEBODY) || raw_open() < 0 || raw_open() < 0 ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		_exit(read(end[0], &byte, 1) != 0);
	}
	close(ready[1]);
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	EXPECT_EQ(2, seen_by(SOMEBODY, owner));
	EXPECT_EQ(0, seen_by(SOMEBODY_ELSE, owner));
	EXPECT_EQ(2, seen_by(0, owner));
	EXPECT_EQ(0, seen_by(SOMEBODY, getpid()));
	close(end[1]);
	EXPECT_EQ(owner, waitpid(owner, NULL, 0));
	EXPECT_EQ(0, seen_by(0, owner));
}

/* Who has a call that doesn't come back isn't waited for by those who look. */
TEST_F(inspect, busy)
{
	struct ib_collq_context_describe attr;
	struct ib_collq_queue_info info;
	struct hole_upload upload;
	struct hole hole;

	ASSERT_EQ(0, context_describe(self->b.fd, 0, 0, &attr));
	ASSERT_TRUE(hole_open(&hole));
	ASSERT_TRUE(hole_upload_begin(&upload, self->b.fd, &hole));
	EXPECT_EQ(-EBUSY, queue_of(self->a.fd, attr.id, self->b.queue, &info));
	EXPECT_EQ(0, context_describe(self->a.fd, attr.id, 0, &attr));
	ASSERT_TRUE(hole_fill(&hole));
	EXPECT_EQ(-EINVAL, hole_upload_end(&upload));
	EXPECT_EQ(0, queue_of(self->a.fd, attr.id, self->b.queue, &info));
	hole_close(&hole);
}

/* A look with memory that doesn't come. */
struct look {
	int fd;
	__u32 context;
	__u32 queue;
	void *info;
	int result;
};

static void *look_run(void *arg)
{
	struct look *look = arg;

	look->result = queue_of(look->fd, look->context, look->queue, look->info);
	return NULL;
}

/* It keeps nobody from his work. */
TEST_F(inspect, stuck_look)
{
	struct look look = { .fd = self->a.fd, .queue = self->b.queue };
	struct ib_collq_context_describe attr;
	pthread_t thread;
	struct hole hole;

	ASSERT_EQ(0, context_describe(self->b.fd, 0, 0, &attr));
	ASSERT_TRUE(hole_open(&hole));
	look.context = attr.id;
	look.info = hole.page;
	ASSERT_EQ(0, pthread_create(&thread, NULL, look_run, &look));
	ASSERT_TRUE(hole_is_felt(&hole));
	EXPECT_LT(0, raw_counter_create(self->b.fd, IB_COLLQ_SOURCE_USER, 0));
	raw_side_close(&self->b);
	ASSERT_TRUE(hole_fill(&hole));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, look.result);
	hole_close(&hole);
}

TEST_HARNESS_MAIN
