// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Landing zones that come to an end while somebody writes there: destroyed, reset, gone
 * with their owner or with the memory; and that none is left.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "landing.h"

#define WRITE		IB_COLLQ_ACCESS_WRITE

/* Writes of one graph that goes on for a while */
#define MANY		400
/* and of one that isn't at its end after LATE_MS */
#define TOO_MANY	65535
#define LATE_MS		500
#define LENGTH		20000
/* How long the module tries to tell why a graph failed, behind the data that is under way */
#define ABORT_NS	1000000000ULL

FIXTURE(life) {
	struct landing landing;
};

FIXTURE_SETUP(life)
{
	ASSERT_EQ(0, landing_open(&self->landing, 0));
}

FIXTURE_TEARDOWN(life)
{
	landing_close(&self->landing);
}

static bool has_state(const struct raw_side *side, __u32 state)
{
	return raw_endpoint_info(side->fd, side->endpoint).state == state;
}

/* A graph of so many WRITEs to the zone */
static int writing_graph(const struct landing *landing, int nr)
{
	const struct ib_collq_sge sge = { .length = LENGTH };
	struct ib_collq_task *tasks = calloc(nr + 1, sizeof(*tasks));
	const struct raw_graph graph = {
		.tasks = tasks, .nr_tasks = nr + 1, .sges = &sge, .nr_sges = 1,
		.nr_buffers = 1,
	};
	int i, id;

	if (!tasks)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		tasks[i] = raw_write_list(landing->from.side.endpoint, landing->target, 0, 1);
	tasks[nr] = raw_wait_for(landing->from.sends, nr);
	id = raw_data_graph_create(landing->from.side.fd, &graph, NULL);
	free(tasks);
	return id;
}

/* Starts it: 0 when something has landed. */
static int start_writing(struct landing *landing, int graph, __u64 deadline, __u64 *sequence)
{
	const struct ib_collq_buffer_bind binding = { .region = landing->from.region };
	int err;

	if (graph < 0)
		return graph;
	raw_fill(landing->from.area, LENGTH, 1);
	err = raw_submit_bound_by(landing->from.side.fd, landing->from.side.queue, graph,
				  &binding, 1, deadline, sequence);
	if (err)
		return err;
	return RAW_EVENTUALLY(raw_counter_raised(landing->to.side.fd, landing->to.side.counter)) ?
	       0 : -ETIME;
}

static int how_it_ended(struct landing *landing, __u64 sequence)
{
	int status, err;

	err = raw_result(landing->from.side.fd, landing->from.side.queue, sequence, &status);
	return err ? err : status;
}

/*
 * The owner's queue hears why the writer's failed, since when it's been failing. It may not
 * where the data under way took too long, as on a machine that has much else to do.
 */
static bool hears(struct landing *landing, __u64 sequence, int why, __u64 since)
{
	const struct raw_side *to = &landing->to.side;
	const bool late = raw_now() - since >= ABORT_NS;
	int status, err;

	err = raw_result(to->fd, to->queue, sequence, &status);
	if (err == -ETIME && late)
		return !raw_cancel(to->fd, to->queue, 0);
	return !err && status == why;
}

/* What a writer may see whose zone goes under its hands. */
static bool lost_the_zone(int status)
{
	return status == -EREMOTEIO || status == -ENETDOWN || status == -ECONNRESET;
}

/* When destroying returns nothing is written any more, and never is anything beside. */
TEST_F(life, destroyed_in_flight)
{
	const __u64 offset = 2 * RAW_PAGE + 7;
	struct landing *landing = &self->landing;
	unsigned char *area = landing->to.area;
	__u64 sequence;
	int status;

	ASSERT_EQ(0, landing_offer(landing, offset, LENGTH));
	ASSERT_EQ(0, start_writing(landing, writing_graph(landing, MANY), 0, &sequence));
	ASSERT_EQ(0, raw_destroy(landing->to.side.fd, landing->zone));
	memset(area, LANDING_CANARY, LANDING_SIZE);
	status = how_it_ended(landing, sequence);
	EXPECT_TRUE(lost_the_zone(status)) TH_LOG("status %d", status);
	EXPECT_TRUE(landing_untouched(landing));
	EXPECT_TRUE(RAW_EVENTUALLY(has_state(&landing->from.side, IB_COLLQ_ENDPOINT_ERROR)));
	EXPECT_TRUE(RAW_EVENTUALLY(has_state(&landing->to.side, IB_COLLQ_ENDPOINT_ERROR)));
	/* The writer's buffers are free. */
	EXPECT_TRUE(RAW_EVENTUALLY(!raw_region_info(landing->from.side.fd,
						    landing->from.region).uses));
	EXPECT_EQ(0, raw_destroy(landing->to.side.fd, landing->to.region));
	EXPECT_EQ(0, raw_try_new_pair());
}

