// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a context holds of the RDMA device apart from queue pairs: a protection
 * domain, which no other context shares.
 *
 * Endpoints may outlive their context for a while (linger.c), so this does too:
 * the last of them lets go of the protection domain. Removal of the device
 * waits for that.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include <rdma/ib_verbs.h>

#include "device.h"
#include "limits.h"
#include "verbs.h"

static void collq_verbs_uncharge(struct collq_verbs *verbs,
				 struct ib_device *ibdev)
{
	collq_uncharge(&verbs->object, ibdev, COLLQ_CHARGE_OBJECT);
	collq_uncharge(&verbs->handle, ibdev, COLLQ_CHARGE_HANDLE);
}

/* May sleep. Called with the device's mutex held and the device alive. */
struct collq_verbs *collq_verbs_create(struct collq_device *cd)
{
	struct collq_verbs *verbs;
	int err;

	verbs = kzalloc(sizeof(*verbs), GFP_KERNEL_ACCOUNT);
	if (!verbs)
		return ERR_PTR(-ENOMEM);

	err = collq_charge(&verbs->handle, cd->ibdev, COLLQ_CHARGE_HANDLE);
	if (err)
		goto err_free;
	err = collq_charge(&verbs->object, cd->ibdev, COLLQ_CHARGE_OBJECT);
	if (err)
		goto err_uncharge;
	verbs->pd = ib_alloc_pd(cd->ibdev, 0);
	if (IS_ERR(verbs->pd)) {
		err = PTR_ERR(verbs->pd);
		goto err_uncharge;
	}

	kref_init(&verbs->refs);
	verbs->device = collq_device_get(cd);
	atomic_inc(&cd->nr_verbs);
	return verbs;

err_uncharge:
	collq_verbs_uncharge(verbs, cd->ibdev);
err_free:
	kfree(verbs);
	return ERR_PTR(err);
}

static void collq_verbs_release(struct kref *refs)
{
	struct collq_verbs *verbs = container_of(refs, struct collq_verbs, refs);
	struct collq_device *cd = verbs->device;

	ib_dealloc_pd(verbs->pd);
	collq_verbs_uncharge(verbs, cd->ibdev);
	kfree(verbs);

	if (atomic_dec_and_test(&cd->nr_verbs))
		wake_up_all(&cd->verbs_gone);
	collq_device_put(cd);
}

/* May sleep. */
void collq_verbs_put(struct collq_verbs *verbs)
{
	kref_put(&verbs->refs, collq_verbs_release);
}

/*
 * Finds out a port's MTU and LID. Asking the device is slow, and rxe writes a
 * line to the kernel log each time, so the answer is good for a second. Called
 * with the context's mutex held. May sleep.
 */
int collq_verbs_look_at_port(struct collq_verbs *verbs, u32 port)
{
	struct ib_port_attr attr;
	int err;

	if (verbs->port == port && time_before(jiffies, verbs->port_until))
		return 0;
	err = ib_query_port(verbs->pd->device, port, &attr);
	if (err)
		return err;
	verbs->port = port;
	verbs->port_until = jiffies + HZ;
	verbs->port_mtu = attr.active_mtu;
	verbs->port_lid = attr.lid;
	return 0;
}

/*
 * Room for one more queue pair, of that depth on both sides together, which then
 * has a reference: 0, -ENOSPC or -ENOMEM. May sleep.
 */
int collq_verbs_add_endpoint(struct collq_verbs *verbs, unsigned int depth,
			     struct collq_charge *charge)
{
	int err = -ENOSPC;

	if (!atomic_add_unless(&verbs->nr_endpoints, 1, COLLQ_MAX_ENDPOINTS))
		return -ENOSPC;
	if (atomic_add_return(depth, &verbs->nr_slots) > COLLQ_MAX_QP_SLOTS)
		goto err_sub;
	err = collq_charge(charge, verbs->pd->device, COLLQ_CHARGE_OBJECT);
	if (err)
		goto err_sub;
	kref_get(&verbs->refs);
	return 0;

err_sub:
	atomic_sub(depth, &verbs->nr_slots);
	atomic_dec(&verbs->nr_endpoints);
	return err;
}

/* The queue pair is destroyed. May sleep. */
void collq_verbs_drop_endpoint(struct collq_verbs *verbs, unsigned int depth,
			       struct collq_charge *charge)
{
	collq_uncharge(charge, verbs->pd->device, COLLQ_CHARGE_OBJECT);
	atomic_sub(depth, &verbs->nr_slots);
	atomic_dec(&verbs->nr_endpoints);
	collq_verbs_put(verbs);
}
