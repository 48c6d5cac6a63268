// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What to do where the device can't be opened.
 *
 * The library's errno alone says little to who runs this for the first time.
 * So look at what there is, from the bottom up: the RDMA device, the module,
 * the device node. The first that is missing is what to mend.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diagnose.h"
#include "progress.h"

#define RDMA_DEVICES		"/sys/class/infiniband"
#define COLLQ_DEVICES		"/sys/class/ib_collq"
#define NODE_DIRECTORY		"/dev/infiniband"

/* Puts the names in a directory into @names, and says if there are any. */
static bool list(const char *path, char *names, size_t size)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	size_t used = 0;
	int printed;

	names[0] = '\0';
	if (!directory)
		return false;
	while ((entry = readdir(directory)) && used < size) {
		if (entry->d_name[0] == '.')
			continue;
		printed = snprintf(names + used, size - used, "%s%s", used ? ", " : "",
				   entry->d_name);
		used += printed > 0 ? printed : 0;
	}
	closedir(directory);
	return used;
}

/* A port may be named too, as in rxe0:1. */
static bool has_rdma_device(const char *device)
{
	char path[256];

	snprintf(path, sizeof(path), RDMA_DEVICES "/%.*s", (int)strcspn(device, ":"), device);
	return !access(path, F_OK);
}

/* The nodes that are there but closed to us. */
static bool explain_permission(const char *nodes)
{
	char names[256], path[sizeof(names) + sizeof(NODE_DIRECTORY)], *rest = names, *name;
	bool closed = false;

	snprintf(names, sizeof(names), "%s", nodes);
	while ((name = strsep(&rest, ", "))) {
		snprintf(path, sizeof(path), NODE_DIRECTORY "/%s", name);
		if (!*name || access(path, F_OK) || !access(path, R_OK | W_OK))
			continue;
		complain("no permission for %s; as root: chmod 666 %s", path, path);
		closed = true;
	}
	return closed;
}

static void explain_module(void)
{
	if (access("/sys/module/ib_collq", F_OK))
		complain("the module isn't loaded; as root: modprobe ib_collq");
	else
		complain("ib_collq takes none of the RDMA devices; dmesg tells why");
}

void diagnose_open(const char *device, int error)
{
	char devices[256], nodes[256];

	if (!list(RDMA_DEVICES, devices, sizeof(devices))) {
		complain("this machine has no RDMA device; for one in software, as root:");
		complain("modprobe rdma_rxe; rdma link add rxe0 type rxe netdev ETH");
		complain("where ETH is an Ethernet device, as 'ip link' shows it");
	} else if (device && !has_rdma_device(device)) {
		complain("there is no RDMA device '%s', but: %s", device, devices);
	} else if (!list(COLLQ_DEVICES, nodes, sizeof(nodes))) {
		explain_module();
	} else if (!explain_permission(nodes) && error == -EACCES) {
		complain("the device's addresses are of another network namespace");
	}
}
