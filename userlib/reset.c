// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Resetting a communicator, on all ranks together: what has failed runs again.
 *
 *  1. Each rank ends the runs of its requests, and resets all endpoints. They have
 *     new queue pairs then, so that nothing that is still on its way from before
 *     can arrive.
 *  2. Telling: an allgather of the new addresses. When it is complete, nobody has an
 *     old endpoint any more; so no news of an old failure comes after that.
 *  3. Queues forget their failures, endpoints are connected.
 *  4. Reporting: an allgather of how that went. Then any rank may start.
 *
 * What the kernel has besides stays: slots and their generations, reservations,
 * graphs. So do leases, on which both sides of a pair agree anyway. If it fails,
 * endpoints are left that aren't connected; another reset may mend them, and
 * initialisations make others in their place.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "comm.h"
#include "data.h"
#include "ioctl.h"
#include "progress.h"
#include "request.h"
#include "reset.h"

static int end_runs(struct collq_comm *comm)
{
	struct collq_request *req;
	int err;

	for (req = comm->requests; req; req = req->next_of_all) {
		err = collq_request_end(req);
		if (err)
			return err;
	}
	collq_progress(comm->ctx);
	return 0;
}

typedef int (*link_function)(struct collq_request *req, uint32_t link, void *arg);

/* Calls @function for each link of a request that uses this endpoint, until it fails. */
static int visit_users(const struct collq_comm *comm, const struct collq_pair *pair,
		       uint32_t endpoint, link_function function, void *arg)
{
	struct collq_request *req;
	uint32_t i;
	int err = 0;

	for (req = comm->requests; req; req = req->next_of_all)
		for (i = 0; i < req->nr_links && !err; i++)
			if (req->data && req->links[i].pair == pair && req->links[i].lease &&
			    req->links[i].lease->endpoint == endpoint)
				err = function(req, i, arg);
	return err;
}

static int reset_messages(struct collq_request *req, uint32_t link, void *nr)
{
	*(uint32_t *)nr += collq_data_nr_told(req, link);
	return collq_data_reset(req, link);
}

static int tell_messages(struct collq_request *req, uint32_t link, void *records)
{
	collq_data_tell(req, link, records);
	return 0;
}

static int hear_messages(struct collq_request *req, uint32_t link, void *found)
{
	return collq_data_hear(req, link, found);
}

/* Those of a pair, and tells the peer where they are now. */
static int reset_endpoints(struct collq_comm *comm, const struct collq_pair *pair)
{
	struct collq_telling *telling = &comm->reset.telling;
	struct collq_message_record record = {
		.peer = pair->peer,
		.flags = COLLQ_RECORD_FRESH,
	};
	uint32_t i;
	int err;

	err = collq_telling_listen(telling, pair->peer);
	for (i = 0; i < pair->nr && !err; i++) {
		struct ib_collq_object_reset reset = { .id = pair->endpoints[i].id };

		if (!reset.id)
			continue;
		err = collq_object_reset(comm->ctx, &reset);
		record.nr_messages = 0;
		if (!err)
			err = visit_users(comm, pair, i, reset_messages, &record.nr_messages);
		record.endpoint = i;
		record.capacity = pair->endpoints[i].capacity_here;
		collq_write_record(&telling->records, &record, reset.address);
		visit_users(comm, pair, i, tell_messages, &telling->records);
	}
	return err;
}

static int prepare(struct collq_comm *comm)
{
	uint32_t i;
	int err;

	err = end_runs(comm);
	for (i = 0; i < comm->size && !err; i++)
		if (comm->pairs[i] && comm->pairs[i]->nr)
			err = reset_endpoints(comm, comm->pairs[i]);
	return err ? err : comm->reset.telling.records.error;
}

static int reset_queues(struct collq_comm *comm)
{
	struct collq_request *req;
	int err = 0;

	for (req = comm->requests; req && !err; req = req->next_of_all) {
		struct ib_collq_object_reset reset = { .id = req->queue_id };

		if (reset.id)
			err = collq_object_reset(comm->ctx, &reset);
	}
	return err;
}

/* What the peer has told must be of the same endpoints. */
static int find_addresses(const struct collq_comm *comm, const struct collq_stream *stream,
			  struct ib_collq_endpoint_connect *entries, uint32_t nr)
{
	const struct collq_pair *pair = comm->pairs[stream->peer];
	const unsigned char *at = stream->bytes, *end = at + stream->nr;
	struct collq_found found;
	uint32_t i = 0, index;
	int err;

	for (; !(err = collq_message_find(at, end - at, comm->rank, &found)); at = found.end) {
		index = found.record.endpoint;
		if (i == nr || index >= pair->nr || !found.address)
			return -EPROTO;
		entries[i].endpoint = pair->endpoints[index].id;
		memcpy(entries[i++].address, found.address, sizeof(entries[0].address));
		err = visit_users(comm, pair, index, hear_messages, &found);
		if (err)
			return err;
	}
	if (err == -ENOENT)
		err = i == nr ? 0 : -EPROTO;
	return err;
}

