/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A team: processes that are the ranks of a communicator, for tests of libcollq.
 *
 * The parent forks them and waits; each runs a function and says through shared
 * memory if something isn't as it should be. Then all of the team give up, so
 * that nobody waits for one that is gone.
 */
#ifndef TEAM_H
#define TEAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <collq/collq.h>

#define TEAM_MAX		8
#define TEAM_COMMS		2
#define TEAM_BLOCK		8192

/* Nothing that is to happen takes longer, even if the machine is emulated */
#define TEAM_PATIENCE_NS	20000000000ULL

/* One rank's part of the allgathers of one communicator */
struct team_gather {
	_Atomic uint32_t published;
	unsigned char block[2][TEAM_BLOCK];
};

/* @entered: stamps of barriers; @word: for the test's own use */
struct team_rank {
	_Atomic uint64_t entered[TEAM_COMMS];
	_Atomic uint64_t word;
	_Atomic uint32_t met;
	char failure[256];
	struct team_gather gather[TEAM_COMMS];
};

struct team {
	_Atomic bool failed;
	_Atomic uint32_t gone;	/* bits of ranks that the others do without from now on */
	uint32_t size;
	uint32_t lazy;		/* how often an allgather's test says "not yet" */
	struct team_rank ranks[TEAM_MAX];
};

/* One rank's side of a communicator's allgathers, of which one is under way */
struct team_oob {
	struct team_member *me;
	uint32_t comm;
	uint32_t started;
	bool going_on;
	uint32_t lazy;
	void *recv;
	size_t bytes;
};

/* Of one process: the context, and communicators of all ranks */
struct team_member {
	struct team *team;
	uint32_t rank, size;
	struct collq_context *ctx;
	struct collq_comm *comm[TEAM_COMMS];
	struct team_oob oob[TEAM_COMMS];
};

typedef void (*team_function)(struct team_member *me);

/* What the parent does meanwhile. It may kill, after having said who is gone. */
typedef void (*team_director)(struct team *team, const pid_t pids[]);

/*
 * Runs @function as so many ranks, each with an open context and TEAM_COMMS
 * communicators, which are destroyed afterwards. Prints what failed; returns how
 * many ranks did. Those whose bit is set in @doomed aren't expected to return.
 */
unsigned int team_run(uint32_t size, team_function function);
unsigned int team_run_doomed(uint32_t size, team_function function, uint32_t doomed);
unsigned int team_run_directed(uint32_t size, team_function function, team_director director);

/* Gives up on the whole team. */
void team_fail(struct team_member *me, const char *file, int line, const char *what,
	       long long value) __attribute__((noreturn));

/* All ranks that aren't gone have come here; without libcollq. */
void team_meet(struct team_member *me);

/* The callbacks of a communicator of all ranks that aren't gone. */
struct collq_oob team_oob(struct team_member *me, uint32_t comm);

/* How many ranks below @rank aren't gone: that one's number among them. */
uint32_t team_place(const struct team *team, uint32_t rank);

/* A barrier that is ready to run. */
struct collq_request *team_barrier(struct team_member *me, uint32_t comm, uint32_t algorithm,
				   uint32_t radix);

/* Before and after a run of a barrier: nobody leaves before all have entered. */
void team_enter(struct team_member *me, uint32_t comm);
void team_check_left(struct team_member *me, uint32_t comm);

/* So many runs of a barrier, each with that, by ranks that come at random times. */
void team_run_verified(struct team_member *me, struct collq_request *request, uint32_t comm,
		       int runs);

/* Objects of a type in this member's context; and an endpoint's info. */
uint32_t team_count(struct team_member *me, uint32_t type);

/* The endpoint with the lowest id, which is a signal endpoint. */
uint32_t team_endpoint(struct team_member *me);

/* All that a communicator has in the kernel, which is all but its context's ring. */
uint32_t team_count_all(struct team_member *me);

uint64_t team_deadline(void);
uint32_t team_random(uint32_t below);

#define CHECK(condition) do {							\
	if (!(condition))							\
		team_fail(me, __FILE__, __LINE__, #condition, 0);		\
} while (0)

/* @expression is a function's result, which is shown if it's another. */
#define CHECK_IS(expected, expression) do {					\
	long long value_ = (expression);					\
										\
	if (value_ != (long long)(expected))					\
		team_fail(me, __FILE__, __LINE__, #expression " == " #expected, value_); \
} while (0)

/**
 * team_grace_ns() - how late a rank may be that should have heard of something
 *
 * Return: a second; on the kernels that tools/vm builds, which check all they do,
 * half a minute.
 */
uint64_t team_grace_ns(void);

#endif /* TEAM_H */
