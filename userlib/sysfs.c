// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What sysfs tells of RDMA devices: all that RDMA netlink does not, and the same
 * again for where netlink is out of reach (some containers). Reading it doesn't
 * load the module.
 */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "sysfs.h"

#define RDMA_DEVICES	"/sys/class/infiniband"
#define COLLQ_DEVICES	"/sys/class/ib_collq"

int collq_sysfs_read(char *line, size_t size, const char *format, ...)
{
	char path[512];
	va_list args;
	FILE *file;
	int err = 0;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	errno = 0;
	if (fgets(line, size, file))
		line[strcspn(line, "\n")] = '\0';
	else
		err = errno ? -errno : -EIO;
	fclose(file);
	return err;
}

static struct dirent *next_entry(DIR *dir)
{
	struct dirent *entry;

	do
		entry = readdir(dir);
	while (entry && (entry->d_name[0] == '.' ||
			 strlen(entry->d_name) >= COLLQ_NAME_SIZE));
	return entry;
}

int collq_sysfs_list(struct collq_nldev **devices, uint32_t *nr)
{
	struct collq_nldev *list = NULL, *grown;
	struct dirent *entry;
	DIR *dir;

	*nr = 0;
	*devices = NULL;
	/* Without anything RDMA in the kernel it isn't there. */
	dir = opendir(RDMA_DEVICES);
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = next_entry(dir))) {
		grown = realloc(list, (*nr + 1) * sizeof(*list));
		if (!grown) {
			free(list);
			closedir(dir);
			return -ENOMEM;
		}
		list = grown;
		list[*nr].index = COLLQ_NO_INDEX;
		strcpy(list[(*nr)++].name, entry->d_name);
	}
	closedir(dir);
	*devices = list;
	return 0;
}

int collq_sysfs_chardev(const char *device, char name[COLLQ_NAME_SIZE], dev_t *number)
{
	unsigned int major, minor;
	struct dirent *entry;
	char line[COLLQ_NAME_SIZE];
	int err = -ENXIO;
	DIR *dir;

	dir = opendir(COLLQ_DEVICES);
	if (!dir)
		return -ENXIO;
	while (err && (entry = next_entry(dir))) {
		if (collq_sysfs_read(line, sizeof(line), COLLQ_DEVICES "/%s/ibdev",
				     entry->d_name) || strcmp(line, device))
			continue;
		if (collq_sysfs_read(line, sizeof(line), COLLQ_DEVICES "/%s/dev",
				     entry->d_name) ||
		    sscanf(line, "%u:%u", &major, &minor) != 2)
			continue;
		strcpy(name, entry->d_name);
		*number = makedev(major, minor);
		err = 0;
	}
	closedir(dir);
	return err;
}
