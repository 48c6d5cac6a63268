// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a request that moves data has in the kernel besides other objects: regions of
 * the caller's buffers and of scratch memory, and a message endpoint for each message
 * channel, with the counters that the graph waits for.
 *
 * A message endpoint names the signal endpoint of its link, so it's made after that and
 * goes before it. What a message finds there must have been posted before any peer can
 * send: the prelude does that, once for each generation of scratch memory, when
 * endpoints are connected and before the peers hear of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "alloc.h"
#include "alltoall_plan.h"
#include "data.h"
#include "init.h"
#include "ioctl.h"
#include "objects.h"
#include "progress.h"
#include "region.h"
#include "request.h"
#include "ring.h"

/* Generations of scratch memory begin in cache lines of their own. */
#define CACHE_LINE	64U

static bool overlap(const void *a, uint64_t a_bytes, const void *b, uint64_t b_bytes)
{
	uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;

	return first < second ? second - first < a_bytes : first - second < b_bytes;
}

/* Whether there are such buffers, and they have nothing in common. */
static int check_buffers(const void *send, const void *recv, uint64_t send_bytes,
			 uint64_t recv_bytes)
{
	if (send_bytes > SIZE_MAX || recv_bytes > SIZE_MAX || (recv_bytes && !recv))
		return -EINVAL;
	if (send == COLLQ_IN_PLACE)
		return 0;
	if (send_bytes && (!send || (recv_bytes && overlap(send, send_bytes, recv, recv_bytes))))
		return -EINVAL;
	return 0;
}

int collq_data_new(const void *send, void *recv, uint64_t send_bytes, uint64_t recv_bytes,
		   struct collq_data **out)
{
	struct collq_data *data;
	int err;

	err = check_buffers(send, recv, send_bytes, recv_bytes);
	if (err)
		return err;
	data = calloc(1, sizeof(*data));
	if (!data)
		return -ENOMEM;
	data->in_place = send == COLLQ_IN_PLACE;
	data->recv = (struct collq_buffer){ .address = recv, .bytes = recv_bytes };
	if (!data->in_place)
		data->send = (struct collq_buffer){ .address = send, .bytes = send_bytes };
	*out = data;
	return 0;
}

void collq_data_free_channels(struct collq_data *data)
{
	free(data->channels);
	data->channels = NULL;
	data->nr_channels = 0;
}

void collq_data_free(struct collq_data *data)
{
	if (!data)
		return;
	collq_data_free_channels(data);
	collq_lists_free(data);
	collq_graph_free(data->prelude);
	free(data);
}

/* Twice the messages of a run: those of the next one may be there already. */
static uint32_t capacity(const struct collq_request *req, uint32_t messages)
{
	uint32_t most = req->ctx->limits.max_capacity;

	if (!messages)
		return 1;
	return messages < most / 2 ? 2 * messages : most;
}

/*
 * A prelude is run before any rank has begun: it must neither wait nor send, nor post more
 * than there's room for.
 */
static bool never_waits(const struct collq_request *req, const struct collq_graph *prelude)
{
	struct collq_graph_message_channel here = { .size = sizeof(here) };
	struct collq_graph_message_channel there = { .size = sizeof(there) };
	struct collq_graph_node_info info = { .size = sizeof(info) };
	struct collq_graph_table table = { .size = sizeof(table) };
	uint32_t i, nr = collq_graph_nr_messages(prelude);

	for (i = 0; i < collq_graph_nr_nodes(prelude); i++)
		if (!collq_graph_node(prelude, (int)i, &info) &&
		    info.opcode != IB_COLLQ_TASK_RECV)
			return false;
	for (i = 0; i < nr; i++) {
		collq_graph_message_channel(prelude, (int)i, &here);
		if (collq_graph_message_channel(req->graph, (int)i, &there) ||
		    (uint64_t)here.recvs * req->data->generations > capacity(req, there.recvs))
			return false;
	}
	collq_graph_table(prelude, &table);
	return table.nr_buffers <= COLLQ_NR_BUFFERS;
}

