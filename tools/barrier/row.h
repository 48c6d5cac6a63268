/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One row of the table: one number of ranks with one algorithm.
 */
#ifndef BARRIER_ROW_H
#define BARRIER_ROW_H

#include "options.h"
#include "report.h"

enum row_end {
	ROW_GOOD,
	ROW_BAD,	/* violations, or what --demo doesn't let pass; go on */
	ROW_FAILED,	/* there is no result, and no sense in going on */
};

/* @title is what the progress calls the row. May not return: see crew.h. */
enum row_end row_run(const struct options *options, uint32_t ranks, uint32_t algorithm,
		     const char *title, struct result *result);

#endif
