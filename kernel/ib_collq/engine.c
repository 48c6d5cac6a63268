// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The engine: carries out the tasks of a graph in order, from whatever context
 * makes the next one possible.
 *
 * A running graph's whole state is a position in its queue. The engine walks
 * from there until a WAIT is not satisfied or an endpoint has no slot free;
 * then the queue is parked at that counter or endpoint, and whoever raises the
 * one or frees a slot of the other takes it from there and wakes it. Exactly
 * one of them does, so that a queue is in one place at a time: idle, parked, in
 * a run list, or being walked with its lock held. One that fails while it's in a run list
 * stays there until its turn, and so it does if it has been reset by then.
 *
 * Waking doesn't run the queue but puts it on a list of this CPU, which the
 * outermost entry into the engine works off before it leaves. So no queue runs
 * with another one's lock held, nothing recurses however local signals are
 * chained, and one budget bounds what a completion costs in softirq. What is
 * left over goes to a worker.
 *
 * Every caller is in process context with bottom halves off, or in softirq; no
 * hardirq comes here. The engine knows no user pointer and no front end.
 */
#include <linux/percpu.h>
#include <linux/workqueue.h>

#include "context.h"
#include "counter.h"
#include "data.h"
#include "device.h"
#include "endpoint.h"
#include "engine.h"
#include "graph.h"
#include "limits.h"
#include "queue.h"
#include "trace.h"

/**
 * struct collq_runner - the queues that this CPU has to run
 * @queues: woken and not run yet; each holds a reference
 * @depth: entries into the engine that have not left
 * @budget: tasks that may still be carried out in this jiffy
 * @refilled: when @budget was last made full, in jiffies
 */
struct collq_runner {
	struct list_head queues;
	unsigned int depth;
	unsigned int budget;
	unsigned long refilled;
};

static DEFINE_PER_CPU(struct collq_runner, collq_runner);

/* The task isn't done, for want of budget only. */
#define COLLQ_UNFINISHED	2

/* Queues that exceeded a budget, for the worker. */
static DEFINE_SPINLOCK(collq_overflow_lock);
static LIST_HEAD(collq_overflow);

static void collq_engine_work(struct work_struct *work);
static DECLARE_WORK(collq_overflow_work, collq_engine_work);

/* Before anything that may wake a queue. Bottom halves are off. */
void collq_engine_enter(void)
{
	struct collq_runner *runner = this_cpu_ptr(&collq_runner);

	if (runner->depth++)
		return;
	/* One poll may bring hundreds of completions: they share a budget. */
	if (time_after(jiffies, runner->refilled)) {
		runner->refilled = jiffies;
		runner->budget = COLLQ_ENGINE_BUDGET;
	}
	runner->budget = max_t(unsigned int, runner->budget,
			       COLLQ_ENGINE_MIN_BUDGET);
}

/* What may still be done here, between enter and exit. */
unsigned int *collq_engine_budget(void)
{
	return &this_cpu_ptr(&collq_runner)->budget;
}

/* Puts a queue that was unparked on the run list, with the caller's reference. */
void collq_engine_wake(struct collq_queue *queue)
{
	struct collq_runner *runner = this_cpu_ptr(&collq_runner);

	WARN_ON_ONCE(!runner->depth);
	list_add_tail(&queue->run_node, &runner->queues);
}

/* After a queue that waited for one of its slots has run. */
static void collq_engine_pass_on(struct collq_endpoint *ep)
{
	spin_lock(&ep->lock);
	collq_endpoint_pass_on(ep);
	spin_unlock(&ep->lock);
	collq_object_put(&ep->obj);
}

static void collq_engine_run(struct collq_queue *queue)
{
	struct collq_endpoint *ep;

	spin_lock(&queue->lock);
	queue->listed = false;
	ep = queue->parked_endpoint;
	if (unlikely(ep))
		collq_object_get(&ep->obj);
	trace_collq_resume(queue);
	collq_engine_run_locked(queue);
	spin_unlock(&queue->lock);
	if (unlikely(ep))
		collq_engine_pass_on(ep);
	collq_object_put(&queue->obj);
}

/* The outermost entry runs what it and those inside it have woken. */
void collq_engine_exit(void)
{
	struct collq_runner *runner = this_cpu_ptr(&collq_runner);
	struct collq_queue *queue;

	if (runner->depth == 1) {
		while (!list_empty(&runner->queues) && runner->budget) {
			queue = list_first_entry(&runner->queues,
						 struct collq_queue, run_node);
			list_del_init(&queue->run_node);
			collq_engine_run(queue);
		}
		if (!list_empty(&runner->queues)) {
			spin_lock(&collq_overflow_lock);
			list_splice_tail_init(&runner->queues, &collq_overflow);
			spin_unlock(&collq_overflow_lock);
			queue_work(collq_run_wq, &collq_overflow_work);
		}
	}
	runner->depth--;
}

/* The same from where bottom halves may be on. */
void collq_engine_enter_bh(void)
{
	local_bh_disable();
	collq_engine_enter();
}

void collq_engine_exit_bh(void)
{
	collq_engine_exit();
	local_bh_enable();
}

