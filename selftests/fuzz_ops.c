// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the fuzzer does to objects: make them, connect and bind them, look at them,
 * and destroy them while they are in use. Most calls are as they should be, on ids
 * that were good a moment ago, so that they get far.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

/* Seldom one that was never given out. */
__u32 fuzz_id(struct fuzz_thread *t, const __u32 *ids)
{
	if (fuzz_one_in(t, 100))
		return fuzz_below(t, 1000);
	return __atomic_load_n(&ids[fuzz_below(t, FUZZ_PLACES)], __ATOMIC_RELAXED);
}

static struct fuzz_endpoint *fuzz_endpoint(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	return &ctx->endpoint[fuzz_below(t, FUZZ_PLACES)];
}

static void fuzz_destroy(struct fuzz_thread *t, struct fuzz_context *ctx, __u32 id)
{
	struct ib_collq_object_destroy entry = { .id = id };

	if (id)
		fuzz_batch(t, ctx->fd, IB_COLLQ_OBJECT_DESTROY, &entry, sizeof(entry), 1);
}

/* Remembers an object; what was remembered in its place goes, if it can. */
void fuzz_remember(struct fuzz_thread *t, struct fuzz_context *ctx, __u32 *ids, __u32 id)
{
	if (!id)
		return;
	fuzz_destroy(t, ctx, __atomic_exchange_n(&ids[fuzz_below(t, FUZZ_PLACES)], id,
						 __ATOMIC_RELAXED));
}

static void fuzz_remember_endpoint(struct fuzz_thread *t, struct fuzz_context *ctx,
				   const struct ib_collq_endpoint_create *attr)
{
	struct fuzz_endpoint *place = fuzz_endpoint(t, ctx);
	__u32 before = place->id;

	if (!attr->id)
		return;
	place->id = attr->id;
	place->kind = attr->kind;
	memcpy(place->address, attr->address, sizeof(place->address));
	fuzz_destroy(t, ctx, before);
}

/* Local, with landing zones, or neither. */
static __u32 fuzz_endpoint_flags(struct fuzz_thread *t, __u32 kind)
{
	switch (fuzz_below(t, 3)) {
	case 0:
		return IB_COLLQ_ENDPOINT_LOCAL;
	case 1:
		return kind == IB_COLLQ_ENDPOINT_SIGNAL ? IB_COLLQ_ENDPOINT_ZONES :
							  IB_COLLQ_ENDPOINT_LOCAL;
	default:
		return 0;
	}
}

static struct ib_collq_endpoint_create fuzz_endpoint_attr(struct fuzz_thread *t,
							  struct fuzz_context *ctx)
{
	__u32 kind = fuzz_one_in(t, 4) ? IB_COLLQ_ENDPOINT_MESSAGE : IB_COLLQ_ENDPOINT_SIGNAL;
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(kind);

	attr.timeout = 8 + fuzz_below(t, 5);
	attr.retry_cnt = fuzz_below(t, 7);
	attr.rnr_retry = fuzz_below(t, 8);
	attr.probe_ms = fuzz_one_in(t, 3) ? 10 + fuzz_below(t, 50) : 0;
	attr.send_capacity = 1 + fuzz_below(t, 20);
	attr.recv_capacity = 1 + fuzz_below(t, 64);
	if (kind == IB_COLLQ_ENDPOINT_MESSAGE)
		attr.signal_endpoint = fuzz_endpoint(t, ctx)->id;
	else if (fuzz_one_in(t, 2))
		attr.max_send_sge = fuzz_below(t, 4);
	attr.flags = fuzz_endpoint_flags(t, kind);
	if (kind == IB_COLLQ_ENDPOINT_MESSAGE && !fuzz_one_in(t, 3)) {
		attr.max_send_sge = fuzz_below(t, 4);
		attr.max_recv_sge = fuzz_below(t, 33);
	}
	return attr;
}

