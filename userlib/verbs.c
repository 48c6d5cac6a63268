// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands by way of a uverbs descriptor.
 *
 * What makes an object is a method of its type and gives a handle, which is noted
 * beside the id; what destroys one takes the handle. A batch of either is as many
 * methods. All other commands are methods of the context and take their structures
 * as they are.
 */
#include <errno.h>
#include <pthread.h>
#include <search.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_collq_uverbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "verbs.h"

/* An object: its id, and what stands for it here; of a ring, a descriptor */
struct handle {
	uint32_t id;
	uint16_t type;		/* IB_COLLQ_UOBJECT_* */
	int64_t value;
};

/*
 * @handles: a tree of &struct handle by id
 * @lock: protects it
 */
struct collq_verbs {
	int fd;
	uint32_t driver;
	int64_t context;
	pthread_mutex_t lock;
	void *handles;
};

#define MAX_ATTRS	4

/* A method and its attributes */
struct call {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[MAX_ATTRS];
};

static void add_attr(struct call *call, uint16_t id, uint64_t data, uint16_t len)
{
	call->attrs[call->hdr.num_attrs++] = (struct ib_uverbs_attr){
		.attr_id = id,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.data = data,
		.len = len,
	};
}

static struct call call_of(const struct collq_verbs *verbs, uint16_t object, uint16_t method)
{
	return (struct call){
		.hdr = {
			.driver_id = verbs->driver,
			.object_id = object,
			.method_id = method,
		},
	};
}

/* Where the device has gone, ib_uverbs has a word of its own for what others call ENODEV. */
static int error_of(int error)
{
	return error == EIO ? -ENODEV : -error;
}

static int make(const struct collq_verbs *verbs, struct call *call)
{
	int saved = errno, ret;

	call->hdr.length = sizeof(call->hdr) + call->hdr.num_attrs * sizeof(call->attrs[0]);
	ret = ioctl(verbs->fd, RDMA_VERBS_IOCTL, &call->hdr);
	if (ret < 0) {
		ret = error_of(errno);
		errno = saved;
	}
	return ret;
}

/* A method of the context, on a structure. */
static int make_of_context(const struct collq_verbs *verbs, uint16_t method, void *arg,
			   uint16_t size)
{
	struct call call = call_of(verbs, IB_COLLQ_UOBJECT_CONTEXT, method);

	add_attr(&call, IB_COLLQ_ATTR_CONTEXT, verbs->context, 0);
	add_attr(&call, IB_COLLQ_ATTR_ARGUMENT, (uintptr_t)arg, size);
	return make(verbs, &call);
}

static int compare(const void *a, const void *b)
{
	const struct handle *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* A command that makes objects: of what type, and where in the structure the id is. */
struct maker {
	unsigned long command;
	uint16_t type;
	uint16_t id;
	bool batch;
};

#define MAKER(_command, _type, _struct, _batch) {				\
	.command = IB_COLLQ_##_command,						\
	.type = IB_COLLQ_UOBJECT_##_type,					\
	.id = offsetof(struct _struct, id),					\
	.batch = _batch,							\
}

static const struct maker makers[] = {
	MAKER(REGION_CREATE, REGION, ib_collq_region_create, false),
	MAKER(ZONE_OFFER, ZONE, ib_collq_zone_offer, false),
	MAKER(TARGET_CREATE, TARGET, ib_collq_target_create, false),
	MAKER(ENDPOINT_CREATE, ENDPOINT, ib_collq_endpoint_create, true),
	MAKER(COUNTER_CREATE, COUNTER, ib_collq_counter_create, true),
	MAKER(RING_CREATE, RING, ib_collq_ring_create, false),
	MAKER(QUEUE_CREATE, QUEUE, ib_collq_queue_create, false),
	MAKER(GRAPH_CREATE, GRAPH, ib_collq_graph_create, false),
};

