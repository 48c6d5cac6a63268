// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Allreduces as graphs, without a device: the graphs of all ranks are executed against each
 * other with numbers (executor.h), and the results compared with what they come to one
 * after the other.
 */
#include <stdbool.h>

#include <rdma/ib_collq.h>
#include <collq/collq.h>

#include "kselftest_harness.h"
#include "alloc_wrap.h"
#include "executor.h"
#include "graph_util.h"

#define MAX_SIZE	130
#define RUNS		4
#define MOST_COUNT	9

/*
 * The numbers of all ranks, and what they come to, for each run. Numbers of any type fit
 * 128 bits.
 */
struct reduction {
	struct collq_allreduce what;
	struct executor *executor;
	struct collq_graph **graphs;
	struct collq_graph **preludes;
	struct collq_needs needs;
	uint32_t per_item, width;
	__int128 expected[RUNS][2 * MOST_COUNT];
};

static __int128 decode(const struct reduction *red, const unsigned char *bytes)
{
	int32_t s32;
	uint32_t u32;
	int64_t s64;
	uint64_t u64;

	switch (red->what.type) {
	case IB_COLLQ_TYPE_S32:
		memcpy(&s32, bytes, sizeof(s32));
		return s32;
	case IB_COLLQ_TYPE_U32:
		memcpy(&u32, bytes, sizeof(u32));
		return u32;
	case IB_COLLQ_TYPE_S64:
		memcpy(&s64, bytes, sizeof(s64));
		return s64;
	default:
		memcpy(&u64, bytes, sizeof(u64));
		return u64;
	}
}

static void encode(const struct reduction *red, __int128 value, unsigned char *bytes)
{
	const uint64_t low = value;

	memcpy(bytes, &low, red->width);
}

/* Number @i of a rank; few values, so that some are equal, and large ones among them. */
static __int128 value_of(const struct reduction *red, uint32_t rank, uint32_t run, uint32_t i)
{
	uint64_t state = (rank * 1000ULL + run) * 1000 + i;
	unsigned char bytes[8];
	uint64_t value;

	/* The place of a pair */
	if (i % red->per_item)
		return (rank * 7 + i) % 128;
	value = (uint64_t)graph_util_pick(&state, 8) << 61;
	value |= (uint64_t)graph_util_pick(&state, 4) << 30 | graph_util_pick(&state, 5);
	memcpy(bytes, &value, sizeof(value));
	return decode(red, bytes);
}

static __int128 add(const struct reduction *red, __int128 a, __int128 b)
{
	unsigned char bytes[8] = { 0 };

	encode(red, a + b, bytes);
	return decode(red, bytes);
}

static void take_if(bool better, __int128 *a, const __int128 *b)
{
	if (!better)
		return;
	a[0] = b[0];
	a[1] = b[1];
}

/* What two items come to, in the first. */
static void combine(const struct reduction *red, __int128 *a, const __int128 *b)
{
	switch (red->what.op) {
	case IB_COLLQ_CALC_ADD:
		*a = add(red, *a, *b);
		break;
	case IB_COLLQ_CALC_MIN:
		*a = *a < *b ? *a : *b;
		break;
	case IB_COLLQ_CALC_MAX:
		*a = *a > *b ? *a : *b;
		break;
	case IB_COLLQ_CALC_AND:
		*a &= *b;
		break;
	case IB_COLLQ_CALC_OR:
		*a |= *b;
		break;
	case IB_COLLQ_CALC_XOR:
		*a ^= *b;
		break;
	case IB_COLLQ_CALC_MINLOC:
		take_if(b[0] < a[0] || (b[0] == a[0] && b[1] < a[1]), a, b);
		break;
	default:
		take_if(b[0] > a[0] || (b[0] == a[0] && b[1] < a[1]), a, b);
		break;
	}
}

static uint32_t count_numbers(const struct reduction *red)
{
	return red->what.count * red->per_item;
}

static void expect(struct reduction *red)
{
	uint32_t run, rank, i, j;
	__int128 item[2];

	for (run = 0; run < RUNS; run++) {
		for (i = 0; i < count_numbers(red); i++)
			red->expected[run][i] = value_of(red, 0, run, i);
		for (rank = 1; rank < red->what.nr_ranks; rank++) {
			for (i = 0; i < count_numbers(red); i += red->per_item) {
				for (j = 0; j < red->per_item; j++)
					item[j] = value_of(red, rank, run, i + j);
				combine(red, &red->expected[run][i], item);
			}
		}
	}
}

