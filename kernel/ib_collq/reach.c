// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Reach: which memory the users of a buffer can get at.
 *
 * A memory region of the process' can be used in its own protection domain, and there
 * nothing else can; the CPU has no business with it, nor has an endpoint elsewhere. Who
 * uses a buffer is known when the graph is uploaded, so to bind one takes one look.
 */
#include "endpoint.h"
#include "graph.h"
#include "reach.h"
#include "region.h"

static void collq_reach_add(struct collq_reach *reach, const struct ib_pd *pd)
{
	if (reach->used && reach->pd != pd)
		reach->mixed = true;
	reach->pd = pd;
	reach->used = true;
}

static void collq_reach_add_list(struct collq_graph *graph, u32 first, u32 nr,
				 const struct ib_pd *pd)
{
	const struct ib_collq_sge *sge = graph->sges + first;

	for (; nr; nr--, sge++)
		collq_reach_add(&graph->reach[sge->buffer], pd);
}

static const struct ib_pd *collq_step_borrowed_pd(const struct collq_step *step)
{
	if ((step->opcode == IB_COLLQ_TASK_SEND ||
	     step->opcode == IB_COLLQ_TASK_RECV) &&
	    collq_endpoint_borrows(step->endpoint))
		return step->endpoint->pd;
	return NULL;
}

/* For a graph that is complete. */
void collq_reach_find(struct collq_graph *graph)
{
	const struct ib_collq_task *task;
	const struct ib_pd *pd;
	u32 i;

	for (i = 0; i < graph->nr_tasks; i++) {
		task = &graph->tasks[i];
		pd = collq_step_borrowed_pd(&graph->steps[i]);
		collq_reach_add_list(graph, task->sge_first, task->sge_count, pd);
		collq_reach_add_list(graph, task->dst_first, task->dst_count, pd);
	}
}

/* Whether all who use a buffer can get at the region. */
bool collq_reach_allows(const struct collq_reach *reach,
			const struct collq_region *region)
{
	return !reach->used ||
	       (!reach->mixed && reach->pd == region->mr_pd);
}
