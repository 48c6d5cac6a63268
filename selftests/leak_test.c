// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Nothing is left behind: ten thousand rounds of making and destroying objects
 * of each type leave no growth in any slab cache, in vmalloc, in pinned pages or
 * in what the RDMA subsystem counts. Pairs that are connected take ten times as
 * long, so there are fewer of them unless COLLQ_LEAK_PAIRS says how many; and all
 * are fewer on slow kernels.
 *
 * Some memory comes back late (RCU, lingering endpoints), so what has grown is
 * looked at again for a while before it's called a leak.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "chance.h"
#include "collq_memory.h"
#include "slow_kernel.h"
#include "usage.h"

/* rxe0 has one of its own (GSI), and those that every round starts with. */
#define QUEUE_PAIRS	4

/* Memory of regions; not contiguous for the device. */
#define MEMORY		(4 * RAW_PAGE)

/* What a round works with: all that isn't its subject. */
struct world {
	struct raw_side a;
	struct raw_side b;
	struct ib_collq_task task;
	int eventfd;
	char *memory;
	int region;
	int copy;
	int owner;		/* an endpoint that may have landing zones */
};

static int destroy_made(struct world *world, int id)
{
	return id < 0 ? id : raw_destroy(world->a.fd, id);
}

static int round_counter(struct world *world)
{
	return destroy_made(world, raw_counter_create(world->a.fd, IB_COLLQ_SOURCE_USER, 0));
}

static int round_eventfd_counter(struct world *world)
{
	struct ib_collq_counter_create create = {
		.source = IB_COLLQ_SOURCE_EVENTFD,
		.eventfd = world->eventfd,
	};
	int ret = raw_batch(world->a.fd, IB_COLLQ_COUNTER_CREATE, &create, sizeof(create), 1,
			    NULL);

	return ret < 0 ? ret : destroy_made(world, create.id);
}

static int round_endpoint_counter(struct world *world)
{
	return destroy_made(world, raw_counter_create(world->a.fd, IB_COLLQ_SOURCE_SENDS,
						      world->a.endpoint));
}

static int round_binding(struct world *world)
{
	int counter = raw_counter_create(world->a.fd, IB_COLLQ_SOURCE_SIGNAL, 0);
	int err = raw_slot_bind(world->a.fd, world->a.endpoint, 77, 0, counter);

	if (!err)
		err = raw_slot_unbind(world->a.fd, world->a.endpoint, 77, 0);
	return err ? err : destroy_made(world, counter);
}

static int round_graph(struct world *world)
{
	return destroy_made(world, raw_graph_create(world->a.fd, &world->task, 1));
}

static int round_queue(struct world *world)
{
	const struct ib_collq_queue_endpoint link = {
		.endpoint = world->a.endpoint,
		.abort_slot = 99,
	};

	return destroy_made(world, raw_queue_create(world->a.fd, world->a.ring.id, 16, &link, 1));
}

static int round_ring(struct world *world)
{
	struct raw_ring ring;
	int err = raw_ring_create(world->a.fd, 64, &ring);

	if (err)
		return err;
	raw_ring_unmap(&ring);
	return destroy_made(world, ring.id);
}

static int round_endpoint(struct world *world)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);

	return destroy_made(world, raw_endpoint_create(world->a.fd, &attr));
}

/* An upload that is refused, a queue that isn't made: on the way out of failure. */
static int round_failures(struct world *world)
{
	const struct ib_collq_queue_endpoint links[2] = {
		{ .endpoint = world->a.endpoint }, { .endpoint = world->a.endpoint },
	};
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct ib_collq_task tasks[2] = { world->task, {} };

	attr.gid_index = 0xffff;
	if (raw_graph_create(world->a.fd, tasks, 2) != -EINVAL ||
	    raw_queue_create(world->a.fd, world->a.ring.id, 4, links, 2) != -EBUSY ||
	    raw_endpoint_create(world->a.fd, &attr) != -EINVAL)
		return -EPROTO;
	return 0;
}

