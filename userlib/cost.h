/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_COST_H
#define COLLQ_COST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the adapter should work off a list of @pieces that is @bytes long, rather
 * than that they be copied to or from one piece; it takes @messages more messages then.
 */
bool collq_cost_prefers_list(uint32_t pieces, uint64_t bytes, uint32_t messages);

#endif /* COLLQ_COST_H */
