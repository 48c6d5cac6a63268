// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An all-to-all as a graph: alltoall_plan.c says where blocks are, and here that becomes
 * tasks, and what each of them has to come after.
 *
 * For that, each place for a block has a record of what is done when it has been
 * written, and when it has been read. A task that reads it comes after the first, one
 * that writes it after both. What a message is sent from has been read when the
 * message is known to have arrived: the WAIT for that is added when something needs it,
 * and at the end for the caller's memory. A place is read once at most before it is
 * written again, except that nothing writes to the send buffer.
 *
 * Blocks that land in the caller's memory, or where others were in the same run, may not
 * come before that is free: the receiver posts the receive, then sends the sender a
 * signal (rendezvous). All others land in scratch memory that has nothing else to
 * hold in two runs (eager). In run n + 2 a message comes from a rank that has ended
 * run n + 1, for which it has heard of every rank's beginning it: so all have ended run
 * n, and all messages of that have arrived. Hence its receive may be posted any time in
 * run n, here when the message of run n has come, and what is sent from scratch memory
 * of run n needn't be waited for.
 */
#include <errno.h>
#include <stdlib.h>

#include "alltoall_plan.h"
#include "graph_internal.h"
#include "sized.h"

#define NONE	(-1)

/* The rank's own block is where it belongs, or none of the graph's business. */
#define OWN_ELSEWHERE	(COLLQ_ALLTOALL_IN_PLACE | COLLQ_ALLTOALL_NOT_OWN)

/* Edges that were added last, so that most aren't added twice. */
#define NR_RECENT	8

/*
 * The last write of a place is done with node @writer. What was read since then is done
 * with node @reader, or when the messages of step number @sent - 1 have arrived.
 */
struct use {
	int writer;
	int reader;
	uint32_t sent;
};

/* Messages that a step sends: @wait is the node that waits for them, if there's one. */
struct sent {
	int message;
	uint32_t nr;
	int wait;
};

struct build {
	struct collq_graph *graph;
	struct collq_plan plan;
	struct use *uses;
	struct sent *sent;
	int *arrivals;			/* for each step the node that waits for its messages */
	struct collq_place *from, *to;	/* one block after the other */
	struct ib_collq_sge *sges, *dst;
	struct collq_graph_edge recent[NR_RECENT];
	uint32_t nr_recent;
	bool is_eager;
};

static int build_init(struct build *build, struct collq_graph *graph,
		      const struct collq_alltoall *what)
{
	uint32_t ranks, i;
	size_t places;
	int err;

	*build = (struct build){ .graph = graph };
	if (graph->nr_nodes || graph->out.nr || graph->in.nr || graph->nr_messages)
		return -EINVAL;
	err = collq_plan_init(&build->plan, what);
	if (err)
		return err;
	ranks = build->plan.what.nr_ranks;
	places = 2 * (size_t)ranks + build->plan.nr_scratch;
	build->uses = calloc(places, sizeof(*build->uses));
	build->sent = calloc(build->plan.nr_steps + 1, sizeof(*build->sent));
	build->arrivals = calloc(build->plan.nr_steps + 1, sizeof(*build->arrivals));
	build->from = calloc(ranks, sizeof(*build->from));
	build->to = calloc(ranks, sizeof(*build->to));
	build->sges = calloc(ranks, sizeof(*build->sges));
	build->dst = calloc(ranks, sizeof(*build->dst));
	if (!build->uses || !build->sent || !build->arrivals || !build->from || !build->to ||
	    !build->sges || !build->dst)
		return -ENOMEM;
	for (i = 0; i < build->plan.nr_steps; i++)
		build->arrivals[i] = NONE;
	for (i = 0; i < places; i++)
		build->uses[i] = (struct use){ NONE, NONE, 0 };
	return 0;
}

static void build_exit(struct build *build)
{
	collq_plan_free(&build->plan);
	free(build->uses);
	free(build->sent);
	free(build->arrivals);
	free(build->from);
	free(build->to);
	free(build->sges);
	free(build->dst);
}

static struct use *use_of(struct build *build, const struct collq_place *place)
{
	const uint32_t ranks = build->plan.what.nr_ranks;

	switch (place->buffer) {
	case COLLQ_BUFFER_SEND:
		return &build->uses[place->index];
	case COLLQ_BUFFER_RECV:
		return &build->uses[ranks + place->index];
	default:
		return &build->uses[2 * (size_t)ranks + place->index];
	}
}

