// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The other front end: objects and methods on a uverbs descriptor, where ib_uverbs
 * takes extensions.
 *
 * Methods do what commands of the character device do, by the same code, and objects
 * are the same objects of the same contexts: what is here only ties them to handles.
 * A handle holds a reference to its object. When a handle is destroyed, so is the
 * object, which may be refused as it is there. When the file is closed, the context
 * of the first handle that goes is shut down as a whole, as if it were a file that is
 * closed; and when the device goes, contexts lose what they have on it as others do.
 * Then handles stay until the process lets go of them, with nothing behind.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/wait.h>

#define UVERBS_MODULE_NAME ib_collq
#include <rdma/uverbs_extension.h>
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/uverbs_std_types.h>

#include <rdma/ib_collq_uverbs.h>

#include "borrow.h"
#include "context.h"
#include "device.h"
#include "endpoint.h"
#include "ioctl.h"
#include "object.h"
#include "region.h"
#include "ring.h"
#include "uverbs.h"

/* The shortest structure of any command. */
#define COLLQ_MIN_ARGUMENT	8

/**
 * struct collq_uring - a ring's handle, which is a file
 * @uobject: common part
 * @wait: who polls the file; woken by the ring, which may go first
 * @lock: protects @ring
 * @ring: the ring, referenced; NULL when the handle is gone and the file isn't
 */
struct collq_uring {
	struct ib_uobject uobject;
	wait_queue_head_t wait;
	struct mutex lock;		/* ring */
	struct collq_ring *ring;
};

static void __user *collq_uverbs_argument(struct uverbs_attr_bundle *attrs)
{
	const struct uverbs_attr *attr =
		uverbs_attr_get(attrs, IB_COLLQ_ATTR_ARGUMENT);

	return u64_to_user_ptr(attr->ptr_attr.data);
}

static int collq_uverbs_command(struct uverbs_attr_bundle *attrs,
				unsigned int cmd)
{
	struct collq_context *ctx =
		uverbs_attr_get_obj(attrs, IB_COLLQ_ATTR_CONTEXT);

	return collq_ioctl_run(ctx, cmd, collq_uverbs_argument(attrs));
}

/* What the caller has registered and wants to be used. The method keeps it so far. */
static struct collq_borrowed
collq_uverbs_borrowed(const struct uverbs_attr_bundle *attrs)
{
	struct collq_borrowed borrowed = {};

	if (uverbs_attr_is_valid(attrs, IB_COLLQ_ATTR_PD))
		borrowed.pd = uverbs_attr_get_obj(attrs, IB_COLLQ_ATTR_PD);
	if (uverbs_attr_is_valid(attrs, IB_COLLQ_ATTR_MR))
		borrowed.mr = uverbs_attr_get_uobject(attrs, IB_COLLQ_ATTR_MR);
	return borrowed;
}

/* A new object, with a reference for its handle. */
static int collq_uverbs_make(struct uverbs_attr_bundle *attrs, unsigned int cmd,
			     struct collq_object **obj)
{
	const struct collq_borrowed borrowed = collq_uverbs_borrowed(attrs);
	struct collq_context *ctx =
		uverbs_attr_get_obj(attrs, IB_COLLQ_ATTR_CONTEXT);

	return collq_ioctl_create(ctx, cmd, collq_uverbs_argument(attrs),
				  uverbs_attr_get_len(attrs,
						      IB_COLLQ_ATTR_ARGUMENT),
				  &borrowed, obj);
}

static int collq_uverbs_create(struct uverbs_attr_bundle *attrs,
			       unsigned int cmd)
{
	struct ib_uobject *uobject =
		uverbs_attr_get_uobject(attrs, IB_COLLQ_ATTR_HANDLE);
	struct collq_object *obj;
	int err;

	err = collq_uverbs_make(attrs, cmd, &obj);
	if (err)
		return err;
	uobject->object = obj;
	uverbs_finalize_uobj_create(attrs, IB_COLLQ_ATTR_HANDLE);
	return 0;
}

