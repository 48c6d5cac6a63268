// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The uverbs front end, for tests of the character device: what opens that is given a
 * verbs context's descriptor, and commands on it become methods (userlib/verbs.c). A
 * ring has a descriptor of its own there, which is mapped and polled in its place.
 *
 * Closing does what a process does that ends: it closes the descriptor, with all that
 * there is behind it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/ib_collq.h>

#include "all_uverbs.h"
#include "collq_util.h"
#include "verbs.h"
#include "verbs_device.h"

/* Of SoftRoCE, as the kernel numbers drivers */
#define DRIVER		14

#define MAX_FILES	1024
#define MAX_RINGS	32

/* Bytes, less than from one ring's offset to the next one's */
#define RING_SPACING	(1U << 20)

struct file_ring {
	__u32 id;
	__u64 offset;
};

struct file {
	struct ibv_context *ibv;
	struct collq_verbs *verbs;
	unsigned int nr_rings;
	struct file_ring rings[MAX_RINGS];
};

static struct file files[MAX_FILES];	/* by descriptor */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void say_so(void)
{
	raw_by_uverbs = true;
}

static struct file *file_of(int fd)
{
	return fd >= 0 && fd < MAX_FILES && files[fd].verbs ? &files[fd] : NULL;
}

struct ibv_context *uverbs_context(int fd)
{
	return file_of(fd) ? files[fd].ibv : NULL;
}

struct collq_verbs *uverbs_of(int fd)
{
	return file_of(fd) ? files[fd].verbs : NULL;
}

static int open_verbs(void)
{
	struct ibv_context *ibv = verbs_device_open();
	struct collq_verbs *verbs;
	int err;

	if (!ibv) {
		errno = ENODEV;
		return -1;
	}
	err = ibv->cmd_fd < MAX_FILES ? collq_verbs_open(ibv->cmd_fd, DRIVER, &verbs) : -EMFILE;
	if (err) {
		ibv_close_device(ibv);
		errno = -err;
		return -1;
	}
	pthread_mutex_lock(&lock);
	files[ibv->cmd_fd] = (struct file){ .ibv = ibv, .verbs = verbs };
	pthread_mutex_unlock(&lock);
	return ibv->cmd_fd;
}

int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	if (!strncmp(path, "/dev/infiniband/collq", strlen("/dev/infiniband/collq")))
		return open_verbs();
	if (flags & O_CREAT) {
		va_start(ap, flags);
		mode = va_arg(ap, mode_t);
		va_end(ap);
	}
	return __real_open(path, flags, mode);
}

static void forget_rings(struct file *file)
{
	unsigned int i, nr = 0;

	for (i = 0; i < file->nr_rings; i++)
		if (collq_verbs_ring_fd(file->verbs, file->rings[i].id) >= 0)
			file->rings[nr++] = file->rings[i];
	file->nr_rings = nr;
}

static void note_ring(struct file *file, const struct ib_collq_ring_create *ring)
{
	pthread_mutex_lock(&lock);
	forget_rings(file);
	if (file->nr_rings < MAX_RINGS)
		file->rings[file->nr_rings++] = (struct file_ring){ ring->id, ring->mmap_offset };
	pthread_mutex_unlock(&lock);
}

int __wrap_ioctl(int fd, unsigned long command, void *arg)
{
	struct file *file = file_of(fd);
	int ret;

	if (!file || _IOC_TYPE(command) != IB_COLLQ_IOCTL_TYPE)
		return __real_ioctl(fd, command, arg);
	ret = collq_verbs_command(file->verbs, command, arg);
	if (ret < 0) {
		errno = -ret;
		return -1;
	}
	if (command == IB_COLLQ_RING_CREATE)
		note_ring(file, arg);
	return ret;
}

/* The descriptors of rings go last: it's up to the kernel to make sense of that. */
int __wrap_close(int fd)
{
	struct file *file = file_of(fd);
	int rings[MAX_RINGS];
	unsigned int i, nr;

	if (!file)
		return __real_close(fd);
	pthread_mutex_lock(&lock);
	nr = file->nr_rings;
	for (i = 0; i < nr; i++)
		rings[i] = collq_verbs_ring_fd(file->verbs, file->rings[i].id);
	file->verbs = NULL;
	pthread_mutex_unlock(&lock);
	ibv_close_device(file->ibv);
	for (i = 0; i < nr; i++)
		if (rings[i] >= 0)
			__real_close(rings[i]);
	return 0;
}

/* The ring that an offset is in, NULL: none. */
static const struct file_ring *ring_at(const struct file *file, __u64 offset)
{
	unsigned int i;

	for (i = 0; i < file->nr_rings; i++)
		if (offset >= file->rings[i].offset &&
		    offset - file->rings[i].offset < RING_SPACING)
			return &file->rings[i];
	return NULL;
}

void *__wrap_mmap(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	struct file *file = file_of(fd);
	const struct file_ring *ring;
	int ring_fd;

	if (!file)
		return __real_mmap(at, length, prot, flags, fd, offset);
	ring = ring_at(file, offset);
	ring_fd = ring ? collq_verbs_ring_fd(file->verbs, ring->id) : -1;
	if (ring_fd < 0) {
		errno = ENOENT;
		return MAP_FAILED;
	}
	return __real_mmap(at, length, prot, flags, ring_fd, offset - ring->offset);
}

/* One of the rings: tests poll where there's one. */
static int pollable(int fd)
{
	const struct file *file = file_of(fd);

	return file && file->nr_rings ?
	       collq_verbs_ring_fd(file->verbs, file->rings[0].id) : fd;
}

int __wrap_poll(struct pollfd *fds, nfds_t nr, int timeout)
{
	struct pollfd translated[nr];
	nfds_t i;
	int ret;

	memcpy(translated, fds, sizeof(translated));
	for (i = 0; i < nr; i++)
		translated[i].fd = pollable(fds[i].fd);
	ret = __real_poll(translated, nr, timeout);
	for (i = 0; i < nr; i++)
		fds[i].revents = translated[i].revents;
	return ret;
}
