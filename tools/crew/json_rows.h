/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Results as JSON: an array of what each tool tells of a row.
 */
#ifndef CREW_JSON_ROWS_H
#define CREW_JSON_ROWS_H

#include <stdio.h>

#include <jansson.h>

#include "options.h"

/* Takes @row over, and adds the hosts where there are any: 0 or -ENOMEM. */
int json_rows_add(json_t *rows, json_t *row, const struct options *options);

/* Prints them, unless there is an error already, and takes them apart: 0, or -errno. */
int json_rows_print(json_t *rows, int error, FILE *out);

#endif
