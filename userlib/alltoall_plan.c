// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Layouts of an all-to-all by Bruck's algorithm. Bruck, Ho, Kipnis, Upfal, Weathersby:
 * Efficient Algorithms for All-to-All Communications in Multiport Message-Passing
 * Systems. IEEE Transactions on Parallel and Distributed Systems 8(11), 1997. Layouts B,
 * C and D: Träff, Rougier, Hunold: Implementing a Classic: Zero-copy All-to-all
 * Communication with MPI Datatypes. International Conference on Supercomputing, 2014.
 *
 * With p the own rank, all of it modulo the number of ranks, block j is:
 *  A: at T[j], an array in scratch memory, from the beginning to the end;
 *  B: at R[p + j] of the receive buffer likewise;
 *  C: at S[p - j] of the send buffer until its first step, then at R[p + j];
 *  D: as in C, but it lands at T[j] and at R[p + j] by turns, and there at last;
 *  E: at S[p + j] until its first step, then wherever it has landed last.
 * Blocks move up the ranks with A and E, and down with the others.
 *
 * A step of A, B or C sends from the places that it receives into. Were blocks to land
 * there directly, each rank would have to wait until it had sent before it could let
 * its peer send, round the circle of all ranks: for ever. So they land in scratch memory
 * of the step and are copied from there. With D they can land where they belong.
 *
 * What a message is has to be worked out alike by sender and receiver: so everything here
 * takes the rank that it's asked about.
 */
#include <errno.h>
#include <stdlib.h>

#include "alltoall_plan.h"
#include "data_cost.h"
#include "sized.h"

/* Places are counted in ints. */
#define MOST_PLACES	0x7fffffffU

static bool moves_up(const struct collq_plan *plan)
{
	return plan->layout == COLLQ_ALLTOALL_A || plan->layout == COLLQ_ALLTOALL_E;
}

uint32_t collq_plan_to(const struct collq_plan *plan, const struct collq_step *step,
		       uint32_t rank)
{
	return moves_up(plan) ? collq_plan_up(plan, rank, step->distance) :
				collq_plan_down(plan, rank, step->distance);
}

uint32_t collq_plan_from(const struct collq_plan *plan, const struct collq_step *step,
			 uint32_t rank)
{
	return moves_up(plan) ? collq_plan_down(plan, rank, step->distance) :
				collq_plan_up(plan, rank, step->distance);
}

/* Which block is entry @entry of a step, and the other way round. */
static uint32_t block_of(const struct collq_plan *plan, const struct collq_step *step,
			 uint32_t entry)
{
	return entry / step->unit * (uint64_t)step->unit * plan->radix +
	       step->distance + entry % step->unit;
}

static uint32_t entry_of(const struct collq_plan *plan, const struct collq_step *step,
			 uint32_t block)
{
	uint64_t above = (uint64_t)step->unit * plan->radix;

	return block / above * step->unit + block % step->unit;
}

static bool has_odd_digits(const struct collq_plan *plan, uint64_t number)
{
	bool odd = false;

	for (; number; number /= plan->radix)
		if (number % plan->radix)
			odd = !odd;
	return odd;
}

struct collq_place collq_plan_input(const struct collq_plan *plan, uint32_t i)
{
	return (struct collq_place){ plan->input, plan->first_input + i };
}

static struct collq_place scratch(uint32_t first, uint32_t i)
{
	return (struct collq_place){ COLLQ_BUFFER_SCRATCH, first + i };
}

static struct collq_place received(const struct collq_plan *plan, uint32_t rank,
				   uint32_t block)
{
	return (struct collq_place){ COLLQ_BUFFER_RECV, collq_plan_up(plan, rank, block) };
}

/* With E, where a block with these lower digits, not all of them 0, has landed last. */
static struct collq_place landed_last(const struct collq_plan *plan, uint32_t block,
				      uint32_t lower)
{
	uint64_t unit = 1;
	uint32_t position = 0;
	const struct collq_step *step;

	for (; unit * plan->radix <= lower; unit *= plan->radix)
		position++;
	step = &plan->steps[position * (plan->radix - 1) + lower / unit - 1];
	return scratch(step->landing, entry_of(plan, step, block));
}

