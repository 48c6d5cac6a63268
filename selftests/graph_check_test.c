// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Validation of graphs: the kernel's own file, built in user space.
 *
 * Every case is a graph of two tasks: a WAIT that is fine, then the task that
 * the case is about. The world it's looked at in:
 *
 *	signal endpoint 1, message endpoint 2, counter 3; nothing else
 *	the limits below, and a table of 8 entries of 100 bytes each
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "kselftest_harness.h"

#include "graph_check.h"

#define SIGNAL_ENDPOINT		1
#define MESSAGE_ENDPOINT	2
#define COUNTER			3
#define NOBODY			4

/* Tasks as cases begin */
#define SEND_SIGNAL	.opcode = IB_COLLQ_TASK_SEND, .flags = IB_COLLQ_TASK_SIGNAL
#define SEND_MESSAGE	.opcode = IB_COLLQ_TASK_SEND, .object = MESSAGE_ENDPOINT
#define RECV_MESSAGE	.opcode = IB_COLLQ_TASK_RECV, .object = MESSAGE_ENDPOINT
#define WAIT_COUNTER	.opcode = IB_COLLQ_TASK_WAIT, .object = COUNTER

/* Why they are refused */
#define REFUSED(why, has, may)	.reason = IB_COLLQ_REFUSED_##why, .needed = (has), .limit = (may)

#define FEATURES_NOW	(IB_COLLQ_FEATURE_SIGNAL | IB_COLLQ_FEATURE_MESSAGE)
#define FEATURES_ALL	(FEATURES_NOW | IB_COLLQ_FEATURE_REGION |	\
			 IB_COLLQ_FEATURE_ZONE | IB_COLLQ_FEATURE_CALC)

static const struct collq_graph_limits limits_all = {
	.features = FEATURES_ALL,
	.max_tasks = 4,
	.max_sges = 8,
	.max_buffers = 2,
	.max_slots = 16,
	.max_message = 250,
};

static int find_endpoint(void *data, __u32 id, struct collq_graph_endpoint *ep)
{
	static const struct collq_graph_endpoint endpoints[] = {
		[SIGNAL_ENDPOINT] = {
			.kind = IB_COLLQ_ENDPOINT_SIGNAL,
			.max_send_sge = 2,
		},
		[MESSAGE_ENDPOINT] = {
			.kind = IB_COLLQ_ENDPOINT_MESSAGE,
			.max_send_sge = 3,
			.max_recv_sge = 1,
		},
	};

	(void)data;
	if (id != SIGNAL_ENDPOINT && id != MESSAGE_ENDPOINT)
		return -ENOENT;
	*ep = endpoints[id];
	return 0;
}

static int find_counter(void *data, __u32 id)
{
	(void)data;
	return id == COUNTER ? 0 : -ENOENT;
}

static const struct collq_graph_lookup lookup = {
	.endpoint = find_endpoint,
	.counter = find_counter,
};

/* The task of a case as number 1 of a graph. */
static int check_task_of(const struct collq_graph_limits *limits,
			 const struct ib_collq_task *task, struct collq_refusal *refusal)
{
	const struct ib_collq_task tasks[] = {
		{ .opcode = IB_COLLQ_TASK_WAIT, .object = COUNTER, .count = 1 },
		*task,
	};
	bool data = limits->features & IB_COLLQ_FEATURE_REGION;
	struct ib_collq_sge sges[8];
	int i;

	for (i = 0; i < 8; i++)
		sges[i] = (struct ib_collq_sge) { .buffer = i % 2, .length = 100 };
	return collq_graph_check(limits, &lookup, tasks, 2, sges, data ? 8 : 0,
				 data ? 2 : 0, refusal);
}

FIXTURE(accepted) {
};

FIXTURE_VARIANT(accepted) {
	struct ib_collq_task task;
};

FIXTURE_VARIANT_ADD(accepted, send_signal) {
	.task = {
		SEND_SIGNAL, .object = SIGNAL_ENDPOINT, .label = ~0U, .signal_slot = 15,
		.signal_generation = 0xffff,
	},
};

