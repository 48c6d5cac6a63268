/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What keeps the memory of the ranks of several hosts in step.
 *
 * The tool and a worker on each other host both have struct shared, for all
 * ranks, and the ranks of their own host work on it as if there were no other.
 * The tool is in the middle: a worker tells it what its ranks have written, and
 * it tells the other workers, of its own ranks as well; gates and flags go from
 * it to them.
 *
 * A stamp (ENTERED) is acknowledged by every worker that is told of it, and then
 * confirmed to the host whose rank it is: see verify.c for why.
 */
#ifndef CREW_BRIDGE_H
#define CREW_BRIDGE_H

#include "link.h"
#include "options.h"
#include "shared.h"

enum record_type {
	/* Both ways */
	RECORD_ENTERED = 1,	/* rank, comm, value: the stamp */
	RECORD_BLOCK,		/* rank, comm, value: the round; the block */
	/* To a worker */
	RECORD_START,		/* struct start */
	RECORD_CONFIRMED,	/* rank, comm, value: all hosts have this stamp */
	RECORD_GATE,		/* value: the phase it's opened for */
	RECORD_GO,
	RECORD_STOP,
	RECORD_COUNT,		/* read the device's counters */
	/* From a worker */
	RECORD_ACK,		/* of an ENTERED: the same */
	RECORD_STATE,		/* rank; struct rank_state from @steps on */
	RECORD_LATENCIES,	/* rank, value: of which on; uint64_t[] */
	RECORD_COUNTERS,	/* struct counters */
	RECORD_ENDED,		/* rank, value: status of waitpid() */
	RECORD_ALIVE,		/* nothing new, but all is well */
};

/* A row, as a worker must know it; of the same size and version of the tool */
struct start {
	uint32_t size;
	char version[28];
	uint32_t ranks;
	uint32_t algorithm;
	uint32_t first;		/* of the worker's ranks */
	uint32_t nr;
	uint64_t iterations;
	uint32_t radix;
	uint32_t communicators;
	uint32_t spoilt;
	uint32_t seed;
	uint32_t leave;
	uint32_t packing;
	uint64_t bytes;
	uint32_t front_end;
	char device[64];	/* empty: as the library likes */
};

#define STATE_OFFSET		offsetof(struct rank_state, steps)
#define STATE_SIZE		(sizeof(struct rank_state) - STATE_OFFSET)

/* What other hosts have been told of a rank */
struct told {
	uint64_t entered[NR_COMMS];
	uint64_t published[NR_COMMS];
};

/* Makes the bell. */
int bridge_open(struct shared *shared);
void bridge_close(struct shared *shared);

/* Sleeps until the bell rings, something can be done for a link, or the time is over. */
void bridge_sleep(struct shared *shared, const struct link *links, uint32_t nr, int ms);

/* Puts the rank's stamps and blocks that are new to all links. */
void bridge_tell(struct shared *shared, uint32_t rank, struct told *told, struct link *links,
		 uint32_t nr);

/* Writes a stamp or a block of a rank elsewhere to memory; false if it's neither. */
bool bridge_take(struct shared *shared, const struct record *record, const void *data);

/* Puts it to all links but one, which may be NULL. */
void bridge_pass(struct link *links, uint32_t nr, const struct link *but,
		 const struct record *record, const void *data);

#endif
