// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * All-to-alls of processes, by libcollq and the module: every byte arrives, whatever the
 * layout and whoever is early or late, and nothing else is touched.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "blocks.h"
#include "team.h"

#define LIMIT_S		60

FIXTURE(alltoall) { };
FIXTURE_SETUP(alltoall) { }
FIXTURE_TEARDOWN(alltoall) { }

static struct collq_request *new_alltoall(struct team_member *me, uint32_t comm,
					  const struct blocks *blocks, uint32_t layout,
					  uint32_t packing, uint32_t radix)
{
	const struct collq_alltoall_options options = {
		.size = sizeof(options),
		.layout = layout,
		.packing = packing,
		.radix = radix,
	};
	struct collq_request *request;

	CHECK_IS(0, collq_alltoall_init(me->comm[comm],
					blocks->in_place ? COLLQ_IN_PLACE : blocks->send,
					blocks->recv, blocks->bytes, &options, &request));
	CHECK_IS(0, collq_init_wait(request, team_deadline()));
	return request;
}

static void run_verified(struct team_member *me, struct collq_request *request,
			 struct blocks *blocks, uint32_t run)
{
	uint32_t from;

	blocks_fill(blocks, run);
	CHECK_IS(0, collq_start_wait(request, team_deadline()));
	CHECK_IS(0, blocks_count_wrong(blocks, run, &from));
}

static void try_one(struct team_member *me, uint64_t bytes, uint32_t layout, uint32_t packing,
		    uint32_t radix, bool in_place)
{
	struct collq_request *request;
	struct blocks blocks;
	uint32_t run;

	CHECK(blocks_new(&blocks, me->rank, me->size, bytes, in_place));
	request = new_alltoall(me, 0, &blocks, layout, packing, radix);
	for (run = 0; run < 5; run++)
		run_verified(me, request, &blocks, run);
	collq_request_free(request);
	blocks_free(&blocks);
}

static void each_layout(struct team_member *me)
{
	uint32_t layout, packing;

	for (layout = COLLQ_ALLTOALL_A; layout <= COLLQ_ALLTOALL_PAIRWISE; layout++)
		for (packing = COLLQ_PACKING_CPU; packing <= COLLQ_PACKING_SELECTIVE; packing++)
			try_one(me, 40 + me->size, layout, packing, 2, false);
}

TEST_F_TIMEOUT(alltoall, each_layout_and_packing, LIMIT_S)
{
	uint32_t size;

	for (size = 1; size <= TEAM_MAX; size++)
		EXPECT_EQ(0, team_run(size, each_layout)) TH_LOG("%u ranks", size);
}

TEST_HARNESS_MAIN
