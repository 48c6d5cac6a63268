// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The states and calls of regions and of graphs with data (fail_nth_world.h).
 */
#include <errno.h>

#include "collq_memory.h"
#include "fail_nth_world.h"

/* Long enough that it isn't contiguous for the device. */
#define MEMORY	(8 * RAW_PAGE)

static char memory[MEMORY] __attribute__((aligned(RAW_PAGE)));

static int is_made(int id, __u32 *where)
{
	*where = id > 0 ? id : 0;
	return id > 0 ? 0 : id;
}

static int region_create(struct world *w, size_t length)
{
	return raw_region_create(w->a.fd, memory + 100, length, IB_COLLQ_ACCESS_WRITE);
}

static int graph_create(struct world *w, struct ib_collq_task task)
{
	const struct ib_collq_sge sges[] = {
		{ .length = 4000 }, { .length = 4000, .offset = 5000 },
	};
	const struct raw_graph graph = {
		.tasks = &task, .nr_tasks = 1, .sges = sges, .nr_sges = 2, .nr_buffers = 1,
	};

	return raw_data_graph_create(w->a.fd, &graph, NULL);
}

int state_with_region(struct world *w)
{
	return is_made(region_create(w, MEMORY / 2), &w->object[0]);
}

/* A graph that copies, and a region that it can be bound to. */
int state_with_copy(struct world *w)
{
	int err = state_with_region(w);

	return err ? err : is_made(graph_create(w, raw_copy(0, 1, 1, 1)), &w->object[1]);
}

/* A graph that receives, in a region, and is waited for. */
int state_with_receive(struct world *w)
{
	int err = state_with_messages(w);

	if (!err)
		err = state_with_region(w);
	if (!err)
		err = is_made(graph_create(w, raw_recv_list(w->a.message_endpoint, 0, 1)),
			      &w->object[1]);
	return err;
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

int call_graph_create_with_data(struct world *w)
{
	return graph_create(w, raw_send_list(w->a.message_endpoint, 0, 1));
}

int call_submit_bound(struct world *w)
{
	const struct ib_collq_buffer_bind binding = { .region = w->object[0], .offset = 1 };

	return raw_submit_bound(w->a.fd, w->a.queue, w->object[1], &binding, 1, NULL);
}