int collq_data_find_channels(struct collq_request *req)
{
	struct collq_graph_table table = { .size = sizeof(table) };
	struct collq_graph_message_channel found = { .size = sizeof(found) };
	uint32_t i, nr = collq_graph_nr_messages(req->graph);
	uint32_t most = req->ctx->limits.max_capacity / 2;
	struct collq_data *data = req->data;
	struct collq_data_channel *channel;
	int err;

	collq_graph_table(req->graph, &table);
	if (!data)
		return nr || table.nr_buffers ? -EOPNOTSUPP : 0;
	if (table.nr_buffers > COLLQ_NR_BUFFERS + data->nr_lists ||
	    (data->prelude && !never_waits(req, data->prelude)))
		return -EINVAL;
	if (req->algorithm == COLLQ_MESSAGE_GRAPH) {
		err = collq_lists_fold(req, NULL);
		if (err)
			return err;
		collq_graph_table(req->graph, &table);
	}
	data->nr_buffers = table.nr_buffers;
	data->channels = collq_new_entries(nr, sizeof(data->channels[0]));
	if (!data->channels)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		channel = &data->channels[i];
		collq_graph_message_channel(req->graph, (int)i, &found);
		err = collq_init_find_link(req, found.peer, &channel->link);
		if (err)
			return err;
		if (found.recvs > most || found.sends > UINT32_MAX)
			return -ENOSPC;
		channel->tag = found.tag;
		channel->sends = found.sends;
		channel->recvs = found.recvs;
		channel->max_send_sge = found.max_send_sge;
		channel->max_recv_sge = found.max_recv_sge;
		channel->waits_for_sends = found.waited_sends;
		channel->waits_for_messages = found.waited_messages;
	}
	data->nr_channels = nr;
	return 0;
}

/*
 * Each border may make one entry two. Scratch memory is a region of whole pages; a run has
 * one generation of it.
 */
uint64_t collq_data_entries(const struct collq_request *req, uint32_t nr, uint64_t bytes)
{
	const struct collq_data *data = req->data;
	uint64_t part = req->ctx->limits.region_part, borders;

	if (!nr || !part)
		return nr;
	borders = collq_borders_in(data->send.bytes, part) +
		  collq_borders_in(data->recv.bytes, part);
	if (data->generations * data->scratch_bytes > part)
		borders += data->scratch_bytes / part + 1;
	/* Nor does a piece lie in more parts than it's long. */
	if (bytes / part < borders && borders - bytes / part > nr)
		borders = nr + bytes / part;
	return nr + borders;
}

/* Of lists that are no longer than that, as far as the device can. */
static uint32_t with_borders(const struct collq_request *req, uint32_t longest, uint32_t most)
{
	uint64_t wanted = collq_data_entries(req, longest, UINT64_MAX);

	return wanted < most ? wanted : most;
}

