/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One of a team is killed in the middle of a barrier or an all-to-all, and the others
 * are watched: what they get, and when.
 */
#ifndef KILL_H
#define KILL_H

#include <stdint.h>

#include "exchanges.h"
#include "team.h"

/*
 * By when a dead peer is noticed: the probe interval and all retries, as libcollq
 * asks for by default. team_grace_ns() is on top of it.
 */
#define KILL_PROBE_NS		1000000000ULL
#define KILL_RETRIES_NS		(7ULL * 4096 << 16)
#define KILL_DETECTION_NS	(KILL_PROBE_NS + KILL_RETRIES_NS)

/**
 * struct kill_plan - what happens
 * @size: ranks
 * @algorithm: of the barriers: COLLQ_BARRIER_*
 * @data: what all-to-alls it is that they run instead; bytes 0 for barriers
 * @victim: the rank that is killed
 * @delay_ns: when, after all have had a few runs
 * @jitter: seed of the pauses between runs; 0 for none
 * @go_on: how many runs the others have afterwards, having shrunk
 */
struct kill_plan {
	uint32_t size;
	uint32_t algorithm;
	struct exchange_kind data;
	uint32_t victim;
	uint64_t delay_ns;
	uint64_t jitter;
	uint32_t go_on;
};

/**
 * struct kill_result - what came of it
 * @passed: runs until then, by all that went on to the end
 * @error: how each rank's last run ended
 * @took_ns: when, after the victim was killed
 * @hung: bits of ranks that didn't come back
 */
struct kill_result {
	uint64_t passed;
	int error[TEAM_MAX];
	uint64_t took_ns[TEAM_MAX];
	uint32_t hung;
};

/**
 * kill_run() - do it
 * @plan: what is to happen
 * @result: out: what came of it
 *
 * Return: how many ranks failed, for other reasons than that one was killed.
 */
unsigned int kill_run(const struct kill_plan *plan, struct kill_result *result);

/**
 * kill_find_wrong() - look at a result
 * @plan: what happened
 * @result: what came of it
 *
 * Return: the first rank that didn't get -ECONNRESET in time; -1 if all did.
 */
int kill_find_wrong(const struct kill_plan *plan, const struct kill_result *result);

#endif /* KILL_H */
