// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What to expect of an algorithm, from the graphs of all its ranks: they can be
 * built anywhere, without a device.
 */
#include <math.h>

#include <collq/collq.h>

#include "expect.h"

/* -errno, or 0 and the messages that one rank sends */
static int add_messages_of(uint32_t rank, uint32_t ranks, uint32_t algorithm, uint32_t radix,
			   double *messages)
{
	struct collq_graph_channel channel = { .size = sizeof(channel) };
	struct collq_graph *graph;
	uint32_t i;
	int rc;

	rc = collq_graph_new(&graph);
	if (rc)
		return rc;
	rc = collq_barrier_graph(graph, rank, ranks, algorithm, radix);
	for (i = 0; !rc && i < collq_graph_nr_out(graph); i++) {
		rc = collq_graph_out_channel(graph, i, &channel);
		if (!rc)
			*messages += channel.messages;
	}
	collq_graph_free(graph);
	return rc;
}

double expected_messages(uint32_t ranks, uint32_t algorithm, uint32_t radix)
{
	double messages = 0;
	uint32_t rank;

	if (algorithm == COLLQ_BARRIER_AUTO)
		return NAN;
	for (rank = 0; rank < ranks; rank++) {
		if (add_messages_of(rank, ranks, algorithm, radix, &messages))
			return NAN;
	}
	return messages;
}
