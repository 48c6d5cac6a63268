/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Kernels that tools/vm builds check all they do, and take about ten times as long.
 */
#ifndef SLOW_KERNEL_H
#define SLOW_KERNEL_H

#include <stdbool.h>
#include <string.h>
#include <sys/utsname.h>

static inline bool slow_kernel(void)
{
	struct utsname name;

	return !uname(&name) && strstr(name.release, "-collq-");
}

#endif /* SLOW_KERNEL_H */
