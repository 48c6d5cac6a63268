/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A context: the open device, and the ring in which the runs of all its requests
 * end.
 */
#ifndef COLLQ_CONTEXT_H
#define COLLQ_CONTEXT_H

#include <pthread.h>
#include <stdint.h>

#include "collq/collq.h"

#include "env.h"
#include "nldev.h"
#include "slots.h"

struct collq_device;
struct collq_region;
struct collq_sleeper;
struct collq_verbs;

/*
 * @lock protects everything below it, and who takes completions out of @ring. It
 * is the innermost lock: a communicator's may be held when it is taken.
 */
struct collq_context {
	int fd;
	struct collq_verbs *verbs;	/* or NULL: @fd is the character device */
	char device[COLLQ_NAME_SIZE];
	uint32_t port;
	uint32_t gid_index;
	struct collq_env env;
	struct ib_collq_query limits;

	pthread_mutex_t lock;
	uint32_t users;			/* communicators, and rings of the caller */
	struct collq_comm *comms;
	struct collq_ring *ring;	/* made with the first communicator */
	struct collq_sleeper *sleepers;	/* until @ring has an entry, see progress.c */
	pthread_cond_t woken;		/* one of them */
	struct collq_region *old_regions;	/* see region.h */
	struct collq_slots ids;		/* of the requests, see progress.c */
	struct collq_request **requests;
	uint32_t room;
};

/* Counts a ring of the caller, or takes it away again. */
void collq_context_hold(struct collq_context *ctx);
void collq_context_drop(struct collq_context *ctx);

/* Makes this device the context's: 0, or why it isn't fit; it's in there anyway. */
int collq_context_enter(struct collq_context *ctx, const struct collq_device *device);

/* Whether its endpoints are local where they can be. */
bool collq_context_is_local(const struct collq_context *ctx);

/* The ring for all requests, with the lock held. */
int collq_context_map_ring(struct collq_context *ctx);

#endif /* COLLQ_CONTEXT_H */
