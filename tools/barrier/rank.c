// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A rank: the child process that passes the barriers. Opens the device, makes
 * its communicators, goes through the phases and takes all down again. What
 * goes wrong is left for the parent to read in shared memory: who fails first
 * knows why, the others only follow.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "crew.h"
#include "open.h"
#include "rank.h"

#define INIT_POLL_NS		100000
#define MAX_COUNTED		200

/* A count comes out the same for fewer: enough to see one call too many */
uint64_t counted_barriers(const struct options *options)
{
	return options->iterations < MAX_COUNTED ? options->iterations : MAX_COUNTED;
}

/* Verified, timed and counted, and one more before those that are timed */
uint64_t rank_steps(const struct options *options)
{
	if (options->leave)
		return options->communicators * options->iterations;
	return (options->communicators + 1) * options->iterations + 1 +
	       counted_barriers(options);
}

void rank_count_step(struct rank *rank)
{
	uint64_t steps = atomic_load_explicit(&rank->state->steps, memory_order_relaxed);

	atomic_store_explicit(&rank->state->steps, steps + 1, memory_order_relaxed);
}

void rank_fail(struct rank *rank, int error, const char *format, ...)
{
	uint32_t nobody = NO_RANK;
	va_list args;

	va_start(args, format);
	vsnprintf(rank->state->message, sizeof(rank->state->message), format, args);
	va_end(args);
	rank->state->error = error;
	atomic_compare_exchange_strong(&rank->shared->first_failed, &nobody, rank->rank);
	bell_ring(rank->shared);
	_exit(EXIT_RANK_FAILED);
}

void rank_fail_barrier(struct rank *rank, uint32_t comm, int error)
{
	uint64_t barrier = rank->state->entered[comm];
	struct collq_failure failure = { .size = sizeof(failure) };

	if (collq_request_failure(rank->barriers[comm], &failure) || failure.peer == COLLQ_NONE)
		rank_fail(rank, error, "barrier %" PRIu64 " of communicator %" PRIu32, barrier,
			  comm);
	rank_fail(rank, error, "barrier %" PRIu64 " of communicator %" PRIu32 ", round %" PRIu32
		  ", peer %" PRIu32, barrier, comm, failure.label, failure.peer);
}

static void open_device(struct rank *rank)
{
	int rc = crew_open(rank->options, rank->state, &rank->context);

	if (rc)
		rank_fail(rank, rc, "can't open %s for collectives",
			  rank->options->device ? rank->options->device : "an RDMA device");
}

static void create_comm(struct rank *rank, uint32_t comm)
{
	struct collq_oob callbacks;
	int rc;

	oob_init(&rank->oob[comm], rank->shared, comm, rank->rank, &callbacks);
	rc = collq_comm_create(rank->context, rank->rank, rank->nr, &callbacks,
			       &rank->comms[comm]);
	if (rc)
		rank_fail(rank, rc, "can't make communicator %" PRIu32, comm);
}

/* The last one: in all algorithms it is what most other ranks depend on. */
static int drop_last_wait(struct collq_graph *graph)
{
	struct collq_graph_node_info info = { .size = sizeof(info) };
	int node = collq_graph_nr_nodes(graph);

	while (--node >= 0) {
		if (!collq_graph_node(graph, node, &info) && info.opcode == IB_COLLQ_TASK_WAIT)
			return collq_graph_remove(graph, node);
	}
	return -ENOENT;
}

/*
 * With a wait dropped, the barrier is a graph like any user's. All ranks do it
 * that way then, for an initialisation must be the same on all.
 */
static int begin_from_graph(struct rank *rank, uint32_t comm)
{
	struct collq_graph *graph;
	int rc;

	rc = collq_graph_new(&graph);
	if (rc)
		return rc;
	rc = collq_barrier_graph(graph, rank->rank, rank->nr, rank->algorithm,
				 rank->options->radix);
	if (!rc && rank->rank == rank->options->spoilt)
		rc = drop_last_wait(graph);
	if (!rc)
		rc = collq_graph_init(rank->comms[comm], graph, &rank->barriers[comm]);
	collq_graph_free(graph);
	return rc;
}

static void begin_barrier(struct rank *rank, uint32_t comm)
{
	const struct collq_barrier_options how = {
		.size = sizeof(how),
		.algorithm = rank->algorithm,
		.radix = rank->options->radix,
	};
	int rc;

	if (rank->options->spoilt != NO_RANK)
		rc = begin_from_graph(rank, comm);
	else
		rc = collq_barrier_init(rank->comms[comm], &how, &rank->barriers[comm]);
	if (rc)
		rank_fail(rank, rc, "can't initialise barrier of communicator %" PRIu32, comm);
}

/* All communicators at once: the library doesn't block here, nor do we. */
static void finish_barriers(struct rank *rank)
{
	const struct timespec pause = { .tv_nsec = INIT_POLL_NS };
	bool under_way;
	uint32_t comm;
	int rc;

	do {
		under_way = false;
		for (comm = 0; comm < rank->options->communicators; comm++) {
			rc = collq_init_test(rank->barriers[comm]);
			under_way |= rc == -EINPROGRESS;
			if (rc && rc != -EINPROGRESS)
				rank_fail(rank, rc, "can't connect communicator %" PRIu32, comm);
		}
		if (under_way)
			nanosleep(&pause, NULL);
	} while (under_way);
}

static void set_up(struct rank *rank)
{
	uint32_t comm;

	open_device(rank);
	for (comm = 0; comm < rank->options->communicators; comm++) {
		create_comm(rank, comm);
		begin_barrier(rank, comm);
	}
	finish_barriers(rank);
}

static void take_down(struct rank *rank)
{
	uint32_t comm;
	int rc = 0;

	for (comm = 0; comm < rank->options->communicators && !rc; comm++) {
		collq_request_free(rank->barriers[comm]);
		rc = collq_comm_destroy(rank->comms[comm]);
	}
	if (!rc)
		rc = collq_close(rank->context);
	if (rc)
		rank_fail(rank, rc, "can't take all down again");
}

void rank_main(const struct options *options, struct shared *shared, uint32_t algorithm,
	       uint32_t number)
{
	struct rank rank = {
		.options = options,
		.shared = shared,
		.state = &shared->rank[number],
		.rank = number,
		.nr = shared->nr_ranks,
		.algorithm = algorithm,
		.random = { options->seed, options->seed >> 16, number },
	};

	set_up(&rank);
	gate_pass(shared, rank.state, PHASE_CONNECTED);
	verify_single(&rank);
	if (options->communicators > 1)
		verify_both(&rank);
	if (options->leave)
		_exit(0);
	gate_pass(shared, rank.state, PHASE_VERIFIED);
	time_barriers(&rank);
	gate_pass(shared, rank.state, PHASE_TIMED);
	count_barriers(&rank);
	gate_pass(shared, rank.state, PHASE_FINISHED);
	take_down(&rank);
	_exit(0);
}
