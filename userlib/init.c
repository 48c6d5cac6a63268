// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Initialising a request, on all ranks together.
 *
 *  0. If it moves data: agreeing on the terms (agree.c), which make the graph.
 *  1. Each rank works out its peers, chooses an endpoint for each (the same as the
 *     peer does, see pair.c), and makes all that it can make alone.
 *  2. Telling: an allgather of addresses of fresh endpoints, and of the slots that
 *     signals and ABORTs must name.
 *  3. With that it connects, and makes graph and queue.
 *  4. Reporting: an allgather of how that went. If it went well everywhere, any
 *     rank may start at once: all its peers are ready to receive.
 *
 * An endpoint that has failed isn't chosen again. But what is chosen must be the same
 * on both sides, and when one finds out the other may not know. So a rank that has
 * chosen one that it knows to have failed makes nothing, tells and reports so, and all
 * of them begin again, after both sides have taken note.
 *
 * A rank that fails goes on to take part, and tells so: the others must not be
 * left waiting. All ranks see the same reports and come to the same verdict; if
 * it is failure, each undoes what it did, down to the choice of endpoints.
 *
 * Called with the communicator's lock held. Waits for no other rank, unless the
 * application's allgather does; but the kernel may take a second to find that there's
 * no way to a peer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "alloc.h"
#include "data.h"
#include "init.h"
#include "log.h"
#include "objects.h"
#include "request.h"
#include "reset.h"

/* How often to begin again: each time another endpoint must have failed. */
#define MOST_AGAIN	64

int collq_init_find_link(struct collq_request *req, uint32_t peer, uint32_t *index)
{
	struct collq_comm *comm = req->comm;
	struct collq_link *link;
	uint32_t i;

	if (peer >= comm->size || peer == comm->rank)
		return -EINVAL;
	for (i = 0; i < req->nr_links; i++)
		if (req->links[i].pair->peer == peer)
			break;
	if (i == req->nr_links) {
		link = realloc(req->links, (i + 1) * sizeof(*link));
		if (!link)
			return -ENOMEM;
		req->links = link;
		link[i] = (struct collq_link){ .pair = collq_comm_pair(comm, peer) };
		if (!link[i].pair)
			return -ENOMEM;
		req->nr_links++;
	}
	*index = i;
	return 0;
}

/* Adds to a number of messages in one run; two runs must fit an endpoint. */
static int add_messages(const struct collq_request *req, uint32_t *sum, uint64_t more)
{
	uint32_t most = req->ctx->limits.max_capacity / 2;

	if (more > most || *sum + more > most)
		return -ENOSPC;
	*sum += more;
	return 0;
}

static int find_out_channels(struct collq_request *req)
{
	struct collq_graph_channel channel = { .size = sizeof(channel) };
	uint32_t i;
	int err;

	req->nr_out = collq_graph_nr_out(req->graph);
	req->out = collq_new_entries(req->nr_out, sizeof(req->out[0]));
	req->out_links = collq_new_entries(req->nr_out, sizeof(req->out_links[0]));
	if (!req->out || !req->out_links)
		return -ENOMEM;
	for (i = 0; i < req->nr_out; i++) {
		collq_graph_out_channel(req->graph, (int)i, &channel);
		err = collq_init_find_link(req, channel.peer, &req->out_links[i]);
		if (err)
			return err;
		err = add_messages(req, &req->links[req->out_links[i]].sends, channel.messages);
		if (err)
			return err;
	}
	return 0;
}

static int find_in_channels(struct collq_request *req)
{
	struct collq_graph_channel channel = { .size = sizeof(channel) };
	struct collq_link *link;
	uint32_t i, nr_in = collq_graph_nr_in(req->graph);
	int err;

	req->in = collq_new_entries(nr_in, sizeof(req->in[0]));
	if (!req->in)
		return -ENOMEM;
	for (i = 0; i < nr_in; i++) {
		collq_graph_in_channel(req->graph, (int)i, &channel);
		err = collq_init_find_link(req, channel.peer, &req->in[i].link);
		if (err)
			return err;
		link = &req->links[req->in[i].link];
		req->in[i].tag = channel.tag;
		req->in[i].slot = link->nr_channels++;
		err = add_messages(req, &link->waits, channel.messages);
		if (err)
			return err;
	}
	req->nr_in = nr_in;
	return 0;
}

