// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory of the executor (executor.h): what COPY, CALC and messages do to it, and what
 * must not happen to it between two runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor_internal.h"

/* A place in a list: piece number @piece, and how far into it. */
struct cursor {
	const struct list *list;
	uint32_t piece;
	uint64_t offset;
};

int executor_set_data(struct executor *ex, const struct executor_data *data)
{
	uint32_t i, buffer;
	size_t bytes;

	ex->data = *data;
	for (i = 0; i < ex->size; i++) {
		for (buffer = 0; buffer < 3; buffer++) {
			bytes = data->bytes[buffer];
			if (buffer == COLLQ_BUFFER_SCRATCH)
				bytes *= data->generations;
			ex->ranks[i].memory[buffer] = calloc(1, bytes + 1);
			if (!ex->ranks[i].memory[buffer])
				return -ENOMEM;
		}
	}
	return 0;
}

static uint64_t length(const struct list *list)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < list->nr; i++)
		sum += list->sges[i].length;
	return sum;
}

static bool is_inside(const struct executor *ex, const struct list *list)
{
	const struct ib_collq_sge *sge;

	for (sge = list->sges; sge < list->sges + list->nr; sge++)
		if (sge->buffer >= 3 || !sge->length ||
		    sge->offset > ex->data.bytes[sge->buffer] ||
		    sge->length > ex->data.bytes[sge->buffer] - sge->offset)
			return false;
	return true;
}

static bool overlap(const struct list *a, const struct list *b)
{
	const struct ib_collq_sge *x, *y;

	for (x = a->sges; x < a->sges + a->nr; x++)
		for (y = b->sges; y < b->sges + b->nr; y++)
			if (x->buffer == y->buffer && x->offset < y->offset + y->length &&
			    y->offset < x->offset + x->length)
				return true;
	return false;
}

/* What the device gets, if memory is registered in parts and begins somewhere in a page. */
static bool fits_device(const struct executor *ex, const struct op *op)
{
	const struct ib_collq_query *limits = &ex->data.limits;
	const uint32_t most = op->opcode == IB_COLLQ_TASK_SEND ? limits->max_send_sge :
								 limits->max_recv_sge;
	const uint32_t part = limits->region_part;
	const struct ib_collq_sge *sge;
	uint64_t base, first, nr;

	for (base = 0; base < part / 2; base += part / 16) {
		for (nr = 0, sge = op->from.sges; sge < op->from.sges + op->from.nr; sge++) {
			first = base + sge->offset;
			nr += (first + sge->length - 1) / part - first / part + 1;
		}
		if (nr > most)
			return false;
	}
	return true;
}

int executor_check_lists(const struct executor *ex, const struct op *op)
{
	if (!is_inside(ex, &op->from) || !is_inside(ex, &op->to))
		return -ERANGE;
	if (op->opcode != IB_COLLQ_TASK_COPY && op->opcode != IB_COLLQ_TASK_CALC)
		return fits_device(ex, op) ? 0 : -EMSGSIZE;
	if (length(&op->from) != length(&op->to) || overlap(&op->from, &op->to))
		return -EINVAL;
	return 0;
}

/* What is at the cursor, and how much of it in one piece; NULL at the end. */
static unsigned char *look(const struct executor *ex, const struct rank *rank,
			   const struct cursor *cursor, uint64_t *bytes)
{
	const struct ib_collq_sge *sge = &cursor->list->sges[cursor->piece];
	uint64_t base = 0;

	if (cursor->piece == cursor->list->nr)
		return NULL;
	if (sge->buffer == COLLQ_BUFFER_SCRATCH)
		base = cursor->list->generation * ex->data.bytes[COLLQ_BUFFER_SCRATCH];
	*bytes = sge->length - cursor->offset;
	return rank->memory[sge->buffer] + base + sge->offset + cursor->offset;
}

static void advance(struct cursor *cursor, uint64_t bytes)
{
	cursor->offset += bytes;
	if (cursor->offset < cursor->list->sges[cursor->piece].length)
		return;
	cursor->piece++;
	cursor->offset = 0;
}

/* Move as much as both lists hold. */
static void move(const struct executor *ex, const struct rank *from,
		 const struct list *from_list, const struct rank *to,
		 const struct list *to_list)
{
	struct cursor source = { .list = from_list }, target = { .list = to_list };
	unsigned char *what, *where;
	uint64_t bytes, room;

	for (;;) {
		what = look(ex, from, &source, &bytes);
		where = look(ex, to, &target, &room);
		if (!what || !where)
			break;
		if (bytes > room)
			bytes = room;
		memmove(where, what, bytes);
		advance(&source, bytes);
		advance(&target, bytes);
	}
}

void executor_land(struct executor *ex, uint32_t sender, const struct list *from,
		   uint32_t receiver, const struct list *to)
{
	if (length(from) != length(to))
		ex->report->misfits++;
	move(ex, &ex->ranks[sender], from, &ex->ranks[receiver], to);
}

/* The lists of a task, in the scratch memory of the generation that the rank is in. */
static void current_lists(const struct executor *ex, const struct rank *rank,
			  const struct op *op, struct list *from, struct list *to)
{
	*from = op->from;
	*to = op->to;
	if (!ex->data.generations)
		return;
	from->generation = rank->run % ex->data.generations;
	to->generation = rank->run % ex->data.generations;
}

void executor_copy(struct executor *ex, uint32_t rank_nr, const struct op *op)
{
	struct rank *rank = &ex->ranks[rank_nr];
	struct list from, to;

	current_lists(ex, rank, op, &from, &to);
	ex->report->copied[rank->run] += length(&from);
	move(ex, rank, &from, rank, &to);
}

