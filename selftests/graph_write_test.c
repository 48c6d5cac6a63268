// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Validation of WRITE: the kernel's own file, as in graph_check_test.c. There, the
 * world is two signal endpoints and a message endpoint, and a target on each of the
 * former.
 */
#include <errno.h>
#include <stddef.h>

#include "kselftest_harness.h"

#include "graph_check.h"

#define ENDPOINT		1	/* sends two entries at most */
#define MESSAGE_ENDPOINT	2
#define OTHER_ENDPOINT		3	/* sends no data */
#define TARGET			4	/* of ENDPOINT */
#define OTHER_TARGET		5	/* of OTHER_ENDPOINT */
#define NOBODY			6
#define ZONE_LENGTH		250

/* Of each entry of the table */
#define LENGTH			100

#define FEATURES	(IB_COLLQ_FEATURE_SIGNAL | IB_COLLQ_FEATURE_MESSAGE |	\
			 IB_COLLQ_FEATURE_REGION | IB_COLLQ_FEATURE_ZONE)

static int find_endpoint(void *data, __u32 id, struct collq_graph_endpoint *ep)
{
	(void)data;
	if (!id || id > OTHER_ENDPOINT)
		return -ENOENT;
	*ep = (struct collq_graph_endpoint) {
		.kind = id == MESSAGE_ENDPOINT ? IB_COLLQ_ENDPOINT_MESSAGE :
						 IB_COLLQ_ENDPOINT_SIGNAL,
		.max_send_sge = id == OTHER_ENDPOINT ? 0 : 2,
	};
	return 0;
}

static int find_target(void *data, __u32 id, struct collq_graph_target *target)
{
	(void)data;
	if (id != TARGET && id != OTHER_TARGET)
		return -ENOENT;
	target->endpoint = id == TARGET ? ENDPOINT : OTHER_ENDPOINT;
	target->length = ZONE_LENGTH;
	return 0;
}

static int check(const struct ib_collq_task *task, __u64 missing, struct collq_refusal *refusal)
{
	const struct collq_graph_limits limits = {
		.features = FEATURES & ~missing,
		.max_tasks = 1, .max_sges = 4, .max_buffers = 1, .max_slots = 16,
		.max_message = 150,
	};
	const struct collq_graph_lookup lookup = {
		.endpoint = find_endpoint, .target = find_target,
	};
	struct ib_collq_sge sges[4] = {
		{ .length = LENGTH }, { .length = LENGTH }, { .length = 0 }, { .length = 0 },
	};

	return collq_graph_check(&limits, &lookup, task, 1, sges, 4, 1, refusal);
}

#define WRITE_ON(endpoint)	\
	.opcode = IB_COLLQ_TASK_WRITE, .flags = IB_COLLQ_TASK_SIGNAL, .object = (endpoint)
#define WRITE	WRITE_ON(ENDPOINT)

FIXTURE(accepted) {
};

FIXTURE_VARIANT(accepted) {
	struct ib_collq_task task;
};

FIXTURE_VARIANT_ADD(accepted, up_to_the_end) {
	.task = {
		WRITE, .signal_slot = 15, .signal_generation = 0xffff, .zone = TARGET,
		.zone_offset = ZONE_LENGTH - LENGTH, .sge_count = 1, .label = ~0U,
	},
};

FIXTURE_VARIANT_ADD(accepted, nothing_at_the_end) {
	.task = { WRITE, .zone = TARGET, .zone_offset = ZONE_LENGTH },
};

