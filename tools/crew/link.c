// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A stream of records between the tool and its worker on another host.
 *
 * Both ends may have much to say at once (the ranks' addresses): if they waited
 * for each other to take it, they could wait for ever. So what can't go out now
 * is queued. An agent's connection only has a call that waits until all is sent;
 * it is given little at a time, and only when that can go out.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../agent/client.h"
#include "clock.h"
#include "link.h"
#include "shared.h"

#define PIECE			(64U << 10)
#define AGENT_PIECE		2048U
#define MAX_RECORD		(sizeof(struct record) + MAX_BLOCK)

/* Room for so many bytes at the end. */
static bool make_room(struct queue *queue, size_t bytes)
{
	size_t size = queue->size ? queue->size : PIECE;
	char *at;

	if (queue->start) {
		memmove(queue->at, queue->at + queue->start, queue->end - queue->start);
		queue->end -= queue->start;
		queue->start = 0;
	}
	if (queue->size - queue->end >= bytes)
		return true;
	while (size - queue->end < bytes)
		size *= 2;
	at = realloc(queue->at, size);
	if (!at)
		return false;
	queue->at = at;
	queue->size = size;
	return true;
}

static bool append(struct queue *queue, const void *data, size_t bytes)
{
	if (!bytes)
		return true;
	if (queue->size - queue->end < bytes && !make_room(queue, bytes))
		return false;
	memcpy(queue->at + queue->end, data, bytes);
	queue->end += bytes;
	return true;
}

static void fail(struct link *link, int error)
{
	if (!link->error)
		link->error = error;
}

static void set_up(struct link *link, const char *name)
{
	*link = (struct link) { .name = name, .in = -1, .out = -1 };
	link->heard_ms = now_ms();
}

int link_start(struct link *link, const char *host, char *const *argv)
{
	const struct agent_command command = { .argv = argv, .envp = environ };

	set_up(link, host);
	return agent_process_start(host, &command, &link->agent);
}

static _Noreturn void become_worker(const int *to, const int *from, char *const *argv)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);		/* as on another host: Ctrl-C doesn't get there */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(to[0], STDIN_FILENO) >= 0 && dup2(from[1], STDOUT_FILENO) >= 0)
		execvp(argv[0], argv);
	_exit(127);
}

int link_fork(struct link *link, const char *name, char *const *argv)
{
	int to[2], from[2];

	set_up(link, name);
	if (pipe2(to, O_CLOEXEC))
		return -errno;
	link->out = to[1];
	if (pipe2(from, O_CLOEXEC)) {
		close(to[0]);
		return -errno;
	}
	link->in = from[0];
	link->pid = fork();
	if (!link->pid)
		become_worker(to, from, argv);
	close(to[0]);
	close(from[1]);
	if (link->pid < 0) {
		link->pid = 0;
		return -errno;
	}
	fcntl(link->in, F_SETFL, O_NONBLOCK);
	fcntl(link->out, F_SETFL, O_NONBLOCK);
	return 0;
}

int link_standard(struct link *link)
{
	set_up(link, "main");
	link->in = STDIN_FILENO;
	link->out = STDOUT_FILENO;
	if (fcntl(link->in, F_SETFL, O_NONBLOCK) || fcntl(link->out, F_SETFL, O_NONBLOCK))
		return -errno;
	return 0;
}

void link_close(struct link *link)
{
	agent_process_free(link->agent);
	if (link->in >= 0)
		close(link->in);
	if (link->out >= 0)
		close(link->out);
	if (link->pid) {
		kill(link->pid, SIGKILL);
		waitpid(link->pid, NULL, 0);
	}
	free(link->incoming.at);
	free(link->outgoing.at);
}

void link_put(struct link *link, const struct record *record, const void *data)
{
	if (link->error || link->ended)
		return;
	if (!append(&link->outgoing, record, sizeof(*record)) ||
	    !append(&link->outgoing, data, record->length))
		fail(link, -ENOMEM);
}

static bool has_outgoing(const struct link *link)
{
	return link->outgoing.start < link->outgoing.end;
}

