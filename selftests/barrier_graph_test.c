// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Barriers as graphs, without a device: for every number of ranks up to MAX_SIZE
 * and every algorithm the graphs of all ranks are executed against each other
 * (executor.h). That the checks can fail is checked as well.
 */
#include <stdbool.h>

#include <rdma/ib_collq.h>
#include <collq/collq.h>

#include "kselftest_harness.h"
#include "executor.h"
#include "graph_util.h"

#define MAX_SIZE	257
#define RUNS		3
#define SEEDS		6

/* Largest size for which each WAIT of each rank is left out, one by one */
#define MAX_MUTANT_SIZE	20

/* The graphs of all ranks, loaded into an executor. */
struct group {
	struct executor *executor;
	struct collq_graph **graphs;
	uint32_t size;
};

static void group_free(struct group *group)
{
	uint32_t i;

	if (group->executor)
		executor_free(group->executor);
	for (i = 0; group->graphs && i < group->size; i++)
		collq_graph_free(group->graphs[i]);
	free(group->graphs);
}

/* Bind and load the graphs that are there. */
static int group_load(struct group *group)
{
	uint32_t i;
	int err;

	err = executor_new(&group->executor, group->size);
	for (i = 0; i < group->size && !err; i++)
		err = executor_bind(group->executor, i, group->graphs[i]);
	for (i = 0; i < group->size && !err; i++)
		err = executor_load(group->executor, i, group->graphs[i]);
	return err;
}

/* A group with empty graphs. To be freed even on failure. */
static int group_new(struct group *group, uint32_t size)
{
	uint32_t i;
	int err = 0;

	*group = (struct group){ .size = size };
	group->graphs = calloc(size, sizeof(*group->graphs));
	if (!group->graphs)
		return -ENOMEM;
	for (i = 0; i < size && !err; i++)
		err = collq_graph_new(&group->graphs[i]);
	return err;
}

static int group_barrier(struct group *group, uint32_t size, uint32_t algorithm,
			 uint32_t radix)
{
	uint32_t i;
	int err;

	err = group_new(group, size);
	for (i = 0; i < size && !err; i++)
		err = collq_barrier_graph(group->graphs[i], i, size, algorithm, radix);
	return err ? err : group_load(group);
}

/* ceil(log2(size)) */
static uint32_t log2_up(uint32_t size)
{
	uint32_t log = 0;

	while (1U << log < size)
		log++;
	return log;
}

static uint64_t expected(uint32_t size, uint32_t algorithm)
{
	uint32_t power;

	switch (algorithm) {
	case COLLQ_BARRIER_DISSEMINATION:
		return size * log2_up(size);
	case COLLQ_BARRIER_RECURSIVE_DOUBLING:
		power = 1U << log2_up(size);
		if (power > size)
			power /= 2;
		return power * log2_up(power) + 2 * (size - power);
	default:
		return 2 * (size - 1);
	}
}

static bool is_clean(const struct executor_report *report, uint64_t sent)
{
	uint32_t i;

	for (i = 0; i < RUNS; i++)
		if (report->sent[i] != sent)
			return false;
	return executor_is_clean(report);
}

static const char *describe(const struct executor_report *report)
{
	static char text[256];

	snprintf(text, sizeof(text),
		 "early %llu stuck %llu leftover %llu overrun %llu sent %llu",
		 (unsigned long long)report->early, (unsigned long long)report->stuck,
		 (unsigned long long)report->leftover,
		 (unsigned long long)report->overrun, (unsigned long long)report->sent[0]);
	return text;
}

FIXTURE(barrier) {
	struct group group;
};

FIXTURE_VARIANT(barrier) {
	uint32_t algorithm;
	uint32_t radix;
};

FIXTURE_VARIANT_ADD(barrier, dissemination) {
	.algorithm = COLLQ_BARRIER_DISSEMINATION,
};

FIXTURE_VARIANT_ADD(barrier, recursive_doubling) {
	.algorithm = COLLQ_BARRIER_RECURSIVE_DOUBLING,
};

FIXTURE_VARIANT_ADD(barrier, 2_nomial) {
	.algorithm = COLLQ_BARRIER_K_NOMIAL,
	.radix = 2,
};

