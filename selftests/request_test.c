// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs of persistent requests: every way to see one end, and every way for one to
 * end badly.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "team.h"

#define LIMIT_S		120
#define MANY		64

FIXTURE(request) { };
FIXTURE_SETUP(request) { }
FIXTURE_TEARDOWN(request) { }

static void shuffle(uint32_t *order, uint32_t nr)
{
	uint32_t i, j;

	for (i = 0; i < nr; i++) {
		j = team_random(i + 1);
		order[i] = order[j];
		order[j] = i;
	}
}

static void make_many(struct team_member *me, struct collq_request **requests, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++)
		requests[i] = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
}

static void start_many(struct team_member *me, struct collq_request **requests, uint32_t nr)
{
	uint32_t i, order[MANY];

	shuffle(order, nr);
	for (i = 0; i < nr; i++)
		CHECK_IS(0, collq_start(requests[order[i]], team_deadline()));
}

static void free_many(struct collq_request **requests, uint32_t nr)
{
	while (nr)
		collq_request_free(requests[--nr]);
}

static void each_way(struct team_member *me)
{
	struct collq_request *request = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
	int i, err;

	/* Nothing was started: there's nothing to wait for. */
	CHECK_IS(0, collq_test(request));
	CHECK_IS(0, collq_wait(request, 0));
	CHECK_IS(-ENOENT, collq_cancel(request));
	for (i = 0; i < 100; i++) {
		team_enter(me, 0);
		CHECK_IS(0, collq_start(request, team_deadline()));
		CHECK_IS(-EBUSY, collq_start(request, 0));
		CHECK_IS(-EBUSY, collq_start_wait(request, 0));
		if (i % 2)
			while ((err = collq_test(request)) == -EINPROGRESS)
				;
		else
			err = collq_wait(request, team_deadline());
		CHECK_IS(0, err);
		CHECK_IS(0, collq_test(request));
		team_check_left(me, 0);
	}
	collq_request_free(request);
}

TEST_F_TIMEOUT(request, ends_seen_by_test_and_wait, LIMIT_S)
{
	EXPECT_EQ(0, team_run(1, each_way));
	EXPECT_EQ(0, team_run(3, each_way));
}

static void many_in_flight(struct team_member *me)
{
	struct collq_request *requests[MANY];
	uint32_t i, round, order[MANY];

	make_many(me, requests, MANY);
	for (round = 0; round < 10; round++) {
		start_many(me, requests, MANY);
		shuffle(order, MANY);
		for (i = 0; i < MANY; i++)
			CHECK_IS(0, collq_wait(requests[order[i]], team_deadline()));
	}
	free_many(requests, MANY);
}

TEST_F_TIMEOUT(request, many_run_at_once, LIMIT_S)
{
	EXPECT_EQ(0, team_run(4, many_in_flight));
}

static void any(struct team_member *me)
{
	struct collq_request *requests[MANY + 1];
	bool seen[MANY];
	uint32_t i, round, index;
	int err;

	make_many(me, requests, MANY);
	requests[MANY] = NULL;
	CHECK_IS(-ENOENT, collq_testany(requests, MANY + 1, &index));
	CHECK_IS(COLLQ_NONE, index);
	CHECK_IS(-ENOENT, collq_waitany(requests, MANY + 1, &index, 0));
	CHECK_IS(-ENOENT, collq_waitany(requests, 0, &index, 0));
	for (round = 0; round < 6; round++) {
		memset(seen, 0, sizeof(seen));
		start_many(me, requests, MANY);
		for (i = 0; i < MANY; i++) {
			if (round % 2)
				err = collq_waitany(requests, MANY + 1, &index, team_deadline());
			else
				while ((err = collq_testany(requests, MANY + 1, &index)) ==
				       -EINPROGRESS)
					CHECK_IS(COLLQ_NONE, index);
			CHECK_IS(0, err);
			CHECK(index < MANY && !seen[index]);
			seen[index] = true;
		}
		CHECK_IS(-ENOENT, collq_testany(requests, MANY + 1, &index));
	}
	free_many(requests, MANY);
}

