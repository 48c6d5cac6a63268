/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * ib_collq: collectives carried out by the kernel over RDMA.
 *
 * This header is the only definition of the ABI between the module and user
 * space, and of what endpoints say to each other on the wire.
 */
#ifndef IB_COLLQ_H
#define IB_COLLQ_H

#include <linux/types.h>
#include <linux/ioctl.h>

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
 *  - ENOENT: there's no such object, or it is of another type.
 *  - EBUSY: the object is named by another, or is in use.
 *  - ENOSPC: a limit that &struct ib_collq_query reports has been reached.
 *  - ENOMEM: out of memory.
 *  - EINTR: a signal came first.
 *  - EPERM: the caller is not the process that opened the context, or has
 *    executed another program since.
 *  - ENODEV: the RDMA device is gone. Only close() is of use then.
 *
 * Times are absolute, in nanoseconds of CLOCK_MONOTONIC; zero means never.
 */

#define IB_COLLQ_ABI_VERSION		1
#define IB_COLLQ_PROTOCOL_VERSION	1

#define IB_COLLQ_IOCTL_TYPE		0xC5

#define IB_COLLQ_QUERY			_IO(IB_COLLQ_IOCTL_TYPE, 0x00)
#define IB_COLLQ_OBJECT_DESCRIBE	_IO(IB_COLLQ_IOCTL_TYPE, 0x01)
#define IB_COLLQ_OBJECT_DESTROY		_IO(IB_COLLQ_IOCTL_TYPE, 0x02)
#define IB_COLLQ_OBJECT_RESET		_IO(IB_COLLQ_IOCTL_TYPE, 0x03)
#define IB_COLLQ_REGION_CREATE		_IO(IB_COLLQ_IOCTL_TYPE, 0x08)
#define IB_COLLQ_ZONE_OFFER		_IO(IB_COLLQ_IOCTL_TYPE, 0x09)
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
 * -EBUSY if another object names this one or a graph that is running uses it.
 * A queue is the exception: its submissions are cancelled first, as by
 * IB_COLLQ_QUEUE_CANCEL. Returns at once for an endpoint too, though the
 * kernel may go on for some time to see its last messages delivered.
 */
struct ib_collq_object_destroy {
	__u32 id;
	__u32 type;
};

/* Length of an endpoint's address */
#define IB_COLLQ_ADDRESS_SIZE		128

/* Kinds of endpoints */
#define IB_COLLQ_ENDPOINT_SIGNAL	1
#define IB_COLLQ_ENDPOINT_MESSAGE	2

/* Capability bits of an address: what its owner understands on the wire */
#define IB_COLLQ_CAP_ABORT		(1U << 0)
#define IB_COLLQ_CAP_CLOSE		(1U << 1)

/* Link layers of an address */
#define IB_COLLQ_LINK_INFINIBAND	1
#define IB_COLLQ_LINK_ETHERNET		2

/**
 * struct ib_collq_address - where an endpoint can be reached
 * @version: IB_COLLQ_PROTOCOL_VERSION
 * @kind: IB_COLLQ_ENDPOINT_*
 * @link_layer: IB_COLLQ_LINK_*
 * @capabilities: IB_COLLQ_CAP_* bits; bits unknown to the reader are ignored
 * @gid: the port's GID, in network order
 * @qpn: queue pair number, 24 bits
 * @psn: start packet sequence number, 24 bits, drawn at random
 * @lid: local identifier, or 0 on Ethernet
 * @pkey: partition key
 * @mtu: path MTU as IB_MTU_*: 1 = 256 bytes to 5 = 4096
 * @__reserved0: must be 0
 * @device: the device's node GUID
 * @netns: network namespace cookie; compared under the same @instance only
 * @instance: the module instance of the owner
 * @nonce: the endpoint, drawn at random
 * @__reserved1: must be 0
 *
 * All numbers are little-endian: an address is passed on byte by byte. It
 * comes from the network and from user space, so nothing in it is trusted: a
 * malformed one is refused, and a false one gives a transport error.
 */
struct ib_collq_address {
	__le16 version;
	__u8 kind;
	__u8 link_layer;
	__le32 capabilities;
	__u8 gid[16];
	__le32 qpn;
	__le32 psn;
	__le16 lid;
	__le16 pkey;
	__u8 mtu;
	__u8 __reserved0[3];
	__le64 device;
	__le64 netns;
	__u8 instance[16];
	__u8 nonce[16];
	__u8 __reserved1[40];
};

