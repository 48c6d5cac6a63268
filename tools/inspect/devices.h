/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef DEVICES_H
#define DEVICES_H

#include <stdint.h>

#define DEVICE_NAME_SIZE	64

/*
 * An RDMA device that ib_collq serves. @fd: a context of our own to look from, or
 * the negative errno with which it couldn't be had.
 */
struct device {
	char name[DEVICE_NAME_SIZE];
	char node[DEVICE_NAME_SIZE];
	int fd;
};

/* All, or those with that name: an array, and how many; 0 or -errno. */
int devices_open(const char *name, struct device **devices, unsigned int *nr);
void devices_close(struct device *devices, unsigned int nr);

#endif /* DEVICES_H */
