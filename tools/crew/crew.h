/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The ranks of one row as the parent sees them: child processes, and processes on
 * other hosts, to be led through the phases, watched, and cleared away whatever
 * happens.
 */
#ifndef CREW_CREW_H
#define CREW_CREW_H

#include <sys/types.h>

#include "hosts.h"
#include "options.h"
#include "shared.h"

#define EXIT_RANK_FAILED	1

/*
 * Of each tool that is linked with this: what a rank does, and how many barriers or the
 * like that is. What @algorithm stands for is the tool's affair.
 */
_Noreturn void rank_main(const struct options *options, struct shared *shared,
			 uint32_t algorithm, uint32_t number);
uint64_t rank_steps(const struct options *options);

struct crew {
	const struct options *options;
	struct shared *shared;
	uint64_t nr_steps;		/* barriers of each rank, all phases together */
	uint32_t nr;
	uint32_t first, nr_local;	/* those that are our children */
	uint32_t nr_left;		/* still running, anywhere */
	int signal;			/* that told us to stop, or 0 */
	pid_t pids[MAX_RANKS];		/* 0: gone, or never was a child */
	struct hosts hosts;
};

/* Before anything else: signals are from now on taken at the crew's hands. */
void crew_block_signals(void);

/* And no more, where there is no crew. */
void crew_unblock_signals(void);

/* Starts the ranks of this host, or none. */
int crew_start(struct crew *crew, const struct options *options, struct shared *shared,
	       uint32_t algorithm, uint32_t first, uint32_t nr);

/* Starts all, on this and on other hosts; false, and told to the user, if it can't. */
bool crew_start_all(struct crew *crew, const struct options *options, struct shared *shared,
		    uint32_t algorithm);

/*
 * Waits until all ranks have reached the phase, or, with crew_await_exit, have
 * ended well. Anything else (an error, a death, a signal, nothing happening for
 * too long) is told to the user, and gives false. The crew is then of no use
 * any more.
 */
bool crew_await(struct crew *crew, enum phase phase, const char *what);
bool crew_await_exit(struct crew *crew, const char *what);

/* A gate or a flag, on all hosts. */
void crew_open_gate(struct crew *crew, enum phase phase);
void crew_raise_go(struct crew *crew);
void crew_raise_stop(struct crew *crew);

/* Ends whatever is still running, if anything is. */
void crew_kill(struct crew *crew);

/* When all is cleared away: dies of the signal, if there was one. */
void crew_pass_on_signal(const struct crew *crew);

#endif