TEST_F_TIMEOUT(request, any_that_has_ended_is_found_once, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, any));
}

static void any_of_two_contexts(struct team_member *me)
{
	struct collq_request *requests[2];
	struct collq_context *ctx;
	struct collq_comm *comm;
	uint32_t index;

	CHECK_IS(0, collq_open(NULL, &ctx));
	CHECK_IS(0, collq_comm_create(ctx, 0, 1, NULL, &comm));
	requests[0] = team_barrier(me, 0, 0, 0);
	CHECK_IS(0, collq_barrier_init(comm, NULL, &requests[1]));
	CHECK_IS(0, collq_init_test(requests[1]));
	CHECK_IS(-EINVAL, collq_waitany(requests, 2, &index, 0));
	free_many(requests, 2);
	CHECK_IS(0, collq_comm_destroy(comm));
	CHECK_IS(0, collq_close(ctx));
}

TEST_F_TIMEOUT(request, waitany_is_for_one_context, LIMIT_S)
{
	EXPECT_EQ(0, team_run(1, any_of_two_contexts));
}

/* An event loop: look first, then sleep. */
static void polled(struct team_member *me)
{
	struct collq_request *requests[8];
	struct pollfd fd = { .fd = collq_fd(me->ctx), .events = POLLIN };
	uint32_t index, round, left;
	int err;

	make_many(me, requests, 8);
	for (round = 0; round < 50; round++) {
		CHECK_IS(0, poll(&fd, 1, 0));
		start_many(me, requests, 8);
		for (left = 8; left;) {
			err = collq_testany(requests, 8, &index);
			if (err == -EINPROGRESS) {
				CHECK_IS(1, poll(&fd, 1, TEAM_PATIENCE_NS / 1000000));
				CHECK_IS(POLLIN, fd.revents);
				continue;
			}
			CHECK_IS(0, err);
			left--;
		}
	}
	free_many(requests, 8);
}

TEST_F_TIMEOUT(request, one_descriptor_serves_an_event_loop, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, polled));
}

/* Rank 1 comes only when rank 0 has got tired of waiting. */
static void waiting_ends(struct team_member *me)
{
	struct collq_request *request = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
	uint32_t index;

	if (me->rank) {
		team_meet(me);
		CHECK_IS(0, collq_start_wait(request, team_deadline()));
	} else {
		CHECK_IS(0, collq_start(request, 0));
		CHECK_IS(-ETIME, collq_wait(request, collq_deadline_in(20000000)));
		CHECK_IS(-ETIME, collq_wait(request, 1));
		CHECK_IS(-ETIME, collq_waitany(&request, 1, &index, collq_deadline_in(20000000)));
		CHECK_IS(COLLQ_NONE, index);
		CHECK_IS(-EINPROGRESS, collq_test(request));
		team_meet(me);
		CHECK_IS(0, collq_wait(request, team_deadline()));
	}
	collq_request_free(request);
}

TEST_F_TIMEOUT(request, waiting_has_a_deadline, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, waiting_ends));
}

/* A request that failed says so for ever, and nobody is left waiting for it. */
static void check_failed(struct team_member *me, struct collq_request *request, int error)
{
	struct collq_failure failure = { .size = sizeof(failure) };

	CHECK_IS(0, collq_request_failure(request, &failure));
	CHECK_IS(error, failure.error);
	CHECK_IS(error, collq_test(request));
	CHECK_IS(error, collq_start(request, 0));
	CHECK_IS(error, collq_start_wait(request, 0));
}

