// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* See team_uverbs.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "team_uverbs.h"
#include "verbs_device.h"

/* The rank's, each with a context of the library's */
static struct {
	struct ibv_context *verbs;
	struct collq_context *context;
} pairs[4];

#define NR_PAIRS	(sizeof(pairs) / sizeof(pairs[0]))

__attribute__((constructor)) static void take_uverbs(void)
{
	setenv("COLLQ_FRONT_END", "uverbs", 1);
}

int __wrap_collq_open(const char *device, struct collq_context **context)
{
	size_t i;
	int err;

	if (!strcmp(getenv("COLLQ_FRONT_END"), "char"))
		return __real_collq_open(device, context);
	for (i = 0; i < NR_PAIRS && pairs[i].verbs; i++)
		;
	if (i == NR_PAIRS)
		return -EMFILE;
	pairs[i].verbs = verbs_device_open();
	if (!pairs[i].verbs)
		return -ENODEV;
	err = collq_open_verbs(pairs[i].verbs, context);
	if (err) {
		ibv_close_device(pairs[i].verbs);
		pairs[i].verbs = NULL;
		return err;
	}
	pairs[i].context = *context;
	return 0;
}

int __wrap_collq_close(struct collq_context *context)
{
	int err = __real_collq_close(context);
	size_t i;

	for (i = 0; i < NR_PAIRS && !err && context; i++) {
		if (pairs[i].context != context)
			continue;
		ibv_close_device(pairs[i].verbs);
		pairs[i].verbs = NULL;
		pairs[i].context = NULL;
	}
	return err;
}
