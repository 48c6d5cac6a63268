/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What an executor is made of, for the files that make it up: executor.c (objects,
 * and task lists that name them), executor_check.c (what the kernel would refuse),
 * executor_run.c (ranks that take turns) and executor_data.c (memory).
 */
#ifndef EXECUTOR_INTERNAL_H
#define EXECUTOR_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/ib_collq.h>

#include "executor.h"

#define NO_COUNTER	UINT32_MAX

/* A slot of an endpoint, bound to a counter. */
struct slot {
	uint16_t generation;
	uint32_t counter_id;
};

enum kind {
	SIGNAL_ENDPOINT,
	MESSAGE_ENDPOINT,
	COUNTER,
};

/*
 * An endpoint to @peer, or the counter number @counter. A message endpoint sends into a
 * stream and receives from one, which are those numbers of its own rank and its peer.
 */
struct object {
	enum kind kind;
	uint32_t peer;
	uint32_t counter;
	uint32_t stream;
	uint32_t peer_stream;
	struct slot *slots;
	uint32_t nr_slots;
};

/* An in channel: what it was bound to. */
struct bound {
	struct collq_graph_channel channel;
	uint32_t counter_id;
	uint16_t slot;
	uint16_t generation;
};

/* Pieces of a rank's memory, in the scratch memory of a generation. */
struct list {
	const struct ib_collq_sge *sges;
	uint32_t nr;
	uint32_t generation;
};

/* First in, first out: entries from @first to @end. */
struct lists {
	struct list *entries;
	uint32_t first, end, room;
};

/*
 * Messages on their way from one rank to @receiver, and the receives that are posted
 * for them. @waiting have come and found none. The counters may be NO_COUNTER.
 */
struct stream {
	uint32_t receiver;
	uint32_t tag;
	uint32_t sends, messages;
	uint32_t waiting;
	bool slow;
	struct lists sent, posted;
};

/* A task, with the counter that it raises or waits for, or the stream it's about. */
struct op {
	uint32_t opcode;
	bool is_signal;
	uint32_t counter;
	uint64_t count;
	uint32_t sender, stream;
	struct list from, to;
	uint32_t calc_op, calc_type;
};

struct program {
	struct op *ops;
	uint32_t nr_ops, nr_sends;
	struct ib_collq_sge *sges;
};

struct rank {
	struct object *objects;
	uint32_t nr_objects;
	uint32_t first_id;
	struct bound *in;
	uint32_t nr_in;
	struct collq_graph_message_binding *messages;
	uint32_t nr_messages;
	struct stream *streams;
	uint32_t nr_streams;
	struct program program, prelude;

	/* Of COLLQ_BUFFER_SEND and so on; scratch memory of all generations */
	unsigned char *memory[3];

	uint32_t run, position;
	bool running, listed, slow;
};

struct counter {
	uint32_t owner;
	uint64_t limit;
	uint64_t value;
	uint64_t unconsumed;
};

/* Under way: a message of a stream, or what raises a counter. */
struct flight {
	bool is_message;
	uint32_t sender;
	uint32_t index;
};

struct rank_list {
	uint32_t *ranks;
	uint32_t nr;
};

struct executor {
	struct rank *ranks;
	uint32_t size;
	struct counter *counters;
	uint32_t nr_counters;
	struct executor_data data;

	struct executor_report *report;
	uint32_t runs, held;
	uint32_t begun[EXECUTOR_MAX_RUNS];
	struct rank_list ready, slow;
	bool delayed;
	/* What comes at some time, and messages that come when all else has */
	struct flight *flights, *slow_flights;
	uint64_t nr_flights, nr_slow_flights, nr_sends;
	uint64_t random;
};

/* Whether the kernel would take a task list of a rank: 0 or -errno. */
int executor_check_tasks(struct rank *rank, const struct ib_collq_task *tasks, uint32_t nr,
			 const struct collq_graph_table *table);

/* Whether lists lie in the memory, and fit together: 0 or -errno. */
int executor_check_lists(const struct executor *executor, const struct op *op);

/* Memory as it is before anything has run. */
void executor_begin_memory(struct executor *executor);

/* A rank begins a run, or has ended it; at the very end of all. */
void executor_begin_run(struct executor *executor, uint32_t rank);
void executor_end_run(struct executor *executor, uint32_t rank);
void executor_check_scribble(struct executor *executor, uint32_t rank);

/* A message lands. */
void executor_land(struct executor *executor, uint32_t sender, const struct list *from,
		   uint32_t receiver, const struct list *to);

/* COPY and CALC. */
void executor_copy(struct executor *executor, uint32_t rank, const struct op *op);
void executor_calc(struct executor *executor, uint32_t rank, const struct op *op);

#endif /* EXECUTOR_INTERNAL_H */
