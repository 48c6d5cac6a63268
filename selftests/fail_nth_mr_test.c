// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Allocations that fail while memory regions and protection domains are being borrowed,
 * used and returned. As fail_nth_test, it leaves lockdep off, since SoftRoCE does.
 */
#include <errno.h>

#include "kselftest_harness.h"

#include "fail_nth.h"
#include "mr_side.h"

#define MESSAGE		5000

/* More points than any call has */
#define MANY_POINTS	1000

/* Connected; graphs that exchange a message between them, by who sends and who it is */
struct world {
	struct mr_side a;
	struct mr_side b;
	struct ib_collq_endpoint_create spare;	/* an endpoint of b's */
	int a_sends, a_receives;
	int b_sends, b_receives;
	__u64 sequence;
};

/**
 * struct borrowed_call - a call of the first side's, to be swept
 * @prepare: makes what it takes, without faults: an id, 0, or -errno; may be NULL
 * @call: an id, 0, or -errno; gets what @prepare has returned
 * @finish: sees whether it has done what it says, and undoes that: 0 or -errno. Gets
 *          what @call has returned if that is an id, otherwise the same as @call
 * @points: fewer wouldn't be all; the debug kernel's own objects add to them
 */
struct borrowed_call {
	int (*prepare)(struct world *w);
	int (*call)(struct world *w, int id);
	int (*finish)(struct world *w, int id);
	int points;
};

static int world_open(struct world *w)
{
	if (mr_side_open(&w->a) || mr_side_open(&w->b) || mr_side_connect(&w->a, &w->b) ||
	    mr_side_connect(&w->b, &w->a))
		return -EPROTO;
	w->spare = mr_message_attr(&w->b.raw);
	w->a_sends = mr_graph_of(&w->a, true, true, 0, MESSAGE);
	w->a_receives = mr_graph_of(&w->a, false, true, MESSAGE, MESSAGE);
	w->b_sends = mr_graph_of(&w->b, true, false, 0, MESSAGE);
	w->b_receives = mr_graph_of(&w->b, false, false, MESSAGE, MESSAGE);
	if (w->a_sends < 0 || w->a_receives < 0 || w->b_sends < 0 || w->b_receives < 0)
		return -EPROTO;
	return mr_endpoint_in_pd(w->b.raw.fd, w->b.pd, &w->spare) < 0 ? -EPROTO : 0;
}

static void world_drop(struct world *w)
{
	mr_side_close(&w->a);
	mr_side_close(&w->b);
}

/* All that a has borrowed is returned: 0, or -errno of what is still in use. */
static int world_close(struct world *w)
{
	struct mr_side *a = &w->a;
	const __u32 ids[] = {
		a->raw.queue, w->a_sends, w->a_receives, a->region, a->sends, a->messages,
		a->endpoint,
	};
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(ids) && !err; i++)
		err = raw_destroy(a->raw.fd, ids[i]);
	if (!err)
		err = -ibv_dereg_mr(a->mr);
	if (!err)
		err = -ibv_dealloc_pd(a->pd);
	world_drop(w);
	return err;
}

static int make_region(struct world *w)
{
	return mr_region(w->a.raw.fd, w->a.mr, w->a.area, AREA);
}

static int make_endpoint(struct world *w)
{
	struct ib_collq_endpoint_create attr = mr_message_attr(&w->a.raw);

	return mr_endpoint_in_pd(w->a.raw.fd, w->a.pd, &attr);
}

static int call_make_region(struct world *w, int id)
{
	(void)id;
	return make_region(w);
}

static int call_make_endpoint(struct world *w, int id)
{
	(void)id;
	return make_endpoint(w);
}

static int call_connect(struct world *w, int id)
{
	return raw_endpoint_connect(w->a.raw.fd, id, w->spare.address);
}

static int destroy(struct world *w, int id)
{
	return raw_destroy(w->a.raw.fd, id);
}

static int finish_destroyed(struct world *w, int id)
{
	return destroy(w, id) == -ENOENT ? 0 : -EEXIST;
}

