// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bindings: what the buffer slots of a graph stand for in one run.
 *
 * A submission makes them, in process context, and checks each slot once: how far
 * the graph reaches there was worked out when it was uploaded. From then on tasks
 * need no check. Each message that is posted holds the bindings until it's over,
 * so a region is in use as long as a queue pair may touch it, whatever becomes of
 * submission, queue and graph.
 */
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <rdma/ib_verbs.h>

#include "bindings.h"
#include "device.h"
#include "endpoint.h"
#include "graph.h"
#include "reach.h"
#include "region.h"

/* Bindings for a run of a graph, none of whose slots is bound. May sleep. */
struct collq_bindings *collq_bindings_alloc(struct collq_graph *graph)
{
	struct collq_bindings *bindings;
	u32 nr = graph->nr_buffers;

	bindings = kzalloc(struct_size(bindings, slots, nr), GFP_KERNEL_ACCOUNT);
	if (!bindings)
		return NULL;
	refcount_set(&bindings->refs, 1);
	collq_object_get(&graph->obj);
	bindings->graph = graph;
	bindings->nr = nr;
	return bindings;
}

/**
 * collq_bindings_bind - bind a buffer slot
 * @bindings: the bindings, which nobody else knows yet
 * @buffer: the buffer slot
 * @region: the region
 * @offset: offset into the region
 *
 * Called by the process whose memory it is. May sleep.
 *
 * Return: 0, -EINVAL if there's no such slot, or it's bound, or used by who can't get
 * at the region; or what collq_region_use() gives.
 */
int collq_bindings_bind(struct collq_bindings *bindings, u32 buffer,
			struct collq_region *region, u64 offset)
{
	const struct collq_graph_buffer *bounds;
	int err;

	if (buffer >= bindings->nr || bindings->slots[buffer].region)
		return -EINVAL;
	if (unlikely(!collq_reach_allows(&bindings->graph->reach[buffer], region)))
		return -EINVAL;
	bounds = &bindings->graph->buffers[buffer];
	err = collq_region_use(region, offset, bounds->end, bounds->written);
	if (err)
		return err;
	bindings->slots[buffer].region = region;
	bindings->slots[buffer].offset = offset;
	return 0;
}

/*
 * As much of a part of a region as one entry can describe, of the list of a queue
 * pair, or of no queue pair's if @ep is NULL.
 */
static u32 collq_region_sge(const struct collq_region *region, u64 offset,
			    u32 length, const struct collq_endpoint *ep,
			    struct ib_sge *sge)
{
	if (unlikely(region->mr))
		return collq_region_mr_sge(region, offset, length, sge);
	if (unlikely(ep && collq_endpoint_is_apart(ep))) {
		if (region->list)
			region = collq_region_list_find(region, &offset, &length);
		return collq_mapping_piece(&region->map, offset, length,
					   ep->own_lkey, sge);
	}
	return collq_mapping_sge(&region->map, offset, length, sge);
}

/* Whether a list fits into so many entries of a queue pair's. */
static bool collq_list_fits(const struct collq_list *list,
			    const struct collq_endpoint *ep, u32 max)
{
	const struct collq_binding *binding;
	u32 i, left, done, nr = 0;
	struct ib_sge sge;
	u64 offset;

	for (i = 0; i < list->nr; i++) {
		binding = &list->bindings->slots[list->sges[i].buffer];
		offset = binding->offset + list->sges[i].offset;
		for (left = list->sges[i].length; left; left -= done) {
			done = collq_region_sge(binding->region, offset, left,
						ep, &sge);
			offset += done;
			if (++nr > max)
				return false;
		}
	}
	return true;
}

static u32 collq_step_max_sges(const struct collq_step *step)
{
	if (step->opcode == IB_COLLQ_TASK_RECV)
		return step->endpoint->recv_sges;
	return collq_step_endpoint(step)->send_sges;
}

/* Whether all that is bound has one key for everything. */
static bool collq_bindings_whole(const struct collq_bindings *bindings)
{
	u32 i;

	for (i = 0; i < bindings->nr; i++) {
		if (bindings->slots[i].region->map.nr_chunks > 1)
			return false;
	}
	return true;
}

/* For queue pairs that the keys of regions are of no use to. */
static int collq_bindings_index(struct collq_bindings *bindings)
{
	u32 i;
	int err = 0;

	for (i = 0; i < bindings->nr && !err; i++)
		err = collq_region_index(bindings->slots[i].region);
	return err;
}

/**
 * collq_bindings_check - whether the lists fit the queue pairs
 * @bindings: the bindings, complete
 *
 * The graph's lists fit; but an entry that crosses the border of what has one key
 * becomes two, and where no key counts, of what is contiguous. Looks at all lists
 * only if there may be such a border. May sleep.
 *
 * Return: 0, -EMSGSIZE or -ENOMEM.
 */
int collq_bindings_check(struct collq_bindings *bindings)
{
	const struct collq_graph *graph = bindings->graph;
	const struct collq_step *step;
	struct collq_list list;
	u32 i;
	int err;

	if (unlikely(graph->writes_apart)) {
		err = collq_bindings_index(bindings);
		if (err)
			return err;
	} else if (likely(collq_bindings_whole(bindings))) {
		return 0;
	}
	for (i = 0; i < graph->nr_tasks; i++) {
		step = &graph->steps[i];
		if (!collq_step_has_data(step))
			continue;
		list = collq_step_list(graph, step, bindings);
		if (!collq_list_fits(&list, collq_step_endpoint(step),
				     collq_step_max_sges(step)))
			return -EMSGSIZE;
		cond_resched();
	}
	return 0;
}

static void collq_bindings_free(struct collq_bindings *bindings)
{
	struct work_struct *drained = bindings->drained;
	struct collq_graph *graph = bindings->graph;
	u32 i;

	for (i = 0; i < bindings->nr; i++) {
		if (bindings->slots[i].region)
			collq_region_unuse(bindings->slots[i].region);
	}
	kfree(bindings);
	collq_object_put(&graph->obj);
	if (drained)
		queue_work(collq_run_wq, drained);
}

/* Any context but hardirq. True if it was the last reference. */
bool collq_bindings_put(struct collq_bindings *bindings)
{
	if (!refcount_dec_and_test(&bindings->refs))
		return false;
	collq_bindings_free(bindings);
	return true;
}

/**
 * collq_list_sges - a list as a queue pair wants it
 * @list: the list
 * @ep: whose queue pair it is, or NULL if it's nobody's
 * @sges: filled in; as long as collq_bindings_check() has seen to
 *
 * What is contiguous becomes one entry; empty entries are left out, since to some
 * devices a length of 0 says 2 GiB.
 *
 * Return: the number of entries.
 */
u32 collq_list_sges(const struct collq_list *list,
		    const struct collq_endpoint *ep, struct ib_sge *sges)
{
	const struct collq_binding *binding;
	struct ib_sge *last = NULL, next;
	u32 i, left, done, nr = 0;
	u64 offset;

	for (i = 0; i < list->nr; i++) {
		binding = &list->bindings->slots[list->sges[i].buffer];
		offset = binding->offset + list->sges[i].offset;
		for (left = list->sges[i].length; left; left -= done) {
			done = collq_region_sge(binding->region, offset, left,
						ep, &next);
			offset += done;
			if (last && last->lkey == next.lkey &&
			    last->addr + last->length == next.addr) {
				last->length += next.length;
			} else {
				last = &sges[nr++];
				*last = next;
			}
		}
	}
	return nr;
}
