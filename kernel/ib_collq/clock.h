/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Times of user space. In a time namespace CLOCK_MONOTONIC has an offset, and
 * what a process gives us, and is told, is in its own time.
 */
#ifndef COLLQ_CLOCK_H
#define COLLQ_CLOCK_H

#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/time_namespace.h>

static inline s64 collq_clock_offset(void)
{
	struct timespec64 offset = {};

	timens_add_monotonic(&offset);
	return timespec64_to_ns(&offset);
}

/* A deadline of the caller's, as the kernel counts; 0 stays 0. */
static inline u64 collq_clock_to_host(u64 time)
{
	s64 offset;

	if (likely(!time))
		return 0;
	time = min_t(u64, time, KTIME_MAX);
	offset = collq_clock_offset();
	/* Further away than the kernel counts */
	if (offset < 0 && time > KTIME_MAX + offset)
		return KTIME_MAX;
	return max_t(s64, time - offset, 1);
}

static inline u64 collq_clock_from_host(u64 time)
{
	return time + collq_clock_offset();
}

#endif /* COLLQ_CLOCK_H */
