// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * All-to-alls as graphs, without a device: the graphs of all ranks are executed against
 * each other with data (exchange.h), for layouts, packings, radices, limits of the device
 * and numbers of ranks. What they come to is compared with what the layouts promise. That
 * the checks can fail is checked as well.
 */
#include <stdbool.h>

#include <rdma/ib_collq.h>
#include <collq/collq.h>

#include "kselftest_harness.h"
#include "alloc_wrap.h"
#include "exchange.h"

#define MAX_SIZE	130
#define RUNS		4

/* Up to here, or COLLQ_EVERY_WAY, all radices, limits and packings are combined... */
#define MAX_SMALL	9

/* ...and up to here there are all packings. */
#define MAX_MEDIUM	48

static const uint32_t radices[] = { 2, 3, 4, 8 };
static const uint32_t limits[] = { 1, 2, 4, 30, 32 };

#define NR_RADICES	4
#define NR_LIMITS	5

/* Run as early as can be, with some rank last, and at random. False if it went wrong. */
static bool run_all(struct exchange *exchange, uint32_t seeds, uint64_t *seed,
		    struct executor_report *report)
{
	executor_run_early(exchange->executor, RUNS, *seed % exchange->what.nr_ranks, report);
	while (seeds-- && executor_is_clean(report))
		executor_run_random(exchange->executor, RUNS, ++*seed, report);
	return executor_is_clean(report);
}

static struct collq_alltoall alltoall(uint32_t nr_ranks, uint32_t layout, uint32_t packing)
{
	return (struct collq_alltoall){
		.size = sizeof(struct collq_alltoall),
		.nr_ranks = nr_ranks,
		.block = 3,
		.layout = layout,
		.packing = packing,
		.radix = 2,
		.max_send_sge = 32,
		.max_recv_sge = 32,
		.max_message = 1 << 23,
	};
}

FIXTURE(layout) {
	struct exchange exchange;
	struct executor_report report;
	uint64_t seed;
};

FIXTURE_VARIANT(layout) {
	uint32_t layout;
};

FIXTURE_VARIANT_ADD(layout, A) {
	.layout = COLLQ_ALLTOALL_A,
};

FIXTURE_VARIANT_ADD(layout, B) {
	.layout = COLLQ_ALLTOALL_B,
};

FIXTURE_VARIANT_ADD(layout, C) {
	.layout = COLLQ_ALLTOALL_C,
};

FIXTURE_VARIANT_ADD(layout, D) {
	.layout = COLLQ_ALLTOALL_D,
};

FIXTURE_VARIANT_ADD(layout, E) {
	.layout = COLLQ_ALLTOALL_E,
};

FIXTURE_VARIANT_ADD(layout, pairwise) {
	.layout = COLLQ_ALLTOALL_PAIRWISE,
};

FIXTURE_SETUP(layout)
{
	self->seed = 1000 * variant->layout;
}

FIXTURE_TEARDOWN(layout)
{
	exchange_free(&self->exchange);
}

static void check_one(struct __test_metadata *_metadata, FIXTURE_DATA(layout) * self,
		      const struct collq_alltoall *what, uint32_t seeds)
{
	exchange_free(&self->exchange);
	ASSERT_EQ(0, exchange_build(&self->exchange, what))
		TH_LOG("%s", exchange_describe(what));
	ASSERT_EQ(0, exchange_load(&self->exchange))
		TH_LOG("%s", exchange_describe(what));
	ASSERT_TRUE(run_all(&self->exchange, seeds, &self->seed, &self->report))
		TH_LOG("%s, seed %llu: %s", exchange_describe(what),
		       (unsigned long long)self->seed, exchange_report(&self->report));
}

