// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that move data, from wrong arguments to their end: ranks that don't agree,
 * other buffers, cancelled runs and resets, what is left behind.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "alloc_wrap.h"
#include "exchanges.h"
#include "team.h"

#define LIMIT_S		60

FIXTURE(life) { };
FIXTURE_SETUP(life) { }
FIXTURE_TEARDOWN(life) { }

static void small_exchange(struct team_member *me, struct exchange *exchange, uint32_t layout)
{
	exchange_new(me, 0, exchange, 50, layout, COLLQ_PACKING_CPU, 2, false);
}

/* Each fails everywhere, and the communicator is as good as before. */
static void fails(struct team_member *me, int err, const void *send, void *recv, uint64_t bytes,
		  uint32_t layout, uint32_t packing, uint32_t radix)
{
	const struct collq_alltoall_options options = {
		.size = sizeof(options),
		.layout = layout,
		.packing = packing,
		.radix = radix,
	};
	struct collq_request *request;

	CHECK_IS(0, collq_alltoall_init(me->comm[0], send, recv, bytes, &options, &request));
	CHECK_IS(err, collq_init_wait(request, team_deadline()));
	CHECK_IS(err, collq_start(request, 0));
	CHECK_IS(err, collq_request_bind(request, send, recv));
	collq_request_free(request);
}

static void wrong_arguments(struct team_member *me)
{
	static char send[4096], recv[4096];
	struct exchange exchange;
	bool first = !me->rank;

	/* One rank is wrong, or all are. */
	fails(me, -EINVAL, send, first ? NULL : recv, 8, 0, 0, 0);
	fails(me, -EINVAL, first ? NULL : send, recv, 8, 0, 0, 0);
	fails(me, -EINVAL, first ? recv + 8 * me->size - 1 : send, recv, 8, 0, 0, 0);
	fails(me, -EINVAL, send, recv, UINT64_MAX / me->size, 0, 0, 0);
	fails(me, -EINVAL, send, recv, 8, COLLQ_ALLTOALL_PAIRWISE + 1, 0, 0);
	fails(me, -EINVAL, send, recv, 8, COLLQ_ALLTOALL_A, COLLQ_PACKING_SELECTIVE + 1, 0);
	fails(me, -EINVAL, send, recv, 8, COLLQ_ALLTOALL_A, COLLQ_PACKING_CPU, 1);
	/* Ranks don't agree. */
	fails(me, -EINVAL, send, recv, first ? 9 : 8, 0, 0, 0);
	fails(me, -EINVAL, send, recv, 8, first ? COLLQ_ALLTOALL_B : COLLQ_ALLTOALL_C, 0, 0);
	fails(me, -EINVAL, send, recv, 8, COLLQ_ALLTOALL_A,
	      first ? COLLQ_PACKING_CPU : COLLQ_PACKING_SG, 0);
	fails(me, -EINVAL, send, recv, 8, COLLQ_ALLTOALL_A, 0, first ? 2 : 3);
	fails(me, -EINVAL, first ? COLLQ_IN_PLACE : send, recv, 8, COLLQ_ALLTOALL_A, 0, 0);
	/* There's no such memory. */
	fails(me, -EFAULT, send, first ? (void *)4096 : recv, 8, COLLQ_ALLTOALL_A, 0, 0);

	small_exchange(me, &exchange, COLLQ_ALLTOALL_A);
	exchange_run(me, &exchange);
	exchange_free(&exchange);
}

TEST_F_TIMEOUT(life, wrong_arguments_fail_everywhere, LIMIT_S)
{
	EXPECT_EQ(0, team_run(3, wrong_arguments));
}

/* One rank begins something else. */
static void other_kinds(struct team_member *me)
{
	static int32_t send[64], recv[64];
	struct collq_request *request;

	if (me->rank)
		CHECK_IS(0, collq_alltoall_init(me->comm[0], send, recv, 8, NULL, &request));
	else
		CHECK_IS(0, collq_barrier_init(me->comm[0], NULL, &request));
	CHECK_IS(-EINVAL, collq_init_wait(request, team_deadline()));
	collq_request_free(request);
	if (me->rank)
		CHECK_IS(0, collq_alltoall_init(me->comm[0], send, recv, 8, NULL, &request));
	else
		CHECK_IS(0, collq_allreduce_init(me->comm[0], send, recv, 8, IB_COLLQ_CALC_MAX,
						 IB_COLLQ_TYPE_S32, &request));
	CHECK_IS(-EINVAL, collq_init_wait(request, team_deadline()));
	collq_request_free(request);
	CHECK_IS(0, collq_allreduce_init(me->comm[0], send, recv, 8, IB_COLLQ_CALC_MAX,
					 me->rank ? IB_COLLQ_TYPE_S32 : IB_COLLQ_TYPE_U32,
					 &request));
	CHECK_IS(-EINVAL, collq_init_wait(request, team_deadline()));
	collq_request_free(request);
	CHECK_IS(0, collq_allreduce_init(me->comm[0], send, recv, 8, IB_COLLQ_CALC_MAX, 99,
					 &request));
	CHECK_IS(-EINVAL, collq_init_wait(request, team_deadline()));
	collq_request_free(request);
}

