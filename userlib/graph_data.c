// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Data in graphs: message channels, tasks with lists of pieces of buffers, and what
 * they come to.
 *
 * All lists lie in one table of the graph, in the order in which they were added. It
 * is the very table that the kernel gets, so that lowering moves no list. What a
 * removed node had in it stays, unused.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "graph_internal.h"
#include "sized.h"

int collq_graph_message(struct collq_graph *graph, uint32_t peer, uint32_t tag)
{
	struct collq_graph_message_channel *messages = graph->messages;
	uint32_t i;

	if (graph->error)
		return graph->error;
	for (i = 0; i < graph->nr_messages; i++)
		if (messages[i].peer == peer && messages[i].tag == tag)
			return (int)i;
	messages = collq_graph_grow(graph, messages, graph->nr_messages,
				    &graph->room_messages, sizeof(*messages));
	if (!messages)
		return graph->error;
	messages[i] = (struct collq_graph_message_channel){ .peer = peer, .tag = tag };
	graph->messages = messages;
	graph->nr_messages++;
	return (int)i;
}

/* Whether a piece of that length can be there; a graph counts its buffers. */
static bool is_piece(const struct ib_collq_sge *sge, uint32_t buffer, uint64_t offset)
{
	return buffer != UINT32_MAX && offset <= UINT64_MAX - sge->length;
}

/* Bytes of a list, in @bytes. */
static int check_list(const struct ib_collq_sge *sges, uint32_t nr, uint64_t *bytes)
{
	uint32_t i;

	*bytes = 0;
	for (i = 0; i < nr; i++) {
		if (!is_piece(&sges[i], sges[i].buffer, sges[i].offset))
			return -EINVAL;
		*bytes += sges[i].length;
	}
	return 0;
}

/* Whether @next became part of @last. */
static bool merge(struct ib_collq_sge *last, const struct ib_collq_sge *next)
{
	if (last->buffer != next->buffer || last->offset + last->length != next->offset ||
	    last->length > UINT32_MAX - next->length)
		return false;
	last->length += next->length;
	return true;
}

/* Adds a list to the table, and says where it begins and how long it is there. */
static int add_list(struct collq_graph *graph, const struct ib_collq_sge *given,
		    uint32_t nr, uint32_t *first, uint32_t *count)
{
	struct ib_collq_sge *sges;
	uint32_t i, begin = graph->nr_sges;

	for (i = 0; i < nr; i++) {
		if (!given[i].length)
			continue;
		if (graph->nr_sges > begin && merge(&graph->sges[graph->nr_sges - 1], &given[i]))
			continue;
		sges = collq_graph_grow(graph, graph->sges, graph->nr_sges, &graph->room_sges,
					sizeof(*sges));
		if (!sges)
			return graph->error;
		graph->sges = sges;
		sges[graph->nr_sges++] = given[i];
	}
	*count = graph->nr_sges - begin;
	*first = *count ? begin : 0;
	return 0;
}

static void count_message(struct collq_graph_message_channel *channel,
			  const struct collq_graph_node_info *info)
{
	bool send = info->opcode == IB_COLLQ_TASK_SEND;
	uint32_t *longest = send ? &channel->max_send_sge : &channel->max_recv_sge;

	(*(send ? &channel->sends : &channel->recvs))++;
	if (*longest < info->nr_sges)
		*longest = info->nr_sges;
}

static int add_message(struct collq_graph *graph, uint32_t opcode, int message,
		       const struct ib_collq_sge *sges, uint32_t nr, uint32_t label)
{
	struct collq_graph_node_info info = {
		.opcode = opcode,
		.channel = -1,
		.message = message,
		.label = label,
	};
	uint32_t first;
	int node, err;

	if (graph->error)
		return graph->error;
	if (!collq_graph_is_index(message, graph->nr_messages))
		return -EINVAL;
	err = check_list(sges, nr, &info.bytes);
	if (!err)
		err = add_list(graph, sges, nr, &first, &info.nr_sges);
	if (err)
		return err;
	node = collq_graph_add_in_order(graph, &info);
	if (node >= 0) {
		graph->nodes[node].sge_first = first;
		count_message(&graph->messages[message], &info);
	}
	return node;
}

int collq_graph_send_data(struct collq_graph *graph, int message,
			  const struct ib_collq_sge *sges, uint32_t nr, uint32_t label)
{
	return add_message(graph, IB_COLLQ_TASK_SEND, message, sges, nr, label);
}

int collq_graph_recv_data(struct collq_graph *graph, int message,
			  const struct ib_collq_sge *sges, uint32_t nr, uint32_t label)
{
	return add_message(graph, IB_COLLQ_TASK_RECV, message, sges, nr, label);
}

