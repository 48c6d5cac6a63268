/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_BINDINGS_H
#define COLLQ_BINDINGS_H

#include <linux/refcount.h>
#include <linux/types.h>

#include <rdma/ib_collq.h>

struct collq_endpoint;
struct collq_graph;
struct collq_region;
struct ib_sge;
struct work_struct;

/**
 * struct collq_binding - what a buffer slot stands for
 * @region: the region; in use
 * @offset: offset into the region
 */
struct collq_binding {
	struct collq_region *region;
	u64 offset;
};

/**
 * struct collq_bindings - what the buffer slots of a graph stand for in one run
 * @refs: one of the submission until it ends, one of each message that is posted
 *	and not over
 * @drained: to be queued when the last one goes, or NULL. Set by who holds one
 * @graph: the graph, whose table lists are part of; referenced
 * @nr: number of @slots
 * @slots: by number of the buffer slot
 */
struct collq_bindings {
	refcount_t refs;
	struct work_struct *drained;
	struct collq_graph *graph;
	u32 nr;
	struct collq_binding slots[];
};

/**
 * struct collq_list - part of a scatter/gather table, and what it stands for
 * @bindings: the buffers
 * @sges: the first entry
 * @nr: number of entries
 */
struct collq_list {
	struct collq_bindings *bindings;
	const struct ib_collq_sge *sges;
	u32 nr;
};

struct collq_bindings *collq_bindings_alloc(struct collq_graph *graph);
int collq_bindings_bind(struct collq_bindings *bindings, u32 buffer,
			struct collq_region *region, u64 offset);
int collq_bindings_check(struct collq_bindings *bindings);
bool collq_bindings_put(struct collq_bindings *bindings);
u32 collq_list_sges(const struct collq_list *list,
		    const struct collq_endpoint *ep, struct ib_sge *sges);

static inline void collq_bindings_get(struct collq_bindings *bindings)
{
	refcount_inc(&bindings->refs);
}

#endif /* COLLQ_BINDINGS_H */
