// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How the ranks of a communicator reach each other before they are connected: an
 * allgather through shared memory, without locks and without blocking.
 *
 * In round n every rank writes its block and then publishes n. It is through
 * when all have published n and it has copied their blocks. Two generations of
 * blocks are enough: a rank writes round n + 2 over round n only when it is
 * through with n + 1, for which all have published n + 1, which they do when
 * they are through with n.
 */
#include <errno.h>
#include <string.h>

#include "oob.h"

static int oob_allgather(void *arg, const void *send, void *recv, size_t bytes, void **request)
{
	struct oob *oob = arg;
	struct oob_rank *mine = &oob->shared->oob[oob->comm][oob->rank];

	if (oob->busy)
		return -EBUSY;
	if (bytes > MAX_BLOCK)
		return -EMSGSIZE;
	oob->busy = true;
	oob->round++;
	oob->recv = recv;
	oob->bytes = bytes;
	memcpy(shared_block(oob->shared, oob->comm, oob->round, oob->rank), send, bytes);
	mine->bytes[oob->round % NR_GENERATIONS] = bytes;
	atomic_store_explicit(&mine->published, oob->round, memory_order_release);
	bell_ring(oob->shared);
	*request = oob;
	return 0;
}

static int oob_test(void *arg, void *request)
{
	struct oob *oob = arg;
	struct shared *shared = oob->shared;
	uint32_t rank;

	(void)request;
	if (!oob->busy)
		return 0;
	for (rank = 0; rank < shared->nr_ranks; rank++) {
		if (atomic_load_explicit(&shared->oob[oob->comm][rank].published,
					 memory_order_acquire) < oob->round)
			return -EINPROGRESS;
	}
	for (rank = 0; rank < shared->nr_ranks; rank++)
		memcpy((char *)oob->recv + rank * oob->bytes,
		       shared_block(shared, oob->comm, oob->round, rank), oob->bytes);
	oob->busy = false;
	return 0;
}

static void oob_free(void *arg, void *request)
{
	struct oob *oob = arg;

	(void)request;
	oob->busy = false;
}

void oob_init(struct oob *oob, struct shared *shared, uint32_t comm, uint32_t rank,
	      struct collq_oob *callbacks)
{
	*oob = (struct oob) { .shared = shared, .comm = comm, .rank = rank };
	*callbacks = (struct collq_oob) {
		.size = sizeof(*callbacks),
		.arg = oob,
		.allgather = oob_allgather,
		.test = oob_test,
		.req_free = oob_free,
	};
}
