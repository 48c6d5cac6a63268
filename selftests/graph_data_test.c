// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Data in graphs, without a device: lists, message channels, what they are lowered to, and
 * what is refused.
 */
#include <stdbool.h>

#include <rdma/ib_collq.h>
#include <collq/collq.h>

#include "kselftest_harness.h"
#include "alloc_wrap.h"

#define ENDPOINT(i)	(10 + (i))
#define SENDS(i)	(20 + (i))
#define MESSAGES(i)	(30 + (i))

#define MOST_MESSAGES	4

FIXTURE(data) {
	struct collq_graph *graph;
	struct ib_collq_query limits;
	struct collq_graph_message_binding messages[MOST_MESSAGES];
	struct collq_graph_binding binding;
	struct ib_collq_task *tasks;
	uint32_t nr;
};

FIXTURE_SETUP(data)
{
	uint32_t i;

	ASSERT_EQ(0, collq_graph_new(&self->graph));
	self->limits = (struct ib_collq_query){
		.max_message = 1 << 20,
		.max_tasks = 100,
		.max_sges = 100,
		.max_send_sge = 3,
		.max_recv_sge = 2,
		.max_buffers = 4,
	};
	for (i = 0; i < MOST_MESSAGES; i++)
		self->messages[i] = (struct collq_graph_message_binding){
			ENDPOINT(i), SENDS(i), MESSAGES(i)
		};
	self->binding = (struct collq_graph_binding){
		.size = sizeof(self->binding),
		.limits = &self->limits,
		.messages = self->messages,
		.message_size = sizeof(self->messages[0]),
	};
}

FIXTURE_TEARDOWN(data)
{
	collq_graph_free(self->graph);
	free(self->tasks);
}

static int lower(FIXTURE_DATA(data) * self)
{
	free(self->tasks);
	self->tasks = NULL;
	self->binding.nr_messages = collq_graph_nr_messages(self->graph);
	return collq_graph_lower(self->graph, &self->binding, &self->tasks, &self->nr);
}

static const struct ib_collq_sge pieces[] = {
	{ .buffer = 0, .offset = 0, .length = 8 },
	{ .buffer = 0, .offset = 16, .length = 8 },
	{ .buffer = 3, .offset = 24, .length = 16 },
};

static const struct ib_collq_sge whole = { .buffer = 1, .offset = 1ULL << 40, .length = 32 };

TEST_F(data, channels_are_named_by_peer_and_tag)
{
	struct collq_graph_message_channel channel = { .size = sizeof(channel) };
	struct collq_graph *graph = self->graph;

	EXPECT_EQ(0, collq_graph_message(graph, 7, 1));
	EXPECT_EQ(1, collq_graph_message(graph, 7, 2));
	EXPECT_EQ(2, collq_graph_message(graph, 8, 1));
	EXPECT_EQ(1, collq_graph_message(graph, 7, 2));
	/* Those of signals are numbered apart. */
	EXPECT_EQ(0, collq_graph_out(graph, 7, 2));
	EXPECT_EQ(3, collq_graph_nr_messages(graph));

	ASSERT_LE(0, collq_graph_send_data(graph, 1, pieces, 2, 0));
	ASSERT_LE(0, collq_graph_send_data(graph, 1, pieces, 3, 0));
	ASSERT_LE(0, collq_graph_recv_data(graph, 1, &whole, 1, 0));
	ASSERT_LE(0, collq_graph_wait_sends(graph, 1, 2, 0));
	ASSERT_LE(0, collq_graph_wait_messages(graph, 1, 5, 0));
	ASSERT_EQ(0, collq_graph_message_channel(graph, 1, &channel));
	EXPECT_EQ(7, channel.peer);
	EXPECT_EQ(2, channel.tag);
	EXPECT_EQ(2, channel.sends);
	EXPECT_EQ(1, channel.recvs);
	EXPECT_EQ(3, channel.max_send_sge);
	EXPECT_EQ(1, channel.max_recv_sge);
	EXPECT_EQ(2, channel.waited_sends);
	EXPECT_EQ(5, channel.waited_messages);

	/* What is taken out isn't sent, but the peer's messages still come. */
	ASSERT_EQ(0, collq_graph_remove(graph, 0));
	ASSERT_EQ(0, collq_graph_remove(graph, 2));
	ASSERT_EQ(0, collq_graph_remove(graph, 4));
	ASSERT_EQ(0, collq_graph_message_channel(graph, 1, &channel));
	EXPECT_EQ(1, channel.sends);
	EXPECT_EQ(0, channel.recvs);
	EXPECT_EQ(5, channel.waited_messages);

	EXPECT_EQ(-EINVAL, collq_graph_message_channel(graph, 3, &channel));
	EXPECT_EQ(-EINVAL, collq_graph_message_channel(graph, -1, &channel));
}

