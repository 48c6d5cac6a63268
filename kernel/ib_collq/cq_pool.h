/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_CQ_POOL_H
#define COLLQ_CQ_POOL_H

#include <linux/list.h>
#include <linux/mutex.h>

struct ib_cq;
struct ib_device;

/**
 * struct collq_cq - a completion queue that many queue pairs share
 * @node: in the pool
 * @cq: the completion queue, polled in softirq
 * @vector: its completion vector
 * @size: entries
 * @used: entries spoken for: the full depth of every queue pair on it, so that
 *	it can't overflow
 */
struct collq_cq {
	struct list_head node;
	struct ib_cq *cq;
	int vector;
	unsigned int size;
	unsigned int used;
};

/**
 * struct collq_cq_pool - a device's completion queues
 * @mutex: protects the list and what is in it
 * @cqs: completion queues
 */
struct collq_cq_pool {
	struct mutex mutex;		/* all of it */
	struct list_head cqs;
};

void collq_cq_pool_init(struct collq_cq_pool *pool);
void collq_cq_pool_destroy(struct collq_cq_pool *pool);
struct collq_cq *collq_cq_get(struct collq_cq_pool *pool,
			      struct ib_device *ibdev, unsigned int depth,
			      struct collq_cq *wanted);
void collq_cq_put(struct collq_cq_pool *pool, struct collq_cq *cq,
		  unsigned int depth);

#endif /* COLLQ_CQ_POOL_H */