FIXTURE_VARIANT_ADD(barrier, 3_nomial) {
	.algorithm = COLLQ_BARRIER_K_NOMIAL,
	.radix = 3,
};

FIXTURE_VARIANT_ADD(barrier, 4_nomial) {
	.algorithm = COLLQ_BARRIER_K_NOMIAL,
	.radix = 4,
};

FIXTURE_VARIANT_ADD(barrier, 8_nomial) {
	.algorithm = COLLQ_BARRIER_K_NOMIAL,
	.radix = 8,
};

/* All ranks in one step */
FIXTURE_VARIANT_ADD(barrier, flat) {
	.algorithm = COLLQ_BARRIER_K_NOMIAL,
	.radix = UINT32_MAX,
};

FIXTURE_SETUP(barrier)
{
}

FIXTURE_TEARDOWN(barrier)
{
}

/* Whoever begins last, each time: nobody has ended before. */
TEST_F(barrier, early_messages)
{
	struct executor_report report;
	uint32_t size, held;

	for (size = 1; size <= MAX_SIZE; size++) {
		ASSERT_EQ(0, group_barrier(&self->group, size, variant->algorithm,
					   variant->radix));
		for (held = 0; held < size; held++) {
			executor_run_early(self->group.executor, RUNS, held, &report);
			ASSERT_TRUE(is_clean(&report, expected(size, variant->algorithm)))
				TH_LOG("%u ranks, last is %u: %s", size, held,
				       describe(&report));
		}
		group_free(&self->group);
	}
}

TEST_F(barrier, random_interleavings)
{
	struct executor_report report;
	uint32_t size, seed;

	for (size = 1; size <= MAX_SIZE; size++) {
		ASSERT_EQ(0, group_barrier(&self->group, size, variant->algorithm,
					   variant->radix));
		for (seed = 0; seed < SEEDS; seed++) {
			executor_run_random(self->group.executor, RUNS, seed, &report);
			ASSERT_TRUE(is_clean(&report, expected(size, variant->algorithm)))
				TH_LOG("%u ranks, seed %u: %s", size, seed,
				       describe(&report));
		}
		group_free(&self->group);
	}
}

/* Whether some rank ends before all have begun, whoever may be the last. */
static bool ends_early(struct executor *executor, uint32_t size)
{
	struct executor_report report;
	uint32_t held;

	for (held = 0; held < size; held++) {
		executor_run_early(executor, RUNS, held, &report);
		if (report.early)
			return true;
	}
	return false;
}

/* Load the graph of @rank without @node, which is put back by the next one. */
static int load_without(struct group *group, uint32_t rank, int node,
			uint32_t algorithm, uint32_t radix)
{
	struct collq_graph *graph;
	int err;

	err = collq_graph_new(&graph);
	if (err)
		return err;
	err = collq_barrier_graph(graph, rank, group->size, algorithm, radix);
	if (!err)
		err = collq_graph_remove(graph, node);
	if (!err)
		err = executor_load(group->executor, rank, graph);
	collq_graph_free(graph);
	return err;
}

/* The checks above can fail: no WAIT can be left out without being noticed. */
TEST_F(barrier, without_a_wait)
{
	struct group *group = &self->group;
	struct collq_graph_node_info info = { .size = sizeof(info) };
	struct executor_report report;
	uint32_t size, rank, node, nodes;

	for (size = 2; size <= MAX_MUTANT_SIZE; size++) {
		ASSERT_EQ(0, group_barrier(group, size, variant->algorithm, variant->radix));
		for (rank = 0; rank < size; rank++) {
			nodes = collq_graph_nr_nodes(group->graphs[rank]);
			for (node = 0; node < nodes; node++) {
				ASSERT_EQ(0, collq_graph_node(group->graphs[rank], node, &info));
				if (info.opcode != IB_COLLQ_TASK_WAIT)
					continue;
				ASSERT_EQ(0, load_without(group, rank, node, variant->algorithm,
							  variant->radix));
				EXPECT_TRUE(ends_early(group->executor, size))
					TH_LOG("%u ranks, rank %u without WAIT %u", size, rank,
					       node);
				executor_run_random(group->executor, RUNS, node, &report);
				EXPECT_EQ(RUNS, report.leftover);
			}
			ASSERT_EQ(0, executor_load(group->executor, rank, group->graphs[rank]));
		}
		group_free(group);
	}
}

