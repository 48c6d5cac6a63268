// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the tests of graphs share (graph_util.h).
 */
#include <errno.h>
#include <stdlib.h>

#include "graph_util.h"

int graph_util_lower(const struct collq_graph *graph,
		     const struct ib_collq_query *limits,
		     struct ib_collq_task **tasks, uint32_t *nr)
{
	const uint32_t nr_out = collq_graph_nr_out(graph);
	const uint32_t nr_in = collq_graph_nr_in(graph);
	struct collq_graph_out_binding *out = calloc(nr_out + 1, sizeof(*out));
	uint32_t *in = calloc(nr_in + 1, sizeof(*in));
	const struct collq_graph_binding binding = {
		.size = sizeof(binding),
		.out_size = sizeof(*out),
		.out = out,
		.in = in,
		.nr_out = nr_out,
		.nr_in = nr_in,
		.limits = limits,
	};
	int err = -ENOMEM;
	uint32_t i;

	if (out && in) {
		for (i = 0; i < nr_out; i++) {
			out[i].endpoint = GRAPH_UTIL_ENDPOINT(i);
			out[i].slot = GRAPH_UTIL_SLOT(i);
			out[i].generation = GRAPH_UTIL_GENERATION(i);
		}
		for (i = 0; i < nr_in; i++)
			in[i] = GRAPH_UTIL_COUNTER(i);
		err = collq_graph_lower(graph, &binding, tasks, nr);
	}
	free(out);
	free(in);
	return err;
}

/* splitmix64: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators. */
uint32_t graph_util_pick(uint64_t *state, uint64_t below)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return ((z >> 32) * below) >> 32;
}
