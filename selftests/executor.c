// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The executor: see executor.h for what it stands for. Here: the objects of each rank,
 * and how a task finds the counter, or the stream of messages, that it is about.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor_internal.h"

int executor_new(struct executor **executor, uint32_t size)
{
	struct executor *ex = calloc(1, sizeof(*ex));

	*executor = ex;
	if (!ex)
		return -ENOMEM;
	ex->size = size;
	ex->ranks = calloc(size, sizeof(*ex->ranks));
	ex->ready.ranks = calloc(size, sizeof(uint32_t));
	ex->slow.ranks = calloc(size, sizeof(uint32_t));
	if (!ex->ranks || !ex->ready.ranks || !ex->slow.ranks) {
		executor_free(ex);
		return -ENOMEM;
	}
	return 0;
}

static void free_program(struct program *program)
{
	free(program->ops);
	free(program->sges);
}

static void free_rank(struct rank *rank)
{
	uint32_t i;

	for (i = 0; i < rank->nr_objects; i++)
		free(rank->objects[i].slots);
	free(rank->objects);
	for (i = 0; i < rank->nr_streams; i++) {
		free(rank->streams[i].sent.entries);
		free(rank->streams[i].posted.entries);
	}
	free(rank->streams);
	free(rank->in);
	free(rank->messages);
	free_program(&rank->program);
	free_program(&rank->prelude);
	for (i = 0; i < 3; i++)
		free(rank->memory[i]);
}

void executor_free(struct executor *ex)
{
	uint32_t i;

	for (i = 0; ex->ranks && i < ex->size; i++)
		free_rank(&ex->ranks[i]);
	free(ex->ranks);
	free(ex->ready.ranks);
	free(ex->slow.ranks);
	free(ex->counters);
	free(ex->flights);
	free(ex->slow_flights);
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
		if (rank->objects[i].kind == SIGNAL_ENDPOINT &&
		    rank->objects[i].peer == peer)
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
	const struct object endpoint = { .kind = SIGNAL_ENDPOINT, .peer = peer };
	uint32_t id = find_endpoint(rank, peer);

	return id ? id : add_object(rank, &endpoint);
}

/* A counter that may hold @limit; returns its id, or 0. */
static uint32_t add_counter(struct executor *ex, uint32_t owner, uint64_t limit)
{
	const struct object object = { .kind = COUNTER, .counter = ex->nr_counters };
	struct counter *counters;

	counters = realloc(ex->counters, (ex->nr_counters + 1) * sizeof(*counters));
	if (!counters)
		return 0;
	ex->counters = counters;
	counters[ex->nr_counters++] = (struct counter){ .owner = owner, .limit = limit };
	return add_object(&ex->ranks[owner], &object);
}

