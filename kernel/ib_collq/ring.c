// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion rings: how user space learns that graphs have ended, without a
 * system call.
 *
 * The kernel writes entries and then the tail; user space reads entries and
 * then writes the head. The kernel keeps its own tail and takes the head only
 * for a hint of what is free: with a wrong one, user space overwrites its own
 * completions and nothing else. A submission reserves its entry beforehand, so
 * there always is one.
 *
 * The memory is counted apart from the ring: a mapping keeps it when ring, file
 * and device are gone.
 */
#include <linux/eventfd.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "context.h"
#include "device.h"
#include "limits.h"
#include "ring.h"

/* Each id has so much of the file's offsets; more than the largest ring. */
#define COLLQ_RING_SPACING_SHIFT	24

static void collq_ring_memory_release(struct kref *refs)
{
	struct collq_ring_memory *memory =
		container_of(refs, struct collq_ring_memory, refs);

	vfree(memory->header);
	kfree(memory);
}

static void collq_ring_memory_put(struct collq_ring_memory *memory)
{
	kref_put(&memory->refs, collq_ring_memory_release);
}

static struct collq_ring_memory *collq_ring_memory_create(u32 entries)
{
	struct collq_ring_memory *memory;

	memory = kzalloc(sizeof(*memory), GFP_KERNEL_ACCOUNT);
	if (!memory)
		return NULL;
	kref_init(&memory->refs);
	memory->size = PAGE_ALIGN(sizeof(struct ib_collq_ring_header) +
				  entries * sizeof(struct ib_collq_completion));
	memory->header = __vmalloc(memory->size,
				   GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!memory->header) {
		kfree(memory);
		return NULL;
	}
	return memory;
}

/* Those who poll the ring's own file, if it has one. Its lock is held. */
static void collq_ring_wake_file(struct collq_ring *ring)
{
	if (ring->file_wait && wq_has_sleeper(ring->file_wait))
		wake_up_all(ring->file_wait);
}

/* It has one, or has it no more. */
void collq_ring_set_file_wait(struct collq_ring *ring, wait_queue_head_t *wait)
{
	spin_lock_bh(&ring->lock);
	ring->file_wait = wait;
	spin_unlock_bh(&ring->lock);
}

/* Everybody looks again: the device is gone. */
void collq_ring_wake_all(struct collq_context *ctx)
{
	struct collq_ring *ring;

	spin_lock_bh(&ctx->rings_lock);
	list_for_each_entry(ring, &ctx->rings, node) {
		spin_lock(&ring->lock);
		collq_ring_wake_file(ring);
		spin_unlock(&ring->lock);
	}
	spin_unlock_bh(&ctx->rings_lock);
	wake_up_all(&ctx->poll_wait);
}

static void collq_ring_destroy(struct collq_object *obj)
{
	struct collq_ring *ring = collq_ring_of(obj);
	struct collq_context *ctx = obj->ctx;

	spin_lock_bh(&ctx->rings_lock);
	list_del(&ring->node);
	spin_unlock_bh(&ctx->rings_lock);

	spin_lock_bh(&ring->lock);
	ring->dead = true;
	collq_ring_wake_file(ring);
	spin_unlock_bh(&ring->lock);
	wake_up_all(&ctx->poll_wait);
}

static void collq_ring_free(struct collq_object *obj)
{
	struct collq_ring *ring = collq_ring_of(obj);

	if (ring->eventfd)
		eventfd_ctx_put(ring->eventfd);
	collq_ring_memory_put(ring->memory);
	kfree(ring);
}

static const struct collq_object_ops collq_ring_ops = {
	.type = IB_COLLQ_OBJECT_RING,
	.destroy = collq_ring_destroy,
	.free = collq_ring_free,
};

/**
 * collq_ring_create - make a ring
 * @ctx: the context
 * @entries: how many, a power of two
 * @eventfd: an eventfd to signal, or -1
 *
 * Called with ctx->mutex held. May sleep.
 *
 * Return: the ring, not published yet, or an ERR_PTR.
 */
