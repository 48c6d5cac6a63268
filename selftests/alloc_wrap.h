/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Allocations that fail when a test says so. A program that links alloc_wrap.o
 * with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free has its own allocations and
 * those of static libraries come by here; the C library's own ones don't.
 */
#ifndef ALLOC_WRAP_H
#define ALLOC_WRAP_H

#include <stdbool.h>
#include <stddef.h>

/**
 * alloc_wrap_fail_after() - let one allocation fail
 * @nr: how many succeed before it
 */
void alloc_wrap_fail_after(unsigned int nr);

/**
 * alloc_wrap_stop() - let no allocation fail
 *
 * Return: whether the one that was to fail has failed.
 */
bool alloc_wrap_stop(void);

/**
 * alloc_wrap_live() - allocations that haven't been freed
 *
 * Return: their number.
 */
long alloc_wrap_live(void);

/* By the linker: what is wrapped, and by what. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *memory);

#endif /* ALLOC_WRAP_H */