FIXTURE_VARIANT_ADD(accepted, send_message) {
	.task = { SEND_MESSAGE },
};

FIXTURE_VARIANT_ADD(accepted, send_message_with_data) {
	.task = { SEND_MESSAGE, .sge_first = 6, .sge_count = 2 },
};

FIXTURE_VARIANT_ADD(accepted, recv) {
	.task = { RECV_MESSAGE },
};

FIXTURE_VARIANT_ADD(accepted, recv_with_data) {
	.task = { RECV_MESSAGE, .sge_first = 7, .sge_count = 1 },
};

FIXTURE_VARIANT_ADD(accepted, wait) {
	.task = { WAIT_COUNTER, .count = ~0ULL },
};

FIXTURE_VARIANT_ADD(accepted, copy_of_more_than_a_message) {
	.task = { .opcode = IB_COLLQ_TASK_COPY, .sge_count = 8, .dst_count = 8 },
};

FIXTURE_VARIANT_ADD(accepted, calc_of_numbers) {
	.task = {
		.opcode = IB_COLLQ_TASK_CALC, .sge_count = 1, .dst_count = 1,
		.calc_op = IB_COLLQ_CALC_XOR, .calc_type = IB_COLLQ_TYPE_S32,
	},
};

FIXTURE_VARIANT_ADD(accepted, calc_of_pairs) {
	.task = {
		.opcode = IB_COLLQ_TASK_CALC, .sge_count = 4, .dst_count = 4,
		.calc_op = IB_COLLQ_CALC_MAXLOC, .calc_type = IB_COLLQ_TYPE_U64,
	},
};

FIXTURE_VARIANT_ADD(accepted, copy) {
	.task = {
		.opcode = IB_COLLQ_TASK_COPY, .sge_first = 1, .sge_count = 2,
		.dst_first = 5, .dst_count = 2,
	},
};

FIXTURE_VARIANT_ADD(accepted, calc) {
	.task = {
		.opcode = IB_COLLQ_TASK_CALC, .sge_count = 2, .dst_first = 2,
		.dst_count = 2, .calc_op = IB_COLLQ_CALC_XOR,
		.calc_type = IB_COLLQ_TYPE_U64,
	},
};

FIXTURE_SETUP(accepted)
{
}

FIXTURE_TEARDOWN(accepted)
{
}

TEST_F(accepted, task)
{
	struct collq_refusal refusal = {};

	ASSERT_EQ(0, check_task_of(&limits_all, &variant->task, &refusal));
	ASSERT_EQ(IB_COLLQ_NO_TASK, refusal.task);
	ASSERT_EQ(0, refusal.reason);
}

FIXTURE(refused) {
};

/* The error is -EINVAL if not said otherwise. */
FIXTURE_VARIANT(refused) {
	struct ib_collq_task task;
	__u64 missing_features;
	int err;
	__u32 reason;
	__u64 needed;
	__u64 limit;
};

FIXTURE_VARIANT_ADD(refused, opcode_0) {
	.task = { .object = COUNTER },
	REFUSED(OPCODE, 0, IB_COLLQ_TASK_CALC),
};

FIXTURE_VARIANT_ADD(refused, opcode_unknown) {
	.task = { .opcode = IB_COLLQ_TASK_CALC + 1 },
	REFUSED(OPCODE, IB_COLLQ_TASK_CALC + 1, IB_COLLQ_TASK_CALC),
};

FIXTURE_VARIANT_ADD(refused, flags_unknown) {
	.task = { .opcode = IB_COLLQ_TASK_SEND, .object = SIGNAL_ENDPOINT, .flags = 3 },
	.err = -EOPNOTSUPP,
	REFUSED(FLAGS, 3, IB_COLLQ_TASK_SIGNAL),
};

FIXTURE_VARIANT_ADD(refused, send_reserved) {
	.task = { SEND_MESSAGE, .__reserved = 1 },
	REFUSED(RESERVED, 1, 0),
};