/* What the context's objects have borrowed is the caller's again after this. May sleep. */
static void collq_uverbs_shut(struct collq_context *ctx)
{
	collq_context_shut(ctx);
	collq_wait_returned(ctx);
}

/*
 * Takes an object out of service: 0, or why that can't be. What it has borrowed is the
 * caller's again. May sleep.
 */
static int collq_uverbs_take_away(struct collq_object *obj,
				  enum rdma_remove_reason why)
{
	struct collq_context *ctx = obj->ctx;
	int err;

	if (why == RDMA_REMOVE_CLOSE || why == RDMA_REMOVE_DRIVER_REMOVE) {
		collq_uverbs_shut(ctx);
		return 0;
	}
	mutex_lock(&ctx->mutex);
	err = collq_object_destroy(obj);
	mutex_unlock(&ctx->mutex);
	collq_leftovers_finish(ctx);
	/* It went with the device, or by its id. */
	if (err == -ENOENT)
		err = 0;
	if (!err && obj->ops->type == IB_COLLQ_OBJECT_ENDPOINT)
		collq_endpoint_wait_returned(collq_endpoint_of(obj));
	return err;
}

static int collq_uverbs_free(struct ib_uobject *uobject,
			     enum rdma_remove_reason why,
			     struct uverbs_attr_bundle *attrs)
{
	struct collq_object *obj = uobject->object;
	int err = collq_uverbs_take_away(obj, why);

	if (err)
		return err;
	collq_object_put(obj);
	return 0;
}

static int UVERBS_HANDLER(IB_COLLQ_METHOD_OPEN)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobject =
		uverbs_attr_get_uobject(attrs, IB_COLLQ_ATTR_HANDLE);
	struct collq_device *cd = collq_device_of(uobject->context->device);
	struct collq_context *ctx = collq_context_open(cd);

	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	uobject->object = ctx;
	uverbs_finalize_uobj_create(attrs, IB_COLLQ_ATTR_HANDLE);
	return 0;
}

static int collq_uverbs_free_context(struct ib_uobject *uobject,
				     enum rdma_remove_reason why,
				     struct uverbs_attr_bundle *attrs)
{
	struct collq_context *ctx = uobject->object;
	bool busy;

	if (why == RDMA_REMOVE_DESTROY) {
		mutex_lock(&ctx->mutex);
		busy = ctx->nr_objects;
		mutex_unlock(&ctx->mutex);
		if (busy)
			return -EBUSY;
	}
	collq_uverbs_shut(ctx);
	collq_context_put(ctx);
	return 0;
}

static int UVERBS_HANDLER(IB_COLLQ_METHOD_RING_CREATE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobject =
		uverbs_attr_get_uobject(attrs, IB_COLLQ_ATTR_HANDLE);
	struct collq_uring *uring =
		container_of(uobject, struct collq_uring, uobject);
	struct collq_object *obj;
	int err;

	init_waitqueue_head(&uring->wait);
	mutex_init(&uring->lock);
	err = collq_uverbs_make(attrs, IB_COLLQ_RING_CREATE, &obj);
	if (err)
		return err;
	uring->ring = collq_ring_of(obj);
	collq_ring_set_file_wait(uring->ring, &uring->wait);
	uverbs_finalize_uobj_create(attrs, IB_COLLQ_ATTR_HANDLE);
	return 0;
}

/*
 * Who closes it last may be another process, which doesn't wait for a call of the
 * owner's. What can't be destroyed now goes with the context.
 */
static void collq_uverbs_close_ring(struct collq_ring *ring)
{
	struct collq_context *ctx = ring->obj.ctx;

	if (current->mm == ctx->mm)
		mutex_lock(&ctx->mutex);
	else if (!mutex_trylock(&ctx->mutex))
		return;
	collq_object_destroy(&ring->obj);
	mutex_unlock(&ctx->mutex);
}

