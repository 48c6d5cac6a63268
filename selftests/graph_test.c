// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The graph builder and lowering, without a device: what they refuse, the order
 * of the task list, and what happens when memory runs out.
 */
#include <stdbool.h>
#include <stddef.h>

#include <rdma/ib_collq.h>
#include <collq/collq.h>

#include "kselftest_harness.h"
#include "alloc_wrap.h"
#include "graph_util.h"

FIXTURE(graph) {
	struct collq_graph *graph;
	struct ib_collq_task *tasks;
	uint32_t nr;
};

FIXTURE_SETUP(graph)
{
	ASSERT_EQ(0, collq_graph_new(&self->graph));
}

FIXTURE_TEARDOWN(graph)
{
	collq_graph_free(self->graph);
	free(self->tasks);
}

static int lower(FIXTURE_DATA(graph) * self)
{
	free(self->tasks);
	self->tasks = NULL;
	return graph_util_lower(self->graph, NULL, &self->tasks, &self->nr);
}

/* A signal or a wait with a channel of its own, labelled with its index. */
static int add_signal(struct collq_graph *graph)
{
	uint32_t node = collq_graph_nr_nodes(graph);

	return collq_graph_signal(graph, collq_graph_out(graph, 1, node), node);
}

static int add_wait(struct collq_graph *graph)
{
	uint32_t node = collq_graph_nr_nodes(graph);

	return collq_graph_wait(graph, collq_graph_in(graph, 1, node), 1, node);
}

/* Whether the labels of the tasks are these, one letter each, from 'a' on. */
static bool has_order(const FIXTURE_DATA(graph) * self, const char *order)
{
	uint32_t i;

	if (self->nr != strlen(order))
		return false;
	for (i = 0; i < self->nr; i++)
		if (self->tasks[i].label != (uint32_t)(order[i] - 'a'))
			return false;
	return true;
}

TEST_F(graph, empty_graph_has_no_tasks)
{
	struct ib_collq_task *tasks = (void *)1;
	uint32_t nr = 1;

	ASSERT_EQ(0, graph_util_lower(self->graph, NULL, &tasks, &nr));
	EXPECT_EQ(NULL, tasks);
	EXPECT_EQ(0, nr);
	collq_graph_free(NULL);
}

TEST_F(graph, channels_are_named_by_peer_and_tag)
{
	struct collq_graph *graph = self->graph;
	struct collq_graph_channel channel = { .size = sizeof(channel) };

	EXPECT_EQ(0, collq_graph_out(graph, 7, 1));
	EXPECT_EQ(1, collq_graph_out(graph, 7, 2));
	EXPECT_EQ(2, collq_graph_out(graph, 8, 1));
	EXPECT_EQ(1, collq_graph_out(graph, 7, 2));
	/* In channels are numbered apart. */
	EXPECT_EQ(0, collq_graph_in(graph, 7, 2));
	EXPECT_EQ(1, collq_graph_in(graph, 7, 1));
	EXPECT_EQ(0, collq_graph_in(graph, 7, 2));
	EXPECT_EQ(3, collq_graph_nr_out(graph));
	EXPECT_EQ(2, collq_graph_nr_in(graph));

	ASSERT_LE(0, collq_graph_signal(graph, 1, 0));
	ASSERT_LE(0, collq_graph_signal(graph, 1, 0));
	ASSERT_LE(0, collq_graph_wait(graph, 0, 5, 0));
	ASSERT_LE(0, collq_graph_wait(graph, 0, 3, 0));
	ASSERT_EQ(0, collq_graph_out_channel(graph, 1, &channel));
	EXPECT_EQ(7, channel.peer);
	EXPECT_EQ(2, channel.tag);
	EXPECT_EQ(2, channel.messages);
	ASSERT_EQ(0, collq_graph_in_channel(graph, 0, &channel));
	EXPECT_EQ(7, channel.peer);
	EXPECT_EQ(2, channel.tag);
	EXPECT_EQ(8, channel.messages);
	ASSERT_EQ(0, collq_graph_in_channel(graph, 1, &channel));
	EXPECT_EQ(0, channel.messages);

	EXPECT_EQ(-EINVAL, collq_graph_out_channel(graph, -1, &channel));
	EXPECT_EQ(-EINVAL, collq_graph_out_channel(graph, 3, &channel));
	EXPECT_EQ(-EINVAL, collq_graph_in_channel(graph, -1, &channel));
	EXPECT_EQ(-EINVAL, collq_graph_in_channel(graph, 2, &channel));
}

