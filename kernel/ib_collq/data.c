// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the CPU does with data: COPY and CALC.
 *
 * A task works its way through two lists at once, a piece at a time, each within
 * a page on both sides. How far it has come is state of the queue, so that a long
 * one can stop when the engine's budget is used up and go on later, in a worker.
 * The elements of CALC may lie at any address and across any border; they are
 * brought together on the stack, some at a time.
 *
 * Under the queue's lock, in process context or softirq.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "bindings.h"
#include "data.h"
#include "graph.h"
#include "region.h"

/* Bytes that cost as much of the budget as a task. */
#define COLLQ_BYTES_PER_TASK	512U

/* The same for entries of lists that are counted together */
#define COLLQ_ENTRIES_PER_TASK	256U

/* And for pieces of memory that CALC brings together, which may be as short as a byte */
#define COLLQ_PIECES_PER_TASK	16U

/* Bytes that CALC brings together at a time; a multiple of every element. */
#define COLLQ_CALC_BYTES	256U

u64 collq_list_length(const struct collq_list *list)
{
	u64 length = 0;
	u32 i;

	for (i = 0; i < list->nr; i++)
		length += list->sges[i].length;
	return length;
}

/* Where a place is, and how many bytes follow there. There are some. */
static void *collq_list_at(const struct collq_list *list,
			   struct collq_place *place, u32 *room)
{
	const struct collq_binding *binding;
	const struct ib_collq_sge *sge;
	void *address;

	while (place->done == list->sges[place->entry].length) {
		place->entry++;
		place->done = 0;
	}
	sge = &list->sges[place->entry];
	binding = &list->bindings->slots[sge->buffer];
	address = collq_region_address(binding->region, binding->offset +
				       sge->offset + place->done, room);
	*room = min(*room, sge->length - place->done);
	return address;
}

/* Copies one piece. */
static u32 collq_copy_piece(const struct collq_list *src,
			    const struct collq_list *dst,
			    struct collq_progress *progress)
{
	u32 src_room, dst_room, length;
	void *from = collq_list_at(src, &progress->src, &src_room);
	void *to = collq_list_at(dst, &progress->dst, &dst_room);

	length = min_t(u64, progress->left, min(src_room, dst_room));
	memmove(to, from, length);
	progress->src.done += length;
	progress->dst.done += length;
	return length;
}

/* Brings bytes of a list together: from how many pieces. */
static u32 collq_list_gather(const struct collq_list *list,
			     struct collq_place *place, void *buffer, u32 length)
{
	u32 room, pieces = 0;

	for (; length; length -= room, pieces++) {
		void *from = collq_list_at(list, place, &room);

		room = min(room, length);
		memcpy(buffer, from, room);
		buffer += room;
		place->done += room;
	}
	return pieces;
}

/* The opposite. */
static u32 collq_list_scatter(const struct collq_list *list,
			      struct collq_place *place, const void *buffer,
			      u32 length)
{
	u32 room, pieces = 0;

	for (; length; length -= room, pieces++) {
		void *to = collq_list_at(list, place, &room);

		room = min(room, length);
		memcpy(to, buffer, room);
		buffer += room;
		place->done += room;
	}
	return pieces;
}

/*
 * The operations on one type. An element of MINLOC and MAXLOC is a value and its
 * index; of equal values the lower index wins, whichever side it's on.
 */
#define COLLQ_DEFINE_CALC(name, value_t)					\
static void collq_calc_##name(u32 op, value_t dst[], const value_t src[], \
			      u32 nr)					\
{									\
	u32 i;								\
									\
	switch (op) {							\
	case IB_COLLQ_CALC_ADD:						\
		for (i = 0; i < nr; i++)				\
			dst[i] = (u64)dst[i] + (u64)src[i];		\
		break;							\
	case IB_COLLQ_CALC_MIN:						\
		for (i = 0; i < nr; i++)				\
			dst[i] = min(dst[i], src[i]);			\
		break;							\
	case IB_COLLQ_CALC_MAX:						\
		for (i = 0; i < nr; i++)				\
			dst[i] = max(dst[i], src[i]);			\
		break;							\
	case IB_COLLQ_CALC_AND:						\
		for (i = 0; i < nr; i++)				\
			dst[i] &= src[i];				\
		break;							\
	case IB_COLLQ_CALC_OR:						\
		for (i = 0; i < nr; i++)				\
			dst[i] |= src[i];				\
		break;							\
	case IB_COLLQ_CALC_XOR:						\
		for (i = 0; i < nr; i++)				\
			dst[i] ^= src[i];				\
		break;							\
	default:							\
		for (i = 0; i < nr; i += 2) {				\
			bool better = op == IB_COLLQ_CALC_MINLOC ?	\
				      src[i] < dst[i] : src[i] > dst[i]; \
									\
			if (better || (src[i] == dst[i] &&		\
				       src[i + 1] < dst[i + 1])) {	\
				dst[i] = src[i];			\
				dst[i + 1] = src[i + 1];		\
			}						\
		}							\
	}								\
}

