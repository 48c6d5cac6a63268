// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Allocations that fail while memory regions and protection domains are being borrowed.
 * As fail_nth_test, it leaves lockdep off, since SoftRoCE does.
 */
#include <errno.h>

#include "kselftest_harness.h"

#include "fail_nth.h"
#include "mr_side.h"

FIXTURE(borrowed)
{
	struct mr_side a;
};

FIXTURE_SETUP(borrowed)
{
	ASSERT_EQ(0, mr_side_open(&self->a));
}

FIXTURE_TEARDOWN(borrowed)
{
	mr_side_close(&self->a);
}

/* One more of either: its id. */
static int make_region(struct mr_side *side)
{
	return mr_region(side->raw.fd, side->mr, side->area, AREA);
}

static int make_endpoint(struct mr_side *side)
{
	struct ib_collq_endpoint_create attr = mr_message_attr(&side->raw);

	return mr_endpoint_in_pd(side->raw.fd, side->pd, &attr);
}

/* One allocation after the other fails: how many did, or what went wrong. */
static int sweep(struct mr_side *side, int (*make)(struct mr_side *side))
{
	bool failed;
	int n, id, err;

	for (n = 1; n < 1000; n++) {
		if (!fail_nth_arm(n))
			return -EIO;
		id = make(side);
		failed = fail_nth_disarm();
		if (id < 0 && !failed)
			return id;
		/* It works when nothing fails. */
		if (id < 0)
			id = make(side);
		err = id < 0 ? id : raw_destroy(side->raw.fd, id);
		if (err)
			return err;
		if (!failed)
			return n - 1;
	}
	return -ELOOP;
}

/* Whatever fails, all that was borrowed is returned. */
TEST_F_TIMEOUT(borrowed, is_returned, 300)
{
	const char *why = fail_nth_prepare();
	struct mr_side *a = &self->a;
	int regions, endpoints;

	if (why)
		SKIP(return, "%s", why);
	regions = sweep(a, make_region);
	endpoints = sweep(a, make_endpoint);
	TH_LOG("%d points of a region, %d of an endpoint", regions, endpoints);
	EXPECT_LT(3, regions);
	EXPECT_LT(10, endpoints);
	EXPECT_EQ(0, raw_destroy(a->raw.fd, a->region));
	EXPECT_EQ(0, raw_destroy(a->raw.fd, a->sends));
	EXPECT_EQ(0, raw_destroy(a->raw.fd, a->messages));
	EXPECT_EQ(0, raw_destroy(a->raw.fd, a->endpoint));
	EXPECT_EQ(0, ibv_dereg_mr(a->mr));
	EXPECT_EQ(0, ibv_dealloc_pd(a->pd));
}

TEST_HARNESS_MAIN
