// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A rank: the child process that takes part in the all-to-alls.
 *
 * First they are verified: each run sends other bytes, the receive buffer is scribbled
 * over before, and ranks sleep at random before they start and before they look at what
 * has come, when a peer may be in the next run already. Then they are timed, one after
 * the other, and what came of the last one is looked at.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <collq/collq.h>

#include "alltoall.h"
#include "blocks.h"
#include "crew.h"
#include "oob.h"
#include "open.h"
#include "sends.h"

#define MAX_DELAY_NS	400000
#define NS_PER_S	UINT64_C(1000000000)

struct member {
	const struct options *options;
	struct shared *shared;
	struct rank_state *state;
	uint32_t rank, nr;
	unsigned short random[3];	/* of nrand48() */
	struct collq_context *context;
	struct oob oob;
	struct collq_comm *comm;
	struct collq_request *request;
	struct collq_alltoall how;
	struct blocks blocks;
};

/* Verified and timed, and one more before those that are timed */
uint64_t rank_steps(const struct options *options)
{
	return options->demo ? options->iterations : 2 * options->iterations + 1;
}

static _Noreturn __attribute__((format(printf, 3, 4)))
void fail(struct member *me, int error, const char *format, ...)
{
	uint32_t nobody = NO_RANK;
	va_list args;

	va_start(args, format);
	vsnprintf(me->state->message, sizeof(me->state->message), format, args);
	va_end(args);
	me->state->error = error;
	atomic_compare_exchange_strong(&me->shared->first_failed, &nobody, me->rank);
	bell_ring(me->shared);
	_exit(EXIT_RANK_FAILED);
}

static void count_step(struct member *me)
{
	atomic_fetch_add_explicit(&me->state->steps, 1, memory_order_relaxed);
}

static void open_device(struct member *me)
{
	struct collq_oob callbacks;
	int rc = crew_open(me->options, me->state, &me->context);

	if (rc)
		fail(me, rc, "can't open %s for collectives",
		     me->options->device ? me->options->device : "an RDMA device");
	oob_init(&me->oob, me->shared, 0, me->rank, &callbacks);
	rc = collq_comm_create(me->context, me->rank, me->nr, &callbacks, &me->comm);
	if (rc)
		fail(me, rc, "can't make a communicator");
}

static void begin(struct member *me, uint32_t layout)
{
	const struct collq_alltoall_options how = {
		.size = sizeof(how),
		.layout = layout,
		.packing = me->options->packing,
		.radix = me->options->radix,
	};
	int rc;

	rc = collq_alltoall_init(me->comm, me->blocks.send, me->blocks.recv, me->blocks.bytes,
				 &how, &me->request);
	if (!rc)
		rc = collq_init_wait(me->request, 0);
	if (rc)
		fail(me, rc, "can't initialise the all-to-all");
	me->how.size = sizeof(me->how);
	collq_alltoall_chosen(me->request, &me->how);
}

/* Swaps the first two pieces that a task reads, if they are of one length. */
static bool swap_pieces(struct collq_graph *graph, int node)
{
	struct ib_collq_sge first, second;

	if (collq_graph_sge(graph, node, 0, &first) || collq_graph_sge(graph, node, 1, &second) ||
	    first.length != second.length)
		return false;
	return !collq_graph_set_sge(graph, node, 0, second.buffer, second.offset) &&
	       !collq_graph_set_sge(graph, node, 1, first.buffer, first.offset);
}

/* Has the rank give itself what is for its neighbour. */
static bool swap_own(const struct member *me, struct collq_graph *graph, int node)
{
	uint64_t block = me->blocks.bytes;
	struct ib_collq_sge sge;

	if (collq_graph_sge(graph, node, 0, &sge) || sge.buffer != COLLQ_BUFFER_SEND ||
	    sge.offset != me->rank * block || sge.length != block)
		return false;
	return !collq_graph_set_sge(graph, node, 0, COLLQ_BUFFER_SEND,
				    (me->rank + 1) % me->nr * block);
}

