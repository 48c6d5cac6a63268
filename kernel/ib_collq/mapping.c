// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Pinned memory as the device sees it.
 *
 * Memory that is contiguous for the device (one page; a huge one; anything behind
 * an IOMMU that puts it together) needs nothing but the key that every protection
 * domain has. Other memory is registered in chunks of equal size, as many pages
 * each as the device puts under one key, so that a scatter/gather entry stays one
 * entry whatever pages it crosses, but for the borders of chunks. Where a byte is
 * takes a shift and a look into a table.
 *
 * Queue pairs of another protection domain can't use these keys. For them the memory
 * is described by its contiguous segments, of which an index is made at the first
 * need.
 */
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "mapping.h"
#include "pin.h"
#include "registrar.h"
#include "verbs.h"

/* One chunk that is as large as any memory */
#define COLLQ_WHOLE_SHIFT	63

/* Whether the CPU would have to take part in every transfer. */
static bool collq_map_needs_sync(struct collq_mapping *map,
				 struct ib_device *ibdev)
{
	struct scatterlist *sg;
	int i;

	if (ib_uses_virt_dma(ibdev))
		return false;
	for_each_sgtable_dma_sg(&map->sgt, sg, i) {
		if (dma_need_sync(ibdev->dma_device, sg_dma_address(sg)))
			return true;
	}
	return false;
}

static void collq_map_drop_chunks(struct collq_mapping *map)
{
	u32 i;

	for (i = 0; i < map->nr_chunks; i++) {
		collq_registration_drop(&map->chunks[i].registration);
		cond_resched();
	}
	kvfree(map->chunks);
}

/*
 * The next pages of the memory as entries of one page each, since that's what
 * fills a memory region up; returns the number of bytes.
 */
static u32 collq_map_take_pages(struct sg_dma_page_iter *iter,
				struct scatterlist *pages, u32 nr, u32 offset,
				u64 left)
{
	u32 i, length, total = 0;
	dma_addr_t address;

	sg_init_table(pages, nr);
	for (i = 0; i < nr; i++) {
		__sg_page_iter_dma_next(iter);
		address = sg_page_iter_dma_address(iter) & PAGE_MASK;
		length = min_t(u64, PAGE_SIZE - offset, left - total);
		sg_dma_address(&pages[i]) = address + offset;
		sg_dma_len(&pages[i]) = length;
		total += length;
		offset = 0;
	}
	return total;
}

/* One more chunk, of these pages. */
static int collq_map_add_chunk(struct collq_mapping *map,
			       struct collq_registrar *reg,
			       struct scatterlist *pages, u32 nr, u32 offset,
			       u32 length)
{
	struct collq_chunk *chunk = &map->chunks[map->nr_chunks];
	int access = map->direction == DMA_TO_DEVICE ? 0 : IB_ACCESS_LOCAL_WRITE;
	int err;

	err = collq_registrar_register(reg, &chunk->registration, pages, nr,
				       length, IB_MR_TYPE_MEM_REG, access);
	if (err)
		return err;
	/* From here on collq_map_drop_chunks() finds it. */
	map->nr_chunks++;
	chunk->base = chunk->registration.mr->iova - offset;
	chunk->lkey = chunk->registration.mr->lkey;
	return 0;
}

static int collq_map_add_chunks(struct collq_mapping *map,
				struct scatterlist *pages, u64 nr_pages,
				u64 length)
{
	const u32 per_chunk = 1U << (map->shift - PAGE_SHIFT);
	struct collq_registrar reg = {};
	struct sg_dma_page_iter iter;
	u32 nr, bytes, offset = map->offset;
	int err;

	err = collq_registrar_open(&reg, map->verbs, map->verbs->pd);
	if (err)
		return err;
	__sg_page_iter_start(&iter.base, map->sgt.sgl, map->sgt.nents, 0);
	while (nr_pages && !err) {
		nr = min_t(u64, nr_pages, per_chunk);
		bytes = collq_map_take_pages(&iter, pages, nr, offset, length);
		err = collq_map_add_chunk(map, &reg, pages, nr, offset, bytes);
		nr_pages -= nr;
		length -= bytes;
		offset = 0;
		if (signal_pending(current) && nr_pages)
			err = -EINTR;
		cond_resched();
	}
	collq_registrar_close(&reg);
	return err;
}

/* Bytes of a chunk, a power of two; 0 if the device can't register any. */
u32 collq_mapping_part(const struct ib_device *ibdev)
{
	u32 pages = collq_registrar_max_pages(ibdev);

	return pages ? rounddown_pow_of_two(pages) << PAGE_SHIFT : 0;
}

