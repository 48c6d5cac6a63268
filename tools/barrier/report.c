// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Results, as a table or as JSON. What could not be witnessed is shown as such
 * and never guessed: "-" in the table, null in JSON.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>

#include <collq/collq.h>

#include "json_rows.h"
#include "report.h"
#include "table.h"

#define NR_COLUMNS		10

int report_table(FILE *out, const struct result *results, unsigned int nr)
{
	static const char * const heads[] = {
		"", "", "", "", "system calls", "wire messages", "local messages",
		"latency", "latency", "latency",
		"ranks", "algorithm", "barriers", "violations", "/barrier/rank",
		"/barrier", "/barrier", "min us", "median us", "p99 us",
	};
	struct table table = { .columns = NR_COLUMNS, .left = 1U << 1 };
	const struct result *result;
	unsigned int i;

	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		table_put(&table, "%s", heads[i]);
	for (result = results; result < results + nr; result++) {
		table_put(&table, "%" PRIu32, result->ranks);
		table_put(&table, "%s", collq_barrier_algorithm_name(result->algorithm));
		table_put(&table, "%" PRIu64, result->iterations);
		table_put(&table, "%" PRIu64, result->violations);
		table_put_ratio(&table, result->syscalls_per_barrier);
		table_put_ratio(&table, result->messages_per_barrier);
		table_put_ratio(&table, result->local_messages_per_barrier);
		table_put_time(&table, result->latency.min);
		table_put_time(&table, result->latency.median);
		table_put_time(&table, result->latency.p99);
	}
	return table_print(&table, out);
}

static json_t *number_or_null(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *json_result(const struct result *result)
{
	return json_pack("{s:I, s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:{s:o, s:o, s:o}}",
			 "ranks", (json_int_t)result->ranks,
			 "algorithm", collq_barrier_algorithm_name(result->algorithm),
			 "front_end", result->front_end,
			 "iterations", (json_int_t)result->iterations,
			 "violations", (json_int_t)result->violations,
			 "syscalls_per_barrier", number_or_null(result->syscalls_per_barrier),
			 "messages_per_barrier", number_or_null(result->messages_per_barrier),
			 "local_messages_per_barrier",
			 number_or_null(result->local_messages_per_barrier),
			 "latency_us",
			 "min", number_or_null(result->latency.min),
			 "median", number_or_null(result->latency.median),
			 "p99", number_or_null(result->latency.p99));
}

int report_json(FILE *out, const struct options *options, const struct result *results,
		unsigned int nr)
{
	json_t *rows = json_array();
	unsigned int row;
	int err = 0;

	for (row = 0; row < nr && !err; row++)
		err = json_rows_add(rows, json_result(&results[row]), options);
	return json_rows_print(rows, err, out);
}