TEST_F(data, neighbours_become_one)
{
	const struct ib_collq_sge list[] = {
		{ .buffer = 2, .offset = 100, .length = 0 },
		{ .buffer = 2, .offset = 0, .length = 4 },
		{ .buffer = 2, .offset = 4, .length = 4 },
		{ .buffer = 2, .offset = 100, .length = 0 },
		{ .buffer = 2, .offset = 8, .length = 1 },
		{ .buffer = 1, .offset = 9, .length = 1 },
		{ .buffer = 1, .offset = 9, .length = 1 },
	};
	const struct ib_collq_sge huge[] = {
		{ .buffer = 0, .offset = 0, .length = UINT32_MAX },
		{ .buffer = 0, .offset = UINT32_MAX, .length = 1 },
		{ .buffer = 0, .offset = 1ULL << 32, .length = UINT32_MAX },
	};
	struct collq_graph_node_info info = { .size = sizeof(info) };
	struct ib_collq_sge sge;

	ASSERT_EQ(0, collq_graph_message(self->graph, 1, 0));
	ASSERT_EQ(0, collq_graph_send_data(self->graph, 0, list, 7, 0));
	ASSERT_EQ(0, collq_graph_node(self->graph, 0, &info));
	EXPECT_EQ(3, info.nr_sges);
	EXPECT_EQ(11, info.bytes);
	ASSERT_EQ(0, collq_graph_sge(self->graph, 0, 0, &sge));
	EXPECT_EQ(2, sge.buffer);
	EXPECT_EQ(0, sge.offset);
	EXPECT_EQ(9, sge.length);
	ASSERT_EQ(0, collq_graph_sge(self->graph, 0, 2, &sge));
	EXPECT_EQ(9, sge.offset);
	EXPECT_EQ(-EINVAL, collq_graph_sge(self->graph, 0, 3, &sge));
	/* A number of buffers that can't be counted. */
	sge.buffer = UINT32_MAX;
	EXPECT_EQ(-EINVAL, collq_graph_send_data(self->graph, 0, &sge, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_set_sge(self->graph, 0, 2, UINT32_MAX, 0));

	/* The first one mustn't become part of the list before it. */
	ASSERT_EQ(1, collq_graph_send_data(self->graph, 0, &(struct ib_collq_sge){
		.buffer = 1, .offset = 10, .length = 1,
	}, 1, 0));
	ASSERT_EQ(0, collq_graph_node(self->graph, 1, &info));
	EXPECT_EQ(1, info.nr_sges);

	/* A length has 32 bits. */
	ASSERT_EQ(2, collq_graph_recv_data(self->graph, 0, huge, 3, 0));
	ASSERT_EQ(0, collq_graph_node(self->graph, 2, &info));
	EXPECT_EQ(2ULL * UINT32_MAX + 1, info.bytes);
	EXPECT_EQ(3, info.nr_sges);

	/* Nothing at all */
	ASSERT_EQ(3, collq_graph_send_data(self->graph, 0, list, 1, 0));
	ASSERT_EQ(0, collq_graph_node(self->graph, 3, &info));
	EXPECT_EQ(0, info.nr_sges);
	EXPECT_EQ(0, info.bytes);
}

TEST_F(data, nodes_become_tasks)
{
	struct collq_graph *graph = self->graph;
	const struct ib_collq_task expected[] = {
		{ .opcode = IB_COLLQ_TASK_SEND, .label = 1, .object = ENDPOINT(1),
		  .sge_first = 0, .sge_count = 3 },
		{ .opcode = IB_COLLQ_TASK_RECV, .label = 2, .object = ENDPOINT(0),
		  .sge_first = 3, .sge_count = 1 },
		{ .opcode = IB_COLLQ_TASK_COPY, .label = 5, .sge_first = 4, .sge_count = 3,
		  .dst_first = 7, .dst_count = 1 },
		{ .opcode = IB_COLLQ_TASK_CALC, .label = 6, .sge_first = 8, .sge_count = 1,
		  .dst_first = 9, .dst_count = 3, .calc_op = IB_COLLQ_CALC_MAX,
		  .calc_type = IB_COLLQ_TYPE_S64 },
		{ .opcode = IB_COLLQ_TASK_SEND, .label = 7, .object = ENDPOINT(0) },
		{ .opcode = IB_COLLQ_TASK_WAIT, .label = 3, .object = SENDS(1), .count = 4 },
		{ .opcode = IB_COLLQ_TASK_WAIT, .label = 4, .object = MESSAGES(0), .count = 5 },
	};
	struct collq_graph_table table = { .size = sizeof(table) };
	struct collq_graph_totals totals = { .size = sizeof(totals) };
	struct collq_graph_node_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, collq_graph_message(graph, 1, 0));
	ASSERT_EQ(1, collq_graph_message(graph, 2, 0));
	ASSERT_EQ(0, collq_graph_send_data(graph, 1, pieces, 3, 1));
	ASSERT_EQ(1, collq_graph_recv_data(graph, 0, &whole, 1, 2));
	ASSERT_EQ(2, collq_graph_wait_sends(graph, 1, 4, 3));
	ASSERT_EQ(3, collq_graph_wait_messages(graph, 0, 5, 4));
	ASSERT_EQ(4, collq_graph_copy_data(graph, pieces, 3, &whole, 1, 5));
	ASSERT_EQ(5, collq_graph_calc(graph, IB_COLLQ_CALC_MAX, IB_COLLQ_TYPE_S64, &whole, 1,
				      pieces, 3, 6));
	ASSERT_EQ(6, collq_graph_send_data(graph, 0, NULL, 0, 7));

	ASSERT_EQ(0, lower(self));
	ASSERT_EQ(7, self->nr);
	EXPECT_EQ(0, memcmp(expected, self->tasks, sizeof(expected)));
	ASSERT_EQ(0, collq_graph_table(graph, &table));
	EXPECT_EQ(12, table.nr_sges);
	EXPECT_EQ(4, table.nr_buffers);
	EXPECT_EQ(0, memcmp(table.sges, pieces, sizeof(pieces)));
	EXPECT_EQ(0, memcmp(table.sges + 8, &whole, sizeof(whole)));
	EXPECT_EQ(0, memcmp(table.sges + 9, pieces, sizeof(pieces)));

	ASSERT_EQ(0, collq_graph_node(graph, 2, &info));
	EXPECT_EQ(-1, info.channel);
	EXPECT_EQ(1, info.message);
	EXPECT_EQ(IB_COLLQ_SOURCE_SENDS, info.source);
	ASSERT_EQ(0, collq_graph_node(graph, 5, &info));
	EXPECT_EQ(-1, info.message);
	EXPECT_EQ(1, info.nr_sges);
	EXPECT_EQ(3, info.nr_dst);
	EXPECT_EQ(IB_COLLQ_CALC_MAX, info.calc_op);
	EXPECT_EQ(IB_COLLQ_TYPE_S64, info.calc_type);

	ASSERT_LE(0, collq_graph_signal(graph, collq_graph_out(graph, 1, 0), 0));
	ASSERT_EQ(0, collq_graph_totals(graph, &totals));
	EXPECT_EQ(1, totals.signals);
	EXPECT_EQ(2, totals.sends);
	EXPECT_EQ(32, totals.send_bytes);
	EXPECT_EQ(3, totals.send_sges);
	EXPECT_EQ(1, totals.recvs);
	EXPECT_EQ(1, totals.recv_sges);
	EXPECT_EQ(1, totals.copies);
	EXPECT_EQ(32, totals.copied_bytes);
	EXPECT_EQ(2, totals.waits);
}

