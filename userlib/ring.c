// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion rings: made by the kernel, mapped here, and read without a system
 * call. How the two sides keep out of each other's way is told in ordering.h.
 *
 * A ring belongs to one thread at a time; whoever shares one brings a lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#include "context.h"
#include "ioctl.h"
#include "ordering.h"
#include "ring.h"
#include "verbs.h"

/* The kernel's offsets have the ring's id above bit 24. */
_Static_assert(sizeof(off_t) == 8, "mmap() takes the whole offset");

/* @seen: how many entries were looked at, modulo 2^32; never behind the head */
struct collq_ring {
	struct collq_context *ctx;
	struct ib_collq_ring_create attr;
	struct ib_collq_ring_header *header;
	atomic_uint seen;		/* has_next() is called without the lock, too */
};

static int destroy(struct collq_ring *ring)
{
	struct ib_collq_object_destroy entry = {
		.id = ring->attr.id,
		.type = IB_COLLQ_OBJECT_RING,
	};

	return collq_object_destroy(ring->ctx, &entry, 1);
}

/* By uverbs a ring has a descriptor of its own, and the context's says what that does. */
static int map_memory(struct collq_context *ctx, const struct ib_collq_ring_create *attr,
		      void **map)
{
	struct epoll_event event = { .events = EPOLLIN };
	off_t offset = attr->mmap_offset;
	int fd = ctx->fd;

	if (ctx->verbs) {
		offset = 0;
		fd = collq_verbs_ring_fd(ctx->verbs, attr->id);
		if (epoll_ctl(ctx->fd, EPOLL_CTL_ADD, fd, &event))
			return -errno;
	}
	*map = mmap(NULL, attr->mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	return *map == MAP_FAILED ? -errno : 0;
}

int collq_ring_map(struct collq_context *ctx, uint32_t entries, int eventfd,
		   struct collq_ring **out)
{
	struct collq_ring *ring;
	void *map;
	int err;

	ring = calloc(1, sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	ring->ctx = ctx;
	ring->attr.entries = entries;
	ring->attr.eventfd = eventfd;
	err = collq_ring_create(ctx, &ring->attr);
	if (err)
		goto err_free;
	err = map_memory(ctx, &ring->attr, &map);
	if (err)
		goto err_destroy;
	ring->header = map;
	*out = ring;
	return 0;

err_destroy:
	destroy(ring);
err_free:
	free(ring);
	return err;
}

int collq_ring_unmap(struct collq_ring *ring)
{
	/* Whatever else goes wrong, there's no ring any more. */
	if (destroy(ring) == -EBUSY)
		return -EBUSY;
	collq_ring_forget(ring);
	return 0;
}

void collq_ring_forget(struct collq_ring *ring)
{
	munmap(ring->header, ring->attr.mmap_size);
	free(ring);
}

uint32_t collq_ring_id(const struct collq_ring *ring)
{
	return ring->attr.id;
}

static uint32_t seen(const struct collq_ring *ring)
{
	return atomic_load_explicit(&ring->seen, memory_order_relaxed);
}

static void set_seen(struct collq_ring *ring, uint32_t seen)
{
	atomic_store_explicit(&ring->seen, seen, memory_order_relaxed);
}

bool collq_ring_has_next(const struct collq_ring *ring)
{
	return collq_load_acquire(&ring->header->tail) != seen(ring);
}

bool collq_ring_next(struct collq_ring *ring, struct ib_collq_completion *entry)
{
	const char *entries = (const char *)ring->header + ring->attr.entries_offset;
	size_t index = seen(ring) & (ring->attr.entries - 1);

	if (!collq_ring_has_next(ring))
		return false;
	/* The kernel's entries may be shorter, or longer, than what we know of them. */
	memset(entry, 0, sizeof(*entry));
	memcpy(entry, entries + index * ring->attr.entry_size,
	       ring->attr.entry_size < sizeof(*entry) ? ring->attr.entry_size : sizeof(*entry));
	set_seen(ring, seen(ring) + 1);
	return true;
}

/* How many entries were looked at: the number of the next one. */
uint32_t collq_ring_seen(const struct collq_ring *ring)
{
	return seen(ring);
}

/* Gives the entries back that have numbers below @up_to. */
void collq_ring_release(struct collq_ring *ring, uint32_t up_to)
{
	collq_store_release(&ring->header->head, up_to);
}

int collq_ring_open(struct collq_context *context, uint32_t entries, int eventfd,
		    struct collq_ring **ring)
{
	int err;

	err = collq_ring_map(context, entries, eventfd, ring);
	if (!err)
		collq_context_hold(context);
	return err;
}

int collq_ring_close(struct collq_ring *ring)
{
	struct collq_context *ctx;
	int err;

	if (!ring)
		return 0;
	ctx = ring->ctx;
	err = collq_ring_unmap(ring);
	if (!err)
		collq_context_drop(ctx);
	return err;
}

uint32_t collq_ring_reap(struct collq_ring *ring, struct ib_collq_completion *entries,
			 uint32_t nr)
{
	uint32_t i = 0;

	while (i < nr && collq_ring_next(ring, &entries[i]))
		i++;
	collq_ring_release(ring, seen(ring));
	return i;
}
