// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Query, and describe: what it tells of every type of object is what the object
 * was made with, and how it is.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

FIXTURE(context) {
	int fd;
};

FIXTURE_SETUP(context)
{
	self->fd = raw_open();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(context)
{
	close(self->fd);
}

TEST_F(context, query)
{
	struct ib_collq_query query;

	ASSERT_EQ(0, raw_query(self->fd, &query));
	EXPECT_EQ(sizeof(query), query.size);
	EXPECT_EQ(IB_COLLQ_ABI_VERSION, query.abi_version);
	EXPECT_EQ(IB_COLLQ_PROTOCOL_VERSION, query.protocol_version);
	EXPECT_EQ(IB_COLLQ_FEATURE_SIGNAL | IB_COLLQ_FEATURE_MESSAGE |
		  IB_COLLQ_FEATURE_REGION | IB_COLLQ_FEATURE_ZONE | IB_COLLQ_FEATURE_CALC |
		  IB_COLLQ_FEATURE_RESET | IB_COLLQ_FEATURE_PROBE |
		  IB_COLLQ_FEATURE_LOCAL | IB_COLLQ_FEATURE_QUIET,
		  query.features & ~IB_COLLQ_FEATURE_GAPS);
	EXPECT_STREQ(RAW_DEVICE, (const char *)query.device);
	EXPECT_EQ(1, query.nr_ports);
	/* The least that is of use. */
	EXPECT_LE(1024, query.max_objects);
	EXPECT_LE(256, query.max_endpoints);
	EXPECT_LE(RAW_CAPACITY, query.max_capacity);
	EXPECT_EQ(IB_COLLQ_IMM_SLOT_MASK + 1, query.max_slots);
	EXPECT_LE(4096, query.max_tasks);
	EXPECT_LE(16, query.max_queue_depth);
	EXPECT_LE(256, query.max_queue_endpoints);
	EXPECT_LE(1024, query.max_ring_entries);
	EXPECT_LE(64, query.max_batch);
	EXPECT_LE(4096, query.max_sges);
	EXPECT_LE(3, query.max_buffers);
	EXPECT_LE(1ULL << 30, query.max_region);
	EXPECT_LE(1ULL << 20, query.max_zone);
	EXPECT_LE(1024, query.max_zones);
	/* What rxe has. */
	EXPECT_EQ(32, query.max_send_sge);
	EXPECT_EQ(32, query.max_recv_sge);
	EXPECT_EQ(8 << 20, query.max_message);
	EXPECT_EQ(1 << 20, query.region_part);
}

/* The same in all contexts and in addresses, and not zero. */
TEST_F(context, instance)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct ib_collq_query query, other;
	struct ib_collq_address address;
	const __u8 zeros[16] = {};
	int fd = raw_open();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, raw_query(self->fd, &query));
	ASSERT_EQ(0, raw_query(fd, &other));
	EXPECT_EQ(0, memcmp(query.instance, other.instance, sizeof(query.instance)));
	EXPECT_NE(0, memcmp(query.instance, zeros, sizeof(zeros)));
	ASSERT_LT(0, raw_endpoint_create(self->fd, &attr));
	memcpy(&address, attr.address, sizeof(address));
	EXPECT_EQ(0, memcmp(query.instance, address.instance, sizeof(query.instance)));
	close(fd);
}

/* An object of each type, the two signal endpoints connected to each other. */
FIXTURE(objects) {
	struct raw_side a;
	struct raw_side b;
};

FIXTURE_SETUP(objects)
{
	ASSERT_EQ(0, raw_pair_open(&self->a, &self->b));
}

FIXTURE_TEARDOWN(objects)
{
	raw_pair_close(&self->a, &self->b);
}

static struct ib_collq_object_describe describe_of(__u32 id, void *info, __u32 info_size,
						   void *entries, __u32 entry_size, __u32 nr)
{
	return (struct ib_collq_object_describe) {
		.size = sizeof(struct ib_collq_object_describe),
		.id = id,
		.info = (unsigned long)info,
		.info_size = info_size,
		.entries = (unsigned long)entries,
		.entry_size = entry_size,
		.nr = nr,
	};
}

