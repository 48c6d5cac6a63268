// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An allreduce as a graph, by recursive doubling: in round r ranks at distance 2^r
 * exchange what they have so far. That wants a power of two; each rank beyond the largest
 * one that fits has a proxy, which gets its numbers first and gives it the result.
 * Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in
 * MPICH. Int. J. of High Performance Computing Applications 19(1), 2005.
 *
 * The other rank's numbers land in scratch memory of the round, and the own ones are put
 * into them there: so nothing is changed that is being sent, and what comes next is sent
 * from where it was calculated. Only the result is copied. The operations give the same
 * whichever operand comes first.
 *
 * All numbers of all ranks are in each result, so that no rank ends a run before all have
 * begun it: messages come unasked, into scratch memory of two generations, as
 * alltoall_graph.c explains.
 */
#include <errno.h>
#include <stdbool.h>

#include <collq/collectives.h>

#include "graph_internal.h"
#include "sized.h"

#define NONE		(-1)

/* What is landed in begins here, so that numbers don't straddle cache lines. */
#define ALIGNMENT	64U

#define MOST_BYTES	(1ULL << 40)

/* Rounds of 2^32 ranks, and two more with a proxy */
#define MOST_STEPS	34

/* Numbers of a run: where they are, and the node that has put them there. */
struct numbers {
	uint32_t buffer;
	uint64_t offset;
	int node;
};

/* What a peer's numbers have landed in, in step @step. */
struct landing {
	uint32_t peer;
	uint32_t step;
	struct numbers numbers;
};

struct reduction {
	struct collq_graph *graph;
	struct collq_allreduce what;
	uint64_t bytes;
	/* How much a message, a copy and a calculation take */
	uint64_t most;
	uint32_t power;
	uint32_t step;
	struct landing landings[MOST_STEPS];
	uint32_t nr_landings;
	struct numbers result;
	/* The message channel on which the caller's memory is sent; NONE if it isn't */
	int from_caller;
	bool is_prelude;
};

