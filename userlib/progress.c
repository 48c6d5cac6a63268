// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Progress: from entries of the context's ring to requests whose runs have ended.
 *
 * All requests of a context share a ring, so whoever looks into it finds the
 * completions of others too, in any order. It marks those requests; their threads
 * find the mark when they look. An entry names a request by its place in a table
 * and the place's generation: a request that is gone isn't found.
 *
 * A thread in collq_waitany() sleeps in the kernel until the ring has an entry. If
 * another thread gave its entry back before it woke, it would sleep on. So an entry
 * that was heeded stays in the ring until everybody who sleeps like that has known
 * of it when they went to sleep. Whoever needs its place, or would go to sleep the
 * same way, waits for them to wake: they are bound to. Threads that sleep for one
 * certain submission have no such worry.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "ioctl.h"
#include "progress.h"
#include "request.h"
#include "ring.h"

/* A thread asleep; @knows: how many entries were heeded when it went to sleep */
struct collq_sleeper {
	struct collq_sleeper *next;
	uint32_t knows;
};

static int grow_table(struct collq_context *ctx, uint32_t id)
{
	uint32_t room = ctx->room ? 2 * ctx->room : 16;
	struct collq_request **grown;

	if (id < ctx->room)
		return 0;
	grown = realloc(ctx->requests, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	ctx->requests = grown;
	ctx->room = room;
	return 0;
}

int collq_progress_register(struct collq_request *req)
{
	struct collq_context *ctx = req->ctx;
	int err;

	pthread_mutex_lock(&ctx->lock);
	err = collq_slots_get(&ctx->ids, &req->id, &req->generation);
	if (err)
		goto out;
	err = grow_table(ctx, req->id);
	if (err)
		collq_slots_put(&ctx->ids, req->id);
	else
		ctx->requests[req->id] = req;
out:
	pthread_mutex_unlock(&ctx->lock);
	return err;
}

uint64_t collq_progress_tag(const struct collq_request *req)
{
	return (uint64_t)req->id << 16 | req->generation;
}

static void end_run(struct collq_request *req, const struct ib_collq_completion *entry)
{
	req->status = entry->status;
	req->failure = (struct collq_failure){
		.error = entry->status,
		.peer = entry->endpoint ? entry->peer : COLLQ_NONE,
		.endpoint = entry->endpoint,
		.task = entry->task,
		.label = entry->label,
	};
	atomic_store_explicit(&req->run, COLLQ_RUN_ENDED, memory_order_release);
}

static void heed(struct collq_context *ctx, const struct ib_collq_completion *entry)
{
	uint64_t id = entry->user_data >> 16;
	struct collq_request *req;

	if (id > UINT32_MAX || !collq_slots_is(&ctx->ids, id, entry->user_data & 0xffff))
		return;
	req = ctx->requests[id];
	/* After all that the owner did before it started this run. */
	if (atomic_load_explicit(&req->run, memory_order_acquire) != COLLQ_RUN_STARTED)
		return;
	end_run(req, entry);
}

/* Gives back what no sleeper needs to find. With the lock held, as below. */
static void release(struct collq_context *ctx)
{
	const struct collq_sleeper *sleeper;
	uint32_t seen = collq_ring_seen(ctx->ring);
	uint32_t most = 0;

	for (sleeper = ctx->sleepers; sleeper; sleeper = sleeper->next)
		if (seen - sleeper->knows > most)
			most = seen - sleeper->knows;
	collq_ring_release(ctx->ring, seen - most);
}

static void heed_all(struct collq_context *ctx)
{
	struct ib_collq_completion entry;

	if (!collq_ring_has_next(ctx->ring))
		return;
	while (collq_ring_next(ctx->ring, &entry))
		heed(ctx, &entry);
	release(ctx);
}

void collq_progress_unregister(struct collq_request *req)
{
	struct collq_context *ctx = req->ctx;

	pthread_mutex_lock(&ctx->lock);
	/* Else the completion of a run that was cancelled keeps the descriptor readable. */
	if (ctx->ring)
		heed_all(ctx);
	collq_slots_put(&ctx->ids, req->id);
	pthread_mutex_unlock(&ctx->lock);
}

static void add_sleeper(struct collq_context *ctx, struct collq_sleeper *sleeper)
{
	sleeper->knows = collq_ring_seen(ctx->ring);
	sleeper->next = ctx->sleepers;
	ctx->sleepers = sleeper;
	release(ctx);
}

static void remove_sleeper(struct collq_context *ctx, const struct collq_sleeper *sleeper)
{
	struct collq_sleeper **link = &ctx->sleepers;

	while (*link != sleeper)
		link = &(*link)->next;
	*link = sleeper->next;
	release(ctx);
	pthread_cond_broadcast(&ctx->woken);
}

/* Whether somebody asleep has yet to find an entry that was heeded. */
static bool is_held(const struct collq_context *ctx)
{
	const struct collq_sleeper *sleeper;

	for (sleeper = ctx->sleepers; sleeper; sleeper = sleeper->next)
		if (sleeper->knows != collq_ring_seen(ctx->ring))
			return true;
	return false;
}

static void wait_until_not_held(struct collq_context *ctx)
{
	heed_all(ctx);
	while (is_held(ctx)) {
		pthread_cond_wait(&ctx->woken, &ctx->lock);
		heed_all(ctx);
	}
}

void collq_progress(struct collq_context *ctx)
{
	pthread_mutex_lock(&ctx->lock);
	heed_all(ctx);
	pthread_mutex_unlock(&ctx->lock);
}

void collq_progress_make_room(struct collq_context *ctx)
{
	pthread_mutex_lock(&ctx->lock);
	wait_until_not_held(ctx);
	pthread_mutex_unlock(&ctx->lock);
}

void collq_progress_gone(struct collq_request *req)
{
	const struct ib_collq_completion gone = {
		.status = -ENODEV,
		.task = IB_COLLQ_NO_TASK,
	};

	pthread_mutex_lock(&req->ctx->lock);
	heed_all(req->ctx);
	if (atomic_load_explicit(&req->run, memory_order_acquire) == COLLQ_RUN_STARTED)
		end_run(req, &gone);
	pthread_mutex_unlock(&req->ctx->lock);
}

/*
 * If the lock is taken, its holder mostly does just this; if not, the next look
 * will find what this one doesn't, and the descriptor stays readable.
 */
void collq_progress_try(struct collq_context *ctx)
{
	if (pthread_mutex_trylock(&ctx->lock))
		return;
	heed_all(ctx);
	pthread_mutex_unlock(&ctx->lock);
}

int collq_progress_sleep(struct collq_context *ctx, uint64_t deadline,
			 bool (*is_over)(void *arg), void *arg)
{
	struct ib_collq_queue_wait wait = {
		.ring = collq_ring_id(ctx->ring),
		.deadline = deadline,
	};
	struct collq_sleeper self;
	int err = 0;

	pthread_mutex_lock(&ctx->lock);
	/* The kernel would have us awake again at once. */
	wait_until_not_held(ctx);
	if (is_over(arg))
		goto out;
	add_sleeper(ctx, &self);
	pthread_mutex_unlock(&ctx->lock);

	err = collq_queue_wait(ctx, &wait);

	pthread_mutex_lock(&ctx->lock);
	remove_sleeper(ctx, &self);
	heed_all(ctx);
out:
	pthread_mutex_unlock(&ctx->lock);
	return err == -EINTR ? 0 : err;
}