static int round_region(struct world *world)
{
	return destroy_made(world, raw_region_create(world->a.fd, world->memory + 7, 100, 0));
}

static int round_registered_region(struct world *world)
{
	return destroy_made(world, raw_region_create(world->a.fd, world->memory, MEMORY,
						     IB_COLLQ_ACCESS_WRITE));
}

static int round_list(struct world *world)
{
	const struct ib_collq_sge parts[] = {
		{ .buffer = world->region, .length = RAW_PAGE, .offset = RAW_PAGE },
		{ .buffer = world->region, .length = 10 },
	};

	return destroy_made(world, raw_list_create(world->a.fd, parts, 2, 0));
}

/* The second half of the memory isn't there. */
static int round_missing_region(struct world *world)
{
	int ret = raw_region_create(world->a.fd, world->memory, 2 * MEMORY, 0);

	return ret == -EFAULT ? 0 : -EPROTO;
}

static int round_copy(struct world *world)
{
	const struct ib_collq_buffer_bind binding = { .region = world->region };
	struct ib_collq_completion completion;
	int status, err;

	err = raw_run_bound(world->a.fd, world->a.queue, world->copy, &binding, 1, &status);
	if (err || status)
		return err ? err : status;
	return raw_ring_take(&world->a.ring, &completion) ? 0 : -EPROTO;
}

static int round_zone(struct world *world)
{
	struct ib_collq_zone_name name;

	return destroy_made(world, raw_zone_offer(world->a.fd, world->owner, world->region, 17,
						  2 * RAW_PAGE, &name));
}

static int round_zone_endpoint(struct world *world)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);

	attr.flags = IB_COLLQ_ENDPOINT_ZONES;
	attr.max_send_sge = 4;
	return destroy_made(world, raw_endpoint_create(world->a.fd, &attr));
}

static int round_target(struct world *world)
{
	struct ib_collq_zone_name name = {
		.version = IB_COLLQ_PROTOCOL_VERSION,
		.length = 1,
	};

	memcpy(name.endpoint, ((struct ib_collq_address *)world->b.attr.address)->nonce,
	       sizeof(name.endpoint));
	return destroy_made(world, raw_target_create(world->a.fd, world->a.endpoint, &name));
}

static int round_submission(struct world *world)
{
	return raw_pair_barrier(&world->a, &world->b);
}

static int round_context(struct world *world)
{
	int fd = raw_open();

	(void)world;
	return fd < 0 ? fd : close(fd);
}

/* Two contexts that pass a barrier and are closed: their endpoints linger. */
static int round_pair(struct world *world)
{
	struct raw_side a, b;
	int err;

	(void)world;
	err = raw_pair_open(&a, &b);
	if (!err)
		err = raw_pair_barrier(&a, &b);
	raw_pair_close(&a, &b);
	return err;
}

/* Closed with a graph that runs and one that is queued. */
static int round_unfinished(struct world *world)
{
	struct raw_side a, b;
	int err;

	(void)world;
	err = raw_pair_open(&a, &b);
	if (!err)
		err = raw_submit(a.fd, a.queue, a.graph, 0, raw_in_ms(100000), NULL);
	if (!err)
		err = raw_submit(a.fd, a.queue, a.graph, 0, 0, NULL);
	raw_pair_close(&a, &b);
	return err;
}

FIXTURE(leak) {
	struct world world;
};

FIXTURE_VARIANT(leak) {
	int (*round)(struct world *world);
	int rounds;
	const char *variable;	/* that sets the rounds, or NULL */
};

