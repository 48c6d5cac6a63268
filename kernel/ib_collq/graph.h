/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_GRAPH_H
#define COLLQ_GRAPH_H

#include <linux/atomic.h>

#include <rdma/ib_collq.h>

#include "graph_check.h"
#include "object.h"

struct collq_counter;
struct collq_endpoint;
struct collq_queue;

/**
 * struct collq_step - a task as the engine runs it
 * @opcode: IB_COLLQ_TASK_*
 * @imm: SEND: immediate data
 * @endpoint: SEND, RECV: the endpoint; named by the graph
 * @counter: WAIT: the counter; named by the graph
 * @count: WAIT: how much to consume
 */
struct collq_step {
	u32 opcode;
	u32 imm;
	union {
		struct collq_endpoint *endpoint;
		struct collq_counter *counter;
	};
	u64 count;
};

/**
 * struct collq_graph - an immutable list of tasks
 * @obj: common part
 * @nr_tasks: number of @tasks and @steps
 * @nr_waits: number of @waits
 * @nr_buffers: buffer slots
 * @runs: unfinished submissions; each holds a reference. Goes up under
 *	ctx->claim_lock
 * @owner: the queue of these submissions, meaningless without; under
 *	ctx->claim_lock, as are the two that follow
 * @claimed: the graph is the claimant of all its @waits
 * @dead: destroyed: can't be submitted
 * @tasks: as given, for describe
 * @steps: as the engine wants them
 * @waits: the counters that are waited for, each once
 */
struct collq_graph {
	struct collq_object obj;
	u32 nr_tasks;
	u32 nr_waits;
	u32 nr_buffers;
	atomic_t runs;
	struct collq_queue *owner;
	bool claimed;
	bool dead;
	struct ib_collq_task *tasks;
	struct collq_step *steps;
	struct collq_counter **waits;
};

static inline struct collq_graph *collq_graph_of(struct collq_object *obj)
{
	return container_of(obj, struct collq_graph, obj);
}

/**
 * struct collq_graph_source - a graph to be made, and how to find its objects
 * @tasks: the tasks; the graph takes them over if it is made
 * @nr_tasks: their number
 * @find: a reference to the object of that type, or NULL; the front end's
 *	look-up
 * @data: for @find
 */
struct collq_graph_source {
	struct ib_collq_task *tasks;
	u32 nr_tasks;
	struct collq_object *(*find)(void *data, u32 id, u32 type);
	void *data;
};

void collq_graph_limits(struct collq_graph_limits *limits);
int collq_graph_claim(struct collq_graph *graph, struct collq_queue *queue);
struct collq_graph *collq_graph_create(struct collq_context *ctx,
				       struct collq_graph_source *source,
				       struct collq_refusal *refusal);

#endif /* COLLQ_GRAPH_H */
