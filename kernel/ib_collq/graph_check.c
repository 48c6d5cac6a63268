// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Validation of a graph, once, at upload: afterwards the engine runs it without
 * a check. What is wrong is told by task, reason, and by how much, so that a
 * builder can see what to change.
 *
 * Plain computation on copies of user memory; knows no verbs (graph_check.h).
 */
#include <linux/errno.h>

#include "graph_check.h"

/* What one check of a task needs to know, and how many entries lists had so far. */
struct collq_check {
	const struct collq_graph_limits *limits;
	const struct collq_graph_lookup *lookup;
	const struct ib_collq_sge *sges;
	__u32 nr_sges;
	__u64 list_entries;
	struct collq_refusal *refusal;
};

static int refuse(struct collq_check *check, int err, __u32 reason,
		  __u64 needed, __u64 limit)
{
	check->refusal->reason = reason;
	check->refusal->needed = needed;
	check->refusal->limit = limit;
	return err;
}

static int check_feature(struct collq_check *check, __u64 feature)
{
	if (check->limits->features & feature)
		return 0;
	return refuse(check, -EOPNOTSUPP, IB_COLLQ_REFUSED_UNSUPPORTED,
		      feature, check->limits->features);
}

/* Members that only some operations use must be zero in all others. */
static int check_unused(struct collq_check *check,
			const struct ib_collq_task *task)
{
	__u64 stray = task->__reserved;

	if (task->opcode != IB_COLLQ_TASK_WAIT)
		stray |= task->count;
	if (!(task->flags & IB_COLLQ_TASK_SIGNAL))
		stray |= task->signal_slot | task->signal_generation;
	if (task->opcode != IB_COLLQ_TASK_WRITE)
		stray |= task->zone | task->zone_offset;
	if (task->opcode != IB_COLLQ_TASK_COPY &&
	    task->opcode != IB_COLLQ_TASK_CALC)
		stray |= task->dst_first | task->dst_count;
	else
		stray |= task->object;
	if (task->opcode != IB_COLLQ_TASK_CALC)
		stray |= task->calc_op | task->calc_type;
	if (task->opcode == IB_COLLQ_TASK_WAIT)
		stray |= task->sge_first | task->sge_count;
	if (stray)
		return refuse(check, -EINVAL, IB_COLLQ_REFUSED_RESERVED,
			      stray, 0);
	return 0;
}

/* Bytes of a list that is known to lie within the table. */
static __u64 list_length(struct collq_check *check, __u32 first,
			 __u32 count)
{
	__u64 length = 0;
	__u32 i;

	for (i = first; i < first + count; i++)
		length += check->sges[i].length;
	return length;
}

/* A list is part of the scatter/gather table. */
static int check_list(struct collq_check *check, __u32 first, __u32 count)
{
	__u64 max_entries = (__u64)check->limits->max_sges * COLLQ_LISTS_PER_TABLE;
	int err;

	if (!count && !first)
		return 0;
	err = check_feature(check, IB_COLLQ_FEATURE_REGION);
	if (err)
		return err;
	if (first > check->nr_sges || count > check->nr_sges - first)
		return refuse(check, -EINVAL, IB_COLLQ_REFUSED_SGE_RANGE,
			      (__u64)first + count, check->nr_sges);
	check->list_entries += count;
	if (check->list_entries > max_entries)
		return refuse(check, -EINVAL, IB_COLLQ_REFUSED_SGES,
			      check->list_entries, max_entries);
	return 0;
}

/* And that of a message has at most @max entries. */
static int check_message(struct collq_check *check,
			 const struct ib_collq_task *task, __u32 max)
{
	__u64 length;
	int err;

	err = check_list(check, task->sge_first, task->sge_count);
	if (err)
		return err;
	if (task->sge_count > max)
		return refuse(check, -EINVAL, IB_COLLQ_REFUSED_SGE_COUNT,
			      task->sge_count, max);
	length = list_length(check, task->sge_first, task->sge_count);
	if (length > check->limits->max_message)
		return refuse(check, -EINVAL, IB_COLLQ_REFUSED_LENGTH,
			      length, check->limits->max_message);
	return 0;
}

static int check_endpoint(struct collq_check *check,
			  const struct ib_collq_task *task,
			  struct collq_graph_endpoint *ep)
{
	int err = check->lookup->endpoint(check->lookup->data, task->object, ep);

