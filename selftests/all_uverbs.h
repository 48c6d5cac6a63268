/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A test that links all_uverbs.o, with --wrap of what it has a wrapper for, knows the
 * character device only, and is given the uverbs front end instead.
 */
#ifndef ALL_UVERBS_H
#define ALL_UVERBS_H

struct collq_verbs;
struct ibv_context;

/* What is behind a descriptor that raw_open() has given; NULL: nothing. */
struct ibv_context *uverbs_context(int fd);
struct collq_verbs *uverbs_of(int fd);

#endif /* ALL_UVERBS_H */