/* Bind the lowest free slot of the endpoint that this channel's signals reach. */
static int bind_channel(struct executor *ex, uint32_t rank, struct bound *bound)
{
	uint32_t endpoint = get_endpoint(&ex->ranks[rank], bound->channel.peer);
	struct object *object;
	struct slot *slots;

	bound->counter_id = add_counter(ex, rank, 2 * bound->channel.messages);
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

/* The number of the stream to @receiver, added if it's new; UINT32_MAX without memory. */
static uint32_t get_stream(struct rank *rank, uint32_t receiver, uint32_t tag)
{
	struct stream *streams;
	uint32_t i;

	for (i = 0; i < rank->nr_streams; i++)
		if (rank->streams[i].receiver == receiver && rank->streams[i].tag == tag)
			return i;
	streams = realloc(rank->streams, (i + 1) * sizeof(*streams));
	if (!streams)
		return UINT32_MAX;
	rank->streams = streams;
	streams[i] = (struct stream){
		.receiver = receiver,
		.tag = tag,
		.sends = NO_COUNTER,
		.messages = NO_COUNTER,
	};
	rank->nr_streams++;
	return i;
}

/* The counter of a stream, if any count of it is waited for. */
static int bind_stream_counter(struct executor *ex, uint32_t owner, uint64_t waited,
			       uint32_t *id, uint32_t *counter)
{
	if (!waited)
		return 0;
	*id = add_counter(ex, owner, UINT64_MAX);
	if (!*id)
		return -ENOMEM;
	*counter = ex->nr_counters - 1;
	return 0;
}

static int bind_message_channel(struct executor *ex, uint32_t rank_nr,
				const struct collq_graph_message_channel *channel,
				struct collq_graph_message_binding *bound)
{
	struct rank *rank = &ex->ranks[rank_nr], *peer = &ex->ranks[channel->peer];
	struct object object = { .kind = MESSAGE_ENDPOINT, .peer = channel->peer };
	int err;

	object.stream = get_stream(rank, channel->peer, channel->tag);
	object.peer_stream = get_stream(peer, rank_nr, channel->tag);
	if (object.stream == UINT32_MAX || object.peer_stream == UINT32_MAX)
		return -ENOMEM;
	bound->endpoint = add_object(rank, &object);
	if (!bound->endpoint)
		return -ENOMEM;
	err = bind_stream_counter(ex, rank_nr, channel->waited_sends, &bound->sends,
				  &rank->streams[object.stream].sends);
	if (err)
		return err;
	return bind_stream_counter(ex, rank_nr, channel->waited_messages, &bound->messages,
				   &peer->streams[object.peer_stream].messages);
}

static int bind_message_channels(struct executor *ex, uint32_t rank_nr,
				 const struct collq_graph *graph)
{
	struct collq_graph_message_channel channel = { .size = sizeof(channel) };
	struct rank *rank = &ex->ranks[rank_nr];
	uint32_t i;
	int err = 0;

	rank->nr_messages = collq_graph_nr_messages(graph);
	rank->messages = calloc(rank->nr_messages + 1, sizeof(*rank->messages));
	if (!rank->messages)
		return -ENOMEM;
	for (i = 0; i < rank->nr_messages && !err; i++) {
		collq_graph_message_channel(graph, i, &channel);
		err = channel.peer < ex->size ?
		      bind_message_channel(ex, rank_nr, &channel, &rank->messages[i]) : -ENOENT;
	}
	return err;
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
	return bind_message_channels(ex, rank_nr, graph);
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

/* The prelude has no channels but those of messages. */
static int lower(const struct executor *ex, uint32_t rank_nr,
		 const struct collq_graph *graph,
		 struct ib_collq_task **tasks, uint32_t *nr_tasks)
{
	const struct rank *rank = &ex->ranks[rank_nr];
	const uint32_t nr_out = collq_graph_nr_out(graph);
	const uint32_t nr_in = collq_graph_nr_in(graph);
	struct collq_graph_out_binding *out = calloc(nr_out + 1, sizeof(*out));
	uint32_t *in = calloc(nr_in + 1, sizeof(*in));
	const struct collq_graph_binding binding = {
		.size = sizeof(binding),
		.out_size = sizeof(*out),
		.nr_out = nr_out,
		.nr_in = nr_in,
		.out = out,
		.in = in,
		.messages = rank->messages,
		.nr_messages = rank->nr_messages,
		.message_size = sizeof(*rank->messages),
		.limits = ex->data.limits.size ? &ex->data.limits : NULL,
	};
	struct collq_graph_channel channel = { .size = sizeof(channel) };
	int err = out && in ? 0 : -ENOMEM;
	uint32_t i;

	if (nr_in > rank->nr_in)
		err = -EINVAL;
	for (i = 0; i < nr_in && !err; i++)
		in[i] = rank->in[i].counter_id;
	for (i = 0; i < nr_out && !err; i++) {
		err = collq_graph_out_channel(graph, i, &channel);
		if (!err)
			err = find_target(ex, rank_nr, &channel, &out[i]);
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

	if (!endpoint || endpoint->kind != SIGNAL_ENDPOINT)
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

static int decode_counting(const struct executor *ex, uint32_t rank,
			   const struct ib_collq_task *task, struct op *op)
{
	const struct object *counter;

	if (task->opcode == IB_COLLQ_TASK_WAIT)
		counter = find_object(&ex->ranks[rank], task->object);
	else
		counter = find_signalled(ex, rank, task);
	if (!counter || counter->kind != COUNTER)
		return -ENXIO;
	op->is_signal = task->opcode == IB_COLLQ_TASK_SEND;
	op->counter = counter->counter;
	op->count = task->count;
	return 0;
}

static int decode_message(const struct executor *ex, uint32_t rank,
			  const struct ib_collq_task *task, struct op *op)
{
	const struct object *endpoint = find_object(&ex->ranks[rank], task->object);

	if (!endpoint || endpoint->kind != MESSAGE_ENDPOINT)
		return -ENXIO;
	op->sender = task->opcode == IB_COLLQ_TASK_SEND ? rank : endpoint->peer;
	op->stream = op->sender == rank ? endpoint->stream : endpoint->peer_stream;
	return 0;
}

static int decode(const struct executor *ex, uint32_t rank, const struct program *program,
		  const struct ib_collq_task *task, struct op *op)
{
	*op = (struct op){
		.opcode = task->opcode,
		.from = { .sges = program->sges + task->sge_first, .nr = task->sge_count },
		.to = { .sges = program->sges + task->dst_first, .nr = task->dst_count },
		.calc_op = task->calc_op,
		.calc_type = task->calc_type,
	};
	if (task->opcode == IB_COLLQ_TASK_WAIT ||
	    (task->opcode == IB_COLLQ_TASK_SEND && task->flags & IB_COLLQ_TASK_SIGNAL))
		return decode_counting(ex, rank, task, op);
	if (executor_check_lists(ex, op))
		return executor_check_lists(ex, op);
	if (task->opcode == IB_COLLQ_TASK_SEND || task->opcode == IB_COLLQ_TASK_RECV)
		return decode_message(ex, rank, task, op);
	if (task->opcode != IB_COLLQ_TASK_COPY && task->opcode != IB_COLLQ_TASK_CALC)
		return -EOPNOTSUPP;
	return 0;
}

static int make_program(struct executor *ex, uint32_t rank, const struct collq_graph *graph,
			struct program *program)
{
	struct collq_graph_table table = { .size = sizeof(table) };
	struct ib_collq_task *tasks;
	uint32_t i;
	int err;

	err = lower(ex, rank, graph, &tasks, &program->nr_ops);
	if (err)
		return err;
	collq_graph_table(graph, &table);
	err = executor_check_tasks(&ex->ranks[rank], tasks, program->nr_ops, &table);
	program->sges = calloc(table.nr_sges + 1, sizeof(*program->sges));
	program->ops = calloc(program->nr_ops + 1, sizeof(*program->ops));
	if (!program->sges || !program->ops)
		err = -ENOMEM;
	for (i = 0; i < table.nr_sges && !err; i++)
		program->sges[i] = table.sges[i];
	for (i = 0; i < program->nr_ops && !err; i++) {
		err = decode(ex, rank, program, &tasks[i], &program->ops[i]);
		program->nr_sends += tasks[i].opcode == IB_COLLQ_TASK_SEND;
	}
	free(tasks);
	return err;
}

/* All that is sent may be under way at a time, or what tells that it has arrived. */
static int make_room(struct executor *ex)
{
	const size_t bytes = (ex->nr_sends * EXECUTOR_MAX_RUNS + 1) * sizeof(struct flight);
	struct flight *flights;

	flights = realloc(ex->flights, bytes);
	if (!flights)
		return -ENOMEM;
	ex->flights = flights;
	flights = realloc(ex->slow_flights, bytes);
	if (!flights)
		return -ENOMEM;
	ex->slow_flights = flights;
	return 0;
}

int executor_load(struct executor *ex, uint32_t rank_nr,
		  const struct collq_graph *graph)
{
	struct rank *rank = &ex->ranks[rank_nr];
	struct program program = { 0 };
	int err;

	err = make_program(ex, rank_nr, graph, &program);
	if (err) {
		free_program(&program);
		return err;
	}
	ex->nr_sends -= rank->program.nr_sends;
	ex->nr_sends += program.nr_sends;
	free_program(&rank->program);
	rank->program = program;
	return make_room(ex);
}

int executor_load_prelude(struct executor *ex, uint32_t rank_nr,
			  const struct collq_graph *graph)
{
	struct program program = { 0 };
	uint32_t i;
	int err;

	err = make_program(ex, rank_nr, graph, &program);
	for (i = 0; i < program.nr_ops && !err; i++)
		if (program.ops[i].opcode != IB_COLLQ_TASK_RECV)
			err = -EOPNOTSUPP;
	if (err) {
		free_program(&program);
		return err;
	}
	free_program(&ex->ranks[rank_nr].prelude);
	ex->ranks[rank_nr].prelude = program;
	return 0;
}
