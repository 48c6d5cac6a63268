// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Killing one of a team: see kill.h.
 *
 * All ranks pass barriers or exchange data, each time in one system call that has no
 * deadline, until one fails. What they find goes to shared memory, since the victim
 * can't return anything. Survivors then go on in what is left of the communicator: all
 * but what the dead rank was part of has to be as good as before; and nothing that was
 * under way to them may arrive any more.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "chance.h"
#include "kill.h"

/* Runs that all have had before the victim is killed */
#define WARM_UP		3

/* @returned_ns: when the last run failed, or 0 */
struct witness {
	_Atomic uint64_t passed;
	_Atomic uint64_t returned_ns;
	_Atomic int error;
};

/* What is run again and again: @exchange only if it's all-to-alls */
struct work {
	struct collq_request *request;
	struct exchange exchange;
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

static bool with_data(void)
{
	return plan.data.bytes;
}

/* Of those that aren't gone. */
static void begin_work(struct team_member *me, uint32_t comm, struct work *work)
{
	*work = (struct work) {};
	if (!with_data()) {
		work->request = team_barrier(me, comm, plan.algorithm, 0);
		return;
	}
	exchange_new_among(me, comm, team_place(me->team, me->rank),
			   team_place(me->team, me->size), &work->exchange, &plan.data);
	work->request = work->exchange.request;
}

static void end_work(struct team_member *me, struct work *work)
{
	if (!with_data()) {
		collq_request_free(work->request);
		return;
	}
	exchange_check_mark(me, &work->exchange);
	exchange_free(&work->exchange);
}

/* One run, that has been right if it hasn't failed. */
static int run_work(struct team_member *me, uint32_t comm, struct work *work, uint64_t deadline)
{
	int err;

	if (with_data())
		exchange_fill(&work->exchange);
	team_enter(me, comm);
	err = collq_start_wait(work->request, deadline);
	if (!err)
		team_check_left(me, comm);
	if (!err && with_data())
		exchange_check(me, &work->exchange);
	/* Whether it has failed or was the last one. */
	if (with_data())
		exchange_mark(&work->exchange);
	return err;
}

static void work_until_failure(struct team_member *me, struct work *work)
{
	struct witness *witness = &witnesses[me->rank];
	uint64_t jitter = plan.jitter + me->rank;
	int err;

	for (;;) {
		if (plan.jitter && !chance_below(&jitter, 4))
			nap(chance_below(&jitter, 400000));
		err = run_work(me, 0, work, 0);
		if (err)
			break;
		atomic_fetch_add(&witness->passed, 1);
	}
	atomic_store(&witness->error, err);
	atomic_store(&witness->returned_ns, collq_deadline_in(0));
}

/*
 * A request that has failed stays so, and says who was at the other end, if it
 * was a run that failed: the news may have come between two.
 */
static void check_failed(struct team_member *me, struct collq_request *request)
{
	int error = atomic_load(&witnesses[me->rank].error);
	struct collq_failure failure = { .size = sizeof(failure) };

	CHECK_IS(error, collq_start(request, 0));
	if (collq_request_failure(request, &failure) == -ENOENT)
		return;
	CHECK_IS(error, failure.error);
	if (failure.peer != COLLQ_NONE)
		CHECK(failure.peer < me->size && failure.peer != me->rank);
}

/* Those that are left. They get rid of what has failed when they please. */
static void go_on(struct team_member *me, struct work *failed)
{
	uint32_t i, left = team_place(me->team, me->size);
	uint32_t when = (me->rank + plan.delay_ns) % 3;
	struct collq_oob oob = team_oob(me, 1);
	struct work work;

	if (when == 0)
		end_work(me, failed);
	CHECK_IS(0, collq_comm_destroy(me->comm[1]));
	CHECK_IS(0, collq_comm_shrink(me->comm[0], team_place(me->team, me->rank), left, &oob,
				      &me->comm[1]));
	if (when == 1) {
		end_work(me, failed);
		CHECK_IS(0, collq_comm_destroy(me->comm[0]));
		me->comm[0] = NULL;
	}
	begin_work(me, 1, &work);
	for (i = 0; i < plan.go_on; i++)
		CHECK_IS(0, run_work(me, 1, &work, team_deadline()));
	if (when == 2)
		end_work(me, failed);
	end_work(me, &work);
}

static void member(struct team_member *me)
{
	struct work work;

	begin_work(me, 0, &work);
	work_until_failure(me, &work);
	check_failed(me, work.request);
	if (plan.go_on)
		go_on(me, &work);
	else
		end_work(me, &work);
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
