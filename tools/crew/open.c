// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A rank's context.
 *
 * By uverbs, as a program that uses libibverbs gets one. Which device it is to be the
 * library decides as it does otherwise.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "open.h"

/* It stays open: the context is on its descriptor, until the rank ends. */
static struct ibv_context *open_verbs(const char *name)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *verbs = NULL;
	int i;

	for (i = 0; devices && devices[i]; i++) {
		if (!strcmp(ibv_get_device_name(devices[i]), name)) {
			verbs = ibv_open_device(devices[i]);
			break;
		}
	}
	if (devices)
		ibv_free_device_list(devices);
	return verbs;
}

static int open_on_verbs(const char *name, struct collq_context **context)
{
	struct ibv_context *verbs = open_verbs(name);
	int err;

	if (!verbs)
		return -EOPNOTSUPP;
	err = collq_open_verbs(verbs, context);
	if (err || strcmp(collq_context_front_end(*context), "uverbs"))
		ibv_close_device(verbs);
	return err;
}

static int open_by(const struct options *options, struct collq_context **context)
{
	struct collq_context *by_verbs;
	int err;

	err = collq_open(options->device, context);
	if (err || options->front_end == FRONT_END_CHAR)
		return err;
	if (options->front_end == FRONT_END_UVERBS)
		setenv("COLLQ_FRONT_END", "uverbs", 1);
	err = open_on_verbs(collq_context_device(*context), &by_verbs);
	if (err && options->front_end == FRONT_END_AUTO)
		return 0;
	collq_close(*context);
	if (!err)
		*context = by_verbs;
	return err;
}

int crew_open(const struct options *options, struct rank_state *state,
	      struct collq_context **context)
{
	int err = open_by(options, context);

	if (err) {
		state->open_failed = true;
		return err;
	}
	snprintf(state->device, sizeof(state->device), "%s", collq_context_device(*context));
	snprintf(state->front_end, sizeof(state->front_end), "%s",
		 collq_context_front_end(*context));
	state->port = collq_context_port(*context);
	return 0;
}
