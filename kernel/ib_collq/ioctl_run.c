// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The commands that upload graphs, bind buffers, submit, wait and cancel: the ones
 * of ib_collq_run.h, but for what makes rings and queues. What submits and waits
 * doesn't take the context's mutex.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "bindings.h"
#include "clock.h"
#include "context.h"
#include "graph.h"
#include "ioctl.h"
#include "queue.h"
#include "region.h"
#include "ring.h"

static struct collq_object *collq_graph_find(void *data, u32 id, u32 type)
{
	return collq_object_find(data, id, type);
}

/* Tasks and table of a graph to be. */
static int collq_get_source(const struct ib_collq_graph_create *attr,
			    struct collq_graph_source *source)
{
	source->tasks = collq_get_array(attr->tasks, attr->nr_tasks,
					attr->task_size, sizeof(*source->tasks));
	if (IS_ERR(source->tasks))
		return PTR_ERR(source->tasks);
	if (!attr->nr_sges)
		return 0;
	source->sges = collq_get_array(attr->sges, attr->nr_sges, attr->sge_size,
				       sizeof(*source->sges));
	if (IS_ERR(source->sges)) {
		kvfree(source->tasks);
		return PTR_ERR(source->sges);
	}
	return 0;
}

int collq_ioctl_graph_create(struct collq_ioctl *io)
{
	struct ib_collq_graph_create *attr = &io->arg.graph;
	struct collq_graph_source source = {
		.nr_tasks = attr->nr_tasks,
		.nr_sges = attr->nr_sges,
		.nr_buffers = attr->nr_buffers,
		.find = collq_graph_find,
		.data = io->ctx,
	};
	struct collq_refusal refusal = { .task = IB_COLLQ_NO_TASK };
	struct collq_graph_limits limits;
	struct collq_graph *graph;
	int err;

	collq_graph_limits(io->ctx->device, &limits);
	err = collq_graph_check_size(&limits, attr->nr_tasks, attr->nr_sges,
				     attr->nr_buffers, &refusal);
	if (err)
		goto out_refusal;
	err = collq_get_source(attr, &source);
	if (err)
		goto out_refusal;
	graph = collq_graph_create(io->ctx, &source, &refusal);
	if (IS_ERR(graph)) {
		err = PTR_ERR(graph);
		kvfree(source.sges);
		kvfree(source.tasks);
		goto out_refusal;
	}
	attr->id = graph->obj.id;
	io->created = &graph->obj;
out_refusal:
	attr->refused_task = refusal.task;
	attr->refused_reason = refusal.reason;
	attr->refused_needed = refusal.needed;
	attr->refused_limit = refusal.limit;
	return err;
}

static int collq_bind(struct collq_context *ctx, struct collq_bindings *bindings,
		      const struct ib_collq_buffer_bind *bind)
{
	struct collq_object *region;
	int err;

	region = collq_object_find(ctx, bind->region, IB_COLLQ_OBJECT_REGION);
	if (!region)
		return -ENOENT;
	err = collq_bindings_bind(bindings, bind->buffer,
				  collq_region_of(region), bind->offset);
	collq_object_put(region);
	return err;
}

/* What the buffer slots stand for: NULL if there are none, or an ERR_PTR. */
static struct collq_bindings *
collq_get_bindings(struct collq_context *ctx, struct collq_graph *graph,
		   const struct ib_collq_queue_submit *attr)
{
	void __user *user = u64_to_user_ptr(attr->bindings);
	struct ib_collq_buffer_bind bind;
	struct collq_bindings *bindings;
	u32 i;
	int err = 0;

	if (attr->nr_bindings != graph->nr_buffers)
		return ERR_PTR(-EINVAL);
	if (!attr->nr_bindings)
		return NULL;
	if (attr->binding_size < sizeof(bind))
		return ERR_PTR(-EINVAL);
	if (attr->binding_size > PAGE_SIZE)
		return ERR_PTR(-E2BIG);
	bindings = collq_bindings_alloc(graph);
	if (!bindings)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < attr->nr_bindings && !err; i++) {
		err = copy_struct_from_user(&bind, sizeof(bind), user +
					    (size_t)i * attr->binding_size,
					    attr->binding_size);
		if (!err)
			err = collq_bind(ctx, bindings, &bind);
	}
	if (!err)
		err = collq_bindings_check(bindings);
	if (err) {
		collq_bindings_put(bindings);
		return ERR_PTR(err);
	}
	return bindings;
}

