// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Waiting for a submission: how it ended, and what ends the waiting; above all
 * that a signal to a process that sleeps never leads to a second submission.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "collq_util.h"

#define DEPTH	4
#define RING_ENTRIES	64
#define LABEL	23

FIXTURE(wait) {
	int fd;
	struct raw_ring ring;
	__u32 counter;
	__u32 graph;		/* waits for one of counter */
	__u32 queue;
};

FIXTURE_SETUP(wait)
{
	struct ib_collq_task task;

	self->fd = raw_open();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, raw_ring_create(self->fd, RING_ENTRIES, &self->ring));
	self->counter = raw_counter_create(self->fd, IB_COLLQ_SOURCE_USER, 0);
	task = raw_wait_for(self->counter, 1);
	task.label = LABEL;
	self->graph = raw_graph_create(self->fd, &task, 1);
	self->queue = raw_queue_create(self->fd, self->ring.id, DEPTH, NULL, 0);
	ASSERT_LT(0, (int)self->queue);
	ASSERT_LT(0, (int)self->graph);
}

FIXTURE_TEARDOWN(wait)
{
	raw_ring_unmap(&self->ring);
	close(self->fd);
}

static __u64 submitted(int fd, __u32 queue)
{
	struct ib_collq_queue_info info = {};

	return raw_describe(fd, queue, &info, sizeof(info)) ? ~0ULL : info.submitted;
}

/* Any number of times, by whoever wants to know. */
TEST_F(wait, result_of_success)
{
	struct ib_collq_queue_wait wait;
	__u64 sequence;
	int i;

	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph, 0, 0, &sequence));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, raw_wait(self->fd, self->queue, sequence, 1, &wait));
		EXPECT_EQ(0, wait.status);
		EXPECT_EQ(IB_COLLQ_NO_TASK, wait.task);
		EXPECT_EQ(IB_COLLQ_NO_OBJECT, wait.endpoint);
		EXPECT_EQ(0, wait.label);
	}
	/* The ring has it too. */
	EXPECT_EQ(1, raw_ring_unread(&self->ring));
}

TEST_F(wait, result_of_failure)
{
	struct ib_collq_queue_wait wait;
	__u64 sequence;

	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph, 0, 1, &sequence));
	ASSERT_EQ(0, raw_wait(self->fd, self->queue, sequence, raw_in_ms(RAW_PATIENCE_MS),
			      &wait));
	EXPECT_EQ(-ETIMEDOUT, wait.status);
	EXPECT_EQ(0, wait.task);
	EXPECT_EQ(LABEL, wait.label);
	EXPECT_EQ(IB_COLLQ_NO_OBJECT, wait.endpoint);
}

/* The waiting ends, the graph goes on. */
TEST_F(wait, deadline)
{
	struct ib_collq_queue_wait wait;
	__u64 sequence, deadline;
	int status;

	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph, 0, 0, &sequence));
	deadline = raw_in_ms(20);
	EXPECT_EQ(-ETIME, raw_wait(self->fd, self->queue, sequence, deadline, &wait));
	EXPECT_LE(deadline, raw_now());
	EXPECT_EQ(-ETIME, raw_wait(self->fd, self->queue, sequence, 1, &wait));
	EXPECT_TRUE(raw_queue_in_state(self->fd, self->queue, IB_COLLQ_QUEUE_WAITING));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	ASSERT_EQ(0, raw_result(self->fd, self->queue, sequence, &status));
	EXPECT_EQ(0, status);
}

