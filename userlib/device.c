// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Finding an RDMA device that ib_collq serves, and opening its node.
 *
 * The kernel says which node it is, by name and by number; a node of that name
 * with another number isn't opened: /dev may be out of date, or not be ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "log.h"
#include "sysfs.h"

/* What was asked for: any device if @name is empty, any port if 0 */
struct wish {
	char name[COLLQ_NAME_SIZE];
	uint32_t port;
};

static int parse_wish(const char *text, size_t len, struct wish *wish)
{
	const char *colon = memchr(text, ':', len);
	size_t name_len = colon ? (size_t)(colon - text) : len;
	unsigned long port;
	char *end;

	if (!name_len || name_len >= sizeof(wish->name) || memchr(text, '/', name_len))
		return -EINVAL;
	memcpy(wish->name, text, name_len);
	wish->name[name_len] = '\0';
	wish->port = 0;
	if (!colon)
		return 0;
	port = strtoul(colon + 1, &end, 10);
	if (colon[1] < '1' || colon[1] > '9' || end != text + len || port > 255)
		return -EINVAL;
	wish->port = port;
	return 0;
}

static int open_node(const char *node, dev_t number)
{
	char path[sizeof("/dev/infiniband/") + COLLQ_NAME_SIZE];
	struct stat st;
	int fd, err;

	snprintf(path, sizeof(path), "/dev/infiniband/%s", node);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		collq_warn("%s: %s", path, strerror(-err));
		return err == -ENOENT ? -ENXIO : err;
	}
	if (fstat(fd, &st) || !S_ISCHR(st.st_mode) || st.st_rdev != number) {
		collq_warn("%s isn't the device that the kernel means", path);
		close(fd);
		return -ENXIO;
	}
	return fd;
}

/* Port and GID, and all else but the node. */
static int describe_one(const char *name, uint32_t port, const struct collq_env *env,
			struct collq_device *device)
{
	int err;

	err = collq_port_find(name, &port);
	if (err)
		return err;
	device->gid_index = env->gid_index;
	if (device->gid_index == COLLQ_ENV_AUTO) {
		err = collq_port_find_gid(name, port, &device->gid_index);
		if (err)
			return err;
	}
	device->port = port;
	strcpy(device->name, name);
	return 0;
}

static int open_one(const struct collq_nldev *found, uint32_t port,
		    const struct collq_env *env, struct collq_device *device)
{
	char node[COLLQ_NAME_SIZE];
	dev_t number;
	int err;

	err = describe_one(found->name, port, env, device);
	if (err)
		return err;
	/* Old kernels and some containers don't answer. */
	if (found->index == COLLQ_NO_INDEX || collq_nldev_chardev(found->index, node, &number)) {
		err = collq_sysfs_chardev(found->name, node, &number);
		if (err)
			return err;
	}
	device->fd = open_node(node, number);
	if (device->fd < 0)
		return device->fd;
	collq_debug("%s port %u, GID index %u, /dev/infiniband/%s", device->name,
		    device->port, device->gid_index, node);
	return 0;
}

/* Those that say what to do win over "there isn't any". */
static int open_first(const struct collq_nldev *found, uint32_t nr, const struct wish *wish,
		      const struct collq_env *env, struct collq_device *device)
{
	int first_err = -ENODEV;
	uint32_t i;
	int err;

	for (i = 0; i < nr; i++) {
		if (*wish->name && strcmp(wish->name, found[i].name))
			continue;
		err = open_one(&found[i], wish->port, env, device);
		if (!err)
			return 0;
		collq_debug("%s: %s", found[i].name, strerror(-err));
		if (first_err == -ENODEV)
			first_err = err;
	}
	return first_err;
}

static int check_list(const char *list)
{
	struct wish wish;
	size_t len;
	int err;

	for (;; list += len + 1) {
		len = strcspn(list, ",");
		err = parse_wish(list, len, &wish);
		if (err || !list[len])
			return err;
	}
}

/* A list that is malformed is so wherever the device is that it would come to. */
static int open_listed(const char *list, const struct collq_nldev *found, uint32_t nr,
		       const struct collq_env *env, struct collq_device *device)
{
	int err, first_err = -ENODEV;
	struct wish wish;
	size_t len;

	err = check_list(list);
	if (err)
		return err;
	for (;; list += len + 1) {
		len = strcspn(list, ",");
		parse_wish(list, len, &wish);
		err = open_first(found, nr, &wish, env, device);
		if (!err)
			return 0;
		if (first_err == -ENODEV)
			first_err = err;
		if (!list[len])
			return first_err;
	}
}

bool collq_device_has_wire(const struct collq_env *env)
{
	if (env->tls & COLLQ_TLS_RC)
		return true;
	collq_error("COLLQ_TLS must have rc: what is local is connected over it, too");
	return false;
}

int collq_device_open(const char *spec, const struct collq_env *env,
		      struct collq_device *device)
{
	const struct wish any = { 0 };
	struct collq_nldev *found = NULL;
	uint32_t nr = 0;
	int err;

	if (!collq_device_has_wire(env))
		return -EOPNOTSUPP;
	if (collq_nldev_list(&found, &nr)) {
		err = collq_sysfs_list(&found, &nr);
		if (err)
			return err;
	}
	if (spec || *env->net_devices)
		err = open_listed(spec ? spec : env->net_devices, found, nr, env, device);
	else
		err = open_first(found, nr, &any, env, device);
	free(found);
	return err;
}

/* The port that the environment names for a device, or 0. */
static uint32_t listed_port(const char *list, const char *name)
{
	struct wish wish;
	size_t len;

	for (;; list += len + 1) {
		len = strcspn(list, ",");
		if (!parse_wish(list, len, &wish) && !strcmp(wish.name, name))
			return wish.port;
		if (!list[len])
			return 0;
	}
}

int collq_device_open_listed(const char *name, const struct collq_env *env,
			     struct collq_device *device)
{
	uint32_t port = listed_port(env->net_devices, name);
	char wish[COLLQ_NAME_SIZE + sizeof(":4294967295")];

	if (!port || strlen(name) >= COLLQ_NAME_SIZE)
		return collq_device_open(name, env, device);
	snprintf(wish, sizeof(wish), "%s:%u", name, port);
	return collq_device_open(wish, env, device);
}

int collq_device_find(const char *name, const struct collq_env *env,
		      struct collq_device *device, uint32_t *driver)
{
	char node[COLLQ_NAME_SIZE];
	struct collq_nldev *found;
	uint32_t nr, i;
	dev_t number;
	int err;

	if (strlen(name) >= COLLQ_NAME_SIZE)
		return -ENODEV;
	err = collq_nldev_list(&found, &nr);
	if (err)
		return -EOPNOTSUPP;
	for (i = 0; i < nr && strcmp(found[i].name, name); i++)
		;
	err = i == nr ? -ENODEV : 0;
	/* This has the kernel load the module. */
	if (!err)
		collq_nldev_chardev(found[i].index, node, &number);
	if (!err)
		err = collq_nldev_uverbs_driver(found[i].index, driver);
	free(found);
	if (err)
		return err == -ENODEV ? err : -EOPNOTSUPP;
	device->fd = -1;
	return describe_one(name, listed_port(env->net_devices, name), env, device);
}