TEST_F_TIMEOUT(life, ranks_that_do_other_things, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, other_kinds));
}

/* A graph that moves data needs buffers to be told. */
static void no_buffers(struct team_member *me)
{
	struct collq_request *request;
	struct collq_graph *graph;

	CHECK_IS(0, collq_graph_new(&graph));
	CHECK_IS(0, collq_graph_message(graph, !me->rank, 0));
	CHECK_IS(0, collq_graph_init(me->comm[0], graph, &request));
	CHECK_IS(-EOPNOTSUPP, collq_init_wait(request, team_deadline()));
	collq_request_free(request);
	collq_graph_free(graph);
}

TEST_F_TIMEOUT(life, graph_without_buffers, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, no_buffers));
}

/*
 * What is run before any rank has begun can't send, nor name buffers that aren't there, nor
 * post more than the channel takes: here all of two generations, in each of two.
 */
static void wrong_preludes(struct team_member *me)
{
	static char buffer[64];
	struct ib_collq_sge sge = { .buffer = COLLQ_BUFFER_RECV, .length = 8 };
	struct collq_graph_data data = {
		.size = sizeof(data), .generations = 2, .recv = buffer, .recv_bytes = 64,
	};
	struct collq_request *request;
	struct collq_graph *graph[2];
	uint32_t i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 2; i++) {
			CHECK_IS(0, collq_graph_new(&graph[i]));
			CHECK_IS(0, collq_graph_message(graph[i], !me->rank, 0));
			CHECK_IS(0, collq_graph_recv_data(graph[i], 0, &sge, 1, 0));
		}
		CHECK(collq_graph_send_data(graph[0], 0, &sge, 1, 0) > 0);
		if (round == 0)
			sge.buffer = 9;
		if (round == 1)
			CHECK(collq_graph_send_data(graph[1], 0, &sge, 1, 0) > 0);
		else
			CHECK(collq_graph_recv_data(graph[1], 0, &sge, 1, 0) > 0);
		sge.buffer = COLLQ_BUFFER_RECV;
		data.prelude = graph[1];
		CHECK_IS(0, collq_graph_data_init(me->comm[0], graph[0], &data, &request));
		CHECK_IS(-EINVAL, collq_init_wait(request, team_deadline()));
		collq_request_free(request);
		for (i = 0; i < 2; i++)
			collq_graph_free(graph[i]);
	}
}

TEST_F_TIMEOUT(life, wrong_preludes, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, wrong_preludes));
}

static void other_buffers(struct team_member *me)
{
	struct blocks first, second;
	struct exchange exchange;
	int i;

	small_exchange(me, &exchange, me->team->lazy % 2 ? COLLQ_ALLTOALL_D : COLLQ_ALLTOALL_B);
	first = exchange.blocks;
	CHECK(blocks_new(&second, me->rank, me->size, first.bytes, false));
	for (i = 0; i < 20; i++) {
		/* Each rank when it likes. */
		if ((i + me->rank) % 3 == 0) {
			exchange.blocks = exchange.blocks.recv == first.recv ? second : first;
			CHECK_IS(0, collq_request_bind(exchange.request, exchange.blocks.send,
						       exchange.blocks.recv));
		}
		exchange_run(me, &exchange);
	}
	CHECK_IS(-EINVAL, collq_request_bind(exchange.request, COLLQ_IN_PLACE, first.recv));
	CHECK_IS(-EINVAL, collq_request_bind(exchange.request, first.send, first.send + 1));
	CHECK_IS(-EFAULT, collq_request_bind(exchange.request, first.send, (void *)4096));
	exchange_run(me, &exchange);
	collq_request_free(exchange.request);
	blocks_free(&first);
	blocks_free(&second);
}