static void fuzz_make_endpoints(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_endpoint_create attr[3];
	__u32 i, nr = 1 + fuzz_below(t, 3);
	int done;

	for (i = 0; i < nr; i++)
		attr[i] = fuzz_endpoint_attr(t, ctx);
	done = fuzz_batch(t, ctx->fd, IB_COLLQ_ENDPOINT_CREATE, attr, sizeof(attr[0]), nr);
	for (i = 0; done > 0 && i < (__u32)done && i < nr; i++)
		fuzz_remember_endpoint(t, ctx, &attr[i]);
}

/*
 * Falsifies an address. Only seldom the GID: to find out that nobody answers there
 * takes a second.
 */
static void fuzz_forge(struct fuzz_thread *t, __u8 *address)
{
	struct ib_collq_address *forged = (void *)address;
	size_t at;

	switch (fuzz_below(t, 5)) {
	case 0:
		forged->qpn ^= htole32(1 << fuzz_below(t, 26));
		break;
	case 1:
		forged->psn ^= htole32(1 << fuzz_below(t, 26));
		break;
	case 2:
		forged->mtu = fuzz_below(t, 8);
		break;
	case 3:
		if (fuzz_one_in(t, 20))
			forged->gid[fuzz_below(t, sizeof(forged->gid))] ^= 1 << fuzz_below(t, 8);
		break;
	default:
		do
			at = fuzz_below(t, sizeof(*forged));
		while (at >= offsetof(struct ib_collq_address, gid) &&
		       at < offsetof(struct ib_collq_address, qpn));
		address[at] ^= 1 << fuzz_below(t, 8);
	}
}

static int fuzz_connect(struct fuzz_thread *t, struct fuzz_context *ctx, __u32 endpoint,
			const __u8 *address)
{
	struct ib_collq_endpoint_connect entry = { .endpoint = endpoint };

	memcpy(entry.address, address, sizeof(entry.address));
	if (!t->honest && fuzz_one_in(t, 8))
		fuzz_forge(t, entry.address);
	return fuzz_batch(t, ctx->fd, IB_COLLQ_ENDPOINT_CONNECT, &entry, sizeof(entry), 1);
}

/* Both ways, or only one. */
static void fuzz_connect_some(struct fuzz_thread *t)
{
	struct fuzz_context *of_a = fuzz_any_context(t), *of_b = fuzz_any_context(t);
	struct fuzz_endpoint a = *fuzz_endpoint(t, of_a), b = *fuzz_endpoint(t, of_b);

	fuzz_connect(t, of_a, a.id, b.address);
	if (!fuzz_one_in(t, 5))
		fuzz_connect(t, of_b, b.id, a.address);
}

static void fuzz_make_counters(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_counter_create attr[4] = {};
	__u32 i, nr = 1 + fuzz_below(t, 4);
	int done;

	for (i = 0; i < nr; i++) {
		attr[i].source = IB_COLLQ_SOURCE_USER + fuzz_below(t, 5);
		if (fuzz_one_in(t, 2))
			attr[i].source = IB_COLLQ_SOURCE_SIGNAL;
		if (attr[i].source == IB_COLLQ_SOURCE_EVENTFD)
			attr[i].eventfd = t->fuzz->eventfd;
		if (attr[i].source == IB_COLLQ_SOURCE_SENDS ||
		    attr[i].source == IB_COLLQ_SOURCE_MESSAGES)
			attr[i].endpoint = fuzz_endpoint(t, ctx)->id;
		attr[i].value = fuzz_below(t, 4);
	}
	done = fuzz_batch(t, ctx->fd, IB_COLLQ_COUNTER_CREATE, attr, sizeof(attr[0]), nr);
	for (i = 0; done > 0 && i < (__u32)done && i < nr; i++)
		fuzz_remember(t, ctx, ctx->counter, attr[i].id);
}

static void fuzz_bind_some(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_slot_bind attr[4] = {};
	__u32 i, nr = 1 + fuzz_below(t, 4);
	bool unbind = fuzz_one_in(t, 3);

	for (i = 0; i < nr; i++) {
		attr[i].endpoint = fuzz_endpoint(t, ctx)->id;
		attr[i].slot = fuzz_one_in(t, 20) ? fuzz_below(t, 16400) :
						    fuzz_below(t, FUZZ_SLOTS);
		attr[i].generation = fuzz_below(t, FUZZ_GENERATIONS);
		attr[i].counter = unbind ? 0 : fuzz_id(t, ctx->counter);
	}
	fuzz_batch(t, ctx->fd, unbind ? IB_COLLQ_SLOT_UNBIND : IB_COLLQ_SLOT_BIND, attr,
		   sizeof(attr[0]), nr);
}