static uint64_t stride(const struct reduction *red)
{
	return (red->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int reduction_init(struct reduction *red, struct collq_graph *graph,
			  const struct collq_allreduce *given)
{
	struct collq_allreduce *what = &red->what;
	uint32_t element;
	int err;

	*red = (struct reduction){ .graph = graph, .power = 1, .from_caller = NONE };
	if (graph->nr_nodes || graph->out.nr || graph->in.nr || graph->nr_messages)
		return -EINVAL;
	err = collq_sized_take(what, sizeof(*what), given);
	if (err)
		return err;
	element = collq_graph_element_size(what->op, what->type);
	if (what->flags & ~COLLQ_ALLREDUCE_IN_PLACE || what->rank >= what->nr_ranks || !element ||
	    what->max_message < 16 || what->count > MOST_BYTES / element)
		return -EINVAL;
	red->bytes = what->count * element;
	red->most = what->max_message < UINT32_MAX ? what->max_message : UINT32_MAX;
	red->most -= red->most % element;
	while (red->power <= what->nr_ranks / 2)
		red->power *= 2;
	red->result = (struct numbers){
		.buffer = what->flags & COLLQ_ALLREDUCE_IN_PLACE ? COLLQ_BUFFER_RECV :
								   COLLQ_BUFFER_SEND,
		.node = NONE,
	};
	return 0;
}

static void after(const struct reduction *red, int node, int predecessor)
{
	if (predecessor != NONE)
		collq_graph_after(red->graph, node, predecessor);
}

/* A piece of numbers, which begins at @done; as long as one task takes. */
static struct ib_collq_sge piece(const struct reduction *red, const struct numbers *numbers,
				 uint64_t done)
{
	const uint64_t rest = red->bytes - done;

	return (struct ib_collq_sge){
		.buffer = numbers->buffer,
		.length = rest < red->most ? rest : red->most,
		.offset = numbers->offset + done,
	};
}

/* Numbers of no length are one message, too: it tells that the rank has begun. */
static uint64_t count_messages(const struct reduction *red)
{
	return red->bytes ? (red->bytes + red->most - 1) / red->most : 1;
}

static void send(struct reduction *red, uint32_t peer)
{
	const int message = collq_graph_message(red->graph, peer, 0);
	struct ib_collq_sge sge;
	uint64_t done = 0;
	int node;

	do {
		sge = piece(red, &red->result, done);
		node = collq_graph_send_data(red->graph, message, &sge, 1, red->step);
		after(red, node, red->result.node);
		done += sge.length;
	} while (done < red->bytes && !red->graph->error);
	if (red->bytes && red->result.buffer != COLLQ_BUFFER_SCRATCH)
		red->from_caller = message;
}

static void post_receives(struct reduction *red, const struct landing *landing)
{
	const int message = collq_graph_message(red->graph, landing->peer, 0);
	struct ib_collq_sge sge;
	uint64_t done = 0;
	int node;

	do {
		sge = piece(red, &landing->numbers, done);
		node = collq_graph_recv_data(red->graph, message, &sge, 1, landing->step);
		after(red, node, landing->numbers.node);
		done += sge.length;
	} while (done < red->bytes && !red->graph->error);
}

/* Wait for a peer's numbers. The prelude only takes note of them. */
static struct numbers receive(struct reduction *red, uint32_t peer)
{
	const int message = collq_graph_message(red->graph, peer, 0);
	struct landing *landing = &red->landings[red->nr_landings];

	*landing = (struct landing){
		.peer = peer,
		.step = red->step,
		.numbers = {
			.buffer = COLLQ_BUFFER_SCRATCH,
			.offset = red->nr_landings * stride(red),
			.node = NONE,
		},
	};
	if (!red->is_prelude)
		landing->numbers.node = collq_graph_wait_messages(red->graph, message,
								  count_messages(red),
								  red->step);
	red->nr_landings++;
	return landing->numbers;
}

/* Put the result so far into a peer's numbers, which become the result. */
static void combine(struct reduction *red, struct numbers *landed)
{
	struct ib_collq_sge sge, dst;
	uint64_t done;
	int node;

	for (done = 0; done < red->bytes && !red->graph->error; done += sge.length) {
		sge = piece(red, &red->result, done);
		dst = piece(red, landed, done);
		node = collq_graph_calc(red->graph, red->what.op, red->what.type, &sge, 1, &dst,
					1, red->step);
		after(red, node, landed->node);
		after(red, node, red->result.node);
		landed->node = node;
	}
	red->result = *landed;
}

/* The caller's numbers may be there: not before they have been sent. */
static void copy_result(struct reduction *red)
{
	const struct numbers to = { .buffer = COLLQ_BUFFER_RECV };
	struct ib_collq_sge sge, dst;
	int sent = NONE, node;
	uint64_t done;

	if (red->from_caller != NONE)
		sent = collq_graph_wait_sends(red->graph, red->from_caller,
					      count_messages(red), red->step);
	if (red->result.buffer == COLLQ_BUFFER_RECV)
		return;
	for (done = 0; done < red->bytes && !red->graph->error; done += sge.length) {
		sge = piece(red, &red->result, done);
		dst = piece(red, &to, done);
		node = collq_graph_copy_data(red->graph, &sge, 1, &dst, 1, red->step);
		after(red, node, red->result.node);
		if (red->what.flags & COLLQ_ALLREDUCE_IN_PLACE)
			after(red, node, sent);
	}
}

static void exchange(struct reduction *red, uint32_t peer)
{
	struct numbers landed;

	if (!red->is_prelude)
		send(red, peer);
	landed = receive(red, peer);
	if (!red->is_prelude)
		combine(red, &landed);
	red->step++;
}

/* A rank beyond the power of two: its proxy does the rest. */
static void build_beyond(struct reduction *red)
{
	const uint32_t proxy = red->what.rank - red->power;

	if (!red->is_prelude)
		send(red, proxy);
	red->step++;
	red->result = receive(red, proxy);
}

static void build_within(struct reduction *red)
{
	const uint32_t rank = red->what.rank, beyond = rank + red->power;
	const bool is_proxy = rank < red->what.nr_ranks - red->power;
	struct numbers landed;
	uint32_t distance;

	if (is_proxy) {
		landed = receive(red, beyond);
		if (!red->is_prelude)
			combine(red, &landed);
		red->step++;
	}
	for (distance = 1; distance < red->power; distance *= 2)
		exchange(red, rank ^ distance);
	if (is_proxy && !red->is_prelude)
		send(red, beyond);
}

/* Receives come last: a rank posts them while it waits. */
static int build(struct reduction *red)
{
	uint32_t i;

	if (red->what.rank >= red->power)
		build_beyond(red);
	else
		build_within(red);
	if (!red->is_prelude)
		copy_result(red);
	for (i = 0; i < red->nr_landings; i++)
		post_receives(red, &red->landings[i]);
	return red->graph->error;
}

int collq_allreduce_graph(struct collq_graph *graph, const struct collq_allreduce *allreduce,
			  struct collq_needs *needs)
{
	struct collq_needs own = { 0 };
	struct reduction red;
	int err;

	err = reduction_init(&red, graph, allreduce);
	if (!err)
		err = build(&red);
	if (err)
		return err;
	own.generations = red.nr_landings ? 2 : 1;
	own.scratch = red.nr_landings * stride(&red);
	if (red.what.nr_ranks == 1 && !(red.what.flags & COLLQ_ALLREDUCE_IN_PLACE))
		own.own_bytes = red.bytes;
	return collq_sized_give(needs, &own, sizeof(own));
}

int collq_allreduce_prelude(struct collq_graph *graph,
			    const struct collq_allreduce *allreduce)
{
	struct reduction red;
	int err;

	err = reduction_init(&red, graph, allreduce);
	if (err)
		return err;
	red.is_prelude = true;
	return build(&red);
}
