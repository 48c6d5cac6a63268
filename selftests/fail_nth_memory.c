// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The states and calls of regions, of graphs with data, and of landing zones
 * (fail_nth_world.h).
 */
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include "collq_memory.h"
#include "fail_nth_world.h"

/* Long enough that it isn't contiguous for the device. */
#define MEMORY	(8 * RAW_PAGE)

static char memory[MEMORY] __attribute__((aligned(RAW_PAGE)));
static char received[MEMORY] __attribute__((aligned(RAW_PAGE)));

static int region_create(struct world *w, size_t length)
{
	return raw_region_create(w->a.fd, memory + 100, length, IB_COLLQ_ACCESS_WRITE);
}

static int graph_create(const struct raw_side *side, struct ib_collq_task task)
{
	const struct ib_collq_sge sges[] = {
		{ .length = 4000 }, { .length = 4000, .offset = 5000 },
	};
	const struct raw_graph graph = {
		.tasks = &task, .nr_tasks = 1, .sges = sges, .nr_sges = 2, .nr_buffers = 1,
	};

	return raw_data_graph_create(side->fd, &graph, NULL);
}

int state_with_region(struct world *w)
{
	return is_made(region_create(w, MEMORY - RAW_PAGE), &w->object[0]);
}

/* What it was made of is other memory now. */
static int becomes_stale(void)
{
	void *map = mmap(memory, MEMORY, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	return map == MAP_FAILED ? -errno : 0;
}

int state_with_stale_region(struct world *w)
{
	int err = state_with_region(w);

	return err ? err : becomes_stale();
}

/* A list of parts of one that is then the list's own. */
static int state_with_list(struct world *w)
{
	int err = state_with_region(w);

	return err ? err : is_made(call_region_create_list(w), &w->object[0]);
}

/* A graph of one task, and a region that it can be bound to. */
static int state_with_task(struct world *w, struct ib_collq_task task)
{
	int err = state_with_region(w);

	return err ? err : is_made(graph_create(&w->a, task), &w->object[1]);
}

int state_with_copy(struct world *w)
{
	return state_with_task(w, raw_copy(0, 1, 1, 1));
}

/* The same lists, of numbers to add up. */
int state_with_calc(struct world *w)
{
	struct ib_collq_task task = raw_copy(0, 1, 1, 1);

	task.opcode = IB_COLLQ_TASK_CALC;
	task.calc_op = IB_COLLQ_CALC_ADD;
	task.calc_type = IB_COLLQ_TYPE_U32;
	return state_with_task(w, task);
}

/* A graph that receives, in what a state makes, and is waited for. */
static int state_with_receive_in(struct world *w, int (*state)(struct world *w))
{
	int err = state_with_messages(w);

	if (!err)
		err = state(w);
	if (!err)
		err = is_made(graph_create(&w->a, raw_recv_list(w->a.message_endpoint, 0, 1)),
			      &w->object[1]);
	return err;
}

int state_with_receive(struct world *w)
{
	return state_with_receive_in(w, state_with_region);
}

/* In a list, and not in one piece of memory. */
int state_with_receive_in_list(struct world *w)
{
	return state_with_receive_in(w, state_with_list);
}

int state_with_stale_copy(struct world *w)
{
	int err = state_with_copy(w);

	return err ? err : becomes_stale();
}

/* The same, with the receive posted and a graph behind it that waits. */
int state_receiving(struct world *w)
{
	int err = state_with_receive(w);

	if (!err)
		err = call_submit_bound(w);
	if (!err)
		err = raw_submit(w->a.fd, w->a.queue, w->a.graph, 0, 0, &w->sequence);
	return err;
}

/* Its queue has posted as many receives as the endpoint takes, and has more. */
int state_blocked(struct world *w)
{
	const struct ib_collq_sge sge = { .length = 1 };
	struct ib_collq_task tasks[2 * RAW_CAPACITY];
	const struct raw_graph graph = {
		.tasks = tasks, .nr_tasks = 2 * RAW_CAPACITY, .sges = &sge, .nr_sges = 1,
		.nr_buffers = 1,
	};
	int err = state_with_messages(w);
	unsigned int i;

	for (i = 0; i < 2 * RAW_CAPACITY; i++)
		tasks[i] = raw_recv_list(w->a.message_endpoint, 0, 1);
	if (!err)
		err = state_with_region(w);
	if (!err)
		err = is_made(raw_data_graph_create(w->a.fd, &graph, NULL), &w->object[1]);
	if (!err)
		err = call_submit_bound(w);
	return err ? err : queue_becomes(w, IB_COLLQ_QUEUE_BLOCKED);
}

/* A graph that sends, from a region, what b has a receive for. */
int state_with_send(struct world *w)
{
	const struct ib_collq_buffer_bind binding = {
		.region = raw_region_create(w->b.fd, received, MEMORY, IB_COLLQ_ACCESS_WRITE),
	};
	int err = state_with_messages(w), graph;

	if (err)
		return err;
	graph = graph_create(&w->b, raw_recv_list(w->b.message_endpoint, 0, 1));
	err = raw_submit_bound(w->b.fd, w->b.queue, graph, &binding, 1, NULL);
	if (!err)
		err = state_with_region(w);
	if (!err)
		err = is_made(call_graph_create_with_data(w), &w->object[1]);
	return err;
}

/* Endpoints that write and have zones, connected, and a region of a's. */
int state_with_zone_endpoint(struct world *w)
{
	struct ib_collq_endpoint_create own = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL), other;
	int region, err;

	own.flags = IB_COLLQ_ENDPOINT_ZONES;
	own.max_send_sge = 8;
	other = own;
	err = is_made(raw_endpoint_create(w->a.fd, &own), &w->object[0]);
	if (!err)
		err = raw_endpoint_create(w->b.fd, &other);
	if (err < 0)
		return err;
	err = raw_endpoint_connect(w->a.fd, own.id, other.address);
	if (!err)
		err = raw_endpoint_connect(w->b.fd, other.id, own.address);
	if (err)
		return err;
	region = raw_region_create(w->b.fd, memory, MEMORY, IB_COLLQ_ACCESS_WRITE);
	err = raw_zone_offer(w->b.fd, other.id, region, 3, MEMORY / 2, &w->zone);
	return err < 0 ? err : is_made(region_create(w, MEMORY / 2), &w->object[1]);
}

