// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a graph's lists come to, all together: the kernel's own file, as in
 * graph_check_test.c.
 */
#include <errno.h>
#include <stddef.h>

#include "kselftest_harness.h"

#include "graph_check.h"

/* Lists may share entries, but not so many that looking at all of them takes long. */
TEST(too_many_entries_in_lists)
{
	const struct collq_graph_limits limits = {
		.features = IB_COLLQ_FEATURE_REGION | IB_COLLQ_FEATURE_CALC,
		.max_tasks = 16, .max_sges = 8, .max_buffers = 1,
		.max_slots = 1, .max_message = 8,
	};
	struct ib_collq_task tasks[16];
	struct ib_collq_sge sges[8] = {};
	struct collq_refusal refusal = {};
	int i;

	for (i = 0; i < 16; i++)
		tasks[i] = (struct ib_collq_task) {
			.opcode = IB_COLLQ_TASK_COPY, .sge_count = 4, .dst_count = 4,
		};
	ASSERT_EQ(0, collq_graph_check(&limits, NULL, tasks, 16, sges, 8, 1, &refusal));
	tasks[14].dst_count = 5;
	ASSERT_EQ(-EINVAL, collq_graph_check(&limits, NULL, tasks, 16, sges, 8, 1, &refusal));
	EXPECT_EQ(15, refusal.task);
	EXPECT_EQ(IB_COLLQ_REFUSED_SGES, refusal.reason);
	EXPECT_EQ(129, refusal.needed);
	EXPECT_EQ(8 * COLLQ_LISTS_PER_TABLE, refusal.limit);
}

/* What is only read, what is written, and how far: entries that count, and no others. */
TEST(bounds)
{
	const struct ib_collq_sge sges[] = {
		{ .buffer = 0, .offset = 10, .length = 5 },
		{ .buffer = 0, .offset = 2, .length = 7 },
		{ .buffer = 1, .offset = 100, .length = 0 },
		{ .buffer = 1, .offset = 1ULL << 40, .length = ~0U },
		{ .buffer = 2, .offset = 3, .length = 9 },
		{ .buffer = 2, .offset = 50, .length = 1 },
	};
	const struct ib_collq_task tasks[] = {
		{ .opcode = IB_COLLQ_TASK_WAIT, .count = ~0ULL },
		{ .opcode = IB_COLLQ_TASK_SEND, .sge_count = 3 },
		{ .opcode = IB_COLLQ_TASK_RECV, .sge_first = 3, .sge_count = 1 },
		{ .opcode = IB_COLLQ_TASK_COPY, .sge_first = 4, .sge_count = 1,
		  .dst_first = 2, .dst_count = 1 },
	};
	struct collq_graph_buffer buffers[4] = {};

	collq_graph_bounds(tasks, 2, sges, buffers);
	EXPECT_EQ(15, buffers[0].end);
	EXPECT_EQ(0, buffers[0].written);
	EXPECT_EQ(0, buffers[1].end);
	collq_graph_bounds(tasks, 4, sges, buffers);
	EXPECT_EQ(15, buffers[0].end);
	EXPECT_EQ(0, buffers[0].written);
	EXPECT_EQ((1ULL << 40) + ~0U, buffers[1].end);
	EXPECT_EQ(1, buffers[1].written);
	EXPECT_EQ(12, buffers[2].end);
	EXPECT_EQ(0, buffers[2].written);
	EXPECT_EQ(0, buffers[3].end);
}

TEST_HARNESS_MAIN