static void late(struct team_member *me)
{
	struct collq_request *request = team_barrier(me, 0, COLLQ_BARRIER_DISSEMINATION, 0);
	struct collq_request *other = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
	struct collq_failure failure = { .size = sizeof(failure) };

	CHECK_IS(-ENOENT, collq_request_failure(request, &failure));
	if (me->rank == 2) {
		/* Comes when it is over; the news may be here before or after. */
		team_meet(me);
		CHECK_IS(-ETIMEDOUT, collq_start_wait(request, team_deadline()));
	} else {
		CHECK_IS(-ETIMEDOUT, collq_start_wait(request, collq_deadline_in(200000000)));
		CHECK_IS(0, collq_request_failure(request, &failure));
		CHECK(failure.label < 2);
		CHECK(failure.task != IB_COLLQ_NO_TASK);
		check_failed(me, request, -ETIMEDOUT);
		team_meet(me);
	}
	CHECK_IS(0, collq_start_wait(other, team_deadline()));
	collq_request_free(request);

	/* A failed one doesn't keep others from being made. */
	request = team_barrier(me, 0, COLLQ_BARRIER_DISSEMINATION, 0);
	CHECK_IS(0, collq_start_wait(request, team_deadline()));
	collq_request_free(request);
	collq_request_free(other);
}

TEST_F_TIMEOUT(request, run_has_a_deadline, LIMIT_S)
{
	EXPECT_EQ(0, team_run(3, late));
}

static void *cancel_soon(void *arg)
{
	int err;

	usleep(50000);
	do
		err = collq_cancel(arg);
	while (err == -ENOENT);
	return (void *)(intptr_t)err;
}

static void cancelled(struct team_member *me)
{
	struct collq_request *request = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
	struct collq_failure failure = { .size = sizeof(failure) };
	pthread_t thread;
	void *result;

	if (!me->rank) {
		CHECK_IS(0, pthread_create(&thread, NULL, cancel_soon, request));
		CHECK_IS(-ECANCELED, collq_start_wait(request, team_deadline()));
		CHECK_IS(0, pthread_join(thread, &result));
		CHECK_IS(0, (intptr_t)result);
		CHECK_IS(0, collq_request_failure(request, &failure));
		CHECK_IS(COLLQ_NONE, failure.peer);
		team_meet(me);
	} else {
		/* Its own run fails, since it's told; whoever told it is named. */
		if (me->rank == 1) {
			CHECK_IS(0, collq_start(request, 0));
			CHECK_IS(-ECANCELED, collq_wait(request, team_deadline()));
			CHECK_IS(0, collq_request_failure(request, &failure));
			CHECK(failure.peer != COLLQ_NONE && failure.peer != 1);
		}
		team_meet(me);
	}
	collq_request_free(request);
}

TEST_F_TIMEOUT(request, cancel_ends_it_everywhere, LIMIT_S)
{
	EXPECT_EQ(0, team_run(3, cancelled));
}

static struct collq_request *to_cancel;
static _Atomic int cancel_result;

static void cancel_in_handler(int signal)
{
	(void)signal;
	cancel_result = collq_cancel(to_cancel);
}

static void cancelled_by_signal(struct team_member *me)
{
	const struct itimerval soon = { .it_value.tv_usec = 100000 };

	to_cancel = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
	if (!me->rank) {
		CHECK(signal(SIGALRM, cancel_in_handler) != SIG_ERR);
		CHECK_IS(0, setitimer(ITIMER_REAL, &soon, NULL));
		CHECK_IS(-ECANCELED, collq_start_wait(to_cancel, team_deadline()));
		CHECK_IS(0, cancel_result);
		team_meet(me);
	} else {
		team_meet(me);
		CHECK_IS(-ECANCELED, collq_start_wait(to_cancel, team_deadline()));
	}
	collq_request_free(to_cancel);
}

TEST_F_TIMEOUT(request, cancel_works_in_a_signal_handler, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, cancelled_by_signal));
}

static _Atomic int nr_signals;

