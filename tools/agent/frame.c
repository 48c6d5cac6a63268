// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Frames to and from a stream; see frame.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "frame.h"

int frame_fill(struct frame_reader *reader, int fd)
{
	ssize_t n;

	memmove(reader->buffer, reader->buffer + reader->done, reader->used - reader->done);
	reader->used -= reader->done;
	reader->done = 0;
	if (reader->used == sizeof(reader->buffer))
		return 1;
	do {
		n = recv(fd, reader->buffer + reader->used, sizeof(reader->buffer) - reader->used,
			 MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	if (!n)
		return -ECONNRESET;
	reader->used += n;
	return 1;
}

int frame_next(struct frame_reader *reader, struct frame *frame)
{
	const uint8_t *at = reader->buffer + reader->done;
	size_t left = reader->used - reader->done;
	uint32_t length;

	if (left < FRAME_HEADER)
		return 0;
	memcpy(&length, at + 4, sizeof(length));
	length = ntohl(length);
	if (length > FRAME_MAX || at[1] || at[2] || at[3])
		return -EPROTO;
	if (left - FRAME_HEADER < length)
		return 0;
	*frame = (struct frame) { .type = at[0], .length = length, .data = at + FRAME_HEADER };
	reader->done += FRAME_HEADER + length;
	return 1;
}

/* All of it, also on a descriptor that doesn't wait. */
static int send_all(int fd, struct iovec *iov, int count)
{
	struct pollfd writable = { .fd = fd, .events = POLLOUT };
	struct msghdr message = { .msg_iov = iov, .msg_iovlen = count };
	ssize_t n;

	while (message.msg_iovlen) {
		n = sendmsg(fd, &message, MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN) {
			poll(&writable, 1, -1);
			continue;
		}
		if (n < 0 && errno != EINTR)
			return -errno;
		while (n > 0 && message.msg_iovlen) {
			size_t part = (size_t)n < message.msg_iov->iov_len ?
				      (size_t)n : message.msg_iov->iov_len;

			message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + part;
			message.msg_iov->iov_len -= part;
			n -= part;
			if (message.msg_iov->iov_len)
				break;
			message.msg_iov++;
			message.msg_iovlen--;
		}
		/* A last part without bytes has nothing to wait for. */
		while (message.msg_iovlen && !message.msg_iov->iov_len) {
			message.msg_iov++;
			message.msg_iovlen--;
		}
	}
	return 0;
}

void frame_header(uint8_t *header, uint8_t type, uint32_t length)
{
	uint32_t on_wire = htonl(length);

	memset(header, 0, FRAME_HEADER);
	header[0] = type;
	memcpy(header + 4, &on_wire, sizeof(on_wire));
}

int frame_send(int fd, uint8_t type, const void *data, size_t length)
{
	const char *at = data;
	int rc;

	do {
		uint32_t part = length < FRAME_MAX ? length : FRAME_MAX;
		uint8_t header[FRAME_HEADER];
		struct iovec iov[2] = {
			{ .iov_base = header, .iov_len = sizeof(header) },
			{ .iov_base = (char *)at, .iov_len = part },
		};

		frame_header(header, type, part);
		rc = send_all(fd, iov, 2);
		at += part;
		length -= part;
	} while (!rc && length);
	return rc;
}

/*
 * While data are on their way it is the retransmissions that give up, after a time
 * that is set for the whole host (net.ipv4.tcp_retries2; vm.d/guest does). Not with
 * TCP_USER_TIMEOUT: that also ends a connection whose other end is well, but has
 * not read for as long.
 */
void frame_watch_peer(int fd)
{
	int on = 1, idle = 5, interval = 2, count = 8;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}