/* In a time namespace that is behind: its last moment is one that doesn't come. */
static int wait_far_ahead(void)
{
	struct ib_collq_task task;
	struct ib_collq_queue_wait wait;
	struct raw_side a, b;
	__u64 sequence;
	int graph;

	if (raw_pair_open(&a, &b))
		return 10;
	task = raw_wait_for(a.counter, 1);
	graph = raw_graph_create(a.fd, &task, 1);
	if (raw_submit(a.fd, a.queue, graph, 0, INT64_MAX, &sequence))
		return 11;
	if (raw_wait(a.fd, a.queue, sequence, raw_in_ms(20), &wait) != -ETIME)
		return 12;
	if (raw_submit(b.fd, b.queue, b.graph, 0, UINT64_MAX, NULL))
		return 13;
	return raw_wait(a.fd, a.queue, sequence, UINT64_MAX, &wait) || wait.status ? 14 : 0;
}

static int live_behind(void)
{
	FILE *offsets;
	pid_t pid;

	if (unshare(CLONE_NEWTIME))
		return 20;
	offsets = fopen("/proc/self/timens_offsets", "w");
	if (!offsets || fprintf(offsets, "monotonic -3 0\n") < 0 || fclose(offsets))
		return 21;
	pid = fork();
	if (!pid)
		_exit(wait_far_ahead());
	return raw_exit_status(pid);
}

TEST(deadline_far_ahead)
{
	pid_t pid;

	if (geteuid())
		SKIP(return, "takes root");
	pid = fork();
	if (!pid)
		_exit(live_behind());
	EXPECT_EQ(0, raw_exit_status(pid));
}

TEST_F(wait, no_such_submission)
{
	struct ib_collq_queue_wait wait;
	__u64 sequence;

	EXPECT_EQ(-EINVAL, raw_wait(self->fd, self->queue, 0, 1, &wait));
	EXPECT_EQ(-EINVAL, raw_wait(self->fd, self->queue, 1, 1, &wait));
	ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph, 0, 0, &sequence));
	EXPECT_EQ(-ETIME, raw_wait(self->fd, self->queue, sequence, 1, &wait));
	EXPECT_EQ(-EINVAL, raw_wait(self->fd, self->queue, sequence + 1, 1, &wait));
	EXPECT_EQ(-EINVAL, raw_wait(self->fd, self->queue, ~0ULL, 1, &wait));
	EXPECT_EQ(-ENOENT, raw_wait(self->fd, self->ring.id, sequence, 1, &wait));
	EXPECT_EQ(-ENOENT, raw_wait(self->fd, 9999, sequence, 1, &wait));
}

/* As many results are kept as the queue is deep. */
TEST_F(wait, forgotten)
{
	struct ib_collq_queue_wait wait;
	struct ib_collq_completion completion;
	__u64 i;

	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 100));
	for (i = 1; i <= 50; i++) {
		ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph, 0, 0, NULL));
		ASSERT_TRUE(raw_ring_take(&self->ring, &completion));
		EXPECT_EQ(0, raw_wait(self->fd, self->queue, i, 1, &wait));
		if (i <= DEPTH)
			continue;
		EXPECT_EQ(0, raw_wait(self->fd, self->queue, i - DEPTH + 1, 1, &wait));
		EXPECT_EQ(-ESTALE, raw_wait(self->fd, self->queue, i - DEPTH, 1, &wait));
		EXPECT_EQ(-ESTALE, raw_wait(self->fd, self->queue, 1, 1, &wait));
	}
}

TEST_F(wait, for_queue_or_ring)
{
	struct ib_collq_queue_wait wait = { .size = sizeof(wait), .deadline = 1 };

	EXPECT_EQ(-EINVAL, raw_ioctl(self->fd, IB_COLLQ_QUEUE_WAIT, &wait));
	wait.ring = self->ring.id;
	EXPECT_EQ(-ETIME, raw_ioctl(self->fd, IB_COLLQ_QUEUE_WAIT, &wait));
	wait.sequence = 1;
	EXPECT_EQ(-EINVAL, raw_ioctl(self->fd, IB_COLLQ_QUEUE_WAIT, &wait));
	wait.queue = self->queue;
	EXPECT_EQ(-EINVAL, raw_ioctl(self->fd, IB_COLLQ_QUEUE_WAIT, &wait));
	wait.sequence = 0;
	wait.ring = self->queue;
	wait.queue = 0;
	EXPECT_EQ(-ENOENT, raw_ioctl(self->fd, IB_COLLQ_QUEUE_WAIT, &wait));
}

