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

/* Pieces of a list: @nr of @pages each, @stride from each other, the first one at @first */
struct pieces {
	uint32_t nr, pages, stride, first;
};

#define MOST_PIECES	40U
#define OWN_PAGES	320U

static unsigned char own[2][OWN_PAGES * PAGE] __attribute__((aligned(PAGE)));

static void list_pieces(struct ib_collq_sge *sges, const struct pieces *pieces, uint32_t buffer)
{
	uint32_t i;

	for (i = 0; i < pieces->nr; i++)
		sges[i] = (struct ib_collq_sge){
			.buffer = buffer,
			.length = pieces->pages * PAGE,
			.offset = (pieces->first + i * pieces->stride) * PAGE,
		};
}

/* Two ranks send each other the pieces, which land where they are from. */
static struct collq_graph *new_graph(struct team_member *me, const struct pieces *pieces)
{
	const uint32_t peer = 1 - me->rank;
	struct ib_collq_sge sges[MOST_PIECES];
	struct collq_graph *graph;
	int message, received, ready, sent;

	CHECK_IS(0, collq_graph_new(&graph));
	message = collq_graph_message(graph, peer, 0);
	list_pieces(sges, pieces, COLLQ_BUFFER_RECV);
	received = collq_graph_recv_data(graph, message, sges, pieces->nr, 0);
	/* The peer may send once it's posted. */
	ready = collq_graph_signal(graph, collq_graph_out(graph, peer, 0), 0);
	collq_graph_after(graph, ready, received);
	ready = collq_graph_wait(graph, collq_graph_in(graph, peer, 0), 1, 0);
	list_pieces(sges, pieces, COLLQ_BUFFER_SEND);
	sent = collq_graph_send_data(graph, message, sges, pieces->nr, 0);
	collq_graph_after(graph, sent, ready);
	collq_graph_wait_sends(graph, message, 1, 0);
	collq_graph_wait_messages(graph, message, 1, 0);
	return graph;
}

static bool is_in(const struct pieces *pieces, uint32_t page)
{
	return page >= pieces->first && page < pieces->first + pieces->nr * pieces->stride &&
	       (page - pieces->first) % pieces->stride < pieces->pages;
}

static void check_own(struct team_member *me, const struct pieces *pieces)
{
	uint32_t page, i;
	unsigned char expected;

	for (page = 0; page < OWN_PAGES; page++) {
		expected = is_in(pieces, page) ? page * 3 + 1 - me->rank : 0;
		for (i = 0; i < PAGE; i++)
			CHECK_IS(expected, own[1][page * PAGE + i]);
	}
}

/* What the initialisation, or then the start, gives without. */
static void try_graph(struct team_member *me, const struct pieces *pieces, int init, int start)
{
	const struct collq_graph_data data = {
		.size = sizeof(data), .generations = 1, .send = own[0], .recv = own[1],
		.send_bytes = sizeof(own[0]), .recv_bytes = sizeof(own[1]),
	};
	struct collq_graph *graph = new_graph(me, pieces);
	struct collq_request *request;
	uint32_t i;

	me->ctx->env.long_lists = COLLQ_LONG_LISTS_NO;
	CHECK_IS(0, collq_graph_data_init(me->comm[0], graph, &data, &request));
	CHECK_IS(init, collq_init_wait(request, team_deadline()));
	if (!init)
		CHECK_IS(start, collq_start_wait(request, team_deadline()));
	collq_request_free(request);
	me->ctx->env.long_lists = COLLQ_LONG_LISTS_PAGES;
	CHECK_IS(0, collq_graph_data_init(me->comm[0], graph, &data, &request));
	CHECK_IS(0, collq_init_wait(request, team_deadline()));
	collq_graph_free(graph);
	for (i = 0; i < sizeof(own[0]); i++)
		own[0][i] = i / PAGE * 3 + me->rank;
	memset(own[1], 0, sizeof(own[1]));
	CHECK_IS(0, collq_start_wait(request, team_deadline()));
	check_own(me, pieces);
	collq_request_free(request);
}

/*
 * Graphs of the caller's: with more pieces than the device takes; and with as many, of which
 * one lies in two of the parts that memory is registered in, 256 pages each.
 */
static void own_graph(struct team_member *me)
{
	const struct pieces many = { MOST_PIECES, 1, 2, 1 }, over_a_border = { 32, 2, 9, 3 };
	uint32_t i;

	/* Every other page first: what is all one piece of memory isn't registered in parts. */
	for (i = 0; i < 2 * OWN_PAGES; i++)
		own[i % 2][(i / 2 * 2 + i / OWN_PAGES) % OWN_PAGES * PAGE] = 1;
	try_graph(me, &many, -ENOSPC, 0);
	try_graph(me, &over_a_border, 0, -EMSGSIZE);
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
