/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a graph is made of, for the files that build and lower one (graph.c,
 * graph_lower.c) and for builders that look at the sticky error. Everything else
 * uses the functions of collq/graph.h.
 */
#ifndef COLLQ_GRAPH_INTERNAL_H
#define COLLQ_GRAPH_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include <collq/graph.h>

/* A removed node keeps its place, so that indices stay; it has no edges. */
struct collq_graph_node {
	struct collq_graph_node_info info;
	bool removed;
};

/* @node comes behind @predecessor. The same edge may be there twice. */
struct collq_graph_edge {
	uint32_t node;
	uint32_t predecessor;
};

struct collq_graph_channels {
	struct collq_graph_channel *entries;
	uint32_t nr, room;
};

/*
 * Arrays that only grow, each with its number of entries and the room that it
 * has. @error is sticky: 0, or -ENOMEM once memory ran out.
 */
struct collq_graph {
	struct collq_graph_node *nodes;
	struct collq_graph_edge *edges;
	uint32_t nr_nodes, room_nodes;
	uint32_t nr_edges, room_edges;
	struct collq_graph_channels out;
	struct collq_graph_channels in;
	int error;
};

#endif /* COLLQ_GRAPH_INTERNAL_H */