static void after(struct build *build, int node, int predecessor)
{
	struct collq_graph_edge *edge;
	uint32_t i;

	if (node < 0 || predecessor < 0)
		return;
	for (i = 0; i < NR_RECENT && i < build->nr_recent; i++) {
		edge = &build->recent[i];
		if (edge->node == (uint32_t)node && edge->predecessor == (uint32_t)predecessor)
			return;
	}
	build->recent[build->nr_recent++ % NR_RECENT] =
		(struct collq_graph_edge){ node, predecessor };
	collq_graph_after(build->graph, node, predecessor);
}

/* The node that waits until the messages of a step have arrived. */
static int wait_for_sent(struct build *build, uint32_t number)
{
	struct sent *sent = &build->sent[number];

	if (sent->wait == NONE) {
		sent->wait = collq_graph_wait_sends(build->graph, sent->message, sent->nr,
						    number);
	}
	return sent->wait;
}

/* The node with which all reading of a place is done. */
static int done_reading(struct build *build, const struct use *use)
{
	return use->sent ? wait_for_sent(build, use->sent - 1) : use->reader;
}

/* @node must not begin to write to @place before others are done with it. */
static void before_writing(struct build *build, int node, const struct collq_place *place)
{
	struct use *use = use_of(build, place);

	after(build, node, use->writer);
	after(build, node, done_reading(build, use));
}

/* The writing is done with @node. */
static void written(struct build *build, int node, const struct collq_place *place)
{
	*use_of(build, place) = (struct use){ node, NONE, 0 };
}

/* Fill a list with so many places from @place on. */
static void list_places(const struct build *build, const struct collq_place *place,
			struct ib_collq_sge *sges, uint32_t nr)
{
	const uint64_t block = build->plan.what.block;
	uint32_t i;

	for (i = 0; i < nr; i++)
		sges[i] = (struct ib_collq_sge){
			.buffer = place[i].buffer,
			.length = block,
			.offset = place[i].index * block,
		};
}

/* Where blocks have no length there's no task, and what comes after comes after. */
static void copy_nothing(struct build *build, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++)
		written(build, use_of(build, &build->from[i])->writer, &build->to[i]);
}

/* Copy the first blocks of from[] to those of to[], in as many tasks as it takes. */
static void copy(struct build *build, uint32_t nr, uint32_t label)
{
	const struct collq_alltoall *what = &build->plan.what;
	uint32_t first, more, most, i;
	int node;

	if (!what->block) {
		copy_nothing(build, nr);
		return;
	}
	most = what->max_message / what->block;
	for (first = 0; first < nr && !build->graph->error; first += more) {
		more = nr - first < most ? nr - first : most;
		list_places(build, build->from + first, build->sges, more);
		list_places(build, build->to + first, build->dst, more);
		node = collq_graph_copy_data(build->graph, build->sges, more, build->dst, more,
					     label);
		for (i = first; i < first + more; i++) {
			struct use *use = use_of(build, &build->from[i]);

			after(build, node, use->writer);
			use->reader = node;
			before_writing(build, node, &build->to[i]);
			written(build, node, &build->to[i]);
		}
	}
}

/* Gather what is to be sent. */
static void pack(struct build *build, const struct collq_transfer *transfer)
{
	uint32_t i;

	for (i = 0; i < transfer->step->nr; i++) {
		build->from[i] = collq_plan_source(&build->plan, transfer, i);
		build->to[i] = collq_plan_sent(&build->plan, transfer, i);
	}
	copy(build, transfer->step->nr, transfer->step->number);
}

/* Bring what has landed where it belongs, unless it is there. */
static void unpack(struct build *build, const struct collq_transfer *transfer)
{
	uint32_t i;

	if (transfer->scatter || build->plan.layout == COLLQ_ALLTOALL_E)
		return;
	for (i = 0; i < transfer->step->nr; i++) {
		build->from[i] = collq_plan_landed(&build->plan, transfer, i);
		build->to[i] = collq_plan_target(&build->plan, transfer, i);
	}
	copy(build, transfer->step->nr, transfer->step->number);
}

static void send_messages(struct build *build, const struct collq_transfer *transfer,
			  int ready)
{
	const struct collq_step *step = transfer->step;
	struct sent *sent = &build->sent[step->number];
	uint32_t first, nr, i;
	int node;

	sent->message = collq_graph_message(build->graph, transfer->receiver, 0);
	sent->wait = NONE;
	for (first = 0; first < step->nr && !build->graph->error; first += nr) {
		nr = collq_plan_message(&build->plan, transfer, first);
		for (i = 0; i < nr; i++)
			build->from[i] = collq_plan_sent(&build->plan, transfer, first + i);
		list_places(build, build->from, build->sges, nr);
		node = collq_graph_send_data(build->graph, sent->message, build->sges, nr,
					     step->number);
		after(build, node, ready);
		for (i = 0; i < nr; i++) {
			struct use *use = use_of(build, &build->from[i]);

			after(build, node, use->writer);
			use->sent = step->number + 1;
		}
		sent->nr++;
	}
}

