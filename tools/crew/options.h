/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the command lines ask for: all that any of the tools and their ranks go by.
 */
#ifndef CREW_OPTIONS_H
#define CREW_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "shared.h"

#define MAX_ROWS_RANKS		64
#define MAX_ROWS_ALGORITHMS	16
#define MAX_HOSTS		64

struct options {
	uint32_t ranks[MAX_ROWS_RANKS];
	unsigned int nr_ranks;
	uint32_t algorithms[MAX_ROWS_ALGORITHMS];	/* COLLQ_BARRIER_* */
	unsigned int nr_algorithms;
	uint64_t iterations;
	uint32_t radix;			/* 0: as the library likes */
	const char *device;		/* NULL: as the library likes */
	uint32_t front_end;		/* FRONT_END_* */
	uint32_t communicators;
	uint32_t spoilt;		/* whose graph is, to test the checker; or NO_RANK */
	uint64_t bytes;			/* of an all-to-all: a block, and COLLQ_PACKING_* */
	uint32_t packing;
	uint32_t timeout;		/* seconds */
	uint32_t seed;
	const char *hosts[MAX_HOSTS];
	uint32_t nr_hosts;		/* 0: --hosts wasn't given */
	uint32_t own_host;		/* which of these this one is, or NO_HOST */
	bool json;
	bool demo;
	bool leave;
};

#endif
