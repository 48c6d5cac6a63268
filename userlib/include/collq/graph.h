/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Graphs: what one rank does in one run of a collective, as tasks and the order
 * among them. See collq_graph(3) and collq_barrier_graph(3).
 *
 * They are built in memory alone: none of these functions needs a device, makes
 * a system call of its own or sleeps. A graph is used by one thread at a time;
 * functions that take it const may run side by side.
 *
 * What travels between ranks is named by channels: the out channel {peer, tag}
 * of one rank is the in channel {rank, tag} of its peer. Each round of a
 * collective takes a tag of its own, so that a message of the next round that
 * comes early can't be taken for one of this round. Which endpoint, signal slot
 * and counter a channel stands for is settled when the graph is lowered to the
 * task list that the kernel takes.
 *
 * Nodes, out channels and in channels are each named by their index, from 0.
 * Functions that give one return it, or a negative errno. Once a graph gave
 * -ENOMEM, all that would change or lower it gives -ENOMEM, so that a builder may
 * check the last result only.
 */
#ifndef COLLQ_GRAPH_H
#define COLLQ_GRAPH_H

#include <stdint.h>

#include <rdma/ib_collq.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct collq_graph;

/**
 * collq_graph_new() - make an empty graph
 * @graph: out: the graph, to be given to collq_graph_free()
 *
 * Return: 0 or -ENOMEM.
 */
int collq_graph_new(struct collq_graph **graph);

/**
 * collq_graph_free() - free a graph
 * @graph: the graph, or NULL
 */
void collq_graph_free(struct collq_graph *graph);

/**
 * collq_graph_copy() - make a graph like another
 * @graph: the graph
 * @copy: out: the copy, to be given to collq_graph_free(); NULL on failure
 *
 * Indices are the same in both.
 *
 * Return: 0 or -ENOMEM.
 */
int collq_graph_copy(const struct collq_graph *graph, struct collq_graph **copy);

/**
 * collq_graph_out() - declare where signals go to
 * @graph: the graph
 * @peer: the rank that gets them
 * @tag: tells channels to the same peer apart
 *
 * Return: index of the out channel, the same one if it was declared before;
 * -ENOMEM.
 */
int collq_graph_out(struct collq_graph *graph, uint32_t peer, uint32_t tag);

/**
 * collq_graph_in() - declare where signals come from
 * @graph: the graph
 * @peer: the rank that sends them
 * @tag: tells channels from the same peer apart
 *
 * Return: index of the in channel (these are numbered apart from out channels),
 * the same one if it was declared before; -ENOMEM.
 */
int collq_graph_in(struct collq_graph *graph, uint32_t peer, uint32_t tag);

/**
 * collq_graph_signal() - add a task that sends one signal
 * @graph: the graph
 * @out: index of an out channel
 * @label: anything, such as the round; completions report it
 *
 * Return: index of the node; -EINVAL if there's no such channel, -ENOMEM.
 */
int collq_graph_signal(struct collq_graph *graph, int out, uint32_t label);

/**
 * collq_graph_wait() - add a task that waits for signals
 * @graph: the graph
 * @in: index of an in channel
 * @count: how many signals to wait for, at least 1
 * @label: anything, such as the round; completions report it
 *
 * Return: index of the node; -EINVAL if there's no such channel or @count is 0,
 * -ENOMEM.
 */
int collq_graph_wait(struct collq_graph *graph, int in, uint64_t count,
		     uint32_t label);

/**
 * collq_graph_wait_counter() - add a task that waits for a counter of the caller
 * @graph: the graph
 * @counter: id of a counter: one raised by the user, sends or messages of an
 *	endpoint; not one of the signals of a channel
 * @count: how many counts to wait for, at least 1
 * @label: anything, such as the round; completions report it
 *
 * Return: index of the node; -EINVAL if @counter or @count is 0, -ENOMEM.
 */
int collq_graph_wait_counter(struct collq_graph *graph, uint32_t counter,
			     uint64_t count, uint32_t label);

/**
 * collq_graph_send() - add a task that sends a message without data
 * @graph: the graph
 * @endpoint: id of a message endpoint of the caller
 * @label: anything, such as the round; completions report it
 *
 * A message endpoint matches messages and receives in order: tasks that send on
 * the same one keep the order in which they were added.
 *
 * Return: index of the node; -EINVAL if @endpoint is 0, -ENOMEM.
 */
int collq_graph_send(struct collq_graph *graph, uint32_t endpoint, uint32_t label);

/**
 * collq_graph_recv() - add a task that posts a receive without data
 * @graph: the graph
 * @endpoint: id of a message endpoint of the caller
 * @label: anything, such as the round; completions report it
 *
 * Tasks that receive on the same endpoint keep the order in which they were
 * added. To wait for the message: collq_graph_wait_counter().
 *
 * Return: index of the node; -EINVAL if @endpoint is 0, -ENOMEM.
 */
int collq_graph_recv(struct collq_graph *graph, uint32_t endpoint, uint32_t label);