/*
 * A SEND stands behind the WAITs of all rounds before its own, which make it a
 * barrier, and behind no other, which would hold it up for nothing.
 */
TEST_F(barrier, order_of_tasks)
{
	struct ib_collq_task *tasks, *again;
	uint32_t size, rank, nr, nr_again, i, j;
	struct collq_graph *graph;

	for (size = 1; size <= MAX_SIZE; size++) {
		for (rank = 0; rank < size; rank += 1 + size / 16) {
			ASSERT_EQ(0, collq_graph_new(&graph));
			ASSERT_EQ(0, collq_barrier_graph(graph, rank, size, variant->algorithm,
							 variant->radix));
			ASSERT_EQ(0, graph_util_lower(graph, NULL, &tasks, &nr));
			ASSERT_EQ(0, graph_util_lower(graph, NULL, &again, &nr_again));
			ASSERT_EQ(nr, nr_again);
			ASSERT_TRUE(!nr || !memcmp(tasks, again, nr * sizeof(*tasks)));
			ASSERT_EQ(collq_graph_nr_nodes(graph), nr);

			for (i = 0; i < nr; i++) {
				if (tasks[i].opcode != IB_COLLQ_TASK_SEND)
					continue;
				for (j = 0; j < nr; j++)
					if (tasks[j].opcode == IB_COLLQ_TASK_WAIT)
						ASSERT_EQ(tasks[j].label < tasks[i].label, j < i);
			}
			free(tasks);
			free(again);
			collq_graph_free(graph);
		}
	}
}

/* AUTO is what collq_barrier_choose() says, for any rank. */
TEST(auto_is_the_choice)
{
	struct ib_collq_task *chosen, *automatic;
	uint32_t size, nr_chosen, nr_automatic;
	struct collq_graph *graph;

	for (size = 2; size <= MAX_SIZE; size++) {
		uint32_t algorithm = COLLQ_BARRIER_AUTO, radix = 0, rank = size / 2;

		ASSERT_EQ(0, collq_barrier_choose(size, 0, &algorithm, &radix));
		ASSERT_NE(COLLQ_BARRIER_AUTO, algorithm);
		ASSERT_EQ(0, collq_graph_new(&graph));
		ASSERT_EQ(0, collq_barrier_graph(graph, rank, size, algorithm, radix));
		ASSERT_EQ(0, graph_util_lower(graph, NULL, &chosen, &nr_chosen));
		collq_graph_free(graph);

		ASSERT_EQ(0, collq_graph_new(&graph));
		ASSERT_EQ(0, collq_barrier_graph(graph, rank, size, COLLQ_BARRIER_AUTO, 0));
		ASSERT_EQ(0, graph_util_lower(graph, NULL, &automatic, &nr_automatic));
		collq_graph_free(graph);

		ASSERT_EQ(nr_chosen, nr_automatic);
		ASSERT_EQ(0, memcmp(chosen, automatic, nr_chosen * sizeof(*chosen)));
		free(chosen);
		free(automatic);
	}
}

/* Where ranks share a processor fewest messages win, else fewest rounds. */
TEST(choice_follows_processors)
{
	uint32_t size, algorithm = COLLQ_BARRIER_AUTO, radix = 0;

	/* As many messages with all of them; a tree needs two rounds. */
	ASSERT_EQ(0, collq_barrier_choose(2, 1, &algorithm, &radix));
	EXPECT_EQ(COLLQ_BARRIER_DISSEMINATION, algorithm);

	for (size = 4; size <= 4096; size *= 2) {
		algorithm = COLLQ_BARRIER_AUTO;
		radix = 0;
		ASSERT_EQ(0, collq_barrier_choose(size, 1, &algorithm, &radix));
		EXPECT_EQ(COLLQ_BARRIER_K_NOMIAL, algorithm);
		EXPECT_LE(2, radix);

		algorithm = COLLQ_BARRIER_AUTO;
		radix = 0;
		ASSERT_EQ(0, collq_barrier_choose(size, size, &algorithm, &radix));
		EXPECT_EQ(COLLQ_BARRIER_DISSEMINATION, algorithm);
		EXPECT_EQ(0, radix);
	}
}

