// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The measured phases: barriers one after the other, without delays.
 *
 * They are two, since a witness of system calls is not free: it makes every
 * system call and every switch between processes slower, by 8 % of a barrier
 * where ranks share a processor. So barriers are timed first, unwitnessed, and
 * then some more are counted.
 */
#include <string.h>
#include <time.h>

#include "rank.h"
#include "sends.h"

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

static void pass(struct rank *rank)
{
	int rc = collq_start_wait(rank->barriers[0], 0);

	if (rc)
		rank_fail_barrier(rank, 0, rc);
	rank_count_step(rank);
}

/*
 * The memory is touched before, so that no page fault gets in between; and one
 * barrier that isn't timed lines up the ranks. A barrier ends when the next one
 * starts, so that the clock is read but once.
 */
void time_barriers(struct rank *rank)
{
	uint64_t *latency_ns = shared_latencies(rank->shared, rank->rank);
	uint64_t nr = rank->options->iterations, i, last, now;

	memset(latency_ns, 0xff, nr * sizeof(*latency_ns));
	pass(rank);
	last = now_ns();
	for (i = 0; i < nr; i++) {
		pass(rank);
		now = now_ns();
		latency_ns[i] = now - last;
		last = now;
	}
}

/*
 * Between go and stop, both raised by the parent, a rank does nothing but pass
 * barriers: all system calls in between are theirs. Nobody else can tell how many
 * messages don't reach the device.
 */
void count_barriers(struct rank *rank)
{
	uint64_t nr = counted_barriers(rank->options), i;
	struct sends before, after;

	count_sends(rank->context, &before);
	phase_announce(rank->shared, rank->state, PHASE_ARMED);
	flag_await(&rank->shared->go);
	for (i = 0; i < nr; i++)
		pass(rank);
	phase_announce(rank->shared, rank->state, PHASE_COUNTED);
	flag_await(&rank->shared->stop);
	count_sends(rank->context, &after);
	rank->state->tally[TALLY_LOCAL] = after.local - before.local;
}
