// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Validation of graphs under libFuzzer: the kernel's own file, built in user space
 * with sanitizers (fuzz_graph_test). The world is that of graph_check_test: signal
 * endpoints 1 and 3, message endpoint 2, counters 4 and 5, targets 6 and 7.
 *
 * An input is one byte of limits, then tasks and scatter/gather entries in a short
 * form in which most bytes matter; now and then 8 bytes are taken as they are. What
 * is accepted has to stand up to a second look that was written from the ABI header,
 * and a refusal has to name a task that is at fault.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "graph_check.h"

#define MAX_TASKS	12
#define MAX_SGES	8
#define MAX_BUFFERS	3
#define MAX_SLOTS	16
#define MAX_MESSAGE	5000
#define MAX_ZONE	4000

#define REQUIRE(condition)	\
	do { if (!(condition)) __builtin_trap(); } while (0)

struct input {
	const uint8_t *data;
	size_t left;
};

static uint8_t byte_of(struct input *input)
{
	if (!input->left)
		return 0;
	input->left--;
	return *input->data++;
}

/* Small as a rule; with the highest bit set, anything. */
static uint64_t number_of(struct input *input)
{
	uint8_t first = byte_of(input);
	uint64_t number = 0;
	int i;

	if (!(first & 0x80))
		return first;
	for (i = 0; i < 8; i++)
		number = number << 8 | byte_of(input);
	return number;
}

static int find_endpoint(void *data, __u32 id, struct collq_graph_endpoint *ep)
{
	(void)data;
	if (!id || id > 3)
		return -ENOENT;
	*ep = (struct collq_graph_endpoint) {
		.kind = IB_COLLQ_ENDPOINT_SIGNAL,
		.max_send_sge = id == 1 ? 2 : 0,
	};
	if (id == 2)
		*ep = (struct collq_graph_endpoint) {
			.kind = IB_COLLQ_ENDPOINT_MESSAGE,
			.max_send_sge = 3,
			.max_recv_sge = 1,
		};
	return 0;
}

static int find_counter(void *data, __u32 id)
{
	(void)data;
	return id == 4 || id == 5 ? 0 : -ENOENT;
}

static int find_target(void *data, __u32 id, struct collq_graph_target *target)
{
	(void)data;
	if (id != 6 && id != 7)
		return -ENOENT;
	target->endpoint = id == 6 ? 1 : 3;
	target->length = MAX_ZONE;
	return 0;
}

static const struct collq_graph_lookup lookup = {
	.endpoint = find_endpoint,
	.counter = find_counter,
	.target = find_target,
};

static struct ib_collq_task task_of(struct input *input)
{
	struct ib_collq_task task = {};
	uint8_t which = byte_of(input), more = byte_of(input);

	task.opcode = which & 7;
	task.flags = which >> 3 & 1;
	task.object = which >> 4 & 7;
	if (which & 0x80)
		task.label = number_of(input);
	if (task.opcode == IB_COLLQ_TASK_WAIT || more & 1)
		task.count = number_of(input);
	if (task.flags || more & 2) {
		task.signal_slot = number_of(input);
		task.signal_generation = number_of(input);
	}
	if (more & 4) {
		task.sge_first = number_of(input);
		task.sge_count = number_of(input);
	}
	if (more & 8) {
		task.dst_first = number_of(input);
		task.dst_count = number_of(input);
	}
	if (more & 16) {
		task.calc_op = number_of(input);
		task.calc_type = number_of(input);
	}
	if (more & 32) {
		task.zone = number_of(input);
		task.zone_offset = number_of(input);
	}
	if (more & 64)
		task.flags = number_of(input);
	if (more & 128) {
		task.__reserved = number_of(input);
		task.opcode = number_of(input);
		task.object = number_of(input);
	}
	return task;
}

/* Memory of just the size, so that nothing beyond it can be read unnoticed. */
static void *exactly(size_t nr, size_t size)
{
	void *memory = malloc(nr ? nr * size : 1);

	REQUIRE(memory);
	return memory;
}