FIXTURE_VARIANT_ADD(refused, send_count) {
	.task = { SEND_MESSAGE, .count = 2 },
	REFUSED(RESERVED, 2, 0),
};

FIXTURE_VARIANT_ADD(refused, send_signal_slot) {
	.task = { SEND_MESSAGE, .signal_slot = 4 },
	REFUSED(RESERVED, 4, 0),
};

FIXTURE_VARIANT_ADD(refused, send_signal_generation) {
	.task = { SEND_MESSAGE, .signal_generation = 8 },
	REFUSED(RESERVED, 8, 0),
};

FIXTURE_VARIANT_ADD(refused, send_zone) {
	.task = { SEND_MESSAGE, .zone = 16 },
	REFUSED(RESERVED, 16, 0),
};

FIXTURE_VARIANT_ADD(refused, send_zone_offset) {
	.task = { SEND_MESSAGE, .zone_offset = 1ULL << 40 },
	REFUSED(RESERVED, 1ULL << 40, 0),
};

FIXTURE_VARIANT_ADD(refused, send_dst_first) {
	.task = { SEND_MESSAGE, .dst_first = 32 },
	REFUSED(RESERVED, 32, 0),
};

FIXTURE_VARIANT_ADD(refused, send_dst_count) {
	.task = { SEND_MESSAGE, .dst_count = 64 },
	REFUSED(RESERVED, 64, 0),
};

FIXTURE_VARIANT_ADD(refused, send_calc_op) {
	.task = { SEND_MESSAGE, .calc_op = 1 },
	REFUSED(RESERVED, 1, 0),
};

FIXTURE_VARIANT_ADD(refused, send_calc_type) {
	.task = { SEND_MESSAGE, .calc_type = 2 },
	REFUSED(RESERVED, 2, 0),
};

FIXTURE_VARIANT_ADD(refused, recv_count) {
	.task = { RECV_MESSAGE, .count = 2 },
	REFUSED(RESERVED, 2, 0),
};

FIXTURE_VARIANT_ADD(refused, wait_reserved) {
	.task = { WAIT_COUNTER, .count = 1, .__reserved = 1 },
	REFUSED(RESERVED, 1, 0),
};

FIXTURE_VARIANT_ADD(refused, wait_signal_slot) {
	.task = { WAIT_COUNTER, .count = 1, .signal_slot = 4 },
	REFUSED(RESERVED, 4, 0),
};

FIXTURE_VARIANT_ADD(refused, wait_signal_generation) {
	.task = { WAIT_COUNTER, .count = 1, .signal_generation = 8 },
	REFUSED(RESERVED, 8, 0),
};

FIXTURE_VARIANT_ADD(refused, wait_zone) {
	.task = { WAIT_COUNTER, .count = 1, .zone = 16 },
	REFUSED(RESERVED, 16, 0),
};

FIXTURE_VARIANT_ADD(refused, wait_zone_offset) {
	.task = { WAIT_COUNTER, .count = 1, .zone_offset = 1ULL << 40 },
	REFUSED(RESERVED, 1ULL << 40, 0),
};

FIXTURE_VARIANT_ADD(refused, wait_dst_first) {
	.task = { WAIT_COUNTER, .count = 1, .dst_first = 32 },
	REFUSED(RESERVED, 32, 0),
};

FIXTURE_VARIANT_ADD(refused, wait_dst_count) {
	.task = { WAIT_COUNTER, .count = 1, .dst_count = 64 },
	REFUSED(RESERVED, 64, 0),
};

FIXTURE_VARIANT_ADD(refused, wait_calc_op) {
	.task = { WAIT_COUNTER, .count = 1, .calc_op = 1 },
	REFUSED(RESERVED, 1, 0),
};

FIXTURE_VARIANT_ADD(refused, wait_calc_type) {
	.task = { WAIT_COUNTER, .count = 1, .calc_type = 2 },
	REFUSED(RESERVED, 2, 0),
};