TEST_F(objects, endpoint)
{
	struct ib_collq_object_describe describe;
	struct ib_collq_slot_bind slots[3] = {};
	struct ib_collq_endpoint_info info = {};
	struct raw_side *a = &self->a;
	int other;

	other = raw_counter_create(a->fd, IB_COLLQ_SOURCE_SIGNAL, 0);
	ASSERT_LT(0, other);
	ASSERT_EQ(0, raw_slot_bind(a->fd, a->endpoint, 16383, 65535, other));
	ASSERT_EQ(0, raw_capacity(a->fd, IB_COLLQ_CAPACITY_RESERVE, a->endpoint, 6));
	ASSERT_EQ(0, raw_pair_barrier(a, &self->b));

	describe = describe_of(a->endpoint, &info, sizeof(info), slots, sizeof(slots[0]), 3);
	ASSERT_EQ(0, raw_ioctl(a->fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	EXPECT_EQ(a->endpoint, describe.id);
	EXPECT_EQ(IB_COLLQ_OBJECT_ENDPOINT, describe.type);
	EXPECT_EQ(sizeof(info), describe.info_size);
	EXPECT_EQ(sizeof(slots[0]), describe.entry_size);

	EXPECT_EQ(0, memcmp(&info.create, &a->attr, sizeof(info.create)));
	EXPECT_EQ(0, memcmp(info.peer_address, self->b.attr.address, sizeof(info.peer_address)));
	EXPECT_EQ(IB_COLLQ_ENDPOINT_CONNECTED, info.state);
	EXPECT_EQ(0, info.error);
	EXPECT_EQ(6, info.reserved_recvs);
	EXPECT_EQ(1, info.sends);
	EXPECT_GE(1, info.sends_done);
	EXPECT_EQ(1, info.messages);
	EXPECT_EQ(0, info.dropped);

	ASSERT_EQ(2, describe.nr);
	EXPECT_EQ(2, info.nr_slots);
	EXPECT_EQ(a->endpoint, slots[0].endpoint);
	EXPECT_EQ(RAW_SLOT, slots[0].slot);
	EXPECT_EQ(RAW_GENERATION, slots[0].generation);
	EXPECT_EQ(a->counter, slots[0].counter);
	EXPECT_EQ(16383, slots[1].slot);
	EXPECT_EQ(65535, slots[1].generation);
	EXPECT_EQ(other, slots[1].counter);
}

TEST_F(objects, endpoint_before_connect)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	const __u8 zeros[IB_COLLQ_ADDRESS_SIZE] = {};
	struct ib_collq_endpoint_info info;

	attr.peer = ~0U;
	ASSERT_LT(0, raw_endpoint_create(self->a.fd, &attr));
	info = raw_endpoint_info(self->a.fd, attr.id);
	EXPECT_EQ(0, memcmp(&info.create, &attr, sizeof(attr)));
	EXPECT_EQ(IB_COLLQ_ENDPOINT_NEW, info.state);
	EXPECT_EQ(0, memcmp(info.peer_address, zeros, sizeof(zeros)));
	EXPECT_EQ(0, info.nr_slots);
	EXPECT_EQ(0, info.reserved_recvs);
	EXPECT_EQ(0, info.sends);
	EXPECT_EQ(0, info.messages);
}

TEST_F(objects, message_endpoint)
{
	struct ib_collq_endpoint_info info;

	ASSERT_EQ(0, raw_pair_add_messages(&self->a, &self->b));
	info = raw_endpoint_info(self->a.fd, self->a.message_endpoint);
	EXPECT_EQ(IB_COLLQ_ENDPOINT_MESSAGE, info.create.kind);
	EXPECT_EQ(self->a.endpoint, info.create.signal_endpoint);
	EXPECT_EQ(1, info.create.max_send_sge);
	EXPECT_EQ(1, info.create.max_recv_sge);
	EXPECT_EQ(self->a.message_endpoint, info.create.id);
	EXPECT_EQ(IB_COLLQ_ENDPOINT_CONNECTED, info.state);
}

TEST_F(objects, signal_counter)
{
	struct ib_collq_counter_info info = {};

	ASSERT_EQ(0, raw_pair_barrier(&self->a, &self->b));
	ASSERT_EQ(0, raw_describe(self->a.fd, self->a.counter, &info, sizeof(info)));
	EXPECT_EQ(IB_COLLQ_SOURCE_SIGNAL, info.create.source);
	EXPECT_EQ(self->a.counter, info.create.id);
	EXPECT_EQ(0, info.create.endpoint);
	EXPECT_EQ(0, info.create.eventfd);
	EXPECT_EQ(self->a.endpoint, info.bound_endpoint);
	EXPECT_EQ(RAW_SLOT, info.bound_slot);
	EXPECT_EQ(RAW_GENERATION, info.bound_generation);
	EXPECT_EQ(1, info.raised);
	EXPECT_EQ(1, info.consumed);
	EXPECT_EQ(0, info.error);
}

TEST_F(objects, user_counter)
{
	struct ib_collq_counter_create create = {
		.source = IB_COLLQ_SOURCE_USER,
		.value = 1ULL << 40,
	};
	struct ib_collq_counter_info info = {};

	ASSERT_EQ(1, raw_batch(self->a.fd, IB_COLLQ_COUNTER_CREATE, &create,
			       sizeof(create), 1, NULL));
	ASSERT_EQ(0, raw_counter_raise(self->a.fd, create.id, 5));
	ASSERT_EQ(0, raw_describe(self->a.fd, create.id, &info, sizeof(info)));
	EXPECT_EQ(0, memcmp(&create, &info.create, sizeof(create)));
	EXPECT_EQ((1ULL << 40) + 5, info.raised);
	EXPECT_EQ(0, info.consumed);
	EXPECT_EQ(0, info.bound_endpoint);
	EXPECT_EQ(0, info.bound_slot);
	EXPECT_EQ(0, info.bound_generation);
}

TEST_F(objects, endpoint_counter)
{
	struct ib_collq_counter_info info = {};
	int counter = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_SENDS, self->a.endpoint);

	ASSERT_LT(0, counter);
	ASSERT_EQ(0, raw_describe(self->a.fd, counter, &info, sizeof(info)));
	EXPECT_EQ(IB_COLLQ_SOURCE_SENDS, info.create.source);
	EXPECT_EQ(self->a.endpoint, info.create.endpoint);
	EXPECT_EQ(0, info.bound_endpoint);
}

