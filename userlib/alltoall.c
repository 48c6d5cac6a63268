// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * From buffers to requests that move data: all-to-alls, allreduces, and any graph.
 *
 * Whatever is wrong with the options, the rank takes part in the initialisation and
 * fails it, as with barriers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "comm.h"
#include "data_cost.h"
#include "data.h"
#include "request.h"
#include "sized.h"

/* Places of the options among what ranks agree on */
enum { LAYOUT, PACKING, RADIX, FLAGS };
enum { OPERATION, TYPE };

static void set_needs(struct collq_data *data, const struct collq_needs *needs)
{
	data->generations = needs->generations;
	data->scratch_bytes = needs->scratch;
}

/* Nothing is taken over if it fails. */
static int new_request(struct collq_comm *comm, struct collq_recipe *recipe,
		       struct collq_request **request)
{
	int err;

	err = collq_graph_new(&recipe->graph);
	if (!err)
		err = collq_request_new(comm, recipe, request);
	if (err) {
		collq_graph_free(recipe->graph);
		collq_data_free(recipe->data);
		free(recipe->terms);
	}
	return err;
}

/* Only -ENOMEM is told at once, for then there's nothing to take part with. */
static int new_data(struct collq_recipe *recipe, const void *send, void *recv, uint64_t bytes,
		    uint32_t size)
{
	int err;

	if (bytes > UINT64_MAX / size)
		err = -EINVAL;
	else
		err = collq_data_new(send, recv, size * bytes, size * bytes, &recipe->data);
	if (err && err != -ENOMEM) {
		recipe->error = err;
		err = 0;
	}
	return err;
}

static int build_alltoall(struct collq_request *req, const struct collq_message_terms *agreed)
{
	struct collq_alltoall *what = &req->terms->alltoall;
	struct collq_needs needs = { .size = sizeof(needs) };
	int err;

	what->max_send_sge = agreed->max_send_sge;
	what->max_recv_sge = agreed->max_recv_sge;
	what->max_message = agreed->max_message;
	what->region_part = agreed->region_part;
	if (agreed->place)
		what->flags |= COLLQ_ALLTOALL_LOCAL;
	if (what->layout == COLLQ_ALLTOALL_AUTO)
		what->layout = collq_cost_choose_layout(what);
	err = collq_alltoall_graph(req->graph, what, &needs);
	if (!err)
		err = collq_graph_new(&req->data->prelude);
	if (!err)
		err = collq_alltoall_prelude(req->data->prelude, what);
	if (err)
		return err;
	set_needs(req->data, &needs);
	return collq_lists_fold(req, agreed);
}

/*
 * In memory that's registered already, only the adapter moves anything: each block
 * straight to where it belongs, and the rank's own one by who starts the run. The same
 * where the memory has to be registered again, for ranks may differ in that.
 */
static int choose_for_mrs(const struct collq_comm *comm,
			  const struct collq_alltoall_options *options, struct collq_data *data,
			  struct collq_alltoall *what)
{
	if (options->layout != COLLQ_ALLTOALL_AUTO && options->layout != COLLQ_ALLTOALL_PAIRWISE)
		return -EINVAL;
	what->layout = COLLQ_ALLTOALL_PAIRWISE;
	what->packing = COLLQ_PACKING_SG;
	what->radix = 2;
	what->flags |= COLLQ_ALLTOALL_NOT_OWN;
	data->own_offset = what->rank * what->block;
	data->own_bytes = what->block;
	return collq_data_lend(data, comm->ctx, options->send_mr, options->recv_mr);
}

static int choose(const struct collq_comm *comm, const struct collq_alltoall_options *given,
		  struct collq_data *data, struct collq_alltoall *what)
{
	struct collq_alltoall_options options = { 0 };
	int err;

	if (given) {
		err = collq_sized_take(&options, sizeof(options), given);
		if (err)
			return err;
	}
	if (options.send_mr || options.recv_mr)
		return choose_for_mrs(comm, &options, data, what);
	what->layout = options.layout;
	if (what->layout == COLLQ_ALLTOALL_AUTO)
		what->layout = comm->ctx->env.alltoall_algorithm;
	what->packing = options.packing ? options.packing : COLLQ_PACKING_SELECTIVE;
	what->radix = options.radix ? options.radix : 2;
	return 0;
}

int collq_alltoall_init(struct collq_comm *comm, const void *sendbuf, void *recvbuf,
			uint64_t bytes, const struct collq_alltoall_options *options,
			struct collq_request **request)
{
	struct collq_recipe recipe = { .algorithm = COLLQ_MESSAGE_ALLTOALL };
	struct collq_alltoall *what;
	int err;

