// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Initialisations that fail: on one rank, hence on all, and nothing is left of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

#include "alloc_wrap.h"
#include "message.h"
#include "team.h"

/* Emulated machines are slow; deadlines inside are tighter. */
#define LIMIT_S		120

FIXTURE(init) { };
FIXTURE_SETUP(init) { }
FIXTURE_TEARDOWN(init) { }

static void init_fails(struct team_member *me, const struct collq_barrier_options *options,
		       int expected)
{
	struct collq_request *request;

	CHECK_IS(0, collq_barrier_init(me->comm[0], options, &request));
	CHECK_IS(expected, collq_init_wait(request, team_deadline()));
	CHECK_IS(expected, collq_start(request, 0));
	CHECK_IS(expected, collq_test(request));
	CHECK_IS(expected, collq_wait(request, 0));
	CHECK_IS(expected, collq_start_wait(request, 0));
	CHECK_IS(expected, collq_cancel(request));
	collq_request_free(request);
}

static void one_fails(struct team_member *me)
{
	struct collq_barrier_options good = {
		.size = sizeof(good),
		.algorithm = COLLQ_BARRIER_DISSEMINATION,
	};
	struct collq_barrier_options bad = good;
	struct collq_request *request;

	bad.radix = 1;
	init_fails(me, me->rank == 1 ? &bad : &good, -EINVAL);
	CHECK_IS(0, team_count_all(me));
	bad.radix = 0;
	bad.algorithm = COLLQ_BARRIER_K_NOMIAL;
	init_fails(me, me->rank == 1 ? &bad : &good, -EINVAL);
	CHECK_IS(0, team_count_all(me));
	bad.size = 2;
	init_fails(me, me->rank == 1 ? &bad : &good, -EINVAL);
	CHECK_IS(0, team_count_all(me));

	request = team_barrier(me, 0, COLLQ_BARRIER_DISSEMINATION, 0);
	team_run_verified(me, request, 0, 20);
	CHECK(team_count_all(me));
	init_fails(me, me->rank == 1 ? &bad : &good, -EINVAL);
	team_run_verified(me, request, 0, 20);
	collq_request_free(request);
}

TEST_F_TIMEOUT(init, init_that_fails_on_one_rank_fails_on_all, LIMIT_S)
{
	EXPECT_EQ(0, team_run(4, one_fails));
}

/* Counters of a context that are all used up: the kernel's errno gets around. */
static void objects_run_out(struct team_member *me)
{
	struct ib_collq_counter_create *counters;
	struct ib_collq_object_destroy *destroy;
	uint32_t max_batch = collq_context_limits(me->ctx)->max_batch;
	uint32_t i, before;
	int ret;

	if (me->rank == me->size - 1) {
		counters = calloc(max_batch, sizeof(*counters));
		destroy = calloc(max_batch, sizeof(*destroy));
		CHECK(counters && destroy);
		for (i = 0; i < max_batch; i++)
			counters[i].source = IB_COLLQ_SOURCE_USER;
		do
			ret = collq_counter_create(me->ctx, counters, max_batch);
		while (ret == (int)max_batch);
		CHECK(ret > 0 || ret == -ENOSPC);
	}
	before = team_count_all(me);
	init_fails(me, NULL, -ENOSPC);
	CHECK_IS(before, team_count_all(me));
}

TEST_F_TIMEOUT(init, init_fails_where_the_kernel_does, LIMIT_S)
{
	EXPECT_EQ(0, team_run(3, objects_run_out));
}

/* Rank 0, the root, runs out of memory, a bit later each time, until it no longer does. */
static void memory_runs_out(struct team_member *me)
{
	const struct collq_barrier_options options = {
		.size = sizeof(options),
		.algorithm = COLLQ_BARRIER_K_NOMIAL,
		.radix = TEAM_MAX,
	};
	bool failed = true;
	uint32_t n, objects;
	long live;
	int err;

	/* The context has its table of requests from then on. */
	collq_request_free(team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0));
	live = alloc_wrap_live();
	objects = team_count_all(me);
	for (n = 0; failed; n++) {
		struct collq_oob oob = team_oob(me, 1);
		struct collq_request *request;
		struct collq_comm *comm;

		CHECK_IS(0, collq_comm_create(me->ctx, me->rank, me->size, &oob, &comm));
		CHECK_IS(0, collq_barrier_init(comm, &options, &request));
		if (me->rank == 0)
			alloc_wrap_fail_after(n);
		err = collq_init_wait(request, team_deadline());
		if (me->rank == 0)
			atomic_store(&me->team->ranks[0].word, alloc_wrap_stop());
		team_meet(me);
		failed = atomic_load(&me->team->ranks[0].word);
		CHECK_IS(failed ? -ENOMEM : 0, err);
		team_meet(me);
		if (!failed)
			team_run_verified(me, request, 0, 2);
		collq_request_free(request);
		CHECK_IS(0, collq_comm_destroy(comm));
		CHECK_IS(objects, team_count_all(me));
		CHECK_IS(live, alloc_wrap_live());
	}
	/* Not for want of anything to fail. */
	CHECK(n > 15);
}

TEST_F_TIMEOUT(init, init_survives_lack_of_memory, LIMIT_S)
{
	EXPECT_EQ(0, team_run(TEAM_MAX, memory_runs_out));
}

