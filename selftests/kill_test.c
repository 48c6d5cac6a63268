// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Dead peers. A rank is killed at a random instant, in a barrier or with data under way.
 * All others hear of it in time, those included that only wait to receive and those that
 * aren't next to it; nothing is left behind, and no memory stays pinned or charged.
 *
 * COLLQ_KILL_ROUNDS is how many ranks are killed in barriers (30), and how many in
 * all-to-alls (18).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "chance.h"
#include "collq_util.h"
#include "kill.h"
#include "usage.h"

#define RANKS		8
#define MAX_ROUNDS	1000
#define LIMIT_S		1200
#define GO_ON		1000	/* after the last one */

/* A rank that dies says so; retries and probes are for those that can't. */
#define MEDIAN_NS	250000000ULL

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void plan_barriers(struct kill_plan *plan, uint64_t *chance, uint32_t round)
{
	*plan = (struct kill_plan){
		.size = RANKS,
		.algorithm = COLLQ_BARRIER_DISSEMINATION + round % 3,
		.victim = chance_below(chance, RANKS),
		.delay_ns = chance_below(chance, 20000000),
		.jitter = round % 2 ? chance_below(chance, 1U << 31) : 0,
		.go_on = 10,
	};
}

/* All layouts and packings in turn, with blocks that are of a packet, and of several. */
static void plan_alltoalls(struct kill_plan *plan, uint64_t *chance, uint32_t round)
{
	static const uint64_t bytes[] = { 8, 700, 9000 };

	plan_barriers(plan, chance, round);
	plan->data = (struct exchange_kind){
		.bytes = bytes[(round + round / 6) % 3],
		.layout = COLLQ_ALLTOALL_A + round % 6,
		.packing = COLLQ_PACKING_CPU + (round / 6 + round / 18) % 3,
		.radix = 2 + round % 2,
		.in_place = chance_below(chance, 4) == 0,
	};
}

FIXTURE(dead) {
};

FIXTURE_SETUP(dead)
{
}

/* Whatever has become of the test: nobody holds anything any more. */
FIXTURE_TEARDOWN(dead)
{
	if (!geteuid())
		EXPECT_TRUE(RAW_EVENTUALLY(usage_quiet()));
}

static const char *name_of(const struct kill_plan *plan)
{
	static char name[64];

	if (!plan->data.bytes)
		return collq_barrier_algorithm_name(plan->algorithm);
	snprintf(name, sizeof(name), "%lu bytes, layout %s, packing %u",
		 (unsigned long)plan->data.bytes, collq_alltoall_layout_name(plan->data.layout),
		 plan->data.packing);
	return name;
}

static void say_all(const struct kill_result *result)
{
	uint32_t i;

	for (i = 0; i < RANKS; i++)
		printf("# rank %u: %s after %.1f ms\n", i, strerror(-result->error[i]),
		       result->took_ns[i] / 1e6);
}

typedef void (*plan_function)(struct kill_plan *plan, uint64_t *chance, uint32_t round);

/* So many rounds, after one for what comes with the first time and isn't a leak. */
static void kill_in(struct __test_metadata *_metadata, const char *what, plan_function plan_round,
		    uint32_t rounds)
{
	static uint64_t times[MAX_ROUNDS * RANKS];
	uint64_t passed = 0, chance = chance_begin(what);
	struct kill_result result;
	static struct usage before;
	uint32_t round, i, nr = 0;
	struct kill_plan plan;
	int wrong;

	ASSERT_TRUE(rounds && rounds <= MAX_ROUNDS);
	plan_round(&plan, &chance, 0);
	ASSERT_EQ(0, kill_run(&plan, &result));
	ASSERT_TRUE(RAW_EVENTUALLY(usage_quiet() && usage_read(&before)));

	for (round = 0; round < rounds; round++) {
		plan_round(&plan, &chance, round);
		if (round + 1 == rounds)
			plan.go_on = GO_ON;
		ASSERT_EQ(0, kill_run(&plan, &result)) {
			TH_LOG("round %u, %s, rank %u killed; hung: %#x", round, name_of(&plan),
			       plan.victim, result.hung);
		}
		wrong = kill_find_wrong(&plan, &result);
		EXPECT_EQ(-1, wrong) {
			TH_LOG("round %u, %s, rank %u killed", round, name_of(&plan), plan.victim);
			say_all(&result);
		}
		for (i = 0; i < RANKS; i++)
			if (i != plan.victim)
				times[nr++] = result.took_ns[i];
		passed += result.passed;
	}
	qsort(times, nr, sizeof(times[0]), compare);
	TH_LOG("%u ranks killed after %lu runs", rounds, (unsigned long)passed);
	TH_LOG("heard of within: median %.1f ms, 99 %% %.1f ms, all %.1f ms", times[nr / 2] / 1e6,
	       times[nr - nr / 100 - 1] / 1e6, times[nr - 1] / 1e6);
	EXPECT_GE(MEDIAN_NS, times[nr / 2]);

	if (!RAW_EVENTUALLY(usage_quiet() && !usage_growth(&before, rounds * RANKS * 3, false))) {
		EXPECT_TRUE(usage_quiet());
		EXPECT_EQ(0, usage_growth(&before, rounds * RANKS * 3, true));
	}
	EXPECT_TRUE(RAW_EVENTUALLY(usage_uncharged()));
}

