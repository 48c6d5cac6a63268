// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a barrier costs, by algorithm, and so which one `auto` stands for; and whether
 * a list is worth its pieces.
 *
 * Two bounds, of which the higher one counts. The path: however many processors
 * there are, the last rank to begin has to be heard of by all others, round after
 * round. The work: the processors have to get through all messages, and every
 * rank's system call and wake-up. Few processors for many ranks make work count,
 * and the algorithm with the fewest messages wins; a processor for each rank
 * makes the path count, and the one with the fewest rounds wins.
 *
 * The answer must be the same on all ranks of a barrier, or their graphs don't
 * fit: so integers only, and nothing that a rank finds out by itself.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include <collq/collq.h>

#include "cost.h"

/*
 * Nanoseconds. Measured in virtual time (QEMU, -icount shift=0: 1 ns for one
 * instruction), Debian 12, kernel 6.1, one processor, SoftRoCE on a dummy device,
 * by the prototypes of this module. @message is a zero-length SEND with immediate
 * from post to completion handler, sender's and receiver's work together: there,
 * nothing else separates two rounds, so @hop is the same. @post is the sender's
 * part of it, taken as half: what it does for one message before the next one.
 * @submit is the system call and @wake the wake-up of one rank.
 */
static const struct {
	uint32_t message;
	uint32_t hop;
	uint32_t post;
	uint32_t submit;
	uint32_t wake;
} cost_ns = {
	.message = 12200,
	.hop = 12200,
	.post = 6100,
	.submit = 620,
	.wake = 3500,
};

struct candidate {
	uint32_t algorithm;
	uint32_t radix;
};

/* Where they cost the same, the first one is taken. */
static const struct candidate candidates[] = {
	{ COLLQ_BARRIER_DISSEMINATION, 0 },
	{ COLLQ_BARRIER_RECURSIVE_DOUBLING, 0 },
	{ COLLQ_BARRIER_K_NOMIAL, 2 },
	{ COLLQ_BARRIER_K_NOMIAL, 3 },
	{ COLLQ_BARRIER_K_NOMIAL, 4 },
	{ COLLQ_BARRIER_K_NOMIAL, 8 },
	{ COLLQ_BARRIER_K_NOMIAL, 16 },
	{ COLLQ_BARRIER_AUTO, 0 }	/* the end */
};

struct cost {
	uint64_t time;
	uint64_t path;
};

/* The least number of steps with which @base ^ steps reaches @size. */
static uint32_t steps(uint32_t size, uint32_t base)
{
	uint64_t reached;
	uint32_t nr = 0;

	for (reached = 1; reached < size; reached *= base)
		nr++;
	return nr;
}

/* Ranks beyond the largest power of two: recursive doubling gives them a proxy. */
static uint32_t ranks_beyond(uint32_t size)
{
	uint32_t power = 1;

	while (power <= size / 2)
		power *= 2;
	return size - power;
}

/* Messages of all ranks together. */
static uint64_t messages(const struct candidate *how, uint32_t size)
{
	const uint32_t beyond = ranks_beyond(size);

	switch (how->algorithm) {
	case COLLQ_BARRIER_DISSEMINATION:
		return (uint64_t)size * steps(size, 2);
	case COLLQ_BARRIER_RECURSIVE_DOUBLING:
		return (uint64_t)(size - beyond) * steps(size - beyond, 2) +
		       2 * (uint64_t)beyond;
	default:
		return 2 * ((uint64_t)size - 1);
	}
}

/*
 * How long news of the last rank takes to all others. In a tree a rank tells the
 * children of one step one after the other, and hears from them likewise.
 */
static uint64_t path(const struct candidate *how, uint32_t size)
{
	const uint32_t beyond = ranks_beyond(size);
	uint64_t step = cost_ns.hop;
	uint32_t children;

	switch (how->algorithm) {
	case COLLQ_BARRIER_DISSEMINATION:
		return steps(size, 2) * step;
	case COLLQ_BARRIER_RECURSIVE_DOUBLING:
		return (steps(size - beyond, 2) + (beyond ? 2 : 0)) * step;
	default:
		children = (how->radix < size ? how->radix : size) - 1;
		if (children)
			step += (uint64_t)(children - 1) * cost_ns.post;
		return 2 * steps(size, how->radix) * step;
	}
}

static struct cost cost_of(const struct candidate *how, uint32_t size,
			   uint32_t processors)
{
	const uint64_t calls = (uint64_t)size * (cost_ns.submit + cost_ns.wake);
	const uint64_t work = messages(how, size) * cost_ns.message + calls;
	struct cost cost = { .time = work / processors, .path = path(how, size) };

	if (cost.time < cost.path)
		cost.time = cost.path;
	return cost;
}

/* Where there's as much work, the shorter path is better. */
static bool is_cheaper(const struct cost *cost, const struct cost *than)
{
	if (cost->time != than->time)
		return cost->time < than->time;
	return cost->path < than->path;
}

int collq_barrier_choose(uint32_t size, uint32_t processors, uint32_t *algorithm,
			 uint32_t *radix)
{
	struct cost least = { .time = UINT64_MAX, .path = UINT64_MAX };
	struct candidate best = candidates[0];
	const struct candidate *candidate;

	if (!size || *algorithm > COLLQ_BARRIER_K_NOMIAL || *radix == 1)
		return -EINVAL;
	if (!processors)
		processors = 1;
	if (processors > size)
		processors = size;

	for (candidate = candidates; candidate->algorithm != COLLQ_BARRIER_AUTO; candidate++) {
		struct candidate how = *candidate;
		struct cost cost;

		if (*algorithm != COLLQ_BARRIER_AUTO && *algorithm != how.algorithm)
			continue;
		if (how.radix && *radix)
			how.radix = *radix;
		cost = cost_of(&how, size, processors);
		if (is_cheaper(&cost, &least)) {
			least = cost;
			best = how;
		}
	}
	*algorithm = best.algorithm;
	*radix = best.radix;
	return 0;
}

