// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Looking into other contexts: who may, and what is seen.
 */
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"
#include "hole.h"

#define SOMEBODY	1234
#define SOMEBODY_ELSE	1235
#define STRANGER	1236

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

/* Whose contexts there are to be seen; the last one's is in a PID namespace of its own. */
enum { OF_ROOT, OF_SOMEBODY, OF_SOMEBODY_ELSE, OF_SOMEBODY_BELOW, NR_OWNERS };

#define SEEN(owner)	(1 << (owner))
#define ALL		(SEEN(NR_OWNERS) - 1)

/* Beyond all those */
#define NOT_OPENED	100
#define NO_SENSE	101

/* A process that has a context with an object in it, until it's told to end */
struct owner {
	pid_t pid;
	int end;
	__u32 context;
};

/* As fork(), in new namespaces */
static pid_t fork_into(unsigned long namespaces)
{
	return syscall(SYS_clone, namespaces | SIGCHLD, 0, 0, 0, 0);
}

/* That user, with CAP_SYS_ADMIN and no other capability, or without any. */
static bool become(uid_t uid, bool admin)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2] = {};

	if (admin) {
		caps[0].permitted = 1U << CAP_SYS_ADMIN;
		caps[0].effective = caps[0].permitted;
	}
	return !prctl(PR_SET_KEEPCAPS, 1) && !setresuid(uid, uid, uid) &&
	       !syscall(SYS_capset, &header, caps);
}

static void owner_run(uid_t uid, int ready, int end)
{
	struct ib_collq_context_describe attr;
	char byte;
	int fd;

	if (!become(uid, false))
		_exit(1);
	fd = raw_open();
	if (raw_counter_create(fd, IB_COLLQ_SOURCE_USER, 0) < 0 ||
	    context_describe(fd, 0, 0, &attr) ||
	    write(ready, &attr.id, sizeof(attr.id)) != sizeof(attr.id))
		_exit(1);
	_exit(!!read(end, &byte, 1));
}

static bool owner_start(struct owner *owner, uid_t uid, unsigned long namespaces)
{
	int ready[2], end[2];
	bool began;

	if (pipe(ready) || pipe(end))
		return false;
	owner->pid = fork_into(namespaces);
	if (!owner->pid) {
		close(end[1]);
		owner_run(uid, ready[1], end[0]);
	}
	close(ready[1]);
	close(end[0]);
	owner->end = end[1];
	began = read(ready[0], &owner->context, sizeof(owner->context)) == sizeof(owner->context);
	close(ready[0]);
	return began;
}

/* Whether a context is found in the list and by its id, and can be looked into: all or none. */
static int sees(int fd, __u32 id)
{
	struct ib_collq_context_describe attr = {};
	struct ib_collq_object_describe object = {
		.size = sizeof(object),
		.flags = IB_COLLQ_DESCRIBE_NEXT,
		.context = id,
	};
	bool found = false;
	__u32 next = 0;

	while (!found && !context_describe(fd, next, IB_COLLQ_DESCRIBE_NEXT, &attr)) {
		found = attr.id == id;
		next = attr.id + 1;
	}
	if (context_describe(fd, id, 0, &attr) != (found ? 0 : -ENOENT) ||
	    raw_ioctl(fd, IB_COLLQ_OBJECT_DESCRIBE, &object) != (found ? 0 : -ENOENT))
		return -1;
	return found;
}

FIXTURE(visible) {
	struct raw_side root;
	struct owner owners[NR_OWNERS];
};

/* Who looks, from which namespaces, and whose contexts that one is to see */
FIXTURE_VARIANT(visible) {
	uid_t uid;
	bool admin;
	unsigned long namespaces;
	int seen;
};

FIXTURE_VARIANT_ADD(visible, to_root) {
	.uid = 0, .admin = true, .seen = ALL,
};

FIXTURE_VARIANT_ADD(visible, to_root_without_capabilities) {
	.uid = 0, .seen = SEEN(OF_ROOT),
};

FIXTURE_VARIANT_ADD(visible, to_a_user) {
	.uid = SOMEBODY, .seen = SEEN(OF_SOMEBODY) | SEEN(OF_SOMEBODY_BELOW),
};

