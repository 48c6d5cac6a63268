// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Communicators: initialisation by all ranks, and what requests share. How one fails
 * is in init_test.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "team.h"

/* Emulated machines are slow; deadlines inside are tighter. */
#define LIMIT_S		120

#define RUNS		20

FIXTURE(comm) { };
FIXTURE_SETUP(comm) { }
FIXTURE_TEARDOWN(comm) { }

FIXTURE(algorithm) { };

FIXTURE_VARIANT(algorithm) {
	uint32_t algorithm, radix;
};

FIXTURE_VARIANT_ADD(algorithm, automatic) { COLLQ_BARRIER_AUTO, 0 };
FIXTURE_VARIANT_ADD(algorithm, dissemination) { COLLQ_BARRIER_DISSEMINATION, 0 };
FIXTURE_VARIANT_ADD(algorithm, recursive_doubling) { COLLQ_BARRIER_RECURSIVE_DOUBLING, 0 };
FIXTURE_VARIANT_ADD(algorithm, k_nomial) { COLLQ_BARRIER_K_NOMIAL, 0 };
FIXTURE_VARIANT_ADD(algorithm, k_nomial_2) { COLLQ_BARRIER_K_NOMIAL, 2 };
/* The root has more peers than fit one allgather: some records come in a second. */
FIXTURE_VARIANT_ADD(algorithm, k_nomial_8) { COLLQ_BARRIER_K_NOMIAL, 8 };
FIXTURE_SETUP(algorithm) { }
FIXTURE_TEARDOWN(algorithm) { }

static uint32_t algorithm, radix;

static void barriers(struct team_member *me)
{
	struct collq_request *request = team_barrier(me, 0, algorithm, radix);

	team_run_verified(me, request, 0, RUNS);
	collq_request_free(request);
}

TEST_F_TIMEOUT(algorithm, holds_for_any_size, LIMIT_S)
{
	uint32_t size;

	algorithm = variant->algorithm;
	radix = variant->radix;
	for (size = 1; size <= TEAM_MAX; size++)
		EXPECT_EQ(0, team_run(size, barriers));
}

/* Rank 0 starts X, then Y; rank 1 Y, then X. In one queue they'd deadlock. */
static void crossed(struct team_member *me)
{
	uint32_t first = me->rank & 1;
	struct collq_request *requests[2];
	uint32_t i, j;

	for (i = 0; i < 2; i++)
		requests[i] = team_barrier(me, i, COLLQ_BARRIER_AUTO, 0);
	for (i = 0; i < 1000; i++) {
		for (j = 0; j < 2; j++) {
			team_enter(me, j ^ first);
			CHECK_IS(0, collq_start(requests[j ^ first], team_deadline()));
		}
		for (j = 0; j < 2; j++) {
			CHECK_IS(0, collq_wait(requests[j], team_deadline()));
			team_check_left(me, j);
		}
	}
	for (i = 0; i < 2; i++)
		collq_request_free(requests[i]);
}

TEST_F_TIMEOUT(comm, communicators_are_started_in_any_order, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, crossed));
}

/* Started one way round, gone on with the other way round. */
static void overlapping_inits(struct team_member *me)
{
	struct collq_request *requests[4];
	uint32_t i, first = me->rank % 4;

	for (i = 0; i < 4; i++)
		CHECK_IS(0, collq_barrier_init(me->comm[0], NULL, &requests[i]));
	CHECK_IS(0, collq_init_wait(requests[first], team_deadline()));
	for (i = 0; i < 4; i++)
		CHECK_IS(0, collq_init_wait(requests[i], team_deadline()));
	for (i = 0; i < 4; i++)
		team_run_verified(me, requests[i], 0, 5);
	for (i = 0; i < 4; i++)
		collq_request_free(requests[i]);
}

TEST_F_TIMEOUT(comm, initialisations_overlap, LIMIT_S)
{
	EXPECT_EQ(0, team_run(4, overlapping_inits));
}

static int blocking_allgather(void *arg, const void *send, void *recv, size_t bytes)
{
	struct collq_oob *oob = arg;
	void *request;
	int err;

	err = oob->allgather(oob->arg, send, recv, bytes, &request);
	if (err)
		return err;
	do
		err = oob->test(oob->arg, request);
	while (err == -EINPROGRESS);
	oob->req_free(oob->arg, request);
	return err;
}