static void count_signal(int signal)
{
	(void)signal;
	nr_signals++;
}

/* Signals without end: runs are neither lost nor submitted twice. */
static void interrupted(struct team_member *me)
{
	const struct itimerval often = {
		.it_interval.tv_usec = 300,
		.it_value.tv_usec = 300,
	};
	const struct itimerval never = { .it_value.tv_usec = 0 };
	struct sigaction action = { .sa_handler = count_signal };
	struct collq_request *request = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
	int i;

	action.sa_flags = me->rank ? SA_RESTART : 0;
	CHECK_IS(0, sigaction(SIGALRM, &action, NULL));
	CHECK_IS(0, setitimer(ITIMER_REAL, &often, NULL));
	for (i = 0; i < 200; i++) {
		team_enter(me, 0);
		if (me->rank && !(i % 8))
			usleep(2000);
		if (i % 2) {
			CHECK_IS(0, collq_start_wait(request, team_deadline()));
		} else {
			CHECK_IS(0, collq_start(request, team_deadline()));
			CHECK_IS(0, collq_wait(request, team_deadline()));
		}
		team_check_left(me, 0);
	}
	CHECK_IS(0, setitimer(ITIMER_REAL, &never, NULL));
	CHECK(nr_signals > 10);
	collq_request_free(request);
}

TEST_F_TIMEOUT(request, signals_do_no_harm, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, interrupted));
}

/*
 * Threads that share a context, each with its request and its own way to wait.
 * Whoever finds a completion finds those of the others, some of which sleep.
 */
#define THREADS		6
#define THREAD_RUNS	200

struct thread {
	struct team_member *me;
	struct collq_request *request;
	uint32_t number;
};

static void run_one(struct thread *thread)
{
	struct team_member *me = thread->me;
	uint32_t index;
	int err;

	if (thread->number % 4 == 3) {
		CHECK_IS(0, collq_start_wait(thread->request, team_deadline()));
		return;
	}
	CHECK_IS(0, collq_start(thread->request, team_deadline()));
	switch (thread->number % 4) {
	case 0:
	case 1:
		err = collq_waitany(&thread->request, 1, &index, team_deadline());
		break;
	default:
		while ((err = collq_test(thread->request)) == -EINPROGRESS)
			if (!team_random(8))
				sched_yield();
	}
	CHECK_IS(0, err);
}

static void *run_thread(void *arg)
{
	struct thread *thread = arg;
	uint32_t i;

	for (i = 0; i < THREAD_RUNS; i++)
		run_one(thread);
	return NULL;
}

static void threads(struct team_member *me)
{
	struct collq_request *requests[THREADS];
	struct thread thread[THREADS];
	pthread_t ids[THREADS];
	uint32_t i;

	make_many(me, requests, THREADS);
	for (i = 0; i < THREADS; i++) {
		thread[i] = (struct thread){ me, requests[i], i };
		CHECK_IS(0, pthread_create(&ids[i], NULL, run_thread, &thread[i]));
	}
	for (i = 0; i < THREADS; i++)
		CHECK_IS(0, pthread_join(ids[i], NULL));
	free_many(requests, THREADS);
}

TEST_F_TIMEOUT(request, threads_share_a_context, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, threads));
}

/* Two entries: the third run has to wait until an end was seen. */
static void ring_is_full(struct team_member *me)
{
	struct collq_request *requests[3];

	make_many(me, requests, 3);
	if (me->rank) {
		team_meet(me);
		CHECK_IS(0, collq_start_wait(requests[0], team_deadline()));
		CHECK_IS(0, collq_start_wait(requests[1], team_deadline()));
	} else {
		CHECK_IS(0, collq_start(requests[0], 0));
		CHECK_IS(0, collq_start(requests[1], 0));
		CHECK_IS(-EBUSY, collq_start(requests[2], 0));
		CHECK_IS(-EBUSY, collq_start_wait(requests[2], 0));
		CHECK_IS(0, collq_test(requests[2]));
		team_meet(me);
		CHECK_IS(0, collq_wait(requests[0], team_deadline()));
		CHECK_IS(0, collq_wait(requests[1], team_deadline()));
	}
	CHECK_IS(0, collq_start_wait(requests[2], team_deadline()));
	free_many(requests, 3);
}

