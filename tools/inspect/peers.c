// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What belongs together across contexts.
 *
 * Two endpoints are the ends of one connection if each was connected to the
 * other's address. Two queues work together if each lists its end of such a
 * connection with the abort slot that the other knows as its peer's. Every queue
 * of a persistent request does, since that is how failures spread. For one that
 * doesn't, its context's only queue is meant if there's just one. A message endpoint
 * leads to where the signal endpoint leads that it was made with.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot.h"

/* A queue's use of an endpoint; no two have the same endpoint and slot */
struct link {
	const struct endpoint *endpoint;
	const struct ib_collq_queue_endpoint *entry;
	struct queue *queue;
};

struct index {
	size_t nr_endpoints, nr_links;
	struct endpoint **endpoints;	/* by their own address */
	struct link *links;		/* by endpoint and abort slot */
};

static int compare_addresses(const void *a, const void *b)
{
	const struct endpoint *x = *(struct endpoint * const *)a;
	const struct endpoint *y = *(struct endpoint * const *)b;

	return memcmp(x->info.create.address, y->info.create.address, IB_COLLQ_ADDRESS_SIZE);
}

static int compare_links(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	if (x->endpoint != y->endpoint)
		return x->endpoint < y->endpoint ? -1 : 1;
	return (x->entry->abort_slot > y->entry->abort_slot) -
	       (x->entry->abort_slot < y->entry->abort_slot);
}

static void index_context(struct index *index, struct context *context)
{
	struct queue *queue;
	uint32_t i, j;

	for (i = 0; i < context->nr_endpoints; i++)
		index->endpoints[index->nr_endpoints++] = &context->endpoints[i];
	for (i = 0; i < context->nr_queues; i++) {
		queue = &context->queues[i];
		for (j = 0; j < queue->nr_links; j++) {
			struct endpoint *endpoint = snapshot_endpoint(context,
								      queue->links[j].endpoint);

			if (!endpoint)
				continue;
			index->links[index->nr_links++] = (struct link) {
				.endpoint = endpoint,
				.entry = &queue->links[j],
				.queue = queue,
			};
		}
	}
}

static int make_index(struct index *index, const struct snapshot *snapshot)
{
	size_t nr_endpoints = 1, nr_links = 1;
	unsigned int i;
	uint32_t j;

	for (i = 0; i < snapshot->nr; i++) {
		nr_endpoints += snapshot->contexts[i]->nr_endpoints;
		for (j = 0; j < snapshot->contexts[i]->nr_queues; j++)
			nr_links += snapshot->contexts[i]->queues[j].nr_links;
	}
	index->endpoints = calloc(nr_endpoints, sizeof(*index->endpoints));
	index->links = calloc(nr_links, sizeof(*index->links));
	if (!index->endpoints || !index->links)
		return -ENOMEM;
	for (i = 0; i < snapshot->nr; i++)
		index_context(index, snapshot->contexts[i]);
	qsort(index->endpoints, index->nr_endpoints, sizeof(*index->endpoints),
	      compare_addresses);
	qsort(index->links, index->nr_links, sizeof(*index->links), compare_links);
	return 0;
}

/* Anybody can connect to an address that was overheard: both must mean each other. */
static void find_peer(const struct index *index, struct endpoint *endpoint)
{
	struct endpoint key, *wanted = &key, **found;

	if (endpoint->info.state == IB_COLLQ_ENDPOINT_NEW)
		return;
	memcpy(key.info.create.address, endpoint->info.peer_address, IB_COLLQ_ADDRESS_SIZE);
	found = bsearch(&wanted, index->endpoints, index->nr_endpoints,
			sizeof(*index->endpoints), compare_addresses);
	if (found && !memcmp((*found)->info.peer_address, endpoint->info.create.address,
			     IB_COLLQ_ADDRESS_SIZE))
		endpoint->peer = *found;
}

