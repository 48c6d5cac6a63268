/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Time, for waiting no longer than that.
 */
#ifndef CREW_CLOCK_H
#define CREW_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000) + now.tv_nsec / 1000000;
}

#endif