struct collq_ring *collq_ring_create(struct collq_context *ctx, u32 entries,
				     int eventfd)
{
	struct collq_ring *ring;
	int err;

	if (!is_power_of_2(entries) || entries > COLLQ_MAX_RING_ENTRIES)
		return ERR_PTR(-EINVAL);

	ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);
	if (!ring)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&ring->lock);
	ring->size = entries;
	ring->eventfd_fd = eventfd;
	if (eventfd != -1) {
		ring->eventfd = eventfd_ctx_fdget(eventfd);
		if (IS_ERR(ring->eventfd)) {
			err = PTR_ERR(ring->eventfd);
			goto err_free;
		}
	}

	err = -ENOMEM;
	ring->memory = collq_ring_memory_create(entries);
	if (!ring->memory)
		goto err_put_eventfd;
	ring->entries = (void *)(ring->memory->header + 1);

	err = collq_object_init(ctx, &ring->obj, &collq_ring_ops);
	if (err)
		goto err_put_memory;

	spin_lock_bh(&ctx->rings_lock);
	list_add_tail(&ring->node, &ctx->rings);
	spin_unlock_bh(&ctx->rings_lock);
	return ring;

err_put_memory:
	collq_ring_memory_put(ring->memory);
err_put_eventfd:
	if (ring->eventfd)
		eventfd_ctx_put(ring->eventfd);
err_free:
	kfree(ring);
	return ERR_PTR(err);
}

/* What user space needs to know to map it. */
void collq_ring_attributes(struct collq_ring *ring,
			   struct ib_collq_ring_create *attr)
{
	attr->entries = ring->size;
	attr->eventfd = ring->eventfd_fd;
	attr->id = ring->obj.id;
	attr->entry_size = sizeof(struct ib_collq_completion);
	attr->mmap_offset = (u64)ring->obj.id << COLLQ_RING_SPACING_SHIFT;
	attr->mmap_size = ring->memory->size;
	attr->entries_offset = sizeof(struct ib_collq_ring_header);
}

static u32 collq_ring_unread_locked(struct collq_ring *ring)
{
	/*
	 * Pairs with the store-release of the reader: what it has read may be
	 * written again.
	 */
	u32 head = smp_load_acquire(&ring->memory->header->head);

	return min(ring->tail - head, ring->size);
}

u32 collq_ring_unread(struct collq_ring *ring)
{
	u32 unread;

	spin_lock_bh(&ring->lock);
	unread = collq_ring_unread_locked(ring);
	spin_unlock_bh(&ring->lock);
	return unread;
}

/* Promises an entry: 0, or -EBUSY if there is none. */
int collq_ring_reserve(struct collq_ring *ring)
{
	int err = 0;

	spin_lock(&ring->lock);
	if (ring->reserved + collq_ring_unread_locked(ring) >= ring->size)
		err = -EBUSY;
	else
		ring->reserved++;
	spin_unlock(&ring->lock);
	return err;
}

void collq_ring_cancel(struct collq_ring *ring)
{
	spin_lock(&ring->lock);
	ring->reserved--;
	spin_unlock(&ring->lock);
}

/* Writes an entry that was reserved. Softirq or process, bottom halves off. */
void collq_ring_post(struct collq_ring *ring,
		     const struct ib_collq_completion *completion)
{
	struct collq_context *ctx = ring->obj.ctx;

	spin_lock(&ring->lock);
	ring->reserved--;
	ring->entries[ring->tail & (ring->size - 1)] = *completion;
	ring->tail++;
	/* Pairs with the reader's load-acquire: the entry is there by then. */
	smp_store_release(&ring->memory->header->tail, ring->tail);
	collq_ring_wake_file(ring);
	spin_unlock(&ring->lock);

	if (ring->eventfd)
		collq_eventfd_signal(ring->eventfd);
	if (wq_has_sleeper(&ctx->poll_wait))
		wake_up_all(&ctx->poll_wait);
}

