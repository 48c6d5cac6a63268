// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The verified phases: is it a barrier?
 *
 * A barrier promises one thing: nobody leaves it before all have entered it.
 * Each rank stamps the number of a barrier right before it starts it. Whoever
 * has left barrier k looks at the stamps of all: one that is below k is of a
 * rank that has not entered k, hence a violation. Stamps only grow, so that a
 * rank which is already in k + 1 does no harm, and the stamp is in memory
 * before the system call that could let others go on. The check thus finds no
 * violation where there is none.
 *
 * With several hosts, each has stamps of all ranks in its own memory, and it is
 * in all of these that a stamp must be before the barrier is started: or a
 * message of the barrier could be ahead of it, and a violation be seen that was
 * none. So who has stamped waits until all hosts have confirmed that they have
 * it, and only then starts the barrier. That can hide nothing: a barrier that is
 * left before a rank has entered it is left before that rank has even stamped.
 * Without other hosts there is nothing to wait for.
 *
 * Random delays make ranks come in any order, and late: without them, all enter
 * at about the same time and a broken barrier would look sound.
 */
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "rank.h"

#define MIN_MAX_DELAY_NS	400000
#define MAX_MAX_DELAY_NS	40000000
#define NS_PER_S		UINT64_C(1000000000)

/* Half of the time none at all, else up to 0.4 ms or more, asleep. */
static void random_delay(struct rank *rank)
{
	uint64_t max = rank->max_delay_ns ? rank->max_delay_ns : MIN_MAX_DELAY_NS;
	struct timespec delay = { .tv_nsec = nrand48(rank->random) % max };

	if (nrand48(rank->random) & (1 << 20))
		nanosleep(&delay, NULL);
}

/* To be confirmed takes a while, in which the late catch up: so be later than that. */
static void confirm(struct rank *rank, uint32_t comm, uint64_t entered)
{
	struct timespec from, to;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &from);
	bell_ring(rank->shared);
	stamp_await(rank->shared, rank->rank, comm, entered);
	clock_gettime(CLOCK_MONOTONIC, &to);
	ns = 4 * ((to.tv_sec - from.tv_sec) * NS_PER_S + to.tv_nsec - from.tv_nsec);
	rank->max_delay_ns = ns < MIN_MAX_DELAY_NS ? MIN_MAX_DELAY_NS :
			     ns > MAX_MAX_DELAY_NS ? MAX_MAX_DELAY_NS : ns;
}

static void enter(struct rank *rank, uint32_t comm)
{
	_Atomic uint64_t *stamp = &rank->state->entered[comm];
	uint64_t entered = atomic_load_explicit(stamp, memory_order_relaxed) + 1;

	atomic_store(stamp, entered);
	if (rank->shared->bell >= 0)
		confirm(rank, comm, entered);
}

static void note_violation(struct rank *rank, uint32_t comm, uint32_t missing)
{
	struct rank_state *state = rank->state;

	if (!state->violations)
		state->first = (struct violation) {
			.comm = comm,
			.missing = missing,
			.barrier = state->entered[comm],
		};
	state->violations++;
}

/* One violation at most: this rank should not have left yet. */
static void check_left(struct rank *rank, uint32_t comm)
{
	uint64_t barrier = rank->state->entered[comm];
	uint32_t other;

	for (other = 0; other < rank->nr; other++) {
		if (atomic_load(&rank->shared->rank[other].entered[comm]) < barrier) {
			note_violation(rank, comm, other);
			return;
		}
	}
}

/* Each barrier is one call of the library, and one system call. */
void verify_single(struct rank *rank)
{
	uint64_t i;
	int rc;

	for (i = 0; i < rank->options->iterations; i++) {
		random_delay(rank);
		enter(rank, 0);
		rc = collq_start_wait(rank->barriers[0], 0);
		if (rc)
			rank_fail_barrier(rank, 0, rc);
		check_left(rank, 0);
		rank_count_step(rank);
	}
}

/*
 * One barrier on each communicator in flight at once. Odd ranks start them in
 * the opposite order, which must not make anybody wait for another for ever;
 * and they end in any order.
 */
static void pass_both(struct rank *rank)
{
	uint32_t i, comm;
	int rc;

	for (i = 0; i < NR_COMMS; i++) {
		comm = rank->rank % 2 ? NR_COMMS - 1 - i : i;
		random_delay(rank);
		enter(rank, comm);
		rc = collq_start(rank->barriers[comm], 0);
		if (rc)
			rank_fail_barrier(rank, comm, rc);
	}
	for (i = 0; i < NR_COMMS; i++) {
		rc = collq_waitany(rank->barriers, NR_COMMS, &comm, 0);
		if (rc)
			rank_fail_barrier(rank, comm < NR_COMMS ? comm : 0, rc);
		check_left(rank, comm);
	}
}

void verify_both(struct rank *rank)
{
	uint64_t i;

	for (i = 0; i < rank->options->iterations; i++) {
		pass_both(rank);
		rank_count_step(rank);
	}
}