/**
 * struct ib_collq_endpoint_create - entry of ioctl(IB_COLLQ_ENDPOINT_CREATE)
 * @kind: IB_COLLQ_ENDPOINT_SIGNAL or IB_COLLQ_ENDPOINT_MESSAGE
 * @flags: must be 0
 * @peer: rank of the peer; only reported back, in completions and describe
 * @signal_endpoint: for a message endpoint, the signal endpoint to the same
 *	peer, on which CLOSE and ABORT travel; 0 otherwise
 * @port: port of the device, from 1
 * @gid_index: index into the port's GID table. The GID's network device must
 *	be in the network namespace of the caller, else -EACCES
 * @pkey_index: index into the port's P_Key table
 * @sl: service level, 0..15
 * @traffic_class: traffic class; the DSCP on RoCE
 * @mtu: path MTU as IB_MTU_*, 1..5; 0 for what the port has active
 * @timeout: local ACK timeout, 4.096 us x 2^timeout, 1..31
 * @retry_cnt: transport retries, 0..6
 * @rnr_retry: retries after receiver-not-ready, 0..7; 7 is for ever
 * @probe_ms: must be 0, else -EOPNOTSUPP without IB_COLLQ_FEATURE_PROBE
 * @send_capacity: messages under way at a time, 1..max_capacity
 * @recv_capacity: messages that may arrive before they are waited for,
 *	1..max_capacity
 * @max_send_sge: scatter/gather entries of a SEND; 0 on a signal endpoint
 * @max_recv_sge: scatter/gather entries of a RECV; 0 on a signal endpoint
 * @id: out: the endpoint
 * @__reserved: must be 0
 * @address: out: a &struct ib_collq_address to give to the peer
 *
 * Makes an endpoint: one reliable connection to one peer, not connected yet.
 * Signal endpoints carry zero-length messages that each raise a counter at the
 * peer; one serves any number of collectives. Message endpoints carry SEND and
 * RECV, matched in order, and belong to one collective.
 */
struct ib_collq_endpoint_create {
	__u32 kind;
	__u32 flags;
	__u32 peer;
	__u32 signal_endpoint;
	__u32 port;
	__u32 gid_index;
	__u16 pkey_index;
	__u8 sl;
	__u8 traffic_class;
	__u8 mtu;
	__u8 timeout;
	__u8 retry_cnt;
	__u8 rnr_retry;
	__u32 probe_ms;
	__u32 send_capacity;
	__u32 recv_capacity;
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 id;
	__u32 __reserved[2];
	__u8 address[IB_COLLQ_ADDRESS_SIZE];
};

/**
 * struct ib_collq_endpoint_connect - entry of ioctl(IB_COLLQ_ENDPOINT_CONNECT)
 * @endpoint: the endpoint
 * @flags: must be 0
 * @address: the &struct ib_collq_address of the peer's endpoint
 *
 * -EINVAL if the address is malformed or of another kind, -EBUSY if the
 * endpoint is connected already, -ETIMEDOUT if the peer's host can't be
 * resolved within a second. A well-formed address that is false shows as a
 * transport error within detection time. Receives are posted by the time that
 * this returns.
 */
struct ib_collq_endpoint_connect {
	__u32 endpoint;
	__u32 flags;
	__u8 address[IB_COLLQ_ADDRESS_SIZE];
};

/**
 * struct ib_collq_capacity - entry of ioctl(IB_COLLQ_CAPACITY_RESERVE) and
 *	ioctl(IB_COLLQ_CAPACITY_RELEASE)
 * @endpoint: a signal endpoint
 * @recvs: messages to reserve or to release, at least 1
 *
 * Reserves room for messages that can be under way to this endpoint before
 * they are waited for, so that none ever finds no receive posted: twice what a
 * collective sends here in one run. -ENOSPC if the endpoint's recv_capacity is
 * not enough: open another one. Releasing more than is reserved is -EINVAL.
 */
struct ib_collq_capacity {
	__u32 endpoint;
	__u32 recvs;
};

