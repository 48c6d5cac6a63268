// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Results, as a table or as JSON. What could not be witnessed is shown as such
 * and never guessed: "-" in the table, null in JSON.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <collq/collq.h>

#include "report.h"

#define NR_COLUMNS		9
#define CELL			32
#define JSON_DIGITS		10

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void result_set_latency(struct result *result, double *ns, uint64_t nr)
{
	uint64_t p99 = (nr * 99 + 99) / 100 - 1;

	qsort(ns, nr, sizeof(ns[0]), compare);
	result->latency_min = ns[0] / 1000;
	result->latency_median = (ns[(nr - 1) / 2] + ns[nr / 2]) / 2 / 1000;
	result->latency_p99 = ns[p99] / 1000;
}

/* Counts per barrier are whole numbers if all is well: let it be seen if not. */
static void put_ratio(char *cell, double value)
{
	if (isnan(value))
		strcpy(cell, "-");
	else
		snprintf(cell, CELL, "%.6g", value);
}

static void put_time(char *cell, double value)
{
	if (isnan(value))
		strcpy(cell, "-");
	else
		snprintf(cell, CELL, "%.1f", value);
}

static void put_row(char cells[NR_COLUMNS][CELL], const struct result *result)
{
	snprintf(cells[0], CELL, "%" PRIu32, result->ranks);
	snprintf(cells[1], CELL, "%s", collq_barrier_algorithm_name(result->algorithm));
	snprintf(cells[2], CELL, "%" PRIu64, result->iterations);
	snprintf(cells[3], CELL, "%" PRIu64, result->violations);
	put_ratio(cells[4], result->syscalls_per_barrier);
	put_ratio(cells[5], result->messages_per_barrier);
	put_time(cells[6], result->latency_min);
	put_time(cells[7], result->latency_median);
	put_time(cells[8], result->latency_p99);
}

static void print_row(FILE *out, char cells[NR_COLUMNS][CELL], const int *widths)
{
	int i;

	for (i = 0; i < NR_COLUMNS; i++)
		fprintf(out, "%s%*s", i ? "  " : "", i == 1 ? -widths[i] : widths[i], cells[i]);
	fputc('\n', out);
}

int report_table(FILE *out, const struct result *results, unsigned int nr)
{
	static char heads[2][NR_COLUMNS][CELL] = {
		{ "", "", "", "", "system calls", "wire messages",
		  "latency", "latency", "latency" },
		{ "ranks", "algorithm", "barriers", "violations", "/barrier/rank",
		  "/barrier", "min us", "median us", "p99 us" },
	};
	char (*cells)[NR_COLUMNS][CELL] = calloc(nr, sizeof(*cells));
	int widths[NR_COLUMNS] = {}, width, column;
	unsigned int row;

	if (!cells)
		return -ENOMEM;
	for (row = 0; row < nr; row++)
		put_row(cells[row], &results[row]);
	for (column = 0; column < NR_COLUMNS; column++) {
		for (row = 0; row < nr + 2; row++) {
			width = strlen(row < 2 ? heads[row][column] : cells[row - 2][column]);
			if (width > widths[column])
				widths[column] = width;
		}
	}
	print_row(out, heads[0], widths);
	print_row(out, heads[1], widths);
	for (row = 0; row < nr; row++)
		print_row(out, cells[row], widths);
	free(cells);
	return fflush(out) ? -errno : 0;
}

static json_t *number_or_null(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *json_result(const struct result *result)
{
	return json_pack("{s:I, s:s, s:I, s:I, s:o, s:o, s:{s:o, s:o, s:o}}",
			 "ranks", (json_int_t)result->ranks,
			 "algorithm", collq_barrier_algorithm_name(result->algorithm),
			 "iterations", (json_int_t)result->iterations,
			 "violations", (json_int_t)result->violations,
			 "syscalls_per_barrier", number_or_null(result->syscalls_per_barrier),
			 "messages_per_barrier", number_or_null(result->messages_per_barrier),
			 "latency_us",
			 "min", number_or_null(result->latency_min),
			 "median", number_or_null(result->latency_median),
			 "p99", number_or_null(result->latency_p99));
}

/* Only where there are any. */
static int add_hosts(json_t *row, const struct options *options)
{
	json_t *hosts;
	uint32_t i;

	if (!options->nr_hosts)
		return 0;
	hosts = json_array();
	for (i = 0; i < options->nr_hosts; i++) {
		if (json_array_append_new(hosts, json_string(options->hosts[i])))
			break;
	}
	return json_object_set_new(row, "hosts", hosts) || i < options->nr_hosts;
}

int report_json(FILE *out, const struct options *options, const struct result *results,
		unsigned int nr)
{
	json_t *array = json_array();
	int rc = array ? 0 : -ENOMEM;
	unsigned int row;

	for (row = 0; row < nr && !rc; row++) {
		json_t *object = json_result(&results[row]);

		if (add_hosts(object, options) || json_array_append_new(array, object))
			rc = -ENOMEM;
	}
	if (!rc && (json_dumpf(array, out, JSON_INDENT(2) | JSON_REAL_PRECISION(JSON_DIGITS)) ||
		    fputc('\n', out) == EOF || fflush(out) == EOF))
		rc = -EIO;
	json_decref(array);
	return rc;
}
