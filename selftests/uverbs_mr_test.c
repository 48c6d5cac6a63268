// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions and protection domains of the process' own, used where they are: data
 * by the byte, what is refused, and that they can't go before what uses them, but in any
 * order with the descriptor, the process or the device.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/ib_collq_uverbs.h>

#include "kselftest_harness.h"

#include "all_uverbs.h"
#include "mr_side.h"
#include "usage.h"

#define LENGTH		200001		/* of a message, at odd offsets */

/* Two sides that are connected: 0, or -1. */
static int open_pair(struct mr_side *a, struct mr_side *b)
{
	if (mr_side_open(a) || mr_side_open(b) || mr_side_connect(a, b) || mr_side_connect(b, a))
		return -1;
	return 0;
}

FIXTURE(mr)
{
	struct mr_side a, b;
};

FIXTURE_SETUP(mr)
{
	ASSERT_EQ(0, mr_side_open(&self->a));
	ASSERT_EQ(0, mr_side_open(&self->b));
	ASSERT_EQ(0, mr_side_connect(&self->a, &self->b));
	ASSERT_EQ(0, mr_side_connect(&self->b, &self->a));
}

FIXTURE_TEARDOWN(mr)
{
	mr_side_close(&self->a);
	mr_side_close(&self->b);
	EXPECT_TRUE(RAW_EVENTUALLY(usage_quiet()));
}

static int transfer(struct mr_side *from, struct mr_side *to, size_t length)
{
	__u64 sent, received;
	int err;

	err = mr_submit_with(to, mr_graph_of(to, false, true, 3, length), to->region, &received);
	if (!err)
		err = mr_submit_with(from, mr_graph_of(from, true, true, 1, length),
				     from->region, &sent);
	if (!err)
		err = mr_result_of(from, sent);
	return err ? err : mr_result_of(to, received);
}

/* Every byte, no other, both ways; and nothing is pinned for it. */
TEST_F(mr, every_byte)
{
	long pinned = raw_status_kb("VmPin");

	raw_fill(self->a.area + 1, LENGTH, 1);
	raw_fill(self->b.area + 1, 2, 2);
	ASSERT_EQ(0, transfer(&self->a, &self->b, LENGTH));
	EXPECT_EQ(0, raw_count_wrong(self->b.area + 3, LENGTH, 1));
	EXPECT_EQ(0, raw_count_other(self->b.area + 3 + LENGTH, AREA - 3 - LENGTH, CANARY));
	ASSERT_EQ(0, transfer(&self->b, &self->a, 2));
	EXPECT_EQ(0, raw_count_wrong(self->a.area + 3, 2, 2));
	EXPECT_EQ(pinned, raw_status_kb("VmPin"));
	EXPECT_EQ(2 * AREA / 1024, pinned);
}

/* A region may be any part of it, and nothing else. */
TEST_F(mr, parts)
{
	struct ib_collq_region_info info;
	int region;

	region = mr_region(self->a.raw.fd, self->a.mr, self->a.area + AREA - 1, 1);
	ASSERT_LT(0, region);
	info = raw_region_info(self->a.raw.fd, region);
	EXPECT_EQ(IB_COLLQ_REGION_MR, info.create.type);
	EXPECT_EQ(0, info.pages + info.registrations + info.stale + info.uses);
	EXPECT_EQ(0, raw_destroy(self->a.raw.fd, region));
	EXPECT_EQ(-EINVAL, mr_region(self->a.raw.fd, self->a.mr, self->a.area - 1, 1));
	EXPECT_EQ(-EINVAL, mr_region(self->a.raw.fd, self->a.mr, self->a.area + AREA, 1));
	EXPECT_EQ(-EINVAL, mr_region(self->a.raw.fd, self->a.mr, self->a.area + 1, AREA));
	EXPECT_EQ(-EINVAL, mr_region(self->a.raw.fd, self->a.mr, self->a.area, -1UL));
	EXPECT_EQ(-EINVAL, mr_region(self->a.raw.fd, self->a.mr, self->a.area, 0));
}

