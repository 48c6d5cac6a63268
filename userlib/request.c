// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Persistent requests: initialised by all ranks together (init.c), then run any
 * number of times.
 *
 * A run is one submission of the request's graph to the request's own queue. It
 * is STARTED before the kernel hears of it, since any thread may find its
 * completion right away (progress.c); ENDED when that was found; and forgotten
 * when the owner has seen it. A request with nothing to do on this rank never
 * bothers the kernel.
 *
 * Nothing on this way makes a system call but the one that it is for.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "data.h"
#include "init.h"
#include "ioctl.h"
#include "objects.h"
#include "ordering.h"
#include "progress.h"
#include "request.h"
#include "ring.h"
#include "sized.h"

int collq_request_new(struct collq_comm *comm, const struct collq_recipe *recipe,
		      struct collq_request **out)
{
	struct collq_request *req;
	int err;

	req = calloc(1, sizeof(*req));
	if (!req)
		return -ENOMEM;
	req->comm = comm;
	req->ctx = comm->ctx;
	req->graph = recipe->graph;
	req->algorithm = recipe->algorithm;
	req->radix = recipe->radix;
	req->data = recipe->data;
	req->terms = recipe->terms;
	req->init_error = recipe->error;
	err = collq_progress_register(req);
	if (err) {
		free(req);
		return err;
	}
	pthread_mutex_lock(&comm->lock);
	req->next_of_all = comm->requests;
	if (comm->requests)
		comm->requests->link_of_all = &req->next_of_all;
	req->link_of_all = &comm->requests;
	comm->requests = req;
	*comm->last_init = req;
	comm->last_init = &req->next;
	pthread_mutex_unlock(&comm->lock);
	*out = req;
	return 0;
}

void collq_request_free(struct collq_request *request)
{
	struct collq_comm *comm;

	if (!request)
		return;
	comm = request->comm;
	pthread_mutex_lock(&comm->lock);
	if (request->stage != COLLQ_INIT_DONE)
		collq_init_give_up(request);
	collq_objects_destroy(request);
	collq_init_free(request);
	*request->link_of_all = request->next_of_all;
	if (request->next_of_all)
		request->next_of_all->link_of_all = request->link_of_all;
	pthread_mutex_unlock(&comm->lock);
	collq_progress_unregister(request);
	free(request);
}

int collq_init_test(struct collq_request *request)
{
	struct collq_comm *comm = request->comm;
	enum collq_stage stage;
	int err;

	pthread_mutex_lock(&comm->lock);
	while (request->stage != COLLQ_INIT_DONE) {
		struct collq_request *first = comm->inits;

		collq_init_advance(first);
		if (first->stage != COLLQ_INIT_DONE)
			break;
	}
	stage = request->stage;
	err = request->init_error;
	pthread_mutex_unlock(&comm->lock);
	return stage == COLLQ_INIT_DONE ? err : -EINPROGRESS;
}

static int init_test(void *request)
{
	return collq_init_test(request);
}

int collq_init_wait(struct collq_request *request, uint64_t deadline)
{
	return collq_exchange_wait(init_test, request, deadline);
}

static enum collq_run run_of(const struct collq_request *req)
{
	return atomic_load_explicit(&req->run, memory_order_acquire);
}

static void set_run(struct collq_request *req, enum collq_run run)
{
	atomic_store_explicit(&req->run, run, memory_order_release);
}

/* The owner sees how the run has ended. */
static int see_end(struct collq_request *req)
{
	set_run(req, COLLQ_RUN_NONE);
	return req->status;
}

/* Whether the request can be run: 0, or what all functions that would say. */
static int check(const struct collq_request *req)
{
	if (req->stage != COLLQ_INIT_DONE)
		return -EAGAIN;
	return req->init_error;
}

/* A run that has been announced isn't there any more. */
static void take_back_announcement(struct collq_request *req)
{
	atomic_fetch_sub(&req->sequence, 1);
	set_run(req, COLLQ_RUN_NONE);
}