TEST_F(graph, nodes_out_of_range_are_refused)
{
	struct collq_graph *graph = self->graph;
	struct collq_graph_node_info info = { .size = sizeof(info) };

	EXPECT_EQ(-EINVAL, collq_graph_signal(graph, 0, 0));
	EXPECT_EQ(-EINVAL, collq_graph_wait(graph, 0, 1, 0));
	ASSERT_EQ(0, collq_graph_out(graph, 1, 0));
	ASSERT_EQ(0, collq_graph_in(graph, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_signal(graph, -1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_signal(graph, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_wait(graph, -1, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_wait(graph, 1, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_wait(graph, 0, 0, 0));
	EXPECT_EQ(-EINVAL, collq_graph_wait_counter(graph, 0, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_wait_counter(graph, 1, 0, 0));
	EXPECT_EQ(-EINVAL, collq_graph_send(graph, 0, 0));
	EXPECT_EQ(-EINVAL, collq_graph_recv(graph, 0, 0));
	EXPECT_EQ(0, collq_graph_nr_nodes(graph));

	ASSERT_EQ(0, add_signal(graph));
	ASSERT_EQ(1, add_signal(graph));
	EXPECT_EQ(-EINVAL, collq_graph_after(graph, 2, 0));
	EXPECT_EQ(-EINVAL, collq_graph_after(graph, 0, 2));
	EXPECT_EQ(-EINVAL, collq_graph_after(graph, -1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_after(graph, 0, -1));
	EXPECT_EQ(-EINVAL, collq_graph_remove(graph, -1));
	EXPECT_EQ(-EINVAL, collq_graph_remove(graph, 2));
	EXPECT_EQ(-EINVAL, collq_graph_node(graph, -1, &info));
	EXPECT_EQ(-EINVAL, collq_graph_node(graph, 2, &info));
	EXPECT_EQ(2, collq_graph_nr_nodes(graph));
}

TEST_F(graph, nodes_become_tasks)
{
	struct collq_graph *graph = self->graph;
	struct ib_collq_task expected[5] = {
		{ .opcode = IB_COLLQ_TASK_SEND, .flags = IB_COLLQ_TASK_SIGNAL, .label = 10,
		  .object = GRAPH_UTIL_ENDPOINT(1), .signal_slot = GRAPH_UTIL_SLOT(1),
		  .signal_generation = GRAPH_UTIL_GENERATION(1) },
		{ .opcode = IB_COLLQ_TASK_SEND, .label = 12, .object = 33 },
		{ .opcode = IB_COLLQ_TASK_RECV, .label = 13, .object = 34 },
		{ .opcode = IB_COLLQ_TASK_WAIT, .label = 11, .count = 5,
		  .object = GRAPH_UTIL_COUNTER(0) },
		{ .opcode = IB_COLLQ_TASK_WAIT, .label = 14, .count = 1ULL << 40,
		  .object = 35 },
	};
	struct collq_graph_node_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, collq_graph_out(graph, 1, 0));
	ASSERT_EQ(1, collq_graph_out(graph, 2, 0));
	ASSERT_EQ(0, collq_graph_in(graph, 2, 0));
	ASSERT_EQ(0, collq_graph_signal(graph, 1, 10));
	ASSERT_EQ(1, collq_graph_wait(graph, 0, 5, 11));
	ASSERT_EQ(2, collq_graph_send(graph, 33, 12));
	ASSERT_EQ(3, collq_graph_recv(graph, 34, 13));
	ASSERT_EQ(4, collq_graph_wait_counter(graph, 35, 1ULL << 40, 14));

	ASSERT_EQ(0, collq_graph_node(graph, 1, &info));
	EXPECT_EQ(IB_COLLQ_TASK_WAIT, info.opcode);
	EXPECT_EQ(0, info.channel);
	EXPECT_EQ(0, info.object);
	EXPECT_EQ(11, info.label);
	EXPECT_EQ(5, info.count);
	ASSERT_EQ(0, collq_graph_node(graph, 3, &info));
	EXPECT_EQ(IB_COLLQ_TASK_RECV, info.opcode);
	EXPECT_EQ(-1, info.channel);
	EXPECT_EQ(34, info.object);

	ASSERT_EQ(0, lower(self));
	ASSERT_EQ(5, self->nr);
	EXPECT_EQ(0, memcmp(expected, self->tasks, sizeof(expected)));
}

TEST_F(graph, binding_must_fit)
{
	struct collq_graph_out_binding out[2] = { { .endpoint = 1 }, { .endpoint = 1 } };
	uint32_t in[2] = { 1, 2 };
	struct collq_graph_binding binding = {
		.size = sizeof(binding), .out_size = sizeof(out[0]),
		.out = out, .in = in, .nr_out = 1, .nr_in = 1,
	};

	ASSERT_EQ(0, add_signal(self->graph));
	ASSERT_EQ(1, add_wait(self->graph));
	binding.nr_out = 0;
	EXPECT_EQ(-EINVAL, collq_graph_lower(self->graph, &binding, &self->tasks, &self->nr));
	binding.nr_out = 2;
	EXPECT_EQ(-EINVAL, collq_graph_lower(self->graph, &binding, &self->tasks, &self->nr));
	binding.nr_out = 1;
	binding.nr_in = 0;
	EXPECT_EQ(-EINVAL, collq_graph_lower(self->graph, &binding, &self->tasks, &self->nr));
	binding.nr_in = 2;
	EXPECT_EQ(-EINVAL, collq_graph_lower(self->graph, &binding, &self->tasks, &self->nr));
	binding.nr_in = 1;
	out[0].endpoint = 0;
	EXPECT_EQ(-EINVAL, collq_graph_lower(self->graph, &binding, &self->tasks, &self->nr));
	out[0].endpoint = 1;
	in[0] = 0;
	EXPECT_EQ(-EINVAL, collq_graph_lower(self->graph, &binding, &self->tasks, &self->nr));
	in[0] = 1;
	EXPECT_EQ(0, collq_graph_lower(self->graph, &binding, &self->tasks, &self->nr));
}

/* Of another version, with longer structures, or shorter ones. */
TEST_F(graph, binding_may_be_of_another_version)
{
	struct {
		struct collq_graph_out_binding known;
		uint32_t more;
	} out[2] = { { { .endpoint = 3, .slot = 4, .generation = 5 }, 0 },
		     { { .endpoint = 6, .slot = 7, .generation = 8 }, 0 } };
	struct {
		struct collq_graph_binding known;
		uint64_t more;
	} binding = {
		.known = {
			.size = sizeof(binding), .out_size = sizeof(out[0]),
			.out = &out[0].known, .nr_out = 2,
		},
	};

	ASSERT_EQ(0, collq_graph_out(self->graph, 1, 0));
	ASSERT_EQ(1, collq_graph_out(self->graph, 2, 0));
	ASSERT_EQ(0, collq_graph_signal(self->graph, 1, 0));
	ASSERT_EQ(0, collq_graph_lower(self->graph, &binding.known, &self->tasks, &self->nr));
	ASSERT_EQ(1, self->nr);
	EXPECT_EQ(6, self->tasks[0].object);
	EXPECT_EQ(7, self->tasks[0].signal_slot);
	EXPECT_EQ(8, self->tasks[0].signal_generation);
	free(self->tasks);

	out[1].more = 1;
	EXPECT_EQ(-E2BIG, collq_graph_lower(self->graph, &binding.known, &self->tasks, &self->nr));
	out[1].more = 0;
	binding.more = 1;
	EXPECT_EQ(-E2BIG, collq_graph_lower(self->graph, &binding.known, &self->tasks, &self->nr));
	binding.more = 0;
	binding.known.size = 0;
	EXPECT_EQ(-EINVAL, collq_graph_lower(self->graph, &binding.known, &self->tasks, &self->nr));
	binding.known.size = offsetof(struct collq_graph_binding, limits);
	binding.known.limits = (void *)1;
	binding.known.out_size = 0;
	EXPECT_EQ(-EINVAL, collq_graph_lower(self->graph, &binding.known, &self->tasks, &self->nr));
	binding.known.out_size = sizeof(out[0]);
	EXPECT_EQ(0, collq_graph_lower(self->graph, &binding.known, &self->tasks, &self->nr));
}

TEST_F(graph, limits_are_kept)
{
	struct ib_collq_query limits = { .max_tasks = 2, .max_slots = 2 };

	ASSERT_EQ(0, add_signal(self->graph));
	ASSERT_EQ(1, add_signal(self->graph));
	EXPECT_EQ(0, graph_util_lower(self->graph, &limits, &self->tasks, &self->nr));
	limits.max_slots = GRAPH_UTIL_SLOT(1);
	free(self->tasks);
	EXPECT_EQ(-ENOSPC, graph_util_lower(self->graph, &limits, &self->tasks, &self->nr));
	limits.max_slots = 2;
	limits.max_tasks = 1;
	EXPECT_EQ(-ENOSPC, graph_util_lower(self->graph, &limits, &self->tasks, &self->nr));
	/* What was taken out doesn't count. */
	ASSERT_EQ(0, collq_graph_remove(self->graph, 0));
	EXPECT_EQ(0, graph_util_lower(self->graph, &limits, &self->tasks, &self->nr));
}

TEST_F(graph, circles_are_refused)
{
	struct collq_graph *graph = self->graph;

	ASSERT_EQ(0, add_wait(graph));
	ASSERT_EQ(1, add_wait(graph));
	ASSERT_EQ(2, add_signal(graph));
	ASSERT_EQ(3, add_wait(graph));
	ASSERT_EQ(4, add_signal(graph));
	EXPECT_EQ(-ELOOP, collq_graph_after(graph, 2, 2));
	EXPECT_EQ(0, lower(self));

	/* Waits only, which nothing needs */
	ASSERT_EQ(0, collq_graph_after(graph, 0, 1));
	EXPECT_EQ(0, lower(self));
	ASSERT_EQ(0, collq_graph_after(graph, 1, 0));
	EXPECT_EQ(-ELOOP, lower(self));
}

TEST_F(graph, circles_through_anything_are_refused)
{
	struct collq_graph *graph = self->graph;

	ASSERT_EQ(0, add_signal(graph));
	ASSERT_EQ(1, add_wait(graph));
	ASSERT_EQ(2, add_signal(graph));
	ASSERT_EQ(0, collq_graph_after(graph, 1, 0));
	ASSERT_EQ(0, collq_graph_after(graph, 2, 1));
	EXPECT_EQ(0, lower(self));
	ASSERT_EQ(0, collq_graph_after(graph, 0, 2));
	EXPECT_EQ(-ELOOP, lower(self));
	ASSERT_EQ(0, collq_graph_remove(graph, 1));
	EXPECT_EQ(-ELOOP, lower(self));
}

TEST_F(graph, saying_it_twice_changes_nothing)
{
	struct collq_graph *graph = self->graph;

	ASSERT_EQ(0, add_signal(graph));
	ASSERT_EQ(1, add_wait(graph));
	ASSERT_EQ(2, add_signal(graph));
	ASSERT_EQ(0, collq_graph_after(graph, 2, 1));
	ASSERT_EQ(0, collq_graph_after(graph, 2, 1));
	ASSERT_EQ(0, collq_graph_after(graph, 0, 2));
	ASSERT_EQ(0, collq_graph_after(graph, 0, 2));
	ASSERT_EQ(0, lower(self));
	EXPECT_TRUE(has_order(self, "bca"));
}

TEST_F(graph, waits_that_nothing_needs_are_last)
{
	struct collq_graph *graph = self->graph;

	ASSERT_EQ(0, add_wait(graph));
	ASSERT_EQ(1, add_wait(graph));
	ASSERT_EQ(2, add_signal(graph));
	ASSERT_EQ(3, add_signal(graph));
	ASSERT_EQ(0, collq_graph_after(graph, 2, 1));
	ASSERT_EQ(0, lower(self));
	EXPECT_TRUE(has_order(self, "dbca"));
}

TEST_F(graph, what_needs_less_goes_first)
{
	struct collq_graph *graph = self->graph;

	ASSERT_EQ(0, add_wait(graph));
	ASSERT_EQ(1, add_wait(graph));
	ASSERT_EQ(2, add_wait(graph));
	ASSERT_EQ(3, add_signal(graph));
	ASSERT_EQ(4, add_signal(graph));
	ASSERT_EQ(0, collq_graph_after(graph, 3, 0));
	ASSERT_EQ(0, collq_graph_after(graph, 3, 1));
	ASSERT_EQ(0, collq_graph_after(graph, 3, 2));
	ASSERT_EQ(0, collq_graph_after(graph, 4, 2));
	ASSERT_EQ(0, lower(self));
	EXPECT_TRUE(has_order(self, "ceabd"));
}

TEST_F(graph, order_of_adding_decides_between_equals)
{
	struct collq_graph *graph = self->graph;

	ASSERT_EQ(0, add_wait(graph));
	ASSERT_EQ(1, add_wait(graph));
	ASSERT_EQ(2, add_signal(graph));
	ASSERT_EQ(3, add_signal(graph));
	ASSERT_EQ(0, collq_graph_after(graph, 2, 1));
	ASSERT_EQ(0, collq_graph_after(graph, 3, 0));
	ASSERT_EQ(0, lower(self));
	EXPECT_TRUE(has_order(self, "bcad"));

	/* The order in which nodes are put behind each other doesn't. */
	ASSERT_EQ(4, add_signal(graph));
	ASSERT_EQ(5, add_wait(graph));
	ASSERT_EQ(0, collq_graph_after(graph, 4, 5));
	ASSERT_EQ(0, collq_graph_after(graph, 4, 1));
	ASSERT_EQ(0, collq_graph_after(graph, 3, 5));
	ASSERT_EQ(0, collq_graph_after(graph, 3, 1));
	ASSERT_EQ(0, lower(self));
	EXPECT_TRUE(has_order(self, "bcfead"));
	ASSERT_EQ(0, collq_graph_remove(graph, 0));
	ASSERT_EQ(0, lower(self));
	EXPECT_TRUE(has_order(self, "bcfde"));
}

TEST_F(graph, removed_nodes_hand_on_their_order)
{
	struct collq_graph *graph = self->graph;
	struct collq_graph_node_info info = { .size = sizeof(info) };
	struct collq_graph_channel channel = { .size = sizeof(channel) };

	ASSERT_EQ(0, add_signal(graph));
	ASSERT_EQ(1, add_wait(graph));
	ASSERT_EQ(2, add_wait(graph));
	ASSERT_EQ(3, add_signal(graph));
	ASSERT_EQ(0, collq_graph_after(graph, 2, 1));
	ASSERT_EQ(0, collq_graph_after(graph, 3, 2));
	ASSERT_EQ(0, collq_graph_after(graph, 0, 3));
	ASSERT_EQ(0, collq_graph_remove(graph, 2));
	ASSERT_EQ(0, lower(self));
	EXPECT_TRUE(has_order(self, "bda"));
	ASSERT_EQ(0, collq_graph_remove(graph, 3));
	ASSERT_EQ(0, lower(self));
	EXPECT_TRUE(has_order(self, "ba"));

	EXPECT_EQ(-ENOENT, collq_graph_remove(graph, 2));
	EXPECT_EQ(-ENOENT, collq_graph_node(graph, 2, &info));
	EXPECT_EQ(-ENOENT, collq_graph_after(graph, 2, 0));
	EXPECT_EQ(-ENOENT, collq_graph_after(graph, 0, 2));
	EXPECT_EQ(4, collq_graph_nr_nodes(graph));

	/* The peer still sends what nobody waits for; nothing sends what isn't sent. */
	ASSERT_EQ(0, collq_graph_in_channel(graph, 1, &channel));
	EXPECT_EQ(1, channel.messages);
	ASSERT_EQ(0, collq_graph_out_channel(graph, 1, &channel));
	EXPECT_EQ(0, channel.messages);
}

TEST_F(graph, messages_of_an_endpoint_keep_their_order)
{
	struct collq_graph *graph = self->graph;

	ASSERT_EQ(0, add_wait(graph));
	ASSERT_EQ(1, collq_graph_send(graph, 5, 1));
	ASSERT_EQ(2, collq_graph_recv(graph, 5, 2));
	ASSERT_EQ(3, collq_graph_send(graph, 6, 3));
	ASSERT_EQ(4, collq_graph_send(graph, 5, 4));
	ASSERT_EQ(5, collq_graph_recv(graph, 5, 5));
	ASSERT_EQ(0, collq_graph_after(graph, 1, 0));
	ASSERT_EQ(0, lower(self));
	EXPECT_TRUE(has_order(self, "cdfabe"));
}

TEST_F(graph, copy_is_equal_and_apart)
{
	struct collq_graph *copy, *graph = self->graph;
	struct ib_collq_task *tasks;
	uint32_t nr;

	ASSERT_EQ(0, collq_barrier_graph(graph, 3, 100, COLLQ_BARRIER_DISSEMINATION, 0));
	ASSERT_EQ(0, collq_graph_remove(graph, 5));
	ASSERT_EQ(0, collq_graph_copy(graph, &copy));
	ASSERT_EQ(0, lower(self));
	EXPECT_LE(0, add_signal(graph));
	ASSERT_EQ(0, graph_util_lower(copy, NULL, &tasks, &nr));
	ASSERT_EQ(self->nr, nr);
	EXPECT_EQ(0, memcmp(self->tasks, tasks, nr * sizeof(*tasks)));
	free(tasks);
	EXPECT_LE(0, add_signal(copy));
	collq_graph_free(copy);
}

/* A random graph, and what each node needs: bit j of needs[i] if j, near or far. */
#define DAG_NODES	16

struct dag {
	uint32_t needs[DAG_NODES];
	uint32_t waits, removed;
};

/* Edges lead from any index to any other, so that adding order isn't an order. */
static int make_dag(struct collq_graph *graph, struct dag *dag, uint64_t *random)
{
	uint32_t order[DAG_NODES], density = 1 + graph_util_pick(random, 5);
	uint32_t i, j;
	int err = 0;

	*dag = (struct dag){};
	for (i = 0; i < DAG_NODES; i++) {
		j = graph_util_pick(random, i + 1);
		order[i] = order[j];
		order[j] = i;
		if (graph_util_pick(random, 2))
			dag->waits |= 1U << i;
		err = dag->waits & (1U << i) ? add_wait(graph) : add_signal(graph);
		if (err < 0)
			return err;
	}
	for (i = 0; i < DAG_NODES; i++) {
		for (j = 0; j < i; j++) {
			if (graph_util_pick(random, 16) >= density)
				continue;
			dag->needs[order[i]] |= dag->needs[order[j]] | 1U << order[j];
			err = collq_graph_after(graph, order[i], order[j]);
			if (err)
				return err;
		}
	}
	for (i = 0; i < DAG_NODES; i++) {
		if (graph_util_pick(random, 8))
			continue;
		dag->removed |= 1U << i;
		err = collq_graph_remove(graph, i);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Each task once, behind all that it needs; and right before a signal only waits
 * that it needs.
 */
TEST_F(graph, random_graphs_are_in_order)
{
	const uint32_t all = (1U << DAG_NODES) - 1;
	uint64_t random = 1;
	uint32_t round, i;

	for (round = 0; round < 20000; round++) {
		struct dag dag;
		uint32_t done = 0, block = 0;

		collq_graph_free(self->graph);
		ASSERT_EQ(0, collq_graph_new(&self->graph));
		ASSERT_EQ(0, make_dag(self->graph, &dag, &random));
		ASSERT_EQ(0, lower(self));
		for (i = 0; i < self->nr; i++) {
			uint32_t node = self->tasks[i].label, bit = 1U << node;

			ASSERT_EQ(0, done & bit);
			ASSERT_EQ(0, dag.needs[node] & ~(done | dag.removed));
			done |= bit;
			if (dag.waits & bit) {
				if (i && self->tasks[i - 1].opcode != IB_COLLQ_TASK_WAIT)
					block = 0;
				block |= bit;
				continue;
			}
			ASSERT_EQ(block, dag.needs[node] & block)
				TH_LOG("graph %u, node %u", round, node);
		}
		ASSERT_EQ(all & ~dag.removed, done);
	}
}

/* Close the way round, from the last task to the first, through any others. */
TEST_F(graph, random_circles_are_refused)
{
	uint64_t random = 2;
	uint32_t round, found = 0, i, j;

	for (round = 0; round < 2000; round++) {
		struct dag dag;

		collq_graph_free(self->graph);
		ASSERT_EQ(0, collq_graph_new(&self->graph));
		ASSERT_EQ(0, make_dag(self->graph, &dag, &random));
		i = graph_util_pick(&random, DAG_NODES);
		j = graph_util_pick(&random, DAG_NODES);
		if (!(dag.needs[i] & 1U << j) || dag.removed & (1U << i | 1U << j))
			continue;
		ASSERT_EQ(0, collq_graph_after(self->graph, j, i));
		ASSERT_EQ(-ELOOP, lower(self));
		found++;
	}
	EXPECT_LT(100, found);
}

/* As many tasks as a graph may have, one behind the other. */
TEST_F(graph, long_chain)
{
	struct collq_graph *graph = self->graph;
	const uint32_t length = 65536;
	uint32_t i;

	ASSERT_EQ(0, collq_graph_in(graph, 1, 0));
	ASSERT_EQ(0, collq_graph_out(graph, 1, 0));
	for (i = 0; i < length; i++) {
		ASSERT_EQ(i, i % 2 ? collq_graph_wait(graph, 0, 1, i) :
				     collq_graph_signal(graph, 0, i));
		ASSERT_TRUE(!i || !collq_graph_after(graph, i, i - 1));
	}
	ASSERT_EQ(0, lower(self));
	ASSERT_EQ(length, self->nr);
	for (i = 0; i < length; i++)
		ASSERT_EQ(i, self->tasks[i].label);
}

/* As many peers as a context may have endpoints, all in one step. */
TEST_F(graph, wide_tree)
{
	const uint32_t size = 4097;
	uint32_t i;

	ASSERT_EQ(0, collq_barrier_graph(self->graph, 0, size, COLLQ_BARRIER_K_NOMIAL, size));
	ASSERT_EQ(0, lower(self));
	ASSERT_EQ(2 * (size - 1), self->nr);
	for (i = 0; i < self->nr; i++)
		ASSERT_EQ(i < size - 1, self->tasks[i].opcode == IB_COLLQ_TASK_WAIT);
}

/* Build, copy and lower a graph with messages of all sorts. */
static int build_all(struct ib_collq_task **tasks, uint32_t *nr)
{
	struct collq_graph *graph = NULL, *copy = NULL;
	int err;

	err = collq_graph_new(&graph);
	if (!err)
		err = collq_barrier_graph(graph, 0, 40, COLLQ_BARRIER_K_NOMIAL, 40);
	if (!err) {
		collq_graph_send(graph, 5, 0);
		collq_graph_send(graph, 5, 0);
		err = collq_graph_wait_counter(graph, 6, 1, 0);
	}
	/* The last wait: it is between others. */
	if (err > 0)
		err = collq_graph_remove(graph, 38);
	if (!err)
		err = collq_graph_copy(graph, &copy);
	if (!err)
		err = graph_util_lower(copy, NULL, tasks, nr);
	collq_graph_free(copy);
	collq_graph_free(graph);
	return err;
}

/* Wherever memory runs out: an error, and nothing is left behind. */
TEST_F(graph, memory_runs_out_anywhere)
{
	const long before = alloc_wrap_live();
	uint32_t nr_failed = 0;
	bool failed;
	int err;

	for (;;) {
		alloc_wrap_fail_after(nr_failed);
		err = build_all(&self->tasks, &self->nr);
		failed = alloc_wrap_stop();
		ASSERT_EQ(failed ? -ENOMEM : 0, err);
		if (!failed)
			break;
		ASSERT_EQ(NULL, self->tasks);
		ASSERT_EQ(before, alloc_wrap_live());
		nr_failed++;
	}
	EXPECT_LT(20, nr_failed);
	EXPECT_EQ(80, self->nr);
	EXPECT_EQ(before + 1, alloc_wrap_live());
}

/* After the first -ENOMEM nothing that follows can seem to have worked. */
TEST_F(graph, want_of_memory_sticks)
{
	struct collq_graph *graph = self->graph, *copy;

	ASSERT_EQ(0, add_signal(graph));
	alloc_wrap_fail_after(0);
	EXPECT_EQ(-ENOMEM, collq_graph_in(graph, 1, 0));
	EXPECT_TRUE(alloc_wrap_stop());
	EXPECT_EQ(-ENOMEM, collq_graph_in(graph, 1, 0));
	EXPECT_EQ(-ENOMEM, collq_graph_out(graph, 1, 0));
	EXPECT_EQ(-ENOMEM, collq_graph_signal(graph, 0, 0));
	EXPECT_EQ(-ENOMEM, collq_graph_wait(graph, -ENOMEM, 1, 0));
	EXPECT_EQ(-ENOMEM, collq_graph_wait_counter(graph, 1, 1, 0));
	EXPECT_EQ(-ENOMEM, collq_graph_send(graph, 1, 0));
	EXPECT_EQ(-ENOMEM, collq_graph_recv(graph, 1, 0));
	EXPECT_EQ(-ENOMEM, collq_graph_after(graph, 0, 0));
	EXPECT_EQ(-ENOMEM, collq_graph_remove(graph, 0));
	EXPECT_EQ(-ENOMEM, collq_graph_copy(graph, &copy));
	EXPECT_EQ(NULL, copy);
	EXPECT_EQ(-ENOMEM, lower(self));
}

TEST_HARNESS_MAIN