/* What has to be named by attribute can't be had without, nor the other way round. */
TEST_F(mr, attributes)
{
	struct ib_collq_region_create region = {
		.size = sizeof(region),
		.type = IB_COLLQ_REGION_MR,
		.length = AREA,
	};
	struct ib_collq_endpoint_create attr = mr_message_attr(&self->a.raw);

	EXPECT_EQ(-EOPNOTSUPP, raw_ioctl(self->a.raw.fd, IB_COLLQ_REGION_CREATE, &region));
	region.type = IB_COLLQ_REGION_USER;
	EXPECT_EQ(-EINVAL, mr_create_lent(self->a.raw.fd, IB_COLLQ_REGION_CREATE, &region,
					  sizeof(region), IB_COLLQ_ATTR_MR, self->a.mr->handle));
	EXPECT_EQ(-EOPNOTSUPP, raw_endpoint_create(self->a.raw.fd, &attr));
	attr.flags = 0;
	EXPECT_EQ(-EINVAL, mr_endpoint_in_pd(self->a.raw.fd, self->a.pd, &attr));
	attr.flags = IB_COLLQ_ENDPOINT_PD | IB_COLLQ_ENDPOINT_LOCAL;
	EXPECT_EQ(-EINVAL, mr_endpoint_in_pd(self->a.raw.fd, self->a.pd, &attr));
	attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	attr.flags = IB_COLLQ_ENDPOINT_PD;
	EXPECT_EQ(-EINVAL, mr_endpoint_in_pd(self->a.raw.fd, self->a.pd, &attr));
	/* The handle of something else, of nothing, and where it has no business. */
	attr = mr_message_attr(&self->a.raw);
	EXPECT_EQ(-ENOENT, mr_create_lent(self->a.raw.fd, IB_COLLQ_ENDPOINT_CREATE, &attr,
					  sizeof(attr), IB_COLLQ_ATTR_PD, 12345));
	EXPECT_EQ(-EINVAL, mr_create_lent(self->a.raw.fd, IB_COLLQ_ENDPOINT_CREATE, &attr,
					  sizeof(attr), IB_COLLQ_ATTR_PD, self->a.mr->handle));
	EXPECT_GT(0, mr_create_lent(self->a.raw.fd, IB_COLLQ_ENDPOINT_CREATE, &attr,
				    sizeof(attr), IB_COLLQ_ATTR_MR, self->a.mr->handle));
}

/* Another protection domain's, the kernel's, the CPU's: who can't reach it is refused. */
TEST_F(mr, out_of_reach)
{
	struct mr_side *a = &self->a;
	struct ibv_pd *pd = ibv_alloc_pd(uverbs_context(a->raw.fd));
	struct ibv_mr *mr = ibv_reg_mr(pd, a->area, AREA, IBV_ACCESS_LOCAL_WRITE);
	const struct ib_collq_sge sges[] = { { .length = 8 }, { .offset = 64, .length = 8 } };
	const struct ib_collq_task copy = raw_copy(0, 1, 1, 1);
	const struct ib_collq_task both[] = { copy, raw_send_list(a->endpoint, 0, 1) };
	const struct raw_graph copies = {
		.tasks = &copy, .nr_tasks = 1, .sges = sges, .nr_sges = 2, .nr_buffers = 1,
	};
	const struct raw_graph mixed = {
		.tasks = both, .nr_tasks = 2, .sges = sges, .nr_sges = 2, .nr_buffers = 1,
	};
	int send = mr_graph_of(a, true, true, 0, 8), fd = a->raw.fd, own, other, graph;
	struct ib_collq_endpoint_create attr = mr_message_attr(&a->raw);
	struct ib_collq_task task;
	struct raw_graph plain = { .tasks = &task, .nr_tasks = 1, .sges = sges, .nr_sges = 1,
				   .nr_buffers = 1 };
	struct ib_collq_zone_name name;

	ASSERT_NE(NULL, mr);
	other = mr_region(fd, mr, a->area, AREA);
	own = raw_region_create(fd, a->area, AREA, IB_COLLQ_ACCESS_WRITE);
	ASSERT_LT(0, other);
	ASSERT_LT(0, own);
	EXPECT_EQ(-EINVAL, mr_submit_with(a, send, other, NULL));
	EXPECT_EQ(-EINVAL, mr_submit_with(a, send, own, NULL));
	graph = raw_data_graph_create(fd, &copies, NULL);
	EXPECT_EQ(-EINVAL, mr_submit_with(a, graph, a->region, NULL));
	EXPECT_EQ(0, mr_submit_with(a, graph, own, NULL));
	graph = raw_data_graph_create(fd, &mixed, NULL);
	EXPECT_EQ(-EINVAL, mr_submit_with(a, graph, a->region, NULL));
	EXPECT_EQ(-EINVAL, mr_submit_with(a, graph, own, NULL));
	/* On an endpoint of the kernel's */
	attr.flags = 0;
	task = raw_send_list(raw_endpoint_create(fd, &attr), 0, 1);
	graph = raw_data_graph_create(fd, &plain, NULL);
	EXPECT_EQ(-EINVAL, mr_submit_with(a, graph, a->region, NULL));
	EXPECT_GT(0, raw_zone_offer(fd, a->raw.endpoint, a->region, 0, 8, &name));
}

