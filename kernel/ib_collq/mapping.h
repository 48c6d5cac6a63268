/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_MAPPING_H
#define COLLQ_MAPPING_H

#include <linux/dma-direction.h>
#include <linux/scatterlist.h>

#include <rdma/ib_verbs.h>

#include "registrar.h"

struct collq_pin;
struct collq_verbs;

/**
 * struct collq_chunk - a part that one key serves
 * @base: where its first page is for the device, or its first byte if it's all in one
 * @lkey: the key
 * @registration: where the key is from; nothing if it's the protection domain's
 */
struct collq_chunk {
	u64 base;
	u32 lkey;
	struct collq_registration registration;
};

/**
 * struct collq_segment - a part that is contiguous for the device
 * @start: where it begins, in bytes from the start of the first page
 * @base: DMA address of that first page if it all were as contiguous
 */
struct collq_segment {
	u64 start;
	u64 base;
};

/**
 * struct collq_mapping - pinned memory as the device sees it
 * @verbs: protection domain and device; referenced
 * @sgt: the pages, mapped
 * @direction: who writes
 * @offset: where in the first page the memory begins
 * @shift: bytes of a chunk, as a power of two
 * @nr_chunks: number of @chunks
 * @chunks: the first one may begin in the middle of a page
 * @segments: index of @sgt, or NULL as long as nobody needs it
 */
struct collq_mapping {
	struct collq_verbs *verbs;
	struct sg_table sgt;
	enum dma_data_direction direction;
	u32 offset;
	u8 shift;
	u32 nr_chunks;
	struct collq_chunk *chunks;
	struct collq_segment *segments;
};

u32 collq_mapping_part(const struct ib_device *ibdev);
int collq_map(struct collq_mapping *map, struct collq_verbs *verbs,
	      const struct collq_pin *pin, u32 offset, u64 length, bool write);
void collq_unmap(struct collq_mapping *map);
int collq_map_pages(struct collq_mapping *map, struct collq_verbs *verbs,
		    struct scatterlist *pages, u32 nr, u32 length,
		    enum ib_mr_type type, bool write);
void collq_unmap_pages(struct collq_mapping *map);
void collq_mapping_pages(const struct collq_mapping *map, u64 offset, u32 length,
			 struct scatterlist *pages, u32 nr);
int collq_mapping_index(struct collq_mapping *map);
u32 collq_mapping_piece(const struct collq_mapping *map, u64 offset, u32 length,
			u32 lkey, struct ib_sge *sge);

/**
 * collq_mapping_sge - describe a part of the memory to the device
 * @map: the memory
 * @offset: where the part begins; within the memory
 * @length: how long it is
 * @sge: filled in
 *
 * Return: how much of it @sge describes: all, or up to the end of a chunk.
 */
static inline u32 collq_mapping_sge(const struct collq_mapping *map, u64 offset,
				    u32 length, struct ib_sge *sge)
{
	u64 position = map->offset + offset;
	u64 within = position & ((1ULL << map->shift) - 1);
	const struct collq_chunk *chunk = &map->chunks[position >> map->shift];

	sge->addr = chunk->base + within;
	sge->length = min_t(u64, length, (1ULL << map->shift) - within);
	sge->lkey = chunk->lkey;
	return sge->length;
}

#endif /* COLLQ_MAPPING_H */
