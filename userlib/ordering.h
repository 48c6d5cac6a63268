/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory ordering of what the kernel and other threads see us write.
 *
 * The completion ring (struct ib_collq_ring_header) has one writer for each of
 * its two numbers:
 *
 *	kernel					user space
 *	write entry[tail % n]
 *	store-release tail + 1	------------>	load-acquire tail
 *						read entry[head % n]
 *	load-acquire head	<------------	store-release head + 1
 *	write entry[head % n] again
 *
 * The upper arrow makes an entry visible no later than the tail that counts it.
 * The lower one keeps the kernel from writing an entry over one that is still
 * being read. Each side reads back its own number without any ordering.
 */
#ifndef COLLQ_ORDERING_H
#define COLLQ_ORDERING_H

#include <stdatomic.h>
#include <stdint.h>

_Static_assert(sizeof(_Atomic uint32_t) == sizeof(uint32_t) && ATOMIC_INT_LOCK_FREE == 2,
	       "the ring's numbers are plain 32-bit words to the kernel");

static inline uint32_t collq_load_acquire(const uint32_t *word)
{
	return atomic_load_explicit((const _Atomic uint32_t *)word, memory_order_acquire);
}

static inline void collq_store_release(uint32_t *word, uint32_t value)
{
	atomic_store_explicit((_Atomic uint32_t *)word, value, memory_order_release);
}

/* In a loop that waits for another processor. */
static inline void collq_relax(void)
{
#if __has_builtin(__builtin_ia32_pause)
	__builtin_ia32_pause();
#else
	atomic_signal_fence(memory_order_seq_cst);
#endif
}

#endif /* COLLQ_ORDERING_H */
