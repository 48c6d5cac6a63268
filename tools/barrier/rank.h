/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A rank: the child process that passes the barriers.
 */
#ifndef BARRIER_RANK_H
#define BARRIER_RANK_H

#include <stdint.h>

#include <collq/collq.h>

#include "oob.h"
#include "options.h"
#include "shared.h"

/* What a rank's tally has: messages to local peers in the counted phase */
#define TALLY_LOCAL		0

struct rank {
	const struct options *options;
	struct shared *shared;
	struct rank_state *state;
	uint32_t rank;
	uint32_t nr;
	uint32_t algorithm;
	unsigned short random[3];	/* of nrand48() */
	uint64_t max_delay_ns;
	struct collq_context *context;
	struct oob oob[NR_COMMS];
	struct collq_comm *comms[NR_COMMS];
	struct collq_request *barriers[NR_COMMS];
};

/* Barriers that each rank passes in the counted phase */
uint64_t counted_barriers(const struct options *options);

/* Tells the parent why, and ends the process. */
_Noreturn __attribute__((format(printf, 3, 4)))
void rank_fail(struct rank *rank, int error, const char *format, ...);

/* The same for a barrier that failed, with what the library knows of it */
_Noreturn void rank_fail_barrier(struct rank *rank, uint32_t comm, int error);

void rank_count_step(struct rank *rank);

/* The phases, each in a file of its own */
void verify_single(struct rank *rank);
void verify_both(struct rank *rank);
void time_barriers(struct rank *rank);
void count_barriers(struct rank *rank);

#endif
