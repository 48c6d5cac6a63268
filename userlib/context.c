// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Contexts: from a device's name to something to make objects in.
 *
 * Life: opened; communicators and rings hold it; perhaps moved to another device
 * (move.c); closed once they are gone. What is left in the kernel goes with the
 * descriptor.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "context.h"
#include "device.h"
#include "region.h"
#include "ring.h"
#include "verbs.h"

#define NSEC_PER_SEC	1000000000ULL

/* Requests of a context. The kernel's limit of objects comes first. */
#define MAX_REQUESTS	65536

static int query(struct collq_context *ctx)
{
	int err;

	err = collq_query(ctx, &ctx->limits);
	if (err)
		return err;
	/* Found by number: whether it's the one that was meant only it can tell. */
	if (strcmp((const char *)ctx->limits.device, ctx->device)) {
		collq_error("%s: the kernel led to %s", ctx->device,
			    (const char *)ctx->limits.device);
		return -ENXIO;
	}
	if (ctx->limits.abi_version != IB_COLLQ_ABI_VERSION) {
		collq_error("%s: the module's ABI has version %u, this library's %u",
			    ctx->device, ctx->limits.abi_version, IB_COLLQ_ABI_VERSION);
		return -EOPNOTSUPP;
	}
	return 0;
}

int collq_context_enter(struct collq_context *ctx, const struct collq_device *device)
{
	ctx->fd = device->fd;
	strcpy(ctx->device, device->name);
	ctx->port = device->port;
	ctx->gid_index = device->gid_index;
	return query(ctx);
}

int collq_context_map_ring(struct collq_context *ctx)
{
	uint32_t entries = ctx->env.ring_entries;

	if (entries > ctx->limits.max_ring_entries)
		entries = ctx->limits.max_ring_entries;
	return collq_ring_map(ctx, entries, -1, &ctx->ring);
}

uint32_t collq_version(void)
{
	return COLLQ_VERSION;
}

/* A context that isn't anywhere yet. */
static int new_context(struct collq_context **context)
{
	struct collq_context *ctx;
	int err;

	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	err = collq_env_read(&ctx->env);
	if (err) {
		free(ctx);
		return err;
	}
	ctx->fd = -1;
	ctx->ids.max = MAX_REQUESTS;
	pthread_mutex_init(&ctx->lock, NULL);
	pthread_cond_init(&ctx->woken, NULL);
	*context = ctx;
	return 0;
}

/* The way to the kernel, and the memory. */
static void free_context(struct collq_context *ctx)
{
	if (ctx->verbs)
		collq_verbs_close(ctx->verbs);
	if (ctx->fd >= 0)
		close(ctx->fd);
	pthread_cond_destroy(&ctx->woken);
	pthread_mutex_destroy(&ctx->lock);
	free(ctx);
}

/* With what was found so far. */
static int finish_open(struct collq_context *ctx, const struct collq_device *device, int err,
		       struct collq_context **context)
{
	/* It's the environment's, and may change. */
	ctx->env.net_devices = NULL;
	if (!err)
		err = collq_context_enter(ctx, device);
	if (err)
		free_context(ctx);
	else
		*context = ctx;
	return err;
}

int collq_open(const char *device, struct collq_context **context)
{
	struct collq_device found;
	struct collq_context *ctx;
	int err;

	err = new_context(&ctx);
	if (err)
		return err;
	err = collq_device_open(device, &ctx->env, &found);
	return finish_open(ctx, &found, err, context);
}

/* On the caller's descriptor. What can be waited for there has descriptors of its own. */
static int enter_verbs(struct collq_context *ctx, const struct ibv_context *verbs,
		       struct collq_device *device)
{
	uint32_t driver;
	int err;

	err = collq_device_find(verbs->device->name, &ctx->env, device, &driver);
	if (err)
		return err;
	err = collq_verbs_open(verbs->cmd_fd, driver, &ctx->verbs);
	if (err)
		return err;
	device->fd = epoll_create1(EPOLL_CLOEXEC);
	return device->fd < 0 ? -errno : 0;
}

