// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Local endpoints: when the wire is left out, when it isn't, and that what comes
 * by the short way does no more than what comes over the wire could.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

static struct ib_collq_endpoint_info info_of(const struct raw_side *side)
{
	return raw_endpoint_info(side->fd, side->endpoint);
}

static int reset(struct raw_side *side)
{
	struct ib_collq_object_reset attr = { .size = sizeof(attr), .id = side->endpoint };
	int err = raw_ioctl(side->fd, IB_COLLQ_OBJECT_RESET, &attr);

	memcpy(side->attr.address, attr.address, sizeof(attr.address));
	return err;
}

/* Each with an endpoint that may be local, and isn't connected yet. */
static int open_both(struct raw_side *a, struct raw_side *b)
{
	int err;

	raw_endpoint_flags = IB_COLLQ_ENDPOINT_LOCAL;
	b->fd = -1;
	err = raw_side_open(a);
	return err ? err : raw_side_open(b);
}

/* Two contexts that aren't connected yet. */
FIXTURE(pair)
{
	struct raw_side a, b;
};

FIXTURE_SETUP(pair)
{
	ASSERT_EQ(0, open_both(&self->a, &self->b));
}

FIXTURE_TEARDOWN(pair)
{
	raw_pair_close(&self->a, &self->b);
}

static int connect_both(struct raw_side *a, struct raw_side *b)
{
	int err = raw_side_connect(a, b->attr.address);

	return err ? err : raw_side_connect(b, a->attr.address);
}

TEST_F(pair, second_makes_it_local)
{
	struct ib_collq_endpoint_info a, b;

	ASSERT_EQ(0, raw_side_connect(&self->a, self->b.attr.address));
	EXPECT_EQ(0, info_of(&self->a).is_local);
	EXPECT_EQ(0, info_of(&self->b).is_local);
	ASSERT_EQ(0, raw_side_connect(&self->b, self->a.attr.address));
	EXPECT_EQ(1, info_of(&self->a).is_local);
	EXPECT_EQ(1, info_of(&self->b).is_local);

	ASSERT_EQ(0, raw_pair_barrier(&self->a, &self->b));
	a = info_of(&self->a);
	b = info_of(&self->b);
	EXPECT_EQ(1, a.local_sends);
	EXPECT_EQ(1, a.local_messages);
	EXPECT_EQ(1, b.local_sends);
	EXPECT_EQ(1, b.local_messages);
	EXPECT_EQ(0, a.sends + a.messages + b.sends + b.messages);
	EXPECT_EQ(0, a.dropped + b.dropped);
	EXPECT_EQ(IB_COLLQ_ENDPOINT_LOCAL, a.create.flags);
}

/* What was sent while one was connected comes over the wire, once. */
TEST_F(pair, sent_before_it_was_local)
{
	__u64 sequence;
	int status;

	ASSERT_EQ(0, raw_side_connect(&self->a, self->b.attr.address));
	ASSERT_EQ(0, raw_submit(self->a.fd, self->a.queue, self->a.graph, 0, 0, &sequence));
	ASSERT_EQ(0, raw_side_connect(&self->b, self->a.attr.address));
	ASSERT_EQ(0, raw_run(self->b.fd, self->b.queue, self->b.graph, &status));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, raw_result(self->a.fd, self->a.queue, sequence, &status));
	EXPECT_EQ(0, status);
	EXPECT_EQ(1, raw_counter_raised(self->b.fd, self->b.counter));
	EXPECT_EQ(1, info_of(&self->a).sends);
	EXPECT_EQ(1, info_of(&self->b).messages);
	EXPECT_EQ(1, info_of(&self->b).local_sends);
	EXPECT_EQ(1, info_of(&self->a).local_messages);
}

/* One side doesn't want it, whichever. */
FIXTURE(unwilling)
{
	struct raw_side a, b;
};

FIXTURE_VARIANT(unwilling)
{
	__u32 a, b;
};

FIXTURE_VARIANT_ADD(unwilling, first) { .b = IB_COLLQ_ENDPOINT_LOCAL };
FIXTURE_VARIANT_ADD(unwilling, second) { .a = IB_COLLQ_ENDPOINT_LOCAL };
FIXTURE_VARIANT_ADD(unwilling, both) { };

FIXTURE_SETUP(unwilling)
{
	self->b.fd = -1;
	raw_endpoint_flags = variant->a;
	ASSERT_EQ(0, raw_side_open(&self->a));
	raw_endpoint_flags = variant->b;
	ASSERT_EQ(0, raw_side_open(&self->b));
}

FIXTURE_TEARDOWN(unwilling)
{
	raw_pair_close(&self->a, &self->b);
}

TEST_F(unwilling, goes_by_wire)
{
	struct ib_collq_endpoint_info info;

	ASSERT_EQ(0, connect_both(&self->a, &self->b));
	ASSERT_EQ(0, raw_pair_barrier(&self->a, &self->b));
	info = info_of(&self->a);
	EXPECT_EQ(0, info.is_local);
	EXPECT_EQ(0, info.local_sends + info.local_messages);
	EXPECT_EQ(1, info.sends);
	EXPECT_EQ(1, info.messages);
}