/* What was uploaded comes back, and only as much as there is room for. */
TEST_F(objects, graph)
{
	struct ib_collq_task tasks[] = {
		raw_signal(self->a.endpoint, RAW_SLOT, RAW_GENERATION),
		raw_wait_for(self->a.counter, 3),
	}, seen[3] = {};
	struct ib_collq_object_describe describe;
	struct ib_collq_graph_info info = {};
	int graph;

	tasks[0].label = 17;
	tasks[1].label = ~0U;
	graph = raw_graph_create(self->a.fd, tasks, 2);
	ASSERT_LT(0, graph);

	describe = describe_of(graph, &info, sizeof(info), seen, sizeof(seen[0]), 3);
	ASSERT_EQ(0, raw_ioctl(self->a.fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	EXPECT_EQ(IB_COLLQ_OBJECT_GRAPH, describe.type);
	EXPECT_EQ(graph, info.id);
	EXPECT_EQ(2, info.nr_tasks);
	EXPECT_EQ(0, info.nr_sges);
	EXPECT_EQ(0, info.nr_buffers);
	EXPECT_EQ(0, info.submissions);
	EXPECT_EQ(2, describe.nr);
	EXPECT_EQ(sizeof(seen[0]), describe.entry_size);
	EXPECT_EQ(0, memcmp(tasks, seen, sizeof(tasks)));

	memset(seen, 0xff, sizeof(seen));
	describe = describe_of(graph, NULL, 0, seen, 16, 1);
	ASSERT_EQ(0, raw_ioctl(self->a.fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	EXPECT_EQ(2, describe.nr);
	EXPECT_EQ(sizeof(info), describe.info_size);
	EXPECT_EQ(0, memcmp(tasks, seen, 16));
	EXPECT_EQ(~0ULL, seen[0].count);

	describe = describe_of(graph, NULL, 0, seen, sizeof(struct ib_collq_sge), 1);
	describe.flags = IB_COLLQ_DESCRIBE_SGES;
	ASSERT_EQ(0, raw_ioctl(self->a.fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	EXPECT_EQ(0, describe.nr);
	EXPECT_EQ(sizeof(struct ib_collq_sge), describe.entry_size);
}

TEST_F(objects, queue)
{
	struct ib_collq_object_describe describe;
	struct ib_collq_queue_endpoint links[2] = {};
	struct ib_collq_queue_info info = {};

	describe = describe_of(self->a.queue, &info, sizeof(info), links, sizeof(links[0]), 2);
	ASSERT_EQ(0, raw_ioctl(self->a.fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	EXPECT_EQ(IB_COLLQ_OBJECT_QUEUE, describe.type);
	EXPECT_EQ(self->a.queue, info.id);
	EXPECT_EQ(self->a.ring.id, info.ring);
	EXPECT_EQ(RAW_DEPTH, info.depth);
	EXPECT_EQ(1, info.nr_endpoints);
	EXPECT_EQ(IB_COLLQ_QUEUE_IDLE, info.state);
	EXPECT_EQ(0, info.error);
	EXPECT_EQ(0, info.graph);
	EXPECT_EQ(IB_COLLQ_NO_TASK, info.task);
	EXPECT_EQ(0, info.submitted);
	EXPECT_EQ(0, info.completed);
	ASSERT_EQ(1, describe.nr);
	EXPECT_EQ(self->a.endpoint, links[0].endpoint);
	EXPECT_EQ(RAW_ABORT_SLOT, links[0].abort_slot);
	EXPECT_EQ(RAW_ABORT_GENERATION, links[0].abort_generation);
	EXPECT_EQ(RAW_ABORT_SLOT, links[0].peer_abort_slot);
	EXPECT_EQ(RAW_ABORT_GENERATION, links[0].peer_abort_generation);
}

/* Where a graph stands that waits, and that its queue has failed. */
TEST_F(objects, queue_at_work)
{
	struct raw_side *a = &self->a;
	struct ib_collq_task tasks[] = {
		raw_signal(a->endpoint, RAW_SLOT, RAW_GENERATION),
		raw_wait_for(a->counter, 1),
	};
	struct ib_collq_graph_info graph_info = {};
	struct ib_collq_ring_info ring_info = {};
	struct ib_collq_queue_info info = {};
	__u64 before = raw_now(), sequence;
	int graph;

	tasks[1].label = 1234;
	graph = raw_graph_create(a->fd, tasks, 2);
	ASSERT_LT(0, graph);
	ASSERT_EQ(0, raw_submit(a->fd, a->queue, graph, 0, 0, &sequence));

	ASSERT_EQ(0, raw_describe(a->fd, a->queue, &info, sizeof(info)));
	EXPECT_EQ(IB_COLLQ_QUEUE_WAITING, info.state);
	EXPECT_EQ(graph, info.graph);
	EXPECT_EQ(1, info.task);
	EXPECT_EQ(1234, info.label);
	EXPECT_EQ(a->counter, info.object);
	EXPECT_EQ(1, info.submitted);
	EXPECT_EQ(0, info.completed);
	/* A tick of the clock either way. */
	EXPECT_LT(before - 20000000, info.since);
	EXPECT_GT(raw_now() + 20000000, info.since);
	ASSERT_EQ(0, raw_describe(a->fd, graph, &graph_info, sizeof(graph_info)));
	EXPECT_EQ(1, graph_info.submissions);
	ASSERT_EQ(0, raw_describe(a->fd, a->ring.id, &ring_info, sizeof(ring_info)));
	EXPECT_EQ(1, ring_info.reserved);
	EXPECT_EQ(0, ring_info.unread);

	ASSERT_EQ(0, raw_cancel(a->fd, a->queue, sequence));
	ASSERT_EQ(0, raw_describe(a->fd, a->queue, &info, sizeof(info)));
	EXPECT_EQ(IB_COLLQ_QUEUE_FAILED, info.state);
	EXPECT_EQ(-ECANCELED, info.error);
	EXPECT_EQ(0, info.graph);
	EXPECT_EQ(IB_COLLQ_NO_TASK, info.task);
	EXPECT_EQ(1, info.completed);
	ASSERT_EQ(0, raw_describe(a->fd, graph, &graph_info, sizeof(graph_info)));
	EXPECT_EQ(0, graph_info.submissions);
	ASSERT_EQ(0, raw_describe(a->fd, a->ring.id, &ring_info, sizeof(ring_info)));
	EXPECT_EQ(0, ring_info.reserved);
	EXPECT_EQ(1, ring_info.unread);
}

TEST_F(objects, ring)
{
	struct ib_collq_ring_create create = {
		.size = sizeof(create),
		.entries = 4,
		.eventfd = -1,
	};
	struct ib_collq_ring_info info = {};

	ASSERT_EQ(0, raw_ioctl(self->a.fd, IB_COLLQ_RING_CREATE, &create));
	ASSERT_EQ(0, raw_describe(self->a.fd, create.id, &info, sizeof(info)));
	EXPECT_EQ(0, memcmp(&create, &info.create, sizeof(create)));
	EXPECT_EQ(0, info.reserved);
	EXPECT_EQ(0, info.unread);
}

/* Who knows a shorter structure gets its beginning, and nothing behind it. */
TEST_F(objects, info_is_cut_off)
{
	struct ib_collq_object_describe describe;
	struct ib_collq_queue_info info;

	memset(&info, 0xff, sizeof(info));
	describe = describe_of(self->a.queue, &info, 8, NULL, 0, 0);
	ASSERT_EQ(0, raw_ioctl(self->a.fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	EXPECT_EQ(sizeof(info), describe.info_size);
	EXPECT_EQ(self->a.queue, info.id);
	EXPECT_EQ(self->a.ring.id, info.ring);
	EXPECT_EQ(~0U, info.depth);
}

TEST_F(objects, nobody)
{
	struct ib_collq_object_describe describe = describe_of(0, NULL, 0, NULL, 0, 0);

	EXPECT_EQ(-ENOENT, raw_ioctl(self->a.fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	describe = describe_of(9999, NULL, 0, NULL, 0, 0);
	EXPECT_EQ(-ENOENT, raw_ioctl(self->a.fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	describe = describe_of(9999, NULL, 0, NULL, 0, 0);
	describe.flags = IB_COLLQ_DESCRIBE_NEXT;
	EXPECT_EQ(-ENOENT, raw_ioctl(self->a.fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	describe = describe_of(0x80000001, NULL, 0, NULL, 0, 0);
	describe.flags = IB_COLLQ_DESCRIBE_NEXT;
	EXPECT_EQ(-ENOENT, raw_ioctl(self->a.fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
}

TEST_F(objects, describe_is_checked)
{
	struct ib_collq_queue_info info;
	struct ib_collq_task tasks[2];
	struct ib_collq_object_describe describe;
	void *nowhere = (void *)16;
	int fd = self->a.fd;

	describe = describe_of(self->a.queue, nowhere, sizeof(info), NULL, 0, 0);
	EXPECT_EQ(-EFAULT, raw_ioctl(fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	describe = describe_of(self->a.graph, NULL, 0, nowhere, sizeof(tasks[0]), 2);
	EXPECT_EQ(-EFAULT, raw_ioctl(fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	describe = describe_of(self->a.graph, NULL, 0, tasks, 0, 2);
	EXPECT_EQ(-EINVAL, raw_ioctl(fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	/* No room, or nowhere to put it: just the numbers. */
	describe = describe_of(self->a.graph, NULL, 100, NULL, 0, 100);
	EXPECT_EQ(0, raw_ioctl(fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	EXPECT_EQ(2, describe.nr);
	describe = describe_of(self->a.graph, nowhere, 0, nowhere, sizeof(tasks[0]), 0);
	EXPECT_EQ(0, raw_ioctl(fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
	EXPECT_EQ(2, describe.nr);
}

/* All objects of a context, and no others, in the order of their ids. */
TEST_F(objects, enumerate)
{
	struct raw_side *a = &self->a;
	const struct {
		__u32 id;
		__u32 type;
	} expected[] = {
		{ a->ring.id, IB_COLLQ_OBJECT_RING },
		{ a->endpoint, IB_COLLQ_OBJECT_ENDPOINT },
		{ a->counter, IB_COLLQ_OBJECT_COUNTER },
		{ a->queue, IB_COLLQ_OBJECT_QUEUE },
		{ a->graph, IB_COLLQ_OBJECT_GRAPH },
	};
	struct ib_collq_object_describe describe;
	unsigned int i;
	__u32 id = 0;

	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		describe = describe_of(id, NULL, 0, NULL, 0, 0);
		describe.flags = IB_COLLQ_DESCRIBE_NEXT;
		ASSERT_EQ(0, raw_ioctl(a->fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
		EXPECT_EQ(expected[i].id, describe.id);
		EXPECT_EQ(expected[i].type, describe.type);
		id = describe.id + 1;
	}
	describe = describe_of(id, NULL, 0, NULL, 0, 0);
	describe.flags = IB_COLLQ_DESCRIBE_NEXT;
	EXPECT_EQ(-ENOENT, raw_ioctl(a->fd, IB_COLLQ_OBJECT_DESCRIBE, &describe));
}

TEST_HARNESS_MAIN
