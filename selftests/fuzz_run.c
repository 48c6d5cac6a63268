// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the fuzzer runs: submissions with short deadlines and none, waits, cancels,
 * counters that are raised. Whoever sleeps without a deadline is woken by a signal
 * in the end.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

static __u32 fuzz_known(struct fuzz_thread *t, const __u32 *ids)
{
	return __atomic_load_n(&ids[fuzz_below(t, FUZZ_PLACES)], __ATOMIC_RELAXED);
}

/* Past, soon, or never. */
static __u64 fuzz_deadline(struct fuzz_thread *t)
{
	if (fuzz_one_in(t, 8))
		return fuzz_one_in(t, 2) ? 0 : 1;
	return raw_now() + fuzz_below(t, fuzz_one_in(t, 4) ? 20000000 : 1000000);
}

static __u64 fuzz_sequence(struct fuzz_thread *t)
{
	return fuzz_one_in(t, 10) ? 0 : 1 + fuzz_below(t, 20);
}

static void fuzz_submit(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_queue_submit attr = {
		.size = sizeof(attr),
		.queue = fuzz_known(t, ctx->queue),
		.graph = fuzz_known(t, ctx->graph),
		.user_data = t->tid,
		.deadline = fuzz_deadline(t),
	};

	fuzz_bind_buffers(t, ctx, &attr);
	fuzz_call(t, ctx->fd, IB_COLLQ_QUEUE_SUBMIT, &attr, sizeof(attr));
}

static void fuzz_submit_wait(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_queue_submit_wait attr = {
		.size = sizeof(attr),
		.flags = fuzz_one_in(t, 2) ? IB_COLLQ_SUBMIT_WAIT_QUIET : 0,
		.queue = fuzz_known(t, ctx->queue),
		.graph = fuzz_known(t, ctx->graph),
		.deadline = fuzz_deadline(t),
		.sequence = fuzz_one_in(t, 4) ? fuzz_sequence(t) : 0,
		.wait_deadline = fuzz_deadline(t),
	};

	/* They begin alike. */
	fuzz_bind_buffers(t, ctx, (struct ib_collq_queue_submit *)&attr);
	fuzz_call(t, ctx->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &attr, sizeof(attr));
	/* Interrupted, or too late: it goes on with the same structure. */
	if (attr.sequence && fuzz_one_in(t, 2))
		fuzz_call(t, ctx->fd, IB_COLLQ_QUEUE_SUBMIT_WAIT, &attr, sizeof(attr));
}

static void fuzz_wait(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	bool ring = fuzz_one_in(t, 3);
	struct ib_collq_queue_wait attr = {
		.size = sizeof(attr),
		.queue = ring ? 0 : fuzz_known(t, ctx->queue),
		.ring = ring ? fuzz_known(t, ctx->ring) : 0,
		.sequence = ring ? 0 : fuzz_sequence(t),
		.deadline = fuzz_deadline(t),
	};

	fuzz_call(t, ctx->fd, IB_COLLQ_QUEUE_WAIT, &attr, sizeof(attr));
}

static void fuzz_cancel(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_queue_cancel attr = {
		.size = sizeof(attr),
		.queue = fuzz_known(t, ctx->queue),
		.sequence = fuzz_sequence(t),
	};

	fuzz_call(t, ctx->fd, IB_COLLQ_QUEUE_CANCEL, &attr, sizeof(attr));
}

static void fuzz_raise(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_counter_raise attr = {
		.size = sizeof(attr),
		.counter = fuzz_known(t, ctx->counter),
		.count = fuzz_one_in(t, 50) ? ~0ULL - fuzz_below(t, 3) : 1 + fuzz_below(t, 3),
	};
	__u64 count = attr.count;

	fuzz_call(t, ctx->fd, IB_COLLQ_COUNTER_RAISE, &attr, sizeof(attr));
	/* Full, or not quite: it doesn't block. */
	if (fuzz_one_in(t, 4) && write(t->fuzz->eventfd, &count, sizeof(count)) < 0)
		return;
}

static void fuzz_read_counter(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_counter_read attr = {
		.size = sizeof(attr),
		.counter = fuzz_known(t, ctx->counter),
	};

	fuzz_call(t, ctx->fd, IB_COLLQ_COUNTER_READ, &attr, sizeof(attr));
}

/* Both sides of a pair are in any two contexts: submit everywhere. */
static void fuzz_submit_everywhere(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	unsigned int i;

	(void)ctx;
	for (i = 0; i < FUZZ_CONTEXTS; i++)
		fuzz_submit(t, &t->fuzz->context[i]);
}

void fuzz_op_run(struct fuzz_thread *t)
{
	static void (*const ops[])(struct fuzz_thread *t, struct fuzz_context *ctx) = {
		fuzz_submit, fuzz_submit, fuzz_submit_everywhere, fuzz_submit_everywhere,
		fuzz_submit_wait, fuzz_submit_wait, fuzz_wait, fuzz_wait, fuzz_cancel,
		fuzz_raise, fuzz_raise, fuzz_read_counter,
	};

	ops[fuzz_below(t, sizeof(ops) / sizeof(ops[0]))](t, fuzz_any_context(t));
}
