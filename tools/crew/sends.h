/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How many messages there were, by wire and without it; a device's counters know nothing
 * of the latter.
 */
#ifndef CREW_SENDS_H
#define CREW_SENDS_H

#include <stdint.h>

#include <collq/collq.h>

struct sends {
	uint64_t wire;
	uint64_t local;
};

/* What all endpoints of a context have sent, as the module counts. */
void count_sends(struct collq_context *context, struct sends *sends);

#endif