/* The endpoint of each link. Room is taken when nothing can go wrong any more. */
static int choose_endpoints(struct collq_request *req)
{
	uint32_t max_slots = req->ctx->limits.max_slots;
	struct collq_link *link;
	uint32_t choice;
	int err;

	for (link = req->links; link < req->links + req->nr_links; link++) {
		choice = collq_pair_choose(link->pair, 2 * link->waits, 2 * link->sends);
		if (choice == link->pair->nr) {
			err = collq_pair_add(link->pair, max_slots);
			if (err)
				return err;
			link->fresh = true;
		}
		if (link->pair->endpoints[choice].failed_here)
			req->again = true;
		err = collq_pair_lease(link->pair, choice, req->comm->init, link->nr_channels,
				       &link->lease);
		if (err)
			return err;
	}
	return 0;
}

static void write_record(struct collq_request *req, uint32_t index)
{
	const struct collq_link *link = &req->links[index];
	const struct collq_pair *pair = link->pair;
	const struct collq_lease *lease = link->lease;
	struct collq_message_record record = {
		.peer = pair->peer,
		.endpoint = lease->endpoint,
		.flags = (link->fresh ? COLLQ_RECORD_FRESH : 0) |
			 (req->again ? COLLQ_RECORD_AGAIN : 0),
		.capacity = pair->endpoints[lease->endpoint].capacity_here,
		.waits = link->waits,
		.sends = link->sends,
		.abort_slot = lease->abort_slot,
		.abort_generation = collq_pair_abort_generation(pair, lease),
		.nr_channels = link->nr_channels,
		.nr_messages = collq_data_nr_told(req, index),
		.nr_freed = collq_pair_tell(link->pair),
		.nr_failed = collq_pair_tell_failed(link->pair),
	};
	struct collq_message_channel channel;
	uint32_t i;

	collq_write_record(&req->telling.records, &record, link->address);
	for (i = 0; i < req->nr_in; i++) {
		if (req->in[i].link != index)
			continue;
		channel.tag = req->in[i].tag;
		channel.slot = lease->slots[req->in[i].slot];
		channel.generation = collq_pair_generation(pair, lease, req->in[i].slot);
		collq_write_channel(&req->telling.records, &channel);
	}
	collq_data_tell(req, index, &req->telling.records);
	for (lease = pair->leases; lease; lease = lease->next)
		if (lease->telling)
			collq_write_number(&req->telling.records, lease->init);
	for (i = 0; i < pair->nr; i++)
		if (pair->endpoints[i].telling)
			collq_write_number(&req->telling.records, i);
}

static int prepare(struct collq_request *req)
{
	uint32_t i;
	int err;

	err = find_out_channels(req);
	if (!err)
		err = find_in_channels(req);
	if (!err)
		err = collq_data_find_channels(req);
	if (err)
		return err;
	collq_objects_look(req);
	err = choose_endpoints(req);
	if (!err && !req->again)
		err = collq_objects_prepare(req);
	if (err)
		return err;
	/* As the links are numbered, so are the streams. */
	for (i = 0; i < req->nr_links && !err; i++) {
		write_record(req, i);
		err = collq_telling_listen(&req->telling, req->links[i].pair->peer);
	}
	return err ? err : req->telling.records.error;
}

static int begin_telling(struct collq_request *req)
{
	struct collq_comm *comm = req->comm;
	struct collq_message_header header = {
		.init = ++comm->init,
		.algorithm = req->algorithm,
		.radix = req->radix,
	};

	if (!req->init_error)
		req->init_error = prepare(req);
	header.status = (uint32_t)req->init_error;
	return collq_telling_begin(&req->telling, comm, &header);
}

