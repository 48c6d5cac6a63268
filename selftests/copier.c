// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A context that copies from region to region. See copier.h.
 */
#include <unistd.h>

#include "copier.h"

int copier_open(struct copier *copier, __u32 length)
{
	const struct ib_collq_task task = raw_copy(0, 1, 1, 1);
	const struct ib_collq_sge sges[] = {
		{ .buffer = 0, .length = length },
		{ .buffer = 1, .length = length },
	};
	const struct raw_graph graph = {
		.tasks = &task, .nr_tasks = 1, .sges = sges, .nr_sges = 2, .nr_buffers = 2,
	};
	int err;

	copier->fd = raw_open();
	if (copier->fd < 0)
		return copier->fd;
	err = raw_ring_create(copier->fd, 8, &copier->ring);
	if (err)
		return err;
	copier->queue = raw_queue_create(copier->fd, copier->ring.id, 4, NULL, 0);
	if (copier->queue < 0)
		return copier->queue;
	copier->graph = raw_data_graph_create(copier->fd, &graph, NULL);
	return copier->graph < 0 ? copier->graph : 0;
}

void copier_close(struct copier *copier)
{
	raw_ring_unmap(&copier->ring);
	close(copier->fd);
}

/* Copies from one region to another: 0, or why not. */
int copier_run(struct copier *copier, __u32 src, __u64 src_offset, __u32 dst,
	       __u64 dst_offset)
{
	const struct ib_collq_buffer_bind bindings[] = {
		{ .buffer = 0, .region = src, .offset = src_offset },
		{ .buffer = 1, .region = dst, .offset = dst_offset },
	};
	struct ib_collq_completion completion;
	int err, status;

	err = raw_run_bound(copier->fd, copier->queue, copier->graph, bindings, 2, &status);
	if (!err)
		raw_ring_take(&copier->ring, &completion);
	return err ? err : status;
}
