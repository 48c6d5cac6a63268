/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * ib_collq: collectives carried out by the kernel over RDMA.
 *
 * This header and those it includes are the only definition of the ABI between
 * the module and user space, and of what endpoints say to each other. Include
 * this one.
 */
#ifndef IB_COLLQ_H
#define IB_COLLQ_H

#include <linux/types.h>
#include <linux/ioctl.h>

#include <rdma/ib_collq_describe.h>
#include <rdma/ib_collq_endpoint.h>
#include <rdma/ib_collq_memory.h>
#include <rdma/ib_collq_run.h>
#include <rdma/ib_collq_wire.h>

/**
 * DOC: General ioctl format
 *
 * A context is one open of ``/dev/infiniband/collqN``. Every object belongs to
 * the context that created it and is named by a 32-bit id that is never zero.
 * Every ioctl passes a structure whose first member is its size as the caller
 * knows it. A kernel that knows a longer one takes the missing members as
 * zero; a kernel that knows a shorter one insists that the rest be zero. The
 * structure is written back on success and on failure, so far as the caller's
 * size reaches.
 *
 * Many commands work on an array: they take a &struct ib_collq_batch that
 * points to entries, each of its own structure. A batch stops at the first
 * entry that fails and returns the number of entries done; the ioctl fails
 * only if that is none.
 *
 * Unless said otherwise a command may sleep, and can be interrupted by a fatal
 * signal while it waits for another command of the same context. Errors that
 * any command may give:
 *
 *  - ENOTTY: the command is unknown.
 *  - E2BIG: a member beyond what this kernel knows is not zero.
 *  - EOPNOTSUPP: the member is known, but this value of it isn't supported, or
 *    it has a flag that isn't.
 *  - EINVAL: malformed: the size is too small, a reserved member is not zero,
 *    a value is out of its range.
 *  - EFAULT: a pointer leads nowhere.
 *  - EBADF: there's no such descriptor. One that isn't an eventfd is EINVAL.
 *  - ENOENT: there's no such object, or it is of another type.
 *  - EBUSY: the object is named by another, or is in use.
 *  - ENOSPC: a limit that &struct ib_collq_query reports, or the rdma cgroup's,
 *    has been reached. open() may give it too.
 *  - ENOMEM: out of memory.
 *  - EINTR: a signal came first.
 *  - EPERM: the caller is not the process that opened the context, or has
 *    executed another program since.
 *  - ENODEV: the RDMA device is gone, and what was under way to the caller's memory
 *    with it. Only close() is of use then.
 *
 * Times are absolute, in nanoseconds of CLOCK_MONOTONIC; zero means never.
 */

#define IB_COLLQ_ABI_VERSION		1

#define IB_COLLQ_IOCTL_TYPE		0xC5

#define IB_COLLQ_QUERY			_IO(IB_COLLQ_IOCTL_TYPE, 0x00)
#define IB_COLLQ_OBJECT_DESCRIBE	_IO(IB_COLLQ_IOCTL_TYPE, 0x01)
#define IB_COLLQ_OBJECT_DESTROY		_IO(IB_COLLQ_IOCTL_TYPE, 0x02)
#define IB_COLLQ_OBJECT_RESET		_IO(IB_COLLQ_IOCTL_TYPE, 0x03)
#define IB_COLLQ_CONTEXT_DESCRIBE	_IO(IB_COLLQ_IOCTL_TYPE, 0x04)
#define IB_COLLQ_REGION_CREATE		_IO(IB_COLLQ_IOCTL_TYPE, 0x08)
#define IB_COLLQ_ZONE_OFFER		_IO(IB_COLLQ_IOCTL_TYPE, 0x09)
#define IB_COLLQ_TARGET_CREATE		_IO(IB_COLLQ_IOCTL_TYPE, 0x0a)
#define IB_COLLQ_ENDPOINT_CREATE	_IO(IB_COLLQ_IOCTL_TYPE, 0x10)
#define IB_COLLQ_ENDPOINT_CONNECT	_IO(IB_COLLQ_IOCTL_TYPE, 0x11)
#define IB_COLLQ_CAPACITY_RESERVE	_IO(IB_COLLQ_IOCTL_TYPE, 0x12)
#define IB_COLLQ_CAPACITY_RELEASE	_IO(IB_COLLQ_IOCTL_TYPE, 0x13)
#define IB_COLLQ_SLOT_BIND		_IO(IB_COLLQ_IOCTL_TYPE, 0x14)
#define IB_COLLQ_SLOT_UNBIND		_IO(IB_COLLQ_IOCTL_TYPE, 0x15)
#define IB_COLLQ_COUNTER_CREATE		_IO(IB_COLLQ_IOCTL_TYPE, 0x18)
#define IB_COLLQ_COUNTER_RAISE		_IO(IB_COLLQ_IOCTL_TYPE, 0x19)
#define IB_COLLQ_COUNTER_READ		_IO(IB_COLLQ_IOCTL_TYPE, 0x1a)
#define IB_COLLQ_RING_CREATE		_IO(IB_COLLQ_IOCTL_TYPE, 0x20)
#define IB_COLLQ_QUEUE_CREATE		_IO(IB_COLLQ_IOCTL_TYPE, 0x21)
#define IB_COLLQ_GRAPH_CREATE		_IO(IB_COLLQ_IOCTL_TYPE, 0x22)
#define IB_COLLQ_QUEUE_SUBMIT		_IO(IB_COLLQ_IOCTL_TYPE, 0x28)
#define IB_COLLQ_QUEUE_WAIT		_IO(IB_COLLQ_IOCTL_TYPE, 0x29)
#define IB_COLLQ_QUEUE_SUBMIT_WAIT	_IO(IB_COLLQ_IOCTL_TYPE, 0x2a)
#define IB_COLLQ_QUEUE_CANCEL		_IO(IB_COLLQ_IOCTL_TYPE, 0x2b)

