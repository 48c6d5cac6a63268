// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One rank: see survivors.h.
 *
 * Nothing has a deadline: what it gets it gets from the kernel. It stays when all has
 * failed, until the parent goes, since one that leaves would be news in itself.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "link.h"
#include "survivors.h"

#define MAX_WAYS	16
#define BYTES		3000U	/* of a block: several packets */
#define PATIENCE_NS	120000000000ULL
#define WARM_UP		10	/* runs of what is endless */
#define PACE_US		5000	/* between them, on rank 0: so that others are within one */

/* @passed: runs; @over: has failed */
struct running {
	struct collq_context *ctx;
	struct collq_comm *comm;
	struct collq_request *request;
	uint32_t passed;
	bool over;
};

static struct link parent;
static uint32_t own_rank, nr_ranks;

static void say(enum survivors_record type, uint32_t comm, int64_t value, const void *data,
		uint32_t length)
{
	const struct record record = {
		.type = type,
		.rank = own_rank,
		.comm = comm,
		.value = value,
		.length = length,
	};

	link_put(&parent, &record, data);
}

/* Hears the parent out, and ends with it. */
static void move(void)
{
	if (link_move(&parent))
		exit(0);
}

static const void *await(enum survivors_record type, uint32_t *length)
{
	struct pollfd fds[2];
	struct record record;
	const void *data;

	for (;;) {
		move();
		if (link_next(&parent, &record, &data))
			break;
		poll(fds, link_poll(&parent, fds), -1);
	}
	if (record.type != type)
		survivors_fail("another record was due", -EPROTO);
	if (length)
		*length = record.length;
	return data;
}

static int allgather(void *arg, const void *send, void *recv, size_t bytes)
{
	const void *data;
	uint32_t length;

	(void)arg;
	say(SURVIVORS_GATHER, 0, 0, send, bytes);
	data = await(SURVIVORS_GATHER, &length);
	if (length != nr_ranks * bytes)
		return -EPROTO;
	memcpy(recv, data, length);
	return 0;
}

static void must(const char *what, int err)
{
	if (err)
		survivors_fail(what, err);
}

static void init_barrier(const struct survivors_way *way, struct collq_comm *comm,
			 struct collq_request **request)
{
	const struct collq_barrier_options options = {
		.size = sizeof(options),
		.algorithm = way->kind,
		.radix = way->kind == COLLQ_BARRIER_K_NOMIAL ? 2 : 0,
	};

	must("collq_barrier_init", collq_barrier_init(comm, &options, request));
}

static void init_alltoall(const struct survivors_way *way, struct collq_comm *comm,
			  struct collq_request **request)
{
	static char buffers[MAX_WAYS][2][SURVIVORS_MAX * BYTES];
	const struct collq_alltoall_options options = {
		.size = sizeof(options),
		.layout = way->kind,
	};
	char (*buffer)[SURVIVORS_MAX * BYTES] = buffers[way - survivors_ways];

	must("collq_alltoall_init",
	     collq_alltoall_init(comm, buffer[0], buffer[1], BYTES, &options, request));
}

/*
 * Of those who only wait: from the last rank down to the first, each hears of it from the
 * next; or all do from the last one. Only who is asked to pass it on ever sends.
 */
static void init_waiting(const struct survivors_way *way, struct collq_comm *comm,
			 struct collq_request **request)
{
	bool to_all = way->kind;
	struct collq_graph *graph;
	uint32_t last = nr_ranks - 1, from = to_all ? last : own_rank + 1, i;
	int wait = -1, node;

	must("collq_graph_new", collq_graph_new(&graph));
	if (own_rank != last)
		wait = collq_graph_wait(graph, collq_graph_in(graph, from, 0), 1, 0);
	for (i = 0; i < last; i++) {
		if (to_all ? own_rank != last : i + 1 != own_rank)
			continue;
		node = collq_graph_signal(graph, collq_graph_out(graph, i, 0), 0);
		if (wait >= 0)
			collq_graph_after(graph, node, wait);
	}
	must("collq_graph_init", collq_graph_init(comm, graph, request));
	collq_graph_free(graph);
}

