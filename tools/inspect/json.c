// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * For programs: all that text has, and a little more. What isn't known or doesn't
 * apply is null.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "names.h"
#include "output.h"

#define JSON_DIGITS	12

/* Millions of seconds, down to the millisecond that the kernel's clock is good for */
static json_t *seconds(const struct snapshot *snapshot, uint64_t since)
{
	return json_real((uint64_t)(snapshot_age(snapshot, since) * 1000) / 1000.0);
}

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *number_unless(uint32_t value, uint32_t nothing)
{
	return value == nothing ? json_null() : number(value);
}

static json_t *error(int32_t error)
{
	if (!error)
		return json_null();
	return json_pack("{s:i, s:s}", "errno", -error, "text", strerror(-error));
}

static json_t *append(json_t *array, json_t *value)
{
	if (!array || json_array_append_new(array, value)) {
		json_decref(array);
		return NULL;
	}
	return array;
}

static json_t *json_wait(const struct queue *queue)
{
	const struct ib_collq_task *task = snapshot_task(queue);
	const struct counter *counter = queue->counter;
	const struct endpoint *endpoint = queue->endpoint;

	if (!counter && !endpoint)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"counter", counter ? number(counter->info.create.id) : json_null(),
		"source", json_string(counter ? name_of_source(counter->info.create.source) :
						"capacity"),
		"raised", counter ? number(counter->info.raised) : json_null(),
		"consumed", counter ? number(counter->info.consumed) : json_null(),
		"count", counter && task ? number(task->count) : json_null(),
		"endpoint", endpoint ? number(endpoint->info.create.id) : json_null(),
		"peer", endpoint ? number(endpoint->info.create.peer) : json_null(),
		"slot", counter && endpoint &&
			counter->info.create.source == IB_COLLQ_SOURCE_SIGNAL ?
			number(counter->info.bound_slot) : json_null());
}

static json_t *json_queue(const struct snapshot *snapshot, const struct queue *queue)
{
	const struct ib_collq_queue_info *info = &queue->info;
	bool in_task = info->task != IB_COLLQ_NO_TASK;

	return json_pack("{s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
		"id", number(info->id),
		"rank", number_unless(queue->rank, NO_RANK),
		"state", name_of_queue_state(info->state),
		"for", seconds(snapshot, info->since),
		"error", error(info->error),
		"graph", number_unless(info->graph, 0),
		"task", number_unless(info->task, IB_COLLQ_NO_TASK),
		"tasks", number_unless(queue->nr_tasks, 0),
		"label", in_task ? number(info->label) : json_null(),
		"waits_for", json_wait(queue),
		"submitted", number(info->submitted),
		"completed", number(info->completed),
		"copied", number(info->copied),
		"sges", number(info->sges),
		"ring", number(info->ring));
}

static json_t *json_peer(const struct endpoint *endpoint)
{
	char address[PEER_ADDRESS_SIZE];

	if (endpoint->info.state == IB_COLLQ_ENDPOINT_NEW)
		return json_null();
	if (!endpoint->peer) {
		name_of_peer_address(endpoint, address);
		return json_pack("{s:s}", "address", address);
	}
	return json_pack("{s:s, s:o, s:o}",
		"device", endpoint->peer->context->device->name,
		"context", number(endpoint->peer->context->info.id),
		"endpoint", number(endpoint->peer->info.create.id));
}

static json_t *json_endpoint(const struct endpoint *endpoint)
{
	const struct ib_collq_endpoint_info *info = &endpoint->info;

	return json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o}",
		"id", number(info->create.id),
		"peer", number(info->create.peer),
		"beside", number_unless(info->create.signal_endpoint, 0),
		"state", name_of_endpoint_state(info->state),
		"error", error(info->error),
		"sends", number(info->sends),
		"sends_done", number(info->sends_done),
		"messages", number(info->messages),
		"dropped", number(info->dropped),
		"local", (int)info->is_local,
		"local_sends", number(info->local_sends),
		"local_messages", number(info->local_messages),
		"leads_to", json_peer(endpoint));
}

static json_t *json_ring(const struct ring *ring)
{
	return json_pack("{s:o, s:o, s:o, s:o}",
		"id", number(ring->info.create.id),
		"entries", number(ring->info.create.entries),
		"reserved", number(ring->info.reserved),
		"unread", number(ring->info.unread));
}

