/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Executes the graphs of all ranks of a collective against each other, in memory.
 *
 * It takes the task lists that the kernel would get. Objects, slots and
 * generations are picked as libcollq does: each rank, as the receiver, binds a
 * slot of its endpoint to a counter for each in channel, and tells the peer. A
 * SEND finds its counter through {endpoint, slot, generation} alone, so that a
 * list that names the wrong one goes wrong here as well.
 *
 * Ranks run as queues do, task by task and run after run, counters living on from
 * one run to the next. What goes wrong is counted, and the rest goes on.
 *
 * Data is moved for real. A message is read from the sender's memory when it lands, so
 * that a sender that changes it too early is found out. Between two runs of a rank its
 * buffers are scribbled over, and nothing may change there.
 */
#ifndef EXECUTOR_H
#define EXECUTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <collq/collq.h>

#define EXECUTOR_MAX_RUNS	8

/* No rank, for executor_run_early() */
#define EXECUTOR_NOBODY		UINT32_MAX

struct executor;

/**
 * struct executor_report - what happened
 * @early: ends of a run before all ranks had begun it
 * @stuck: ranks that waited for ever
 * @leftover: counts that nobody consumed
 * @overrun: signals sent while the channel held two runs' worth of them
 * @not_ready: messages that found no receive posted
 * @misfits: messages that were shorter or longer than their receive
 * @trespasses: bytes of a buffer that changed outside a run
 * @wrong: bytes that were wrong at the end of a run
 * @sent: signals that all ranks sent in each run
 * @messages: messages likewise
 * @sges: entries of lists that were sent or received into, likewise
 * @copied: bytes that COPY moved, likewise
 */
struct executor_report {
	uint64_t early;
	uint64_t stuck;
	uint64_t leftover;
	uint64_t overrun;
	uint64_t not_ready;
	uint64_t misfits;
	uint64_t trespasses;
	uint64_t wrong;
	uint64_t sent[EXECUTOR_MAX_RUNS];
	uint64_t messages[EXECUTOR_MAX_RUNS];
	uint64_t sges[EXECUTOR_MAX_RUNS];
	uint64_t copied[EXECUTOR_MAX_RUNS];
};

/* Nothing went wrong. */
bool executor_is_clean(const struct executor_report *report);

/**
 * struct executor_data - memory of each rank, and what is in it
 * @bytes: of COLLQ_BUFFER_SEND, COLLQ_BUFFER_RECV, and COLLQ_BUFFER_SCRATCH of one
 *	generation
 * @generations: of scratch memory
 * @limits: what task lists must keep to, if its size isn't 0
 * @arg: passed to the callbacks
 * @fill: what the rank puts there before it begins a run
 * @check: number of bytes that are wrong when it has ended one
 */
struct executor_data {
	size_t bytes[3];
	uint32_t generations;
	struct ib_collq_query limits;
	void *arg;
	void (*fill)(void *arg, uint32_t rank, uint32_t run, unsigned char *send,
		     unsigned char *recv);
	uint64_t (*check)(void *arg, uint32_t rank, uint32_t run, const unsigned char *send,
			  const unsigned char *recv);
};

/**
 * executor_new() - make an executor
 * @executor: out: the executor
 * @size: number of ranks
 *
 * Return: 0 or -ENOMEM.
 */
int executor_new(struct executor **executor, uint32_t size);
void executor_free(struct executor *executor);

/**
 * executor_set_data() - give all ranks memory
 * @executor: the executor, before anything is loaded
 * @data: how much of it, and what is in it; copied
 *
 * Return: 0 or -ENOMEM.
 */
int executor_set_data(struct executor *executor, const struct executor_data *data);

/**
 * executor_bind() - create the objects that a rank's graph needs
 * @executor: the executor
 * @rank: the rank
 * @graph: its graph
 *
 * Endpoints to all peers, counters for all in channels, slots bound to them.
 *
 * Return: 0 or -ENOMEM.
 */
int executor_bind(struct executor *executor, uint32_t rank,
		  const struct collq_graph *graph);

/**
 * executor_load() - give a rank its task list
 * @executor: the executor, with all ranks bound
 * @rank: the rank
 * @graph: the graph that was bound, or one with the same channels
 *
 * Return: 0; -ENOENT if a peer has no in channel for one of the out channels;
 * -EOPNOTSUPP for a task that isn't executed here; -ENXIO for one that names a slot or
 * generation that isn't there; -ERANGE for a list that isn't within the memory; what
 * the kernel refuses a graph with; what collq_graph_lower() gives.
 */
int executor_load(struct executor *executor, uint32_t rank,
		  const struct collq_graph *graph);

/**
 * executor_load_prelude() - give a rank the receives that are posted before all runs
 * @executor: the executor, with all ranks bound
 * @rank: the rank
 * @graph: receives, posted once for each generation; message channels as bound
 *
 * Return: as executor_load().
 */
int executor_load_prelude(struct executor *executor, uint32_t rank,
			  const struct collq_graph *graph);

/**
 * executor_run_early() - run with signals and messages that land at once
 * @executor: the executor, with all ranks loaded
 * @runs: how often each rank runs its graph, 1..EXECUTOR_MAX_RUNS
 * @held: a rank that begins each run only when no other rank can go on, or
 *	EXECUTOR_NOBODY
 * @report: out: what happened
 *
 * All others run ahead as far as they can. Each counter has one source and one
 * consumer, so that how far that is doesn't depend on the order in which the ranks
 * take turns: what can end before @held has begun does so here.
 */
void executor_run_early(struct executor *executor, uint32_t runs, uint32_t held,
			struct executor_report *report);

/**
 * executor_run_random() - run in a random interleaving
 * @executor: the executor, with all ranks loaded
 * @runs: how often each rank runs its graph, 1..EXECUTOR_MAX_RUNS
 * @seed: the same seed gives the same interleaving
 * @report: out: what happened
 *
 * Signals, messages, and what tells the sender that they have arrived are under way for
 * a random time, those of one message channel in order, and ranks take turns at random.
 * In half of the seeds some ranks get none before nothing else can happen; in half of
 * them, some message channels bring nothing before that.
 */
void executor_run_random(struct executor *executor, uint32_t runs, uint64_t seed,
			 struct executor_report *report);

#endif /* EXECUTOR_H */