struct collq_place collq_plan_source(const struct collq_plan *plan,
				     const struct collq_transfer *transfer, uint32_t entry)
{
	const struct collq_step *step = transfer->step;
	uint32_t rank = transfer->sender, block = block_of(plan, step, entry);
	bool is_first = block % step->unit == 0;

	switch (plan->layout) {
	case COLLQ_ALLTOALL_A:
		return scratch(plan->array, block);
	case COLLQ_ALLTOALL_B:
		return received(plan, rank, block);
	case COLLQ_ALLTOALL_E:
		if (is_first)
			return collq_plan_input(plan, collq_plan_up(plan, rank, block));
		return landed_last(plan, block, block % step->unit);
	default:
		if (is_first)
			return collq_plan_input(plan, collq_plan_down(plan, rank, block));
		if (plan->layout == COLLQ_ALLTOALL_D &&
		    has_odd_digits(plan, block / step->unit))
			return scratch(plan->array, block);
		return received(plan, rank, block);
	}
}

struct collq_place collq_plan_target(const struct collq_plan *plan,
				     const struct collq_transfer *transfer, uint32_t entry)
{
	const struct collq_step *step = transfer->step;
	uint32_t block = block_of(plan, step, entry);

	switch (plan->layout) {
	case COLLQ_ALLTOALL_A:
		return scratch(plan->array, block);
	case COLLQ_ALLTOALL_E:
		return scratch(step->landing, entry);
	case COLLQ_ALLTOALL_D:
		if (has_odd_digits(plan, block / step->unit / plan->radix))
			return scratch(plan->array, block);
		return received(plan, transfer->receiver, block);
	default:
		return received(plan, transfer->receiver, block);
	}
}

struct collq_place collq_plan_sent(const struct collq_plan *plan,
				   const struct collq_transfer *transfer, uint32_t entry)
{
	if (transfer->gather)
		return collq_plan_source(plan, transfer, entry);
	return scratch(transfer->step->pack, entry);
}

struct collq_place collq_plan_landed(const struct collq_plan *plan,
				     const struct collq_transfer *transfer, uint32_t entry)
{
	if (transfer->scatter)
		return collq_plan_target(plan, transfer, entry);
	return scratch(transfer->step->landing, entry);
}

struct collq_place collq_plan_output(const struct collq_plan *plan, uint32_t j)
{
	if (plan->layout == COLLQ_ALLTOALL_A)
		return scratch(plan->array, j);
	return landed_last(plan, j, j);
}

/* One of the functions that tell where an entry is. */
typedef struct collq_place (*place_fn)(const struct collq_plan *plan,
				       const struct collq_transfer *transfer,
				       uint32_t entry);

static bool is_next(const struct collq_place *place, const struct collq_place *next)
{
	return place->buffer == next->buffer && place->index + 1 == next->index;
}

/* In how many pieces the entries of a transfer lie. */
static uint32_t count_pieces(const struct collq_plan *plan,
			     const struct collq_transfer *transfer, place_fn place_of)
{
	struct collq_place last = { 0 }, place;
	uint32_t entry, nr = 0;

	for (entry = 0; entry < transfer->step->nr; entry++) {
		place = place_of(plan, transfer, entry);
		nr += !entry || !is_next(&last, &place);
		last = place;
	}
	return nr;
}

/*
 * Whether a list of so many pieces fits, wherever memory begins. A piece that lies in two
 * parts of it takes an entry more; but each border is in one piece at most.
 */
static bool is_list(const struct collq_plan *plan, uint64_t pieces, uint64_t blocks,
		    uint32_t most)
{
	uint64_t crossings = 0;

	if (plan->nr_borders) {
		crossings = pieces + blocks * plan->what.block / plan->what.region_part;
		if (crossings > plan->nr_borders)
			crossings = plan->nr_borders;
	}
	return pieces + crossings <= most;
}