static void collq_uverbs_free_ring(struct ib_uobject *uobject,
				   enum rdma_remove_reason why)
{
	struct collq_uring *uring =
		container_of(uobject, struct collq_uring, uobject);
	struct collq_ring *ring;

	mutex_lock(&uring->lock);
	ring = uring->ring;
	uring->ring = NULL;
	mutex_unlock(&uring->lock);
	collq_ring_set_file_wait(ring, NULL);
	wake_up_all(&uring->wait);
	/* A file that is closed is no reason to shut the context down. */
	if (why == RDMA_REMOVE_CLOSE)
		collq_uverbs_close_ring(ring);
	else
		collq_uverbs_take_away(&ring->obj, why);
	collq_object_put(&ring->obj);
}

static int collq_uring_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct collq_uring *uring = file->private_data;
	int err = -ENODEV;

	mutex_lock(&uring->lock);
	if (uring->ring)
		err = vma->vm_mm == uring->ring->obj.ctx->mm ?
		      collq_ring_mmap(uring->ring, vma, vma->vm_pgoff) : -EPERM;
	mutex_unlock(&uring->lock);
	return err;
}

static __poll_t collq_uring_poll(struct file *file, poll_table *wait)
{
	struct collq_uring *uring = file->private_data;
	__poll_t events = EPOLLERR | EPOLLHUP;

	poll_wait(file, &uring->wait, wait);
	mutex_lock(&uring->lock);
	if (uring->ring) {
		if (!READ_ONCE(uring->ring->dead) &&
		    !READ_ONCE(uring->ring->obj.ctx->device->dead))
			events = 0;
		if (collq_ring_unread(uring->ring))
			events |= EPOLLIN | EPOLLRDNORM;
	}
	mutex_unlock(&uring->lock);
	return events;
}

static const struct file_operations collq_uring_fops = {
	.owner = THIS_MODULE,
	.release = uverbs_uobject_fd_release,
	.mmap = collq_uring_mmap,
	.poll = collq_uring_poll,
};

#define COLLQ_ATTR_CONTEXT()						\
	UVERBS_ATTR_IDR(IB_COLLQ_ATTR_CONTEXT, IB_COLLQ_UOBJECT_CONTEXT,	\
			UVERBS_ACCESS_READ, UA_MANDATORY)

/* Longer than what a kernel knows is for the command to judge. */
#define COLLQ_ATTR_ARGUMENT()						\
	UVERBS_ATTR_PTR_IN(IB_COLLQ_ATTR_ARGUMENT,			\
			   UVERBS_ATTR_MIN_SIZE(COLLQ_MIN_ARGUMENT + 1), \
			   UA_MANDATORY)

