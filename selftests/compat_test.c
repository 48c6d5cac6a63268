// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A 32-bit program on a 64-bit kernel: every command that takes a pointer or a
 * 64-bit number, and the ring, as it sees them.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

#define HIGH	0x123456789abcdef0ULL

FIXTURE(compat) {
	struct raw_side a;
	struct raw_side b;
};

FIXTURE_SETUP(compat)
{
	ASSERT_EQ(0, raw_pair_open(&self->a, &self->b));
}

FIXTURE_TEARDOWN(compat)
{
	raw_pair_close(&self->a, &self->b);
}

TEST(is_32_bit_on_64_bit)
{
	struct utsname name;

	ASSERT_EQ(4, sizeof(void *));
	ASSERT_EQ(0, uname(&name));
	ASSERT_STREQ("x86_64", name.machine);
}

TEST_F(compat, barriers)
{
	int i;

	for (i = 0; i < 200; i++)
		ASSERT_EQ(0, raw_pair_barrier(&self->a, &self->b));
	EXPECT_EQ(200, raw_counter_raised(self->a.fd, self->a.counter));
	EXPECT_EQ(200, self->a.ring.header->tail);
}

TEST_F(compat, completion)
{
	struct ib_collq_completion completion;
	struct pollfd pollfd = { .fd = self->a.fd, .events = POLLIN };

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->a.graph, HIGH, 1, NULL));
	ASSERT_EQ(1, poll(&pollfd, 1, RAW_PATIENCE_MS));
	ASSERT_TRUE(raw_ring_take(&self->a.ring, &completion));
	EXPECT_EQ(HIGH, completion.user_data);
	EXPECT_EQ(1, completion.sequence);
	EXPECT_EQ(-ETIMEDOUT, completion.status);
	EXPECT_EQ(1, completion.task);
}

TEST_F(compat, deadlines)
{
	struct ib_collq_queue_wait wait;
	__u64 sequence, deadline = raw_in_ms(20);

	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->a.graph, 0, 0, &sequence));
	EXPECT_EQ(-ETIME, raw_wait(self->a.fd, self->a.queue, sequence, deadline, &wait));
	EXPECT_LE(deadline, raw_now());
}

TEST_F(compat, counts_of_64_bits)
{
	int counter = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_USER, 0);
	const struct ib_collq_task task = raw_wait_for(counter, HIGH);
	int graph = raw_graph_create(self->a.fd, &task, 1), status;
	struct ib_collq_counter_read read;

	ASSERT_EQ(0, raw_counter_raise(self->a.fd, counter, HIGH + 1));
	ASSERT_EQ(0, raw_run(self->a.fd, self->a.queue, graph, &status));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, raw_counter_read(self->a.fd, counter, &read));
	EXPECT_EQ(HIGH + 1, read.raised);
	EXPECT_EQ(HIGH, read.consumed);
}

TEST_F(compat, describe)
{
	struct ib_collq_task tasks[2] = {};
	struct ib_collq_graph_info info = {};
	struct ib_collq_object_describe describe = {
		.size = sizeof(describe),
		.id = self->a.graph,
		.info = (unsigned long)&info,
		.info_size = sizeof(info),
		.entries = (unsigned long)tasks,
		.entry_size = sizeof(tasks[0]),
		.nr = 2,
	};

	ASSERT_EQ(0, raw_ioctl(self->a.fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	EXPECT_EQ(2, info.nr_tasks);
	EXPECT_EQ(RAW_SLOT, tasks[0].signal_slot);
	EXPECT_EQ(self->a.counter, tasks[1].object);
	EXPECT_EQ(1, tasks[1].count);
}

TEST_F(compat, eventfd)
{
	struct ib_collq_counter_create create = {
		.source = IB_COLLQ_SOURCE_EVENTFD,
		.eventfd = eventfd(0, EFD_CLOEXEC),
	};

	ASSERT_EQ(1, raw_batch(self->a.fd, IB_COLLQ_COUNTER_CREATE, &create, sizeof(create), 1,
			       NULL));
	ASSERT_EQ(0, eventfd_write(create.eventfd, HIGH));
	EXPECT_TRUE(RAW_EVENTUALLY(raw_counter_raised(self->a.fd, create.id) == HIGH));
}

TEST_F(compat, query)
{
	struct ib_collq_query query;

	ASSERT_EQ(0, raw_query(self->a.fd, &query));
	EXPECT_EQ(IB_COLLQ_ABI_VERSION, query.abi_version);
	EXPECT_STREQ(RAW_DEVICE, (const char *)query.device);
}

TEST_HARNESS_MAIN
