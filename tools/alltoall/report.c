// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Results, as a table or as JSON.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>

#include <collq/collq.h>

#include "alltoall.h"
#include "table.h"

#define JSON_DIGITS	10

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
	return json_pack("{s:I, s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:{s:f, s:f, s:f}}",
			 "ranks", (json_int_t)result->ranks,
			 "bytes", (json_int_t)result->bytes,
			 "layout", collq_alltoall_layout_name(result->layout),
			 "packing", packing_name(result->packing),
			 "iterations", (json_int_t)result->iterations,
			 "wrong_bytes", (json_int_t)result->wrong_bytes,
			 "cpu_copied_bytes_per_start", (json_int_t)result->copied,
			 "messages_per_start", (json_int_t)result->messages,
			 "sge_per_start", (json_int_t)result->sges,
			 "latency_us",
			 "min", result->latency.min,
			 "median", result->latency.median,
			 "p99", result->latency.p99);
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
