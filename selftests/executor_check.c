// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The executor runs nothing that the kernel would refuse: what the kernel checks when a graph
 * is uploaded is checked here, by the kernel's own file.
 */
#include <errno.h>

#include "executor_internal.h"
#include "graph_check.h"

static const struct object *find(const struct rank *rank, uint32_t id)
{
	if (id < rank->first_id || id - rank->first_id >= rank->nr_objects)
		return NULL;
	return &rank->objects[id - rank->first_id];
}

/* Lists are held against the limits of the device when they are lowered. */
static int look_up_endpoint(void *data, __u32 id, struct collq_graph_endpoint *ep)
{
	const struct object *object = find(data, id);

	if (!object || object->kind == COUNTER)
		return -ENOENT;
	*ep = (struct collq_graph_endpoint){
		.kind = object->kind == MESSAGE_ENDPOINT ? IB_COLLQ_ENDPOINT_MESSAGE :
							   IB_COLLQ_ENDPOINT_SIGNAL,
		.max_send_sge = UINT32_MAX,
		.max_recv_sge = UINT32_MAX,
	};
	return 0;
}

static int look_up_counter(void *data, __u32 id)
{
	const struct object *object = find(data, id);

	return object && object->kind == COUNTER ? 0 : -ENOENT;
}

int executor_check_tasks(struct rank *rank, const struct ib_collq_task *tasks, uint32_t nr,
			 const struct collq_graph_table *table)
{
	const struct collq_graph_limits limits = {
		.features = IB_COLLQ_FEATURE_REGION | IB_COLLQ_FEATURE_CALC,
		.max_tasks = 65536,
		.max_sges = 65536,
		.max_buffers = 3,
		.max_slots = 16384,
		.max_message = UINT32_MAX,
	};
	const struct collq_graph_lookup lookup = {
		.data = rank,
		.endpoint = look_up_endpoint,
		.counter = look_up_counter,
	};
	struct collq_refusal refusal;

	if (!nr)
		return 0;
	return collq_graph_check(&limits, &lookup, tasks, nr, table->sges, table->nr_sges,
				 table->nr_buffers, &refusal);
}
