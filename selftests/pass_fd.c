// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* See pass_fd.h. */
#include <string.h>
#include <sys/socket.h>

#include "pass_fd.h"

/* A message of one byte, with room for one descriptor */
struct parcel {
	char byte;
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec iov;
	struct msghdr message;
};

static struct msghdr *wrap(struct parcel *parcel)
{
	memset(parcel, 0, sizeof(*parcel));
	parcel->iov.iov_base = &parcel->byte;
	parcel->iov.iov_len = 1;
	parcel->message.msg_iov = &parcel->iov;
	parcel->message.msg_iovlen = 1;
	parcel->message.msg_control = parcel->control;
	parcel->message.msg_controllen = sizeof(parcel->control);
	return &parcel->message;
}

bool pass_fd(int socket, int fd)
{
	struct parcel parcel;
	struct msghdr *message = wrap(&parcel);
	struct cmsghdr *header = CMSG_FIRSTHDR(message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	return sendmsg(socket, message, 0) == 1;
}

int take_fd(int socket)
{
	struct parcel parcel;
	struct msghdr *message = wrap(&parcel);
	int fd = -1;

	if (recvmsg(socket, message, 0) == 1 && CMSG_FIRSTHDR(message))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(message)), sizeof(fd));
	return fd;
}