/* In use, and not any more. */
TEST_F(mr, busy)
{
	struct mr_side *a = &self->a;
	int fd = a->raw.fd;

	EXPECT_EQ(EBUSY, ibv_dereg_mr(a->mr));
	EXPECT_EQ(0, raw_destroy(fd, a->region));
	EXPECT_EQ(0, ibv_dereg_mr(a->mr));
	EXPECT_EQ(EBUSY, ibv_dealloc_pd(a->pd));
	EXPECT_EQ(0, raw_destroy(fd, a->sends));
	EXPECT_EQ(0, raw_destroy(fd, a->messages));
	EXPECT_EQ(0, raw_destroy(fd, a->endpoint));
	EXPECT_EQ(0, ibv_dealloc_pd(a->pd));
}

/* With receives that are posted: they are the endpoint's, and gone with it. */
TEST_F(mr, busy_with_receives)
{
	struct mr_side *b = &self->b;
	int fd = b->raw.fd, graph = mr_graph_of(b, false, false, 0, 100);
	__u64 sequence;

	ASSERT_EQ(0, transfer(&self->a, b, 100));
	ASSERT_EQ(0, mr_submit_with(b, graph, b->region, &sequence));
	ASSERT_EQ(0, mr_result_of(b, sequence));
	EXPECT_EQ(-EBUSY, raw_destroy(fd, b->region));
	EXPECT_EQ(0, raw_destroy(fd, graph));
	/* What waits for it names the counters still. */
	EXPECT_EQ(-EBUSY, raw_destroy(fd, b->endpoint));
	raw_side_close(&b->raw);
	b->raw.fd = -1;
	/* The peer is told as ever. */
	EXPECT_EQ(1, RAW_EVENTUALLY(raw_endpoint_info(self->a.raw.fd, self->a.endpoint).state ==
				    IB_COLLQ_ENDPOINT_PEER_CLOSED));
}

/* What was sent last arrives, however soon the endpoint goes. */
TEST_F(mr, destroyed_with_a_message_under_way)
{
	struct mr_side *a = &self->a, *b = &self->b;
	int graph = mr_graph_of(a, true, false, 1, LENGTH), fd = a->raw.fd;
	__u64 sent, received;

	raw_fill(a->area + 1, LENGTH, 5);
	ASSERT_EQ(0, mr_submit_with(b, mr_graph_of(b, false, true, 3, LENGTH), b->region,
				    &received));
	ASSERT_EQ(0, mr_submit_with(a, graph, a->region, &sent));
	ASSERT_EQ(0, mr_result_of(a, sent));
	ASSERT_EQ(0, raw_destroy(fd, graph));
	ASSERT_EQ(0, raw_destroy(fd, a->sends));
	ASSERT_EQ(0, raw_destroy(fd, a->messages));
	ASSERT_EQ(0, raw_destroy(fd, a->endpoint));
	EXPECT_EQ(0, raw_destroy(fd, a->region));
	EXPECT_EQ(0, ibv_dereg_mr(a->mr));
	EXPECT_EQ(0, ibv_dealloc_pd(a->pd));
	EXPECT_EQ(0, mr_result_of(b, received));
	EXPECT_EQ(0, raw_count_wrong(b->area + 3, LENGTH, 5));
}

/* The peer is dead and the destroyer waits for no more than the retries. */
TEST_F(mr, destroyed_without_a_peer)
{
	struct mr_side *a = &self->a;
	int graph = mr_graph_of(a, true, false, 1, LENGTH), fd = a->raw.fd;
	__u64 sent, before;

	/* Nobody has posted a receive, and the peer's descriptor is gone. */
	ASSERT_EQ(0, mr_submit_with(a, graph, a->region, &sent));
	raw_side_close(&self->b.raw);
	self->b.raw.fd = -1;
	before = raw_now();
	ASSERT_EQ(0, raw_destroy(fd, graph));
	ASSERT_EQ(0, raw_destroy(fd, a->sends));
	ASSERT_EQ(0, raw_destroy(fd, a->messages));
	EXPECT_EQ(0, raw_destroy(fd, a->endpoint));
	EXPECT_EQ(0, raw_destroy(fd, a->region));
	EXPECT_EQ(0, ibv_dealloc_pd(a->pd) ? ibv_dereg_mr(a->mr) : -1);
	EXPECT_EQ(0, ibv_dealloc_pd(a->pd));
	EXPECT_GT(30000000000ULL, raw_now() - before);
}