/* Each number of ranks; radix, limits, length and place change with it. */
TEST_F_TIMEOUT(layout, every_size, 300)
{
	const bool is_pairwise = variant->layout == COLLQ_ALLTOALL_PAIRWISE;
	uint32_t packing, nr = 0;
	struct collq_alltoall what;

	for (packing = COLLQ_PACKING_CPU; packing <= COLLQ_PACKING_SELECTIVE; packing++) {
		what = alltoall(1, variant->layout, packing);
		for (; what.nr_ranks <= MAX_SIZE; what.nr_ranks++, nr++) {
			if ((is_pairwise || what.nr_ranks > MAX_MEDIUM) &&
			    what.nr_ranks % 3 + 1 != packing)
				continue;
			what.radix = radices[nr % NR_RADICES];
			what.max_send_sge = limits[nr % NR_LIMITS];
			what.max_recv_sge = limits[nr / 3 % NR_LIMITS];
			what.block = 1 + nr % 8;
			what.flags = nr / 2 % 2 ? COLLQ_ALLTOALL_IN_PLACE : 0;
			what.flags |= nr / 4 % 2 ? COLLQ_ALLTOALL_LOCAL : 0;
			check_one(_metadata, self, &what, 1);
		}
	}
}

/* All combinations; blocks of no length among them. */
TEST_F_TIMEOUT(layout, every_way, 3000)
{
	const char *env = getenv("COLLQ_EVERY_WAY");
	const uint32_t max_size = env ? strtoul(env, NULL, 10) : MAX_SMALL;
	uint32_t packing, radix, limit, nr = 0;
	struct collq_alltoall what;

	for (nr = 0; nr < max_size * 3 * NR_RADICES * NR_LIMITS * 2; nr++) {
		uint32_t rest = nr;

		packing = COLLQ_PACKING_CPU + rest % 3;
		rest /= 3;
		radix = rest % NR_RADICES;
		rest /= NR_RADICES;
		limit = rest % NR_LIMITS;
		rest /= NR_LIMITS;
		/* It knows no radix; small ones get the other limits and lengths of these, too. */
		if (variant->layout == COLLQ_ALLTOALL_PAIRWISE && radix && rest / 2 >= MAX_SMALL)
			continue;
		what = alltoall(1 + rest / 2, variant->layout, packing);
		what.radix = radices[radix];
		what.max_send_sge = limits[limit];
		what.max_recv_sge = limits[(limit + nr) % NR_LIMITS];
		what.block = nr % 7;
		what.flags = rest % 2 ? COLLQ_ALLTOALL_IN_PLACE : 0;
		what.flags |= nr / 3 % 2 ? COLLQ_ALLTOALL_LOCAL : 0;
		check_one(_metadata, self, &what, 2);
	}
}

/* Memory that is registered in parts, at whose borders an entry becomes two. */
TEST_F_TIMEOUT(layout, room_for_borders, 300)
{
	struct collq_alltoall what;
	uint32_t packing, nr = 0;

	for (packing = COLLQ_PACKING_CPU; packing <= COLLQ_PACKING_SELECTIVE; packing++) {
		what = alltoall(2, variant->layout, packing);
		for (; what.nr_ranks <= 70; what.nr_ranks += 1 + what.nr_ranks / 8, nr++) {
			what.region_part = 16U << nr % 5;
			what.max_send_sge = limits[2 + nr % 3];
			what.max_recv_sge = limits[2 + nr / 3 % 3];
			what.block = 1 + nr % 8;
			what.radix = radices[nr / 2 % NR_RADICES];
			what.flags = nr / 4 % 2 ? COLLQ_ALLTOALL_IN_PLACE : 0;
			check_one(_metadata, self, &what, 1);
		}
	}
}

/* Messages and copies that are longer than the device takes, and long blocks. */
TEST_F_TIMEOUT(layout, limits_of_length, 300)
{
	struct collq_alltoall what;
	uint32_t packing, size, blocks;

	for (packing = COLLQ_PACKING_CPU; packing <= COLLQ_PACKING_SELECTIVE; packing++) {
		for (size = 2; size < 40; size += 1 + size / 4) {
			what = alltoall(size, variant->layout, packing);
			for (blocks = 1; blocks <= 5; blocks += 2) {
				what.max_message = blocks * what.block + blocks / 2;
				check_one(_metadata, self, &what, 2);
			}
		}
		/* Long enough for a list to be worth it */
		what = alltoall(8, variant->layout, packing);
		what.block = 50000;
		check_one(_metadata, self, &what, 2);
		what = alltoall(11, variant->layout, packing);
		what.block = 7000;
		what.flags = COLLQ_ALLTOALL_IN_PLACE;
		what.max_send_sge = 3;
		check_one(_metadata, self, &what, 2);
	}
}

