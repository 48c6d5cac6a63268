/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_VERBS_H
#define COLLQ_VERBS_H

#include <linux/atomic.h>
#include <linux/kref.h>

struct collq_device;
struct ib_pd;

/**
 * struct collq_verbs - a context's protection domain and hold on the device
 * @refs: one of the context, one of each endpoint, lingering ones included
 * @device: the device; referenced
 * @pd: the protection domain, never shared with another context
 * @nr_endpoints: queue pairs that exist
 */
struct collq_verbs {
	struct kref refs;
	struct collq_device *device;
	struct ib_pd *pd;
	atomic_t nr_endpoints;
};

struct collq_verbs *collq_verbs_create(struct collq_device *cd);
void collq_verbs_put(struct collq_verbs *verbs);
int collq_verbs_add_endpoint(struct collq_verbs *verbs);
void collq_verbs_drop_endpoint(struct collq_verbs *verbs);

#endif /* COLLQ_VERBS_H */
