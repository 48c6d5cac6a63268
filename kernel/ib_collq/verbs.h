/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_VERBS_H
#define COLLQ_VERBS_H

#include <linux/atomic.h>
#include <linux/kref.h>

#include <rdma/ib_verbs.h>

#include "charge.h"

struct collq_device;

/**
 * struct collq_verbs - a context's protection domain and hold on the device
 * @refs: one of the context, one of each endpoint, lingering ones included, and of each
 *	region
 * @device: the device; referenced
 * @pd: the protection domain, never shared with another context
 * @handle: what the context is charged
 * @object: what the protection domain is charged
 * @nr_endpoints: queue pairs that exist
 * @nr_slots: slots of their send and receive queues, which drivers allocate
 *	without charging anybody
 * @port: the port that is remembered, or 0; under ctx->mutex
 * @port_until: for how long, in jiffies
 * @port_mtu: its active MTU
 * @port_lid: its LID
 */
struct collq_verbs {
	struct kref refs;
	struct collq_device *device;
	struct ib_pd *pd;
	struct collq_charge handle;
	struct collq_charge object;
	atomic_t nr_endpoints;
	atomic_t nr_slots;
	u32 port;
	unsigned long port_until;
	enum ib_mtu port_mtu;
	u16 port_lid;
};

struct collq_verbs *collq_verbs_create(struct collq_device *cd);
void collq_verbs_put(struct collq_verbs *verbs);
int collq_verbs_look_at_port(struct collq_verbs *verbs, u32 port);
int collq_verbs_add_endpoint(struct collq_verbs *verbs, unsigned int depth,
			     struct collq_charge *charge);
void collq_verbs_drop_endpoint(struct collq_verbs *verbs, unsigned int depth,
			       struct collq_charge *charge);

#endif /* COLLQ_VERBS_H */
