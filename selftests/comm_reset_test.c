// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Resetting a communicator: requests that have failed, though nobody is dead, run
 * again.
 *
 * COLLQ_RESET_ROUNDS is how often a rank is stopped until a deadline has passed (2).
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "kselftest_harness.h"

#include "chance.h"
#include "slow_kernel.h"
#include "team.h"

#define RANKS		8
#define LIMIT_S		600
#define GO_ON		1000
/* For a barrier of all: far from what it takes, on any kernel. */
#define DEADLINE_NS	(slow_kernel() ? 5000000000ULL : 500000000ULL)

FIXTURE(reset) {
};

FIXTURE_SETUP(reset)
{
}

FIXTURE_TEARDOWN(reset)
{
}

/* Stamps are those of the second communicator: not all have passed equally many. */
static void pass(struct team_member *me, struct collq_request *barrier, uint32_t nr)
{
	while (nr--) {
		team_enter(me, 1);
		CHECK_IS(0, collq_start_wait(barrier, team_deadline()));
		team_check_left(me, 1);
	}
}

static void reset(struct team_member *me)
{
	CHECK_IS(0, collq_comm_reset(me->comm[0]));
	CHECK_IS(0, collq_comm_reset_wait(me->comm[0], team_deadline()));
}

FIXTURE(stopped) {
};

FIXTURE_VARIANT(stopped) {
	uint32_t algorithm;
};

FIXTURE_VARIANT_ADD(stopped, dissemination) { COLLQ_BARRIER_DISSEMINATION };
FIXTURE_VARIANT_ADD(stopped, recursive_doubling) { COLLQ_BARRIER_RECURSIVE_DOUBLING };
FIXTURE_VARIANT_ADD(stopped, k_nomial) { COLLQ_BARRIER_K_NOMIAL };
FIXTURE_SETUP(stopped) { }
FIXTURE_TEARDOWN(stopped) { }

/* What the parent follows: barriers passed, and that one has failed */
#define PASSED		1ULL
#define FAILED		(1ULL << 32)

static uint32_t algorithm, victim, rounds;
static uint64_t chance;

static void nap(uint64_t ns)
{
	const struct timespec time = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&time, NULL);
}

static bool all_but(const struct team *team, uint32_t but, uint64_t word)
{
	uint32_t i;

	for (i = 0; i < team->size; i++)
		if (i != but && atomic_load(&team->ranks[i].word) < word)
			return false;
	return true;
}

static void await(struct team *team, const pid_t pids[], uint32_t but, uint64_t word)
{
	uint64_t until = team_deadline();
	uint32_t i;

	while (!all_but(team, but, word) && !atomic_load(&team->failed)) {
		nap(1000000);
		if (collq_deadline_in(0) < until)
			continue;
		atomic_store(&team->failed, true);
		for (i = 0; i < team->size; i++)
			kill(pids[i], SIGKILL);
	}
}

static void stop_and_go(struct team *team, const pid_t pids[])
{
	uint32_t round;

	for (round = 0; round < rounds; round++) {
		victim = chance_below(&chance, RANKS);
		await(team, pids, RANKS, round * FAILED + 3);
		nap(chance_below(&chance, 20000000));
		kill(pids[victim], SIGSTOP);
		await(team, pids, victim, (round + 1) * FAILED);
		kill(pids[victim], SIGCONT);
	}
}

/* The same request all the time. */
static void stopped_and_reset(struct team_member *me)
{
	struct collq_request *barrier = team_barrier(me, 0, algorithm, 0);
	struct team_rank *own = &me->team->ranks[me->rank];
	uint32_t round;
	int err;

	for (round = 0; round < rounds; round++) {
		while (!(err = collq_start_wait(barrier, collq_deadline_in(DEADLINE_NS))))
			atomic_fetch_add(&own->word, PASSED);
		atomic_store(&own->word, (round + 1) * FAILED);
		CHECK_IS(-ETIMEDOUT, err);
		CHECK_IS(-ETIMEDOUT, collq_start(barrier, 0));
		reset(me);
		pass(me, barrier, GO_ON);
	}
	collq_request_free(barrier);
}

TEST_F_TIMEOUT(stopped, until_the_deadline, LIMIT_S)
{
	chance = chance_begin("reset");
	rounds = chance_number("COLLQ_RESET_ROUNDS", 2);
	algorithm = variant->algorithm;
	ASSERT_TRUE(rounds);
	EXPECT_EQ(0, team_run_directed(RANKS, stopped_and_reset, stop_and_go));
}

