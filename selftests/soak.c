// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * soak - barriers, all-to-alls and allreduces, create and destroy, kills and unplugs at
 * random, for as long as one likes, with an eye on what the kernel has in use.
 *
 * It goes on in rounds. In each, either several processes work side by side: one
 * lets teams pass barriers and move data, one opens, uses and closes contexts, one has
 * ranks killed; or the device is taken away under load. Then all must come to rest:
 * whatever is still in use, pinned or charged after a while, or keeps growing, is a
 * failure.
 *
 * What happens comes from the seed that is printed. Runs as root in the VM, since
 * it takes the device away. Exit status 0, 1 on failure, 2 for bad usage.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chance.h"
#include "collq_util.h"
#include "kill.h"
#include "landing.h"
#include "team.h"
#include "unplug.h"
#include "usage.h"

/* Rounds before growth counts: each thing has happened by then, and more than once */
#define WARM_UP_ROUNDS		4

/* Every so many rounds the device is taken away, in another way each time. */
#define UNPLUG_EVERY		2

/* What a round may take, with a machine that has other things to do */
#define ROUND_LIMIT_MS		300000

/* Memory that others may come to use, in KiB */
#define SPARE_UNRECLAIMABLE	16384
#define SPARE_AVAILABLE		131072

/* How many times a thing that leaks does so in one round */
#define LEAKED_QUEUES		2000

enum leak { LEAK_NOTHING, LEAK_CONTEXT, LEAK_MEMORY };

/* What has been done, by all processes */
struct tally {
	_Atomic uint64_t barriers;
	_Atomic uint64_t exchanges;
	_Atomic uint64_t contexts;
	_Atomic uint64_t kills;
	_Atomic uint64_t unplugs;
};

static struct tally *tally;
static uint64_t started;
static bool by_uverbs;

static void complain(const char *what, long long value)
{
	fprintf(stderr, "soak: %s (%lld)\n", what, value);
}

/* What the ranks of a team do, since they take no argument */
static struct {
	uint32_t algorithm;
	uint32_t runs;
	struct exchange_kind data;
} team_plan;

/* Barriers of two communicators, with an all-to-all and an allreduce beside them. */
static void work_as_team(struct team_member *me)
{
	struct collq_request *request[TEAM_COMMS];
	struct reduction reduction;
	struct exchange exchange;
	uint32_t i, comm;

	for (comm = 0; comm < TEAM_COMMS; comm++)
		request[comm] = team_barrier(me, comm, team_plan.algorithm, 0);
	exchange_new_among(me, 0, me->rank, me->size, &exchange, &team_plan.data);
	reduction_new(me, 0, &reduction);
	for (i = 0; i < team_plan.runs; i++) {
		comm = i % TEAM_COMMS;
		exchange_fill(&exchange);
		CHECK_IS(0, collq_start(exchange.request, team_deadline()));
		team_enter(me, comm);
		CHECK_IS(0, collq_start_wait(request[comm], team_deadline()));
		team_check_left(me, comm);
		CHECK_IS(0, reduction_run(me, &reduction, i, team_deadline()));
		CHECK_IS(0, collq_wait(exchange.request, team_deadline()));
		exchange_check(me, &exchange);
	}
	for (comm = 0; comm < TEAM_COMMS; comm++)
		collq_request_free(request[comm]);
	exchange_free(&exchange);
	collq_request_free(reduction.request);
}

static struct exchange_kind any_kind(uint64_t *chance)
{
	static const uint64_t bytes[] = { 1, 60, 3000, 20000 };

	return (struct exchange_kind) {
		.bytes = bytes[chance_below(chance, 4)],
		.layout = chance_below(chance, COLLQ_ALLTOALL_PAIRWISE + 1),
		.packing = COLLQ_PACKING_CPU + chance_below(chance, 3),
		.radix = 2 + chance_below(chance, 2),
		.in_place = chance_below(chance, 2),
	};
}