/* A signal with data: the channel says where to, the node where in the zone. */
TEST_F(data, writes)
{
	struct collq_graph_out_binding out = {
		.endpoint = 5, .slot = 6, .generation = 7, .target = 8,
	};
	struct collq_graph_channel channel = { .size = sizeof(channel) };
	struct collq_graph_totals totals = { .size = sizeof(totals) };
	struct collq_graph *graph = self->graph;
	const struct ib_collq_task *task;
	int first, second;

	ASSERT_EQ(0, collq_graph_out(graph, 1, 2));
	EXPECT_EQ(-EINVAL, collq_graph_write(graph, 1, 0, pieces, 3, 0));
	EXPECT_EQ(-EINVAL, collq_graph_write(graph, -1, 0, pieces, 3, 0));
	EXPECT_EQ(-EINVAL, collq_graph_write(graph, 0, -31ULL, pieces, 3, 0));
	first = collq_graph_write(graph, 0, -32ULL - 1, pieces, 3, 9);
	second = collq_graph_write(graph, 0, 3, NULL, 0, 0);
	ASSERT_LE(0, first);
	ASSERT_LE(0, second);
	ASSERT_EQ(0, collq_graph_out_channel(graph, 0, &channel));
	EXPECT_EQ(2, channel.messages);
	ASSERT_EQ(0, collq_graph_totals(graph, &totals));
	EXPECT_EQ(2, totals.writes);
	EXPECT_EQ(32, totals.written_bytes);
	EXPECT_EQ(3, totals.write_sges);
	EXPECT_EQ(0, totals.signals + totals.sends);

	self->binding.out = &out;
	self->binding.out_size = sizeof(out);
	self->binding.nr_out = 1;
	self->limits.max_slots = 16;
	ASSERT_EQ(0, lower(self));
	ASSERT_EQ(2, self->nr);
	task = &self->tasks[0];
	EXPECT_EQ(IB_COLLQ_TASK_WRITE, task->opcode);
	EXPECT_EQ(IB_COLLQ_TASK_SIGNAL, task->flags);
	EXPECT_EQ(9, task->label);
	EXPECT_EQ(5, task->object);
	EXPECT_EQ(6, task->signal_slot);
	EXPECT_EQ(7, task->signal_generation);
	EXPECT_EQ(8, task->zone);
	EXPECT_EQ(-33ULL, task->zone_offset);
	EXPECT_EQ(0, task->sge_first);
	EXPECT_EQ(3, task->sge_count);
	EXPECT_EQ(3, self->tasks[1].zone_offset);
	EXPECT_EQ(0, self->tasks[1].sge_count);

	/* The list of the first is longer than can be sent; or leads nowhere. */
	self->limits.max_send_sge = 2;
	EXPECT_EQ(-ENOSPC, lower(self));
	self->limits.max_send_sge = 3;
	out.target = 0;
	EXPECT_EQ(-EINVAL, lower(self));
	ASSERT_EQ(0, collq_graph_remove(graph, first));
	ASSERT_EQ(0, collq_graph_remove(graph, second));
	ASSERT_EQ(0, collq_graph_out_channel(graph, 0, &channel));
	EXPECT_EQ(0, channel.messages);
}

