// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Targets: landing zones of peers, as those who write to them know them.
 *
 * A target is made of a name that came from the network and from user space. It's
 * checked for what would be a mistake: that it's of another endpoint, or of a graph
 * that writes beyond it (graph_check.c). A false one does no harm: the device of the
 * zone's owner looks at every WRITE, and the connection fails.
 *
 * A name is good for one connection. When the endpoint is reset the target stays,
 * since graphs name it, but nothing is written to it any more.
 */
#include <linux/overflow.h>
#include <linux/slab.h>

#include "context.h"
#include "endpoint.h"
#include "target.h"

static void collq_target_destroy(struct collq_object *obj)
{
	/* The name goes; the reference stays for who looks at a graph. */
	atomic_dec(&collq_target_of(obj)->endpoint->obj.users);
}

static void collq_target_free(struct collq_object *obj)
{
	struct collq_target *target = collq_target_of(obj);

	collq_object_put(&target->endpoint->obj);
	kfree(target);
}

static const struct collq_object_ops collq_target_ops = {
	.type = IB_COLLQ_OBJECT_TARGET,
	.destroy = collq_target_destroy,
	.free = collq_target_free,
};

/* Whether a name is well-formed: 0 or -EINVAL. */
static int collq_target_read(struct collq_target *target,
			     const struct ib_collq_zone_name *name)
{
	u64 end;

	if (le16_to_cpu(name->version) != IB_COLLQ_PROTOCOL_VERSION ||
	    name->__reserved)
		return -EINVAL;
	target->key = le32_to_cpu(name->key);
	target->address = le64_to_cpu(name->address);
	target->length = le64_to_cpu(name->length);
	if (!target->length ||
	    check_add_overflow(target->address, target->length, &end))
		return -EINVAL;
	return 0;
}

/* Whether it's for the peer of this endpoint, as that is connected now. */
static int collq_target_join(struct collq_target *target,
			     struct collq_endpoint *ep,
			     const struct ib_collq_zone_name *name)
{
	int err = 0;

	spin_lock_bh(&ep->lock);
	if (!ep->peer_address.version)
		err = -ENOTCONN;
	else if (memcmp(ep->peer_address.nonce, name->endpoint,
			sizeof(name->endpoint)))
		err = -EINVAL;
	target->resets = ep->resets;
	spin_unlock_bh(&ep->lock);
	if (err)
		return err;
	collq_object_name(&ep->obj);
	target->endpoint = ep;
	return 0;
}

/**
 * collq_target_create - make a peer's landing zone known
 * @ctx: the context
 * @attr: its name, not trusted; the id is filled in
 * @ep: the endpoint that leads there
 *
 * Called with ctx->mutex held. May sleep.
 *
 * Return: the target, not published yet, or an ERR_PTR: -EINVAL, -ENOTCONN.
 */
struct collq_target *collq_target_create(struct collq_context *ctx,
					 struct ib_collq_target_create *attr,
					 struct collq_endpoint *ep)
{
	const struct ib_collq_zone_name *name = (const void *)attr->zone;
	struct collq_target *target;
	int err;

	lockdep_assert_held(&ctx->mutex);

	if (ep->attr.kind != IB_COLLQ_ENDPOINT_SIGNAL)
		return ERR_PTR(-EINVAL);
	target = kzalloc(sizeof(*target), GFP_KERNEL_ACCOUNT);
	if (!target)
		return ERR_PTR(-ENOMEM);
	err = collq_target_read(target, name);
	if (err)
		goto err_free;
	err = collq_object_init(ctx, &target->obj, &collq_target_ops);
	if (err)
		goto err_free;
	err = collq_target_join(target, ep, name);
	if (err)
		goto err_abort;
	attr->id = target->obj.id;
	target->attr = *attr;
	return target;

err_abort:
	collq_object_abort(&target->obj);
err_free:
	kfree(target);
	return ERR_PTR(err);
}

/* Called with ctx->mutex held. */
void collq_target_info(struct collq_target *target,
		       struct ib_collq_target_info *info)
{
	*info = (struct ib_collq_target_info) {
		.create = target->attr,
		.stale = target->resets != READ_ONCE(target->endpoint->resets),
	};
}
