// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See region.h. The list of what is left over has the context's lock; what is on it
 * was allocated when it was made, for letting go can't fail.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "context.h"
#include "ioctl.h"
#include "log.h"
#include "region.h"

struct collq_region {
	struct collq_region *next;
	uint32_t id;
};

static int make(struct collq_context *ctx, struct collq_region *region,
		const struct ibv_mr *mr, struct ib_collq_region_create *create)
{
	int err;

	do
		err = mr ? collq_region_create_mr(ctx, mr, create) :
			   collq_region_create(ctx, create);
	while (err == -EINTR);
	if (!err)
		region->id = create->id;
	return err;
}

/* In the kernel: of memory, or of a part of @mr if that isn't NULL. */
static int make_of_memory(struct collq_context *ctx, struct collq_region *region,
			  const struct ibv_mr *mr, const void *address, uint64_t bytes,
			  bool writable)
{
	struct ib_collq_region_create create = {
		.type = mr ? IB_COLLQ_REGION_MR : IB_COLLQ_REGION_USER,
		.access = writable ? IB_COLLQ_ACCESS_WRITE : 0,
		.address = (uintptr_t)address - (mr ? (uintptr_t)mr->addr : 0),
		.length = bytes,
	};

	return make(ctx, region, mr, &create);
}

/* What is left over isn't looked at: its ids are those of the old device. */
int collq_region_remake(struct collq_context *ctx, struct collq_region *region,
			const void *address, uint64_t bytes, bool writable)
{
	return make_of_memory(ctx, region, NULL, address, bytes, writable);
}

int collq_region_new(struct collq_context *ctx, const struct ibv_mr *mr, const void *address,
		     uint64_t bytes, bool writable, struct collq_region **out)
{
	struct collq_region *region;
	int err;

	collq_region_sweep(ctx);
	region = calloc(1, sizeof(*region));
	if (!region)
		return -ENOMEM;
	err = make_of_memory(ctx, region, mr, address, bytes, writable);
	if (err) {
		free(region);
		return err;
	}
	*out = region;
	return 0;
}

int collq_region_list(struct collq_context *ctx, const struct ib_collq_sge *parts, uint32_t nr,
		      uint64_t bytes, bool writable, struct collq_region **place)
{
	struct ib_collq_region_create create = {
		.type = IB_COLLQ_REGION_LIST,
		.access = writable ? IB_COLLQ_ACCESS_WRITE : 0,
		.address = (uintptr_t)parts,
		.length = bytes,
		.nr_parts = nr,
		.part_size = sizeof(*parts),
	};
	struct collq_region *region = *place;
	int err;

	if (!region)
		region = calloc(1, sizeof(*region));
	if (!region)
		return -ENOMEM;
	err = make(ctx, region, NULL, &create);
	if (!err)
		*place = region;
	else if (!*place)
		free(region);
	return err;
}

uint32_t *collq_region_place(struct collq_region *region)
{
	return &region->id;
}

uint32_t collq_region_id(const struct collq_region *region)
{
	return region->id;
}

/* Whether it's gone, or there's no use in trying again. */
static bool destroy(struct collq_context *ctx, const struct collq_region *region)
{
	struct ib_collq_object_destroy entry = {
		.id = region->id,
		.type = IB_COLLQ_OBJECT_REGION,
	};
	uint32_t done;
	int err;

	err = collq_ioctl_all(ctx, IB_COLLQ_OBJECT_DESTROY, &entry, sizeof(entry), 1, &done);
	if (err && err != -EBUSY && err != -ENODEV)
		collq_warn("%s: destroying a region: %s", ctx->device, strerror(-err));
	return err != -EBUSY;
}

void collq_region_put(struct collq_context *ctx, struct collq_region *region)
{
	struct collq_region **link;

	if (!region)
		return;
	if (destroy(ctx, region)) {
		free(region);
		return;
	}
	/* Behind those that it may be part of, which have to go before it. */
	pthread_mutex_lock(&ctx->lock);
	for (link = &ctx->old_regions; *link;)
		link = &(*link)->next;
	region->next = NULL;
	*link = region;
	pthread_mutex_unlock(&ctx->lock);
}

uint32_t collq_region_sweep(struct collq_context *ctx)
{
	struct collq_region **link, *region;
	uint32_t nr = 0;

	pthread_mutex_lock(&ctx->lock);
	for (link = &ctx->old_regions; (region = *link);) {
		if (destroy(ctx, region)) {
			*link = region->next;
			free(region);
		} else {
			link = &region->next;
			nr++;
		}
	}
	pthread_mutex_unlock(&ctx->lock);
	return nr;
}

void collq_region_forget(struct collq_context *ctx)
{
	struct collq_region *region;

	while ((region = ctx->old_regions)) {
		ctx->old_regions = region->next;
		free(region);
	}
}
