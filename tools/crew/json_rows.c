// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Results as JSON.
 */
#include <errno.h>

#include "json_rows.h"

#define JSON_DIGITS	10

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

int json_rows_add(json_t *rows, json_t *row, const struct options *options)
{
	if (add_hosts(row, options)) {
		json_decref(row);
		return -ENOMEM;
	}
	return json_array_append_new(rows, row) ? -ENOMEM : 0;
}

int json_rows_print(json_t *rows, int error, FILE *out)
{
	if (!rows)
		return -ENOMEM;
	if (!error && (json_dumpf(rows, out, JSON_INDENT(2) | JSON_REAL_PRECISION(JSON_DIGITS)) ||
		       fputc('\n', out) == EOF || fflush(out) == EOF))
		error = -EIO;
	json_decref(rows);
	return error;
}
