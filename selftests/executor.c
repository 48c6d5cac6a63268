// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The executor: see executor.h for what it stands for. Here: first the objects of
 * each rank and how a task finds the counter that it is about, then the running.
 *
 * While it runs, each rank is in one of two lists of those that can go on (the
 * slow ones apart), parked in a WAIT, or has run all its runs.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/ib_collq.h>

#include "executor.h"
#include "graph_util.h"

/* A slot of an endpoint, bound to a counter. */
struct slot {
	uint16_t generation;
	uint32_t counter_id;
};

/* An endpoint to @peer, or the counter number @counter. */
struct object {
	bool is_endpoint;
	uint32_t peer;
	uint32_t counter;
	struct slot *slots;
	uint32_t nr_slots;
};

/* An in channel: what it was bound to. */
struct bound {
	struct collq_graph_channel channel;
	uint32_t counter_id;
	uint16_t slot;
	uint16_t generation;
};

/* A task, with the counter that it raises or waits for. */
struct op {
	bool is_wait;
	uint32_t counter;
	uint64_t count;
};

struct rank {
	struct object *objects;
	uint32_t nr_objects;
	uint32_t first_id;
	struct bound *in;
	uint32_t nr_in;
	struct op *ops;
	uint32_t nr_ops, nr_sends;

	uint32_t run, position;
	bool running, listed, slow;
};

struct counter {
	uint32_t owner;
	uint64_t limit;
	uint64_t value;
	uint64_t unconsumed;
};

struct rank_list {
	uint32_t *ranks;
	uint32_t nr;
};

struct executor {
	struct rank *ranks;
	uint32_t size;
	struct counter *counters;
	uint32_t nr_counters;

	struct executor_report *report;
	uint32_t runs, held;
	uint32_t begun[EXECUTOR_MAX_RUNS];
	struct rank_list ready, slow;
	/* Signals under way, as the counters they will raise */
	bool delayed;
	uint32_t *flight;
	uint64_t nr_flight, nr_sends;
	uint64_t random;
};

int executor_new(struct executor **executor, uint32_t size)
{
	struct executor *ex = calloc(1, sizeof(*ex));

	*executor = ex;
	if (!ex)
		return -ENOMEM;
	ex->ranks = calloc(size, sizeof(*ex->ranks));
	ex->ready.ranks = calloc(size, sizeof(uint32_t));
	ex->slow.ranks = calloc(size, sizeof(uint32_t));
	if (!ex->ranks || !ex->ready.ranks || !ex->slow.ranks) {
		executor_free(ex);
		return -ENOMEM;
	}
	ex->size = size;
	return 0;
}

void executor_free(struct executor *ex)
{
	uint32_t i, j;

	for (i = 0; i < ex->size; i++) {
		struct rank *rank = &ex->ranks[i];

		for (j = 0; j < rank->nr_objects; j++)
			free(rank->objects[j].slots);
		free(rank->objects);
		free(rank->in);
		free(rank->ops);
	}
	free(ex->ranks);
	free(ex->ready.ranks);
	free(ex->slow.ranks);
	free(ex->counters);
	free(ex->flight);
	free(ex);
}

static struct object *find_object(const struct rank *rank, uint32_t id)
{
	if (id < rank->first_id || id - rank->first_id >= rank->nr_objects)
		return NULL;
	return &rank->objects[id - rank->first_id];
}

/* Id of the endpoint to @peer; 0 if there's none. */
static uint32_t find_endpoint(const struct rank *rank, uint32_t peer)
{
	uint32_t i;

	for (i = 0; i < rank->nr_objects; i++)
		if (rank->objects[i].is_endpoint && rank->objects[i].peer == peer)
			return rank->first_id + i;
	return 0;
}

/* Returns the id, or 0. */
static uint32_t add_object(struct rank *rank, const struct object *object)
{
	struct object *objects;

	objects = realloc(rank->objects, (rank->nr_objects + 1) * sizeof(*objects));
	if (!objects)
		return 0;
	rank->objects = objects;
	objects[rank->nr_objects] = *object;
	return rank->first_id + rank->nr_objects++;
}

static uint32_t get_endpoint(struct rank *rank, uint32_t peer)
{
	const struct object endpoint = { .is_endpoint = true, .peer = peer };
	uint32_t id = find_endpoint(rank, peer);

	return id ? id : add_object(rank, &endpoint);
}

