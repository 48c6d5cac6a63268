// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Data between local endpoints, where it differs from data over the wire: who comes
 * first, what is too much for one go, and either side's end in the middle of it.
 * data_local_test has the rest.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_memory.h"

#define CANARY		0xc5
#define AREA		(9UL << 20)
#define LARGE		(8UL << 20)	/* the longest message; more than a budget */
#define SMALL		1000

/* A side, with a message endpoint, its counters, and memory */
struct data_side {
	struct raw_side raw;
	struct ib_collq_endpoint_create attr;
	int sends;
	int messages;
	char *area;
	int region;
};

static int side_open(struct data_side *side)
{
	int ret = raw_side_open(&side->raw);

	if (ret)
		return ret;
	side->attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_MESSAGE);
	side->attr.signal_endpoint = side->raw.endpoint;
	ret = raw_endpoint_create(side->raw.fd, &side->attr);
	if (ret < 0)
		return ret;
	side->raw.message_endpoint = ret;
	side->sends = raw_counter_create(side->raw.fd, IB_COLLQ_SOURCE_SENDS, ret);
	side->messages = raw_counter_create(side->raw.fd, IB_COLLQ_SOURCE_MESSAGES, ret);
	side->area = raw_map(AREA);
	if (!side->area)
		return -ENOMEM;
	memset(side->area, CANARY, AREA);
	side->region = raw_region_create(side->raw.fd, side->area, AREA, IB_COLLQ_ACCESS_WRITE);
	return side->region < 0 ? side->region : 0;
}

static int side_connect(struct data_side *side, const struct data_side *peer)
{
	return raw_endpoint_connect(side->raw.fd, side->raw.message_endpoint,
				    peer->attr.address);
}

static struct ib_collq_endpoint_info info_of(const struct data_side *side)
{
	return raw_endpoint_info(side->raw.fd, side->raw.message_endpoint);
}

/* One message to or from a place in the area; waits for it, or leaves it posted. */
static int submit(struct data_side *side, bool send, size_t offset, size_t length, bool wait,
		  __u64 *sequence)
{
	const struct ib_collq_sge sge = { .offset = offset, .length = length };
	const struct ib_collq_task tasks[] = {
		send ? raw_send_list(side->raw.message_endpoint, 0, 1) :
		       raw_recv_list(side->raw.message_endpoint, 0, 1),
		raw_wait_for(send ? side->sends : side->messages, 1),
	};
	const struct raw_graph graph = {
		.tasks = tasks, .nr_tasks = 1 + wait, .sges = &sge, .nr_sges = 1, .nr_buffers = 1,
	};
	const struct ib_collq_buffer_bind binding = { .region = side->region };
	int id = raw_data_graph_create(side->raw.fd, &graph, NULL);

	return id < 0 ? id : raw_submit_bound(side->raw.fd, side->raw.queue, id, &binding, 1,
					      sequence);
}

static int result_of(const struct data_side *side, __u64 sequence)
{
	int status, err = raw_result(side->raw.fd, side->raw.queue, sequence, &status);

	return err ? err : status;
}

/* Two sides whose signal endpoints are connected, but not those for messages. */
FIXTURE(pair)
{
	struct data_side a, b;
};

FIXTURE_SETUP(pair)
{
	raw_endpoint_flags = IB_COLLQ_ENDPOINT_LOCAL;
	self->b.raw.fd = -1;
	ASSERT_EQ(0, side_open(&self->a));
	ASSERT_EQ(0, side_open(&self->b));
	ASSERT_EQ(0, raw_side_connect(&self->a.raw, self->b.raw.attr.address));
	ASSERT_EQ(0, raw_side_connect(&self->b.raw, self->a.raw.attr.address));
	ASSERT_EQ(0, side_connect(&self->a, &self->b));
}

FIXTURE_TEARDOWN(pair)
{
	raw_pair_close(&self->a.raw, &self->b.raw);
	munmap(self->a.area, AREA);
	munmap(self->b.area, AREA);
}

