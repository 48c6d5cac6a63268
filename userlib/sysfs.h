/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_SYSFS_H
#define COLLQ_SYSFS_H

#include <stddef.h>
#include <stdint.h>

#include "nldev.h"

/* First line of a file in sysfs, named by a format; 0 or -errno. */
__attribute__((format(printf, 3, 4)))
int collq_sysfs_read(char *line, size_t size, const char *format, ...);

/* All RDMA devices, as collq_nldev_list(); their index isn't known. */
int collq_sysfs_list(struct collq_nldev **devices, uint32_t *nr);

/* The character device for an RDMA device, as collq_nldev_chardev(). */
int collq_sysfs_chardev(const char *device, char name[COLLQ_NAME_SIZE], dev_t *number);

#endif /* COLLQ_SYSFS_H */