TEST_F_TIMEOUT(life, other_buffers, LIMIT_S)
{
	EXPECT_EQ(0, team_run(4, other_buffers));
}

/*
 * Receives that are posted hold a region until their endpoint is gone, which takes a
 * while. What can go then goes when another region is made, as when buffers are bound.
 */
static void await_regions(struct team_member *me, struct exchange *exchange, uint32_t nr)
{
	uint64_t deadline = team_deadline();

	while (team_count(me, IB_COLLQ_OBJECT_REGION) > nr) {
		CHECK(collq_deadline_in(0) < deadline);
		usleep(10000);
		CHECK_IS(0, collq_request_bind(exchange->request, exchange->blocks.send,
					       exchange->blocks.recv));
	}
}

static void nothing_left(struct team_member *me)
{
	struct exchange kept, exchange;
	uint32_t layout, i, objects;

	small_exchange(me, &kept, COLLQ_ALLTOALL_PAIRWISE);
	CHECK_IS(2, team_count(me, IB_COLLQ_OBJECT_REGION));
	objects = team_count_all(me);
	for (layout = COLLQ_ALLTOALL_A; layout <= COLLQ_ALLTOALL_PAIRWISE; layout++) {
		for (i = 0; i < 5; i++) {
			small_exchange(me, &exchange, layout);
			exchange_run(me, &exchange);
			exchange_free(&exchange);
		}
	}
	CHECK_IS(objects, team_count_all(me));
	await_regions(me, &kept, 2);
	exchange_run(me, &kept);
	exchange_free(&kept);
	CHECK_IS(0, team_count(me, IB_COLLQ_OBJECT_REGION));
}

TEST_F_TIMEOUT(life, leaves_nothing, LIMIT_S)
{
	EXPECT_EQ(0, team_run(3, nothing_left));
}

/* Rank 0 runs out of memory, a bit later each time, until it no longer does. */
static void run_out_of_memory(struct team_member *me, uint32_t layout)
{
	const struct collq_alltoall_options options = {
		.size = sizeof(options),
		.layout = layout,
		.packing = COLLQ_PACKING_CPU,
	};
	struct collq_request *request;
	struct exchange kept;
	struct blocks blocks;
	bool failed = true;
	uint32_t n, objects;
	int err;

	small_exchange(me, &kept, COLLQ_ALLTOALL_PAIRWISE);
	CHECK(blocks_new(&blocks, me->rank, me->size, 50, false));
	objects = team_count_all(me);
	for (n = 0; failed; n++) {
		CHECK_IS(0, collq_alltoall_init(me->comm[0], blocks.send, blocks.recv,
						blocks.bytes, &options, &request));
		if (me->rank == 0)
			alloc_wrap_fail_after(n);
		err = collq_init_wait(request, team_deadline());
		if (me->rank == 0)
			atomic_store(&me->team->ranks[0].word, alloc_wrap_stop());
		team_meet(me);
		failed = atomic_load(&me->team->ranks[0].word);
		CHECK_IS(failed ? -ENOMEM : 0, err);
		team_meet(me);
		collq_request_free(request);
		CHECK_IS(objects, team_count_all(me));
	}
	/* Not for want of anything to fail. */
	CHECK(n > 40);
	exchange_run(me, &kept);
	await_regions(me, &kept, 2);
	exchange_free(&kept);
	blocks_free(&blocks);
}

static void memory_runs_out(struct team_member *me)
{
	run_out_of_memory(me, COLLQ_ALLTOALL_PAIRWISE);
	run_out_of_memory(me, COLLQ_ALLTOALL_A);
}

TEST_F_TIMEOUT(life, init_survives_lack_of_memory, LIMIT_S)
{
	EXPECT_EQ(0, team_run(3, memory_runs_out));
}

/* Another rank's doing so may have been quicker. */
static void cancel(struct team_member *me, struct collq_request *request)
{
	int err = collq_cancel(request);

	CHECK(!err || err == -ENOENT);
	CHECK_IS(-ECANCELED, collq_wait(request, team_deadline()));
	CHECK_IS(-ECANCELED, collq_start(request, 0));
}

