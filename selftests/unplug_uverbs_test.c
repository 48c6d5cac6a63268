// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RDMA device goes while uverbs descriptors are in full use. SoftRoCE has to wait for
 * their close then: everybody is told at once, by contexts and libcollq alike, and the
 * removal ends when the last one has closed, exited or been killed, which some are while
 * it goes on. A driver, and ib_collq, can't be unloaded before; it's tried all the time,
 * so that it's unloaded as soon as it can be.
 *
 * COLLQ_UNPLUG_ROUNDS is how often (16; 8 on kernels that check all they do).
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "chance.h"
#include "exchanges.h"
#include "mr_side.h"
#include "slow_kernel.h"
#include "unplug.h"
#include "usage.h"

#define RANKS		6
#define LENGTH		50000
#define LIMIT_S		1200

/* Beyond it somebody hangs. */
#define PATIENCE_MS	120000

/* Ways beside those of unplug.h: our own module is unloaded */
#define UNPLUG_SELF	UNPLUG_WAYS
#define ALL_WAYS	(UNPLUG_WAYS + 1)

/* What becomes of a rank: the last two are done to it, before the removal or late */
enum fate { CLOSES, EXITS, STAYS, KILLED };

/* What is to happen, known to all; @strict: nobody can fail but by the device */
static struct {
	uint32_t way;
	enum fate fate[RANKS];
	bool strict;
} plan;

/* What a rank and its thread are at */
#define BUSY		1
#define LOST		2

/* @over: all let go, since nothing is taken from them */
struct scene {
	_Atomic uint32_t calls[RANKS][2];
	_Atomic uint32_t at[RANKS][2];
	_Atomic bool over;
};

static struct scene *scene;
static uint64_t chance, took_ns;

static void count(struct team_member *me, uint32_t thread)
{
	if (atomic_fetch_add(&scene->calls[me->rank][thread], 1) == 3)
		atomic_store(&scene->at[me->rank][thread], BUSY);
}

static bool is_over(void)
{
	return atomic_load(&scene->over);
}

/* Modules go when nobody has the device. */
static bool takes_module(void)
{
	return plan.way >= UNPLUG_MODULE;
}

/* Why something has failed: the device has gone, or a peer; or it's over. */
static void check_error(struct team_member *me, int err)
{
	if (!takes_module() && plan.strict && plan.way == UNPLUG_LINK)
		CHECK_IS(-ENODEV, err);
	CHECK(err < 0 || is_over());
}

static void check_lost(struct team_member *me, int err, int fd)
{
	check_error(me, err);
	if (takes_module())
		return;
	CHECK(RAW_WITHIN(PATIENCE_MS, raw_query(fd, &(struct ib_collq_query) {}) == -ENODEV));
	CHECK_IS(-ENODEV, raw_counter_create(fd, IB_COLLQ_SOURCE_USER, 0));
	CHECK_IS(-ENODEV, raw_counter_raise(fd, 1, 1));
}

static void lose(struct team_member *me, uint32_t thread)
{
	atomic_store(&scene->at[me->rank][thread], LOST);
}

/* All of it, or the descriptor alone. Memory is the process' again when it has been told. */
static void let_go(struct team_member *me, struct mr_side *side)
{
	if (me->rank % 2 && !takes_module()) {
		CHECK_IS(0, ibv_dereg_mr(side->mr));
		CHECK_IS(0, ibv_dealloc_pd(side->pd));
	}
	mr_side_close(side);
}

static void open_mr_pair(struct team_member *me, struct mr_side *a, struct mr_side *b)
{
	CHECK_IS(0, mr_side_open(a));
	CHECK_IS(0, mr_side_open(b));
	CHECK_IS(0, mr_side_connect(a, b));
	CHECK_IS(0, mr_side_connect(b, a));
}

static void lose_mr_pair(struct team_member *me, int err, struct mr_side *a, struct mr_side *b)
{
	check_lost(me, err, a->raw.fd);
	check_lost(me, err, b->raw.fd);
	lose(me, 1);
	if (plan.fate[me->rank] != CLOSES)
		return;
	let_go(me, a);
	let_go(me, b);
}