TEST_F_TIMEOUT(request, ring_may_be_full, LIMIT_S)
{
	setenv("COLLQ_RING_ENTRIES", "2", 1);
	EXPECT_EQ(0, team_run(2, ring_is_full));
	unsetenv("COLLQ_RING_ENTRIES");
}

/* Freed while it runs: that cancels it, at the peer too. */
static void freed_while_running(struct team_member *me)
{
	struct pollfd fd = { .fd = collq_fd(me->ctx), .events = POLLIN };
	struct collq_request *request, *other = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
	int i;

	for (i = 0; i < 10; i++) {
		request = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
		if (!me->rank) {
			CHECK_IS(0, collq_start(request, 0));
		} else {
			team_meet(me);
			CHECK_IS(-ECANCELED, collq_start_wait(request, team_deadline()));
		}
		if (!me->rank) {
			collq_request_free(request);
			/* An event loop doesn't hear of it any more. */
			CHECK_IS(0, poll(&fd, 1, 0));
			request = NULL;
			team_meet(me);
		}
		CHECK_IS(0, collq_start_wait(other, team_deadline()));
		collq_request_free(request);
	}
	CHECK_IS(1, team_count(me, IB_COLLQ_OBJECT_QUEUE));
	collq_request_free(other);
}

TEST_F_TIMEOUT(request, may_be_freed_while_it_runs, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, freed_while_running));
}

/* Rank 1 is killed; the others have to hear of it, also those not next to it. */
static void killed(struct team_member *me)
{
	struct collq_request *request = team_barrier(me, 0, COLLQ_BARRIER_K_NOMIAL, 2);
	struct collq_failure failure = { .size = sizeof(failure) };

	CHECK_IS(0, collq_start_wait(request, team_deadline()));
	if (me->rank != 1)
		CHECK_IS(0, collq_start(request, 0));
	team_meet(me);
	if (me->rank == 1)
		raise(SIGKILL);
	CHECK_IS(-ECONNRESET, collq_wait(request, team_deadline()));
	CHECK_IS(0, collq_request_failure(request, &failure));
	CHECK(failure.peer != COLLQ_NONE);
	collq_request_free(request);
}

TEST_F_TIMEOUT(request, fails_when_a_rank_dies, LIMIT_S)
{
	EXPECT_EQ(0, team_run_doomed(4, killed, 1 << 1));
}

/* Straight out after the last barrier: the others must not miss its message. */
static void leaves_at_once(struct team_member *me)
{
	struct collq_request *request = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);

	CHECK_IS(0, collq_start_wait(request, team_deadline()));
	_exit(0);
}

TEST_F_TIMEOUT(request, exit_straight_after_a_barrier, LIMIT_S)
{
	int i;

	for (i = 0; i < 20; i++)
		EXPECT_EQ(0, team_run(4, leaves_at_once));
}

static void forked(struct team_member *me)
{
	struct collq_request *request = team_barrier(me, 0, COLLQ_BARRIER_AUTO, 0);
	int status;
	pid_t pid;

	CHECK_IS(0, collq_start_wait(request, team_deadline()));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		_exit(collq_start(request, 0) == -EPERM ? 0 : 1);
	CHECK_IS(pid, waitpid(pid, &status, 0));
	CHECK_IS(0, status);
	CHECK_IS(0, collq_start_wait(request, team_deadline()));
	collq_request_free(request);
}

TEST_F_TIMEOUT(request, is_of_no_use_to_a_child, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, forked));
}

TEST_HARNESS_MAIN
