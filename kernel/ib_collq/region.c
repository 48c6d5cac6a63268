// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Regions: memory of the process that tasks send from, receive into and compute
 * on.
 *
 * Life: created with its pages pinned and charged (pin.c) and mapped for the
 * device (mapping.c). Submissions use it, and so does every message that is
 * posted, until it's complete or its queue pair flushed; so a region can't be
 * destroyed while anything may touch the pages. When the context goes it's taken
 * out of service after queues and endpoints, and the memory is given back when the
 * last message is over, which may be a lingering endpoint's: by a worker then.
 *
 * Letting go of the memory can take as long as the process likes, since it waits for
 * what the process does to its address space, and for pages that a file system of its
 * own may keep locked. So first the device is done with; and what is left is done by
 * the process itself once it holds nothing that others wait for, or by a worker of its
 * context.
 *
 * The process may unmap the memory, or map something else in its place, while the
 * region lives. The pages stay, so no harm comes of it, but they aren't the
 * process' memory any more, and using them would be a silent mistake. So the
 * region becomes stale. Not all that the kernel tells about a range of addresses
 * takes pages away from it (splitting a huge page doesn't), so most of it makes
 * the region suspect only, and the next use compares the pages.
 *
 * A region can also be a part of a memory region that the process has registered by
 * itself. Then pages, charge and mapping are that one's, and it's kept as it is until
 * nothing uses it; the CPU knows nothing of the pages. Or it's made of parts of other
 * regions: see region_list.c.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "borrow.h"
#include "context.h"
#include "device.h"
#include "limits.h"
#include "region.h"
#include "verbs.h"

/*
 * Sleeping or not; the pages may go or have gone when this returns. What is
 * unmapped doesn't come back.
 */
static bool collq_region_invalidate(struct mmu_interval_notifier *notifier,
				    const struct mmu_notifier_range *range,
				    unsigned long sequence)
{
	struct collq_region *region =
		container_of(notifier, struct collq_region, notifier);

	spin_lock(&region->lock);
	mmu_interval_set_seq(notifier, sequence);
	switch (range->event) {
	case MMU_NOTIFY_UNMAP:
	case MMU_NOTIFY_RELEASE:
		WRITE_ONCE(region->stale, true);
		break;
	case MMU_NOTIFY_PROTECTION_VMA:
	case MMU_NOTIFY_PROTECTION_PAGE:
	case MMU_NOTIFY_SOFT_DIRTY:
		/* Pages that are pinned stay where they are. */
		break;
	default:
		WRITE_ONCE(region->suspect, true);
	}
	spin_unlock(&region->lock);
	return true;
}

static const struct mmu_interval_notifier_ops collq_region_notifier_ops = {
	.invalidate = collq_region_invalidate,
};

/*
 * Compares the pages. The kernel tells before it acts, so wait until it has, and
 * start again if it tells of something else meanwhile.
 */
static int collq_region_verify(struct collq_region *region)
{
	unsigned long sequence;
	int err;
	bool again;

	do {
		sequence = mmu_interval_read_begin(&region->notifier);
		err = collq_pin_verify(&region->pin, region->start);
		if (err == -EINTR)
			return err;
		spin_lock(&region->lock);
		again = mmu_interval_read_retry(&region->notifier, sequence);
		if (err)
			WRITE_ONCE(region->stale, true);
		else if (!again)
			WRITE_ONCE(region->suspect, false);
		spin_unlock(&region->lock);
	} while (again && !err);
	return err;
}

/* Whether the memory is still there: 0, -ESTALE or -EINTR. May sleep. */
static int collq_region_look(struct collq_region *region)
{
	int err = 0;

	if (unlikely(READ_ONCE(region->suspect)))
		err = collq_region_verify(region);
	if (unlikely(READ_ONCE(region->stale)))
		err = -ESTALE;
	return err;
}

static int collq_region_look_at_list(struct collq_region *region)
{
	const struct collq_region_list *list = region->list;
	u32 i;
	int err = 0;

	for (i = 0; i < list->nr_bases && !err; i++)
		err = collq_region_look(list->bases[i]);
	return err;
}

static bool collq_region_is_stale(const struct collq_region *region)
{
	const struct collq_region_list *list = region->list;
	u32 i;

	for (i = 0; list && i < list->nr_bases; i++) {
		if (READ_ONCE(list->bases[i]->stale))
			return true;
	}
	return READ_ONCE(region->stale);
}

/* The process' memory is all its own again. Sleeps. */
static void collq_region_let_go(struct collq_region *region)
{
	mmu_interval_notifier_remove(&region->notifier);
	collq_unpin(&region->pin, READ_ONCE(region->written));
}

/* When this returns, nothing is left of what had been added before. */
static void collq_leftovers_let_go(struct collq_leftovers *leftovers)
{
	struct collq_region *region, *next;
	struct llist_node *regions;

	mutex_lock(&leftovers->mutex);
	regions = llist_del_all(&leftovers->regions);
	llist_for_each_entry_safe(region, next, regions, leftover) {
		collq_region_let_go(region);
		collq_object_put(&region->obj);
	}
	mutex_unlock(&leftovers->mutex);
}

static void collq_leftovers_work(struct work_struct *work)
{
	struct collq_context *ctx =
		container_of(work, struct collq_context, leftovers.work);

	collq_leftovers_let_go(&ctx->leftovers);
	collq_context_put(ctx);
}

void collq_leftovers_init(struct collq_leftovers *leftovers)
{
	init_llist_head(&leftovers->regions);
	mutex_init(&leftovers->mutex);
	INIT_WORK(&leftovers->work, collq_leftovers_work);
}

/*
 * A worker lets go of the memory: for who doesn't wait for what a process does with it. The
 * caller has a reference to the context.
 */
void collq_leftovers_hand_over(struct collq_context *ctx)
{
	if (llist_empty(&ctx->leftovers.regions))
		return;
	collq_context_get(ctx);
	if (!queue_work(collq_memory_wq, &ctx->leftovers.work))
		collq_context_put(ctx);
}

/**
 * collq_leftovers_finish - let go of the memory of regions that are gone
 * @ctx: the context, which the caller has a reference to
 *
 * At once if that is the caller's, or the process is gone, which may be the caller that
 * ends; else a worker does it. Called without a lock. Sleeps.
 */
void collq_leftovers_finish(struct collq_context *ctx)
{
	if (current->mm == ctx->mm || !atomic_read(&ctx->mm->mm_users))
		collq_leftovers_let_go(&ctx->leftovers);
	else
		collq_leftovers_hand_over(ctx);
}

/*
 * Nothing uses the memory any more. Whoever this happens under calls
 * collq_leftovers_finish() or collq_leftovers_hand_over() when he holds nothing any more.
 * Sleeps.
 */
static void collq_region_release(struct collq_region *region)
{
	struct collq_context *ctx = region->obj.ctx;
	struct collq_verbs *verbs;

	if (region->mr) {
		collq_return_mr(ctx, region->mr_uobject);
		collq_verbs_put(region->map.verbs);
		return;
	}
	if (region->list) {
		collq_region_list_release(region);
		return;
	}
	/* The device isn't gone before who is told so finds the region. */
	verbs = region->map.verbs;
	kref_get(&verbs->refs);
	collq_unmap(&region->map);
	collq_object_get(&region->obj);
	llist_add(&region->leftover, &ctx->leftovers.regions);
	collq_verbs_put(verbs);
}

static void collq_region_release_work(struct work_struct *work)
{
	struct collq_region *region =
		container_of(work, struct collq_region, release_work);

	collq_region_release(region);
	collq_leftovers_hand_over(region->obj.ctx);
	collq_object_put(&region->obj);
}

/*
 * Whether a submission or a message needs it. If not, none can begin to between
 * here and collq_region_destroy().
 */
static bool collq_region_busy(struct collq_object *obj)
{
	return !refcount_dec_if_one(&collq_region_of(obj)->uses);
}

static void collq_region_destroy(struct collq_object *obj)
{
	struct collq_region *region = collq_region_of(obj);

	if (region->list)
		collq_region_list_unname(region);
	if (!refcount_read(&region->uses) ||
	    refcount_dec_and_test(&region->uses))
		collq_region_release(region);
}

static void collq_region_free(struct collq_object *obj)
{
	kfree(collq_region_of(obj));
}

static const struct collq_object_ops collq_region_ops = {
	.type = IB_COLLQ_OBJECT_REGION,
	.busy = collq_region_busy,
	.destroy = collq_region_destroy,
	.free = collq_region_free,
};

static int collq_region_check(const struct ib_collq_region_create *attr)
{
	u64 end;

	if (attr->type == IB_COLLQ_REGION_DMABUF)
		return -EOPNOTSUPP;
	if (attr->access & ~IB_COLLQ_ACCESS_WRITE)
		return -EOPNOTSUPP;
	if ((attr->type != IB_COLLQ_REGION_USER &&
	     attr->type != IB_COLLQ_REGION_MR &&
	     attr->type != IB_COLLQ_REGION_LIST) ||
	    attr->fd || !attr->length || attr->length > COLLQ_MAX_REGION)
		return -EINVAL;
	if (attr->type == IB_COLLQ_REGION_LIST)
		return 0;
	if (attr->nr_parts || attr->part_size)
		return -EINVAL;
	if (check_add_overflow(attr->address, attr->length, &end) ||
	    end > ULONG_MAX - PAGE_SIZE)
		return -EINVAL;
	return 0;
}

/* Whether the process' memory region is one of memory, and has that part. */
static bool collq_region_fits(const struct ib_collq_region_create *attr,
			      const struct ib_mr *mr)
{
	return mr->type == IB_MR_TYPE_USER && attr->length <= mr->length &&
	       attr->address <= mr->length - attr->length;
}

/* Keeps what the process has registered. */
static int collq_region_borrow(struct collq_region *region,
			       struct ib_uobject *uobject)
{
	struct ib_mr *mr = collq_borrow_mr(region->obj.ctx, uobject);

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	if (!collq_region_fits(&region->attr, mr)) {
		collq_return_mr(region->obj.ctx, uobject);
		return -EINVAL;
	}
	region->mr_uobject = uobject;
	region->mr_pd = mr->pd;
	region->mr = mr;
	/* The device isn't gone for us before it's returned. */
	region->map.verbs = region->obj.ctx->verbs;
	kref_get(&region->map.verbs->refs);
	return 0;
}

/* Pins and maps, under the eyes of the notifier. */
static int collq_region_acquire(struct collq_region *region)
{
	struct collq_context *ctx = region->obj.ctx;
	unsigned long start = untagged_addr(region->attr.address) & PAGE_MASK;
	u32 offset = offset_in_page(region->attr.address);
	u64 nr = PFN_UP(offset + region->attr.length);
	bool write = region->attr.access & IB_COLLQ_ACCESS_WRITE;
	int err;

	region->start = start;
	err = mmu_interval_notifier_insert(&region->notifier, ctx->mm, start,
					   nr << PAGE_SHIFT,
					   &collq_region_notifier_ops);
	if (err)
		return err;
	err = collq_pin(&region->pin, ctx->mm, start, nr, write,
			&ctx->device->dead);
	if (err)
		goto err_remove;
	err = collq_map(&region->map, ctx->verbs, &region->pin, offset,
			region->attr.length, write);
	if (err)
		goto err_unpin;
	return 0;

err_unpin:
	collq_unpin(&region->pin, false);
err_remove:
	mmu_interval_notifier_remove(&region->notifier);
	return err;
}

/**
 * collq_region_create - make a region of the current process' memory
 * @ctx: the context; the current process owns it
 * @attr: what memory; the id is filled in
 * @mr: the process' memory region that it's a part of, or NULL
 * @parts: the parts of other regions that it's made of, or NULL
 *
 * Called with ctx->mutex held. Sleeps. A signal ends it.
 *
 * Return: the region, not published yet, or an ERR_PTR.
 */
struct collq_region *collq_region_create(struct collq_context *ctx,
					 struct ib_collq_region_create *attr,
					 struct ib_uobject *mr,
					 const struct ib_collq_sge *parts)
{
	struct collq_region *region;
	int err;

	lockdep_assert_held(&ctx->mutex);

	err = collq_region_check(attr);
	if (err)
		return ERR_PTR(err);
	if (mr && attr->type != IB_COLLQ_REGION_MR)
		return ERR_PTR(-EINVAL);
	if (!mr && attr->type == IB_COLLQ_REGION_MR)
		return ERR_PTR(-EOPNOTSUPP);
	region = kzalloc(sizeof(*region), GFP_KERNEL_ACCOUNT);
	if (!region)
		return ERR_PTR(-ENOMEM);
	region->attr = *attr;
	refcount_set(&region->uses, 1);
	INIT_WORK(&region->release_work, collq_region_release_work);
	spin_lock_init(&region->lock);

	err = collq_object_init(ctx, &region->obj, &collq_region_ops);
	if (err)
		goto err_free;
	if (mr)
		err = collq_region_borrow(region, mr);
	else if (parts)
		err = collq_region_list_make(region, parts);
	else
		err = collq_region_acquire(region);
	if (err)
		goto err_abort;
	region->attr.id = region->obj.id;
	attr->id = region->obj.id;
	return region;

err_abort:
	collq_object_abort(&region->obj);
err_free:
	kfree(region);
	return ERR_PTR(err);
}

/**
 * collq_region_use - begin to use a region
 * @region: the region
 * @offset: where what is used begins
 * @end: how far it goes from there
 * @write: whether it's written to
 *
 * Called by the process whose memory it is. May sleep. Ended by
 * collq_region_unuse().
 *
 * Return: 0; -EINVAL if the region ends before that, -EACCES if it can't be
 * written to, -ESTALE if its memory is gone, -ENOENT if it's destroyed, -EINTR.
 */
int collq_region_use(struct collq_region *region, u64 offset, u64 end,
		     bool write)
{
	int err;

	if (offset > region->attr.length || end > region->attr.length - offset)
		return -EINVAL;
	if (write && !(region->attr.access & IB_COLLQ_ACCESS_WRITE))
		return -EACCES;
	if (!refcount_inc_not_zero(&region->uses))
		return -ENOENT;
	collq_object_get(&region->obj);
	err = unlikely(region->list) ? collq_region_look_at_list(region) :
				       collq_region_look(region);
	if (err)
		collq_region_unuse(region);
	else if (write)
		WRITE_ONCE(region->written, true);
	return err;
}

/* The use is over. Any context but hardirq. */
void collq_region_unuse(struct collq_region *region)
{
	if (refcount_dec_and_test(&region->uses)) {
		collq_object_get(&region->obj);
		queue_work(collq_wq, &region->release_work);
	}
	collq_object_put(&region->obj);
}

/* Gets ready for collq_mapping_piece(): 0 or -ENOMEM. May sleep. */
int collq_region_index(struct collq_region *region)
{
	const struct collq_region_list *list = region->list;
	u32 i;
	int err = 0;

	if (region->mr)
		return 0;
	if (!list)
		return collq_mapping_index(&region->map);
	for (i = 0; i < list->nr_bases && !err; i++)
		err = collq_mapping_index(&list->bases[i]->map);
	return err;
}

/* Keys of its own */
static u32 collq_region_registrations(const struct collq_region *region)
{
	if (region->mr || !region->map.chunks->registration.mr)
		return 0;
	return region->map.nr_chunks;
}

/* Called with ctx->mutex held. */
void collq_region_info(const struct collq_region *region,
		       struct ib_collq_region_info *info)
{
	*info = (struct ib_collq_region_info) {
		.create = region->attr,
		.stale = collq_region_is_stale(region),
		.uses = refcount_read(&region->uses) - 1,
		.pages = region->pin.nr,
		.registrations = collq_region_registrations(region),
	};
}