/* What is sent before the peer is connected arrives, in order, the short way. */
TEST_F(pair, sent_before_connected)
{
	struct ib_collq_endpoint_info a, b;
	__u64 sent, received;
	int i;

	raw_fill(self->a.area, 5 * SMALL, 1);
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, submit(&self->a, true, i * SMALL, SMALL, false, &sent));
		ASSERT_EQ(0, result_of(&self->a, sent));
	}
	EXPECT_EQ(0, info_of(&self->a).local_sends);
	EXPECT_EQ(-EBUSY, raw_destroy(self->a.raw.fd, self->a.region));
	ASSERT_EQ(0, side_connect(&self->b, &self->a));
	ASSERT_EQ(1, info_of(&self->a).is_local);
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, submit(&self->b, false, i * SMALL, SMALL, true, &received));
	ASSERT_EQ(0, submit(&self->a, true, 4 * SMALL, SMALL, true, &sent));
	ASSERT_EQ(0, result_of(&self->b, received));
	ASSERT_EQ(0, result_of(&self->a, sent));
	EXPECT_EQ(0, raw_count_wrong(self->b.area, 5 * SMALL, 1));
	EXPECT_EQ(0, raw_count_other(self->b.area + 5 * SMALL, AREA - 5 * SMALL, CANARY));

	a = info_of(&self->a);
	b = info_of(&self->b);
	EXPECT_EQ(5, a.local_sends);
	EXPECT_EQ(5, b.local_messages);
	EXPECT_EQ(0, b.sends + a.messages + b.messages);
	EXPECT_EQ(5, raw_counter_raised(self->a.raw.fd, self->a.sends));
	EXPECT_EQ(5, raw_counter_raised(self->b.raw.fd, self->b.messages));
}

/* Receives that were posted before the peer was connected, too. */
TEST_F(pair, receives_before_connected)
{
	__u64 sent, received;

	raw_fill(self->b.area, SMALL, 2);
	ASSERT_EQ(0, submit(&self->a, false, 0, SMALL, true, &received));
	ASSERT_EQ(0, side_connect(&self->b, &self->a));
	ASSERT_EQ(0, submit(&self->b, true, 0, SMALL, true, &sent));
	EXPECT_EQ(0, result_of(&self->a, received));
	EXPECT_EQ(0, result_of(&self->b, sent));
	EXPECT_EQ(0, raw_count_wrong(self->a.area, SMALL, 2));
}

/* Both sides send first: neither waits for the other. */
TEST_F(pair, both_send_first)
{
	__u64 received[2], sent;

	raw_fill(self->a.area, SMALL, 3);
	raw_fill(self->b.area, SMALL, 4);
	ASSERT_EQ(0, side_connect(&self->b, &self->a));
	ASSERT_EQ(0, submit(&self->a, true, 0, SMALL, false, &sent));
	ASSERT_EQ(0, submit(&self->b, true, 0, SMALL, false, &sent));
	ASSERT_EQ(0, submit(&self->a, false, SMALL, SMALL, true, &received[0]));
	ASSERT_EQ(0, submit(&self->b, false, SMALL, SMALL, true, &received[1]));
	EXPECT_EQ(0, result_of(&self->a, received[0]));
	EXPECT_EQ(0, result_of(&self->b, received[1]));
	EXPECT_EQ(0, raw_count_wrong(self->a.area + SMALL, SMALL, 4));
	EXPECT_EQ(0, raw_count_wrong(self->b.area + SMALL, SMALL, 3));
}

/* More than is copied in one go, both ways at once. */
TEST_F_TIMEOUT(pair, large, 120)
{
	__u64 received[2], sent[2];

	ASSERT_EQ(0, side_connect(&self->b, &self->a));
	raw_fill(self->a.area + 1, LARGE, 5);
	ASSERT_EQ(0, submit(&self->b, false, 3, LARGE, true, &received[1]));
	ASSERT_EQ(0, submit(&self->a, true, 1, LARGE, true, &sent[0]));
	EXPECT_EQ(0, result_of(&self->a, sent[0]));
	EXPECT_EQ(0, result_of(&self->b, received[1]));
	EXPECT_EQ(0, raw_count_wrong(self->b.area + 3, LARGE, 5));
	EXPECT_EQ(0, raw_count_other(self->b.area, 3, CANARY));
	EXPECT_EQ(0, raw_count_other(self->b.area + 3 + LARGE, AREA - 3 - LARGE, CANARY));

	ASSERT_EQ(0, submit(&self->a, false, 0, LARGE / 2, false, &received[0]));
	ASSERT_EQ(0, submit(&self->b, false, LARGE / 2, LARGE / 2, false, &received[1]));
	ASSERT_EQ(0, submit(&self->a, true, LARGE / 2, LARGE / 2, true, &sent[0]));
	ASSERT_EQ(0, submit(&self->b, true, 0, LARGE / 2, true, &sent[1]));
	EXPECT_EQ(0, result_of(&self->a, sent[0]));
	EXPECT_EQ(0, result_of(&self->b, sent[1]));
	EXPECT_EQ(1, raw_counter_raised(self->a.raw.fd, self->a.messages));
	EXPECT_EQ(2, info_of(&self->a).local_sends);
	EXPECT_EQ(1, info_of(&self->b).local_sends);
}