FIXTURE_VARIANT_ADD(visible, to_another_user) {
	.uid = SOMEBODY_ELSE, .seen = SEEN(OF_SOMEBODY_ELSE),
};

FIXTURE_VARIANT_ADD(visible, to_a_stranger) {
	.uid = STRANGER, .seen = 0,
};

FIXTURE_VARIANT_ADD(visible, to_a_stranger_with_the_capability) {
	.uid = STRANGER, .admin = true, .seen = ALL,
};

/* Neither those above nor those in another one below. */
FIXTURE_VARIANT_ADD(visible, from_a_pid_namespace) {
	.uid = SOMEBODY, .namespaces = CLONE_NEWPID, .seen = 0,
};

FIXTURE_VARIANT_ADD(visible, from_a_pid_namespace_to_root) {
	.uid = 0, .namespaces = CLONE_NEWPID, .seen = 0,
};

FIXTURE_VARIANT_ADD(visible, from_a_pid_namespace_with_the_capability) {
	.uid = SOMEBODY, .admin = true, .namespaces = CLONE_NEWPID, .seen = ALL,
};

/* There everybody may do anything, with what is there. */
FIXTURE_VARIANT_ADD(visible, from_a_user_namespace) {
	.uid = SOMEBODY, .namespaces = CLONE_NEWUSER,
	.seen = SEEN(OF_SOMEBODY) | SEEN(OF_SOMEBODY_BELOW),
};

FIXTURE_SETUP(visible)
{
	struct ib_collq_context_describe attr;

	if (geteuid())
		SKIP(return, "takes root");
	ASSERT_EQ(0, raw_side_open(&self->root));
	ASSERT_EQ(0, context_describe(self->root.fd, 0, 0, &attr));
	self->owners[OF_ROOT].context = attr.id;
	ASSERT_TRUE(owner_start(&self->owners[OF_SOMEBODY], SOMEBODY, 0));
	ASSERT_TRUE(owner_start(&self->owners[OF_SOMEBODY_ELSE], SOMEBODY_ELSE, 0));
	ASSERT_TRUE(owner_start(&self->owners[OF_SOMEBODY_BELOW], SOMEBODY, CLONE_NEWPID));
}

FIXTURE_TEARDOWN(visible)
{
	struct owner *owner;

	/* All of them first, since those that were started later have the others' pipes too. */
	for (owner = self->owners; owner < self->owners + NR_OWNERS; owner++) {
		if (owner->pid > 0)
			close(owner->end);
	}
	for (owner = self->owners; owner < self->owners + NR_OWNERS; owner++) {
		if (owner->pid > 0)
			EXPECT_EQ(0, raw_exit_status(owner->pid));
	}
	raw_side_close(&self->root);
}

/* All that are seen, which have the pid that they have there, or none. */
static int look_around(const struct owner *owners, bool pids)
{
	struct ib_collq_context_describe attr;
	int fd = raw_open(), seen = 0, i, see;

	if (context_describe(fd, 0, 0, &attr) || attr.pid != (__u32)getpid())
		return NOT_OPENED;
	for (i = 0; i < NR_OWNERS; i++) {
		see = sees(fd, owners[i].context);
		if (see < 0)
			return NO_SENSE;
		if (!see)
			continue;
		seen |= SEEN(i);
		context_describe(fd, owners[i].context, 0, &attr);
		if (i != OF_ROOT && attr.pid != (pids ? (__u32)owners[i].pid : 0))
			return NO_SENSE;
	}
	return seen;
}

TEST_F(visible, contexts)
{
	pid_t child = fork_into(variant->namespaces & CLONE_NEWPID);

	ASSERT_LE(0, child);
	if (!child) {
		if (!become(variant->uid, variant->admin) ||
		    unshare(variant->namespaces & CLONE_NEWUSER))
			_exit(NOT_OPENED);
		_exit(look_around(self->owners, !(variant->namespaces & CLONE_NEWPID)));
	}
	EXPECT_EQ(variant->seen, raw_exit_status(child));
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