/*
 * Before a submission. Whoever ends all runs either finds this one, and waits until it has
 * been submitted, or is found here; only then are the bindings the caller's.
 */
static int begin_run(struct collq_request *req)
{
	int err;

	atomic_fetch_add(&req->sequence, 1);
	set_run(req, COLLQ_RUN_STARTED);
	atomic_thread_fence(memory_order_seq_cst);
	err = atomic_load(&req->comm->unready);
	if (err) {
		take_back_announcement(req);
		return err;
	}
	if (req->data) {
		collq_data_bind(req->data);
		collq_data_turn(req->data);
	}
	return 0;
}

/* The opposite if the kernel didn't take it. */
static void take_back_run(struct collq_request *req)
{
	if (req->data)
		collq_data_turn(req->data);
	take_back_announcement(req);
}

/* What the graph leaves to do, once a run has been taken. Nobody else touches that. */
static void copy_own(const struct collq_request *req)
{
	if (req->data)
		collq_data_copy_own(req->data);
}

/* Whether a run may begin; one with nothing to do is at its end at once. */
static int prepare_run(struct collq_request *req)
{
	int err = check(req);

	if (!err)
		err = atomic_load(&req->comm->unready);
	if (err)
		return err;
	if (run_of(req) != COLLQ_RUN_NONE)
		return -EBUSY;
	if (!req->queue_id) {
		copy_own(req);
		set_run(req, COLLQ_RUN_ENDED);
		return 0;
	}
	return begin_run(req);
}

/* A signal comes first if buffers have to be looked at again: nothing has begun then. */
static int submit_once(struct collq_request *req, struct ib_collq_queue_submit *submit)
{
	int err;

	do
		err = collq_queue_submit(req->ctx, submit);
	while (err == -EINTR);
	return err;
}

int collq_start(struct collq_request *request, uint64_t deadline)
{
	struct ib_collq_queue_submit submit = { .deadline = deadline };
	int err;

	err = prepare_run(request);
	if (err || !request->queue_id)
		return err;
	submit.queue = request->queue_id;
	submit.graph = request->graph_id;
	submit.user_data = collq_progress_tag(request);
	if (request->data) {
		submit.nr_bindings = request->data->nr_buffers;
		submit.binding_size = sizeof(request->data->bindings[0]);
		submit.bindings = (uintptr_t)request->data->bindings;
	}
	err = submit_once(request, &submit);
	if (err == -EBUSY) {
		/* Perhaps the ring is full of what nobody has looked for. */
		collq_progress_make_room(request->ctx);
		err = submit_once(request, &submit);
	}
	if (err)
		take_back_run(request);
	else
		copy_own(request);
	return err;
}

int collq_test(struct collq_request *request)
{
	int err = check(request);

	if (err)
		return err;
	if (run_of(request) == COLLQ_RUN_STARTED)
		collq_progress_try(request->ctx);
	switch (run_of(request)) {
	case COLLQ_RUN_STARTED:
		return -EINPROGRESS;
	case COLLQ_RUN_ENDED:
		return see_end(request);
	default:
		return request->status;
	}
}

/* A few looks at the ring, in case that the end is near. */
static bool spin(struct collq_request *req)
{
	uint32_t i;

	for (i = 0; i < req->ctx->env.spin && run_of(req) == COLLQ_RUN_STARTED; i++) {
		if (collq_ring_has_next(req->ctx->ring))
			collq_progress(req->ctx);
		collq_relax();
	}
	return run_of(req) != COLLQ_RUN_STARTED;
}

/*
 * After a call that waits for the end: 0 if that is here, else why not. Of a device
 * that is gone there may be no completion to come.
 */
