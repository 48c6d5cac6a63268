// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the latencies of all ranks come to.
 */
#include <errno.h>
#include <stdlib.h>

#include "latency.h"

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int latency_sum_up(const struct shared *shared, struct latency *latency)
{
	uint64_t nr = shared->iterations, p99 = (nr * 99 + 99) / 100 - 1, i;
	double *ns = calloc(nr, sizeof(*ns));
	uint32_t rank;

	if (!ns)
		return -ENOMEM;
	for (rank = 0; rank < shared->nr_ranks; rank++) {
		const uint64_t *of_rank = shared_latencies(shared, rank);

		for (i = 0; i < nr; i++)
			ns[i] += (double)of_rank[i] / shared->nr_ranks;
	}
	qsort(ns, nr, sizeof(ns[0]), compare);
	latency->min = ns[0] / 1000;
	latency->median = (ns[(nr - 1) / 2] + ns[nr / 2]) / 2 / 1000;
	latency->p99 = ns[p99] / 1000;
	free(ns);
	return 0;
}
