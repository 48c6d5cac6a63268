// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Killing one of a team: see kill.h.
 *
 * All ranks pass barriers, each in one system call that has no deadline, until
 * one fails. What they find goes to shared memory, since the victim can't return
 * anything. Survivors then go on in what is left of the communicator: all but what
 * the dead rank was part of has to be as good as before.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "chance.h"
#include "kill.h"

/* Barriers that all have passed before the victim is killed */
#define WARM_UP		3

/* @returned_ns: when the barrier failed, or 0 */
struct witness {
	_Atomic uint64_t passed;
	_Atomic uint64_t returned_ns;
	_Atomic int error;
};

static struct kill_plan plan;
static uint64_t killed_ns;
static uint32_t hung;
static struct witness *witnesses;

static void nap(uint64_t ns)
{
	const struct timespec time = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&time, NULL);
}

static void pass_barriers(struct team_member *me, struct collq_request *barrier)
{
	struct witness *witness = &witnesses[me->rank];
	uint64_t jitter = plan.jitter + me->rank;
	int err;

	for (;;) {
		if (plan.jitter && !chance_below(&jitter, 4))
			nap(chance_below(&jitter, 400000));
		team_enter(me, 0);
		err = collq_start_wait(barrier, 0);
		if (err)
			break;
		team_check_left(me, 0);
		atomic_fetch_add(&witness->passed, 1);
	}
	atomic_store(&witness->error, err);
	atomic_store(&witness->returned_ns, collq_deadline_in(0));
}

/*
 * A request that has failed stays so, and says who was at the other end, if it
 * was a run that failed: the news may have come between two.
 */
static void check_failed(struct team_member *me, struct collq_request *barrier)
{
	int error = atomic_load(&witnesses[me->rank].error);
	struct collq_failure failure = { .size = sizeof(failure) };

	CHECK_IS(error, collq_start(barrier, 0));
	if (collq_request_failure(barrier, &failure) == -ENOENT)
		return;
	CHECK_IS(error, failure.error);
	if (failure.peer != COLLQ_NONE)
		CHECK(failure.peer < me->size && failure.peer != me->rank);
}

/* Those that are left. They get rid of what has failed when they please. */
static void go_on(struct team_member *me, struct collq_request *failed)
{
	uint32_t i, left = team_place(me->team, me->size);
	uint32_t when = (me->rank + plan.delay_ns) % 3;
	struct collq_oob oob = team_oob(me, 1);
	struct collq_request *barrier;

	if (when == 0)
		collq_request_free(failed);
	CHECK_IS(0, collq_comm_destroy(me->comm[1]));
	CHECK_IS(0, collq_comm_shrink(me->comm[0], team_place(me->team, me->rank), left, &oob,
				      &me->comm[1]));
	if (when == 1) {
		collq_request_free(failed);
		CHECK_IS(0, collq_comm_destroy(me->comm[0]));
		me->comm[0] = NULL;
	}
	barrier = team_barrier(me, 1, plan.algorithm, 0);
	for (i = 0; i < plan.go_on; i++) {
		team_enter(me, 1);
		CHECK_IS(0, collq_start_wait(barrier, team_deadline()));
		team_check_left(me, 1);
	}
	if (when == 2)
		collq_request_free(failed);
	collq_request_free(barrier);
}

static void member(struct team_member *me)
{
	struct collq_request *barrier = team_barrier(me, 0, plan.algorithm, 0);

	pass_barriers(me, barrier);
	check_failed(me, barrier);
	if (plan.go_on)
		go_on(me, barrier);
	else
		collq_request_free(barrier);
}

/* Ranks, but not the victim, of which something isn't so yet. */
static uint32_t lacking(uint64_t passed, bool returned)
{
	uint32_t i, mask = 0;

	for (i = 0; i < plan.size; i++) {
		if (i != plan.victim &&
		    (atomic_load(&witnesses[i].passed) < passed ||
		     (returned && !atomic_load(&witnesses[i].returned_ns))))
			mask |= 1U << i;
	}
	return mask;
}

static uint32_t await(struct team *team, uint64_t passed, bool returned)
{
	uint64_t until = team_deadline();
	uint32_t mask;

	while ((mask = lacking(passed, returned)) && !atomic_load(&team->failed) &&
	       collq_deadline_in(0) < until)
		nap(1000000);
	return mask;
}

static void strike(struct team *team, const pid_t pids[])
{
	uint32_t i;

	hung = await(team, WARM_UP, false);
	if (!hung) {
		nap(plan.delay_ns);
		atomic_fetch_or(&team->gone, 1U << plan.victim);
		killed_ns = collq_deadline_in(0);
		kill(pids[plan.victim], SIGKILL);
		hung = await(team, 0, true);
	}
	if (!hung)
		return;
	atomic_store(&team->failed, true);
	for (i = 0; i < plan.size; i++)
		kill(pids[i], SIGKILL);
}

unsigned int kill_run(const struct kill_plan *what, struct kill_result *result)
{
	size_t bytes = TEAM_MAX * sizeof(*witnesses);
	unsigned int failed;
	uint32_t i;

	plan = *what;
	memset(result, 0, sizeof(*result));
	witnesses = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (witnesses == MAP_FAILED)
		return plan.size;
	failed = team_run_directed(plan.size, member, strike);
	result->hung = hung;
	for (i = 0; i < plan.size; i++) {
		if (i == plan.victim)
			continue;
		result->passed += atomic_load(&witnesses[i].passed);
		result->error[i] = atomic_load(&witnesses[i].error);
		result->took_ns[i] = atomic_load(&witnesses[i].returned_ns) - killed_ns;
	}
	munmap(witnesses, bytes);
	return failed;
}

int kill_find_wrong(const struct kill_plan *what, const struct kill_result *result)
{
	uint32_t i;

	for (i = 0; i < what->size; i++) {
		if (i == what->victim)
			continue;
		if (result->error[i] != -ECONNRESET ||
		    result->took_ns[i] > KILL_DETECTION_NS + team_grace_ns())
			return i;
	}
	return -1;
}