static int swap_blocks(const struct member *me, struct collq_graph *graph)
{
	struct collq_graph_node_info info = { .size = sizeof(info) };
	int node, nr = collq_graph_nr_nodes(graph);

	for (node = 0; node < nr; node++) {
		if (!collq_graph_node(graph, node, &info) && info.nr_sges > 1 &&
		    info.opcode != IB_COLLQ_TASK_RECV && swap_pieces(graph, node))
			return 0;
	}
	for (node = 0; node < nr; node++) {
		if (!collq_graph_node(graph, node, &info) && info.nr_sges == 1 &&
		    info.opcode == IB_COLLQ_TASK_COPY && swap_own(me, graph, node))
			return 0;
	}
	return -ENOENT;
}

/*
 * With blocks swapped, the all-to-all is a graph like any user's. All ranks do it that
 * way then, for an initialisation must be the same on all.
 */
static int begin_swapped(struct member *me)
{
	struct collq_needs needs = { .size = sizeof(needs) };
	struct collq_graph_data data = {
		.size = sizeof(data),
		.send = me->blocks.send,
		.recv = me->blocks.recv,
		.send_bytes = me->nr * me->blocks.bytes,
		.recv_bytes = me->nr * me->blocks.bytes,
	};
	struct collq_graph *graph = NULL, *prelude = NULL;
	int rc;

	collq_request_free(me->request);
	rc = collq_graph_new(&graph);
	if (!rc)
		rc = collq_graph_new(&prelude);
	if (!rc)
		rc = collq_alltoall_graph(graph, &me->how, &needs);
	if (!rc)
		rc = collq_alltoall_prelude(prelude, &me->how);
	if (!rc && me->rank == me->options->spoilt)
		rc = swap_blocks(me, graph);
	data.prelude = prelude;
	data.scratch = needs.scratch;
	data.generations = needs.generations;
	if (!rc)
		rc = collq_graph_data_init(me->comm, graph, &data, &me->request);
	collq_graph_free(graph);
	collq_graph_free(prelude);
	return rc ? rc : collq_init_wait(me->request, 0);
}

static void set_up(struct member *me, uint32_t layout)
{
	int rc = 0;

	open_device(me);
	if (!blocks_new(&me->blocks, me->rank, me->nr, me->options->bytes, false))
		fail(me, -ENOMEM, "can't allocate buffers");
	begin(me, layout);
	if (me->options->spoilt != NO_RANK)
		rc = begin_swapped(me);
	if (rc)
		fail(me, rc, "can't initialise the all-to-all with blocks swapped");
	me->state->tally[TALLY_LAYOUT] = me->how.layout;
}

static void run(struct member *me)
{
	struct collq_failure failure = { .size = sizeof(failure) };
	int rc = collq_start_wait(me->request, 0);

	if (rc && (collq_request_failure(me->request, &failure) || failure.peer == COLLQ_NONE))
		fail(me, rc, "start %" PRIu64, (uint64_t)me->state->steps);
	if (rc)
		fail(me, rc, "start %" PRIu64 ", step %" PRIu32 ", peer %" PRIu32,
		     (uint64_t)me->state->steps, failure.label, failure.peer);
	count_step(me);
}

static void check(struct member *me, uint64_t number)
{
	uint32_t from;
	uint64_t wrong = blocks_count_wrong(&me->blocks, number, &from);

	if (wrong && !me->state->violations)
		me->state->first = (struct violation) { .missing = from, .barrier = number };
	me->state->violations += wrong;
}

/* Half of the time none at all, else up to 0.4 ms, asleep. */
static void random_delay(struct member *me)
{
	struct timespec delay = { .tv_nsec = nrand48(me->random) % MAX_DELAY_NS };

	if (nrand48(me->random) & (1 << 20))
		nanosleep(&delay, NULL);
}