static void fill(void *arg, uint32_t rank, uint32_t run, unsigned char *send,
		 unsigned char *recv)
{
	const struct reduction *red = arg;
	uint32_t i;

	if (red->what.flags & COLLQ_ALLREDUCE_IN_PLACE)
		send = recv;
	for (i = 0; i < count_numbers(red); i++)
		encode(red, value_of(red, rank, run, i), send + i * red->width);
}

static uint64_t check(void *arg, uint32_t rank, uint32_t run, const unsigned char *send,
		      const unsigned char *recv)
{
	const struct reduction *red = arg;
	uint64_t wrong = 0;
	uint32_t i;

	for (i = 0; i < count_numbers(red); i++) {
		wrong += decode(red, recv + i * red->width) != red->expected[run][i];
		if (!(red->what.flags & COLLQ_ALLREDUCE_IN_PLACE))
			wrong += decode(red, send + i * red->width) !=
				 value_of(red, rank, run, i);
	}
	return wrong;
}

static void reduction_free(struct reduction *red)
{
	uint32_t i;

	if (red->executor)
		executor_free(red->executor);
	for (i = 0; i < red->what.nr_ranks; i++) {
		if (red->graphs)
			collq_graph_free(red->graphs[i]);
		if (red->preludes)
			collq_graph_free(red->preludes[i]);
	}
	free(red->graphs);
	free(red->preludes);
	*red = (struct reduction){ 0 };
}

static int build_rank(struct reduction *red, uint32_t rank)
{
	struct collq_needs needs = { .size = sizeof(needs) };
	int err;

	red->what.rank = rank;
	err = collq_graph_new(&red->graphs[rank]);
	if (!err)
		err = collq_graph_new(&red->preludes[rank]);
	if (!err)
		err = collq_allreduce_graph(red->graphs[rank], &red->what, &needs);
	if (!err)
		err = collq_allreduce_prelude(red->preludes[rank], &red->what);
	if (needs.scratch < red->needs.scratch)
		needs.scratch = red->needs.scratch;
	red->needs = needs;
	return err;
}

static int load(struct reduction *red)
{
	const size_t bytes = count_numbers(red) * red->width;
	const struct executor_data data = {
		.bytes = {
			red->what.flags & COLLQ_ALLREDUCE_IN_PLACE ? 0 : bytes, bytes,
			red->needs.scratch,
		},
		.generations = red->needs.generations,
		.arg = red,
		.fill = fill,
		.check = check,
	};
	uint32_t i;
	int err;

	err = executor_new(&red->executor, red->what.nr_ranks);
	if (!err)
		err = executor_set_data(red->executor, &data);
	for (i = 0; i < red->what.nr_ranks && !err; i++)
		err = executor_bind(red->executor, i, red->graphs[i]);
	for (i = 0; i < red->what.nr_ranks && !err; i++) {
		err = executor_load(red->executor, i, red->graphs[i]);
		if (!err)
			err = executor_load_prelude(red->executor, i, red->preludes[i]);
	}
	return err;
}

/* To be freed even on failure. */
static int build(struct reduction *red, const struct collq_allreduce *what)
{
	uint32_t i;
	int err = 0;

	reduction_free(red);
	red->what = *what;
	red->width = what->type >= IB_COLLQ_TYPE_S64 ? 8 : 4;
	red->per_item = what->op >= IB_COLLQ_CALC_MINLOC ? 2 : 1;
	red->graphs = calloc(what->nr_ranks, sizeof(*red->graphs));
	red->preludes = calloc(what->nr_ranks, sizeof(*red->preludes));
	if (!red->graphs || !red->preludes)
		return -ENOMEM;
	for (i = 0; i < what->nr_ranks && !err; i++)
		err = build_rank(red, i);
	expect(red);
	return err ? err : load(red);
}

static struct collq_allreduce allreduce(uint32_t nr_ranks, uint32_t op, uint32_t type)
{
	return (struct collq_allreduce){
		.size = sizeof(struct collq_allreduce),
		.nr_ranks = nr_ranks,
		.count = 3,
		.op = op,
		.type = type,
		.max_message = 1 << 23,
	};
}

FIXTURE(allreduce) {
	struct reduction red;
	struct executor_report report;
	uint64_t seed;
};

FIXTURE_SETUP(allreduce)
{
}

