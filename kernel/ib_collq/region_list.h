/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_REGION_LIST_H
#define COLLQ_REGION_LIST_H

#include <linux/types.h>

#include "limits.h"

struct collq_region;
struct ib_collq_sge;

/**
 * struct collq_part - a part of a list
 * @start: where it begins in the list, in bytes
 * @offset: where it begins in @base
 * @base: the region it's a part of
 */
struct collq_part {
	u64 start;
	u64 offset;
	struct collq_region *base;
};

/**
 * struct collq_region_list - what a region of the type IB_COLLQ_REGION_LIST is made of
 * @nr_bases: number of @bases
 * @nr_parts: number of @parts
 * @bases: the regions, each once; in use and named as long as this is
 * @parts: the parts, in order, without gaps and none empty
 */
struct collq_region_list {
	u32 nr_bases;
	u32 nr_parts;
	struct collq_region *bases[COLLQ_MAX_BUFFERS];
	struct collq_part parts[];
};

int collq_region_list_make(struct collq_region *region,
			   const struct ib_collq_sge *parts);
void collq_region_list_unname(struct collq_region *region);
void collq_region_list_release(struct collq_region *region);
void collq_region_list_part(const struct collq_region *region, u32 i,
			    struct ib_collq_sge *sge);
void *collq_region_list_address(const struct collq_region *region, u64 offset,
				u32 *room);
struct collq_region *collq_region_list_find(const struct collq_region *region,
					    u64 *offset, u32 *length);

#endif /* COLLQ_REGION_LIST_H */
