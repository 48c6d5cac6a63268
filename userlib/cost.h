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

/* What COLLQ_ALLTOALL_AUTO stands for. */
uint32_t collq_cost_choose_layout(uint32_t nr_ranks, uint64_t block);

#endif /* COLLQ_COST_H */