COLLQ_DEFINE_CALC(s32, s32)
COLLQ_DEFINE_CALC(u32, u32)
COLLQ_DEFINE_CALC(s64, s64)
COLLQ_DEFINE_CALC(u64, u64)

static void collq_calc(const struct collq_step *step, void *dst, const void *src,
		       u32 length)
{
	switch (step->calc_type) {
	case IB_COLLQ_TYPE_S32:
		collq_calc_s32(step->calc_op, dst, src, length / 4);
		break;
	case IB_COLLQ_TYPE_U32:
		collq_calc_u32(step->calc_op, dst, src, length / 4);
		break;
	case IB_COLLQ_TYPE_S64:
		collq_calc_s64(step->calc_op, dst, src, length / 8);
		break;
	default:
		collq_calc_u64(step->calc_op, dst, src, length / 8);
	}
}

/* Combines some elements, which lie in so many pieces. */
static u32 collq_calc_piece(const struct collq_step *step,
			    const struct collq_list *src,
			    const struct collq_list *dst,
			    struct collq_progress *progress, u32 *pieces)
{
	u64 left[COLLQ_CALC_BYTES / sizeof(u64)];
	u64 right[COLLQ_CALC_BYTES / sizeof(u64)];
	u32 length = min_t(u64, progress->left, COLLQ_CALC_BYTES);
	struct collq_place start = progress->dst;

	*pieces = collq_list_gather(src, &progress->src, right, length);
	*pieces += collq_list_gather(dst, &start, left, length);
	collq_calc(step, left, right, length);
	*pieces += collq_list_scatter(dst, &progress->dst, left, length);
	return length;
}

/*
 * Starts with what is to be read. The entries are counted, which costs, and any of them
 * may be empty, and skipped.
 */
void collq_data_begin(struct collq_progress *progress,
		      const struct collq_list *src, const struct collq_list *dst,
		      unsigned int *budget)
{
	*progress = (struct collq_progress) {
		.left = collq_list_length(src),
		.begun = true,
	};
	*budget -= min(*budget, (src->nr + dst->nr) / COLLQ_ENTRIES_PER_TASK);
}

/* So many bytes have been done, in so many pieces. */
static void collq_data_charge(struct collq_progress *progress, u32 done,
			      u32 pieces, unsigned int *budget)
{
	progress->left -= done;
	*budget -= min(*budget, 1 + done / COLLQ_BYTES_PER_TASK +
				pieces / COLLQ_PIECES_PER_TASK);
}

/* Copies from list to list as much as may be done. */
void collq_data_copy(const struct collq_list *src, const struct collq_list *dst,
		     struct collq_progress *progress, unsigned int *budget)
{
	u32 done;

	while (progress->left && *budget) {
		done = collq_copy_piece(src, dst, progress);
		collq_data_charge(progress, done, 1, budget);
	}
}

/**
 * collq_data_run - go on with a COPY or CALC task
 * @graph: the graph
 * @step: the task
 * @bindings: its buffers
 * @progress: how far it has come
 * @budget: how much may be done; not 0. What was done is taken from it
 *
 * The task is over when @progress->left is 0.
 *
 * Return: bytes that were done.
 */
u64 collq_data_run(const struct collq_graph *graph,
		   const struct collq_step *step,
		   struct collq_bindings *bindings,
		   struct collq_progress *progress, unsigned int *budget)
{
	const struct collq_list src = collq_step_list(graph, step, bindings);
	const struct collq_list dst = collq_step_target(graph, step, bindings);
	u32 done, pieces;
	u64 before;

	if (!progress->begun)
		collq_data_begin(progress, &src, &dst, budget);
	before = progress->left;
	if (step->opcode == IB_COLLQ_TASK_COPY)
		collq_data_copy(&src, &dst, progress, budget);
	while (progress->left && *budget) {
		done = collq_calc_piece(step, &src, &dst, progress, &pieces);
		collq_data_charge(progress, done, pieces, budget);
	}
	return before - progress->left;
}
