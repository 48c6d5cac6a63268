/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_ALLOC_H
#define COLLQ_ALLOC_H

#include <stdlib.h>

/* Zeroed entries, which may be none: that isn't to look like failure. */
static inline void *collq_new_entries(size_t nr, size_t size)
{
	return calloc(nr ? nr : 1, size);
}

#endif /* COLLQ_ALLOC_H */
