// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Lists: regions made of parts of others.
 *
 * How many pieces one message can have is a matter of the device, some 30 with most.
 * Pieces that are registered together look like one to it. Devices with gap
 * registrations (IB_MR_TYPE_SG_GAPS) take any; others go by pages, so that nothing may
 * begin or end in the middle of one but the whole.
 *
 * The registration takes its time and a key, so it isn't made for each message but by
 * who knows that the pieces will be the same for many. It says where memory is and no
 * more: messages that are under way at the same time may share it.
 *
 * A list pins nothing. It keeps the regions in use, and when one of them is stale
 * so is the list. What the CPU does, and endpoints with a protection domain of their
 * own, goes by the parts.
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "context.h"
#include "mapping.h"
#include "region.h"
#include "region_list.h"
#include "registrar.h"
#include "verbs.h"

/*
 * Adds a region to the bases, if it isn't one: 0, -EINVAL if it can't be or there are too
 * many, or what collq_region_use() gives. All that may be written to counts as written.
 */
static int collq_region_list_add_base(struct collq_region *region,
				      struct collq_region *base)
{
	bool write = region->attr.access & IB_COLLQ_ACCESS_WRITE;
	struct collq_region_list *list = region->list;
	u32 i;
	int err;

	for (i = 0; i < list->nr_bases; i++) {
		if (list->bases[i] == base)
			return 0;
	}
	if (base->attr.type != IB_COLLQ_REGION_USER ||
	    list->nr_bases == ARRAY_SIZE(list->bases))
		return -EINVAL;
	err = collq_region_use(base, 0, 0, write);
	if (err)
		return err;
	collq_object_name(&base->obj);
	list->bases[list->nr_bases++] = base;
	return 0;
}

static int collq_region_list_add(struct collq_region *region,
				 const struct ib_collq_sge *sge, u64 start)
{
	struct collq_context *ctx = region->obj.ctx;
	struct collq_region_list *list = region->list;
	struct collq_region *base;
	struct collq_object *obj;
	int err;

	obj = collq_object_find(ctx, sge->buffer, IB_COLLQ_OBJECT_REGION);
	if (!obj)
		return -ENOENT;
	base = collq_region_of(obj);
	err = collq_region_list_add_base(region, base);
	collq_object_put(obj);
	if (err)
		return err;
	if (!sge->length || sge->offset > base->attr.length ||
	    sge->length > base->attr.length - sge->offset)
		return -EINVAL;
	list->parts[list->nr_parts++] = (struct collq_part) {
		.start = start,
		.offset = sge->offset,
		.base = base,
	};
	return 0;
}

static int collq_region_list_fill(struct collq_region *region,
				  const struct ib_collq_sge *parts)
{
	u64 length = 0;
	u32 i;
	int err;

	for (i = 0; i < region->attr.nr_parts; i++) {
		err = collq_region_list_add(region, &parts[i], length);
		if (err)
			return err;
		length += parts[i].length;
	}
	return length == region->attr.length ? 0 : -EINVAL;
}

/* Where a part ends in the list */
static u64 collq_part_end(const struct collq_region *region, u32 i)
{
	const struct collq_region_list *list = region->list;

	return i + 1 < list->nr_parts ? list->parts[i + 1].start :
					region->attr.length;
}

/* A part as it was given */
void collq_region_list_part(const struct collq_region *region, u32 i,
			    struct ib_collq_sge *sge)
{
	const struct collq_part *part = &region->list->parts[i];

	*sge = (struct ib_collq_sge) {
		.buffer = part->base->obj.id,
		.length = collq_part_end(region, i) - part->start,
		.offset = part->offset,
	};
}

/* Pages that a part touches */
static u32 collq_part_pages(const struct collq_region *region, u32 i)
{
	const struct collq_part *part = &region->list->parts[i];
	u64 first = part->base->map.offset + part->offset;

	return PFN_UP(offset_in_page(first) +
		      collq_part_end(region, i) - part->start);
}

/* Pages that all touch; no more than some beyond what there may be. */
static u32 collq_region_list_pages(const struct collq_region *region, u32 most)
{
	u32 i, nr = 0;

	for (i = 0; i < region->list->nr_parts && nr <= most; i++)
		nr += collq_part_pages(region, i);
	return nr;
}

/* All parts, page by page, in one table. */
static void collq_region_list_gather(const struct collq_region *region,
				     struct scatterlist *pages)
{
	const struct collq_region_list *list = region->list;
	const struct collq_part *part;
	u32 i, nr, done = 0;

	for (i = 0; i < list->nr_parts; i++) {
		part = &list->parts[i];
		nr = collq_part_pages(region, i);
		if (done)
			sg_unmark_end(&pages[done - 1]);
		collq_mapping_pages(&part->base->map, part->offset,
				    collq_part_end(region, i) - part->start,
				    pages + done, nr);
		done += nr;
	}
}

