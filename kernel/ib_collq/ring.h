/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_RING_H
#define COLLQ_RING_H

#include <linux/kref.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <rdma/ib_collq.h>

#include "object.h"

struct eventfd_ctx;
struct vm_area_struct;

/**
 * struct collq_ring_memory - what user space maps; outlives ring and device
 * @refs: one of the ring, one of each mapping
 * @header: start of the memory
 * @size: bytes, whole pages
 */
struct collq_ring_memory {
	struct kref refs;
	struct ib_collq_ring_header *header;
	size_t size;
};

/**
 * struct collq_ring - completions, as user space reads them
 * @obj: common part
 * @node: in the context's list
 * @memory: what is shared
 * @entries: where the entries start
 * @size: number of entries, a power of two
 * @eventfd: signalled at each completion, or NULL
 * @eventfd_fd: what the caller called it; only reported back
 * @lock: protects the following. Nests inside a queue's lock
 * @dead: destroyed
 * @tail: entries written; never read back from shared memory
 * @reserved: entries promised to unfinished submissions
 * @file_wait: who polls the ring's own file, if it has one, or NULL
 */
struct collq_ring {
	struct collq_object obj;
	struct list_head node;
	struct collq_ring_memory *memory;
	struct ib_collq_completion *entries;
	u32 size;
	struct eventfd_ctx *eventfd;
	int eventfd_fd;

	spinlock_t lock;		/* all that follows */
	bool dead;
	u32 tail;
	u32 reserved;
	wait_queue_head_t *file_wait;
};

static inline struct collq_ring *collq_ring_of(struct collq_object *obj)
{
	return container_of(obj, struct collq_ring, obj);
}

struct collq_ring *collq_ring_create(struct collq_context *ctx, u32 entries,
				     int eventfd);
void collq_ring_attributes(struct collq_ring *ring,
			   struct ib_collq_ring_create *attr);
int collq_ring_reserve(struct collq_ring *ring);
void collq_ring_cancel(struct collq_ring *ring);
void collq_ring_post(struct collq_ring *ring,
		     const struct ib_collq_completion *completion);
u32 collq_ring_unread(struct collq_ring *ring);
int collq_ring_wait(struct collq_ring *ring, u64 deadline);
void collq_ring_set_file_wait(struct collq_ring *ring, wait_queue_head_t *wait);
void collq_ring_wake_all(struct collq_context *ctx);
int collq_ring_mmap(struct collq_ring *ring, struct vm_area_struct *vma,
		    unsigned long pgoff);
int collq_ring_mmap_any(struct collq_context *ctx, struct vm_area_struct *vma);

#endif /* COLLQ_RING_H */