/* Data from one registered area to the other, more of it than is waited for. */
static void transfers(struct team_member *me)
{
	struct mr_side a, b;
	int send, recv, err = 0;
	__u64 sent, received;

	open_mr_pair(me, &a, &b);
	send = mr_graph_of(&a, true, true, 1, LENGTH);
	recv = mr_graph_of(&b, false, true, 3, LENGTH);
	while (!err && !is_over()) {
		err = mr_submit_with(&b, recv, b.region, &received);
		if (!err)
			err = mr_submit_with(&a, send, a.region, &sent);
		if (!err && me->rank % 2)
			err = mr_result_of(&a, sent);
		if (!err)
			err = mr_result_of(&b, received);
		while (raw_ring_take(&a.raw.ring, &(struct ib_collq_completion) {}) ||
		       raw_ring_take(&b.raw.ring, &(struct ib_collq_completion) {}))
			;
		count(me, 1);
	}
	lose_mr_pair(me, err, &a, &b);
}

/* Receives that are posted, and somebody who sleeps until there's no device. */
static void asleep(struct team_member *me)
{
	struct ib_collq_queue_wait wait;
	struct mr_side a, b;
	__u64 sequence;
	int i, err;

	open_mr_pair(me, &a, &b);
	CHECK_IS(0, mr_submit_with(&b, mr_graph_of(&b, false, true, 0, LENGTH), b.region,
				   &sequence));
	for (i = 0; i < 4; i++)
		count(me, 1);
	err = raw_wait(b.raw.fd, b.raw.queue, sequence, 0, &wait);
	lose_mr_pair(me, err ? err : wait.status, &a, &b);
}

/* Regions of the process' own memory, and endpoints in its protection domain. */
static void objects(struct team_member *me)
{
	struct ib_collq_endpoint_create attr;
	struct mr_side a, b;
	int err = 0, region, endpoint;

	open_mr_pair(me, &a, &b);
	while (!err && !is_over()) {
		attr = mr_message_attr(&a.raw);
		region = mr_region(a.raw.fd, a.mr, a.area, AREA / 2);
		endpoint = mr_endpoint_in_pd(a.raw.fd, a.pd, &attr);
		err = region < 0 ? region : endpoint < 0 ? endpoint : 0;
		if (!err)
			err = raw_destroy(a.raw.fd, region);
		if (!err)
			err = raw_destroy(a.raw.fd, endpoint);
		count(me, 1);
	}
	/* There's no such GID any more. */
	if (err == -EINVAL && plan.way == UNPLUG_NETDEV)
		err = -EADDRNOTAVAIL;
	lose_mr_pair(me, err, &a, &b);
}

static void barriers(struct team_member *me)
{
	struct raw_side a, b;
	int err = 0;

	CHECK_IS(0, raw_pair_open(&a, &b));
	while (!err && !is_over()) {
		err = raw_pair_barrier(&a, &b);
		count(me, 1);
	}
	check_lost(me, err, a.fd);
	check_lost(me, err, b.fd);
	lose(me, 1);
	if (plan.fate[me->rank] == CLOSES)
		raw_pair_close(&a, &b);
}

/* Descriptors, each with a context, that are opened and closed. */
static void contexts(struct team_member *me)
{
	int fd, err = 0;

	while (!err && !is_over()) {
		fd = raw_open();
		err = fd < 0 ? fd : raw_query(fd, &(struct ib_collq_query) {});
		if (fd >= 0)
			close(fd);
		count(me, 1);
	}
	CHECK(!err || err == -ENODEV || err == -ENOENT || err == -ENXIO || err == -EOPNOTSUPP);
	lose(me, 1);
}

static void *load(void *data)
{
	static void (*const loads[RANKS])(struct team_member *me) = {
		asleep, transfers, transfers, objects, barriers, contexts,
	};
	struct team_member *me = data;

	loads[me->rank](me);
	return NULL;
}

