// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An all-to-all of all ranks in memory (exchange.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"

/* Any change of one of them changes the byte, but once in 256 times. */
static unsigned char byte_of(uint32_t sender, uint32_t receiver, uint32_t run, uint32_t i)
{
	uint32_t hash = sender * 0x9e3779b1U ^ receiver * 0x85ebca77U ^ (run + 1) * 0xc2b2ae3dU ^
			(i + 1) * 0x27d4eb2fU;

	hash ^= hash >> 15;
	hash *= 0x2c1b3c6dU;
	return hash >> 24;
}

static void fill(void *arg, uint32_t rank, uint32_t run, unsigned char *send,
		 unsigned char *recv)
{
	const struct exchange *exchange = arg;
	const struct collq_alltoall *what = &exchange->what;
	uint32_t peer, i;

	if (what->flags & COLLQ_ALLTOALL_IN_PLACE)
		send = recv;
	for (peer = 0; peer < what->nr_ranks; peer++)
		for (i = 0; i < what->block; i++)
			*send++ = byte_of(rank, peer, run, i);
}

/* What was sent must still be there as well. */
static uint64_t check(void *arg, uint32_t rank, uint32_t run, const unsigned char *send,
		      const unsigned char *recv)
{
	const struct exchange *exchange = arg;
	const struct collq_alltoall *what = &exchange->what;
	uint32_t peer, i;
	uint64_t wrong = 0;

	for (peer = 0; peer < what->nr_ranks; peer++) {
		for (i = 0; i < what->block; i++) {
			wrong += *recv++ != byte_of(peer, rank, run, i);
			if (!(what->flags & COLLQ_ALLTOALL_IN_PLACE))
				wrong += *send++ != byte_of(rank, peer, run, i);
		}
	}
	return wrong;
}

static int build_rank(struct exchange *exchange, uint32_t rank)
{
	struct collq_needs needs = { .size = sizeof(needs) };
	int err;

	exchange->what.rank = rank;
	err = collq_graph_new(&exchange->graphs[rank]);
	if (!err)
		err = collq_graph_new(&exchange->preludes[rank]);
	if (!err)
		err = collq_alltoall_graph(exchange->graphs[rank], &exchange->what, &needs);
	if (!err)
		err = collq_alltoall_prelude(exchange->preludes[rank], &exchange->what);
	if (err)
		return err;
	if (needs.scratch < exchange->needs.scratch)
		needs.scratch = exchange->needs.scratch;
	exchange->needs = needs;
	return 0;
}

int exchange_build(struct exchange *exchange, const struct collq_alltoall *what)
{
	uint32_t i;
	int err = 0;

	*exchange = (struct exchange){ .what = *what };
	exchange->graphs = calloc(what->nr_ranks, sizeof(*exchange->graphs));
	exchange->preludes = calloc(what->nr_ranks, sizeof(*exchange->preludes));
	if (!exchange->graphs || !exchange->preludes)
		return -ENOMEM;
	for (i = 0; i < what->nr_ranks && !err; i++)
		err = build_rank(exchange, i);
	return err;
}

int exchange_load(struct exchange *exchange)
{
	const struct collq_alltoall *what = &exchange->what;
	const size_t bytes = what->nr_ranks * what->block;
	const struct executor_data data = {
		.bytes = {
			what->flags & COLLQ_ALLTOALL_IN_PLACE ? 0 : bytes, bytes,
			exchange->needs.scratch,
		},
		.generations = exchange->needs.generations,
		.limits = {
			.size = sizeof(data.limits),
			.max_message = what->max_message,
			.region_part = what->region_part,
			.max_tasks = 65536,
			.max_slots = 16384,
			.max_sges = 65536,
			.max_send_sge = what->max_send_sge,
			.max_recv_sge = what->max_recv_sge,
			.max_buffers = 3,
		},
		.arg = exchange,
		.fill = fill,
		.check = check,
	};
	uint32_t i;
	int err;

	if (exchange->executor)
		executor_free(exchange->executor);
	err = executor_new(&exchange->executor, what->nr_ranks);
	if (!err)
		err = executor_set_data(exchange->executor, &data);
	for (i = 0; i < what->nr_ranks && !err; i++)
		err = executor_bind(exchange->executor, i, exchange->graphs[i]);
	for (i = 0; i < what->nr_ranks && !err; i++) {
		err = executor_load(exchange->executor, i, exchange->graphs[i]);
		if (!err)
			err = executor_load_prelude(exchange->executor, i,
						    exchange->preludes[i]);
	}
	return err;
}

void exchange_free(struct exchange *exchange)
{
	uint32_t i;

	if (exchange->executor)
		executor_free(exchange->executor);
	for (i = 0; i < exchange->what.nr_ranks; i++) {
		if (exchange->graphs)
			collq_graph_free(exchange->graphs[i]);
		if (exchange->preludes)
			collq_graph_free(exchange->preludes[i]);
	}
	free(exchange->graphs);
	free(exchange->preludes);
	*exchange = (struct exchange){ 0 };
}

const char *exchange_describe(const struct collq_alltoall *what)
{
	static const char *const packings[] = { "none", "cpu", "sg", "selective" };
	static char text[128];

	snprintf(text, sizeof(text), "%u ranks, %llu bytes, layout %c, %s, radix %u, %u/%u SGEs%s",
		 what->nr_ranks, (unsigned long long)what->block,
		 what->layout <= COLLQ_ALLTOALL_E ? 'A' + what->layout - 1 : 'P',
		 packings[what->packing % 4], what->radix, what->max_send_sge,
		 what->max_recv_sge,
		 what->flags & COLLQ_ALLTOALL_IN_PLACE ? ", in place" : "");
	return text;
}

const char *exchange_report(const struct executor_report *report)
{
	const struct {
		const char *name;
		uint64_t nr;
	} counts[] = {
		{ "early", report->early },
		{ "stuck", report->stuck },
		{ "left over", report->leftover },
		{ "overrun", report->overrun },
		{ "not ready", report->not_ready },
		{ "misfits", report->misfits },
		{ "trespasses", report->trespasses },
		{ "wrong", report->wrong },
	};
	static char text[256];
	size_t used = 0, i;

	text[0] = '\0';
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (counts[i].nr)
			used += snprintf(text + used, sizeof(text) - used, "%s %llu ",
					 counts[i].name, (unsigned long long)counts[i].nr);
	return text;
}
