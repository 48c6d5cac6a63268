/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The kernel's commands, one function each: see rdma/ib_collq.h for what they do
 * and collq_endpoint_create(3). The caller fills in the structure, all but its
 * size; what the kernel returns is written back, also when the command fails.
 * Those that take an array stop at the first entry that fails: they return the
 * number of entries done, or the error of the first one if none was.
 */
#ifndef COLLQ_RAW_H
#define COLLQ_RAW_H

#include <stdint.h>

#include <rdma/ib_collq.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct collq_context;
struct collq_graph;
struct collq_graph_binding;
struct collq_ring;
struct ibv_mr;
struct ibv_pd;

int collq_query(struct collq_context *context, struct ib_collq_query *query);
int collq_object_describe(struct collq_context *context,
			  struct ib_collq_object_describe *describe);
int collq_context_describe(struct collq_context *context,
			   struct ib_collq_context_describe *describe);
int collq_object_destroy(struct collq_context *context,
			 struct ib_collq_object_destroy *entries, uint32_t nr);
int collq_object_reset(struct collq_context *context, struct ib_collq_object_reset *reset);
int collq_region_create(struct collq_context *context,
			struct ib_collq_region_create *region);
int collq_region_create_mr(struct collq_context *context, const struct ibv_mr *mr,
			   struct ib_collq_region_create *region);
int collq_zone_offer(struct collq_context *context, struct ib_collq_zone_offer *zone);
int collq_target_create(struct collq_context *context,
			struct ib_collq_target_create *target);
int collq_endpoint_create(struct collq_context *context,
			  struct ib_collq_endpoint_create *entries, uint32_t nr);
int collq_endpoint_create_pd(struct collq_context *context, const struct ibv_pd *pd,
			     struct ib_collq_endpoint_create *endpoint);
int collq_endpoint_connect(struct collq_context *context,
			   struct ib_collq_endpoint_connect *entries, uint32_t nr);
int collq_capacity_reserve(struct collq_context *context,
			   struct ib_collq_capacity *entries, uint32_t nr);
int collq_capacity_release(struct collq_context *context,
			   struct ib_collq_capacity *entries, uint32_t nr);
int collq_slot_bind(struct collq_context *context, struct ib_collq_slot_bind *entries,
		    uint32_t nr);
int collq_slot_unbind(struct collq_context *context, struct ib_collq_slot_bind *entries,
		      uint32_t nr);
int collq_counter_create(struct collq_context *context,
			 struct ib_collq_counter_create *entries, uint32_t nr);
int collq_counter_raise(struct collq_context *context, struct ib_collq_counter_raise *counter);
int collq_counter_read(struct collq_context *context, struct ib_collq_counter_read *counter);
int collq_ring_create(struct collq_context *context, struct ib_collq_ring_create *ring);
int collq_queue_create(struct collq_context *context, struct ib_collq_queue_create *queue);
int collq_graph_create(struct collq_context *context, struct ib_collq_graph_create *graph);
int collq_queue_submit(struct collq_context *context, struct ib_collq_queue_submit *submit);
int collq_queue_wait(struct collq_context *context, struct ib_collq_queue_wait *wait);
int collq_queue_submit_wait(struct collq_context *context,
			    struct ib_collq_queue_submit_wait *submit_wait);
int collq_queue_cancel(struct collq_context *context, struct ib_collq_queue_cancel *cancel);

/**
 * collq_endpoint_defaults() - fill in what a signal endpoint needs
 * @context: the context
 * @peer: rank of the peer
 * @endpoint: out: as communicators create theirs: the context's port and GID,
 *	timeouts, probe interval and capacities by the environment
 */
void collq_endpoint_defaults(const struct collq_context *context, uint32_t peer,
			     struct ib_collq_endpoint_create *endpoint);

/**
 * collq_graph_upload() - lower a graph and create it in the kernel
 * @context: the context
 * @graph: the graph
 * @binding: what its channels stand for; without limits, those of the context
 * @id: out: the kernel's graph
 *
 * Return: 0, or as collq_graph_lower() and collq_graph_create(); -EINVAL if the
 * graph is empty.
 */
int collq_graph_upload(struct collq_context *context, const struct collq_graph *graph,
		       const struct collq_graph_binding *binding, uint32_t *id);

/**
 * collq_ring_open() - make a ring for completions, and map it
 * @context: the context
 * @entries: number of entries, a power of two
 * @eventfd: an eventfd to signal at each completion, or -1
 * @ring: out: the ring
 *
 * Return: 0, or an error of IB_COLLQ_RING_CREATE or of mmap().
 */
int collq_ring_open(struct collq_context *context, uint32_t entries, int eventfd,
		    struct collq_ring **ring);

/**
 * collq_ring_close() - unmap and destroy a ring
 * @ring: the ring, or NULL
 *
 * Return: 0, or -EBUSY if it has queues.
 */
int collq_ring_close(struct collq_ring *ring);

/**
 * collq_ring_id() - the kernel's id of a ring
 * @ring: the ring
 *
 * Return: the id.
 */
uint32_t collq_ring_id(const struct collq_ring *ring);

/**
 * collq_ring_reap() - take completions out of a ring
 * @ring: the ring
 * @entries: out: the completions
 * @nr: room there
 *
 * Makes no system call.
 *
 * Return: how many there were, 0..@nr.
 */
uint32_t collq_ring_reap(struct collq_ring *ring, struct ib_collq_completion *entries,
			 uint32_t nr);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* COLLQ_RAW_H */
