/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Results, as a table or as JSON.
 */
#ifndef BARRIER_REPORT_H
#define BARRIER_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "latency.h"
#include "options.h"

/* What one number of ranks with one algorithm came to. NAN: not witnessed. */
struct result {
	uint32_t ranks;
	uint32_t algorithm;
	char front_end[8];
	uint64_t iterations;
	uint64_t violations;
	double syscalls_per_barrier;
	double messages_per_barrier;		/* on the wire */
	double local_messages_per_barrier;
	struct latency latency;
};

/* 0, or -errno if it couldn't be written */
int report_table(FILE *out, const struct result *results, unsigned int nr);
int report_json(FILE *out, const struct options *options, const struct result *results,
		unsigned int nr);

#endif