/* The queue at the other end of a link, or NULL. */
static struct queue *across(const struct index *index, const struct link *link)
{
	const struct ib_collq_queue_endpoint *entry = link->entry;
	const struct ib_collq_queue_endpoint wanted = { .abort_slot = entry->peer_abort_slot };
	const struct link key = { .endpoint = link->endpoint->peer, .entry = &wanted };
	const struct link *found;

	if (!key.endpoint)
		return NULL;
	found = bsearch(&key, index->links, index->nr_links, sizeof(*index->links),
			compare_links);
	if (!found || found->entry->peer_abort_slot != entry->abort_slot ||
	    found->entry->abort_generation != entry->peer_abort_generation ||
	    found->entry->peer_abort_generation != entry->abort_generation)
		return NULL;
	return found->queue;
}

/* Union-find, with paths halved. */
static struct queue *group_of(struct queue *queue)
{
	while (queue->group != queue) {
		queue->group = queue->group->group;
		queue = queue->group;
	}
	return queue;
}

/* What a link says: who works together, what rank its queue has, whom it waits for. */
static void follow_link(const struct index *index, const struct link *link)
{
	struct queue *queue = link->queue, *other = across(index, link);

	if (!other)
		return;
	group_of(other)->group = group_of(queue);
	queue->rank = link->endpoint->peer->info.create.peer;
	if (queue->via == link->endpoint) {
		queue->next = other;
		queue->linked = true;
	}
}

/* The endpoint behind a counter, or 0. */
static uint32_t source_of(const struct counter *counter)
{
	const struct ib_collq_counter_info *info = &counter->info;

	return info->create.source == IB_COLLQ_SOURCE_SIGNAL ? info->bound_endpoint :
							       info->create.endpoint;
}

static void find_cause(struct queue *queue)
{
	const struct context *context = queue->context;
	uint32_t endpoint = 0, via;

	queue->rank = NO_RANK;
	queue->group = queue;
	if (queue->info.state == IB_COLLQ_QUEUE_BLOCKED)
		endpoint = queue->info.object;
	else if (queue->info.state == IB_COLLQ_QUEUE_WAITING)
		queue->counter = snapshot_counter(context, queue->info.object);
	if (queue->counter)
		endpoint = source_of(queue->counter);
	queue->endpoint = endpoint ? snapshot_endpoint(context, endpoint) : NULL;
	if (!queue->endpoint)
		return;
	via = queue->endpoint->info.create.signal_endpoint;
	queue->via = via ? snapshot_endpoint(context, via) : queue->endpoint;
}

static void for_all_queues(struct snapshot *snapshot, void (*what)(struct queue *queue))
{
	unsigned int i;
	uint32_t j;

	for (i = 0; i < snapshot->nr; i++) {
		for (j = 0; j < snapshot->contexts[i]->nr_queues; j++)
			what(&snapshot->contexts[i]->queues[j]);
	}
}

/* Once all are known: those without a link, and who stands for whom. */
static void finish_queue(struct queue *queue)
{
	const struct endpoint *endpoint = queue->endpoint;

	queue->group = group_of(queue);
	if (!queue->next && endpoint && endpoint->peer &&
	    endpoint->peer->context->nr_queues == 1) {
		queue->next = endpoint->peer->context->queues;
		if (queue->next->rank == NO_RANK)
			queue->next->rank = endpoint->info.create.peer;
	}
	if (queue->rank == NO_RANK && endpoint && endpoint->peer)
		queue->rank = endpoint->peer->info.create.peer;
}

int peers_find(struct snapshot *snapshot)
{
	struct index index = {};
	size_t i;
	int err;

	for_all_queues(snapshot, find_cause);
	err = make_index(&index, snapshot);
	if (!err) {
		for (i = 0; i < index.nr_endpoints; i++)
			find_peer(&index, index.endpoints[i]);
		for (i = 0; i < index.nr_links; i++)
			follow_link(&index, &index.links[i]);
		for_all_queues(snapshot, finish_queue);
	}
	free(index.endpoints);
	free(index.links);
	return err;
}