/* The writer is told when nothing reads its buffers any more, and the owner why. */
TEST_F(life, cancelled_in_flight)
{
	struct landing *landing = &self->landing;
	const struct ib_collq_task task = raw_wait_for(landing->to.side.counter, 10 * MANY);
	int graph = raw_graph_create(landing->to.side.fd, &task, 1);
	__u64 sequence, waiting, since;

	ASSERT_EQ(0, landing_offer(landing, 0, LENGTH));
	ASSERT_EQ(0, raw_submit(landing->to.side.fd, landing->to.side.queue, graph, 0, 0,
				&waiting));
	ASSERT_EQ(0, start_writing(landing, writing_graph(landing, MANY), 0, &sequence));
	since = raw_now();
	ASSERT_EQ(0, raw_cancel(landing->from.side.fd, landing->from.side.queue, 0));
	EXPECT_EQ(-ECANCELED, how_it_ended(landing, sequence));
	EXPECT_EQ(0, raw_region_info(landing->from.side.fd, landing->from.region).uses);
	EXPECT_TRUE(hears(landing, waiting, -ECANCELED, since));
	EXPECT_TRUE(RAW_EVENTUALLY(has_state(&landing->from.side, IB_COLLQ_ENDPOINT_ERROR)));
	EXPECT_EQ(0, raw_try_new_pair());
}

static int reset_side(struct raw_side *side)
{
	return raw_reset(side->fd, side->queue, NULL) ?:
	       raw_reset(side->fd, side->endpoint, side->attr.address);
}

static int reset_both(struct landing *landing)
{
	struct raw_side *from = &landing->from.side, *to = &landing->to.side;

	return reset_side(from) ?: reset_side(to) ?:
	       raw_endpoint_connect(from->fd, from->endpoint, to->attr.address) ?:
	       raw_endpoint_connect(to->fd, to->endpoint, from->attr.address);
}

/* The same at a deadline; and after a reset of both ends it's written again. */
TEST_F_TIMEOUT(life, late_in_flight, 120)
{
	struct landing *landing = &self->landing;
	const struct ib_collq_task task = raw_wait_for(landing->to.side.counter, 2 * TOO_MANY);
	const struct ib_collq_sge sge = { .length = LENGTH };
	int waiting = raw_graph_create(landing->to.side.fd, &task, 1), graph;
	struct ib_collq_completion completion;
	__u64 deadline, sequence, heard;

	ASSERT_EQ(0, landing_offer(landing, 0, LENGTH));
	ASSERT_EQ(0, raw_submit(landing->to.side.fd, landing->to.side.queue, waiting, 0, 0,
				&heard));
	graph = writing_graph(landing, TOO_MANY);
	deadline = raw_in_ms(LATE_MS);
	ASSERT_EQ(0, start_writing(landing, graph, deadline, &sequence));
	EXPECT_EQ(-ETIMEDOUT, how_it_ended(landing, sequence));
	EXPECT_LE(deadline, raw_now());
	EXPECT_EQ(0, raw_region_info(landing->from.side.fd, landing->from.region).uses);
	ASSERT_TRUE(raw_ring_take(&landing->from.side.ring, &completion));
	EXPECT_GT(TOO_MANY, completion.task);
	ASSERT_TRUE(hears(landing, heard, -ETIMEDOUT, deadline));
	EXPECT_TRUE(raw_ring_take(&landing->to.side.ring, &completion));
	EXPECT_TRUE(RAW_EVENTUALLY(has_state(&landing->from.side, IB_COLLQ_ENDPOINT_ERROR)));

	ASSERT_EQ(0, reset_both(landing));
	memset(landing->to.area, LANDING_CANARY, LANDING_SIZE);
	ASSERT_EQ(0, landing_offer(landing, 60, LENGTH));
	EXPECT_EQ(0, landing_check(landing, &sge, 1, 0, 2));
}

