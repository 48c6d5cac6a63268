/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef BLAME_H
#define BLAME_H

#include "snapshot.h"

/* Why a chain of queues that wait for each other goes no further */
enum reason {
	REASON_NONE,		/* it's on the move */
	REASON_NOT_STARTED,	/* it has nothing to do: its process hasn't come yet */
	REASON_FAILED,		/* it has failed */
	REASON_NO_QUEUE,	/* its context has no queue for it */
	REASON_ELSEWHERE,	/* another host, or another user's */
	REASON_UNDER_WAY,	/* it has sent what isn't here: under way, or lost */
	REASON_RUNNING,		/* between two tasks */
	REASON_FULL,		/* its endpoint takes no more */
	REASON_SENDS,		/* its sends haven't arrived */
	REASON_RAISE,		/* its own process is to raise a counter */
	REASON_EVENTFD,		/* somebody is to write to an eventfd */
	REASON_UNBOUND,		/* a counter that nothing is bound to */
	REASON_CIRCLE,		/* they wait for each other */
	NR_REASONS
};

/*
 * Who holds others up. @queue isn't known for REASON_NO_QUEUE, and nor is
 * @context for REASON_ELSEWHERE.
 *
 * @rank: rank, or NO_RANK
 * @endpoint: at this side, of one that waits for it; or NULL
 * @since: when the first of those held up began to wait
 * @victims: those held up
 */
struct blame {
	enum reason reason;
	const struct context *context;
	const struct queue *queue;
	uint32_t rank;
	const struct endpoint *endpoint;
	uint64_t since;
	uint32_t nr_victims;
	const struct queue **victims;
};

/* All of them: an array, and how many; 0 or -ENOMEM. */
int blame_find(const struct snapshot *snapshot, struct blame **blames, unsigned int *nr);
void blame_free(struct blame *blames, unsigned int nr);

/* The submission that a queue which has nothing to do wasn't given yet. */
uint64_t blame_next_run(const struct queue *queue);

#endif /* BLAME_H */