FIXTURE_VARIANT_ADD(refused, wait_sge_first) {
	.task = { WAIT_COUNTER, .count = 1, .sge_first = 3 },
	REFUSED(RESERVED, 3, 0),
};

FIXTURE_VARIANT_ADD(refused, wait_sge_count) {
	.task = { WAIT_COUNTER, .count = 1, .sge_count = 5 },
	REFUSED(RESERVED, 5, 0),
};

FIXTURE_VARIANT_ADD(refused, copy_object) {
	.task = { .opcode = IB_COLLQ_TASK_COPY, .object = SIGNAL_ENDPOINT },
	REFUSED(RESERVED, SIGNAL_ENDPOINT, 0),
};

FIXTURE_VARIANT_ADD(refused, copy_calc_op) {
	.task = { .opcode = IB_COLLQ_TASK_COPY, .calc_op = IB_COLLQ_CALC_MAX },
	REFUSED(RESERVED, IB_COLLQ_CALC_MAX, 0),
};

FIXTURE_VARIANT_ADD(refused, send_object) {
	.task = { SEND_SIGNAL, .object = NOBODY },
	.err = -ENOENT,
	REFUSED(OBJECT, NOBODY, 0),
};

FIXTURE_VARIANT_ADD(refused, recv_object) {
	.task = { .opcode = IB_COLLQ_TASK_RECV, .object = NOBODY },
	.err = -ENOENT,
	REFUSED(OBJECT, NOBODY, 0),
};

FIXTURE_VARIANT_ADD(refused, wait_object) {
	.task = { .opcode = IB_COLLQ_TASK_WAIT, .object = NOBODY, .count = 1 },
	.err = -ENOENT,
	REFUSED(OBJECT, NOBODY, 0),
};

FIXTURE_VARIANT_ADD(refused, send_object_is_counter) {
	.task = { SEND_SIGNAL, .object = COUNTER },
	.err = -ENOENT,
	REFUSED(OBJECT, COUNTER, 0),
};

FIXTURE_VARIANT_ADD(refused, wait_object_is_endpoint) {
	.task = { .opcode = IB_COLLQ_TASK_WAIT, .object = SIGNAL_ENDPOINT, .count = 1 },
	.err = -ENOENT,
	REFUSED(OBJECT, SIGNAL_ENDPOINT, 0),
};

FIXTURE_VARIANT_ADD(refused, recv_on_signal_endpoint) {
	.task = { .opcode = IB_COLLQ_TASK_RECV, .object = SIGNAL_ENDPOINT },
	REFUSED(KIND, IB_COLLQ_ENDPOINT_SIGNAL, IB_COLLQ_ENDPOINT_MESSAGE),
};

FIXTURE_VARIANT_ADD(refused, send_data_on_signal_endpoint) {
	.task = { SEND_SIGNAL, .object = SIGNAL_ENDPOINT, .sge_count = 1 },
	REFUSED(KIND, IB_COLLQ_ENDPOINT_SIGNAL, IB_COLLQ_ENDPOINT_MESSAGE),
};

FIXTURE_VARIANT_ADD(refused, wait_count_0) {
	.task = { WAIT_COUNTER },
	REFUSED(COUNT, 0, 1),
};

FIXTURE_VARIANT_ADD(refused, send_without_signal) {
	.task = { .opcode = IB_COLLQ_TASK_SEND, .object = SIGNAL_ENDPOINT },
	REFUSED(SIGNAL, 0, IB_COLLQ_TASK_SIGNAL),
};

FIXTURE_VARIANT_ADD(refused, message_with_signal) {
	.task = { SEND_MESSAGE, .flags = IB_COLLQ_TASK_SIGNAL },
	REFUSED(SIGNAL, IB_COLLQ_TASK_SIGNAL, 0),
};

FIXTURE_VARIANT_ADD(refused, recv_with_signal) {
	.task = { RECV_MESSAGE, .flags = IB_COLLQ_TASK_SIGNAL },
	REFUSED(SIGNAL, IB_COLLQ_TASK_SIGNAL, 0),
};