/* The end of one side while a large message is being copied, or about to be. */
enum end { CANCEL_SENDER, CANCEL_RECEIVER, CLOSE_SENDER, CLOSE_RECEIVER };

FIXTURE(end)
{
	struct data_side a, b;
};

FIXTURE_VARIANT(end)
{
	enum end end;
};

FIXTURE_VARIANT_ADD(end, cancel_sender) { CANCEL_SENDER };
FIXTURE_VARIANT_ADD(end, cancel_receiver) { CANCEL_RECEIVER };
FIXTURE_VARIANT_ADD(end, close_sender) { CLOSE_SENDER };
FIXTURE_VARIANT_ADD(end, close_receiver) { CLOSE_RECEIVER };

FIXTURE_SETUP(end)
{
	raw_endpoint_flags = IB_COLLQ_ENDPOINT_LOCAL;
}

FIXTURE_TEARDOWN(end)
{
}

static int open_both(struct data_side *a, struct data_side *b)
{
	int err;

	b->raw.fd = -1;
	err = side_open(a);
	if (!err)
		err = side_open(b);
	if (!err)
		err = raw_side_connect(&a->raw, b->raw.attr.address);
	if (!err)
		err = raw_side_connect(&b->raw, a->raw.attr.address);
	if (!err)
		err = side_connect(a, b);
	return err ? err : side_connect(b, a);
}

/* Nobody touches the memory of a submission that has ended, and of one that's gone. */
TEST_F_TIMEOUT(end, in_the_middle, 120)
{
	struct data_side *gone = variant->end == CLOSE_SENDER ? &self->a : &self->b;
	struct data_side *stays = variant->end == CLOSE_SENDER ? &self->b : &self->a;
	__u64 received, sent;
	int round, status;

	for (round = 0; round < 10; round++) {
		ASSERT_EQ(0, open_both(&self->a, &self->b));
		ASSERT_EQ(0, submit(&self->b, false, 0, LARGE, true, &received));
		ASSERT_EQ(0, submit(&self->a, true, 0, LARGE, true, &sent));
		switch (variant->end) {
		case CANCEL_SENDER:
			raw_cancel(self->a.raw.fd, self->a.raw.queue, sent);
			status = result_of(&self->a, sent);
			EXPECT_EQ(true, !status || status == -ECANCELED);
			ASSERT_EQ(1, RAW_EVENTUALLY(!raw_region_info(self->a.raw.fd,
								     self->a.region).uses));
			EXPECT_EQ(0, raw_destroy(self->a.raw.fd, self->a.region));
			break;
		case CANCEL_RECEIVER:
			raw_cancel(self->b.raw.fd, self->b.raw.queue, received);
			status = result_of(&self->b, received);
			EXPECT_EQ(true, !status || status == -ECANCELED);
			/* From here on it's the caller's again. */
			memset(self->b.area, CANARY, AREA);
			result_of(&self->a, sent);
			EXPECT_EQ(0, raw_count_other(self->b.area, AREA, CANARY));
			EXPECT_EQ(0, raw_destroy(self->b.raw.fd, self->b.region));
			break;
		default:
			raw_side_close(&gone->raw);
			status = result_of(stays, stays == &self->a ? sent : received);
			EXPECT_EQ(true, !status || status == -ECONNRESET ||
				  status == -ECANCELED || status == -EHOSTUNREACH);
		}
		raw_pair_close(&self->a.raw, &self->b.raw);
		munmap(self->a.area, AREA);
		munmap(self->b.area, AREA);
		ASSERT_EQ(1, RAW_EVENTUALLY(!raw_status_kb("VmPin")));
	}
}

TEST_HARNESS_MAIN
