/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * ib_collq: describing objects. Part of ib_collq.h, which has the general rules.
 */
#ifndef IB_COLLQ_DESCRIBE_H
#define IB_COLLQ_DESCRIBE_H

#include <linux/types.h>

#include <rdma/ib_collq_endpoint.h>
#include <rdma/ib_collq_memory.h>
#include <rdma/ib_collq_run.h>

/* Flags of both ways to describe */
#define IB_COLLQ_DESCRIBE_NEXT		(1U << 0)	/* this id, or the next */
#define IB_COLLQ_DESCRIBE_SGES		(1U << 1)	/* graph: sges, not tasks */

/**
 * struct ib_collq_object_describe - ioctl(IB_COLLQ_OBJECT_DESCRIBE)
 * @size: sizeof(struct ib_collq_object_describe)
 * @flags: IB_COLLQ_DESCRIBE_* bits
 * @id: the object. With IB_COLLQ_DESCRIBE_NEXT in and out: the first object
 *	that has this id or a higher one
 * @type: out: IB_COLLQ_OBJECT_*
 * @info: pointer to where to write &struct ib_collq_endpoint_info,
 *	&struct ib_collq_counter_info, &struct ib_collq_graph_info,
 *	&struct ib_collq_queue_info, &struct ib_collq_ring_info,
 *	&struct ib_collq_region_info, &struct ib_collq_zone_info or
 *	&struct ib_collq_target_info; may be 0
 * @info_size: in: room there in bytes; out: size of the whole structure
 * @entry_size: in: room for one entry; out: size of an entry
 * @entries: pointer to where to write the object's table: an endpoint's slots
 *	(&struct ib_collq_slot_bind), a queue's endpoints
 *	(&struct ib_collq_queue_endpoint), a graph's tasks (&struct ib_collq_task)
 *	or, with IB_COLLQ_DESCRIBE_SGES, its &struct ib_collq_sge, the parts of a
 *	region that is a list (&struct ib_collq_sge); may be 0
 * @nr: in: room in number of entries; out: number of entries of the table
 * @context: 0 for the caller's own context, or another one of the device that
 *	IB_COLLQ_CONTEXT_DESCRIBE has found, else -ENOENT
 *
 * All that it takes to make the object again, and its state. What doesn't fit
 * is cut off. -EBUSY if calls of another context's process keep its objects from sight
 * for a second.
 */
struct ib_collq_object_describe {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 type;
	__aligned_u64 info;
	__u32 info_size;
	__u32 entry_size;
	__aligned_u64 entries;
	__u32 nr;
	__u32 context;
};

/**
 * struct ib_collq_context_describe - ioctl(IB_COLLQ_CONTEXT_DESCRIBE)
 * @size: sizeof(struct ib_collq_context_describe)
 * @flags: IB_COLLQ_DESCRIBE_NEXT, or 0
 * @id: the context, 0 for the caller's own. With IB_COLLQ_DESCRIBE_NEXT in and
 *	out: the first one that has this id or a higher one
 * @nr_objects: out: its objects
 * @pid: out: the process that opened it, as the caller's PID namespace has it; 0
 *	if it isn't there
 * @uid: out: the user who opened it, as the caller's user namespace has it
 * @created: out: when it was opened
 * @comm: out: name of the program at that time, terminated by a NUL
 *
 * Finds the contexts of the device. A caller sees those that its own effective
 * user opened in its PID namespace or one below, and all with CAP_SYS_ADMIN;
 * -ENOENT for others.
 */
struct ib_collq_context_describe {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 nr_objects;
	__u32 pid;
	__u32 uid;
	__aligned_u64 created;
	__u8 comm[16];
};

/* States of an endpoint */
#define IB_COLLQ_ENDPOINT_NEW		1	/* not connected */
#define IB_COLLQ_ENDPOINT_CONNECTED	2
#define IB_COLLQ_ENDPOINT_PEER_CLOSED	3	/* the peer said CLOSE */
#define IB_COLLQ_ENDPOINT_ERROR		4	/* see error */
#define IB_COLLQ_ENDPOINT_CLOSED	5	/* destroyed, or lingering */

/**
 * struct ib_collq_endpoint_info - what describe tells of an endpoint
 * @create: as created, with its id and address
 * @peer_address: the peer's address as connected, or zeros
 * @state: IB_COLLQ_ENDPOINT_*
 * @error: 0, or the negative errno that the endpoint gives
 * @reserved_recvs: messages reserved of recv_capacity
 * @nr_slots: slots bound
 * @sends: messages posted
 * @sends_done: messages known to have arrived
 * @messages: messages received
 * @dropped: signals and ABORTs dropped: slot not bound, or another generation;
 *	messages that make no sense
 * @local_sends: messages that went to a local peer, which @sends doesn't count
 * @local_messages: messages that came from one, which @messages doesn't count
 * @is_local: 1 if the peer is local, else 0
 * @probes: how many of @sends only asked whether the peer is there
 */
