/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A pair of contexts of which one writes into the other's landing zones. The owner
 * has an area full of canaries, of which part is the zone; nothing else may change.
 */
#ifndef LANDING_H
#define LANDING_H

#include "collq_memory.h"

#define LANDING_CANARY	0xc5
#define LANDING_PAGES	64
#define LANDING_SIZE	(LANDING_PAGES * RAW_PAGE)

/**
 * struct landing_side - a side and its memory
 * @side: context, endpoint and queue
 * @sends: counts the endpoint's sends
 * @area: LANDING_SIZE bytes, all canaries, its pages hardly ever neighbours in memory
 * @region: the area
 */
struct landing_side {
	struct raw_side side;
	int sends;
	unsigned char *area;
	int region;
};

/**
 * struct landing - the pair
 * @from: who writes
 * @to: who has the zone
 * @zone: the zone, from @offset of the area, @length bytes
 * @target: as @from knows it
 * @name: its name
 * @offset: where it begins
 * @length: how long it is
 */
struct landing {
	struct landing_side from;
	struct landing_side to;
	int zone;
	int target;
	struct ib_collq_zone_name name;
	__u64 offset;
	__u64 length;
};

/* Flags of the writer's endpoint; the owner's has IB_COLLQ_ENDPOINT_ZONES. */
int landing_open(struct landing *landing, __u32 flags);
void landing_close(struct landing *landing);

/* Area and region of a side that is open. */
int landing_side_fill(struct landing_side *side);

/* Offers part of the owner's area, and tells the writer. */
int landing_offer(struct landing *landing, __u64 offset, __u64 length);

/* A graph that writes a list to a target, and waits until it has arrived. */
int landing_graph(const struct landing *landing, int target, __u64 offset,
		  const struct ib_collq_sge *sges, __u32 nr);

/* Runs it: 0, why the graph has failed, or why it couldn't be run. */
int landing_run(struct landing *landing, int graph);

/* Waits for so many signals at the owner: 0, or why they don't come. */
int landing_wait(struct landing *landing, __u64 count);

/*
 * Writes the list to an offset of the zone, and looks at every byte of the owner's
 * area: 0, -EBADMSG if what was written isn't there, -EOVERFLOW if anything else has
 * changed, or why it couldn't be written.
 */
int landing_check(struct landing *landing, const struct ib_collq_sge *sges, __u32 nr,
		  __u64 offset, unsigned int seed);

/* Whether all of the owner's area is as it was at first. */
bool landing_untouched(const struct landing *landing);

#endif /* LANDING_H */