/* Memory that is not contiguous. */
static int collq_map_register(struct collq_mapping *map, u64 nr_pages, u64 length)
{
	u32 per_chunk = collq_mapping_part(map->verbs->pd->device) >> PAGE_SHIFT;
	struct scatterlist *pages;
	int err = -ENOMEM;

	if (!per_chunk)
		return -EOPNOTSUPP;
	map->shift = PAGE_SHIFT + ilog2(per_chunk);
	map->chunks = kvcalloc(DIV_ROUND_UP(nr_pages, per_chunk),
			       sizeof(*map->chunks), GFP_KERNEL_ACCOUNT);
	if (!map->chunks)
		return -ENOMEM;
	pages = kvmalloc_array(min_t(u64, per_chunk, nr_pages), sizeof(*pages),
			       GFP_KERNEL);
	if (pages)
		err = collq_map_add_chunks(map, pages, nr_pages, length);
	kvfree(pages);
	if (err)
		collq_map_drop_chunks(map);
	return err;
}

static int collq_map_whole(struct collq_mapping *map)
{
	map->shift = COLLQ_WHOLE_SHIFT;
	map->chunks = kvcalloc(1, sizeof(*map->chunks), GFP_KERNEL_ACCOUNT);
	if (!map->chunks)
		return -ENOMEM;
	map->nr_chunks = 1;
	map->chunks->base = sg_dma_address(map->sgt.sgl) - map->offset;
	map->chunks->lkey = map->verbs->pd->local_dma_lkey;
	return 0;
}

/**
 * collq_map - let the device see memory
 * @map: what it is held by
 * @verbs: device and protection domain
 * @pin: the memory
 * @offset: where in the first page it begins
 * @length: bytes
 * @write: whether the device is to write to it
 *
 * Called with the context's mutex held. Sleeps. A signal ends it.
 *
 * Return: 0; -EOPNOTSUPP if the device can't have it without the CPU's help;
 * -ENOMEM, -ENOSPC, -EINTR, or -ENETDOWN if the device can't register anything
 * now.
 */
int collq_map(struct collq_mapping *map, struct collq_verbs *verbs,
	      const struct collq_pin *pin, u32 offset, u64 length, bool write)
{
	struct ib_device *ibdev = verbs->pd->device;
	int err;

	map->verbs = verbs;
	map->offset = offset;
	map->direction = write ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE;
	map->nr_chunks = 0;
	map->segments = NULL;
	err = sg_alloc_table_from_pages_segment(&map->sgt, pin->pages, pin->nr,
						offset, length,
						ib_dma_max_seg_size(ibdev),
						GFP_KERNEL_ACCOUNT);
	if (err)
		return err;
	err = ib_dma_map_sgtable_attrs(ibdev, &map->sgt, map->direction, 0);
	if (err) {
		err = err == -ENOMEM ? err : -EOPNOTSUPP;
		goto err_free_table;
	}
	if (collq_map_needs_sync(map, ibdev)) {
		err = -EOPNOTSUPP;
		goto err_unmap;
	}
	err = map->sgt.nents == 1 ? collq_map_whole(map) :
				    collq_map_register(map, pin->nr, length);
	if (err)
		goto err_unmap;
	kref_get(&verbs->refs);
	return 0;

err_unmap:
	ib_dma_unmap_sgtable_attrs(ibdev, &map->sgt, map->direction, 0);
err_free_table:
	sg_free_table(&map->sgt);
	return err;
}

/**
 * collq_map_pages - put pages of what is mapped already under one key
 * @map: what that is held by; only collq_mapping_sge() knows what to do with it
 * @verbs: device and protection domain
 * @pages: the pages, as collq_registrar_register() wants them
 * @nr: number of @pages
 * @length: bytes
 * @type: IB_MR_TYPE_MEM_REG or IB_MR_TYPE_SG_GAPS
 * @write: whether the device is to write to them
 *
 * Called with the context's mutex held. Sleeps.
 *
 * Return: 0, -EOPNOTSUPP if the device can't, -ENOMEM, -ENOSPC or -ENETDOWN.
 */
int collq_map_pages(struct collq_mapping *map, struct collq_verbs *verbs,
		    struct scatterlist *pages, u32 nr, u32 length,
		    enum ib_mr_type type, bool write)
{
	struct collq_registrar reg = {};
	struct collq_chunk *chunk;
	int err;

