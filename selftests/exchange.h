/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The graphs of all ranks of an all-to-all, in an executor, with data of which each byte
 * depends on who sends it to whom, in which run, and where it is in its block.
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <stdint.h>

#include <collq/collq.h>

#include "executor.h"

/**
 * struct exchange - an all-to-all of all ranks
 * @what: as given; rank by rank it has the rank
 * @executor: with all of them loaded
 * @graphs: what they do
 * @preludes: what they do before
 * @needs: the same for all but for the length of scratch memory, which is the largest
 */
struct exchange {
	struct collq_alltoall what;
	struct executor *executor;
	struct collq_graph **graphs;
	struct collq_graph **preludes;
	struct collq_needs needs;
};

/**
 * exchange_build() - build the graphs
 * @exchange: the exchange; to be given to exchange_free() even on failure
 * @what: the all-to-all
 *
 * Return: 0 or -errno.
 */
int exchange_build(struct exchange *exchange, const struct collq_alltoall *what);

/**
 * exchange_load() - load graphs that were built, and perhaps changed, into an executor
 * @exchange: the exchange
 *
 * Return: 0 or -errno.
 */
int exchange_load(struct exchange *exchange);
void exchange_free(struct exchange *exchange);

/**
 * exchange_describe() - what it is, for messages
 * @what: the all-to-all
 *
 * Return: text, until the next call.
 */
const char *exchange_describe(const struct collq_alltoall *what);

/**
 * exchange_report() - what happened, for messages
 * @report: the report
 *
 * Return: text, until the next call.
 */
const char *exchange_report(const struct executor_report *report);

#endif /* EXCHANGE_H */