FIXTURE_VARIANT_ADD(refused, wait_with_signal) {
	.task = { WAIT_COUNTER, .count = 1, .flags = IB_COLLQ_TASK_SIGNAL },
	REFUSED(SIGNAL, IB_COLLQ_TASK_SIGNAL, 0),
};

FIXTURE_VARIANT_ADD(refused, copy_with_signal) {
	.task = { .opcode = IB_COLLQ_TASK_COPY, .flags = IB_COLLQ_TASK_SIGNAL },
	REFUSED(SIGNAL, IB_COLLQ_TASK_SIGNAL, 0),
};

FIXTURE_VARIANT_ADD(refused, send_signal_slot_too_high) {
	.task = { SEND_SIGNAL, .object = SIGNAL_ENDPOINT, .signal_slot = 16 },
	REFUSED(SLOT, 16, 15),
};

FIXTURE_VARIANT_ADD(refused, sge_first_beyond) {
	.task = { SEND_MESSAGE, .sge_first = 9 },
	REFUSED(SGE_RANGE, 9, 8),
};

FIXTURE_VARIANT_ADD(refused, sge_count_beyond) {
	.task = { SEND_MESSAGE, .sge_first = 7, .sge_count = 2 },
	REFUSED(SGE_RANGE, 9, 8),
};

FIXTURE_VARIANT_ADD(refused, sge_range_wraps) {
	.task = { SEND_MESSAGE, .sge_first = 2, .sge_count = 0xffffffff },
	REFUSED(SGE_RANGE, 0x100000001ULL, 8),
};

FIXTURE_VARIANT_ADD(refused, dst_range_beyond) {
	.task = { .opcode = IB_COLLQ_TASK_COPY, .dst_first = 8, .dst_count = 1 },
	REFUSED(SGE_RANGE, 9, 8),
};

FIXTURE_VARIANT_ADD(refused, send_sge_count) {
	.task = { SEND_MESSAGE, .sge_count = 4 },
	REFUSED(SGE_COUNT, 4, 3),
};

FIXTURE_VARIANT_ADD(refused, recv_sge_count) {
	.task = { RECV_MESSAGE, .sge_count = 2 },
	REFUSED(SGE_COUNT, 2, 1),
};

FIXTURE_VARIANT_ADD(refused, length_of_send) {
	.task = { SEND_MESSAGE, .sge_count = 3 },
	REFUSED(LENGTH, 300, 250),
};

FIXTURE_VARIANT_ADD(refused, copy_of_less) {
	.task = { .opcode = IB_COLLQ_TASK_COPY, .sge_count = 1, .dst_count = 2 },
	REFUSED(LENGTH, 100, 200),
};

FIXTURE_VARIANT_ADD(refused, copy_of_more) {
	.task = { .opcode = IB_COLLQ_TASK_COPY, .sge_count = 3, .dst_count = 2 },
	REFUSED(LENGTH, 300, 200),
};

FIXTURE_VARIANT_ADD(refused, calc_of_half_a_pair) {
	.task = {
		.opcode = IB_COLLQ_TASK_CALC, .sge_count = 1, .dst_count = 1,
		.calc_op = IB_COLLQ_CALC_MINLOC, .calc_type = IB_COLLQ_TYPE_S32,
	},
	REFUSED(LENGTH, 100, 96),
};

FIXTURE_VARIANT_ADD(refused, calc_op_0) {
	.task = { .opcode = IB_COLLQ_TASK_CALC, .calc_type = IB_COLLQ_TYPE_U64 },
	REFUSED(CALC, 0, IB_COLLQ_CALC_MAXLOC),
};

FIXTURE_VARIANT_ADD(refused, calc_op_unknown) {
	.task = { .opcode = IB_COLLQ_TASK_CALC, .calc_op = 9, .calc_type = IB_COLLQ_TYPE_U64 },
	REFUSED(CALC, 9, IB_COLLQ_CALC_MAXLOC),
};

