/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * ib_collq: what runs. Graphs of tasks, the queues that run them, and the rings
 * that tell how they ended. Part of ib_collq.h, which has the general rules.
 */
#ifndef IB_COLLQ_RUN_H
#define IB_COLLQ_RUN_H

#include <linux/types.h>

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
 * context's descriptor reports POLLIN while one of its rings has entries. A
 * mapping holds the descriptor open: the context goes when that is closed and
 * all rings are unmapped.
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
 *	at the peer), -ENETDOWN (error of the local port or queue pair),
 *	-ENOTCONN (the endpoint isn't connected yet), -ETIMEDOUT (the deadline
 *	passed), -ECANCELED, -ENODEV (the device is gone), -ESTALE (the target
 *	of a WRITE is older than its endpoint's reset); or the one of these that
 *	the sender of an ABORT gave, where that was -ESTALE or -ENOTCONN: -EREMOTEIO
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
 * @zone: WRITE: the target, which is of the same endpoint; else 0
 * @zone_offset: WRITE: offset into the landing zone; else 0
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
 * come back. RECV posts a receive, and pauses likewise where there is no room.
 * WAIT holds the graph until the counter has @count, and takes that much from it;
 * it fails if the counter is short and the endpoint behind it is closed. WRITE,
 * COPY and CALC, and data in SEND and RECV, need IB_COLLQ_FEATURE_REGION, _ZONE and _CALC.
 *
 * Data is sent from and received into lists: parts of the graph's scatter/gather
 * table, of at most as many entries as the endpoint was made with, and no longer
 * than max_message. Their entries may have any length and alignment, and lists may
 * share entries; all lists of a graph have at most 16 times max_sges entries. The
 * list of a RECV may be longer than what arrives; if it's shorter, the connection
 * fails at both ends. A graph isn't held back until its messages are over: what its
 * buffers are to be used for afterwards says what it must WAIT for.
 *
 * WRITE needs a signal endpoint and carries a signal. Its list lands in the peer's
 * landing zone, which it mustn't exceed, and then the signal raises the counter there.
 * It counts as a send.
 *
 * COPY copies a list to another of the same length, which it must not overlap. CALC
 * combines each element of the second list with that of the first and puts the
 * result in its place: dst = dst OP src. Both lists are as long, in whole elements
 * of @calc_type. An element of MINLOC and MAXLOC is a pair, a value and an index;
 * the pair with the smaller or larger value stays, of equal ones that with the
 * smaller index. Sums wrap.
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
#define IB_COLLQ_REFUSED_OBJECT		4	/* no such endpoint, counter or target */
#define IB_COLLQ_REFUSED_KIND		5	/* endpoint of the wrong kind */
#define IB_COLLQ_REFUSED_COUNT		6	/* WAIT for nothing */
#define IB_COLLQ_REFUSED_SIGNAL		7	/* signal missing, or not allowed */
#define IB_COLLQ_REFUSED_SLOT		8	/* signal slot out of range */
#define IB_COLLQ_REFUSED_SGE_RANGE	9	/* list exceeds the table */
#define IB_COLLQ_REFUSED_SGE_COUNT	10	/* list longer than the endpoint takes */
#define IB_COLLQ_REFUSED_BUFFER		11	/* buffer slot out of range */
#define IB_COLLQ_REFUSED_LENGTH		12	/* too long, or lengths differ */
#define IB_COLLQ_REFUSED_UNSUPPORTED	13	/* needs a feature that isn't here */
#define IB_COLLQ_REFUSED_TASKS		14	/* too many tasks, or none */
#define IB_COLLQ_REFUSED_SGES		15	/* table, or all lists, too long */
#define IB_COLLQ_REFUSED_BUFFERS	16	/* too many buffer slots */
#define IB_COLLQ_REFUSED_CALC		17	/* no such operation or type */
#define IB_COLLQ_REFUSED_ZONE		18	/* target of another endpoint */

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
 * Starts a graph, or queues it behind those submitted before, and returns. Each
 * buffer slot is bound to a region, just once, and what the graph does there must
 * lie within it: else -EINVAL. -EACCES if the graph writes to a region that was made
 * without IB_COLLQ_ACCESS_WRITE, -ESTALE if the region's memory is gone. -EMSGSIZE if
 * the list of a message doesn't fit its endpoint here: where memory had to be
 * registered in parts (of 1 MiB with SoftRoCE), an entry that lies in two of them
 * counts as two; there are ten to spare, as far as the device's limit allows. See
 * IB_COLLQ_ENDPOINT_ZONES for what counts with that.
 *
 * A graph that fails while messages from or to its buffers are under way ends only
 * when they are over, so that nothing touches the buffers any more; there's no way
 * to take them back but to fail the endpoints that they are on, which have to be
 * reset then.
 *
 * -EBUSY if the queue's depth is used up, the ring has no free entry, an
 * unfinished graph of another queue waits on one of the same counters, or the endpoint
 * behind one of them is being reset. A queue that has failed gives the error of its first
 * failure.
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

/* ib_collq_queue_submit_wait.flags */
#define IB_COLLQ_SUBMIT_WAIT_QUIET	(1U << 0)	/* no completion of a success */

/**
 * struct ib_collq_queue_submit_wait - ioctl(IB_COLLQ_QUEUE_SUBMIT_WAIT)
 * @size: sizeof(struct ib_collq_queue_submit_wait)
 * @flags: IB_COLLQ_SUBMIT_WAIT_QUIET, which takes IB_COLLQ_FEATURE_QUIET: if
 *	the submission succeeds before the call that made it returns, only that
 *	call tells it: the ring gets no completion. A failure is in the ring, too.
 *	So is whatever ends later: a call that can't wait for the end clears the flag
 * @queue: the queue
 * @graph: the graph
 * @user_data: given back in the completion
 * @deadline: when the graph fails with -ETIMEDOUT
 * @nr_bindings: number of @bindings
 * @binding_size: sizeof(struct ib_collq_buffer_bind)
 * @bindings: pointer to an array of &struct ib_collq_buffer_bind
 * @sequence: 0 to submit; else the submission to wait for. Written back when
 *	there is one, so that a call which a signal interrupts and that is made
 *	again only waits and never submits twice
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
 * taken out and the queue goes on, but its graph counts as in use until those
 * submitted before it have ended. -ENOENT if the submission has ended.
 */
struct ib_collq_queue_cancel {
	__u32 size;
	__u32 flags;
	__u32 queue;
	__u32 __reserved;
	__aligned_u64 sequence;
};

#endif /* IB_COLLQ_RUN_H */
