// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Moving a context to another device, with all that libcollq has made in it.
 *
 * All of it is made once more, from what the library itself remembers and not from
 * what the kernel could describe: so a context can also be moved when its device
 * is gone, which is when it's needed most. Then communicators are reset, by all
 * ranks of each, which connects endpoints to where the peers' are now; it makes no
 * difference which of the ranks have moved. Buffers are pinned for both devices for a
 * moment; runs that use them are over by then, and so is all that could still arrive.
 *
 * Objects keep their places in the library's structures, where their new ids
 * replace the old ones. Those are noted down before, and put back if anything goes
 * wrong; since the old descriptor is closed last, all is as it was then. The new
 * descriptor takes the old one's number.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "comm.h"
#include "data.h"
#include "device.h"
#include "ioctl.h"
#include "log.h"
#include "objects.h"
#include "progress.h"
#include "region.h"
#include "request.h"
#include "ring.h"

/* An id, or a number of them, as it was */
struct note {
	uint32_t *where;
	uint32_t value;
};

/* What the context was in before */
struct move {
	struct collq_context *ctx;
	struct collq_device device;
	struct ib_collq_query limits;
	struct collq_ring *ring;
	struct note *notes;
	uint32_t nr_notes, room;
	int error;
};

static void note(uint32_t *where, void *arg)
{
	struct move *move = arg;
	uint32_t room = move->room ? 2 * move->room : 64;
	struct note *grown;

	if (move->nr_notes == move->room) {
		grown = realloc(move->notes, room * sizeof(*grown));
		if (!grown) {
			move->error = -ENOMEM;
			return;
		}
		move->notes = grown;
		move->room = room;
	}
	move->notes[move->nr_notes++] = (struct note){ where, *where };
}

static void note_request(struct move *move, struct collq_request *req)
{
	uint32_t i;

	note(&req->graph_id, move);
	note(&req->queue_id, move);
	note(&req->nr_counters, move);
	note(&req->nr_bound, move);
	for (i = 0; i < req->nr_in; i++)
		note(&req->in[i].counter, move);
	for (i = 0; i < req->nr_out; i++)
		note(&req->out[i].endpoint, move);
	if (req->data)
		collq_data_visit(req->data, note, move);
}

static void note_comm(struct move *move, struct collq_comm *comm)
{
	struct collq_request *req;
	struct collq_pair *pair;
	uint32_t i, j;

	for (i = 0; i < comm->size; i++) {
		pair = comm->pairs[i];
		for (j = 0; pair && j < pair->nr; j++)
			note(&pair->endpoints[j].id, move);
	}
	for (req = comm->requests; req; req = req->next_of_all)
		note_request(move, req);
}

static void count(uint32_t *id, void *nr)
{
	*(uint32_t *)nr += !!*id;
}

static uint32_t count_objects(const struct collq_comm *comm)
{
	const struct collq_request *req;
	uint32_t i, nr = 0;

	for (i = 0; i < comm->size; i++)
		if (comm->pairs[i])
			nr += collq_pair_nr_live(comm->pairs[i]);
	for (req = comm->requests; req; req = req->next_of_all) {
		nr += req->nr_counters + !!req->graph_id + !!req->queue_id;
		if (req->data)
			collq_data_visit(req->data, count, &nr);
	}
	return nr;
}

/* What the caller has made can't be moved, and is found out as long as it's there. */
static int check(struct collq_context *ctx)
{
	struct ib_collq_context_describe describe = { 0 };
	uint32_t nr_comms = 0, nr_objects = !!ctx->ring + collq_region_sweep(ctx);
	const struct collq_comm *comm;
	int err;

	for (comm = ctx->comms; comm; comm = comm->next) {
		if (comm->inits || comm->reset.stage != COLLQ_RESET_NONE)
			return -EBUSY;
		nr_comms++;
		nr_objects += count_objects(comm);
	}
	if (ctx->users != nr_comms)
		return -EBUSY;
	err = collq_context_describe(ctx, &describe);
	if (!err && describe.nr_objects != nr_objects)
		err = -EBUSY;
	return err == -ENODEV ? 0 : err;
}

/* Their owners are yet to see it. */
static void end_runs(struct collq_comm *comm)
{
	struct collq_request *req;

	for (req = comm->requests; req; req = req->next_of_all)
		collq_request_end(req);
	collq_progress(comm->ctx);
	/* Those that the kernel has nothing to say of, since the device is gone. */
	for (req = comm->requests; req; req = req->next_of_all)
		collq_progress_gone(req);
}

