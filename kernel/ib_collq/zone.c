// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Landing zones: memory that an endpoint's peer may write to by itself.
 *
 * What a peer is given it must not be able to exceed, whatever it sends. The device
 * sees to that, by two things. A key counts in one protection domain only, so an
 * endpoint that has zones has one of its own: a name that another peer has come to
 * know, or guesses, opens nothing. And the registration has just the bytes that are
 * offered. A WRITE that fails the test costs its own connection.
 *
 * It is made by a registrar of that protection domain rather than on the endpoint's
 * queue pair, where it would wait for all that was sent before to arrive, and need a
 * slot of the application's; so a zone can be offered before the endpoint is
 * connected, and its name travel with the address. And it is unmade by deregistering:
 * when that returns, nothing is written there any more, which is what unpinning user
 * memory relies on everywhere. There's no slot, and no peer, to wait for.
 *
 * Life: offered; revoked when the endpoint is reset, since the new peer is not to
 * have what the old one was given, or when it's destroyed. Then the region isn't in
 * use any more. The context's zones go before its endpoints, so that none lingers.
 */
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "context.h"
#include "endpoint.h"
#include "limits.h"
#include "region.h"
#include "zone.h"

/* Bytes of a zone, wherever in a page it begins. */
u32 collq_zone_max(struct ib_device *ibdev)
{
	u32 pages = collq_registrar_max_pages(ibdev);

	return pages ? (pages - 1) * PAGE_SIZE + 1 : 0;
}

/* Nobody can write there any more. Sleeps. */
static void collq_zone_revoke(struct collq_zone *zone)
{
	if (!zone->registration.mr)
		return;
	collq_registration_drop(&zone->registration);
	collq_region_unuse(zone->region);
	zone->region = NULL;
}

/*
 * The endpoint's connection is gone, and all that its peer was allowed with it.
 * Called with ctx->mutex held. Sleeps.
 */
void collq_zone_revoke_all(struct collq_endpoint *ep)
{
	struct collq_zone *zone;

	lockdep_assert_held(&ep->obj.ctx->mutex);

	list_for_each_entry(zone, &ep->zones, node)
		collq_zone_revoke(zone);
}

static void collq_zone_destroy(struct collq_object *obj)
{
	struct collq_zone *zone = collq_zone_of(obj);

	collq_zone_revoke(zone);
	list_del(&zone->node);
	obj->ctx->nr_zones--;
	collq_object_unname(&zone->endpoint->obj);
}

static void collq_zone_free(struct collq_object *obj)
{
	kfree(collq_zone_of(obj));
}

static const struct collq_object_ops collq_zone_ops = {
	.type = IB_COLLQ_OBJECT_ZONE,
	.destroy = collq_zone_destroy,
	.free = collq_zone_free,
};

static int collq_zone_check(const struct collq_context *ctx,
			    const struct ib_collq_zone_offer *attr,
			    const struct collq_endpoint *ep)
{
	if (!collq_endpoint_is_apart(ep) || attr->__reserved || !attr->length ||
	    attr->length > collq_zone_max(ep->pd->device))
		return -EINVAL;
	return ctx->nr_zones < COLLQ_MAX_ZONES ? 0 : -ENOSPC;
}

/* Lets the peer in. */
static int collq_zone_register(struct collq_zone *zone)
{
	const struct ib_collq_zone_offer *attr = &zone->attr;
	const struct collq_mapping *map = &zone->region->map;
	u32 offset = offset_in_page(map->offset + attr->offset);
	u32 nr = PFN_UP(offset + attr->length);
	struct collq_registrar reg = {};
	struct scatterlist *pages;
	int err;

	err = collq_region_index(zone->region);
	if (err)
		return err;
	pages = kvmalloc_array(nr, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	collq_mapping_pages(map, attr->offset, attr->length, pages, nr);
	err = collq_registrar_open(&reg, map->verbs, zone->endpoint->pd);
	if (!err) {
		err = collq_registrar_register(&reg, &zone->registration, pages,
					       nr, attr->length,
					       IB_MR_TYPE_MEM_REG,
					       IB_ACCESS_LOCAL_WRITE |
					       IB_ACCESS_REMOTE_WRITE);
		collq_registrar_close(&reg);
	}
	kvfree(pages);
	return err;
}

static void collq_zone_make_name(struct collq_zone *zone)
{
	const struct ib_collq_address *address =
		(const void *)zone->endpoint->attr.address;
	struct ib_collq_zone_name name = {
		.version = cpu_to_le16(IB_COLLQ_PROTOCOL_VERSION),
		.key = cpu_to_le32(zone->registration.mr->rkey),
		.address = cpu_to_le64(zone->registration.mr->iova),
		.length = cpu_to_le64(zone->attr.length),
	};

	memcpy(name.endpoint, address->nonce, sizeof(name.endpoint));
	memcpy(zone->attr.zone, &name, sizeof(name));
}

/**
 * collq_zone_offer - let an endpoint's peer write to memory
 * @ctx: the context
 * @attr: which part of the region; id and name are filled in
 * @ep: the endpoint
 * @region: the region; the current process owns its memory
 *
 * Called with ctx->mutex held. Sleeps.
 *
 * Return: the zone, not published yet, or an ERR_PTR: -EINVAL, -ENOSPC, -EOPNOTSUPP, what
 * collq_region_use() gives, or what registering gives.
 */
struct collq_zone *collq_zone_offer(struct collq_context *ctx,
				    struct ib_collq_zone_offer *attr,
				    struct collq_endpoint *ep,
				    struct collq_region *region)
{
	struct collq_zone *zone;
	int err;

	lockdep_assert_held(&ctx->mutex);

	err = collq_zone_check(ctx, attr, ep);
	if (!err && region->attr.type != IB_COLLQ_REGION_USER)
		err = -EOPNOTSUPP;
	if (err)
		return ERR_PTR(err);
	zone = kzalloc(sizeof(*zone), GFP_KERNEL_ACCOUNT);
	if (!zone)
		return ERR_PTR(-ENOMEM);
	zone->attr = *attr;
	zone->endpoint = ep;
	zone->region = region;
	err = collq_object_init(ctx, &zone->obj, &collq_zone_ops);
	if (err)
		goto err_free;
	err = collq_region_use(region, attr->offset, attr->length, true);
	if (err)
		goto err_abort;
	err = collq_zone_register(zone);
	if (err)
		goto err_unuse;

	collq_object_name(&ep->obj);
	list_add_tail(&zone->node, &ep->zones);
	ctx->nr_zones++;
	zone->attr.id = zone->obj.id;
	collq_zone_make_name(zone);
	*attr = zone->attr;
	return zone;

err_unuse:
	collq_region_unuse(region);
err_abort:
	collq_object_abort(&zone->obj);
err_free:
	kfree(zone);
	return ERR_PTR(err);
}

/* Called with ctx->mutex held. */
void collq_zone_info(struct collq_zone *zone, struct ib_collq_zone_info *info)
{
	*info = (struct ib_collq_zone_info) {
		.create = zone->attr,
		.stale = !zone->registration.mr,
	};
}