/**
 * struct ib_collq_slot_bind - entry of ioctl(IB_COLLQ_SLOT_BIND) and
 *	ioctl(IB_COLLQ_SLOT_UNBIND)
 * @endpoint: a signal endpoint
 * @slot: slot of the endpoint, 0..max_slots - 1
 * @generation: generation of this binding
 * @counter: a counter with source IB_COLLQ_SOURCE_SIGNAL, not bound anywhere;
 *	must be 0 to unbind
 *
 * Binds a slot to a counter: a signal that arrives here with this slot and
 * generation raises the counter by one. Any other is dropped and counted. -EBUSY
 * if the slot or the counter is bound. To unbind, the generation must be that
 * of the binding (-ENOENT otherwise), and -EBUSY while a running graph may
 * wait for the counter.
 */
struct ib_collq_slot_bind {
	__u32 endpoint;
	__u16 slot;
	__u16 generation;
	__u32 counter;
};

/* What raises a counter */
#define IB_COLLQ_SOURCE_USER		1	/* ioctl(IB_COLLQ_COUNTER_RAISE) */
#define IB_COLLQ_SOURCE_EVENTFD		2	/* writes to an eventfd */
#define IB_COLLQ_SOURCE_SENDS		3	/* sends of an endpoint are done */
#define IB_COLLQ_SOURCE_MESSAGES	4	/* RECVs of an endpoint are done */
#define IB_COLLQ_SOURCE_SIGNAL		5	/* signals in a slot it's bound to */

/**
 * struct ib_collq_counter_create - entry of ioctl(IB_COLLQ_COUNTER_CREATE)
 * @source: IB_COLLQ_SOURCE_*
 * @flags: must be 0
 * @endpoint: the endpoint for IB_COLLQ_SOURCE_SENDS and IB_COLLQ_SOURCE_MESSAGES
 *	(a message endpoint), else 0. An endpoint has one counter of each of these
 *	at most, else -EBUSY
 * @eventfd: the descriptor for IB_COLLQ_SOURCE_EVENTFD, else 0. The kernel
 *	takes what is written to it; the caller may close it
 * @value: initial count
 * @id: out: the counter
 * @__reserved: must be 0
 *
 * A counter counts completions of one source; a WAIT task consumes them.
 */
struct ib_collq_counter_create {
	__u32 source;
	__u32 flags;
	__u32 endpoint;
	__s32 eventfd;
	__aligned_u64 value;
	__u32 id;
	__u32 __reserved;
};

/**
 * struct ib_collq_counter_raise - ioctl(IB_COLLQ_COUNTER_RAISE)
 * @size: sizeof(struct ib_collq_counter_raise)
 * @flags: must be 0
 * @counter: a counter with source IB_COLLQ_SOURCE_USER, else -EINVAL
 * @__reserved: must be 0
 * @count: how much to add, at least 1; -EOVERFLOW if the count would wrap
 */
struct ib_collq_counter_raise {
	__u32 size;
	__u32 flags;
	__u32 counter;
	__u32 __reserved;
	__aligned_u64 count;
};

/**
 * struct ib_collq_counter_read - ioctl(IB_COLLQ_COUNTER_READ)
 * @size: sizeof(struct ib_collq_counter_read)
 * @flags: must be 0
 * @counter: any counter
 * @error: out: 0, or the negative errno with which a WAIT that is short of its
 *	count fails, because the endpoint behind this counter is closed
 * @raised: out: all that was ever counted, the initial value included
 * @consumed: out: how much of it WAIT tasks have consumed
 */
struct ib_collq_counter_read {
	__u32 size;
	__u32 flags;
	__u32 counter;
	__s32 error;
	__aligned_u64 raised;
	__aligned_u64 consumed;
};

/**
 * struct ib_collq_ring_create - ioctl(IB_COLLQ_RING_CREATE)
 * @size: sizeof(struct ib_collq_ring_create)
 * @flags: must be 0
 * @entries: number of entries, a power of two, 1..max_ring_entries
 * @eventfd: an eventfd to signal at each completion, or -1
 * @id: out: the ring
 * @entry_size: out: size of a &struct ib_collq_completion in this ring
 * @mmap_offset: out: the offset to mmap() on the context's descriptor
 * @mmap_size: out: how many bytes to map, MAP_SHARED, for reading and writing
 * @entries_offset: out: where in the mapping the entries start; before them
 *	lies a &struct ib_collq_ring_header
 * @__reserved: must be 0
 *
 * Makes a ring for the completions of any number of queues. poll() on the
 * context's descriptor reports POLLIN while one of its rings has entries.
 */
struct ib_collq_ring_create {
	__u32 size;
	__u32 flags;
	__u32 entries;
	__s32 eventfd;
	__u32 id;
	__u32 entry_size;
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;
	__u32 entries_offset;
	__u32 __reserved;
};

