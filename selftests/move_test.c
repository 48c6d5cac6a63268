// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Moving contexts from one device to another, with all that is in them.
 *
 * The second device is the test's own. On SoftRoCE two devices of one host don't
 * reach each other, so either all ranks move there, or one "moves" to the device
 * that it is on.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "exchanges.h"
#include "ioctl_wrap.h"
#include "team.h"

#define RANKS		4
#define LIMIT_S		240
#define PASS		200

static long packets(const char *device)
{
	char path[128];
	long nr = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters/sent_pkts",
		 device);
	file = fopen(path, "r");
	if (!file)
		return -1;
	if (fscanf(file, "%ld", &nr) != 1)
		nr = -1;
	fclose(file);
	return nr;
}

static void pass(struct team_member *me, struct collq_request *barrier, uint32_t nr)
{
	team_run_verified(me, barrier, 1, nr);
}

static void reset(struct team_member *me, uint32_t comm)
{
	CHECK_IS(0, collq_comm_reset(me->comm[comm]));
	CHECK_IS(0, collq_comm_reset_wait(me->comm[comm], team_deadline()));
}

FIXTURE(move) {
};

FIXTURE_SETUP(move)
{
	if (geteuid())
		SKIP(return, "takes root");
	setenv("COLLQ_NET_DEVICES", "rxe0", 1);
	/* Waiting is to be the kernel's. */
	setenv("COLLQ_SPIN", "0", 1);
	ASSERT_EQ(0, system("ip link add d1 type dummy"));
	ASSERT_EQ(0, system("ip addr add 10.9.10.1/24 dev d1"));
	ASSERT_EQ(0, system("ip link set d1 up"));
	ASSERT_EQ(0, system("rdma link add rxe1 type rxe netdev d1"));
}

FIXTURE_TEARDOWN(move)
{
	unsetenv("COLLQ_NET_DEVICES");
	unsetenv("COLLQ_SPIN");
	if (geteuid())
		return;
	/* Whatever has become of the test, those behind it need the one, not the other. */
	EXPECT_EQ(0, system("rdma link del rxe1"));
	EXPECT_EQ(0, system("ip link del d1"));
	if (access("/sys/class/infiniband/rxe0", F_OK))
		EXPECT_EQ(0, system("rdma link add rxe0 type rxe netdev d0"));
}

#define NR_BARRIERS	3
#define NR_EXCHANGES	4

/* What moves: eager and by rendezvous, in one communicator and in another one */
struct works {
	struct collq_request *barriers[NR_BARRIERS];
	struct exchange exchanges[NR_EXCHANGES];
};

static void make(struct team_member *me, struct works *works)
{
	const struct exchange_kind pages = {
		8192, COLLQ_ALLTOALL_D, COLLQ_PACKING_SG, 2, .aligned = true,
	};

	works->barriers[0] = team_barrier(me, 0, COLLQ_BARRIER_DISSEMINATION, 0);
	works->barriers[1] = team_barrier(me, 0, COLLQ_BARRIER_RECURSIVE_DOUBLING, 0);
	works->barriers[2] = team_barrier(me, 1, COLLQ_BARRIER_K_NOMIAL, 2);
	exchange_new(me, 0, &works->exchanges[0], 100, COLLQ_ALLTOALL_E, COLLQ_PACKING_CPU, 2,
		     false);
	exchange_new(me, 0, &works->exchanges[1], 3000, COLLQ_ALLTOALL_PAIRWISE, 0, 0, true);
	exchange_new(me, 1, &works->exchanges[2], 700, COLLQ_ALLTOALL_D, COLLQ_PACKING_SG, 2,
		     false);
	exchange_new_folded(me, 1, &works->exchanges[3], 1, &pages);
	/* Fewer ranks have no lists. */
	CHECK_IS(me->size > 3, exchange_is_folded(&works->exchanges[3]));
}

static void pass_all(struct team_member *me, struct works *works, uint32_t nr)
{
	uint32_t i, j;

	for (i = 0; i < NR_BARRIERS; i++)
		pass(me, works->barriers[i], nr);
	for (i = 0; i < NR_EXCHANGES; i++)
		for (j = 0; j < (nr + 9) / 10; j++)
			exchange_run(me, &works->exchanges[i]);
}

