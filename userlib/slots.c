// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Slots: small numbers with generations, for what refers to something that may
 * be gone and its place taken when the reference is used. Signals and ABORTs on
 * the wire do, and completions in the ring.
 *
 * The lowest free number is taken, so that tables indexed by them stay short. A
 * generation comes again after 65,536 uses of its slot (256 for ABORTs, which
 * carry eight bits of it).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "slots.h"

struct collq_slot {
	uint16_t generation;	/* of the last use */
	bool used;
};

static int grow(struct collq_slots *slots)
{
	uint32_t room = slots->room ? 2 * slots->room : 16;
	struct collq_slot *grown;

	if (room > slots->max)
		room = slots->max;
	if (room <= slots->room)
		return -ENOSPC;
	grown = realloc(slots->slots, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + slots->room, 0, (room - slots->room) * sizeof(*grown));
	slots->slots = grown;
	slots->room = room;
	return 0;
}

int collq_slots_get(struct collq_slots *slots, uint32_t *slot, uint16_t *generation)
{
	uint32_t i = slots->first_free;
	int err;

	while (i < slots->room && slots->slots[i].used)
		i++;
	slots->first_free = i;
	if (i == slots->room) {
		err = grow(slots);
		if (err)
			return err;
	}
	slots->slots[i].used = true;
	slots->first_free = i + 1;
	*slot = i;
	*generation = ++slots->slots[i].generation;
	return 0;
}

void collq_slots_put(struct collq_slots *slots, uint32_t slot)
{
	slots->slots[slot].used = false;
	if (slot < slots->first_free)
		slots->first_free = slot;
}

uint16_t collq_slots_generation(const struct collq_slots *slots, uint32_t slot)
{
	return slots->slots[slot].generation;
}

bool collq_slots_is(const struct collq_slots *slots, uint32_t slot, uint16_t generation)
{
	return slot < slots->room && slots->slots[slot].used &&
	       slots->slots[slot].generation == generation;
}

void collq_slots_destroy(struct collq_slots *slots)
{
	free(slots->slots);
	slots->slots = NULL;
	slots->room = 0;
	slots->first_free = 0;
}