const struct survivors_way survivors_ways[] = {
	{ "chain", "rc", false, init_waiting, 0 },
	{ "chain-local", "local,rc", false, init_waiting, 0 },
	{ "fan-out", "rc", false, init_waiting, 1 },
	{ "tree", "rc", false, init_barrier, COLLQ_BARRIER_K_NOMIAL },
	{ "tree-local", "local,rc", false, init_barrier, COLLQ_BARRIER_K_NOMIAL },
	{ "pairwise", "rc", false, init_alltoall, COLLQ_ALLTOALL_PAIRWISE },
	{ "bruck", "rc", false, init_alltoall, COLLQ_ALLTOALL_A },
	{ "barriers", "rc", true, init_barrier, COLLQ_BARRIER_DISSEMINATION },
	{ "alltoalls", "rc", true, init_alltoall, COLLQ_ALLTOALL_D },
};

_Static_assert(sizeof(survivors_ways) / sizeof(survivors_ways[0]) <= MAX_WAYS, "more ways");
const uint32_t survivors_nr_ways = sizeof(survivors_ways) / sizeof(survivors_ways[0]);

static void begin(const struct survivors_way *way, struct running *run)
{
	static const struct collq_oob_blocking blocking = {
		.size = sizeof(blocking),
		.allgather = allgather,
	};
	struct collq_oob oob = { .size = sizeof(oob) };

	setenv("COLLQ_TLS", way->tls, 1);
	must("collq_oob_from_blocking", collq_oob_from_blocking(&oob, &blocking));
	must("collq_open", collq_open(NULL, &run->ctx));
	must("collq_comm_create",
	     collq_comm_create(run->ctx, own_rank, nr_ranks, &oob, &run->comm));
	way->init(way, run->comm, &run->request);
	must("collq_init_wait", collq_init_wait(run->request, collq_deadline_in(PATIENCE_NS)));
}

/* Goes on with what is endless. Anything else that ends well is as wrong as can be. */
static void look_at(uint32_t way, struct running *run)
{
	int err;

	while (!run->over) {
		err = collq_test(run->request);
		if (err == -EINPROGRESS)
			return;
		if (!err && survivors_ways[way].endless) {
			run->passed++;
			if (!own_rank)
				usleep(PACE_US);
			err = collq_start(run->request, 0);
			if (!err)
				continue;
		}
		run->over = true;
		say(SURVIVORS_RESULT, way, err, NULL, 0);
	}
}

static bool all_run(const struct running *runs)
{
	uint32_t i;

	for (i = 0; i < survivors_nr_ways; i++)
		if (survivors_ways[i].endless && runs[i].passed < WARM_UP)
			return false;
	return true;
}

static _Noreturn void watch(struct running *runs)
{
	struct pollfd fds[2 + MAX_WAYS];
	bool started = false;
	uint32_t i, nr;

	for (;;) {
		for (i = 0; i < survivors_nr_ways; i++)
			look_at(i, &runs[i]);
		if (!started && all_run(runs)) {
			started = true;
			say(SURVIVORS_STARTED, 0, 0, NULL, 0);
		}
		move();
		nr = link_poll(&parent, fds);
		for (i = 0; i < survivors_nr_ways; i++)
			if (!runs[i].over)
				fds[nr++] = (struct pollfd) {
					.fd = collq_fd(runs[i].ctx),
					.events = POLLIN,
				};
		poll(fds, nr, -1);
	}
}

int survivors_rank(uint32_t rank, uint32_t size, uint32_t doomed)
{
	static struct running runs[MAX_WAYS];
	uint32_t i;

	own_rank = rank;
	nr_ranks = size;
	must("link_standard", link_standard(&parent));
	for (i = 0; i < survivors_nr_ways; i++)
		begin(&survivors_ways[i], &runs[i]);
	say(SURVIVORS_READY, 0, 0, NULL, 0);
	await(SURVIVORS_READY, NULL);
	for (i = 0; i < survivors_nr_ways; i++) {
		runs[i].over = rank >= doomed && !survivors_ways[i].endless;
		if (!runs[i].over)
			must("collq_start", collq_start(runs[i].request, 0));
	}
	watch(runs);
}