static uint32_t add_counter(struct executor *ex, uint32_t owner,
			    const struct collq_graph_channel *channel)
{
	const struct object object = { .counter = ex->nr_counters };
	struct counter *counters;

	counters = realloc(ex->counters, (ex->nr_counters + 1) * sizeof(*counters));
	if (!counters)
		return 0;
	ex->counters = counters;
	counters[ex->nr_counters++] = (struct counter){
		.owner = owner,
		.limit = 2 * channel->messages,
	};
	return add_object(&ex->ranks[owner], &object);
}

/* Bind the lowest free slot of the endpoint that this channel's signals reach. */
static int bind_channel(struct executor *ex, uint32_t rank, struct bound *bound)
{
	uint32_t endpoint = get_endpoint(&ex->ranks[rank], bound->channel.peer);
	struct object *object;
	struct slot *slots;

	bound->counter_id = add_counter(ex, rank, &bound->channel);
	if (!endpoint || !bound->counter_id)
		return -ENOMEM;
	object = find_object(&ex->ranks[rank], endpoint);
	slots = realloc(object->slots, (object->nr_slots + 1) * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	object->slots = slots;
	bound->slot = object->nr_slots++;
	bound->generation = 3 * rank + bound->slot + 1;
	slots[bound->slot] = (struct slot){ bound->generation, bound->counter_id };
	return 0;
}

int executor_bind(struct executor *ex, uint32_t rank_nr,
		  const struct collq_graph *graph)
{
	struct rank *rank = &ex->ranks[rank_nr];
	struct collq_graph_channel channel = { .size = sizeof(channel) };
	uint32_t i;
	int err;

	/* Ids that differ from rank to rank, and from the ranks themselves */
	rank->first_id = 1000 + 7 * rank_nr;
	rank->nr_in = collq_graph_nr_in(graph);
	rank->in = calloc(rank->nr_in + 1, sizeof(*rank->in));
	if (!rank->in)
		return -ENOMEM;
	for (i = 0; i < rank->nr_in; i++) {
		rank->in[i].channel.size = sizeof(rank->in[i].channel);
		collq_graph_in_channel(graph, i, &rank->in[i].channel);
		err = bind_channel(ex, rank_nr, &rank->in[i]);
		if (err)
			return err;
	}
	for (i = 0; i < collq_graph_nr_out(graph); i++) {
		collq_graph_out_channel(graph, i, &channel);
		if (!get_endpoint(rank, channel.peer))
			return -ENOMEM;
	}
	return 0;
}

/* What the peer would tell about the slot that it has bound for a channel. */
static int find_target(const struct executor *ex, uint32_t rank,
		       const struct collq_graph_channel *out,
		       struct collq_graph_out_binding *target)
{
	const struct rank *peer;
	uint32_t i;

	if (out->peer >= ex->size)
		return -ENOENT;
	peer = &ex->ranks[out->peer];
	for (i = 0; i < peer->nr_in; i++) {
		const struct bound *in = &peer->in[i];

		if (in->channel.peer != rank || in->channel.tag != out->tag)
			continue;
		target->endpoint = find_endpoint(&ex->ranks[rank], out->peer);
		target->slot = in->slot;
		target->generation = in->generation;
		return 0;
	}
	return -ENOENT;
}

static int lower(const struct executor *ex, uint32_t rank,
		 const struct collq_graph *graph,
		 struct ib_collq_task **tasks, uint32_t *nr_tasks)
{
	const uint32_t nr_out = collq_graph_nr_out(graph);
	const uint32_t nr_in = ex->ranks[rank].nr_in;
	struct collq_graph_out_binding *out = calloc(nr_out + 1, sizeof(*out));
	uint32_t *in = calloc(nr_in + 1, sizeof(*in));
	const struct collq_graph_binding binding = {
		.size = sizeof(binding),
		.out_size = sizeof(*out),
		.nr_out = nr_out,
		.nr_in = nr_in,
		.out = out,
		.in = in,
	};
	struct collq_graph_channel channel = { .size = sizeof(channel) };
	int err = out && in ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 0; i < nr_in && !err; i++)
		in[i] = ex->ranks[rank].in[i].counter_id;
	for (i = 0; i < nr_out && !err; i++) {
		err = collq_graph_out_channel(graph, i, &channel);
		if (!err)
			err = find_target(ex, rank, &channel, &out[i]);
	}
	if (!err)
		err = collq_graph_lower(graph, &binding, tasks, nr_tasks);
	free(out);
	free(in);
	return err;
}

