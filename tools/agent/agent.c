// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * collq-agent - start processes for other hosts of a private link
 *
 * The daemon of "tools/vm --hosts": every host has one, and whoever connects may
 * run what he likes as the user whom it runs as. So it is part of the test bed,
 * not something to install. See frame.h for what is said on a connection.
 *
 * Each connection has a child of the daemon's, which reads what to start, starts
 * it in a session of its own, and then passes bytes: from the connection to its
 * standard input, from its output and error to the connection. Input that the
 * process has not taken yet keeps the child from reading more, so that it comes to
 * bear on the sender; that the connection has gone is noticed all the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frame.h"

#define MAX_STRINGS	4096	/* of argv and envp each */
#define START_LIMIT_S	30	/* from connecting to having said what to start */
#define HEARD_TRIES	10000	/* of 1 ms: from having said something to the client's having it */

struct strings {
	char *at[MAX_STRINGS + 1];
	size_t nr;
};

struct job {
	int conn;
	struct frame_reader reader;
	struct strings argv, envp;
	char *folder;
	pid_t pid;
	int pidfd;
	int in, out, err;	/* our ends of its standard streams, or -1 */
	uint8_t *pending;	/* input that it hasn't taken yet */
	size_t pending_length;
	size_t pending_done;
};

static struct job job = { .in = -1, .out = -1, .err = -1, .pidfd = -1 };
static const char *crash_pipe;

/* Only ever in a connection's child. The process must not outlive it. */
static _Noreturn void leave(void)
{
	if (job.pid > 0)
		kill(-job.pid, SIGKILL);
	_exit(0);
}

static void say(uint8_t type, const void *data, size_t length)
{
	if (frame_send(job.conn, type, data, length))
		leave();
}

static _Noreturn void refuse(int error)
{
	uint8_t byte = error;

	say(FRAME_FAILED, &byte, sizeof(byte));
	leave();
}

static void close_stream(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static char *copy(const struct frame *frame)
{
	char *text = strndup((const char *)frame->data, frame->length);

	if (!text)
		refuse(ENOMEM);
	return text;
}

static void add(struct strings *strings, const struct frame *frame)
{
	if (strings->nr == MAX_STRINGS)
		refuse(E2BIG);
	strings->at[strings->nr++] = copy(frame);
}

/* What a host has not sent yet goes with it, so: until it has been acknowledged. */
static void wait_until_heard(void)
{
	int tries, left;

	for (tries = 0; tries < HEARD_TRIES; tries++) {
		if (ioctl(job.conn, SIOCOUTQ, &left) || !left)
			return;
		usleep(1000);
	}
}

/* Whoever made the pipe sees to the rest. */
static _Noreturn void order_crash(void)
{
	int fd;

	if (!crash_pipe)
		refuse(EOPNOTSUPP);
	fd = open(crash_pipe, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		refuse(errno);
	say(FRAME_STARTED, NULL, 0);
	wait_until_heard();
	if (write(fd, "crash\n", 6) != 6)
		refuse(errno);
	pause();
	leave();
}

static void read_frames(void)
{
	int rc = frame_fill(&job.reader, job.conn);

	if (rc < 0)
		leave();
}

/* Until the command is complete. */
static void read_command(void)
{
	struct pollfd readable = { .fd = job.conn, .events = POLLIN };
	struct frame frame;
	int rc;

	for (;;) {
		rc = frame_next(&job.reader, &frame);
		if (rc < 0)
			leave();
		if (!rc) {
			if (!poll(&readable, 1, START_LIMIT_S * 1000))
				leave();
			read_frames();
			continue;
		}
		switch (frame.type) {
		case FRAME_ARGUMENT:
			add(&job.argv, &frame);
			break;
		case FRAME_ENVIRON:
			add(&job.envp, &frame);
			break;
		case FRAME_FOLDER:
			job.folder = copy(&frame);
			break;
		case FRAME_CRASH:
			order_crash();
		case FRAME_START:
			return;
		default:
			refuse(EPROTO);
		}
	}
}

/* In the new process: report on report what keeps it from starting. */
static _Noreturn void become_command(int in, int out, int err, int report)
{
	sigset_t none;
	int error;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);	/* a shell ignores these for what it starts with & */
	signal(SIGQUIT, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
	    dup2(err, STDERR_FILENO) >= 0 && (!job.folder || !chdir(job.folder))) {
		environ = job.envp.at;
		execvp(job.argv.at[0], job.argv.at);
	}
	error = errno;
	if (write(report, &error, sizeof(error)) != sizeof(error))
		_exit(126);
	_exit(127);
}

static void start_command(void)
{
	int in[2], out[2], err[2], report[2], error;

	if (!job.argv.nr)
		refuse(EINVAL);
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) ||
	    pipe2(report, O_CLOEXEC))
		refuse(errno);
	job.pid = fork();
	if (job.pid < 0)
		refuse(errno);
	if (!job.pid)
		become_command(in[0], out[1], err[1], report[1]);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	close(report[1]);
	/* A successful execve() closes it. */
	if (read(report[0], &error, sizeof(error)) == sizeof(error))
		refuse(error);
	close(report[0]);
	job.in = in[1];
	job.out = out[0];
	job.err = err[0];
	fcntl(job.in, F_SETFL, O_NONBLOCK);
	fcntl(job.out, F_SETFL, O_NONBLOCK);
	fcntl(job.err, F_SETFL, O_NONBLOCK);
	job.pidfd = syscall(SYS_pidfd_open, job.pid, 0);
	if (job.pidfd < 0)
		refuse(errno);
	say(FRAME_STARTED, NULL, 0);
}