	if (err)
		return refuse(check, err, IB_COLLQ_REFUSED_OBJECT,
			      task->object, 0);
	return 0;
}

static int check_kind(struct collq_check *check, __u32 kind, __u32 wanted)
{
	if (kind == wanted)
		return 0;
	return refuse(check, -EINVAL, IB_COLLQ_REFUSED_KIND, kind, wanted);
}

static int check_signal(struct collq_check *check,
			const struct ib_collq_task *task, __u32 wanted)
{
	__u32 has = task->flags & IB_COLLQ_TASK_SIGNAL;

	if (has != wanted)
		return refuse(check, -EINVAL, IB_COLLQ_REFUSED_SIGNAL,
			      has, wanted);
	if (task->signal_slot >= check->limits->max_slots)
		return refuse(check, -EINVAL, IB_COLLQ_REFUSED_SLOT,
			      task->signal_slot, check->limits->max_slots - 1);
	return 0;
}

static int check_send(struct collq_check *check,
		      const struct ib_collq_task *task)
{
	struct collq_graph_endpoint ep;
	__u32 signal;
	int err;

	err = check_endpoint(check, task, &ep);
	if (err)
		return err;

	/* Data would take the receives of signals, and the other way round. */
	signal = ep.kind == IB_COLLQ_ENDPOINT_SIGNAL ? IB_COLLQ_TASK_SIGNAL : 0;
	err = check_signal(check, task, signal);
	if (err)
		return err;
	if (task->sge_count) {
		err = check_kind(check, ep.kind, IB_COLLQ_ENDPOINT_MESSAGE);
		if (err)
			return err;
	}
	return check_message(check, task, ep.max_send_sge);
}

static int check_recv(struct collq_check *check,
		      const struct ib_collq_task *task)
{
	struct collq_graph_endpoint ep;
	int err;

	err = check_signal(check, task, 0);
	if (err)
		return err;
	err = check_endpoint(check, task, &ep);
	if (err)
		return err;
	err = check_kind(check, ep.kind, IB_COLLQ_ENDPOINT_MESSAGE);
	if (err)
		return err;
	return check_message(check, task, ep.max_recv_sge);
}

static int check_wait(struct collq_check *check,
		      const struct ib_collq_task *task)
{
	int err;

	err = check_signal(check, task, 0);
	if (err)
		return err;
	if (!task->count)
		return refuse(check, -EINVAL, IB_COLLQ_REFUSED_COUNT, 0, 1);
	err = check->lookup->counter(check->lookup->data, task->object);
	if (err)
		return refuse(check, err, IB_COLLQ_REFUSED_OBJECT,
			      task->object, 0);
	return 0;
}

/* The list of a WRITE lies within the peer's landing zone. */
static int check_zone(struct collq_check *check,
		      const struct ib_collq_task *task)
{
	struct collq_graph_target target;
	__u64 length;
	int err;

	err = check->lookup->target(check->lookup->data, task->zone, &target);
	if (err)
		return refuse(check, err, IB_COLLQ_REFUSED_OBJECT,
			      task->zone, 0);
	if (target.endpoint != task->object)
		return refuse(check, -EINVAL, IB_COLLQ_REFUSED_ZONE,
			      target.endpoint, task->object);
	if (task->zone_offset > target.length)
		return refuse(check, -EINVAL, IB_COLLQ_REFUSED_LENGTH,
			      task->zone_offset, target.length);
	length = list_length(check, task->sge_first, task->sge_count);
	if (length > target.length - task->zone_offset)
		return refuse(check, -EINVAL, IB_COLLQ_REFUSED_LENGTH,
			      length, target.length - task->zone_offset);
	return 0;
}

static int check_write(struct collq_check *check,
		       const struct ib_collq_task *task)
{
	struct collq_graph_endpoint ep;
	int err;

	err = check_feature(check, IB_COLLQ_FEATURE_ZONE);
	if (err)
		return err;
	err = check_signal(check, task, IB_COLLQ_TASK_SIGNAL);
	if (err)
		return err;
	err = check_endpoint(check, task, &ep);
	if (err)
		return err;
	err = check_kind(check, ep.kind, IB_COLLQ_ENDPOINT_SIGNAL);
	if (err)
		return err;
	err = check_message(check, task, ep.max_send_sge);
	if (err)
		return err;
	return check_zone(check, task);
}