static int b_receives(struct world *w)
{
	return mr_submit_with(&w->b, w->b_receives, w->b.region, NULL);
}

static int call_send(struct world *w, int id)
{
	(void)id;
	return mr_submit_with(&w->a, w->a_sends, w->a.region, &w->sequence);
}

static int call_receive(struct world *w, int id)
{
	(void)id;
	return mr_submit_with(&w->a, w->a_receives, w->a.region, &w->sequence);
}

static int finish_exchanged(struct world *w, int id)
{
	(void)id;
	return mr_result_of(&w->a, w->sequence);
}

static int finish_received(struct world *w, int id)
{
	int err = mr_submit_with(&w->b, w->b_sends, w->b.region, NULL);

	return err ? err : finish_exchanged(w, id);
}

/* New objects, and what the call takes: as @prepare returns. */
static int world_prepare(struct world *w, const struct borrowed_call *call)
{
	int err = world_open(w);

	return err || !call->prepare ? err : call->prepare(w);
}

/*
 * The call with its n-th allocation failing, until it has done what it does: whether one
 * did, or -errno. -EFAULT may come when all is done, so the call is made once more on
 * objects that are new.
 */
static int pass_point(const struct borrowed_call *call, int n)
{
	struct world w = {};
	int id, ret, err;
	bool failed;

	id = world_prepare(&w, call);
	if (id < 0)
		return id;
	if (!fail_nth_arm(n))
		return -EIO;
	ret = call->call(&w, id);
	failed = fail_nth_disarm();
	if (ret == -EFAULT && failed) {
		world_drop(&w);
		id = world_prepare(&w, call);
		if (id < 0)
			return id;
	}
	/* It works when nothing fails. */
	if (ret < 0 && failed)
		ret = call->call(&w, id);
	if (ret < 0)
		return ret;
	err = call->finish(&w, ret ?: id);
	if (!err)
		err = world_close(&w);
	return err ?: failed;
}

/* One allocation after the other fails: how many did, or what went wrong. */
static int sweep(const struct borrowed_call *call)
{
	int n = 0, ret;

	do
		ret = pass_point(call, ++n);
	while (ret > 0 && n < MANY_POINTS);
	return ret > 0 ? -ELOOP : ret ?: n - 1;
}

FIXTURE(borrowed) { };

FIXTURE_VARIANT(borrowed)
{
	struct borrowed_call call;
};

FIXTURE_VARIANT_ADD(borrowed, region_create) {
	.call = { NULL, call_make_region, destroy, 4 },
};

FIXTURE_VARIANT_ADD(borrowed, region_destroy) {
	.call = { make_region, destroy, finish_destroyed, 1 },
};

FIXTURE_VARIANT_ADD(borrowed, endpoint_create) {
	.call = { NULL, call_make_endpoint, destroy, 20 },
};

FIXTURE_VARIANT_ADD(borrowed, endpoint_connect) {
	.call = { make_endpoint, call_connect, destroy, 10 },
};

FIXTURE_VARIANT_ADD(borrowed, endpoint_destroy) {
	.call = { make_endpoint, destroy, finish_destroyed, 1 },
};

FIXTURE_VARIANT_ADD(borrowed, submit_send) {
	.call = { b_receives, call_send, finish_exchanged, 4 },
};

FIXTURE_VARIANT_ADD(borrowed, submit_receive) {
	.call = { NULL, call_receive, finish_received, 4 },
};

FIXTURE_SETUP(borrowed) { }
FIXTURE_TEARDOWN(borrowed) { }

/* Whatever fails, all that was borrowed is returned. */
TEST_F_TIMEOUT(borrowed, is_returned, 300)
{
	const char *why = fail_nth_prepare();
	int points;

	if (why)
		SKIP(return, "%s", why);
	points = sweep(&variant->call);
	TH_LOG("%d failure points", points);
	EXPECT_LE(variant->call.points, points);
}

TEST_HARNESS_MAIN
