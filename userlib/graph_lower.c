// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Lowering: from a graph, which has only a partial order, to the task list that
 * a queue runs from front to back.
 *
 * A WAIT holds up everything behind it, so a task that doesn't wait (call it a
 * post: SEND, RECV, COPY or CALC) must not stand behind a WAIT that it doesn't need. The list
 * is made of blocks: all posts that can go now; then a block of WAITs; then the
 * posts that these let go; and so on, with the WAITs that no post needs last. A
 * block is what some post is still short of, chosen so that no other post is
 * short of only a part of it. Hence each post right behind a block needs every
 * WAIT in it.
 *
 * Ties go to the node that was added first, so that equal graphs give equal
 * lists, and a builder that adds nodes in the order of time finds them so.
 *
 * Graphs that are added in the order of time take linear time, but for each block
 * its length times the number of posts that it lets go.
 */
#include <errno.h>
#include <stdlib.h>

#include "graph_internal.h"
#include "sized.h"

/* Nodes in ascending order, taken from the front. */
struct node_list {
	uint32_t *nodes;
	uint32_t first, end;
};

/*
 * The nodes before node n are before[before_first[n]] up to where those of n + 1
 * begin; after[] likewise. blockers[n] is how many of those before it are neither
 * listed nor in the current block. The block is chosen from missing[]: the nodes
 * whose marks[] equal mark. What has been listed is in order[].
 */
struct lowering {
	const struct collq_graph *graph;
	void *memory;
	uint32_t *before_first, *before;
	uint32_t *after_first, *after;
	uint32_t *blockers;
	uint32_t *listed;
	uint32_t *marks, mark;
	uint32_t *missing, nr_missing;
	uint32_t *block, nr_block;
	uint32_t *order, nr_order;
	uint32_t nr_tasks;
	struct node_list posts;
	struct node_list waits;
};

static bool is_post(const struct lowering *low, uint32_t node)
{
	return low->graph->nodes[node].info.opcode != IB_COLLQ_TASK_WAIT;
}

static void list_add(struct node_list *list, uint32_t node)
{
	uint32_t i = list->end++;

	for (; i > list->first && list->nodes[i - 1] > node; i--)
		list->nodes[i] = list->nodes[i - 1];
	list->nodes[i] = node;
}

static bool list_take(struct node_list *list, uint32_t *node)
{
	if (list->first == list->end)
		return false;
	*node = list->nodes[list->first++];
	return true;
}

static uint32_t *carve(uint32_t **memory, size_t nr)
{
	uint32_t *array = *memory;

	*memory += nr;
	return array;
}

static int lowering_init(struct lowering *low, const struct collq_graph *graph)
{
	const size_t nodes = graph->nr_nodes, edges = graph->nr_edges;
	uint32_t *memory;

	*low = (struct lowering){ .graph = graph };
	memory = calloc(10 * nodes + 2 * edges + 2, sizeof(*memory));
	if (!memory)
		return -ENOMEM;
	low->memory = memory;
	low->before_first = carve(&memory, nodes + 1);
	low->before = carve(&memory, edges);
	low->after_first = carve(&memory, nodes + 1);
	low->after = carve(&memory, edges);
	low->blockers = carve(&memory, nodes);
	low->listed = carve(&memory, nodes);
	low->marks = carve(&memory, nodes);
	low->missing = carve(&memory, nodes);
	low->block = carve(&memory, nodes);
	low->order = carve(&memory, nodes);
	low->posts.nodes = carve(&memory, nodes);
	low->waits.nodes = carve(&memory, nodes);
	return 0;
}

/* Sort the edges by either end. An edge that is there twice blocks twice. */
static void sort_edges(struct lowering *low)
{
	const struct collq_graph *graph = low->graph;
	uint32_t *afters = low->missing;
	uint32_t i;

	for (i = 0; i < graph->nr_edges; i++) {
		low->before_first[graph->edges[i].node + 1]++;
		low->after_first[graph->edges[i].predecessor + 1]++;
	}
	for (i = 0; i < graph->nr_nodes; i++) {
		low->before_first[i + 1] += low->before_first[i];
		low->after_first[i + 1] += low->after_first[i];
	}
	for (i = 0; i < graph->nr_edges; i++) {
		uint32_t node = graph->edges[i].node;
		uint32_t predecessor = graph->edges[i].predecessor;

		low->before[low->before_first[node] + low->blockers[node]++] = predecessor;
		low->after[low->after_first[predecessor] + afters[predecessor]++] = node;
	}
}

static void list_node(struct lowering *low, uint32_t node)
{
	low->listed[node] = true;
	low->order[low->nr_order++] = node;
}

/* List all posts that can go, and those which that lets go. */
static void list_posts(struct lowering *low)
{
	uint32_t node, i;

	while (list_take(&low->posts, &node)) {
		list_node(low, node);
		for (i = low->after_first[node]; i < low->after_first[node + 1]; i++)
			if (!--low->blockers[low->after[i]] && is_post(low, low->after[i]))
				list_add(&low->posts, low->after[i]);
	}
}

