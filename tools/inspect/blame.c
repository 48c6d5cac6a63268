// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who holds others up.
 *
 * A queue that waits, waits for one thing; if that is a message of another queue
 * which waits itself, go on from there. So each chain has one end, and who is
 * there is to blame for all that leads to it. Queues that have moved while they
 * were looked at prove nothing, nor does a chain that leads to one.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "blame.h"

/* What is at the end of a chain. @key: the same for all chains that end there */
struct end {
	enum reason reason;
	const void *key;
	const struct context *context;
	const struct queue *queue;
	const struct endpoint *endpoint;
	uint32_t rank;
};

struct chain {
	const struct queue *victim;
	struct end end;
};

uint64_t blame_next_run(const struct queue *queue)
{
	return queue->info.submitted + 1;
}

/* Whether a task of the peer's raises the counter that @waiter waits for. */
static bool raises(const struct ib_collq_task *task, const struct queue *waiter)
{
	const struct ib_collq_counter_info *counter = &waiter->counter->info;

	if (task->object != waiter->endpoint->peer->info.create.id)
		return false;
	if (counter->create.source == IB_COLLQ_SOURCE_MESSAGES)
		return task->opcode == IB_COLLQ_TASK_SEND;
	return task->flags & IB_COLLQ_TASK_SIGNAL &&
	       task->signal_slot == counter->bound_slot &&
	       task->signal_generation == counter->bound_generation;
}

/* How many it takes in this run, up to the wait that it is in. */
static uint64_t wanted(const struct queue *waiter)
{
	uint64_t nr = 0;
	uint32_t i;

	for (i = 0; i < waiter->nr_tasks && i <= waiter->info.task; i++) {
		if (waiter->tasks[i].opcode == IB_COLLQ_TASK_WAIT &&
		    waiter->tasks[i].object == waiter->info.object)
			nr += waiter->tasks[i].count;
	}
	return nr;
}

/*
 * Whether @queue has sent what @waiter is short of. Runs of queues that work
 * together go by the same numbers.
 */
static bool has_sent(const struct queue *queue, const struct queue *waiter)
{
	uint64_t nr = 0;
	uint32_t i;

	if (!waiter->linked || queue->info.completed < waiter->info.completed)
		return false;
	if (queue->info.completed > waiter->info.completed)
		return true;
	for (i = 0; i < queue->nr_tasks && i < queue->info.task; i++)
		nr += raises(&queue->tasks[i], waiter);
	return nr && nr >= wanted(waiter);
}

static struct end end_at(enum reason reason, const struct queue *queue,
			 const struct queue *waiter)
{
	return (struct end) {
		.reason = reason,
		.key = queue,
		.context = queue->context,
		.queue = queue,
		.endpoint = waiter ? waiter->endpoint : NULL,
		.rank = waiter ? waiter->endpoint->info.create.peer : queue->rank,
	};
}

/* No queue at the other end. Of those elsewhere only the rank is known. */
static struct end end_at_peer(const struct queue *waiter)
{
	const struct endpoint *endpoint = waiter->endpoint;
	struct end end = {
		.reason = REASON_ELSEWHERE,
		.key = waiter->group,
		.endpoint = endpoint,
		.rank = endpoint->info.create.peer,
	};

	if (endpoint->peer) {
		end.reason = REASON_NO_QUEUE;
		end.context = endpoint->peer->context;
	}
	return end;
}

/* The end of a chain if it's in or right behind @queue; else go on with its next. */
static bool ends_here(const struct queue *queue, struct end *end)
{
	const struct queue *next = queue->next;
	enum reason reason;

	*end = (struct end) {};
	if (queue->moved)
		return true;
	if (queue->info.state == IB_COLLQ_QUEUE_BLOCKED) {
		*end = end_at(REASON_FULL, queue, NULL);
		return true;
	}
	/* Gone meanwhile */
	if (!queue->counter)
		return true;
	switch (queue->counter->info.create.source) {
	case IB_COLLQ_SOURCE_USER:
		reason = REASON_RAISE;
		break;
	case IB_COLLQ_SOURCE_EVENTFD:
		reason = REASON_EVENTFD;
		break;
	case IB_COLLQ_SOURCE_SENDS:
		reason = REASON_SENDS;
		break;
	default:
		reason = queue->endpoint ? REASON_NONE : REASON_UNBOUND;
		break;
	}
	if (reason) {
		*end = end_at(reason, queue, NULL);
		return true;
	}
	if (!next) {
		*end = end_at_peer(queue);
		return true;
	}
	if (next->moved)
		return true;
	if (has_sent(next, queue))
		reason = REASON_UNDER_WAY;
	else if (next->info.state == IB_COLLQ_QUEUE_IDLE)
		reason = REASON_NOT_STARTED;
	else if (next->info.state == IB_COLLQ_QUEUE_FAILED)
		reason = REASON_FAILED;
	else if (next->info.state == IB_COLLQ_QUEUE_RUNNING)
		reason = REASON_RUNNING;
	else
		return false;
	*end = end_at(reason, next, queue);
	return true;
}

