// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Barriers as graphs: what one rank sends and waits for, so that no rank comes to
 * its end before all have begun.
 *
 * Dissemination: in round r each rank tells rank + 2^r that it, and all that it
 * has heard of, have come; after ceil(log2 N) rounds it has heard of everyone,
 * for any N. Hensgen, Finkel, Manber: Two Algorithms for Barrier
 * Synchronization. Int. J. of Parallel Programming 17(1), 1988.
 *
 * Recursive doubling: pairs at distance 2^r tell each other. That wants a power
 * of two; each rank beyond the largest one that fits has a proxy, which it tells
 * first and hears from last. Brooks: The Butterfly Barrier. Int. J. of Parallel
 * Programming 15(4), 1986. Folding in the others: Thakur, Rabenseifner, Gropp:
 * Optimization of Collective Communication Operations in MPICH. Int. J. of High
 * Performance Computing Applications 19(1), 2005.
 *
 * K-nomial: a tree in which a rank's parent has the lowest digit of its number,
 * to base k, that isn't zero replaced by zero. Ranks report towards rank 0 when
 * all below them have, and are released along the same way. A combining tree for
 * either direction: Mellor-Crummey, Scott: Algorithms for Scalable
 * Synchronization on Shared-Memory Multiprocessors. ACM Transactions on Computer
 * Systems 9(1), 1991.
 *
 * What all have in common: each SEND comes after every WAIT of the rounds before
 * it, and each message has a channel {peer, round} of its own, so that a counter
 * has one source and is raised once in a run. A rank can't end run n before all
 * have begun it, so that none sends what belongs to run n + 2 before all have
 * ended run n: a channel never holds more than two messages.
 */
#include <errno.h>
#include <stdbool.h>

#include <collq/collq.h>

#include "graph_internal.h"

/* @last is the WAIT that was added last, or -1: what comes now comes after it. */
struct barrier {
	struct collq_graph *graph;
	uint32_t rank;
	uint32_t size;
	int last;
};

/* The graph's error is sticky, so that it can be looked at when all is built. */
static void tell(struct barrier *barrier, uint32_t peer, uint32_t round)
{
	struct collq_graph *graph = barrier->graph;
	int node;

	node = collq_graph_signal(graph, collq_graph_out(graph, peer, round), round);
	if (barrier->last >= 0)
		collq_graph_after(graph, node, barrier->last);
}

static void hear(struct barrier *barrier, uint32_t peer, uint32_t round)
{
	struct collq_graph *graph = barrier->graph;
	int node;

	node = collq_graph_wait(graph, collq_graph_in(graph, peer, round), 1, round);
	if (barrier->last >= 0)
		collq_graph_after(graph, node, barrier->last);
	barrier->last = node;
}

static void build_dissemination(struct barrier *barrier)
{
	const uint32_t rank = barrier->rank, size = barrier->size;
	uint64_t distance;
	uint32_t round = 0;

	for (distance = 1; distance < size; distance *= 2, round++) {
		tell(barrier, (rank + distance) % size, round);
		hear(barrier, ((uint64_t)rank + size - distance) % size, round);
	}
}

static void build_recursive_doubling(struct barrier *barrier)
{
	const uint32_t rank = barrier->rank, size = barrier->size;
	uint32_t power = 1, round = 0, distance;
	bool is_proxy;

	while (power <= size / 2)
		power *= 2;
	is_proxy = rank < size - power;

	if (rank >= power)
		tell(barrier, rank - power, 0);
	else if (is_proxy)
		hear(barrier, rank + power, 0);
	round = size > power;

	for (distance = 1; distance < power; distance *= 2, round++) {
		if (rank >= power)
			continue;
		tell(barrier, rank ^ distance, round);
		hear(barrier, rank ^ distance, round);
	}

	if (rank >= power)
		hear(barrier, rank - power, round);
	else if (is_proxy)
		tell(barrier, rank + power, round);
}

/*
 * Level l is where digit l decides. Ranks whose digits up to and including it are
 * zero have children there, as far as there are ranks. Reports go up level by
 * level; releases come down the other way, so that the largest subtrees, which
 * take longest, are told first.
 */
static void build_k_nomial(struct barrier *barrier, uint32_t radix)
{
	const uint32_t rank = barrier->rank, size = barrier->size;
	uint32_t levels = 0, level = 0, round;
	uint64_t unit = 1, width, child;

	for (width = 1; width < size; width *= radix)
		levels++;

	for (; level < levels && !(rank / unit % radix); level++, unit *= radix)
		for (child = rank + unit; child < size && child < rank + unit * radix;
		     child += unit)
			hear(barrier, child, level);

	if (rank) {
		uint32_t parent = rank - rank / unit % radix * unit;

		tell(barrier, parent, level);
		hear(barrier, parent, 2 * levels - 1 - level);
	}

	while (level--) {
		unit /= radix;
		round = 2 * levels - 1 - level;
		for (child = rank + unit; child < size && child < rank + unit * radix;
		     child += unit)
			tell(barrier, child, round);
	}
}

int collq_barrier_graph(struct collq_graph *graph, uint32_t rank, uint32_t size,
			uint32_t algorithm, uint32_t radix)
{
	struct barrier barrier = {
		.graph = graph,
		.rank = rank,
		.size = size,
		.last = -1,
	};
	int err;

	if (rank >= size || graph->nr_nodes || graph->out.nr || graph->in.nr)
		return -EINVAL;
	err = collq_barrier_choose(size, 0, &algorithm, &radix);
	if (err)
		return err;

	switch (algorithm) {
	case COLLQ_BARRIER_DISSEMINATION:
		build_dissemination(&barrier);
		break;
	case COLLQ_BARRIER_RECURSIVE_DOUBLING:
		build_recursive_doubling(&barrier);
		break;
	default:
		build_k_nomial(&barrier, radix);
		break;
	}
	return graph->error;
}