FIXTURE_VARIANT_ADD(refused, calc_type_0) {
	.task = { .opcode = IB_COLLQ_TASK_CALC, .calc_op = IB_COLLQ_CALC_ADD },
	REFUSED(CALC, 0, IB_COLLQ_TYPE_U64),
};

FIXTURE_VARIANT_ADD(refused, calc_type_unknown) {
	.task = { .opcode = IB_COLLQ_TASK_CALC, .calc_op = IB_COLLQ_CALC_ADD, .calc_type = 5 },
	REFUSED(CALC, 5, IB_COLLQ_TYPE_U64),
};

FIXTURE_VARIANT_ADD(refused, data_without_regions) {
	.task = { SEND_MESSAGE, .sge_count = 1 },
	.missing_features = IB_COLLQ_FEATURE_REGION,
	.err = -EOPNOTSUPP,
	REFUSED(UNSUPPORTED, IB_COLLQ_FEATURE_REGION, FEATURES_ALL & ~IB_COLLQ_FEATURE_REGION),
};

FIXTURE_VARIANT_ADD(refused, copy_without_calc) {
	.task = { .opcode = IB_COLLQ_TASK_COPY },
	.missing_features = IB_COLLQ_FEATURE_CALC,
	.err = -EOPNOTSUPP,
	REFUSED(UNSUPPORTED, IB_COLLQ_FEATURE_CALC, FEATURES_ALL & ~IB_COLLQ_FEATURE_CALC),
};

FIXTURE_VARIANT_ADD(refused, calc_without_calc) {
	.task = { .opcode = IB_COLLQ_TASK_CALC },
	.missing_features = IB_COLLQ_FEATURE_CALC,
	.err = -EOPNOTSUPP,
	REFUSED(UNSUPPORTED, IB_COLLQ_FEATURE_CALC, FEATURES_ALL & ~IB_COLLQ_FEATURE_CALC),
};

FIXTURE_SETUP(refused)
{
}

FIXTURE_TEARDOWN(refused)
{
}

TEST_F(refused, task)
{
	struct collq_graph_limits limits = limits_all;
	struct collq_refusal refusal = {};

	limits.features &= ~variant->missing_features;
	ASSERT_EQ(variant->err ? variant->err : -EINVAL,
		  check_task_of(&limits, &variant->task, &refusal));
	EXPECT_EQ(1, refusal.task);
	EXPECT_EQ(variant->reason, refusal.reason);
	EXPECT_EQ(variant->needed, refusal.needed);
	EXPECT_EQ(variant->limit, refusal.limit);
}

FIXTURE(size) {
};

/* Numbers of tasks, scatter/gather entries and buffer slots. */
FIXTURE_VARIANT(size) {
	__u32 tasks;
	__u32 sges;
	__u32 buffers;
	__u64 features;
	int err;
	__u32 reason;
	__u64 needed;
	__u64 limit;
};

FIXTURE_VARIANT_ADD(size, largest) {
	.tasks = 4, .sges = 8, .buffers = 2, .features = FEATURES_ALL,
};

FIXTURE_VARIANT_ADD(size, largest_without_data) {
	.tasks = 4, .features = FEATURES_NOW,
};

FIXTURE_VARIANT_ADD(size, no_task) {
	.features = FEATURES_ALL,
	.err = -EINVAL,
	REFUSED(TASKS, 0, 4),
};

FIXTURE_VARIANT_ADD(size, tasks) {
	.tasks = 5, .features = FEATURES_ALL,
	.err = -EINVAL,
	REFUSED(TASKS, 5, 4),
};

FIXTURE_VARIANT_ADD(size, sges) {
	.tasks = 1, .sges = 9, .buffers = 1, .features = FEATURES_ALL,
	.err = -EINVAL,
	REFUSED(SGES, 9, 8),
};

FIXTURE_VARIANT_ADD(size, buffers) {
	.tasks = 1, .buffers = 3, .features = FEATURES_ALL,
	.err = -EINVAL,
	REFUSED(BUFFERS, 3, 2),
};

