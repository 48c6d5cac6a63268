/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the latencies of all ranks come to.
 */
#ifndef CREW_LATENCY_H
#define CREW_LATENCY_H

#include "shared.h"

/* In microseconds */
struct latency {
	double min;
	double median;
	double p99;
};

/*
 * The latency of one operation is the mean over the ranks; min, median and 99th
 * percentile (nearest rank) are over the operations. 0 or -ENOMEM.
 */
int latency_sum_up(const struct shared *shared, struct latency *latency);

#endif