/* Digits of all numbers below @size that aren't 0: how often a block moves. */
static uint64_t count_moves(uint32_t size, uint32_t radix)
{
	uint64_t moves = 0;
	uint32_t i, rest;

	for (i = 0; i < size; i++)
		for (rest = i; rest; rest /= radix)
			moves += rest % radix != 0;
	return moves;
}

static uint32_t count_steps(uint32_t size, uint32_t radix)
{
	uint32_t unit, digit, steps = 0;

	for (unit = 1; unit < size; unit *= radix)
		for (digit = 1; digit < radix && digit * unit < size; digit++)
			steps++;
	return steps;
}

/* Blocks that a rank copies, but for its own; lists may be as long as they like. */
static uint64_t expected_copies(const struct collq_alltoall *what)
{
	const bool is_cpu = what->packing == COLLQ_PACKING_CPU;
	const uint64_t others = what->nr_ranks - 1;
	const uint64_t moves = count_moves(what->nr_ranks, what->radix);
	const uint64_t saved = what->flags & COLLQ_ALLTOALL_IN_PLACE ? others : 0;

	switch (what->layout) {
	case COLLQ_ALLTOALL_A:
		return 2 * others + (is_cpu ? 2 : 1) * moves;
	case COLLQ_ALLTOALL_B:
		return saved + others + (is_cpu ? 2 : 1) * moves;
	case COLLQ_ALLTOALL_C:
		return saved + (is_cpu ? 2 : 1) * moves;
	case COLLQ_ALLTOALL_D:
		return saved + (is_cpu ? 2 * moves : 0);
	case COLLQ_ALLTOALL_E:
		return others + (is_cpu ? moves : 0);
	default:
		return saved;
	}
}

static int add_up(const struct collq_alltoall *what, struct collq_graph_totals *totals,
		  struct collq_needs *needs)
{
	struct collq_graph *graph;
	int err;

	*needs = (struct collq_needs){ .size = sizeof(*needs) };
	*totals = (struct collq_graph_totals){ .size = sizeof(*totals) };
	err = collq_graph_new(&graph);
	if (err)
		return err;
	err = collq_alltoall_graph(graph, what, needs);
	if (!err)
		err = collq_graph_totals(graph, totals);
	collq_graph_free(graph);
	return err;
}

TEST_F(layout, comes_to_what_it_promises)
{
	struct collq_graph_totals totals;
	struct collq_alltoall what;
	struct collq_needs needs;
	uint32_t nr, steps;
	bool is_direct;

	for (nr = 0; nr < MAX_SIZE * NR_RADICES * 4; nr++) {
		what = alltoall(1 + nr / NR_RADICES / 4, variant->layout,
				nr % 2 ? COLLQ_PACKING_SG : COLLQ_PACKING_CPU);
		what.flags = nr / 2 % 2 ? COLLQ_ALLTOALL_IN_PLACE : 0;
		what.flags |= nr / 5 % 2 ? COLLQ_ALLTOALL_LOCAL : 0;
		what.radix = radices[nr / 4 % NR_RADICES];
		what.rank = nr % what.nr_ranks;
		what.max_send_sge = MAX_SIZE;
		what.max_recv_sge = MAX_SIZE;
		ASSERT_EQ(0, add_up(&what, &totals, &needs));
		ASSERT_EQ(what.flags & COLLQ_ALLTOALL_IN_PLACE ? 0 : what.block, needs.own_bytes);
		ASSERT_EQ(expected_copies(&what) * what.block,
			  totals.copied_bytes - needs.own_bytes)
			TH_LOG("%s", exchange_describe(&what));

		is_direct = what.layout == COLLQ_ALLTOALL_PAIRWISE ||
			    (what.layout == COLLQ_ALLTOALL_D &&
			     what.packing == COLLQ_PACKING_SG);
		steps = count_steps(what.nr_ranks, what.radix);
		if (what.layout == COLLQ_ALLTOALL_PAIRWISE)
			steps = what.nr_ranks - 1;
		ASSERT_EQ(steps, totals.sends);
		ASSERT_EQ(steps, totals.recvs);
		ASSERT_EQ(is_direct ? steps : 0, totals.signals);
		ASSERT_EQ(is_direct || !steps ? 1 : 2, needs.generations);
		if (what.layout != COLLQ_ALLTOALL_PAIRWISE)
			ASSERT_EQ(count_moves(what.nr_ranks, what.radix) * what.block,
				  totals.send_bytes);
		if (!is_direct)
			ASSERT_EQ(steps, totals.recv_sges);
		if (!is_direct && what.packing == COLLQ_PACKING_CPU)
			ASSERT_EQ(steps, totals.send_sges);
	}
}

