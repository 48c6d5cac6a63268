/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_DATA_COST_H
#define COLLQ_DATA_COST_H

#include <stdbool.h>
#include <stdint.h>

struct collq_alltoall;

/*
 * Whether, in this all-to-all with this layout, a list of @pieces that is @bytes long
 * should be what is sent, rather than that they be copied to one piece; or, if @lands,
 * what is received into, which takes a signal before it, rather than that they be copied
 * from one.
 */
bool collq_cost_prefers_list(const struct collq_alltoall *what, uint32_t layout,
			     uint32_t pieces, uint64_t bytes, bool lands);

/* What COLLQ_ALLTOALL_AUTO stands for. */
uint32_t collq_cost_choose_layout(const struct collq_alltoall *what);

#endif /* COLLQ_DATA_COST_H */
