// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Allocations that fail when a test says so (alloc_wrap.h). For one thread.
 */
#include "alloc_wrap.h"

static bool armed, failed;
static unsigned int to_succeed;
static long live;

void alloc_wrap_fail_after(unsigned int nr)
{
	armed = true;
	failed = false;
	to_succeed = nr;
}

bool alloc_wrap_stop(void)
{
	armed = false;
	return failed;
}

long alloc_wrap_live(void)
{
	return live;
}

static bool fails(void)
{
	if (!armed || failed || to_succeed--)
		return false;
	failed = true;
	return true;
}

/* Counted only: where the library uses it, it may go on without, and try again (verbs.c). */
void *__wrap_malloc(size_t size)
{
	void *memory = __real_malloc(size);

	live += !!memory;
	return memory;
}

void *__wrap_calloc(size_t nr, size_t size)
{
	void *memory = fails() ? NULL : __real_calloc(nr, size);

	live += !!memory;
	return memory;
}

void *__wrap_realloc(void *old, size_t size)
{
	void *memory = fails() ? NULL : __real_realloc(old, size);

	live += memory && !old;
	return memory;
}

void __wrap_free(void *memory)
{
	live -= !!memory;
	__real_free(memory);
}
