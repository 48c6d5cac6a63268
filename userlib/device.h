/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_DEVICE_H
#define COLLQ_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "env.h"
#include "nldev.h"

/* A device that was found good for use, and open */
struct collq_device {
	int fd;
	char name[COLLQ_NAME_SIZE];
	uint32_t port;
	uint32_t gid_index;
};

/* Whether what may be used has the wire, which it takes; else that is told. */
bool collq_device_has_wire(const struct collq_env *env);

/* As collq_open(3); @spec is NAME or NAME:PORT, or NULL. */
int collq_device_open(const char *spec, const struct collq_env *env,
		      struct collq_device *device);

/* The same for a device whose port the environment may name. */
int collq_device_open_listed(const char *name, const struct collq_env *env,
			     struct collq_device *device);

/* The port to use, @port or if that is 0 the first active one; and its GID. */
int collq_port_find(const char *device, uint32_t *port);
int collq_port_find_gid(const char *device, uint32_t port, uint32_t *gid_index);

/*
 * What there is to know of a device of that name but for its node, which isn't opened:
 * which port and GID to use, and the number of its driver; 0, -EOPNOTSUPP if that isn't
 * known, or -errno.
 */
int collq_device_find(const char *name, const struct collq_env *env,
		      struct collq_device *device, uint32_t *driver);

#endif /* COLLQ_DEVICE_H */
