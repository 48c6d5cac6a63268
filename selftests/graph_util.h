/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the tests of graphs share.
 */
#ifndef GRAPH_UTIL_H
#define GRAPH_UTIL_H

#include <stdint.h>

#include <collq/graph.h>

/* What graph_util_lower() binds channel i to; all differ. */
#define GRAPH_UTIL_ENDPOINT(i)		(1 + (i))
#define GRAPH_UTIL_SLOT(i)		((i) % 16384)
#define GRAPH_UTIL_GENERATION(i)	(((i) + 7) % 65536)
#define GRAPH_UTIL_COUNTER(i)		(100000 + (i))

/**
 * graph_util_lower() - lower a graph that isn't going to be run
 * @graph: the graph
 * @limits: as in &struct collq_graph_binding
 * @tasks: out: as of collq_graph_lower()
 * @nr: out: as of collq_graph_lower()
 *
 * Return: as collq_graph_lower().
 */
int graph_util_lower(const struct collq_graph *graph,
		     const struct ib_collq_query *limits,
		     struct ib_collq_task **tasks, uint32_t *nr);

/**
 * graph_util_pick() - a random number
 * @state: the generator; the same seed gives the same numbers
 * @below: an upper bound, up to 2^32
 *
 * Return: 0..@below - 1.
 */
uint32_t graph_util_pick(uint64_t *state, uint64_t below);

#endif /* GRAPH_UTIL_H */