static int look_for_end(struct collq_request *req, int err)
{
	if (err == -ENODEV)
		collq_progress_gone(req);
	else
		collq_progress(req->ctx);
	if (run_of(req) == COLLQ_RUN_ENDED)
		return 0;
	return err ? err : -EPROTO;
}

/* Sleeps until the run has ended: 0 then, else why that can't be. */
static int sleep_until_end(struct collq_request *req, uint64_t deadline)
{
	struct ib_collq_queue_wait wait = {
		.queue = req->queue_id,
		.sequence = atomic_load(&req->sequence),
		.deadline = deadline,
	};
	int err;

	do
		err = collq_queue_wait(req->ctx, &wait);
	while (err == -EINTR);
	return look_for_end(req, err);
}

int collq_wait(struct collq_request *request, uint64_t deadline)
{
	int err = collq_test(request);

	if (err != -EINPROGRESS)
		return err;
	if (!spin(request)) {
		err = sleep_until_end(request, deadline);
		if (err)
			return err;
	}
	return see_end(request);
}

/* The kernel has told the caller, and nobody else, that the run has succeeded. */
static int end_quietly(struct collq_request *req)
{
	req->status = 0;
	req->failure.error = 0;
	return see_end(req);
}

int collq_start_wait(struct collq_request *request, uint64_t deadline)
{
	struct ib_collq_queue_submit_wait run = { .deadline = deadline };
	bool retried = false;
	int err;

	err = prepare_run(request);
	if (err)
		return err;
	if (!request->queue_id)
		return see_end(request);
	if (request->ctx->limits.features & IB_COLLQ_FEATURE_QUIET)
		run.flags = IB_COLLQ_SUBMIT_WAIT_QUIET;
	run.queue = request->queue_id;
	run.graph = request->graph_id;
	run.user_data = collq_progress_tag(request);
	if (request->data) {
		run.nr_bindings = request->data->nr_buffers;
		run.binding_size = sizeof(request->data->bindings[0]);
		run.bindings = (uintptr_t)request->data->bindings;
	}
	for (;;) {
		err = collq_queue_submit_wait(request->ctx, &run);
		if (err == -EBUSY && !run.sequence && !retried) {
			retried = true;
			collq_progress_make_room(request->ctx);
		} else if (err != -EINTR) {
			break;
		}
	}
	if (run.sequence)
		copy_own(request);
	if (!err && !run.status && run.flags & IB_COLLQ_SUBMIT_WAIT_QUIET)
		return end_quietly(request);
	if (err && !run.sequence) {
		take_back_run(request);
		return err;
	}
	err = look_for_end(request, err);
	return err ? err : see_end(request);
}

int collq_request_bind(struct collq_request *request, const void *sendbuf, void *recvbuf)
{
	int err = check(request);

	if (err)
		return err;
	if (!request->data)
		return -EINVAL;
	if (run_of(request) != COLLQ_RUN_NONE)
		return -EBUSY;
	/* Another thread may be about to reset the communicator. */
	pthread_mutex_lock(&request->comm->lock);
	if (request->comm->reset.stage != COLLQ_RESET_NONE)
		err = -EAGAIN;
	else
		err = collq_data_rebind(request, sendbuf, recvbuf);
	pthread_mutex_unlock(&request->comm->lock);
	return err;
}

/* Any of the requests that has ended, or how many are still going on. */
struct any {
	struct collq_request *const *requests;
	uint32_t nr;
	uint32_t ended;		/* or COLLQ_NONE */
	uint32_t started;
};

static bool any_is_over(void *arg)
{
	struct any *any = arg;
	struct collq_request *req;
	uint32_t i;

	any->ended = COLLQ_NONE;
	any->started = 0;
	for (i = 0; i < any->nr; i++) {
		req = any->requests[i];
		if (!req || check(req))
			continue;
		switch (run_of(req)) {
		case COLLQ_RUN_ENDED:
			any->ended = i;
			return true;
		case COLLQ_RUN_STARTED:
			any->started++;
			break;
		default:
			break;
		}
	}
	return !any->started;
}

