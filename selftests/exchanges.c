// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See exchanges.h.
 */
#include <string.h>
#include <unistd.h>

#include "context.h"
#include "exchanges.h"

#define MAX_SLEEP_US	400
#define MARK		0x3c

void exchange_new_among(struct team_member *me, uint32_t comm, uint32_t rank, uint32_t nr,
			struct exchange *exchange, const struct exchange_kind *kind)
{
	const struct collq_alltoall_options options = {
		.size = sizeof(options),
		.layout = kind->layout,
		.packing = kind->packing,
		.radix = kind->radix,
	};
	struct blocks *blocks = &exchange->blocks;

	exchange->run = 0;
	CHECK(blocks_new(blocks, rank, nr, kind->bytes, kind->in_place));
	if (kind->aligned)
		exchange_align(exchange);
	CHECK_IS(0, collq_alltoall_init(me->comm[comm],
					kind->in_place ? COLLQ_IN_PLACE : blocks->send,
					blocks->recv, kind->bytes, &options, &exchange->request));
	CHECK_IS(0, collq_init_wait(exchange->request, team_deadline()));
}

void exchange_new(struct team_member *me, uint32_t comm, struct exchange *exchange,
		  uint64_t bytes, uint32_t layout, uint32_t packing, uint32_t radix,
		  bool in_place)
{
	const struct exchange_kind kind = { bytes, layout, packing, radix, in_place, false };

	exchange_new_among(me, comm, me->rank, me->size, exchange, &kind);
}

/* No canaries before them then, but a page that can't be touched. */
void exchange_align(struct exchange *exchange)
{
	struct blocks *blocks = &exchange->blocks;

	blocks->recv = blocks->recv_pages.start;
	blocks->send = blocks->in_place ? blocks->recv : blocks->send_pages.start;
}

void exchange_new_folded(struct team_member *me, uint32_t comm, struct exchange *exchange,
			 uint32_t entries, const struct exchange_kind *kind)
{
	const struct collq_env env = me->ctx->env;
	const struct ib_collq_query limits = me->ctx->limits;

	me->ctx->env.long_lists = COLLQ_LONG_LISTS_PAGES;
	me->ctx->limits.max_send_sge = entries;
	me->ctx->limits.max_recv_sge = entries;
	exchange_new_among(me, comm, me->rank, me->size, exchange, kind);
	me->ctx->env = env;
	me->ctx->limits = limits;
}

bool exchange_is_folded(const struct exchange *exchange)
{
	struct collq_graph_table table = { .size = sizeof(table) };

	collq_graph_table(collq_request_graph(exchange->request), &table);
	return table.nr_buffers > COLLQ_BUFFER_SCRATCH + 1;
}

void exchange_free(struct exchange *exchange)
{
	collq_request_free(exchange->request);
	blocks_free(&exchange->blocks);
}

void exchange_fill(struct exchange *exchange)
{
	blocks_fill(&exchange->blocks, exchange->run);
}

void exchange_check(struct team_member *me, struct exchange *exchange)
{
	uint32_t from;

	CHECK_IS(0, blocks_count_wrong(&exchange->blocks, exchange->run++, &from));
}

void exchange_run(struct team_member *me, struct exchange *exchange)
{
	exchange_fill(exchange);
	CHECK_IS(0, collq_start_wait(exchange->request, team_deadline()));
	exchange_check(me, exchange);
}

/* Half of the time not at all. */
void exchange_sleep(void)
{
	if (team_random(2))
		usleep(team_random(MAX_SLEEP_US));
}

void exchange_run_at_leisure(struct team_member *me, struct exchange *exchange)
{
	uint32_t from;

	exchange_fill(exchange);
	exchange_sleep();
	CHECK_IS(0, collq_start_wait(exchange->request, team_deadline()));
	exchange_sleep();
	CHECK_IS(0, blocks_count_wrong(&exchange->blocks, exchange->run, &from));
	exchange_sleep();
	exchange_check(me, exchange);
}

void exchange_mark(struct exchange *exchange)
{
	memset(exchange->blocks.recv, MARK, exchange->blocks.nr * exchange->blocks.bytes);
}

void exchange_check_mark(struct team_member *me, const struct exchange *exchange)
{
	const struct blocks *blocks = &exchange->blocks;
	size_t i;

	for (i = 0; i < blocks->nr * blocks->bytes; i++)
		CHECK_IS(MARK, blocks->recv[i]);
}

void reduction_new(struct team_member *me, uint32_t comm, struct reduction *reduction)
{
	CHECK_IS(0, collq_allreduce_init(me->comm[comm], reduction->own, reduction->sums,
					 REDUCTION_NUMBERS, IB_COLLQ_CALC_ADD,
					 IB_COLLQ_TYPE_S64, &reduction->request));
	CHECK_IS(0, collq_init_wait(reduction->request, team_deadline()));
}

int reduction_run(struct team_member *me, struct reduction *reduction, uint32_t run,
		  uint64_t deadline)
{
	int64_t i, all = me->size * (me->size + 1) / 2;
	int err;

	for (i = 0; i < REDUCTION_NUMBERS; i++)
		reduction->own[i] = (run - i) * (me->rank + 1);
	err = collq_start_wait(reduction->request, deadline);
	for (i = 0; i < REDUCTION_NUMBERS && !err; i++)
		CHECK_IS((run - i) * all, reduction->sums[i]);
	return err;
}
