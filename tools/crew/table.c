// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A table whose columns are as wide as they have to be.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

#define MORE_CELLS	64

static char *next_cell(struct table *table)
{
	char (*grown)[TABLE_CELL];

	if (table->nr == table->room && !table->failed) {
		grown = realloc(table->cells, (table->room + MORE_CELLS) * sizeof(*grown));
		table->failed = !grown;
		if (grown) {
			table->cells = grown;
			table->room += MORE_CELLS;
		}
	}
	return table->failed ? NULL : table->cells[table->nr++];
}

void table_put(struct table *table, const char *format, ...)
{
	char *cell = next_cell(table);
	va_list args;

	if (!cell)
		return;
	va_start(args, format);
	vsnprintf(cell, TABLE_CELL, format, args);
	va_end(args);
}

static void put_number(struct table *table, const char *format, double value)
{
	char text[TABLE_CELL];

	snprintf(text, sizeof(text), format, value);
	table_put(table, "%s", isnan(value) ? "-" : text);
}

void table_put_ratio(struct table *table, double value)
{
	put_number(table, "%.6g", value);
}

void table_put_time(struct table *table, double value)
{
	put_number(table, "%.1f", value);
}

static int width_of(const struct table *table, unsigned int column)
{
	unsigned int i;
	int width, widest = 0;

	for (i = column; i < table->nr; i += table->columns) {
		width = strlen(table->cells[i]);
		if (width > widest)
			widest = width;
	}
	return widest;
}

int table_print(struct table *table, FILE *out)
{
	unsigned int i, column;
	int width;

	for (i = 0; i < table->nr && !table->failed; i++) {
		column = i % table->columns;
		width = width_of(table, column);
		fprintf(out, "%s%*s%s", column ? "  " : "",
			table->left >> column & 1 ? -width : width, table->cells[i],
			column == table->columns - 1 ? "\n" : "");
	}
	free(table->cells);
	if (table->failed)
		return -ENOMEM;
	return fflush(out) ? -errno : 0;
}