static void send_step(struct build *build, const struct collq_step *step)
{
	const uint32_t rank = build->plan.what.rank;
	const uint32_t to = collq_plan_to(&build->plan, step, rank);
	struct collq_transfer transfer = collq_plan_transfer(&build->plan, step, rank, to);
	int ready = NONE;

	if (!transfer.gather)
		pack(build, &transfer);
	if (transfer.scatter)
		ready = collq_graph_wait(build->graph,
					 collq_graph_in(build->graph, to, step->number), 1,
					 step->number);
	send_messages(build, &transfer, ready);
}

/* Post the receives of a step behind @predecessor. Returns the last one. */
static int post_receives(struct build *build, const struct collq_transfer *transfer,
			 int predecessor, uint32_t *nr_messages)
{
	const struct collq_step *step = transfer->step;
	struct collq_graph *graph = build->graph;
	int message = collq_graph_message(graph, transfer->sender, 0);
	uint32_t first, nr, i;
	int node = NONE;

	*nr_messages = 0;
	for (first = 0; first < step->nr && !graph->error; first += nr) {
		nr = collq_plan_message(&build->plan, transfer, first);
		for (i = 0; i < nr; i++)
			build->to[i] = collq_plan_landed(&build->plan, transfer, first + i);
		list_places(build, build->to, build->sges, nr);
		node = collq_graph_recv_data(graph, message, build->sges, nr, step->number);
		after(build, node, predecessor);
		for (i = 0; transfer->scatter && i < nr; i++)
			before_writing(build, node, &build->to[i]);
		++*nr_messages;
	}
	return node;
}

static uint32_t count_messages(const struct build *build,
			       const struct collq_transfer *transfer)
{
	uint32_t first, nr = 0;

	for (first = 0; first < transfer->step->nr; nr++)
		first += collq_plan_message(&build->plan, transfer, first);
	return nr;
}

static struct collq_transfer transfer_to_here(const struct build *build,
					      const struct collq_step *step)
{
	const uint32_t rank = build->plan.what.rank;

	return collq_plan_transfer(&build->plan, step, collq_plan_from(&build->plan, step, rank),
				   rank);
}

/* Let the sender send, if it has to be told. Returns the last receive that is posted. */
static int invite(struct build *build, const struct collq_transfer *transfer,
		  uint32_t *nr_messages)
{
	struct collq_graph *graph = build->graph;
	const uint32_t number = transfer->step->number;
	int posted, signal;

	if (!transfer->scatter) {
		build->is_eager = true;
		*nr_messages = count_messages(build, transfer);
		return NONE;
	}
	posted = post_receives(build, transfer, NONE, nr_messages);
	signal = collq_graph_signal(graph, collq_graph_out(graph, transfer->sender, number),
				    number);
	after(build, signal, posted);
	return posted;
}

static void do_step(struct build *build, const struct collq_step *step)
{
	struct collq_transfer transfer = transfer_to_here(build, step);
	struct collq_graph *graph = build->graph;
	uint32_t nr_messages, i;
	struct collq_place place;
	int posted, arrival;

	posted = invite(build, &transfer, &nr_messages);
	send_step(build, step);
	arrival = collq_graph_wait_messages(graph, collq_graph_message(graph, transfer.sender, 0),
					    nr_messages, step->number);
	after(build, arrival, posted);
	build->arrivals[step->number] = arrival;
	for (i = 0; i < step->nr; i++) {
		place = collq_plan_landed(&build->plan, &transfer, i);
		written(build, arrival, &place);
	}
	unpack(build, &transfer);
}

/* Post the receives for the run after the next one, where a message has come now. */
static void renew_receives(struct build *build)
{
	const struct collq_plan *plan = &build->plan;
	struct collq_transfer transfer;
	uint32_t i, nr_messages;

	for (i = 0; i < plan->nr_steps; i++) {
		transfer = transfer_to_here(build, &plan->steps[i]);
		if (!transfer.scatter)
			post_receives(build, &transfer, build->arrivals[i], &nr_messages);
	}
}