int collq_open_verbs(struct ibv_context *verbs, struct collq_context **context)
{
	struct collq_device device;
	struct collq_context *ctx;
	int err;

	err = new_context(&ctx);
	if (err)
		return err;
	if (!collq_device_has_wire(&ctx->env)) {
		free_context(ctx);
		return -EOPNOTSUPP;
	}
	err = -EOPNOTSUPP;
	if (ctx->env.front_end != COLLQ_FRONT_END_CHAR)
		err = enter_verbs(ctx, verbs, &device);
	if (err == -EOPNOTSUPP && ctx->env.front_end != COLLQ_FRONT_END_UVERBS) {
		collq_debug("%s: by the character device", verbs->device->name);
		err = collq_device_open_listed(verbs->device->name, &ctx->env, &device);
	}
	return finish_open(ctx, &device, err, context);
}

const char *collq_context_front_end(const struct collq_context *context)
{
	return context->verbs ? "uverbs" : "char";
}

int collq_close(struct collq_context *context)
{
	uint32_t users;

	if (!context)
		return 0;
	pthread_mutex_lock(&context->lock);
	users = context->users;
	pthread_mutex_unlock(&context->lock);
	if (users)
		return -EBUSY;
	if (context->ring)
		collq_ring_unmap(context->ring);
	collq_region_forget(context);
	collq_slots_destroy(&context->ids);
	free(context->requests);
	free_context(context);
	return 0;
}

void collq_context_hold(struct collq_context *ctx)
{
	pthread_mutex_lock(&ctx->lock);
	ctx->users++;
	pthread_mutex_unlock(&ctx->lock);
}

void collq_context_drop(struct collq_context *ctx)
{
	pthread_mutex_lock(&ctx->lock);
	ctx->users--;
	pthread_mutex_unlock(&ctx->lock);
}

int collq_fd(const struct collq_context *context)
{
	return context->fd;
}

const char *collq_context_device(const struct collq_context *context)
{
	return context->device;
}

uint32_t collq_context_port(const struct collq_context *context)
{
	return context->port;
}

uint32_t collq_context_gid_index(const struct collq_context *context)
{
	return context->gid_index;
}

const struct ib_collq_query *collq_context_limits(const struct collq_context *context)
{
	return &context->limits;
}

uint64_t collq_deadline_in(uint64_t nanoseconds)
{
	struct timespec now;
	uint64_t time;

	clock_gettime(CLOCK_MONOTONIC, &now);
	time = now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
	return time + nanoseconds < time ? UINT64_MAX : time + nanoseconds;
}

/* So much of what was asked for as the device can do. */
static uint32_t capacity(const struct collq_context *ctx)
{
	uint32_t wanted = ctx->env.rc_capacity;

	return wanted < ctx->limits.max_capacity ? wanted : ctx->limits.max_capacity;
}

static uint32_t probe_interval(const struct collq_context *ctx)
{
	return ctx->limits.features & IB_COLLQ_FEATURE_PROBE ? ctx->env.probe_interval : 0;
}

bool collq_context_is_local(const struct collq_context *ctx)
{
	return ctx->limits.features & IB_COLLQ_FEATURE_LOCAL && ctx->env.tls & COLLQ_TLS_LOCAL;
}

void collq_endpoint_defaults(const struct collq_context *context, uint32_t peer,
			     struct ib_collq_endpoint_create *endpoint)
{
	*endpoint = (struct ib_collq_endpoint_create){
		.kind = IB_COLLQ_ENDPOINT_SIGNAL,
		.flags = collq_context_is_local(context) ? IB_COLLQ_ENDPOINT_LOCAL : 0,
		.peer = peer,
		.port = context->port,
		.gid_index = context->gid_index,
		.sl = context->env.rc_service_level,
		.traffic_class = context->env.rc_traffic_class,
		.timeout = context->env.rc_timeout,
		.retry_cnt = context->env.rc_retry_count,
		.rnr_retry = context->env.rc_rnr_retry,
		.probe_ms = probe_interval(context),
		.send_capacity = capacity(context),
		.recv_capacity = capacity(context),
	};
}
