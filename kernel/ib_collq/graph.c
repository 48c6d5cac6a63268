// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Graphs: what user space describes once and runs any number of times.
 *
 * A graph is checked (graph_check.c), its ids are resolved, and it is turned
 * into steps that the engine takes without a look-up or a check. From then on
 * it doesn't change, and holds the names of its endpoints and counters until it
 * is destroyed, which isn't possible while it runs.
 */
#include <linux/slab.h>
#include <linux/sort.h>

#include "context.h"
#include "counter.h"
#include "device.h"
#include "endpoint.h"
#include "graph.h"
#include "limits.h"
#include "queue.h"
#include "reach.h"
#include "registrar.h"

void collq_graph_limits(const struct collq_device *cd,
			struct collq_graph_limits *limits)
{
	*limits = (struct collq_graph_limits) {
		.features = IB_COLLQ_FEATURE_SIGNAL | IB_COLLQ_FEATURE_MESSAGE |
			    IB_COLLQ_FEATURE_REGION | IB_COLLQ_FEATURE_ZONE |
			    IB_COLLQ_FEATURE_CALC |
			    IB_COLLQ_FEATURE_RESET | IB_COLLQ_FEATURE_PROBE |
			    IB_COLLQ_FEATURE_LOCAL | IB_COLLQ_FEATURE_QUIET,
		.max_tasks = COLLQ_MAX_TASKS,
		.max_sges = COLLQ_MAX_SGES,
		.max_buffers = COLLQ_MAX_BUFFERS,
		.max_slots = COLLQ_MAX_SLOTS,
		.max_message = cd->max_message,
	};
	if (collq_registrar_takes_gaps(cd->ibdev))
		limits->features |= IB_COLLQ_FEATURE_GAPS;
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

static int collq_graph_lookup_target(void *data, u32 id,
				     struct collq_graph_target *out)
{
	struct collq_graph_source *source = data;
	struct collq_target *target;
	struct collq_object *obj;

	obj = source->find(source->data, id, IB_COLLQ_OBJECT_TARGET);
	if (!obj)
		return -ENOENT;
	target = collq_target_of(obj);
	out->endpoint = target->endpoint->obj.id;
	out->length = target->length;
	collq_object_put(obj);
	return 0;
}

/* What the task names, or NULL. */
static struct collq_object *collq_step_object(const struct collq_step *step)
{
	switch (step->opcode) {
	case IB_COLLQ_TASK_COPY:
	case IB_COLLQ_TASK_CALC:
		return NULL;
	case IB_COLLQ_TASK_WAIT:
		return &step->counter->obj;
	case IB_COLLQ_TASK_WRITE:
		return &step->target->obj;
	default:
		return &step->endpoint->obj;
	}
}

/* Turns a task into a step. Returns the object that it names, referenced. */
static struct collq_object *
collq_graph_resolve_task(struct collq_step *step,
			 const struct ib_collq_task *task,
			 struct collq_graph_source *source)
{
	struct collq_object *obj;

	step->opcode = task->opcode;
	if (task->opcode == IB_COLLQ_TASK_WAIT) {
		obj = source->find(source->data, task->object,
				   IB_COLLQ_OBJECT_COUNTER);
		step->counter = collq_counter_of(obj);
		step->count = task->count;
		return obj;
	}

	step->sge_first = task->sge_first;
	step->sge_count = task->sge_count;
	if (task->opcode == IB_COLLQ_TASK_COPY ||
	    task->opcode == IB_COLLQ_TASK_CALC) {
		step->calc_op = task->calc_op;
		step->calc_type = task->calc_type;
		step->dst_first = task->dst_first;
		step->dst_count = task->dst_count;
		return NULL;
	}
	step->imm = task->signal_slot << IB_COLLQ_IMM_SLOT_SHIFT |
		    task->signal_generation;
	if (task->opcode == IB_COLLQ_TASK_WRITE) {
		obj = source->find(source->data, task->zone,
				   IB_COLLQ_OBJECT_TARGET);
		step->target = collq_target_of(obj);
		return obj;
	}
	obj = source->find(source->data, task->object, IB_COLLQ_OBJECT_ENDPOINT);
	step->endpoint = collq_endpoint_of(obj);
	return obj;
}

/* Data is sent or received there. */
static void collq_graph_add_carrier(struct collq_graph *graph,
				    const struct collq_step *step)
{
	struct collq_endpoint *ep = collq_step_endpoint(step);

	graph->carriers[graph->nr_carriers++] = ep;
	if (collq_endpoint_is_apart(ep))
		graph->writes_apart = true;
}

/* ctx->mutex keeps what the check has found. */
static void collq_graph_resolve(struct collq_graph *graph,
				struct collq_graph_source *source)
{
	struct collq_object *obj;
	struct collq_step *step;
	u32 i;

