/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Calls of ioctl(2) that fail when a test says so. A program that links ioctl_wrap.o
 * with -Wl,--wrap=ioctl has its own calls and those of static libraries come by here.
 */
#ifndef IOCTL_WRAP_H
#define IOCTL_WRAP_H

#include <stdbool.h>

/**
 * ioctl_wrap_fail_after() - let one call fail
 * @nr: how many are let through before it
 * @error: with which errno
 */
void ioctl_wrap_fail_after(unsigned int nr, int error);

/**
 * ioctl_wrap_stop() - let no call fail
 *
 * Return: whether the one that was to fail has failed.
 */
bool ioctl_wrap_stop(void);

/* By the linker */
int __wrap_ioctl(int fd, unsigned long command, void *arg);

#endif /* IOCTL_WRAP_H */