struct ib_collq_endpoint_info {
	struct ib_collq_endpoint_create create;
	__u8 peer_address[IB_COLLQ_ADDRESS_SIZE];
	__u32 state;
	__s32 error;
	__u32 reserved_recvs;
	__u32 nr_slots;
	__aligned_u64 sends;
	__aligned_u64 sends_done;
	__aligned_u64 messages;
	__aligned_u64 dropped;
	__aligned_u64 local_sends;
	__aligned_u64 local_messages;
	__u32 is_local;
	__u32 probes;
};

/**
 * struct ib_collq_counter_info - what describe tells of a counter
 * @create: as created, with its id
 * @raised: as in &struct ib_collq_counter_read
 * @consumed: the same
 * @error: the same
 * @bound_endpoint: with IB_COLLQ_SOURCE_SIGNAL: the endpoint it's bound to, or 0
 * @bound_slot: and the slot
 * @bound_generation: and its generation
 * @__reserved: 0
 */
struct ib_collq_counter_info {
	struct ib_collq_counter_create create;
	__aligned_u64 raised;
	__aligned_u64 consumed;
	__s32 error;
	__u32 bound_endpoint;
	__u16 bound_slot;
	__u16 bound_generation;
	__u32 __reserved;
};

/**
 * struct ib_collq_graph_info - what describe tells of a graph
 * @id: the graph
 * @nr_tasks: tasks
 * @nr_sges: entries of the scatter/gather table
 * @nr_buffers: buffer slots
 * @submissions: unfinished submissions
 * @__reserved: 0
 */
struct ib_collq_graph_info {
	__u32 id;
	__u32 nr_tasks;
	__u32 nr_sges;
	__u32 nr_buffers;
	__u32 submissions;
	__u32 __reserved;
};

/* States of a queue */
#define IB_COLLQ_QUEUE_IDLE		1	/* nothing to do */
#define IB_COLLQ_QUEUE_RUNNING		2	/* between two tasks */
#define IB_COLLQ_QUEUE_WAITING		3	/* in a WAIT that isn't satisfied */
#define IB_COLLQ_QUEUE_BLOCKED		4	/* the send or receive queue is full */
#define IB_COLLQ_QUEUE_FAILED		5	/* see error */

/**
 * struct ib_collq_queue_info - what describe tells of a queue
 * @id: the queue
 * @ring: as created
 * @depth: as created
 * @nr_endpoints: as created
 * @state: IB_COLLQ_QUEUE_*
 * @error: 0, or the negative errno of the first failure
 * @graph: the graph that runs, or 0
 * @task: index of its current task, or IB_COLLQ_NO_TASK
 * @label: label of @task
 * @object: what @task is about: a counter for WAIT, else an endpoint
 * @since: when the current state began
 * @submitted: submissions so far
 * @completed: completions so far
 * @copied: bytes that the CPU has copied in COPY tasks
 * @sges: scatter/gather entries that were posted to the device, after those that
 *	are neighbours were put together
 */
struct ib_collq_queue_info {
	__u32 id;
	__u32 ring;
	__u32 depth;
	__u32 nr_endpoints;
	__u32 state;
	__s32 error;
	__u32 graph;
	__u32 task;
	__u32 label;
	__u32 object;
	__aligned_u64 since;
	__aligned_u64 submitted;
	__aligned_u64 completed;
	__aligned_u64 copied;
	__aligned_u64 sges;
};

/**
 * struct ib_collq_ring_info - what describe tells of a ring
 * @create: as created, with its id
 * @reserved: entries promised to unfinished submissions
 * @unread: entries written and not read yet
 */
struct ib_collq_ring_info {
	struct ib_collq_ring_create create;
	__u32 reserved;
	__u32 unread;
};

/**
 * struct ib_collq_region_info - what describe tells of a region
 * @create: as created, with its id; of a list without the address
 * @stale: 1 if its memory is known to be gone, else 0
 * @uses: unfinished submissions that it is bound to, messages under way that may
 *	touch it after those have ended, landing zones, and lists that it's in
 * @registrations: parts that had to be registered with the device, since they
 *	aren't contiguous for it; 0 if there's no need, and 1 for a list
 * @__reserved: 0
 * @pages: pages that are pinned and charged
 */
struct ib_collq_region_info {
	struct ib_collq_region_create create;
	__u32 stale;
	__u32 uses;
	__u32 registrations;
	__u32 __reserved;
	__aligned_u64 pages;
};

/**
 * struct ib_collq_zone_info - what describe tells of a landing zone
 * @create: as offered, with its id and name
 * @stale: 1 if the endpoint was reset, else 0
 * @__reserved: 0
 */
struct ib_collq_zone_info {
	struct ib_collq_zone_offer create;
	__u32 stale;
	__u32 __reserved;
};

/**
 * struct ib_collq_target_info - what describe tells of a target
 * @create: as created, with its id
 * @stale: 1 if the endpoint was reset, else 0
 * @__reserved: 0
 */
struct ib_collq_target_info {
	struct ib_collq_target_create create;
	__u32 stale;
	__u32 __reserved;
};

#endif /* IB_COLLQ_DESCRIBE_H */
