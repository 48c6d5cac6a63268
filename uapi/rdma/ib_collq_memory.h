/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * ib_collq: memory that tasks work on. Part of ib_collq.h, which has the general
 * rules.
 */
#ifndef IB_COLLQ_MEMORY_H
#define IB_COLLQ_MEMORY_H

#include <linux/types.h>

/* Types of regions */
#define IB_COLLQ_REGION_USER		1	/* memory of the caller */
#define IB_COLLQ_REGION_DMABUF		2	/* a dma-buf */

/* ib_collq_region_create.access */
#define IB_COLLQ_ACCESS_WRITE		(1U << 0)	/* received data may land */

/**
 * struct ib_collq_region_create - ioctl(IB_COLLQ_REGION_CREATE)
 * @size: sizeof(struct ib_collq_region_create)
 * @flags: must be 0
 * @type: IB_COLLQ_REGION_*
 * @access: IB_COLLQ_ACCESS_* bits
 * @address: start of the memory; offset into a dma-buf
 * @length: bytes
 * @fd: the dma-buf, else 0
 * @id: out: the region
 *
 * Makes memory known that graphs may send from and, with IB_COLLQ_ACCESS_WRITE,
 * receive into and write to: any part of the caller's memory, at any alignment.
 * The pages stay where they are until the region is destroyed and the last message
 * is over that may touch them. They count against RLIMIT_MEMLOCK twice: of the
 * address space and of the user.
 *
 * -ENOMEM over that limit, with nothing changed; -EFAULT if there's no such memory
 * or it can't be written to; -EOPNOTSUPP without IB_COLLQ_FEATURE_REGION, for a
 * dma-buf, and for memory that can't be pinned for long or that the device can't
 * reach; -EINTR if a signal comes, -ENETDOWN if the device has no port with an
 * address now. Where the memory is unmapped, or other memory is mapped in its
 * place, the region is stale: it can only be destroyed.
 */
struct ib_collq_region_create {
	__u32 size;
	__u32 flags;
	__u32 type;
	__u32 access;
	__aligned_u64 address;
	__aligned_u64 length;
	__s32 fd;
	__u32 id;
};

/* Length of what names a landing zone to the peer */
#define IB_COLLQ_ZONE_SIZE		32

/**
 * struct ib_collq_zone_offer - ioctl(IB_COLLQ_ZONE_OFFER)
 * @size: sizeof(struct ib_collq_zone_offer)
 * @flags: must be 0
 * @endpoint: the signal endpoint whose peer may write
 * @region: the region, or 0 for memory of the module
 * @offset: offset into the region
 * @length: bytes
 * @id: out: the zone
 * @__reserved: must be 0
 * @zone: out: what names the zone to the peer
 *
 * -EOPNOTSUPP without IB_COLLQ_FEATURE_ZONE.
 */
struct ib_collq_zone_offer {
	__u32 size;
	__u32 flags;
	__u32 endpoint;
	__u32 region;
	__aligned_u64 offset;
	__aligned_u64 length;
	__u32 id;
	__u32 __reserved;
	__u8 zone[IB_COLLQ_ZONE_SIZE];
};

#endif /* IB_COLLQ_MEMORY_H */
