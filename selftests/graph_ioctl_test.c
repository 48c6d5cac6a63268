// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Uploading graphs: that a refusal tells what is wrong, and by how much. All of
 * validation is tested without a device, in graph_check_test; this is the way
 * that it takes through the ioctl.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

#define NOBODY	9999

/* Objects of a context that was just opened have the ids 1, 2, ... */
#define SIGNAL_ENDPOINT		1
#define MESSAGE_ENDPOINT	2
#define COUNTER			3

FIXTURE(graph) {
	int fd;
	struct ib_collq_query query;
};

static int open_context(void)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	int fd = raw_open();

	if (fd < 0)
		return fd;
	if (raw_endpoint_create(fd, &attr) != SIGNAL_ENDPOINT)
		return -EPROTO;
	attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_MESSAGE);
	attr.signal_endpoint = SIGNAL_ENDPOINT;
	if (raw_endpoint_create(fd, &attr) != MESSAGE_ENDPOINT ||
	    raw_counter_create(fd, IB_COLLQ_SOURCE_USER, 0) != COUNTER)
		return -EPROTO;
	return fd;
}

FIXTURE_SETUP(graph)
{
	self->fd = open_context();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, raw_query(self->fd, &self->query));
}

FIXTURE_TEARDOWN(graph)
{
	close(self->fd);
}

static struct ib_collq_graph_create create_of(const struct ib_collq_task *tasks, __u32 nr)
{
	return (struct ib_collq_graph_create) {
		.size = sizeof(struct ib_collq_graph_create),
		.nr_tasks = nr,
		.task_size = sizeof(*tasks),
		.tasks = (unsigned long)tasks,
		.refused_task = 77,
		.refused_reason = 77,
		.refused_needed = 77,
		.refused_limit = 77,
	};
}

/* What is out only must not matter when it comes in. */
TEST_F(graph, accepted)
{
	const struct ib_collq_task tasks[] = {
		raw_signal(SIGNAL_ENDPOINT, 16383, 65535),
		raw_message(IB_COLLQ_TASK_SEND, MESSAGE_ENDPOINT),
		raw_message(IB_COLLQ_TASK_RECV, MESSAGE_ENDPOINT),
		raw_wait_for(COUNTER, 1),
	};
	struct ib_collq_graph_create create = create_of(tasks, 4);

	ASSERT_EQ(0, raw_ioctl(self->fd, IB_COLLQ_GRAPH_CREATE, &create));
	EXPECT_EQ(COUNTER + 1, create.id);
	EXPECT_EQ(IB_COLLQ_NO_TASK, create.refused_task);
	EXPECT_EQ(0, create.refused_reason);
	EXPECT_EQ(0, create.refused_needed);
	EXPECT_EQ(0, create.refused_limit);
}

FIXTURE(refused) {
	int fd;
};

FIXTURE_VARIANT(refused) {
	struct ib_collq_task task;	/* the second of two */
	int err;			/* -EINVAL if not said */
	__u32 reason;
	__u64 needed;
	__u64 limit;
};

#define REFUSED(why, has, may)	.reason = IB_COLLQ_REFUSED_##why, .needed = (has), .limit = (may)

#define FEATURES	(IB_COLLQ_FEATURE_SIGNAL | IB_COLLQ_FEATURE_MESSAGE |	\
			 IB_COLLQ_FEATURE_REGION | IB_COLLQ_FEATURE_CALC |	\
			 IB_COLLQ_FEATURE_RESET | IB_COLLQ_FEATURE_PROBE |	\
			 IB_COLLQ_FEATURE_LOCAL)

FIXTURE_VARIANT_ADD(refused, opcode) {
	.task = { .opcode = 7, .object = SIGNAL_ENDPOINT },
	REFUSED(OPCODE, 7, IB_COLLQ_TASK_CALC),
};

FIXTURE_VARIANT_ADD(refused, flags) {
	.task = { .opcode = IB_COLLQ_TASK_SEND, .flags = 2, .object = SIGNAL_ENDPOINT },
	.err = -EOPNOTSUPP,
	REFUSED(FLAGS, 2, IB_COLLQ_TASK_SIGNAL),
};