/* The graph, referenced, and its bindings: what is asked for, but not yet. */
static int collq_get_submit(struct collq_context *ctx,
			    const struct ib_collq_queue_submit *attr,
			    struct collq_submit *submit)
{
	struct collq_object *graph;

	graph = collq_object_find(ctx, attr->graph, IB_COLLQ_OBJECT_GRAPH);
	if (!graph)
		return -ENOENT;
	submit->graph = collq_graph_of(graph);
	submit->bindings = collq_get_bindings(ctx, submit->graph, attr);
	if (IS_ERR(submit->bindings)) {
		collq_object_put(graph);
		return PTR_ERR(submit->bindings);
	}
	submit->user_data = attr->user_data;
	submit->deadline = collq_clock_to_host(attr->deadline);
	return 0;
}

/* The opposite; a submission has taken the bindings over. */
static void collq_put_submit(struct collq_submit *submit, bool submitted)
{
	if (submit->bindings && !submitted)
		collq_bindings_put(submit->bindings);
	collq_object_put(&submit->graph->obj);
}

int collq_ioctl_submit(struct collq_ioctl *io)
{
	struct ib_collq_queue_submit *attr = &io->arg.submit;
	struct collq_submit submit = {};
	struct collq_object *queue;
	int err;

	queue = collq_object_find(io->ctx, attr->queue, IB_COLLQ_OBJECT_QUEUE);
	if (!queue)
		return -ENOENT;
	err = collq_get_submit(io->ctx, attr, &submit);
	if (!err) {
		err = collq_queue_submit(collq_queue_of(queue), &submit,
					 &attr->sequence);
		collq_put_submit(&submit, !err);
	}
	collq_object_put(queue);
	return err;
}

int collq_ioctl_wait(struct collq_ioctl *io)
{
	struct ib_collq_queue_wait *attr = &io->arg.wait;
	struct collq_result result = { .task = IB_COLLQ_NO_TASK };
	struct collq_object *obj;
	int err;

	if (!attr->queue == !attr->ring || (attr->ring && attr->sequence))
		return -EINVAL;
	if (attr->ring) {
		obj = collq_object_find(io->ctx, attr->ring,
					IB_COLLQ_OBJECT_RING);
		if (!obj)
			return -ENOENT;
		err = collq_ring_wait(collq_ring_of(obj),
				      collq_clock_to_host(attr->deadline));
		collq_object_put(obj);
		return err;
	}

	obj = collq_object_find(io->ctx, attr->queue, IB_COLLQ_OBJECT_QUEUE);
	if (!obj)
		return -ENOENT;
	err = collq_queue_wait(collq_queue_of(obj), attr->sequence,
			       collq_clock_to_host(attr->deadline), &result);
	collq_object_put(obj);
	attr->status = result.status;
	attr->task = result.task;
	attr->endpoint = result.endpoint;
	attr->label = result.label;
	return err;
}

/*
 * What there is to read of the structure of IB_COLLQ_QUEUE_SUBMIT_WAIT. Member by
 * member, because that is the fastest for so few bytes.
 */
static int collq_get_submit_wait(struct ib_collq_queue_submit_wait *attr,
				 struct ib_collq_queue_submit_wait __user *user)
{
	u32 size;

