// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The executor at work: ranks that take turns, and what is under way between them.
 *
 * While it runs, each rank is in one of two lists of those that can go on (the
 * slow ones apart), parked in a WAIT, or has run all its runs.
 */
#include <stdlib.h>
#include <string.h>

#include "executor_internal.h"
#include "graph_util.h"

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
	if (!rank->running || rank->position == rank->program.nr_ops)
		return;
	op = &rank->program.ops[rank->position];
	if (op->opcode == IB_COLLQ_TASK_WAIT && op->counter == counter_nr &&
	    op->count <= counter->value)
		make_ready(ex, counter->owner);
}

/* Now or some time. */
static void raise_counter(struct executor *ex, uint32_t counter)
{
	ex->counters[counter].unconsumed++;
	if (ex->delayed)
		ex->flights[ex->nr_flights++] = (struct flight){ .index = counter };
	else
		deliver(ex, counter);
}

static void send_signal(struct executor *ex, const struct rank *rank,
			const struct op *op)
{
	const struct counter *counter = &ex->counters[op->counter];

	ex->report->sent[rank->run]++;
	if (counter->unconsumed >= counter->limit)
		ex->report->overrun++;
	raise_counter(ex, op->counter);
}

/* Without memory a list is lost, and some rank gets stuck. */
static void push(struct lists *lists, const struct list *list)
{
	struct list *entries;

	if (lists->first == lists->end) {
		lists->first = 0;
		lists->end = 0;
	}
	if (lists->end == lists->room) {
		entries = realloc(lists->entries, (2 * lists->room + 4) * sizeof(*entries));
		if (!entries)
			return;
		lists->entries = entries;
		lists->room = 2 * lists->room + 4;
	}
	lists->entries[lists->end++] = *list;
}

/* The first message of a stream has come. */
static void arrive(struct executor *ex, uint32_t sender, uint32_t stream_nr)
{
	struct stream *stream = &ex->ranks[sender].streams[stream_nr];

	if (stream->posted.first == stream->posted.end) {
		ex->report->not_ready++;
		stream->waiting++;
		return;
	}
	executor_land(ex, sender, &stream->sent.entries[stream->sent.first++],
		      stream->receiver, &stream->posted.entries[stream->posted.first++]);
	if (stream->messages != NO_COUNTER) {
		ex->counters[stream->messages].unconsumed++;
		deliver(ex, stream->messages);
	}
	if (stream->sends != NO_COUNTER)
		raise_counter(ex, stream->sends);
}

static struct list in_generation(const struct executor *ex, const struct list *list,
				 uint32_t run)
{
	struct list placed = *list;

	if (ex->data.generations)
		placed.generation = run % ex->data.generations;
	return placed;
}

static void send_message(struct executor *ex, const struct rank *rank, const struct op *op)
{
	const struct list list = in_generation(ex, &op->from, rank->run);
	struct stream *stream = &ex->ranks[op->sender].streams[op->stream];
	const struct flight flight = {
		.is_message = true,
		.sender = op->sender,
		.index = op->stream,
	};

	ex->report->messages[rank->run]++;
	ex->report->sges[rank->run] += list.nr;
	push(&stream->sent, &list);
	if (!ex->delayed)
		arrive(ex, op->sender, op->stream);
	else if (stream->slow)
		ex->slow_flights[ex->nr_slow_flights++] = flight;
	else
		ex->flights[ex->nr_flights++] = flight;
}

static void post_receive(struct executor *ex, const struct op *op, uint32_t run)
{
	const struct list list = in_generation(ex, &op->from, run);
	struct stream *stream = &ex->ranks[op->sender].streams[op->stream];

	push(&stream->posted, &list);
	if (!stream->waiting)
		return;
	stream->waiting--;
	arrive(ex, op->sender, op->stream);
}

static bool consume(struct executor *ex, const struct op *op)
{
	struct counter *counter = &ex->counters[op->counter];

	if (counter->value < op->count)
		return false;
	counter->value -= op->count;
	counter->unconsumed -= op->count;
	return true;
}

/* Carry out a task. False if it has to wait. */
static bool carry_out(struct executor *ex, uint32_t rank_nr, const struct op *op)
{
	const struct rank *rank = &ex->ranks[rank_nr];

	switch (op->opcode) {
	case IB_COLLQ_TASK_WAIT:
		return consume(ex, op);
	case IB_COLLQ_TASK_SEND:
		if (op->is_signal)
			send_signal(ex, rank, op);
		else
			send_message(ex, rank, op);
		break;
	case IB_COLLQ_TASK_RECV:
		ex->report->sges[rank->run] += op->from.nr;
		post_receive(ex, op, rank->run);
		break;
	case IB_COLLQ_TASK_COPY:
		executor_copy(ex, rank_nr, op);
		break;
	default:
		executor_calc(ex, rank_nr, op);
		break;
	}
	return true;
}