/* A command that neither makes nor destroys anything. */
#define COLLQ_UVERBS_COMMAND(_name)					\
static int UVERBS_HANDLER(IB_COLLQ_METHOD_##_name)(			\
	struct uverbs_attr_bundle *attrs)				\
{									\
	return collq_uverbs_command(attrs, IB_COLLQ_##_name);		\
}									\
DECLARE_UVERBS_NAMED_METHOD(IB_COLLQ_METHOD_##_name,			\
			    COLLQ_ATTR_CONTEXT(), COLLQ_ATTR_ARGUMENT())

COLLQ_UVERBS_COMMAND(QUERY);
COLLQ_UVERBS_COMMAND(OBJECT_DESCRIBE);
COLLQ_UVERBS_COMMAND(OBJECT_DESTROY);
COLLQ_UVERBS_COMMAND(OBJECT_RESET);
COLLQ_UVERBS_COMMAND(CONTEXT_DESCRIBE);
COLLQ_UVERBS_COMMAND(ENDPOINT_CONNECT);
COLLQ_UVERBS_COMMAND(CAPACITY_RESERVE);
COLLQ_UVERBS_COMMAND(CAPACITY_RELEASE);
COLLQ_UVERBS_COMMAND(SLOT_BIND);
COLLQ_UVERBS_COMMAND(SLOT_UNBIND);
COLLQ_UVERBS_COMMAND(COUNTER_RAISE);
COLLQ_UVERBS_COMMAND(COUNTER_READ);
COLLQ_UVERBS_COMMAND(QUEUE_SUBMIT);
COLLQ_UVERBS_COMMAND(QUEUE_WAIT);
COLLQ_UVERBS_COMMAND(QUEUE_SUBMIT_WAIT);
COLLQ_UVERBS_COMMAND(QUEUE_CANCEL);

/*
 * An object that is made by a command, and destroyed like any other; what that is made
 * from is said at the end.
 */
#define COLLQ_UVERBS_OBJECT(_name, _command, ...)			\
static int UVERBS_HANDLER(IB_COLLQ_METHOD_##_name##_CREATE)(		\
	struct uverbs_attr_bundle *attrs)				\
{									\
	return collq_uverbs_create(attrs, _command);			\
}									\
DECLARE_UVERBS_NAMED_METHOD(IB_COLLQ_METHOD_##_name##_CREATE,		\
	UVERBS_ATTR_IDR(IB_COLLQ_ATTR_HANDLE, IB_COLLQ_UOBJECT_##_name,	\
			UVERBS_ACCESS_NEW, UA_MANDATORY),		\
	COLLQ_ATTR_CONTEXT(), __VA_ARGS__);				\
DECLARE_UVERBS_NAMED_METHOD_DESTROY(IB_COLLQ_METHOD_##_name##_DESTROY,	\
	UVERBS_ATTR_IDR(IB_COLLQ_ATTR_HANDLE, IB_COLLQ_UOBJECT_##_name,	\
			UVERBS_ACCESS_DESTROY, UA_MANDATORY));		\
DECLARE_UVERBS_NAMED_OBJECT(IB_COLLQ_UOBJECT_##_name,			\
	UVERBS_TYPE_ALLOC_IDR(collq_uverbs_free),			\
	&UVERBS_METHOD(IB_COLLQ_METHOD_##_name##_CREATE),		\
	&UVERBS_METHOD(IB_COLLQ_METHOD_##_name##_DESTROY))

COLLQ_UVERBS_OBJECT(REGION, IB_COLLQ_REGION_CREATE, COLLQ_ATTR_ARGUMENT(),
		    UVERBS_ATTR_IDR(IB_COLLQ_ATTR_MR, UVERBS_OBJECT_MR,
				    UVERBS_ACCESS_READ, UA_OPTIONAL));
COLLQ_UVERBS_OBJECT(ENDPOINT, IB_COLLQ_ENDPOINT_CREATE, COLLQ_ATTR_ARGUMENT(),
		    UVERBS_ATTR_IDR(IB_COLLQ_ATTR_PD, UVERBS_OBJECT_PD,
				    UVERBS_ACCESS_READ, UA_OPTIONAL));
COLLQ_UVERBS_OBJECT(COUNTER, IB_COLLQ_COUNTER_CREATE, COLLQ_ATTR_ARGUMENT());
COLLQ_UVERBS_OBJECT(GRAPH, IB_COLLQ_GRAPH_CREATE, COLLQ_ATTR_ARGUMENT());
COLLQ_UVERBS_OBJECT(QUEUE, IB_COLLQ_QUEUE_CREATE, COLLQ_ATTR_ARGUMENT());
COLLQ_UVERBS_OBJECT(ZONE, IB_COLLQ_ZONE_OFFER, COLLQ_ATTR_ARGUMENT());
COLLQ_UVERBS_OBJECT(TARGET, IB_COLLQ_TARGET_CREATE, COLLQ_ATTR_ARGUMENT());

DECLARE_UVERBS_NAMED_METHOD(IB_COLLQ_METHOD_RING_CREATE,
			    UVERBS_ATTR_FD(IB_COLLQ_ATTR_HANDLE,
					   IB_COLLQ_UOBJECT_RING,
					   UVERBS_ACCESS_NEW, UA_MANDATORY),
			    COLLQ_ATTR_CONTEXT(), COLLQ_ATTR_ARGUMENT());
DECLARE_UVERBS_NAMED_OBJECT(IB_COLLQ_UOBJECT_RING,
			    UVERBS_TYPE_ALLOC_FD(sizeof(struct collq_uring),
						 collq_uverbs_free_ring,
						 &collq_uring_fops,
						 "[collq_ring]", O_RDWR),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_RING_CREATE));

DECLARE_UVERBS_NAMED_METHOD(IB_COLLQ_METHOD_OPEN,
			    UVERBS_ATTR_IDR(IB_COLLQ_ATTR_HANDLE,
					    IB_COLLQ_UOBJECT_CONTEXT,
					    UVERBS_ACCESS_NEW, UA_MANDATORY));
DECLARE_UVERBS_NAMED_METHOD_DESTROY(IB_COLLQ_METHOD_CLOSE,
				    UVERBS_ATTR_IDR(IB_COLLQ_ATTR_HANDLE,
						    IB_COLLQ_UOBJECT_CONTEXT,
						    UVERBS_ACCESS_DESTROY,
						    UA_MANDATORY));
DECLARE_UVERBS_NAMED_OBJECT(IB_COLLQ_UOBJECT_CONTEXT,
			    UVERBS_TYPE_ALLOC_IDR(collq_uverbs_free_context),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_OPEN),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_CLOSE),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_QUERY),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_OBJECT_DESCRIBE),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_OBJECT_RESET),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_CONTEXT_DESCRIBE),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_ENDPOINT_CONNECT),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_CAPACITY_RESERVE),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_CAPACITY_RELEASE),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_SLOT_BIND),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_SLOT_UNBIND),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_COUNTER_RAISE),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_COUNTER_READ),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_QUEUE_SUBMIT),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_QUEUE_WAIT),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_QUEUE_SUBMIT_WAIT),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_QUEUE_CANCEL),
			    &UVERBS_METHOD(IB_COLLQ_METHOD_OBJECT_DESTROY));