/* What the old connection was given is gone; on the new one all begins anew. */
TEST_F(life, reset)
{
	struct ib_collq_sge sge = { .length = 100 };
	struct landing *landing = &self->landing;
	struct ib_collq_target_info target;
	struct ib_collq_zone_info zone;
	struct ib_collq_zone_name old;
	int graph;

	ASSERT_EQ(0, landing_offer(landing, 50, 100));
	old = landing->name;
	graph = landing_graph(landing, landing->target, 0, &sge, 1);
	ASSERT_EQ(0, landing_check(landing, &sge, 1, 0, 1));
	ASSERT_EQ(0, reset_both(landing));

	ASSERT_EQ(0, raw_describe(landing->to.side.fd, landing->zone, &zone, sizeof(zone)));
	EXPECT_EQ(1, zone.stale);
	ASSERT_EQ(0, raw_describe(landing->from.side.fd, landing->target, &target,
				  sizeof(target)));
	EXPECT_EQ(1, target.stale);
	EXPECT_EQ(0, raw_region_info(landing->to.side.fd, landing->to.region).uses);
	EXPECT_EQ(-ESTALE, landing_run(landing, graph));
	EXPECT_EQ(-EINVAL, raw_target_create(landing->from.side.fd, landing->from.side.endpoint,
					     &old));
	EXPECT_TRUE(landing_untouched(landing));
	EXPECT_EQ(0, raw_destroy(landing->to.side.fd, landing->zone));

	ASSERT_EQ(0, reset_both(landing));
	ASSERT_EQ(0, landing_offer(landing, 60, 100));
	EXPECT_EQ(0, landing_check(landing, &sge, 1, 0, 2));
}

/* The key is another one although the zone is at the same place: nobody can go on. */
TEST_F(life, old_key_after_reset)
{
	struct ib_collq_sge sge = { .length = 100 };
	struct landing *landing = &self->landing;
	struct ib_collq_zone_name forged;
	int target, status;

	ASSERT_EQ(0, landing_offer(landing, 50, 100));
	forged = landing->name;
	ASSERT_EQ(0, reset_both(landing));
	memcpy(forged.endpoint,
	       ((struct ib_collq_address *)landing->to.side.attr.address)->nonce,
	       sizeof(forged.endpoint));
	target = raw_target_create(landing->from.side.fd, landing->from.side.endpoint, &forged);
	ASSERT_LT(0, target);
	status = landing_run(landing, landing_graph(landing, target, 0, &sge, 1));
	EXPECT_EQ(-EREMOTEIO, status);
	EXPECT_TRUE(landing_untouched(landing));
}

