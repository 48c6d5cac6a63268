// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Processes on other hosts; see client.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"
#include "frame.h"

#define CONNECT_TIMEOUT_MS	20000
#define CRASH_TIMEOUT_MS	20000

struct agent_process {
	int fd;
	int error;			/* the final one */
	bool ended;			/* EXITED has been said */
	uint32_t untaken;		/* bytes of input */
	struct frame_reader reader;
};

/* Non-blocking, for its time limit, and so it stays. */
static int connect_one(const struct addrinfo *address)
{
	struct pollfd writable = { .events = POLLOUT };
	int error = 0, ready;
	socklen_t length = sizeof(error);

	writable.fd = socket(address->ai_family,
			     address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (writable.fd < 0)
		return -errno;
	frame_watch_peer(writable.fd);
	if (!connect(writable.fd, address->ai_addr, address->ai_addrlen))
		return writable.fd;
	if (errno != EINPROGRESS) {
		error = errno;
	} else {
		do {
			ready = poll(&writable, 1, CONNECT_TIMEOUT_MS);
		} while (ready < 0 && errno == EINTR);
		if (!ready)
			error = ETIMEDOUT;
		else if (ready < 0 ||
			 getsockopt(writable.fd, SOL_SOCKET, SO_ERROR, &error, &length))
			error = errno;
	}
	if (!error)
		return writable.fd;
	close(writable.fd);
	return -error;
}

static int connect_host(const char *host)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *at;
	int fd = -EHOSTUNREACH;

	if (getaddrinfo(host, AGENT_PORT, &hints, &list))
		return -EHOSTUNREACH;
	for (at = list; at; at = at->ai_next) {
		fd = connect_one(at);
		if (fd >= 0)
			break;
	}
	freeaddrinfo(list);
	return fd;
}

static int send_strings(int fd, uint8_t type, char *const *strings)
{
	int rc = 0;

	for (; *strings && !rc; strings++) {
		if (strlen(*strings) > FRAME_MAX)
			return -E2BIG;
		rc = frame_send(fd, type, *strings, strlen(*strings));
	}
	return rc;
}

static int send_command(int fd, const struct agent_command *command)
{
	int rc = send_strings(fd, FRAME_ARGUMENT, command->argv);

	if (!rc)
		rc = send_strings(fd, FRAME_ENVIRON, command->envp);
	if (!rc && command->folder)
		rc = frame_send(fd, FRAME_FOLDER, command->folder, strlen(command->folder));
	if (!rc)
		rc = frame_send(fd, FRAME_START, NULL, 0);
	return rc;
}

int agent_process_start(const char *host, const struct agent_command *command,
			struct agent_process **process)
{
	struct agent_process *new = calloc(1, sizeof(*new));
	int rc;

	if (!new)
		return -ENOMEM;
	new->fd = connect_host(host);
	rc = new->fd < 0 ? new->fd : send_command(new->fd, command);
	if (rc) {
		agent_process_free(new);
		return rc;
	}
	*process = new;
	return 0;
}

int agent_process_fd(const struct agent_process *process)
{
	return process->fd;
}

static int note_taken(struct agent_process *process, const struct frame *frame)
{
	uint32_t taken;

	if (frame->length != sizeof(taken))
		return -EPROTO;
	memcpy(&taken, frame->data, sizeof(taken));
	taken = ntohl(taken);
	if (taken > process->untaken)
		return -EPROTO;
	process->untaken -= taken;
	return 0;
}

/* 1: it is one of the client's; 0: it isn't; -errno: the process never was */
static int translate(struct agent_process *process, const struct frame *frame,
		     struct agent_event *event)
{
	*event = (struct agent_event) { .data = frame->data, .length = frame->length };
	switch (frame->type) {
	case FRAME_STARTED:
		event->type = AGENT_EVENT_STARTED;
		return 1;
	case FRAME_OUTPUT:
		event->type = AGENT_EVENT_OUTPUT;
		return 1;
	case FRAME_ERROR:
		event->type = AGENT_EVENT_ERROR;
		return 1;
	case FRAME_EXITED:
		if (frame->length != 1)
			return -EPROTO;
		event->type = AGENT_EVENT_EXITED;
		event->status = frame->data[0];
		process->ended = true;
		return 1;
	case FRAME_TAKEN:
		return note_taken(process, frame);
	case FRAME_FAILED:
		return frame->length == 1 && frame->data[0] ? -frame->data[0] : -EPROTO;
	default:
		return -EPROTO;
	}
}

/* Of what has come in already: as above */
static int next_event(struct agent_process *process, struct agent_event *event)
{
	struct frame frame;
	int rc;

	while ((rc = frame_next(&process->reader, &frame)) > 0) {
		rc = translate(process, &frame, event);
		if (rc)
			break;
	}
	return rc;
}

int agent_process_next(struct agent_process *process, struct agent_event *event)
{
	int rc;

	if (process->error)
		return process->error;
	if (process->ended)
		return 0;
	do {
		rc = next_event(process, event);
		if (rc)
			break;
		rc = frame_fill(&process->reader, process->fd);
	} while (rc > 0);
	if (rc < 0)
		process->error = rc;
	return rc;
}

size_t agent_process_room(const struct agent_process *process)
{
	return INPUT_WINDOW - process->untaken;
}

int agent_process_input(struct agent_process *process, const void *data, size_t length)
{
	if (length > agent_process_room(process))
		return -EAGAIN;
	process->untaken += length;
	return frame_send(process->fd, FRAME_INPUT, data, length);
}

int agent_process_signal(struct agent_process *process, int signal)
{
	uint8_t byte = signal;

	return frame_send(process->fd, FRAME_SIGNAL, &byte, sizeof(byte));
}

void agent_process_free(struct agent_process *process)
{
	if (!process)
		return;
	if (process->fd >= 0)
		close(process->fd);
	free(process);
}

int agent_crash_host(const char *host)
{
	struct agent_process *agent = calloc(1, sizeof(*agent));
	struct pollfd readable = { .events = POLLIN };
	struct agent_event event;
	int rc;

	if (!agent)
		return -ENOMEM;
	agent->fd = connect_host(host);
	readable.fd = agent->fd;
	rc = agent->fd < 0 ? agent->fd : frame_send(agent->fd, FRAME_CRASH, NULL, 0);
	while (!rc) {
		rc = agent_process_next(agent, &event);
		if (!rc && !poll(&readable, 1, CRASH_TIMEOUT_MS))
			rc = -ETIMEDOUT;
	}
	agent_process_free(agent);
	return rc < 0 ? rc : 0;
}