static void fuzz_reserve_some(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_capacity entry = {
		.endpoint = fuzz_endpoint(t, ctx)->id,
		.recvs = 1 + fuzz_below(t, 20),
	};

	fuzz_batch(t, ctx->fd, fuzz_one_in(t, 2) ? IB_COLLQ_CAPACITY_RESERVE :
						   IB_COLLQ_CAPACITY_RELEASE,
		   &entry, sizeof(entry), 1);
}

static void fuzz_make_ring(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_ring_create attr = {
		.size = sizeof(attr),
		.entries = 1 << fuzz_below(t, 9),
		.eventfd = fuzz_one_in(t, 3) ? t->fuzz->eventfd : -1,
	};

	if (fuzz_call(t, ctx->fd, IB_COLLQ_RING_CREATE, &attr, sizeof(attr)) >= 0)
		fuzz_remember(t, ctx, ctx->ring, attr.id);
}

static void fuzz_make_queue(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_queue_endpoint links[4] = {};
	__u32 i, nr = fuzz_below(t, 5);
	struct ib_collq_queue_create attr = {
		.size = sizeof(attr),
		.ring = fuzz_id(t, ctx->ring),
		.depth = 1 + fuzz_below(t, 8),
		.nr_endpoints = nr,
		.entry_size = sizeof(links[0]),
	};

	for (i = 0; i < nr; i++) {
		links[i].endpoint = fuzz_endpoint(t, ctx)->id;
		links[i].abort_slot = fuzz_below(t, FUZZ_SLOTS);
		links[i].abort_generation = fuzz_below(t, FUZZ_GENERATIONS);
		links[i].peer_abort_slot = fuzz_below(t, FUZZ_SLOTS);
		links[i].peer_abort_generation = fuzz_below(t, FUZZ_GENERATIONS);
	}
	attr.endpoints = fuzz_place(t, links, nr * sizeof(links[0]));
	if (fuzz_call(t, ctx->fd, IB_COLLQ_QUEUE_CREATE, &attr, sizeof(attr)) >= 0)
		fuzz_remember(t, ctx, ctx->queue, attr.id);
}

static struct ib_collq_task fuzz_task(struct fuzz_thread *t, struct fuzz_context *ctx,
				      bool data)
{
	struct fuzz_endpoint *ep = fuzz_endpoint(t, ctx);
	struct ib_collq_task task = {};

	if (fuzz_one_in(t, 2)) {
		task = raw_wait_for(fuzz_id(t, ctx->counter), 1 + fuzz_below(t, 2));
	} else if (ep->kind == IB_COLLQ_ENDPOINT_MESSAGE) {
		task = raw_message(fuzz_one_in(t, 2) ? IB_COLLQ_TASK_SEND : IB_COLLQ_TASK_RECV,
				   ep->id);
		if (data && !fuzz_one_in(t, 4))
			fuzz_add_list(t, &task);
	} else if (data && fuzz_one_in(t, 2)) {
		fuzz_make_write(t, ctx, &task);
	} else {
		task = raw_signal(ep->id, fuzz_below(t, FUZZ_SLOTS),
				  fuzz_below(t, FUZZ_GENERATIONS));
	}
	if (fuzz_one_in(t, 100))
		task.opcode = fuzz_below(t, 8);
	task.label = fuzz_below(t, 100);
	return task;
}

