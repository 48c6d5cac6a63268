/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A rank's context, by the front end that is asked for.
 */
#ifndef CREW_OPEN_H
#define CREW_OPEN_H

#include <collq/collq.h>

#include "options.h"
#include "shared.h"

/* In order of the names of --front-end */
enum front_end {
	FRONT_END_CHAR,
	FRONT_END_UVERBS,
	FRONT_END_AUTO,		/* uverbs where the kernel has it, else char */
};

/* As collq_open(3), of the device that the options name; the state tells what came of it. */
int crew_open(const struct options *options, struct rank_state *state,
	      struct collq_context **context);

#endif
