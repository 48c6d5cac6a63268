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

/* What kind of all-to-all: as in struct collq_alltoall_options. @aligned: buffers begin pages */
struct exchange_kind {
	uint64_t bytes;
	uint32_t layout;
	uint32_t packing;
	uint32_t radix;
	bool in_place;
	bool aligned;
};

/*
 * One that is ready to run; the whole team fails if it isn't. Among so many ranks, of
 * which this is one, if the communicator isn't of all.
 */
void exchange_new_among(struct team_member *me, uint32_t comm, uint32_t rank, uint32_t nr,
			struct exchange *exchange, const struct exchange_kind *kind);
void exchange_new(struct team_member *me, uint32_t comm, struct exchange *exchange,
		  uint64_t bytes, uint32_t layout, uint32_t packing, uint32_t radix,
		  bool in_place);
/*
 * As if the device took lists of so many entries: what is longer is registered, if blocks
 * are whole pages and the buffers aligned.
 */
void exchange_new_folded(struct team_member *me, uint32_t comm, struct exchange *exchange,
			 uint32_t entries, const struct exchange_kind *kind);
void exchange_align(struct exchange *exchange);
/* Whether anything is. */
bool exchange_is_folded(const struct exchange *exchange);
void exchange_free(struct exchange *exchange);

/* Before a run and after it; and all of it. */
void exchange_fill(struct exchange *exchange);
void exchange_check(struct team_member *me, struct exchange *exchange);
void exchange_run(struct team_member *me, struct exchange *exchange);

/*
 * The same with sleep at random before the start, between its end and a first look at
 * the buffers, and between that and a second one, after which the next run may begin: what
 * a peer that is ahead sends meanwhile is not to be seen.
 */
void exchange_run_at_leisure(struct team_member *me, struct exchange *exchange);
void exchange_sleep(void);

/* Marks the receive buffer after a run that has failed; nobody may touch it any more. */
void exchange_mark(struct exchange *exchange);
void exchange_check_mark(struct team_member *me, const struct exchange *exchange);

#define REDUCTION_NUMBERS	100

/* Sums among all ranks, each of which is another in each run */
struct reduction {
	struct collq_request *request;
	int64_t own[REDUCTION_NUMBERS], sums[REDUCTION_NUMBERS];
};

/* One that is ready to run; and a run: 0 if it ended well, with the right sums, or why not. */
void reduction_new(struct team_member *me, uint32_t comm, struct reduction *reduction);
int reduction_run(struct team_member *me, struct reduction *reduction, uint32_t run,
		  uint64_t deadline);

#endif /* EXCHANGES_H */