/* Whether a part but the first begins, or one but the last ends, within a page. */
static bool collq_region_list_has_gaps(const struct scatterlist *pages, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		if (i && offset_in_page(sg_dma_address(&pages[i])))
			return true;
		if (i + 1 < nr && offset_in_page(sg_dma_address(&pages[i]) +
						 sg_dma_len(&pages[i])))
			return true;
	}
	return false;
}

static int collq_region_list_register(struct collq_region *region)
{
	struct collq_verbs *verbs = region->obj.ctx->verbs;
	struct ib_device *ibdev = verbs->pd->device;
	u32 most = collq_registrar_max_pages(ibdev);
	u32 nr = collq_region_list_pages(region, most);
	enum ib_mr_type type = IB_MR_TYPE_MEM_REG;
	struct scatterlist *pages;
	int err;

	if (nr > most)
		return -EMSGSIZE;
	err = collq_region_index(region);
	if (err)
		return err;
	pages = kvmalloc_array(nr, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	collq_region_list_gather(region, pages);
	if (collq_registrar_takes_gaps(ibdev) &&
	    collq_region_list_has_gaps(pages, nr))
		type = IB_MR_TYPE_SG_GAPS;
	err = collq_map_pages(&region->map, verbs, pages, nr,
			      region->attr.length, type,
			      region->attr.access & IB_COLLQ_ACCESS_WRITE);
	kvfree(pages);
	return err;
}

static void collq_region_list_free(struct collq_region *region)
{
	struct collq_region_list *list = region->list;
	u32 i;

	for (i = 0; i < list->nr_bases; i++)
		collq_region_unuse(list->bases[i]);
	kvfree(list);
	region->list = NULL;
}

/* It's out of service; what it's made of remains in use. Called with ctx->mutex held. */
void collq_region_list_unname(struct collq_region *region)
{
	const struct collq_region_list *list = region->list;
	u32 i;

	lockdep_assert_held(&region->obj.ctx->mutex);

	for (i = 0; i < list->nr_bases; i++)
		collq_object_unname(&list->bases[i]->obj);
	region->obj.ctx->nr_lists--;
}

/**
 * collq_region_list_make - make a region of parts of others
 * @region: the region, with its attributes
 * @parts: what of which; as many as the attributes say, which is some
 *
 * Called with ctx->mutex held. Sleeps.
 *
 * Return: 0; -ENOENT, -EINVAL, -EACCES, -ESTALE or -EINTR for a part, -EMSGSIZE or
 * -EOPNOTSUPP if the device can't put them together, -ENOSPC if there are too many
 * lists, or what a registration gives.
 */
int collq_region_list_make(struct collq_region *region,
			   const struct ib_collq_sge *parts)
{
	int err;

	lockdep_assert_held(&region->obj.ctx->mutex);

	if (region->obj.ctx->nr_lists == COLLQ_MAX_LISTS)
		return -ENOSPC;
	region->list = kvzalloc(struct_size(region->list, parts,
					    region->attr.nr_parts),
				GFP_KERNEL_ACCOUNT);
	if (!region->list)
		return -ENOMEM;
	region->obj.ctx->nr_lists++;
	err = collq_region_list_fill(region, parts);
	if (!err)
		err = collq_region_list_register(region);
	if (err) {
		collq_region_list_unname(region);
		collq_region_list_free(region);
		return err;
	}
	/* What describe tells is complete with the parts that it gives. */
	region->attr.address = 0;
	region->attr.part_size = sizeof(*parts);
	return 0;
}

/* Nothing uses it any more. Sleeps. */
void collq_region_list_release(struct collq_region *region)
{
	collq_unmap_pages(&region->map);
	collq_region_list_free(region);
}

/**
 * collq_region_list_find - what a place in a list stands for
 * @region: the region that is a list
 * @offset: a byte of it; becomes that byte's place in what is returned
 * @length: how much from there; cut down to what is there, too
 *
 * Any context. Takes time logarithmic in the number of parts.
 */
struct collq_region *collq_region_list_find(const struct collq_region *region,
					    u64 *offset, u32 *length)
{
	const struct collq_region_list *list = region->list;
	u32 first = 0, end = list->nr_parts, middle;
	const struct collq_part *part;

	while (end - first > 1) {
		middle = first + (end - first) / 2;
		if (list->parts[middle].start <= *offset)
			first = middle;
		else
			end = middle;
	}
	part = &list->parts[first];
	*length = min_t(u64, *length, collq_part_end(region, first) - *offset);
	*offset = part->offset + (*offset - part->start);
	return part->base;
}

/* As collq_region_address(), which is for other regions. */
void *collq_region_list_address(const struct collq_region *region, u64 offset,
				u32 *room)
{
	u32 length = PAGE_SIZE;
	void *address;

	region = collq_region_list_find(region, &offset, &length);
	address = collq_region_address(region, offset, room);
	*room = min(*room, length);
	return address;
}
