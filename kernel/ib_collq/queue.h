/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_QUEUE_H
#define COLLQ_QUEUE_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <rdma/ib_collq.h>

#include "data.h"
#include "object.h"

struct collq_bindings;
struct collq_counter;
struct collq_endpoint;
struct collq_graph;
struct collq_queue;
struct collq_ring;
struct task_struct;

/**
 * struct collq_queue_link - an endpoint on which a queue's failure is announced
 * @queue: the queue
 * @endpoint: the endpoint; named
 * @slot: abort slot of the endpoint that leads to @queue
 * @generation: its generation
 * @peer_slot: slot of the peer's queue
 * @peer_generation: its generation
 * @pending_node: in the endpoint's list, if an ABORT waits for a slot of the
 *	send queue, which holds a reference on @queue; under the endpoint's
 *	lock, as is @pending_imm
 * @pending_imm: immediate data of that ABORT
 */
struct collq_queue_link {
	struct collq_queue *queue;
	struct collq_endpoint *endpoint;
	u16 slot;
	u8 generation;
	u16 peer_slot;
	u8 peer_generation;
	struct list_head pending_node;
	u32 pending_imm;
};

/**
 * struct collq_result - how a submission ended; see &struct ib_collq_completion
 * @status: 0 or a negative errno
 * @task: the task
 * @endpoint: the endpoint's id
 * @label: the task's label
 * @peer: the endpoint's peer
 */
struct collq_result {
	int status;
	u32 task;
	u32 endpoint;
	u32 label;
	u32 peer;
};

/**
 * struct collq_waiter - who sleeps in the call that has submitted
 * @task: the task
 * @result: gets the result, when the submission has ended
 * @told: it has
 *
 * On the caller's stack; all of it under the queue's lock.
 */
struct collq_waiter {
	struct task_struct *task;
	struct collq_result *result;
	bool told;
};

/**
 * struct collq_submission - a graph that is to run, or how it ended
 * @sequence: number in the queue; 0 for an unused slot
 * @graph: the graph; referenced and counted in its runs until the queue has passed
 * @bindings: its buffers, or NULL; one reference, as long
 * @user_data: for the completion
 * @deadline: when it fails, or 0
 * @waiter: who sleeps in the call that submitted it, or NULL
 * @quiet: @waiter hears of its success, and the ring doesn't
 * @done: it has ended
 * @result: how
 */
struct collq_submission {
	u64 sequence;
	struct collq_graph *graph;
	struct collq_bindings *bindings;
	u64 user_data;
	u64 deadline;
	struct collq_waiter *waiter;
	bool quiet;
	bool done;
	struct collq_result result;
};

/**
 * struct collq_queue - a management queue: runs graphs first in, first out
 * @obj: common part
 * @ring: gets the completions; named
 * @depth: unfinished submissions at a time; as many results are kept
 * @nr_slots: length of @submissions, a power of two
 * @nr_links: number of @links
 * @links: where failures are sent to
 * @wait: woken at each completion; who is written down with a submission isn't here
 * @deadline_work: fails what is late
 * @drained_work: ends what has failed when no message is under way any more
 * @run_node: in a run list of the engine. The queue is in one at most, since
 *	whoever takes it out of where it's parked puts it there; see @listed
 * @park_node: in an endpoint's list of waiters, under that endpoint's lock
 * @lock: protects what follows. A queue runs with it held. Endpoint, counter
 *	and ring locks nest inside
 * @state: IB_COLLQ_QUEUE_*, changed by collq_queue_set_state()
 * @error: the first failure; nothing runs any more
 * @listed: it is in a run list, or on its way there, though it isn't parked: it has
 *	used up a budget, or has failed after it was woken. Nobody but the engine may
 *	walk it then, even if it has been reset and is to run again
 * @draining: it has failed, and messages of the submission that ran are still
 *	under way: so nothing has ended yet. @drained_work holds a reference
 * @failure: how the submission that ran will have ended
 * @dead: destroyed
 * @since: when @state began, in jiffies: the clock would cost too much here
 * @submitted: sequence number of the last submission
 * @current_seq: the submission that runs, or the next one to run
 * @task: index of the task that it's at
 * @progress: how far a COPY or CALC there has come
 * @completed: number of submissions that have ended
 * @copied: bytes that COPY tasks have copied
 * @sges: scatter/gather entries that were posted
 * @armed: when @deadline_work is due, CLOCK_MONOTONIC, or 0
 * @parked_counter: where it's parked, or NULL
 * @parked_endpoint: where it's parked, or NULL
 * @submissions: by sequence number modulo @nr_slots
 */