/* 0 as long as there is nothing to wait for any more: 1, or an error. */
static int collq_ring_poll(struct collq_ring *ring)
{
	int ret;

	spin_lock_bh(&ring->lock);
	if (collq_ring_unread_locked(ring))
		ret = 1;
	else if (READ_ONCE(ring->obj.ctx->device->dead))
		ret = -ENODEV;
	else
		ret = ring->dead ? -ECANCELED : 0;
	spin_unlock_bh(&ring->lock);
	return ret;
}

/**
 * collq_ring_wait - wait until a ring has an entry
 * @ring: the ring
 * @deadline: when to give up, CLOCK_MONOTONIC in ns, or 0
 *
 * Sleeps.
 *
 * Return: 0, -ETIME, -ERESTARTSYS, -ECANCELED if the ring is destroyed.
 */
int collq_ring_wait(struct collq_ring *ring, u64 deadline)
{
	wait_queue_head_t *wait = &ring->obj.ctx->poll_wait;
	ktime_t now, left;
	int found, ret;

	if (!deadline) {
		ret = wait_event_interruptible(*wait,
					       (found = collq_ring_poll(ring)));
	} else {
		now = ktime_get();
		deadline = min_t(u64, deadline, KTIME_MAX);
		left = ktime_after(ns_to_ktime(deadline), now) ?
		       ktime_sub(ns_to_ktime(deadline), now) : 0;
		ret = wait_event_interruptible_hrtimeout(*wait,
							 (found = collq_ring_poll(ring)),
							 left);
	}
	if (ret)
		return ret;
	return min(found, 0);
}

static void collq_ring_vm_open(struct vm_area_struct *vma)
{
	struct collq_ring_memory *memory = vma->vm_private_data;

	kref_get(&memory->refs);
}

static void collq_ring_vm_close(struct vm_area_struct *vma)
{
	collq_ring_memory_put(vma->vm_private_data);
}

static vm_fault_t collq_ring_vm_fault(struct vm_fault *vmf)
{
	struct collq_ring_memory *memory = vmf->vma->vm_private_data;
	/* Where in the ring: its id is in the bits above. */
	size_t offset = (u64)vmf->pgoff << PAGE_SHIFT &
			(BIT_ULL(COLLQ_RING_SPACING_SHIFT) - 1);

	if (offset >= memory->size)
		return VM_FAULT_SIGBUS;
	vmf->page = vmalloc_to_page((void *)memory->header + offset);
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct collq_ring_vm_ops = {
	.open = collq_ring_vm_open,
	.close = collq_ring_vm_close,
	.fault = collq_ring_vm_fault,
};

/**
 * collq_ring_mmap - map a ring
 * @ring: the ring
 * @vma: where
 * @pgoff: offset into the ring, in pages
 *
 * Called with mmap_lock held.
 *
 * Return: 0 or -EINVAL.
 */
int collq_ring_mmap(struct collq_ring *ring, struct vm_area_struct *vma,
		    unsigned long pgoff)
{
	struct collq_ring_memory *memory = ring->memory;

	if (!(vma->vm_flags & VM_SHARED) || pgoff ||
	    vma->vm_end - vma->vm_start > memory->size)
		return -EINVAL;

	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTCOPY | VM_DONTDUMP);
	vma->vm_ops = &collq_ring_vm_ops;
	vma->vm_private_data = memory;
	kref_get(&memory->refs);
	return 0;
}

/* The same for the ring whose offset it is. */
int collq_ring_mmap_any(struct collq_context *ctx, struct vm_area_struct *vma)
{
	const unsigned int shift = COLLQ_RING_SPACING_SHIFT - PAGE_SHIFT;
	struct collq_object *obj;
	int err;

	obj = collq_object_find(ctx, vma->vm_pgoff >> shift,
				IB_COLLQ_OBJECT_RING);
	if (!obj)
		return -ENOENT;
	err = collq_ring_mmap(collq_ring_of(obj), vma,
			      vma->vm_pgoff & (BIT(shift) - 1));
	collq_object_put(obj);
	return err;
}
