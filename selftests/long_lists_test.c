// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * All-to-alls whose lists are longer than the device takes, with regions that stand for
 * them: every byte arrives, and who can't do that is done without.
 *
 * SoftRoCE takes lists of 32 entries, and the ranks are few: so libcollq is made to
 * believe that it takes less. Regions of whole pages are what it can do.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kselftest_harness.h"

#include "alloc_wrap.h"
#include "context.h"
#include "exchanges.h"
#include "slow_kernel.h"
#include "team.h"

#define LIMIT_S		600
#define PAGE		4096U

FIXTURE(lists) { };
FIXTURE_SETUP(lists) { }
FIXTURE_TEARDOWN(lists) { }

static const struct exchange_kind of_pages = {
	PAGE, COLLQ_ALLTOALL_D, COLLQ_PACKING_SG, 2, .aligned = true,
};

static void run(struct team_member *me, struct exchange *exchange, uint32_t runs)
{
	while (runs--)
		exchange_run_at_leisure(me, exchange);
}

static void try_kind(struct team_member *me, const struct exchange_kind *kind, uint32_t entries)
{
	struct exchange exchange;

	exchange_new_folded(me, 0, &exchange, entries, kind);
	run(me, &exchange, 6);
	exchange_free(&exchange);
}

static void each_layout(struct team_member *me)
{
	struct exchange_kind kind = of_pages;

	for (kind.layout = COLLQ_ALLTOALL_AUTO; kind.layout <= COLLQ_ALLTOALL_PAIRWISE;
	     kind.layout++)
		for (kind.packing = COLLQ_PACKING_SG; kind.packing <= COLLQ_PACKING_SELECTIVE;
		     kind.packing++) {
			try_kind(me, &kind, 1 + kind.layout % 2);
			kind.in_place = !kind.in_place;
		}
}

TEST_F_TIMEOUT(lists, each_layout_and_packing, LIMIT_S)
{
	uint32_t size;

	for (size = 3; size <= TEAM_MAX; size++)
		EXPECT_EQ(0, team_run(size, each_layout)) TH_LOG("%u ranks", size);
}

static void larger(struct team_member *me)
{
	struct exchange_kind kind = of_pages;

	for (kind.bytes = PAGE; kind.bytes <= 8 * PAGE; kind.bytes *= 2) {
		kind.radix = 2 + kind.bytes / PAGE % 3;
		try_kind(me, &kind, 1);
	}
}

TEST_F_TIMEOUT(lists, larger_blocks_and_radices, LIMIT_S)
{
	EXPECT_EQ(0, team_run(7, larger));
}

/*
 * What nearly fills a region, or takes several in each direction; and what would not fit
 * into one, where blocks are packed and there's no list to speak of.
 */
static void largest(struct team_member *me)
{
	struct exchange_kind kind = of_pages;
	struct exchange exchange;

	kind.bytes = 60 * PAGE;
	try_kind(me, &kind, 2);
	/* Only the six of them have a message that doesn't fit; and it takes its time. */
	if (me->size != 6 || slow_kernel())
		return;
	kind.bytes = 182 * PAGE;
	try_kind(me, &kind, 8);
	kind.packing = COLLQ_PACKING_CPU;
	exchange_new_folded(me, 0, &exchange, 32, &kind);
	CHECK(!exchange_is_folded(&exchange));
	run(me, &exchange, 3);
	exchange_free(&exchange);
}

TEST_F_TIMEOUT(lists, many_pages, LIMIT_S)
{
	EXPECT_EQ(0, team_run(6, largest));
	EXPECT_EQ(0, team_run(8, largest));
}

