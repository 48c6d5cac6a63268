/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the RDMA device counts by itself, from sysfs.
 */
#ifndef CREW_COUNTERS_H
#define CREW_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#define NR_RNR_COUNTERS		3

struct counters {
	bool have_received;
	bool have_rnr;
	uint64_t received;			/* messages that have arrived */
	uint64_t rnr[NR_RNR_COUNTERS];		/* receiver-not-ready, by name below */
};

extern const char * const rnr_counter_names[NR_RNR_COUNTERS];

/*
 * Reads them when they have stopped growing, but 20 ms from now at the
 * earliest. What the device doesn't count, or what goes on growing because of
 * other traffic, is marked as not to be had.
 */
void counters_read_quiet(const char *device, uint32_t port, struct counters *counters);

/* What two devices count together, as far as both do */
void counters_add(struct counters *sum, const struct counters *other);

#endif