/* See look_for_end(). */
static void end_all(const struct any *any)
{
	uint32_t i;

	for (i = 0; i < any->nr; i++)
		if (any->requests[i] && run_of(any->requests[i]) == COLLQ_RUN_STARTED)
			collq_progress_gone(any->requests[i]);
}

static int any_result(const struct any *any, uint32_t *index)
{
	*index = any->ended;
	if (any->ended != COLLQ_NONE)
		return see_end(any->requests[any->ended]);
	return any->started ? -EINPROGRESS : -ENOENT;
}

/* Each context once would do; a look at a ring without news costs next to nothing. */
int collq_testany(struct collq_request *const requests[], uint32_t nr, uint32_t *index)
{
	struct any any = { .requests = requests, .nr = nr };
	uint32_t i;

	if (!any_is_over(&any)) {
		for (i = 0; i < nr; i++)
			if (requests[i] && !check(requests[i]))
				collq_progress_try(requests[i]->ctx);
		any_is_over(&any);
	}
	return any_result(&any, index);
}

int collq_waitany(struct collq_request *const requests[], uint32_t nr, uint32_t *index,
		  uint64_t deadline)
{
	struct any any = { .requests = requests, .nr = nr };
	struct collq_context *ctx = NULL;
	uint32_t i;
	int err = 0;

	*index = COLLQ_NONE;
	for (i = 0; i < nr; i++) {
		if (!requests[i])
			continue;
		if (ctx && ctx != requests[i]->ctx)
			return -EINVAL;
		ctx = requests[i]->ctx;
	}
	while (!any_is_over(&any) && !err)
		err = collq_progress_sleep(ctx, deadline, any_is_over, &any);
	if (err == -ENODEV) {
		end_all(&any);
		any_is_over(&any);
	}
	return any.ended == COLLQ_NONE && err ? err : any_result(&any, index);
}

int collq_request_cancel(struct collq_request *request)
{
	struct ib_collq_queue_cancel cancel = {
		.queue = request->queue_id,
		.sequence = atomic_load(&request->sequence),
	};

	if (run_of(request) != COLLQ_RUN_STARTED || !request->queue_id)
		return -ENOENT;
	return collq_queue_cancel(request->ctx, &cancel);
}

/* Whether a run isn't over, or another thread is just about to submit one. */
static bool goes_on(struct collq_request *req)
{
	struct ib_collq_queue_wait wait = {
		.queue = req->queue_id,
		.sequence = atomic_load(&req->sequence),
		.deadline = 1,
	};
	int err;

	if (!req->queue_id || run_of(req) != COLLQ_RUN_STARTED)
		return false;
	err = collq_queue_wait(req->ctx, &wait);
	/* Not known yet; or known since it was to be cancelled */
	return err == -EINVAL || err == -ETIME || err == -EINTR;
}

int collq_request_stop(struct collq_request *request)
{
	int err;

	while ((err = collq_request_cancel(request)) == -ENOENT && goes_on(request))
		sched_yield();
	return err;
}

int collq_request_end(struct collq_request *request)
{
	int err = collq_request_stop(request);
	struct ib_collq_queue_wait wait = {
		.queue = request->queue_id,
		.sequence = atomic_load(&request->sequence),
	};

	if (err && err != -ENOENT)
		return err;
	if (!request->data || !request->queue_id || run_of(request) != COLLQ_RUN_STARTED)
		return 0;
	do
		err = collq_queue_wait(request->ctx, &wait);
	while (err == -EINTR);
	return err;
}

int collq_cancel(struct collq_request *request)
{
	int err = check(request);

	return err ? err : collq_request_cancel(request);
}

int collq_request_failure(const struct collq_request *request, struct collq_failure *failure)
{
	if (!request->failure.error)
		return -ENOENT;
	return collq_sized_give(failure, &request->failure, sizeof(request->failure));
}