static void blocking(struct team_member *me)
{
	struct collq_oob inner = team_oob(me, 1), oob = { .size = sizeof(oob) };
	struct collq_oob_blocking function = { sizeof(function), &inner, blocking_allgather };
	struct collq_request *request;
	struct collq_comm *comm;

	CHECK_IS(0, collq_oob_from_blocking(&oob, &function));
	CHECK_IS(0, collq_comm_create(me->ctx, me->rank, me->size, &oob, &comm));
	CHECK_IS(0, collq_barrier_init(comm, NULL, &request));
	CHECK_IS(0, collq_init_test(request));
	team_run_verified(me, request, 0, 5);
	CHECK_IS(-EBUSY, collq_comm_destroy(comm));
	CHECK_IS(-EBUSY, collq_close(me->ctx));
	collq_request_free(request);
	CHECK_IS(0, collq_comm_destroy(comm));
}

TEST_F_TIMEOUT(comm, allgather_may_block, LIMIT_S)
{
	EXPECT_EQ(0, team_run(3, blocking));
}

/* An endpoint with room for two requests: then there must be another. */
#define TIGHT	"4"
#define NR_TIGHT	7

static void run_all(struct team_member *me, struct collq_request **requests, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		CHECK_IS(0, collq_start(requests[i], team_deadline()));
	for (i = nr - 1; i >= 0; i--)
		CHECK_IS(0, collq_wait(requests[i], team_deadline()));
}

static void capacity_runs_out(struct team_member *me)
{
	struct collq_request *requests[NR_TIGHT];
	uint32_t round, i, j, swap[NR_TIGHT];

	for (round = 0; round < 6; round++) {
		for (i = 0; i < NR_TIGHT; i++)
			requests[i] = team_barrier(me, 0, COLLQ_BARRIER_DISSEMINATION, 0);
		/*
		 * Four endpoints, or five: what one round has freed is of use only
		 * once its successor has told so, so two rounds overlap.
		 */
		CHECK(team_count(me, IB_COLLQ_OBJECT_ENDPOINT) >= 4);
		CHECK(team_count(me, IB_COLLQ_OBJECT_ENDPOINT) <= 5);
		run_all(me, requests, NR_TIGHT);

		/* Each rank frees in an order of its own. */
		for (i = 0; i < NR_TIGHT; i++) {
			j = team_random(i + 1);
			swap[i] = swap[j];
			swap[j] = i;
		}
		for (i = 0; i < NR_TIGHT; i++)
			collq_request_free(requests[swap[i]]);
		CHECK_IS(0, team_count(me, IB_COLLQ_OBJECT_COUNTER));
		CHECK_IS(0, team_count(me, IB_COLLQ_OBJECT_QUEUE));
	}
}

TEST_F_TIMEOUT(comm, full_endpoints_get_company, LIMIT_S)
{
	setenv("COLLQ_RC_CAPACITY", TIGHT, 1);
	EXPECT_EQ(0, team_run(2, capacity_runs_out));
	unsetenv("COLLQ_RC_CAPACITY");
}

#define NR_HELD		5

/*
 * Each rank holds some requests, and frees one at random when it wants another:
 * not the one that its peers free. What is used of an endpoint differs between
 * its two sides for a long time then, and they must choose the same ones still.
 */
static void free_out_of_step(struct team_member *me)
{
	struct collq_request *held[NR_HELD] = { NULL };
	uint32_t i, which;

	for (i = 0; i < 60; i++) {
		which = i < NR_HELD ? i : team_random(NR_HELD);
		collq_request_free(held[which]);
		held[which] = team_barrier(me, 0, COLLQ_BARRIER_DISSEMINATION, 0);
		team_run_verified(me, held[which], 0, 1);
	}
	for (i = 0; i < NR_HELD; i++)
		collq_request_free(held[i]);
	CHECK_IS(0, team_count(me, IB_COLLQ_OBJECT_COUNTER));
}

TEST_F_TIMEOUT(comm, ranks_free_out_of_step, LIMIT_S)
{
	setenv("COLLQ_RC_CAPACITY", TIGHT, 1);
	EXPECT_EQ(0, team_run(3, free_out_of_step));
	unsetenv("COLLQ_RC_CAPACITY");
}

/* How many peers a rank has in the two barriers below. */
static uint32_t count_peers(const struct team_member *me)
{
	uint32_t distance, step, nr = 0;

	for (distance = 1; distance < me->size; distance++) {
		for (step = 1; step < me->size; step *= 2)
			if (distance == step || distance == me->size - step)
				break;
		nr += step < me->size || !me->rank || (me->rank + distance) % me->size == 0;
	}
	return nr;
}

/*
 * An endpoint of one rank fails, here because it is destroyed behind the library's
 * back. That rank finds out, its peer perhaps not yet, the others never, and all begin
 * again: also those that would connect for the first time, as the first tree makes
 * them. Afterwards there's another in its place.
 */
