// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Communicators.
 *
 * Life: created locally; pairs come into being with the first initialisation
 * that needs them and stay; destroyed once the last request is freed. Then the
 * endpoints go, of which the kernel sees to it that their last messages arrive.
 *
 * One that is shrunk has nothing in common with what comes of it but the context:
 * what was reserved, or is still on its way, at endpoints that were used by ranks
 * that are gone is nobody's business any more. It is ended, so that whoever still
 * sleeps in it, here or on another rank, comes back.
 */
#include <errno.h>
#include <stdlib.h>

#include "comm.h"
#include "init.h"
#include "ioctl.h"
#include "message.h"
#include "request.h"
#include "reset.h"
#include "sized.h"

static int join_context(struct collq_comm *comm)
{
	struct collq_context *ctx = comm->ctx;
	int err = 0;

	pthread_mutex_lock(&ctx->lock);
	if (!ctx->ring)
		err = collq_context_map_ring(ctx);
	if (!err) {
		comm->next = ctx->comms;
		ctx->comms = comm;
		ctx->users++;
	}
	pthread_mutex_unlock(&ctx->lock);
	return err;
}

static void leave_context(struct collq_comm *comm)
{
	struct collq_context *ctx = comm->ctx;
	struct collq_comm **link = &ctx->comms;

	pthread_mutex_lock(&ctx->lock);
	while (*link != comm)
		link = &(*link)->next;
	*link = comm->next;
	ctx->users--;
	pthread_mutex_unlock(&ctx->lock);
}

static void free_memory(struct collq_comm *comm)
{
	uint32_t i;

	for (i = 0; comm->pairs && i < comm->size; i++)
		if (comm->pairs[i])
			collq_pair_destroy(comm->pairs[i]);
	free(comm->pairs);
	free(comm->send);
	free(comm->recv);
	free(comm);
}

/* A lone rank has nobody to reach. */
static int take_oob(const struct collq_oob *given, uint32_t size, struct collq_oob *oob)
{
	int err;

	*oob = (struct collq_oob){ 0 };
	if (given) {
		err = collq_sized_take(oob, sizeof(*oob), given);
		if (err)
			return err;
	}
	if (size > 1 && (!oob->allgather || !oob->test || !oob->req_free))
		return -EINVAL;
	return 0;
}

int collq_comm_create(struct collq_context *context, uint32_t rank, uint32_t size,
		      const struct collq_oob *oob, struct collq_comm **out)
{
	struct collq_oob callbacks;
	struct collq_comm *comm;
	int err;

	if (rank >= size)
		return -EINVAL;
	err = take_oob(oob, size, &callbacks);
	if (err)
		return err;
	comm = calloc(1, sizeof(*comm));
	if (!comm)
		return -ENOMEM;
	comm->ctx = context;
	comm->rank = rank;
	comm->size = size;
	comm->oob = callbacks;
	comm->block = collq_message_block(size);
	comm->last_init = &comm->inits;
	comm->send = calloc(1, comm->block);
	comm->recv = calloc(size, comm->block);
	comm->pairs = calloc(size, sizeof(comm->pairs[0]));
	err = -ENOMEM;
	if (!comm->send || !comm->recv || !comm->pairs)
		goto err_free;
	err = join_context(comm);
	if (err)
		goto err_free;
	pthread_mutex_init(&comm->lock, NULL);
	*out = comm;
	return 0;

err_free:
	free_memory(comm);
	return err;
}

/* The kernel's endpoints; those that don't go now go with the context. */
static void destroy_endpoints(struct collq_comm *comm)
{
	struct ib_collq_object_destroy entry = { .type = IB_COLLQ_OBJECT_ENDPOINT };
	struct collq_pair *pair;
	uint32_t i, j;
	int ret;

	for (i = 0; i < comm->size; i++) {
		pair = comm->pairs[i];
		for (j = 0; pair && j < pair->nr; j++) {
			entry.id = pair->endpoints[j].id;
			if (!entry.id)
				continue;
			ret = collq_object_destroy(comm->ctx, &entry, 1);
			if (ret < 0)
				collq_debug("endpoint %u to rank %u: destroy gives %d", entry.id,
					    i, ret);
		}
	}
}

int collq_comm_destroy(struct collq_comm *comm)
{
	bool busy;

	if (!comm)
		return 0;
	pthread_mutex_lock(&comm->lock);
	busy = comm->requests;
	pthread_mutex_unlock(&comm->lock);
	if (busy)
		return -EBUSY;
	collq_reset_give_up(comm);
	destroy_endpoints(comm);
	leave_context(comm);
	pthread_mutex_destroy(&comm->lock);
	free_memory(comm);
	return 0;
}

/* All that is under way comes to its end, and nothing more begins. */
static void end(struct collq_comm *comm)
{
	struct collq_request *req;

	pthread_mutex_lock(&comm->lock);
	collq_reset_give_up(comm);
	atomic_store(&comm->unready, -ECONNABORTED);
	comm->broken = true;
	while (comm->inits)
		collq_init_give_up(comm->inits);
	for (req = comm->requests; req; req = req->next_of_all)
		collq_request_stop(req);
	pthread_mutex_unlock(&comm->lock);
}

int collq_comm_shrink(struct collq_comm *comm, uint32_t rank, uint32_t size,
		      const struct collq_oob *oob, struct collq_comm **shrunk)
{
	int err;

	if (size > comm->size)
		return -EINVAL;
	err = collq_comm_create(comm->ctx, rank, size, oob, shrunk);
	if (!err)
		end(comm);
	return err;
}

struct collq_pair *collq_comm_pair(struct collq_comm *comm, uint32_t peer)
{
	struct collq_pair *pair = comm->pairs[peer];

	if (!pair) {
		pair = calloc(1, sizeof(*pair));
		if (!pair)
			return NULL;
		pair->peer = peer;
		comm->pairs[peer] = pair;
	}
	return pair;
}
