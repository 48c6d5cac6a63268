/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the tests of regions and data share, beside collq_util.h: regions, graphs
 * with scatter/gather tables, and submissions with bindings. Functions return 0, or
 * an id, or -errno.
 */
#ifndef COLLQ_MEMORY_H
#define COLLQ_MEMORY_H

#include <stddef.h>

#include "collq_util.h"

/* Of all tests, a page is that of the machine that runs them. */
#define RAW_PAGE	4096UL

int raw_region_create(int fd, const void *memory, size_t length, __u32 access);
/* Of parts of regions, which are named in place of buffers */
int raw_list_create(int fd, const struct ib_collq_sge *parts, __u32 nr, __u32 access);
struct ib_collq_region_info raw_region_info(int fd, __u32 region);

/**
 * struct raw_graph - a graph with data
 * @tasks: its tasks
 * @nr_tasks: their number
 * @nr_sges: number of @sges
 * @nr_buffers: buffer slots
 * @sges: its scatter/gather table
 */
struct raw_graph {
	const struct ib_collq_task *tasks;
	__u32 nr_tasks;
	__u32 nr_sges;
	__u32 nr_buffers;
	const struct ib_collq_sge *sges;
};

int raw_data_graph_create(int fd, const struct raw_graph *graph,
			  struct ib_collq_graph_create *refused);
int raw_submit_bound(int fd, __u32 queue, __u32 graph,
		     const struct ib_collq_buffer_bind *bindings, __u32 nr,
		     __u64 *sequence);
/* The same with a deadline */
int raw_submit_bound_by(int fd, __u32 queue, __u32 graph,
			const struct ib_collq_buffer_bind *bindings, __u32 nr,
			__u64 deadline, __u64 *sequence);
int raw_run_bound(int fd, __u32 queue, __u32 graph,
		  const struct ib_collq_buffer_bind *bindings, __u32 nr,
		  int *status);

/* Tasks with lists */
struct ib_collq_task raw_send_list(__u32 endpoint, __u32 first, __u32 count);
struct ib_collq_task raw_recv_list(__u32 endpoint, __u32 first, __u32 count);
struct ib_collq_task raw_copy(__u32 src, __u32 src_count, __u32 dst, __u32 dst_count);

/* Landing zones: an id, with the name in @name; and what is written there */
int raw_zone_offer(int fd, __u32 endpoint, __u32 region, __u64 offset, __u64 length,
		   struct ib_collq_zone_name *name);
int raw_target_create(int fd, __u32 endpoint, const struct ib_collq_zone_name *name);
struct ib_collq_task raw_write_list(__u32 endpoint, __u32 target, __u64 offset, __u32 count);

/* Memory */
void *raw_map(size_t length);
/* Every other page there first, so that neighbours are hardly ever neighbours in memory */
void *raw_map_apart(size_t length);
/* Bytes of a list; and a stream of so many put where it says in an area, or taken from there */
size_t raw_length(const struct ib_collq_sge *sges, __u32 nr);
void raw_scatter(void *area, const struct ib_collq_sge *sges, __u32 nr, const void *stream);
void raw_gather(const void *area, const struct ib_collq_sge *sges, __u32 nr, void *stream);
void raw_fill(void *memory, size_t length, unsigned int seed);
size_t raw_count_wrong(const void *memory, size_t length, unsigned int seed);
size_t raw_count_other(const void *memory, size_t length, unsigned char byte);
long raw_status_kb(const char *name);

#endif /* COLLQ_MEMORY_H */
