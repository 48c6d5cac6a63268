// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What an all-to-all costs, and so which layout `auto` stands for, and whether a list is
 * worth its pieces.
 *
 * It's the work that counts, of all ranks together: as if they shared a processor. The
 * answer must be the same on all ranks, or their graphs don't fit: so integers only, and
 * nothing that a rank finds out by itself.
 */
#include <stdbool.h>
#include <stdint.h>

#include <collq/collq.h>

#include "alltoall_plan.h"
#include "data_cost.h"

/*
 * Nanoseconds, as in barrier_cost.c, but from this module itself: what fits the latencies
 * of all layouts and packings best, see Documentation/alltoall-cost.rst. @message is a
 * message with data of one packet, @packet one packet more, @sent_kib what it takes for
 * each 1024 bytes in them; @invitation is the signal that says where a message may land.
 * @gathered is a piece more in a list that is sent, @gathered_too where the message lands
 * in a list, too, and @scattered a piece more in that; @piece is one of what COPY does, and
 * @copied_kib 1024 bytes of it. Moving a byte is counted as an instruction there, which is
 * more than it takes a processor.
 */
struct data_cost {
	uint32_t message;
	uint32_t packet;
	uint32_t sent_kib;
	uint32_t invitation;
	uint32_t gathered;
	uint32_t gathered_too;
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
	.gathered_too = 300,
	.scattered = 300,
	.piece = 160,
	.copied_kib = 1070,
};

/* Between local endpoints: lists at both ends are gone through at once; no packets. */
static const struct data_cost local_ns = {
	.message = 1900,
	.sent_kib = 1130,
	.invitation = 220,
	.gathered = 330,
	.gathered_too = 165,
	.scattered = 165,
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

/* With layout D messages land in lists, with others they don't. */
static uint64_t cost_of_list(const struct data_cost *cost, uint32_t layout, uint64_t pieces,
			     bool lands)
{
	if (lands)
		return cost->invitation + (pieces - 1) * cost->scattered;
	if (layout == COLLQ_ALLTOALL_D)
		return (pieces - 1) * cost->gathered_too;
	return (pieces - 1) * cost->gathered;
}

bool collq_cost_prefers_list(const struct collq_alltoall *what, uint32_t layout,
			     uint32_t pieces, uint64_t bytes, bool lands)
{
	const struct data_cost *cost = cost_of_data(what);

	return cost_of_list(cost, layout, pieces, lands) <= cost_of_copy(cost, pieces, bytes);
}

/* The blocks of a message are got together, or to where they belong, as will be done. */
static uint64_t cost_of_packing(const struct collq_alltoall *what, uint32_t layout,
				uint64_t blocks, bool lands)
{
	const struct data_cost *cost = cost_of_data(what);
	const uint32_t most = lands ? what->max_recv_sge : what->max_send_sge;
	const uint64_t bytes = blocks * what->block;
	bool by_list = what->packing == COLLQ_PACKING_SG;

	if (what->packing == COLLQ_PACKING_SELECTIVE)
		by_list = blocks <= most &&
			  collq_cost_prefers_list(what, layout, blocks, bytes, lands);
	return by_list ? cost_of_list(cost, layout, blocks, lands) :
			 cost_of_copy(cost, blocks, bytes);
}

/* Lists that are too long are split, and so are their messages. */
static uint64_t cost_of_splitting(const struct collq_alltoall *what, uint64_t blocks,
				  uint32_t most)
{
	/* What nobody has a limit for is refused later. */
	if (what->packing != COLLQ_PACKING_SG || !most)
		return 0;
	return (blocks - 1) / most * cost_of_data(what)->message;
}

static uint64_t cost_of_step(const struct collq_alltoall *what, uint32_t layout,
			     uint64_t blocks)
{
	uint64_t sum = cost_of_message(cost_of_data(what), blocks * what->block) +
		       cost_of_packing(what, layout, blocks, false);
	uint32_t most = what->max_send_sge;

	if (layout == COLLQ_ALLTOALL_D) {
		sum += cost_of_packing(what, layout, blocks, true);
		if (most > what->max_recv_sge)
			most = what->max_recv_sge;
	}
	return sum + cost_of_splitting(what, blocks, most);
}

/*
 * Layouts D and E, which copy least. With D blocks land where they belong, with E all
 * come there at the end.
 */
static uint64_t cost_of_bruck(const struct collq_alltoall *what, uint32_t layout)
{
	const uint64_t size = what->nr_ranks, radix = what->radix > 1 ? what->radix : 2;
	uint64_t sum = 0, unit, digit;

	if (layout == COLLQ_ALLTOALL_E)
		sum = cost_of_copy(cost_of_data(what), size - 1, (size - 1) * what->block);
	for (unit = 1; unit < size; unit *= radix) {
		for (digit = 1; digit < radix && digit * unit < size; digit++)
			sum += cost_of_step(what, layout,
					    collq_step_entries(size, radix, unit, digit));
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
