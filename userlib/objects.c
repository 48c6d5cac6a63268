// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel's objects behind a request: made in few system calls, on arrays;
 * taken away in the opposite order without needing memory, since freeing can't
 * fail.
 *
 * A counter is bound to its slot before the peer can know of the slot, and its
 * endpoint has receives posted by the time that it's connected. So when all
 * ranks have said that they're done, any of them may start.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "data.h"
#include "ioctl.h"
#include "log.h"
#include "objects.h"
#include "request.h"
#include "ring.h"

/* How many objects are taken away at a time */
#define CHUNK	64U

static struct collq_pair_endpoint *endpoint_of(const struct collq_link *link)
{
	return &link->pair->endpoints[link->lease->endpoint];
}

uint32_t collq_link_endpoint(const struct collq_link *link)
{
	return endpoint_of(link)->id;
}

/* An endpoint has the usual room, or more if one run takes more. */
static int create_endpoints(struct collq_request *req)
{
	struct ib_collq_endpoint_create *entries, *entry;
	struct collq_link *link, *end = req->links + req->nr_links;
	uint32_t nr = 0, done;
	int err;

	entries = collq_new_entries(req->nr_links, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (link = req->links; link < end; link++) {
		if (!link->fresh)
			continue;
		entry = &entries[nr++];
		collq_endpoint_defaults(req->ctx, link->pair->peer, entry);
		if (entry->recv_capacity < 2 * link->waits)
			entry->recv_capacity = 2 * link->waits;
	}
	err = collq_ioctl_all(req->ctx, IB_COLLQ_ENDPOINT_CREATE, entries, sizeof(*entries), nr,
			      &done);
	for (link = req->links, entry = entries; link < end && entry < entries + done; link++) {
		if (!link->fresh)
			continue;
		endpoint_of(link)->id = entry->id;
		endpoint_of(link)->capacity_here = entry->recv_capacity;
		memcpy(link->address, entry->address, sizeof(link->address));
		entry++;
	}
	free(entries);
	return err;
}

static int reserve_capacity(struct collq_request *req)
{
	struct collq_link *link, *end = req->links + req->nr_links;
	struct ib_collq_capacity *entries;
	uint32_t nr = 0, done;
	int err;

	entries = collq_new_entries(req->nr_links, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (link = req->links; link < end; link++) {
		if (!link->waits)
			continue;
		entries[nr].endpoint = endpoint_of(link)->id;
		entries[nr++].recvs = 2 * link->waits;
	}
	err = collq_ioctl_all(req->ctx, IB_COLLQ_CAPACITY_RESERVE, entries, sizeof(*entries), nr,
			      &done);
	for (link = req->links; link < end && done; link++) {
		if (!link->waits)
			continue;
		link->reserved = true;
		done--;
	}
	free(entries);
	return err;
}

static int create_counters(struct collq_request *req)
{
	struct ib_collq_counter_create *entries;
	uint32_t i;
	int err;

	entries = collq_new_entries(req->nr_in, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (i = 0; i < req->nr_in; i++)
		entries[i].source = IB_COLLQ_SOURCE_SIGNAL;
	err = collq_ioctl_all(req->ctx, IB_COLLQ_COUNTER_CREATE, entries, sizeof(*entries),
			      req->nr_in, &req->nr_counters);
	for (i = 0; i < req->nr_counters; i++)
		req->in[i].counter = entries[i].id;
	free(entries);
	return err;
}

static struct ib_collq_slot_bind slot_of(const struct collq_request *req, uint32_t i)
{
	const struct collq_in_channel *in = &req->in[i];
	const struct collq_link *link = &req->links[in->link];

	return (struct ib_collq_slot_bind){
		.endpoint = endpoint_of(link)->id,
		.slot = link->lease->slots[in->slot],
		.generation = collq_pair_generation(link->pair, link->lease, in->slot),
	};
}

static int bind_slots(struct collq_request *req)
{
	struct ib_collq_slot_bind *entries;
	uint32_t i;
	int err;

	entries = collq_new_entries(req->nr_in, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (i = 0; i < req->nr_in; i++) {
		entries[i] = slot_of(req, i);
		entries[i].counter = req->in[i].counter;
	}
	err = collq_ioctl_all(req->ctx, IB_COLLQ_SLOT_BIND, entries, sizeof(*entries),
			      req->nr_in, &req->nr_bound);
	free(entries);
	return err;
}

int collq_objects_prepare(struct collq_request *req)
{
	int err;

	err = create_endpoints(req);
	if (!err)
		err = reserve_capacity(req);
	if (!err)
		err = create_counters(req);
	if (!err)
		err = bind_slots(req);
	if (!err)
		err = collq_data_prepare(req);
	return err;
}

static int connect_endpoints(struct collq_request *req)
{
	struct collq_link *link, *end = req->links + req->nr_links;
	struct ib_collq_endpoint_connect *entries;
	uint32_t nr = 0, done;
	int err;

	entries = collq_new_entries(req->nr_links, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (link = req->links; link < end; link++) {
		if (!link->fresh)
			continue;
		entries[nr].endpoint = endpoint_of(link)->id;
		memcpy(entries[nr++].address, link->address, sizeof(link->address));
	}
	err = collq_ioctl_all(req->ctx, IB_COLLQ_ENDPOINT_CONNECT, entries, sizeof(*entries), nr,
			      &done);
	free(entries);
	return err;
}

bool collq_objects_has_nodes(const struct collq_graph *graph)
{
	struct collq_graph_node_info info = { .size = sizeof(info) };
	uint32_t i;

	for (i = 0; i < collq_graph_nr_nodes(graph); i++)
		if (!collq_graph_node(graph, (int)i, &info))
			return true;
	return false;
}

static int upload_graph(struct collq_request *req)
{
	struct collq_graph_binding binding = {
		.size = sizeof(binding),
		.out_size = sizeof(req->out[0]),
		.out = req->out,
		.nr_out = req->nr_out,
		.nr_in = req->nr_in,
		.nr_messages = req->data ? req->data->nr_channels : 0,
		.message_size = sizeof(struct collq_graph_message_binding),
	};
	struct collq_graph_message_binding *messages;
	uint32_t i, *counters;
	int err = -ENOMEM;

	counters = collq_new_entries(req->nr_in, sizeof(*counters));
	messages = collq_data_bindings(req);
	if (!counters || !messages)
		goto out;
	for (i = 0; i < req->nr_in; i++)
		counters[i] = req->in[i].counter;
	binding.in = counters;
	binding.messages = messages;
	err = collq_graph_upload(req->ctx, req->graph, &binding, &req->graph_id);
out:
	free(messages);
	free(counters);
	return err;
}

static int create_queue(struct collq_request *req)
{
	struct ib_collq_queue_create queue = {
		.ring = collq_ring_id(req->ctx->ring),
		.depth = 1,
		.nr_endpoints = req->nr_links,
		.entry_size = sizeof(struct ib_collq_queue_endpoint),
	};
	struct ib_collq_queue_endpoint *entries;
	const struct collq_link *link;
	uint32_t i;
	int err;

	entries = collq_new_entries(req->nr_links, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (i = 0; i < req->nr_links; i++) {
		link = &req->links[i];
		entries[i] = (struct ib_collq_queue_endpoint){
			.endpoint = endpoint_of(link)->id,
			.abort_slot = link->lease->abort_slot,
			.abort_generation = collq_pair_abort_generation(link->pair, link->lease),
			.peer_abort_slot = link->peer_abort_slot,
			.peer_abort_generation = link->peer_abort_generation,
		};
	}
	queue.endpoints = (uintptr_t)entries;
	err = collq_queue_create(req->ctx, &queue);
	free(entries);
	if (!err)
		req->queue_id = queue.id;
	return err;
}

/* What has nothing to do on this rank needs no graph, and no queue. */
int collq_objects_complete(struct collq_request *req)
{
	int err;

	err = connect_endpoints(req);
	if (!err)
		err = collq_data_connect(req);
	if (err || !collq_objects_has_nodes(req->graph))
		return err;
	err = upload_graph(req);
	if (!err)
		err = create_queue(req);
	return err ? err : collq_data_begin(req);
}

int collq_objects_rebuild(struct collq_request *req)
{
	uint32_t i;
	int err;

	for (i = 0; i < req->nr_out; i++)
		req->out[i].endpoint = endpoint_of(&req->links[req->out_links[i]])->id;
	err = reserve_capacity(req);
	if (!err)
		err = create_counters(req);
	if (!err)
		err = bind_slots(req);
	if (!err)
		err = collq_data_rebuild(req);
	if (err || !req->queue_id)
		return err;
	err = upload_graph(req);
	if (err)
		return err;
	return create_queue(req);
}

static void complain(const struct collq_request *req, const char *what, int err)
{
	/* Once the device is gone, so is everything. */
	if (err && err != -ENODEV)
		collq_warn("%s: %s: %s", req->ctx->device, what, strerror(-err));
}

/*
 * All of them, also those behind one that fails: nobody will try again, and a slot
 * that stays bound is in the way of its next user.
 */
static void take_away(struct collq_request *req, const char *what, unsigned long command,
		      void *entries, size_t entry_size, uint32_t nr)
{
	uint32_t first = 0, done;
	int err;

	while (first < nr) {
		err = collq_ioctl_all(req->ctx, command, (char *)entries + first * entry_size,
				      entry_size, nr - first, &done);
		complain(req, what, err);
		/* The device is gone, or the context isn't ours: none will do. */
		if (err == -ENODEV || err == -EPERM)
			return;
		first += err ? done + 1 : done;
	}
}

void collq_objects_destroy_one(struct collq_request *req, uint32_t type, uint32_t *id,
			       const char *what)
{
	struct ib_collq_object_destroy entry = { .id = *id, .type = type };

	if (!*id)
		return;
	take_away(req, what, IB_COLLQ_OBJECT_DESTROY, &entry, sizeof(entry), 1);
	*id = 0;
}

static void unbind_slots(struct collq_request *req)
{
	struct ib_collq_slot_bind entries[CHUNK];
	uint32_t nr;

	while (req->nr_bound) {
		for (nr = 0; nr < CHUNK && req->nr_bound; nr++)
			entries[nr] = slot_of(req, --req->nr_bound);
		take_away(req, "unbinding slots", IB_COLLQ_SLOT_UNBIND, entries,
			  sizeof(entries[0]), nr);
	}
}

static void destroy_counters(struct collq_request *req)
{
	struct ib_collq_object_destroy entries[CHUNK];
	uint32_t nr;

	while (req->nr_counters) {
		for (nr = 0; nr < CHUNK && req->nr_counters; nr++)
			entries[nr] = (struct ib_collq_object_destroy){
				.id = req->in[--req->nr_counters].counter,
				.type = IB_COLLQ_OBJECT_COUNTER,
			};
		take_away(req, "destroying counters", IB_COLLQ_OBJECT_DESTROY, entries,
			  sizeof(entries[0]), nr);
	}
}

static void release_capacity(struct collq_request *req)
{
	struct ib_collq_capacity entries[CHUNK];
	struct collq_link *link = req->links, *end = req->links + req->nr_links;
	uint32_t nr;

	while (link < end) {
		for (nr = 0; nr < CHUNK && link < end; link++) {
			if (!link->reserved)
				continue;
			entries[nr++] = (struct ib_collq_capacity){
				.endpoint = endpoint_of(link)->id,
				.recvs = 2 * link->waits,
			};
			link->reserved = false;
		}
		take_away(req, "releasing capacity", IB_COLLQ_CAPACITY_RELEASE, entries,
			  sizeof(entries[0]), nr);
	}
}

void collq_objects_destroy(struct collq_request *req)
{
	collq_objects_destroy_one(req, IB_COLLQ_OBJECT_QUEUE, &req->queue_id,
				  "destroying a queue");
	collq_objects_destroy_one(req, IB_COLLQ_OBJECT_GRAPH, &req->graph_id,
				  "destroying a graph");
	collq_data_destroy(req);
	unbind_slots(req);
	destroy_counters(req);
	release_capacity(req);
}

static bool has_failed(struct collq_context *ctx, uint32_t endpoint)
{
	struct ib_collq_endpoint_info info;
	struct ib_collq_object_describe describe = {
		.id = endpoint,
		.info = (uintptr_t)&info,
		.info_size = sizeof(info),
	};
	int err = collq_object_describe(ctx, &describe);

	return err == -ENOENT || (!err && info.state != IB_COLLQ_ENDPOINT_CONNECTED);
}

void collq_objects_look(struct collq_request *req)
{
	struct collq_pair_endpoint *ep;
	struct collq_pair *pair;
	uint32_t i;

	for (i = 0; i < req->nr_links; i++) {
		pair = req->links[i].pair;
		for (ep = pair->endpoints; ep < pair->endpoints + pair->nr; ep++)
			if (!ep->failed_here && !ep->failed)
				ep->failed_here = has_failed(req->ctx, ep->id);
	}
}

void collq_objects_retire(struct collq_request *req)
{
	struct collq_pair_endpoint *ep;
	struct collq_pair *pair;
	uint32_t i, j;

	for (i = 0; i < req->nr_links; i++) {
		pair = req->links[i].pair;
		for (j = 0; j < pair->nr; j++) {
			ep = &pair->endpoints[j];
			if (ep->failed && collq_pair_is_unused(pair, j))
				collq_objects_destroy_one(req, IB_COLLQ_OBJECT_ENDPOINT, &ep->id,
							  "destroying a failed endpoint");
		}
	}
}

void collq_objects_destroy_fresh(struct collq_request *req)
{
	struct collq_link *link;

	for (link = req->links; link < req->links + req->nr_links; link++)
		if (link->fresh && link->lease)
			collq_objects_destroy_one(req, IB_COLLQ_OBJECT_ENDPOINT,
						  &endpoint_of(link)->id,
						  "destroying an endpoint");
}
