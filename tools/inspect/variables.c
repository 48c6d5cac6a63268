// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * collq variables: the environment as libcollq sees it.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <collq/collq.h>

#include "inspect.h"

static void print_table(void)
{
	struct collq_variable variable = { .size = sizeof(variable) };
	int width = 0, length;
	uint32_t i;

	for (i = 0; !collq_variable_get(i, &variable); i++) {
		length = strlen(variable.name) + 1 + strlen(variable.value);
		if (length > width)
			width = length;
	}
	for (i = 0; !collq_variable_get(i, &variable); i++) {
		length = printf("%s=%s", variable.name, variable.value);
		printf("%*s  %-11s  %s\n", width - length, "", variable.source,
		       variable.description);
	}
}

/* What isn't UTF-8 in the environment has no place in JSON: it is null there. */
static json_t *json_variable(const struct collq_variable *variable)
{
	return json_pack("{s:s, s:o, s:s, s:s, s:s}",
			 "name", variable->name,
			 "value", json_string(variable->value) ?: json_null(),
			 "source", variable->source,
			 "default", variable->preset,
			 "description", variable->description);
}

static int print_json(void)
{
	json_t *array = json_array();
	struct collq_variable variable = { .size = sizeof(variable) };
	int rc = 0;
	uint32_t i;

	for (i = 0; !rc && !collq_variable_get(i, &variable); i++)
		rc = json_array_append_new(array, json_variable(&variable));
	if (!rc)
		rc = json_dumpf(array, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(array);
	return rc;
}

int variables_command(const struct options *options)
{
	if (!options->json) {
		print_table();
		return EXIT_SUCCESS;
	}
	if (!print_json())
		return EXIT_SUCCESS;
	complain("can't print JSON");
	return EXIT_FAILURE;
}
