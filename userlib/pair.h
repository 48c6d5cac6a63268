/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a communicator has with one peer: endpoints, and leases of them.
 */
#ifndef COLLQ_PAIR_H
#define COLLQ_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "slots.h"

/*
 * One endpoint of a pair. What is used of its capacity, here (messages that
 * arrive here) and there, is the sum over its leases and the same at both sides.
 */
struct collq_pair_endpoint {
	uint32_t id;
	uint32_t capacity_here, capacity_there;
	uint32_t used_here, used_there;
	bool failed_here;		/* as this side has found */
	bool telling, heard;		/* the peer so, and of the peer */
	bool failed;			/* as both know: not to be chosen */
	struct collq_slots slots;	/* what the peer's signals name */
	struct collq_slots aborts;	/* and its ABORTs */
};

/*
 * What one request uses of a pair: room for messages, and slots at this side. It
 * lasts until both sides have freed the request and know it of each other.
 * @telling and @heard belong to an initialisation that may yet fail.
 */
struct collq_lease {
	struct collq_lease *next;
	uint32_t init;			/* the request, by number of its initialisation */
	uint32_t endpoint;		/* index in the pair */
	uint32_t here, there;		/* of the capacities */
	bool freed;			/* here */
	bool telling, told;		/* the peer so */
	bool heard, freed_there;
	uint32_t abort_slot;
	uint32_t nr_slots;
	uint32_t slots[];
};

struct collq_pair {
	uint32_t peer;
	uint32_t nr, room;
	struct collq_pair_endpoint *endpoints;
	struct collq_lease *leases;
};

/*
 * The endpoint with room for so many messages each way: its index. That of one
 * yet to be made is the number of endpoints.
 */
uint32_t collq_pair_choose(const struct collq_pair *pair, uint32_t here, uint32_t there);

/* One more endpoint, all zeros but its limits of slots; 0 or -ENOMEM. */
int collq_pair_add(struct collq_pair *pair, uint32_t max_slots);
/* Takes the last one away again. */
void collq_pair_remove(struct collq_pair *pair);

/* A lease of an endpoint, with slots; 0, -ENOSPC or -ENOMEM. */
int collq_pair_lease(struct collq_pair *pair, uint32_t endpoint, uint32_t init,
		     uint32_t nr_slots, struct collq_lease **lease);
/* Takes room for messages, once there is no doubt where. */
void collq_pair_use(struct collq_pair *pair, struct collq_lease *lease, uint32_t here,
		    uint32_t there);
/* Ends a lease of which the peer doesn't know, or no longer. */
void collq_pair_end(struct collq_pair *pair, struct collq_lease *lease);

/* The generations of a lease's slots. */
uint16_t collq_pair_generation(const struct collq_pair *pair,
			       const struct collq_lease *lease, uint32_t i);
uint8_t collq_pair_abort_generation(const struct collq_pair *pair,
				    const struct collq_lease *lease);

/*
 * Freed requests. In an initialisation each side tells which it has freed; when
 * that has succeeded, both take note, else both forget it again.
 */
uint32_t collq_pair_tell(struct collq_pair *pair);
void collq_pair_hear(struct collq_pair *pair, uint32_t init);
void collq_pair_settle(struct collq_pair *pair, bool good);

/*
 * Endpoints that have failed. Each side tells which it has found to; both take note
 * when the initialisation has succeeded, or is to begin again because of it.
 */
uint32_t collq_pair_tell_failed(struct collq_pair *pair);
void collq_pair_hear_failed(struct collq_pair *pair, uint32_t endpoint);
void collq_pair_settle_failed(struct collq_pair *pair, bool good);

/* Whether no request uses an endpoint any more, on either side. */
bool collq_pair_is_unused(const struct collq_pair *pair, uint32_t endpoint);

/* How many of the endpoints there are in the kernel. */
uint32_t collq_pair_nr_live(const struct collq_pair *pair);

void collq_pair_destroy(struct collq_pair *pair);

#endif /* COLLQ_PAIR_H */
