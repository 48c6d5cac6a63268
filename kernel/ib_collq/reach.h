/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_REACH_H
#define COLLQ_REACH_H

#include <linux/types.h>

struct collq_graph;
struct collq_region;
struct ib_pd;

/**
 * struct collq_reach - who uses a buffer of a graph
 * @pd: the process' protection domain whose endpoints do, or NULL if it's others, or
 *	the CPU
 * @used: somebody does
 * @mixed: several, of which @pd is one
 */
struct collq_reach {
	const struct ib_pd *pd;
	bool used;
	bool mixed;
};

void collq_reach_find(struct collq_graph *graph);
bool collq_reach_allows(const struct collq_reach *reach,
			const struct collq_region *region);

#endif /* COLLQ_REACH_H */