FIXTURE_VARIANT_ADD(refused, reserved) {
	.task = { .opcode = IB_COLLQ_TASK_WAIT, .object = COUNTER, .count = 1, .__reserved = 9 },
	REFUSED(RESERVED, 9, 0),
};

FIXTURE_VARIANT_ADD(refused, endpoint_of_nobody) {
	.task = {
		.opcode = IB_COLLQ_TASK_SEND, .flags = IB_COLLQ_TASK_SIGNAL, .object = NOBODY,
	},
	.err = -ENOENT,
	REFUSED(OBJECT, NOBODY, 0),
};

FIXTURE_VARIANT_ADD(refused, counter_that_is_an_endpoint) {
	.task = { .opcode = IB_COLLQ_TASK_WAIT, .object = SIGNAL_ENDPOINT, .count = 1 },
	.err = -ENOENT,
	REFUSED(OBJECT, SIGNAL_ENDPOINT, 0),
};

FIXTURE_VARIANT_ADD(refused, kind) {
	.task = { .opcode = IB_COLLQ_TASK_RECV, .object = SIGNAL_ENDPOINT },
	REFUSED(KIND, IB_COLLQ_ENDPOINT_SIGNAL, IB_COLLQ_ENDPOINT_MESSAGE),
};

FIXTURE_VARIANT_ADD(refused, count) {
	.task = { .opcode = IB_COLLQ_TASK_WAIT, .object = COUNTER },
	REFUSED(COUNT, 0, 1),
};

FIXTURE_VARIANT_ADD(refused, signal_missing) {
	.task = { .opcode = IB_COLLQ_TASK_SEND, .object = SIGNAL_ENDPOINT },
	REFUSED(SIGNAL, 0, IB_COLLQ_TASK_SIGNAL),
};

FIXTURE_VARIANT_ADD(refused, signal_on_message_endpoint) {
	.task = {
		.opcode = IB_COLLQ_TASK_SEND, .flags = IB_COLLQ_TASK_SIGNAL,
		.object = MESSAGE_ENDPOINT,
	},
	REFUSED(SIGNAL, IB_COLLQ_TASK_SIGNAL, 0),
};

FIXTURE_VARIANT_ADD(refused, slot) {
	.task = {
		.opcode = IB_COLLQ_TASK_SEND, .flags = IB_COLLQ_TASK_SIGNAL,
		.object = SIGNAL_ENDPOINT, .signal_slot = 16384,
	},
	REFUSED(SLOT, 16384, 16383),
};

FIXTURE_VARIANT_ADD(refused, scatter_gather) {
	.task = { .opcode = IB_COLLQ_TASK_SEND, .object = MESSAGE_ENDPOINT, .sge_count = 1 },
	REFUSED(SGE_RANGE, 1, 0),
};

FIXTURE_VARIANT_ADD(refused, write) {
	.task = {
		.opcode = IB_COLLQ_TASK_WRITE, .flags = IB_COLLQ_TASK_SIGNAL,
		.object = SIGNAL_ENDPOINT,
	},
	.err = -ENOENT,
	REFUSED(OBJECT, 0, 0),
};

FIXTURE_VARIANT_ADD(refused, copy) {
	.task = { .opcode = IB_COLLQ_TASK_COPY, .dst_count = 2 },
	REFUSED(SGE_RANGE, 2, 0),
};

FIXTURE_VARIANT_ADD(refused, calc) {
	.task = { .opcode = IB_COLLQ_TASK_CALC, .calc_type = IB_COLLQ_TYPE_S32 },
	REFUSED(CALC, 0, IB_COLLQ_CALC_MAXLOC),
};

