// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Slow and silent peers. A rank that is stopped is no dead one: the others wait
 * for it, as long as they choose to, and all go on when it does. A peer that has
 * vanished without a word is found out by retries.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "chance.h"
#include "collq_util.h"
#include "kill.h"
#include "usage.h"

#define RANKS		8
#define LIMIT_S		120
#define GO_ON		50

/* What a barrier may take while one rank is stopped */
#define DEADLINE_NS	500000000ULL
#define STOP_MS		300

/* What the ranks have come to */
struct progress {
	_Atomic uint64_t passed[RANKS];
	_Atomic uint64_t returned_ns[RANKS];
	_Atomic int error[RANKS];
	_Atomic bool end;
	_Atomic uint64_t last;
};

static struct progress *progress;
static struct collq_request *barrier;
static uint32_t algorithm, victim;
static uint64_t chance, stopped_ns, has_deadline;

static void cancel(int signal)
{
	(void)signal;
	collq_cancel(barrier);
}

/* Which barrier is the last one: rank 0 says so, one barrier before. */
static void look_for_the_end(struct team_member *me, uint64_t number)
{
	if (!me->rank && atomic_load(&progress->end) && !atomic_load(&progress->last))
		atomic_store(&progress->last, number + 1);
}

static void pass_barriers(struct team_member *me)
{
	uint64_t number = 0;
	int err;

	do {
		look_for_the_end(me, ++number);
		team_enter(me, 0);
		err = collq_start_wait(barrier, has_deadline ? collq_deadline_in(DEADLINE_NS) : 0);
		if (err)
			break;
		team_check_left(me, 0);
		atomic_fetch_add(&progress->passed[me->rank], 1);
	} while (number != atomic_load(&progress->last));
	atomic_store(&progress->error[me->rank], err);
	atomic_store(&progress->returned_ns[me->rank], raw_now());
}

static void member(struct team_member *me)
{
	uint32_t i;

	barrier = team_barrier(me, 0, algorithm, 0);
	CHECK(signal(SIGUSR1, cancel) != SIG_ERR);
	pass_barriers(me);
	collq_request_free(barrier);
	team_meet(me);

	/*
	 * Nothing is wrong with the connections. Other stamps, since not all have
	 * come equally far.
	 */
	barrier = team_barrier(me, 0, algorithm, 0);
	for (i = 0; i < GO_ON; i++) {
		team_enter(me, 1);
		CHECK_IS(0, collq_start_wait(barrier, team_deadline()));
		team_check_left(me, 1);
	}
	collq_request_free(barrier);
}

/* All in a mask have passed so many barriers, or have returned. */
static bool have_passed(uint32_t ranks, uint64_t passed)
{
	uint32_t i;

	for (i = 0; i < RANKS; i++)
		if (ranks >> i & 1 && atomic_load(&progress->passed[i]) < passed)
			return false;
	return true;
}

static bool have_returned(uint32_t ranks)
{
	uint32_t i;

	for (i = 0; i < RANKS; i++)
		if (ranks >> i & 1 && !atomic_load(&progress->returned_ns[i]))
			return false;
	return true;
}

#define ALL		((1U << RANKS) - 1)
#define SURVIVORS	(ALL & ~(1U << victim))

static void await(struct team *team, const pid_t pids[], bool met)
{
	uint32_t i;

	if (met)
		return;
	atomic_store(&team->failed, true);
	for (i = 0; i < RANKS; i++)
		kill(pids[i], SIGKILL);
}

#define AWAIT(condition) \
	await(team, pids, RAW_EVENTUALLY((condition) || atomic_load(&team->failed)))

static void stop(struct team *team, const pid_t pids[])
{
	AWAIT(have_passed(ALL, 3));
	usleep(chance_below(&chance, 20000));
	kill(pids[victim], SIGSTOP);
	stopped_ns = raw_now();
}

static void stop_until_the_deadline(struct team *team, const pid_t pids[])
{
	stop(team, pids);
	AWAIT(have_returned(SURVIVORS));
	kill(pids[victim], SIGCONT);
	AWAIT(have_returned(ALL));
}

static void stop_until_cancelled(struct team *team, const pid_t pids[])
{
	uint32_t who = (victim + 1 + chance_below(&chance, RANKS - 1)) % RANKS;

	stop(team, pids);
	/* Those that are still on their way don't heed it. */
	AWAIT(kill(pids[who], SIGUSR1) || have_returned(SURVIVORS));
	kill(pids[victim], SIGCONT);
	AWAIT(have_returned(ALL));
}

static void stop_for_a_while(struct team *team, const pid_t pids[])
{
	uint64_t passed;

	stop(team, pids);
	AWAIT(raw_now() >= stopped_ns + STOP_MS * 1000000ULL);
	passed = atomic_load(&progress->passed[victim]);
	kill(pids[victim], SIGCONT);
	AWAIT(have_passed(ALL, passed + GO_ON));
	atomic_store(&progress->end, true);
	AWAIT(have_returned(ALL));
}

