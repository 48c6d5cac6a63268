// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a process has by uverbs, let go of in any order: its memory region and protection
 * domain, what uses them, rings that are closed or unmapped, contexts, and descriptors,
 * with whatever is left behind them. What is still in use is refused with -EBUSY, and
 * goes when the rest has gone; nothing else is refused, and nothing is left.
 *
 * Orders are drawn: COLLQ_ORDERS is how many (60; 20 on kernels that check all they do).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/ib_collq_uverbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "kselftest_harness.h"

#include "all_uverbs.h"
#include "chance.h"
#include "mr_side.h"
#include "slow_kernel.h"
#include "usage.h"
#include "verbs.h"

/* Of SoftRoCE */
#define DRIVER		14

#define LIMIT_S		600
#define LENGTH		100000
#define MAX_HANDLES	64

/* One side's, each to go once */
enum part {
	MEMORY, DOMAIN, REGION, MESSAGES, SIGNALS, SENT, ARRIVED, SIGNALLED, QUEUE, BARRIER,
	TRANSFER, RING, RING_FILE, RING_MAP, CONTEXT, DESCRIPTOR, PARTS
};

static const char *const names[PARTS] = {
	"MR", "PD", "region", "message endpoint", "signal endpoint", "counter of sends",
	"counter of messages", "counter of signals", "queue", "graph", "graph with data", "ring",
	"ring's descriptor", "ring's mapping", "context", "descriptor",
};

/* What is under way meanwhile */
enum scene { IDLE, RECEIVES_POSTED, MESSAGE_SENT, MESSAGE_LOST, GRAPH_WAITS, SCENES };

/* A side, the graph that it runs, and what of it has gone */
struct side {
	struct mr_side mr;
	int transfer;
	int ring_fd;
	bool gone[PARTS];
};

static struct side sides[2];

/* A method on the context, whose handle only the library knows; of all, it fits but one. */
static int close_context(int fd)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr;
	} call = {
		.hdr = {
			.length = sizeof(call), .object_id = IB_COLLQ_UOBJECT_CONTEXT,
			.method_id = IB_COLLQ_METHOD_CLOSE, .num_attrs = 1, .driver_id = DRIVER,
		},
		.attr = { .attr_id = IB_COLLQ_ATTR_HANDLE, .flags = UVERBS_ATTR_F_MANDATORY },
	};

	for (; call.attr.data < MAX_HANDLES; call.attr.data++) {
		if (!__real_ioctl(fd, RDMA_VERBS_IOCTL, &call.hdr))
			return 0;
		if (errno != EINVAL && errno != ENOENT)
			return -errno;
	}
	return -ENOENT;
}

/* The file is closed; its number stays the library's. */
static int close_ring(int fd)
{
	int null = __real_open("/dev/null", O_RDONLY);
	int ret = dup2(null, fd);

	__real_close(null);
	return ret < 0 ? -errno : 0;
}

static int unmap_ring(struct raw_ring *ring)
{
	raw_ring_unmap(ring);
	return 0;
}

/* With all that is behind it, but memory that is mapped. */
static int close_all(struct side *side)
{
	int i, err = close(side->mr.raw.fd);

	side->mr.raw.fd = -1;
	for (i = 0; i < PARTS; i++)
		side->gone[i] |= i != RING_MAP;
	return err ? -errno : 0;
}

static int let_go(struct side *side, enum part part)
{
	struct mr_side *mr = &side->mr;
	const int ids[PARTS] = {
		[REGION] = mr->region, [MESSAGES] = mr->endpoint, [SIGNALS] = mr->raw.endpoint,
		[SENT] = mr->sends, [ARRIVED] = mr->messages, [SIGNALLED] = mr->raw.counter,
		[QUEUE] = mr->raw.queue, [BARRIER] = mr->raw.graph, [TRANSFER] = side->transfer,
		[RING] = mr->raw.ring.id,
	};

	switch (part) {
	case MEMORY:
		return -ibv_dereg_mr(mr->mr);
	case DOMAIN:
		return -ibv_dealloc_pd(mr->pd);
	case RING_FILE:
		return side->gone[RING] ? 0 : close_ring(side->ring_fd);
	case RING_MAP:
		return unmap_ring(&mr->raw.ring);
	case CONTEXT:
		return close_context(mr->raw.fd);
	case DESCRIPTOR:
		return close_all(side);
	default:
		return raw_destroy(mr->raw.fd, ids[part]);
	}
}

static bool open_sides(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		sides[i] = (struct side) {};
		if (mr_side_open(&sides[i].mr))
			return false;
	}
	for (i = 0; i < 2; i++) {
		if (mr_side_connect(&sides[i].mr, &sides[!i].mr))
			return false;
		sides[i].transfer = mr_graph_of(&sides[i].mr, !i, false, 0, LENGTH);
		sides[i].ring_fd = collq_verbs_ring_fd(uverbs_of(sides[i].mr.raw.fd),
						       sides[i].mr.raw.ring.id);
		if (sides[i].transfer < 0 || sides[i].ring_fd < 0)
			return false;
	}
	return true;
}

