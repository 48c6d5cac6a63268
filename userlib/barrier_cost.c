// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a barrier costs, by algorithm, and so which one `auto` stands for.
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
