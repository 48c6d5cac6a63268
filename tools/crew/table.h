/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A table whose columns are as wide as they have to be. What could not be witnessed is
 * NAN, and shown as "-".
 */
#ifndef CREW_TABLE_H
#define CREW_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TABLE_CELL	32

struct table {
	unsigned int columns;
	uint32_t left;			/* bits of columns that are words */
	unsigned int nr, room;
	char (*cells)[TABLE_CELL];
	bool failed;			/* no memory */
};

/* Cell after cell, row after row */
__attribute__((format(printf, 2, 3)))
void table_put(struct table *table, const char *format, ...);

/* Counts are whole numbers if all is well: let it be seen if not. */
void table_put_ratio(struct table *table, double value);
void table_put_time(struct table *table, double value);

/* Prints it and takes it apart: 0, or -errno. */
int table_print(struct table *table, FILE *out);

#endif