	if (!user_read_access_begin(user, sizeof(*user)))
		return -EFAULT;
	unsafe_get_user(attr->size, &user->size, fault);
	if (unlikely(attr->size != sizeof(*attr)))
		goto other_size;
	unsafe_get_user(attr->flags, &user->flags, fault);
	unsafe_get_user(attr->queue, &user->queue, fault);
	unsafe_get_user(attr->graph, &user->graph, fault);
	unsafe_get_user(attr->user_data, &user->user_data, fault);
	unsafe_get_user(attr->deadline, &user->deadline, fault);
	unsafe_get_user(attr->nr_bindings, &user->nr_bindings, fault);
	unsafe_get_user(attr->binding_size, &user->binding_size, fault);
	unsafe_get_user(attr->bindings, &user->bindings, fault);
	unsafe_get_user(attr->sequence, &user->sequence, fault);
	unsafe_get_user(attr->wait_deadline, &user->wait_deadline, fault);
	user_read_access_end();
	return 0;

other_size:
	user_read_access_end();
	return collq_copy_in(attr, sizeof(*attr), sizeof(*attr), user, &size);
fault:
	user_read_access_end();
	return -EFAULT;
}

static int collq_put_submit_wait(const struct ib_collq_queue_submit_wait *attr,
				 const struct collq_result *result,
				 struct ib_collq_queue_submit_wait __user *user)
{
	if (!user_write_access_begin(user, sizeof(*user)))
		return -EFAULT;
	unsafe_put_user(attr->flags, &user->flags, fault);
	unsafe_put_user(attr->sequence, &user->sequence, fault);
	unsafe_put_user(result->status, &user->status, fault);
	unsafe_put_user(result->task, &user->task, fault);
	unsafe_put_user(result->endpoint, &user->endpoint, fault);
	unsafe_put_user(result->label, &user->label, fault);
	user_write_access_end();
	return 0;

fault:
	user_write_access_end();
	return -EFAULT;
}

static int collq_submit_wait(struct collq_context *ctx,
			     struct collq_queue *queue,
			     struct ib_collq_queue_submit_wait *attr,
			     struct collq_result *result)
{
	u64 deadline = collq_clock_to_host(attr->wait_deadline);
	struct collq_submit submit = {
		.quiet = attr->flags & IB_COLLQ_SUBMIT_WAIT_QUIET,
	};
	int err;

	BUILD_BUG_ON(offsetof(struct ib_collq_queue_submit, sequence) !=
		     offsetof(struct ib_collq_queue_submit_wait, sequence));

	if (attr->sequence)
		return collq_queue_wait(queue, attr->sequence, deadline, result);
	err = collq_get_submit(ctx, (void *)attr, &submit);
	if (err)
		return err;
	err = collq_queue_submit_wait(queue, &submit, &attr->sequence, deadline,
				      result);
	collq_put_submit(&submit, attr->sequence);
	/* The end is in the ring then, which who makes the call again has to know. */
	if (err && attr->sequence)
		attr->flags &= ~IB_COLLQ_SUBMIT_WAIT_QUIET;
	return err;
}

/*
 * The command that programs spend their time with, and so done by itself: sizes
 * are constants, and only results are copied back.
 */
int collq_ioctl_submit_wait(struct collq_context *ctx,
			    struct ib_collq_queue_submit_wait __user *user)
{
	struct collq_result result = { .task = IB_COLLQ_NO_TASK };
	struct ib_collq_queue_submit_wait attr;
	struct collq_object *queue;
	int err;

	err = collq_get_submit_wait(&attr, user);
	if (err)
		return err;
	if (attr.flags & ~IB_COLLQ_SUBMIT_WAIT_QUIET)
		return -EOPNOTSUPP;
	/* What only this call tells must get there. */
	if (attr.flags && put_user(attr.flags, &user->flags))
		return -EFAULT;
	queue = collq_object_find(ctx, attr.queue, IB_COLLQ_OBJECT_QUEUE);
	if (!queue)
		return -ENOENT;
	err = collq_submit_wait(ctx, collq_queue_of(queue), &attr, &result);
	collq_object_put(queue);
	return collq_put_submit_wait(&attr, &result, user) ?: err;
}

int collq_ioctl_cancel(struct collq_ioctl *io)
{
	struct ib_collq_queue_cancel *attr = &io->arg.cancel;
	struct collq_object *queue;
	int err;

	if (attr->__reserved)
		return -EINVAL;
	queue = collq_object_find(io->ctx, attr->queue, IB_COLLQ_OBJECT_QUEUE);
	if (!queue)
		return -ENOENT;
	err = collq_queue_cancel(collq_queue_of(queue), attr->sequence);
	collq_object_put(queue);
	return err;
}