FIXTURE_VARIANT_ADD(size, sges_without_regions) {
	.tasks = 1, .sges = 1, .features = FEATURES_NOW,
	.err = -EOPNOTSUPP,
	REFUSED(UNSUPPORTED, IB_COLLQ_FEATURE_REGION, FEATURES_NOW),
};

FIXTURE_VARIANT_ADD(size, buffers_without_regions) {
	.tasks = 1, .buffers = 1, .features = FEATURES_NOW,
	.err = -EOPNOTSUPP,
	REFUSED(UNSUPPORTED, IB_COLLQ_FEATURE_REGION, FEATURES_NOW),
};

FIXTURE_SETUP(size)
{
}

FIXTURE_TEARDOWN(size)
{
}

/* Before anything is looked at: what is too large may not even be there. */
TEST_F(size, checked)
{
	struct collq_graph_limits limits = limits_all;
	struct collq_refusal refusal = {};

	limits.features = variant->features;
	ASSERT_EQ(variant->err, collq_graph_check_size(&limits, variant->tasks, variant->sges,
						       variant->buffers, &refusal));
	EXPECT_EQ(IB_COLLQ_NO_TASK, refusal.task);
	EXPECT_EQ(variant->reason, refusal.reason);
	EXPECT_EQ(variant->needed, refusal.needed);
	EXPECT_EQ(variant->limit, refusal.limit);
	if (variant->err)
		ASSERT_EQ(variant->err, collq_graph_check(&limits, &lookup, NULL, variant->tasks,
							  NULL, variant->sges, variant->buffers,
							  &refusal));
}

/* The scatter/gather table is checked as a whole, whichever task uses it. */
TEST(buffer_out_of_range)
{
	const struct ib_collq_task task = { WAIT_COUNTER, .count = 1 };
	const struct ib_collq_sge sges[] = { { .buffer = 1 }, { .buffer = 2 } };
	struct collq_refusal refusal = {};

	ASSERT_EQ(-EINVAL,
		  collq_graph_check(&limits_all, &lookup, &task, 1, sges, 2, 2, &refusal));
	EXPECT_EQ(IB_COLLQ_NO_TASK, refusal.task);
	EXPECT_EQ(IB_COLLQ_REFUSED_BUFFER, refusal.reason);
	EXPECT_EQ(2, refusal.needed);
	EXPECT_EQ(2, refusal.limit);
}

TEST(offset_wraps)
{
	const struct ib_collq_task task = { WAIT_COUNTER, .count = 1 };
	struct ib_collq_sge sge = { .offset = ~0ULL - 4, .length = 4 };
	struct collq_refusal refusal = {};

	ASSERT_EQ(0, collq_graph_check(&limits_all, &lookup, &task, 1, &sge, 1, 1, &refusal));
	sge.length = 5;
	ASSERT_EQ(-EINVAL, collq_graph_check(&limits_all, &lookup, &task, 1, &sge, 1, 1, &refusal));
	EXPECT_EQ(IB_COLLQ_NO_TASK, refusal.task);
	EXPECT_EQ(IB_COLLQ_REFUSED_LENGTH, refusal.reason);
	EXPECT_EQ(5, refusal.needed);
	EXPECT_EQ(4, refusal.limit);
}

TEST(first_fault_is_told)
{
	const struct ib_collq_task tasks[] = {
		{ SEND_MESSAGE },
		{ RECV_MESSAGE },
		{ WAIT_COUNTER },
		{ .opcode = 0 },
	};
	struct collq_refusal refusal = {};

	ASSERT_EQ(-EINVAL,
		  collq_graph_check(&limits_all, &lookup, tasks, 4, NULL, 0, 0, &refusal));
	EXPECT_EQ(2, refusal.task);
	EXPECT_EQ(IB_COLLQ_REFUSED_COUNT, refusal.reason);
}

TEST_HARNESS_MAIN