static void fuzz_make_graph(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	/* An area holds 819. */
	__u32 i, nr = fuzz_one_in(t, 30) ? 1 + fuzz_below(t, 800) : 1 + fuzz_below(t, 8);
	struct ib_collq_task *tasks = calloc(nr, sizeof(*tasks));
	bool data = fuzz_one_in(t, 2);
	struct ib_collq_graph_create attr = {
		.size = sizeof(attr),
		.nr_tasks = nr,
		.task_size = sizeof(*tasks),
	};

	if (!tasks)
		return;
	for (i = 0; i < nr; i++)
		tasks[i] = fuzz_task(t, ctx, data);
	attr.tasks = fuzz_place(t, tasks, nr * sizeof(*tasks));
	/* If there's room beside the tasks. */
	if (data && nr < 100)
		fuzz_add_table(t, &attr);
	free(tasks);
	if (fuzz_call(t, ctx->fd, IB_COLLQ_GRAPH_CREATE, &attr, sizeof(attr)) >= 0)
		fuzz_remember(t, ctx, ctx->graph, attr.id);
}

/* An id of any type. */
static __u32 fuzz_any_id(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	switch (fuzz_below(t, 8)) {
	case 0:
		return fuzz_endpoint(t, ctx)->id;
	case 1:
		return fuzz_id(t, ctx->counter);
	case 2:
		return fuzz_id(t, ctx->ring);
	case 3:
		return fuzz_id(t, ctx->queue);
	case 4:
		return fuzz_id(t, ctx->region);
	case 5:
		return fuzz_id(t, ctx->zone);
	case 6:
		return fuzz_id(t, ctx->target);
	default:
		return fuzz_id(t, ctx->graph);
	}
}

static void fuzz_destroy_some(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_object_destroy entries[4] = {};
	__u32 i, nr = 1 + fuzz_below(t, 4);

	for (i = 0; i < nr; i++) {
		entries[i].id = fuzz_any_id(t, ctx);
		entries[i].type = fuzz_one_in(t, 10) ? fuzz_below(t, 10) : 0;
	}
	fuzz_batch(t, ctx->fd, IB_COLLQ_OBJECT_DESTROY, entries, sizeof(entries[0]), nr);
}

static void fuzz_describe_some(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	char info[512] = {}, entries[4096] = {};
	struct ib_collq_object_describe attr = {
		.size = sizeof(attr),
		.flags = fuzz_below(t, 4),
		.id = fuzz_any_id(t, ctx),
		.info = fuzz_place(t, info, sizeof(info)),
		.info_size = sizeof(info),
		.entry_size = fuzz_below(t, 128),
		.nr = fuzz_below(t, 33),
		.context = fuzz_one_in(t, 3) ? fuzz_below(t, 100) : 0,
	};

	attr.entries = fuzz_one_in(t, 3) ? 0 : fuzz_place(t, entries, sizeof(entries));
	fuzz_call(t, ctx->fd, IB_COLLQ_OBJECT_DESCRIBE, &attr, sizeof(attr));
}

static void fuzz_describe_context(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_context_describe attr = {
		.size = sizeof(attr),
		.flags = fuzz_one_in(t, 2) ? IB_COLLQ_DESCRIBE_NEXT : 0,
		.id = fuzz_below(t, 100),
	};

	fuzz_call(t, ctx->fd, IB_COLLQ_CONTEXT_DESCRIBE, &attr, sizeof(attr));
}

static void fuzz_reset_some(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct fuzz_endpoint *ep = fuzz_endpoint(t, ctx);
	bool queue = fuzz_one_in(t, 2);
	struct ib_collq_object_reset attr = {
		.size = sizeof(attr),
		.id = queue ? fuzz_id(t, ctx->queue) : ep->id,
	};

	if (fuzz_call(t, ctx->fd, IB_COLLQ_OBJECT_RESET, &attr, sizeof(attr)) >= 0 && !queue)
		memcpy(ep->address, attr.address, sizeof(ep->address));
}

/* What asks, and what isn't there at all. */
static void fuzz_call_others(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_query query = { .size = sizeof(query) };

	if (fuzz_one_in(t, 2))
		fuzz_call(t, ctx->fd, IB_COLLQ_QUERY, &query, sizeof(query));
	else
		fuzz_call(t, ctx->fd, fuzz_below(t, ~0U), &query, sizeof(query));
}