/* Ends of the process with everything alive, and data under way. */
static void run_child(struct mr_side *a, struct mr_side *b, int ready)
{
	__u64 sequence;
	int i;

	if (open_pair(a, b))
		_exit(1);
	for (i = 0; i < 4; i++) {
		mr_submit_with(b, mr_graph_of(b, false, false, 0, LENGTH), b->region, &sequence);
		mr_submit_with(a, mr_graph_of(a, true, false, 0, LENGTH), a->region, &sequence);
	}
	if (write(ready, "", 1) != 1)
		_exit(1);
}

enum end { EXIT, KILL, CLOSE_RINGS_LAST };

static int end_of_child(enum end end)
{
	struct mr_side a, b;
	int ready[2], status;
	char byte;
	pid_t pid;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		run_child(&a, &b, ready[1]);
		if (end == KILL)
			pause();
		if (end == CLOSE_RINGS_LAST) {
			mr_side_close(&a);
			mr_side_close(&b);
		}
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) == 1 && end == KILL)
		kill(pid, SIGKILL);
	close(ready[0]);
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return end == KILL ? status != SIGKILL : status;
}

/* Some times over; nothing is left of any. */
static int ends_of_children(enum end end)
{
	int round;

	for (round = 0; round < 3; round++)
		if (end_of_child(end) || !RAW_EVENTUALLY(usage_quiet()))
			return -1;
	return 0;
}

TEST(end_by_exit)
{
	EXPECT_EQ(0, ends_of_children(EXIT));
}

TEST(end_by_kill)
{
	EXPECT_EQ(0, ends_of_children(KILL));
}

TEST(end_with_rings_last)
{
	EXPECT_EQ(0, ends_of_children(CLOSE_RINGS_LAST));
}

static void leave_unreceived(struct mr_side *a, struct mr_side *b, int ready)
{
	__u64 sequence;

	/* 4 s for each of eight tries */
	mr_ack_timeout = 20;
	if (open_pair(a, b) ||
	    mr_submit_with(a, mr_graph_of(a, true, false, 0, LENGTH), a->region, &sequence) ||
	    write(ready, "", 1) != 1)
		_exit(1);
	pause();
}

/* A message that nobody takes doesn't keep a process for as long as it's tried. */
TEST(end_has_a_limit)
{
	struct mr_side a, b;
	int ready[2], status;
	__u64 before;
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe(ready));
	pid = fork();
	if (!pid)
		leave_unreceived(&a, &b, ready[1]);
	close(ready[1]);
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	before = raw_now();
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_GT(15000000000ULL, raw_now() - before);
	EXPECT_TRUE(RAW_EVENTUALLY(usage_quiet()));
	close(ready[0]);
}

/* The device goes first: then they are the process' again, for what that's worth. */
TEST_F_TIMEOUT(mr, device_goes, 60)
{
	struct ibv_mr *mr = self->a.mr;
	__u64 sequence;
	int status;
	pid_t pid;

	ASSERT_EQ(0, mr_submit_with(&self->b, mr_graph_of(&self->b, false, false, 0, 8),
				    self->b.region, &sequence));
	pid = fork();
	if (!pid) {
		/* Else it would wait for our own descriptors. */
		ibv_close_device(uverbs_context(self->a.raw.fd));
		ibv_close_device(uverbs_context(self->b.raw.fd));
		execlp("rdma", "rdma", "link", "delete", "rxe0", NULL);
		_exit(1);
	}
	EXPECT_EQ(1, RAW_EVENTUALLY(raw_counter_raise(self->a.raw.fd, 1, 1) == -ENODEV));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, waitpid(pid, &status, WNOHANG));
	mr_side_close(&self->a);
	mr_side_close(&self->b);
	self->a.raw.fd = -1;
	self->b.raw.fd = -1;
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, system("rdma link add rxe0 type rxe netdev d0"));
}

TEST_HARNESS_MAIN
