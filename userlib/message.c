// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Writing and reading the messages of message.h.
 *
 * What is read comes from another process, over whatever network the application
 * has. It is checked so far that nothing is read or done that isn't there.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rdma/ib_collq.h"

#include "message.h"

_Static_assert(sizeof(struct collq_message_header) == 24, "ranks of any version agree on it");
_Static_assert(sizeof(struct collq_message_record) == 48, "no padding");
_Static_assert(sizeof(struct collq_message_channel) == 8, "no padding");
_Static_assert(sizeof(struct collq_message_endpoint) == 144, "no padding");
_Static_assert(sizeof(struct collq_message_terms) == 56, "no padding");

/* A record for a peer with a fresh endpoint and a few channels */
#define TYPICAL_RECORD		192

/* What a rank sets aside for what all others tell it */
#define MAX_EXCHANGE_BYTES	(4U << 20)
#define MIN_BLOCK		512U

/*
 * Enough for about as many peers as there are in an algorithm with a logarithmic
 * number of rounds. What doesn't fit needs more allgathers.
 */
uint32_t collq_message_block(uint32_t size)
{
	uint32_t peers = 0, most = MAX_EXCHANGE_BYTES / size;
	uint32_t block;

	while (peers < 31 && 1U << peers < size)
		peers++;
	block = sizeof(struct collq_message_header) + 2 * peers * TYPICAL_RECORD;
	if (block > most)
		block = most;
	return block > MIN_BLOCK ? block : MIN_BLOCK;
}

static void record_to_wire(struct collq_message_record *record)
{
	record->bytes = htole32(record->bytes);
	record->peer = htole32(record->peer);
	record->endpoint = htole32(record->endpoint);
	record->flags = htole32(record->flags);
	record->capacity = htole32(record->capacity);
	record->waits = htole32(record->waits);
	record->sends = htole32(record->sends);
	record->abort_slot = htole16(record->abort_slot);
	record->abort_generation = htole16(record->abort_generation);
	record->nr_channels = htole32(record->nr_channels);
	record->nr_messages = htole32(record->nr_messages);
	record->nr_freed = htole32(record->nr_freed);
	record->nr_failed = htole32(record->nr_failed);
}

/* Swapping twice is not swapping: the same function serves both ways. */
static void record_from_wire(struct collq_message_record *record)
{
	record_to_wire(record);
}

/* Room for so many more bytes, or NULL. */
static unsigned char *extend(struct collq_writer *writer, size_t nr)
{
	size_t room = writer->room ? writer->room : 256;
	unsigned char *bytes;

	if (writer->error)
		return NULL;
	while (room - writer->nr < nr)
		room *= 2;
	if (room != writer->room) {
		bytes = realloc(writer->bytes, room);
		if (!bytes) {
			writer->error = -ENOMEM;
			return NULL;
		}
		writer->bytes = bytes;
		writer->room = room;
	}
	writer->nr += nr;
	return writer->bytes + writer->nr - nr;
}

static size_t address_bytes(const struct collq_message_record *record)
{
	return record->flags & COLLQ_RECORD_FRESH ? IB_COLLQ_ADDRESS_SIZE : 0;
}

static uint64_t record_bytes(const struct collq_message_record *record)
{
	return sizeof(*record) + address_bytes(record) +
	       (uint64_t)record->nr_channels * sizeof(struct collq_message_channel) +
	       (uint64_t)record->nr_messages * sizeof(struct collq_message_endpoint) +
	       (uint64_t)record->nr_freed * sizeof(uint32_t) +
	       (uint64_t)record->nr_failed * sizeof(uint32_t);
}

void collq_write_record(struct collq_writer *writer, const struct collq_message_record *record,
			const unsigned char *address)
{
	struct collq_message_record wire = *record;
	unsigned char *to;

	wire.bytes = record_bytes(record);
	record_to_wire(&wire);
	to = extend(writer, sizeof(wire) + address_bytes(record));
	if (!to)
		return;
	memcpy(to, &wire, sizeof(wire));
	if (address_bytes(record))
		memcpy(to + sizeof(wire), address, IB_COLLQ_ADDRESS_SIZE);
}

void collq_write_channel(struct collq_writer *writer,
			 const struct collq_message_channel *channel)
{
	const struct collq_message_channel wire = {
		.tag = htole32(channel->tag),
		.slot = htole16(channel->slot),
		.generation = htole16(channel->generation),
	};
	unsigned char *to = extend(writer, sizeof(wire));

	if (to)
		memcpy(to, &wire, sizeof(wire));
}

void collq_write_endpoint(struct collq_writer *writer,
			  const struct collq_message_endpoint *endpoint)
{
	struct collq_message_endpoint wire = {
		.init = htole32(endpoint->init),
		.tag = htole32(endpoint->tag),
		.sends = htole32(endpoint->sends),
		.recvs = htole32(endpoint->recvs),
	};
	unsigned char *to = extend(writer, sizeof(wire));

	memcpy(wire.address, endpoint->address, sizeof(wire.address));
	if (to)
		memcpy(to, &wire, sizeof(wire));
}