static void freed_early(struct team_member *me)
{
	struct collq_request *requests[2], *other;

	other = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
	CHECK_IS(0, collq_barrier_init(me->comm[0], NULL, &requests[0]));
	CHECK_IS(0, collq_barrier_init(me->comm[0], NULL, &requests[1]));
	CHECK_IS(-EINPROGRESS, collq_init_test(requests[1]));
	CHECK_IS(-EAGAIN, collq_start(requests[0], 0));
	CHECK_IS(-EAGAIN, collq_start_wait(requests[0], 0));
	CHECK_IS(-EAGAIN, collq_test(requests[0]));
	CHECK_IS(-EAGAIN, collq_wait(requests[0], 0));
	CHECK_IS(-EAGAIN, collq_cancel(requests[1]));
	collq_request_free(requests[0]);
	CHECK_IS(-ECONNABORTED, collq_init_test(requests[1]));
	collq_request_free(requests[1]);
	init_fails(me, NULL, -ECONNABORTED);

	/* What was ready remains so, and another communicator doesn't care. */
	team_run_verified(me, other, 0, 5);
	collq_request_free(other);
	other = team_barrier(me, 1, COLLQ_BARRIER_AUTO, 0);
	team_run_verified(me, other, 1, 5);
	collq_request_free(other);
}

TEST_F_TIMEOUT(init, init_may_be_given_up, LIMIT_S)
{
	EXPECT_EQ(0, team_run(3, freed_early));
}

static int failing_allgather(void *arg, const void *send, void *recv, size_t bytes)
{
	int *left = arg;

	memset(recv, 0, bytes);
	memcpy(recv, send, bytes);
	return (*left)-- ? 0 : -ENOTCONN;
}

/* With callbacks like these a first initialisation fails like this, then a second. */
static void fail_twice(struct team_member *me, const struct collq_oob *oob, int first,
		       int second)
{
	struct collq_comm *comm, *kept = me->comm[0];

	CHECK_IS(0, collq_comm_create(me->ctx, 0, 2, oob, &comm));
	me->comm[0] = comm;
	init_fails(me, NULL, first);
	init_fails(me, NULL, second);
	CHECK_IS(0, team_count_all(me));
	me->comm[0] = kept;
	CHECK_IS(0, collq_comm_destroy(comm));
}

/* The same with an allgather that blocks, and works so many times. */
static void fail_blocking(struct team_member *me, int times,
			  int (*allgather)(void *arg, const void *send, void *recv, size_t bytes),
			  int first, int second)
{
	struct collq_oob_blocking function = { sizeof(function), &times, allgather };
	struct collq_oob oob = { .size = sizeof(oob) };

	CHECK_IS(0, collq_oob_from_blocking(&oob, &function));
	fail_twice(me, &oob, first, second);
}

static void oob_fails(struct team_member *me)
{
	fail_blocking(me, 0, failing_allgather, -ENOTCONN, -ECONNABORTED);
}

/* All that comes in is zeros, as from a peer of another kind. */
static void oob_lies(struct team_member *me)
{
	fail_blocking(me, 100, failing_allgather, -EPROTO, -EPROTO);
}

/* Another rank that has four gigabytes to tell: nobody waits for them. */
static int boasting_allgather(void *arg, const void *send, void *recv, size_t bytes)
{
	struct collq_message_header header;
	int *left = arg;

	if (!(*left)--)
		return -ENOTCONN;
	collq_message_get_header(send, &header);
	header.bytes = UINT32_MAX;
	memcpy(recv, send, bytes);
	memcpy((char *)recv + bytes, send, bytes);
	collq_message_put_header((unsigned char *)recv + bytes, &header);
	return 0;
}

static void oob_boasts(struct team_member *me)
{
	fail_blocking(me, 1, boasting_allgather, -EPROTO, -ENOTCONN);
}

/* Callbacks that return what no errno is, or not theirs to return. */
struct oddity {
	int allgather, test;
	int started, freed;
};

static int odd_allgather(void *arg, const void *send, void *recv, size_t bytes, void **request)
{
	struct oddity *odd = arg;

	/* So that it would go on, and fail otherwise, if it went on. */
	memcpy(recv, send, bytes);
	memcpy((char *)recv + bytes, send, bytes);
	*request = odd;
	odd->started += !odd->allgather;
	return odd->allgather;
}

static int odd_test(void *arg, void *request)
{
	struct oddity *odd = arg;

	return request == odd ? odd->test : -EINVAL;
}

static void odd_free(void *arg, void *request)
{
	struct oddity *odd = arg;

	odd->freed += request == odd;
}

static void oob_is_odd(struct team_member *me)
{
	static const struct oddity oddities[] = {
		{ .allgather = 5 }, { .allgather = -EINPROGRESS }, { .test = 16 },
		{ .allgather = -ETIME }, { .test = -ETIME },
	};
	struct collq_oob oob = {
		.size = sizeof(oob),
		.allgather = odd_allgather,
		.test = odd_test,
		.req_free = odd_free,
	};
	struct oddity odd;
	size_t i;

	for (i = 0; i < sizeof(oddities) / sizeof(oddities[0]); i++) {
		odd = oddities[i];
		oob.arg = &odd;
		fail_twice(me, &oob, -EPROTO, -ECONNABORTED);
		CHECK_IS(odd.started, odd.freed);
	}
}

TEST_F_TIMEOUT(init, allgather_may_fail, LIMIT_S)
{
	EXPECT_EQ(0, team_run(1, oob_fails));
	EXPECT_EQ(0, team_run(1, oob_lies));
	EXPECT_EQ(0, team_run(1, oob_boasts));
	EXPECT_EQ(0, team_run(1, oob_is_odd));
}

TEST_HARNESS_MAIN