static int check_calc(struct collq_check *check,
		      const struct ib_collq_task *task)
{
	if (task->calc_op < IB_COLLQ_CALC_ADD ||
	    task->calc_op > IB_COLLQ_CALC_MAXLOC)
		return refuse(check, -EINVAL, IB_COLLQ_REFUSED_CALC,
			      task->calc_op, IB_COLLQ_CALC_MAXLOC);
	if (task->calc_type < IB_COLLQ_TYPE_S32 ||
	    task->calc_type > IB_COLLQ_TYPE_U64)
		return refuse(check, -EINVAL, IB_COLLQ_REFUSED_CALC,
			      task->calc_type, IB_COLLQ_TYPE_U64);
	return 0;
}

/* Elements are whole, and a pair is one: in bytes. */
static __u64 calc_element(const struct ib_collq_task *task)
{
	__u64 size = task->calc_type == IB_COLLQ_TYPE_S32 ||
		     task->calc_type == IB_COLLQ_TYPE_U32 ? 4 : 8;

	return task->calc_op == IB_COLLQ_CALC_MINLOC ||
	       task->calc_op == IB_COLLQ_CALC_MAXLOC ? 2 * size : size;
}

/* What is read and what is written are of one length, in whole elements. */
static int check_lengths(struct collq_check *check,
			 const struct ib_collq_task *task)
{
	__u64 from = list_length(check, task->sge_first, task->sge_count);
	__u64 to = list_length(check, task->dst_first, task->dst_count);
	__u64 element = 1;

	if (from != to)
		return refuse(check, -EINVAL, IB_COLLQ_REFUSED_LENGTH, from, to);
	if (task->opcode == IB_COLLQ_TASK_CALC)
		element = calc_element(task);
	if (from & (element - 1))
		return refuse(check, -EINVAL, IB_COLLQ_REFUSED_LENGTH,
			      from, from & ~(element - 1));
	return 0;
}

/* COPY and CALC. */
static int check_local(struct collq_check *check,
		       const struct ib_collq_task *task)
{
	int err;

	err = check_feature(check, IB_COLLQ_FEATURE_CALC);
	if (err)
		return err;
	if (task->opcode == IB_COLLQ_TASK_CALC) {
		err = check_calc(check, task);
		if (err)
			return err;
	}
	err = check_signal(check, task, 0);
	if (err)
		return err;
	err = check_list(check, task->sge_first, task->sge_count);
	if (err)
		return err;
	err = check_list(check, task->dst_first, task->dst_count);
	if (err)
		return err;
	return check_lengths(check, task);
}

static int check_task(struct collq_check *check,
		      const struct ib_collq_task *task)
{
	int err;

	if (task->opcode < IB_COLLQ_TASK_SEND ||
	    task->opcode > IB_COLLQ_TASK_CALC)
		return refuse(check, -EINVAL, IB_COLLQ_REFUSED_OPCODE,
			      task->opcode, IB_COLLQ_TASK_CALC);
	if (task->flags & ~IB_COLLQ_TASK_SIGNAL)
		return refuse(check, -EOPNOTSUPP, IB_COLLQ_REFUSED_FLAGS,
			      task->flags, IB_COLLQ_TASK_SIGNAL);
	err = check_unused(check, task);
	if (err)
		return err;

	switch (task->opcode) {
	case IB_COLLQ_TASK_SEND:
		return check_send(check, task);
	case IB_COLLQ_TASK_RECV:
		return check_recv(check, task);
	case IB_COLLQ_TASK_WAIT:
		return check_wait(check, task);
	case IB_COLLQ_TASK_WRITE:
		return check_write(check, task);
	default:
		return check_local(check, task);
	}
}

/**
 * collq_graph_check_size - whether a graph is of a size to be looked at
 * @limits: what may be asked for
 * @nr_tasks: number of tasks
 * @nr_sges: entries of the scatter/gather table
 * @nr_buffers: buffer slots
 * @refusal: why not
 *
 * To be called before anything is allocated for it. Any context.
 *
 * Return: 0, -EINVAL, or -EOPNOTSUPP where data isn't supported.
 */
int collq_graph_check_size(const struct collq_graph_limits *limits,
			   __u32 nr_tasks, __u32 nr_sges, __u32 nr_buffers,
			   struct collq_refusal *refusal)
{
	struct collq_check check = { .limits = limits, .refusal = refusal };

