/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_SLOTS_H
#define COLLQ_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

struct collq_slot;

/*
 * Numbers 0..@max - 1 that are handed out and taken back, each time with another
 * generation. All zeros but @max is a good start.
 */
struct collq_slots {
	struct collq_slot *slots;
	uint32_t room;
	uint32_t first_free;		/* none below is free */
	uint32_t max;
};

/* The lowest one that is free: 0, -ENOSPC or -ENOMEM. */
int collq_slots_get(struct collq_slots *slots, uint32_t *slot, uint16_t *generation);
void collq_slots_put(struct collq_slots *slots, uint32_t slot);

/* The generation that a slot was handed out with. */
uint16_t collq_slots_generation(const struct collq_slots *slots, uint32_t slot);

/* Whether it is handed out, with this generation. */
bool collq_slots_is(const struct collq_slots *slots, uint32_t slot, uint16_t generation);

void collq_slots_destroy(struct collq_slots *slots);

#endif /* COLLQ_SLOTS_H */
