/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * All-to-alls of a team, with buffers whose every byte is known.
 */
#ifndef EXCHANGES_H
#define EXCHANGES_H

#include "blocks.h"
#include "team.h"

/* @run: how many there were */
struct exchange {
	struct collq_request *request;
	struct blocks blocks;
	uint32_t run;
};

/* One that is ready to run; the whole team fails if it isn't. */
void exchange_new(struct team_member *me, uint32_t comm, struct exchange *exchange,
		  uint64_t bytes, uint32_t layout, uint32_t packing, uint32_t radix,
		  bool in_place);
void exchange_free(struct exchange *exchange);

/* Before a run and after it; and all of it. */
void exchange_fill(struct exchange *exchange);
void exchange_check(struct team_member *me, struct exchange *exchange);
void exchange_run(struct team_member *me, struct exchange *exchange);

#endif /* EXCHANGES_H */