/* Numbers are as long as the type says, and two of them belong together or not. */
struct numbers {
	uint64_t value;
	uint64_t place;
};

static uint64_t take_number(const unsigned char *bytes, uint32_t type)
{
	uint32_t narrow;
	uint64_t wide;

	if (type == IB_COLLQ_TYPE_S64 || type == IB_COLLQ_TYPE_U64) {
		memcpy(&wide, bytes, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, bytes, sizeof(narrow));
	return type == IB_COLLQ_TYPE_S32 ? (uint64_t)(int64_t)(int32_t)narrow : narrow;
}

static bool is_less(uint64_t a, uint64_t b, uint32_t type)
{
	if (type == IB_COLLQ_TYPE_S32 || type == IB_COLLQ_TYPE_S64)
		return (int64_t)a < (int64_t)b;
	return a < b;
}

static bool is_taken(const struct op *op, const struct numbers *new,
		     const struct numbers *old)
{
	bool is_max = op->calc_op == IB_COLLQ_CALC_MAX || op->calc_op == IB_COLLQ_CALC_MAXLOC;

	if (new->value == old->value)
		return is_less(new->place, old->place, op->calc_type);
	return is_less(new->value, old->value, op->calc_type) != is_max;
}

static uint64_t calculate(uint32_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case IB_COLLQ_CALC_ADD:
		return a + b;
	case IB_COLLQ_CALC_AND:
		return a & b;
	case IB_COLLQ_CALC_OR:
		return a | b;
	default:
		return a ^ b;
	}
}

/* In little-endian memory the lower half of a sum is the narrower sum. */
static void calculate_one(const struct op *op, unsigned char *where,
			  const unsigned char *what, uint32_t width, bool is_pair)
{
	struct numbers new = { .value = take_number(what, op->calc_type) };
	struct numbers old = { .value = take_number(where, op->calc_type) };
	uint64_t result;

	if (is_pair) {
		new.place = take_number(what + width, op->calc_type);
		old.place = take_number(where + width, op->calc_type);
	}
	if (is_pair || op->calc_op == IB_COLLQ_CALC_MIN || op->calc_op == IB_COLLQ_CALC_MAX) {
		if (is_taken(op, &new, &old))
			memcpy(where, what, is_pair ? 2 * width : width);
		return;
	}
	result = calculate(op->calc_op, old.value, new.value);
	memcpy(where, &result, width);
}

void executor_calc(struct executor *ex, uint32_t rank_nr, const struct op *op)
{
	const bool is_pair = op->calc_op >= IB_COLLQ_CALC_MINLOC;
	const bool is_wide = op->calc_type >= IB_COLLQ_TYPE_S64;
	const uint32_t width = is_wide ? 8 : 4, element = is_pair ? 2 * width : width;
	struct rank *rank = &ex->ranks[rank_nr];
	struct list from, to;
	struct cursor source = { .list = &from }, target = { .list = &to };
	unsigned char *what, *where;
	uint64_t bytes;

	current_lists(ex, rank, op, &from, &to);
	for (;;) {
		what = look(ex, rank, &source, &bytes);
		where = look(ex, rank, &target, &bytes);
		if (!what || !where)
			break;
		calculate_one(op, where, what, width, is_pair);
		advance(&source, element);
		advance(&target, element);
	}
}

static unsigned char scribble_of(const struct rank *rank, uint32_t buffer)
{
	return 0xa5 + 16 * rank->run + buffer;
}

static void scribble(struct executor *ex, struct rank *rank)
{
	uint32_t buffer;

	for (buffer = 0; buffer < COLLQ_BUFFER_SCRATCH; buffer++)
		memset(rank->memory[buffer], scribble_of(rank, buffer), ex->data.bytes[buffer]);
}

void executor_check_scribble(struct executor *ex, uint32_t rank_nr)
{
	const struct rank *rank = &ex->ranks[rank_nr];
	uint32_t buffer;
	size_t i;

	for (buffer = 0; ex->data.fill && buffer < COLLQ_BUFFER_SCRATCH; buffer++)
		for (i = 0; i < ex->data.bytes[buffer]; i++)
			ex->report->trespasses += rank->memory[buffer][i] !=
						  scribble_of(rank, buffer);
}

void executor_begin_memory(struct executor *ex)
{
	uint32_t i;

	for (i = 0; ex->data.fill && i < ex->size; i++) {
		scribble(ex, &ex->ranks[i]);
		memset(ex->ranks[i].memory[COLLQ_BUFFER_SCRATCH], 0x5a,
		       ex->data.generations * ex->data.bytes[COLLQ_BUFFER_SCRATCH]);
	}
}

void executor_begin_run(struct executor *ex, uint32_t rank_nr)
{
	struct rank *rank = &ex->ranks[rank_nr];

	executor_check_scribble(ex, rank_nr);
	if (ex->data.fill)
		ex->data.fill(ex->data.arg, rank_nr, rank->run,
			      rank->memory[COLLQ_BUFFER_SEND], rank->memory[COLLQ_BUFFER_RECV]);
}

/* Called when the rank's number of runs has gone up. */
void executor_end_run(struct executor *ex, uint32_t rank_nr)
{
	struct rank *rank = &ex->ranks[rank_nr];

	if (!ex->data.fill)
		return;
	ex->report->wrong += ex->data.check(ex->data.arg, rank_nr, rank->run - 1,
					    rank->memory[COLLQ_BUFFER_SEND],
					    rank->memory[COLLQ_BUFFER_RECV]);
	scribble(ex, rank);
}