static void add_missing(struct lowering *low, uint32_t node)
{
	if (low->listed[node] || low->marks[node] == low->mark)
		return;
	low->marks[node] = low->mark;
	low->missing[low->nr_missing++] = node;
}

static void forget_missing(struct lowering *low)
{
	low->mark++;
	low->nr_missing = 0;
}

/* All that has to be listed before @post. */
static void find_missing(struct lowering *low, uint32_t post)
{
	uint32_t node = post, done = 0, i;

	forget_missing(low);
	for (;;) {
		for (i = low->before_first[node]; i < low->before_first[node + 1]; i++)
			add_missing(low, low->before[i]);
		if (done == low->nr_missing)
			break;
		node = low->missing[done++];
	}
}

/*
 * Put WAITs out of missing[] in the block until they let posts go, and add these
 * to the posts. False if they never do.
 */
static bool fill_block(struct lowering *low)
{
	uint32_t node, i;

	low->nr_block = 0;
	low->waits.first = 0;
	low->waits.end = 0;
	for (i = 0; i < low->nr_missing; i++)
		if (!low->blockers[low->missing[i]])
			list_add(&low->waits, low->missing[i]);

	while (low->posts.first == low->posts.end && list_take(&low->waits, &node)) {
		low->block[low->nr_block++] = node;
		for (i = low->after_first[node]; i < low->after_first[node + 1]; i++) {
			uint32_t next = low->after[i];

			if (--low->blockers[next])
				continue;
			if (is_post(low, next))
				list_add(&low->posts, next);
			else if (low->marks[next] == low->mark)
				list_add(&low->waits, next);
		}
	}
	return low->posts.first != low->posts.end;
}

static void undo_block(struct lowering *low)
{
	uint32_t i, j;

	for (i = 0; i < low->nr_block; i++)
		for (j = low->after_first[low->block[i]];
		     j < low->after_first[low->block[i] + 1]; j++)
			low->blockers[low->after[j]]++;
	low->posts.end = low->posts.first;
}

/* A post that the block lets go though it needs less than all of the block. */
static bool find_smaller(struct lowering *low, uint32_t *post)
{
	uint32_t i;

	for (i = low->posts.first; i < low->posts.end; i++) {
		find_missing(low, low->posts.nodes[i]);
		if (low->nr_missing < low->nr_block) {
			*post = low->posts.nodes[i];
			return true;
		}
	}
	return false;
}

static void list_block(struct lowering *low)
{
	uint32_t i;

	for (i = 0; i < low->nr_block; i++)
		list_node(low, low->block[i]);
}

/* List a block of WAITs that leads towards @post, and the posts it lets go. */
static int list_towards(struct lowering *low, uint32_t post)
{
	/* Each turn has a smaller set to choose from, so that this ends. */
	for (;;) {
		find_missing(low, post);
		if (!fill_block(low))
			return -ELOOP;
		if (!find_smaller(low, &post))
			break;
		undo_block(low);
	}
	list_block(low);
	list_posts(low);
	return 0;
}

/* List the WAITs that no post needs. */
static int list_rest(struct lowering *low)
{
	uint32_t i;

	forget_missing(low);
	for (i = 0; i < low->graph->nr_nodes; i++)
		add_missing(low, i);
	fill_block(low);
	list_block(low);
	return low->nr_order == low->nr_tasks ? 0 : -ELOOP;
}

/* Nodes that were removed count as listed. */
static int sort_nodes(struct lowering *low)
{
	uint32_t i;
	int err;

	for (i = 0; i < low->graph->nr_nodes; i++) {
		low->listed[i] = low->graph->nodes[i].removed;
		low->nr_tasks += !low->listed[i];
		if (!low->listed[i] && !low->blockers[i] && is_post(low, i))
			list_add(&low->posts, i);
	}
	list_posts(low);
	for (i = 0; i < low->graph->nr_nodes; i++) {
		while (!low->listed[i] && is_post(low, i)) {
			err = list_towards(low, i);
			if (err)
				return err;
		}
	}
	return list_rest(low);
}

static int take_target(const struct collq_graph_binding *binding, int32_t channel,
		       struct collq_graph_out_binding *target)
{
	const unsigned char *out = (const unsigned char *)binding->out;

	return collq_sized_take_element(target, sizeof(*target),
					out + (size_t)channel * binding->out_size,
					binding->out_size);
}

/* The object that a task on a message channel is about. */
static int take_message_object(const struct collq_graph_binding *binding,
			       const struct collq_graph_node_info *info, uint32_t *object)
{
	const unsigned char *messages = (const unsigned char *)binding->messages;
	struct collq_graph_message_binding bound;
	int err;

	err = collq_sized_take_element(&bound, sizeof(bound), messages +
				       (size_t)info->message * binding->message_size,
				       binding->message_size);
	if (err)
		return err;
	if (info->opcode != IB_COLLQ_TASK_WAIT)
		*object = bound.endpoint;
	else if (info->source == IB_COLLQ_SOURCE_SENDS)
		*object = bound.sends;
	else
		*object = bound.messages;
	return 0;
}

