/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Whether a graph makes sense. Knows no verbs and no kernel, so that the same
 * file is built in user space for tests and fuzzing.
 */
#ifndef COLLQ_GRAPH_CHECK_H
#define COLLQ_GRAPH_CHECK_H

#include <linux/types.h>

#include <rdma/ib_collq.h>

/*
 * Lists may share entries of the table, but all of them together have no more than
 * so many times max_sges, so that what looks at all of them ends.
 */
#define COLLQ_LISTS_PER_TABLE	16

/**
 * struct collq_graph_limits - what a graph may ask for
 * @features: IB_COLLQ_FEATURE_* bits
 * @max_tasks: see &struct ib_collq_query, as are all others
 * @max_sges: the same
 * @max_buffers: the same
 * @max_slots: the same
 * @max_message: the same
 */
struct collq_graph_limits {
	__u64 features;
	__u32 max_tasks;
	__u32 max_sges;
	__u32 max_buffers;
	__u32 max_slots;
	__u64 max_message;
};

/**
 * struct collq_graph_endpoint - what the check wants to know of an endpoint
 * @kind: IB_COLLQ_ENDPOINT_*
 * @max_send_sge: as created
 * @max_recv_sge: as created
 */
struct collq_graph_endpoint {
	__u32 kind;
	__u32 max_send_sge;
	__u32 max_recv_sge;
};

/**
 * struct collq_graph_target - what the check wants to know of a target
 * @endpoint: the endpoint that leads to the landing zone
 * @length: bytes of the zone
 */
struct collq_graph_target {
	__u32 endpoint;
	__u64 length;
};

/**
 * struct collq_graph_lookup - how the check finds objects
 * @data: passed on
 * @endpoint: 0 and *@ep, or -ENOENT
 * @counter: 0 or -ENOENT
 * @target: 0 and *@target, or -ENOENT
 */
struct collq_graph_lookup {
	void *data;
	int (*endpoint)(void *data, __u32 id, struct collq_graph_endpoint *ep);
	int (*counter)(void *data, __u32 id);
	int (*target)(void *data, __u32 id, struct collq_graph_target *target);
};

/**
 * struct collq_refusal - why a graph was refused
 * @task: index of the task, or IB_COLLQ_NO_TASK
 * @reason: IB_COLLQ_REFUSED_*
 * @needed: what it needs or has
 * @limit: what it may have
 */
struct collq_refusal {
	__u32 task;
	__u32 reason;
	__u64 needed;
	__u64 limit;
};

/**
 * struct collq_graph_buffer - what a graph needs of a buffer
 * @end: how far it reaches
 * @written: 1 if something is written there, else 0
 */
struct collq_graph_buffer {
	__u64 end;
	__u32 written;
};

int collq_graph_check_size(const struct collq_graph_limits *limits,
			   __u32 nr_tasks, __u32 nr_sges, __u32 nr_buffers,
			   struct collq_refusal *refusal);
int collq_graph_check(const struct collq_graph_limits *limits,
		      const struct collq_graph_lookup *lookup,
		      const struct ib_collq_task *tasks, __u32 nr_tasks,
		      const struct ib_collq_sge *sges, __u32 nr_sges,
		      __u32 nr_buffers, struct collq_refusal *refusal);
void collq_graph_bounds(const struct ib_collq_task *tasks, __u32 nr_tasks,
			const struct ib_collq_sge *sges,
			struct collq_graph_buffer *buffers);

#endif /* COLLQ_GRAPH_CHECK_H */