/*
 * One was told an address that isn't the other's in this member. Over the wire it
 * leads there all the same.
 */
FIXTURE(false_address)
{
	struct raw_side a, b;
};

FIXTURE_VARIANT(false_address)
{
	size_t offset;
};

#define AT(member)		offsetof(struct ib_collq_address, member)

FIXTURE_VARIANT_ADD(false_address, capabilities) { AT(capabilities) };
FIXTURE_VARIANT_ADD(false_address, pkey) { AT(pkey) };
FIXTURE_VARIANT_ADD(false_address, device) { AT(device) };
FIXTURE_VARIANT_ADD(false_address, netns) { AT(netns) };
FIXTURE_VARIANT_ADD(false_address, instance) { AT(instance) };
FIXTURE_VARIANT_ADD(false_address, nonce) { AT(nonce) };

FIXTURE_SETUP(false_address)
{
	ASSERT_EQ(0, open_both(&self->a, &self->b));
}

FIXTURE_TEARDOWN(false_address)
{
	raw_pair_close(&self->a, &self->b);
}

TEST_F(false_address, goes_by_wire)
{
	__u8 told[IB_COLLQ_ADDRESS_SIZE];
	struct ib_collq_endpoint_info info;

	memcpy(told, self->b.attr.address, sizeof(told));
	told[variant->offset] ^= IB_COLLQ_CAP_LOCAL;
	ASSERT_EQ(0, raw_side_connect(&self->a, told));
	ASSERT_EQ(0, raw_side_connect(&self->b, self->a.attr.address));
	ASSERT_EQ(0, raw_pair_barrier(&self->a, &self->b));
	info = info_of(&self->b);
	EXPECT_EQ(0, info.is_local);
	EXPECT_EQ(0, info.local_sends + info.local_messages);
	EXPECT_EQ(1, info.messages);
	EXPECT_EQ(0, info_of(&self->a).is_local);
}

/* Two that are local. */
FIXTURE(local)
{
	struct raw_side a, b;
};

FIXTURE_SETUP(local)
{
	raw_endpoint_flags = IB_COLLQ_ENDPOINT_LOCAL;
	ASSERT_EQ(0, raw_pair_open(&self->a, &self->b));
	ASSERT_EQ(1, info_of(&self->a).is_local);
}

FIXTURE_TEARDOWN(local)
{
	raw_pair_close(&self->a, &self->b);
}

/* Who has the address of one that has a peer doesn't get between. */
TEST_F(local, third_party)
{
	struct raw_side c;
	int status;

	ASSERT_EQ(0, raw_side_open(&c));
	ASSERT_EQ(0, raw_side_connect(&c, self->a.attr.address));
	EXPECT_EQ(0, info_of(&c).is_local);
	/* The signal gets an error, or nothing; the WAIT can't be satisfied. */
	ASSERT_EQ(0, raw_run(c.fd, c.queue, c.graph, &status));
	EXPECT_NE(0, status);
	EXPECT_EQ(0, info_of(&c).local_sends);
	EXPECT_EQ(0, raw_counter_raised(self->a.fd, self->a.counter));
	EXPECT_EQ(0, raw_pair_barrier(&self->a, &self->b));
	EXPECT_EQ(1, info_of(&self->a).local_messages);
	raw_side_close(&c);
}

static int run_tasks(const struct raw_side *side, const struct ib_collq_task *tasks, __u32 nr)
{
	int graph = raw_graph_create(side->fd, tasks, nr);
	int err, status;

	if (graph < 0)
		return graph;
	err = raw_run(side->fd, side->queue, graph, &status);
	return err ? err : status;
}

/* Only what the receiver has bound, and while it's bound, can be raised. */
TEST_F(local, dropped)
{
	const struct ib_collq_task nonsense[] = {
		raw_signal(self->a.endpoint, RAW_SLOT, RAW_GENERATION + 1),
		raw_signal(self->a.endpoint, RAW_SLOT + 1, RAW_GENERATION),
		raw_signal(self->a.endpoint, IB_COLLQ_IMM_SLOT_MASK, 0),
	};
	const struct ib_collq_task sense = raw_signal(self->a.endpoint, RAW_SLOT, RAW_GENERATION);

	ASSERT_EQ(0, run_tasks(&self->a, nonsense, 3));
	EXPECT_EQ(3, info_of(&self->b).dropped);
	EXPECT_EQ(0, raw_counter_raised(self->b.fd, self->b.counter));
	ASSERT_EQ(0, run_tasks(&self->a, &sense, 1));
	EXPECT_EQ(1, raw_counter_raised(self->b.fd, self->b.counter));
	EXPECT_EQ(4, info_of(&self->b).local_messages);
}