static void free_all(struct works *works)
{
	uint32_t i;

	for (i = 0; i < NR_BARRIERS; i++)
		collq_request_free(works->barriers[i]);
	for (i = 0; i < NR_EXCHANGES; i++)
		exchange_free(&works->exchanges[i]);
}

/* The traffic is where it should be, in that order: on the one, not the other. */
static void pass_on(struct team_member *me, struct works *works, const char *here,
		    const char *there)
{
	long before_here, before_there;

	/* What is said when connections go is over, and nobody has begun. */
	team_meet(me);
	before_here = packets(here);
	before_there = packets(there);
	team_meet(me);
	pass_all(me, works, PASS);
	team_meet(me);
	CHECK_IS(0, strcmp(here, collq_context_device(me->ctx)));
	CHECK(packets(here) >= before_here + 2 * PASS * (long)me->size);
	/* Connections that were given up may linger. */
	CHECK(packets(there) < before_there + PASS);
	team_meet(me);
}

static void start_some(struct team_member *me, struct works *works)
{
	uint32_t i;

	CHECK_IS(0, collq_start(works->barriers[0], 0));
	for (i = 0; i < NR_EXCHANGES; i++) {
		exchange_fill(&works->exchanges[i]);
		CHECK_IS(0, collq_start(works->exchanges[i].request, 0));
	}
}

/* By the move, or because a peer has moved before. */
static void check_ended(struct team_member *me, struct collq_request *request)
{
	int err = collq_wait(request, team_deadline());

	CHECK(err == -ECANCELED || err == -ECONNRESET);
}

static void there_and_back(struct team_member *me)
{
	struct collq_request *later;
	struct works works;
	uint32_t objects, regions, i;
	int fd;

	make(me, &works);
	pass_on(me, &works, "rxe0", "rxe1");
	objects = team_count_all(me);
	regions = team_count(me, IB_COLLQ_OBJECT_REGION);
	fd = collq_fd(me->ctx);

	CHECK_IS(0, collq_context_move(me->ctx, "rxe1:1"));
	CHECK_IS(objects, team_count_all(me));
	CHECK_IS(regions, team_count(me, IB_COLLQ_OBJECT_REGION));
	CHECK_IS(fd, collq_fd(me->ctx));
	CHECK_IS(FD_CLOEXEC, fcntl(fd, F_GETFD));
	for (i = 0; i < NR_BARRIERS; i++) {
		CHECK_IS(-ENOTCONN, collq_start(works.barriers[i], 0));
		CHECK_IS(-ENOTCONN, collq_start_wait(works.barriers[i], 0));
		CHECK_IS(0, collq_test(works.barriers[i]));
	}
	for (i = 0; i < NR_EXCHANGES; i++)
		CHECK_IS(-ENOTCONN, collq_start(works.exchanges[i].request, 0));
	reset(me, 0);
	CHECK_IS(-ENOTCONN, collq_start(works.barriers[2], 0));
	reset(me, 1);
	pass_on(me, &works, "rxe1", "rxe0");
	for (i = 0; i < 20; i++) {
		CHECK_IS(0, collq_start(works.barriers[1], team_deadline()));
		CHECK_IS(0, collq_wait(works.barriers[1], team_deadline()));
	}
	/* Old endpoints are used by new requests, and there may be new ones. */
	later = team_barrier(me, 0, COLLQ_BARRIER_K_NOMIAL, 3);
	pass(me, later, PASS);

	/* Back, with runs under way, which rank 0 doesn't take part in. */
	if (me->rank)
		start_some(me, &works);
	team_meet(me);
	CHECK_IS(0, collq_context_move(me->ctx, NULL));
	if (me->rank) {
		check_ended(me, works.barriers[0]);
		for (i = 0; i < NR_EXCHANGES; i++) {
			check_ended(me, works.exchanges[i].request);
			exchange_mark(&works.exchanges[i]);
		}
	}
	reset(me, 1);
	reset(me, 0);
	for (i = 0; i < NR_EXCHANGES && me->rank; i++)
		exchange_check_mark(me, &works.exchanges[i]);
	pass_on(me, &works, "rxe0", "rxe1");
	pass(me, later, PASS);
	collq_request_free(later);
	free_all(&works);
	CHECK_IS(team_count(me, IB_COLLQ_OBJECT_ENDPOINT), team_count_all(me));
}