static struct ib_collq_queue_submit_wait run_of(__u32 queue, __u32 graph)
{
	return (struct ib_collq_queue_submit_wait) {
		.size = sizeof(struct ib_collq_queue_submit_wait),
		.queue = queue,
		.graph = graph,
		.user_data = 5,
	};
}

TEST_F(wait, submit_wait)
{
	struct ib_collq_queue_submit_wait run = run_of(self->queue, self->graph);
	struct ib_collq_completion completion;

	run.status = 99;
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	ASSERT_EQ(0, raw_ioctl(self->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run));
	EXPECT_EQ(1, run.sequence);
	EXPECT_EQ(0, run.status);
	EXPECT_EQ(IB_COLLQ_NO_TASK, run.task);
	ASSERT_TRUE(raw_ring_take(&self->ring, &completion));
	EXPECT_EQ(5, completion.user_data);

	run = run_of(self->queue, self->graph);
	run.deadline = 1;
	ASSERT_EQ(0, raw_ioctl(self->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run));
	EXPECT_EQ(2, run.sequence);
	EXPECT_EQ(-ETIMEDOUT, run.status);
	EXPECT_EQ(0, run.task);
	EXPECT_EQ(LABEL, run.label);

	run = run_of(self->queue, self->graph);
	EXPECT_EQ(-ETIMEDOUT, raw_ioctl(self->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run));
	EXPECT_EQ(0, run.sequence);
}

TEST_F(wait, submit_wait_is_checked)
{
	struct ib_collq_queue_submit_wait run = run_of(self->ring.id, self->graph);

	EXPECT_EQ(-ENOENT, raw_ioctl(self->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run));
	run = run_of(self->queue, self->counter);
	EXPECT_EQ(-ENOENT, raw_ioctl(self->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run));
	run = run_of(self->queue, self->graph);
	run.nr_bindings = 1;
	run.binding_size = sizeof(struct ib_collq_buffer_bind);
	run.bindings = (unsigned long)&run;
	EXPECT_EQ(-EINVAL, raw_ioctl(self->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run));
	EXPECT_EQ(0, run.sequence);
	EXPECT_EQ(0, submitted(self->fd, self->queue));
}

/* With a sequence number it only waits, however often. */
TEST_F(wait, submit_wait_again)
{
	struct ib_collq_queue_submit_wait run = run_of(self->queue, self->graph);
	int i;

	for (i = 0; i < 3; i++) {
		run.wait_deadline = raw_in_ms(5);
		EXPECT_EQ(-ETIME, raw_ioctl(self->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run));
		EXPECT_EQ(1, run.sequence);
	}
	EXPECT_EQ(1, submitted(self->fd, self->queue));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	EXPECT_EQ(0, raw_ioctl(self->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run));
	EXPECT_EQ(0, run.status);
	EXPECT_EQ(1, submitted(self->fd, self->queue));

	run.sequence = 2;
	EXPECT_EQ(-EINVAL, raw_ioctl(self->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run));
}

/* A thread that sleeps in submit-and-wait. */
struct sleeper {
	pthread_t thread;
	int fd;
	struct ib_collq_queue_submit_wait run;
	pid_t tid;
	int done;
	int ret;
};

static int signals;

static void count_signal(int signal)
{
	(void)signal;
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELEASE);
}