/* The counter that a signal raises, found as the peer's kernel finds it. */
static const struct object *find_signalled(const struct executor *ex, uint32_t sender,
					   const struct ib_collq_task *task)
{
	const struct object *endpoint = find_object(&ex->ranks[sender], task->object);
	const struct slot *slot;
	const struct rank *peer;

	if (!endpoint || !endpoint->is_endpoint)
		return NULL;
	peer = &ex->ranks[endpoint->peer];
	endpoint = find_object(peer, find_endpoint(peer, sender));
	if (!endpoint || task->signal_slot >= endpoint->nr_slots)
		return NULL;
	slot = &endpoint->slots[task->signal_slot];
	if (slot->generation != task->signal_generation)
		return NULL;
	return find_object(peer, slot->counter_id);
}

static int decode(const struct executor *ex, uint32_t rank,
		  const struct ib_collq_task *task, struct op *op)
{
	const struct object *counter;

	if (task->opcode == IB_COLLQ_TASK_SEND && task->flags == IB_COLLQ_TASK_SIGNAL)
		counter = find_signalled(ex, rank, task);
	else if (task->opcode == IB_COLLQ_TASK_WAIT && !task->flags)
		counter = find_object(&ex->ranks[rank], task->object);
	else
		return -EOPNOTSUPP;
	if (!counter || counter->is_endpoint)
		return -ENXIO;
	op->is_wait = task->opcode == IB_COLLQ_TASK_WAIT;
	op->counter = counter->counter;
	op->count = task->count;
	return 0;
}

int executor_load(struct executor *ex, uint32_t rank_nr,
		  const struct collq_graph *graph)
{
	struct rank *rank = &ex->ranks[rank_nr];
	struct ib_collq_task *tasks;
	uint32_t nr_tasks, nr_sends = 0, i;
	uint32_t *flight;
	int err;

	err = lower(ex, rank_nr, graph, &tasks, &nr_tasks);
	if (err)
		return err;
	free(rank->ops);
	rank->ops = calloc(nr_tasks + 1, sizeof(*rank->ops));
	err = rank->ops ? 0 : -ENOMEM;
	for (i = 0; i < nr_tasks && !err; i++) {
		err = decode(ex, rank_nr, &tasks[i], &rank->ops[i]);
		nr_sends += tasks[i].opcode == IB_COLLQ_TASK_SEND;
	}
	free(tasks);
	rank->nr_ops = nr_tasks;
	ex->nr_sends += nr_sends - rank->nr_sends;
	rank->nr_sends = nr_sends;

	/* All of them may be under way at a time. */
	flight = realloc(ex->flight, (ex->nr_sends * EXECUTOR_MAX_RUNS + 1) *
			 sizeof(*flight));
	if (flight)
		ex->flight = flight;
	return err || flight ? err : -ENOMEM;
}

static void make_ready(struct executor *ex, uint32_t rank)
{
	struct rank_list *list = ex->ranks[rank].slow ? &ex->slow : &ex->ready;

	if (ex->ranks[rank].listed)
		return;
	ex->ranks[rank].listed = true;
	list->ranks[list->nr++] = rank;
}

static void deliver(struct executor *ex, uint32_t counter_nr)
{
	struct counter *counter = &ex->counters[counter_nr];
	const struct rank *rank = &ex->ranks[counter->owner];
	const struct op *op;

	counter->value++;
	if (!rank->running || rank->position == rank->nr_ops)
		return;
	op = &rank->ops[rank->position];
	if (op->is_wait && op->counter == counter_nr && op->count <= counter->value)
		make_ready(ex, counter->owner);
}

static void send_signal(struct executor *ex, const struct rank *rank,
			const struct op *op)
{
	struct counter *counter = &ex->counters[op->counter];

	ex->report->sent[rank->run]++;
	if (counter->unconsumed >= counter->limit)
		ex->report->overrun++;
	counter->unconsumed++;
	if (ex->delayed)
		ex->flight[ex->nr_flight++] = op->counter;
	else
		deliver(ex, op->counter);
}

