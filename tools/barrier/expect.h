/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What to expect of an algorithm, from the graphs of all its ranks.
 */
#ifndef BARRIER_EXPECT_H
#define BARRIER_EXPECT_H

#include <stdint.h>

/*
 * Messages of all ranks in one barrier; NAN if that can't be told, as for the
 * algorithm that the library itself chooses.
 */
double expected_messages(uint32_t ranks, uint32_t algorithm, uint32_t radix);

#endif