/**
 * collq_graph_after() - put one node behind another
 * @graph: the graph
 * @node: the node that comes later
 * @predecessor: the node that comes first
 *
 * Saying the same again changes nothing. A circle over several nodes is found by
 * collq_graph_lower().
 *
 * Return: 0; -EINVAL if there's no such node, -ENOENT if it was removed, -ELOOP
 * if both are the same, -ENOMEM.
 */
int collq_graph_after(struct collq_graph *graph, int node, int predecessor);

/**
 * collq_graph_remove() - take a node out
 * @graph: the graph
 * @node: the node
 *
 * What came behind it now comes behind what came before it. Indices of other
 * nodes stay. Its channel stays declared; an in channel goes on to expect the
 * signals of a removed wait, since the peer goes on to send them. Made for tests
 * that prove that they would notice.
 *
 * Return: 0; -EINVAL if there's no such node, -ENOENT if it was removed; -ENOMEM.
 */
int collq_graph_remove(struct collq_graph *graph, int node);

/**
 * struct collq_graph_node_info - what collq_graph_node() tells
 * @size: in: sizeof(struct collq_graph_node_info)
 * @opcode: IB_COLLQ_TASK_*
 * @channel: index of its out channel (a signal, a write) or in channel (a wait), else -1
 * @object: id of the caller's endpoint or counter; 0 if it has a channel or needs none
 * @label: as given
 * @count: of a wait, as given; else 0
 * @message: index of its message channel (see graph_data.h), else -1
 * @source: of a wait on a message channel, IB_COLLQ_SOURCE_SENDS or
 *	IB_COLLQ_SOURCE_MESSAGES; else 0
 * @bytes: how much is sent, written, received, copied or calculated with
 * @nr_sges: entries of the list that is sent, written, received into or read from
 * @nr_dst: entries of the list that is copied to or calculated into
 * @calc_op: IB_COLLQ_CALC_*, or 0
 * @calc_type: IB_COLLQ_TYPE_*, or 0
 * @zone_offset: of a write, as given; else 0
 */
struct collq_graph_node_info {
	uint32_t size;
	uint32_t opcode;
	int32_t channel;
	uint32_t object;
	uint32_t label;
	uint64_t count;
	int32_t message;
	uint32_t source;
	uint64_t bytes;
	uint32_t nr_sges;
	uint32_t nr_dst;
	uint32_t calc_op;
	uint32_t calc_type;
	uint64_t zone_offset;
};

/**
 * collq_graph_nr_nodes() - how many nodes were added
 * @graph: the graph
 *
 * Return: number of nodes, removed ones included: nodes are 0 to this - 1.
 */
uint32_t collq_graph_nr_nodes(const struct collq_graph *graph);

/**
 * collq_graph_node() - look at a node
 * @graph: the graph
 * @node: index of the node
 * @info: out: what it is
 *
 * Return: 0; -EINVAL if there's no such node, -ENOENT if it was removed; -EINVAL
 * or -E2BIG if the size makes no sense.
 */
int collq_graph_node(const struct collq_graph *graph, int node,
		     struct collq_graph_node_info *info);

/**
 * struct collq_graph_channel - what collq_graph_out_channel() and
 *	collq_graph_in_channel() tell
 * @size: in: sizeof(struct collq_graph_channel)
 * @peer: the other rank
 * @tag: as declared
 * @messages: signals in one run of the graph
 */
struct collq_graph_channel {
	uint32_t size;
	uint32_t peer;
	uint32_t tag;
	uint64_t messages;
};

/**
 * collq_graph_nr_out() - how many out channels there are
 * @graph: the graph
 *
 * Return: number of out channels.
 */
uint32_t collq_graph_nr_out(const struct collq_graph *graph);

/**
 * collq_graph_nr_in() - how many in channels there are
 * @graph: the graph
 *
 * Return: number of in channels.
 */
uint32_t collq_graph_nr_in(const struct collq_graph *graph);

/**
 * collq_graph_out_channel() - look at an out channel
 * @graph: the graph
 * @out: index of the channel
 * @channel: out: what it is
 *
 * Return: 0; -EINVAL if there's no such channel; -EINVAL or -E2BIG if the size
 * makes no sense.
 */
int collq_graph_out_channel(const struct collq_graph *graph, int out,
			    struct collq_graph_channel *channel);

/**
 * collq_graph_in_channel() - look at an in channel
 * @graph: the graph
 * @in: index of the channel
 * @channel: out: what it is
 *
 * Return: 0; -EINVAL if there's no such channel; -EINVAL or -E2BIG if the size
 * makes no sense.
 */
int collq_graph_in_channel(const struct collq_graph *graph, int in,
			   struct collq_graph_channel *channel);

/**
 * struct collq_graph_out_binding - what an out channel stands for
 * @endpoint: id of a signal endpoint to the peer
 * @slot: the slot there that the peer has bound for this channel
 * @generation: generation of that binding
 * @target: id of a target on @endpoint, if there are writes; may be 0 otherwise
 */
