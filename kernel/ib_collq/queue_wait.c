// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sleeping until a submission has ended.
 *
 * Anybody may wait for any submission: those who do sleep on the queue's wait
 * queue. Who waits in the call that submitted, which is what programs spend their
 * time with, is written down with the submission and woken by itself; and it may
 * have asked that a success is told to it only, and not to the ring as well.
 *
 * A task is written down under the queue's lock, woken under it, and takes itself
 * away under it before it does anything else: so it can't be gone.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "context.h"
#include "device.h"
#include "queue.h"

/* -EAGAIN as long as it has not ended. */
static int collq_queue_poll(struct collq_queue *queue, u64 sequence,
			    struct collq_result *result)
{
	struct collq_submission *sub = collq_queue_slot(queue, sequence);

	lockdep_assert_held(&queue->lock);

	if (!sequence || sequence > queue->submitted)
		return -EINVAL;
	if (sub->sequence != sequence ||
	    sequence + queue->depth <= queue->submitted)
		return -ESTALE;
	if (sub->done) {
		*result = sub->result;
		return 0;
	}
	if (queue->dead)
		return -ECANCELED;
	/* Submitted after everything was failed. */
	return READ_ONCE(queue->obj.ctx->device->dead) ? -ENODEV : -EAGAIN;
}

/*
 * Whether it's worth to ask, without a lock: what sleeps here looks twice for
 * each time that it's woken.
 */
static bool collq_queue_has_news(struct collq_queue *queue, u64 sequence)
{
	struct collq_submission *sub = collq_queue_slot(queue, sequence);

	/* An unused slot has no news of sequence 0: there's no such submission. */
	return !sequence || READ_ONCE(sub->done) ||
	       READ_ONCE(sub->sequence) != sequence || READ_ONCE(queue->dead) ||
	       READ_ONCE(queue->obj.ctx->device->dead);
}

static int collq_queue_sleep(struct collq_queue *queue, u64 sequence,
			     u64 deadline)
{
	ktime_t now, left;

	if (!deadline)
		return wait_event_interruptible(queue->wait,
						collq_queue_has_news(queue, sequence));

	now = ktime_get();
	deadline = min_t(u64, deadline, KTIME_MAX);
	left = ktime_after(ns_to_ktime(deadline), now) ?
	       ktime_sub(ns_to_ktime(deadline), now) : 0;
	return wait_event_interruptible_hrtimeout(queue->wait,
						  collq_queue_has_news(queue, sequence),
						  left);
}

/**
 * collq_queue_wait - wait for a submission to end
 * @queue: the queue
 * @sequence: the submission
 * @deadline: when to give up, CLOCK_MONOTONIC in ns, or 0
 * @result: how it ended
 *
 * Sleeps.
 *
 * Return: 0, -ETIME, -ERESTARTSYS, -EINVAL if there was no such submission,
 * -ESTALE if its result is forgotten.
 */
int collq_queue_wait(struct collq_queue *queue, u64 sequence, u64 deadline,
		     struct collq_result *result)
{
	int err;

	do {
		err = collq_queue_sleep(queue, sequence, deadline);
		if (err)
			return err;
		spin_lock_bh(&queue->lock);
		err = collq_queue_poll(queue, sequence, result);
		spin_unlock_bh(&queue->lock);
	} while (err == -EAGAIN);
	return err;
}

/* Sleeps once, unless there's something else to do. 0 says: look again. */
static int collq_queue_nap(u64 deadline)
{
	ktime_t expires = ns_to_ktime(min_t(u64, deadline, KTIME_MAX));

	if (signal_pending(current))
		return -ERESTARTSYS;
	if (!deadline)
		schedule();
	else if (!schedule_hrtimeout_range(&expires, current->timer_slack_ns,
					   HRTIMER_MODE_ABS))
		return -ETIME;
	return 0;
}

/* The same as above for who is written down with the submission. */
static int collq_queue_sleep_alone(struct collq_queue *queue, u64 sequence,
				   u64 deadline)
{
	int err = 0;

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (err || collq_queue_has_news(queue, sequence))
			break;
		err = collq_queue_nap(deadline);
	}
	__set_current_state(TASK_RUNNING);
	return err;
}

/*
 * Nobody is to wake the caller any more. What it was told holds, even if the queue has
 * forgotten it since.
 */
static int collq_queue_leave(struct collq_queue *queue, u64 sequence,
			     struct collq_waiter *waiter)
{
	struct collq_submission *sub = collq_queue_slot(queue, sequence);
	int err = 0;

	spin_lock_bh(&queue->lock);
	if (!waiter->told) {
		err = collq_queue_poll(queue, sequence, waiter->result);
		sub->waiter = NULL;
	}
	spin_unlock_bh(&queue->lock);
	return err;
}

/**
 * collq_queue_submit_wait - run a graph and wait for its end
 * @queue: the queue
 * @submit: the graph and what belongs to it; waiter is set here
 * @sequence: number of the submission, set if there is one
 * @deadline: when to stop waiting, CLOCK_MONOTONIC in ns, or 0
 * @result: how it ended
 *
 * Sleeps. What has not ended when it returns goes on, and is no longer quiet.
 *
 * Return: what collq_queue_submit() does, which is when @sequence is not set; or
 * what collq_queue_wait() does.
 */
int collq_queue_submit_wait(struct collq_queue *queue,
			    struct collq_submit *submit, u64 *sequence,
			    u64 deadline, struct collq_result *result)
{
	struct collq_waiter waiter = {
		.task = current,
		.result = result,
	};
	int slept, err;

	submit->waiter = &waiter;
	err = collq_queue_submit(queue, submit, sequence);
	if (err)
		return err;
	slept = collq_queue_sleep_alone(queue, *sequence, deadline);
	err = collq_queue_leave(queue, *sequence, &waiter);
	return err == -EAGAIN ? slept : err;
}