static int do_teams(uint64_t *chance)
{
	uint32_t i, size, failed;

	for (i = 0; i < 4; i++) {
		size = 2 + chance_below(chance, TEAM_MAX - 1);
		team_plan.algorithm = chance_below(chance, 4);
		team_plan.runs = 50 + chance_below(chance, 300);
		team_plan.data = any_kind(chance);
		failed = team_run(size, work_as_team);
		if (failed) {
			complain("ranks failed as a team", failed);
			return 1;
		}
		tally->barriers += team_plan.runs;
		tally->exchanges += 2 * team_plan.runs;
		tally->contexts += size;
	}
	return 0;
}

/* Two contexts that are connected, used, and closed in any state. */
static int use_pair(uint64_t *chance)
{
	uint32_t i, barriers = chance_below(chance, 20), left = chance_below(chance, 4);
	struct raw_side a, b;
	int err;

	err = raw_pair_open(&a, &b);
	if (!err && chance_below(chance, 2))
		err = raw_pair_add_messages(&a, &b);
	for (i = 0; i < barriers && !err; i++)
		err = raw_pair_barrier(&a, &b);
	for (i = 0; i < left && !err; i++)
		err = raw_submit(a.fd, a.queue, a.graph, 0, chance_below(chance, 2) ? 0 :
				 raw_in_ms(chance_below(chance, 5)), NULL);
	/* It may have come to its deadline already. */
	if (i && err == -ETIMEDOUT)
		err = 0;
	if (chance_below(chance, 2))
		raw_cancel(a.fd, a.queue, 0);
	raw_pair_close(&a, &b);
	tally->barriers += barriers;
	tally->contexts += 2;
	return err;
}

/* One writes into the other's landing zone, as often as chance has it; always by wire. */
static int use_zone(uint64_t *chance)
{
	const struct ib_collq_sge sge = { .length = 1 + chance_below(chance, 9000), .offset = 7 };
	uint32_t i, writes = chance_below(chance, 5);
	struct landing landing;
	int err;

	err = landing_open(&landing, 0);
	if (!err)
		err = landing_offer(&landing, chance_below(chance, 5000), 20000);
	for (i = 0; i < writes && !err; i++)
		err = landing_check(&landing, &sge, 1, chance_below(chance, 10000), i);
	landing_close(&landing);
	tally->contexts += 2;
	return err;
}

static int do_churn(uint64_t *chance)
{
	uint32_t i;
	int err;

	for (i = 0; i < 200; i++) {
		err = chance_below(chance, 8) ? use_pair(chance) : use_zone(chance);
		if (err) {
			complain("two contexts", err);
			return 1;
		}
	}
	return 0;
}

static int do_kills(uint64_t *chance)
{
	struct kill_plan plan = {};
	struct kill_result result;
	unsigned int failed;
	uint32_t i;
	int wrong;

	for (i = 0; i < 8; i++) {
		plan.size = 2 + chance_below(chance, TEAM_MAX - 1);
		plan.algorithm = chance_below(chance, 4);
		plan.victim = chance_below(chance, plan.size);
		plan.delay_ns = chance_below(chance, 20000000);
		plan.jitter = chance_below(chance, 1U << 31);
		plan.go_on = chance_below(chance, 50);
		plan.data = (struct exchange_kind) {};
		if (chance_below(chance, 2))
			plan.data = any_kind(chance);
		failed = kill_run(&plan, &result);
		if (failed) {
			complain("ranks that a kill left", failed);
			return 1;
		}
		wrong = kill_find_wrong(&plan, &result);
		if (wrong >= 0) {
			complain("after a kill a rank got this", result.error[wrong]);
			complain("or too late, after ns", result.took_ns[wrong]);
			return 1;
		}
		*(plan.data.bytes ? &tally->exchanges : &tally->barriers) +=
			plan.go_on + result.passed / plan.size;
		tally->contexts += plan.size;
		tally->kills++;
	}
	return 0;
}