FIXTURE_VARIANT_ADD(accepted, empty_entries) {
	.task = {
		WRITE, .zone = TARGET, .zone_offset = ZONE_LENGTH, .sge_first = 2, .sge_count = 2,
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

	EXPECT_EQ(0, check(&variant->task, 0, &refusal));
	EXPECT_EQ(0, refusal.reason);
}

FIXTURE(refused) {
};

FIXTURE_VARIANT(refused) {
	struct ib_collq_task task;
	__u64 missing;			/* features */
	int err;			/* -EINVAL if not said */
	__u32 reason;
	__u64 needed;
	__u64 limit;
};

#define REFUSED(why, has, may)	.reason = IB_COLLQ_REFUSED_##why, .needed = (has), .limit = (may)

FIXTURE_VARIANT_ADD(refused, feature) {
	.task = { WRITE, .zone = TARGET },
	.missing = IB_COLLQ_FEATURE_ZONE,
	.err = -EOPNOTSUPP,
	REFUSED(UNSUPPORTED, IB_COLLQ_FEATURE_ZONE, FEATURES & ~IB_COLLQ_FEATURE_ZONE),
};

FIXTURE_VARIANT_ADD(refused, without_signal) {
	.task = { .opcode = IB_COLLQ_TASK_WRITE, .object = ENDPOINT, .zone = TARGET },
	REFUSED(SIGNAL, 0, IB_COLLQ_TASK_SIGNAL),
};

FIXTURE_VARIANT_ADD(refused, slot) {
	.task = { WRITE, .zone = TARGET, .signal_slot = 16 },
	REFUSED(SLOT, 16, 15),
};

FIXTURE_VARIANT_ADD(refused, endpoint_of_nobody) {
	.task = { WRITE_ON(NOBODY), .zone = TARGET },
	.err = -ENOENT,
	REFUSED(OBJECT, NOBODY, 0),
};

FIXTURE_VARIANT_ADD(refused, message_endpoint) {
	.task = { WRITE_ON(MESSAGE_ENDPOINT), .zone = TARGET },
	REFUSED(KIND, IB_COLLQ_ENDPOINT_MESSAGE, IB_COLLQ_ENDPOINT_SIGNAL),
};

FIXTURE_VARIANT_ADD(refused, without_target) {
	.task = { WRITE },
	.err = -ENOENT,
	REFUSED(OBJECT, 0, 0),
};

FIXTURE_VARIANT_ADD(refused, target_is_endpoint) {
	.task = { WRITE, .zone = ENDPOINT },
	.err = -ENOENT,
	REFUSED(OBJECT, ENDPOINT, 0),
};

FIXTURE_VARIANT_ADD(refused, target_of_another) {
	.task = { WRITE, .zone = OTHER_TARGET },
	REFUSED(ZONE, OTHER_ENDPOINT, ENDPOINT),
};

FIXTURE_VARIANT_ADD(refused, entries) {
	.task = { WRITE, .zone = TARGET, .sge_count = 3 },
	REFUSED(SGE_COUNT, 3, 2),
};

FIXTURE_VARIANT_ADD(refused, entries_where_none_are_sent) {
	.task = { WRITE_ON(OTHER_ENDPOINT), .zone = OTHER_TARGET, .sge_count = 1 },
	REFUSED(SGE_COUNT, 1, 0),
};

FIXTURE_VARIANT_ADD(refused, longer_than_a_message) {
	.task = { WRITE, .zone = TARGET, .sge_count = 2 },
	REFUSED(LENGTH, 200, 150),
};

FIXTURE_VARIANT_ADD(refused, one_byte_too_many) {
	.task = {
		WRITE, .zone = TARGET, .zone_offset = ZONE_LENGTH - LENGTH + 1, .sge_count = 1,
	},
	REFUSED(LENGTH, LENGTH, LENGTH - 1),
};

FIXTURE_VARIANT_ADD(refused, nothing_beyond_the_end) {
	.task = { WRITE, .zone = TARGET, .zone_offset = ZONE_LENGTH + 1 },
	REFUSED(LENGTH, ZONE_LENGTH + 1, ZONE_LENGTH),
};

/* Together with the length it would begin anew. */
FIXTURE_VARIANT_ADD(refused, last_offset_of_all) {
	.task = { WRITE, .zone = TARGET, .zone_offset = ~0ULL, .sge_count = 1 },
	REFUSED(LENGTH, ~0ULL, ZONE_LENGTH),
};

FIXTURE_VARIANT_ADD(refused, zone_of_send) {
	.task = {
		.opcode = IB_COLLQ_TASK_SEND, .flags = IB_COLLQ_TASK_SIGNAL, .object = ENDPOINT,
		.zone = TARGET,
	},
	REFUSED(RESERVED, TARGET, 0),
};

FIXTURE_SETUP(refused)
{
}

FIXTURE_TEARDOWN(refused)
{
}

TEST_F(refused, task)
{
	struct collq_refusal refusal = {};

	EXPECT_EQ(variant->err ?: -EINVAL, check(&variant->task, variant->missing, &refusal));
	EXPECT_EQ(0, refusal.task);
	EXPECT_EQ(variant->reason, refusal.reason);
	EXPECT_EQ(variant->needed, refusal.needed);
	EXPECT_EQ(variant->limit, refusal.limit);
}

TEST_HARNESS_MAIN