struct collq_queue {
	struct collq_object obj;
	struct collq_ring *ring;
	u32 depth;
	u32 nr_slots;
	u32 nr_links;
	struct collq_queue_link *links;
	wait_queue_head_t wait;
	struct delayed_work deadline_work;
	struct work_struct drained_work;
	struct list_head run_node;
	struct list_head park_node;

	spinlock_t lock;		/* all that follows */
	u32 state;
	int error;
	bool listed;
	bool draining;
	struct collq_result failure;
	bool dead;
	unsigned long since;
	u64 submitted;
	u64 current_seq;
	u32 task;
	struct collq_progress progress;
	u64 completed;
	u64 copied;
	u64 sges;
	u64 armed;
	struct collq_counter *parked_counter;
	struct collq_endpoint *parked_endpoint;
	struct collq_submission *submissions;
};

static inline struct collq_queue *collq_queue_of(struct collq_object *obj)
{
	return container_of(obj, struct collq_queue, obj);
}

/* Where a submission is, or was. */
static inline struct collq_submission *
collq_queue_slot(struct collq_queue *queue, u64 sequence)
{
	return &queue->submissions[sequence & (queue->nr_slots - 1)];
}

/**
 * struct collq_queue_link_attr - a link as asked for
 * @endpoint: the endpoint
 * @attr: slots and generations
 */
struct collq_queue_link_attr {
	struct collq_endpoint *endpoint;
	struct ib_collq_queue_endpoint attr;
};

/**
 * struct collq_submit - what to submit
 * @graph: the graph
 * @bindings: its buffers, or NULL; the submission takes the reference over
 * @user_data: for the completion
 * @deadline: when it fails, or 0
 * @waiter: who will sleep until it has ended, or NULL
 * @quiet: then there's no completion in the ring if it succeeds
 */
struct collq_submit {
	struct collq_graph *graph;
	struct collq_bindings *bindings;
	u64 user_data;
	u64 deadline;
	struct collq_waiter *waiter;
	bool quiet;
};

/* queue.c: what front ends call */
struct collq_queue *
collq_queue_create(struct collq_context *ctx, struct collq_ring *ring,
		   u32 depth, const struct collq_queue_link_attr *links,
		   u32 nr_links);
int collq_queue_submit(struct collq_queue *queue,
		       const struct collq_submit *submit, u64 *sequence);
int collq_queue_cancel(struct collq_queue *queue, u64 sequence);
int collq_queue_reset(struct collq_queue *queue);
void collq_queue_end(struct collq_queue *queue);
void collq_queue_info(struct collq_queue *queue,
		      struct ib_collq_queue_info *info);

/* queue_wait.c: for those who sleep */
int collq_queue_wait(struct collq_queue *queue, u64 sequence, u64 deadline,
		     struct collq_result *result);
int collq_queue_submit_wait(struct collq_queue *queue,
			    struct collq_submit *submit, u64 *sequence,
			    u64 deadline, struct collq_result *result);

/* queue_state.c: what the engine and failures do to a queue */
void collq_queue_set_state(struct collq_queue *queue, u32 state);
bool collq_queue_running(const struct collq_queue *queue);
struct collq_submission *collq_queue_current(struct collq_queue *queue);
void collq_queue_complete(struct collq_queue *queue,
			  struct collq_submission *sub,
			  const struct collq_result *result);
void collq_queue_fail_locked(struct collq_queue *queue, int error,
			     const struct collq_endpoint *from);
void collq_queue_fail(struct collq_queue *queue, int error,
		      const struct collq_endpoint *from);
void collq_queue_deadline_work(struct work_struct *work);
void collq_queue_drained_work(struct work_struct *work);
void collq_queue_arm_deadline(struct collq_queue *queue, u64 deadline);
void collq_queue_transport_failed(struct collq_queue *queue, int error,
				  const struct collq_endpoint *from);

#endif /* COLLQ_QUEUE_H */
