/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Whether ranks are local to each other, as far as that can be told before any of them
 * has an endpoint. It's for estimates: the kernel looks at endpoints' addresses.
 */
#ifndef COLLQ_PLACE_H
#define COLLQ_PLACE_H

#include <stdint.h>

struct collq_context;

/*
 * A number that contexts on the same device of the same running system have in common,
 * and hardly any others; 0 for one that makes no local endpoints.
 */
uint64_t collq_context_place(const struct collq_context *ctx);

#endif /* COLLQ_PLACE_H */