static int rebuild_endpoints(struct collq_comm *comm, struct collq_pair *pair)
{
	uint32_t i, nr = collq_pair_nr_live(pair), done;
	struct ib_collq_endpoint_create *entries, *entry;
	int err;

	entries = collq_new_entries(nr, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (i = 0, entry = entries; i < pair->nr; i++) {
		if (!pair->endpoints[i].id)
			continue;
		collq_endpoint_defaults(comm->ctx, pair->peer, entry);
		entry++->recv_capacity = pair->endpoints[i].capacity_here;
	}
	err = collq_ioctl_all(comm->ctx, IB_COLLQ_ENDPOINT_CREATE, entries, sizeof(*entries),
			      nr, &done);
	for (i = 0, entry = entries; i < pair->nr && !err; i++)
		if (pair->endpoints[i].id)
			pair->endpoints[i].id = entry++->id;
	free(entries);
	return err;
}

static int rebuild_comm(struct collq_comm *comm)
{
	struct collq_request *req;
	uint32_t i;
	int err = 0;

	for (i = 0; i < comm->size && !err; i++)
		if (comm->pairs[i])
			err = rebuild_endpoints(comm, comm->pairs[i]);
	for (req = comm->requests; req && !err; req = req->next_of_all)
		if (!req->init_error)
			err = collq_objects_rebuild(req);
	return err;
}

static int rebuild(struct collq_context *ctx)
{
	struct collq_comm *comm;
	int err = 0;

	if (ctx->ring)
		err = collq_context_map_ring(ctx);
	for (comm = ctx->comms; comm && !err; comm = comm->next)
		err = rebuild_comm(comm);
	return err;
}

/*
 * There's no way back. Requests can't run before all ranks have reset, or at all if
 * their communicator was shrunk.
 */
static void leave(struct move *move)
{
	struct collq_context *ctx = move->ctx;
	struct collq_request *req;
	struct collq_comm *comm;

	for (comm = ctx->comms; comm; comm = comm->next) {
		if (atomic_load(&comm->unready) != -ECONNABORTED)
			atomic_store(&comm->unready, -ENOTCONN);
		for (req = comm->requests; req; req = req->next_of_all) {
			atomic_store(&req->sequence, 0);
			if (req->data)
				collq_data_settle(req->data, true);
		}
	}
	if (move->ring)
		collq_ring_forget(move->ring);
	close(ctx->fd);
	collq_region_forget(ctx);
	ctx->fd = move->device.fd;
}

static void go_back(struct move *move)
{
	struct collq_context *ctx = move->ctx;
	struct collq_request *req;
	struct collq_comm *comm;
	uint32_t i;

	for (i = 0; i < move->nr_notes; i++)
		*move->notes[i].where = move->notes[i].value;
	for (comm = ctx->comms; comm; comm = comm->next)
		for (req = comm->requests; req; req = req->next_of_all)
			if (req->data)
				collq_data_settle(req->data, false);
	if (ctx->ring != move->ring)
		collq_ring_forget(ctx->ring);
	close(ctx->fd);
	ctx->ring = move->ring;
	ctx->fd = move->device.fd;
	strcpy(ctx->device, move->device.name);
	ctx->port = move->device.port;
	ctx->gid_index = move->device.gid_index;
	ctx->limits = move->limits;
}

static int find_device(const char *name, struct collq_device *device)
{
	struct collq_env env;
	int err;

	err = collq_env_read(&env);
	return err ? err : collq_device_open(name, &env, device);
}

static int go(struct move *move, const struct collq_device *to)
{
	struct collq_context *ctx = move->ctx;
	int err;

	err = collq_context_enter(ctx, to);
	if (!err)
		err = rebuild(ctx);
	/* This closes the old one. */
	if (!err && dup3(ctx->fd, move->device.fd, O_CLOEXEC) < 0)
		err = -errno;
	if (err)
		go_back(move);
	else
		leave(move);
	return err;
}

int collq_context_move(struct collq_context *context, const char *device)
{
	struct move move = {
		.ctx = context,
		.device.fd = context->fd,
		.device.port = context->port,
		.device.gid_index = context->gid_index,
		.limits = context->limits,
		.ring = context->ring,
	};
	struct collq_device to;
	struct collq_comm *comm;
	int err;

	/* The descriptor is the caller's. */
	if (context->verbs)
		return -EOPNOTSUPP;
	err = check(context);
	if (err)
		return err;
	strcpy(move.device.name, context->device);
	for (comm = context->comms; comm; comm = comm->next)
		note_comm(&move, comm);
	err = move.error;
	if (!err)
		err = find_device(device, &to);
	if (!err) {
		for (comm = context->comms; comm; comm = comm->next)
			end_runs(comm);
		err = go(&move, &to);
	}
	if (!err)
		collq_info("moved from %s to %s", move.device.name, context->device);
	free(move.notes);
	return err;
}