FIXTURE_TEARDOWN(allreduce)
{
	reduction_free(&self->red);
}

static void check_one(struct __test_metadata *_metadata, FIXTURE_DATA(allreduce) * self,
		      const struct collq_allreduce *what)
{
	ASSERT_EQ(0, build(&self->red, what));
	executor_run_early(self->red.executor, RUNS, self->seed % what->nr_ranks,
			   &self->report);
	if (executor_is_clean(&self->report))
		executor_run_random(self->red.executor, RUNS, ++self->seed, &self->report);
	ASSERT_TRUE(executor_is_clean(&self->report))
		TH_LOG("%u ranks, %u numbers, operation %u, type %u, flags %u, seed %llu",
		       what->nr_ranks, (uint32_t)what->count, what->op, what->type, what->flags,
		       (unsigned long long)self->seed);
}

/* Each number of ranks; all else changes with it. */
TEST_F(allreduce, every_size)
{
	struct collq_allreduce what;
	uint32_t size, op, nr = 0;

	for (size = 1; size <= MAX_SIZE; size++) {
		for (op = IB_COLLQ_CALC_ADD; op <= IB_COLLQ_CALC_MAXLOC; op++, nr++) {
			what = allreduce(size, op, 1 + nr / 3 % 4);
			what.flags = nr / 5 % 2 ? COLLQ_ALLREDUCE_IN_PLACE : 0;
			what.count = nr % (MOST_COUNT + 1);
			what.max_message = nr / 7 % 2 ? 16 + nr % 9 : 1 << 20;
			check_one(_metadata, self, &what);
		}
	}
}

TEST_F(allreduce, every_operation)
{
	struct collq_allreduce what;
	uint32_t size, op, type;

	for (size = 1; size < 10; size++) {
		for (op = IB_COLLQ_CALC_ADD; op <= IB_COLLQ_CALC_MAXLOC; op++) {
			for (type = IB_COLLQ_TYPE_S32; type <= IB_COLLQ_TYPE_U64; type++) {
				what = allreduce(size, op, type);
				check_one(_metadata, self, &what);
				what.flags = COLLQ_ALLREDUCE_IN_PLACE;
				check_one(_metadata, self, &what);
			}
		}
	}
}

/* Recursive doubling among a power of two; two messages for each rank beyond. */
TEST_F(allreduce, comes_to_what_it_promises)
{
	struct collq_allreduce what;
	uint32_t size, power, rounds;

	for (size = 2; size <= MAX_SIZE; size++) {
		for (power = 1, rounds = 0; power <= size / 2; power *= 2)
			rounds++;
		what = allreduce(size, IB_COLLQ_CALC_ADD, IB_COLLQ_TYPE_U64);
		check_one(_metadata, self, &what);
		EXPECT_EQ(power * rounds + 2 * (size - power), self->report.messages[0]);
		EXPECT_EQ(size * what.count * 8, self->report.copied[0]);
		EXPECT_EQ(0, self->report.sent[0]);
		EXPECT_EQ(2, self->red.needs.generations);
		EXPECT_EQ(0, self->red.needs.own_bytes);
	}
}

/* Load the graph of @rank without @node. */
static int load_without(struct reduction *red, uint32_t rank, int node)
{
	struct collq_graph *copy;
	int err;

	err = collq_graph_copy(red->graphs[rank], &copy);
	if (err)
		return err;
	err = collq_graph_remove(copy, node);
	if (!err)
		err = executor_load(red->executor, rank, copy);
	collq_graph_free(copy);
	return err;
}

/* No task can be left out but waits for sends that the result implies. */
TEST_F(allreduce, notices_missing_tasks)
{
	struct collq_graph_node_info info = { .size = sizeof(info) };
	struct collq_allreduce what;
	uint32_t size, rank, node, i;
	struct collq_graph *graph;

	for (size = 2; size <= 7; size++) {
		what = allreduce(size, IB_COLLQ_CALC_ADD, IB_COLLQ_TYPE_S64);
		check_one(_metadata, self, &what);
		for (rank = 0; rank < size; rank++) {
			graph = self->red.graphs[rank];
			for (node = 0; node < collq_graph_nr_nodes(graph); node++) {
				ASSERT_EQ(0, collq_graph_node(graph, node, &info));
				if (info.source == IB_COLLQ_SOURCE_SENDS)
					continue;
				ASSERT_EQ(0, load_without(&self->red, rank, node));
				for (i = 0; i < 500; i++) {
					executor_run_random(self->red.executor, RUNS, i,
							    &self->report);
					self->report.leftover = 0;
					if (!executor_is_clean(&self->report))
						break;
				}
				EXPECT_LT(i, 500)
					TH_LOG("%u ranks, rank %u without node %u", size, rank,
					       node);
			}
			ASSERT_EQ(0, executor_load(self->red.executor, rank, graph));
		}
	}
}

