/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A communicator: the ranks, what there is between this one and its peers, and
 * the initialisations that are under way.
 */
#ifndef COLLQ_COMM_H
#define COLLQ_COMM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collq/collq.h"

#include "context.h"
#include "pair.h"
#include "telling.h"

/* How far a reset is, and how the last one went */
enum collq_reset_stage {
	COLLQ_RESET_NONE,
	COLLQ_RESET_TELLING,
	COLLQ_RESET_REPORTING,
};

struct collq_reset {
	enum collq_reset_stage stage;
	struct collq_telling telling;
	int error;
};

/*
 * @lock protects everything below it, and the initialisation of the requests.
 * It is held while the callbacks of @oob run. Only the context's is taken
 * inside it.
 *
 * @inits are carried out one at a time, in order, since ranks must agree on
 * what they do to pairs. @send (a block) and @recv (one for each rank) are the
 * current one's.
 *
 * @unready is what starts give, or 0. It's read without the lock: who starts a run
 * just then finds out from the kernel.
 */
struct collq_comm {
	struct collq_context *ctx;
	struct collq_comm *next;	/* in the context, with its lock */
	uint32_t rank, size;
	struct collq_oob oob;
	uint32_t block;

	pthread_mutex_t lock;
	struct collq_request *requests;
	atomic_int unready;
	struct collq_request *inits, **last_init;
	uint32_t init;			/* number of the current one */
	struct collq_reset reset;	/* before any of @inits */
	bool broken;			/* ranks may have lost step */
	void *oob_request;
	bool exchanging;
	unsigned char *send, *recv;
	struct collq_pair **pairs;	/* by rank; NULL for those not met yet */
};

/* What there is with a peer, made if need be; NULL if out of memory. */
struct collq_pair *collq_comm_pair(struct collq_comm *comm, uint32_t peer);

/*
 * An allgather of @send: begin; and -EINPROGRESS, or 0 once @recv is there. Any
 * error leaves the communicator broken.
 */
int collq_exchange_begin(struct collq_comm *comm);
int collq_exchange_test(struct collq_comm *comm);
void collq_exchange_give_up(struct collq_comm *comm);

/* Calls @test, and sleeps in between, until it doesn't give -EINPROGRESS. */
int collq_exchange_wait(int (*test)(void *arg), void *arg, uint64_t deadline);

/* What @rank has sent. */
const unsigned char *collq_exchange_block(const struct collq_comm *comm, uint32_t rank);

#endif /* COLLQ_COMM_H */