/* What is executed is what was counted. */
TEST_F(layout, is_counted_rightly)
{
	struct executor_report *report = &self->report;
	struct collq_alltoall what;
	struct collq_graph_totals totals;
	struct collq_needs needs;
	uint32_t packing;

	for (packing = COLLQ_PACKING_CPU; packing <= COLLQ_PACKING_SELECTIVE; packing++) {
		uint64_t signals = 0, messages = 0, sges = 0, copied = 0;

		what = alltoall(23, variant->layout, packing);
		what.max_send_sge = 4;
		what.block = 4000;
		check_one(_metadata, self, &what, 1);
		for (what.rank = 0; what.rank < what.nr_ranks; what.rank++) {
			ASSERT_EQ(0, add_up(&what, &totals, &needs));
			signals += totals.signals;
			messages += totals.sends;
			sges += totals.send_sges + totals.recv_sges;
			copied += totals.copied_bytes;
		}
		EXPECT_EQ(signals, report->sent[RUNS - 1]);
		EXPECT_EQ(messages, report->messages[RUNS - 1]);
		EXPECT_EQ(sges, report->sges[RUNS - 1]);
		EXPECT_EQ(copied, report->copied[RUNS - 1]);
	}
}

/* Let two pieces of the same length change places. False if there's nothing to swap. */
static bool swap(struct collq_graph *graph, int node, uint32_t index)
{
	struct collq_graph_node_info info = { .size = sizeof(info) };
	struct ib_collq_sge a, b;

	if (collq_graph_node(graph, node, &info) || index + 1 == info.nr_sges ||
	    collq_graph_sge(graph, node, index, &a) ||
	    collq_graph_sge(graph, node, index + 1, &b) || a.length != b.length)
		return false;
	return !collq_graph_set_sge(graph, node, index, b.buffer, b.offset) &&
	       !collq_graph_set_sge(graph, node, index + 1, a.buffer, a.offset);
}

/* Any two neighbours of any list of one rank that change places are noticed. */
TEST_F_TIMEOUT(layout, notices_swapped_blocks, 120)
{
	const uint32_t rank = 2;
	struct collq_alltoall what;
	uint32_t packing, node, index, nr = 0;

	for (packing = COLLQ_PACKING_CPU; packing <= COLLQ_PACKING_SG; packing++) {
		what = alltoall(7, variant->layout, packing);
		check_one(_metadata, self, &what, 1);
		for (node = 0; node < collq_graph_nr_nodes(self->exchange.graphs[rank]); node++) {
			for (index = 0; index < 2 * what.nr_ranks; index++) {
				struct collq_graph *graph = self->exchange.graphs[rank];

				if (!swap(graph, node, index))
					continue;
				nr++;
				ASSERT_EQ(0, executor_load(self->exchange.executor, rank, graph));
				executor_run_early(self->exchange.executor, RUNS, EXECUTOR_NOBODY,
						   &self->report);
				EXPECT_LT(0, self->report.wrong)
					TH_LOG("%s: node %u, pieces from %u",
					       exchange_describe(&what), node, index);
				ASSERT_TRUE(swap(graph, node, index));
			}
		}
		ASSERT_EQ(0, executor_load(self->exchange.executor, rank,
					   self->exchange.graphs[rank]));
	}
	/* Pairwise, each list is of one piece. */
	if (variant->layout != COLLQ_ALLTOALL_PAIRWISE)
		EXPECT_LT(5, nr);
}