static int connect_endpoints(struct collq_comm *comm, const struct collq_stream *stream)
{
	uint32_t nr = collq_pair_nr_live(comm->pairs[stream->peer]), done;
	struct ib_collq_endpoint_connect *entries;
	int err;

	entries = collq_new_entries(nr, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	err = find_addresses(comm, stream, entries, nr);
	if (!err)
		err = collq_ioctl_all(comm->ctx, IB_COLLQ_ENDPOINT_CONNECT, entries,
				      sizeof(*entries), nr, &done);
	free(entries);
	return err;
}

/* With new endpoints, what was posted before the first run must be posted again. */
static int connect_messages(struct collq_comm *comm)
{
	struct collq_request *req;
	int err = 0;

	for (req = comm->requests; req && !err; req = req->next_of_all) {
		if (!req->queue_id)
			continue;
		err = collq_data_connect(req);
		if (!err)
			err = collq_data_begin(req);
	}
	return err;
}

static int begin_reporting(struct collq_comm *comm)
{
	struct collq_reset *reset = &comm->reset;
	uint32_t i;

	if (!reset->error)
		reset->error = reset_queues(comm);
	for (i = 0; i < reset->telling.nr_streams && !reset->error; i++)
		reset->error = connect_endpoints(comm, &reset->telling.streams[i]);
	if (!reset->error)
		reset->error = connect_messages(comm);
	return collq_report_begin(comm, reset->error);
}

static void finish(struct collq_comm *comm, int err)
{
	struct collq_pair_endpoint *ep;
	struct collq_pair *pair;
	uint32_t i;

	for (i = 0; i < comm->size && !err; i++) {
		pair = comm->pairs[i];
		for (ep = pair ? pair->endpoints : NULL; pair && ep < pair->endpoints + pair->nr;
		     ep++) {
			ep->failed_here &= !ep->id;
			ep->failed &= !ep->id;
		}
	}
	collq_telling_free(&comm->reset.telling);
	comm->reset.error = err;
	comm->reset.stage = COLLQ_RESET_NONE;
	atomic_store(&comm->unready, err ? -ENOTCONN : 0);
}

static int next_stage(struct collq_comm *comm)
{
	struct collq_reset *reset = &comm->reset;
	int err;

	if (reset->stage == COLLQ_RESET_TELLING) {
		err = collq_telling_test(&reset->telling, comm, &reset->error);
		if (err)
			return err;
		reset->stage = COLLQ_RESET_REPORTING;
		return begin_reporting(comm);
	}
	err = collq_report_test(comm, reset->error);
	if (!err)
		finish(comm, 0);
	return err == COLLQ_STATUS_AGAIN ? -EPROTO : err;
}

int collq_reset_test(struct collq_comm *comm)
{
	int err = 0;

	while (!err && comm->reset.stage != COLLQ_RESET_NONE)
		err = next_stage(comm);
	if (err == -EINPROGRESS)
		return err;
	if (err)
		finish(comm, err);
	return comm->reset.error;
}

void collq_reset_give_up(struct collq_comm *comm)
{
	if (comm->reset.stage == COLLQ_RESET_NONE)
		return;
	collq_exchange_give_up(comm);
	finish(comm, -ECONNABORTED);
}

static void begin(struct collq_comm *comm)
{
	struct collq_reset *reset = &comm->reset;
	struct collq_message_header header = {
		.init = ++comm->init,
		.algorithm = COLLQ_MESSAGE_RESET,
	};
	int err;

	atomic_store(&comm->unready, -EAGAIN);
	reset->stage = COLLQ_RESET_TELLING;
	reset->error = prepare(comm);
	header.status = (uint32_t)reset->error;
	err = collq_telling_begin(&reset->telling, comm, &header);
	if (err)
		finish(comm, err);
}

int collq_comm_reset(struct collq_comm *comm)
{
	int err = 0;

	pthread_mutex_lock(&comm->lock);
	if (comm->inits || comm->reset.stage != COLLQ_RESET_NONE)
		err = -EBUSY;
	else if (comm->broken)
		err = -ECONNABORTED;
	else
		begin(comm);
	pthread_mutex_unlock(&comm->lock);
	return err;
}

int collq_comm_reset_test(struct collq_comm *comm)
{
	int err;

	pthread_mutex_lock(&comm->lock);
	err = collq_reset_test(comm);
	pthread_mutex_unlock(&comm->lock);
	return err;
}

static int reset_test(void *comm)
{
	return collq_comm_reset_test(comm);
}

int collq_comm_reset_wait(struct collq_comm *comm, uint64_t deadline)
{
	return collq_exchange_wait(reset_test, comm, deadline);
}
