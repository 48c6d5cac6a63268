// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel's commands, one function each, on the caller's structures.
 *
 * What a structure looked like when a function was added to the symbol map is
 * part of that function: a structure that grows gets its function a new symbol
 * version, so that an old program's shorter one isn't read beyond its end.
 */
#include <errno.h>
#include <stdlib.h>

#include <infiniband/verbs.h>
#include <rdma/ib_collq_uverbs.h>

#include "collq/collq.h"

#include "context.h"
#include "ioctl.h"
#include "log.h"
#include "sized.h"
#include "verbs.h"

int collq_query(struct collq_context *context, struct ib_collq_query *query)
{
	query->size = sizeof(*query);
	return collq_ioctl(context, IB_COLLQ_QUERY, query);
}

int collq_object_describe(struct collq_context *context,
			  struct ib_collq_object_describe *describe)
{
	describe->size = sizeof(*describe);
	return collq_ioctl(context, IB_COLLQ_OBJECT_DESCRIBE, describe);
}

int collq_context_describe(struct collq_context *context,
			   struct ib_collq_context_describe *describe)
{
	describe->size = sizeof(*describe);
	return collq_ioctl(context, IB_COLLQ_CONTEXT_DESCRIBE, describe);
}

int collq_object_destroy(struct collq_context *context,
			 struct ib_collq_object_destroy *entries, uint32_t nr)
{
	return collq_ioctl_batch(context, IB_COLLQ_OBJECT_DESTROY, entries, sizeof(*entries), nr);
}

int collq_object_reset(struct collq_context *context, struct ib_collq_object_reset *reset)
{
	reset->size = sizeof(*reset);
	return collq_ioctl(context, IB_COLLQ_OBJECT_RESET, reset);
}

int collq_region_create(struct collq_context *context, struct ib_collq_region_create *region)
{
	region->size = sizeof(*region);
	return collq_ioctl(context, IB_COLLQ_REGION_CREATE, region);
}

/* By character device the memory of a memory region becomes a region of its own. */
static int register_again(struct collq_context *context, const struct ibv_mr *mr,
			  struct ib_collq_region_create *region)
{
	struct ib_collq_region_create own = *region;
	int err;

	if (region->type != IB_COLLQ_REGION_MR || region->length > mr->length ||
	    region->address > mr->length - region->length)
		return -EINVAL;
	own.type = IB_COLLQ_REGION_USER;
	own.address += (uintptr_t)mr->addr;
	err = collq_region_create(context, &own);
	region->id = own.id;
	return err;
}

int collq_region_create_mr(struct collq_context *context, const struct ibv_mr *mr,
			   struct ib_collq_region_create *region)
{
	const struct collq_loan loan = { .attr = IB_COLLQ_ATTR_MR, .handle = mr->handle };

	if (!context->verbs)
		return register_again(context, mr, region);
	region->size = sizeof(*region);
	return collq_ioctl_lend(context, IB_COLLQ_REGION_CREATE, region, sizeof(*region), &loan);
}

int collq_zone_offer(struct collq_context *context, struct ib_collq_zone_offer *zone)
{
	zone->size = sizeof(*zone);
	return collq_ioctl(context, IB_COLLQ_ZONE_OFFER, zone);
}

int collq_target_create(struct collq_context *context, struct ib_collq_target_create *target)
{
	target->size = sizeof(*target);
	return collq_ioctl(context, IB_COLLQ_TARGET_CREATE, target);
}

int collq_endpoint_create(struct collq_context *context,
			  struct ib_collq_endpoint_create *entries, uint32_t nr)
{
	return collq_ioctl_batch(context, IB_COLLQ_ENDPOINT_CREATE, entries, sizeof(*entries), nr);
}

int collq_endpoint_create_pd(struct collq_context *context, const struct ibv_pd *pd,
			     struct ib_collq_endpoint_create *endpoint)
{
	const struct collq_loan loan = { .attr = IB_COLLQ_ATTR_PD, .handle = pd->handle };

	return collq_ioctl_lend(context, IB_COLLQ_ENDPOINT_CREATE, endpoint, sizeof(*endpoint),
				&loan);
}

int collq_endpoint_connect(struct collq_context *context,
			   struct ib_collq_endpoint_connect *entries, uint32_t nr)
{
	return collq_ioctl_batch(context, IB_COLLQ_ENDPOINT_CONNECT, entries, sizeof(*entries), nr);
}

int collq_capacity_reserve(struct collq_context *context,
			   struct ib_collq_capacity *entries, uint32_t nr)
{
	return collq_ioctl_batch(context, IB_COLLQ_CAPACITY_RESERVE, entries, sizeof(*entries), nr);
}

