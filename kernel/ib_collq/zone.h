/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_ZONE_H
#define COLLQ_ZONE_H

#include <linux/container_of.h>
#include <linux/list.h>

#include <rdma/ib_collq.h>

#include "object.h"
#include "registrar.h"

struct collq_endpoint;
struct collq_region;

/**
 * struct collq_zone - memory that an endpoint's peer may write to
 * @obj: common part
 * @attr: as offered, with id and name
 * @endpoint: the endpoint; named until the zone is destroyed
 * @node: in the endpoint's list; under ctx->mutex, as is the rest
 * @registration: what lets the peer in; nothing once the endpoint was reset
 * @region: the region, in use as long
 */
struct collq_zone {
	struct collq_object obj;
	struct ib_collq_zone_offer attr;
	struct collq_endpoint *endpoint;
	struct list_head node;
	struct collq_registration registration;
	struct collq_region *region;
};

static inline struct collq_zone *collq_zone_of(struct collq_object *obj)
{
	return container_of(obj, struct collq_zone, obj);
}

u32 collq_zone_max(struct ib_device *ibdev);
struct collq_zone *collq_zone_offer(struct collq_context *ctx,
				    struct ib_collq_zone_offer *attr,
				    struct collq_endpoint *ep,
				    struct collq_region *region);
void collq_zone_revoke_all(struct collq_endpoint *ep);
void collq_zone_info(struct collq_zone *zone, struct ib_collq_zone_info *info);

#endif /* COLLQ_ZONE_H */
