// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a context holds of the RDMA device apart from queue pairs: a protection
 * domain and a few completion queues.
 *
 * Completion queues are shared by the endpoints of a context, since freeing one
 * waits for a grace period. Each reserves the full depth of the send and the
 * receive queue of every queue pair on it: an overflow would break all of them.
 * They are polled in softirq, where the engine runs.
 *
 * Endpoints may outlive their context for a while (linger.c), so this does too:
 * the last of them lets go of the protection domain. Removal of the device
 * waits for that.
 */
#include <linux/slab.h>

#include <rdma/ib_verbs.h>

#include "device.h"
#include "limits.h"
#include "verbs.h"

#define COLLQ_FIRST_CQ_SIZE	1024
#define COLLQ_MAX_CQ_SIZE	16384

/* May sleep. Called under the device's SRCU, so that the device is there. */
struct collq_verbs *collq_verbs_create(struct collq_device *cd)
{
	struct collq_verbs *verbs;
	struct ib_pd *pd;

	verbs = kzalloc(sizeof(*verbs), GFP_KERNEL_ACCOUNT);
	if (!verbs)
		return ERR_PTR(-ENOMEM);

	pd = ib_alloc_pd(cd->ibdev, 0);
	if (IS_ERR(pd)) {
		kfree(verbs);
		return ERR_CAST(pd);
	}

	kref_init(&verbs->refs);
	mutex_init(&verbs->mutex);
	INIT_LIST_HEAD(&verbs->cqs);
	verbs->pd = pd;
	verbs->device = collq_device_get(cd);
	atomic_inc(&cd->nr_verbs);
	return verbs;
}

static void collq_verbs_release(struct kref *refs)
{
	struct collq_verbs *verbs = container_of(refs, struct collq_verbs, refs);
	struct collq_device *cd = verbs->device;
	struct collq_cq *cq, *next;

	list_for_each_entry_safe(cq, next, &verbs->cqs, node) {
		WARN_ON_ONCE(cq->used);
		ib_free_cq(cq->cq);
		kfree(cq);
	}
	ib_dealloc_pd(verbs->pd);
	mutex_destroy(&verbs->mutex);
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

static struct collq_cq *collq_cq_create(struct collq_verbs *verbs,
					unsigned int depth)
{
	struct ib_device *ibdev = verbs->pd->device;
	unsigned int size = COLLQ_FIRST_CQ_SIZE;
	struct collq_cq *last, *cq;

	/* A context that needs a second one is likely to need many entries. */
	if (!list_empty(&verbs->cqs)) {
		last = list_last_entry(&verbs->cqs, struct collq_cq, node);
		size = min_t(unsigned int, 4 * last->size, COLLQ_MAX_CQ_SIZE);
	}
	size = max(size, depth);
	size = min_t(unsigned int, size, ibdev->attrs.max_cqe);
	if (size < depth)
		return ERR_PTR(-ENOSPC);

	cq = kzalloc(sizeof(*cq), GFP_KERNEL_ACCOUNT);
	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->cq = ib_alloc_cq_any(ibdev, verbs, size, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq->cq)) {
		struct ib_cq *err = cq->cq;

		kfree(cq);
		return ERR_CAST(err);
	}
	cq->size = size;
	list_add_tail(&cq->node, &verbs->cqs);
	return cq;
}

/*
 * A completion queue with room for a queue pair of this depth, both queues
 * together. Takes a reference on @verbs. May sleep.
 */
struct collq_cq *collq_verbs_get_cq(struct collq_verbs *verbs,
				    unsigned int depth)
{
	struct collq_cq *cq;

	mutex_lock(&verbs->mutex);
	if (verbs->nr_endpoints >= COLLQ_MAX_ENDPOINTS) {
		cq = ERR_PTR(-ENOSPC);
		goto out_unlock;
	}
	list_for_each_entry(cq, &verbs->cqs, node) {
		if (cq->size - cq->used >= depth)
			goto found;
	}
	cq = collq_cq_create(verbs, depth);
	if (IS_ERR(cq))
		goto out_unlock;
found:
	cq->used += depth;
	verbs->nr_endpoints++;
	kref_get(&verbs->refs);
out_unlock:
	mutex_unlock(&verbs->mutex);
	return cq;
}

/* Gives the room and the reference back. May sleep. */
void collq_verbs_put_cq(struct collq_verbs *verbs, struct collq_cq *cq,
			unsigned int depth)
{
	mutex_lock(&verbs->mutex);
	cq->used -= depth;
	verbs->nr_endpoints--;
	mutex_unlock(&verbs->mutex);
	collq_verbs_put(verbs);
}
