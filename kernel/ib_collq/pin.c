// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Pinning memory of the calling process, and charging it.
 *
 * What is pinned counts as locked, twice: against the limit of the address space
 * (as other RDMA users do), and against the same limit for all that the user has
 * locked. The former starts at zero again when the process executes another
 * program, while the descriptor, and with it the pages, may live on; the latter
 * doesn't. Whoever may lock any amount (CAP_IPC_LOCK) is counted, but not limited.
 *
 * Pages are pinned for long, so the kernel moves them out of where nothing may
 * stay (CMA, ZONE_MOVABLE) and refuses what can't stay (file systems that share
 * storage with memory). The memory here is linear in the number of pages: one
 * pointer each.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>

#include "compat.h"
#include "pin.h"

/* Pages that are pinned between two looks at whether to go on. */
#define COLLQ_PIN_BATCH		512UL

static int collq_pin_charge(struct collq_pin *pin, struct mm_struct *mm)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	struct user_struct *user = get_uid(current_user());
	u64 of_mm = atomic64_add_return(pin->nr, &mm->pinned_vm);
	u64 of_user = atomic_long_add_return(pin->nr, &user->locked_vm);

	if (max(of_mm, of_user) > limit && !capable(CAP_IPC_LOCK)) {
		atomic64_sub(pin->nr, &mm->pinned_vm);
		atomic_long_sub(pin->nr, &user->locked_vm);
		free_uid(user);
		return -ENOMEM;
	}
	pin->mm = mm;
	pin->user = user;
	return 0;
}

static void collq_pin_uncharge(struct collq_pin *pin)
{
	atomic64_sub(pin->nr, &pin->mm->pinned_vm);
	atomic_long_sub(pin->nr, &pin->user->locked_vm);
	free_uid(pin->user);
}

/* Some of the pages that are left: how many, or why not. */
static int collq_pin_some(struct collq_pin *pin, unsigned long start, bool write)
{
	unsigned long address = start + (pin->nr_pinned << PAGE_SHIFT);
	int nr = min(pin->nr - pin->nr_pinned, COLLQ_PIN_BATCH);
	struct page **pages = pin->pages + pin->nr_pinned;
	unsigned int flags = FOLL_LONGTERM;
	int ret;

	if (write || !collq_pin_reads_reliably)
		flags |= FOLL_WRITE;
	if (!write && !collq_pin_reads_reliably)
		flags |= FOLL_FORCE;
	ret = pin_user_pages_fast(address, nr, flags, pages);
	/* Shared memory that is read-only: nothing replaces its pages. */
	if (ret == -EFAULT && flags & FOLL_FORCE)
		ret = pin_user_pages_fast(address, nr, FOLL_LONGTERM, pages);
	switch (ret) {
	case -ENOMEM:
	case -EINTR:
	case -EOPNOTSUPP:
		return ret;
	default:
		return ret > 0 ? ret : -EFAULT;
	}
}

/**
 * collq_pin - charge and pin memory of the current process
 * @pin: what it is held by
 * @mm: its address space
 * @start: where the memory begins, at the border of a page
 * @nr: number of pages, at least 1
 * @write: whether it's to be written to
 * @stop: gives up with -ENODEV when this becomes true
 *
 * Sleeps. A signal ends it.
 *
 * Return: 0, -ENOMEM over the limit or out of memory, -EFAULT if there's no such
 * memory, -EOPNOTSUPP if it's of a kind that can't stay, -EINTR, -ENODEV. Nothing
 * is charged or pinned then.
 */
int collq_pin(struct collq_pin *pin, struct mm_struct *mm, unsigned long start,
	      unsigned long nr, bool write, const bool *stop)
{
	int ret;

	pin->nr = nr;
	pin->nr_pinned = 0;
	ret = collq_pin_charge(pin, mm);
	if (ret)
		return ret;
	pin->pages = kvmalloc_array(nr, sizeof(*pin->pages), GFP_KERNEL_ACCOUNT);
	if (!pin->pages) {
		collq_pin_uncharge(pin);
		return -ENOMEM;
	}

	while (pin->nr_pinned < nr) {
		ret = -EINTR;
		if (signal_pending(current))
			goto err_unpin;
		ret = -ENODEV;
		if (READ_ONCE(*stop))
			goto err_unpin;
		ret = collq_pin_some(pin, start, write);
		if (ret < 0)
			goto err_unpin;
		pin->nr_pinned += ret;
		cond_resched();
	}
	return 0;

err_unpin:
	collq_unpin(pin, false);
	return ret;
}

/**
 * collq_pin_verify - whether the pages are still those of the current process
 * @pin: the pages
 * @start: where they were in its address space
 *
 * Sleeps. A page that isn't there is made.
 *
 * Return: 0, -ESTALE if another page is in the place of one, -EINTR.
 */
int collq_pin_verify(const struct collq_pin *pin, unsigned long start)
{
	struct page *pages[16];
	unsigned long done;
	int i, got, err = 0;

	for (done = 0; done < pin->nr && !err; done += got) {
		if (signal_pending(current))
			return -EINTR;
		got = get_user_pages_fast(start + (done << PAGE_SHIFT),
					  min_t(unsigned long, pin->nr - done,
						ARRAY_SIZE(pages)), 0, pages);
		if (got <= 0)
			return got == -EINTR ? got : -ESTALE;
		for (i = 0; i < got; i++) {
			if (pages[i] != pin->pages[done + i])
				err = -ESTALE;
			put_page(pages[i]);
		}
		cond_resched();
	}
	return err;
}

/* Gives pages and charge back. Sleeps. From any process. */
void collq_unpin(struct collq_pin *pin, bool dirty)
{
	unsigned long done, nr;

	for (done = 0; done < pin->nr_pinned; done += nr) {
		nr = min(pin->nr_pinned - done, COLLQ_PIN_BATCH);
		unpin_user_pages_dirty_lock(pin->pages + done, nr, dirty);
		cond_resched();
	}
	kvfree(pin->pages);
	collq_pin_uncharge(pin);
}
