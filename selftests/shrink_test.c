// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Going on without some ranks: of a communicator that some have left, whichever
 * way, those that remain make another one, which is as good as new.
 *
 * COLLQ_SHRINK_ROUNDS is how many ranks are killed (3).
 */
#include <errno.h>
#include <string.h>

#include "kselftest_harness.h"

#include "chance.h"
#include "kill.h"

#define RANKS		8
#define LIMIT_S		2900
#define GO_ON		1000

FIXTURE(shrink) {
};

FIXTURE_SETUP(shrink)
{
}

FIXTURE_TEARDOWN(shrink)
{
}

/* One of eight is killed in a barrier; the others pass a thousand. */
TEST_F_TIMEOUT(shrink, after_a_death, LIMIT_S)
{
	uint32_t round, rounds = chance_number("COLLQ_SHRINK_ROUNDS", 3);
	uint64_t chance = chance_begin("shrink");
	struct kill_result result;
	struct kill_plan plan;

	ASSERT_TRUE(rounds);
	for (round = 0; round < rounds; round++) {
		plan = (struct kill_plan){
			.size = RANKS,
			.algorithm = COLLQ_BARRIER_DISSEMINATION + round % 3,
			.victim = chance_below(&chance, RANKS),
			.delay_ns = chance_below(&chance, 20000000),
			.jitter = chance_below(&chance, 1U << 31),
			.go_on = GO_ON,
		};
		ASSERT_EQ(0, kill_run(&plan, &result)) {
			TH_LOG("round %u, %s, rank %u killed; hung: %#x", round,
			       collq_barrier_algorithm_name(plan.algorithm), plan.victim,
			       result.hung);
		}
	}
	TH_LOG("%u ranks killed, %u barriers after each", rounds, GO_ON);
}

static void pass(struct team_member *me, struct collq_comm *comm, uint32_t nr)
{
	struct collq_request *barrier;

	CHECK_IS(0, collq_barrier_init(comm, NULL, &barrier));
	CHECK_IS(0, collq_init_wait(barrier, team_deadline()));
	while (nr--) {
		team_enter(me, 1);
		CHECK_IS(0, collq_start_wait(barrier, team_deadline()));
		team_check_left(me, 1);
	}
	collq_request_free(barrier);
}

/* Without the last rank; with the callbacks of the second communicator. */
static struct collq_comm *shrink(struct team_member *me)
{
	struct collq_comm *shrunk;
	struct collq_oob oob;

	atomic_fetch_or(&me->team->gone, 1U << (me->size - 1));
	oob = team_oob(me, 1);
	CHECK_IS(0, collq_comm_shrink(me->comm[0], me->rank, me->size - 1, &oob, &shrunk));
	return shrunk;
}

static bool is_last(const struct team_member *me)
{
	return me->rank == me->size - 1;
}

/*
 * All wait for the last one, which never starts. Rank 0 goes on doing so until the
 * others have had enough; then it hears of it from the kernel.
 */
static void runs(struct team_member *me)
{
	struct collq_request *barrier = team_barrier(me, 0, COLLQ_BARRIER_DISSEMINATION, 0);
	struct collq_comm *shrunk;

	if (!is_last(me))
		CHECK_IS(0, collq_start(barrier, 0));
	team_meet(me);
	if (!is_last(me)) {
		if (!me->rank)
			CHECK_IS(-ECANCELED, collq_wait(barrier, team_deadline()));
		shrunk = shrink(me);
		CHECK_IS(-ECANCELED, collq_wait(barrier, team_deadline()));
		CHECK_IS(-ECANCELED, collq_test(barrier));
		CHECK_IS(-ECONNABORTED, collq_start(barrier, 0));
		CHECK_IS(-ECONNABORTED, collq_start_wait(barrier, 0));
		CHECK_IS(-ECANCELED, collq_test(barrier));
		pass(me, shrunk, 50);
		CHECK_IS(-EBUSY, collq_comm_destroy(me->comm[0]));
		CHECK_IS(0, collq_comm_destroy(shrunk));
	}
	team_meet(me);
	collq_request_free(barrier);
}

TEST_F_TIMEOUT(shrink, ends_runs, LIMIT_S)
{
	EXPECT_EQ(0, team_run(4, runs));
}

/* The last one takes no part in them. One that is complete is of use no more. */
static void initialisations(struct team_member *me)
{
	struct collq_request *old = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
	struct collq_request *requests[3];
	struct collq_comm *shrunk;
	uint32_t i;

	team_meet(me);
	if (!is_last(me)) {
		for (i = 0; i < 2; i++) {
			CHECK_IS(0, collq_barrier_init(me->comm[0], NULL, &requests[i]));
			CHECK_IS(-EINPROGRESS, collq_init_test(requests[i]));
		}
		shrunk = shrink(me);
		CHECK(!me->oob[0].going_on);
		CHECK_IS(0, collq_barrier_init(me->comm[0], NULL, &requests[2]));
		for (i = 0; i < 3; i++) {
			CHECK_IS(-ECONNABORTED, collq_init_test(requests[i]));
			CHECK_IS(-ECONNABORTED, collq_start(requests[i], 0));
		}
		CHECK_IS(-ECONNABORTED, collq_start(old, 0));
		CHECK_IS(0, collq_test(old));
		pass(me, shrunk, 50);
		for (i = 0; i < 3; i++)
			collq_request_free(requests[i]);
		collq_request_free(old);
		CHECK_IS(0, collq_comm_destroy(me->comm[0]));
		me->comm[0] = NULL;
		pass(me, shrunk, 50);
		CHECK_IS(0, collq_comm_destroy(shrunk));
		old = NULL;
	}
	team_meet(me);
	collq_request_free(old);
}

TEST_F_TIMEOUT(shrink, ends_initialisations, LIMIT_S)
{
	EXPECT_EQ(0, team_run(4, initialisations));
}

/* What is refused leaves all as it was. In the end each is alone. */
static void arguments(struct team_member *me)
{
	struct collq_request *barrier = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
	struct collq_oob oob = team_oob(me, 1);
	struct collq_comm *shrunk = NULL;

	CHECK_IS(-EINVAL, collq_comm_shrink(me->comm[0], 0, 0, &oob, &shrunk));
	CHECK_IS(-EINVAL, collq_comm_shrink(me->comm[0], 2, 2, &oob, &shrunk));
	CHECK_IS(-EINVAL, collq_comm_shrink(me->comm[0], me->rank, 4, &oob, &shrunk));
	CHECK_IS(-EINVAL, collq_comm_shrink(me->comm[0], 0, 2, NULL, &shrunk));
	oob.test = NULL;
	CHECK_IS(-EINVAL, collq_comm_shrink(me->comm[0], 0, 2, &oob, &shrunk));
	CHECK(!shrunk);
	team_enter(me, 0);
	CHECK_IS(0, collq_start_wait(barrier, team_deadline()));
	team_check_left(me, 0);

	team_meet(me);
	CHECK_IS(0, collq_comm_shrink(me->comm[0], 0, 1, NULL, &shrunk));
	collq_request_free(barrier);
	CHECK_IS(0, collq_barrier_init(shrunk, NULL, &barrier));
	CHECK_IS(0, collq_init_test(barrier));
	CHECK_IS(0, collq_start_wait(barrier, 0));
	collq_request_free(barrier);
	CHECK_IS(0, collq_comm_destroy(shrunk));
}

TEST_F_TIMEOUT(shrink, checks_its_arguments, LIMIT_S)
{
	EXPECT_EQ(0, team_run(3, arguments));
}

TEST_HARNESS_MAIN