void fuzz_op_objects(struct fuzz_thread *t)
{
	static void (*const ops[])(struct fuzz_thread *t, struct fuzz_context *ctx) = {
		fuzz_make_endpoints, fuzz_make_counters, fuzz_bind_some, fuzz_bind_some,
		fuzz_reserve_some, fuzz_make_ring, fuzz_make_queue, fuzz_make_queue,
		fuzz_make_graph, fuzz_make_graph, fuzz_make_graph, fuzz_destroy_some,
		fuzz_describe_some, fuzz_describe_context, fuzz_reset_some, fuzz_call_others,
		fuzz_make_region, fuzz_make_region, fuzz_make_list, fuzz_take_data, fuzz_make_zone,
		fuzz_make_zone, fuzz_make_target, fuzz_make_target,
	};
	const unsigned int nr = sizeof(ops) / sizeof(ops[0]);
	unsigned int which = fuzz_below(t, nr + 2);

	if (which >= nr)
		fuzz_connect_some(t);
	else
		ops[which](t, fuzz_any_context(t));
}

/* One side of a pair that can pass barriers: its endpoint and all else. */
static bool fuzz_make_side(struct fuzz_thread *t, struct fuzz_context *ctx,
			   struct ib_collq_endpoint_create *attr, __u16 slot, __u32 flags)
{
	struct ib_collq_counter_create counter = { .source = IB_COLLQ_SOURCE_SIGNAL };
	struct ib_collq_slot_bind bind = { .slot = slot };
	struct ib_collq_task tasks[8];
	struct ib_collq_graph_create graph = {
		.size = sizeof(graph),
		.task_size = sizeof(tasks[0]),
		.nr_tasks = 2 * (1 + fuzz_below(t, 4)),
	};
	__u32 i;

	*attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	attr->timeout = 12;
	attr->probe_ms = fuzz_one_in(t, 2) ? 20 : 0;
	attr->flags = flags;
	if (flags & IB_COLLQ_ENDPOINT_ZONES)
		attr->max_send_sge = 2;
	if (fuzz_batch(t, ctx->fd, IB_COLLQ_ENDPOINT_CREATE, attr, sizeof(*attr), 1) != 1 ||
	    fuzz_batch(t, ctx->fd, IB_COLLQ_COUNTER_CREATE, &counter, sizeof(counter), 1) != 1)
		return false;
	fuzz_remember_endpoint(t, ctx, attr);
	fuzz_remember(t, ctx, ctx->counter, counter.id);
	bind.endpoint = attr->id;
	bind.counter = counter.id;
	fuzz_batch(t, ctx->fd, IB_COLLQ_SLOT_BIND, &bind, sizeof(bind), 1);
	for (i = 0; i < graph.nr_tasks; i++)
		tasks[i] = i % 2 ? raw_wait_for(counter.id, 1) : raw_signal(attr->id, slot, 0);
	graph.tasks = fuzz_place(t, tasks, graph.nr_tasks * sizeof(tasks[0]));
	if (fuzz_call(t, ctx->fd, IB_COLLQ_GRAPH_CREATE, &graph, sizeof(graph)) >= 0)
		fuzz_remember(t, ctx, ctx->graph, graph.id);
	fuzz_make_ring(t, ctx);
	fuzz_make_queue(t, ctx);
	return true;
}

/* Everything that a barrier between two contexts takes, as it should be. */
void fuzz_op_pair(struct fuzz_thread *t)
{
	struct fuzz_context *of_a = fuzz_any_context(t), *of_b = fuzz_any_context(t);
	struct ib_collq_endpoint_create a, b;
	__u32 flags = fuzz_endpoint_flags(t, IB_COLLQ_ENDPOINT_SIGNAL);
	__u16 slot = fuzz_below(t, FUZZ_SLOTS);

	t->honest = true;
	t->placed = 0;
	if (fuzz_make_side(t, of_a, &a, slot, flags) &&
	    fuzz_make_side(t, of_b, &b, slot, flags)) {
		fuzz_connect(t, of_a, a.id, b.address);
		fuzz_connect(t, of_b, b.id, a.address);
	}
	t->honest = false;
}