/**
 * struct ib_collq_ring_header - what user space shares with the kernel
 * @tail: entries that the kernel has written, modulo 2^32. The kernel
 *	store-releases it after the entry; load-acquire it before reading one
 * @__pad0: keeps the two apart
 * @head: entries that user space has read, modulo 2^32. Store-release it after
 *	reading; the kernel load-acquires it. The kernel doesn't trust it
 * @__pad1: keeps the header a multiple of two cache lines
 *
 * Entry number i is at index i modulo the number of entries.
 */
struct ib_collq_ring_header {
	__u32 tail;
	__u32 __pad0[31];
	__u32 head;
	__u32 __pad1[31];
};

/* Values of ib_collq_completion.task and .endpoint that name nothing */
#define IB_COLLQ_NO_TASK		0xffffffffU
#define IB_COLLQ_NO_OBJECT		0U

/**
 * struct ib_collq_completion - an entry of a ring
 * @user_data: as given at submit
 * @sequence: number of the submission in its queue
 * @status: 0, or why the graph failed: -ECONNRESET (the peer has closed, or the
 *	endpoint was), -EHOSTUNREACH (retries exhausted), -EREMOTEIO (error
 *	at the peer), -ENOTCONN (the endpoint isn't connected yet), -ENETDOWN (error of the local port or queue pair),
 *	-ETIMEDOUT (the deadline passed), -ECANCELED, -ENODEV (the device is
 *	gone); or the one of these that the sender of an ABORT gave
 * @queue: the queue
 * @task: index of the task that failed or was running, else IB_COLLQ_NO_TASK
 * @endpoint: the endpoint that failed or brought the ABORT, else
 *	IB_COLLQ_NO_OBJECT
 * @label: label of @task
 * @peer: peer of @endpoint
 * @__reserved: 0
 */
struct ib_collq_completion {
	__aligned_u64 user_data;
	__aligned_u64 sequence;
	__s32 status;
	__u32 queue;
	__u32 task;
	__u32 endpoint;
	__u32 label;
	__u32 peer;
	__u32 __reserved[6];
};

/**
 * struct ib_collq_queue_endpoint - where a queue sends and hears ABORT
 * @endpoint: a signal endpoint
 * @abort_slot: abort slot of the endpoint that is this queue's, 0..max_slots - 1
 * @abort_generation: generation of this binding
 * @__reserved0: must be 0
 * @peer_abort_slot: the slot of the peer's queue
 * @peer_abort_generation: its generation
 * @__reserved1: must be 0
 */
struct ib_collq_queue_endpoint {
	__u32 endpoint;
	__u16 abort_slot;
	__u8 abort_generation;
	__u8 __reserved0;
	__u16 peer_abort_slot;
	__u8 peer_abort_generation;
	__u8 __reserved1;
};

/**
 * struct ib_collq_queue_create - ioctl(IB_COLLQ_QUEUE_CREATE)
 * @size: sizeof(struct ib_collq_queue_create)
 * @flags: must be 0
 * @ring: the ring that gets the completions
 * @depth: unfinished submissions at a time, 1..max_queue_depth
 * @nr_endpoints: number of @endpoints, 0..max_queue_endpoints
 * @entry_size: sizeof(struct ib_collq_queue_endpoint)
 * @endpoints: pointer to an array of &struct ib_collq_queue_endpoint: where a
 *	failure of this queue is announced, and whose ABORT fails its graph.
 *	-EBUSY if an abort slot is taken
 * @id: out: the queue
 * @__reserved: must be 0
 *
 * A queue runs the graphs that are submitted to it one after the other. Use
 * one for each persistent operation: ranks that start two operations in
 * different order would wait for each other for ever in a single queue.
 *
 * When a graph of a queue fails, the queue announces it on all its endpoints,
 * everything submitted behind it fails with -ECANCELED, and later submissions
 * get the error of the first failure.
 */
struct ib_collq_queue_create {
	__u32 size;
	__u32 flags;
	__u32 ring;
	__u32 depth;
	__u32 nr_endpoints;
	__u32 entry_size;
	__aligned_u64 endpoints;
	__u32 id;
	__u32 __reserved;
};

/* Operations of tasks */
#define IB_COLLQ_TASK_SEND		1
#define IB_COLLQ_TASK_RECV		2
#define IB_COLLQ_TASK_WAIT		3
#define IB_COLLQ_TASK_WRITE		4
#define IB_COLLQ_TASK_COPY		5
#define IB_COLLQ_TASK_CALC		6

