/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a graph is made of, for the files that build and lower one (graph.c,
 * graph_data.c, graph_lower.c) and for builders that look at the sticky error.
 * Everything else uses the functions of collq/graph.h and collq/graph_data.h.
 */
#ifndef COLLQ_GRAPH_INTERNAL_H
#define COLLQ_GRAPH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <collq/graph.h>
#include <collq/graph_data.h>

/*
 * Its lists begin at these entries of the graph's table. A removed node keeps its
 * place, so that indices stay; it has no edges.
 */
struct collq_graph_node {
	struct collq_graph_node_info info;
	uint32_t sge_first;
	uint32_t dst_first;
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
	struct ib_collq_sge *sges;
	struct collq_graph_message_channel *messages;
	uint32_t nr_nodes, room_nodes;
	uint32_t nr_edges, room_edges;
	uint32_t nr_sges, room_sges;
	uint32_t nr_messages, room_messages;
	struct collq_graph_channels out;
	struct collq_graph_channels in;
	int error;
};

/*
 * Room for one more entry in @array, which has @nr of them. The array may move;
 * NULL, and the graph's error set, if that can't be. Indices must fit an int.
 */
void *collq_graph_grow(struct collq_graph *graph, void *array, uint32_t nr,
		       uint32_t *room, size_t entry_size);

/* The index of the node, or the graph's error. */
int collq_graph_add_node(struct collq_graph *graph,
			 const struct collq_graph_node_info *info);

/* The same of a node that has to come behind the last one like it. */
int collq_graph_add_in_order(struct collq_graph *graph,
			     const struct collq_graph_node_info *info);

/*
 * The list of a node, which sends or receives a message, becomes one entry of another buffer.
 * 0 or -errno.
 */
int collq_graph_fold(struct collq_graph *graph, uint32_t node, uint32_t buffer, uint64_t offset);
/* The longest lists of channels, after that. */
void collq_graph_recount(struct collq_graph *graph);

/* Bytes that are calculated with at a time; 0 if there's no such thing. */
uint32_t collq_graph_element_size(uint32_t op, uint32_t type);

/* Whether @node is there: what every function that takes one has to ask. */
int collq_graph_check_node(const struct collq_graph *graph, int node);

static inline bool collq_graph_is_index(int index, uint32_t nr)
{
	return index >= 0 && (uint32_t)index < nr;
}

#endif /* COLLQ_GRAPH_INTERNAL_H */