TEST_F_TIMEOUT(dead, in_a_barrier, LIMIT_S)
{
	if (geteuid())
		SKIP(return, "takes root");
	kill_in(_metadata, "dead in a barrier", plan_barriers,
		chance_number("COLLQ_KILL_ROUNDS", 30));
}

TEST_F_TIMEOUT(dead, in_an_alltoall, LIMIT_S)
{
	if (geteuid())
		SKIP(return, "takes root");
	kill_in(_metadata, "dead in an all-to-all", plan_alltoalls,
		chance_number("COLLQ_KILL_ROUNDS", 18));
}

/*
 * Graphs in which ranks only wait, of channels from each rank to the next, or
 * from the first one to all. Rank 0 doesn't start, and dies.
 */
struct received {
	_Atomic uint32_t ready;
	_Atomic uint64_t returned_ns[RANKS];
	_Atomic int error[RANKS];
};

static struct received *received;
static bool to_all;

static struct collq_request *only_wait(struct team_member *me)
{
	struct collq_request *request;
	struct collq_graph *graph;
	uint32_t i;

	CHECK_IS(0, collq_graph_new(&graph));
	if (me->rank)
		CHECK_IS(0, collq_graph_wait(graph, collq_graph_in(graph, to_all ? 0 : me->rank - 1,
								   0), 1, 0));
	for (i = 1; i < me->size; i++) {
		if (to_all ? me->rank : i != me->rank + 1)
			continue;
		CHECK(collq_graph_signal(graph, collq_graph_out(graph, i, 0), 0) >= 0);
		if (me->rank)
			CHECK_IS(0, collq_graph_after(graph, 1, 0));
	}
	CHECK_IS(0, collq_graph_init(me->comm[0], graph, &request));
	CHECK_IS(0, collq_init_wait(request, team_deadline()));
	collq_graph_free(graph);
	return request;
}

static void receive(struct team_member *me)
{
	struct collq_request *request = only_wait(me);

	team_meet(me);
	atomic_fetch_or(&received->ready, 1U << me->rank);
	if (!me->rank)
		pause();
	atomic_store(&received->error[me->rank], collq_start_wait(request, 0));
	atomic_store(&received->returned_ns[me->rank], raw_now());
	/* Or else one that leaves would be news in itself. */
	team_meet(me);
	collq_request_free(request);
}

static bool all_returned(void)
{
	uint32_t i;

	for (i = 1; i < RANKS; i++)
		if (!atomic_load(&received->returned_ns[i]))
			return false;
	return true;
}

static bool all_sleep(const pid_t pids[])
{
	uint32_t i;

	if (atomic_load(&received->ready) != (1U << RANKS) - 1)
		return false;
	for (i = 0; i < RANKS; i++)
		if (!raw_asleep(pids[i]))
			return false;
	return true;
}

static uint64_t struck_ns;

static void kill_first(struct team *team, const pid_t pids[])
{
	uint32_t i;

	if (!RAW_EVENTUALLY(all_sleep(pids)))
		atomic_store(&team->failed, true);
	atomic_store(&team->gone, 1);
	struck_ns = raw_now();
	kill(pids[0], SIGKILL);
	if (RAW_EVENTUALLY(all_returned() || atomic_load(&team->failed)))
		return;
	atomic_store(&team->failed, true);
	for (i = 1; i < RANKS; i++)
		kill(pids[i], SIGKILL);
}

static void receivers_hear_of_it(struct __test_metadata *_metadata)
{
	uint32_t i;

	received = mmap(NULL, sizeof(*received), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, received);
	ASSERT_EQ(0, team_run_directed(RANKS, receive, kill_first));
	for (i = 1; i < RANKS; i++) {
		EXPECT_EQ(-ECONNRESET, atomic_load(&received->error[i]))
			TH_LOG("rank %u", i);
		EXPECT_GE(KILL_DETECTION_NS + team_grace_ns(),
			  atomic_load(&received->returned_ns[i]) - struck_ns);
	}
	munmap(received, sizeof(*received));
}

/* The last one is seven ranks away from the dead one, and never sends. */
TEST_F(dead, before_a_chain)
{
	to_all = false;
	receivers_hear_of_it(_metadata);
}

TEST_F(dead, whom_all_wait_for)
{
	to_all = true;
	receivers_hear_of_it(_metadata);
}

TEST_HARNESS_MAIN