/* One of a's; the endpoint is what the call is about otherwise. */
int state_with_zone(struct world *w)
{
	int err = state_with_zone_endpoint(w);

	return err ? err : is_made(call_zone_offer(w), &w->object[1]);
}

int state_with_target(struct world *w)
{
	int err = state_with_zone_endpoint(w);

	return err ? err : is_made(call_target_create(w), &w->object[1]);
}

/* A graph that writes to it, from a region that isn't contiguous. */
int state_with_write(struct world *w)
{
	int err = state_with_target(w);

	if (!err)
		err = is_made(graph_create(&w->a, raw_write_list(w->object[0], w->object[1], 0, 1)),
			      &w->object[1]);
	return err ? err : is_made(region_create(w, MEMORY / 2), &w->object[0]);
}

int call_region_create(struct world *w)
{
	return region_create(w, 1);
}

int call_region_create_registered(struct world *w)
{
	return region_create(w, MEMORY / 2);
}

int call_describe_region(struct world *w)
{
	struct ib_collq_region_info info;

	return raw_describe(w->a.fd, w->object[0], &info, sizeof(info));
}

/* The region's first page, as far as it's in it, its third one and its fifth one. */
int call_region_create_list(struct world *w)
{
	const struct ib_collq_sge parts[] = {
		{ .buffer = w->object[0], .length = RAW_PAGE - 100 },
		{ .buffer = w->object[0], .length = RAW_PAGE, .offset = 2 * RAW_PAGE - 100 },
		{ .buffer = w->object[0], .length = RAW_PAGE, .offset = 4 * RAW_PAGE - 100 },
	};

	return raw_list_create(w->a.fd, parts, 3, IB_COLLQ_ACCESS_WRITE);
}

/* With its parts. */
int call_describe_list(struct world *w)
{
	struct ib_collq_sge parts[3];
	struct ib_collq_object_describe describe = {
		.size = sizeof(describe),
		.id = w->object[0],
		.entries = (uintptr_t)parts,
		.nr = 3,
		.entry_size = sizeof(parts[0]),
	};

	return raw_ioctl(w->a.fd, IB_COLLQ_OBJECT_DESCRIBE, &describe);
}

int call_graph_create_with_data(struct world *w)
{
	return graph_create(&w->a, raw_send_list(w->a.message_endpoint, 0, 1));
}

int call_submit_bound(struct world *w)
{
	const struct ib_collq_buffer_bind binding = { .region = w->object[0], .offset = 1 };

	return raw_submit_bound(w->a.fd, w->a.queue, w->object[1], &binding, 1, NULL);
}

int call_endpoint_create_with_zones(struct world *w)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);

	attr.flags = IB_COLLQ_ENDPOINT_ZONES;
	attr.max_send_sge = 1;
	return raw_endpoint_create(w->a.fd, &attr);
}

int call_zone_offer(struct world *w)
{
	struct ib_collq_zone_name name;

	return raw_zone_offer(w->a.fd, w->object[0], w->object[1], 5, 2 * RAW_PAGE, &name);
}

int call_target_create(struct world *w)
{
	return raw_target_create(w->a.fd, w->object[0], &w->zone);
}

int call_describe_zone(struct world *w)
{
	struct ib_collq_zone_info info;

	return raw_describe(w->a.fd, w->object[1], &info, sizeof(info));
}

int call_describe_target(struct world *w)
{
	struct ib_collq_target_info info;

	return raw_describe(w->a.fd, w->object[1], &info, sizeof(info));
}

int call_destroy_second(struct world *w)
{
	return raw_destroy(w->a.fd, w->object[1]);
}