/* Two requests, of which one runs and the other one is done; and one that is freed. */
static void runs_end(struct team_member *me)
{
	struct collq_request *runs = team_barrier(me, 0, COLLQ_BARRIER_DISSEMINATION, 0);
	struct collq_request *done = team_barrier(me, 0, COLLQ_BARRIER_K_NOMIAL, 0);
	struct collq_request *freed = team_barrier(me, 0, COLLQ_BARRIER_RECURSIVE_DOUBLING, 0);
	uint32_t i;

	for (i = 0; i < 10; i++) {
		pass(me, done, 1);
		if (me->rank)
			CHECK_IS(0, collq_start(runs, 0));
		/* Rank 0 is the one that the others wait for. */
		team_meet(me);
		if (i == 5 && me->rank == 1) {
			collq_request_free(freed);
			freed = NULL;
		}
		CHECK_IS(0, collq_comm_reset(me->comm[0]));
		CHECK_IS(-EBUSY, collq_comm_reset(me->comm[0]));
		CHECK_IS(-EAGAIN, collq_start(done, 0));
		if (me->rank) {
			CHECK_IS(-EAGAIN, collq_start(runs, 0));
			/* Or a peer was quicker. */
			CHECK(collq_wait(runs, team_deadline()) < 0);
		}
		CHECK_IS(0, collq_comm_reset_wait(me->comm[0], team_deadline()));
		CHECK_IS(0, collq_comm_reset_test(me->comm[0]));
		pass(me, runs, 5);
		pass(me, done, 5);
	}
	collq_request_free(freed);
	collq_request_free(runs);
	collq_request_free(done);
}

TEST_F_TIMEOUT(reset, ends_runs, LIMIT_S)
{
	EXPECT_EQ(0, team_run(4, runs_end));
}

/* Full endpoints have company; all of them are made anew. */
static void many_endpoints(struct team_member *me)
{
	struct collq_request *barriers[6];
	uint32_t i, round, endpoints;

	for (i = 0; i < 6; i++)
		barriers[i] = team_barrier(me, 0, COLLQ_BARRIER_DISSEMINATION, 0);
	endpoints = team_count(me, IB_COLLQ_OBJECT_ENDPOINT);
	CHECK(endpoints > 4);
	for (round = 0; round < 3; round++) {
		reset(me);
		for (i = 0; i < 6; i++)
			pass(me, barriers[i], 3);
	}
	CHECK_IS(endpoints, team_count(me, IB_COLLQ_OBJECT_ENDPOINT));
	for (i = 0; i < 6; i++)
		collq_request_free(barriers[i]);
}

TEST_F_TIMEOUT(reset, of_many_endpoints, LIMIT_S)
{
	setenv("COLLQ_RC_CAPACITY", "4", 1);
	EXPECT_EQ(0, team_run(5, many_endpoints));
	unsetenv("COLLQ_RC_CAPACITY");
}

/* An initialisation that is begun meanwhile comes after it, and drives it. */
static void init_comes_after(struct team_member *me)
{
	struct collq_request *first, *second;

	/* With nothing there yet. */
	CHECK_IS(0, collq_comm_reset_test(me->comm[0]));
	reset(me);
	CHECK_IS(0, collq_barrier_init(me->comm[0], NULL, &first));
	CHECK_IS(-EBUSY, collq_comm_reset(me->comm[0]));
	CHECK_IS(0, collq_init_wait(first, team_deadline()));
	CHECK_IS(0, collq_comm_reset(me->comm[0]));
	CHECK_IS(0, collq_barrier_init(me->comm[0], NULL, &second));
	CHECK_IS(0, collq_init_wait(second, team_deadline()));
	CHECK_IS(0, collq_comm_reset_test(me->comm[0]));
	pass(me, first, 5);
	pass(me, second, 5);

	/* One that is given up while it waits for the reset doesn't harm that one. */
	CHECK_IS(0, collq_comm_reset(me->comm[0]));
	collq_request_free(second);
	CHECK_IS(0, collq_barrier_init(me->comm[0], NULL, &second));
	collq_request_free(second);
	CHECK_IS(0, collq_comm_reset_wait(me->comm[0], team_deadline()));
	pass(me, first, 5);
	CHECK_IS(-ECONNABORTED, collq_comm_reset(me->comm[0]));
	pass(me, first, 5);
	collq_request_free(first);
}

