// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See exchanges.h.
 */
#include "exchanges.h"

void exchange_new(struct team_member *me, uint32_t comm, struct exchange *exchange,
		  uint64_t bytes, uint32_t layout, uint32_t packing, uint32_t radix,
		  bool in_place)
{
	const struct collq_alltoall_options options = {
		.size = sizeof(options),
		.layout = layout,
		.packing = packing,
		.radix = radix,
	};
	struct blocks *blocks = &exchange->blocks;

	exchange->run = 0;
	CHECK(blocks_new(blocks, me->rank, me->size, bytes, in_place));
	CHECK_IS(0, collq_alltoall_init(me->comm[comm], in_place ? COLLQ_IN_PLACE : blocks->send,
					blocks->recv, bytes, &options, &exchange->request));
	CHECK_IS(0, collq_init_wait(exchange->request, team_deadline()));
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
