// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Results, as a table or as JSON.
 */
#include <inttypes.h>
#include <jansson.h>

#include <collq/collq.h>

#include "alltoall.h"
#include "json_rows.h"
#include "table.h"

int report_table(FILE *out, const struct result *results, unsigned int nr)
{
	static const char * const heads[] = {
		"", "", "", "", "", "wrong", "bytes copied", "messages", "list entries",
		"latency", "latency", "latency",
		"ranks", "bytes", "layout", "packing", "starts", "bytes", "/start", "/start",
		"/start", "min us", "median us", "p99 us",
	};
	struct table table = {
		.columns = sizeof(heads) / sizeof(heads[0]) / 2,
		.left = 1U << 2 | 1U << 3,
	};
	const struct result *result;
	unsigned int i;

	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		table_put(&table, "%s", heads[i]);
	for (result = results; result < results + nr; result++) {
		table_put(&table, "%" PRIu32, result->ranks);
		table_put(&table, "%" PRIu64, result->bytes);
		table_put(&table, "%s", collq_alltoall_layout_name(result->layout));
		table_put(&table, "%s", packing_name(result->packing));
		table_put(&table, "%" PRIu64, result->iterations);
		table_put(&table, "%" PRIu64, result->wrong_bytes);
		table_put(&table, "%" PRIu64, result->copied);
		table_put(&table, "%" PRIu64, result->messages);
		table_put(&table, "%" PRIu64, result->sges);
		table_put_time(&table, result->latency.min);
		table_put_time(&table, result->latency.median);
		table_put_time(&table, result->latency.p99);
	}
	return table_print(&table, out);
}

static json_t *json_result(const struct result *result)
{
	return json_pack("{s:I,s:I,s:s,s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:{s:f,s:f,s:f}}",
			 "ranks", (json_int_t)result->ranks,
			 "bytes", (json_int_t)result->bytes,
			 "layout", collq_alltoall_layout_name(result->layout),
			 "packing", packing_name(result->packing),
			 "front_end", result->front_end,
			 "iterations", (json_int_t)result->iterations,
			 "wrong_bytes", (json_int_t)result->wrong_bytes,
			 "cpu_copied_bytes_per_start", (json_int_t)result->copied,
			 "messages_per_start", (json_int_t)result->messages,
			 "local_messages_per_start", (json_int_t)result->local_messages,
			 "sge_per_start", (json_int_t)result->sges,
			 "latency_us",
			 "min", result->latency.min,
			 "median", result->latency.median,
			 "p99", result->latency.p99);
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
