/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What ranks tell each other, through the application's allgather, while a
 * request is initialised. All numbers are little-endian.
 *
 * A request that moves data begins with the terms that it is to be made on: a header,
 * and behind it a rank's terms.
 *
 * Then, or first, comes a header, and behind it a record for each peer, in any order.
 * A record is followed by the endpoint's address if it's a fresh one, by its channels,
 * by its message endpoints, by the requests freed (numbers of their initialisations),
 * and by the endpoints that have failed (their indices in the pair); numbers have 32
 * bits. When that is done with, a status.
 *
 * How many bytes a rank gives in each allgather is part of this. Ranks must agree on
 * it before they have told each other anything, so it is the same in all versions;
 * whoever needs another format takes another magic number in the same block.
 */
#ifndef COLLQ_MESSAGE_H
#define COLLQ_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include <rdma/ib_collq.h>

#define COLLQ_MESSAGE_MAGIC	0x34514c43U	/* "CLQ4" */

/* Records that a rank may have; what other processes say isn't trusted. */
#define COLLQ_MESSAGE_MAX	(16U << 20)

/* Values of @algorithm that are none of a barrier's */
#define COLLQ_MESSAGE_GRAPH	UINT32_MAX		/* the application's own graph */
#define COLLQ_MESSAGE_RESET	(UINT32_MAX - 1)	/* nothing new: see reset.c */
#define COLLQ_MESSAGE_ALLTOALL	(UINT32_MAX - 2)
#define COLLQ_MESSAGE_ALLREDUCE	(UINT32_MAX - 3)

/* The same on all ranks, up to @status */
struct collq_message_header {
	uint32_t magic;
	uint32_t init;		/* which initialisation or reset of the communicator this is */
	uint32_t algorithm;
	uint32_t radix;
	uint32_t status;	/* 0, or negative errno */
	uint32_t bytes;		/* of all records */
};

/*
 * How a rank would have a collective that moves data. @choice and @amount must be the
 * same on all ranks; what any of them has the least limit for is the limit of all; and
 * if they say the same for @place and that isn't 0, they are local to each other.
 */
struct collq_message_terms {
	uint64_t amount;
	uint64_t max_message;
	uint64_t place;
	uint64_t region_part;	/* 0: memory isn't registered in parts */
	uint32_t choice[4];
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
};

/* Bits of @flags */
#define COLLQ_RECORD_FRESH	(1U << 0)	/* an endpoint that isn't connected yet */
#define COLLQ_RECORD_AGAIN	(1U << 1)	/* some endpoint has failed: choose again */

/* A status that is no errno: choose endpoints again, and tell all anew */
#define COLLQ_STATUS_AGAIN	1

struct collq_message_record {
	uint32_t bytes;		/* with all that follows it */
	uint32_t peer;		/* whom it is for */
	uint32_t endpoint;	/* index in the pair */
	uint32_t flags;
	uint32_t capacity;	/* receives of a fresh one */
	uint32_t waits;		/* messages from the peer in one run */
	uint32_t sends;		/* messages to the peer in one run */
	uint16_t abort_slot;
	uint16_t abort_generation;
	uint32_t nr_channels;
	uint32_t nr_messages;
	uint32_t nr_freed;
	uint32_t nr_failed;
};

/* An in channel of the sender: what the receiver's signals have to name */
struct collq_message_channel {
	uint32_t tag;
	uint16_t slot;
	uint16_t generation;
};

/*
 * A message endpoint of the sender. With the number of the request's initialisation, the
 * tag says which of the receiver's belongs to it.
 */
struct collq_message_endpoint {
	uint32_t init;
	uint32_t tag;
	uint32_t sends;		/* messages in one run */
	uint32_t recvs;
	unsigned char address[IB_COLLQ_ADDRESS_SIZE];
};

/* Bytes that grow while they are written; @error sticks */
struct collq_writer {
	unsigned char *bytes;
	size_t nr, room;
	int error;
};

/* How many bytes each of @size ranks gives in an allgather. */
uint32_t collq_message_block(uint32_t size);

void collq_write_record(struct collq_writer *writer, const struct collq_message_record *record,
			const unsigned char *address);
void collq_write_channel(struct collq_writer *writer,
			 const struct collq_message_channel *channel);
void collq_write_endpoint(struct collq_writer *writer,
			  const struct collq_message_endpoint *endpoint);
void collq_write_terms(struct collq_writer *writer, const struct collq_message_terms *terms);
void collq_write_number(struct collq_writer *writer, uint32_t number);

void collq_message_put_header(unsigned char *bytes, const struct collq_message_header *header);
void collq_message_get_header(const unsigned char *bytes, struct collq_message_header *header);
void collq_message_put_status(unsigned char *bytes, int status);
int collq_message_get_status(const unsigned char *bytes);

/* A record that was found, and what follows it; @address is NULL if none does */
struct collq_found {
	struct collq_message_record record;
	const unsigned char *address;
	const unsigned char *channels;
	const unsigned char *messages;
	const unsigned char *freed;
	const unsigned char *failed;
	const unsigned char *end;	/* what follows the record */
};

/* The record for @peer: 0, -ENOENT if there's none, -EPROTO if malformed. */
int collq_message_find(const unsigned char *bytes, size_t nr, uint32_t peer,
		       struct collq_found *found);
void collq_found_channel(const struct collq_found *found, uint32_t i,
			 struct collq_message_channel *channel);
void collq_found_endpoint(const struct collq_found *found, uint32_t i,
			  struct collq_message_endpoint *endpoint);
uint32_t collq_found_freed(const struct collq_found *found, uint32_t i);
uint32_t collq_found_failed(const struct collq_found *found, uint32_t i);

/* A rank's terms: 0, or -EPROTO if they aren't all that there is. */
int collq_message_get_terms(const unsigned char *bytes, size_t nr,
			    struct collq_message_terms *terms);

#endif /* COLLQ_MESSAGE_H */
