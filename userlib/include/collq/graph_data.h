/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Graphs that move data: what graph.h has no part in. See collq_graph_data(3).
 *
 * Data lies in *buffers*, which a graph numbers from 0; what memory each stands for
 * is said anew for each run. A list of &struct ib_collq_sge names pieces of them,
 * in order. Pieces of no length are left out, and neighbours become one.
 *
 * Data travels between ranks on *message channels*: {peer, tag} of one rank is {rank,
 * tag} of its peer, as with the channels of signals, but a message channel leads
 * both ways. It stands for a pair of message endpoints, which match messages and
 * receives in order. A message must find its receive posted: either the receiver
 * has sent a signal before, or the receive was there from an earlier run.
 */
#ifndef COLLQ_GRAPH_DATA_H
#define COLLQ_GRAPH_DATA_H

#include <stdint.h>

#include <rdma/ib_collq.h>

#include <collq/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * collq_graph_message() - declare where data goes to and comes from
 * @graph: the graph
 * @peer: the other rank
 * @tag: tells message channels to the same peer apart
 *
 * Return: index of the message channel (these are numbered apart), the same one if
 * it was declared before; -ENOMEM.
 */
int collq_graph_message(struct collq_graph *graph, uint32_t peer, uint32_t tag);

/**
 * collq_graph_send_data() - add a task that sends a message
 * @graph: the graph
 * @message: index of a message channel
 * @sges: where the data is; not needed any more when this returns
 * @nr: number of @sges; may be 0
 * @label: anything, such as the step; completions report it
 *
 * Tasks that send on the same message channel keep the order in which they were
 * added. The data must stay as it is until the message is known to have arrived:
 * collq_graph_wait_sends().
 *
 * Return: index of the node; -EINVAL if there's no such channel, or a piece ends
 * behind 2^64; -ENOMEM.
 */
int collq_graph_send_data(struct collq_graph *graph, int message,
			  const struct ib_collq_sge *sges, uint32_t nr, uint32_t label);

/**
 * collq_graph_recv_data() - add a task that posts a receive
 * @graph: the graph
 * @message: index of a message channel
 * @sges: where the data is to land; not needed any more when this returns
 * @nr: number of @sges; may be 0
 * @label: anything, such as the step; completions report it
 *
 * Tasks that receive on the same message channel keep the order in which they were
 * added. To know that the message is there: collq_graph_wait_messages().
 *
 * Return: as collq_graph_send_data().
 */
int collq_graph_recv_data(struct collq_graph *graph, int message,
			  const struct ib_collq_sge *sges, uint32_t nr, uint32_t label);

/**
 * collq_graph_write() - add a task that writes into a landing zone, with a signal
 * @graph: the graph
 * @out: index of an out channel; see struct collq_graph_out_binding for the zone
 * @zone_offset: where in the zone the data lands
 * @sges: where the data is; not needed any more when this returns
 * @nr: number of @sges; may be 0
 * @label: anything, such as the step; completions report it
 *
 * The signal comes when the data is there, and counts as one of the channel's. The data
 * must stay as it is until the write is over: collq_graph_wait_counter(), with a counter
 * of the sends of the endpoint.
 *
 * Return: index of the node; -EINVAL if there's no such channel, or a piece or what is
 * written ends behind 2^64; -ENOMEM.
 */
int collq_graph_write(struct collq_graph *graph, int out, uint64_t zone_offset,
		      const struct ib_collq_sge *sges, uint32_t nr, uint32_t label);

/**
 * collq_graph_wait_sends() - add a task that waits until messages have arrived
 * @graph: the graph
 * @message: index of a message channel
 * @count: how many sends to wait for, at least 1
 * @label: anything, such as the step; completions report it
 *
 * Then the memory that they were sent from is free.
 *
 * Return: index of the node; -EINVAL if there's no such channel or @count is 0,
 * -ENOMEM.
 */
int collq_graph_wait_sends(struct collq_graph *graph, int message, uint64_t count,
			   uint32_t label);

/**
 * collq_graph_wait_messages() - add a task that waits for messages
 * @graph: the graph
 * @message: index of a message channel
 * @count: how many messages to wait for, at least 1
 * @label: anything, such as the step; completions report it
 *
 * Return: as collq_graph_wait_sends().
 */
int collq_graph_wait_messages(struct collq_graph *graph, int message, uint64_t count,
			      uint32_t label);

/**
 * collq_graph_copy_data() - add a task that copies data on this rank
 * @graph: the graph
 * @sges: where the data is
 * @nr: number of @sges
 * @dst: where it goes to, as many bytes; the two mustn't overlap
 * @nr_dst: number of @dst
 * @label: anything, such as the step; completions report it
 *
 * Return: index of the node; -EINVAL if there's nothing to copy, the lengths differ,
 * or a piece ends behind 2^64; -ENOMEM.
 */
int collq_graph_copy_data(struct collq_graph *graph, const struct ib_collq_sge *sges,
			  uint32_t nr, const struct ib_collq_sge *dst, uint32_t nr_dst,
			  uint32_t label);

