// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The graph builder: a list of nodes, the order among them, and the channels
 * that they use, in memory alone. A builder of a collective says here what one
 * rank does; graph_lower.c turns it into the kernel's task list once it is known
 * which endpoint, slot and counter each channel stands for.
 *
 * A graph belongs to its caller, who keeps two threads from changing it at once.
 * Look-ups are linear: a graph has as many channels as the rank has neighbours
 * times rounds, and it is built once per persistent operation.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "graph_internal.h"
#include "sized.h"

int collq_graph_new(struct collq_graph **graph)
{
	*graph = calloc(1, sizeof(**graph));
	return *graph ? 0 : -ENOMEM;
}

void collq_graph_free(struct collq_graph *graph)
{
	if (!graph)
		return;
	free(graph->nodes);
	free(graph->edges);
	free(graph->sges);
	free(graph->messages);
	free(graph->out.entries);
	free(graph->in.entries);
	free(graph);
}

/* NULL for an empty array, too; the graph's error tells. */
static void *duplicate(struct collq_graph *copy, const void *array, uint32_t nr,
		       size_t entry_size)
{
	void *duplicated;

	if (!nr)
		return NULL;
	duplicated = calloc(nr, entry_size);
	if (duplicated)
		memcpy(duplicated, array, nr * entry_size);
	else
		copy->error = -ENOMEM;
	return duplicated;
}

static void duplicate_channels(struct collq_graph *copy,
			       struct collq_graph_channels *to,
			       const struct collq_graph_channels *from)
{
	to->entries = duplicate(copy, from->entries, from->nr, sizeof(*to->entries));
	to->nr = from->nr;
	to->room = from->nr;
}

int collq_graph_copy(const struct collq_graph *graph, struct collq_graph **copy)
{
	struct collq_graph *to;
	int err = graph->error;

	*copy = NULL;
	if (!err)
		err = collq_graph_new(&to);
	if (err)
		return err;

	to->nodes = duplicate(to, graph->nodes, graph->nr_nodes, sizeof(*to->nodes));
	to->nr_nodes = graph->nr_nodes;
	to->room_nodes = graph->nr_nodes;
	to->edges = duplicate(to, graph->edges, graph->nr_edges, sizeof(*to->edges));
	to->nr_edges = graph->nr_edges;
	to->room_edges = graph->nr_edges;
	to->sges = duplicate(to, graph->sges, graph->nr_sges, sizeof(*to->sges));
	to->nr_sges = graph->nr_sges;
	to->room_sges = graph->nr_sges;
	to->messages = duplicate(to, graph->messages, graph->nr_messages,
				 sizeof(*to->messages));
	to->nr_messages = graph->nr_messages;
	to->room_messages = graph->nr_messages;
	duplicate_channels(to, &to->out, &graph->out);
	duplicate_channels(to, &to->in, &graph->in);
	err = to->error;
	if (err)
		collq_graph_free(to);
	else
		*copy = to;
	return err;
}

void *collq_graph_grow(struct collq_graph *graph, void *array, uint32_t nr,
		       uint32_t *room, size_t entry_size)
{
	uint32_t wanted = *room ? 2 * *room : 16;
	void *grown;

	if (nr < *room)
		return array;
	grown = NULL;
	if (wanted <= INT_MAX / entry_size)
		grown = realloc(array, wanted * entry_size);
	if (!grown) {
		graph->error = -ENOMEM;
		return NULL;
	}
	*room = wanted;
	return grown;
}

static int declare(struct collq_graph *graph, struct collq_graph_channels *channels,
		   uint32_t peer, uint32_t tag)
{
	struct collq_graph_channel *entries = channels->entries;
	uint32_t i;

	if (graph->error)
		return graph->error;
	for (i = 0; i < channels->nr; i++)
		if (entries[i].peer == peer && entries[i].tag == tag)
			return (int)i;

	entries = collq_graph_grow(graph, entries, channels->nr, &channels->room,
				   sizeof(*entries));
	if (!entries)
		return graph->error;
	entries[i] = (struct collq_graph_channel){ .peer = peer, .tag = tag };
	channels->entries = entries;
	channels->nr++;
	return (int)i;
}