unsigned int link_poll(const struct link *link, struct pollfd *fds)
{
	unsigned int nr = 0;

	if (link->error || link->ended)
		return 0;
	if (link->agent) {
		/* Where there's no room, something comes in when there is. */
		bool can_send = has_outgoing(link) && agent_process_room(link->agent);

		fds[0] = (struct pollfd) {
			.fd = agent_process_fd(link->agent),
			.events = POLLIN | (can_send ? POLLOUT : 0),
		};
		return 1;
	}
	fds[nr++] = (struct pollfd) { .fd = link->in, .events = POLLIN };
	if (has_outgoing(link))
		fds[nr++] = (struct pollfd) { .fd = link->out, .events = POLLOUT };
	return nr;
}

/* Bytes that were taken. If the other end has gone, receiving tells how. */
static size_t send_some(struct link *link, const char *at, size_t bytes)
{
	struct pollfd writable = { .events = POLLOUT };
	size_t room;
	ssize_t n;

	if (!link->agent) {
		n = write(link->out, at, bytes);
		return n > 0 ? n : 0;
	}
	writable.fd = agent_process_fd(link->agent);
	room = agent_process_room(link->agent);
	if (!room || poll(&writable, 1, 0) <= 0)
		return 0;
	if (bytes > room)
		bytes = room;
	if (bytes > AGENT_PIECE)
		bytes = AGENT_PIECE;
	return agent_process_input(link->agent, at, bytes) ? 0 : bytes;
}

static void send_all(struct link *link)
{
	struct queue *queue = &link->outgoing;
	size_t n;

	while (has_outgoing(link)) {
		n = send_some(link, queue->at + queue->start, queue->end - queue->start);
		if (!n)
			return;
		queue->start += n;
	}
	queue->start = 0;
	queue->end = 0;
}

static void take_in(struct link *link, const void *data, size_t bytes)
{
	if (!append(&link->incoming, data, bytes))
		fail(link, -ENOMEM);
	link->heard_ms = now_ms();
}

static void receive_from_agent(struct link *link)
{
	struct agent_event event;
	int rc;

	while ((rc = agent_process_next(link->agent, &event)) > 0) {
		if (event.type == AGENT_EVENT_OUTPUT) {
			take_in(link, event.data, event.length);
		} else if (event.type == AGENT_EVENT_ERROR) {
			if (write(STDERR_FILENO, event.data, event.length) < 0)
				return;
		} else if (event.type == AGENT_EVENT_EXITED) {
			link->ended = true;
			link->status = event.status;
			return;
		}
	}
	if (rc < 0)
		fail(link, rc);
}

static void note_child_status(struct link *link)
{
	int status;

	waitpid(link->pid, &status, 0);
	link->pid = 0;
	link->ended = true;
	link->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void receive_from_pipe(struct link *link)
{
	char piece[PIECE];
	ssize_t n;

	while ((n = read(link->in, piece, sizeof(piece))) > 0)
		take_in(link, piece, n);
	if (!n && link->pid)
		note_child_status(link);
	else if (!n)
		fail(link, -ECONNRESET);
	else if (errno != EAGAIN && errno != EINTR)
		fail(link, -errno);
}

int link_move(struct link *link)
{
	if (link->error || link->ended)
		return link->error;
	if (link->agent)
		receive_from_agent(link);
	else
		receive_from_pipe(link);
	if (!link->error && !link->ended)
		send_all(link);
	return link->error;
}

bool link_next(struct link *link, struct record *record, const void **data)
{
	struct queue *queue = &link->incoming;
	size_t there = queue->end - queue->start;

	if (there < sizeof(*record))
		return false;
	memcpy(record, queue->at + queue->start, sizeof(*record));
	if (record->length > MAX_RECORD) {
		fail(link, -EPROTO);
		return false;
	}
	if (there < sizeof(*record) + record->length)
		return false;
	*data = queue->at + queue->start + sizeof(*record);
	queue->start += sizeof(*record) + record->length;
	return true;
}