/* The pages stay, and are those of the zone; nobody sees what lands there. */
TEST_F(life, stale_region)
{
	struct ib_collq_sge sge = { .length = 5000 };
	struct landing *landing = &self->landing;
	struct ib_collq_zone_name name;
	int i;

	ASSERT_EQ(0, landing_offer(landing, 50, 5000));
	ASSERT_EQ(landing->to.area, mmap(landing->to.area, LANDING_SIZE, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, landing_run(landing, landing_graph(landing, landing->target, 0, &sge,
								1)));
	EXPECT_EQ(0, raw_count_other(landing->to.area, LANDING_SIZE, 0));
	EXPECT_EQ(-ESTALE, raw_zone_offer(landing->to.side.fd, landing->to.side.endpoint,
					  landing->to.region, 0, 1, &name));
	EXPECT_EQ(-EBUSY, raw_destroy(landing->to.side.fd, landing->to.region));
	ASSERT_EQ(0, raw_destroy(landing->to.side.fd, landing->zone));
	EXPECT_EQ(0, raw_destroy(landing->to.side.fd, landing->to.region));
}

/* Offered before anybody is connected: the name goes with the address. */
TEST(offered_before_connected)
{
	struct ib_collq_endpoint_create from = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	struct ib_collq_endpoint_create to = from;
	struct ib_collq_sge sge = { .length = 300, .offset = 1 };
	struct landing landing = {};
	struct raw_side *a = &landing.from.side, *b = &landing.to.side;

	from.max_send_sge = 1;
	to.flags = IB_COLLQ_ENDPOINT_ZONES;
	ASSERT_EQ(0, raw_side_open_with(a, &from));
	ASSERT_EQ(0, raw_side_open_with(b, &to));
	ASSERT_EQ(0, landing_side_fill(&landing.from));
	ASSERT_EQ(0, landing_side_fill(&landing.to));
	EXPECT_EQ(-ENOTCONN, landing_offer(&landing, 20, 300));
	ASSERT_EQ(0, raw_side_connect(a, b->attr.address));
	ASSERT_EQ(0, raw_side_connect(b, a->attr.address));
	landing.target = raw_target_create(a->fd, a->endpoint, &landing.name);
	ASSERT_LT(0, landing.target);
	landing.from.sends = raw_counter_create(a->fd, IB_COLLQ_SOURCE_SENDS, a->endpoint);
	EXPECT_EQ(0, landing_check(&landing, &sge, 1, 0, 1));
	landing_close(&landing);
}

/* An owner in a process of its own; its address goes one way, the writer's the other. */
static void own_a_zone(int in, int out)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	__u8 peer[IB_COLLQ_ADDRESS_SIZE];
	struct landing_side side = {};
	struct ib_collq_zone_name name;

	attr.flags = IB_COLLQ_ENDPOINT_ZONES;
	if (raw_side_open_with(&side.side, &attr) || landing_side_fill(&side) ||
	    raw_zone_offer(side.side.fd, side.side.endpoint, side.region, 11, LENGTH, &name) < 0 ||
	    write(out, side.side.attr.address, sizeof(peer)) != sizeof(peer) ||
	    write(out, &name, sizeof(name)) != sizeof(name) ||
	    read(in, peer, sizeof(peer)) != sizeof(peer) || raw_side_connect(&side.side, peer) ||
	    write(out, &name, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Who has been killed gives back what the peer was writing to; the peer isn't held up. */
TEST(owner_killed)
{
	struct ib_collq_endpoint_create attr = raw_endpoint_attr(IB_COLLQ_ENDPOINT_SIGNAL);
	const struct ib_collq_sge sge = { .length = LENGTH };
	__u8 peer[IB_COLLQ_ADDRESS_SIZE];
	struct landing landing = {};
	struct raw_side *a = &landing.from.side;
	int to[2], from[2], status, i;
	pid_t child;

	ASSERT_EQ(0, pipe(to));
	ASSERT_EQ(0, pipe(from));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		own_a_zone(to[0], from[1]);

	attr.max_send_sge = 4;
	ASSERT_EQ(0, raw_side_open_with(a, &attr));
	ASSERT_EQ(0, landing_side_fill(&landing.from));
	ASSERT_EQ(sizeof(peer), write(to[1], a->attr.address, sizeof(peer)));
	ASSERT_EQ(sizeof(peer), read(from[0], peer, sizeof(peer)));
	ASSERT_EQ(sizeof(landing.name), read(from[0], &landing.name, sizeof(landing.name)));
	ASSERT_EQ(0, raw_side_connect(a, peer));
	ASSERT_EQ(1, read(from[0], peer, 1));
	landing.target = raw_target_create(a->fd, a->endpoint, &landing.name);
	ASSERT_LT(0, landing.target);
	landing.from.sends = raw_counter_create(a->fd, IB_COLLQ_SOURCE_SENDS, a->endpoint);
	for (i = 0; i < 20; i++)
		ASSERT_EQ(0, landing_run(&landing, landing_graph(&landing, landing.target, 0, &sge,
								 1)));
	ASSERT_EQ(0, kill(child, SIGKILL));
	do
		status = landing_run(&landing, landing_graph(&landing, landing.target, 0, &sge, 1));
	while (!status);
	EXPECT_TRUE(lost_the_zone(status)) TH_LOG("status %d", status);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(RAW_EVENTUALLY(!raw_region_info(a->fd, landing.from.region).uses));
	raw_side_close(a);
	munmap(landing.from.area, LANDING_SIZE);
	EXPECT_EQ(0, raw_try_new_pair());
}

/* As many as a context may have, and not one more; and they are all given back. */
/* More than 30 s where a kernel checks each access. */
TEST_F_TIMEOUT(life, as_many_as_there_may_be, 300)
{
	struct landing *landing = &self->landing;
	const int fd = landing->to.side.fd;
	struct ib_collq_query query;
	struct ib_collq_zone_name name;
	int first = 0, last = 0;
	__u32 i;

	ASSERT_EQ(0, raw_query(fd, &query));
	for (i = 0; i < query.max_zones; i++) {
		last = raw_zone_offer(fd, landing->to.side.endpoint, landing->to.region, i, 1,
				      &name);
		ASSERT_LT(0, last) TH_LOG("number %u", i);
		first = first ?: last;
	}
	EXPECT_EQ(-ENOSPC, raw_zone_offer(fd, landing->to.side.endpoint, landing->to.region, 0, 1,
					  &name));
	ASSERT_EQ(0, raw_destroy(fd, first));
	EXPECT_LT(0, raw_zone_offer(fd, landing->to.side.endpoint, landing->to.region, 0, 1,
				    &name));
	EXPECT_EQ(query.max_zones, raw_region_info(fd, landing->to.region).uses);
}

TEST_HARNESS_MAIN
