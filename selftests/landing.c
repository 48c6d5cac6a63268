// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A pair of contexts of which one writes into the other's landing zones: see
 * landing.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "landing.h"

int landing_side_fill(struct landing_side *side)
{
	side->area = raw_map_apart(LANDING_SIZE);
	if (!side->area)
		return -ENOMEM;
	memset(side->area, LANDING_CANARY, LANDING_SIZE);
	side->region = raw_region_create(side->side.fd, side->area, LANDING_SIZE,
					 IB_COLLQ_ACCESS_WRITE);
	return side->region < 0 ? side->region : 0;
}

int landing_open(struct landing *landing, __u32 flags)
{
	struct ib_collq_endpoint_create from = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct ib_collq_endpoint_create to = from;
	int err;

	memset(landing, 0, sizeof(*landing));
	from.flags = flags;
	from.max_send_sge = 32;
	to.flags = IB_COLLQ_ENDPOINT_ZONES;
	err = raw_pair_open_with(&landing->from.side, &from, &landing->to.side, &to);
	if (err)
		return err;
	landing->from.sends = raw_counter_create(landing->from.side.fd, IB_COLLQ_SOURCE_SENDS,
						 landing->from.side.endpoint);
	if (landing->from.sends < 0)
		return landing->from.sends;
	err = landing_side_fill(&landing->from);
	return err ? err : landing_side_fill(&landing->to);
}

void landing_close(struct landing *landing)
{
	raw_pair_close(&landing->from.side, &landing->to.side);
	munmap(landing->from.area, LANDING_SIZE);
	munmap(landing->to.area, LANDING_SIZE);
}

int landing_offer(struct landing *landing, __u64 offset, __u64 length)
{
	landing->offset = offset;
	landing->length = length;
	landing->zone = raw_zone_offer(landing->to.side.fd, landing->to.side.endpoint,
				       landing->to.region, offset, length, &landing->name);
	if (landing->zone < 0)
		return landing->zone;
	landing->target = raw_target_create(landing->from.side.fd, landing->from.side.endpoint,
					    &landing->name);
	return landing->target < 0 ? landing->target : 0;
}

int landing_graph(const struct landing *landing, int target, __u64 offset,
		  const struct ib_collq_sge *sges, __u32 nr)
{
	const struct ib_collq_task tasks[] = {
		raw_write_list(landing->from.side.endpoint, target, offset, nr),
		raw_wait_for(landing->from.sends, 1),
	};
	const struct raw_graph graph = {
		.tasks = tasks, .nr_tasks = 2, .sges = sges, .nr_sges = nr, .nr_buffers = 1,
	};

	return raw_data_graph_create(landing->from.side.fd, &graph, NULL);
}

int landing_run(struct landing *landing, int graph)
{
	const struct ib_collq_buffer_bind binding = { .region = landing->from.region };
	struct ib_collq_completion completion;
	int err, status;

	if (graph < 0)
		return graph;
	err = raw_run_bound(landing->from.side.fd, landing->from.side.queue, graph, &binding, 1,
			    &status);
	raw_ring_take(&landing->from.side.ring, &completion);
	return err ? err : status;
}

int landing_wait(struct landing *landing, __u64 count)
{
	const struct ib_collq_task task = raw_wait_for(landing->to.side.counter, count);
	int graph = raw_graph_create(landing->to.side.fd, &task, 1);
	struct ib_collq_completion completion;
	int err, status;

	if (graph < 0)
		return graph;
	err = raw_run(landing->to.side.fd, landing->to.side.queue, graph, &status);
	raw_ring_take(&landing->to.side.ring, &completion);
	if (!err)
		err = status;
	return err ? err : raw_destroy(landing->to.side.fd, graph);
}

bool landing_untouched(const struct landing *landing)
{
	return !raw_count_other(landing->to.area, LANDING_SIZE, LANDING_CANARY);
}

int landing_check(struct landing *landing, const struct ib_collq_sge *sges, __u32 nr,
		  __u64 offset, unsigned int seed)
{
	unsigned char *landed = landing->to.area + landing->offset + offset;
	int graph = landing_graph(landing, landing->target, offset, sges, nr);
	size_t length = raw_length(sges, nr);
	unsigned char *stream;
	int err;

	if (graph < 0)
		return graph;
	stream = malloc(length + 1);
	if (!stream)
		return -ENOMEM;
	raw_fill(stream, length, seed);
	raw_scatter(landing->from.area, sges, nr, stream);
	free(stream);
	err = landing_run(landing, graph);
	if (!err)
		err = landing_wait(landing, 1);
	if (!err && raw_count_wrong(landed, length, seed))
		err = -EBADMSG;
	memset(landed, LANDING_CANARY, length);
	if (!err && !landing_untouched(landing))
		err = -EOVERFLOW;
	return err ? err : raw_destroy(landing->from.side.fd, graph);
}
