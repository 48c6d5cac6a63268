/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_PROGRESS_H
#define COLLQ_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct collq_context;
struct collq_request;

/* A place in the context's table: 0, -ENOSPC or -ENOMEM. */
int collq_progress_register(struct collq_request *req);
/* No completion finds it any more. Its queue is destroyed by now. */
void collq_progress_unregister(struct collq_request *req);

/* What completions carry that are no request's */
#define COLLQ_PROGRESS_NOBODY	UINT64_MAX

/* What completions of this request carry. */
uint64_t collq_progress_tag(const struct collq_request *req);

/* Takes note of all completions there are. The second doesn't wait for the lock. */
void collq_progress(struct collq_context *ctx);
void collq_progress_try(struct collq_context *ctx);

/* Takes note of all, until each has given its place in the ring back. */
void collq_progress_make_room(struct collq_context *ctx);

/* The device is gone, and nobody may be left to tell how this run has ended. */
void collq_progress_gone(struct collq_request *req);

/*
 * Sleeps until there are completions of any request, and takes note of them. Not
 * if @is_over says, with the lock held, that there's no need to.
 */
int collq_progress_sleep(struct collq_context *ctx, uint64_t deadline,
			 bool (*is_over)(void *arg), void *arg);

#endif /* COLLQ_PROGRESS_H */
