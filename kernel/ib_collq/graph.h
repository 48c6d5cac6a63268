/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_GRAPH_H
#define COLLQ_GRAPH_H

#include <linux/atomic.h>
#include <linux/container_of.h>

#include <rdma/ib_collq.h>

#include "bindings.h"
#include "graph_check.h"
#include "object.h"
#include "target.h"

struct collq_counter;
struct collq_device;
struct collq_queue;

/**
 * struct collq_step - a task as the engine runs it
 * @opcode: IB_COLLQ_TASK_*
 * @calc_op: CALC: IB_COLLQ_CALC_*
 * @calc_type: CALC: IB_COLLQ_TYPE_*
 * @imm: SEND, WRITE: immediate data
 * @endpoint: SEND, RECV: the endpoint; named by the graph
 * @target: WRITE: the target, and with it the endpoint; named by the graph
 * @counter: WAIT: the counter; named by the graph
 * @dst_first: COPY, CALC: first entry of the list that is written to
 * @dst_count: COPY, CALC: number of its entries
 * @count: WAIT: how much to consume
 * @sge_first: all others: first entry of the list
 * @sge_count: all others: number of its entries
 */
struct collq_step {
	u16 opcode;
	u8 calc_op;
	u8 calc_type;
	u32 imm;
	union {
		struct collq_endpoint *endpoint;
		struct collq_target *target;
		struct collq_counter *counter;
		struct {
			u32 dst_first;
			u32 dst_count;
		};
	};
	union {
		u64 count;
		struct {
			u32 sge_first;
			u32 sge_count;
		};
	};
};

/**
 * struct collq_graph - an immutable list of tasks
 * @obj: common part
 * @nr_tasks: number of @tasks and @steps
 * @nr_waits: number of @waits
 * @nr_sges: number of @sges
 * @nr_buffers: buffer slots, and number of @buffers
 * @nr_carriers: number of @carriers
 * @writes_apart: an endpoint with a protection domain of its own sends data
 * @runs: unfinished submissions; each holds a reference. Goes up under
 *	ctx->claim_lock
 * @owner: the queue of these submissions, meaningless without; under
 *	ctx->claim_lock, as are the two that follow
 * @claimed: the graph is the claimant of all its @waits
 * @dead: destroyed: can't be submitted
 * @tasks: as given, for describe
 * @steps: as the engine wants them
 * @waits: the counters that are waited for, each once
 * @sges: the scatter/gather table
 * @buffers: what is needed of the buffers
 * @reach: who uses them
 * @carriers: the endpoints that data is sent or received on, each once
 */
struct collq_graph {
	struct collq_object obj;
	u32 nr_tasks;
	u32 nr_waits;
	u32 nr_sges;
	u32 nr_buffers;
	u32 nr_carriers;
	bool writes_apart;
	atomic_t runs;
	struct collq_queue *owner;
	bool claimed;
	bool dead;
	struct ib_collq_task *tasks;
	struct collq_step *steps;
	struct collq_counter **waits;
	struct ib_collq_sge *sges;
	struct collq_graph_buffer *buffers;
	struct collq_reach *reach;
	struct collq_endpoint **carriers;
};

static inline struct collq_graph *collq_graph_of(struct collq_object *obj)
{
	return container_of(obj, struct collq_graph, obj);
}

/* The endpoint of SEND, RECV and WRITE. */
static inline struct collq_endpoint *
collq_step_endpoint(const struct collq_step *step)
{
	return step->opcode == IB_COLLQ_TASK_WRITE ? step->target->endpoint :
						     step->endpoint;
}

/* SEND, RECV or WRITE, not of nothing. */
static inline bool collq_step_has_data(const struct collq_step *step)
{
	switch (step->opcode) {
	case IB_COLLQ_TASK_SEND:
	case IB_COLLQ_TASK_RECV:
	case IB_COLLQ_TASK_WRITE:
		return step->sge_count;
	default:
		return false;
	}
}

/* The list of SEND, RECV and WRITE, and what COPY and CALC read. */
static inline struct collq_list
collq_step_list(const struct collq_graph *graph, const struct collq_step *step,
		struct collq_bindings *bindings)
{
	return (struct collq_list) {
		.bindings = bindings,
		.sges = graph->sges + step->sge_first,
		.nr = step->sge_count,
	};
}

/* What COPY and CALC write to. */
static inline struct collq_list
collq_step_target(const struct collq_graph *graph,
		  const struct collq_step *step, struct collq_bindings *bindings)
{
	return (struct collq_list) {
		.bindings = bindings,
		.sges = graph->sges + step->dst_first,
		.nr = step->dst_count,
	};
}

/**
 * struct collq_graph_source - a graph to be made, and how to find its objects
 * @tasks: the tasks; the graph takes them over if it is made
 * @sges: the scatter/gather table; the same
 * @nr_tasks: number of @tasks
 * @nr_sges: number of @sges
 * @nr_buffers: buffer slots
 * @find: a reference to the object of that type, or NULL; the front end's
 *	look-up
 * @data: for @find
 */
struct collq_graph_source {
	struct ib_collq_task *tasks;
	struct ib_collq_sge *sges;
	u32 nr_tasks;
	u32 nr_sges;
	u32 nr_buffers;
	struct collq_object *(*find)(void *data, u32 id, u32 type);
	void *data;
};

void collq_graph_limits(const struct collq_device *cd,
			struct collq_graph_limits *limits);
int collq_graph_claim(struct collq_graph *graph, struct collq_queue *queue);
struct collq_graph *collq_graph_create(struct collq_context *ctx,
				       struct collq_graph_source *source,
				       struct collq_refusal *refusal);

#endif /* COLLQ_GRAPH_H */