static int do_unplug(uint64_t *chance)
{
	struct unplug_result result;
	struct unplug_plan plan = {
		.way = chance_below(chance, UNPLUG_WAYS),
		.delay_ns = chance_below(chance, 50000000),
	};
	unsigned int failed;

	if (!unplug_possible(plan.way))
		plan.way = UNPLUG_LINK;
	failed = unplug_run(&plan, &result);
	if (failed) {
		complain("ranks that lost the device", failed);
		complain("in this way", plan.way);
		return 1;
	}
	tally->unplugs++;
	return 0;
}

typedef int (*part_function)(uint64_t *chance);

/*
 * Half of what happens goes over the wire, and half by local endpoints; half of it, if
 * wanted, by uverbs.
 */
static void choose_ways(part_function function, uint64_t *chance)
{
	bool local = chance_below(chance, 2);
	bool uverbs = chance_below(chance, 2) && by_uverbs;

	/* Some ranks keep the device that they've lost, which by uverbs would keep it. */
	if (function == do_unplug)
		uverbs = false;
	setenv("COLLQ_TLS", local ? "local,rc" : "rc", 1);
	setenv("COLLQ_FRONT_END", uverbs ? "uverbs" : "char", 1);
	raw_endpoint_flags = local ? IB_COLLQ_ENDPOINT_LOCAL : 0;
}

/* One process for each part of a round, with chance of its own. */
static pid_t play(part_function function, uint64_t *chance)
{
	uint64_t own = (uint64_t)chance_below(chance, UINT32_MAX) << 32 | 1;
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		choose_ways(function, &own);
		_exit(function(&own));
	}
	return pid;
}

/* Whether all parts have come to a good end, in time. Those that hang are ended. */
static bool await(const pid_t pids[], int nr)
{
	uint64_t until = raw_in_ms(ROUND_LIMIT_MS);
	bool good = true;
	int i, status;
	pid_t pid;

	for (i = 0; i < nr; i++) {
		while (!(pid = waitpid(pids[i], &status, WNOHANG)) && raw_now() < until)
			raw_nap();
		if (!pid) {
			complain("a part of the round hangs", i);
			kill(pids[i], SIGKILL);
		}
		good &= pid == pids[i] && !status;
	}
	return good;
}

static bool play_round(uint32_t round, uint64_t *chance)
{
	static const part_function parts[] = { do_teams, do_churn, do_kills };
	pid_t pids[3];
	int i, nr = sizeof(parts) / sizeof(parts[0]);

	if (round % UNPLUG_EVERY == UNPLUG_EVERY - 1) {
		pids[0] = play(do_unplug, chance);
		return await(pids, 1);
	}
	for (i = 0; i < nr; i++)
		pids[i] = play(parts[i], chance);
	return await(pids, nr);
}

static void say(uint32_t round, const struct usage *now)
{
	uint64_t seconds = (raw_now() - started) / 1000000000;

	printf("soak: %02" PRIu64 ":%02" PRIu64 " round %" PRIu32 ": %" PRIu64 " barriers, %" PRIu64
	       " exchanges, %" PRIu64 " contexts, %" PRIu64 " kills, %" PRIu64 " unplugs; ",
	       seconds / 60, seconds % 60, round, tally->barriers, tally->exchanges,
	       tally->contexts, tally->kills, tally->unplugs);
	printf("available %ld MiB, unreclaimable %ld KiB, vmalloc %ld KiB, ", now->available / 1024,
	       now->unreclaimable, now->vmalloc);
	printf("%ld pages pinned, %ld QPs\n", now->pins, now->queue_pairs);
	fflush(stdout);
}

/* What a faulty kernel might do, to show that it would be seen. */
static void leave_queues(enum leak what)
{
	struct raw_side side;
	int i;

	if (what == LEAK_CONTEXT && raw_side_open(&side))
		complain("can't even leak a context", 0);
	/* These are nobody's, and have no name. */
	for (i = 0; what == LEAK_MEMORY && i < LEAKED_QUEUES; i++) {
		if (msgget(IPC_PRIVATE, 0600) < 0) {
			complain("can't even leak memory", errno);
			break;
		}
	}
}

