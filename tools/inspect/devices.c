// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The devices to look at, and a context of our own on each.
 *
 * libcollq opens a device in order to work with it, so it wants an active port
 * with an address, and loads the module. Those who look for why a job hangs want
 * neither: a port that is down may be the reason, and without the module there is
 * nothing to see. So this goes by what the module itself says in sysfs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <rdma/ib_collq.h>

#include "devices.h"

#define CLASS	"/sys/class/ib_collq"

static int is_node(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strlen(entry->d_name) < DEVICE_NAME_SIZE;
}

/* First line of an attribute of a node; false if it has gone. */
static bool read_attribute(const char *node, const char *attribute, char line[DEVICE_NAME_SIZE])
{
	char path[sizeof(CLASS) + DEVICE_NAME_SIZE + 16];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), CLASS "/%s/%s", node, attribute);
	file = fopen(path, "re");
	if (!file)
		return false;
	ok = fgets(line, DEVICE_NAME_SIZE, file);
	if (ok)
		line[strcspn(line, "\n")] = '\0';
	fclose(file);
	return ok;
}

/* /dev may be out of date: the number must be the one that the kernel gives. */
static int open_node(const char *node)
{
	char path[sizeof("/dev/infiniband/") + DEVICE_NAME_SIZE], number[DEVICE_NAME_SIZE];
	unsigned int major, minor;
	struct stat st;
	int fd;

	if (!read_attribute(node, "dev", number) || sscanf(number, "%u:%u", &major, &minor) != 2)
		return -ENODEV;
	snprintf(path, sizeof(path), "/dev/infiniband/%s", node);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISCHR(st.st_mode) && st.st_rdev == makedev(major, minor))
		return fd;
	close(fd);
	return -ENXIO;
}

/* Opened, and one that speaks our language; -ENODEV if it has just gone. */
static int open_device(const struct device *device)
{
	struct ib_collq_query query = { .size = sizeof(query) };
	int fd, err;

	fd = open_node(device->node);
	if (fd < 0)
		return fd;
	err = ioctl(fd, IB_COLLQ_QUERY, &query) ? -errno : 0;
	if (!err && query.abi_version != IB_COLLQ_ABI_VERSION)
		err = -EOPNOTSUPP;
	if (!err && strcmp((const char *)query.device, device->name))
		err = -ENODEV;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int devices_open(const char *name, struct device **devices, unsigned int *nr)
{
	struct dirent **nodes;
	int nr_nodes, i;

	*nr = 0;
	nr_nodes = scandir(CLASS, &nodes, is_node, versionsort);
	if (nr_nodes < 0)
		return -errno;
	*devices = calloc(nr_nodes + 1, sizeof(**devices));
	for (i = 0; i < nr_nodes; i++) {
		struct device *device = *devices + *nr;

		if (*devices && read_attribute(nodes[i]->d_name, "ibdev", device->name) &&
		    (!name || !strcmp(name, device->name))) {
			strcpy(device->node, nodes[i]->d_name);
			device->fd = open_device(device);
			*nr += device->fd != -ENODEV;
		}
		free(nodes[i]);
	}
	free(nodes);
	return *devices ? 0 : -ENOMEM;
}

void devices_close(struct device *devices, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (devices[i].fd >= 0)
			close(devices[i].fd);
	}
	free(devices);
}