static void endpoint_fails(struct team_member *me)
{
	struct ib_collq_object_destroy destroy = { .type = IB_COLLQ_OBJECT_ENDPOINT };
	struct collq_request *request = team_barrier(me, 0, COLLQ_BARRIER_DISSEMINATION, 0);
	uint32_t i, round;

	team_run_verified(me, request, 0, 2);
	collq_request_free(request);
	for (round = 0; round < 3; round++) {
		if (me->rank == round) {
			destroy.id = team_endpoint(me);
			CHECK_IS(1, collq_object_destroy(me->ctx, &destroy, 1));
		}
		if (round)
			team_meet(me);
		/* What has failed is kept until both have told that they use it no more. */
		for (i = 0; i < 4; i++) {
			request = team_barrier(me, 0, i % 2 ? COLLQ_BARRIER_DISSEMINATION :
					       COLLQ_BARRIER_K_NOMIAL, i % 2 ? 0 : TEAM_MAX);
			team_run_verified(me, request, 0, 2);
			collq_request_free(request);
		}
		CHECK_IS(count_peers(me), team_count(me, IB_COLLQ_OBJECT_ENDPOINT));
	}
}

TEST_F_TIMEOUT(comm, endpoints_that_fail_are_replaced, LIMIT_S)
{
	setenv("COLLQ_LOG_LEVEL", "error", 1);
	EXPECT_EQ(0, team_run(2, endpoint_fails));
	EXPECT_EQ(0, team_run(TEAM_MAX, endpoint_fails));
	unsetenv("COLLQ_LOG_LEVEL");
}

/* Slot and generation of the only slot of the only endpoint that has one. */
static struct ib_collq_slot_bind bound_slot(struct team_member *me)
{
	struct ib_collq_object_describe describe = { .flags = IB_COLLQ_DESCRIBE_NEXT };
	struct ib_collq_slot_bind slots[8] = { { 0 } };

	for (;; describe.id++) {
		describe.entries = (uintptr_t)slots;
		describe.entry_size = sizeof(slots[0]);
		describe.nr = 8;
		CHECK_IS(0, collq_object_describe(me->ctx, &describe));
		if (describe.type == IB_COLLQ_OBJECT_ENDPOINT && describe.nr)
			break;
	}
	CHECK_IS(1, describe.nr);
	return slots[0];
}

static void slots_come_again(struct team_member *me)
{
	struct ib_collq_slot_bind slot, first = { 0 };
	uint32_t i, again = 0;

	for (i = 0; i < 10; i++) {
		struct collq_request *request = team_barrier(me, 0, COLLQ_BARRIER_DISSEMINATION, 0);

		slot = bound_slot(me);
		if (!i)
			first = slot;
		else if (slot.slot == first.slot)
			CHECK_IS(first.generation + ++again, slot.generation);
		team_run_verified(me, request, 0, 2);
		collq_request_free(request);
		CHECK_IS(0, team_count(me, IB_COLLQ_OBJECT_COUNTER));
		CHECK_IS(0, team_count(me, IB_COLLQ_OBJECT_GRAPH));
		CHECK_IS(1, team_count(me, IB_COLLQ_OBJECT_ENDPOINT));
		CHECK(slot.slot <= 1);
	}
	CHECK(again >= 4);
}

TEST_F_TIMEOUT(comm, slots_are_used_again_with_another_generation, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, slots_come_again));
}

/* A ring of messages: rank i signals i + 1, when it has heard of i - 1. */
static void own_graph(struct team_member *me)
{
	uint32_t next = (me->rank + 1) % me->size;
	uint32_t previous = (me->rank + me->size - 1) % me->size;
	struct collq_request *request;
	struct collq_graph *graph;
	int i, signal, wait;

	CHECK_IS(0, collq_graph_new(&graph));
	signal = collq_graph_signal(graph, collq_graph_out(graph, next, 9), 1);
	wait = collq_graph_wait(graph, collq_graph_in(graph, previous, 9), 1, 2);
	if (me->rank)
		CHECK_IS(0, collq_graph_after(graph, signal, wait));
	CHECK_IS(0, collq_graph_init(me->comm[0], graph, &request));
	collq_graph_free(graph);
	CHECK_IS(0, collq_init_wait(request, team_deadline()));
	for (i = 0; i < RUNS; i++) {
		team_enter(me, 0);
		CHECK_IS(0, collq_start_wait(request, team_deadline()));
		/* Rank 0 hears last, when all have entered. */
		if (!me->rank)
			team_check_left(me, 0);
	}
	collq_request_free(request);
}