/* A graph like another without one of its nodes, loaded in place of it. */
static int load_without(struct exchange *exchange, uint32_t rank, int node)
{
	struct collq_graph *copy;
	int err;

	err = collq_graph_copy(exchange->graphs[rank], &copy);
	if (err)
		return err;
	err = collq_graph_remove(copy, node);
	if (!err)
		err = executor_load(exchange->executor, rank, copy);
	collq_graph_free(copy);
	return err;
}

/* Whether anything goes wrong but for the counts that nobody waits for any more. */
static bool does_harm(struct exchange *exchange, uint32_t seeds, uint64_t *seed,
		      struct executor_report *report)
{
	bool clean = true;

	while (seeds-- && clean) {
		executor_run_random(exchange->executor, RUNS, ++*seed, report);
		report->leftover = 0;
		clean = executor_is_clean(report);
	}
	return !clean;
}

/* Waits of a source, and how many of them could be left out. */
struct tally {
	uint32_t waits;
	uint32_t spare;
};

/*
 * No wait can be left out: some order of events does harm then. Waits for sends are the
 * exception, where what has come from others happens to tell that they have arrived.
 */
static void check_without_waits(struct __test_metadata *_metadata,
				FIXTURE_DATA(layout) * self, uint32_t rank,
				struct tally *sends, struct tally *others)
{
	struct collq_graph *graph = self->exchange.graphs[rank];
	struct collq_graph_node_info info = { .size = sizeof(info) };
	struct tally *tally;
	uint32_t node;

	for (node = 0; node < collq_graph_nr_nodes(graph); node++) {
		ASSERT_EQ(0, collq_graph_node(graph, node, &info));
		if (info.opcode != IB_COLLQ_TASK_WAIT)
			continue;
		tally = info.source == IB_COLLQ_SOURCE_SENDS ? sends : others;
		tally->waits++;
		ASSERT_EQ(0, load_without(&self->exchange, rank, node));
		executor_run_early(self->exchange.executor, RUNS, EXECUTOR_NOBODY,
				   &self->report);
		EXPECT_EQ(info.count * RUNS, self->report.leftover);
		if (!does_harm(&self->exchange, 1000, &self->seed, &self->report))
			tally->spare++;
	}
}

TEST_F_TIMEOUT(layout, notices_missing_waits, 120)
{
	struct tally sends = { 0 }, others = { 0 };
	struct collq_alltoall what;
	uint32_t packing, size;

	for (packing = COLLQ_PACKING_CPU; packing <= COLLQ_PACKING_SG; packing++) {
		for (size = 2; size <= 8; size++) {
			what = alltoall(size, variant->layout, packing);
			check_one(_metadata, self, &what, 1);
			check_without_waits(_metadata, self, size / 2, &sends, &others);
		}
	}
	EXPECT_LT(10, sends.waits);
	EXPECT_GT(sends.waits / 5, sends.spare);
	EXPECT_LT(20, others.waits);
	EXPECT_EQ(0, others.spare);
}

static int first_receive(const struct collq_graph *graph)
{
	struct collq_graph_node_info info = { .size = sizeof(info) };
	uint32_t node;

	for (node = 0; node < collq_graph_nr_nodes(graph); node++)
		if (!collq_graph_node(graph, node, &info) && info.opcode == IB_COLLQ_TASK_RECV)
			return node;
	return -1;
}

TEST_F(layout, notices_a_missing_receive)
{
	struct collq_alltoall what = alltoall(6, variant->layout, COLLQ_PACKING_CPU);
	struct collq_graph **graphs;

	check_one(_metadata, self, &what, 1);
	graphs = self->exchange.preludes;
	if (first_receive(graphs[1]) < 0)
		graphs = self->exchange.graphs;
	ASSERT_EQ(0, collq_graph_remove(graphs[1], first_receive(graphs[1])));
	ASSERT_EQ(0, exchange_load(&self->exchange));
	executor_run_early(self->exchange.executor, RUNS, EXECUTOR_NOBODY, &self->report);
	EXPECT_LT(0, self->report.not_ready);
}

