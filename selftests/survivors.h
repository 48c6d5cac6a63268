/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * survivors - what the ranks of several hosts get, and when, as one host dies or loses its
 * device
 *
 * Records go from the parent to the ranks and back, as the tools' do.
 */
#ifndef SURVIVORS_H
#define SURVIVORS_H

#include <stdbool.h>
#include <stdint.h>

#include <collq/collq.h>

#define SURVIVORS_MAX	16	/* ranks */

enum survivors_record {
	SURVIVORS_GATHER,	/* of an allgather: a rank's part; and what all have given */
	SURVIVORS_READY,	/* a rank can start what it takes part in; all can */
	SURVIVORS_STARTED,	/* a rank has, and runs */
	SURVIVORS_RESULT,	/* "comm" is which way, "value" the error */
};

/*
 * What is under way when it happens, each in a context of its own. Where it's @endless all
 * ranks take part, run after run; else those of the host that is to die don't start, so
 * that all others wait for them, some through others.
 */
struct survivors_way {
	const char *name;
	const char *tls;	/* COLLQ_TLS */
	bool endless;
	void (*init)(const struct survivors_way *way, struct collq_comm *comm,
		     struct collq_request **request);
	uint32_t kind;		/* for @init: which algorithm or layout */
};

extern const struct survivors_way survivors_ways[];
extern const uint32_t survivors_nr_ways;

/* A rank. Those from @doomed on are on the host that is to die. */
int survivors_rank(uint32_t rank, uint32_t size, uint32_t doomed);

_Noreturn void survivors_fail(const char *what, int err);

#endif /* SURVIVORS_H */