/*
 * The same of data, from this module itself: what fits the latencies of all layouts and
 * packings best, see Documentation/alltoall-cost.rst. @message is a message with data of
 * one packet, @packet one packet more, @sent_kib what it takes for each 1024 bytes in
 * them; @invitation is the signal that says where a message may land. @gathered is a piece
 * more in a list that is sent, @scattered one in a list that is received into, @piece one
 * of what COPY does, and @copied_kib 1024 bytes of it. Moving a byte is counted as an
 * instruction there, which is more than it takes a processor.
 */
struct data_cost {
	uint32_t message;
	uint32_t packet;
	uint32_t sent_kib;
	uint32_t invitation;
	uint32_t gathered;
	uint32_t scattered;
	uint32_t piece;
	uint32_t copied_kib;
};

static const struct data_cost wire_ns = {
	.message = 10200,
	.packet = 6400,
	.sent_kib = 4640,
	.invitation = 12600,
	.gathered = 300,
	.scattered = 300,
	.piece = 160,
	.copied_kib = 1070,
};

/* Between local endpoints: both lists are gone through at once, and there are no packets. */
static const struct data_cost local_ns = {
	.message = 1900,
	.sent_kib = 1130,
	.invitation = 220,
	.gathered = 400,
	.scattered = 10,
	.piece = 280,
	.copied_kib = 1080,
};

/* Bytes that a packet carries: the usual MTU of SoftRoCE */
#define PACKET	1024

static const struct data_cost *cost_of_data(const struct collq_alltoall *what)
{
	return what->flags & COLLQ_ALLTOALL_LOCAL ? &local_ns : &wire_ns;
}

static uint64_t cost_of_copy(const struct data_cost *cost, uint64_t pieces, uint64_t bytes)
{
	return pieces * cost->piece + bytes * cost->copied_kib / 1024;
}

static uint64_t cost_of_message(const struct data_cost *cost, uint64_t bytes)
{
	uint64_t more = bytes ? (bytes - 1) / PACKET : 0;

	return cost->message + more * cost->packet + bytes * cost->sent_kib / 1024;
}

static uint64_t cost_of_list(const struct data_cost *cost, uint64_t pieces, bool lands)
{
	if (lands)
		return cost->invitation + (pieces - 1) * cost->scattered;
	return (pieces - 1) * cost->gathered;
}

bool collq_cost_prefers_list(const struct collq_alltoall *what, uint32_t pieces,
			     uint64_t bytes, bool lands)
{
	const struct data_cost *cost = cost_of_data(what);

	return cost_of_list(cost, pieces, lands) <= cost_of_copy(cost, pieces, bytes);
}

/* The cheaper way to get the blocks of a message together, or to where they belong */
static uint64_t cost_of_packing(const struct collq_alltoall *what, uint64_t blocks, bool lands)
{
	const struct data_cost *cost = cost_of_data(what);

	if (collq_cost_prefers_list(what, blocks, blocks * what->block, lands))
		return cost_of_list(cost, blocks, lands);
	return cost_of_copy(cost, blocks, blocks * what->block);
}

/*
 * Layouts D and E, which copy least; by the radix 2. Step @unit sends the blocks with that
 * bit in their number. With D they land where they belong, with E all come there at the end.
 */
static uint64_t cost_of_bruck(const struct collq_alltoall *what, uint32_t layout)
{
	const struct data_cost *cost = cost_of_data(what);
	const uint64_t others = what->nr_ranks - 1;
	uint64_t sum = 0, unit, blocks, rest;

	if (layout == COLLQ_ALLTOALL_E)
		sum = cost_of_copy(cost, others, others * what->block);
	for (unit = 1; unit < what->nr_ranks; unit *= 2) {
		rest = what->nr_ranks % (2 * unit);
		blocks = what->nr_ranks / (2 * unit) * unit + (rest > unit ? rest - unit : 0);
		sum += cost_of_message(cost, blocks * what->block) +
		       cost_of_packing(what, blocks, false);
		if (layout == COLLQ_ALLTOALL_D)
			sum += cost_of_packing(what, blocks, true);
	}
	return sum;
}

/* Each message waits for a signal. */
static uint64_t cost_of_pairwise(const struct collq_alltoall *what)
{
	const struct data_cost *cost = cost_of_data(what);

	return (what->nr_ranks - 1) * (cost->invitation + cost_of_message(cost, what->block));
}

uint32_t collq_cost_choose_layout(const struct collq_alltoall *what)
{
	const uint64_t by_d = cost_of_bruck(what, COLLQ_ALLTOALL_D);
	const uint64_t by_e = cost_of_bruck(what, COLLQ_ALLTOALL_E);
	const uint64_t pairwise = cost_of_pairwise(what);

	if (pairwise <= by_d && pairwise <= by_e)
		return COLLQ_ALLTOALL_PAIRWISE;
	return by_d < by_e ? COLLQ_ALLTOALL_D : COLLQ_ALLTOALL_E;
}