/* Rank 1 has no such channel as rank 0 sends to. */
static void graphs_differ(struct team_member *me)
{
	struct collq_request *request;
	struct collq_graph *graph;

	CHECK_IS(0, collq_graph_new(&graph));
	if (!me->rank)
		collq_graph_signal(graph, collq_graph_out(graph, 1, 5), 0);
	else
		collq_graph_wait(graph, collq_graph_in(graph, 0, 6), 1, 0);
	CHECK_IS(0, collq_graph_init(me->comm[0], graph, &request));
	CHECK_IS(-EINVAL, collq_init_wait(request, team_deadline()));
	collq_request_free(request);
	CHECK_IS(0, team_count_all(me));

	/* More signals than are waited for. */
	if (!me->rank) {
		collq_graph_signal(graph, collq_graph_out(graph, 1, 6), 0);
	} else {
		collq_graph_wait(graph, collq_graph_in(graph, 0, 5), 1, 0);
		collq_graph_wait(graph, collq_graph_in(graph, 0, 6), 1, 0);
	}
	CHECK_IS(0, collq_graph_init(me->comm[0], graph, &request));
	CHECK_IS(-EINVAL, collq_init_wait(request, team_deadline()));
	collq_request_free(request);
	collq_graph_free(graph);
	CHECK_IS(0, team_count_all(me));

	/* And nobody of that number. */
	CHECK_IS(0, collq_graph_new(&graph));
	collq_graph_signal(graph, collq_graph_out(graph, me->rank ? 0 : 2, 5), 0);
	CHECK_IS(0, collq_graph_init(me->comm[0], graph, &request));
	CHECK_IS(-EINVAL, collq_init_wait(request, team_deadline()));
	collq_request_free(request);
	collq_graph_free(graph);
	CHECK_IS(0, team_count_all(me));
}

TEST_F_TIMEOUT(comm, any_graph_can_be_run, LIMIT_S)
{
	EXPECT_EQ(0, team_run(5, own_graph));
	EXPECT_EQ(0, team_run(2, graphs_differ));
}

static void bad_arguments(struct team_member *me)
{
	struct collq_oob oob = team_oob(me, 0);
	struct collq_context *ctx;
	struct collq_comm *comm;
	char name[80];

	CHECK_IS(-EINVAL, collq_comm_create(me->ctx, 2, 2, &oob, &comm));
	CHECK_IS(-EINVAL, collq_comm_create(me->ctx, 0, 0, &oob, &comm));
	CHECK_IS(-EINVAL, collq_comm_create(me->ctx, 0, 2, NULL, &comm));
	oob.test = NULL;
	CHECK_IS(-EINVAL, collq_comm_create(me->ctx, 0, 2, &oob, &comm));

	/* By uverbs it's a descriptor that names the device. */
	CHECK_IS(0, setenv("COLLQ_FRONT_END", "char", 1));
	CHECK_IS(-ENODEV, collq_open("nosuch0", &ctx));
	snprintf(name, sizeof(name), "%s:%u", collq_context_device(me->ctx),
		 collq_context_port(me->ctx));
	CHECK_IS(0, collq_open(name, &ctx));
	CHECK(!strcmp(collq_context_device(ctx), collq_context_device(me->ctx)));
	CHECK_IS(collq_context_gid_index(me->ctx), collq_context_gid_index(ctx));
	CHECK_IS(0, collq_close(ctx));
	strcat(name, "7");
	CHECK_IS(-ENODEV, collq_open(name, &ctx));
	CHECK_IS(-EINVAL, collq_open("", &ctx));
	CHECK_IS(-EINVAL, collq_open("rxe0:", &ctx));
	CHECK_IS(-EINVAL, collq_open("rxe0:1x", &ctx));
	CHECK_IS(-EINVAL, collq_open("../rxe0", &ctx));
	CHECK_IS(0, setenv("COLLQ_NET_DEVICES", "nosuch0", 1));
	CHECK_IS(-ENODEV, collq_open(NULL, &ctx));
	CHECK_IS(0, setenv("COLLQ_NET_DEVICES", "nosuch0,rxe0:1", 1));
	CHECK_IS(0, collq_open(NULL, &ctx));
	CHECK_IS(0, collq_close(ctx));
	/* Though the first one would do. */
	CHECK_IS(0, setenv("COLLQ_NET_DEVICES", "rxe0:1,", 1));
	CHECK_IS(-EINVAL, collq_open(NULL, &ctx));
	CHECK_IS(0, setenv("COLLQ_TLS", "local", 1));
	CHECK_IS(-EOPNOTSUPP, collq_open(NULL, &ctx));
	CHECK_IS(0, setenv("COLLQ_TLS", "tcp", 1));
	CHECK_IS(-EINVAL, collq_open(NULL, &ctx));
}

TEST_F_TIMEOUT(comm, bad_arguments_are_refused, LIMIT_S)
{
	setenv("COLLQ_LOG_LEVEL", "none", 1);
	EXPECT_EQ(0, team_run(1, bad_arguments));
	unsetenv("COLLQ_LOG_LEVEL");
}

TEST_HARNESS_MAIN