int collq_graph_out(struct collq_graph *graph, uint32_t peer, uint32_t tag)
{
	return declare(graph, &graph->out, peer, tag);
}

int collq_graph_in(struct collq_graph *graph, uint32_t peer, uint32_t tag)
{
	return declare(graph, &graph->in, peer, tag);
}

int collq_graph_add_node(struct collq_graph *graph,
			 const struct collq_graph_node_info *info)
{
	struct collq_graph_node *nodes;

	if (graph->error)
		return graph->error;
	nodes = collq_graph_grow(graph, graph->nodes, graph->nr_nodes, &graph->room_nodes,
				 sizeof(*nodes));
	if (!nodes)
		return graph->error;
	graph->nodes = nodes;
	nodes[graph->nr_nodes] = (struct collq_graph_node){ .info = *info };
	return (int)graph->nr_nodes++;
}

static int add_edge(struct collq_graph *graph, uint32_t node,
		    uint32_t predecessor)
{
	struct collq_graph_edge *edges;

	edges = collq_graph_grow(graph, graph->edges, graph->nr_edges, &graph->room_edges,
				 sizeof(*edges));
	if (!edges)
		return graph->error;
	graph->edges = edges;
	edges[graph->nr_edges++] = (struct collq_graph_edge){ node, predecessor };
	return 0;
}

int collq_graph_signal(struct collq_graph *graph, int out, uint32_t label)
{
	const struct collq_graph_node_info info = {
		.opcode = IB_COLLQ_TASK_SEND,
		.channel = out,
		.message = -1,
		.label = label,
	};
	int node;

	if (!graph->error && !collq_graph_is_index(out, graph->out.nr))
		return -EINVAL;
	node = collq_graph_add_node(graph, &info);
	if (node >= 0)
		graph->out.entries[out].messages++;
	return node;
}

int collq_graph_wait(struct collq_graph *graph, int in, uint64_t count,
		     uint32_t label)
{
	const struct collq_graph_node_info info = {
		.opcode = IB_COLLQ_TASK_WAIT,
		.channel = in,
		.message = -1,
		.label = label,
		.count = count,
	};
	int node;

	if (!graph->error && (!collq_graph_is_index(in, graph->in.nr) || !count))
		return -EINVAL;
	node = collq_graph_add_node(graph, &info);
	if (node >= 0)
		graph->in.entries[in].messages += count;
	return node;
}

int collq_graph_wait_counter(struct collq_graph *graph, uint32_t counter,
			     uint64_t count, uint32_t label)
{
	const struct collq_graph_node_info info = {
		.opcode = IB_COLLQ_TASK_WAIT,
		.channel = -1,
		.message = -1,
		.object = counter,
		.label = label,
		.count = count,
	};

	if (!graph->error && (!counter || !count))
		return -EINVAL;
	return collq_graph_add_node(graph, &info);
}

/* On the same message channel, or on the same endpoint of the caller. */
static bool is_alike(const struct collq_graph_node *node,
		     const struct collq_graph_node_info *info)
{
	return !node->removed && node->info.channel < 0 &&
	       node->info.opcode == info->opcode && node->info.message == info->message &&
	       node->info.object == info->object;
}

int collq_graph_add_in_order(struct collq_graph *graph,
			     const struct collq_graph_node_info *info)
{
	uint32_t i = graph->nr_nodes;
	int node, err;

	node = collq_graph_add_node(graph, info);
	if (node < 0)
		return node;
	while (i--) {
		if (!is_alike(&graph->nodes[i], info))
			continue;
		err = add_edge(graph, node, i);
		return err ? err : node;
	}
	return node;
}

