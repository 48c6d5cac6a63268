// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Signals: which counter a message of a signal endpoint raises.
 *
 * The receiver binds slots to counters and tells its peer, by means of its own,
 * slot and generation; the peer's tasks name them. A slot is used again only
 * with another generation, so that what was sent for the old binding isn't
 * taken for the new one: it's dropped and counted. Runs of a graph aren't
 * numbered; the connection keeps the order, and each counter has one source.
 */
#include <linux/log2.h>
#include <linux/mm.h>

#include "context.h"
#include "counter.h"
#include "endpoint.h"
#include "engine.h"
#include "limits.h"
#include "signal.h"

/* Makes the table long enough for a slot. May sleep. */
static int collq_signal_grow(struct collq_endpoint *ep, u16 slot)
{
	struct collq_counter **old, **table;
	u32 nr;

	if (slot < ep->nr_slots)
		return 0;
	nr = max_t(u32, roundup_pow_of_two(slot + 1), 8);
	table = kvcalloc(nr, sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return -ENOMEM;
	memcpy(table, ep->slots, ep->nr_slots * sizeof(*table));

	spin_lock_bh(&ep->lock);
	old = ep->slots;
	ep->slots = table;
	ep->nr_slots = nr;
	spin_unlock_bh(&ep->lock);
	kvfree(old);
	return 0;
}

/**
 * collq_signal_bind - make signals raise a counter
 * @ep: a signal endpoint
 * @slot: the slot
 * @generation: the generation of the binding
 * @counter: a counter for signals
 *
 * Called with ctx->mutex held. May sleep.
 *
 * Return: 0, -EINVAL, -EBUSY if the slot or the counter is bound, -ENOMEM.
 */
int collq_signal_bind(struct collq_endpoint *ep, u16 slot, u16 generation,
		      struct collq_counter *counter)
{
	int err;

	lockdep_assert_held(&ep->obj.ctx->mutex);

	if (ep->attr.kind != IB_COLLQ_ENDPOINT_SIGNAL ||
	    counter->source != IB_COLLQ_SOURCE_SIGNAL ||
	    slot >= COLLQ_MAX_SLOTS)
		return -EINVAL;
	if (counter->endpoint || (slot < ep->nr_slots && ep->slots[slot]))
		return -EBUSY;
	err = collq_signal_grow(ep, slot);
	if (err)
		return err;
	collq_object_name(&ep->obj);
	collq_object_name(&counter->obj);

	/* If the endpoint fails from here on, it finds the counter itself. */
	collq_engine_enter_bh();
	spin_lock(&ep->lock);
	counter->slot = slot;
	counter->generation = generation;
	collq_counter_bind(counter, ep, 0);
	ep->slots[slot] = counter;
	if (ep->error)
		collq_counter_set_error(counter, ep->error);
	spin_unlock(&ep->lock);
	collq_engine_exit_bh();
	return 0;
}

/**
 * collq_signal_unbind - the opposite
 * @ep: a signal endpoint
 * @slot: the slot
 * @generation: the generation that it was bound with
 *
 * Called with ctx->mutex held. May sleep.
 *
 * Return: 0, -ENOENT if there is no such binding, -EBUSY while a running graph
 * may wait for the counter.
 */
int collq_signal_unbind(struct collq_endpoint *ep, u16 slot, u16 generation)
{
	struct collq_counter *counter = NULL;
	int err;

	lockdep_assert_held(&ep->obj.ctx->mutex);

	if (slot < ep->nr_slots)
		counter = ep->slots[slot];
	if (!counter || counter->generation != generation)
		return -ENOENT;
	err = collq_counter_unbind(counter);
	if (err)
		return err;

	spin_lock_bh(&ep->lock);
	ep->slots[slot] = NULL;
	spin_unlock_bh(&ep->lock);
	collq_object_unname(&counter->obj);
	collq_object_unname(&ep->obj);
	return 0;
}

/* Softirq, with the endpoint's lock held, between enter and exit. */
void collq_signal_receive(struct collq_endpoint *ep, u32 imm)
{
	u16 slot = imm >> IB_COLLQ_IMM_SLOT_SHIFT & IB_COLLQ_IMM_SLOT_MASK;
	struct collq_counter *counter = NULL;

	lockdep_assert_held(&ep->lock);

	if (likely(slot < ep->nr_slots))
		counter = ep->slots[slot];
	if (!counter ||
	    counter->generation != (imm & IB_COLLQ_IMM_GENERATION_MASK)) {
		ep->dropped++;
		return;
	}
	/* A peer that sends 2^64 signals only loses its own. */
	collq_counter_raise(counter, 1);
}