struct graph {
	struct ib_collq_task *tasks;
	struct ib_collq_sge *sges;
	__u32 nr_tasks;
	__u32 nr_sges;
	__u32 nr_buffers;
};

/* A list that a task may read or write: in the table. */
static bool list_fits(const struct graph *graph, __u32 first, __u32 count,
		      const struct collq_graph_limits *limits)
{
	if (!count && !first)
		return true;
	return limits->features & IB_COLLQ_FEATURE_REGION &&
	       (__u64)first + count <= graph->nr_sges;
}

static __u64 list_length(const struct graph *graph, __u32 first, __u32 count)
{
	__u64 length = 0;

	while (count--)
		length += graph->sges[first++].length;
	return length;
}

/* Two lists that are in the table: as long as each other, and in whole elements. */
static bool lengths_are_right(const struct graph *graph, const struct ib_collq_task *task)
{
	__u64 length = list_length(graph, task->sge_first, task->sge_count);
	__u64 element = 1;

	if (task->opcode == IB_COLLQ_TASK_CALC) {
		element = task->calc_type >= IB_COLLQ_TYPE_S64 ? 8 : 4;
		if (task->calc_op >= IB_COLLQ_CALC_MINLOC)
			element *= 2;
	}
	return length == list_length(graph, task->dst_first, task->dst_count) &&
	       length % element == 0;
}

static bool is_signal_endpoint(const struct collq_graph_endpoint *ep)
{
	return ep->kind == IB_COLLQ_ENDPOINT_SIGNAL;
}

/* A WRITE goes where its endpoint leads, and not beyond. */
static bool lands_in_the_zone(const struct graph *graph, const struct ib_collq_task *task)
{
	__u64 length = list_length(graph, task->sge_first, task->sge_count);
	struct collq_graph_target target;

	return !find_target(NULL, task->zone, &target) && target.endpoint == task->object &&
	       task->zone_offset <= target.length &&
	       task->zone_offset + length <= target.length;
}

/* What the ABI header promises of a task that was accepted. */
static bool task_is_right(const struct graph *graph, const struct ib_collq_task *task,
			  const struct collq_graph_limits *limits)
{
	bool signal = task->flags == IB_COLLQ_TASK_SIGNAL;
	struct collq_graph_endpoint ep = {};
	__u32 max = 0;

	if (task->flags > IB_COLLQ_TASK_SIGNAL || task->__reserved ||
	    (signal && task->signal_slot >= limits->max_slots) ||
	    (!signal && (task->signal_slot || task->signal_generation)))
		return false;
	if (!list_fits(graph, task->dst_first, task->dst_count, limits) ||
	    !list_fits(graph, task->sge_first, task->sge_count, limits))
		return false;
	switch (task->opcode) {
	case IB_COLLQ_TASK_SEND:
	case IB_COLLQ_TASK_RECV:
		if (find_endpoint(NULL, task->object, &ep) || task->count || task->zone ||
		    task->zone_offset || task->dst_count || task->calc_op)
			return false;
		if (signal != is_signal_endpoint(&ep) ||
		    (task->opcode == IB_COLLQ_TASK_RECV && signal) || (signal && task->sge_count))
			return false;
		max = task->opcode == IB_COLLQ_TASK_SEND ? ep.max_send_sge : ep.max_recv_sge;
		break;
	case IB_COLLQ_TASK_WAIT:
		return !find_counter(NULL, task->object) && task->count && !signal &&
		       !task->sge_first && !task->sge_count;
	case IB_COLLQ_TASK_WRITE:
		if (!(limits->features & IB_COLLQ_FEATURE_ZONE) || !signal ||
		    find_endpoint(NULL, task->object, &ep) || !is_signal_endpoint(&ep) ||
		    task->count || task->dst_count || task->calc_op ||
		    !lands_in_the_zone(graph, task))
			return false;
		max = ep.max_send_sge;
		break;
	case IB_COLLQ_TASK_COPY:
	case IB_COLLQ_TASK_CALC:
		if (!(limits->features & IB_COLLQ_FEATURE_CALC) || task->object || signal ||
		    (task->opcode == IB_COLLQ_TASK_CALC &&
		     (!task->calc_op || task->calc_op > IB_COLLQ_CALC_MAXLOC ||
		      !task->calc_type || task->calc_type > IB_COLLQ_TYPE_U64)))
			return false;
		return lengths_are_right(graph, task);
	default:
		return false;
	}
	return task->sge_count <= max &&
	       list_length(graph, task->sge_first, task->sge_count) <= limits->max_message;
}

