/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * ib_collq: memory that tasks work on. Part of ib_collq.h, which has the general
 * rules.
 */
#ifndef IB_COLLQ_MEMORY_H
#define IB_COLLQ_MEMORY_H

#include <linux/types.h>

#include <rdma/ib_collq_wire.h>

/* Types of regions */
#define IB_COLLQ_REGION_USER		1	/* memory of the caller */
#define IB_COLLQ_REGION_DMABUF		2	/* a dma-buf */
#define IB_COLLQ_REGION_MR		3	/* a memory region of the caller's */
#define IB_COLLQ_REGION_LIST		4	/* parts of other regions, one behind the other */

/* ib_collq_region_create.access */
#define IB_COLLQ_ACCESS_WRITE		(1U << 0)	/* received data may land */

/**
 * struct ib_collq_region_create - ioctl(IB_COLLQ_REGION_CREATE)
 * @size: sizeof(struct ib_collq_region_create)
 * @flags: must be 0
 * @type: IB_COLLQ_REGION_*
 * @access: IB_COLLQ_ACCESS_* bits
 * @address: start of the memory; offset into a dma-buf or a memory region; of a list, pointer
 *	to an array of &struct ib_collq_sge, in which buffer is the id of a region
 * @length: bytes
 * @fd: the dma-buf, else 0
 * @id: out: the region
 * @nr_parts: of a list, entries of the array, else 0
 * @part_size: of a list, sizeof(struct ib_collq_sge), else 0
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
 *
 * IB_COLLQ_REGION_MR is for the uverbs front end, with the memory region as an attribute.
 * Nothing is pinned, counted or registered again; instead the memory region stays as it
 * is, and deregistering it is -EBUSY, until the region is destroyed and the last message
 * over. Its memory can be sent from and received into on endpoints that are in its
 * protection domain (IB_COLLQ_ENDPOINT_PD), and on no others; COPY, CALC, WRITE, lists and
 * landing zones can't use it. IB_COLLQ_ACCESS_WRITE is the caller's word that the memory
 * region has local write access: if it doesn't, the connection fails. -EINVAL if the
 * part isn't in it, or it's device memory.
 *
 * IB_COLLQ_REGION_LIST puts parts of regions of the type IB_COLLQ_REGION_USER, at most
 * max_buffers different ones, under one key, so that to the device they are contiguous:
 * a SEND or RECV of any number of pieces takes one entry of its list then, and so does a
 * WRITE, unless its endpoint has IB_COLLQ_ENDPOINT_ZONES. COPY and CALC can use it as well,
 * but landing zones can't. Parts may overlap; what is received lands there in no order
 * then. With IB_COLLQ_FEATURE_GAPS they may be anything. Without it each but the first
 * has to begin on the border of a page, and each but the last to end on one, unless it goes on
 * where the one before has ended: -EOPNOTSUPP. The list is stale as soon as one of the
 * regions is, and none of them can be destroyed before it. Nothing is pinned again, but it
 * takes memory of the device: -ENOSPC beyond max_lists.
 *
 * -EINVAL if a part is empty or not in its region, that isn't of the right type or one too
 * many, or @length isn't the sum of them; -ENOENT if there's no such region, -EMSGSIZE if
 * they touch more than max_list_pages, -EACCES if one of them can't be written to and this is
 * to be, -ESTALE if one's memory is gone.
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
	__u32 nr_parts;
	__u32 part_size;
};

/**
 * struct ib_collq_zone_offer - ioctl(IB_COLLQ_ZONE_OFFER)
 * @size: sizeof(struct ib_collq_zone_offer)
 * @flags: must be 0
 * @endpoint: a signal endpoint that was made with IB_COLLQ_ENDPOINT_ZONES
 * @region: a region with IB_COLLQ_ACCESS_WRITE
 * @offset: offset into the region
 * @length: bytes, 1..max_zone
 * @id: out: the zone
 * @__reserved: must be 0
 * @zone: out: a &struct ib_collq_zone_name to give to the peer
 *
 * Makes a landing zone: memory that the endpoint's peer may write to, at any time
 * and without anybody here taking part, until the zone is destroyed. It's just these
 * bytes and just this peer: a WRITE beyond them, or by another peer that has come to
 * know the name, fails, and only the connection that it came on is lost. The
 * endpoint may be connected later.
 *
 * The region is in use as long as the zone lives. Where its memory is unmapped the
 * pages stay, and the peer goes on writing to them. When the endpoint is reset the
 * zone is stale: nobody can write there any more, the region is no longer in use,
 * and the zone can only be destroyed. Destroying it waits for what is being written;
 * what the peer has under way then fails there, with the connection: agree on it
 * beforehand. While it has zones an endpoint can't be destroyed.
 *
 * -EINVAL if the endpoint has no IB_COLLQ_ENDPOINT_ZONES, or the zone doesn't lie
 * within the region; -EACCES if the region can't be written to, -ESTALE if its memory
 * is gone; -EOPNOTSUPP for another type than IB_COLLQ_REGION_USER, and if @region is 0,
 * which stands for memory of the module: a region does the same; -ENOSPC beyond max_zones;
 * -ENETDOWN if the device has no port with an address now.
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

/**
 * struct ib_collq_target_create - ioctl(IB_COLLQ_TARGET_CREATE)
 * @size: sizeof(struct ib_collq_target_create)
 * @flags: must be 0
 * @endpoint: a signal endpoint, connected to the one that the zone was offered to
 * @id: out: the target
 * @zone: the &struct ib_collq_zone_name that the peer has given
 *
 * Makes a landing zone of the peer known, for WRITE to name. -EINVAL if the name is
 * malformed or of a zone of another endpoint than this one's peer, -ENOTCONN if this
 * one isn't connected. A well-formed name that is false makes the first WRITE fail
 * with -EREMOTEIO, and the connection with it. When the endpoint is reset the target
 * is stale: a WRITE to it fails with -ESTALE. While it has targets an endpoint can't
 * be destroyed.
 */
struct ib_collq_target_create {
	__u32 size;
	__u32 flags;
	__u32 endpoint;
	__u32 id;
	__u8 zone[IB_COLLQ_ZONE_SIZE];
};

#endif /* IB_COLLQ_MEMORY_H */