/* Before the first step: blocks go where the layout wants them. */
static void begin(struct build *build)
{
	const struct collq_plan *plan = &build->plan;
	const uint32_t rank = plan->what.rank, ranks = plan->what.nr_ranks;
	uint32_t j;

	if (plan->input == COLLQ_BUFFER_SCRATCH) {
		for (j = 1; j < ranks; j++) {
			build->to[j - 1] = collq_plan_input(plan, collq_plan_up(plan, rank, j));
			build->from[j - 1] = (struct collq_place){
				COLLQ_BUFFER_RECV, collq_plan_up(plan, rank, j)
			};
		}
		copy(build, ranks - 1, 0);
	}
	if (plan->layout == COLLQ_ALLTOALL_A) {
		for (j = 1; j < ranks; j++) {
			build->from[j - 1] = collq_plan_input(plan, collq_plan_up(plan, rank, j));
			build->to[j - 1] = collq_plan_output(plan, j);
		}
		copy(build, ranks - 1, 0);
	} else if (plan->layout == COLLQ_ALLTOALL_B) {
		for (j = 1; j < ranks; j++) {
			build->from[j - 1] = collq_plan_input(plan, collq_plan_down(plan, rank, j));
			build->to[j - 1] = (struct collq_place){
				COLLQ_BUFFER_RECV, collq_plan_up(plan, rank, j)
			};
		}
		copy(build, ranks - 1, 0);
	}
}

/* After the last step: blocks go to the receive buffer, if they aren't there. */
static void end(struct build *build)
{
	const struct collq_plan *plan = &build->plan;
	const uint32_t rank = plan->what.rank, ranks = plan->what.nr_ranks;
	uint32_t j;

	if (plan->layout != COLLQ_ALLTOALL_A && plan->layout != COLLQ_ALLTOALL_E)
		return;
	for (j = 1; j < ranks; j++) {
		build->from[j - 1] = collq_plan_output(plan, j);
		build->to[j - 1] = (struct collq_place){
			COLLQ_BUFFER_RECV, collq_plan_down(plan, rank, j)
		};
	}
	copy(build, ranks - 1, plan->nr_steps);
}

/* What the rank has for itself. Nothing else touches these two places. */
static void copy_own(struct build *build)
{
	const uint32_t rank = build->plan.what.rank;

	if (build->plan.what.flags & OWN_ELSEWHERE)
		return;
	build->from[0] = (struct collq_place){ COLLQ_BUFFER_SEND, rank };
	build->to[0] = (struct collq_place){ COLLQ_BUFFER_RECV, rank };
	copy(build, 1, 0);
}

/* With one generation the next run uses the same scratch memory. */
static void free_memory(struct build *build)
{
	const uint32_t ranks = build->plan.what.nr_ranks;
	size_t i, nr = 2 * (size_t)ranks;

	if (!build->is_eager)
		nr += build->plan.nr_scratch;
	for (i = 0; i < nr && !build->graph->error; i++)
		done_reading(build, &build->uses[i]);
}

/* In the order of steps, for a graph and its prelude alike. */
static void declare_messages(struct build *build)
{
	const struct collq_plan *plan = &build->plan;
	uint32_t i;

	for (i = 0; i < plan->nr_steps; i++) {
		const struct collq_step *step = &plan->steps[i];

		collq_graph_message(build->graph, collq_plan_to(plan, step, plan->what.rank), 0);
		collq_graph_message(build->graph, collq_plan_from(plan, step, plan->what.rank), 0);
	}
}

static int give_needs(const struct build *build, struct collq_needs *needs)
{
	const struct collq_alltoall *what = &build->plan.what;
	struct collq_needs own = {
		.generations = build->is_eager ? 2 : 1,
		.scratch = build->plan.nr_scratch * what->block,
		.own_bytes = what->flags & OWN_ELSEWHERE ? 0 : what->block,
	};

	return collq_sized_give(needs, &own, sizeof(own));
}

int collq_alltoall_graph(struct collq_graph *graph, const struct collq_alltoall *alltoall,
			 struct collq_needs *needs)
{
	struct build build;
	uint32_t i;
	int err;

	err = build_init(&build, graph, alltoall);
	if (!err) {
		declare_messages(&build);
		begin(&build);
		for (i = 0; i < build.plan.nr_steps && !graph->error; i++)
			do_step(&build, &build.plan.steps[i]);
		end(&build);
		copy_own(&build);
		free_memory(&build);
		renew_receives(&build);
		err = graph->error;
	}
	if (!err)
		err = give_needs(&build, needs);
	build_exit(&build);
	return err;
}

int collq_alltoall_prelude(struct collq_graph *graph, const struct collq_alltoall *alltoall)
{
	struct build build;
	int err;

	err = build_init(&build, graph, alltoall);
	if (!err) {
		declare_messages(&build);
		renew_receives(&build);
		err = graph->error;
	}
	build_exit(&build);
	return err;
}
