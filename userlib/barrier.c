// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * From what is wanted to a request: a barrier, or any graph.
 *
 * Whatever is wrong with the options, the rank takes part in the initialisation
 * and fails it: another rank's may be right, and it must not be left waiting.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "request.h"
#include "sized.h"

static int choose(const struct collq_comm *comm, const struct collq_barrier_options *given,
		  struct collq_barrier_options *options)
{
	int err;

	memset(options, 0, sizeof(*options));
	if (given) {
		err = collq_sized_take(options, sizeof(*options), given);
		if (err)
			return err;
	}
	if (options->algorithm == COLLQ_BARRIER_AUTO)
		options->algorithm = comm->ctx->env.barrier_algorithm;
	if (!options->radix)
		options->radix = comm->ctx->env.barrier_radix;
	return collq_barrier_choose(comm->size, options->processors, &options->algorithm,
				    &options->radix);
}

int collq_barrier_init(struct collq_comm *comm, const struct collq_barrier_options *options,
		       struct collq_request **request)
{
	struct collq_barrier_options chosen;
	struct collq_recipe recipe = { 0 };
	int err;

	err = collq_graph_new(&recipe.graph);
	if (err)
		return err;
	recipe.error = choose(comm, options, &chosen);
	if (!recipe.error)
		recipe.error = collq_barrier_graph(recipe.graph, comm->rank, comm->size,
						   chosen.algorithm, chosen.radix);
	recipe.algorithm = chosen.algorithm;
	recipe.radix = chosen.radix;
	err = collq_request_new(comm, &recipe, request);
	if (err)
		collq_graph_free(recipe.graph);
	return err;
}

int collq_graph_init(struct collq_comm *comm, const struct collq_graph *graph,
		     struct collq_request **request)
{
	struct collq_recipe recipe = { .algorithm = COLLQ_MESSAGE_GRAPH };
	int err;

	err = collq_graph_copy(graph, &recipe.graph);
	if (err)
		return err;
	err = collq_request_new(comm, &recipe, request);
	if (err)
		collq_graph_free(recipe.graph);
	return err;
}