static void *sleeper_run(void *data)
{
	struct sleeper *sleeper = data;

	__atomic_store_n(&sleeper->tid, gettid(), __ATOMIC_RELEASE);
	sleeper->ret = raw_ioctl(sleeper->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &sleeper->run);
	__atomic_store_n(&sleeper->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static bool sleeper_start_with(struct sleeper *sleeper, int fd, __u32 queue, __u32 graph,
			       __u32 flags)
{
	*sleeper = (struct sleeper) { .fd = fd, .run = run_of(queue, graph) };
	sleeper->run.flags = flags;
	if (pthread_create(&sleeper->thread, NULL, sleeper_run, sleeper))
		return false;
	return RAW_EVENTUALLY(__atomic_load_n(&sleeper->tid, __ATOMIC_ACQUIRE) &&
			      submitted(fd, queue) && raw_asleep(sleeper->tid));
}

static bool sleeper_start(struct sleeper *sleeper, int fd, __u32 queue, __u32 graph)
{
	return sleeper_start_with(sleeper, fd, queue, graph, 0);
}

static bool quiet_sleeper_start(struct sleeper *sleeper, int fd, __u32 queue, __u32 graph)
{
	return sleeper_start_with(sleeper, fd, queue, graph, IB_COLLQ_SUBMIT_WAIT_QUIET);
}

/* Sends it a signal; returns when that was handled and it sleeps or has ended. */
static bool sleeper_interrupt(struct sleeper *sleeper, int flags)
{
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = flags };
	int before = __atomic_load_n(&signals, __ATOMIC_ACQUIRE);

	sigaction(SIGUSR1, &action, NULL);
	pthread_kill(sleeper->thread, SIGUSR1);
	/* Nothing is delivered to a thread that has come to its end meanwhile. */
	return RAW_EVENTUALLY(__atomic_load_n(&sleeper->done, __ATOMIC_ACQUIRE) ||
			      (__atomic_load_n(&signals, __ATOMIC_ACQUIRE) > before &&
			       raw_asleep(sleeper->tid)));
}

TEST_F(wait, signal_interrupts)
{
	struct ib_collq_queue_submit_wait run;
	struct sleeper sleeper;

	ASSERT_TRUE(sleeper_start(&sleeper, self->fd, self->queue, self->graph));
	ASSERT_TRUE(sleeper_interrupt(&sleeper, 0));
	pthread_join(sleeper.thread, NULL);
	EXPECT_EQ(-EINTR, sleeper.ret);
	/* Enough to go on with. */
	EXPECT_EQ(1, sleeper.run.sequence);
	run = sleeper.run;
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 2));
	EXPECT_EQ(0, raw_ioctl(self->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run));
	EXPECT_EQ(0, run.status);
	EXPECT_EQ(1, submitted(self->fd, self->queue));
}

/* A success that the call tells isn't in the ring; all that it doesn't tell is. */
TEST_F(wait, quiet_success)
{
	struct ib_collq_queue_submit_wait run = run_of(self->queue, self->graph);
	struct ib_collq_completion completion;
	struct sleeper sleeper;
	__u32 i;

	/* Done at once, more often than the ring has entries. */
	for (i = 0; i < 2 * RING_ENTRIES; i++) {
		run = run_of(self->queue, self->graph);
		run.flags = IB_COLLQ_SUBMIT_WAIT_QUIET;
		ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
		ASSERT_EQ(0, raw_ioctl(self->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run));
		ASSERT_EQ(0, run.status);
		ASSERT_EQ(i + 1, run.sequence);
		ASSERT_EQ(IB_COLLQ_SUBMIT_WAIT_QUIET, run.flags);
	}
	/* Done while it sleeps. */
	ASSERT_TRUE(quiet_sleeper_start(&sleeper, self->fd, self->queue, self->graph));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	pthread_join(sleeper.thread, NULL);
	EXPECT_EQ(0, sleeper.ret);
	EXPECT_EQ(0, sleeper.run.status);
	EXPECT_EQ(IB_COLLQ_SUBMIT_WAIT_QUIET, sleeper.run.flags);
	EXPECT_FALSE(raw_ring_take(&self->ring, &completion));
}

