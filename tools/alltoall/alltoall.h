/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What collq-alltoall is asked for, and what comes out. Ranks, hosts and how ranks reach
 * each other at first are those of all tools: see ../crew.
 */
#ifndef ALLTOALL_ALLTOALL_H
#define ALLTOALL_ALLTOALL_H

#include <stdint.h>
#include <stdio.h>

#include "latency.h"
#include "options.h"

#define MAX_ROWS_BYTES		32
#define MAX_ROWS_PACKINGS	3
#define MAX_BYTES		(1U << 24)

/* @common: its algorithms are layouts; bytes and packing are those of a row */
struct wanted {
	struct options common;
	uint64_t bytes[MAX_ROWS_BYTES];
	unsigned int nr_bytes;
	uint32_t packings[MAX_ROWS_PACKINGS];
	unsigned int nr_packings;
};

/* Doesn't return where there is nothing to do: help, version, usage errors. */
void wanted_parse(struct wanted *wanted, int argc, char **argv);

const char *packing_name(uint32_t packing);

/* Places in struct rank_state.tally, each in one start of the rank but the last */
enum {
	TALLY_COPIED,		/* bytes, without the rank's own block */
	TALLY_TO_COPY,		/* the same by the graph */
	TALLY_MESSAGES,		/* signals too */
	TALLY_TO_SEND,		/* the same by the graph */
	TALLY_LOCAL,		/* those that didn't take the wire */
	TALLY_SGES,
	TALLY_LAYOUT,		/* what it is done with */
};

/* One row; what is counted is of all ranks together. */
struct result {
	uint32_t ranks;
	uint64_t bytes;
	uint32_t layout;
	uint32_t packing;
	char front_end[8];
	uint64_t iterations;
	uint64_t wrong_bytes;
	uint64_t copied;		/* as the module counts it, and by the graphs */
	uint64_t to_copy;
	uint64_t to_send;
	uint64_t messages;
	uint64_t local_messages;
	uint64_t sges;
	struct latency latency;
};

enum row_end {
	ROW_GOOD,
	ROW_BAD,	/* wrong bytes, or a wrong number of them copied */
	ROW_FAILED,	/* no result */
};

/* @options are those of the row. Tells the user what goes wrong. */
enum row_end row_run(const struct options *options, uint32_t ranks, uint32_t layout,
		     const char *title, struct result *result);

/* Instead of rows that were asked for; prints what comes out. */
enum row_end demo_run(const struct wanted *wanted);

/* 0, or -errno if it couldn't be written */
int report_table(FILE *out, const struct result *results, unsigned int nr);
int report_json(FILE *out, const struct options *options, const struct result *results,
		unsigned int nr);

#endif