/* A send is done when it has been made. */
TEST_F(local, sends_are_counted)
{
	int counter = raw_counter_create(self->a.fd, IB_COLLQ_SOURCE_SENDS, self->a.endpoint);
	struct ib_collq_task tasks[3] = {
		raw_signal(self->a.endpoint, RAW_SLOT, RAW_GENERATION),
		raw_signal(self->a.endpoint, RAW_SLOT, RAW_GENERATION),
	};

	ASSERT_LT(0, counter);
	tasks[2] = raw_wait_for(counter, 2);
	EXPECT_EQ(0, run_tasks(&self->a, tasks, 3));
	EXPECT_EQ(2, raw_counter_raised(self->b.fd, self->b.counter));
}

/* More than there is room for on the wire, and more than is done in one go. */
#define MANY	20000

TEST_F(local, more_than_a_budget)
{
	static struct ib_collq_task tasks[MANY + 1];
	struct raw_side *side;
	__u64 sequence[2];
	int i, s, graph, status;

	for (s = 0; s < 2; s++) {
		side = s ? &self->b : &self->a;
		for (i = 0; i < MANY; i++)
			tasks[i] = raw_signal(side->endpoint, RAW_SLOT, RAW_GENERATION);
		tasks[MANY] = raw_wait_for(side->counter, MANY);
		graph = raw_graph_create(side->fd, tasks, MANY + 1);
		ASSERT_LT(0, graph);
		ASSERT_EQ(0, raw_submit(side->fd, side->queue, graph, 0, 0, &sequence[s]));
	}
	for (s = 0; s < 2; s++) {
		side = s ? &self->b : &self->a;
		ASSERT_EQ(0, raw_result(side->fd, side->queue, sequence[s], &status));
		EXPECT_EQ(0, status);
		EXPECT_EQ(MANY, info_of(side).local_messages);
		EXPECT_EQ(0, info_of(side).sends);
	}
}

/* Each signal lets the other side go on: nothing recurses however long this is. */
TEST_F(local, long_chain)
{
	static struct ib_collq_task tasks[MANY];
	struct raw_side *side;
	__u64 sequence[2];
	int i, s, graph, status;

	for (s = 0; s < 2; s++) {
		side = s ? &self->b : &self->a;
		for (i = 0; i < MANY; i++)
			tasks[i] = (i + s) % 2 ? raw_wait_for(side->counter, 1) :
				   raw_signal(side->endpoint, RAW_SLOT, RAW_GENERATION);
		graph = raw_graph_create(side->fd, tasks, MANY);
		ASSERT_LT(0, graph);
		ASSERT_EQ(0, raw_submit(side->fd, side->queue, graph, 0, 0, &sequence[s]));
	}
	for (s = 0; s < 2; s++) {
		side = s ? &self->b : &self->a;
		ASSERT_EQ(0, raw_result(side->fd, side->queue, sequence[s], &status));
		EXPECT_EQ(0, status);
	}
}

/* CLOSE comes over the wire, after all that was said before. */
TEST_F(local, peer_exits)
{
	const struct ib_collq_task wait = raw_wait_for(self->a.counter, 2);
	const struct ib_collq_task last = raw_signal(self->b.endpoint, RAW_SLOT, RAW_GENERATION);
	struct ib_collq_endpoint_info info;

	ASSERT_EQ(0, run_tasks(&self->b, &last, 1));
	raw_side_close(&self->b);
	EXPECT_EQ(-ECONNRESET, run_tasks(&self->a, &wait, 1));
	EXPECT_EQ(1, raw_counter_raised(self->a.fd, self->a.counter));
	info = info_of(&self->a);
	EXPECT_EQ(0, info.is_local);
	EXPECT_EQ(IB_COLLQ_ENDPOINT_PEER_CLOSED, info.state);
}

/* As with the wire: both have to be reset and connected, then it's local again. */
TEST_F(local, reset)
{
	ASSERT_EQ(0, raw_pair_barrier(&self->a, &self->b));
	ASSERT_EQ(0, reset(&self->a));
	EXPECT_EQ(0, info_of(&self->a).is_local);
	EXPECT_EQ(0, info_of(&self->b).is_local);
	ASSERT_EQ(0, reset(&self->b));
	ASSERT_EQ(0, raw_endpoint_connect(self->b.fd, self->b.endpoint, self->a.attr.address));
	EXPECT_EQ(0, info_of(&self->b).is_local);
	ASSERT_EQ(0, raw_endpoint_connect(self->a.fd, self->a.endpoint, self->b.attr.address));
	EXPECT_EQ(1, info_of(&self->a).is_local);
	ASSERT_EQ(0, raw_pair_barrier(&self->a, &self->b));
	EXPECT_EQ(2, info_of(&self->a).local_messages);
}

/* To itself. */
TEST(own_peer)
{
	struct raw_side side;
	int status;

	raw_endpoint_flags = IB_COLLQ_ENDPOINT_LOCAL;
	ASSERT_EQ(0, raw_side_open(&side));
	ASSERT_EQ(0, raw_side_connect(&side, side.attr.address));
	ASSERT_EQ(0, raw_run(side.fd, side.queue, side.graph, &status));
	EXPECT_EQ(0, status);
	EXPECT_EQ(1, raw_counter_raised(side.fd, side.counter));
	raw_side_close(&side);
}

TEST_HARNESS_MAIN
