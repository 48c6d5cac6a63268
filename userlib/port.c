// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which port of an RDMA device to use, and which of its addresses (GIDs).
 *
 * On RoCE a port has one GID for each IP address and each version of RoCE. Only
 * version 2 passes routers, and an IPv4 address is what people set up by hand,
 * so the first of those is the best guess; a link-local one is the last resort.
 */
#include <errno.h>
#include <string.h>

#include "device.h"
#include "sysfs.h"

#define PORT		"/sys/class/infiniband/%s/ports/%u/"
#define MAX_PORTS	255
#define MAX_GIDS	65536

static int port_is_active(const char *device, uint32_t port)
{
	char state[32];
	int err;

	err = collq_sysfs_read(state, sizeof(state), PORT "state", device, port);
	if (err)
		return err == -ENOENT ? -ENODEV : err;
	return strstr(state, "ACTIVE") ? 0 : -ENETDOWN;
}

int collq_port_find(const char *device, uint32_t *port)
{
	uint32_t i;
	int err;

	if (*port)
		return port_is_active(device, *port);
	for (i = 1; i <= MAX_PORTS; i++) {
		err = port_is_active(device, i);
		if (!err)
			*port = i;
		if (err != -ENETDOWN)
			return err == -ENODEV && i > 1 ? -ENETDOWN : err;
	}
	return -ENETDOWN;
}

/* How good a GID of a RoCE port is, 0 for not at all. */
static int gid_quality(const char *type, const char *gid)
{
	if (strcmp(type, "RoCE v2") || !strcmp(gid, "0000:0000:0000:0000:0000:0000:0000:0000"))
		return 0;
	if (!strncmp(gid, "0000:0000:0000:0000:0000:ffff:", 30))
		return 3;
	return strncmp(gid, "fe80:", 5) ? 2 : 1;
}

int collq_port_find_gid(const char *device, uint32_t port, uint32_t *gid_index)
{
	char line[64], type[32];
	int quality, best = 0;
	uint32_t i;
	int err;

	err = collq_sysfs_read(line, sizeof(line), PORT "link_layer", device, port);
	if (err)
		return err;
	if (strcmp(line, "Ethernet")) {
		*gid_index = 0;
		return 0;
	}
	for (i = 0; i < MAX_GIDS && best < 3; i++) {
		err = collq_sysfs_read(line, sizeof(line), PORT "gids/%u", device, port, i);
		if (err == -ENOENT)
			break;
		/* An entry that is not in use has no type. */
		if (err || collq_sysfs_read(type, sizeof(type), PORT "gid_attrs/types/%u",
					    device, port, i))
			continue;
		quality = gid_quality(type, line);
		if (quality > best) {
			best = quality;
			*gid_index = i;
		}
	}
	return best ? 0 : -EADDRNOTAVAIL;
}