TEST(choice_keeps_what_is_given)
{
	uint32_t algorithm = COLLQ_BARRIER_RECURSIVE_DOUBLING, radix = 5;

	ASSERT_EQ(0, collq_barrier_choose(100, 1, &algorithm, &radix));
	EXPECT_EQ(COLLQ_BARRIER_RECURSIVE_DOUBLING, algorithm);
	EXPECT_EQ(0, radix);

	algorithm = COLLQ_BARRIER_K_NOMIAL;
	radix = 5;
	ASSERT_EQ(0, collq_barrier_choose(100, 100, &algorithm, &radix));
	EXPECT_EQ(COLLQ_BARRIER_K_NOMIAL, algorithm);
	EXPECT_EQ(5, radix);
}

TEST(largest_sizes)
{
	const uint32_t size = UINT32_MAX;
	uint32_t algorithm = COLLQ_BARRIER_AUTO, radix = 0;
	struct collq_graph_channel channel = { .size = sizeof(channel) };
	struct collq_graph *graph;

	EXPECT_EQ(0, collq_barrier_choose(size, size, &algorithm, &radix));

	ASSERT_EQ(0, collq_graph_new(&graph));
	ASSERT_EQ(0, collq_barrier_graph(graph, 3, size, COLLQ_BARRIER_DISSEMINATION, 0));
	ASSERT_EQ(32, collq_graph_nr_in(graph));
	ASSERT_EQ(0, collq_graph_in_channel(graph, 31, &channel));
	EXPECT_EQ(0x80000002U, channel.peer);
	ASSERT_EQ(0, collq_graph_out_channel(graph, 31, &channel));
	EXPECT_EQ(0x80000003U, channel.peer);
	collq_graph_free(graph);

	/* 2^31 - 1 ranks are beyond the power of two. */
	ASSERT_EQ(0, collq_graph_new(&graph));
	ASSERT_EQ(0, collq_barrier_graph(graph, size - 1, size,
					 COLLQ_BARRIER_RECURSIVE_DOUBLING, 0));
	ASSERT_EQ(1, collq_graph_nr_out(graph));
	ASSERT_EQ(0, collq_graph_out_channel(graph, 0, &channel));
	EXPECT_EQ(0x7ffffffeU, channel.peer);
	collq_graph_free(graph);

	ASSERT_EQ(0, collq_graph_new(&graph));
	ASSERT_EQ(0, collq_barrier_graph(graph, size - 1, size, COLLQ_BARRIER_K_NOMIAL,
					 65536));
	ASSERT_EQ(1, collq_graph_nr_out(graph));
	ASSERT_EQ(0, collq_graph_out_channel(graph, 0, &channel));
	EXPECT_EQ(0xffff0000U, channel.peer);
	collq_graph_free(graph);
}

TEST(bad_arguments)
{
	uint32_t algorithm = COLLQ_BARRIER_AUTO, radix = 0;
	struct collq_graph *graph;

	EXPECT_EQ(-EINVAL, collq_barrier_choose(0, 0, &algorithm, &radix));
	algorithm = COLLQ_BARRIER_K_NOMIAL + 1;
	EXPECT_EQ(-EINVAL, collq_barrier_choose(2, 0, &algorithm, &radix));
	algorithm = COLLQ_BARRIER_AUTO;
	radix = 1;
	EXPECT_EQ(-EINVAL, collq_barrier_choose(2, 0, &algorithm, &radix));

	ASSERT_EQ(0, collq_graph_new(&graph));
	EXPECT_EQ(-EINVAL, collq_barrier_graph(graph, 0, 0, COLLQ_BARRIER_AUTO, 0));
	EXPECT_EQ(-EINVAL, collq_barrier_graph(graph, 2, 2, COLLQ_BARRIER_AUTO, 0));
	EXPECT_EQ(-EINVAL, collq_barrier_graph(graph, 0, 2, COLLQ_BARRIER_K_NOMIAL + 1, 0));
	EXPECT_EQ(-EINVAL, collq_barrier_graph(graph, 0, 2, COLLQ_BARRIER_K_NOMIAL, 1));
	EXPECT_EQ(0, collq_graph_nr_nodes(graph));
	EXPECT_EQ(0, collq_barrier_graph(graph, 0, 2, COLLQ_BARRIER_AUTO, 0));
	EXPECT_EQ(-EINVAL, collq_barrier_graph(graph, 0, 2, COLLQ_BARRIER_AUTO, 0));
	collq_graph_free(graph);
}

