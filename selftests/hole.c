// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory that doesn't come. See hole.h.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collq_memory.h"
#include "hole.h"

bool hole_open(struct hole *hole)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range.len = RAW_PAGE,
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	hole->page = raw_map(RAW_PAGE);
	/* Else it can't be polled. */
	hole->fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	range.range.start = (unsigned long)hole->page;
	return hole->page && hole->fd >= 0 && !ioctl(hole->fd, UFFDIO_API, &api) &&
	       !ioctl(hole->fd, UFFDIO_REGISTER, &range);
}

bool hole_is_felt(const struct hole *hole)
{
	struct pollfd pollfd = { .fd = hole->fd, .events = POLLIN };

	return poll(&pollfd, 1, RAW_PATIENCE_MS) == 1 && pollfd.revents == POLLIN;
}

bool hole_fill(const struct hole *hole)
{
	struct uffdio_zeropage zero = {
		.range.start = (unsigned long)hole->page,
		.range.len = RAW_PAGE,
	};

	return !ioctl(hole->fd, UFFDIO_ZEROPAGE, &zero);
}

void hole_close(struct hole *hole)
{
	close(hole->fd);
	munmap(hole->page, RAW_PAGE);
}

static void *upload_run(void *arg)
{
	struct hole_upload *upload = arg;

	upload->result = raw_graph_create(upload->fd, upload->tasks, 1);
	return NULL;
}

bool hole_upload_begin(struct hole_upload *upload, int fd, const struct hole *hole)
{
	upload->fd = fd;
	upload->tasks = hole->page;
	return !pthread_create(&upload->thread, NULL, upload_run, upload) && hole_is_felt(hole);
}

int hole_upload_end(struct hole_upload *upload)
{
	pthread_join(upload->thread, NULL);
	return upload->result;
}