/* Types of objects */
#define IB_COLLQ_OBJECT_ANY		0
#define IB_COLLQ_OBJECT_REGION		1
#define IB_COLLQ_OBJECT_ENDPOINT	2
#define IB_COLLQ_OBJECT_COUNTER		3
#define IB_COLLQ_OBJECT_GRAPH		4
#define IB_COLLQ_OBJECT_QUEUE		5
#define IB_COLLQ_OBJECT_RING		6
#define IB_COLLQ_OBJECT_ZONE		7
#define IB_COLLQ_OBJECT_TARGET		8

/* Bits of ib_collq_query.features: what this kernel and device can do */
#define IB_COLLQ_FEATURE_SIGNAL		(1ULL << 0)	/* signal endpoints */
#define IB_COLLQ_FEATURE_MESSAGE	(1ULL << 1)	/* message endpoints */
#define IB_COLLQ_FEATURE_REGION		(1ULL << 2)	/* regions, data in tasks */
#define IB_COLLQ_FEATURE_ZONE		(1ULL << 3)	/* landing zones, WRITE */
#define IB_COLLQ_FEATURE_CALC		(1ULL << 4)	/* COPY and CALC */
#define IB_COLLQ_FEATURE_RESET		(1ULL << 5)	/* reset */
#define IB_COLLQ_FEATURE_PROBE		(1ULL << 6)	/* probe intervals */
#define IB_COLLQ_FEATURE_LOCAL		(1ULL << 7)	/* local endpoints */
#define IB_COLLQ_FEATURE_OFFLOAD	(1ULL << 8)	/* the adapter waits by itself */
#define IB_COLLQ_FEATURE_QUIET		(1ULL << 9)	/* successes that the ring isn't told */
#define IB_COLLQ_FEATURE_GAPS		(1ULL << 10)	/* lists of any parts under one key */

/**
 * struct ib_collq_query - ioctl(IB_COLLQ_QUERY)
 * @size: sizeof(struct ib_collq_query)
 * @flags: must be 0
 * @abi_version: IB_COLLQ_ABI_VERSION of the module
 * @protocol_version: IB_COLLQ_PROTOCOL_VERSION of the module
 * @features: IB_COLLQ_FEATURE_* bits
 * @max_message: longest message in bytes; 0 without IB_COLLQ_FEATURE_REGION
 * @max_objects: objects of all types in a context
 * @max_endpoints: endpoints in a context
 * @max_capacity: largest send or receive capacity of an endpoint, in messages
 * @max_slots: signal slots, and abort slots, of an endpoint
 * @max_tasks: tasks of a graph
 * @max_sges: entries of a graph's scatter/gather table
 * @max_send_sge: scatter/gather entries of one SEND or WRITE
 * @max_recv_sge: scatter/gather entries of one RECV
 * @max_buffers: buffer slots of a graph
 * @max_queue_depth: unfinished submissions of a queue
 * @max_queue_endpoints: endpoints that a queue lists
 * @max_ring_entries: entries of a ring
 * @max_batch: entries of a batch
 * @nr_ports: ports of the device, numbered from 1
 * @instance: the module instance: drawn at random when the module is loaded
 * @device: name of the RDMA device, terminated by a NUL
 * @max_region: bytes of a region
 * @max_zone: bytes of a landing zone
 * @max_zones: landing zones of a context
 * @region_part: bytes of a region that one scatter/gather entry of the device's can name,
 *	if its memory isn't contiguous for the device: an entry of a graph's that crosses
 *	a border of such a part, counted from the page that the region begins in, takes two
 * @max_list_pages: pages that the parts of an IB_COLLQ_REGION_LIST can touch, one that two
 *	of them touch counted twice; 0 if the device can't have any
 * @max_lists: such regions of a context
 *
 * What the module and the device can do. The limits are enforced; what goes
 * beyond one is refused with -ENOSPC (numbers of objects) or -EINVAL (sizes).
 */
