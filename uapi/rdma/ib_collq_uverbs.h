/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * ib_collq through a uverbs descriptor: objects, methods and attributes.
 */
#ifndef IB_COLLQ_UVERBS_H
#define IB_COLLQ_UVERBS_H

#include <rdma/ib_collq.h>

/**
 * DOC: The uverbs front end
 *
 * Where ib_uverbs takes extensions, what ``/dev/infiniband/collqN`` offers is to be had
 * through the device's ``/dev/infiniband/uverbsN`` as well: commands are methods
 * (RDMA_VERBS_IOCTL), and objects are uverbs objects, with handles. A context is one of
 * them, and a descriptor may have several.
 *
 * Commands that make no objects are methods of the context and have the command's name;
 * its handle is IB_COLLQ_ATTR_CONTEXT. The structure, as described there, is
 * IB_COLLQ_ATTR_ARGUMENT: it's read and written back by its address. Objects are named in
 * it by their ids. What such a method returns is what the command does.
 *
 * An object is made by its type's CREATE, of which the argument is the structure of that
 * command, or one entry where the command takes a batch. IB_COLLQ_ATTR_HANDLE is its
 * handle, which is all that DESTROY takes. That destroys it as IB_COLLQ_OBJECT_DESTROY
 * does, and gives the same errors. A context can be closed when it has no objects.
 * OBJECT_DESTROY does so by id; then the handle is of use for nothing but DESTROY.
 *
 * What the caller has registered can be used as it is: a region may be a part of a memory
 * region (IB_COLLQ_REGION_MR), and an endpoint be in a protection domain
 * (IB_COLLQ_ENDPOINT_PD), where it can use those regions and no others. They are named by
 * an attribute of the method that makes it. As long as it lives they can't be destroyed or
 * changed (-EBUSY). The DESTROY of such an endpoint waits until its last message has
 * arrived, as long at most as a dead peer is tried. So does closing the descriptor, for
 * two seconds at most for each context. OBJECT_DESTROY doesn't.
 *
 * A ring is a file descriptor of its own: it can be polled, and mapped at offset 0.
 * Closing it destroys the ring, or if a queue names it leaves that to the context; who
 * wants to know uses OBJECT_DESTROY first.
 */

/* Name space of object ids, see UVERBS_EXTENSION_NS_MIN */
#define IB_COLLQ_UVERBS_NS	2

enum ib_collq_uverbs_object {
	IB_COLLQ_UOBJECT_CONTEXT = IB_COLLQ_UVERBS_NS << 12,
	IB_COLLQ_UOBJECT_REGION,
	IB_COLLQ_UOBJECT_ENDPOINT,
	IB_COLLQ_UOBJECT_COUNTER,
	IB_COLLQ_UOBJECT_GRAPH,
	IB_COLLQ_UOBJECT_QUEUE,
	IB_COLLQ_UOBJECT_RING,
	IB_COLLQ_UOBJECT_ZONE,
	IB_COLLQ_UOBJECT_TARGET
};

/* Methods of IB_COLLQ_UOBJECT_CONTEXT */
enum ib_collq_uverbs_context_method {
	IB_COLLQ_METHOD_OPEN,
	IB_COLLQ_METHOD_CLOSE,
	IB_COLLQ_METHOD_QUERY,
	IB_COLLQ_METHOD_OBJECT_DESCRIBE,
	IB_COLLQ_METHOD_OBJECT_RESET,
	IB_COLLQ_METHOD_CONTEXT_DESCRIBE,
	IB_COLLQ_METHOD_ENDPOINT_CONNECT,
	IB_COLLQ_METHOD_CAPACITY_RESERVE,
	IB_COLLQ_METHOD_CAPACITY_RELEASE,
	IB_COLLQ_METHOD_SLOT_BIND,
	IB_COLLQ_METHOD_SLOT_UNBIND,
	IB_COLLQ_METHOD_COUNTER_RAISE,
	IB_COLLQ_METHOD_COUNTER_READ,
	IB_COLLQ_METHOD_QUEUE_SUBMIT,
	IB_COLLQ_METHOD_QUEUE_WAIT,
	IB_COLLQ_METHOD_QUEUE_SUBMIT_WAIT,
	IB_COLLQ_METHOD_QUEUE_CANCEL,
	IB_COLLQ_METHOD_OBJECT_DESTROY
};

/* Methods of the others: each has these two, but that a ring is closed */
enum ib_collq_uverbs_region_method {
	IB_COLLQ_METHOD_REGION_CREATE,
	IB_COLLQ_METHOD_REGION_DESTROY
};

enum ib_collq_uverbs_endpoint_method {
	IB_COLLQ_METHOD_ENDPOINT_CREATE,
	IB_COLLQ_METHOD_ENDPOINT_DESTROY
};

enum ib_collq_uverbs_counter_method {
	IB_COLLQ_METHOD_COUNTER_CREATE,
	IB_COLLQ_METHOD_COUNTER_DESTROY
};

enum ib_collq_uverbs_graph_method {
	IB_COLLQ_METHOD_GRAPH_CREATE,
	IB_COLLQ_METHOD_GRAPH_DESTROY
};

enum ib_collq_uverbs_queue_method {
	IB_COLLQ_METHOD_QUEUE_CREATE,
	IB_COLLQ_METHOD_QUEUE_DESTROY
};

enum ib_collq_uverbs_ring_method {
	IB_COLLQ_METHOD_RING_CREATE
};

enum ib_collq_uverbs_zone_method {
	IB_COLLQ_METHOD_ZONE_CREATE,
	IB_COLLQ_METHOD_ZONE_DESTROY
};

enum ib_collq_uverbs_target_method {
	IB_COLLQ_METHOD_TARGET_CREATE,
	IB_COLLQ_METHOD_TARGET_DESTROY
};

enum ib_collq_uverbs_attribute {
	IB_COLLQ_ATTR_HANDLE,	/* the object that is made or destroyed */
	IB_COLLQ_ATTR_CONTEXT,	/* the context that it's in */
	IB_COLLQ_ATTR_ARGUMENT,	/* the command's structure */
	IB_COLLQ_ATTR_PD,	/* of an endpoint with IB_COLLQ_ENDPOINT_PD */
	IB_COLLQ_ATTR_MR	/* of a region that is IB_COLLQ_REGION_MR */
};

#endif /* IB_COLLQ_UVERBS_H */
