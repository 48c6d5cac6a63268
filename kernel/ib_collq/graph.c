// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Graphs: what user space describes once and runs any number of times.
 *
 * A graph is checked (graph_check.c), its ids are resolved, and it is turned
 * into steps that the engine takes without a look-up or a check. From then on
 * it doesn't change, and holds the names of its endpoints and counters until it
 * is freed: after destroy and after the last submission that runs it.
 */
#include <linux/slab.h>
#include <linux/sort.h>

#include "context.h"
#include "counter.h"
#include "endpoint.h"
#include "graph.h"
#include "limits.h"

void collq_graph_limits(struct collq_context *ctx,
			struct collq_graph_limits *limits)
{
	*limits = (struct collq_graph_limits) {
		.features = IB_COLLQ_FEATURE_SIGNAL | IB_COLLQ_FEATURE_MESSAGE,
		.max_tasks = COLLQ_MAX_TASKS,
		.max_slots = COLLQ_MAX_SLOTS,
	};
}

static int collq_graph_lookup_endpoint(void *data, u32 id,
				       struct collq_graph_endpoint *out)
{
	struct collq_graph_source *source = data;
	struct collq_endpoint *ep;
	struct collq_object *obj;

	obj = source->find(source->data, id, IB_COLLQ_OBJECT_ENDPOINT);
	if (!obj)
		return -ENOENT;
	ep = collq_endpoint_of(obj);
	out->kind = ep->attr.kind;
	out->max_send_sge = ep->attr.max_send_sge;
	out->max_recv_sge = ep->attr.max_recv_sge;
	collq_object_put(obj);
	return 0;
}

static int collq_graph_lookup_counter(void *data, u32 id)
{
	struct collq_graph_source *source = data;
	struct collq_object *obj;

	obj = source->find(source->data, id, IB_COLLQ_OBJECT_COUNTER);
	if (!obj)
		return -ENOENT;
	collq_object_put(obj);
	return 0;
}

static struct collq_object *collq_step_object(const struct collq_step *step)
{
	if (step->opcode == IB_COLLQ_TASK_WAIT)
		return &step->counter->obj;
	return &step->endpoint->obj;
}

/* ctx->mutex keeps what the check has found. */
static void collq_graph_resolve(struct collq_graph *graph,
				struct collq_graph_source *source)
{
	struct collq_object *obj;
	u32 i;

	for (i = 0; i < graph->nr_tasks; i++) {
		const struct ib_collq_task *task = &graph->tasks[i];
		struct collq_step *step = &graph->steps[i];

		step->opcode = task->opcode;
		step->count = task->count;
		if (task->opcode == IB_COLLQ_TASK_WAIT) {
			obj = source->find(source->data, task->object,
					   IB_COLLQ_OBJECT_COUNTER);
			step->counter = collq_counter_of(obj);
			graph->waits[graph->nr_waits++] = step->counter;
		} else {
			obj = source->find(source->data, task->object,
					   IB_COLLQ_OBJECT_ENDPOINT);
			step->endpoint = collq_endpoint_of(obj);
			step->imm = task->signal_slot << IB_COLLQ_IMM_SLOT_SHIFT |
				    task->signal_generation;
		}
		/* The look-up's reference becomes the name's. */
		atomic_inc(&obj->users);
	}
}

static int collq_graph_compare(const void *a, const void *b)
{
	const struct collq_counter *const *left = a, *const *right = b;

	if (*left == *right)
		return 0;
	return *left < *right ? -1 : 1;
}

/* Each counter once, however many tasks wait for it. */
static void collq_graph_unique_waits(struct collq_graph *graph)
{
	u32 i, nr = 0;

	sort(graph->waits, graph->nr_waits, sizeof(*graph->waits),
	     collq_graph_compare, NULL);
	for (i = 0; i < graph->nr_waits; i++) {
		if (!nr || graph->waits[nr - 1] != graph->waits[i])
			graph->waits[nr++] = graph->waits[i];
	}
	graph->nr_waits = nr;
}

static bool collq_graph_busy(struct collq_object *obj)
{
	return atomic_read(&collq_graph_of(obj)->runs);
}

static void collq_graph_destroy(struct collq_object *obj)
{
	/* Whatever still runs it has a reference. */
}

static void collq_graph_free(struct collq_object *obj)
{
	struct collq_graph *graph = collq_graph_of(obj);
	u32 i;

	for (i = 0; i < graph->nr_tasks; i++)
		collq_object_unname(collq_step_object(&graph->steps[i]));
	kvfree(graph->waits);
	kvfree(graph->steps);
	kvfree(graph->tasks);
	kfree(graph);
}

static const struct collq_object_ops collq_graph_ops = {
	.type = IB_COLLQ_OBJECT_GRAPH,
	.busy = collq_graph_busy,
	.destroy = collq_graph_destroy,
	.free = collq_graph_free,
};

/**
 * collq_graph_create - make a graph
 * @ctx: the context
 * @source: its tasks; graph->tasks is source->tasks afterwards
 * @refusal: why not, if it's the graph's own fault
 *
 * Called with ctx->mutex held. May sleep.
 *
 * Return: the graph, not published yet, or an ERR_PTR as collq_graph_check()
 * gives it.
 */
struct collq_graph *collq_graph_create(struct collq_context *ctx,
				       struct collq_graph_source *source,
				       struct collq_refusal *refusal)
{
	const struct collq_graph_lookup lookup = {
		.data = source,
		.endpoint = collq_graph_lookup_endpoint,
		.counter = collq_graph_lookup_counter,
	};
	struct collq_graph_limits limits;
	struct collq_graph *graph;
	int err;

	lockdep_assert_held(&ctx->mutex);

	collq_graph_limits(ctx, &limits);
	err = collq_graph_check(&limits, &lookup, source->tasks,
				source->nr_tasks, NULL, 0, 0, refusal);
	if (err)
		return ERR_PTR(err);

	err = -ENOMEM;
	graph = kzalloc(sizeof(*graph), GFP_KERNEL_ACCOUNT);
	if (!graph)
		return ERR_PTR(err);
	graph->nr_tasks = source->nr_tasks;
	graph->steps = kvcalloc(graph->nr_tasks, sizeof(*graph->steps),
				GFP_KERNEL_ACCOUNT);
	graph->waits = kvcalloc(graph->nr_tasks, sizeof(*graph->waits),
				GFP_KERNEL_ACCOUNT);
	if (!graph->steps || !graph->waits)
		goto err_free;
	err = collq_object_init(ctx, &graph->obj, &collq_graph_ops);
	if (err)
		goto err_free;

	graph->tasks = source->tasks;
	collq_graph_resolve(graph, source);
	collq_graph_unique_waits(graph);
	return graph;

err_free:
	kvfree(graph->waits);
	kvfree(graph->steps);
	kfree(graph);
	return ERR_PTR(err);
}