TEST_F_TIMEOUT(reset, comes_before_initialisations, LIMIT_S)
{
	EXPECT_EQ(0, team_run(3, init_comes_after));
}

/*
 * Rank 1 can't reset a queue, since there's none any more. When the request is gone
 * that it was of, all is well.
 */
static void one_fails(struct team_member *me)
{
	struct collq_request *barrier = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
	struct collq_request *bad = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
	struct ib_collq_object_describe describe = { .flags = IB_COLLQ_DESCRIBE_NEXT };
	struct ib_collq_object_destroy entry = { .type = IB_COLLQ_OBJECT_QUEUE };

	for (; !collq_object_describe(me->ctx, &describe); describe.id++)
		if (describe.type == IB_COLLQ_OBJECT_QUEUE)
			entry.id = describe.id;
	if (me->rank == 1)
		CHECK_IS(1, collq_object_destroy(me->ctx, &entry, 1));
	CHECK_IS(0, collq_comm_reset(me->comm[0]));
	CHECK_IS(-ENOENT, collq_comm_reset_wait(me->comm[0], team_deadline()));
	CHECK_IS(-ENOENT, collq_comm_reset_test(me->comm[0]));
	CHECK_IS(-ENOTCONN, collq_start(barrier, 0));
	CHECK_IS(-ENOTCONN, collq_start_wait(barrier, 0));
	collq_request_free(bad);
	reset(me);
	pass(me, barrier, 20);

	/* And when they don't agree on what to do. */
	if (me->rank == 1) {
		CHECK_IS(0, collq_barrier_init(me->comm[0], NULL, &bad));
		CHECK_IS(-EINVAL, collq_init_wait(bad, team_deadline()));
		collq_request_free(bad);
	} else {
		CHECK_IS(0, collq_comm_reset(me->comm[0]));
		CHECK_IS(-EINVAL, collq_comm_reset_wait(me->comm[0], team_deadline()));
	}
	reset(me);
	pass(me, barrier, 20);
	collq_request_free(barrier);
}

TEST_F_TIMEOUT(reset, fails_everywhere, LIMIT_S)
{
	setenv("COLLQ_LOG_LEVEL", "none", 1);
	EXPECT_EQ(0, team_run(3, one_fails));
	unsetenv("COLLQ_LOG_LEVEL");
}

static void shrunk_meanwhile(struct team_member *me)
{
	struct collq_request *barrier = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);

	team_meet(me);
	CHECK_IS(0, collq_comm_reset(me->comm[0]));
	CHECK_IS(0, collq_comm_destroy(me->comm[1]));
	CHECK_IS(0, collq_comm_shrink(me->comm[0], 0, 1, NULL, &me->comm[1]));
	CHECK_IS(-ECONNABORTED, collq_comm_reset_wait(me->comm[0], team_deadline()));
	CHECK_IS(-ECONNABORTED, collq_comm_reset(me->comm[0]));
	CHECK_IS(-ECONNABORTED, collq_start(barrier, 0));
	collq_request_free(barrier);
	team_meet(me);
}

TEST_F_TIMEOUT(reset, is_given_up_by_shrinking, LIMIT_S)
{
	EXPECT_EQ(0, team_run(3, shrunk_meanwhile));
}

/* Alone, and destroyed in the middle. */
static void alone(struct team_member *me)
{
	struct collq_request *barrier = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);

	reset(me);
	pass(me, barrier, 3);
	collq_request_free(barrier);
	CHECK_IS(0, collq_comm_reset(me->comm[0]));
}

TEST_F_TIMEOUT(reset, of_one_rank, LIMIT_S)
{
	EXPECT_EQ(0, team_run(1, alone));
}

/* Nobody goes on with it. */
static void abandoned(struct team_member *me)
{
	CHECK_IS(0, collq_comm_reset(me->comm[0]));
	CHECK(me->oob[0].going_on);
	CHECK_IS(0, collq_comm_destroy(me->comm[0]));
	CHECK(!me->oob[0].going_on);
	me->comm[0] = NULL;
	team_meet(me);
}

TEST_F_TIMEOUT(reset, is_abandoned, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, abandoned));
}

TEST_HARNESS_MAIN