static void verify(struct member *me)
{
	uint64_t i;

	for (i = 0; i < me->options->iterations; i++) {
		blocks_fill(&me->blocks, i);
		random_delay(me);
		run(me);
		random_delay(me);
		check(me, i);
	}
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* What the module has counted of the only queue of this context. */
static void read_queue(struct member *me, struct ib_collq_queue_info *info)
{
	struct ib_collq_object_describe describe = { .flags = IB_COLLQ_DESCRIBE_NEXT };

	*info = (struct ib_collq_queue_info) { };
	for (;; describe.id++) {
		describe.info = (uintptr_t)info;
		describe.info_size = sizeof(*info);
		describe.nr = 0;
		describe.entry_size = 0;
		if (collq_object_describe(me->context, &describe))
			break;
		if (describe.type == IB_COLLQ_OBJECT_QUEUE)
			return;
	}
	*info = (struct ib_collq_queue_info) { };
}

/* The rank's own block, which every layout must move, isn't counted. */
static void tally(struct member *me, const struct ib_collq_queue_info *before,
		  const struct sends *sends_before)
{
	struct collq_graph_totals totals = { .size = sizeof(totals) };
	uint64_t runs = rank_steps(me->options), *to = me->state->tally;
	struct ib_collq_queue_info after;
	struct sends sends;

	read_queue(me, &after);
	count_sends(me->context, &sends);
	sends.wire -= sends_before->wire;
	sends.local -= sends_before->local;
	collq_graph_totals(collq_request_graph(me->request), &totals);
	to[TALLY_COPIED] = (after.copied - before->copied) / runs;
	if (to[TALLY_COPIED])
		to[TALLY_COPIED] -= me->blocks.bytes;
	to[TALLY_TO_COPY] = totals.copied_bytes - me->blocks.bytes;
	to[TALLY_SGES] = (after.sges - before->sges) / runs;
	/* Those of the runs at either end may have been under way. */
	to[TALLY_MESSAGES] = (sends.wire + sends.local + runs / 2) / runs;
	to[TALLY_TO_SEND] = totals.sends + totals.signals;
	to[TALLY_LOCAL] = (sends.local + runs / 2) / runs;
}

/* The memory is touched before, and one run that isn't timed lines up the ranks. */
static void measure(struct member *me)
{
	uint64_t *latency_ns = shared_latencies(me->shared, me->rank);
	uint64_t nr = me->options->iterations, i, last, now;

	memset(latency_ns, 0xff, nr * sizeof(*latency_ns));
	blocks_fill(&me->blocks, nr);
	run(me);
	last = now_ns();
	for (i = 0; i < nr; i++) {
		run(me);
		now = now_ns();
		latency_ns[i] = now - last;
		last = now;
	}
	check(me, nr);
}

static void take_down(struct member *me)
{
	int rc;

	collq_request_free(me->request);
	rc = collq_comm_destroy(me->comm);
	if (!rc)
		rc = collq_close(me->context);
	if (rc)
		fail(me, rc, "can't take all down again");
	blocks_free(&me->blocks);
}

void rank_main(const struct options *options, struct shared *shared, uint32_t algorithm,
	       uint32_t number)
{
	struct member me = {
		.options = options,
		.shared = shared,
		.state = &shared->rank[number],
		.rank = number,
		.nr = shared->nr_ranks,
		.random = { options->seed, options->seed >> 16, number },
	};
	struct ib_collq_queue_info before;
	struct sends sends_before;

	set_up(&me, algorithm);
	read_queue(&me, &before);
	count_sends(me.context, &sends_before);
	gate_pass(shared, me.state, PHASE_CONNECTED);
	verify(&me);
	gate_pass(shared, me.state, PHASE_VERIFIED);
	if (!options->demo)
		measure(&me);
	tally(&me, &before, &sends_before);
	gate_pass(shared, me.state, PHASE_FINISHED);
	take_down(&me);
	_exit(0);
}
