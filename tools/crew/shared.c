// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The memory that the parent and the ranks of one row share: its mapping, and
 * the gates and flags by which the parent leads the ranks through a row.
 *
 * A gate is a futex, so that waiting ranks leave the processors alone. A flag
 * is spun on: ranks spin only in the moments before and after the counted phase,
 * when a system call of ours would be counted as one of the barrier's.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared.h"

/*
 * Most of the room for allgather blocks is never touched, hence takes address
 * space only.
 */
struct shared *shared_map(uint32_t nr_ranks, uint64_t iterations)
{
	uint64_t blocks = (uint64_t)NR_COMMS * NR_GENERATIONS * nr_ranks * MAX_BLOCK;
	uint64_t mapped = sizeof(struct shared) + blocks;
	struct shared *shared;

	/* Of iterations there may be more than a 32-bit process has room for. */
	if (iterations > (SIZE_MAX - mapped) / nr_ranks / sizeof(uint64_t)) {
		errno = ENOMEM;
		return NULL;
	}
	mapped += nr_ranks * iterations * sizeof(uint64_t);
	shared = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (shared == MAP_FAILED)
		return NULL;
	shared->bell = -1;
	shared->nr_ranks = nr_ranks;
	shared->iterations = iterations;
	shared->first_failed = NO_RANK;
	shared->blocks = (unsigned char *)(shared + 1);
	shared->latency_ns = (uint64_t *)(shared->blocks + blocks);
	shared->mapped = mapped;
	return shared;
}

void shared_unmap(struct shared *shared)
{
	munmap(shared, shared->mapped);
}

uint64_t *shared_latencies(const struct shared *shared, uint32_t rank)
{
	return shared->latency_ns + rank * shared->iterations;
}

unsigned char *shared_block(const struct shared *shared, uint32_t comm, uint64_t round,
			    uint32_t rank)
{
	size_t generation = comm * NR_GENERATIONS + round % NR_GENERATIONS;

	return shared->blocks + (generation * shared->nr_ranks + rank) * MAX_BLOCK;
}

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
	/* Woken, interrupted or too late: callers look at the word again. */
	syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

void bell_ring(struct shared *shared)
{
	const uint64_t one = 1;

	/* Full, it has been rung already. */
	if (shared->bell >= 0 && write(shared->bell, &one, sizeof(one)) < 0)
		return;
}

/* There are never so many barriers that their number would not go into a futex. */
void stamp_await(struct shared *shared, uint32_t rank, uint32_t comm, uint64_t entered)
{
	_Atomic uint32_t *word = &shared->confirmed[rank].entered[comm];
	uint32_t confirmed;

	while ((confirmed = atomic_load_explicit(word, memory_order_acquire)) < entered)
		futex(word, FUTEX_WAIT, confirmed);
}

void stamp_confirm(struct shared *shared, uint32_t rank, uint32_t comm, uint64_t entered)
{
	_Atomic uint32_t *word = &shared->confirmed[rank].entered[comm];

	atomic_store_explicit(word, entered, memory_order_release);
	futex(word, FUTEX_WAKE, INT_MAX);
}

void phase_announce(struct shared *shared, struct rank_state *state, enum phase phase)
{
	atomic_store_explicit(&state->phase, phase, memory_order_release);
	bell_ring(shared);
}

/* The gate holds the number of phases that are behind it. */
void gate_pass(struct shared *shared, struct rank_state *state, enum phase phase)
{
	uint32_t open;

	phase_announce(shared, state, phase);
	while ((open = atomic_load_explicit(&shared->gate, memory_order_acquire)) <= phase)
		futex(&shared->gate, FUTEX_WAIT, open);
}

void gate_open(struct shared *shared, enum phase phase)
{
	atomic_store_explicit(&shared->gate, phase + 1, memory_order_release);
	futex(&shared->gate, FUTEX_WAKE, INT_MAX);
}

void flag_await(_Atomic uint32_t *flag)
{
	while (!atomic_load_explicit(flag, memory_order_acquire))
		;
}

void flag_raise(_Atomic uint32_t *flag)
{
	atomic_store_explicit(flag, 1, memory_order_release);
}
