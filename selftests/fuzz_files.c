// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the fuzzer does to descriptors and processes: map rings and scribble in
 * them, poll, read, duplicate, replace a context while others are in it, fork, and
 * kill a child in the middle of a run.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

int fuzz_context_open(struct fuzz *fuzz, struct fuzz_context *ctx)
{
	int fd = open(fuzz->node, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (ctx->fd < 0) {
		ctx->fd = fd;
		return 0;
	}
	/* In one step, so that the number never stands for something else. */
	dup3(fd, ctx->fd, O_CLOEXEC);
	close(fd);
	return 0;
}

static void fuzz_replace_context(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	if (!fuzz_one_in(t, 4) || fuzz_context_open(t->fuzz, ctx))
		return;
	/* What others remember meanwhile is out of date: so much the better. */
	memset(ctx->endpoint, 0, sizeof(ctx->endpoint));
	memset(ctx->counter, 0, sizeof(ctx->counter));
	memset(ctx->ring, 0, sizeof(ctx->ring));
	memset(ctx->queue, 0, sizeof(ctx->queue));
	memset(ctx->graph, 0, sizeof(ctx->graph));
}

static void fuzz_unmap(struct fuzz_map *map)
{
	if (map->start)
		munmap(map->start, map->length);
	map->start = NULL;
}

void fuzz_unmap_all(struct fuzz_thread *t)
{
	unsigned int i;

	for (i = 0; i < FUZZ_MAPS; i++)
		fuzz_unmap(&t->map[i]);
}

static void fuzz_map(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	static const int protections[] = {
		PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_READ,
		PROT_READ | PROT_WRITE | PROT_EXEC,
	};
	struct fuzz_map *map = &t->map[fuzz_below(t, FUZZ_MAPS)];
	struct ib_collq_ring_create attr = {
		.size = sizeof(attr),
		.entries = 1 << fuzz_below(t, 8),
		.eventfd = -1,
	};
	int protection = protections[fuzz_below(t, 4)];
	int flags = fuzz_one_in(t, 20) ? MAP_PRIVATE : MAP_SHARED;
	__u64 offset;
	size_t length;
	void *start;

	if (fuzz_call(t, ctx->fd, IB_COLLQ_RING_CREATE, &attr, sizeof(attr)) < 0)
		return;
	__atomic_store_n(&ctx->ring[fuzz_below(t, FUZZ_PLACES)], attr.id, __ATOMIC_RELAXED);
	offset = attr.mmap_offset;
	length = attr.mmap_size;
	if (fuzz_one_in(t, 8))
		offset = (__u64)fuzz_below(t, ~0U) << fuzz_below(t, 32) & ~4095ULL;
	if (fuzz_one_in(t, 8))
		length = 4096UL * (1 + fuzz_below(t, 600));
	start = mmap(NULL, length, protection, flags, ctx->fd, offset);
	if (start == MAP_FAILED)
		return;
	fuzz_unmap(map);
	*map = (struct fuzz_map) {
		.start = start,
		.length = length,
		.writable = protection & PROT_WRITE,
	};
}

/* The first page is there, as long as the mapping is. */
static void fuzz_scribble(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct fuzz_map *map = &t->map[fuzz_below(t, FUZZ_MAPS)];
	struct ib_collq_ring_header *header = map->start;
	__u32 tail;

	(void)ctx;
	if (!header)
		return;
	tail = __atomic_load_n(&header->tail, __ATOMIC_ACQUIRE);
	if (!map->writable)
		return;
	if (fuzz_one_in(t, 8))
		__atomic_store_n(&header->tail, fuzz_below(t, ~0U), __ATOMIC_RELEASE);
	if (fuzz_one_in(t, 2))
		tail = fuzz_below(t, ~0U);
	__atomic_store_n(&header->head, tail, __ATOMIC_RELEASE);
}

static void fuzz_unmap_one(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	(void)ctx;
	fuzz_unmap(&t->map[fuzz_below(t, FUZZ_MAPS)]);
}

static void fuzz_poll(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct pollfd fds[FUZZ_CONTEXTS];
	unsigned int i;

	(void)ctx;
	for (i = 0; i < FUZZ_CONTEXTS; i++)
		fds[i] = (struct pollfd) {
			.fd = t->fuzz->context[i].fd, .events = fuzz_below(t, 65536),
		};
	poll(fds, FUZZ_CONTEXTS, fuzz_below(t, 3));
}

static void fuzz_read_and_write(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct iovec iov = { .iov_base = t->area, .iov_len = fuzz_below(t, 4096) };
	ssize_t done;

	if (fuzz_one_in(t, 2))
		done = readv(ctx->fd, &iov, 1);
	else
		done = writev(ctx->fd, &iov, 1);
	/* Neither does anything. */
	if (done > 0)
		t->fuzz->odd = -EPROTO;
}

static void fuzz_duplicate(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct ib_collq_query query = { .size = sizeof(query) };
	int fd = fcntl(ctx->fd, F_DUPFD_CLOEXEC, 100);

	if (fd < 0)
		return;
	fuzz_call(t, fd, IB_COLLQ_QUERY, &query, sizeof(query));
	close(fd);
}

/* A child may not use its parent's context, and dies in the middle of its own. */
static void fuzz_child(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	struct raw_side a, b;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		if (raw_destroy(ctx->fd, ctx->queue[i]) != -EPERM)
			_exit(1);
	}
	if (raw_pair_open(&a, &b))
		_exit(0);
	for (i = 0; i < 100; i++) {
		raw_submit(a.fd, a.queue, a.graph, 0, 0, NULL);
		raw_submit(b.fd, b.queue, b.graph, 0, 0, NULL);
		if (fuzz_one_in(t, 20))
			kill(getpid(), SIGKILL);
		raw_wait(a.fd, a.queue, i + 1, raw_in_ms(20), &(struct ib_collq_queue_wait) {});
		raw_wait(b.fd, b.queue, i + 1, raw_in_ms(20), &(struct ib_collq_queue_wait) {});
	}
	_exit(0);
}

static void fuzz_fork(struct fuzz_thread *t, struct fuzz_context *ctx)
{
	int status = 0;
	pid_t pid;

	if (!fuzz_one_in(t, 8))
		return;
	raw_ack_timeout = 12;
	pid = fork();
	if (!pid)
		fuzz_child(t, ctx);
	if (pid < 0)
		return;
	if (fuzz_one_in(t, 2)) {
		usleep(fuzz_below(t, 30000));
		kill(pid, SIGKILL);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status)) {
		t->fuzz->odd = -EPERM;
		__atomic_store_n(&t->fuzz->stop, true, __ATOMIC_RELAXED);
	}
}

void fuzz_op_files(struct fuzz_thread *t)
{
	static void (*const ops[])(struct fuzz_thread *t, struct fuzz_context *ctx) = {
		fuzz_map, fuzz_map, fuzz_scribble, fuzz_scribble, fuzz_scribble, fuzz_scribble,
		fuzz_unmap_one, fuzz_poll, fuzz_poll, fuzz_read_and_write, fuzz_duplicate,
		fuzz_replace_context, fuzz_fork,
	};

	ops[fuzz_below(t, sizeof(ops) / sizeof(ops[0]))](t, fuzz_any_context(t));
}
