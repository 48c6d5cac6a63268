/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Telling all ranks of a communicator something, and hearing what some of them
 * have to tell; then reporting what came of it. See telling.c.
 */
#ifndef COLLQ_TELLING_H
#define COLLQ_TELLING_H

#include <stdbool.h>
#include <stdint.h>

#include "message.h"

struct collq_comm;

/* What another rank has told, as far as it has come */
struct collq_stream {
	uint32_t peer;
	unsigned char *bytes;
	uint32_t nr, room;
};

/* All zeros to begin with. The caller fills @records. */
struct collq_telling {
	struct collq_writer records;
	uint64_t told;			/* bytes of records */
	uint32_t most_bytes;		/* that any rank has to tell */
	bool has_begun;			/* the headers are there */
	struct collq_stream *streams;	/* in order of collq_telling_listen() */
	uint32_t nr_streams;
};

/* What @peer tells is wanted: 0 or -ENOMEM. */
int collq_telling_listen(struct collq_telling *telling, uint32_t peer);

/* Begins: with @header, of which all but the status must be the same everywhere. */
int collq_telling_begin(struct collq_telling *telling, struct collq_comm *comm,
			struct collq_message_header *header);

/*
 * -EINPROGRESS; 0 if all streams are there; or why nothing comes of it on any
 * rank. @own is this rank's reason to fail, which is another one if memory runs
 * out meanwhile.
 */
int collq_telling_test(struct collq_telling *telling, struct collq_comm *comm, int *own);

void collq_telling_free(struct collq_telling *telling);

/*
 * How it went on this rank, @status; and on all of them: -EINPROGRESS, 0, an
 * errno, or COLLQ_STATUS_AGAIN if there's nothing worse.
 */
int collq_report_begin(struct collq_comm *comm, int status);
int collq_report_test(struct collq_comm *comm, int own);

#endif /* COLLQ_TELLING_H */