/* A run that can't end, since a rank doesn't come; then all is mended. */
static void cancelled(struct team_member *me)
{
	struct exchange exchanges[2];
	int round, i;

	small_exchange(me, &exchanges[0], COLLQ_ALLTOALL_E);
	exchange_new(me, 0, &exchanges[1], 5000, COLLQ_ALLTOALL_PAIRWISE, 0, 0, false);
	for (round = 0; round < 4; round++) {
		struct exchange *exchange = &exchanges[round % 2];

		for (i = 0; i < round; i++)
			exchange_run(me, exchange);
		if (me->rank) {
			exchange_fill(exchange);
			CHECK_IS(0, collq_start(exchange->request, team_deadline()));
		}
		team_meet(me);
		usleep(team_random(3000));
		if (me->rank && round % 4 < 2)
			cancel(me, exchange->request);
		team_meet(me);
		CHECK_IS(0, collq_comm_reset(me->comm[0]));
		if (me->rank && round % 4 >= 2)
			CHECK(collq_wait(exchange->request, team_deadline()) < 0);
		CHECK_IS(-EAGAIN, collq_request_bind(exchange->request, exchange->blocks.send,
						     exchange->blocks.recv));
		CHECK_IS(0, collq_comm_reset_wait(me->comm[0], team_deadline()));
		for (i = 0; i < 5; i++) {
			exchange_run(me, &exchanges[0]);
			exchange_run(me, &exchanges[1]);
		}
	}
	exchange_free(&exchanges[0]);
	exchange_free(&exchanges[1]);
}

TEST_F_TIMEOUT(life, cancel_and_reset, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, cancelled));
	EXPECT_EQ(0, team_run(4, cancelled));
}

/*
 * A buffer that isn't there can't go with its request, and what is left over isn't asked.
 * By uverbs nothing goes anywhere: the descriptor is the caller's.
 */
static void moved(struct team_member *me)
{
	const bool can_move = strcmp(collq_context_front_end(me->ctx), "uverbs");
	const size_t bytes = 4096 * me->size;
	void *send = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *recv = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct exchange exchange;
	struct collq_request *request;

	CHECK(send != MAP_FAILED && recv != MAP_FAILED);
	small_exchange(me, &exchange, COLLQ_ALLTOALL_A);
	CHECK_IS(0, collq_alltoall_init(me->comm[0], send, recv, 4096, NULL, &request));
	CHECK_IS(0, collq_init_wait(request, team_deadline()));
	munmap(recv, bytes);
	CHECK_IS(can_move ? -EFAULT : -EOPNOTSUPP,
		 collq_context_move(me->ctx, collq_context_device(me->ctx)));
	exchange_run(me, &exchange);
	exchange_run(me, &exchange);
	exchange_run(me, &exchange);
	collq_request_free(request);
	exchange_free(&exchange);
	CHECK_IS(can_move ? 0 : -EOPNOTSUPP,
		 collq_context_move(me->ctx, collq_context_device(me->ctx)));
	if (can_move)
		CHECK_IS(0, team_count(me, IB_COLLQ_OBJECT_REGION));
	CHECK_IS(0, collq_comm_reset(me->comm[0]));
	CHECK_IS(0, collq_comm_reset_wait(me->comm[0], team_deadline()));
	small_exchange(me, &exchange, COLLQ_ALLTOALL_A);
	exchange_run(me, &exchange);
	exchange_free(&exchange);
}

TEST_F_TIMEOUT(life, context_moves_with_buffers_only, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, moved));
}

/* Runs that wait for a rank are over when the others go on without it. */
static void shrunk(struct team_member *me)
{
	uint32_t last = me->size - 1;
	struct exchange old, new;
	struct collq_comm *comm;
	struct collq_oob oob;

	exchange_new(me, 0, &old, 3000, COLLQ_ALLTOALL_E, COLLQ_PACKING_CPU, 2, false);
	exchange_run(me, &old);
	if (me->rank != last) {
		exchange_fill(&old);
		CHECK_IS(0, collq_start(old.request, team_deadline()));
	}
	/* Who starts when it's known that one has gone gets the error at once. */
	team_meet(me);
	if (me->rank == last) {
		exchange_free(&old);
		return;
	}
	if (!me->rank)
		atomic_fetch_or(&me->team->gone, 1U << last);
	while (!atomic_load(&me->team->gone))
		usleep(1000);
	oob = team_oob(me, 0);
	CHECK_IS(0, collq_comm_shrink(me->comm[0], me->rank, last, &oob, &comm));
	CHECK(collq_wait(old.request, team_deadline()) < 0);
	exchange_free(&old);
	CHECK_IS(0, collq_comm_destroy(me->comm[0]));
	me->comm[0] = comm;
	me->size--;
	exchange_new(me, 0, &new, 3000, COLLQ_ALLTOALL_E, COLLQ_PACKING_CPU, 2, false);
	exchange_run(me, &new);
	exchange_run(me, &new);
	exchange_run(me, &new);
	exchange_free(&new);
}