/* A graph of the caller's: what the kernel wouldn't take without. */
static void own_graph(struct team_member *me)
{
	const uint32_t peer = 1 - me->rank;
	enum { NR = 40 };
	struct collq_graph *graph;
	struct collq_request *request;
	struct ib_collq_sge sges[NR], dst[NR];
	static unsigned char memory[2][2 * NR * PAGE] __attribute__((aligned(PAGE)));
	const struct collq_graph_data data = {
		.size = sizeof(data), .generations = 1, .send = memory[0], .recv = memory[1],
		.send_bytes = sizeof(memory[0]), .recv_bytes = sizeof(memory[1]),
	};
	int message, signal, sent, err;
	size_t i, j;

	for (i = 0; i < NR; i++) {
		sges[i] = (struct ib_collq_sge){
			.buffer = COLLQ_BUFFER_SEND, .length = PAGE, .offset = 2 * i * PAGE,
		};
		dst[i] = (struct ib_collq_sge){
			.buffer = COLLQ_BUFFER_RECV, .length = PAGE, .offset = (2 * i + 1) * PAGE,
		};
	}
	CHECK_IS(0, collq_graph_new(&graph));
	message = collq_graph_message(graph, peer, 0);
	err = collq_graph_recv_data(graph, message, dst, NR, 0);
	/* The peer may send once it's posted. */
	signal = collq_graph_signal(graph, collq_graph_out(graph, peer, 0), 0);
	collq_graph_after(graph, signal, err);
	signal = collq_graph_wait(graph, collq_graph_in(graph, peer, 0), 1, 0);
	sent = collq_graph_send_data(graph, message, sges, NR, 0);
	collq_graph_after(graph, sent, signal);
	collq_graph_wait_sends(graph, message, 1, 0);
	collq_graph_wait_messages(graph, message, 1, 0);

	CHECK_IS(0, collq_graph_data_init(me->comm[0], graph, &data, &request));
	CHECK_IS(-ENOSPC, collq_init_wait(request, team_deadline()));
	collq_request_free(request);
	me->ctx->env.long_lists = COLLQ_LONG_LISTS_PAGES;
	CHECK_IS(0, collq_graph_data_init(me->comm[0], graph, &data, &request));
	CHECK_IS(0, collq_init_wait(request, team_deadline()));
	collq_graph_free(graph);
	for (i = 0; i < sizeof(memory[0]); i++)
		memory[0][i] = i / PAGE * 3 + me->rank;
	CHECK_IS(0, collq_start_wait(request, team_deadline()));
	for (i = 0; i < NR; i++)
		for (j = 0; j < PAGE; j++) {
			CHECK_IS(0, memory[1][2 * i * PAGE + j]);
			CHECK_IS((unsigned char)(2 * i * 3 + peer),
				 memory[1][(2 * i + 1) * PAGE + j]);
		}
	collq_request_free(request);
}

TEST_F_TIMEOUT(lists, own_graph, LIMIT_S)
{
	EXPECT_EQ(0, team_run(2, own_graph));
}

static void counted(struct team_member *me)
{
	struct exchange_kind kind = of_pages;
	struct collq_graph_totals folded = { .size = sizeof(folded) }, split = folded;
	struct exchange exchange;

	exchange_new_folded(me, 0, &exchange, 1, &kind);
	CHECK(exchange_is_folded(&exchange));
	collq_graph_totals(collq_request_graph(exchange.request), &folded);
	/* One message to a step, of one piece. */
	CHECK_IS(3, folded.sends);
	CHECK_IS(3, folded.send_sges);
	CHECK_IS(3, folded.recv_sges);
	CHECK_IS(kind.bytes, folded.copied_bytes);
	exchange_free(&exchange);

	kind.aligned = false;
	exchange_new_folded(me, 0, &exchange, 1, &kind);
	CHECK(!exchange_is_folded(&exchange));
	collq_graph_totals(collq_request_graph(exchange.request), &split);
	CHECK(split.sends > 6);
	exchange_free(&exchange);
	CHECK_IS(0, team_count(me, IB_COLLQ_OBJECT_REGION));
}

/* What is registered goes as one message, and what isn't is split. */
TEST_F_TIMEOUT(lists, fewer_messages, LIMIT_S)
{
	EXPECT_EQ(0, team_run(8, counted));
}

static void one_cannot(struct team_member *me)
{
	struct exchange_kind kind = of_pages;
	struct exchange exchange;

	kind.aligned = me->rank != 1;
	exchange_new_folded(me, 0, &exchange, 1, &kind);
	CHECK(!exchange_is_folded(&exchange));
	run(me, &exchange, 4);
	exchange_free(&exchange);
}

TEST_F_TIMEOUT(lists, all_or_none, LIMIT_S)
{
	EXPECT_EQ(0, team_run(4, one_cannot));
}

static void not_asked_for(struct team_member *me)
{
	struct exchange exchange;

	/* Only devices that take any pieces do it by themselves. */
	exchange_new_among(me, 0, me->rank, me->size, &exchange, &of_pages);
	CHECK(!exchange_is_folded(&exchange));
	run(me, &exchange, 2);
	exchange_free(&exchange);
}

TEST_F_TIMEOUT(lists, not_by_default, LIMIT_S)
{
	EXPECT_EQ(0, team_run(4, not_asked_for));
}

/* Other buffers; and some that can't be, after which the ones from before are still bound. */
static void rebind(struct team_member *me, uint32_t layout)
{
	struct exchange exchange, other = { 0 };
	struct exchange_kind kind = of_pages;
	struct blocks odd;

	kind.layout = layout;
	exchange_new_folded(me, 0, &exchange, 1, &kind);
	CHECK(blocks_new(&other.blocks, me->rank, me->size, PAGE, false));
	CHECK(blocks_new(&odd, me->rank, me->size, PAGE, false));
	exchange_align(&other);
	other.request = exchange.request;
	run(me, &exchange, 3);
	CHECK_IS(0, collq_request_bind(exchange.request, other.blocks.send, other.blocks.recv));
	run(me, &other, 3);
	CHECK_IS(-EOPNOTSUPP, collq_request_bind(exchange.request, odd.send, odd.recv));
	run(me, &other, 3);
	CHECK_IS(0, collq_request_bind(exchange.request, exchange.blocks.send,
				       exchange.blocks.recv));
	blocks_free(&other.blocks);
	blocks_free(&odd);
	run(me, &exchange, 3);
	exchange_free(&exchange);
}