/* ib_collq_task.flags */
#define IB_COLLQ_TASK_SIGNAL		(1U << 0)	/* carries a signal */

/* ib_collq_task.calc_op and .calc_type */
#define IB_COLLQ_CALC_ADD		1
#define IB_COLLQ_CALC_MIN		2
#define IB_COLLQ_CALC_MAX		3
#define IB_COLLQ_CALC_AND		4
#define IB_COLLQ_CALC_OR		5
#define IB_COLLQ_CALC_XOR		6
#define IB_COLLQ_CALC_MINLOC		7
#define IB_COLLQ_CALC_MAXLOC		8
#define IB_COLLQ_TYPE_S32		1
#define IB_COLLQ_TYPE_U32		2
#define IB_COLLQ_TYPE_S64		3
#define IB_COLLQ_TYPE_U64		4

/**
 * struct ib_collq_task - one step of a graph
 * @opcode: IB_COLLQ_TASK_*
 * @flags: IB_COLLQ_TASK_SIGNAL
 * @label: anything, such as the round; only reported back
 * @object: the endpoint of SEND, RECV and WRITE; the counter of WAIT
 * @count: WAIT: how many completions to consume, at least 1; else 0
 * @signal_slot: with IB_COLLQ_TASK_SIGNAL: the slot at the peer; else 0
 * @signal_generation: with IB_COLLQ_TASK_SIGNAL: its generation; else 0
 * @zone: WRITE: the landing zone; else 0
 * @zone_offset: WRITE: offset into it; else 0
 * @sge_first: first entry of the list to send, receive into, or read from
 * @sge_count: number of entries, 0 for a message without data
 * @dst_first: COPY and CALC: first entry of the list to write to; else 0
 * @dst_count: COPY and CALC: number of entries; else 0
 * @calc_op: CALC: IB_COLLQ_CALC_*; else 0
 * @calc_type: CALC: IB_COLLQ_TYPE_*; else 0
 * @__reserved: must be 0
 *
 * SEND on a signal endpoint must carry a signal and no data; SEND on a message
 * endpoint carries none. A SEND is started in the order of the tasks and isn't
 * waited for; where the send capacity is used up, the graph pauses until some
 * come back. RECV posts a receive. WAIT holds the graph until the counter has
 * @count, and takes that much from it; it fails if the counter is short and
 * the endpoint behind it is closed. WRITE, COPY and CALC, and data in SEND and
 * RECV, need IB_COLLQ_FEATURE_REGION, _ZONE and _CALC.
 */
struct ib_collq_task {
	__u32 opcode;
	__u32 flags;
	__u32 label;
	__u32 object;
	__aligned_u64 count;
	__u16 signal_slot;
	__u16 signal_generation;
	__u32 zone;
	__aligned_u64 zone_offset;
	__u32 sge_first;
	__u32 sge_count;
	__u32 dst_first;
	__u32 dst_count;
	__u16 calc_op;
	__u16 calc_type;
	__u32 __reserved;
};

/**
 * struct ib_collq_sge - an entry of a graph's scatter/gather table
 * @buffer: buffer slot, 0..nr_buffers - 1; submit binds it to memory
 * @length: bytes
 * @offset: offset into what the slot is bound to
 */
struct ib_collq_sge {
	__u32 buffer;
	__u32 length;
	__aligned_u64 offset;
};

/* Why a graph was refused */
#define IB_COLLQ_REFUSED_OPCODE		1	/* unknown opcode */
#define IB_COLLQ_REFUSED_FLAGS		2	/* unknown flag */
#define IB_COLLQ_REFUSED_RESERVED	3	/* a member that must be 0 isn't */
#define IB_COLLQ_REFUSED_OBJECT		4	/* no such endpoint or counter */
#define IB_COLLQ_REFUSED_KIND		5	/* endpoint of the wrong kind */
#define IB_COLLQ_REFUSED_COUNT		6	/* WAIT for nothing */
#define IB_COLLQ_REFUSED_SIGNAL		7	/* signal missing, or not allowed */
#define IB_COLLQ_REFUSED_SLOT		8	/* signal slot out of range */
#define IB_COLLQ_REFUSED_SGE_RANGE	9	/* list exceeds the table */
#define IB_COLLQ_REFUSED_SGE_COUNT	10	/* list longer than the device takes */
#define IB_COLLQ_REFUSED_BUFFER		11	/* buffer slot out of range */
#define IB_COLLQ_REFUSED_LENGTH		12	/* message too long */
#define IB_COLLQ_REFUSED_UNSUPPORTED	13	/* needs a feature that isn't here */
#define IB_COLLQ_REFUSED_TASKS		14	/* too many tasks, or none */
#define IB_COLLQ_REFUSED_SGES		15	/* scatter/gather table too long */
#define IB_COLLQ_REFUSED_BUFFERS	16	/* too many buffer slots */