TEST_F(data, messages_of_a_channel_keep_their_order)
{
	struct collq_graph *graph = self->graph;
	uint32_t i;
	static const uint32_t order[] = { 2, 4, 5, 0, 1, 3 };

	ASSERT_EQ(0, collq_graph_message(graph, 1, 0));
	ASSERT_EQ(1, collq_graph_message(graph, 1, 1));
	ASSERT_EQ(0, collq_graph_wait_messages(graph, 0, 1, 0));
	ASSERT_EQ(1, collq_graph_send_data(graph, 0, pieces, 1, 1));
	ASSERT_EQ(2, collq_graph_recv_data(graph, 0, pieces, 1, 2));
	ASSERT_EQ(3, collq_graph_send_data(graph, 0, pieces, 1, 3));
	ASSERT_EQ(4, collq_graph_send_data(graph, 1, pieces, 1, 4));
	ASSERT_EQ(5, collq_graph_recv_data(graph, 0, pieces, 1, 5));
	ASSERT_EQ(0, collq_graph_after(graph, 1, 0));
	ASSERT_EQ(0, lower(self));
	ASSERT_EQ(6, self->nr);
	for (i = 0; i < 6; i++)
		EXPECT_EQ(order[i], self->tasks[i].label);
}

TEST_F(data, what_makes_no_sense_is_refused)
{
	const struct ib_collq_sge beyond = { .offset = UINT64_MAX - 6, .length = 8 };
	const struct ib_collq_sge odd = { .length = 12 };
	struct collq_graph *graph = self->graph;
	struct ib_collq_sge sge;

	EXPECT_EQ(-EINVAL, collq_graph_send_data(graph, 0, pieces, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_recv_data(graph, 0, pieces, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_wait_sends(graph, 0, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_wait_messages(graph, 0, 1, 0));
	ASSERT_EQ(0, collq_graph_message(graph, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_send_data(graph, -1, pieces, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_recv_data(graph, 1, pieces, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_wait_sends(graph, 0, 0, 0));
	EXPECT_EQ(-EINVAL, collq_graph_wait_messages(graph, 0, 0, 0));
	EXPECT_EQ(-EINVAL, collq_graph_send_data(graph, 0, &beyond, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_recv_data(graph, 0, &beyond, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_copy_data(graph, &beyond, 1, pieces, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_copy_data(graph, pieces, 1, &beyond, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_copy_data(graph, pieces, 2, &whole, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_copy_data(graph, pieces, 0, &whole, 0, 0));

	EXPECT_EQ(-EINVAL, collq_graph_calc(graph, 0, IB_COLLQ_TYPE_S32, &odd, 1, &odd, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_calc(graph, IB_COLLQ_CALC_MAXLOC + 1, IB_COLLQ_TYPE_S32,
					    &odd, 1, &odd, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_calc(graph, IB_COLLQ_CALC_ADD, 0, &odd, 1, &odd, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_calc(graph, IB_COLLQ_CALC_ADD, IB_COLLQ_TYPE_U64 + 1,
					    &odd, 1, &odd, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_calc(graph, IB_COLLQ_CALC_ADD, IB_COLLQ_TYPE_U64,
					    &odd, 1, &odd, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_calc(graph, IB_COLLQ_CALC_MINLOC, IB_COLLQ_TYPE_S32,
					    &odd, 1, &odd, 1, 0));
	EXPECT_EQ(0, collq_graph_nr_nodes(graph));

	ASSERT_EQ(0, collq_graph_calc(graph, IB_COLLQ_CALC_ADD, IB_COLLQ_TYPE_U32, &odd, 1,
				      &odd, 1, 0));
	EXPECT_EQ(-EINVAL, collq_graph_sge(graph, 1, 0, &sge));
	EXPECT_EQ(-EINVAL, collq_graph_sge(graph, 0, 2, &sge));
	EXPECT_EQ(-EINVAL, collq_graph_set_sge(graph, 0, 2, 0, 0));
	EXPECT_EQ(-EINVAL, collq_graph_set_sge(graph, 0, 0, 0, UINT64_MAX - 10));
	ASSERT_EQ(0, collq_graph_set_sge(graph, 0, 1, 6, 7));
	ASSERT_EQ(0, collq_graph_sge(graph, 0, 1, &sge));
	EXPECT_EQ(6, sge.buffer);
	EXPECT_EQ(7, sge.offset);
	EXPECT_EQ(12, sge.length);
	ASSERT_EQ(0, collq_graph_remove(graph, 0));
	EXPECT_EQ(-ENOENT, collq_graph_sge(graph, 0, 0, &sge));
	EXPECT_EQ(-ENOENT, collq_graph_set_sge(graph, 0, 0, 0, 0));
}

TEST_F(data, binding_must_fit)
{
	struct {
		struct collq_graph_message_binding known;
		uint32_t more;
	} longer[] = { { .known = { 1, 2, 3 } }, { .known = { 4, 5, 6 } } };

	ASSERT_EQ(0, collq_graph_message(self->graph, 1, 0));
	ASSERT_EQ(1, collq_graph_message(self->graph, 2, 0));
	ASSERT_LE(0, collq_graph_wait_messages(self->graph, 1, 1, 0));
	self->binding.nr_messages = 1;
	EXPECT_EQ(-EINVAL, collq_graph_lower(self->graph, &self->binding, &self->tasks,
					     &self->nr));
	self->messages[1].messages = 0;
	EXPECT_EQ(-EINVAL, lower(self));
	self->messages[1] = (struct collq_graph_message_binding){ .messages = 5 };
	ASSERT_EQ(0, lower(self));
	EXPECT_EQ(5, self->tasks[0].object);

	self->binding.messages = &longer[0].known;
	self->binding.message_size = sizeof(longer[0]);
	ASSERT_EQ(0, lower(self));
	EXPECT_EQ(6, self->tasks[0].object);
	longer[1].more = 1;
	EXPECT_EQ(-E2BIG, lower(self));
	self->binding.message_size = 0;
	EXPECT_EQ(-EINVAL, lower(self));
}

TEST_F(data, limits_are_kept)
{
	struct collq_graph *graph = self->graph;

	ASSERT_EQ(0, collq_graph_message(graph, 1, 0));
	ASSERT_LE(0, collq_graph_send_data(graph, 0, pieces, 3, 0));
	ASSERT_LE(0, collq_graph_recv_data(graph, 0, pieces, 2, 0));
	ASSERT_LE(0, collq_graph_copy_data(graph, pieces, 3, &whole, 1, 0));
	ASSERT_EQ(0, lower(self));
	self->limits.max_send_sge = 2;
	EXPECT_EQ(-ENOSPC, lower(self));
	self->limits.max_send_sge = 3;
	self->limits.max_recv_sge = 1;
	EXPECT_EQ(-ENOSPC, lower(self));
	self->limits.max_recv_sge = 2;
	self->limits.max_sges = 8;
	EXPECT_EQ(-ENOSPC, lower(self));
	self->limits.max_sges = 9;
	self->limits.max_buffers = 3;
	EXPECT_EQ(-ENOSPC, lower(self));
	self->limits.max_buffers = 4;
	self->limits.max_message = 31;
	EXPECT_EQ(-ENOSPC, lower(self));
	self->limits.max_message = 32;
	EXPECT_EQ(0, lower(self));
	self->binding.limits = NULL;
	EXPECT_EQ(0, lower(self));
}

/* Build, copy and lower a graph with data. */
static int build_all(FIXTURE_DATA(data) * self)
{
	struct collq_graph *graph = NULL;
	struct ib_collq_sge list[40];
	uint32_t i;
	int err;

	for (i = 0; i < 40; i++)
		list[i] = (struct ib_collq_sge){ .offset = 2 * i, .length = 1 };
	err = collq_graph_new(&graph);
	if (!err) {
		collq_graph_send_data(graph, collq_graph_message(graph, 1, 0), list, 2, 0);
		collq_graph_recv_data(graph, collq_graph_message(graph, 2, 0), list, 2, 0);
		collq_graph_copy_data(graph, list, 40, &(struct ib_collq_sge){
			.buffer = 1, .length = 40,
		}, 1, 0);
		err = collq_graph_wait_messages(graph, 1, 1, 0);
	}
	collq_graph_free(self->graph);
	self->graph = NULL;
	if (err >= 0)
		err = collq_graph_copy(graph, &self->graph);
	collq_graph_free(graph);
	return err ? err : lower(self);
}

/* Wherever memory runs out: an error, and nothing is left behind. */
TEST_F(data, memory_runs_out_anywhere)
{
	uint32_t nr_failed = 0;
	bool failed;
	long before;
	int err;

	collq_graph_free(self->graph);
	self->graph = NULL;
	before = alloc_wrap_live();
	for (;;) {
		alloc_wrap_fail_after(nr_failed);
		err = build_all(self);
		failed = alloc_wrap_stop();
		ASSERT_EQ(failed ? -ENOMEM : 0, err);
		if (!failed)
			break;
		ASSERT_EQ(NULL, self->tasks);
		collq_graph_free(self->graph);
		self->graph = NULL;
		ASSERT_EQ(before, alloc_wrap_live());
		nr_failed++;
	}
	EXPECT_LT(10, nr_failed);
	EXPECT_EQ(4, self->nr);
}

/* After the first -ENOMEM nothing that follows can seem to have worked. */
TEST_F(data, want_of_memory_sticks)
{
	struct collq_graph *graph = self->graph;

	ASSERT_EQ(0, collq_graph_message(graph, 1, 0));
	ASSERT_EQ(0, collq_graph_send_data(graph, 0, pieces, 1, 0));
	alloc_wrap_fail_after(0);
	EXPECT_EQ(-ENOMEM, collq_graph_in(graph, 1, 0));
	EXPECT_TRUE(alloc_wrap_stop());
	EXPECT_EQ(-ENOMEM, collq_graph_message(graph, 1, 0));
	EXPECT_EQ(-ENOMEM, collq_graph_send_data(graph, -ENOMEM, pieces, 1, 0));
	EXPECT_EQ(-ENOMEM, collq_graph_recv_data(graph, 0, pieces, 1, 0));
	EXPECT_EQ(-ENOMEM, collq_graph_wait_sends(graph, -ENOMEM, 1, 0));
	EXPECT_EQ(-ENOMEM, collq_graph_wait_messages(graph, 0, 1, 0));
	EXPECT_EQ(-ENOMEM, collq_graph_copy_data(graph, pieces, 0, pieces, 1, 0));
	EXPECT_EQ(-ENOMEM, collq_graph_calc(graph, 0, 0, pieces, 1, pieces, 1, 0));
	EXPECT_EQ(-ENOMEM, collq_graph_set_sge(graph, 0, 0, 0, 0));
}

TEST_HARNESS_MAIN
