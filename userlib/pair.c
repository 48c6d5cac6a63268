// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which endpoint of a pair of ranks a request uses.
 *
 * Both sides must choose the same one without asking, so they choose from what
 * they both know: the endpoints, numbered as they were made; and the leases,
 * which say how much of an endpoint each request uses. Leases begin when a
 * request is initialised, which happens in the same order everywhere. But a
 * request is freed when its rank pleases. So a lease stays until each side knows
 * that the other has freed the request: they tell it in later initialisations,
 * and take note together when one has succeeded. Until then the kernel's own
 * reservation is smaller than what is counted here, never larger.
 *
 * An endpoint may fail, and each side finds out when it does. They tell each other
 * like that too; until both know they go on to choose it, both of them.
 *
 * There's nothing of the kernel in here; objects.c makes what is chosen.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rdma/ib_collq.h"

#include "pair.h"

uint32_t collq_pair_choose(const struct collq_pair *pair, uint32_t here, uint32_t there)
{
	const struct collq_pair_endpoint *ep;
	uint32_t i;

	for (i = 0; i < pair->nr; i++) {
		ep = &pair->endpoints[i];
		if (!ep->failed && here <= ep->capacity_here - ep->used_here &&
		    there <= ep->capacity_there - ep->used_there)
			break;
	}
	return i;
}

int collq_pair_add(struct collq_pair *pair, uint32_t max_slots)
{
	struct collq_pair_endpoint *grown;

	if (pair->nr == pair->room) {
		grown = realloc(pair->endpoints, (pair->room + 4) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		pair->endpoints = grown;
		pair->room += 4;
	}
	pair->endpoints[pair->nr++] = (struct collq_pair_endpoint){
		.slots.max = max_slots,
		.aborts.max = max_slots,
	};
	return 0;
}

void collq_pair_remove(struct collq_pair *pair)
{
	struct collq_pair_endpoint *ep = &pair->endpoints[--pair->nr];

	collq_slots_destroy(&ep->slots);
	collq_slots_destroy(&ep->aborts);
}

static void put_slots(struct collq_pair_endpoint *ep, struct collq_lease *lease)
{
	while (lease->nr_slots)
		collq_slots_put(&ep->slots, lease->slots[--lease->nr_slots]);
	collq_slots_put(&ep->aborts, lease->abort_slot);
}

int collq_pair_lease(struct collq_pair *pair, uint32_t endpoint, uint32_t init,
		     uint32_t nr_slots, struct collq_lease **out)
{
	struct collq_pair_endpoint *ep = &pair->endpoints[endpoint];
	struct collq_lease *lease;
	uint16_t generation;
	int err;

	lease = calloc(1, sizeof(*lease) + nr_slots * sizeof(lease->slots[0]));
	if (!lease)
		return -ENOMEM;
	lease->init = init;
	lease->endpoint = endpoint;
	err = collq_slots_get(&ep->aborts, &lease->abort_slot, &generation);
	if (err)
		goto err_free;
	while (lease->nr_slots < nr_slots) {
		err = collq_slots_get(&ep->slots, &lease->slots[lease->nr_slots], &generation);
		if (err)
			goto err_put_slots;
		lease->nr_slots++;
	}
	lease->next = pair->leases;
	pair->leases = lease;
	*out = lease;
	return 0;

err_put_slots:
	put_slots(ep, lease);
err_free:
	free(lease);
	return err;
}

void collq_pair_use(struct collq_pair *pair, struct collq_lease *lease, uint32_t here,
		    uint32_t there)
{
	struct collq_pair_endpoint *ep = &pair->endpoints[lease->endpoint];

	lease->here = here;
	lease->there = there;
	ep->used_here += here;
	ep->used_there += there;
}

void collq_pair_end(struct collq_pair *pair, struct collq_lease *lease)
{
	struct collq_pair_endpoint *ep = &pair->endpoints[lease->endpoint];
	struct collq_lease **link = &pair->leases;

	while (*link != lease)
		link = &(*link)->next;
	*link = lease->next;
	ep->used_here -= lease->here;
	ep->used_there -= lease->there;
	put_slots(ep, lease);
	free(lease);
}

uint16_t collq_pair_generation(const struct collq_pair *pair,
			       const struct collq_lease *lease, uint32_t i)
{
	return collq_slots_generation(&pair->endpoints[lease->endpoint].slots, lease->slots[i]);
}

uint8_t collq_pair_abort_generation(const struct collq_pair *pair,
				    const struct collq_lease *lease)
{
	return collq_slots_generation(&pair->endpoints[lease->endpoint].aborts,
				      lease->abort_slot) & IB_COLLQ_IMM_ABORT_GEN_MASK;
}

uint32_t collq_pair_tell(struct collq_pair *pair)
{
	struct collq_lease *lease;
	uint32_t nr = 0;

	for (lease = pair->leases; lease; lease = lease->next) {
		lease->telling = lease->freed && !lease->told;
		nr += lease->telling;
	}
	return nr;
}

void collq_pair_hear(struct collq_pair *pair, uint32_t init)
{
	struct collq_lease *lease;

	for (lease = pair->leases; lease; lease = lease->next)
		if (lease->init == init)
			lease->heard = true;
}

void collq_pair_settle(struct collq_pair *pair, bool good)
{
	struct collq_lease *lease, *next;

	for (lease = pair->leases; lease; lease = next) {
		next = lease->next;
		lease->told |= good && lease->telling;
		lease->freed_there |= good && lease->heard;
		lease->telling = false;
		lease->heard = false;
		if (lease->told && lease->freed_there)
			collq_pair_end(pair, lease);
	}
}

uint32_t collq_pair_tell_failed(struct collq_pair *pair)
{
	struct collq_pair_endpoint *ep;
	uint32_t nr = 0;

	for (ep = pair->endpoints; ep < pair->endpoints + pair->nr; ep++) {
		ep->telling = ep->failed_here && !ep->failed;
		nr += ep->telling;
	}
	return nr;
}

void collq_pair_hear_failed(struct collq_pair *pair, uint32_t endpoint)
{
	if (endpoint < pair->nr)
		pair->endpoints[endpoint].heard = true;
}

void collq_pair_settle_failed(struct collq_pair *pair, bool good)
{
	struct collq_pair_endpoint *ep;

	for (ep = pair->endpoints; ep < pair->endpoints + pair->nr; ep++) {
		ep->failed |= good && (ep->telling || ep->heard);
		ep->telling = false;
		ep->heard = false;
	}
}

bool collq_pair_is_unused(const struct collq_pair *pair, uint32_t endpoint)
{
	const struct collq_lease *lease;

	for (lease = pair->leases; lease; lease = lease->next)
		if (lease->endpoint == endpoint)
			return false;
	return true;
}

uint32_t collq_pair_nr_live(const struct collq_pair *pair)
{
	uint32_t i, nr = 0;

	for (i = 0; i < pair->nr; i++)
		nr += !!pair->endpoints[i].id;
	return nr;
}

void collq_pair_destroy(struct collq_pair *pair)
{
	struct collq_lease *lease;

	while ((lease = pair->leases)) {
		pair->leases = lease->next;
		free(lease);
	}
	while (pair->nr)
		collq_pair_remove(pair);
	free(pair->endpoints);
	free(pair);
}
