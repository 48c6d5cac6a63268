/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Processes on other hosts, by way of their collq-agent.
 *
 * A struct agent_process is one process there, and one descriptor here, which is
 * readable when agent_process_next() has something to say. Functions return 0 or
 * -errno. One thread at a time may use a process; different ones are independent.
 */
#ifndef AGENT_CLIENT_H
#define AGENT_CLIENT_H

#include <stdint.h>
#include <sys/types.h>

struct agent_process;

struct agent_command {
	char *const *argv;	/* argv[0] is looked up in PATH of envp */
	char *const *envp;	/* all of its environment */
	const char *folder;	/* NULL: wherever the agent is */
};

enum agent_event_type {
	AGENT_EVENT_STARTED,	/* it has been started: execve() has succeeded */
	AGENT_EVENT_OUTPUT,	/* data from its standard output */
	AGENT_EVENT_ERROR,	/* data from its standard error */
	AGENT_EVENT_EXITED,	/* how it ended; nothing follows */
};

struct agent_event {
	enum agent_event_type type;
	const void *data;	/* until the next call for this process */
	size_t length;
	int status;		/* EXITED: exit status, or 128 + signal */
};

/*
 * Start a process on a host. The agent may have yet to answer: if the program
 * can't be started, agent_process_next() returns why. -ETIMEDOUT, -EHOSTUNREACH,
 * -ECONNREFUSED: no agent there.
 */
int agent_process_start(const char *host, const struct agent_command *command,
			struct agent_process **process);

/* To poll for POLLIN. */
int agent_process_fd(const struct agent_process *process);

/*
 * What happens next. 1: *event tells; 0: nothing yet. The descriptor has to be
 * polled only after a 0. Errors are final: of starting the program; -ECONNRESET,
 * -ETIMEDOUT and the like if the host or its agent went away.
 */
int agent_process_next(struct agent_process *process, struct agent_event *event);

/*
 * How many bytes of input there is room for. It's more only after what happens next
 * has been asked for, and nothing while 64 KiB are on their way to a process that
 * doesn't read.
 */
size_t agent_process_room(const struct agent_process *process);

/* Bytes for its standard input, no more than there is room for; none for the end of it. */
int agent_process_input(struct agent_process *process, const void *data, size_t length);

/* A signal for its process group. Input that it hasn't read doesn't hold it up. */
int agent_process_signal(struct agent_process *process, int signal);

/* Let go of it: if it hasn't ended, it is killed, with its process group. */
void agent_process_free(struct agent_process *process);

/*
 * Have a host of "tools/vm --hosts" die on the spot, without a goodbye to anyone.
 * Returns when it has taken the order, which is well before anybody notices.
 */
int agent_crash_host(const char *host);

#endif
