/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Where each block of an all-to-all is, step by step, on any rank: what
 * alltoall_graph.c makes tasks of. Plain computation.
 *
 * Block j of a rank is the one that has to go j ranks far. Written to the base of the
 * radix, j has a digit for each position; step (position, digit) carries all blocks
 * with that digit there, by digit * radix ^ position ranks.
 */
#ifndef COLLQ_ALLTOALL_PLAN_H
#define COLLQ_ALLTOALL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <collq/collectives.h>

/* A place for one block: number @index of @buffer. */
struct collq_place {
	uint32_t buffer;
	uint32_t index;
};

/*
 * @unit is the radix to the power of the position, @distance what the blocks travel.
 * @nr of them do. In scratch memory they may be gathered at @pack and land at
 * @landing. @gather: the sender's list goes to the adapter as it is; @scatter: so does
 * the receiver's. These depend on the ranks.
 */
struct collq_step {
	uint32_t number;
	uint32_t unit;
	uint32_t digit;
	uint32_t distance;
	uint32_t nr;
	uint32_t pack;
	uint32_t landing;
};

/* From @sender to @receiver in @step. */
struct collq_transfer {
	const struct collq_step *step;
	uint32_t sender;
	uint32_t receiver;
	bool gather;
	bool scatter;
};

/*
 * @input is the buffer that blocks come from: scratch memory, from @first_input on, if
 * the receive buffer would lose them too early. @layout is no longer PAIRWISE, which is
 * D with all in one step. @nr_scratch counts blocks. @nr_borders is how many borders of
 * registered parts there may be in all memory that a list is about, on any rank.
 */
struct collq_plan {
	struct collq_alltoall what;
	uint32_t layout;
	uint32_t radix;
	uint32_t input;
	uint32_t first_input;
	uint32_t array;
	uint32_t nr_scratch;
	uint64_t nr_borders;
	uint32_t nr_steps;
	struct collq_step *steps;
};

/* 0 or -errno; to be given to collq_plan_free() if it is 0. */
int collq_plan_init(struct collq_plan *plan, const struct collq_alltoall *what);
void collq_plan_free(struct collq_plan *plan);

/* Who gets what @rank sends in a step, and who sends what it gets. */
uint32_t collq_plan_to(const struct collq_plan *plan, const struct collq_step *step,
		       uint32_t rank);
uint32_t collq_plan_from(const struct collq_plan *plan, const struct collq_step *step,
			 uint32_t rank);

/* How a step is done between two ranks; both come to the same result. */
struct collq_transfer collq_plan_transfer(const struct collq_plan *plan,
					  const struct collq_step *step, uint32_t sender,
					  uint32_t receiver);

/* Entry @entry of a transfer at the sender: where it is, and what is sent. */
struct collq_place collq_plan_source(const struct collq_plan *plan,
				     const struct collq_transfer *transfer, uint32_t entry);
struct collq_place collq_plan_sent(const struct collq_plan *plan,
				   const struct collq_transfer *transfer, uint32_t entry);

/* At the receiver: where it lands, and where it has to be before the next step. */
struct collq_place collq_plan_landed(const struct collq_plan *plan,
				     const struct collq_transfer *transfer, uint32_t entry);
struct collq_place collq_plan_target(const struct collq_plan *plan,
				     const struct collq_transfer *transfer, uint32_t entry);

/* How many entries, from @first on, one message takes. */
uint32_t collq_plan_message(const struct collq_plan *plan,
			    const struct collq_transfer *transfer, uint32_t first);

/* Where block j, or the one for rank i, is before the first step. */
struct collq_place collq_plan_input(const struct collq_plan *plan, uint32_t i);

/* Where block j of @rank is after the last step. */
struct collq_place collq_plan_output(const struct collq_plan *plan, uint32_t j);

/* @rank + @distance and @rank - @distance, round the circle. */
static inline uint32_t collq_plan_up(const struct collq_plan *plan, uint32_t rank,
				     uint32_t distance)
{
	return ((uint64_t)rank + distance) % plan->what.nr_ranks;
}

static inline uint32_t collq_plan_down(const struct collq_plan *plan, uint32_t rank,
				       uint32_t distance)
{
	return ((uint64_t)rank + plan->what.nr_ranks - distance) % plan->what.nr_ranks;
}

/*
 * Borders between parts of so many bytes in memory that is one region or some of one,
 * wherever in a page that begins.
 */
static inline uint64_t collq_borders_in(uint64_t bytes, uint64_t part)
{
	return bytes > part / 2 ? bytes / part + 1 : 0;
}

/* How many distances below @size have this digit, to this base, where it's worth @unit. */
static inline uint64_t collq_step_entries(uint64_t size, uint64_t radix, uint64_t unit,
					  uint64_t digit)
{
	uint64_t rest = size % (radix * unit), more = 0;

	if (rest > digit * unit)
		more = rest - digit * unit < unit ? rest - digit * unit : unit;
	return size / (radix * unit) * unit + more;
}

#endif /* COLLQ_ALLTOALL_PLAN_H */