	for (i = 0; i < graph->nr_tasks; i++) {
		step = &graph->steps[i];
		obj = collq_graph_resolve_task(step, &graph->tasks[i], source);
		if (!obj)
			continue;
		/* The look-up's reference becomes the name's. */
		atomic_inc(&obj->users);
		if (step->opcode == IB_COLLQ_TASK_WAIT)
			graph->waits[graph->nr_waits++] = step->counter;
		else if (collq_step_has_data(step))
			collq_graph_add_carrier(graph, step);
	}
}

static int collq_graph_compare(const void *a, const void *b)
{
	const void *const *left = a, *const *right = b;

	if (*left == *right)
		return 0;
	return *left < *right ? -1 : 1;
}

/* Each pointer once, however many tasks have it: how many are left. */
static u32 collq_graph_unique(void *pointers, u32 nr)
{
	void **all = pointers;
	u32 i, unique = 0;

	sort(all, nr, sizeof(*all), collq_graph_compare, NULL);
	for (i = 0; i < nr; i++) {
		if (!unique || all[unique - 1] != all[i])
			all[unique++] = all[i];
	}
	return unique;
}

/*
 * Whether another graph that is the claimant of a counter lets this one have it:
 * it doesn't run, or is in the same queue, which runs one graph at a time.
 */
static bool collq_graph_yields(struct collq_graph *other,
			       struct collq_graph *graph,
			       struct collq_queue *queue)
{
	return !other || other == graph || other->owner == queue ||
	       !atomic_read(&other->runs);
}

static int collq_graph_claim_waits(struct collq_graph *graph,
				   struct collq_queue *queue)
{
	struct collq_graph *other;
	u32 i;

