/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A stream of records between the tool and its worker on another host.
 *
 * The worker's end is its standard input and output. The tool's end is a pair of
 * pipes if it has started the worker itself, or the agent of that host has.
 * Neither end ever waits for the other: what can't be sent yet is kept.
 */
#ifndef CREW_LINK_H
#define CREW_LINK_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct agent_process;

/* Ends are of one build, on machines of one kind: a record goes as it lies in memory. */
struct record {
	uint32_t type;
	uint32_t rank;
	uint32_t comm;
	uint32_t length;	/* bytes that follow */
	uint64_t value;
};

struct queue {
	char *at;
	size_t start;		/* before it: done with */
	size_t end;
	size_t size;
};

struct link {
	const char *name;		/* of the host */
	struct agent_process *agent;	/* NULL: there are descriptors instead */
	int in, out;
	pid_t pid;			/* of a worker that is our own child, or 0 */
	int error;			/* the first that came, and the last */
	bool ended;			/* the worker has, with this status: */
	int status;			/* as of a shell: 128 + signal */
	uint64_t heard_ms;		/* when anything came in last */
	struct queue incoming, outgoing;
};

/* The tool's end: starts "argv" there, or as a child of its own. */
int link_start(struct link *link, const char *host, char *const *argv);
int link_fork(struct link *link, const char *name, char *const *argv);

/* The worker's end */
int link_standard(struct link *link);

/* If the worker is still there, it's killed. */
void link_close(struct link *link);

/* Queues one; an error shows later. */
void link_put(struct link *link, const struct record *record, const void *data);

/* What to poll for; there are two at most. */
unsigned int link_poll(const struct link *link, struct pollfd *fds);

/* Sends and takes in what goes without waiting. 0, or -errno for good. */
int link_move(struct link *link);

/* The next record and its data, which hold until the next link_move(). */
bool link_next(struct link *link, struct record *record, const void **data);

#endif