FIXTURE_SETUP(refused)
{
	self->fd = open_context();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(refused)
{
	close(self->fd);
}

TEST_F(refused, task)
{
	const struct ib_collq_task tasks[] = { raw_wait_for(COUNTER, 1), variant->task };
	struct ib_collq_graph_create create = create_of(tasks, 2);

	ASSERT_EQ(variant->err ? variant->err : -EINVAL,
		  raw_ioctl(self->fd, IB_COLLQ_GRAPH_CREATE, &create));
	EXPECT_EQ(0, create.id);
	EXPECT_EQ(1, create.refused_task);
	EXPECT_EQ(variant->reason, create.refused_reason);
	EXPECT_EQ(variant->needed, create.refused_needed);
	EXPECT_EQ(variant->limit, create.refused_limit);
	/* It names nothing. */
	EXPECT_EQ(0, raw_destroy(self->fd, MESSAGE_ENDPOINT));
	EXPECT_EQ(0, raw_destroy(self->fd, SIGNAL_ENDPOINT));
	EXPECT_EQ(0, raw_destroy(self->fd, COUNTER));
}

/* Sizes are looked at before anything is read. */
TEST_F(graph, sizes)
{
	const struct {
		__u32 tasks;
		__u32 sges;
		__u32 buffers;
		int err;
		__u32 reason;
		__u64 needed;
		__u64 limit;
	} cases[] = {
		{ 0, 0, 0, -EINVAL, IB_COLLQ_REFUSED_TASKS, 0, self->query.max_tasks },
		{ self->query.max_tasks + 1, 0, 0, -EINVAL, IB_COLLQ_REFUSED_TASKS,
		  self->query.max_tasks + 1, self->query.max_tasks },
		{ ~0U, 0, 0, -EINVAL, IB_COLLQ_REFUSED_TASKS, ~0U, self->query.max_tasks },
		{ 1, self->query.max_sges + 1, 1, -EINVAL, IB_COLLQ_REFUSED_SGES,
		  self->query.max_sges + 1, self->query.max_sges },
		{ 1, 0, self->query.max_buffers + 1, -EINVAL, IB_COLLQ_REFUSED_BUFFERS,
		  self->query.max_buffers + 1, self->query.max_buffers },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ib_collq_graph_create create = create_of(NULL, cases[i].tasks);

		create.nr_sges = cases[i].sges;
		create.sge_size = sizeof(struct ib_collq_sge);
		create.nr_buffers = cases[i].buffers;
		EXPECT_EQ(cases[i].err, raw_ioctl(self->fd, IB_COLLQ_GRAPH_CREATE, &create))
			TH_LOG("case %u", i);
		EXPECT_EQ(IB_COLLQ_NO_TASK, create.refused_task);
		EXPECT_EQ(cases[i].reason, create.refused_reason);
		EXPECT_EQ(cases[i].needed, create.refused_needed);
		EXPECT_EQ(cases[i].limit, create.refused_limit);
	}
}

/* What isn't the graph's own fault isn't called a refusal. */
TEST_F(graph, faults)
{
	struct ib_collq_graph_create create = create_of((void *)16, 1);

	EXPECT_EQ(-EFAULT, raw_ioctl(self->fd, IB_COLLQ_GRAPH_CREATE, &create));
	EXPECT_EQ(IB_COLLQ_NO_TASK, create.refused_task);
	EXPECT_EQ(0, create.refused_reason);
	create = create_of(NULL, 1);
	EXPECT_EQ(-EFAULT, raw_ioctl(self->fd, IB_COLLQ_GRAPH_CREATE, &create));
}

/* Tasks of a later version, with something this one doesn't know, or without. */
TEST_F(graph, task_size)
{
	struct {
		struct ib_collq_task task;
		__u64 tail;
	} tasks[2] = {
		{ .task = raw_wait_for(COUNTER, 1) },
		{ .task = raw_wait_for(COUNTER, 2) },
	};
	struct ib_collq_object_describe describe = { .size = sizeof(describe) };
	struct ib_collq_graph_create create = create_of(&tasks[0].task, 2);
	struct ib_collq_task seen[2] = {};

	create.task_size = sizeof(struct ib_collq_task) - 1;
	EXPECT_EQ(-EINVAL, raw_ioctl(self->fd, IB_COLLQ_GRAPH_CREATE, &create));
	create.task_size = 0;
	EXPECT_EQ(-EINVAL, raw_ioctl(self->fd, IB_COLLQ_GRAPH_CREATE, &create));

	create.task_size = sizeof(tasks[0]);
	ASSERT_EQ(0, raw_ioctl(self->fd, IB_COLLQ_GRAPH_CREATE, &create));
	describe.id = create.id;
	describe.entries = (unsigned long)seen;
	describe.entry_size = sizeof(seen[0]);
	describe.nr = 2;
	ASSERT_EQ(0, raw_ioctl(self->fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	EXPECT_EQ(1, seen[0].count);
	EXPECT_EQ(2, seen[1].count);

	tasks[1].tail = 1ULL << 63;
	EXPECT_EQ(-E2BIG, raw_ioctl(self->fd, IB_COLLQ_GRAPH_CREATE, &create));
}

/* Nobody's task is longer than a page. */
TEST_F(graph, task_size_much_too_long)
{
	const size_t length = 1 << 20;
	struct ib_collq_task *task = calloc(1, length);
	struct ib_collq_graph_create create = create_of(task, 1);

	ASSERT_NE(NULL, task);
	*task = raw_wait_for(COUNTER, 1);
	create.task_size = length;
	EXPECT_EQ(-E2BIG, raw_ioctl(self->fd, IB_COLLQ_GRAPH_CREATE, &create));
	free(task);
}

/* What the caller does to his own copy afterwards doesn't matter. */
TEST_F(graph, copied)
{
	struct ib_collq_task task = raw_wait_for(COUNTER, 1);
	int graph = raw_graph_create(self->fd, &task, 1), queue, status;
	struct raw_ring ring;

	memset(&task, 0xff, sizeof(task));
	ASSERT_EQ(0, raw_ring_create(self->fd, 1, &ring));
	queue = raw_queue_create(self->fd, ring.id, 1, NULL, 0);
	ASSERT_EQ(0, raw_counter_raise(self->fd, COUNTER, 1));
	ASSERT_EQ(0, raw_run(self->fd, queue, graph, &status));
	EXPECT_EQ(0, status);
}

TEST_F(graph, names_its_objects)
{
	const struct ib_collq_task tasks[] = {
		raw_message(IB_COLLQ_TASK_RECV, MESSAGE_ENDPOINT),
		raw_wait_for(COUNTER, 1),
		raw_wait_for(COUNTER, 1),
	};
	int graph = raw_graph_create(self->fd, tasks, 3);

	ASSERT_LT(0, graph);
	EXPECT_EQ(-EBUSY, raw_destroy(self->fd, MESSAGE_ENDPOINT));
	EXPECT_EQ(-EBUSY, raw_destroy(self->fd, COUNTER));
	ASSERT_EQ(0, raw_destroy(self->fd, graph));
	EXPECT_EQ(0, raw_destroy(self->fd, COUNTER));
	EXPECT_EQ(0, raw_destroy(self->fd, MESSAGE_ENDPOINT));
}

/*
 * Objects of all kinds share one limit, and going makes room. More than 30 s where a
 * kernel checks each access.
 */
TEST_F_TIMEOUT(graph, number_of_objects, 300)
{
	const struct ib_collq_task task = raw_wait_for(COUNTER, 1);
	struct ib_collq_counter_create create[512];
	__u32 done = COUNTER;
	int ret, error;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(create); i++)
		create[i] = (struct ib_collq_counter_create) { .source = IB_COLLQ_SOURCE_USER };
	do {
		ret = raw_batch(self->fd, IB_COLLQ_COUNTER_CREATE, create, sizeof(create[0]),
				ARRAY_SIZE(create), &error);
		if (ret > 0)
			done += ret;
	} while (ret == ARRAY_SIZE(create) && done <= self->query.max_objects);
	EXPECT_EQ(-ENOSPC, error);
	EXPECT_EQ(self->query.max_objects, done);

	ASSERT_EQ(-ENOSPC, raw_graph_create(self->fd, &task, 1));
	ASSERT_EQ(0, raw_destroy(self->fd, MESSAGE_ENDPOINT));
	EXPECT_LT(0, raw_graph_create(self->fd, &task, 1));
}

TEST_HARNESS_MAIN