/* What the executor has to notice, on graphs of two ranks made by hand. */
FIXTURE(executor) {
	struct group group;
	struct collq_graph *a, *b;
	struct executor_report report;
};

FIXTURE_SETUP(executor)
{
	ASSERT_EQ(0, group_new(&self->group, 2));
	self->a = self->group.graphs[0];
	self->b = self->group.graphs[1];
}

FIXTURE_TEARDOWN(executor)
{
	group_free(&self->group);
}

TEST_F(executor, notices_early_end)
{
	ASSERT_EQ(0, group_load(&self->group));
	executor_run_early(self->group.executor, RUNS, 1, &self->report);
	EXPECT_EQ(RUNS, self->report.early);
	EXPECT_EQ(0, self->report.stuck);
}

TEST_F(executor, notices_deadlock)
{
	ASSERT_EQ(0, collq_graph_wait(self->a, collq_graph_in(self->a, 1, 0), 1, 0));
	ASSERT_EQ(0, collq_graph_wait(self->b, collq_graph_in(self->b, 0, 0), 1, 0));
	ASSERT_EQ(1, collq_graph_signal(self->b, collq_graph_out(self->b, 0, 0), 0));
	/* Node 1, the signal, behind node 0, the wait */
	ASSERT_EQ(0, collq_graph_after(self->b, 1, 0));
	ASSERT_EQ(0, group_load(&self->group));
	executor_run_early(self->group.executor, RUNS, EXECUTOR_NOBODY, &self->report);
	EXPECT_EQ(2, self->report.stuck);
	executor_run_random(self->group.executor, RUNS, 1, &self->report);
	EXPECT_EQ(2, self->report.stuck);
	EXPECT_EQ(0, self->report.sent[0]);
}

TEST_F(executor, notices_leftovers)
{
	ASSERT_EQ(0, collq_graph_in(self->a, 1, 0));
	ASSERT_EQ(0, collq_graph_signal(self->b, collq_graph_out(self->b, 0, 0), 0));
	ASSERT_EQ(0, group_load(&self->group));
	executor_run_random(self->group.executor, RUNS, 1, &self->report);
	EXPECT_EQ(RUNS, self->report.leftover);
	EXPECT_EQ(1, self->report.sent[RUNS - 1]);
}

/* A fan-in alone: nothing keeps the leaf from running ahead. */
TEST_F(executor, notices_overrun)
{
	ASSERT_EQ(0, collq_graph_wait(self->a, collq_graph_in(self->a, 1, 0), 1, 0));
	ASSERT_EQ(0, collq_graph_signal(self->b, collq_graph_out(self->b, 0, 0), 0));
	ASSERT_EQ(0, group_load(&self->group));
	executor_run_early(self->group.executor, RUNS, 0, &self->report);
	EXPECT_EQ(RUNS - 2, self->report.overrun);
	EXPECT_EQ(RUNS, self->report.early);
	EXPECT_EQ(0, self->report.leftover);
}

/* The tag is part of the name: another one is another counter. */
TEST_F(executor, notices_missing_channel)
{
	ASSERT_EQ(0, collq_graph_in(self->a, 1, 0));
	ASSERT_EQ(0, collq_graph_signal(self->b, collq_graph_out(self->b, 0, 1), 0));
	EXPECT_EQ(-ENOENT, group_load(&self->group));
}

TEST_F(executor, notices_unknown_object)
{
	ASSERT_EQ(0, collq_graph_wait_counter(self->a, 5, 1, 0));
	EXPECT_EQ(-ENOENT, group_load(&self->group));
}

TEST_HARNESS_MAIN