/*
 * Follows a chain. In a circle it comes back to where a slower walker is; then
 * the one of lowest address stands for the circle.
 */
static struct end walk(const struct queue *queue)
{
	const struct queue *slow = queue, *start, *lowest;
	bool step = false;
	struct end end;

	while (!ends_here(queue, &end)) {
		queue = queue->next;
		if (step)
			slow = slow->next;
		step = !step;
		if (queue != slow)
			continue;
		start = queue;
		lowest = queue;
		for (queue = queue->next; queue != start; queue = queue->next) {
			if (queue < lowest)
				lowest = queue;
		}
		return end_at(REASON_CIRCLE, lowest, NULL);
	}
	return end;
}

static bool is_held_up(const struct queue *queue)
{
	return queue->info.state == IB_COLLQ_QUEUE_WAITING ||
	       queue->info.state == IB_COLLQ_QUEUE_BLOCKED;
}

static int compare_chains(const void *a, const void *b)
{
	const struct chain *x = a, *y = b;

	if (x->end.reason != y->end.reason)
		return x->end.reason < y->end.reason ? -1 : 1;
	if (x->end.key != y->end.key)
		return x->end.key < y->end.key ? -1 : 1;
	if (x->end.context != y->end.context)
		return x->end.context < y->end.context ? -1 : 1;
	if (x->end.rank != y->end.rank)
		return x->end.rank < y->end.rank ? -1 : 1;
	return (x->victim->info.since > y->victim->info.since) -
	       (x->victim->info.since < y->victim->info.since);
}

static bool same_end(const struct end *a, const struct end *b)
{
	return a->reason == b->reason && a->key == b->key && a->context == b->context &&
	       a->rank == b->rank;
}

/* Chains with an end, sorted so that those with the same one are together. */
static int find_chains(const struct snapshot *snapshot, struct chain **chains, size_t *nr)
{
	const struct queue *queue, *end;
	size_t room = 1;
	unsigned int i;

	for (i = 0; i < snapshot->nr; i++)
		room += snapshot->contexts[i]->nr_queues;
	*nr = 0;
	*chains = calloc(room, sizeof(**chains));
	if (!*chains)
		return -ENOMEM;
	for (i = 0; i < snapshot->nr; i++) {
		queue = snapshot->contexts[i]->queues;
		for (end = queue + snapshot->contexts[i]->nr_queues; queue < end; queue++) {
			struct chain chain = { .victim = queue };

			if (!is_held_up(queue))
				continue;
			chain.end = walk(queue);
			/* Nobody is held up by himself. */
			if (chain.end.reason && chain.end.queue != queue)
				(*chains)[(*nr)++] = chain;
		}
	}
	qsort(*chains, *nr, sizeof(**chains), compare_chains);
	return 0;
}

static int add_blame(struct blame *blame, const struct chain *chains, size_t nr)
{
	const struct end *end = &chains->end;
	size_t i;

	*blame = (struct blame) {
		.reason = end->reason,
		.context = end->context,
		.queue = end->queue,
		.rank = end->rank,
		.endpoint = end->endpoint,
		.since = chains->victim->info.since,
		.victims = calloc(nr, sizeof(*blame->victims)),
	};
	if (!blame->victims)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		blame->victims[blame->nr_victims++] = chains[i].victim;
	return 0;
}

/* Those who do so for longest come first. */
static int compare_blames(const void *a, const void *b)
{
	const struct blame *x = a, *y = b;

	return (x->since > y->since) - (x->since < y->since);
}

int blame_find(const struct snapshot *snapshot, struct blame **blames, unsigned int *nr)
{
	size_t nr_chains, first, end;
	struct chain *chains;
	int err;

	*nr = 0;
	*blames = NULL;
	err = find_chains(snapshot, &chains, &nr_chains);
	if (err)
		return err;
	*blames = calloc(nr_chains + 1, sizeof(**blames));
	if (!*blames)
		err = -ENOMEM;
	for (first = 0; first < nr_chains && !err; first = end) {
		for (end = first + 1; end < nr_chains; end++) {
			if (!same_end(&chains[first].end, &chains[end].end))
				break;
		}
		err = add_blame(&(*blames)[*nr], &chains[first], end - first);
		*nr += !err;
	}
	free(chains);
	if (!err)
		qsort(*blames, *nr, sizeof(**blames), compare_blames);
	return err;
}

void blame_free(struct blame *blames, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		free(blames[i].victims);
	free(blames);
}