/**
 * struct ib_collq_graph_create - ioctl(IB_COLLQ_GRAPH_CREATE)
 * @size: sizeof(struct ib_collq_graph_create)
 * @flags: must be 0
 * @nr_tasks: number of tasks, 1..max_tasks
 * @task_size: sizeof(struct ib_collq_task)
 * @tasks: pointer to an array of &struct ib_collq_task
 * @nr_sges: entries of the scatter/gather table, 0..max_sges
 * @sge_size: sizeof(struct ib_collq_sge); may be 0 if @nr_sges is
 * @sges: pointer to an array of &struct ib_collq_sge
 * @nr_buffers: buffer slots, 0..max_buffers
 * @id: out: the graph
 * @refused_task: out: index of the task at fault, else IB_COLLQ_NO_TASK
 * @refused_reason: out: IB_COLLQ_REFUSED_*, or 0 if the graph wasn't refused
 *	for what it says
 * @refused_needed: out: what that task needs or has
 * @refused_limit: out: what it may have
 *
 * Uploads a graph, to be run any number of times. It names its endpoints and
 * counters for as long as it lives. A graph that is refused gives -ENOENT for
 * an object that isn't there, -EOPNOTSUPP for what isn't supported, -EINVAL for
 * everything else; the task, the reason, and by how much a limit was exceeded
 * are written back.
 */
struct ib_collq_graph_create {
	__u32 size;
	__u32 flags;
	__u32 nr_tasks;
	__u32 task_size;
	__aligned_u64 tasks;
	__u32 nr_sges;
	__u32 sge_size;
	__aligned_u64 sges;
	__u32 nr_buffers;
	__u32 id;
	__u32 refused_task;
	__u32 refused_reason;
	__aligned_u64 refused_needed;
	__aligned_u64 refused_limit;
};

/**
 * struct ib_collq_buffer_bind - what a buffer slot stands for in one run
 * @buffer: the buffer slot
 * @region: the region
 * @offset: offset into the region
 */
struct ib_collq_buffer_bind {
	__u32 buffer;
	__u32 region;
	__aligned_u64 offset;
};

/**
 * struct ib_collq_queue_submit - ioctl(IB_COLLQ_QUEUE_SUBMIT)
 * @size: sizeof(struct ib_collq_queue_submit)
 * @flags: must be 0
 * @queue: the queue
 * @graph: the graph
 * @user_data: given back in the completion
 * @deadline: when the graph fails with -ETIMEDOUT
 * @nr_bindings: number of @bindings: one for each buffer slot of the graph
 * @binding_size: sizeof(struct ib_collq_buffer_bind); may be 0 if
 *	@nr_bindings is
 * @bindings: pointer to an array of &struct ib_collq_buffer_bind
 * @sequence: out: number of this submission, from 1
 *
 * Starts a graph, or queues it behind those submitted before, and returns.
 * -EBUSY if the queue's depth is used up, the ring has no free entry, or an
 * unfinished graph of another queue waits on one of the same counters. A queue
 * that has failed gives the error of its first failure.
 */
struct ib_collq_queue_submit {
	__u32 size;
	__u32 flags;
	__u32 queue;
	__u32 graph;
	__aligned_u64 user_data;
	__aligned_u64 deadline;
	__u32 nr_bindings;
	__u32 binding_size;
	__aligned_u64 bindings;
	__aligned_u64 sequence;
};

/**
 * struct ib_collq_queue_wait - ioctl(IB_COLLQ_QUEUE_WAIT)
 * @size: sizeof(struct ib_collq_queue_wait)
 * @flags: must be 0
 * @queue: the queue whose submission to wait for, or 0
 * @ring: the ring to wait for until it has an entry, or 0
 * @sequence: the submission, with @queue; else 0
 * @deadline: when the waiting ends, with -ETIME; the graph goes on
 * @status: out, with @queue: as in &struct ib_collq_completion
 * @task: out, with @queue: the same
 * @endpoint: out, with @queue: the same
 * @label: out, with @queue: the same
 *
 * Just one of @queue and @ring is given. Sleeps. -EINVAL if there was no such
 * submission, -ESTALE if it ended so long ago that its result is forgotten: the
 * last depth results are kept. The entry in the ring stays there. If the object
 * is destroyed meanwhile: -ECANCELED.
 */
