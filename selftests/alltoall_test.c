// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * All-to-alls of processes, by libcollq and the module: every byte arrives, whatever the
 * layout and whoever is early or late, and nothing else is touched.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "blocks.h"
#include "exchanges.h"
#include "slow_kernel.h"
#include "team.h"

#define LIMIT_S		600

FIXTURE(alltoall) { };
FIXTURE_SETUP(alltoall) { }
FIXTURE_TEARDOWN(alltoall) { }

static void run_verified(struct team_member *me, struct exchange *exchange, int runs)
{
	while (runs--)
		exchange_run(me, exchange);
}

static void try_one(struct team_member *me, uint64_t bytes, uint32_t layout, uint32_t packing,
		    uint32_t radix, bool in_place)
{
	struct exchange exchange;

	exchange_new(me, 0, &exchange, bytes, layout, packing, radix, in_place);
	run_verified(me, &exchange, 5);
	exchange_free(&exchange);
}

static void each_layout(struct team_member *me)
{
	uint32_t layout, packing;

	for (layout = COLLQ_ALLTOALL_A; layout <= COLLQ_ALLTOALL_PAIRWISE; layout++)
		for (packing = COLLQ_PACKING_CPU; packing <= COLLQ_PACKING_SELECTIVE; packing++)
			try_one(me, 40 + me->size, layout, packing, 2, false);
}

TEST_F_TIMEOUT(alltoall, each_layout_and_packing, LIMIT_S)
{
	uint32_t size;

	for (size = 1; size <= TEAM_MAX; size++)
		EXPECT_EQ(0, team_run(size, each_layout)) TH_LOG("%u ranks", size);
}

static void each_size(struct team_member *me)
{
	static const uint64_t sizes[] = { 0, 1, 4097, 70001 };
	uint32_t layout, i;

	for (layout = COLLQ_ALLTOALL_AUTO; layout <= COLLQ_ALLTOALL_PAIRWISE; layout++)
		for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			try_one(me, sizes[i], layout, 1 + (i + layout) % 3, 2, i % 2);
}

TEST_F_TIMEOUT(alltoall, small_and_large_blocks, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, each_size));
	EXPECT_EQ(0, team_run(5, each_size));
}

static void in_place(struct team_member *me)
{
	uint32_t layout;

	for (layout = COLLQ_ALLTOALL_A; layout <= COLLQ_ALLTOALL_PAIRWISE; layout++)
		try_one(me, 33, layout, 1 + layout % 3, 2 + layout % 2, true);
}

TEST_F_TIMEOUT(alltoall, in_place_and_other_radices, LIMIT_S)
{
	EXPECT_EQ(0, team_run(1, in_place));
	EXPECT_EQ(0, team_run(7, in_place));
}

static void a_mebibyte(struct team_member *me)
{
	try_one(me, 1U << 20, COLLQ_ALLTOALL_PAIRWISE, 0, 0, false);
	try_one(me, 1U << 20, COLLQ_ALLTOALL_A, COLLQ_PACKING_CPU, 0, false);
}

TEST_F_TIMEOUT(alltoall, blocks_of_a_mebibyte, LIMIT_S)
{
	EXPECT_EQ(0, team_run(3, a_mebibyte));
}

/* Two of each kind: eager, and by rendezvous. */
static void back_to_back(struct team_member *me)
{
	static const uint32_t how[][2] = {
		{ COLLQ_ALLTOALL_A, COLLQ_PACKING_CPU }, { COLLQ_ALLTOALL_E, COLLQ_PACKING_SG },
		{ COLLQ_ALLTOALL_D, COLLQ_PACKING_SG }, { COLLQ_ALLTOALL_PAIRWISE, 0 },
	};
	struct exchange exchange;
	uint32_t i, run;

	for (i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		exchange_new(me, 0, &exchange, 24, how[i][0], how[i][1], 2, false);
		for (run = 0; run < (slow_kernel() ? 100U : 1000U); run++)
			exchange_run_at_leisure(me, &exchange);
		exchange_free(&exchange);
	}
}

TEST_F_TIMEOUT(alltoall, a_thousand_starts_with_random_delays, LIMIT_S)
{
	EXPECT_EQ(0, team_run(4, back_to_back));
}

/*
 * What is in flight at once: two all-to-alls, an allreduce and a barrier of one
 * communicator. @runs: how many of each have been started
 */
enum { EAGER, RENDEZVOUS, ALLREDUCE, BARRIER, NR_KINDS };