	recipe.terms = calloc(1, sizeof(*recipe.terms));
	if (!recipe.terms)
		return -ENOMEM;
	what = &recipe.terms->alltoall;
	*what = (struct collq_alltoall){
		.size = sizeof(*what),
		.flags = sendbuf == COLLQ_IN_PLACE ? COLLQ_ALLTOALL_IN_PLACE : 0,
		.rank = comm->rank,
		.nr_ranks = comm->size,
		.block = bytes,
	};
	err = new_data(&recipe, sendbuf, recvbuf, bytes, comm->size);
	if (err) {
		free(recipe.terms);
		return err;
	}
	if (!recipe.error)
		recipe.error = choose(comm, options, recipe.data, what);
	recipe.terms->build = build_alltoall;
	recipe.terms->own.amount = bytes;
	recipe.terms->own.choice[LAYOUT] = what->layout;
	recipe.terms->own.choice[PACKING] = what->packing;
	recipe.terms->own.choice[RADIX] = what->radix;
	recipe.terms->own.choice[FLAGS] = what->flags;
	return new_request(comm, &recipe, request);
}

int collq_alltoall_chosen(const struct collq_request *request, struct collq_alltoall *alltoall)
{
	if (request->algorithm != COLLQ_MESSAGE_ALLTOALL)
		return -EINVAL;
	if (request->stage != COLLQ_INIT_DONE)
		return -EAGAIN;
	if (request->init_error)
		return request->init_error;
	return collq_sized_give(alltoall, &request->terms->alltoall,
				sizeof(request->terms->alltoall));
}

static int build_allreduce(struct collq_request *req, const struct collq_message_terms *agreed)
{
	struct collq_allreduce *what = &req->terms->allreduce;
	struct collq_needs needs = { .size = sizeof(needs) };
	int err;

	what->max_message = agreed->max_message;
	err = collq_allreduce_graph(req->graph, what, &needs);
	if (!err)
		err = collq_graph_new(&req->data->prelude);
	if (!err)
		err = collq_allreduce_prelude(req->data->prelude, what);
	if (!err)
		set_needs(req->data, &needs);
	return err;
}

/* Bytes of an element, or 0 if there's no such type. */
static uint64_t element_bytes(uint32_t op, uint32_t type)
{
	uint64_t bytes = 0;

	switch (type) {
	case IB_COLLQ_TYPE_S32:
	case IB_COLLQ_TYPE_U32:
		bytes = 4;
		break;
	case IB_COLLQ_TYPE_S64:
	case IB_COLLQ_TYPE_U64:
		bytes = 8;
		break;
	}
	return op == IB_COLLQ_CALC_MINLOC || op == IB_COLLQ_CALC_MAXLOC ? 2 * bytes : bytes;
}

int collq_allreduce_init(struct collq_comm *comm, const void *sendbuf, void *recvbuf,
			 uint64_t count, uint32_t op, uint32_t type,
			 struct collq_request **request)
{
	struct collq_recipe recipe = { .algorithm = COLLQ_MESSAGE_ALLREDUCE };
	uint64_t element = element_bytes(op, type);
	int err = 0;

	recipe.terms = calloc(1, sizeof(*recipe.terms));
	if (!recipe.terms)
		return -ENOMEM;
	recipe.terms->allreduce = (struct collq_allreduce){
		.size = sizeof(recipe.terms->allreduce),
		.flags = sendbuf == COLLQ_IN_PLACE ? COLLQ_ALLREDUCE_IN_PLACE : 0,
		.rank = comm->rank,
		.nr_ranks = comm->size,
		.count = count,
		.op = op,
		.type = type,
	};
	if (!element || count > UINT64_MAX / element)
		recipe.error = -EINVAL;
	else
		err = new_data(&recipe, sendbuf, recvbuf, count * element, 1);
	if (err) {
		free(recipe.terms);
		return err;
	}
	recipe.terms->build = build_allreduce;
	recipe.terms->own.amount = count;
	recipe.terms->own.choice[OPERATION] = op;
	recipe.terms->own.choice[TYPE] = type;
	return new_request(comm, &recipe, request);
}

int collq_graph_data_init(struct collq_comm *comm, const struct collq_graph *graph,
			  const struct collq_graph_data *given, struct collq_request **request)
{
	struct collq_recipe recipe = { .algorithm = COLLQ_MESSAGE_GRAPH };
	struct collq_graph_data what;
	int err;

	err = collq_sized_take(&what, sizeof(what), given);
	if (!err && (!what.generations || what.generations > 2))
		err = -EINVAL;
	if (err)
		return err;
	err = collq_data_new(what.send, what.recv, what.send_bytes, what.recv_bytes,
			     &recipe.data);
	if (err)
		return err;
	recipe.data->generations = what.generations;
	recipe.data->scratch_bytes = what.scratch;
	if (what.prelude)
		err = collq_graph_copy(what.prelude, &recipe.data->prelude);
	if (!err)
		err = collq_graph_copy(graph, &recipe.graph);
	if (!err)
		err = collq_request_new(comm, &recipe, request);
	if (err) {
		collq_graph_free(recipe.graph);
		collq_data_free(recipe.data);
	}
	return err;
}

const struct collq_graph *collq_request_graph(const struct collq_request *request)
{
	return request->stage == COLLQ_INIT_DONE ? request->graph : NULL;
}