	for (i = 0; i < graph->nr_waits; i++) {
		if (graph->waits[i]->held ||
		    !collq_graph_yields(graph->waits[i]->claimant, graph, queue))
			return -EBUSY;
	}
	for (i = 0; i < graph->nr_waits; i++) {
		other = graph->waits[i]->claimant;
		if (other && other != graph)
			other->claimed = false;
		graph->waits[i]->claimant = graph;
	}
	graph->claimed = true;
	return 0;
}

/**
 * collq_graph_claim - begin a submission
 * @graph: the graph
 * @queue: the queue that is to run it; its lock is held
 *
 * Makes sure that no other queue waits on one of the graph's counters until the
 * submission ends, which is when @runs is decremented. That a graph is submitted
 * again to the same queue, which is what they do, costs a look at one flag.
 *
 * Return: 0, -EBUSY, or -ENOENT if the graph was destroyed meanwhile.
 */
int collq_graph_claim(struct collq_graph *graph, struct collq_queue *queue)
{
	struct collq_context *ctx = graph->obj.ctx;
	int err = 0;

	lockdep_assert_held(&queue->lock);

	spin_lock(&ctx->claim_lock);
	if (graph->dead)
		err = -ENOENT;
	else if (graph->nr_waits && graph->owner != queue &&
		 atomic_read(&graph->runs))
		err = -EBUSY;
	else if (!graph->claimed)
		err = collq_graph_claim_waits(graph, queue);
	if (!err) {
		graph->owner = queue;
		atomic_inc(&graph->runs);
	}
	spin_unlock(&ctx->claim_lock);
	return err;
}

static bool collq_graph_busy(struct collq_object *obj)
{
	struct collq_graph *graph = collq_graph_of(obj);
	bool busy;

	spin_lock_bh(&obj->ctx->claim_lock);
	busy = atomic_read(&graph->runs);
	/* No submission can begin between here and collq_graph_destroy(). */
	graph->dead = !busy;
	spin_unlock_bh(&obj->ctx->claim_lock);
	return busy;
}

/*
 * Nothing runs it, so what it names may be destroyed. But who is about to submit it may
 * still look, and so the references stay.
 */
static void collq_graph_destroy(struct collq_object *obj)
{
	struct collq_graph *graph = collq_graph_of(obj);
	u32 i;

	spin_lock_bh(&obj->ctx->claim_lock);
	graph->dead = true;
	for (i = 0; i < graph->nr_waits; i++) {
		if (graph->waits[i]->claimant == graph)
			graph->waits[i]->claimant = NULL;
	}
	spin_unlock_bh(&obj->ctx->claim_lock);

	for (i = 0; i < graph->nr_tasks; i++) {
		struct collq_object *named = collq_step_object(&graph->steps[i]);

		if (named)
			atomic_dec(&named->users);
	}
}

/* What was allocated for it, but for what its source has given. */
static void collq_graph_free_arrays(struct collq_graph *graph)
{
	kvfree(graph->carriers);
	kfree(graph->reach);
	kfree(graph->buffers);
	kvfree(graph->waits);
	kvfree(graph->steps);
}

static void collq_graph_free(struct collq_object *obj)
{
	struct collq_graph *graph = collq_graph_of(obj);
	u32 i;

	for (i = 0; i < graph->nr_tasks; i++) {
		struct collq_object *named = collq_step_object(&graph->steps[i]);

		if (named)
			collq_object_put(named);
	}
	collq_graph_free_arrays(graph);
	kvfree(graph->sges);
	kvfree(graph->tasks);
	kfree(graph);
}

static const struct collq_object_ops collq_graph_ops = {
	.type = IB_COLLQ_OBJECT_GRAPH,
	.busy = collq_graph_busy,
	.destroy = collq_graph_destroy,
	.free = collq_graph_free,
};

static int collq_graph_alloc_arrays(struct collq_graph *graph)
{
	graph->steps = kvcalloc(graph->nr_tasks, sizeof(*graph->steps),
				GFP_KERNEL_ACCOUNT);
	graph->waits = kvcalloc(graph->nr_tasks, sizeof(*graph->waits),
				GFP_KERNEL_ACCOUNT);
	if (!graph->steps || !graph->waits)
		return -ENOMEM;
	if (!graph->nr_buffers)
		return 0;
	graph->buffers = kcalloc(graph->nr_buffers, sizeof(*graph->buffers),
				 GFP_KERNEL_ACCOUNT);
	graph->reach = kcalloc(graph->nr_buffers, sizeof(*graph->reach),
			       GFP_KERNEL_ACCOUNT);
	graph->carriers = kvcalloc(graph->nr_tasks, sizeof(*graph->carriers),
				   GFP_KERNEL_ACCOUNT);
	return graph->buffers && graph->reach && graph->carriers ? 0 : -ENOMEM;
}

/**
 * collq_graph_create - make a graph
 * @ctx: the context
 * @source: its tasks; the graph owns tasks and table afterwards
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
		.target = collq_graph_lookup_target,
	};
	struct collq_graph_limits limits;
	struct collq_graph *graph;
	int err;

	lockdep_assert_held(&ctx->mutex);

	collq_graph_limits(ctx->device, &limits);
	err = collq_graph_check(&limits, &lookup, source->tasks,
				source->nr_tasks, source->sges, source->nr_sges,
				source->nr_buffers, refusal);
	if (err)
		return ERR_PTR(err);

	graph = kzalloc(sizeof(*graph), GFP_KERNEL_ACCOUNT);
	if (!graph)
		return ERR_PTR(-ENOMEM);
	graph->nr_tasks = source->nr_tasks;
	graph->nr_sges = source->nr_sges;
	graph->nr_buffers = source->nr_buffers;
	err = collq_graph_alloc_arrays(graph);
	if (err)
		goto err_free;
	err = collq_object_init(ctx, &graph->obj, &collq_graph_ops);
	if (err)
		goto err_free;

	graph->tasks = source->tasks;
	graph->sges = source->sges;
	collq_graph_resolve(graph, source);
	graph->nr_waits = collq_graph_unique(graph->waits, graph->nr_waits);
	graph->nr_carriers = collq_graph_unique(graph->carriers,
						graph->nr_carriers);
	collq_graph_bounds(graph->tasks, graph->nr_tasks, graph->sges,
			   graph->buffers);
	collq_reach_find(graph);
	return graph;

err_free:
	collq_graph_free_arrays(graph);
	kfree(graph);
	return ERR_PTR(err);
}