static const struct uapi_definition collq_uverbs_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(IB_COLLQ_UOBJECT_CONTEXT),
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(IB_COLLQ_UOBJECT_REGION),
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(IB_COLLQ_UOBJECT_ENDPOINT),
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(IB_COLLQ_UOBJECT_COUNTER),
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(IB_COLLQ_UOBJECT_GRAPH),
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(IB_COLLQ_UOBJECT_QUEUE),
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(IB_COLLQ_UOBJECT_RING),
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(IB_COLLQ_UOBJECT_ZONE),
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(IB_COLLQ_UOBJECT_TARGET),
	{}
};

/*
 * On a device that has us already: NULL if that can't be, and then there's the character
 * device. May sleep.
 */
struct uverbs_extension *collq_uverbs_add(struct ib_device *ibdev)
{
	struct uverbs_extension *extension;

	BUILD_BUG_ON(IB_COLLQ_UOBJECT_CONTEXT !=
		     UVERBS_EXTENSION_ID(IB_COLLQ_UVERBS_NS, 0));
	extension = uverbs_extension_add(ibdev, THIS_MODULE, IB_COLLQ_UVERBS_NS,
					 collq_uverbs_definitions);
	if (!IS_ERR(extension))
		return extension;
	if (PTR_ERR(extension) != -EOPNOTSUPP)
		dev_warn(&ibdev->dev, "no uverbs front end: %pe\n", extension);
	return NULL;
}

/* The device has lost us, but methods may still be running. May sleep. */
void collq_uverbs_remove(struct uverbs_extension *extension)
{
	if (extension)
		uverbs_extension_remove(extension);
}