static json_t *json_region(const struct region *region)
{
	const struct ib_collq_region_info *info = &region->info;

	return json_pack("{s:o, s:b, s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:o}",
		"id", number(info->create.id),
		"mr", info->create.type == IB_COLLQ_REGION_MR,
		"parts", number(info->create.nr_parts),
		"address", number(info->create.address),
		"length", number(info->create.length),
		"writable", !!(info->create.access & IB_COLLQ_ACCESS_WRITE),
		"stale", (int)info->stale,
		"pinned", number(snapshot_pinned(region)),
		"registrations", number(info->registrations),
		"uses", number(info->uses));
}

static int add_details(json_t *object, const struct context *context)
{
	json_t *endpoints = json_array(), *rings = json_array(), *regions = json_array();
	uint32_t i;

	for (i = 0; i < context->nr_endpoints; i++)
		endpoints = append(endpoints, json_endpoint(&context->endpoints[i]));
	for (i = 0; i < context->nr_rings; i++)
		rings = append(rings, json_ring(&context->rings[i]));
	for (i = 0; i < context->nr_regions; i++)
		regions = append(regions, json_region(&context->regions[i]));
	return json_object_set_new(object, "endpoints", endpoints) ||
	       json_object_set_new(object, "rings", rings) ||
	       json_object_set_new(object, "regions", regions) ? -ENOMEM : 0;
}

static json_t *json_context(const struct snapshot *snapshot, const struct context *context,
			    bool details)
{
	json_t *queues = json_array(), *object;
	uint32_t i;

	for (i = 0; i < context->nr_queues; i++)
		queues = append(queues, json_queue(snapshot, &context->queues[i]));
	object = json_pack("{s:s, s:o, s:o, s:s, s:s, s:b, s:o, s:s, s:o, s:o, s:o, s:o}",
			   "device", context->device->name,
			   "context", number(context->info.id),
			   "pid", number_unless(context->info.pid, 0),
			   "command", context->comm,
			   "process", context->process,
			   "busy", context->busy,
			   "uid", number(context->info.uid),
			   "user", context->user,
			   "age", seconds(snapshot, context->info.created),
			   "objects", number(context->info.nr_objects),
			   "pinned", number(context->pinned),
			   "queues", queues);
	if (object && details && add_details(object, context)) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *json_victim(const struct queue *queue)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o}",
		"device", queue->context->device->name,
		"context", number(queue->context->info.id),
		"pid", number_unless(queue->context->info.pid, 0),
		"queue", number(queue->info.id),
		"rank", number_unless(queue->rank, NO_RANK));
}

static json_t *json_blame(const struct snapshot *snapshot, const struct blame *blame)
{
	const struct context *context = blame->context;
	json_t *victims = json_array();
	uint32_t i;

	for (i = 0; i < blame->nr_victims; i++)
		victims = append(victims, json_victim(blame->victims[i]));
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"reason", name_of_reason(blame->reason),
		"rank", number_unless(blame->rank, NO_RANK),
		"device", context ? json_string(context->device->name) : json_null(),
		"context", context ? number(context->info.id) : json_null(),
		"pid", context ? number_unless(context->info.pid, 0) : json_null(),
		"command", context ? json_string(context->comm) : json_null(),
		"process", context ? json_string(context->process) : json_null(),
		"queue", blame->queue ? number(blame->queue->info.id) : json_null(),
		"for", seconds(snapshot, blame->since),
		"holds_up", victims);
}

int output_json(const struct snapshot *snapshot, const struct blame *blames, unsigned int nr,
		bool details)
{
	json_t *contexts = json_array(), *blame = json_array(), *all;
	unsigned int i;
	int rc;

	for (i = 0; i < snapshot->nr; i++)
		contexts = append(contexts, json_context(snapshot, snapshot->contexts[i],
							 details));
	for (i = 0; i < nr; i++)
		blame = append(blame, json_blame(snapshot, &blames[i]));
	all = json_pack("{s:o, s:o}", "contexts", contexts, "blame", blame);
	rc = all ? json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(JSON_DIGITS)) :
		   -ENOMEM;
	putchar('\n');
	json_decref(all);
	return rc ? -ENOMEM : 0;
}
