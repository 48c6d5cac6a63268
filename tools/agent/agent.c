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
 * standard input, from its output and error to the connection. It waits for neither:
 * input that the process has not taken yet is kept, and bounded by what the client may
 * send; output stays in the pipe until what is said already has been sent.
 */
#include <arpa/inet.h>
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
#define CLOSE_LIMIT_S	30	/* from the client's having the last word to its closing */
#define ACCEPT_PAUSE_US	100000	/* until a connection can be taken, that could not be */
#define OUTPUT_PIECE	16384

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
	uint8_t input[INPUT_WINDOW];	/* that it hasn't taken yet */
	size_t input_length;
	bool input_ended;
	uint32_t taken;			/* bytes of which the client hasn't been told */
	uint8_t outgoing[FRAME_HEADER + OUTPUT_PIECE];
	size_t outgoing_length;		/* 0: there is none */
	size_t outgoing_done;
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

static bool is_heard(void)
{
	int left;

	return ioctl(job.conn, SIOCOUTQ, &left) || !left;
}

/*
 * After the last word. To close with something unread resets the connection, which takes
 * back what the client hasn't got yet: so the client closes first.
 */
static _Noreturn void await_close(void)
{
	struct pollfd readable = { .fd = job.conn, .events = POLLIN };
	char waste[4096];

	shutdown(job.conn, SHUT_WR);
	do {
		while (!poll(&readable, 1, CLOSE_LIMIT_S * 1000)) {
			if (is_heard())
				leave();
		}
	} while (recv(job.conn, waste, sizeof(waste), 0) > 0);
	leave();
}

static _Noreturn void refuse(int error)
{
	uint8_t byte = error;

	say(FRAME_FAILED, &byte, sizeof(byte));
	await_close();
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
	int tries;

	for (tries = 0; tries < HEARD_TRIES && !is_heard(); tries++)
		usleep(1000);
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

static void send_outgoing(void)
{
	ssize_t n = send(job.conn, job.outgoing + job.outgoing_done,
			 job.outgoing_length - job.outgoing_done, MSG_DONTWAIT);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		leave();
	if (n > 0)
		job.outgoing_done += n;
	if (job.outgoing_done < job.outgoing_length)
		return;
	job.outgoing_length = 0;
	job.outgoing_done = 0;
}

/* The data are there already. */
static void put_outgoing(uint8_t type, uint32_t length)
{
	frame_header(job.outgoing, type, length);
	job.outgoing_length = FRAME_HEADER + length;
	send_outgoing();
}

/* Pass on what there is of a stream: false if that's nothing, or has to wait. */
static bool pass_output(int *fd, uint8_t type)
{
	ssize_t n;

	if (*fd < 0 || job.outgoing_length)
		return false;
	n = read(*fd, job.outgoing + FRAME_HEADER, OUTPUT_PIECE);
	if (n > 0) {
		put_outgoing(type, n);
		return true;
	}
	if (!n || (errno != EAGAIN && errno != EINTR))
		close_stream(fd);
	return false;
}

/* Now and then, lest there be more words than input. */
static void tell_taken(void)
{
	uint32_t taken = htonl(job.taken);

	if (job.outgoing_length || job.taken < INPUT_WINDOW / 2)
		return;
	memcpy(job.outgoing + FRAME_HEADER, &taken, sizeof(taken));
	job.taken = 0;
	put_outgoing(FRAME_TAKEN, sizeof(taken));
}

static void push_input(void)
{
	ssize_t n;

	while (job.input_length) {
		n = write(job.in, job.input, job.input_length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			/* It reads no more: what else comes is for nobody. */
			close_stream(&job.in);
			n = job.input_length;
		}
		job.taken += n;
		job.input_length -= n;
		memmove(job.input, job.input + n, job.input_length);
	}
	if (job.input_ended)
		close_stream(&job.in);
}

static void take_input(const struct frame *frame)
{
	if (job.in < 0) {
		job.taken += frame->length;
		return;
	}
	if (frame->length > INPUT_WINDOW - job.input_length)
		leave();
	memcpy(job.input + job.input_length, frame->data, frame->length);
	job.input_length += frame->length;
	job.input_ended |= !frame->length;
	push_input();
}

/* What the client wants. */
static void obey(void)
{
	struct frame frame;
	int rc;

	while ((rc = frame_next(&job.reader, &frame)) > 0) {
		if (frame.type == FRAME_INPUT)
			take_input(&frame);
		else if (frame.type != FRAME_SIGNAL || frame.length != 1)
			leave();
		else if (job.pid)
			kill(-job.pid, frame.data[0]);
	}
	if (rc < 0)
		leave();
}

/* Until all is sent, and none the less attentive. */
static void flush(void)
{
	struct pollfd fd = { .fd = job.conn, .events = POLLIN | POLLOUT };

	while (job.outgoing_length) {
		if (poll(&fd, 1, -1) < 0)
			continue;
		if (fd.revents & POLLOUT)
			send_outgoing();
		if (fd.revents & ~POLLOUT) {
			read_frames();
			obey();
		}
	}
}

/* Its process group goes with it; so nothing more is written than is there now. */
static _Noreturn void finish(void)
{
	int status;

	kill(-job.pid, SIGKILL);
	waitpid(job.pid, &status, 0);
	job.pid = 0;
	close_stream(&job.in);
	do {
		flush();
	} while (pass_output(&job.err, FRAME_ERROR) || pass_output(&job.out, FRAME_OUTPUT));
	job.outgoing[FRAME_HEADER] =
		WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	put_outgoing(FRAME_EXITED, 1);
	flush();
	await_close();
}

static _Noreturn void serve(void)
{
	read_command();
	start_command();
	/* Some may have come with the command. */
	obey();
	tell_taken();
	for (;; tell_taken()) {
		bool sending = job.outgoing_length;
		struct pollfd fds[] = {
			{ .fd = job.conn, .events = POLLIN | (sending ? POLLOUT : 0) },
			{ .fd = job.pidfd, .events = POLLIN },
			{ .fd = sending ? -1 : job.err, .events = POLLIN },
			{ .fd = sending ? -1 : job.out, .events = POLLIN },
			{ .fd = job.input_length ? job.in : -1, .events = POLLOUT },
		};

		if (poll(fds, 5, -1) < 0)
			continue;
		if (fds[0].revents & POLLOUT)
			send_outgoing();
		if (fds[0].revents & ~POLLOUT) {
			read_frames();
			obey();
		}
		/* There is less of errors, and they should not stand behind the other. */
		if (fds[2].revents)
			pass_output(&job.err, FRAME_ERROR);
		if (fds[3].revents)
			pass_output(&job.out, FRAME_OUTPUT);
		if (fds[4].revents)
			push_input();
		if (fds[1].revents)
			finish();
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
		if (conn < 0) {
			/* Perhaps for want of descriptors: it's there until it's taken. */
			usleep(ACCEPT_PAUSE_US);
			continue;
		}
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