	refusal->task = IB_COLLQ_NO_TASK;
	if (!nr_tasks || nr_tasks > limits->max_tasks)
		return refuse(&check, -EINVAL, IB_COLLQ_REFUSED_TASKS,
			      nr_tasks, limits->max_tasks);
	if (nr_sges || nr_buffers) {
		int err = check_feature(&check, IB_COLLQ_FEATURE_REGION);

		if (err)
			return err;
	}
	if (nr_sges > limits->max_sges)
		return refuse(&check, -EINVAL, IB_COLLQ_REFUSED_SGES,
			      nr_sges, limits->max_sges);
	if (nr_buffers > limits->max_buffers)
		return refuse(&check, -EINVAL, IB_COLLQ_REFUSED_BUFFERS,
			      nr_buffers, limits->max_buffers);
	return 0;
}

/**
 * collq_graph_check - whether a graph makes sense
 * @limits: what may be asked for
 * @lookup: how to find endpoints, counters and targets
 * @tasks: the tasks
 * @nr_tasks: their number
 * @sges: the scatter/gather table
 * @nr_sges: its length
 * @nr_buffers: buffer slots
 * @refusal: why not
 *
 * May sleep where @lookup may. Takes time linear in the size of the graph.
 *
 * Return: 0; -ENOENT for an object that isn't there, -EOPNOTSUPP for what isn't
 * supported, -EINVAL for all else that is wrong; then @refusal is filled in.
 */
int collq_graph_check(const struct collq_graph_limits *limits,
		      const struct collq_graph_lookup *lookup,
		      const struct ib_collq_task *tasks, __u32 nr_tasks,
		      const struct ib_collq_sge *sges, __u32 nr_sges,
		      __u32 nr_buffers, struct collq_refusal *refusal)
{
	struct collq_check check = {
		.limits = limits,
		.lookup = lookup,
		.sges = sges,
		.nr_sges = nr_sges,
		.refusal = refusal,
	};
	__u32 i;
	int err;

	err = collq_graph_check_size(limits, nr_tasks, nr_sges, nr_buffers,
				     refusal);
	if (err)
		return err;

	for (i = 0; i < nr_sges; i++) {
		if (sges[i].buffer >= nr_buffers)
			return refuse(&check, -EINVAL, IB_COLLQ_REFUSED_BUFFER,
				      sges[i].buffer, nr_buffers);
		if (sges[i].offset + sges[i].length < sges[i].offset)
			return refuse(&check, -EINVAL, IB_COLLQ_REFUSED_LENGTH,
				      sges[i].length, ~sges[i].offset);
	}
	for (i = 0; i < nr_tasks; i++) {
		refusal->task = i;
		err = check_task(&check, &tasks[i]);
		if (err)
			return err;
	}
	refusal->task = IB_COLLQ_NO_TASK;
	return 0;
}

/* How far a list reaches into the buffers. */
static void widen_bounds(const struct ib_collq_sge *sges, __u32 count,
			 __u32 written, struct collq_graph_buffer *buffers)
{
	struct collq_graph_buffer *buffer;
	__u64 end;
	__u32 i;

	for (i = 0; i < count; i++) {
		if (!sges[i].length)
			continue;
		buffer = &buffers[sges[i].buffer];
		end = sges[i].offset + sges[i].length;
		if (end > buffer->end)
			buffer->end = end;
		buffer->written |= written;
	}
}

/**
 * collq_graph_bounds - what a graph needs of its buffers
 * @tasks: the tasks; collq_graph_check() is content with them
 * @nr_tasks: their number
 * @sges: the scatter/gather table
 * @buffers: widened; all zeros at first
 *
 * Any context. Takes time linear in the size of the graph.
 */
void collq_graph_bounds(const struct ib_collq_task *tasks, __u32 nr_tasks,
			const struct ib_collq_sge *sges,
			struct collq_graph_buffer *buffers)
{
	const struct ib_collq_task *task;
	__u32 i;

	for (i = 0; i < nr_tasks; i++) {
		task = &tasks[i];
		widen_bounds(sges + task->sge_first, task->sge_count,
			     task->opcode == IB_COLLQ_TASK_RECV, buffers);
		widen_bounds(sges + task->dst_first, task->dst_count, 1,
			     buffers);
	}
}