struct ib_collq_queue_wait {
	__u32 size;
	__u32 flags;
	__u32 queue;
	__u32 ring;
	__aligned_u64 sequence;
	__aligned_u64 deadline;
	__s32 status;
	__u32 task;
	__u32 endpoint;
	__u32 label;
};

/**
 * struct ib_collq_queue_submit_wait - ioctl(IB_COLLQ_QUEUE_SUBMIT_WAIT)
 * @size: sizeof(struct ib_collq_queue_submit_wait)
 * @flags: must be 0
 * @queue: the queue
 * @graph: the graph
 * @user_data: given back in the completion
 * @deadline: when the graph fails with -ETIMEDOUT
 * @nr_bindings: number of @bindings
 * @binding_size: sizeof(struct ib_collq_buffer_bind)
 * @bindings: pointer to an array of &struct ib_collq_buffer_bind
 * @sequence: 0 to submit; else the submission to wait for. Written back before
 *	the caller sleeps, so that a call which a signal interrupts and that is
 *	made again only waits and never submits twice
 * @wait_deadline: when the waiting ends, with -ETIME; the graph goes on
 * @status: out: as in &struct ib_collq_completion
 * @task: out: the same
 * @endpoint: out: the same
 * @label: out: the same
 *
 * IB_COLLQ_QUEUE_SUBMIT and IB_COLLQ_QUEUE_WAIT in one system call.
 */
struct ib_collq_queue_submit_wait {
	__u32 size;
	__u32 flags;
	__u32 queue;
	__u32 graph;
	__aligned_u64 user_data;
	__aligned_u64 deadline;
	__u32 nr_bindings;
	__u32 binding_size;
	__aligned_u64 bindings;
	__aligned_u64 sequence;
	__aligned_u64 wait_deadline;
	__s32 status;
	__u32 task;
	__u32 endpoint;
	__u32 label;
};

/**
 * struct ib_collq_queue_cancel - ioctl(IB_COLLQ_QUEUE_CANCEL)
 * @size: sizeof(struct ib_collq_queue_cancel)
 * @flags: must be 0
 * @queue: the queue
 * @__reserved: must be 0
 * @sequence: the submission, or 0 for all
 *
 * Completes the submission with -ECANCELED. If its graph is running, the queue
 * has failed (see &struct ib_collq_queue_create); one that has not begun is
 * taken out and the queue goes on. -ENOENT if the submission has ended.
 */
struct ib_collq_queue_cancel {
	__u32 size;
	__u32 flags;
	__u32 queue;
	__u32 __reserved;
	__aligned_u64 sequence;
};

/* ib_collq_object_describe.flags */
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
 *	&struct ib_collq_queue_info or &struct ib_collq_ring_info; may be 0
 * @info_size: in: room there in bytes; out: size of the whole structure
 * @entry_size: in: room for one entry; out: size of an entry
 * @entries: pointer to where to write the object's table: an endpoint's slots
 *	(&struct ib_collq_slot_bind), a queue's endpoints
 *	(&struct ib_collq_queue_endpoint), a graph's tasks (&struct ib_collq_task)
 *	or, with IB_COLLQ_DESCRIBE_SGES, its &struct ib_collq_sge; may be 0
 * @nr: in: room in number of entries; out: number of entries of the table
 * @__reserved: must be 0
 *
 * All that it takes to make the object again, and its state. What doesn't fit
 * is cut off.
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
	__u32 __reserved;
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

/* Types of regions */
#define IB_COLLQ_REGION_USER		1	/* memory of the caller */
#define IB_COLLQ_REGION_DMABUF		2	/* a dma-buf */

/* ib_collq_region_create.access */
#define IB_COLLQ_ACCESS_WRITE		(1U << 0)	/* received data may land */