static int check(const struct graph *graph, __u32 nr_tasks,
		 const struct collq_graph_limits *limits, struct collq_refusal *refusal)
{
	*refusal = (struct collq_refusal) { .task = 12345, .reason = 0 };
	return collq_graph_check(limits, &lookup, graph->tasks, nr_tasks, graph->sges,
				 graph->nr_sges, graph->nr_buffers, refusal);
}

static void judge(const struct graph *graph, const struct collq_graph_limits *limits)
{
	struct collq_refusal refusal, again;
	int err = check(graph, graph->nr_tasks, limits, &refusal);
	__u32 i;

	REQUIRE(err == 0 || err == -EINVAL || err == -EOPNOTSUPP || err == -ENOENT);
	REQUIRE(!err == !refusal.reason && refusal.reason <= IB_COLLQ_REFUSED_ZONE);
	REQUIRE(refusal.task == IB_COLLQ_NO_TASK || (err && refusal.task < graph->nr_tasks));
	if (err && refusal.task == IB_COLLQ_NO_TASK)
		return;
	/* Up to the one that is at fault, all are right; and that one is not. */
	for (i = 0; i < graph->nr_tasks && i != refusal.task; i++)
		REQUIRE(task_is_right(graph, &graph->tasks[i], limits));
	if (err && refusal.task) {
		REQUIRE(!check(graph, refusal.task, limits, &again));
		REQUIRE(check(graph, refusal.task + 1, limits, &again) == err);
		REQUIRE(!memcmp(&again, &refusal, sizeof(again)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .data = data, .left = size };
	uint8_t limits_byte = byte_of(&input), sizes = byte_of(&input);
	struct collq_graph_limits limits = {
		.features = IB_COLLQ_FEATURE_SIGNAL | IB_COLLQ_FEATURE_MESSAGE |
			    (limits_byte & 1 ? IB_COLLQ_FEATURE_REGION : 0) |
			    (limits_byte & 2 ? IB_COLLQ_FEATURE_ZONE : 0) |
			    (limits_byte & 4 ? IB_COLLQ_FEATURE_CALC : 0),
		.max_tasks = MAX_TASKS,
		.max_sges = MAX_SGES,
		.max_buffers = MAX_BUFFERS,
		.max_slots = MAX_SLOTS,
		.max_message = MAX_MESSAGE,
	};
	struct graph graph = {
		.nr_tasks = limits_byte >> 3 & 15,
		.nr_sges = sizes & 15,
		.nr_buffers = sizes >> 4 & 7,
	};
	__u32 i;

	graph.tasks = exactly(graph.nr_tasks, sizeof(*graph.tasks));
	graph.sges = exactly(graph.nr_sges, sizeof(*graph.sges));
	for (i = 0; i < graph.nr_sges; i++)
		graph.sges[i] = (struct ib_collq_sge) {
			.buffer = number_of(&input),
			.length = number_of(&input) * 100,
			.offset = number_of(&input),
		};
	for (i = 0; i < graph.nr_tasks; i++)
		graph.tasks[i] = task_of(&input);
	judge(&graph, &limits);
	free(graph.tasks);
	free(graph.sges);
	return 0;
}
