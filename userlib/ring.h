/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_RING_H
#define COLLQ_RING_H

#include <stdbool.h>

#include "collq/collq.h"

/* As collq_ring_open(), but doesn't count as the caller's. */
int collq_ring_map(struct collq_context *ctx, uint32_t entries, int eventfd,
		   struct collq_ring **ring);
int collq_ring_unmap(struct collq_ring *ring);
/* When its descriptor is about to go: the kernel isn't asked to destroy it. */
void collq_ring_forget(struct collq_ring *ring);

/*
 * Looking at entries, and giving them back, are two steps: an entry looked at
 * still counts as there for poll(2) and IB_COLLQ_QUEUE_WAIT until it's released.
 * Entries are numbered from 0, modulo 2^32.
 */
bool collq_ring_has_next(const struct collq_ring *ring);
bool collq_ring_next(struct collq_ring *ring, struct ib_collq_completion *entry);
uint32_t collq_ring_seen(const struct collq_ring *ring);
void collq_ring_release(struct collq_ring *ring, uint32_t up_to);

#endif /* COLLQ_RING_H */