/* All must come to rest, and nothing may have grown since it had warmed up. */
static bool check(uint32_t round, struct usage *before, uint64_t *contexts_before)
{
	static struct usage now;
	int contexts;

	if (!RAW_EVENTUALLY(usage_uncharged())) {
		complain("locked memory is charged, though all have ended", 0);
		return false;
	}
	if (!RAW_EVENTUALLY(usage_quiet())) {
		complain("still in use, though all have ended; QPs:",
			 usage_read(&now) ? now.queue_pairs : -1);
		complain("users of the module:", now.module_users);
		complain("pages pinned:", now.pins);
		return false;
	}
	if (!usage_read(&now))
		return false;
	say(round, &now);
	if (round < WARM_UP_ROUNDS) {
		*before = now;
		*contexts_before = tally->contexts;
		return true;
	}
	contexts = tally->contexts - *contexts_before;
	if (!RAW_EVENTUALLY(!usage_growth(before, contexts, false))) {
		complain("things that have grown", usage_growth(before, contexts, true));
		return false;
	}
	if (usage_is_exact() &&
	    (now.unreclaimable > before->unreclaimable + SPARE_UNRECLAIMABLE ||
	     now.available < before->available - SPARE_AVAILABLE)) {
		complain("less memory than before, KiB", before->available - now.available);
		return false;
	}
	return true;
}

static void usage_text(FILE *to)
{
	fputs("Usage: soak [--minutes N] [--seed N] [--uverbs] [--leak context|memory]\n"
	      "\n"
	      "  --minutes N   how long (10)\n"
	      "  --seed N      what happens; else it is drawn, and printed\n"
	      "  --uverbs      half of all teams by uverbs; the kernel has to offer that\n"
	      "  --leak WHAT   keep something in each round, to see that it's found\n", to);
}

static bool parse(int argc, char **argv, uint32_t *minutes, enum leak *what)
{
	static const struct option options[] = {
		{ "minutes", required_argument, NULL, 'm' },
		{ "seed", required_argument, NULL, 's' },
		{ "uverbs", no_argument, NULL, 'u' },
		{ "leak", required_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 'm':
			*minutes = strtoul(optarg, NULL, 0);
			break;
		case 's':
			setenv("COLLQ_TEST_SEED", optarg, 1);
			break;
		case 'u':
			by_uverbs = true;
			break;
		case 'l':
			*what = strcmp(optarg, "memory") ? LEAK_CONTEXT : LEAK_MEMORY;
			break;
		case 'h':
			usage_text(stdout);
			exit(0);
		default:
			return false;
		}
	}
	return optind == argc && *minutes;
}

static bool soak(uint32_t minutes, enum leak what)
{
	uint64_t chance = chance_begin("soak"), contexts_before = 0;
	static struct usage before;
	uint32_t round;
	int err;

	started = raw_now();
	for (round = 0; raw_now() < started + minutes * 60000000000ULL || round <= WARM_UP_ROUNDS;
	     round++) {
		leave_queues(what);
		if (!play_round(round, &chance) || !check(round, &before, &contexts_before)) {
			complain("failed in round", round);
			return false;
		}
	}
	err = raw_unload("ib_collq");
	if (err) {
		complain("the module doesn't go", -err);
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	enum leak what = LEAK_NOTHING;
	uint32_t minutes = 10;
	bool good;

	if (!parse(argc, argv, &minutes, &what)) {
		usage_text(stderr);
		return 2;
	}
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	if (tally == MAP_FAILED)
		return 1;
	good = soak(minutes, what);
	printf("soak: %s: %" PRIu64 " barriers, %" PRIu64 " exchanges, %" PRIu64 " kills, %" PRIu64
	       " unplugs\n", good ? "passed" : "FAILED", tally->barriers, tally->exchanges,
	       tally->kills, tally->unplugs);
	return !good;
}
