// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Reading contexts and objects.
 *
 * The kernel tells of one object at a time, while everything goes on. So each
 * may be gone when its turn comes, and two that are read one after the other may
 * never have been like that at the same time. The former is no error. As to the
 * latter, queues are read twice, with all others between: those that are the same
 * both times were all so at one moment in between.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "process.h"
#include "snapshot.h"

/* How long reading one context may take, in ns */
#define READ_LIMIT	10000000000ULL

/* Of any object */
union info {
	struct ib_collq_endpoint_info endpoint;
	struct ib_collq_counter_info counter;
	struct ib_collq_graph_info graph;
	struct ib_collq_queue_info queue;
	struct ib_collq_ring_info ring;
	struct ib_collq_region_info region;
};

static int device_ioctl(const struct device *device, unsigned long command, void *arg)
{
	return ioctl(device->fd, command, arg) ? -errno : 0;
}

/* What vanishes isn't an error: an object, its context, or all of the device. */
static bool has_gone(int err)
{
	return err == -ENOENT || err == -ENODEV;
}

static uint64_t time_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

uint64_t snapshot_pinned(const struct region *region)
{
	return region->info.pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

double snapshot_age(const struct snapshot *snapshot, uint64_t time)
{
	return time < snapshot->now ? (snapshot->now - time) / 1e9 : 0;
}

static int describe(const struct context *context, struct ib_collq_object_describe *describe,
		    union info *info)
{
	memset(info, 0, sizeof(*info));
	describe->size = sizeof(*describe);
	describe->context = context->info.id;
	describe->info = (uintptr_t)info;
	describe->info_size = sizeof(*info);
	return device_ioctl(context->device, IB_COLLQ_OBJECT_DESCRIBE, describe);
}

/*
 * An object with its table, of so many entries as have been announced. @info and
 * the table go together; -ENOENT if it's another type by now.
 */
static int read_table(const struct context *context, uint32_t id, uint32_t type, uint32_t nr,
		      size_t entry_size, union info *info, void **table, uint32_t *nr_read)
{
	struct ib_collq_object_describe attr = {
		.id = id,
		.nr = nr,
		.entry_size = entry_size,
	};
	void *entries;
	int err;

	entries = calloc(nr + 1, entry_size);
	if (!entries)
		return -ENOMEM;
	attr.entries = (uintptr_t)entries;
	err = describe(context, &attr, info);
	if (!err && attr.type != type)
		err = -ENOENT;
	if (err) {
		free(entries);
		return err;
	}
	*table = entries;
	*nr_read = attr.nr < nr ? attr.nr : nr;
	return 0;
}

/* Room for one more in the array that @array points to: it, zeroed, or NULL. */
static void *grow(void *array, uint32_t *nr, size_t size)
{
	char *base, *element;

	memcpy(&base, array, sizeof(base));
	/* A power of two, or none yet, is full. */
	if (!(*nr & (*nr - 1))) {
		base = realloc(base, (*nr ? 2 * (size_t)*nr : 1) * size);
		if (!base)
			return NULL;
		memcpy(array, &base, sizeof(base));
	}
	element = base + size * (*nr)++;
	memset(element, 0, size);
	return element;
}

static int add_endpoint(struct context *context, const union info *info)
{
	struct endpoint *endpoint;

	endpoint = grow(&context->endpoints, &context->nr_endpoints, sizeof(*endpoint));
	if (!endpoint)
		return -ENOMEM;
	endpoint->context = context;
	endpoint->info = info->endpoint;
	return 0;
}

static int add_counter(struct context *context, const union info *info)
{
	struct counter *counter;

	counter = grow(&context->counters, &context->nr_counters, sizeof(*counter));
	if (!counter)
		return -ENOMEM;
	counter->info = info->counter;
	return 0;
}

static int add_ring(struct context *context, const union info *info)
{
	struct ring *ring;

	ring = grow(&context->rings, &context->nr_rings, sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	ring->info = info->ring;
	return 0;
}

static int add_region(struct context *context, const union info *info)
{
	struct region *region;

	region = grow(&context->regions, &context->nr_regions, sizeof(*region));
	if (!region)
		return -ENOMEM;
	region->info = info->region;
	context->pinned += snapshot_pinned(region);
	return 0;
}

static int add_queue(struct context *context, uint32_t id, uint32_t nr_links)
{
	struct ib_collq_queue_endpoint *links;
	struct queue *queue;
	union info info;
	uint32_t nr;
	void *table;
	int err;

	err = read_table(context, id, IB_COLLQ_OBJECT_QUEUE, nr_links, sizeof(*links), &info,
			 &table, &nr);
	if (err)
		return err;
	queue = grow(&context->queues, &context->nr_queues, sizeof(*queue));
	if (!queue) {
		free(table);
		return -ENOMEM;
	}
	queue->context = context;
	queue->info = info.queue;
	queue->links = table;
	queue->nr_links = nr;
	return 0;
}

static int add_object(struct context *context, const struct ib_collq_object_describe *attr,
		      const union info *info)
{
	switch (attr->type) {
	case IB_COLLQ_OBJECT_ENDPOINT:
		return add_endpoint(context, info);
	case IB_COLLQ_OBJECT_COUNTER:
		return add_counter(context, info);
	case IB_COLLQ_OBJECT_QUEUE:
		return add_queue(context, attr->id, attr->nr);
	case IB_COLLQ_OBJECT_RING:
		return add_ring(context, info);
	case IB_COLLQ_OBJECT_REGION:
		return add_region(context, info);
	default:
		return 0;
	}
}

/* The graph that a queue was running may have gone, and its id be another's. */
static int read_tasks(struct queue *queue)
{
	struct ib_collq_object_describe attr = { .id = queue->info.graph };
	struct ib_collq_task *tasks;
	union info info;
	void *table;
	int err;

	if (!queue->info.graph)
		return 0;
	err = describe(queue->context, &attr, &info);
	if (!err && attr.type == IB_COLLQ_OBJECT_GRAPH)
		err = read_table(queue->context, attr.id, attr.type, attr.nr, sizeof(*tasks),
				 &info, &table, &queue->nr_tasks);
	else if (!err)
		err = -ENOENT;
	if (!err)
		queue->tasks = table;
	return has_gone(err) ? 0 : err;
}

static int read_objects(struct context *context)
{
	const uint64_t begun = time_now();
	struct ib_collq_object_describe attr = {};
	union info info;
	uint32_t i;
	int err = 0;

	while (!err) {
		/* Busy now and again, so that each object takes its time */
		if (time_now() - begun > READ_LIMIT)
			return -EBUSY;
		attr = (struct ib_collq_object_describe) {
			.flags = IB_COLLQ_DESCRIBE_NEXT,
			.id = attr.id + 1,
		};
		err = describe(context, &attr, &info);
		if (err)
			break;
		err = add_object(context, &attr, &info);
		if (err == -ENOENT)
			err = 0;
	}
	if (!has_gone(err))
		return err;
	err = 0;
	for (i = 0; i < context->nr_queues && !err; i++)
		err = read_tasks(&context->queues[i]);
	return err;
}

/* Anybody can give a process a name, and who reads it may be root at a terminal. */
static void make_printable(char *text)
{
	for (; *text; text++) {
		if (*text < ' ' || *text > '~')
			*text = '?';
	}
}

static void name_context(struct context *context)
{
	const struct passwd *user = getpwuid(context->info.uid);

	memcpy(context->comm, context->info.comm, sizeof(context->comm) - 1);
	make_printable(context->comm);
	if (user)
		snprintf(context->user, sizeof(context->user), "%s", user->pw_name);
	else
		snprintf(context->user, sizeof(context->user), "%u", context->info.uid);
	make_printable(context->user);
}

/* Part of them would say less than nothing. */
static void forget_objects(struct context *context)
{
	uint32_t i;

	for (i = 0; i < context->nr_queues; i++) {
		free(context->queues[i].links);
		free(context->queues[i].tasks);
	}
	free(context->endpoints);
	free(context->counters);
	free(context->queues);
	free(context->rings);
	free(context->regions);
	context->endpoints = NULL;
	context->counters = NULL;
	context->queues = NULL;
	context->rings = NULL;
	context->regions = NULL;
	context->nr_endpoints = 0;
	context->nr_counters = 0;
	context->nr_queues = 0;
	context->nr_rings = 0;
	context->nr_regions = 0;
	context->pinned = 0;
}

static void free_context(struct context *context)
{
	forget_objects(context);
	free(context);
}

static int add_context(struct snapshot *snapshot, const struct device *device,
		       const struct ib_collq_context_describe *info)
{
	struct context *context, **slot;
	int err;

	context = calloc(1, sizeof(*context));
	if (!context)
		return -ENOMEM;
	context->device = device;
	context->info = *info;
	err = read_objects(context);
	if (err == -EBUSY) {
		forget_objects(context);
		context->busy = true;
	} else if (err) {
		free_context(context);
		return err;
	}
	name_context(context);
	context->process = process_state(info->pid, (time_now() - info->created) / 1e9);
	slot = grow(&snapshot->contexts, &snapshot->nr, sizeof(*slot));
	if (!slot) {
		free_context(context);
		return -ENOMEM;
	}
	*slot = context;
	return 0;
}

int snapshot_take(struct snapshot *snapshot, const struct device *device)
{
	struct ib_collq_context_describe own = { .size = sizeof(own) }, info = {};
	int err;

	err = device_ioctl(device, IB_COLLQ_CONTEXT_DESCRIBE, &own);
	while (!err) {
		info = (struct ib_collq_context_describe) {
			.size = sizeof(info),
			.flags = IB_COLLQ_DESCRIBE_NEXT,
			.id = info.id + 1,
		};
		err = device_ioctl(device, IB_COLLQ_CONTEXT_DESCRIBE, &info);
		if (!err && info.id != own.id)
			err = add_context(snapshot, device, &info);
		if (err == -ENODEV)
			break;
	}
	snapshot->now = time_now();
	return has_gone(err) ? 0 : err;
}

void snapshot_free(struct snapshot *snapshot)
{
	unsigned int i;

	for (i = 0; i < snapshot->nr; i++)
		free_context(snapshot->contexts[i]);
	free(snapshot->contexts);
}

/* Not @since: the kernel works it out anew each time, within a tick. */
static bool same_position(const struct ib_collq_queue_info *a,
			  const struct ib_collq_queue_info *b)
{
	return a->state == b->state && a->graph == b->graph && a->task == b->task &&
	       a->submitted == b->submitted && a->completed == b->completed;
}

void snapshot_check(struct snapshot *snapshot)
{
	struct context *context;
	struct queue *queue;
	unsigned int i;
	union info info;
	int err;

	for (i = 0; i < snapshot->nr; i++) {
		context = snapshot->contexts[i];
		err = 0;
		for (queue = context->queues; queue < context->queues + context->nr_queues;
		     queue++) {
			struct ib_collq_object_describe attr = { .id = queue->info.id };

			/* Who has become busy isn't asked again. */
			if (err != -EBUSY)
				err = describe(context, &attr, &info);
			queue->moved = err ||
				       attr.type != IB_COLLQ_OBJECT_QUEUE ||
				       !same_position(&queue->info, &info.queue);
		}
	}
}

struct endpoint *snapshot_endpoint(const struct context *context, uint32_t id)
{
	uint32_t first = 0, end = context->nr_endpoints, middle;

	while (first < end) {
		middle = first + (end - first) / 2;
		if (context->endpoints[middle].info.create.id < id)
			first = middle + 1;
		else
			end = middle;
	}
	if (first == context->nr_endpoints || context->endpoints[first].info.create.id != id)
		return NULL;
	return &context->endpoints[first];
}

struct counter *snapshot_counter(const struct context *context, uint32_t id)
{
	uint32_t first = 0, end = context->nr_counters, middle;

	while (first < end) {
		middle = first + (end - first) / 2;
		if (context->counters[middle].info.create.id < id)
			first = middle + 1;
		else
			end = middle;
	}
	if (first == context->nr_counters || context->counters[first].info.create.id != id)
		return NULL;
	return &context->counters[first];
}

const struct ib_collq_task *snapshot_task(const struct queue *queue)
{
	const struct ib_collq_task *task = queue->tasks + queue->info.task;

	if (queue->info.task >= queue->nr_tasks || task->object != queue->info.object)
		return NULL;
	return task;
}
