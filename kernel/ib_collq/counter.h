/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_COUNTER_H
#define COLLQ_COUNTER_H

#include <linux/spinlock.h>

#include <rdma/ib_collq.h>

#include "object.h"

struct collq_endpoint;
struct collq_eventfd;
struct collq_graph;
struct collq_queue;

/**
 * struct collq_counter - a count that WAIT tasks consume
 * @obj: common part
 * @source: IB_COLLQ_SOURCE_*
 * @initial: initial value
 * @slot: with IB_COLLQ_SOURCE_SIGNAL and @endpoint: the slot
 * @generation: and the generation of the binding
 * @eventfd: with IB_COLLQ_SOURCE_EVENTFD: the listener
 * @claimant: the graph that waits here, or last did; under ctx->claim_lock
 * @held: its endpoint is being reset: nothing claims it; under ctx->claim_lock
 * @lock: protects the following. Innermost
 * @endpoint: the endpoint behind it: given at create (named), or the one whose
 *	slot is bound to it (named while bound), else NULL. Changed under
 *	ctx->mutex as well, and not while a graph that waits here runs
 * @raised: all that was counted
 * @consumed: what WAITs have taken
 * @error: what a WAIT gets that is short; 0 as long as more may come
 * @waiter: the queue that is parked here; referenced
 * @wanted: how much it wants
 */
struct collq_counter {
	struct collq_object obj;
	u32 source;
	u64 initial;
	u16 slot;
	u16 generation;
	struct collq_eventfd *eventfd;
	struct collq_graph *claimant;
	bool held;

	spinlock_t lock;		/* all that follows */
	struct collq_endpoint *endpoint;
	u64 raised;
	u64 consumed;
	int error;
	struct collq_queue *waiter;
	u64 wanted;
};

static inline struct collq_counter *collq_counter_of(struct collq_object *obj)
{
	return container_of(obj, struct collq_counter, obj);
}

struct collq_counter *
collq_counter_create(struct collq_context *ctx,
		     struct ib_collq_counter_create *attr,
		     struct collq_endpoint *ep);
int collq_counter_raise(struct collq_counter *counter, u64 count);
void collq_counter_set_error(struct collq_counter *counter, int error);
int collq_counter_consume(struct collq_counter *counter, u64 count,
			  struct collq_queue *queue);
bool collq_counter_unpark(struct collq_counter *counter,
			  struct collq_queue *queue);
struct collq_endpoint *collq_counter_endpoint(struct collq_counter *counter);
void collq_counter_bind(struct collq_counter *counter,
			struct collq_endpoint *ep, int error);
int collq_counter_unbind(struct collq_counter *counter);
bool collq_counter_hold(struct collq_counter *counter);
void collq_counter_release(struct collq_counter *counter);
void collq_counter_restart(struct collq_counter *counter);
void collq_counter_read(struct collq_counter *counter, u64 *raised,
			u64 *consumed, int *error);

/* eventfd.c */
struct collq_eventfd *collq_eventfd_listen(int fd, struct collq_counter *counter);
void collq_eventfd_stop(struct collq_eventfd *listener);

#endif /* COLLQ_COUNTER_H */
