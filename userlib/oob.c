// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Out of band: the application's allgather, by which ranks find each other.
 *
 * A communicator has one going on at a time. Whatever goes wrong with it, nobody
 * can tell how far the other ranks got, so that is the end of it.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "comm.h"
#include "sized.h"

/* How long to sleep between two looks at an allgather that isn't complete */
#define FIRST_NAP_NS	20000
#define LONGEST_NAP_NS	1000000

/*
 * What a callback may return: anything else is no errno, or would mean here that there's
 * something to go on with.
 */
static int sane(int err)
{
	return err > 0 || err == -EINPROGRESS || err == -ETIME ? -EPROTO : err;
}

int collq_exchange_begin(struct collq_comm *comm)
{
	int err;

	/* A lone rank need not bring any callbacks. */
	if (comm->size == 1) {
		memcpy(comm->recv, comm->send, comm->block);
		return 0;
	}
	err = sane(comm->oob.allgather(comm->oob.arg, comm->send, comm->recv, comm->block,
				       &comm->oob_request));
	if (err)
		comm->broken = true;
	else
		comm->exchanging = true;
	return err;
}

int collq_exchange_test(struct collq_comm *comm)
{
	int err;

	if (!comm->exchanging)
		return 0;
	err = comm->oob.test(comm->oob.arg, comm->oob_request);
	if (err == -EINPROGRESS)
		return err;
	err = sane(err);
	comm->oob.req_free(comm->oob.arg, comm->oob_request);
	comm->exchanging = false;
	if (err)
		comm->broken = true;
	return err;
}

void collq_exchange_give_up(struct collq_comm *comm)
{
	if (comm->exchanging)
		comm->oob.req_free(comm->oob.arg, comm->oob_request);
	comm->exchanging = false;
	comm->broken = true;
}

const unsigned char *collq_exchange_block(const struct collq_comm *comm, uint32_t rank)
{
	return comm->recv + (size_t)rank * comm->block;
}

int collq_exchange_wait(int (*test)(void *arg), void *arg, uint64_t deadline)
{
	struct timespec nap = { .tv_nsec = FIRST_NAP_NS };
	int err;

	for (;;) {
		err = test(arg);
		if (err != -EINPROGRESS)
			return err;
		if (deadline && collq_deadline_in(0) >= deadline)
			return -ETIME;
		nanosleep(&nap, NULL);
		if (nap.tv_nsec < LONGEST_NAP_NS)
			nap.tv_nsec *= 2;
	}
}

static int blocking_allgather(void *arg, const void *send, void *recv, size_t bytes,
			      void **request)
{
	const struct collq_oob_blocking *blocking = arg;

	*request = NULL;
	return blocking->allgather(blocking->arg, send, recv, bytes);
}

static int blocking_test(void *arg, void *request)
{
	(void)arg;
	(void)request;
	return 0;
}

static void blocking_free(void *arg, void *request)
{
	(void)arg;
	(void)request;
}

int collq_oob_from_blocking(struct collq_oob *oob, const struct collq_oob_blocking *blocking)
{
	const struct collq_oob callbacks = {
		.arg = (void *)blocking,
		.allgather = blocking_allgather,
		.test = blocking_test,
		.req_free = blocking_free,
	};
	struct collq_oob_blocking known;
	int err;

	err = collq_sized_take(&known, sizeof(known), blocking);
	if (err)
		return err;
	if (!known.allgather)
		return -EINVAL;
	return collq_sized_give(oob, &callbacks, sizeof(callbacks));
}