static void terms_to_wire(struct collq_message_terms *terms)
{
	size_t i;

	terms->amount = htole64(terms->amount);
	terms->max_message = htole64(terms->max_message);
	terms->place = htole64(terms->place);
	terms->region_part = htole64(terms->region_part);
	for (i = 0; i < sizeof(terms->choice) / sizeof(terms->choice[0]); i++)
		terms->choice[i] = htole32(terms->choice[i]);
	terms->max_send_sge = htole32(terms->max_send_sge);
	terms->max_recv_sge = htole32(terms->max_recv_sge);
}

void collq_write_terms(struct collq_writer *writer, const struct collq_message_terms *terms)
{
	struct collq_message_terms wire = *terms;
	unsigned char *to = extend(writer, sizeof(wire));

	terms_to_wire(&wire);
	if (to)
		memcpy(to, &wire, sizeof(wire));
}

int collq_message_get_terms(const unsigned char *bytes, size_t nr,
			    struct collq_message_terms *terms)
{
	if (nr != sizeof(*terms))
		return -EPROTO;
	memcpy(terms, bytes, sizeof(*terms));
	/* As with records, the same function serves both ways. */
	terms_to_wire(terms);
	return 0;
}

void collq_write_number(struct collq_writer *writer, uint32_t number)
{
	uint32_t wire = htole32(number);
	unsigned char *to = extend(writer, sizeof(wire));

	if (to)
		memcpy(to, &wire, sizeof(wire));
}

void collq_message_put_header(unsigned char *bytes, const struct collq_message_header *header)
{
	const struct collq_message_header wire = {
		.magic = htole32(header->magic),
		.init = htole32(header->init),
		.algorithm = htole32(header->algorithm),
		.radix = htole32(header->radix),
		.status = htole32(header->status),
		.bytes = htole32(header->bytes),
	};

	memcpy(bytes, &wire, sizeof(wire));
}

void collq_message_get_header(const unsigned char *bytes, struct collq_message_header *header)
{
	struct collq_message_header wire;

	memcpy(&wire, bytes, sizeof(wire));
	header->magic = le32toh(wire.magic);
	header->init = le32toh(wire.init);
	header->algorithm = le32toh(wire.algorithm);
	header->radix = le32toh(wire.radix);
	header->status = le32toh(wire.status);
	header->bytes = le32toh(wire.bytes);
}

void collq_message_put_status(unsigned char *bytes, int status)
{
	uint32_t wire = htole32((uint32_t)status);

	memcpy(bytes, &wire, sizeof(wire));
}

int collq_message_get_status(const unsigned char *bytes)
{
	uint32_t wire;

	memcpy(&wire, bytes, sizeof(wire));
	return (int32_t)le32toh(wire);
}

int collq_message_find(const unsigned char *bytes, size_t nr, uint32_t peer,
		       struct collq_found *found)
{
	struct collq_message_record *record = &found->record;
	const unsigned char *at;

	for (; nr; bytes += record->bytes, nr -= record->bytes) {
		if (nr < sizeof(*record))
			return -EPROTO;
		memcpy(record, bytes, sizeof(*record));
		record_from_wire(record);
		if (record->bytes > nr || record->bytes != record_bytes(record))
			return -EPROTO;
		if (record->peer != peer)
			continue;
		at = bytes + sizeof(*record);
		found->address = address_bytes(record) ? at : NULL;
		at += address_bytes(record);
		found->channels = at;
		found->messages = at + (size_t)record->nr_channels *
				       sizeof(struct collq_message_channel);
		found->freed = found->messages + (size_t)record->nr_messages *
						 sizeof(struct collq_message_endpoint);
		found->failed = found->freed + (size_t)record->nr_freed * sizeof(uint32_t);
		found->end = bytes + record->bytes;
		return 0;
	}
	return -ENOENT;
}

void collq_found_channel(const struct collq_found *found, uint32_t i,
			 struct collq_message_channel *channel)
{
	struct collq_message_channel wire;

	memcpy(&wire, found->channels + (size_t)i * sizeof(wire), sizeof(wire));
	channel->tag = le32toh(wire.tag);
	channel->slot = le16toh(wire.slot);
	channel->generation = le16toh(wire.generation);
}

void collq_found_endpoint(const struct collq_found *found, uint32_t i,
			  struct collq_message_endpoint *endpoint)
{
	struct collq_message_endpoint wire;

	memcpy(&wire, found->messages + (size_t)i * sizeof(wire), sizeof(wire));
	endpoint->init = le32toh(wire.init);
	endpoint->tag = le32toh(wire.tag);
	endpoint->sends = le32toh(wire.sends);
	endpoint->recvs = le32toh(wire.recvs);
	memcpy(endpoint->address, wire.address, sizeof(wire.address));
}

static uint32_t number_at(const unsigned char *numbers, uint32_t i)
{
	uint32_t wire;

	memcpy(&wire, numbers + (size_t)i * sizeof(wire), sizeof(wire));
	return le32toh(wire);
}

uint32_t collq_found_freed(const struct collq_found *found, uint32_t i)
{
	return number_at(found->freed, i);
}

uint32_t collq_found_failed(const struct collq_found *found, uint32_t i)
{
	return number_at(found->failed, i);
}