static void collq_engine_work(struct work_struct *work)
{
	struct collq_queue *queue;

	for (;;) {
		collq_engine_enter_bh();
		spin_lock(&collq_overflow_lock);
		queue = list_first_entry_or_null(&collq_overflow,
						 struct collq_queue, run_node);
		if (queue)
			list_del_init(&queue->run_node);
		spin_unlock(&collq_overflow_lock);
		if (queue)
			collq_engine_wake(queue);
		collq_engine_exit_bh();
		if (!queue)
			return;
		cond_resched();
	}
}

static int collq_engine_wait(struct collq_queue *queue,
			     const struct collq_step *step)
{
	int ret;

	/* Before it can be woken: what unparks it must know where from. */
	queue->parked_counter = step->counter;
	ret = collq_counter_consume(step->counter, step->count, queue);
	if (ret == COLLQ_PARKED) {
		collq_queue_set_state(queue, IB_COLLQ_QUEUE_WAITING);
		collq_probe_arm(&queue->obj.ctx->probe);
	} else {
		queue->parked_counter = NULL;
	}
	return ret;
}

/* Where a WRITE goes is the same whenever it runs, and not needed by others. */
static u64 collq_engine_zone_offset(const struct collq_queue *queue,
				    const struct collq_submission *sub)
{
	return sub->graph->tasks[queue->task].zone_offset;
}

/* SEND, RECV and WRITE. */
static int collq_engine_message(struct collq_queue *queue,
				const struct collq_submission *sub,
				const struct collq_step *step)
{
	struct collq_endpoint *ep = collq_step_endpoint(step);
	struct collq_list list = {};
	int ret;

	if (unlikely(step->sge_count))
		list = collq_step_list(sub->graph, step, sub->bindings);
	if (step->opcode == IB_COLLQ_TASK_RECV)
		ret = collq_endpoint_recv(ep, queue, &list);
	else if (step->opcode == IB_COLLQ_TASK_WRITE)
		ret = collq_endpoint_write(ep, queue, step->imm, &list,
					   step->target,
					   collq_engine_zone_offset(queue, sub));
	else
		ret = collq_endpoint_send(ep, queue, step->imm, &list);
	if (ret == COLLQ_PARKED) {
		queue->parked_endpoint = ep;
		collq_queue_set_state(queue, IB_COLLQ_QUEUE_BLOCKED);
		collq_probe_arm(&queue->obj.ctx->probe);
	}
	return ret;
}

/* COPY and CALC. */
static int collq_engine_data(struct collq_queue *queue,
			     const struct collq_submission *sub,
			     const struct collq_step *step,
			     unsigned int *budget)
{
	u64 done = collq_data_run(sub->graph, step, sub->bindings,
				  &queue->progress, budget);

	if (step->opcode == IB_COLLQ_TASK_COPY)
		queue->copied += done;
	if (queue->progress.left)
		return COLLQ_UNFINISHED;
	queue->progress.begun = false;
	return 0;
}

/* 0, COLLQ_PARKED, COLLQ_UNFINISHED, or why the graph fails. */
static int collq_engine_step(struct collq_queue *queue,
			     const struct collq_submission *sub,
			     const struct collq_step *step,
			     unsigned int *budget)
{
	switch (step->opcode) {
	case IB_COLLQ_TASK_WAIT:
		return collq_engine_wait(queue, step);
	case IB_COLLQ_TASK_COPY:
	case IB_COLLQ_TASK_CALC:
		return collq_engine_data(queue, sub, step, budget);
	default:
		return collq_engine_message(queue, sub, step);
	}
}

/* Only what waits or posts can fail. */
static const struct collq_endpoint *
collq_engine_culprit(const struct collq_step *step)
{
	if (step->opcode == IB_COLLQ_TASK_WAIT)
		return collq_counter_endpoint(step->counter);
	return collq_step_endpoint(step);
}

/* The budget is used up: the queue goes on in its turn. */
static void collq_engine_yield(struct collq_queue *queue)
{
	queue->listed = true;
	collq_object_get(&queue->obj);
	collq_engine_wake(queue);
}

/*
 * Walks a queue that is neither parked nor listed until it is, or has nothing left to
 * do. One that was woken but failed meanwhile has nothing to do.
 */
void collq_engine_run_locked(struct collq_queue *queue)
{
	static const struct collq_result success = {
		.task = IB_COLLQ_NO_TASK,
	};
	struct collq_runner *runner = this_cpu_ptr(&collq_runner);
	struct collq_submission *sub;
	const struct collq_step *step;
	int ret;

	lockdep_assert_held(&queue->lock);

	queue->parked_counter = NULL;
	queue->parked_endpoint = NULL;
	while ((sub = collq_queue_current(queue))) {
		for (; queue->task < sub->graph->nr_tasks; queue->task++) {
			if (!runner->budget) {
				collq_engine_yield(queue);
				return;
			}
			runner->budget--;
			step = &sub->graph->steps[queue->task];
			ret = collq_engine_step(queue, sub, step,
						&runner->budget);
			if (ret == COLLQ_UNFINISHED) {
				collq_engine_yield(queue);
				return;
			}
			if (ret == COLLQ_PARKED) {
				trace_collq_park(queue);
				return;
			}
			if (ret) {
				collq_queue_fail_locked(queue, ret,
							collq_engine_culprit(step));
				return;
			}
		}
		collq_queue_complete(queue, sub, &success);
	}
}

void collq_engine_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		INIT_LIST_HEAD(&per_cpu(collq_runner, cpu).queues);
}