int collq_graph_write(struct collq_graph *graph, int out, uint64_t zone_offset,
		      const struct ib_collq_sge *sges, uint32_t nr, uint32_t label)
{
	struct collq_graph_node_info info = {
		.opcode = IB_COLLQ_TASK_WRITE,
		.channel = out,
		.message = -1,
		.label = label,
		.zone_offset = zone_offset,
	};
	uint32_t first;
	int node, err;

	if (graph->error)
		return graph->error;
	if (!collq_graph_is_index(out, graph->out.nr))
		return -EINVAL;
	err = check_list(sges, nr, &info.bytes);
	if (!err && zone_offset + info.bytes < zone_offset)
		err = -EINVAL;
	if (!err)
		err = add_list(graph, sges, nr, &first, &info.nr_sges);
	if (err)
		return err;
	node = collq_graph_add_node(graph, &info);
	if (node >= 0) {
		graph->nodes[node].sge_first = first;
		graph->out.entries[out].messages++;
	}
	return node;
}

static int add_wait(struct collq_graph *graph, int message, uint32_t source,
		    uint64_t count, uint32_t label)
{
	const struct collq_graph_node_info info = {
		.opcode = IB_COLLQ_TASK_WAIT,
		.channel = -1,
		.message = message,
		.source = source,
		.label = label,
		.count = count,
	};

	if (!graph->error &&
	    (!collq_graph_is_index(message, graph->nr_messages) || !count))
		return -EINVAL;
	return collq_graph_add_node(graph, &info);
}

int collq_graph_wait_sends(struct collq_graph *graph, int message, uint64_t count,
			   uint32_t label)
{
	int node = add_wait(graph, message, IB_COLLQ_SOURCE_SENDS, count, label);

	if (node >= 0)
		graph->messages[message].waited_sends += count;
	return node;
}

int collq_graph_wait_messages(struct collq_graph *graph, int message, uint64_t count,
			      uint32_t label)
{
	int node = add_wait(graph, message, IB_COLLQ_SOURCE_MESSAGES, count, label);

	if (node >= 0)
		graph->messages[message].waited_messages += count;
	return node;
}

/* A COPY or CALC. */
static int add_local_node(struct collq_graph *graph, struct collq_graph_node_info *info,
			  const struct ib_collq_sge *sges, uint32_t nr,
			  const struct ib_collq_sge *dst, uint32_t nr_dst)
{
	uint32_t first, dst_first;
	uint64_t dst_bytes;
	int node, err;

	if (graph->error)
		return graph->error;
	err = check_list(sges, nr, &info->bytes);
	if (!err)
		err = check_list(dst, nr_dst, &dst_bytes);
	if (err)
		return err;
	if (!dst_bytes || info->bytes != dst_bytes)
		return -EINVAL;
	err = add_list(graph, sges, nr, &first, &info->nr_sges);
	if (!err)
		err = add_list(graph, dst, nr_dst, &dst_first, &info->nr_dst);
	if (err)
		return err;
	node = collq_graph_add_node(graph, info);
	if (node >= 0) {
		graph->nodes[node].sge_first = first;
		graph->nodes[node].dst_first = dst_first;
	}
	return node;
}

int collq_graph_copy_data(struct collq_graph *graph, const struct ib_collq_sge *sges,
			  uint32_t nr, const struct ib_collq_sge *dst, uint32_t nr_dst,
			  uint32_t label)
{
	struct collq_graph_node_info info = {
		.opcode = IB_COLLQ_TASK_COPY,
		.channel = -1,
		.message = -1,
		.label = label,
	};

	return add_local_node(graph, &info, sges, nr, dst, nr_dst);
}

uint32_t collq_graph_element_size(uint32_t op, uint32_t type)
{
	uint32_t size;

	if (op < IB_COLLQ_CALC_ADD || op > IB_COLLQ_CALC_MAXLOC)
		return 0;
	if (type == IB_COLLQ_TYPE_S32 || type == IB_COLLQ_TYPE_U32)
		size = 4;
	else if (type == IB_COLLQ_TYPE_S64 || type == IB_COLLQ_TYPE_U64)
		size = 8;
	else
		return 0;
	return op >= IB_COLLQ_CALC_MINLOC ? 2 * size : size;
}

static bool is_whole(const struct ib_collq_sge *sges, uint32_t nr, uint32_t element)
{
	uint32_t i;

	for (i = 0; i < nr; i++)
		if (sges[i].length % element)
			return false;
	return true;
}

int collq_graph_calc(struct collq_graph *graph, uint32_t op, uint32_t type,
		     const struct ib_collq_sge *sges, uint32_t nr,
		     const struct ib_collq_sge *dst, uint32_t nr_dst, uint32_t label)
{
	struct collq_graph_node_info info = {
		.opcode = IB_COLLQ_TASK_CALC,
		.channel = -1,
		.message = -1,
		.label = label,
		.calc_op = op,
		.calc_type = type,
	};
	uint32_t element = collq_graph_element_size(op, type);

	if (!graph->error &&
	    (!element || !is_whole(sges, nr, element) || !is_whole(dst, nr_dst, element)))
		return -EINVAL;
	return add_local_node(graph, &info, sges, nr, dst, nr_dst);
}

