/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the tests on the character device share: the raw ioctls with their
 * structures filled in, and pairs of contexts that are connected.
 *
 * Nothing here knows libcollq: a fault of the one must not hide a fault of the
 * other. Functions return 0, or an id, or -errno; they assert nothing, so that
 * a test that expects a failure can use them as well.
 *
 * Nothing waits without an end: what should happen soon gets RAW_PATIENCE_MS,
 * which is generous, since an emulated machine may stand still for a while.
 */
#ifndef COLLQ_UTIL_H
#define COLLQ_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <rdma/ib_collq.h>

#define RAW_PATIENCE_MS		20000

/* What a pair (below) uses; all are arbitrary, and none is 0. */
#define RAW_SLOT		5
#define RAW_GENERATION		7
#define RAW_ABORT_SLOT		3
#define RAW_ABORT_GENERATION	9
#define RAW_DEPTH		8
#define RAW_RING_ENTRIES	64
#define RAW_CAPACITY		52

/* Of a member; for tables. */
#define RAW_SIZE(type, member)	sizeof(((type) {}).member)

/* Time */
__u64 raw_now(void);
__u64 raw_in_ms(unsigned int ms);
void raw_nap(void);
bool raw_asleep(pid_t tid);

/* The exit status of a child that ends, or 128 + what killed it. */
int raw_exit_status(pid_t pid);

/* Whether a condition comes true within some time, or within reasonable time. */
#define RAW_WITHIN(ms, condition)					\
({									\
	__u64 __until = raw_in_ms(ms);					\
	bool __met;							\
									\
	while (!(__met = !!(condition)) && raw_now() < __until)		\
		raw_nap();						\
	__met;								\
})

#define RAW_EVENTUALLY(condition)	RAW_WITHIN(RAW_PATIENCE_MS, condition)

/* A module goes at once, or not at all. */
int raw_unload(const char *module);

/* Another front end than the character device: see all_uverbs.c. */
extern bool raw_by_uverbs;

/* The device */
#define RAW_DEVICE		"rxe0"
const char *raw_node(void);
int raw_open(void);
int raw_ioctl(int fd, unsigned long cmd, void *arg);
int raw_batch(int fd, unsigned long cmd, void *entries, __u32 entry_size,
	      __u32 nr, int *error);
int raw_query(int fd, struct ib_collq_query *query);

/* Objects */
int raw_destroy(int fd, __u32 id);
/* With the new address of an endpoint, or NULL */
int raw_reset(int fd, __u32 id, __u8 *address);
int raw_describe(int fd, __u32 id, void *info, __u32 info_size);
/* The timeout that endpoints get: how long they linger is in proportion. */
extern __u8 raw_ack_timeout;
/* The flags that they get: none, so that the wire is used, unless a test says else. */
extern __u32 raw_endpoint_flags;
struct ib_collq_endpoint_create raw_endpoint_attr(__u32 kind);
int raw_endpoint_create(int fd, struct ib_collq_endpoint_create *attr);
int raw_endpoint_connect(int fd, __u32 endpoint, const __u8 *address);
int raw_capacity(int fd, unsigned long cmd, __u32 endpoint, __u32 recvs);
int raw_counter_create(int fd, __u32 source, __u32 endpoint);
int raw_counter_raise(int fd, __u32 counter, __u64 count);
int raw_counter_read(int fd, __u32 counter, struct ib_collq_counter_read *read);
__u64 raw_counter_raised(int fd, __u32 counter);
int raw_slot_bind(int fd, __u32 endpoint, __u16 slot, __u16 generation,
		  __u32 counter);
int raw_slot_unbind(int fd, __u32 endpoint, __u16 slot, __u16 generation);
int raw_queue_create(int fd, __u32 ring, __u32 depth,
		     const struct ib_collq_queue_endpoint *links, __u32 nr);
int raw_graph_create(int fd, const struct ib_collq_task *tasks, __u32 nr);

/* Tasks */
struct ib_collq_task raw_signal(__u32 endpoint, __u16 slot, __u16 generation);
struct ib_collq_task raw_message(__u32 opcode, __u32 endpoint);
struct ib_collq_task raw_wait_for(__u32 counter, __u64 count);

/* Running */
int raw_submit(int fd, __u32 queue, __u32 graph, __u64 user_data, __u64 deadline,
	       __u64 *sequence);
int raw_wait(int fd, __u32 queue, __u64 sequence, __u64 deadline,
	     struct ib_collq_queue_wait *wait);
int raw_result(int fd, __u32 queue, __u64 sequence, int *status);
int raw_run(int fd, __u32 queue, __u32 graph, int *status);
int raw_cancel(int fd, __u32 queue, __u64 sequence);
bool raw_queue_in_state(int fd, __u32 queue, __u32 state);

/**
 * struct raw_ring - a ring that is mapped
 * @id: the ring
 * @entries: its size
 * @map_size: bytes mapped
 * @header: start of the mapping
 * @completions: where the entries start
 */
struct raw_ring {
	__u32 id;
	__u32 entries;
	size_t map_size;
	struct ib_collq_ring_header *header;
	struct ib_collq_completion *completions;
};

int raw_ring_create(int fd, __u32 entries, struct raw_ring *ring);
void raw_ring_unmap(struct raw_ring *ring);
__u32 raw_ring_unread(const struct raw_ring *ring);
bool raw_ring_take(struct raw_ring *ring, struct ib_collq_completion *completion);
int raw_ring_next(int fd, struct raw_ring *ring,
		  struct ib_collq_completion *completion);

/**
 * struct raw_side - one of two contexts that are connected
 * @fd: the context
 * @ring: a ring of RAW_RING_ENTRIES
 * @endpoint: a signal endpoint
 * @message_endpoint: a message endpoint beside it, or 0
 * @counter: what arrives at @endpoint in RAW_SLOT, RAW_GENERATION
 * @queue: a queue of RAW_DEPTH that lists @endpoint
 * @graph: what both sides run to pass a barrier
 * @attr: @endpoint as created
 */
struct raw_side {
	int fd;
	struct raw_ring ring;
	__u32 endpoint;
	__u32 message_endpoint;
	__u32 counter;
	__u32 queue;
	__u32 graph;
	struct ib_collq_endpoint_create attr;
};

/* A queue whose id comes behind one that's free: an id, or -errno */
int raw_queue_behind_gap(const struct raw_side *side);

int raw_side_open(struct raw_side *side);
int raw_side_open_with(struct raw_side *side, const struct ib_collq_endpoint_create *attr);
int raw_side_connect(struct raw_side *side, const __u8 *peer_address);
void raw_side_close(struct raw_side *side);
int raw_pair_open(struct raw_side *a, struct raw_side *b);
int raw_pair_open_with(struct raw_side *a, const struct ib_collq_endpoint_create *attr_a,
		       struct raw_side *b, const struct ib_collq_endpoint_create *attr_b);
void raw_pair_close(struct raw_side *a, struct raw_side *b);
int raw_pair_add_messages(struct raw_side *a, struct raw_side *b);
/* An endpoint of each, which are connected to each other again. */
int raw_pair_reset(const struct raw_side *a, __u32 of_a, const struct raw_side *b, __u32 of_b);
int raw_pair_barrier(struct raw_side *a, struct raw_side *b);
int raw_try_new_pair(void);
struct ib_collq_endpoint_info raw_endpoint_info(int fd, __u32 endpoint);

#endif /* COLLQ_UTIL_H */
