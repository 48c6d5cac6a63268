/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The ioctl fuzzer's parts (fuzz_ioctl.c): what threads share, how they call, and
 * what they do.
 *
 * All chance comes from one seed: thread n draws from seed + n. With one thread a
 * run is repeated as exactly as the kernel's own timing allows.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "chance.h"
#include "collq_util.h"

#define FUZZ_CONTEXTS	3
#define FUZZ_PLACES	8	/* objects of a type in a context that are remembered */
#define FUZZ_THREADS	16
#define FUZZ_MAPS	4	/* rings that a thread has mapped */
#define FUZZ_SLOTS	16	/* signal and abort slots in use */
#define FUZZ_GENERATIONS	3
#define FUZZ_AREA	(16 * 4096)
#define FUZZ_SGES	8	/* entries of a graph's table */
#define FUZZ_BUFFERS	2

/**
 * struct fuzz_endpoint - what is remembered of an endpoint
 * @id: its id, or 0
 * @kind: IB_COLLQ_ENDPOINT_*
 * @address: its address
 */
struct fuzz_endpoint {
	__u32 id;
	__u32 kind;
	__u8 address[IB_COLLQ_ADDRESS_SIZE];
};

/**
 * struct fuzz_context - a context, and which of its ids are worth trying
 * @fd: the descriptor; its number stays when the context is replaced
 * @endpoint: endpoints
 * @counter: ids of counters
 * @ring: ids of rings
 * @queue: ids of queues
 * @graph: ids of graphs
 * @region: ids of regions
 * @zone: ids of landing zones
 * @target: ids of targets
 *
 * Threads read and write without a lock: what they find may be gone, or torn, and
 * that is just as well.
 */
struct fuzz_context {
	int fd;
	struct fuzz_endpoint endpoint[FUZZ_PLACES];
	__u32 counter[FUZZ_PLACES];
	__u32 ring[FUZZ_PLACES];
	__u32 queue[FUZZ_PLACES];
	__u32 graph[FUZZ_PLACES];
	__u32 region[FUZZ_PLACES];
	__u32 zone[FUZZ_PLACES];
	__u32 target[FUZZ_PLACES];
};

/**
 * struct fuzz_map - a mapped ring
 * @start: where, or NULL
 * @length: bytes
 * @writable: PROT_WRITE
 */
struct fuzz_map {
	void *start;
	size_t length;
	bool writable;
};

/**
 * struct fuzz_thread - one that calls
 * @thread: the thread
 * @tid: the same for the kernel
 * @fuzz: the run
 * @chance: where its chance comes from
 * @area: memory that the kernel is given, which is taken away now and then
 * @alias: the same memory, which stays
 * @placed: bytes of it in use by the current call
 * @honest: calls are made as they should be
 * @map: rings mapped
 */
struct fuzz_thread {
	pthread_t thread;
	pid_t tid;
	struct fuzz *fuzz;
	uint64_t chance;
	char *area;
	char *alias;
	size_t placed;
	bool honest;
	struct fuzz_map map[FUZZ_MAPS];
};

/**
 * struct fuzz - a run
 * @node: the device
 * @context: contexts
 * @thread: threads
 * @nr_threads: how many
 * @eventfd: one for all
 * @data: memory for regions, which is written to and taken away
 * @name: names of landing zones that were offered, of any context
 * @memory: what backs the threads' areas
 * @ops: ioctls to make
 * @calls: ioctls made
 * @good: those that succeeded
 * @stop: everybody is to end
 * @odd: an error that makes no sense; 0 if there was none
 * @odd_command: and of which command
 */
struct fuzz {
	char node[300];
	struct fuzz_context context[FUZZ_CONTEXTS];
	struct fuzz_thread thread[FUZZ_THREADS];
	unsigned int nr_threads;
	int eventfd;
	char *data;
	struct ib_collq_zone_name name[FUZZ_PLACES];
	int memory;
	uint64_t ops;
	uint64_t calls;
	uint64_t good;
	bool stop;
	int odd;
	unsigned long odd_command;
};

static inline uint32_t fuzz_below(struct fuzz_thread *t, uint32_t below)
{
	return chance_below(&t->chance, below);
}

static inline bool fuzz_one_in(struct fuzz_thread *t, uint32_t n)
{
	return !fuzz_below(t, n);
}

static inline struct fuzz_context *fuzz_any_context(struct fuzz_thread *t)
{
	return &t->fuzz->context[fuzz_below(t, FUZZ_CONTEXTS)];
}

/* fuzz_call.c */
__u64 fuzz_place(struct fuzz_thread *t, const void *data, size_t size);
void fuzz_fetch(struct fuzz_thread *t, __u64 place, void *data, size_t size);
int fuzz_call(struct fuzz_thread *t, int fd, unsigned long cmd, void *arg, size_t size);
int fuzz_batch(struct fuzz_thread *t, int fd, unsigned long cmd, void *entries, size_t size,
	       __u32 nr);
void fuzz_vandalise(struct fuzz_thread *t, struct fuzz_thread *victim);

/* fuzz_ops.c, fuzz_run.c, fuzz_files.c: one thing to do, chosen at random */
void fuzz_op_objects(struct fuzz_thread *t);
void fuzz_op_run(struct fuzz_thread *t);
void fuzz_op_files(struct fuzz_thread *t);
void fuzz_op_pair(struct fuzz_thread *t);
__u32 fuzz_id(struct fuzz_thread *t, const __u32 *ids);
void fuzz_remember(struct fuzz_thread *t, struct fuzz_context *ctx, __u32 *ids, __u32 id);

/* fuzz_memory.c: regions, and what graphs do with them */
void fuzz_make_region(struct fuzz_thread *t, struct fuzz_context *ctx);
void fuzz_make_list(struct fuzz_thread *t, struct fuzz_context *ctx);
void fuzz_take_data(struct fuzz_thread *t, struct fuzz_context *ctx);
void fuzz_make_zone(struct fuzz_thread *t, struct fuzz_context *ctx);
void fuzz_make_target(struct fuzz_thread *t, struct fuzz_context *ctx);
void fuzz_make_write(struct fuzz_thread *t, struct fuzz_context *ctx,
		     struct ib_collq_task *task);
void fuzz_add_list(struct fuzz_thread *t, struct ib_collq_task *task);
void fuzz_add_table(struct fuzz_thread *t, struct ib_collq_graph_create *attr);
void fuzz_bind_buffers(struct fuzz_thread *t, struct fuzz_context *ctx,
		       struct ib_collq_queue_submit *attr);
void fuzz_unmap_all(struct fuzz_thread *t);
int fuzz_context_open(struct fuzz *fuzz, struct fuzz_context *ctx);

/* fuzz_stranger.c: a peer that isn't the module */
void fuzz_stranger_round(struct fuzz_thread *t);

#endif /* FUZZ_H */