TEST_F(layout, notices_another_length)
{
	struct collq_alltoall what = alltoall(6, variant->layout, COLLQ_PACKING_CPU);

	check_one(_metadata, self, &what, 1);
	collq_graph_free(self->exchange.graphs[0]);
	self->exchange.graphs[0] = NULL;
	what.block--;
	ASSERT_EQ(0, collq_graph_new(&self->exchange.graphs[0]));
	ASSERT_EQ(0, collq_alltoall_graph(self->exchange.graphs[0], &what,
					  &self->exchange.needs));
	self->exchange.needs.scratch *= 2;
	ASSERT_EQ(0, exchange_load(&self->exchange));
	executor_run_early(self->exchange.executor, 1, EXECUTOR_NOBODY, &self->report);
	EXPECT_LT(0, self->report.misfits);
}

/* Each number of pieces that the steps send at 1024 ranks, from the project's design. */
TEST(pieces_of_1024_ranks)
{
	static const uint32_t a[] = { 512, 256, 128, 64, 32, 16, 8, 4, 2, 1 };
	static const uint32_t e[] = { 512, 512, 384, 256, 160, 96, 56, 32, 18, 10 };
	struct collq_graph_node_info info = { .size = sizeof(info) };
	struct collq_needs needs = { .size = sizeof(needs) };
	struct collq_graph *graph;
	uint32_t layout, node, step;

	for (layout = COLLQ_ALLTOALL_A; layout <= COLLQ_ALLTOALL_E; layout += 4) {
		struct collq_alltoall what = alltoall(1024, layout, COLLQ_PACKING_SG);

		what.max_send_sge = 1024;
		what.max_recv_sge = 1024;
		ASSERT_EQ(0, collq_graph_new(&graph));
		ASSERT_EQ(0, collq_alltoall_graph(graph, &what, &needs));
		for (node = 0, step = 0; node < collq_graph_nr_nodes(graph); node++) {
			ASSERT_EQ(0, collq_graph_node(graph, node, &info));
			if (info.opcode != IB_COLLQ_TASK_SEND)
				continue;
			EXPECT_EQ(layout == COLLQ_ALLTOALL_A ? a[step] : e[step], info.nr_sges)
				TH_LOG("layout %u, step %u", layout, step);
			step++;
		}
		EXPECT_EQ(10, step);
		collq_graph_free(graph);
	}
}

static int build_graphs(const struct collq_alltoall *what, struct collq_graph **graph,
			struct collq_graph **prelude)
{
	struct collq_needs needs = { .size = sizeof(needs) };
	int err;

	err = collq_graph_new(graph);
	if (!err)
		err = collq_graph_new(prelude);
	if (!err)
		err = collq_alltoall_graph(*graph, what, &needs);
	return err ? err : collq_alltoall_prelude(*prelude, what);
}

/* Wherever memory runs out: an error, and nothing is left behind. */
TEST(memory_runs_out_anywhere)
{
	struct collq_alltoall what;
	uint32_t layout, nr_failed;
	bool failed;
	int err;

	for (layout = COLLQ_ALLTOALL_A; layout <= COLLQ_ALLTOALL_PAIRWISE; layout++) {
		const long before = alloc_wrap_live();

		what = alltoall(20, layout, COLLQ_PACKING_SG);
		what.flags = COLLQ_ALLTOALL_IN_PLACE;
		for (nr_failed = 0;; nr_failed++) {
			struct collq_graph *graph = NULL, *prelude = NULL;

			alloc_wrap_fail_after(nr_failed);
			err = build_graphs(&what, &graph, &prelude);
			failed = alloc_wrap_stop();
			ASSERT_EQ(failed ? -ENOMEM : 0, err);
			collq_graph_free(graph);
			collq_graph_free(prelude);
			ASSERT_EQ(before, alloc_wrap_live());
			if (!failed)
				break;
		}
		EXPECT_LT(20, nr_failed);
	}
}

/* How many nodes copy, of a graph for these; and what is for the rank itself. */
static uint32_t count_copies(const struct collq_alltoall *what, uint64_t *own_bytes)
{
	struct collq_graph_node_info info = { .size = sizeof(info) };
	struct collq_needs needs = { .size = sizeof(needs) };
	struct collq_graph *graph;
	uint32_t i, nr = 0;

	if (collq_graph_new(&graph))
		return -1U;
	if (collq_alltoall_graph(graph, what, &needs))
		nr = -1U;
	for (i = 0; i < collq_graph_nr_nodes(graph); i++)
		nr += !collq_graph_node(graph, (int)i, &info) && info.opcode == IB_COLLQ_TASK_COPY;
	collq_graph_free(graph);
	*own_bytes = needs.own_bytes;
	return nr;
}

