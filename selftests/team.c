// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ranks as processes, and what they have in common: see team.h.
 *
 * The allgather has two blocks for each rank, used in turn. A rank publishes its
 * block number n + 2 only when its number n + 1 is complete, so all have published
 * that, so all have read number n.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "slow_kernel.h"
#include "team.h"

/*
 * Ranks are on one host: where nobody says otherwise they would leave the wire out, and
 * it's the wire that most tests are about. See team_local.c.
 */
__attribute__((constructor)) static void take_the_wire(void)
{
	setenv("COLLQ_TLS", "rc", 0);
}

/* The failure is the first one's; the others just end. */
void team_fail(struct team_member *me, const char *file, int line, const char *what,
	       long long value)
{
	if (!atomic_exchange(&me->team->failed, true))
		snprintf(me->team->ranks[me->rank].failure,
			 sizeof(me->team->ranks[me->rank].failure),
			 "%s:%d: %s (%lld)", file, line, what, value);
	_exit(1);
}

static void give_way(struct team_member *me)
{
	if (atomic_load(&me->team->failed))
		_exit(1);
	sched_yield();
}

static bool is_gone(const struct team *team, uint32_t rank)
{
	return atomic_load(&team->gone) >> rank & 1;
}

uint32_t team_place(const struct team *team, uint32_t rank)
{
	uint32_t i, place = 0;

	for (i = 0; i < rank; i++)
		place += !is_gone(team, i);
	return place;
}

void team_meet(struct team_member *me)
{
	uint32_t number = atomic_fetch_add(&me->team->ranks[me->rank].met, 1) + 1;
	uint32_t i;

	for (i = 0; i < me->size; i++)
		while (!is_gone(me->team, i) && atomic_load(&me->team->ranks[i].met) < number)
			give_way(me);
}

static int allgather(void *arg, const void *send, void *recv, size_t bytes, void **request)
{
	struct team_oob *oob = arg;
	struct team_member *me = oob->me;
	struct team_gather *own = &me->team->ranks[me->rank].gather[oob->comm];

	/* One at a time is what libcollq promises. */
	if (oob->going_on || bytes > TEAM_BLOCK)
		return -EINVAL;
	oob->going_on = true;
	oob->lazy = me->team->lazy;
	oob->recv = recv;
	oob->bytes = bytes;
	oob->started++;
	memcpy(own->block[oob->started % 2], send, bytes);
	atomic_store(&own->published, oob->started);
	*request = oob;
	return 0;
}

static int allgather_test(void *arg, void *request)
{
	struct team_oob *oob = arg;
	struct team *team = oob->me->team;
	struct team_gather *from;
	uint32_t i;

	if (request != oob || !oob->going_on)
		return -EINVAL;
	if (atomic_load(&team->failed))
		return -EPIPE;
	if (oob->lazy) {
		oob->lazy--;
		return -EINPROGRESS;
	}
	for (i = 0; i < team->size; i++)
		if (!is_gone(team, i) &&
		    atomic_load(&team->ranks[i].gather[oob->comm].published) < oob->started)
			return -EINPROGRESS;
	for (i = 0; i < team->size; i++) {
		if (is_gone(team, i))
			continue;
		from = &team->ranks[i].gather[oob->comm];
		memcpy((char *)oob->recv + team_place(team, i) * oob->bytes,
		       from->block[oob->started % 2], oob->bytes);
	}
	return 0;
}

static void allgather_free(void *arg, void *request)
{
	struct team_oob *oob = arg;

	(void)request;
	oob->going_on = false;
}

struct collq_oob team_oob(struct team_member *me, uint32_t comm)
{
	me->oob[comm].me = me;
	me->oob[comm].comm = comm;
	return (struct collq_oob){
		.size = sizeof(struct collq_oob),
		.arg = &me->oob[comm],
		.allgather = allgather,
		.test = allgather_test,
		.req_free = allgather_free,
	};
}