static int build_graphs(const struct collq_allreduce *what, struct collq_graph **graph,
			struct collq_graph **prelude)
{
	struct collq_needs needs = { .size = sizeof(needs) };
	int err;

	err = collq_graph_new(graph);
	if (!err)
		err = collq_graph_new(prelude);
	if (!err)
		err = collq_allreduce_graph(*graph, what, &needs);
	return err ? err : collq_allreduce_prelude(*prelude, what);
}

/* Wherever memory runs out: an error, and nothing is left behind. */
TEST(memory_runs_out_anywhere)
{
	struct collq_allreduce what = allreduce(65, IB_COLLQ_CALC_ADD, IB_COLLQ_TYPE_S32);
	const long before = alloc_wrap_live();
	uint32_t nr_failed = 0;
	bool failed;
	int err;

	what.max_message = 16;
	what.count = 9;
	do {
		struct collq_graph *graph = NULL, *prelude = NULL;

		alloc_wrap_fail_after(nr_failed++);
		err = build_graphs(&what, &graph, &prelude);
		failed = alloc_wrap_stop();
		ASSERT_EQ(failed ? -ENOMEM : 0, err);
		collq_graph_free(graph);
		collq_graph_free(prelude);
		ASSERT_EQ(before, alloc_wrap_live());
	} while (failed);
	EXPECT_LT(10, nr_failed);
}

/* Lengths of more than 32 bits */
TEST(longest_messages)
{
	struct collq_allreduce what = allreduce(2, IB_COLLQ_CALC_MAX, IB_COLLQ_TYPE_U64);
	struct collq_graph_totals totals = { .size = sizeof(totals) };
	struct collq_needs needs = { .size = sizeof(needs) };
	struct collq_graph *graph;

	what.count = 1ULL << 31;
	what.max_message = UINT64_MAX;
	ASSERT_EQ(0, collq_graph_new(&graph));
	ASSERT_EQ(0, collq_allreduce_graph(graph, &what, &needs));
	ASSERT_EQ(0, collq_graph_totals(graph, &totals));
	EXPECT_EQ(1ULL << 34, totals.send_bytes);
	EXPECT_EQ(5, totals.sends);
	EXPECT_EQ(1ULL << 34, needs.scratch);
	collq_graph_free(graph);
}

TEST(bad_arguments)
{
	const struct collq_allreduce good = allreduce(8, IB_COLLQ_CALC_ADD, IB_COLLQ_TYPE_S32);
	struct collq_allreduce bad[] = {
		good, good, good, good, good, good, good, good, good, good,
	};
	struct collq_needs needs = { .size = sizeof(needs) };
	struct collq_graph *graph;
	uint32_t i, nr = 0;

	bad[nr++].size = 3;
	bad[nr++].flags = 2;
	bad[nr++].rank = 8;
	bad[nr++].nr_ranks = 0;
	bad[nr++].count = UINT64_MAX;
	bad[nr++].op = 0;
	bad[nr++].op = IB_COLLQ_CALC_MAXLOC + 1;
	bad[nr++].type = 0;
	bad[nr++].type = IB_COLLQ_TYPE_U64 + 1;
	bad[nr++].max_message = 15;
	ASSERT_EQ(0, collq_graph_new(&graph));
	for (i = 0; i < nr; i++) {
		EXPECT_EQ(-EINVAL, collq_allreduce_graph(graph, &bad[i], &needs))
			TH_LOG("argument %u", i);
		EXPECT_EQ(-EINVAL, collq_allreduce_prelude(graph, &bad[i]));
	}
	EXPECT_EQ(0, collq_graph_nr_nodes(graph));
	EXPECT_EQ(0, collq_allreduce_graph(graph, &good, &needs));
	/* Not empty any more */
	EXPECT_EQ(-EINVAL, collq_allreduce_graph(graph, &good, &needs));
	collq_graph_free(graph);
}

TEST_HARNESS_MAIN