TEST(own_block_is_left_alone)
{
	struct collq_alltoall what = alltoall(5, COLLQ_ALLTOALL_PAIRWISE, COLLQ_PACKING_SG);
	uint64_t own_bytes;

	EXPECT_EQ(1, count_copies(&what, &own_bytes));
	EXPECT_EQ(what.block, own_bytes);
	what.flags = COLLQ_ALLTOALL_NOT_OWN;
	EXPECT_EQ(0, count_copies(&what, &own_bytes));
	EXPECT_EQ(0, own_bytes);
}

TEST(bad_arguments)
{
	const struct collq_alltoall good = alltoall(8, COLLQ_ALLTOALL_E, COLLQ_PACKING_SG);
	struct collq_alltoall bad[] = {
		good, good, good, good, good, good, good, good, good, good, good, good, good,
	};
	struct collq_needs needs = { .size = sizeof(needs) };
	struct collq_graph *graph;
	uint32_t i, nr = 0;

	bad[nr++].size = 3;
	bad[nr++].flags = 8;
	bad[nr++].rank = 8;
	bad[nr++].nr_ranks = 0;
	bad[nr++].block = good.max_message + 1;
	bad[nr++].layout = COLLQ_ALLTOALL_AUTO;
	bad[nr++].layout = COLLQ_ALLTOALL_PAIRWISE + 1;
	bad[nr++].packing = 0;
	bad[nr++].packing = COLLQ_PACKING_SELECTIVE + 1;
	bad[nr++].radix = 1;
	bad[nr++].max_send_sge = 0;
	bad[nr++].max_recv_sge = 0;
	bad[nr++].nr_ranks = UINT32_MAX;
	ASSERT_EQ(0, collq_graph_new(&graph));
	for (i = 0; i < nr; i++) {
		EXPECT_EQ(-EINVAL, collq_alltoall_graph(graph, &bad[i], &needs))
			TH_LOG("argument %u", i);
		EXPECT_EQ(-EINVAL, collq_alltoall_prelude(graph, &bad[i]));
	}
	EXPECT_EQ(0, collq_graph_nr_nodes(graph));
	needs.size = 0;
	EXPECT_EQ(-EINVAL, collq_alltoall_graph(graph, &good, &needs));
	needs.size = sizeof(needs);
	/* Not empty any more */
	EXPECT_EQ(-EINVAL, collq_alltoall_graph(graph, &good, &needs));
	collq_graph_free(graph);
}

/* Numbers near the limits of their types */
TEST(largest_sizes)
{
	struct collq_alltoall what = alltoall(4, COLLQ_ALLTOALL_A, COLLQ_PACKING_SG);
	struct collq_needs needs = { .size = sizeof(needs) };
	struct collq_graph_totals totals = { .size = sizeof(totals) };
	struct collq_graph *graph;

	what.block = UINT32_MAX;
	what.max_message = UINT64_MAX;
	ASSERT_EQ(0, collq_graph_new(&graph));
	ASSERT_EQ(0, collq_alltoall_graph(graph, &what, &needs));
	ASSERT_EQ(0, collq_graph_totals(graph, &totals));
	EXPECT_EQ(4, totals.sends);
	EXPECT_EQ(4ULL * UINT32_MAX, totals.send_bytes);
	EXPECT_EQ(8ULL * UINT32_MAX, needs.scratch);
	collq_graph_free(graph);

	what.radix = UINT32_MAX;
	what.nr_ranks = 3000;
	what.rank = 2999;
	ASSERT_EQ(0, collq_graph_new(&graph));
	ASSERT_EQ(0, collq_alltoall_graph(graph, &what, &needs));
	ASSERT_EQ(0, collq_graph_totals(graph, &totals));
	EXPECT_EQ(2999, totals.sends);
	collq_graph_free(graph);
}

TEST_HARNESS_MAIN