TEST_F(wait, quiet_failure)
{
	struct ib_collq_queue_submit_wait run = run_of(self->queue, self->graph);
	struct ib_collq_completion completion;

	run.flags = IB_COLLQ_SUBMIT_WAIT_QUIET;
	run.deadline = raw_in_ms(5);
	ASSERT_EQ(0, raw_ioctl(self->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run));
	EXPECT_EQ(-ETIMEDOUT, run.status);
	ASSERT_TRUE(raw_ring_take(&self->ring, &completion));
	EXPECT_EQ(5, completion.user_data);
	EXPECT_EQ(-ETIMEDOUT, completion.status);
}

TEST_F(wait, quiet_no_longer_after_the_deadline)
{
	struct ib_collq_queue_submit_wait run = run_of(self->queue, self->graph);
	struct ib_collq_completion completion;

	run.flags = IB_COLLQ_SUBMIT_WAIT_QUIET;
	run.wait_deadline = raw_in_ms(5);
	EXPECT_EQ(-ETIME, raw_ioctl(self->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run));
	EXPECT_EQ(0, run.flags);
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	EXPECT_TRUE(RAW_EVENTUALLY(raw_ring_take(&self->ring, &completion)));
	EXPECT_EQ(0, raw_ioctl(self->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run));
	EXPECT_EQ(1, run.sequence);
	EXPECT_EQ(0, run.flags);
}

TEST_F(wait, quiet_no_longer_after_a_signal)
{
	struct ib_collq_completion completion;
	struct sleeper sleeper;

	ASSERT_TRUE(quiet_sleeper_start(&sleeper, self->fd, self->queue, self->graph));
	ASSERT_TRUE(sleeper_interrupt(&sleeper, SA_RESTART));
	ASSERT_TRUE(sleeper_interrupt(&sleeper, SA_RESTART));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	pthread_join(sleeper.thread, NULL);
	EXPECT_EQ(0, sleeper.ret);
	EXPECT_EQ(0, sleeper.run.status);
	EXPECT_EQ(0, sleeper.run.flags);
	EXPECT_TRUE(raw_ring_take(&self->ring, &completion));
}

/* Whoever else waits for it is told as well. */
TEST_F(wait, quiet_for_one_of_two)
{
	struct ib_collq_queue_submit_wait also = run_of(self->queue, self->graph);
	struct sleeper sleeper, other = { .fd = self->fd, .run = also };

	ASSERT_TRUE(quiet_sleeper_start(&sleeper, self->fd, self->queue, self->graph));
	other.run.sequence = 1;
	ASSERT_EQ(0, pthread_create(&other.thread, NULL, sleeper_run, &other));
	ASSERT_TRUE(RAW_EVENTUALLY(__atomic_load_n(&other.tid, __ATOMIC_ACQUIRE) &&
				   raw_asleep(other.tid)));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	pthread_join(other.thread, NULL);
	pthread_join(sleeper.thread, NULL);
	EXPECT_EQ(0, sleeper.ret);
	EXPECT_EQ(0, other.ret);
	EXPECT_EQ(0, other.run.status);
}

/* The queue forgets the result before the sleeper runs: it was told all the same. */
TEST_F(wait, quiet_and_overtaken)
{
	const int policy = SCHED_IDLE;
	struct sched_param param = { 0 };
	struct sleeper sleeper;
	cpu_set_t one;
	int i;

	/* The sleeper doesn't get to run before this thread sleeps. */
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	ASSERT_TRUE(quiet_sleeper_start(&sleeper, self->fd, self->queue, self->graph));
	ASSERT_EQ(0, sched_setscheduler(sleeper.tid, policy, &param));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 2 * DEPTH + 1));
	for (i = 0; i < 2 * DEPTH; i++)
		ASSERT_EQ(0, raw_submit(self->fd, self->queue, self->graph, 0, 0, NULL));
	pthread_join(sleeper.thread, NULL);
	EXPECT_EQ(0, sleeper.ret);
	EXPECT_EQ(0, sleeper.run.status);
	EXPECT_EQ(IB_COLLQ_SUBMIT_WAIT_QUIET, sleeper.run.flags);
}