static int create_endpoints(struct collq_request *req)
{
	struct collq_data *data = req->data;
	struct ib_collq_endpoint_create *entries, *entry;
	struct collq_data_channel *channel;
	uint32_t i, done;
	int err;

	entries = collq_new_entries(data->nr_channels, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (i = 0; i < data->nr_channels; i++) {
		channel = &data->channels[i];
		entry = &entries[i];
		collq_endpoint_defaults(req->ctx, req->links[channel->link].pair->peer, entry);
		entry->kind = IB_COLLQ_ENDPOINT_MESSAGE;
		entry->signal_endpoint = collq_link_endpoint(&req->links[channel->link]);
		entry->send_capacity = capacity(req, channel->sends);
		entry->recv_capacity = capacity(req, channel->recvs);
		entry->max_send_sge = with_borders(req, channel->max_send_sge,
						   req->ctx->limits.max_send_sge);
		entry->max_recv_sge = with_borders(req, channel->max_recv_sge,
						   req->ctx->limits.max_recv_sge);
	}
	err = collq_data_endpoints(req, entries, data->nr_channels, &done);
	for (i = 0; i < done; i++) {
		data->channels[i].endpoint = entries[i].id;
		memcpy(data->channels[i].address, entries[i].address,
		       sizeof(entries[i].address));
	}
	free(entries);
	return err;
}

/* Which of a channel's counters there are: index 0 that of sends, 1 that of messages. */
static uint32_t *counter_of(struct collq_data_channel *channel, uint32_t which)
{
	if (which)
		return channel->waits_for_messages ? &channel->messages_counter : NULL;
	return channel->waits_for_sends ? &channel->sends_counter : NULL;
}

static int create_counters(struct collq_request *req)
{
	struct collq_data *data = req->data;
	struct ib_collq_counter_create *entries;
	uint32_t i, nr = 0, done, *counter;
	int err;

	entries = collq_new_entries(2 * (size_t)data->nr_channels, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (i = 0; i < 2 * data->nr_channels; i++)
		if (counter_of(&data->channels[i / 2], i % 2))
			entries[nr++] = (struct ib_collq_counter_create){
				.source = i % 2 ? IB_COLLQ_SOURCE_MESSAGES : IB_COLLQ_SOURCE_SENDS,
				.endpoint = data->channels[i / 2].endpoint,
			};
	err = collq_ioctl_all(req->ctx, IB_COLLQ_COUNTER_CREATE, entries, sizeof(*entries), nr,
			      &done);
	for (i = 0, nr = 0; nr < done; i++) {
		counter = counter_of(&data->channels[i / 2], i % 2);
		if (counter)
			*counter = entries[nr++].id;
	}
	free(entries);
	return err;
}

static int register_buffer(struct collq_request *req, struct collq_buffer *buffer,
			   bool writable)
{
	if (!buffer->bytes)
		return 0;
	return collq_region_new(req->ctx, buffer->mr, buffer->address, buffer->bytes, writable,
				&buffer->region);
}

static void *map_scratch(const struct collq_data *data)
{
	void *scratch = mmap(NULL, data->scratch_mapped, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return scratch == MAP_FAILED ? NULL : scratch;
}

static int make_scratch(struct collq_request *req)
{
	struct collq_data *data = req->data;

	if (!data->scratch_bytes)
		return 0;
	if (data->scratch_bytes > SIZE_MAX / data->generations - CACHE_LINE)
		return -ENOMEM;
	data->scratch_bytes = (data->scratch_bytes + CACHE_LINE - 1) & ~(uint64_t)(CACHE_LINE - 1);
	data->scratch_mapped = data->generations * data->scratch_bytes;
	data->scratch = map_scratch(data);
	if (!data->scratch)
		return -ENOMEM;
	return collq_region_new(req->ctx, NULL, data->scratch, data->scratch_mapped, true,
				&data->scratch_region);
}

/* A buffer that isn't there stands for nothing, but the kernel wants all bound. */
static void bind_buffers(struct collq_data *data)
{
	const struct collq_region *regions[COLLQ_NR_BUFFERS] = {
		[COLLQ_BUFFER_SEND] = data->in_place ? data->recv.region : data->send.region,
		[COLLQ_BUFFER_RECV] = data->recv.region,
		[COLLQ_BUFFER_SCRATCH] = data->scratch_region,
	};
	const struct collq_region *any = NULL;
	uint32_t i;

	for (i = 0; i < COLLQ_NR_BUFFERS; i++)
		any = regions[i] ? regions[i] : any;
	for (i = 0; i < COLLQ_NR_BUFFERS && any; i++)
		data->bindings[i] = (struct ib_collq_buffer_bind){
			.buffer = i,
			.region = collq_region_id(regions[i] ? regions[i] : any),
		};
}

static int create_objects(struct collq_request *req)
{
	int err = create_endpoints(req);

	return err ? err : create_counters(req);
}

int collq_data_prepare(struct collq_request *req)
{
	struct collq_data *data = req->data;
	int err;

	if (!data)
		return 0;
	err = create_objects(req);
	if (!err)
		err = register_buffer(req, &data->send, false);
	if (!err)
		err = register_buffer(req, &data->recv, true);
	if (!err)
		err = make_scratch(req);
	if (err)
		return err;
	bind_buffers(data);
	return collq_lists_make(req);
}

/* Those whose peer's address is known: after a reset a peer may have freed the request. */
int collq_data_connect(struct collq_request *req)
{
	struct ib_collq_endpoint_connect *entries;
	const struct collq_data_channel *channel;
	struct collq_data *data = req->data;
	uint32_t nr = 0, done;
	int err;

	if (!data)
		return 0;
	entries = collq_new_entries(data->nr_channels, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (channel = data->channels; channel < data->channels + data->nr_channels; channel++) {
		if (!channel->heard)
			continue;
		entries[nr].endpoint = channel->endpoint;
		memcpy(entries[nr++].address, channel->address, sizeof(channel->address));
	}
	err = collq_ioctl_all(req->ctx, IB_COLLQ_ENDPOINT_CONNECT, entries, sizeof(*entries), nr,
			      &done);
	free(entries);
	return err;
}

static int submit(struct collq_request *req, uint32_t queue, uint32_t graph,
		  uint32_t nr_buffers)
{
	struct ib_collq_queue_submit_wait run = {
		.queue = queue,
		.graph = graph,
		.user_data = COLLQ_PROGRESS_NOBODY,
		.nr_bindings = nr_buffers,
		.binding_size = sizeof(req->data->bindings[0]),
		.bindings = (uintptr_t)req->data->bindings,
	};
	bool retried = false;
	int err;

	for (;;) {
		err = collq_queue_submit_wait(req->ctx, &run);
		if (err == -EBUSY && !run.sequence && !retried) {
			retried = true;
			collq_progress_make_room(req->ctx);
		} else if (err != -EINTR) {
			break;
		}
	}
	return err ? err : run.status;
}

/* Receives don't wait, so neither does this. */
static int run_prelude(struct collq_request *req, uint32_t queue, uint32_t graph)
{
	struct collq_graph_table table = { .size = sizeof(table) };
	struct collq_data *data = req->data;
	uint32_t i;
	int err = 0;

	collq_graph_table(data->prelude, &table);
	for (i = 0; i < data->generations && !err; i++) {
		collq_data_bind(data);
		err = submit(req, queue, graph, table.nr_buffers);
		collq_data_turn(data);
	}
	return err;
}

static bool is_connected(const struct collq_data *data)
{
	uint32_t i;

	for (i = 0; i < data->nr_channels; i++)
		if (!data->channels[i].heard)
			return false;
	return true;
}

int collq_data_begin(struct collq_request *req)
{
	struct collq_data *data = req->data;
	struct ib_collq_queue_create queue = { .depth = 1 };
	struct collq_graph_binding binding = {
		.size = sizeof(binding),
		.out_size = sizeof(struct collq_graph_out_binding),
		.message_size = sizeof(struct collq_graph_message_binding),
	};
	struct collq_graph_message_binding *bindings;
	uint32_t graph = 0;
	int err;

	if (!data)
		return 0;
	data->generation = 0;
	if (!data->prelude || !collq_objects_has_nodes(data->prelude) || !is_connected(data))
		return 0;
	bindings = collq_data_bindings(req);
	if (!bindings)
		return -ENOMEM;
	binding.messages = bindings;
	binding.nr_messages = data->nr_channels;
	err = collq_graph_upload(req->ctx, data->prelude, &binding, &graph);
	free(bindings);
	if (err)
		return err;
	queue.ring = collq_ring_id(req->ctx->ring);
	err = collq_queue_create(req->ctx, &queue);
	if (!err) {
		err = run_prelude(req, queue.id, graph);
		collq_objects_destroy_one(req, IB_COLLQ_OBJECT_QUEUE, &queue.id,
					  "destroying a prelude's queue");
	}
	collq_objects_destroy_one(req, IB_COLLQ_OBJECT_GRAPH, &graph, "destroying a prelude");
	collq_progress(req->ctx);
	return err;
}

struct collq_graph_message_binding *collq_data_bindings(const struct collq_request *req)
{
	struct collq_graph_message_binding *bindings;
	const struct collq_data *data = req->data;
	uint32_t i, nr = data ? data->nr_channels : 0;

	bindings = collq_new_entries(nr, sizeof(*bindings));
	for (i = 0; bindings && i < nr; i++)
		bindings[i] = (struct collq_graph_message_binding){
			.endpoint = data->channels[i].endpoint,
			.sends = data->channels[i].sends_counter,
			.messages = data->channels[i].messages_counter,
		};
	return bindings;
}

int collq_data_reset(struct collq_request *req, uint32_t link)
{
	struct collq_data *data = req->data;
	struct collq_data_channel *channel;
	int err = 0;

	for (channel = data->channels; channel < data->channels + data->nr_channels && !err;
	     channel++) {
		struct ib_collq_object_reset reset = { .id = channel->endpoint };

		if (channel->link != link || !channel->endpoint)
			continue;
		err = collq_object_reset(req->ctx, &reset);
		memcpy(channel->address, reset.address, sizeof(channel->address));
		channel->heard = false;
	}
	return err;
}

void collq_data_destroy(struct collq_request *req)
{
	struct collq_data *data = req->data;
	struct collq_data_channel *channel;

	if (!data)
		return;
	for (channel = data->channels; channel < data->channels + data->nr_channels; channel++) {
		collq_objects_destroy_one(req, IB_COLLQ_OBJECT_COUNTER, &channel->sends_counter,
					  "destroying a counter of sends");
		collq_objects_destroy_one(req, IB_COLLQ_OBJECT_COUNTER,
					  &channel->messages_counter,
					  "destroying a counter of messages");
		collq_objects_destroy_one(req, IB_COLLQ_OBJECT_ENDPOINT, &channel->endpoint,
					  "destroying a message endpoint");
		channel->heard = false;
	}
	collq_lists_put(req);
	collq_region_put(req->ctx, data->send.region);
	collq_region_put(req->ctx, data->recv.region);
	collq_region_put(req->ctx, data->scratch_region);
	data->send.region = NULL;
	data->recv.region = NULL;
	data->scratch_region = NULL;
	if (data->scratch)
		munmap(data->scratch, data->scratch_mapped);
	data->scratch = NULL;
}

void collq_data_visit(struct collq_data *data, void (*visit)(uint32_t *id, void *arg), void *arg)
{
	struct collq_region *regions[] = {
		data->send.region, data->recv.region, data->scratch_region,
	};
	struct collq_data_channel *channel;
	size_t i;

	for (channel = data->channels; channel < data->channels + data->nr_channels; channel++) {
		visit(&channel->endpoint, arg);
		visit(&channel->sends_counter, arg);
		visit(&channel->messages_counter, arg);
	}
	for (i = 0; i < sizeof(regions) / sizeof(regions[0]); i++)
		if (regions[i])
			visit(collq_region_place(regions[i]), arg);
	collq_lists_visit(data, visit, arg);
}

static int remake_buffer(struct collq_request *req, const struct collq_buffer *buffer,
			 bool writable)
{
	if (!buffer->region)
		return 0;
	return collq_region_remake(req->ctx, buffer->region, buffer->address, buffer->bytes,
				   writable);
}

/*
 * Receives that are posted between runs stay on the old device for a while, as its
 * endpoints do. So what lands there must be other memory.
 */
static int remake_scratch(struct collq_request *req)
{
	struct collq_data *data = req->data;
	void *scratch;

	if (!data->scratch_region)
		return 0;
	scratch = map_scratch(data);
	if (!scratch)
		return -ENOMEM;
	data->old_scratch = data->scratch;
	data->scratch = scratch;
	return collq_region_remake(req->ctx, data->scratch_region, scratch, data->scratch_mapped,
				   true);
}

int collq_data_rebuild(struct collq_request *req)
{
	struct collq_data *data = req->data;
	int err;

	if (!data)
		return 0;
	err = create_objects(req);
	if (!err)
		err = remake_buffer(req, &data->send, false);
	if (!err)
		err = remake_buffer(req, &data->recv, true);
	if (!err)
		err = remake_scratch(req);
	if (err)
		return err;
	bind_buffers(data);
	return collq_lists_make(req);
}

void collq_data_settle(struct collq_data *data, bool stays)
{
	bind_buffers(data);
	if (!data->old_scratch)
		return;
	if (stays) {
		munmap(data->old_scratch, data->scratch_mapped);
	} else {
		munmap(data->scratch, data->scratch_mapped);
		data->scratch = data->old_scratch;
	}
	data->old_scratch = NULL;
}

void collq_data_bind(struct collq_data *data)
{
	data->bindings[COLLQ_BUFFER_SCRATCH].offset =
		data->scratch ? data->generation * data->scratch_bytes : 0;
	collq_lists_bind(data);
}

void collq_data_turn(struct collq_data *data)
{
	data->generation = (data->generation + 1) % data->generations;
}

/* These take the places of the buffers, and the other way round. */
static void exchange(struct collq_data *data, struct collq_buffer *send,
		     struct collq_buffer *recv)
{
	const struct collq_buffer old_send = data->send, old_recv = data->recv;

	data->send = *send;
	data->recv = *recv;
	*send = old_send;
	*recv = old_recv;
	bind_buffers(data);
}

int collq_data_rebind(struct collq_request *req, const void *send, void *recv)
{
	struct collq_data *data = req->data;
	struct collq_buffer new_send = { .bytes = data->send.bytes, .mr = data->send.mr };
	struct collq_buffer new_recv = {
		.address = recv, .bytes = data->recv.bytes, .mr = data->recv.mr,
	};
	bool in_place = send == COLLQ_IN_PLACE;
	int err;

	if (in_place != data->in_place)
		return -EINVAL;
	if (!in_place)
		new_send.address = send;
	err = check_buffers(send, recv, new_send.bytes, new_recv.bytes);
	if (!err && data->nr_lists && !(collq_lists_allow(req, recv) &&
					(in_place || collq_lists_allow(req, send))))
		err = -EOPNOTSUPP;
	if (!err && !(collq_buffer_fits(&new_send) && collq_buffer_fits(&new_recv)))
		err = -EINVAL;
	if (!err)
		err = register_buffer(req, &new_send, false);
	if (err)
		return err;
	err = register_buffer(req, &new_recv, true);
	if (err) {
		collq_region_put(req->ctx, new_send.region);
		return err;
	}
	exchange(data, &new_send, &new_recv);
	err = collq_lists_remake(req);
	if (err)
		exchange(data, &new_send, &new_recv);
	collq_region_put(req->ctx, new_send.region);
	collq_region_put(req->ctx, new_recv.region);
	return err;
}