static const struct maker *find_maker(unsigned long command)
{
	size_t i;

	for (i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		if (makers[i].command == command)
			return &makers[i];
	return NULL;
}

/* Closing a ring's descriptor can't be refused, and may not be all there is of it. */
static int destroy_ring(const struct collq_verbs *verbs, const struct handle *handle)
{
	struct ib_collq_object_destroy entry = {
		.id = handle->id,
		.type = IB_COLLQ_OBJECT_RING,
	};
	struct ib_collq_batch batch = {
		.size = sizeof(batch),
		.nr = 1,
		.entry_size = sizeof(entry),
		.entries = (uintptr_t)&entry,
	};

	if (make_of_context(verbs, IB_COLLQ_METHOD_OBJECT_DESTROY, &batch, sizeof(batch)) == -EBUSY)
		return -EBUSY;
	return close(handle->value) ? -errno : 0;
}

static int destroy(const struct collq_verbs *verbs, const struct handle *handle)
{
	struct call call;

	if (handle->type == IB_COLLQ_UOBJECT_RING)
		return destroy_ring(verbs, handle);
	/* It has the same number in all types. */
	call = call_of(verbs, handle->type, IB_COLLQ_METHOD_REGION_DESTROY);
	add_attr(&call, IB_COLLQ_ATTR_HANDLE, handle->value, 0);
	return make(verbs, &call);
}

/* One object from one structure, and from what is lent to it, or NULL. */
static int create(struct collq_verbs *verbs, const struct maker *maker, void *arg, uint16_t size,
		  const struct collq_loan *loan)
{
	struct call call = call_of(verbs, maker->type, IB_COLLQ_METHOD_REGION_CREATE);
	struct handle *handle = malloc(sizeof(*handle));
	void *found;
	int err;

	if (!handle)
		return -ENOMEM;
	add_attr(&call, IB_COLLQ_ATTR_HANDLE, 0, 0);
	add_attr(&call, IB_COLLQ_ATTR_CONTEXT, verbs->context, 0);
	add_attr(&call, IB_COLLQ_ATTR_ARGUMENT, (uintptr_t)arg, size);
	if (loan)
		add_attr(&call, loan->attr, loan->handle, 0);
	err = make(verbs, &call);
	if (err)
		goto err_free;
	memcpy(&handle->id, (char *)arg + maker->id, sizeof(handle->id));
	handle->type = maker->type;
	handle->value = call.attrs[0].data_s64;
	pthread_mutex_lock(&verbs->lock);
	found = tsearch(handle, &verbs->handles, compare);
	pthread_mutex_unlock(&verbs->lock);
	if (!found) {
		err = -ENOMEM;
		destroy(verbs, handle);
		goto err_free;
	}
	return 0;

err_free:
	free(handle);
	return err;
}

/* The type of objects as commands say it. */
static uint16_t uobject_of(uint32_t type)
{
	static const uint16_t types[] = {
		[IB_COLLQ_OBJECT_REGION] = IB_COLLQ_UOBJECT_REGION,
		[IB_COLLQ_OBJECT_ENDPOINT] = IB_COLLQ_UOBJECT_ENDPOINT,
		[IB_COLLQ_OBJECT_COUNTER] = IB_COLLQ_UOBJECT_COUNTER,
		[IB_COLLQ_OBJECT_GRAPH] = IB_COLLQ_UOBJECT_GRAPH,
		[IB_COLLQ_OBJECT_QUEUE] = IB_COLLQ_UOBJECT_QUEUE,
		[IB_COLLQ_OBJECT_RING] = IB_COLLQ_UOBJECT_RING,
		[IB_COLLQ_OBJECT_ZONE] = IB_COLLQ_UOBJECT_ZONE,
		[IB_COLLQ_OBJECT_TARGET] = IB_COLLQ_UOBJECT_TARGET,
	};

	return type < sizeof(types) / sizeof(types[0]) ? types[type] : 0;
}

/* Out of the tree, so that nobody else destroys it; back if that is refused. */
static int destroy_entry(struct collq_verbs *verbs, const struct ib_collq_object_destroy *entry)
{
	struct handle key = { .id = entry->id }, *handle = NULL, **found;
	int err;

	if (entry->type && !uobject_of(entry->type))
		return -EINVAL;
	pthread_mutex_lock(&verbs->lock);
	found = tfind(&key, &verbs->handles, compare);
	if (found && (!entry->type || (*found)->type == uobject_of(entry->type))) {
		handle = *found;
		tdelete(handle, &verbs->handles, compare);
	}
	pthread_mutex_unlock(&verbs->lock);
	if (!handle)
		return -ENOENT;
	err = destroy(verbs, handle);
	if (!err) {
		free(handle);
		return 0;
	}
	pthread_mutex_lock(&verbs->lock);
	/* There was room for it a moment ago; if there's none now, it goes with the context. */
	if (!tsearch(handle, &verbs->handles, compare))
		free(handle);
	pthread_mutex_unlock(&verbs->lock);
	return err;
}

/* A batch, entry by entry: with @maker of what is made, else of what is destroyed. */
static int run_batch(struct collq_verbs *verbs, const struct maker *maker,
		     struct ib_collq_batch *batch)
{
	char *entry = (char *)(uintptr_t)batch->entries;
	uint32_t done;
	int err = 0;

	for (done = 0; done < batch->nr && !err; entry += batch->entry_size) {
		err = maker ? create(verbs, maker, entry, batch->entry_size, NULL) :
			      destroy_entry(verbs, (void *)entry);
		if (!err)
			done++;
	}
	batch->error = err;
	return done ? (int)done : err;
}

/* The method of the context that a command is, or -1. */
static int method_of(unsigned long command)
{
	static const struct {
		unsigned long command;
		int method;
	} methods[] = {
		{ IB_COLLQ_QUEUE_SUBMIT_WAIT, IB_COLLQ_METHOD_QUEUE_SUBMIT_WAIT },
		{ IB_COLLQ_QUEUE_SUBMIT, IB_COLLQ_METHOD_QUEUE_SUBMIT },
		{ IB_COLLQ_QUEUE_WAIT, IB_COLLQ_METHOD_QUEUE_WAIT },
		{ IB_COLLQ_QUEUE_CANCEL, IB_COLLQ_METHOD_QUEUE_CANCEL },
		{ IB_COLLQ_QUERY, IB_COLLQ_METHOD_QUERY },
		{ IB_COLLQ_OBJECT_DESCRIBE, IB_COLLQ_METHOD_OBJECT_DESCRIBE },
		{ IB_COLLQ_OBJECT_RESET, IB_COLLQ_METHOD_OBJECT_RESET },
		{ IB_COLLQ_CONTEXT_DESCRIBE, IB_COLLQ_METHOD_CONTEXT_DESCRIBE },
		{ IB_COLLQ_ENDPOINT_CONNECT, IB_COLLQ_METHOD_ENDPOINT_CONNECT },
		{ IB_COLLQ_CAPACITY_RESERVE, IB_COLLQ_METHOD_CAPACITY_RESERVE },
		{ IB_COLLQ_CAPACITY_RELEASE, IB_COLLQ_METHOD_CAPACITY_RELEASE },
		{ IB_COLLQ_SLOT_BIND, IB_COLLQ_METHOD_SLOT_BIND },
		{ IB_COLLQ_SLOT_UNBIND, IB_COLLQ_METHOD_SLOT_UNBIND },
		{ IB_COLLQ_COUNTER_RAISE, IB_COLLQ_METHOD_COUNTER_RAISE },
		{ IB_COLLQ_COUNTER_READ, IB_COLLQ_METHOD_COUNTER_READ },
	};
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (methods[i].command == command)
			return methods[i].method;
	return -1;
}

/* All that say so begin with their size; the kernel reads no more than that. */
static uint16_t argument_size(const void *arg)
{
	uint32_t size;

	memcpy(&size, arg, sizeof(size));
	return size < UINT16_MAX ? size : UINT16_MAX;
}

int collq_verbs_command(struct collq_verbs *verbs, unsigned long command, void *arg)
{
	const struct maker *maker;
	int method = method_of(command);

	/* What programs spend their time with. */
	if (method >= 0)
		return make_of_context(verbs, method, arg, argument_size(arg));
	maker = find_maker(command);
	if (command == IB_COLLQ_OBJECT_DESTROY || (maker && maker->batch))
		return run_batch(verbs, maker, arg);
	if (maker)
		return create(verbs, maker, arg, argument_size(arg), NULL);
	return -ENOTTY;
}

int collq_verbs_create(struct collq_verbs *verbs, unsigned long command, void *arg,
		       uint16_t size, const struct collq_loan *loan)
{
	return create(verbs, find_maker(command), arg, size, loan);
}

int collq_verbs_fd(const struct collq_verbs *verbs)
{
	return verbs->fd;
}

int collq_verbs_ring_fd(struct collq_verbs *verbs, uint32_t id)
{
	struct handle key = { .id = id }, **found;
	int fd = -ENOENT;

	pthread_mutex_lock(&verbs->lock);
	found = tfind(&key, &verbs->handles, compare);
	if (found && (*found)->type == IB_COLLQ_UOBJECT_RING)
		fd = (*found)->value;
	pthread_mutex_unlock(&verbs->lock);
	return fd;
}

int collq_verbs_open(int fd, uint32_t driver, struct collq_verbs **out)
{
	struct collq_verbs *verbs;
	struct call call;
	int err;

	verbs = calloc(1, sizeof(*verbs));
	if (!verbs)
		return -ENOMEM;
	verbs->fd = fd;
	verbs->driver = driver;
	call = call_of(verbs, IB_COLLQ_UOBJECT_CONTEXT, IB_COLLQ_METHOD_OPEN);
	add_attr(&call, IB_COLLQ_ATTR_HANDLE, 0, 0);
	err = make(verbs, &call);
	if (err) {
		free(verbs);
		/* No such method. */
		return err == -EPROTONOSUPPORT || err == -ENOTTY ? -EOPNOTSUPP : err;
	}
	verbs->context = call.attrs[0].data_s64;
	pthread_mutex_init(&verbs->lock, NULL);
	*out = verbs;
	return 0;
}

/* All handles, by id: as many as there is room for */
struct listing {
	struct handle **handles;
	size_t nr, room;
};

static void list_one(const void *node, VISIT visit, void *closure)
{
	struct listing *listing = closure;

	if ((visit == postorder || visit == leaf) && listing->nr < listing->room)
		listing->handles[listing->nr++] = *(struct handle *const *)node;
}

static void count_one(const void *node, VISIT visit, void *closure)
{
	size_t *nr = closure;

	(void)node;
	*nr += visit == postorder || visit == leaf;
}

/* The latest first: it names those before it, and isn't named by them. */
static size_t destroy_listed(struct collq_verbs *verbs, struct listing *listing)
{
	size_t i, left = 0;

	for (i = listing->nr; i--;) {
		struct handle *handle = listing->handles[i];

		if (!handle)
			continue;
		if (destroy(verbs, handle) == -EBUSY) {
			left++;
			continue;
		}
		tdelete(handle, &verbs->handles, compare);
		free(handle);
		listing->handles[i] = NULL;
	}
	return left;
}

static void destroy_all(struct collq_verbs *verbs)
{
	struct listing listing = { 0 };
	size_t left, before;

	twalk_r(verbs->handles, count_one, &listing.room);
	listing.handles = calloc(listing.room + 1, sizeof(*listing.handles));
	if (!listing.handles)
		return;
	twalk_r(verbs->handles, list_one, &listing);
	left = listing.nr;
	do {
		before = left;
		left = destroy_listed(verbs, &listing);
	} while (left && left < before);
	free(listing.handles);
}

/* What can't be destroyed goes with the descriptor. */
void collq_verbs_close(struct collq_verbs *verbs)
{
	struct call call = call_of(verbs, IB_COLLQ_UOBJECT_CONTEXT, IB_COLLQ_METHOD_CLOSE);

	destroy_all(verbs);
	add_attr(&call, IB_COLLQ_ATTR_HANDLE, verbs->context, 0);
	make(verbs, &call);
	tdestroy(verbs->handles, free);
	pthread_mutex_destroy(&verbs->lock);
	free(verbs);
}
