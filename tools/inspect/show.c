// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * collq show: what is there, what it waits for, and who holds it up.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blame.h"
#include "devices.h"
#include "inspect.h"
#include "output.h"
#include "snapshot.h"

static const char *explain(int err)
{
	if (err == -EOPNOTSUPP || err == -ENOTTY)
		return "the module is of another version";
	return strerror(-err);
}

/* A device that can't be looked into doesn't keep the others from being shown. */
static int take_all(struct snapshot *snapshot, const struct device *devices, unsigned int nr)
{
	int status = EXIT_SUCCESS, err;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		err = devices[i].fd < 0 ? devices[i].fd : snapshot_take(snapshot, &devices[i]);
		if (!err)
			continue;
		complain("%s: %s", devices[i].name, explain(err));
		status = EXIT_FAILURE;
	}
	snapshot_check(snapshot);
	return status;
}

static int print(struct snapshot *snapshot, const struct options *options)
{
	struct blame *blames = NULL;
	unsigned int nr = 0;
	int err;

	err = peers_find(snapshot);
	if (!err)
		err = blame_find(snapshot, &blames, &nr);
	if (!err && options->json)
		err = output_json(snapshot, blames, nr, options->details);
	else if (!err)
		output_text(snapshot, blames, nr, options->details);
	blame_free(blames, nr);
	if (!err)
		return EXIT_SUCCESS;
	complain("%s", strerror(-err));
	return EXIT_FAILURE;
}

int show_command(const struct options *options, const char *device)
{
	struct snapshot snapshot = {};
	struct device *devices = NULL;
	unsigned int nr;
	int status, err;

	err = devices_open(device, &devices, &nr);
	if (err == -ENOENT) {
		complain("the module ib_collq isn't loaded");
		return EXIT_FAILURE;
	}
	if (err) {
		complain("can't list the devices: %s", strerror(-err));
		return EXIT_FAILURE;
	}
	if (device && !nr) {
		complain("ib_collq serves no RDMA device '%s'", device);
		free(devices);
		return EXIT_FAILURE;
	}
	status = take_all(&snapshot, devices, nr);
	if (print(&snapshot, options))
		status = EXIT_FAILURE;
	snapshot_free(&snapshot);
	devices_close(devices, nr);
	return status;
}