struct collq_graph_out_binding {
	uint32_t endpoint;
	uint16_t slot;
	uint16_t generation;
	uint32_t target;
};

/**
 * struct collq_graph_message_binding - what a message channel stands for
 * @endpoint: id of a message endpoint to the peer, which has another one for it
 * @sends: id of the counter of the endpoint's sends; may be 0 if none is waited for
 * @messages: id of the counter of the endpoint's messages; may be 0 likewise
 */
struct collq_graph_message_binding {
	uint32_t endpoint;
	uint32_t sends;
	uint32_t messages;
};

/**
 * struct collq_graph_binding - what the channels of a graph stand for
 * @size: sizeof(struct collq_graph_binding)
 * @out_size: sizeof(struct collq_graph_out_binding), of which there are many
 * @out: one for each out channel, in order of index
 * @in: for each in channel, in order of index: id of a counter that nothing else
 *	raises
 * @nr_out: number of @out
 * @nr_in: number of @in
 * @limits: what the task list must keep to; NULL to leave that to the kernel
 * @messages: one for each message channel, in order of index
 * @nr_messages: number of @messages
 * @message_size: sizeof(struct collq_graph_message_binding); may be 0 if there
 *	are none
 */
struct collq_graph_binding {
	uint32_t size;
	uint32_t out_size;
	const struct collq_graph_out_binding *out;
	const uint32_t *in;
	uint32_t nr_out;
	uint32_t nr_in;
	const struct ib_collq_query *limits;
	const struct collq_graph_message_binding *messages;
	uint32_t nr_messages;
	uint32_t message_size;
};

/**
 * collq_graph_lower() - turn a graph into the task list that the kernel runs
 * @graph: the graph
 * @binding: what its channels stand for
 * @tasks: out: the tasks, to be given to free(); NULL if there are none, and on
 *	failure
 * @nr: out: their number
 *
 * A queue runs tasks one after the other, and a WAIT holds up all that is behind
 * it. So tasks that don't wait come as early as what they depend on allows: right
 * in front of one stand only WAITs that it depends on, and WAITs that nothing
 * depends on are last. Beyond that the order is the one of adding, and equal
 * graphs give equal lists.
 *
 * The kernel takes no empty list: what has no tasks is complete as it is. The lists
 * of tasks that have data are entries of what collq_graph_table() gives.
 *
 * Return: 0; -ELOOP if nodes come behind each other in a circle; -EINVAL if the
 * numbers of channels aren't those of the graph, or an id is 0; -EINVAL or -E2BIG
 * if a size makes no sense; -ENOSPC if there are more tasks, higher slots, longer
 * lists or messages, or more buffers than @limits allow; -ENOMEM.
 */
int collq_graph_lower(const struct collq_graph *graph,
		      const struct collq_graph_binding *binding,
		      struct ib_collq_task **tasks, uint32_t *nr);

/**
 * collq_barrier_graph() - add what one rank does in a barrier
 * @graph: an empty graph
 * @rank: the rank, less than @size
 * @size: number of ranks, at least 1
 * @algorithm: COLLQ_BARRIER_*
 * @radix: for k-nomial, the number of ranks that join in one step, at least 2;
 *	0 to choose. Has no meaning for the other algorithms, but mustn't be 1
 *
 * All ranks must give the same @size, @algorithm and @radix. The graphs of ranks
 * fit together whatever they're bound to, and a rank can be no more than one run
 * ahead of another, so that twice the messages of a channel are enough to receive.
 * Labels count the rounds from 0. One rank alone has nothing to do: its graph
 * stays empty.
 *
 * Return: 0; -EINVAL if a value is out of range or @graph isn't empty; -ENOMEM,
 * after which the graph is of use for collq_graph_free() only.
 */
int collq_barrier_graph(struct collq_graph *graph, uint32_t rank, uint32_t size,
			uint32_t algorithm, uint32_t radix);

/**
 * collq_barrier_choose() - what COLLQ_BARRIER_AUTO stands for
 * @size: number of ranks, at least 1
 * @processors: number of processors that the ranks share, at least 1; 0 if that
 *	isn't known, which is taken as one
 * @algorithm: in: COLLQ_BARRIER_*; out: the algorithm, COLLQ_BARRIER_AUTO no more
 * @radix: in: the radix for k-nomial, or 0; out: the radix, 0 if the algorithm
 *	has none
 *
 * Weighs the algorithms with what messages, rounds and ranks were measured to
 * cost. collq_barrier_graph() chooses as this does with 0 @processors; callers
 * that know better pass its answer on. It depends on the arguments only, and is
 * so the same on all ranks.
 *
 * Return: 0; -EINVAL if @size is 0, or algorithm or radix is out of range.
 */
int collq_barrier_choose(uint32_t size, uint32_t processors, uint32_t *algorithm,
			 uint32_t *radix);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* COLLQ_GRAPH_H */