/* Each of several on one queue is woken by the end of its own. */
TEST_F(wait, sleepers_on_one_queue)
{
	struct sleeper sleepers[DEPTH];
	int i;

	for (i = 0; i < DEPTH; i++) {
		ASSERT_TRUE(quiet_sleeper_start(&sleepers[i], self->fd, self->queue, self->graph));
		ASSERT_TRUE(RAW_EVENTUALLY(submitted(self->fd, self->queue) == (__u64)i + 1));
	}
	for (i = 0; i < DEPTH; i++) {
		ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
		pthread_join(sleepers[i].thread, NULL);
		EXPECT_EQ(0, sleepers[i].ret);
		EXPECT_EQ(i + 1, (int)sleepers[i].run.sequence);
	}
}

/* So is it if the queue goes away under all of them, or they are killed. */
TEST_F(wait, sleepers_on_a_queue_that_is_destroyed)
{
	struct sleeper sleepers[DEPTH];
	int i;

	for (i = 0; i < DEPTH; i++)
		ASSERT_TRUE(quiet_sleeper_start(&sleepers[i], self->fd, self->queue, self->graph));
	ASSERT_EQ(0, raw_destroy(self->fd, self->queue));
	for (i = 0; i < DEPTH; i++) {
		pthread_join(sleepers[i].thread, NULL);
		EXPECT_EQ(0, sleepers[i].ret);
		EXPECT_EQ(-ECANCELED, sleepers[i].run.status);
	}
}

TEST_F(wait, signal_restarts)
{
	struct ib_collq_counter_read read;
	struct sleeper sleeper;
	int i;

	ASSERT_TRUE(sleeper_start(&sleeper, self->fd, self->queue, self->graph));
	for (i = 0; i < 5; i++)
		ASSERT_TRUE(sleeper_interrupt(&sleeper, SA_RESTART));
	EXPECT_EQ(0, __atomic_load_n(&sleeper.done, __ATOMIC_ACQUIRE));
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 7));
	pthread_join(sleeper.thread, NULL);
	EXPECT_EQ(0, sleeper.ret);
	EXPECT_EQ(1, sleeper.run.sequence);
	EXPECT_EQ(0, sleeper.run.status);
	EXPECT_EQ(1, submitted(self->fd, self->queue));
	ASSERT_EQ(0, raw_counter_read(self->fd, self->counter, &read));
	EXPECT_EQ(1, read.consumed);
}

/* A wait that was restarted keeps its deadline. */
TEST_F(wait, signal_restarts_until_the_deadline)
{
	struct sleeper sleeper = { .fd = self->fd, .run = run_of(self->queue, self->graph) };
	__u64 deadline = raw_in_ms(300);

	sleeper.run.wait_deadline = deadline;
	ASSERT_EQ(0, pthread_create(&sleeper.thread, NULL, sleeper_run, &sleeper));
	ASSERT_TRUE(RAW_EVENTUALLY(submitted(self->fd, self->queue) == 1));
	while (!__atomic_load_n(&sleeper.done, __ATOMIC_ACQUIRE))
		ASSERT_TRUE(sleeper_interrupt(&sleeper, SA_RESTART));
	pthread_join(sleeper.thread, NULL);
	EXPECT_EQ(-ETIME, sleeper.ret);
	EXPECT_LE(deadline, raw_now());
	EXPECT_EQ(1, submitted(self->fd, self->queue));
}

/* Whoever sleeps is told that the queue goes. */
TEST_F(wait, queue_is_destroyed)
{
	struct sleeper sleeper;

	ASSERT_TRUE(sleeper_start(&sleeper, self->fd, self->queue, self->graph));
	ASSERT_EQ(0, raw_destroy(self->fd, self->queue));
	pthread_join(sleeper.thread, NULL);
	EXPECT_EQ(-ECANCELED, sleeper.ret ? sleeper.ret : sleeper.run.status);
}

