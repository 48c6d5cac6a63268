/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_VERBS_H
#define COLLQ_VERBS_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>

struct collq_device;
struct ib_cq;
struct ib_pd;

/**
 * struct collq_cq - a completion queue that several queue pairs share
 * @node: in &struct collq_verbs.cqs
 * @cq: the completion queue, polled in softirq
 * @size: entries
 * @used: entries spoken for: the full depth of every queue pair on it, so that
 *	it can't overflow
 */
struct collq_cq {
	struct list_head node;
	struct ib_cq *cq;
	unsigned int size;
	unsigned int used;
};

/**
 * struct collq_verbs - a context's protection domain and completion queues
 * @refs: one of the context, one of each endpoint, lingering ones included
 * @device: the device; referenced
 * @pd: the protection domain, never shared with another context
 * @mutex: protects the following
 * @cqs: completion queues
 * @nr_endpoints: queue pairs that exist
 */
struct collq_verbs {
	struct kref refs;
	struct collq_device *device;
	struct ib_pd *pd;
	struct mutex mutex;		/* all that follows */
	struct list_head cqs;
	unsigned int nr_endpoints;
};

struct collq_verbs *collq_verbs_create(struct collq_device *cd);
void collq_verbs_put(struct collq_verbs *verbs);
struct collq_cq *collq_verbs_get_cq(struct collq_verbs *verbs,
				    unsigned int depth);
void collq_verbs_put_cq(struct collq_verbs *verbs, struct collq_cq *cq,
			unsigned int depth);

#endif /* COLLQ_VERBS_H */