/**
 * struct ib_collq_region_create - ioctl(IB_COLLQ_REGION_CREATE)
 * @size: sizeof(struct ib_collq_region_create)
 * @flags: must be 0
 * @type: IB_COLLQ_REGION_*
 * @access: IB_COLLQ_ACCESS_* bits
 * @address: start of the memory; offset into a dma-buf
 * @length: bytes
 * @fd: the dma-buf, else 0
 * @id: out: the region
 *
 * -EOPNOTSUPP without IB_COLLQ_FEATURE_REGION.
 */
struct ib_collq_region_create {
	__u32 size;
	__u32 flags;
	__u32 type;
	__u32 access;
	__aligned_u64 address;
	__aligned_u64 length;
	__s32 fd;
	__u32 id;
};

/* Length of what names a landing zone to the peer */
#define IB_COLLQ_ZONE_SIZE		32

/**
 * struct ib_collq_zone_offer - ioctl(IB_COLLQ_ZONE_OFFER)
 * @size: sizeof(struct ib_collq_zone_offer)
 * @flags: must be 0
 * @endpoint: the signal endpoint whose peer may write
 * @region: the region, or 0 for memory of the module
 * @offset: offset into the region
 * @length: bytes
 * @id: out: the zone
 * @__reserved: must be 0
 * @zone: out: what names the zone to the peer
 *
 * -EOPNOTSUPP without IB_COLLQ_FEATURE_ZONE.
 */
struct ib_collq_zone_offer {
	__u32 size;
	__u32 flags;
	__u32 endpoint;
	__u32 region;
	__aligned_u64 offset;
	__aligned_u64 length;
	__u32 id;
	__u32 __reserved;
	__u8 zone[IB_COLLQ_ZONE_SIZE];
};

/**
 * struct ib_collq_object_reset - ioctl(IB_COLLQ_OBJECT_RESET)
 * @size: sizeof(struct ib_collq_object_reset)
 * @flags: must be 0
 * @id: a queue, or an endpoint
 * @__reserved: must be 0
 * @address: out, for an endpoint: its new address
 *
 * -EOPNOTSUPP without IB_COLLQ_FEATURE_RESET.
 */
struct ib_collq_object_reset {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 __reserved;
	__u8 address[IB_COLLQ_ADDRESS_SIZE];
};

/**
 * DOC: Wire protocol
 *
 * All messages of signal endpoints are zero bytes long and carry 32 bits of
 * immediate data, whose upper two bits are the type:
 *
 *  - IB_COLLQ_IMM_SIGNAL: 14 bits slot, 16 bits generation.
 *  - IB_COLLQ_IMM_ABORT: 14 bits abort slot, 8 bits generation, 8 bits
 *    IB_COLLQ_ERROR_* code: a queue of the sender has failed.
 *  - IB_COLLQ_IMM_CONTROL: IB_COLLQ_CONTROL_CLOSE: nothing will follow.
 *
 * Anything else is dropped and counted.
 */
#define IB_COLLQ_IMM_SIGNAL		0U
#define IB_COLLQ_IMM_ABORT		1U
#define IB_COLLQ_IMM_CONTROL		2U
#define IB_COLLQ_IMM_TYPE_SHIFT		30
#define IB_COLLQ_IMM_SLOT_SHIFT		16
#define IB_COLLQ_IMM_SLOT_MASK		0x3fffU
#define IB_COLLQ_IMM_GENERATION_MASK	0xffffU
#define IB_COLLQ_IMM_ABORT_GEN_SHIFT	8
#define IB_COLLQ_IMM_ABORT_GEN_MASK	0xffU
#define IB_COLLQ_IMM_ERROR_MASK		0xffU
#define IB_COLLQ_IMM_CONTROL_MASK	0x3fffffffU

#define IB_COLLQ_CONTROL_CLOSE		1U

/* Error codes of ABORT, and the status that they stand for */
#define IB_COLLQ_ERROR_UNKNOWN		0	/* -EREMOTEIO */
#define IB_COLLQ_ERROR_CONNRESET	1	/* -ECONNRESET */
#define IB_COLLQ_ERROR_HOSTUNREACH	2	/* -EHOSTUNREACH */
#define IB_COLLQ_ERROR_REMOTEIO		3	/* -EREMOTEIO */
#define IB_COLLQ_ERROR_NETDOWN		4	/* -ENETDOWN */
#define IB_COLLQ_ERROR_TIMEDOUT		5	/* -ETIMEDOUT */
#define IB_COLLQ_ERROR_CANCELED		6	/* -ECANCELED */
#define IB_COLLQ_ERROR_NODEV		7	/* -ENODEV */

#endif /* IB_COLLQ_H */