uint32_t collq_graph_nr_messages(const struct collq_graph *graph)
{
	return graph->nr_messages;
}

int collq_graph_message_channel(const struct collq_graph *graph, int message,
				struct collq_graph_message_channel *channel)
{
	if (!collq_graph_is_index(message, graph->nr_messages))
		return -EINVAL;
	return collq_sized_give(channel, &graph->messages[message], sizeof(*channel));
}

int collq_graph_table(const struct collq_graph *graph, struct collq_graph_table *table)
{
	struct collq_graph_table own = { .nr_sges = graph->nr_sges, .sges = graph->sges };
	uint32_t i;

	for (i = 0; i < graph->nr_sges; i++)
		if (own.nr_buffers <= graph->sges[i].buffer)
			own.nr_buffers = graph->sges[i].buffer + 1;
	return collq_sized_give(table, &own, sizeof(own));
}

/* Where in the table a piece of a node is, in @entry. */
static int find_sge(const struct collq_graph *graph, int node, uint32_t index,
		    uint32_t *entry)
{
	const struct collq_graph_node *found;
	int err = collq_graph_check_node(graph, node);

	if (err)
		return err;
	found = &graph->nodes[node];
	if (index < found->info.nr_sges)
		*entry = found->sge_first + index;
	else if (index - found->info.nr_sges < found->info.nr_dst)
		*entry = found->dst_first + index - found->info.nr_sges;
	else
		return -EINVAL;
	return 0;
}

int collq_graph_sge(const struct collq_graph *graph, int node, uint32_t index,
		    struct ib_collq_sge *sge)
{
	uint32_t entry;
	int err = find_sge(graph, node, index, &entry);

	if (!err)
		*sge = graph->sges[entry];
	return err;
}

int collq_graph_set_sge(struct collq_graph *graph, int node, uint32_t index,
			uint32_t buffer, uint64_t offset)
{
	uint32_t entry;
	int err = graph->error;

	if (!err)
		err = find_sge(graph, node, index, &entry);
	if (err)
		return err;
	if (!is_piece(&graph->sges[entry], buffer, offset))
		return -EINVAL;
	graph->sges[entry].buffer = buffer;
	graph->sges[entry].offset = offset;
	return 0;
}

void collq_graph_recount(struct collq_graph *graph)
{
	struct collq_graph_message_channel *channel;
	const struct collq_graph_node_info *info;
	uint32_t i, *longest;

	for (i = 0; i < graph->nr_messages; i++) {
		graph->messages[i].max_send_sge = 0;
		graph->messages[i].max_recv_sge = 0;
	}
	for (i = 0; i < graph->nr_nodes; i++) {
		info = &graph->nodes[i].info;
		if (info->message < 0 || graph->nodes[i].removed)
			continue;
		channel = &graph->messages[info->message];
		longest = info->opcode == IB_COLLQ_TASK_SEND ? &channel->max_send_sge :
							       &channel->max_recv_sge;
		if (*longest < info->nr_sges)
			*longest = info->nr_sges;
	}
}

int collq_graph_fold(struct collq_graph *graph, uint32_t node, uint32_t buffer, uint64_t offset)
{
	struct collq_graph_node_info *info = &graph->nodes[node].info;
	const struct ib_collq_sge sge = {
		.buffer = buffer,
		.length = info->bytes,
		.offset = offset,
	};
	uint32_t first;
	int err;

	if (info->bytes > UINT32_MAX)
		return -EINVAL;
	err = add_list(graph, &sge, 1, &first, &info->nr_sges);
	if (err)
		return err;
	graph->nodes[node].sge_first = first;
	return 0;
}

static void add_totals(const struct collq_graph_node_info *info,
		       struct collq_graph_totals *totals)
{
	switch (info->opcode) {
	case IB_COLLQ_TASK_SEND:
		if (info->channel >= 0) {
			totals->signals++;
			break;
		}
		totals->sends++;
		totals->send_bytes += info->bytes;
		totals->send_sges += info->nr_sges;
		break;
	case IB_COLLQ_TASK_RECV:
		totals->recvs++;
		totals->recv_sges += info->nr_sges;
		break;
	case IB_COLLQ_TASK_COPY:
		totals->copies++;
		totals->copied_bytes += info->bytes;
		break;
	case IB_COLLQ_TASK_WAIT:
		totals->waits++;
		break;
	case IB_COLLQ_TASK_WRITE:
		totals->writes++;
		totals->written_bytes += info->bytes;
		totals->write_sges += info->nr_sges;
		break;
	}
}

int collq_graph_totals(const struct collq_graph *graph, struct collq_graph_totals *totals)
{
	struct collq_graph_totals own = { 0 };
	uint32_t i;

	for (i = 0; i < graph->nr_nodes; i++)
		if (!graph->nodes[i].removed)
			add_totals(&graph->nodes[i].info, &own);
	return collq_sized_give(totals, &own, sizeof(own));
}
