/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A persistent request: first its initialisation, which all ranks go through
 * together; then its runs.
 */
#ifndef COLLQ_REQUEST_H
#define COLLQ_REQUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collq/collq.h"

#include "comm.h"
#include "telling.h"

struct collq_data;
struct collq_terms;

/*
 * What a request has with one peer. @fresh: this initialisation makes the
 * endpoint.
 */
struct collq_link {
	struct collq_pair *pair;
	struct collq_lease *lease;	/* NULL before there is one */
	bool fresh, reserved;
	uint32_t waits, sends;		/* messages in one run */
	uint32_t nr_channels;		/* in channels from there */
	uint16_t peer_abort_slot;
	uint8_t peer_abort_generation;
	unsigned char address[IB_COLLQ_ADDRESS_SIZE];
};

/* An in channel: its counter, and the slot that raises it */
struct collq_in_channel {
	uint32_t link;
	uint32_t tag;
	uint32_t slot;			/* which of the lease's */
	uint32_t counter;
};

/* How far an initialisation is */
enum collq_stage {
	COLLQ_INIT_QUEUED,		/* others come first */
	COLLQ_INIT_AGREEING,		/* on what to make of it */
	COLLQ_INIT_TELLING,		/* what there is, and hearing it */
	COLLQ_INIT_REPORTING,		/* whether it has worked out */
	COLLQ_INIT_DONE,
};

/* Whether a run is going on; STARTED -> ENDED is done by whoever finds out */
enum collq_run {
	COLLQ_RUN_NONE,
	COLLQ_RUN_STARTED,
	COLLQ_RUN_ENDED,
};

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2,
	       "collq_cancel() is for signal handlers, which can't take a lock");

struct collq_request {
	struct collq_comm *comm;
	struct collq_context *ctx;
	struct collq_request *next_of_all, **link_of_all;	/* the communicator's lock */

	/*
	 * Initialisation; the communicator's lock. Any thread may do it, so @stage
	 * tells the owner that the rest is there; it's set last.
	 */
	_Atomic enum collq_stage stage;
	struct collq_request *next;
	int init_error;
	struct collq_graph *graph;	/* kept for another device: see move.c */
	uint32_t algorithm, radix;
	struct collq_data *data;	/* NULL if it moves none */
	struct collq_terms *terms;	/* to agree on before there's a graph, or NULL */
	struct collq_link *links;
	uint32_t nr_links;
	struct collq_in_channel *in;
	struct collq_graph_out_binding *out;
	uint32_t *out_links;
	uint32_t nr_in, nr_out;
	struct collq_telling telling;
	bool again;			/* an endpoint that was chosen has failed */
	uint32_t nr_again;		/* how often that was so */

	/* What there is in the kernel: see objects.c. */
	uint32_t nr_counters, nr_bound;
	uint32_t graph_id, queue_id;

	/* Its place in the context's table. */
	uint32_t id;
	uint16_t generation;

	/* Runs. @sequence: the last one submitted, or being submitted. */
	_Atomic enum collq_run run;
	_Atomic uint64_t sequence;
	int status;
	struct collq_failure failure;
};

/*
 * What to make a request of. @algorithm and @radix, which must be the same on all
 * ranks, are a barrier's, or COLLQ_MESSAGE_*. @error is why it is to fail.
 */
struct collq_recipe {
	struct collq_graph *graph;
	uint32_t algorithm, radix;
	struct collq_data *data;	/* or NULL */
	struct collq_terms *terms;	/* or NULL; @graph is empty then, and yet to be built */
	int error;
};

/* A new request, to be initialised: 0, -ENOSPC or -ENOMEM. Takes all over if so. */
int collq_request_new(struct collq_comm *comm, const struct collq_recipe *recipe,
		      struct collq_request **request);

/* Ends a run, if there is one: 0, -ENOENT or another errno. Any thread may. */
int collq_request_cancel(struct collq_request *request);

/* The same, and no run that another thread has begun escapes. */
int collq_request_stop(struct collq_request *request);

/*
 * Ends a run, if there is one, and waits until it's over: one that moves data goes on
 * until no message touches its buffers any more. 0 or -errno.
 */
int collq_request_end(struct collq_request *request);

#endif /* COLLQ_REQUEST_H */