/* What messages of the last run still use is left over until the next request comes. */
static void rebound(struct team_member *me)
{
	uint64_t deadline = team_deadline();
	struct exchange exchange;
	bool left = true;
	uint32_t i;

	rebind(me, COLLQ_ALLTOALL_D);
	CHECK_IS(0, team_count(me, IB_COLLQ_OBJECT_REGION));
	rebind(me, COLLQ_ALLTOALL_E);
	while (left) {
		CHECK(collq_deadline_in(0) < deadline);
		exchange_new_folded(me, 0, &exchange, 1, &of_pages);
		exchange_free(&exchange);
		atomic_store(&me->team->ranks[me->rank].word,
			     team_count(me, IB_COLLQ_OBJECT_REGION));
		team_meet(me);
		left = false;
		for (i = 0; i < me->size; i++)
			left |= atomic_load(&me->team->ranks[i].word);
		team_meet(me);
	}
}

TEST_F_TIMEOUT(lists, other_buffers, LIMIT_S)
{
	EXPECT_EQ(0, team_run(4, rebound));
}

static void reset(struct team_member *me)
{
	struct exchange exchange;
	uint32_t i;

	exchange_new_folded(me, 0, &exchange, 1, &of_pages);
	for (i = 0; i < 3; i++) {
		run(me, &exchange, 3);
		if (me->rank) {
			exchange_fill(&exchange);
			CHECK_IS(0, collq_start(exchange.request, 0));
		}
		team_meet(me);
		CHECK_IS(0, collq_comm_reset(me->comm[0]));
		CHECK_IS(0, collq_comm_reset_wait(me->comm[0], team_deadline()));
		if (me->rank)
			CHECK(collq_wait(exchange.request, team_deadline()) < 0);
	}
	run(me, &exchange, 3);
	exchange_free(&exchange);
}

TEST_F_TIMEOUT(lists, reset, LIMIT_S)
{
	EXPECT_EQ(0, team_run(4, reset));
}

/* Rank 0 runs out of memory, a bit later each time, until it no longer does. */
static void memory_runs_out(struct team_member *me)
{
	const uint32_t objects = team_count_all(me);
	const struct ib_collq_query limits = me->ctx->limits;
	const struct collq_alltoall_options options = {
		.size = sizeof(options), .layout = COLLQ_ALLTOALL_D, .packing = COLLQ_PACKING_SG,
	};
	struct exchange exchange = { 0 };
	struct blocks *blocks = &exchange.blocks;
	bool failed = true;
	uint32_t n;
	int err;

	CHECK(blocks_new(blocks, me->rank, me->size, PAGE, false));
	exchange_align(&exchange);
	me->ctx->env.long_lists = COLLQ_LONG_LISTS_PAGES;
	me->ctx->limits.max_send_sge = 1;
	me->ctx->limits.max_recv_sge = 1;
	for (n = slow_kernel() ? 60 : 0; failed; n++) {
		CHECK_IS(0, collq_alltoall_init(me->comm[0], blocks->send, blocks->recv, PAGE,
						&options, &exchange.request));
		if (!me->rank)
			alloc_wrap_fail_after(n);
		err = collq_init_wait(exchange.request, team_deadline());
		if (!me->rank)
			atomic_store(&me->team->ranks[0].word, alloc_wrap_stop());
		team_meet(me);
		failed = atomic_load(&me->team->ranks[0].word);
		CHECK_IS(failed ? -ENOMEM : 0, err);
		team_meet(me);
		if (failed)
			collq_request_free(exchange.request);
		if (failed)
			CHECK_IS(objects, team_count_all(me));
		if (failed)
			CHECK_IS(0, team_count(me, IB_COLLQ_OBJECT_REGION));
	}
	/* Not for want of anything to fail. */
	CHECK(n > 60);
	CHECK(exchange_is_folded(&exchange));
	for (n = 0, failed = true; failed; n++) {
		if (!me->rank)
			alloc_wrap_fail_after(n);
		err = collq_request_bind(exchange.request, blocks->send, blocks->recv);
		if (!me->rank)
			atomic_store(&me->team->ranks[0].word, alloc_wrap_stop());
		team_meet(me);
		failed = atomic_load(&me->team->ranks[0].word);
		CHECK_IS(failed && !me->rank ? -ENOMEM : 0, err);
		run(me, &exchange, 2);
	}
	CHECK(n > 4);
	me->ctx->limits = limits;
	exchange_free(&exchange);
	CHECK_IS(0, team_count(me, IB_COLLQ_OBJECT_REGION));
}

TEST_F_TIMEOUT(lists, lack_of_memory, LIMIT_S)
{
	EXPECT_EQ(0, team_run(4, memory_runs_out));
}

TEST_HARNESS_MAIN