TEST_F_TIMEOUT(move, there_and_back, LIMIT_S)
{
	ASSERT_EQ(0, team_run(RANKS, there_and_back));
}

/* When the device is gone, under a barrier that some of them sleep in. */
static void device_is_gone(struct team_member *me)
{
	struct works works;
	uint32_t i;

	make(me, &works);
	pass_all(me, &works, PASS);
	if (me->rank)
		start_some(me, &works);
	team_meet(me);
	if (!me->rank)
		CHECK_IS(0, system("rdma link del rxe0"));
	if (me->rank & 1) {
		CHECK_IS(-ENODEV, collq_wait(works.barriers[0], team_deadline()));
		CHECK_IS(-ENODEV, collq_wait(works.exchanges[0].request, team_deadline()));
	}
	team_meet(me);
	CHECK_IS(-ENODEV, collq_start(works.barriers[1], 0));
	CHECK_IS(-ENODEV, collq_context_move(me->ctx, "rxe0"));
	CHECK_IS(-ENODEV, collq_start(works.barriers[1], 0));
	CHECK_IS(0, collq_context_move(me->ctx, "rxe1"));
	if (me->rank && !(me->rank & 1))
		CHECK_IS(-ENODEV, collq_test(works.barriers[0]));
	for (i = 0; i < NR_EXCHANGES && me->rank; i++)
		CHECK_IS(-ENODEV, collq_test(works.exchanges[i].request));
	reset(me, 0);
	reset(me, 1);
	pass_on(me, &works, "rxe1", "rxe0");
	free_all(&works);
}

TEST_F_TIMEOUT(move, device_is_gone, LIMIT_S)
{
	ASSERT_EQ(0, team_run(RANKS, device_is_gone));
}

/* One rank after the other; those that stay where they are just reset. */
static void one_moves(struct team_member *me)
{
	struct works works;
	uint32_t i;

	make(me, &works);
	for (i = 0; i < me->size; i++) {
		pass_all(me, &works, 20);
		if (me->rank == i)
			CHECK_IS(0, collq_context_move(me->ctx, "rxe0"));
		reset(me, 0);
		reset(me, 1);
	}
	pass_all(me, &works, 20);
	free_all(&works);
}

TEST_F_TIMEOUT(move, one_after_the_other, LIMIT_S)
{
	ASSERT_EQ(0, team_run(RANKS, one_moves));
}

/*
 * Whichever call fails, nothing has happened: barriers are passed as before. The last
 * call to fail is behind the last one that there is.
 */
static void any_call_fails(struct team_member *me)
{
	struct works works;
	uint32_t objects, nr;
	int err;

	make(me, &works);
	objects = team_count_all(me);
	for (nr = 0;; nr++) {
		pass_all(me, &works, 2);
		ioctl_wrap_fail_after(nr, ENOSPC);
		err = collq_context_move(me->ctx, "rxe1");
		if (!ioctl_wrap_stop())
			break;
		CHECK_IS(-ENOSPC, err);
		CHECK_IS(0, strcmp("rxe0", collq_context_device(me->ctx)));
		CHECK_IS(objects, team_count_all(me));
		team_meet(me);
	}
	CHECK_IS(0, err);
	CHECK(nr > 10);
	CHECK_IS(objects, team_count_all(me));
	reset(me, 0);
	reset(me, 1);
	pass_on(me, &works, "rxe1", "rxe0");
	free_all(&works);
}

TEST_F_TIMEOUT(move, any_call_fails, LIMIT_S)
{
	ASSERT_EQ(0, team_run(2, any_call_fails));
}

