/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_REGION_H
#define COLLQ_REGION_H

#include <linux/mmu_notifier.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <rdma/ib_verbs.h>

#include <rdma/ib_collq.h>

#include "mapping.h"
#include "object.h"
#include "pin.h"
#include "region_list.h"

/**
 * struct collq_region - memory of the process that tasks work on
 * @obj: common part
 * @attr: as created, with the id
 * @mr: the process' own memory region that it's a part of, borrowed; or NULL. There's
 *	no more in @pin, @map and @notifier then than @map.verbs
 * @mr_uobject: what that is known by
 * @mr_pd: its protection domain
 * @list: the parts of other regions that it's made of, or NULL. There's nothing in @pin
 *	and @notifier then
 * @start: where the first page was in the address space
 * @pin: the pages
 * @map: how the device sees them
 * @uses: one while it's in service, one of each &struct collq_bindings, landing zone and
 *	list. At zero
 *	nobody can begin to use it, and the memory is given back
 * @release_work: does that, where nobody who may sleep can
 * @leftover: in the context's list of what its memory is still to be let go of
 * @notifier: learns when the memory is taken out of the address space
 * @written: something may have been written to it
 * @lock: protects the following; process context only
 * @suspect: something has happened to the range; whether the pages are still
 *	there has to be looked at before the next use
 * @stale: they aren't; for good
 */
struct collq_region {
	struct collq_object obj;
	struct ib_collq_region_create attr;
	struct ib_mr *mr;
	struct ib_uobject *mr_uobject;
	const struct ib_pd *mr_pd;
	struct collq_region_list *list;
	unsigned long start;
	struct collq_pin pin;
	struct collq_mapping map;
	refcount_t uses;
	struct work_struct release_work;
	struct llist_node leftover;
	struct mmu_interval_notifier notifier;
	bool written;

	spinlock_t lock;		/* suspect, stale */
	bool suspect;
	bool stale;
};

static inline struct collq_region *collq_region_of(struct collq_object *obj)
{
	return container_of(obj, struct collq_region, obj);
}

struct collq_leftovers;

void collq_leftovers_init(struct collq_leftovers *leftovers);
void collq_leftovers_hand_over(struct collq_context *ctx);
void collq_leftovers_finish(struct collq_context *ctx);
struct collq_region *collq_region_create(struct collq_context *ctx,
					 struct ib_collq_region_create *attr,
					 struct ib_uobject *mr,
					 const struct ib_collq_sge *parts);
int collq_region_use(struct collq_region *region, u64 offset, u64 end,
		     bool write);
void collq_region_unuse(struct collq_region *region);
int collq_region_index(struct collq_region *region);
void collq_region_info(const struct collq_region *region,
		       struct ib_collq_region_info *info);

/* A part of what is a memory region of the process', which one key serves. */
static inline u32 collq_region_mr_sge(const struct collq_region *region,
				      u64 offset, u32 length, struct ib_sge *sge)
{
	sge->addr = region->mr->iova + region->attr.address + offset;
	sge->length = length;
	sge->lkey = region->mr->lkey;
	return length;
}

/* The byte at @offset as the CPU sees it, and how many follow on its page, in its part. */
static inline void *collq_region_address(const struct collq_region *region,
					 u64 offset, u32 *room)
{
	u64 position = region->map.offset + offset;
	u32 within = offset_in_page(position);

	if (unlikely(region->list))
		return collq_region_list_address(region, offset, room);
	*room = PAGE_SIZE - within;
	return page_address(region->pin.pages[position >> PAGE_SHIFT]) + within;
}

#endif /* COLLQ_REGION_H */
