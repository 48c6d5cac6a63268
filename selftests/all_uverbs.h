/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A test that links all_uverbs.o, with --wrap of what it has a wrapper for, knows the
 * character device only, and is given the uverbs front end instead.
 */
#ifndef ALL_UVERBS_H
#define ALL_UVERBS_H

#include <poll.h>
#include <stddef.h>
#include <sys/types.h>

struct collq_verbs;
struct ibv_context;

/* What is behind a descriptor that raw_open() has given; NULL: nothing. */
struct ibv_context *uverbs_context(int fd);
struct collq_verbs *uverbs_of(int fd);

/* By the linker */
int __real_open(const char *path, int flags, ...);
int __real_ioctl(int fd, unsigned long command, ...);
int __real_close(int fd);
void *__real_mmap(void *at, size_t length, int prot, int flags, int fd, off_t offset);
int __real_poll(struct pollfd *fds, nfds_t nr, int timeout);

int __wrap_open(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long command, void *arg);
int __wrap_close(int fd);
void *__wrap_mmap(void *at, size_t length, int prot, int flags, int fd, off_t offset);
int __wrap_poll(struct pollfd *fds, nfds_t nr, int timeout);

#endif /* ALL_UVERBS_H */