	chunk = kvzalloc(sizeof(*chunk), GFP_KERNEL_ACCOUNT);
	if (!chunk)
		return -ENOMEM;
	err = collq_registrar_open(&reg, verbs, verbs->pd);
	if (err)
		goto err_free;
	err = collq_registrar_register(&reg, &chunk->registration, pages, nr,
				       length, type,
				       write ? IB_ACCESS_LOCAL_WRITE : 0);
	collq_registrar_close(&reg);
	if (err)
		goto err_free;
	chunk->base = chunk->registration.mr->iova;
	chunk->lkey = chunk->registration.mr->lkey;
	map->chunks = chunk;
	map->nr_chunks = 1;
	map->shift = COLLQ_WHOLE_SHIFT;
	map->verbs = verbs;
	kref_get(&verbs->refs);
	return 0;

err_free:
	kvfree(chunk);
	return err;
}

/* The opposite. Sleeps. */
void collq_unmap_pages(struct collq_mapping *map)
{
	collq_map_drop_chunks(map);
	collq_verbs_put(map->verbs);
}

/**
 * collq_mapping_index - get ready for collq_mapping_piece()
 * @map: the memory
 *
 * May sleep, and be called by several at once.
 *
 * Return: 0 or -ENOMEM.
 */
int collq_mapping_index(struct collq_mapping *map)
{
	struct collq_segment *segments;
	struct scatterlist *sg;
	u64 start = map->offset;
	int i;

	/* Pairs with cmpxchg() below: who sees the index sees what is in it. */
	if (smp_load_acquire(&map->segments))
		return 0;
	segments = kvmalloc_array(map->sgt.nents, sizeof(*segments),
				  GFP_KERNEL_ACCOUNT);
	if (!segments)
		return -ENOMEM;
	for_each_sgtable_dma_sg(&map->sgt, sg, i) {
		segments[i].start = start;
		segments[i].base = sg_dma_address(sg) - start;
		start += sg_dma_len(sg);
	}
	if (cmpxchg(&map->segments, NULL, segments))
		kvfree(segments);
	return 0;
}

/* The segment that a position is in, found by halves. */
static u32 collq_mapping_segment(const struct collq_mapping *map, u64 position)
{
	u32 first = 0, end = map->sgt.nents, middle;

	while (end - first > 1) {
		middle = first + (end - first) / 2;
		if (map->segments[middle].start <= position)
			first = middle;
		else
			end = middle;
	}
	return first;
}

/**
 * collq_mapping_piece - describe a part of the memory without any key of its own
 * @map: the memory; collq_mapping_index() has been called
 * @offset: where the part begins; within the memory
 * @length: how long it is
 * @lkey: the protection domain's key
 * @sge: filled in
 *
 * Any context. Takes time logarithmic in the size of the memory.
 *
 * Return: how much of it @sge describes: what is contiguous for the device.
 */
u32 collq_mapping_piece(const struct collq_mapping *map, u64 offset, u32 length,
			u32 lkey, struct ib_sge *sge)
{
	u64 position = map->offset + offset;
	u32 i = collq_mapping_segment(map, position);

	sge->addr = map->segments[i].base + position;
	sge->length = length;
	if (i + 1 < map->sgt.nents)
		sge->length = min_t(u64, length,
				    map->segments[i + 1].start - position);
	sge->lkey = lkey;
	return sge->length;
}

/**
 * collq_mapping_pages - a part of the memory as collq_registrar_register() wants it
 * @map: the memory; collq_mapping_index() has been called
 * @offset: where the part begins; within the memory
 * @length: how long it is
 * @pages: filled in, an entry for each page that it touches
 * @nr: number of @pages
 */
void collq_mapping_pages(const struct collq_mapping *map, u64 offset, u32 length,
			 struct scatterlist *pages, u32 nr)
{
	struct ib_sge sge;
	u32 i, room;

	sg_init_table(pages, nr);
	for (i = 0; i < nr; i++) {
		room = PAGE_SIZE - offset_in_page(map->offset + offset);
		/* A segment is of whole pages, but for its ends. */
		collq_mapping_piece(map, offset, min(length, room), 0, &sge);
		sg_dma_address(&pages[i]) = sge.addr;
		sg_dma_len(&pages[i]) = sge.length;
		offset += sge.length;
		length -= sge.length;
	}
}

/* Nothing uses it any more. Sleeps. */
void collq_unmap(struct collq_mapping *map)
{
	struct ib_device *ibdev = map->verbs->pd->device;

	kvfree(map->segments);
	collq_map_drop_chunks(map);
	ib_dma_unmap_sgtable_attrs(ibdev, &map->sgt, map->direction, 0);
	sg_free_table(&map->sgt);
	collq_verbs_put(map->verbs);
}