int collq_capacity_release(struct collq_context *context,
			   struct ib_collq_capacity *entries, uint32_t nr)
{
	return collq_ioctl_batch(context, IB_COLLQ_CAPACITY_RELEASE, entries, sizeof(*entries), nr);
}

int collq_slot_bind(struct collq_context *context,
		    struct ib_collq_slot_bind *entries, uint32_t nr)
{
	return collq_ioctl_batch(context, IB_COLLQ_SLOT_BIND, entries, sizeof(*entries), nr);
}

int collq_slot_unbind(struct collq_context *context,
		      struct ib_collq_slot_bind *entries, uint32_t nr)
{
	return collq_ioctl_batch(context, IB_COLLQ_SLOT_UNBIND, entries, sizeof(*entries), nr);
}

int collq_counter_create(struct collq_context *context,
			 struct ib_collq_counter_create *entries, uint32_t nr)
{
	return collq_ioctl_batch(context, IB_COLLQ_COUNTER_CREATE, entries, sizeof(*entries), nr);
}

int collq_counter_raise(struct collq_context *context, struct ib_collq_counter_raise *counter)
{
	counter->size = sizeof(*counter);
	return collq_ioctl(context, IB_COLLQ_COUNTER_RAISE, counter);
}

int collq_counter_read(struct collq_context *context, struct ib_collq_counter_read *counter)
{
	counter->size = sizeof(*counter);
	return collq_ioctl(context, IB_COLLQ_COUNTER_READ, counter);
}

int collq_ring_create(struct collq_context *context, struct ib_collq_ring_create *ring)
{
	ring->size = sizeof(*ring);
	return collq_ioctl(context, IB_COLLQ_RING_CREATE, ring);
}

int collq_queue_create(struct collq_context *context, struct ib_collq_queue_create *queue)
{
	queue->size = sizeof(*queue);
	return collq_ioctl(context, IB_COLLQ_QUEUE_CREATE, queue);
}

int collq_graph_create(struct collq_context *context, struct ib_collq_graph_create *graph)
{
	graph->size = sizeof(*graph);
	return collq_ioctl(context, IB_COLLQ_GRAPH_CREATE, graph);
}

int collq_queue_submit(struct collq_context *context, struct ib_collq_queue_submit *submit)
{
	submit->size = sizeof(*submit);
	return collq_ioctl(context, IB_COLLQ_QUEUE_SUBMIT, submit);
}

int collq_queue_wait(struct collq_context *context, struct ib_collq_queue_wait *wait)
{
	wait->size = sizeof(*wait);
	return collq_ioctl(context, IB_COLLQ_QUEUE_WAIT, wait);
}

int collq_queue_submit_wait(struct collq_context *context,
			    struct ib_collq_queue_submit_wait *submit_wait)
{
	submit_wait->size = sizeof(*submit_wait);
	return collq_ioctl(context, IB_COLLQ_QUEUE_SUBMIT_WAIT, submit_wait);
}

int collq_queue_cancel(struct collq_context *context, struct ib_collq_queue_cancel *cancel)
{
	cancel->size = sizeof(*cancel);
	return collq_ioctl(context, IB_COLLQ_QUEUE_CANCEL, cancel);
}

int collq_graph_upload(struct collq_context *context, const struct collq_graph *graph,
		       const struct collq_graph_binding *binding, uint32_t *id)
{
	struct collq_graph_binding limited;
	struct ib_collq_graph_create create = { .task_size = sizeof(struct ib_collq_task) };
	struct collq_graph_table table = { .size = sizeof(table) };
	struct ib_collq_task *tasks;
	int err;

	err = collq_sized_take(&limited, sizeof(limited), binding);
	if (err)
		return err;
	if (!limited.limits)
		limited.limits = &context->limits;
	err = collq_graph_lower(graph, &limited, &tasks, &create.nr_tasks);
	if (err)
		return err;
	if (!create.nr_tasks)
		return -EINVAL;
	create.tasks = (uintptr_t)tasks;
	collq_graph_table(graph, &table);
	create.nr_sges = table.nr_sges;
	create.sge_size = sizeof(*table.sges);
	create.sges = (uintptr_t)table.sges;
	create.nr_buffers = table.nr_buffers;
	err = collq_graph_create(context, &create);
	free(tasks);
	if (err) {
		if (create.refused_reason)
			collq_warn("task %u refused: reason %u, %llu of %llu", create.refused_task,
				   create.refused_reason,
				   (unsigned long long)create.refused_needed,
				   (unsigned long long)create.refused_limit);
		return err;
	}
	*id = create.id;
	return 0;
}