/**
 * collq_graph_calc() - add a task that calculates
 * @graph: the graph
 * @op: IB_COLLQ_CALC_*
 * @type: IB_COLLQ_TYPE_*
 * @sges: one operand of each calculation
 * @nr: number of @sges
 * @dst: the other one, and where the result goes to; as many bytes
 * @nr_dst: number of @dst
 * @label: anything, such as the step; completions report it
 *
 * Each number at @dst becomes itself @op the number at @sges. With
 * IB_COLLQ_CALC_MINLOC and _MAXLOC two numbers belong together, a value and the place
 * where it is found; of equal values the lower place is taken.
 *
 * Return: as collq_graph_copy_data(); also -EINVAL if there's no such @op or @type, or
 * a number begins in one piece and ends in another.
 */
int collq_graph_calc(struct collq_graph *graph, uint32_t op, uint32_t type,
		     const struct ib_collq_sge *sges, uint32_t nr,
		     const struct ib_collq_sge *dst, uint32_t nr_dst, uint32_t label);

/**
 * struct collq_graph_message_channel - what collq_graph_message_channel() tells
 * @size: in: sizeof(struct collq_graph_message_channel)
 * @peer: the other rank
 * @tag: as declared
 * @max_send_sge: entries of the longest list that is sent
 * @max_recv_sge: entries of the longest list that is received into
 * @sends: messages sent in one run of the graph
 * @recvs: receives posted in one run of the graph
 * @waited_sends: how many of @sends are waited for; if any are, it takes a counter
 * @waited_messages: how many messages are waited for; if any are, it takes a counter
 */
struct collq_graph_message_channel {
	uint32_t size;
	uint32_t peer;
	uint32_t tag;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	uint64_t sends;
	uint64_t recvs;
	uint64_t waited_sends;
	uint64_t waited_messages;
};

/**
 * collq_graph_nr_messages() - how many message channels there are
 * @graph: the graph
 *
 * Return: number of message channels.
 */
uint32_t collq_graph_nr_messages(const struct collq_graph *graph);

/**
 * collq_graph_message_channel() - look at a message channel
 * @graph: the graph
 * @message: index of the channel
 * @channel: out: what it is
 *
 * Return: 0; -EINVAL if there's no such channel; -EINVAL or -E2BIG if the size
 * makes no sense.
 */
int collq_graph_message_channel(const struct collq_graph *graph, int message,
				struct collq_graph_message_channel *channel);

/**
 * struct collq_graph_table - what collq_graph_table() tells
 * @size: in: sizeof(struct collq_graph_table)
 * @nr_sges: number of @sges
 * @nr_buffers: one more than the highest buffer that is named; 0 without data
 * @sges: the lists of all tasks: what sge_first and dst_first of the tasks that
 *	collq_graph_lower() makes refer to; valid until the graph is changed or freed
 */
struct collq_graph_table {
	uint32_t size;
	uint32_t nr_sges;
	uint32_t nr_buffers;
	const struct ib_collq_sge *sges;
};

/**
 * collq_graph_table() - the scatter/gather table that goes with the task list
 * @graph: the graph
 * @table: out: the table
 *
 * Return: 0; -EINVAL or -E2BIG if the size makes no sense.
 */
int collq_graph_table(const struct collq_graph *graph, struct collq_graph_table *table);

/**
 * collq_graph_sge() - look at a piece of a node's lists
 * @graph: the graph
 * @node: index of the node
 * @index: which one, from 0; behind those of the first list come those of the second
 * @sge: out: the piece
 *
 * Return: 0; -EINVAL if there's no such node or piece, -ENOENT if the node was removed.
 */
int collq_graph_sge(const struct collq_graph *graph, int node, uint32_t index,
		    struct ib_collq_sge *sge);

/**
 * collq_graph_set_sge() - let a piece of a node's lists be somewhere else
 * @graph: the graph
 * @node: index of the node
 * @index: which one, as for collq_graph_sge()
 * @buffer: the buffer
 * @offset: offset into it
 *
 * Its length stays. Made for tests that prove that they would notice.
 *
 * Return: as collq_graph_sge(); also -EINVAL if the piece would end behind 2^64;
 * -ENOMEM.
 */
int collq_graph_set_sge(struct collq_graph *graph, int node, uint32_t index,
			uint32_t buffer, uint64_t offset);

/**
 * struct collq_graph_totals - what collq_graph_totals() tells
 * @size: in: sizeof(struct collq_graph_totals)
 * @signals: signals sent, without those of writes
 * @sends: messages sent
 * @send_bytes: bytes in them
 * @send_sges: pieces that they are sent from
 * @recvs: receives posted
 * @recv_sges: pieces that they land in
 * @copies: copying tasks
 * @copied_bytes: bytes that they copy
 * @waits: waiting tasks
 * @writes: writes into landing zones
 * @written_bytes: bytes that they write
 * @write_sges: pieces that they are written from
 */
struct collq_graph_totals {
	uint32_t size;
	uint64_t signals;
	uint64_t sends;
	uint64_t send_bytes;
	uint64_t send_sges;
	uint64_t recvs;
	uint64_t recv_sges;
	uint64_t copies;
	uint64_t copied_bytes;
	uint64_t waits;
	uint64_t writes;
	uint64_t written_bytes;
	uint64_t write_sges;
};

/**
 * collq_graph_totals() - what a run of a graph comes to
 * @graph: the graph
 * @totals: out: the sums over all nodes
 *
 * Return: 0; -EINVAL or -E2BIG if the size makes no sense.
 */
int collq_graph_totals(const struct collq_graph *graph, struct collq_graph_totals *totals);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* COLLQ_GRAPH_DATA_H */
