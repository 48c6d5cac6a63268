/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Allocation failures, one at a time: the kernel lets the n-th allocation (or copy
 * from or to user memory) fail that a thread makes from now on, on a kernel with
 * CONFIG_FAULT_INJECTION and /proc/self/fail-nth.
 */
#ifndef FAIL_NTH_H
#define FAIL_NTH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Prepares the kernel, so that all allocations count. NULL, or why nothing can be
 * made to fail here.
 */
const char *fail_nth_prepare(void);

/* From here on, in this thread: the next system call. @n from 1. */
bool fail_nth_arm(unsigned int n);

/* And no more. Whether the fault has happened since. */
bool fail_nth_disarm(void);

/* Writes to a file under /sys or /proc; whether that worked. */
bool fail_nth_set(const char *path, const char *value);

/* What fails at random, with a chance of so many in a hundred. */
enum fail_nth_whose {
	FAIL_NTH_ATOMIC,	/* allocations that may not sleep, by anybody */
	FAIL_NTH_TOLD,		/* of processes that were told so (make-it-fail) */
};

bool fail_nth_random(enum fail_nth_whose whose, unsigned int percent);
void fail_nth_random_end(void);

#endif /* FAIL_NTH_H */
