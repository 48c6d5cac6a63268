/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Structures of the API that start with their size, as the caller knows it, so
 * that they can grow: see sized.c.
 */
#ifndef COLLQ_SIZED_H
#define COLLQ_SIZED_H

#include <stdint.h>

/* Takes what a caller gives into @own, whose size is put there: 0 or -errno. */
int collq_sized_take(void *own, uint32_t own_size, const void *given);

/* The same of an element of an array, which has its size beside it. */
int collq_sized_take_element(void *own, uint32_t own_size, const void *given, uint32_t size);

/* Gives a caller what there is room for; the size there stays: 0 or -errno. */
int collq_sized_give(void *wanted, const void *own, uint32_t own_size);

#endif /* COLLQ_SIZED_H */