/* Where all let go by themselves one may wait for another that has done so already. */
static uint64_t deadline(void)
{
	return takes_module() ? collq_deadline_in(1000000000) : 0;
}

/* Barriers and all-to-alls of all ranks, by libcollq: why they end. */
static int be_busy(struct team_member *me, struct collq_request *barrier,
		   struct exchange *exchange)
{
	uint32_t turn;
	int err = 0;

	for (turn = 0; !err && !is_over(); turn++) {
		if (turn % 2) {
			err = collq_start_wait(barrier, deadline());
		} else {
			exchange_fill(exchange);
			err = collq_start_wait(exchange->request, deadline());
			if (!err)
				exchange_check(me, exchange);
		}
		count(me, 0);
	}
	return err;
}

static void member(struct team_member *me)
{
	struct ib_collq_query query = { .size = sizeof(query) };
	struct collq_request *barrier;
	struct exchange exchange;
	pthread_t thread;

	CHECK(!strcmp(collq_context_front_end(me->ctx), "uverbs"));
	barrier = team_barrier(me, 0, 0, 0);
	exchange_new(me, 1, &exchange, 3000, COLLQ_ALLTOALL_PAIRWISE, 0, 0, false);
	CHECK_IS(0, pthread_create(&thread, NULL, load, me));
	check_error(me, be_busy(me, barrier, &exchange));
	if (!takes_module())
		CHECK(RAW_WITHIN(PATIENCE_MS, collq_query(me->ctx, &query) == -ENODEV));
	lose(me, 0);
	CHECK_IS(0, pthread_join(thread, NULL));
	if (plan.fate[me->rank] == EXITS)
		_exit(0);
	if (plan.fate[me->rank] == STAYS)
		pause();
	exchange_free(&exchange);
	collq_request_free(barrier);
}

static bool has_come(uint32_t rank, uint32_t what)
{
	return atomic_load(&scene->at[rank][0]) >= what && atomic_load(&scene->at[rank][1]) >= what;
}

/* Those that live. */
static bool all_at(uint32_t what)
{
	uint32_t i;

	for (i = 0; i < RANKS; i++)
		if ((what == BUSY || plan.fate[i] != KILLED) && !has_come(i, what))
			return false;
	return true;
}

/* Tried until it works. */
static bool unload(const char *module)
{
	int err;

	while ((err = raw_unload(module)) == -EAGAIN || err == -EBUSY)
		raw_nap();
	return !err;
}

static pid_t begin_removal(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(!(plan.way == UNPLUG_SELF ? unload("ib_collq") :
			plan.way == UNPLUG_MODULE ? unload("rdma_rxe") : unplug_take(plan.way)));
	return pid;
}

static void pass_time(uint32_t at_most_ns)
{
	nanosleep(&(struct timespec) { .tv_nsec = chance_below(&chance, at_most_ns) }, NULL);
}

/* All that have this fate, one after the other. */
static void kill_those(struct team *team, const pid_t pids[], enum fate fate)
{
	uint32_t i, first = chance_below(&chance, RANKS), rank;

	for (i = 0; i < RANKS; i++) {
		rank = (first + i) % RANKS;
		if (plan.fate[rank] != fate)
			continue;
		pass_time(5000000);
		atomic_fetch_or(&team->gone, 1U << rank);
		kill(pids[rank], SIGKILL);
	}
}

static bool stays(void)
{
	uint32_t i;

	for (i = 0; i < RANKS; i++)
		if (plan.fate[i] == STAYS)
			return true;
	return false;
}