static bool is_for_adapter(const struct collq_plan *plan,
			   const struct collq_transfer *transfer, place_fn place_of,
			   uint32_t most, bool lands)
{
	uint32_t pieces;

	if (plan->what.packing != COLLQ_PACKING_SELECTIVE)
		return plan->what.packing == COLLQ_PACKING_SG;
	pieces = count_pieces(plan, transfer, place_of);
	return is_list(plan, pieces, transfer->step->nr, most) &&
	       collq_cost_prefers_list(&plan->what, plan->layout, pieces,
				       transfer->step->nr * plan->what.block, lands);
}

/* What lands in the receiver's memory takes a message that says when it may. */
struct collq_transfer collq_plan_transfer(const struct collq_plan *plan,
					  const struct collq_step *step, uint32_t sender,
					  uint32_t receiver)
{
	struct collq_transfer transfer = {
		.step = step,
		.sender = sender,
		.receiver = receiver,
	};

	transfer.gather = is_for_adapter(plan, &transfer, collq_plan_source,
					 plan->what.max_send_sge, false);
	if (plan->layout == COLLQ_ALLTOALL_D)
		transfer.scatter = is_for_adapter(plan, &transfer, collq_plan_target,
						  plan->what.max_recv_sge, true);
	return transfer;
}

/* An adapter's list is part of a piece, or some. Blocks of no length need no list. */
uint32_t collq_plan_message(const struct collq_plan *plan,
			    const struct collq_transfer *transfer, uint32_t first)
{
	uint64_t most = plan->what.block ? plan->what.max_message / plan->what.block :
					   UINT64_MAX;
	uint32_t sent_pieces = 0, landed_pieces = 0, entry;
	struct collq_place sent, landed, last_sent = { 0 }, last_landed = { 0 };

	if (!plan->what.block)
		return transfer->step->nr - first;
	for (entry = first; entry < transfer->step->nr && entry - first < most; entry++) {
		sent = collq_plan_sent(plan, transfer, entry);
		landed = collq_plan_landed(plan, transfer, entry);
		sent_pieces += entry == first || !is_next(&last_sent, &sent);
		landed_pieces += entry == first || !is_next(&last_landed, &landed);
		/* A single block can't be less. */
		if (entry > first &&
		    (!is_list(plan, sent_pieces, entry - first + 1, plan->what.max_send_sge) ||
		     !is_list(plan, landed_pieces, entry - first + 1, plan->what.max_recv_sge)))
			break;
		last_sent = sent;
		last_landed = landed;
	}
	return entry - first;
}

#define ALLTOALL_FLAGS	(COLLQ_ALLTOALL_IN_PLACE | COLLQ_ALLTOALL_NOT_OWN | COLLQ_ALLTOALL_LOCAL)

static int check(const struct collq_alltoall *what)
{
	if (what->flags & ~ALLTOALL_FLAGS ||
	    what->rank >= what->nr_ranks ||
	    what->nr_ranks > MOST_PLACES / 4 ||
	    what->radix == 1 || !what->max_send_sge ||
	    !what->max_recv_sge || !what->max_message || what->block > what->max_message)
		return -EINVAL;
	if (what->layout < COLLQ_ALLTOALL_A || what->layout > COLLQ_ALLTOALL_PAIRWISE)
		return -EINVAL;
	if (what->layout == COLLQ_ALLTOALL_PAIRWISE)
		return 0;
	if (what->packing < COLLQ_PACKING_CPU || what->packing > COLLQ_PACKING_SELECTIVE)
		return -EINVAL;
	return 0;
}

/* The steps in order of distance; returns their number. */
static uint32_t list_steps(const struct collq_plan *plan, struct collq_step *steps)
{
	uint32_t digit, nr = 0, size = plan->what.nr_ranks;
	uint64_t unit;

	for (unit = 1; unit < size; unit *= plan->radix) {
		for (digit = 1; digit < plan->radix && digit * unit < size; digit++, nr++) {
			if (!steps)
				continue;
			steps[nr] = (struct collq_step){
				.number = nr,
				.unit = unit,
				.digit = digit,
				.distance = digit * unit,
			};
			steps[nr].nr = collq_step_entries(size, plan->radix, unit, digit);
		}
	}
	return nr;
}

