/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The other hosts of a row, as the tool sees them: their workers, and what these
 * tell of the ranks there.
 */
#ifndef CREW_HOSTS_H
#define CREW_HOSTS_H

#include "bridge.h"
#include "counters.h"
#include "options.h"
#include "shared.h"

struct remote;

struct hosts {
	const struct options *options;
	struct shared *shared;
	uint32_t first, nr_local;	/* ranks that are our own children */
	uint32_t nr;			/* of links; 0: there are no other hosts */
	struct link links[MAX_HOSTS];
	uint32_t nr_running[MAX_HOSTS];	/* ranks on that link's host */
	uint32_t nr_counters;		/* that have come in since they were asked for */
	struct counters counters;	/* their sum */
	struct told *told;		/* for each rank of ours */
	struct remote *remote;		/* for each rank */
};

/*
 * Before ranks are forked: *hosts tells which are ours. And after: has workers
 * start the others. Returns 0, or -errno when it has told the user.
 */
int hosts_prepare(struct hosts *hosts, const struct options *options, struct shared *shared);
int hosts_start(struct hosts *hosts, uint32_t algorithm);

/* Ends what there is on other hosts; not a second time. */
void hosts_stop(struct hosts *hosts);

/* Carries on for some time, or less if much happens. False, and told, if one is lost. */
bool hosts_serve(struct hosts *hosts, int ms);

/* A rank elsewhere that has ended and hasn't been spoken of yet. */
bool hosts_next_end(struct hosts *hosts, uint32_t *rank, int *status);

void hosts_put(struct hosts *hosts, enum record_type type, uint64_t value);

/* Adds what the devices of the other hosts count, or fails as above. */
bool hosts_add_counters(struct hosts *hosts, struct counters *counters);

/* Names those that nothing has been heard of for a while. */
void hosts_say_silent(const struct hosts *hosts);

#endif