#define NUMBERS		9
#define FLIGHTS		300

struct flight {
	struct exchange exchanges[2];
	int64_t own[NUMBERS], sums[NUMBERS];
	struct collq_request *requests[NR_KINDS];
	int64_t runs[NR_KINDS];
};

static void prepare_flight(struct team_member *me, struct flight *flight)
{
	*flight = (struct flight) {};
	exchange_new(me, 0, &flight->exchanges[EAGER], 100, COLLQ_ALLTOALL_E, COLLQ_PACKING_CPU,
		     2, false);
	exchange_new(me, 0, &flight->exchanges[RENDEZVOUS], 3000, COLLQ_ALLTOALL_PAIRWISE, 0, 0,
		     true);
	CHECK_IS(0, collq_allreduce_init(me->comm[0], flight->own, flight->sums, NUMBERS,
					 IB_COLLQ_CALC_ADD, IB_COLLQ_TYPE_S64,
					 &flight->requests[ALLREDUCE]));
	CHECK_IS(0, collq_init_wait(flight->requests[ALLREDUCE], team_deadline()));
	flight->requests[EAGER] = flight->exchanges[EAGER].request;
	flight->requests[RENDEZVOUS] = flight->exchanges[RENDEZVOUS].request;
	flight->requests[BARRIER] = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
}

static void end_flight(struct flight *flight)
{
	exchange_free(&flight->exchanges[EAGER]);
	exchange_free(&flight->exchanges[RENDEZVOUS]);
	collq_request_free(flight->requests[ALLREDUCE]);
	collq_request_free(flight->requests[BARRIER]);
}

static void start_one(struct team_member *me, struct flight *flight, uint32_t which)
{
	int64_t run = flight->runs[which]++;
	uint32_t i;

	for (i = 0; which == ALLREDUCE && i < NUMBERS; i++) {
		flight->own[i] = (run + i) * (me->rank + 1);
		flight->sums[i] = -1;
	}
	if (which == BARRIER)
		team_enter(me, 0);
	else if (which != ALLREDUCE)
		exchange_fill(&flight->exchanges[which]);
	exchange_sleep();
	CHECK_IS(0, collq_start(flight->requests[which], team_deadline()));
}

static void start_all(struct team_member *me, struct flight *flight)
{
	uint32_t order[NR_KINDS], i, j;

	for (i = 0; i < NR_KINDS; i++) {
		j = team_random(i + 1);
		order[i] = order[j];
		order[j] = i;
	}
	for (i = 0; i < NR_KINDS; i++)
		start_one(me, flight, order[i]);
}

/* Waits for one of them, whichever it is, and looks at what has come. */
static uint32_t check_one(struct team_member *me, struct flight *flight)
{
	int64_t all = (int64_t)me->size * (me->size + 1) / 2;
	uint32_t which, i;

	CHECK_IS(0, collq_waitany(flight->requests, NR_KINDS, &which, team_deadline()));
	exchange_sleep();
	if (which == BARRIER)
		team_check_left(me, 0);
	else if (which != ALLREDUCE)
		exchange_check(me, &flight->exchanges[which]);
	for (i = 0; which == ALLREDUCE && i < NUMBERS; i++)
		CHECK_IS((flight->runs[ALLREDUCE] - 1 + i) * all, flight->sums[i]);
	return which;
}

static void fly(struct team_member *me)
{
	struct flight flight;
	uint32_t run, i;

	prepare_flight(me, &flight);
	for (run = 0; run < FLIGHTS; run++) {
		start_all(me, &flight);
		for (i = 0; i < NR_KINDS; i++)
			check_one(me, &flight);
	}
	end_flight(&flight);
}

TEST_F_TIMEOUT(alltoall, many_in_flight_in_different_orders, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, fly));
	EXPECT_EQ(0, team_run(5, fly));
}

/* Each begins its next run as soon as its last one has been looked at. */
static void drift(struct team_member *me)
{
	uint32_t which, left = NR_KINDS;
	struct flight flight;

	prepare_flight(me, &flight);
	start_all(me, &flight);
	while (left) {
		which = check_one(me, &flight);
		if (flight.runs[which] < FLIGHTS)
			start_one(me, &flight, which);
		else
			left--;
	}
	end_flight(&flight);
}

TEST_F_TIMEOUT(alltoall, many_in_flight_each_at_its_own_pace, LIMIT_S)
{
	EXPECT_EQ(0, team_run(4, drift));
}

TEST_HARNESS_MAIN