/* Finds the slot that each out channel to a peer has there. */
static int bind_out_channels(struct collq_request *req, uint32_t index,
			     const struct collq_found *found)
{
	const struct collq_link *link = &req->links[index];
	struct collq_graph_channel own = { .size = sizeof(own) };
	struct collq_message_channel channel;
	uint32_t i, j;

	for (i = 0; i < req->nr_out; i++) {
		if (req->out_links[i] != index)
			continue;
		collq_graph_out_channel(req->graph, (int)i, &own);
		for (j = 0; j < found->record.nr_channels; j++) {
			collq_found_channel(found, j, &channel);
			if (channel.tag == own.tag)
				break;
		}
		if (j == found->record.nr_channels)
			return -EINVAL;
		req->out[i] = (struct collq_graph_out_binding){
			.endpoint = link->pair->endpoints[link->lease->endpoint].id,
			.slot = channel.slot,
			.generation = channel.generation,
		};
	}
	return 0;
}

/* What one peer has told: it must fit to what this rank has done. */
static int heed_peer(struct collq_request *req, uint32_t index)
{
	const struct collq_stream *stream = &req->telling.streams[index];
	struct collq_link *link = &req->links[index];
	struct collq_found found;
	uint32_t i;
	int err;

	err = collq_message_find(stream->bytes, stream->nr, req->comm->rank, &found);
	if (err)
		return err == -ENOENT ? -EINVAL : err;
	if (found.record.waits != link->sends || found.record.sends != link->waits)
		return -EINVAL;
	if (found.record.endpoint != link->lease->endpoint || !found.address == link->fresh)
		return -EPROTO;
	for (i = 0; i < found.record.nr_failed; i++)
		collq_pair_hear_failed(link->pair, collq_found_failed(&found, i));
	if (found.record.flags & COLLQ_RECORD_AGAIN)
		req->again = true;
	/* Whoever is to begin again has prepared nothing to compare the rest with. */
	if (req->again)
		return 0;
	if (link->fresh) {
		if (found.record.capacity < 2 * link->sends)
			return -EPROTO;
		memcpy(link->address, found.address, sizeof(link->address));
		link->pair->endpoints[link->lease->endpoint].capacity_there = found.record.capacity;
	}
	if (found.record.nr_messages != collq_data_nr_told(req, index))
		return -EINVAL;
	err = collq_data_hear(req, index, &found);
	if (err)
		return err;
	link->peer_abort_slot = found.record.abort_slot;
	link->peer_abort_generation = found.record.abort_generation;
	for (i = 0; i < found.record.nr_freed; i++)
		collq_pair_hear(link->pair, collq_found_freed(&found, i));
	return bind_out_channels(req, index, &found);
}

static int begin_reporting(struct collq_request *req)
{
	uint32_t i;

	for (i = 0; i < req->nr_links && !req->init_error; i++)
		req->init_error = heed_peer(req, i);
	if (!req->init_error && !req->again)
		req->init_error = collq_objects_complete(req);
	return collq_report_begin(req->comm, !req->init_error && req->again ?
				  COLLQ_STATUS_AGAIN : req->init_error);
}

static void undo(struct collq_request *req)
{
	struct collq_link *link;

	collq_objects_destroy(req);
	collq_objects_destroy_fresh(req);
	for (link = req->links; link < req->links + req->nr_links; link++) {
		collq_pair_settle(link->pair, false);
		if (link->lease)
			collq_pair_end(link->pair, link->lease);
		link->lease = NULL;
		if (link->fresh)
			collq_pair_remove(link->pair);
	}
}

static void settle(struct collq_request *req)
{
	struct collq_link *link;

	for (link = req->links; link < req->links + req->nr_links; link++) {
		collq_pair_use(link->pair, link->lease, 2 * link->waits, 2 * link->sends);
		collq_pair_settle(link->pair, true);
	}
}

