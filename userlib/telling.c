// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What ranks do together, seen from one of them: it tells what it has made, hears
 * what its peers have, and when it has done its part reports how that went. All
 * by allgathers, whose blocks are of one size; what doesn't fit one comes in more
 * of them, until nobody has anything left.
 *
 * All ranks see the same headers and the same reports, and so come to the same
 * verdict.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "comm.h"
#include "log.h"
#include "telling.h"

int collq_telling_listen(struct collq_telling *telling, uint32_t peer)
{
	struct collq_stream *grown;

	grown = realloc(telling->streams, (telling->nr_streams + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	telling->streams = grown;
	grown[telling->nr_streams++] = (struct collq_stream){ .peer = peer };
	return 0;
}

/* Fills the rest of the block, from @offset on, with the next of the records. */
static void tell_more(const struct collq_telling *telling, struct collq_comm *comm,
		      uint32_t offset)
{
	const struct collq_writer *records = &telling->records;
	uint32_t room = comm->block - offset;
	size_t nr = records->nr > telling->told ? records->nr - telling->told : 0;

	if (nr > room)
		nr = room;
	memset(comm->send + offset, 0, room);
	if (nr)
		memcpy(comm->send + offset, records->bytes + telling->told, nr);
}

int collq_telling_begin(struct collq_telling *telling, struct collq_comm *comm,
			struct collq_message_header *header)
{
	if (header->status)
		telling->records.nr = 0;
	header->magic = COLLQ_MESSAGE_MAGIC;
	header->bytes = telling->records.nr;
	collq_message_put_header(comm->send, header);
	tell_more(telling, comm, sizeof(*header));
	return collq_exchange_begin(comm);
}

/*
 * The verdict on what a rank reports; any rank comes to the same. What means here that
 * something isn't over yet can't be why it has failed.
 */
static int judge(int status)
{
	if (status > 0 || status < -4095 || status == -EINPROGRESS || status == -ETIME)
		return -EPROTO;
	return status;
}

/* 0, or why this fails everywhere: on this rank its own reason if it has one. */
static int read_headers(struct collq_telling *telling, const struct collq_comm *comm, int own)
{
	struct collq_message_header first, header;
	uint32_t rank;
	int err = own;

	collq_message_get_header(collq_exchange_block(comm, 0), &first);
	for (rank = 0; rank < comm->size; rank++) {
		collq_message_get_header(collq_exchange_block(comm, rank), &header);
		if (header.bytes <= COLLQ_MESSAGE_MAX && header.bytes > telling->most_bytes)
			telling->most_bytes = header.bytes;
		if (!err && header.bytes > COLLQ_MESSAGE_MAX)
			err = -EPROTO;
		if (!err && header.magic != COLLQ_MESSAGE_MAGIC)
			err = -EPROTO;
		if (!err && header.status)
			err = judge((int32_t)header.status);
		if (!err && (header.init != first.init || header.algorithm != first.algorithm ||
			     header.radix != first.radix))
			err = -EINVAL;
		if (err && !own) {
			collq_info("initialisation or reset %u fails: rank %u: %s", comm->init,
				   rank, strerror(-err));
			return err;
		}
	}
	return err;
}

/* Room for what the peers tell. Running out of it is reported later. */
static void expect_records(struct collq_telling *telling, const struct collq_comm *comm,
			   int *own)
{
	struct collq_message_header header;
	struct collq_stream *stream;

	for (stream = telling->streams; stream < telling->streams + telling->nr_streams;
	     stream++) {
		collq_message_get_header(collq_exchange_block(comm, stream->peer), &header);
		stream->bytes = collq_new_entries(header.bytes, 1);
		if (stream->bytes)
			stream->room = header.bytes;
		else
			*own = -ENOMEM;
	}
}

/* Takes what the peers tell in this block, from @offset on. */
static void take_records(struct collq_telling *telling, const struct collq_comm *comm,
			 uint32_t offset)
{
	struct collq_stream *stream;
	uint32_t nr;

	for (stream = telling->streams; stream < telling->streams + telling->nr_streams;
	     stream++) {
		nr = stream->room - stream->nr;
		if (nr > comm->block - offset)
			nr = comm->block - offset;
		if (nr)
			memcpy(stream->bytes + stream->nr,
			       collq_exchange_block(comm, stream->peer) + offset, nr);
		stream->nr += nr;
	}
	telling->told += comm->block - offset;
}

int collq_telling_test(struct collq_telling *telling, struct collq_comm *comm, int *own)
{
	uint32_t offset;
	int err;

	for (;;) {
		err = collq_exchange_test(comm);
		if (err)
			return err;
		offset = 0;
		if (!telling->has_begun) {
			err = read_headers(telling, comm, *own);
			if (err)
				return err;
			expect_records(telling, comm, own);
			telling->has_begun = true;
			offset = sizeof(struct collq_message_header);
		}
		take_records(telling, comm, offset);
		if (telling->told >= telling->most_bytes)
			return 0;
		tell_more(telling, comm, 0);
		err = collq_exchange_begin(comm);
		if (err)
			return err;
	}
}

void collq_telling_free(struct collq_telling *telling)
{
	uint32_t i;

	for (i = 0; i < telling->nr_streams; i++)
		free(telling->streams[i].bytes);
	free(telling->streams);
	free(telling->records.bytes);
	*telling = (struct collq_telling){ 0 };
}

int collq_report_begin(struct collq_comm *comm, int status)
{
	memset(comm->send, 0, comm->block);
	collq_message_put_status(comm->send, status);
	return collq_exchange_begin(comm);
}

static int read_reports(const struct collq_comm *comm)
{
	int status, verdict = 0;
	uint32_t rank;

	for (rank = 0; rank < comm->size; rank++) {
		status = collq_message_get_status(collq_exchange_block(comm, rank));
		if (status == COLLQ_STATUS_AGAIN) {
			verdict = status;
		} else if (status) {
			status = judge(status);
			collq_info("initialisation or reset %u fails: rank %u: %s", comm->init,
				   rank, strerror(-status));
			return status;
		}
	}
	return verdict;
}

int collq_report_test(struct collq_comm *comm, int own)
{
	int err = collq_exchange_test(comm);

	if (err)
		return err;
	return own ? own : read_reports(comm);
}