TEST_F(wait, several_sleepers)
{
	struct sleeper sleepers[4];
	int i;

	ASSERT_TRUE(sleeper_start(&sleepers[0], self->fd, self->queue, self->graph));
	for (i = 1; i < 4; i++) {
		sleepers[i] = (struct sleeper) {
			.fd = self->fd,
			.run = run_of(self->queue, self->graph),
		};
		sleepers[i].run.sequence = 1;
		ASSERT_EQ(0, pthread_create(&sleepers[i].thread, NULL, sleeper_run, &sleepers[i]));
		ASSERT_TRUE(RAW_EVENTUALLY(__atomic_load_n(&sleepers[i].tid, __ATOMIC_ACQUIRE) &&
					   raw_asleep(sleepers[i].tid)));
	}
	ASSERT_EQ(0, raw_counter_raise(self->fd, self->counter, 1));
	for (i = 0; i < 4; i++) {
		pthread_join(sleepers[i].thread, NULL);
		EXPECT_EQ(0, sleepers[i].ret);
		EXPECT_EQ(0, sleepers[i].run.status);
	}
}

/* Barriers under a hail of signals: each side submits and sends just once. */
FIXTURE(hail) {
	struct raw_side a;
	struct raw_side b;
};

FIXTURE_VARIANT(hail) {
	int flags;
};

FIXTURE_VARIANT_ADD(hail, interrupts) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(hail, restarts) {
	.flags = SA_RESTART,
};

FIXTURE_SETUP(hail)
{
	ASSERT_EQ(0, raw_pair_open(&self->a, &self->b));
}

FIXTURE_TEARDOWN(hail)
{
	raw_pair_close(&self->a, &self->b);
}

#define BARRIERS	500

/* The calls that were interrupted, or -errno. */
static int pass_barriers(struct raw_side *side)
{
	struct ib_collq_completion completion;
	struct ib_collq_queue_submit_wait run;
	int i, ret, interrupted = 0;

	for (i = 0; i < BARRIERS; i++) {
		run = run_of(side->queue, side->graph);
		run.wait_deadline = raw_in_ms(RAW_PATIENCE_MS);
		while ((ret = raw_ioctl(side->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &run)) == -EINTR)
			interrupted++;
		if (ret || run.status)
			return ret ? ret : run.status;
		if (!raw_ring_take(&side->ring, &completion))
			return -ENODATA;
	}
	return interrupted;
}

static void *other_side(void *data)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	return (void *)(long)pass_barriers(data);
}

TEST_F_TIMEOUT(hail, barriers, 120)
{
	struct ib_collq_endpoint_info a, b;
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = variant->flags };
	struct itimerval often = { .it_interval.tv_usec = 1100, .it_value.tv_usec = 1100 };
	struct itimerval never = {};
	pthread_t thread;
	void *result;
	int ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, other_side, &self->b));
	sigaction(SIGALRM, &action, NULL);
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	ret = pass_barriers(&self->a);
	setitimer(ITIMER_REAL, &never, NULL);
	pthread_join(thread, &result);

	EXPECT_LE(0, ret);
	EXPECT_EQ(0, (long)result);
	if (variant->flags & SA_RESTART)
		EXPECT_EQ(0, ret);
	EXPECT_LT(0, __atomic_load_n(&signals, __ATOMIC_ACQUIRE));
	EXPECT_EQ(BARRIERS, submitted(self->a.fd, self->a.queue));
	a = raw_endpoint_info(self->a.fd, self->a.endpoint);
	b = raw_endpoint_info(self->b.fd, self->b.endpoint);
	EXPECT_EQ(BARRIERS, a.sends + a.local_sends);
	EXPECT_EQ(BARRIERS, b.messages + b.local_messages);
}

TEST_HARNESS_MAIN
