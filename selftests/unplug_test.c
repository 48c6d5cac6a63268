// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RDMA device goes while it is in full use: it is deleted, or its network
 * device is, or its driver is unloaded. Everybody gets -ENODEV, nobody hangs, no memory
 * stays pinned or charged, a new device is as good as the old one, and in the end the
 * module can go.
 *
 * COLLQ_UNPLUG_ROUNDS is how often (15).
 */
#include <stdio.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "chance.h"
#include "collq_util.h"
#include "unplug.h"
#include "usage.h"

#define LIMIT_S		1200

FIXTURE(unplug) {
};

FIXTURE_SETUP(unplug)
{
	if (geteuid())
		SKIP(return, "takes root");
}

/* Whatever has become of the test, those behind it need both. */
FIXTURE_TEARDOWN(unplug)
{
	if (!unplug_undo())
		TH_LOG("no device any more");
}

TEST_F_TIMEOUT(unplug, under_load, LIMIT_S)
{
	uint64_t chance = chance_begin("unplug"), calls = 0, slowest[UNPLUG_WAYS] = {};
	uint32_t round, rounds = chance_number("COLLQ_UNPLUG_ROUNDS", 15);
	struct unplug_result result;
	struct unplug_plan plan;
	static struct usage before;

	for (round = 0; round < rounds + 3; round++) {
		plan.way = round % UNPLUG_WAYS;
		if (!unplug_possible(plan.way))
			plan.way = UNPLUG_LINK;
		plan.delay_ns = chance_below(&chance, 30000000);
		ASSERT_EQ(0, unplug_run(&plan, &result))
			TH_LOG("round %u, way %u", round, plan.way);
		/* What comes with the first times isn't a leak. */
		if (round == 2)
			ASSERT_TRUE(RAW_EVENTUALLY(usage_quiet() && usage_read(&before)));
		calls += result.calls;
		if (result.took_ns > slowest[plan.way])
			slowest[plan.way] = result.took_ns;
	}
	TH_LOG("%u rounds, %lu calls under way", rounds, (unsigned long)calls);
	TH_LOG("slowest removal: link %.2f s, network device %.2f s, driver %.2f s",
	       slowest[UNPLUG_LINK] / 1e9, slowest[UNPLUG_NETDEV] / 1e9,
	       slowest[UNPLUG_MODULE] / 1e9);
	if (!RAW_EVENTUALLY(usage_quiet() && !usage_growth(&before, rounds * 50, false))) {
		EXPECT_TRUE(usage_quiet());
		EXPECT_EQ(0, usage_growth(&before, rounds * 50, true));
	}
	EXPECT_TRUE(RAW_EVENTUALLY(usage_uncharged()));
	EXPECT_EQ(0, raw_unload("ib_collq"));
}

TEST_HARNESS_MAIN
