/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The memory that the parent and the ranks of one row share.
 *
 * It is mapped before the ranks are forked and is all that they have in common
 * besides the device. Everything in it has one writer: a rank writes its own
 * struct rank_state, its own latencies and its own allgather blocks; the parent
 * writes the gate and the two flags. That makes it free of locks, so that a
 * rank which dies at any point leaves nothing held.
 *
 * With several hosts each has such memory, for all ranks, and what the ranks of
 * other hosts write is written there by the parent: see bridge.h.
 *
 * A row goes through phases. A rank announces the phase that it has reached;
 * at some of them it stays, asleep, until the parent opens the gate for it.
 */
#ifndef CREW_SHARED_H
#define CREW_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_RANKS		1024
#define NR_COMMS		2
#define NR_TALLIES	7
#define CACHE_LINE		128

/* What a rank has reached, in this order; it stays at those marked "gate" */
enum phase {
	PHASE_STARTED,
	PHASE_CONNECTED,	/* gate: the parent reads the device's counters */
	PHASE_VERIFIED,		/* gate: the last row's witness has faded */
	PHASE_TIMED,		/* gate: the same, and the witness takes its post */
	PHASE_ARMED,		/* spins until go: the witness is switched on */
	PHASE_COUNTED,		/* spins until stop: the witness is switched off */
	PHASE_FINISHED,		/* gate: the counters again, before anything is freed */
};

/* A process left a barrier that another one had not entered */
struct violation {
	uint32_t comm;
	uint32_t missing;
	uint64_t barrier;
};

/*
 * Of one rank, written by it. @entered are the stamps: the number of the last
 * barrier that it has entered, for each communicator. @steps counts barriers of
 * all phases; if nobody's grows for long, somebody is stuck. What stands from
 * @steps on goes to other hosts as it is. @tally is for the tool's own use.
 */
struct rank_state {
	_Alignas(CACHE_LINE) _Atomic uint64_t entered[NR_COMMS];
	_Alignas(CACHE_LINE) _Atomic uint64_t steps;
	_Atomic uint32_t phase;
	_Atomic uint64_t violations;
	struct violation first;
	int error;
	bool open_failed;
	uint64_t tally[NR_TALLIES];
	char message[160];
	char device[64];
	char front_end[8];	/* that it has come to use */
	uint32_t port;
};

/* Allgather blocks of one communicator, two generations of them: see oob.c */
#define NR_GENERATIONS		2

struct oob_rank {
	_Alignas(CACHE_LINE) _Atomic uint64_t published;
	uint32_t bytes[NR_GENERATIONS];
};

/* The stamps of a rank that all hosts have: futexes, written by the bridge */
struct confirmed {
	_Alignas(CACHE_LINE) _Atomic uint32_t entered[NR_COMMS];
};

#define NO_RANK			UINT32_MAX

/*
 * @gate: phases that all ranks may leave behind; a futex
 * @go, @stop: the edges of the counted phase; spun on
 * @first_failed: the rank whose error came first, or NO_RANK
 * @bell: an eventfd that wakes the bridge to other hosts; -1 if there are none
 */
struct shared {
	_Atomic uint32_t gate;
	_Atomic uint32_t go;
	_Atomic uint32_t stop;
	_Atomic uint32_t first_failed;
	int bell;
	uint32_t nr_ranks;
	uint64_t iterations;
	struct rank_state rank[MAX_RANKS];
	struct confirmed confirmed[MAX_RANKS];
	struct oob_rank oob[NR_COMMS][MAX_RANKS];
	uint64_t *latency_ns;
	unsigned char *blocks;
	size_t mapped;
};

/* Longest contribution of one rank to an allgather */
#define MAX_BLOCK		(256U << 10)

/* New and unmapped at the end of the row; NULL with errno set. */
struct shared *shared_map(uint32_t nr_ranks, uint64_t iterations);
void shared_unmap(struct shared *shared);

uint64_t *shared_latencies(const struct shared *shared, uint32_t rank);
unsigned char *shared_block(const struct shared *shared, uint32_t comm, uint64_t round,
			    uint32_t rank);

/* A rank has written something that other hosts should have. */
void bell_ring(struct shared *shared);

/* A rank stays until all hosts have its stamp; and the bridge says so. */
void stamp_await(struct shared *shared, uint32_t rank, uint32_t comm, uint64_t entered);
void stamp_confirm(struct shared *shared, uint32_t rank, uint32_t comm, uint64_t entered);

/* A rank announces a phase; and announces it and stays there. */
void phase_announce(struct shared *shared, struct rank_state *state, enum phase phase);
void gate_pass(struct shared *shared, struct rank_state *state, enum phase phase);

/* The parent lets all ranks go on from a gate. */
void gate_open(struct shared *shared, enum phase phase);

/* Neither makes a system call: for where those are counted. */
void flag_await(_Atomic uint32_t *flag);
void flag_raise(_Atomic uint32_t *flag);

#endif