/* Let a rank do one thing. False if it can't do another one now. */
static bool step(struct executor *ex, uint32_t rank_nr)
{
	struct rank *rank = &ex->ranks[rank_nr];

	if (!rank->running) {
		executor_begin_run(ex, rank_nr);
		rank->running = true;
		ex->begun[rank->run]++;
		return true;
	}
	if (rank->position == rank->program.nr_ops) {
		if (ex->begun[rank->run] < ex->size)
			ex->report->early++;
		rank->running = false;
		rank->position = 0;
		rank->run++;
		executor_end_run(ex, rank_nr);
		return rank->run < ex->runs && rank_nr != ex->held;
	}
	if (!carry_out(ex, rank_nr, &rank->program.ops[rank->position]))
		return false;
	rank->position++;
	return true;
}

static void reset_rank(struct rank *rank)
{
	uint32_t i;

	rank->run = 0;
	rank->position = 0;
	rank->running = false;
	rank->listed = false;
	rank->slow = false;
	for (i = 0; i < rank->nr_streams; i++) {
		struct stream *stream = &rank->streams[i];

		stream->sent.first = stream->sent.end;
		stream->posted.first = stream->posted.end;
		stream->waiting = 0;
		stream->slow = false;
	}
}

static void run_prelude(struct executor *ex, const struct rank *rank)
{
	uint32_t generation, i;

	for (generation = 0; generation < ex->data.generations; generation++)
		for (i = 0; i < rank->prelude.nr_ops; i++)
			post_receive(ex, &rank->prelude.ops[i], generation);
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
	ex->nr_flights = 0;
	ex->nr_slow_flights = 0;
	for (i = 0; i < ex->nr_counters; i++) {
		ex->counters[i].value = 0;
		ex->counters[i].unconsumed = 0;
	}
	for (i = 0; i < ex->size; i++)
		reset_rank(&ex->ranks[i]);
	for (i = 0; i < ex->size; i++)
		run_prelude(ex, &ex->ranks[i]);
	executor_begin_memory(ex);
}

static void conclude(struct executor *ex)
{
	uint32_t i;

	for (i = 0; i < ex->size; i++) {
		ex->report->stuck += ex->ranks[i].run < ex->runs;
		if (!ex->ranks[i].running)
			executor_check_scribble(ex, i);
	}
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

static void deliver_one_of(struct executor *ex, struct flight *flights, uint64_t *nr)
{
	uint32_t i = graph_util_pick(&ex->random, *nr);
	const struct flight flight = flights[i];

	flights[i] = flights[--*nr];
	if (flight.is_message)
		arrive(ex, flight.sender, flight.index);
	else
		deliver(ex, flight.index);
}

/* Some seeds have slow ranks, some have slow streams. */
static void choose_slow(struct executor *ex, uint64_t seed)
{
	uint32_t i, j;

	for (i = 0; i < ex->size; i++) {
		struct rank *rank = &ex->ranks[i];

		rank->slow = seed % 2 && !graph_util_pick(&ex->random, 3);
		for (j = 0; j < rank->nr_streams; j++)
			rank->streams[j].slow = seed / 2 % 2 &&
						!graph_util_pick(&ex->random, 5);
	}
}

/* What is slow, of which there is something. */
static void do_slow(struct executor *ex)
{
	uint64_t messages = ex->nr_slow_flights;

	if (messages && (!ex->slow.nr || graph_util_pick(&ex->random, 2)))
		deliver_one_of(ex, ex->slow_flights, &ex->nr_slow_flights);
	else
		step_one_of(ex, &ex->slow);
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
	choose_slow(ex, seed);
	for (i = 0; i < ex->size; i++)
		make_ready(ex, i);
	for (;;) {
		if (ex->ready.nr && (!ex->nr_flights || graph_util_pick(&ex->random, 4) < hurry))
			step_one_of(ex, &ex->ready);
		else if (ex->nr_flights)
			deliver_one_of(ex, ex->flights, &ex->nr_flights);
		else if (ex->slow.nr || ex->nr_slow_flights)
			do_slow(ex);
		else
			break;
	}
	conclude(ex);
}

bool executor_is_clean(const struct executor_report *report)
{
	return !report->early && !report->stuck && !report->leftover && !report->overrun &&
	       !report->not_ready && !report->misfits && !report->trespasses &&
	       !report->wrong;
}
