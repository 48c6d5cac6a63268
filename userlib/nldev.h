/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_NLDEV_H
#define COLLQ_NLDEV_H

#include <stdint.h>
#include <sys/types.h>

#define COLLQ_NAME_SIZE		64

/* Of a device whose index isn't known: 0 would be another's. */
#define COLLQ_NO_INDEX		UINT32_MAX

/* An RDMA device, as the kernel tells of it */
struct collq_nldev {
	uint32_t index;
	char name[COLLQ_NAME_SIZE];
};

/* All RDMA devices: an array for free(), and how many; 0 or -errno. */
int collq_nldev_list(struct collq_nldev **devices, uint32_t *nr);

/*
 * The character device of ib_collq for an RDMA device: its name in
 * /dev/infiniband and its number. Asking makes the kernel load the module.
 */
int collq_nldev_chardev(uint32_t index, char name[COLLQ_NAME_SIZE], dev_t *number);

/* The driver's number, by which uverbs methods tell that they mean the device. */
int collq_nldev_uverbs_driver(uint32_t index, uint32_t *driver);

#endif /* COLLQ_NLDEV_H */