struct ib_collq_query {
	__u32 size;
	__u32 flags;
	__u32 abi_version;
	__u32 protocol_version;
	__aligned_u64 features;
	__aligned_u64 max_message;
	__u32 max_objects;
	__u32 max_endpoints;
	__u32 max_capacity;
	__u32 max_slots;
	__u32 max_tasks;
	__u32 max_sges;
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 max_buffers;
	__u32 max_queue_depth;
	__u32 max_queue_endpoints;
	__u32 max_ring_entries;
	__u32 max_batch;
	__u32 nr_ports;
	__u8 instance[16];
	__u8 device[64];
	__aligned_u64 max_region;
	__aligned_u64 max_zone;
	__u32 max_zones;
	__u32 region_part;
	__u32 max_list_pages;
	__u32 max_lists;
};

/**
 * struct ib_collq_batch - a command on an array of entries
 * @size: sizeof(struct ib_collq_batch)
 * @flags: must be 0
 * @nr: number of entries, 1..max_batch
 * @entry_size: size of one entry as the caller knows it
 * @entries: pointer to the entries
 * @error: out: 0, or the negative errno of the entry that stopped the batch
 * @__reserved: must be 0
 *
 * Used by IB_COLLQ_OBJECT_DESTROY, ENDPOINT_CREATE, ENDPOINT_CONNECT,
 * CAPACITY_RESERVE, CAPACITY_RELEASE, SLOT_BIND, SLOT_UNBIND and
 * COUNTER_CREATE. Entries follow the same rule of sizes as the structures do,
 * and each is written back when it is done. Returns the number of entries
 * done, or the errno of the first one if none was.
 */
struct ib_collq_batch {
	__u32 size;
	__u32 flags;
	__u32 nr;
	__u32 entry_size;
	__aligned_u64 entries;
	__s32 error;
	__u32 __reserved;
};

/**
 * struct ib_collq_object_destroy - entry of ioctl(IB_COLLQ_OBJECT_DESTROY)
 * @id: the object
 * @type: IB_COLLQ_OBJECT_*; IB_COLLQ_OBJECT_ANY for whatever it is
 *
 * -EBUSY if another object names this one or a graph that is running uses it, or
 * if a landing zone lies in a region or a message that is under way may still touch
 * it; that of an endpoint that lingers too. A queue is the exception: its submissions
 * are cancelled first, as by IB_COLLQ_QUEUE_CANCEL. Returns at once for an endpoint
 * too, though the kernel may go on for some time to see its last messages delivered.
 */
struct ib_collq_object_destroy {
	__u32 id;
	__u32 type;
};

/**
 * struct ib_collq_object_reset - ioctl(IB_COLLQ_OBJECT_RESET)
 * @size: sizeof(struct ib_collq_object_reset)
 * @flags: must be 0
 * @id: a queue, or an endpoint
 * @__reserved: must be 0
 * @address: out, for an endpoint: its new address
 *
 * Makes what has failed usable again; graphs, bindings, reservations and ids
 * stay. -EOPNOTSUPP without IB_COLLQ_FEATURE_RESET; -EINVAL for other objects.
 *
 * A queue forgets its failure and takes submissions again; sequence numbers go
 * on. -EBUSY as long as one is unfinished: cancel it first.
 *
 * An endpoint gets a new queue pair and a new address, and can be connected
 * again. If it was connected, the peer is told as when it is destroyed, but
 * not for longer than 100 ms. Its counters forget what came and was not
 * waited for, and their error. -EBUSY while a submitted graph waits for one of
 * them, or for a free slot of the endpoint. Reset both ends, and the queues
 * that list them, before a graph runs there again; a signal endpoint before its
 * message endpoints, for which this gives the error of the signal endpoint. Its
 * landing zones and targets are stale then, and have to be made anew.
 */
struct ib_collq_object_reset {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 __reserved;
	__u8 address[IB_COLLQ_ADDRESS_SIZE];
};

#endif /* IB_COLLQ_H */