static int check_data(const struct collq_graph_node_info *info,
		      const struct ib_collq_query *limits)
{
	uint32_t most = UINT32_MAX;

	if (info->opcode == IB_COLLQ_TASK_SEND || info->opcode == IB_COLLQ_TASK_WRITE)
		most = limits->max_send_sge;
	else if (info->opcode == IB_COLLQ_TASK_RECV)
		most = limits->max_recv_sge;
	return info->nr_sges > most || info->bytes > limits->max_message ? -ENOSPC : 0;
}

/* A signal, or a write. */
static int make_signal(const struct collq_graph_node_info *info,
		       const struct collq_graph_binding *binding,
		       struct ib_collq_task *task)
{
	struct collq_graph_out_binding target;
	int err;

	err = take_target(binding, info->channel, &target);
	if (err)
		return err;
	if (binding->limits && target.slot >= binding->limits->max_slots)
		return -ENOSPC;
	task->flags = IB_COLLQ_TASK_SIGNAL;
	task->object = target.endpoint;
	task->signal_slot = target.slot;
	task->signal_generation = target.generation;
	if (info->opcode != IB_COLLQ_TASK_WRITE)
		return 0;
	task->zone = target.target;
	task->zone_offset = info->zone_offset;
	return task->zone ? 0 : -EINVAL;
}

static bool is_local(const struct collq_graph_node_info *info)
{
	return info->opcode == IB_COLLQ_TASK_COPY || info->opcode == IB_COLLQ_TASK_CALC;
}

static int make_task(const struct collq_graph_node *node,
		     const struct collq_graph_binding *binding,
		     struct ib_collq_task *task)
{
	const struct collq_graph_node_info *info = &node->info;
	int err = 0;

	*task = (struct ib_collq_task){
		.opcode = info->opcode,
		.label = info->label,
		.object = info->object,
		.count = info->count,
		.sge_first = node->sge_first,
		.sge_count = info->nr_sges,
		.dst_first = node->dst_first,
		.dst_count = info->nr_dst,
		.calc_op = info->calc_op,
		.calc_type = info->calc_type,
	};
	if (binding->limits && info->nr_sges)
		err = check_data(info, binding->limits);
	if (err)
		return err;
	if (info->message >= 0)
		err = take_message_object(binding, info, &task->object);
	else if (info->channel >= 0 && info->opcode == IB_COLLQ_TASK_WAIT)
		task->object = binding->in[info->channel];
	else if (info->channel >= 0)
		err = make_signal(info, binding, task);
	if (err)
		return err;
	return task->object || is_local(info) ? 0 : -EINVAL;
}

static int check_table(const struct collq_graph *graph, const struct ib_collq_query *limits)
{
	struct collq_graph_table table = { .size = sizeof(table) };

	collq_graph_table(graph, &table);
	return table.nr_sges > limits->max_sges || table.nr_buffers > limits->max_buffers ?
	       -ENOSPC : 0;
}

static int make_tasks(const struct lowering *low,
		      const struct collq_graph_binding *binding,
		      struct ib_collq_task **tasks)
{
	const struct collq_graph_node *nodes = low->graph->nodes;
	struct ib_collq_task *list;
	uint32_t i;
	int err = 0;

	if (!low->nr_tasks)
		return 0;
	if (binding->limits && low->nr_tasks > binding->limits->max_tasks)
		return -ENOSPC;
	if (binding->limits)
		err = check_table(low->graph, binding->limits);
	if (err)
		return err;
	list = calloc(low->nr_tasks, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (i = 0; i < low->nr_tasks && !err; i++)
		err = make_task(&nodes[low->order[i]], binding, &list[i]);
	if (err)
		free(list);
	else
		*tasks = list;
	return err;
}

int collq_graph_lower(const struct collq_graph *graph,
		      const struct collq_graph_binding *given,
		      struct ib_collq_task **tasks, uint32_t *nr)
{
	struct collq_graph_binding binding;
	struct lowering low;
	int err;

	*tasks = NULL;
	*nr = 0;
	if (graph->error)
		return graph->error;
	err = collq_sized_take(&binding, sizeof(binding), given);
	if (err)
		return err;
	if (binding.nr_out != graph->out.nr || binding.nr_in != graph->in.nr ||
	    binding.nr_messages != graph->nr_messages)
		return -EINVAL;
	err = lowering_init(&low, graph);
	if (err)
		return err;
	sort_edges(&low);
	err = sort_nodes(&low);
	if (!err)
		err = make_tasks(&low, &binding, tasks);
	if (!err)
		*nr = low.nr_tasks;
	free(low.memory);
	return err;
}