/* Pass on what there is of a stream: false if there is nothing for now. */
static bool pass_output(int *fd, uint8_t type)
{
	uint8_t buffer[16384];
	ssize_t n;

	if (*fd < 0)
		return false;
	n = read(*fd, buffer, sizeof(buffer));
	if (n > 0) {
		say(type, buffer, n);
		return true;
	}
	if (!n || (errno != EAGAIN && errno != EINTR))
		close_stream(fd);
	return false;
}

static void push_input(void)
{
	ssize_t n;

	while (job.pending_done < job.pending_length) {
		n = write(job.in, job.pending + job.pending_done,
			  job.pending_length - job.pending_done);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0 && errno != EINTR) {
			/* It reads no more: what else comes is for nobody. */
			close_stream(&job.in);
			break;
		}
		if (n > 0)
			job.pending_done += n;
	}
	job.pending_length = 0;
	job.pending_done = 0;
}

static void take_input(const struct frame *frame)
{
	if (!frame->length)
		close_stream(&job.in);
	if (job.in < 0)
		return;
	memcpy(job.pending, frame->data, frame->length);
	job.pending_length = frame->length;
	push_input();
}

/* What the client wants, as long as the process keeps up with it. */
static void obey(void)
{
	struct frame frame;
	int rc = 0;

	while (!job.pending_length && (rc = frame_next(&job.reader, &frame)) > 0) {
		if (frame.type == FRAME_INPUT)
			take_input(&frame);
		else if (frame.type == FRAME_SIGNAL && frame.length == 1)
			kill(-job.pid, frame.data[0]);
		else
			leave();
	}
	if (rc < 0)
		leave();
}

/* Its process group goes with it; so nothing more is written than is there now. */
static _Noreturn void finish(void)
{
	uint8_t byte;
	int status;

	kill(-job.pid, SIGKILL);
	waitpid(job.pid, &status, 0);
	while (pass_output(&job.out, FRAME_OUTPUT) || pass_output(&job.err, FRAME_ERROR))
		;
	byte = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	say(FRAME_EXITED, &byte, sizeof(byte));
	_exit(0);
}

static _Noreturn void serve(void)
{
	job.pending = malloc(FRAME_MAX);
	if (!job.pending)
		refuse(ENOMEM);
	read_command();
	start_command();
	for (;;) {
		short more = job.pending_length ? 0 : POLLIN;
		struct pollfd fds[] = {
			{ .fd = job.conn, .events = POLLRDHUP | more },
			{ .fd = job.pidfd, .events = POLLIN },
			{ .fd = job.out, .events = POLLIN },
			{ .fd = job.err, .events = POLLIN },
			{ .fd = job.pending_length ? job.in : -1, .events = POLLOUT },
		};

		obey();
		if (job.pending_length != 0 && more)
			continue;
		if (poll(fds, 5, -1) < 0)
			continue;
		if (fds[2].revents)
			pass_output(&job.out, FRAME_OUTPUT);
		if (fds[3].revents)
			pass_output(&job.err, FRAME_ERROR);
		if (fds[1].revents)
			finish();
		if (fds[4].revents)
			push_input();
		if (fds[0].revents & POLLIN)
			read_frames();
		else if (fds[0].revents)
			leave();
	}
}

static int listen_at(const char *address)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *list;
	int fd, on = 1;

	if (getaddrinfo(address, AGENT_PORT, &hints, &list))
		return -1;
	fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (bind(fd, list->ai_addr, list->ai_addrlen) || listen(fd, 128)) {
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(list);
	return fd;
}

int main(int argc, char **argv)
{
	int listener, conn;

	if (argc < 2 || argc > 3 || argv[1][0] == '-') {
		fputs("Usage: collq-agent ADDRESS [PIPE]\n\n"
		      "Lets every host that can reach ADDRESS run programs here. For \"tools/vm\n"
		      "--hosts\", which watches PIPE for orders to crash.\n", stderr);
		return 2;
	}
	crash_pipe = argv[2];
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	listener = listen_at(argv[1]);
	if (listener < 0) {
		perror("collq-agent");
		return 1;
	}
	for (;;) {
		conn = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (conn < 0)
			continue;
		if (!fork()) {
			signal(SIGCHLD, SIG_DFL);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			frame_watch_peer(conn);
			job.conn = conn;
			serve();
		}
		close(conn);
	}
}
