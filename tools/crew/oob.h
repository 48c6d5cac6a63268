/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How the ranks of a communicator reach each other before they are connected.
 */
#ifndef CREW_OOB_H
#define CREW_OOB_H

#include <stdbool.h>
#include <stdint.h>

#include <collq/collq.h>

#include "shared.h"

/* One rank's end, of one communicator. The allgather that is under way: */
struct oob {
	struct shared *shared;
	uint32_t comm;
	uint32_t rank;
	uint64_t round;
	bool busy;
	void *recv;
	size_t bytes;
};

void oob_init(struct oob *oob, struct shared *shared, uint32_t comm, uint32_t rank,
	      struct collq_oob *callbacks);

#endif
