// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues, shared by all endpoints of a device that were made on the
 * same processor.
 *
 * Sharing them lets one poll take the completions of many endpoints and
 * contexts, and makes tearing an endpoint down cheap: freeing a completion queue
 * waits for a grace period. Each reserves the full depth of the send and the
 * receive queue of every queue pair on it: an overflow would break all of them.
 * They are polled in softirq, where the engine runs.
 *
 * ib_core has a pool too, but it shares with everybody who asks for softirq
 * polling, and what a process makes our completion queues do should not delay
 * storage.
 */
#include <linux/slab.h>
#include <linux/smp.h>

#include <rdma/ib_verbs.h>

#include "cq_pool.h"

#define COLLQ_FIRST_CQ_SIZE	4096
#define COLLQ_CQ_SIZE		16384

void collq_cq_pool_init(struct collq_cq_pool *pool)
{
	mutex_init(&pool->mutex);
	INIT_LIST_HEAD(&pool->cqs);
}

static void collq_cq_free(struct collq_cq *cq)
{
	list_del(&cq->node);
	ib_free_cq(cq->cq);
	kfree(cq);
}

/* All endpoints are gone. May sleep. */
void collq_cq_pool_destroy(struct collq_cq_pool *pool)
{
	struct collq_cq *cq, *next;

	list_for_each_entry_safe(cq, next, &pool->cqs, node) {
		WARN_ON_ONCE(cq->used);
		collq_cq_free(cq);
	}
	mutex_destroy(&pool->mutex);
}

static struct collq_cq *collq_cq_create(struct collq_cq_pool *pool,
					struct ib_device *ibdev, int vector,
					unsigned int depth)
{
	unsigned int size = list_empty(&pool->cqs) ? COLLQ_FIRST_CQ_SIZE :
						     COLLQ_CQ_SIZE;
	struct collq_cq *cq;
	int err;

	size = min_t(unsigned int, max(size, depth), ibdev->attrs.max_cqe);
	if (size < depth)
		return ERR_PTR(-ENOSPC);

	cq = kzalloc(sizeof(*cq), GFP_KERNEL);
	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->cq = ib_alloc_cq(ibdev, pool, size, vector, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq->cq)) {
		err = PTR_ERR(cq->cq);
		kfree(cq);
		return ERR_PTR(err);
	}
	cq->vector = vector;
	cq->size = size;
	list_add_tail(&cq->node, &pool->cqs);
	return cq;
}

/**
 * collq_cq_get - a completion queue for a queue pair
 * @pool: the device's
 * @ibdev: the device
 * @depth: depth of both queues of the queue pair together
 * @wanted: the one to take if it has room, or NULL
 *
 * Else of this processor's completion vector. May sleep.
 *
 * Return: the completion queue, or an ERR_PTR.
 */
struct collq_cq *collq_cq_get(struct collq_cq_pool *pool,
			      struct ib_device *ibdev, unsigned int depth,
			      struct collq_cq *wanted)
{
	int vector = raw_smp_processor_id() % ibdev->num_comp_vectors;
	struct collq_cq *cq;

	mutex_lock(&pool->mutex);
	cq = wanted;
	if (cq && cq->size - cq->used >= depth)
		goto found;
	list_for_each_entry(cq, &pool->cqs, node) {
		if (cq->vector == vector && cq->size - cq->used >= depth)
			goto found;
	}
	cq = collq_cq_create(pool, ibdev, vector, depth);
	if (IS_ERR(cq))
		goto out_unlock;
found:
	cq->used += depth;
out_unlock:
	mutex_unlock(&pool->mutex);
	return cq;
}

/* Gives the room back. One that is unused stays for each vector. May sleep. */
void collq_cq_put(struct collq_cq_pool *pool, struct collq_cq *cq,
		  unsigned int depth)
{
	struct collq_cq *other;

	mutex_lock(&pool->mutex);
	cq->used -= depth;
	if (cq->used)
		goto out_unlock;
	list_for_each_entry(other, &pool->cqs, node) {
		if (other != cq && other->vector == cq->vector &&
		    !other->used) {
			collq_cq_free(cq);
			break;
		}
	}
out_unlock:
	mutex_unlock(&pool->mutex);
}