FIXTURE_VARIANT_ADD(leak, counter) {
	.round = round_counter, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, eventfd_counter) {
	.round = round_eventfd_counter, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, endpoint_counter) {
	.round = round_endpoint_counter, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, binding) {
	.round = round_binding, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, graph) {
	.round = round_graph, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, queue) {
	.round = round_queue, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, ring) {
	.round = round_ring, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, endpoint) {
	.round = round_endpoint, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, failures) {
	.round = round_failures, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, region) {
	.round = round_region, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, registered_region) {
	.round = round_registered_region, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, list) {
	.round = round_list, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, missing_region) {
	.round = round_missing_region, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, copy) {
	.round = round_copy, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, zone) {
	.round = round_zone, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, zone_endpoint) {
	.round = round_zone_endpoint, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, target) {
	.round = round_target, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, submission) {
	.round = round_submission, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, context) {
	.round = round_context, .rounds = 10000,
};

FIXTURE_VARIANT_ADD(leak, pair) {
	.round = round_pair, .rounds = 2000, .variable = "COLLQ_LEAK_PAIRS",
};

FIXTURE_VARIANT_ADD(leak, unfinished) {
	.round = round_unfinished, .rounds = 2000, .variable = "COLLQ_LEAK_PAIRS",
};

FIXTURE_SETUP(leak)
{
	const struct ib_collq_task task = raw_copy(0, 1, 1, 1);
	const struct ib_collq_sge sges[] = { { .length = 500 },
					     { .length = 500, .offset = RAW_PAGE } };
	const struct raw_graph graph = {
		.tasks = &task, .nr_tasks = 1, .sges = sges, .nr_sges = 2, .nr_buffers = 1,
	};

	struct ib_collq_endpoint_create owner = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);

	ASSERT_EQ(0, raw_pair_open(&self->world.a, &self->world.b));
	owner.flags = IB_COLLQ_ENDPOINT_ZONES;
	self->world.owner = raw_endpoint_create(self->world.a.fd, &owner);
	ASSERT_LT(0, self->world.owner);
	self->world.memory = raw_map(2 * MEMORY);
	ASSERT_NE(NULL, self->world.memory);
	ASSERT_EQ(0, munmap(self->world.memory + MEMORY, MEMORY));
	self->world.region = raw_region_create(self->world.a.fd, self->world.memory, MEMORY,
					       IB_COLLQ_ACCESS_WRITE);
	ASSERT_LT(0, self->world.region);
	self->world.copy = raw_data_graph_create(self->world.a.fd, &graph, NULL);
	ASSERT_LT(0, self->world.copy);
	self->world.task = raw_wait_for(self->world.a.counter, 1);
	self->world.eventfd = eventfd(0, EFD_CLOEXEC);
}

FIXTURE_TEARDOWN(leak)
{
	close(self->world.eventfd);
	munmap(self->world.memory, MEMORY);
	raw_pair_close(&self->world.a, &self->world.b);
	if (!geteuid())
		EXPECT_TRUE(RAW_EVENTUALLY(usage_uncharged()));
}

TEST_F_TIMEOUT(leak, no_growth, 1200)
{
	int i, rounds = slow_kernel() ? variant->rounds / 10 : variant->rounds;
	static struct usage before;

	if (geteuid())
		SKIP(return, "takes root");
	if (variant->variable)
		rounds = chance_number(variant->variable, rounds);
	/* What was closed before this test may still be on its way out. */
	ASSERT_TRUE(RAW_EVENTUALLY(usage_read(&before) && before.queue_pairs == QUEUE_PAIRS));

	for (i = 0; i < rounds / 10; i++)
		ASSERT_EQ(0, variant->round(&self->world));
	ASSERT_TRUE(RAW_EVENTUALLY(usage_read(&before) && before.queue_pairs == QUEUE_PAIRS));
	for (i = 0; i < rounds; i++)
		ASSERT_EQ(0, variant->round(&self->world));
	if (!RAW_EVENTUALLY(!usage_growth(&before, rounds, false)))
		EXPECT_EQ(0, usage_growth(&before, rounds, true));
}

TEST_HARNESS_MAIN