FIXTURE(slow) {
};

FIXTURE_VARIANT(slow) {
	uint32_t algorithm;
};

FIXTURE_VARIANT_ADD(slow, dissemination) {
	.algorithm = COLLQ_BARRIER_DISSEMINATION,
};

FIXTURE_VARIANT_ADD(slow, recursive_doubling) {
	.algorithm = COLLQ_BARRIER_RECURSIVE_DOUBLING,
};

FIXTURE_VARIANT_ADD(slow, k_nomial) {
	.algorithm = COLLQ_BARRIER_K_NOMIAL,
};

FIXTURE_SETUP(slow)
{
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, progress);
	chance = chance_begin("stopped");
	victim = chance_below(&chance, RANKS);
	algorithm = variant->algorithm;
}

FIXTURE_TEARDOWN(slow)
{
	munmap(progress, sizeof(*progress));
}

/* Its own run fails too, which it sees when it goes on. */
TEST_F_TIMEOUT(slow, until_the_deadline, LIMIT_S)
{
	uint32_t i;

	has_deadline = true;
	ASSERT_EQ(0, team_run_directed(RANKS, member, stop_until_the_deadline));
	for (i = 0; i < RANKS; i++) {
		EXPECT_EQ(-ETIMEDOUT, progress->error[i])
			TH_LOG("rank %u", i);
		if (i != victim)
			EXPECT_GE(DEADLINE_NS + team_grace_ns(),
				  progress->returned_ns[i] - stopped_ns);
	}
}

TEST_F_TIMEOUT(slow, until_cancelled, LIMIT_S)
{
	uint32_t i;

	ASSERT_EQ(0, team_run_directed(RANKS, member, stop_until_cancelled));
	for (i = 0; i < RANKS; i++)
		EXPECT_EQ(-ECANCELED, progress->error[i])
			TH_LOG("rank %u", i);
}

TEST_F_TIMEOUT(slow, for_a_while, LIMIT_S)
{
	uint32_t i;

	ASSERT_EQ(0, team_run_directed(RANKS, member, stop_for_a_while));
	for (i = 0; i < RANKS; i++) {
		EXPECT_EQ(0, progress->error[i]);
		EXPECT_EQ(progress->passed[0], progress->passed[i]);
	}
}

/*
 * A peer whose queue pair is gone and has said nothing: as if its host had
 * lost its power.
 */
FIXTURE(silent) {
	struct raw_side side;
	__u8 address[IB_COLLQ_ADDRESS_SIZE];
	__u32 wait_graph;
};

FIXTURE_SETUP(silent)
{
	struct ib_collq_endpoint_create gone = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct ib_collq_task task;

	ASSERT_EQ(0, raw_side_open(&self->side));
	/* One that was never connected says nothing when it goes. */
	ASSERT_LT(0, raw_endpoint_create(self->side.fd, &gone));
	memcpy(self->address, gone.address, sizeof(self->address));
	ASSERT_EQ(0, raw_destroy(self->side.fd, gone.id));
	task = raw_wait_for(self->side.counter, 1);
	self->wait_graph = raw_graph_create(self->side.fd, &task, 1);
}

FIXTURE_TEARDOWN(silent)
{
	raw_side_close(&self->side);
}

/* As libcollq's defaults have it: 16 is 268 ms, seven times. */
TEST_F_TIMEOUT(silent, to_whom_something_is_sent, LIMIT_S)
{
	__u64 begin;
	int status;

	ASSERT_EQ(0, raw_side_connect(&self->side, self->address));
	begin = raw_now();
	ASSERT_EQ(0, raw_run(self->side.fd, self->side.queue, self->side.graph, &status));
	EXPECT_EQ(-EHOSTUNREACH, status);
	EXPECT_GE(KILL_RETRIES_NS + team_grace_ns(), raw_now() - begin);
	TH_LOG("%.3f s", (raw_now() - begin) / 1e9);
	/* Not by chance: it wasn't given up before it was tried for as long. */
	EXPECT_LE(KILL_RETRIES_NS / 2, raw_now() - begin);
}

/* One that doesn't probe waits until its deadline, or is cancelled. */
TEST_F(silent, for_whom_one_only_waits)
{
	__u64 sequence;
	int status;

	ASSERT_EQ(0, raw_side_connect(&self->side, self->address));
	ASSERT_EQ(0, raw_submit(self->side.fd, self->side.queue, self->wait_graph, 0,
				raw_in_ms(200), &sequence));
	ASSERT_EQ(0, raw_result(self->side.fd, self->side.queue, sequence, &status));
	EXPECT_EQ(-ETIMEDOUT, status);
}

TEST_HARNESS_MAIN
