// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Calls of ioctl(2) that fail when a test says so (ioctl_wrap.h). For one thread.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ioctl_wrap.h"

static bool armed, failed;
static unsigned int to_succeed;
static int failure;

void ioctl_wrap_fail_after(unsigned int nr, int error)
{
	armed = true;
	failed = false;
	to_succeed = nr;
	failure = error;
}

bool ioctl_wrap_stop(void)
{
	armed = false;
	return failed;
}

int __wrap_ioctl(int fd, unsigned long command, void *arg)
{
	if (armed && !to_succeed--) {
		armed = false;
		failed = true;
		errno = failure;
		return -1;
	}
	return syscall(SYS_ioctl, fd, command, arg);
}