/* The caller's buffers, and both generations of all the scratch memory that may be needed. */
static uint64_t count_borders(const struct collq_plan *plan)
{
	uint64_t part = plan->what.region_part, blocks = 2 * (uint64_t)plan->what.nr_ranks;
	uint32_t i;

	if (!part)
		return 0;
	for (i = 0; i < plan->nr_steps; i++)
		blocks += 2 * (uint64_t)plan->steps[i].nr;
	return 2 * collq_borders_in(plan->what.nr_ranks * plan->what.block, part) +
	       collq_borders_in(2 * blocks * plan->what.block, part);
}

/* What has to be elsewhere before anything lands in the receive buffer. */
static bool must_save_input(const struct collq_plan *plan)
{
	return plan->what.flags & COLLQ_ALLTOALL_IN_PLACE && !moves_up(plan);
}

static bool has_array(const struct collq_plan *plan)
{
	return plan->layout == COLLQ_ALLTOALL_A ||
	       (plan->layout == COLLQ_ALLTOALL_D && plan->radix < plan->what.nr_ranks);
}

/*
 * Scratch memory. What blocks are sent from comes first, so that it is at the same
 * place on all ranks; where one rank packs and another doesn't is last.
 */
static int lay_out(struct collq_plan *plan)
{
	const uint64_t size = plan->what.nr_ranks;
	uint32_t rank = plan->what.rank, i;
	struct collq_step *step;
	uint64_t used = 0;

	if (plan->what.flags & COLLQ_ALLTOALL_IN_PLACE)
		plan->input = COLLQ_BUFFER_RECV;
	if (must_save_input(plan)) {
		plan->input = COLLQ_BUFFER_SCRATCH;
		used += size;
	}
	plan->array = used;
	if (has_array(plan))
		used += size;
	for (i = 0; i < plan->nr_steps; i++) {
		step = &plan->steps[i];
		step->landing = used;
		if (!collq_plan_transfer(plan, step, collq_plan_from(plan, step, rank),
					 rank).scatter)
			used += step->nr;
		if (used > MOST_PLACES)
			return -EINVAL;
	}
	for (i = 0; i < plan->nr_steps; i++) {
		step = &plan->steps[i];
		step->pack = used;
		if (!collq_plan_transfer(plan, step, rank,
					 collq_plan_to(plan, step, rank)).gather)
			used += step->nr;
		if (used > MOST_PLACES)
			return -EINVAL;
	}
	plan->nr_scratch = used;
	if (used + 2 * size > MOST_PLACES ||
	    (plan->what.block && used + size > UINT64_MAX / plan->what.block))
		return -EINVAL;
	return 0;
}

int collq_plan_init(struct collq_plan *plan, const struct collq_alltoall *given)
{
	struct collq_alltoall what;
	int err;

	err = collq_sized_take(&what, sizeof(what), given);
	if (!err)
		err = check(&what);
	if (err)
		return err;
	if (what.max_message > UINT32_MAX)
		what.max_message = UINT32_MAX;
	if (what.block > what.max_message)
		return -EINVAL;
	*plan = (struct collq_plan){
		.layout = what.layout,
		.radix = what.radix ? what.radix : 2,
	};
	if (what.layout == COLLQ_ALLTOALL_PAIRWISE) {
		plan->layout = COLLQ_ALLTOALL_D;
		plan->radix = UINT32_MAX;
		what.packing = COLLQ_PACKING_SG;
	}
	if (plan->radix > what.nr_ranks)
		plan->radix = what.nr_ranks > 2 ? what.nr_ranks : 2;
	plan->what = what;
	plan->nr_steps = list_steps(plan, NULL);
	plan->steps = calloc(plan->nr_steps + 1, sizeof(*plan->steps));
	if (!plan->steps)
		return -ENOMEM;
	list_steps(plan, plan->steps);
	plan->nr_borders = count_borders(plan);
	err = lay_out(plan);
	if (err)
		collq_plan_free(plan);
	return err;
}

void collq_plan_free(struct collq_plan *plan)
{
	free(plan->steps);
	plan->steps = NULL;
}