/* Takes it away when all are at it, and brings another one: what went wrong. */
static const char *act(struct team *team, const pid_t pids[])
{
	int status;
	uint64_t begin;
	pid_t pid;

	if (!RAW_WITHIN(PATIENCE_MS, all_at(BUSY) || atomic_load(&team->failed)))
		return "not all are busy";
	pass_time(30000000);
	begin = raw_now();
	pid = begin_removal();
	kill_those(team, pids, KILLED);
	if (takes_module())
		atomic_store(&scene->over, true);
	if (!RAW_WITHIN(PATIENCE_MS, all_at(LOST) || atomic_load(&team->failed)))
		return "not all have been told";
	if (atomic_load(&team->failed))
		return "a rank has failed";
	if (stays() && waitpid(pid, &status, WNOHANG))
		return "the device goes though it's open";
	kill_those(team, pids, STAYS);
	if (!RAW_WITHIN(PATIENCE_MS, waitpid(pid, &status, WNOHANG) == pid))
		return "the removal hangs";
	took_ns = raw_now() - begin;
	if (status)
		return "the device doesn't go";
	if (!unplug_undo())
		return "no new device";
	return RAW_EVENTUALLY(!raw_try_new_pair()) ? NULL : "the new device is of no use";
}

static void unplug(struct team *team, const pid_t pids[])
{
	const char *what = act(team, pids);
	uint32_t i;

	if (!what)
		return;
	printf("# %s\n", what);
	for (i = 0; i < RANKS; i++) {
		if (!has_come(i, LOST))
			printf("# rank %u, fate %u, is at %u, its thread at %u\n", i, plan.fate[i],
			       atomic_load(&scene->at[i][0]), atomic_load(&scene->at[i][1]));
		kill(pids[i], SIGKILL);
	}
	atomic_store(&team->failed, true);
}

/* In every other round that a module isn't taken in nobody dies before he is told. */
static void draw(uint32_t round)
{
	uint32_t i;

	plan.way = round % ALL_WAYS;
	if (!unplug_possible(plan.way))
		plan.way = UNPLUG_LINK;
	plan.strict = round / ALL_WAYS % 2 && !takes_module();
	for (i = 0; i < RANKS; i++)
		plan.fate[i] = chance_below(&chance, plan.strict ? KILLED : KILLED + 1);
	/* It's told of nothing that way. */
	if (takes_module())
		plan.fate[0] = KILLED;
}

FIXTURE(unplug) {
};

FIXTURE_SETUP(unplug)
{
	if (geteuid())
		SKIP(return, "takes root");
	scene = mmap(NULL, sizeof(*scene), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_NE(MAP_FAILED, scene);
}

/* Whatever has become of the test, those behind it need both. */
FIXTURE_TEARDOWN(unplug)
{
	munmap(scene, sizeof(*scene));
	if (!unplug_undo())
		TH_LOG("no device any more");
}

TEST_F_TIMEOUT(unplug, uverbs_under_load, LIMIT_S)
{
	uint32_t round, rounds = chance_number("COLLQ_UNPLUG_ROUNDS", slow_kernel() ? 8 : 16);
	uint64_t slowest = 0;
	static struct usage before;

	chance = chance_begin("unplug_uverbs");
	/* 4 ms for each of eight tries where the peer has gone */
	mr_ack_timeout = 10;
	for (round = 0; round < rounds + ALL_WAYS; round++) {
		memset(scene, 0, sizeof(*scene));
		draw(round);
		ASSERT_EQ(0, team_run_directed(RANKS, member, unplug))
			TH_LOG("round %u, way %u", round, plan.way);
		ASSERT_TRUE(RAW_EVENTUALLY(usage_quiet()))
			TH_LOG("round %u, way %u", round, plan.way);
		if (took_ns > slowest)
			slowest = took_ns;
		/* What comes with the first times isn't a leak. */
		if (round == ALL_WAYS - 1)
			ASSERT_TRUE(usage_read(&before));
	}
	TH_LOG("%u rounds, slowest removal %.2f s", rounds, slowest / 1e9);
	if (!RAW_EVENTUALLY(!usage_growth(&before, rounds * 50, false)))
		EXPECT_EQ(0, usage_growth(&before, rounds * 50, true));
	EXPECT_TRUE(RAW_EVENTUALLY(usage_uncharged()));
	EXPECT_EQ(0, raw_unload("ib_collq"));
}

TEST_HARNESS_MAIN