TEST_F_TIMEOUT(life, goes_on_without_a_rank, LIMIT_S)
{
	EXPECT_EQ(0, team_run(4, shrunk));
}

static void killed(struct team_member *me, uint32_t layout)
{
	struct exchange exchange;
	int i, err = 0;

	exchange_new(me, 0, &exchange, 20000, layout, COLLQ_PACKING_SG, 2, false);
	for (i = 0; i < 3; i++)
		exchange_run(me, &exchange);
	if (me->rank == me->size - 1) {
		CHECK_IS(0, collq_start(exchange.request, team_deadline()));
		usleep(team_random(2000));
		raise(SIGKILL);
	}
	/* The run may have been over before. */
	while (!err)
		err = collq_start_wait(exchange.request, team_deadline());
	CHECK(err != -ETIMEDOUT);
	exchange_mark(&exchange);
	usleep(200000);
	exchange_check_mark(me, &exchange);
	CHECK_IS(err, collq_start(exchange.request, 0));
	exchange_free(&exchange);
}

static void killed_eager(struct team_member *me)
{
	killed(me, COLLQ_ALLTOALL_E);
}

static void killed_rendezvous(struct team_member *me)
{
	killed(me, COLLQ_ALLTOALL_PAIRWISE);
}

TEST_F_TIMEOUT(life, a_rank_is_killed, LIMIT_S)
{
	EXPECT_EQ(0, team_run_doomed(4, killed_eager, 1U << 3));
	EXPECT_EQ(0, team_run_doomed(4, killed_rendezvous, 1U << 3));
}

/*
 * A signal endpoint of one rank fails between two requests. Others need not have heard of
 * it when the second one begins; it begins again with another endpoint.
 */
static void endpoint_fails(struct team_member *me)
{
	struct ib_collq_object_destroy destroy = { .type = IB_COLLQ_OBJECT_ENDPOINT };
	struct exchange exchange;
	uint64_t deadline;
	uint32_t round;

	for (round = 0; round < 4; round++) {
		small_exchange(me, &exchange, round % 2 ? COLLQ_ALLTOALL_PAIRWISE :
							  COLLQ_ALLTOALL_E);
		exchange_run(me, &exchange);
		exchange_run(me, &exchange);
		exchange_free(&exchange);
		if (me->rank != round % me->size)
			continue;
		destroy.id = team_endpoint(me);
		deadline = team_deadline();
		/* Message endpoints that linger keep it for a while. */
		while (collq_object_destroy(me->ctx, &destroy, 1) != 1) {
			CHECK(collq_deadline_in(0) < deadline);
			usleep(10000);
		}
	}
}

TEST_F_TIMEOUT(life, endpoints_that_fail_are_replaced, LIMIT_S)
{
	setenv("COLLQ_LOG_LEVEL", "error", 1);
	EXPECT_EQ(0, team_run(2, endpoint_fails));
	EXPECT_EQ(0, team_run(5, endpoint_fails));
	unsetenv("COLLQ_LOG_LEVEL");
}

/* Of a buffer that is unmapped, a start tells; another one mends it. */
static void unmapped(struct team_member *me)
{
	size_t bytes = 4096 * me->size;
	unsigned char *send, *recv, *other;
	struct collq_request *request;

	send = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	recv = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	other = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(send != MAP_FAILED && recv != MAP_FAILED && other != MAP_FAILED);
	CHECK_IS(0, collq_alltoall_init(me->comm[0], send, recv, 4096, NULL, &request));
	CHECK_IS(0, collq_init_wait(request, team_deadline()));
	munmap(recv, bytes);
	CHECK_IS(-ESTALE, collq_start(request, team_deadline()));
	CHECK_IS(-ESTALE, collq_start_wait(request, team_deadline()));
	CHECK_IS(0, collq_request_bind(request, send, other));
	CHECK_IS(0, collq_start_wait(request, team_deadline()));
	CHECK_IS(0, collq_start_wait(request, team_deadline()));
	CHECK_IS(0, collq_start_wait(request, team_deadline()));
	collq_request_free(request);
}

TEST_F_TIMEOUT(life, buffer_that_is_gone, LIMIT_S)
{
	EXPECT_EQ(0, team_run(3, unmapped));
}

TEST_HARNESS_MAIN