static void run_member(struct team *team, uint32_t rank, team_function function)
{
	struct team_member *me, member = { .team = team, .rank = rank, .size = team->size };
	struct collq_oob oob;
	uint32_t i;

	srandom(rank + 1);
	/* If the parent is killed, for taking too long. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	me = &member;
	CHECK_IS(0, collq_open(NULL, &me->ctx));
	for (i = 0; i < TEAM_COMMS; i++) {
		oob = team_oob(me, i);
		CHECK_IS(0, collq_comm_create(me->ctx, rank, me->size, &oob, &me->comm[i]));
	}
	function(me);
	for (i = 0; i < TEAM_COMMS; i++)
		CHECK_IS(0, collq_comm_destroy(me->comm[i]));
	CHECK_IS(0, collq_close(me->ctx));
	_exit(0);
}

static bool has_failed(struct team *team, uint32_t rank, pid_t pid, bool doomed)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		printf("# rank %u: can't be run\n", rank);
		return true;
	}
	if (doomed && !atomic_load(&team->failed))
		return false;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return false;
	if (WIFSIGNALED(status)) {
		printf("# rank %u of %u: signal %d\n", rank, team->size, WTERMSIG(status));
		atomic_store(&team->failed, true);
	} else if (*team->ranks[rank].failure) {
		printf("# rank %u of %u: %s\n", rank, team->size, team->ranks[rank].failure);
	}
	return true;
}

static unsigned int run(uint32_t size, team_function function, team_director director,
			uint32_t doomed)
{
	unsigned int failed = 0;
	pid_t pids[TEAM_MAX];
	struct team *team;
	uint32_t i;

	team = mmap(NULL, sizeof(*team), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		    -1, 0);
	if (team == MAP_FAILED)
		return size;
	team->size = size;
	team->lazy = 2;
	fflush(stdout);
	for (i = 0; i < size; i++) {
		pids[i] = fork();
		if (!pids[i])
			run_member(team, i, function);
		if (pids[i] < 0)
			atomic_store(&team->failed, true);
	}
	if (director && !atomic_load(&team->failed))
		director(team, pids);
	for (i = 0; i < size; i++)
		failed += has_failed(team, i, pids[i], doomed >> i & 1 || is_gone(team, i));
	munmap(team, sizeof(*team));
	/* The harness leaves without. */
	fflush(stdout);
	return failed;
}

unsigned int team_run_doomed(uint32_t size, team_function function, uint32_t doomed)
{
	return run(size, function, NULL, doomed);
}

unsigned int team_run_directed(uint32_t size, team_function function, team_director director)
{
	return run(size, function, director, 0);
}

unsigned int team_run(uint32_t size, team_function function)
{
	return run(size, function, NULL, 0);
}

uint64_t team_deadline(void)
{
	return collq_deadline_in((slow_kernel() ? 4 : 1) * TEAM_PATIENCE_NS);
}

struct collq_request *team_barrier(struct team_member *me, uint32_t comm, uint32_t algorithm,
				   uint32_t radix)
{
	const struct collq_barrier_options options = {
		.size = sizeof(options),
		.algorithm = algorithm,
		.radix = radix,
	};
	struct collq_request *request;

	CHECK_IS(0, collq_barrier_init(me->comm[comm], &options, &request));
	CHECK_IS(0, collq_init_wait(request, team_deadline()));
	return request;
}

void team_enter(struct team_member *me, uint32_t comm)
{
	atomic_fetch_add(&me->team->ranks[me->rank].entered[comm], 1);
}

void team_check_left(struct team_member *me, uint32_t comm)
{
	uint64_t number = atomic_load(&me->team->ranks[me->rank].entered[comm]);
	uint32_t i;

	for (i = 0; i < me->size; i++)
		CHECK(is_gone(me->team, i) ||
		      atomic_load(&me->team->ranks[i].entered[comm]) >= number);
}

uint32_t team_count(struct team_member *me, uint32_t type)
{
	struct ib_collq_object_describe describe = { .flags = IB_COLLQ_DESCRIBE_NEXT };
	uint32_t nr = 0;

	for (; !collq_object_describe(me->ctx, &describe); describe.id++) {
		nr += describe.type == type;
		describe.nr = 0;
		describe.info_size = 0;
		describe.entry_size = 0;
	}
	return nr;
}

uint32_t team_endpoint(struct team_member *me)
{
	struct ib_collq_object_describe describe = { .flags = IB_COLLQ_DESCRIBE_NEXT };

	for (;; describe.id++) {
		CHECK_IS(0, collq_object_describe(me->ctx, &describe));
		if (describe.type == IB_COLLQ_OBJECT_ENDPOINT)
			return describe.id;
		describe.nr = 0;
		describe.info_size = 0;
		describe.entry_size = 0;
	}
}

void team_run_verified(struct team_member *me, struct collq_request *request, uint32_t comm,
		       int runs)
{
	while (runs--) {
		if (!team_random(4))
			usleep(team_random(200));
		team_enter(me, comm);
		CHECK_IS(0, collq_start_wait(request, team_deadline()));
		team_check_left(me, comm);
	}
}

uint32_t team_count_all(struct team_member *me)
{
	static const uint32_t types[] = {
		IB_COLLQ_OBJECT_ENDPOINT, IB_COLLQ_OBJECT_COUNTER, IB_COLLQ_OBJECT_GRAPH,
		IB_COLLQ_OBJECT_QUEUE,
	};
	uint32_t i, nr = 0;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		nr += team_count(me, types[i]);
	return nr;
}

uint32_t team_random(uint32_t below)
{
	return (uint32_t)random() % below;
}

uint64_t team_grace_ns(void)
{
	return slow_kernel() ? 30000000000ULL : 1000000000ULL;
}