/* Let a rank do one thing. False if it can't do another one now. */
static bool step(struct executor *ex, uint32_t rank_nr)
{
	struct rank *rank = &ex->ranks[rank_nr];
	struct counter *counter;
	const struct op *op;

	if (!rank->running) {
		rank->running = true;
		ex->begun[rank->run]++;
		return true;
	}
	if (rank->position == rank->nr_ops) {
		if (ex->begun[rank->run] < ex->size)
			ex->report->early++;
		rank->running = false;
		rank->position = 0;
		rank->run++;
		return rank->run < ex->runs && rank_nr != ex->held;
	}

	op = &rank->ops[rank->position];
	if (op->is_wait) {
		counter = &ex->counters[op->counter];
		if (counter->value < op->count)
			return false;
		counter->value -= op->count;
		counter->unconsumed -= op->count;
	} else {
		send_signal(ex, rank, op);
	}
	rank->position++;
	return true;
}

static void prepare(struct executor *ex, uint32_t runs, uint32_t held,
		    struct executor_report *report)
{
	uint32_t i;

	memset(report, 0, sizeof(*report));
	memset(ex->begun, 0, sizeof(ex->begun));
	ex->report = report;
	ex->runs = runs;
	ex->held = held;
	ex->nr_flight = 0;
	for (i = 0; i < ex->nr_counters; i++) {
		ex->counters[i].value = 0;
		ex->counters[i].unconsumed = 0;
	}
	for (i = 0; i < ex->size; i++) {
		ex->ranks[i].run = 0;
		ex->ranks[i].position = 0;
		ex->ranks[i].running = false;
		ex->ranks[i].listed = false;
		ex->ranks[i].slow = false;
	}
}

static void conclude(struct executor *ex)
{
	uint32_t i;

	for (i = 0; i < ex->size; i++)
		ex->report->stuck += ex->ranks[i].run < ex->runs;
	for (i = 0; i < ex->nr_counters; i++)
		ex->report->leftover += ex->counters[i].unconsumed;
}

void executor_run_early(struct executor *ex, uint32_t runs, uint32_t held,
			struct executor_report *report)
{
	uint32_t rank, i;

	prepare(ex, runs, held, report);
	ex->delayed = false;
	for (i = 0; i < ex->size; i++)
		if (i != held)
			make_ready(ex, i);
	for (;;) {
		while (ex->ready.nr) {
			rank = ex->ready.ranks[--ex->ready.nr];
			ex->ranks[rank].listed = false;
			while (step(ex, rank))
				;
		}
		if (held == EXECUTOR_NOBODY || ex->ranks[held].running ||
		    ex->ranks[held].run == runs)
			break;
		make_ready(ex, held);
	}
	conclude(ex);
}

/* Let a rank that is drawn by lot do one thing. */
static void step_one_of(struct executor *ex, struct rank_list *list)
{
	uint32_t i = graph_util_pick(&ex->random, list->nr);
	uint32_t rank = list->ranks[i];

	if (step(ex, rank))
		return;
	ex->ranks[rank].listed = false;
	list->ranks[i] = list->ranks[--list->nr];
}

static void deliver_one(struct executor *ex)
{
	uint32_t i = graph_util_pick(&ex->random, ex->nr_flight);
	uint32_t counter = ex->flight[i];

	ex->flight[i] = ex->flight[--ex->nr_flight];
	deliver(ex, counter);
}

void executor_run_random(struct executor *ex, uint32_t runs, uint64_t seed,
			 struct executor_report *report)
{
	uint32_t hurry, i;

	prepare(ex, runs, EXECUTOR_NOBODY, report);
	ex->delayed = true;
	ex->random = seed;
	/* How often, of four times, a rank goes on though signals are under way */
	hurry = 1 + graph_util_pick(&ex->random, 3);
	for (i = 0; i < ex->size; i++) {
		ex->ranks[i].slow = seed % 2 && !graph_util_pick(&ex->random, 3);
		make_ready(ex, i);
	}
	for (;;) {
		if (ex->ready.nr && (!ex->nr_flight || graph_util_pick(&ex->random, 4) < hurry))
			step_one_of(ex, &ex->ready);
		else if (ex->nr_flight)
			deliver_one(ex);
		else if (ex->slow.nr)
			step_one_of(ex, &ex->slow);
		else
			break;
	}
	conclude(ex);
}