/* What can't be moved, or not now, or not there. Others have no part in it. */
static void refused(struct team_member *me)
{
	struct ib_collq_counter_create counter = { .source = IB_COLLQ_SOURCE_USER };
	struct ib_collq_object_destroy entry = { 0 };
	struct collq_request *init;
	struct works works;
	struct collq_ring *ring;

	make(me, &works);
	CHECK_IS(-ENODEV, collq_context_move(me->ctx, "nosuch0"));
	CHECK_IS(-EINVAL, collq_context_move(me->ctx, "rxe1:"));
	CHECK_IS(0, collq_ring_open(me->ctx, 4, -1, &ring));
	CHECK_IS(-EBUSY, collq_context_move(me->ctx, "rxe1"));
	CHECK_IS(0, collq_ring_close(ring));
	CHECK_IS(1, collq_counter_create(me->ctx, &counter, 1));
	CHECK_IS(-EBUSY, collq_context_move(me->ctx, "rxe1"));
	entry.id = counter.id;
	CHECK_IS(1, collq_object_destroy(me->ctx, &entry, 1));
	CHECK_IS(0, collq_comm_reset(me->comm[0]));
	CHECK_IS(-EBUSY, collq_context_move(me->ctx, "rxe1"));
	CHECK_IS(0, collq_comm_reset_wait(me->comm[0], team_deadline()));
	CHECK_IS(0, collq_barrier_init(me->comm[0], NULL, &init));
	CHECK_IS(-EBUSY, collq_context_move(me->ctx, "rxe1"));
	CHECK_IS(0, collq_init_wait(init, team_deadline()));
	collq_request_free(init);
	pass_all(me, &works, 20);
	team_meet(me);
	free_all(&works);
}

TEST_F_TIMEOUT(move, refused, LIMIT_S)
{
	setenv("COLLQ_LOG_LEVEL", "none", 1);
	ASSERT_EQ(0, team_run(3, refused));
	unsetenv("COLLQ_LOG_LEVEL");
}

/* An event loop goes on with the same number, as the manual says. */
static void event_loop(struct team_member *me)
{
	struct collq_request *barrier = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
	struct epoll_event event = { .events = EPOLLIN };
	int fd = collq_fd(me->ctx), epoll = epoll_create1(0);
	uint32_t i;

	CHECK_IS(0, epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	CHECK_IS(0, collq_context_move(me->ctx, "rxe1"));
	CHECK_IS(0, epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	reset(me, 0);
	for (i = 0; i < 20; i++) {
		CHECK_IS(0, collq_start(barrier, team_deadline()));
		CHECK_IS(1, epoll_wait(epoll, &event, 1, 20000));
		CHECK_IS(0, collq_test(barrier));
	}
	collq_request_free(barrier);
	close(epoll);
}

TEST_F_TIMEOUT(move, event_loop, LIMIT_S)
{
	ASSERT_EQ(0, team_run(2, event_loop));
}

/* A context that has nothing in it, and one whose communicator was shrunk */
static void little(struct team_member *me)
{
	struct collq_request *barrier;
	struct collq_context *ctx;

	CHECK_IS(0, collq_open("rxe0", &ctx));
	CHECK_IS(0, collq_context_move(ctx, "rxe1"));
	CHECK_IS(0, strcmp("rxe1", collq_context_device(ctx)));
	CHECK_IS(0, strcmp("rxe1", (const char *)collq_context_limits(ctx)->device));
	CHECK_IS(0, collq_close(ctx));

	barrier = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
	CHECK_IS(0, collq_comm_destroy(me->comm[1]));
	CHECK_IS(0, collq_comm_shrink(me->comm[0], 0, 1, NULL, &me->comm[1]));
	CHECK_IS(0, collq_context_move(me->ctx, "rxe1"));
	CHECK_IS(-ECONNABORTED, collq_start(barrier, 0));
	collq_request_free(barrier);
	CHECK_IS(-ECONNABORTED, collq_comm_reset(me->comm[0]));
	reset(me, 1);
	CHECK_IS(0, collq_barrier_init(me->comm[1], NULL, &barrier));
	CHECK_IS(0, collq_init_wait(barrier, team_deadline()));
	CHECK_IS(0, collq_start_wait(barrier, 0));
	collq_request_free(barrier);
}

TEST_F_TIMEOUT(move, of_little, LIMIT_S)
{
	ASSERT_EQ(0, team_run(2, little));
}

TEST_HARNESS_MAIN