static void settle_failed(struct collq_request *req, bool good)
{
	struct collq_link *link;

	for (link = req->links; link < req->links + req->nr_links; link++)
		collq_pair_settle_failed(link->pair, good);
}

static void free_channels(struct collq_request *req)
{
	free(req->links);
	free(req->in);
	free(req->out);
	free(req->out_links);
	req->links = NULL;
	req->in = NULL;
	req->out = NULL;
	req->out_links = NULL;
	req->nr_links = 0;
	req->nr_in = 0;
	req->nr_out = 0;
	if (req->data)
		collq_data_free_channels(req->data);
}

/* Over, either way: the next one's turn. */
static void finish(struct collq_request *req, int err)
{
	struct collq_comm *comm = req->comm;

	if (err)
		undo(req);
	else
		settle(req);
	settle_failed(req, !err);
	if (!err)
		collq_objects_retire(req);
	req->init_error = err;
	comm->inits = req->next;
	if (!comm->inits)
		comm->last_init = &comm->inits;

	collq_telling_free(&req->telling);
	req->stage = COLLQ_INIT_DONE;
}

/* From the start, now that both sides of each pair know what has failed there. */
static int begin_again(struct collq_request *req)
{
	if (req->nr_again++ == MOST_AGAIN)
		return -EPROTO;
	undo(req);
	settle_failed(req, true);
	collq_telling_free(&req->telling);
	free_channels(req);
	req->again = false;
	req->stage = COLLQ_INIT_TELLING;
	return begin_telling(req);
}

/* One stage on, when its allgather is complete; -EINPROGRESS if it isn't. */
static int next_stage(struct collq_request *req)
{
	int err;

	switch (req->stage) {
	case COLLQ_INIT_QUEUED:
		if (collq_reset_test(req->comm) == -EINPROGRESS)
			return -EINPROGRESS;
		if (req->comm->broken)
			return -ECONNABORTED;
		if (req->terms) {
			req->stage = COLLQ_INIT_AGREEING;
			return collq_agree_begin(req);
		}
		req->stage = COLLQ_INIT_TELLING;
		return begin_telling(req);
	case COLLQ_INIT_AGREEING:
		err = collq_agree_test(req);
		if (err)
			return err;
		req->stage = COLLQ_INIT_TELLING;
		return begin_telling(req);
	case COLLQ_INIT_TELLING:
		err = collq_telling_test(&req->telling, req->comm, &req->init_error);
		if (err)
			return err;
		req->stage = COLLQ_INIT_REPORTING;
		return begin_reporting(req);
	default:
		err = collq_report_test(req->comm, req->init_error);
		if (err == COLLQ_STATUS_AGAIN)
			return begin_again(req);
		if (!err)
			finish(req, 0);
		return err;
	}
}

void collq_init_advance(struct collq_request *req)
{
	int err = 0;

	while (!err && req->stage != COLLQ_INIT_DONE)
		err = next_stage(req);
	if (err && err != -EINPROGRESS)
		finish(req, err);
}

void collq_init_give_up(struct collq_request *req)
{
	struct collq_comm *comm = req->comm;
	struct collq_request **link = &comm->inits;

	if (comm->inits == req && comm->reset.stage == COLLQ_RESET_NONE) {
		collq_exchange_give_up(comm);
		finish(req, -ECONNABORTED);
		return;
	}
	while (*link != req)
		link = &(*link)->next;
	*link = req->next;
	if (!req->next)
		comm->last_init = link;
	comm->broken = true;
	req->init_error = -ECONNABORTED;
	req->stage = COLLQ_INIT_DONE;
}

void collq_init_free(struct collq_request *req)
{
	struct collq_link *link;

	for (link = req->links; link < req->links + req->nr_links; link++)
		if (link->lease)
			link->lease->freed = true;
	free_channels(req);
	collq_data_free(req->data);
	free(req->terms);
	collq_graph_free(req->graph);
}