static int transfer(struct side *side)
{
	return mr_submit_with(&side->mr, side->transfer, side->mr.region, NULL);
}

/* What is under way when the first thing goes; nobody waits for it. */
static int play(enum scene scene)
{
	int err = 0;

	if (scene == RECEIVES_POSTED || scene == MESSAGE_SENT)
		err = transfer(&sides[1]);
	if (!err && scene == MESSAGE_SENT)
		err = transfer(&sides[0]);
	if (!err && scene == MESSAGE_LOST) {
		err = close_all(&sides[1]);
		if (!err)
			err = transfer(&sides[0]);
		/* It may have been told. */
		if (err == -ECONNRESET)
			err = 0;
	}
	if (!err && scene == GRAPH_WAITS)
		err = raw_submit(sides[0].mr.raw.fd, sides[0].mr.raw.queue,
				 sides[0].mr.raw.graph, 0, 0, NULL);
	return err;
}

/* All parts of both sides, in an order; descriptors may be left to the end. */
static void draw(uint64_t *chance, uint32_t order[2 * PARTS])
{
	bool last = chance_below(chance, 2);
	uint32_t i, k, swap;

	for (i = 0; i < 2 * PARTS; i++) {
		k = chance_below(chance, i + 1);
		order[i] = order[k];
		order[k] = i;
	}
	for (i = 0, k = 0; last && i < 2 * PARTS; i++) {
		if (order[i] % PARTS == DESCRIPTOR)
			continue;
		swap = order[i];
		order[i] = order[k];
		order[k++] = swap;
	}
}

/* Goes through the order once: how much is left, or -1. */
static int pass(const uint32_t order[2 * PARTS], bool say)
{
	struct side *side;
	enum part part;
	int i, err, left = 0;

	for (i = 0; i < 2 * PARTS; i++) {
		side = &sides[order[i] / PARTS];
		part = order[i] % PARTS;
		if (side->gone[part])
			continue;
		err = let_go(side, part);
		if (!err) {
			side->gone[part] = true;
			continue;
		}
		left++;
		if (err == -EBUSY && !say)
			continue;
		printf("# side %u: %s: %d\n", order[i] / PARTS, names[part], err);
		if (err != -EBUSY)
			return -1;
	}
	return left;
}

/* Until all has gone: each time round something has to. */
static bool go(const uint32_t order[2 * PARTS])
{
	int before, left = 2 * PARTS;

	do {
		before = left;
		left = pass(order, false);
	} while (left > 0 && left < before);
	if (left > 0)
		pass(order, true);
	return !left;
}

static void close_sides(void)
{
	int i;

	for (i = 0; i < 2; i++)
		if (sides[i].mr.area)
			mr_side_close(&sides[i].mr);
}

static bool play_round(uint64_t *chance, uint32_t number)
{
	enum scene scene = number % SCENES;
	uint32_t order[2 * PARTS], i;
	bool good = open_sides();
	int err = good ? play(scene) : 0;

	draw(chance, order);
	if (!good || err)
		printf("# round %u, scene %d: %d\n", number, scene, err);
	good = good && !err && go(order);
	if (!good) {
		printf("# round %u, scene %d; the order was:\n", number, scene);
		for (i = 0; i < 2 * PARTS; i++)
			printf("#   side %u: %s\n", order[i] / PARTS, names[order[i] % PARTS]);
	}
	close_sides();
	return good;
}

FIXTURE(order) {
};

FIXTURE_SETUP(order)
{
	if (geteuid())
		SKIP(return, "takes root");
}

FIXTURE_TEARDOWN(order)
{
}

TEST_F_TIMEOUT(order, any, LIMIT_S)
{
	uint64_t chance = chance_begin("uverbs_order");
	uint32_t round, rounds = chance_number("COLLQ_ORDERS", slow_kernel() ? 20 : 60);
	uint64_t begin, took, slowest = 0;
	static struct usage before;

	/* 4 ms for each of eight tries where the peer has gone */
	mr_ack_timeout = 10;
	raw_ack_timeout = 10;
	for (round = 0; round < rounds + SCENES; round++) {
		begin = raw_now();
		ASSERT_TRUE(play_round(&chance, round));
		took = raw_now() - begin;
		if (took > slowest)
			slowest = took;
		if (round % SCENES != SCENES - 1)
			continue;
		ASSERT_TRUE(RAW_EVENTUALLY(usage_quiet()))
			TH_LOG("round %u", round);
		/* What comes with the first times isn't a leak. */
		if (round == SCENES - 1)
			ASSERT_TRUE(usage_read(&before));
	}
	TH_LOG("%u orders, the slowest in %.2f s", round, slowest / 1e9);
	if (!RAW_EVENTUALLY(!usage_growth(&before, rounds, false)))
		EXPECT_EQ(0, usage_growth(&before, rounds, true));
	EXPECT_TRUE(RAW_EVENTUALLY(usage_uncharged()));
}

TEST_HARNESS_MAIN
