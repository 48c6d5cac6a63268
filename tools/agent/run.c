// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * collq-agent-run - run a command on another host, as if it were here
 *
 * Its standard input, output and error are the command's, and so is the exit
 * status, the environment and the folder. Signals that would end it go to the
 * command; should it be killed outright, the agent kills the command.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "client.h"

#define EXIT_USAGE	2
#define EXIT_NOT_RUN	125

static const char usage[] =
	"Usage: collq-agent-run HOST -- COMMAND [ARGUMENT...]\n"
	"       collq-agent-run --crash HOST\n"
	"\n"
	"Runs a program on another host of \"tools/vm --hosts\" (vm1, vm2...), with this\n"
	"environment, in this folder, with these standard streams; the exit status is the\n"
	"program's, 128 + n if signal n ended it, 125 if the host can't be reached, 127 or\n"
	"126 if the program can't be started. --crash has the host die on the spot, as if\n"
	"its power failed.\n";

static int complain(const char *host, int error)
{
	fprintf(stderr, "collq-agent-run: %s: %s\n", host, strerror(-error));
	return error == -ENOENT ? 127 : error == -EACCES || error == -ENOEXEC ? 126 : EXIT_NOT_RUN;
}

/* The one that is readable goes to the command; if that is gone, its events say why. */
static void pass_signal(struct agent_process *process, int signals)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) == sizeof(info))
		agent_process_signal(process, info.ssi_signo);
}

/* In pieces for which a pipe doesn't wait when it's writable: signals must pass meanwhile. */
static bool write_all(struct agent_process *process, int signals, int fd, const char *data,
		      size_t length)
{
	struct pollfd fds[] = {
		{ .fd = fd, .events = POLLOUT },
		{ .fd = signals, .events = POLLIN },
	};
	ssize_t n;

	while (length) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			pass_signal(process, signals);
		if (!fds[0].revents)
			continue;
		n = write(fd, data, length < PIPE_BUF ? length : PIPE_BUF);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return false;
		if (n > 0) {
			data += n;
			length -= n;
		}
	}
	return true;
}

static int watched_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* What the host has to say, all of it: -1, or our exit status. */
static int take_events(const char *host, struct agent_process *process, int signals)
{
	struct agent_event event;
	int rc;

	while ((rc = agent_process_next(process, &event)) > 0) {
		bool written = true;

		if (event.type == AGENT_EVENT_EXITED)
			return event.status;
		if (event.type == AGENT_EVENT_OUTPUT)
			written = write_all(process, signals, STDOUT_FILENO, event.data,
					    event.length);
		else if (event.type == AGENT_EVENT_ERROR)
			written = write_all(process, signals, STDERR_FILENO, event.data,
					    event.length);
		if (!written)
			return 128 + SIGPIPE;
	}
	return rc ? complain(host, rc) : -1;
}

/* False if there is no more. Of errors, the next look at the events tells. */
static bool pass_input(struct agent_process *process)
{
	size_t room = agent_process_room(process);
	char buffer[16384];
	ssize_t n;

	n = read(STDIN_FILENO, buffer, room < sizeof(buffer) ? room : sizeof(buffer));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	return !agent_process_input(process, buffer, n > 0 ? n : 0) && n > 0;
}

static int follow(const char *host, struct agent_process *process)
{
	struct pollfd fds[] = {
		{ .fd = agent_process_fd(process), .events = POLLIN },
		{ .fd = watched_signals(), .events = POLLIN },
		{ .events = POLLIN },
	};
	bool more = true;
	int status;

	for (;;) {
		status = take_events(host, process, fds[1].fd);
		if (status >= 0)
			return status;
		fds[2].fd = more && agent_process_room(process) ? STDIN_FILENO : -1;
		if (poll(fds, 3, -1) < 0)
			continue;
		if (fds[1].revents)
			pass_signal(process, fds[1].fd);
		if (fds[2].revents)
			more = pass_input(process);
	}
}

int main(int argc, char **argv)
{
	struct agent_command command = { .argv = argv + 3, .envp = environ };
	struct agent_process *process;
	int rc;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "--crash")) {
		rc = agent_crash_host(argv[2]);
		return rc ? complain(argv[2], rc) : 0;
	}
	if (argc < 4 || strcmp(argv[2], "--")) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	command.folder = getcwd(NULL, 0);
	rc = agent_process_start(argv[1], &command, &process);
	if (rc)
		return complain(argv[1], rc);
	rc = follow(argv[1], process);
	agent_process_free(process);
	return rc;
}