static int add_message(struct collq_graph *graph, uint32_t opcode, uint32_t endpoint,
		       uint32_t label)
{
	const struct collq_graph_node_info info = {
		.opcode = opcode,
		.channel = -1,
		.message = -1,
		.object = endpoint,
		.label = label,
	};

	if (!graph->error && !endpoint)
		return -EINVAL;
	return collq_graph_add_in_order(graph, &info);
}

int collq_graph_send(struct collq_graph *graph, uint32_t endpoint, uint32_t label)
{
	return add_message(graph, IB_COLLQ_TASK_SEND, endpoint, label);
}

int collq_graph_recv(struct collq_graph *graph, uint32_t endpoint, uint32_t label)
{
	return add_message(graph, IB_COLLQ_TASK_RECV, endpoint, label);
}

int collq_graph_check_node(const struct collq_graph *graph, int node)
{
	if (!collq_graph_is_index(node, graph->nr_nodes))
		return -EINVAL;
	return graph->nodes[node].removed ? -ENOENT : 0;
}

int collq_graph_after(struct collq_graph *graph, int node, int predecessor)
{
	int err = graph->error;

	if (!err)
		err = collq_graph_check_node(graph, node);
	if (!err)
		err = collq_graph_check_node(graph, predecessor);
	if (err)
		return err;
	if (node == predecessor)
		return -ELOOP;
	return add_edge(graph, node, predecessor);
}

/* All that come behind @node come behind all that it comes behind; it doesn't. */
static int bypass(struct collq_graph *graph, uint32_t node)
{
	const uint32_t nr = graph->nr_edges;
	uint32_t i, j, kept = 0;
	int err = 0;

	for (i = 0; i < nr; i++) {
		if (graph->edges[i].node != node)
			continue;
		for (j = 0; j < nr && !err; j++)
			if (graph->edges[j].predecessor == node)
				err = add_edge(graph, graph->edges[j].node,
					       graph->edges[i].predecessor);
	}
	for (i = 0; i < graph->nr_edges; i++)
		if (graph->edges[i].node != node && graph->edges[i].predecessor != node)
			graph->edges[kept++] = graph->edges[i];
	graph->nr_edges = kept;
	return err;
}

int collq_graph_remove(struct collq_graph *graph, int node)
{
	const struct collq_graph_node_info *info;
	int err = graph->error;

	if (!err)
		err = collq_graph_check_node(graph, node);
	if (!err)
		err = bypass(graph, node);
	if (err)
		return err;
	graph->nodes[node].removed = true;
	info = &graph->nodes[node].info;
	if (info->opcode != IB_COLLQ_TASK_WAIT && info->channel >= 0)
		graph->out.entries[info->channel].messages--;
	if (info->opcode == IB_COLLQ_TASK_SEND && info->message >= 0)
		graph->messages[info->message].sends--;
	if (info->opcode == IB_COLLQ_TASK_RECV && info->message >= 0)
		graph->messages[info->message].recvs--;
	return 0;
}

uint32_t collq_graph_nr_nodes(const struct collq_graph *graph)
{
	return graph->nr_nodes;
}

int collq_graph_node(const struct collq_graph *graph, int node,
		     struct collq_graph_node_info *info)
{
	int err = collq_graph_check_node(graph, node);

	if (err)
		return err;
	return collq_sized_give(info, &graph->nodes[node].info, sizeof(*info));
}

uint32_t collq_graph_nr_out(const struct collq_graph *graph)
{
	return graph->out.nr;
}

uint32_t collq_graph_nr_in(const struct collq_graph *graph)
{
	return graph->in.nr;
}

int collq_graph_out_channel(const struct collq_graph *graph, int out,
			    struct collq_graph_channel *channel)
{
	if (!collq_graph_is_index(out, graph->out.nr))
		return -EINVAL;
	return collq_sized_give(channel, &graph->out.entries[out], sizeof(*channel));
}

int collq_graph_in_channel(const struct collq_graph *graph, int in,
			   struct collq_graph_channel *channel)
{
	if (!collq_graph_is_index(in, graph->in.nr))
		return -EINVAL;
	return collq_sized_give(channel, &graph->in.entries[in], sizeof(*channel));
}
